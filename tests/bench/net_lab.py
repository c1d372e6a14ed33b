"""A network of nodes on one machine: each node a network namespace with one address and one shaped link to a bridge.

Links are shaped both ways by tc's token bucket: at the node for what it sends, at the bridge for what it receives.
A node is bound to one core and sees only that. Everything lives in namespaces named mastic-bench-PID-..., so
removing these removes all of it; NetLab.__enter__ also removes what a killed benchmark left. Needs root and iproute2.
"""

import os
import signal
import subprocess

from bench_processes import BenchError

PREFIX = "mastic-bench-"


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def namespaces():
    return [line.split()[0] for line in run("ip", "netns", "list").splitlines() if line.startswith(PREFIX)]


def remove_namespace(name):
    for pid in run("ip", "netns", "pids", name).split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    run("ip", "netns", "del", name)


def remove_leftovers():
    for name in namespaces():
        owner = name[len(PREFIX):].split("-")[0]
        if not os.path.exists(f"/proc/{owner}"):
            remove_namespace(name)


class NetLab:
    """with NetLab(4, 1000, directory) as lab: lab.command(2, [...]) is a command line that runs on node 2."""

    def __init__(self, nodes, mbit_per_s, directory):
        self.nodes = nodes
        self.rate = f"{mbit_per_s}mbit"
        self.directory = directory
        self.switch = f"{PREFIX}{os.getpid()}-switch"
        self.cores = sorted(os.sched_getaffinity(0))

    @staticmethod
    def obstacle():
        """Why there can be no such network here; empty if there can."""
        if os.geteuid() != 0:
            return "needs root for network namespaces"
        try:
            run("ip", "-V")
            run("tc", "-V")
        except FileNotFoundError:
            return "needs iproute2 (scripts/packages bench)"
        return ""

    def __enter__(self):
        remove_leftovers()
        try:
            self._create()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in namespaces():
            if name.startswith(f"{PREFIX}{os.getpid()}-"):
                remove_namespace(name)

    def _create(self):
        run("ip", "netns", "add", self.switch)
        run("ip", "-n", self.switch, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", self.switch, "addr", "add", f"{self.switch_address}/24", "dev", "bridge")
        run("ip", "-n", self.switch, "link", "set", "bridge", "up")
        for node in range(self.nodes):
            name, port = self.namespace(node), f"port{node}"
            run("ip", "netns", "add", name)
            run("ip", "-n", self.switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "-n", self.switch, "link", "set", port, "master", "bridge", "up")
            run("ip", "-n", name, "addr", "add", f"{self.address(node)}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
            for namespace, device in ((name, "eth0"), (self.switch, port)):
                run("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf", "rate", self.rate,
                    "burst", "256kb", "latency", "20ms")

    switch_address = "10.79.0.254"

    def namespace(self, node):
        return f"{PREFIX}{os.getpid()}-node{node}"

    def address(self, node):
        return f"10.79.0.{node + 1}"

    def command(self, node, command):
        """With its own host name, since MPI takes equal names for one machine."""
        core = str(self.cores[node % len(self.cores)])
        return ["ip", "netns", "exec", self.namespace(node), "unshare", "--uts", "taskset", "--cpu-list", core, "sh",
                "-c", f'hostname node{node}; exec "$@"', "sh", *command]

    def mpiexec(self, command):
        """One rank a node, over TCP alone: the ranks would otherwise find each other in shared memory."""
        hosts = ",".join(self.address(node) for node in range(self.nodes))
        return ["ip", "netns", "exec", self.switch, "mpiexec.mpich", "-iface", "bridge", "-launcher", "ssh",
                "-launcher-exec", self._remote_shell(), "-hosts", hosts, "-n", str(self.nodes), "-ppn", "1",
                "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0", *command]

    def _remote_shell(self):
        """A program called as ssh would be: options, the address, words of a command."""
        path = os.path.join(self.directory, "node-shell")
        cases = "".join(f'  {self.address(node)}) set -- {" ".join(map(_quoted, self.command(node, [])))} "$@" ;;\n'
                        for node in range(self.nodes))
        with open(path, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nwhile case "$1" in -*) ;; *) false ;; esac; do shift; done\n'
                       'address=$1\nshift\nset -- sh -c "$*"\n'
                       f'case "$address" in\n{cases}esac\nexec "$@"\n')
        os.chmod(path, 0o700)
        return path


def _quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"
