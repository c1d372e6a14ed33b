"""A queue of other people's jobs: the same one, as often as it is wanted, and when each of its jobs started."""

import os
import random
import time
from dataclasses import dataclass

from bench_processes import BenchError
from slurm_runs import wait_for


@dataclass(frozen=True)
class RigidJob:
    at_s: float  # submitted, from the beginning of the queue
    nodes: int
    seconds: float


def job_mix(count, span_s, nodes, load, seed):
    """Jobs of 1 to `nodes` nodes, small ones more often, that use `load` of the nodes' time on average."""
    source = random.Random(seed)
    sizes = [max(1, round(nodes ** source.random())) for _ in range(count)]
    weights = [source.uniform(0.5, 1.5) for _ in range(count)]
    unit = load * nodes * span_s / sum(size * weight for size, weight in zip(sizes, weights))
    times = sorted(source.uniform(0, span_s) for _ in range(count))
    return [RigidJob(at, size, unit * weight) for at, size, weight in zip(times, sizes, weights)]


class RigidQueue:
    """Submits the jobs at their times, and knows from the jobs themselves when they started."""

    def __init__(self, lab, directory, jobs):
        self.lab, self.directory, self.jobs = lab, directory, jobs
        self.submitted = []  # (Slurm's number, seconds since 1970)

    def submit_all(self):
        begin = time.monotonic()
        for index, job in enumerate(self.jobs):
            time.sleep(max(0.0, begin + job.at_s - time.monotonic()))
            self.submit_one(index)

    def submit_one(self, index):
        job = self.jobs[index]
        script = os.path.join(self.directory, f"rigid-{index}.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/bash\necho $EPOCHREALTIME >{script}.started.tmp\nmv {script}.started.tmp {script}.started\n"
                       f"exec sleep {job.seconds:.2f}\n")
        at = time.time()
        number = self.lab.run("sbatch", "--parsable", "-p", "normal", f"-N{job.nodes}", "--exclusive", "-t5",
                              "-o", "/dev/null", script).strip()
        self.submitted.append((number, at))

    def waits_s(self, timeout_s):
        """From the submission of each job to its start, once all have started."""
        starts = [f"{self.directory}/rigid-{index}.sh.started" for index in range(len(self.jobs))]
        wait_for("all rigid jobs start", lambda: all(map(os.path.exists, starts)), timeout_s)
        waits = []
        for path, (_, at) in zip(starts, self.submitted):
            with open(path, encoding="utf-8") as file:
                waits.append(float(file.read()) - at)
        return waits

    def wait_end(self, timeout_s):
        numbers = {number for number, _ in self.submitted}
        wait_for("all rigid jobs end", lambda: not numbers & set(self.lab.run("squeue", "-h", "-o", "%i").split()), timeout_s)

    def check_untouched(self):
        """No job was requeued or cancelled."""
        for number, _ in self.submitted:
            state = self.lab.run("scontrol", "show", "job", number)
            if "JobState=COMPLETED" not in state or "Restarts=0" not in state:
                raise BenchError(f"the rigid job {number} did not run as it would alone:\n{state}")
