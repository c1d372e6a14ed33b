"""Sides of a comparison of collectives: ranks that are started once, and then wait for commands (collective/server.hpp).

While one side measures, the ranks of the others wait in a read of their socket, without taking processor time.
"""

import json
import os
import select
import socket
import time
from dataclasses import dataclass

from bench_processes import BenchError, Processes

START_TIMEOUT_S = 30
COMMAND_TIMEOUT_S = 120
END_TIMEOUT_S = 6  # a rank ends itself after 5 s


class Refused(BenchError):
    """All ranks answered that they cannot do this; the side can still do other things."""


@dataclass(frozen=True)
class Answer:
    seconds: float  # per operation, of the slowest rank
    description: str
    busy: float = 0.0  # seconds of its core, per operation, whoever took them
    # With compute=S, of the slowest rank each: seconds.
    wait: float = 0.0
    slow_down: float = 0.0
    cpu: float = 0.0


class Ranks:
    """The ranks of one side. with Ranks(...) as ranks: ranks.ask("allreduce 64K repetitions=10")."""

    def __init__(self, name, count, directory):
        self.name = name
        self.count = count
        self.processes = Processes(directory)
        self.path = os.path.join(directory, "socket")
        self.connections = []  # by rank: a socket, and a stream of its lines
        self.version = ""

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and self.connections:
            self._quit()
        for connection, lines in self.connections:
            lines.close()
            connection.close()
        self.processes.__exit__()

    def start(self, launches):
        """`launches` are pairs of command and environment, which together start all ranks."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            os.chmod(self.path, 0o600)
            listener.listen(self.count)
            for command, environment in launches:
                self.processes.start(command, environment)
            by_rank = dict(self._greeting(listener, time.monotonic() + START_TIMEOUT_S) for _ in range(self.count))
        self.connections = [by_rank[rank] for rank in sorted(by_rank)]

    def _greeting(self, listener, deadline):
        while not select.select([listener], [], [], 0.1)[0]:
            self._check(deadline, "start")
        connection = listener.accept()[0]
        connection.settimeout(START_TIMEOUT_S)
        lines = connection.makefile("r", encoding="utf-8")
        hello = json.loads(lines.readline())
        if hello["size"] != self.count:
            raise BenchError(f"{self.name} started {hello['size']} ranks together instead of {self.count}")
        self.version = hello["description"]
        return hello["rank"], (connection, lines)

    def _check(self, deadline, what):
        ended = [i for i, (process, _, _) in enumerate(self.processes.started) if process.poll() is not None]
        if ended or time.monotonic() > deadline:
            tail = self.processes.tail(ended[0] if ended else 0)
            raise BenchError(f"{self.name} did not {what}; its output ends with:\n{tail}")

    def ask(self, command):
        self._send(command)
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        answers = [self._answer(lines, command, deadline) for _, lines in self.connections]
        errors = {answer["error"] for answer in answers if "error" in answer}
        if errors:
            raise Refused(f"{self.name}, {command}: {'; '.join(errors)}")
        if not all(answer["correct"] for answer in answers):
            raise BenchError(f"{self.name}, {command}: wrong result")
        most = {key: max(answer[key] for answer in answers) for key in answers[0] if key not in ("correct", "description")}
        return Answer(description=answers[0]["description"], **most)

    def _send(self, line):
        for connection, _ in self.connections:
            connection.sendall(f"{line}\n".encode())

    def _answer(self, lines, command, deadline):
        while not select.select([lines], [], [], 0.2)[0]:
            self._check(deadline, f"answer to '{command}'")
        line = lines.readline()
        if not line:
            time.sleep(0.5)  # its last words reach the file
            raise BenchError(f"{self.name} broke off in '{command}'; its output ends with:\n{self.processes.tail(0)}")
        return json.loads(line)

    def _quit(self):
        self._send("quit")
        deadline = time.monotonic() + END_TIMEOUT_S
        while time.monotonic() < deadline and any(p.poll() is None for p, _, _ in self.processes.started):
            time.sleep(0.02)


class Launcher:
    """Knows how each side is started: on this machine, or on the nodes of `lab`."""

    def __init__(self, build, directory, ranks, lab=None):
        self.programs = os.path.join(build, "bench")
        self.directory = directory
        self.ranks = ranks
        self.lab = lab
        self.crowded = lab is not None or ranks > len(os.sched_getaffinity(0))

    def program(self, name):
        return os.path.join(self.programs, name)

    def obstacle(self, side):
        """Why `side` cannot be started; empty if it can."""
        program = self.program(f"collective-{_PROGRAMS[side]}")
        return "" if os.access(program, os.X_OK) else f"{program} is not built"

    def launch(self, side):
        """The running ranks of a side: ours, mpich, mpich-yield, openmpi or gloo."""
        directory = os.path.join(self.directory, f"{side}-{os.urandom(3).hex()}")
        os.mkdir(directory, 0o700)
        ranks = Ranks(side, self.ranks, directory)
        command = [self.program(f"collective-{_PROGRAMS[side]}"), ranks.path]
        try:
            ranks.start(self._gloo(command, directory) if side == "gloo" else [self._mpi(side, command)])
        except BaseException:
            ranks.__exit__(BenchError)
            raise
        return ranks

    def _mpi(self, side, command):
        environment = clean_environment()
        if side == "openmpi":
            environment |= {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_mpi_yield_when_idle": "1" if self.crowded else "0"}
            if self.lab:
                return self.lab.mpirun_openmpi([*self._yielding(), *command]), environment
            return ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(self.ranks), *command], environment
        if self.lab:
            return self.lab.mpiexec([*(self._yielding() if side == "mpich-yield" else []), *command]), environment
        return ["mpiexec.mpich", "-n", str(self.ranks), *command], environment

    def _yielding(self):
        return ["env", f"LD_PRELOAD={self.program('yield-preload.so')}"]

    def _gloo(self, command, directory):
        store = os.path.join(directory, "store")
        os.mkdir(store)
        for rank in range(self.ranks):
            node = rank // self.lab.ranks_per_node if self.lab else 0
            address = self.lab.address(node) if self.lab else "127.0.0.1"
            environment = clean_environment() | {"BENCH_RANK": str(rank), "BENCH_SIZE": str(self.ranks),
                                                 "BENCH_GLOO_ADDRESS": address, "BENCH_GLOO_STORE": store}
            yield self.lab.command(node, command) if self.lab else command, environment


_PROGRAMS = {"ours": "ours", "mpich": "mpich", "mpich-yield": "mpich", "openmpi": "openmpi", "gloo": "gloo"}


def clean_environment():
    """Without the caller's settings of any side."""
    stripped = ("MPIR_", "MPICH_", "OMPI_", "UCX_", "MASTIC_", "BENCH_", "PMI_", "PMIX_", "LD_PRELOAD")
    return {name: value for name, value in os.environ.items() if not name.startswith(stripped)}
