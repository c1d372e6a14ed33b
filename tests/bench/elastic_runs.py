"""Runs of mastic-train whose ranks change while somebody watches: elastic ones, and fixed ones that are started again."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass

from bench_processes import BenchError, descendants, program_name
from trainer_runs import trainer_command
from workloads import Workload

STEPS_WITHOUT_END = 1000000
START_TIMEOUT_S = 120
STOPPED_WITH_CHECKPOINT = 75


@dataclass(frozen=True)
class Task:
    """What is trained; `workload.batch` is over all ranks. Each sample takes `sample_ms` more, asleep, so that ranks that
    share a core of this machine compute as fast as on cores of their own."""

    model: str
    workload: Workload
    sample_ms: float = 0
    options: tuple = ()

    def command(self, binary, run_dir, *extra):
        slow = [f"--train.inject=slow@{round(self.sample_ms * 1000)}"] if self.sample_ms else []
        return trainer_command(binary, self.model, self.workload, 1, STEPS_WITHOUT_END, run_dir,
                               (*self.options, *slow, *extra))


@dataclass(frozen=True)
class SeenStep:
    seen: float  # time.monotonic()
    time_s: float  # when it ended, by the clock of the process that logged it
    samples: int  # of the run so far
    ranks: int


class RunWatch:
    """Steps of a run as they are logged, each with the time at which it was seen."""

    PERIOD_S = 0.005

    def __init__(self, run_dir, check):
        self.path = os.path.join(run_dir, "metrics.jsonl")
        self.check = check  # raises BenchError once the run has failed
        self.steps = []
        self.resizes = []  # what the run says of changes, with the time that it was held up
        self.offset = 0

    def look(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                text = file.read()
        except FileNotFoundError:
            return
        now = time.monotonic()
        end = text.rfind(b"\n") + 1
        self.offset += end
        for record in map(json.loads, text[:end].splitlines()):
            if record["type"] == "step":
                self.steps.append(SeenStep(now, record["time_s"], record["samples"], record["world_size"]))
            elif record.get("kind") == "resize":
                self.resizes.append(record["text"])

    def until(self, condition, what, timeout_s=START_TIMEOUT_S):
        deadline = time.monotonic() + timeout_s
        self.look()
        while not condition():
            self.check()
            if time.monotonic() > deadline:
                raise BenchError(f"{self.path}: no {what} within {timeout_s:.0f} s")
            time.sleep(self.PERIOD_S)
            self.look()

    def until_time(self, deadline):
        self.until(lambda: time.monotonic() >= deadline, "end of the time", deadline - time.monotonic() + 10)

    def until_steps(self, ranks, steps):
        """Until the last `steps` steps were done by so many ranks."""
        self.until(lambda: len(self.steps) >= steps and all(s.ranks == ranks for s in self.steps[-steps:]),
                   f"{steps} steps with {ranks} ranks")

    def samples(self):
        return self.steps[-1].samples if self.steps else 0


class ElasticRun:
    """Members on nodes of the network, node by node; a node has one at most."""

    def __init__(self, processes, lab, environment, task, binary):
        self.processes, self.lab, self.environment = processes, lab, environment
        run_dir = os.path.join(processes.directory, "run")
        self.command = task.command(binary, run_dir, f"--elastic.join={run_dir}")
        self.members = {}
        self.run_dir = run_dir
        self.watch = RunWatch(run_dir, self._check)

    def start(self, ranks, steps=8):
        """So many members that have trained together for a while."""
        for node in range(ranks):
            self.join(node)
            self.watch.until_steps(node + 1, 1)
        self.watch.until_steps(ranks, steps)

    def join(self, node):
        self.members[node] = self.processes.start(self.lab.command(node, self.command), self.environment)

    def leave(self, node):
        self._end(node, signal.SIGTERM, STOPPED_WITH_CHECKPOINT)

    def kill(self, node):
        """Returns when it was killed: time.monotonic()."""
        at = time.monotonic()
        self._end(node, signal.SIGKILL, -signal.SIGKILL)
        return at

    def resize(self, before, after):
        for node in range(before, after):
            self.join(node)

    def _end(self, node, number, expected):
        member = self.members.pop(node)
        member.send_signal(number)
        code = member.wait(START_TIMEOUT_S)
        if code != expected:
            raise BenchError(f"the member on node {node} ended with code {code}, not {expected}")

    def _check(self):
        for node, member in self.members.items():
            if member.poll() is not None:
                at = next(i for i, entry in enumerate(self.processes.started) if entry[0] is member)
                raise BenchError(f"the member on node {node} ended with code {member.returncode}; its output ends with:\n"
                                 + self.processes.tail(at))


class FixedRun:
    """Ranks of mpiexec, one a node. Another number of them: stop with a checkpoint, and start again."""

    def __init__(self, processes, lab, environment, task, binary):
        self.processes, self.lab, self.environment = processes, lab, environment
        run_dir = os.path.join(processes.directory, "run")
        self.command = task.command(binary, run_dir)
        self.launcher = None
        self.watch = RunWatch(run_dir, self._check)

    def start(self, ranks, steps=8):
        self._launch(ranks)
        self.watch.until_steps(ranks, steps)

    def resize(self, _, after):
        ranks = [pid for pid in descendants(self.launcher.pid) if program_name(pid) == "mastic-train"]
        os.kill(ranks[0], signal.SIGTERM)
        try:
            code = self.launcher.wait(START_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise BenchError(f"{self.watch.path}: the run does not stop") from error
        if code != STOPPED_WITH_CHECKPOINT:
            raise BenchError(f"mpiexec ended with code {code}, not {STOPPED_WITH_CHECKPOINT}:\n{self._tail()}")
        self._launch(after)

    def _launch(self, ranks):
        self.launcher = self.processes.start(self.lab.mpiexec(self.command, ranks), self.environment)

    def _check(self):
        if self.launcher.poll() is not None:
            raise BenchError(f"mpiexec ended with code {self.launcher.returncode}:\n{self._tail()}")

    def _tail(self):
        return self.processes.tail(len(self.processes.started) - 1)
