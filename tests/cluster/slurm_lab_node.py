"""One host of a lab, and how commands get onto it."""

import os
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
DIES_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")


class LabError(Exception):
    """Says what failed and what to do next."""


class Node:
    """One host: a daemon in namespaces of its own. Its start is in three parts, so that many
    nodes can start side by side."""

    def __init__(self, directory, name, address, device, daemon):
        self.directory = directory
        self.name = name
        self.address = address
        self.arguments = [directory, name, address, device, *daemon]
        self.process = None
        self.first_pid = None  # of the first process in its namespaces, as seen from here

    def start(self):
        command = [*DIES_WITH_PARENT, "unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork",
                   "--kill-child", "--mount-proc", os.path.join(HERE, "node-init"), *self.arguments]
        with open(os.path.join(self.directory, "log", f"{self.name}.out"), "a", encoding="utf-8") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                            text=True)

    def wait_for_namespaces(self):
        if self.process.stdout.readline() != "ready\n":
            raise LabError(f"node {self.name} does not start: {self.log_tail()}")
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as file:
            self.first_pid = int(file.read().split()[0])
        with open(self._pid_file(), "w", encoding="utf-8") as file:
            file.write(f"{self.first_pid}\n")

    def start_daemon(self):
        """To be called once eth0 is there."""
        self.process.stdin.write("go\n")
        self.process.stdin.close()
        self.process.stdout.close()

    def kill(self):
        """The first process takes all others with it, and unshare ends after that."""
        if self.first_pid:
            os.unlink(self._pid_file())
            try:
                os.kill(self.first_pid, signal.SIGKILL)
            except ProcessLookupError:  # the daemon had ended by itself
                pass
        elif self.process:
            self.process.kill()

    def wait(self):
        if self.process:
            self.process.wait()
        self.process = self.first_pid = None

    def log_tail(self):
        with open(os.path.join(self.directory, "log", f"{self.name}.out"), encoding="utf-8", errors="replace") as file:
            return "\n".join(file.read().splitlines()[-5:])

    def _pid_file(self):
        return os.path.join(self.directory, "node", self.name)
