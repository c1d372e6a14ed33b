"""Runs of mastic-train as steps of jobs on a cluster of its own (tests/cluster/slurm-lab)."""

import json
import os
import subprocess
import time

from bench_processes import BenchError

SLURM_LAB = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cluster", "slurm-lab")
PATIENCE_S = 60


def run(*command, timeout_s=PATIENCE_S):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{' '.join(command)} does not end within {timeout_s} s") from error
    if done.returncode:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def wait_for(what, condition, timeout_s=PATIENCE_S):
    """Returns the condition's first true value."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise BenchError(f"{what}: not within {timeout_s} s")
        time.sleep(0.01)
    return value


class SlurmLab:
    """with SlurmLab(4, directory) as lab: lab.run("squeue") is what squeue prints on the controller."""

    def __init__(self, nodes, directory, *options):
        self.directory = os.path.join(directory, "slurm")
        self.up = [SLURM_LAB, "up", "--dir", self.directory, "--nodes", str(nodes), "--owner", str(os.getpid()),
                   *options]

    def __enter__(self):
        run(*self.up)
        return self

    def __exit__(self, *_):
        run(SLURM_LAB, "down", "--dir", self.directory)

    def command(self, *command):
        return [os.path.join(self.directory, "on"), "ctl", *command]

    def run(self, *command):
        return run(*self.command(*command))


class RunDirectory:
    """What a run that goes on writes, read as it grows."""

    def __init__(self, path):
        self.path = path
        self.read = 0
        self.records = []  # of the newest start of the program

    def update(self):
        try:
            with open(os.path.join(self.path, "metrics.jsonl"), "rb") as file:
                file.seek(self.read)
                text = file.read()
        except FileNotFoundError:
            return self
        text = text[:text.rfind(b"\n") + 1]
        self.read += len(text)
        for record in map(json.loads, text.splitlines()):
            if record.get("kind") in ("start", "resume"):
                self.records = []
            self.records.append(record)
        return self

    def steps(self):
        return [record["step"] for record in self.records if record["type"] == "step"]

    def resumed_at(self):
        """None: it started at the beginning."""
        return next((record["step"] for record in self.records if record.get("kind") == "resume"), None)

    def exit_code(self):
        """Of the newest start; None if it was killed, or has not ended."""
        with open(os.path.join(self.path, "run.json"), encoding="utf-8") as file:
            return json.load(file).get("exit_code")

    def newest_checkpoint(self):
        """Its step, and when it became durable (seconds since 1970); None if there is none."""
        folder = os.path.join(self.path, "checkpoints")
        names = [name for name in os.listdir(folder) if name.startswith("step-")] if os.path.isdir(folder) else []
        if not names:
            return None
        newest = max(names)
        return int(newest.removeprefix("step-")), os.stat(os.path.join(folder, newest, "manifest.json")).st_mtime

    def ranks(self):
        """Process ids of the ranks, on whatever node."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    name = file.read().strip()
                with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                    words = file.read()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if name == "mastic-train" and self.path in words:
                found.append(int(pid))
        return found
