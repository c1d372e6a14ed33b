"""Runs of mastic-train on synthetic data, and what their metrics.jsonl says."""

import json
import os
import shutil
import statistics
import time
from dataclasses import dataclass

from bench_processes import BenchError, descendants, peak_memory_mib, program_name
from workloads import LEARNING_RATE, MOMENTUM, WARM_UP_STEPS

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFAULT_BUILD = os.path.join(REPOSITORY, "build", "release")
PHASES = ("forward_ms", "backward_ms", "exposed_communication_ms", "optimizer_ms")
RUN_TIMEOUT_S = 400

# Settings of the caller's shell that would favour one side.
_STRIPPED = ("OPENBLAS_", "OMP_", "GOTO_", "MKL_", "MASTIC_", "KMP_")


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(_STRIPPED)}


def blas_environment():
    """One OpenBLAS core for everybody: what its own detection would take on a CPU it knows, and the L2's size, which
    some virtual machines hide from it. One thread."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next((set(line.split()) for line in file if line.startswith("flags")), set())
    wide = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"} <= flags
    core = "SkylakeX" if wide else "Haswell" if {"avx2", "fma"} <= flags else None
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_L2_SIZE": str(l2_kib())}
    return environment | ({"OPENBLAS_CORETYPE": core} if core else {})


def l2_kib(cautious=512):
    folder = "/sys/devices/system/cpu/cpu0/cache"
    try:
        for index in sorted(os.listdir(folder)):
            with open(os.path.join(folder, index, "level"), encoding="utf-8") as file:
                level = file.read().strip()
            if level == "2":
                with open(os.path.join(folder, index, "size"), encoding="utf-8") as file:
                    return int(file.read().strip().removesuffix("K"))
    except (OSError, ValueError):
        pass
    return cautious


def find_trainer(build):
    path = os.path.join(build, "bin", "mastic-train")
    if not os.access(path, os.X_OK):
        raise BenchError(f"{path} is not there; build it first (scripts/quickstart), or name its --build")
    return path


def trainer_command(binary, model, work, ranks, steps, run_dir, extra=()):
    """Saves only at the end unless `extra` says more; a record in each step; one thread a rank."""
    data = {"data.format": "synthetic", "data.classes": work.classes, "data.limit": 64 * work.batch * ranks}
    if work.tokens:
        data |= {"data.task": "next-token", "data.sequence_length": work.input_shape[0]}
    else:
        data["data.input_shape"] = ",".join(map(str, work.input_shape))
    options = data | {
        "model.name": model, "train.batch_size": work.batch * ranks, "train.max_steps": steps,
        "train.epochs": 1000000, "train.threads": 1, "optimizer.learning_rate": LEARNING_RATE,
        "optimizer.momentum": MOMENTUM, "checkpoint.every": 0, "output.log_every": 1, "output.progress": "never",
        "run.dir": run_dir}
    return [binary, *(f"--{name}={value}" for name, value in options.items()), *extra]


def records_of(run_dir, kind):
    """Records of complete lines only: a run may be writing."""
    try:
        with open(os.path.join(run_dir, "metrics.jsonl"), encoding="utf-8") as file:
            lines = file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []
    return [record for record in map(json.loads, lines) if record["type"] == kind]


def step_records(run_dir):
    return records_of(run_dir, "step")


def checkpoint_steps(run_dir):
    return [record["step"] for record in records_of(run_dir, "event") if record["kind"] == "checkpoint"]


def step_times(records):
    """Milliseconds from the end of one step to the end of the next: what a user waits for, log and checkpoints
    included. One fewer than records."""
    return [1e3 * (b["time_s"] - a["time_s"]) for a, b in zip(records, records[1:])]


@dataclass
class Run:
    """One measured run of either side: medians over the steps after the warm-up."""

    step_ms: float
    phases: dict
    parameters: int
    peak_mib: float  # of the largest rank, while training, so without the final checkpoint


class PeakWatch:
    """Peak memory of the ranks below a launcher, up to the last step but one. Looks seldom and at little: what it
    costs would be taken from one side only."""

    PERIOD_S = 0.1

    def __init__(self, launcher, ranks, run_dir, steps):
        self.launcher, self.ranks, self.run_dir, self.steps = launcher, ranks, run_dir, steps
        self.pids = []
        self.peak_mib = 0.0
        self.next_look = 0.0

    def __call__(self):
        if time.monotonic() < self.next_look:
            return
        self.next_look = time.monotonic() + self.PERIOD_S
        if not self._trains():
            return
        if len(self.pids) < self.ranks:
            below = [self.launcher.pid, *descendants(self.launcher.pid)]
            self.pids = [pid for pid in below if program_name(pid) == "mastic-train"]
        now = max(filter(None, map(peak_memory_mib, self.pids)), default=0.0)
        # Looked at again after reading, so that the final checkpoint's copy of the state cannot be in it.
        if self._trains():
            self.peak_mib = max(self.peak_mib, now)

    def _trains(self):
        try:
            with open(os.path.join(self.run_dir, "metrics.jsonl"), "rb") as file:
                return 0 < file.read().count(b'"type":"step"') < self.steps
        except FileNotFoundError:
            return False


def train(processes, command, environment, ranks, run_dir, steps):
    """Runs `command` (a trainer_command, with its launcher in front) to its end, and removes its directory."""
    launcher = processes.start(command, environment)
    watch = PeakWatch(launcher, ranks, run_dir, steps)
    processes.wait(RUN_TIMEOUT_S, watch)
    records = step_records(run_dir)
    if len(records) != steps:
        raise BenchError(f"{run_dir}/metrics.jsonl holds {len(records)} of {steps} steps")
    measured = records[WARM_UP_STEPS:]
    phases = {phase: statistics.median(record[phase] for record in measured) for phase in PHASES}
    step_ms = statistics.median(step_times(records[WARM_UP_STEPS - 1:]))
    if watch.peak_mib == 0.0:
        raise BenchError(f"{run_dir}: the run was over before its memory could be read; it needs more steps")
    run = Run(step_ms, phases, _parameters(processes.output(0)), watch.peak_mib)
    shutil.rmtree(run_dir)
    return run


def _parameters(output):
    line = next(line for line in output.splitlines() if " parameters; " in line)
    return int(line.partition(" parameters; ")[0].split()[-1])
