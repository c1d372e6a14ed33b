"""Starting programs, looking at their memory, and ending them with everything they started."""

import os
import signal
import subprocess
import time


class BenchError(Exception):
    """Says what failed and what to do next."""


def peak_memory_mib(pid):
    """Largest resident set so far (VmHWM); None once the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


def descendants(root):
    """Process ids below `root`, parents first."""
    children = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(entry))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def program_name(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def end_with_descendants(process):
    if process.poll() is not None:
        return
    for pid in [process.pid, *descendants(process.pid)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


class Processes:
    """Programs that run together; leaving the scope ends those still running. Their output goes to a file each."""

    def __init__(self, directory):
        self.directory = directory
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process, _, log in self.started:
            end_with_descendants(process)
            log.close()

    def start(self, command, environment):
        path = os.path.join(self.directory, f"output-{len(self.started)}.txt")
        log = open(path, "w", encoding="utf-8")  # pylint: disable=consider-using-with
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT)
        self.started.append((process, command, log))
        return process

    def wait(self, timeout_s, watch=lambda: None):
        """Until all have ended well, calling `watch` meanwhile. Raises BenchError with the output's end."""
        deadline = time.monotonic() + timeout_s
        while True:
            codes = [process.poll() for process, _, _ in self.started]
            failed = next((i for i, code in enumerate(codes) if code), None)
            late = time.monotonic() > deadline
            if failed is not None or late:
                at = failed if failed is not None else codes.index(None)
                what = f"ended with code {codes[at]}" if failed is not None else f"still runs after {timeout_s} s"
                raise BenchError(f"{' '.join(self.started[at][1])}\n{what}; its output ends with:\n{self.tail(at)}")
            if None not in codes:
                return
            watch()
            time.sleep(0.02)

    def output(self, index):
        with open(os.path.join(self.directory, f"output-{index}.txt"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def tail(self, index):
        return "\n".join(self.output(index).splitlines()[-15:])
