"""A network of nodes on one machine: each node a network namespace with one address and one shaped link to a bridge.

Links are shaped both ways by tc's token bucket: at the node for what it sends, at the bridge for what it receives. With a
delay, a program (net_switch.cpp) takes the bridge's place and shapes the links, since not every kernel has netem. A node
of one rank is bound to one core and sees only that; a node of several ranks sees all cores. Everything lives in namespaces named mastic-bench-PID-..., so
removing these removes all of it; NetLab.__enter__ also removes what a killed benchmark left. Needs root and iproute2.
"""

import json
import os
import select
import signal
import subprocess
import time

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
    """with NetLab(4, 1000, directory) as lab: lab.command(2, [...]) is a command line that runs on node 2.

    `delay_us` is one way, between any two nodes; it needs the program `switch_program`.
    """

    def __init__(self, nodes, mbit_per_s, directory, ranks_per_node=1, delay_us=0, switch_program=None):
        self.nodes = nodes
        self.ranks_per_node = ranks_per_node
        self.mbit_per_s = mbit_per_s
        self.delay_us = delay_us
        self.switch_program = switch_program
        self.directory = directory
        self.switch = f"{PREFIX}{os.getpid()}-switch"
        self.switch_process = None
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
        if self.switch_process:
            self.switch_process.wait()  # was killed with its namespace
            self.switch_process.stdout.close()
            self.switch_process = None

    def _create(self):
        run("ip", "netns", "add", self.switch)
        for node in range(self.nodes):
            run("ip", "netns", "add", self.namespace(node))
        if self.delay_us:
            self._connect_by_program()
        else:
            self._connect_by_bridge()
        run("ip", "-n", self.switch, "addr", "add", f"{self.switch_address}/24", "dev", "bridge")
        run("ip", "-n", self.switch, "link", "set", "bridge", "up")
        for node in range(self.nodes):
            name = self.namespace(node)
            run("ip", "-n", name, "addr", "add", f"{self.address(node)}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")

    def _connect_by_bridge(self):
        run("ip", "-n", self.switch, "link", "add", "bridge", "type", "bridge")
        for node in range(self.nodes):
            name, port = self.namespace(node), f"port{node}"
            run("ip", "-n", self.switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "-n", self.switch, "link", "set", port, "master", "bridge", "up")
            for namespace, device in ((name, "eth0"), (self.switch, port)):
                run("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf", "rate",
                    f"{self.mbit_per_s}mbit", "burst", "256kb", "latency", "20ms")

    def _connect_by_program(self):
        """The last device stays here, as this machine's own connection to the nodes. Ends with its namespace."""
        devices = [*(f"port{node}" for node in range(self.nodes)), "bridge"]
        command = ["ip", "netns", "exec", self.switch, self.switch_program, str(self.mbit_per_s), str(self.delay_us),
                   *devices]
        # pylint: disable-next=consider-using-with
        self.switch_process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if self.switch_process.stdout.readline().strip() != "ready":
            raise BenchError(f"{' '.join(command)} ended with code {self.switch_process.wait()}")
        for node in range(self.nodes):
            run("ip", "-n", self.switch, "link", "set", f"port{node}", "netns", self.namespace(node), "name", "eth0")

    def two_way_bytes_per_s(self, seconds=2):
        """What iperf3 moves between two nodes, in each of both directions at once: payload, the mean of both."""
        in_node = [["ip", "netns", "exec", self.namespace(node), "iperf3"] for node in (0, 1)]
        with subprocess.Popen([*in_node[1], "-s", "-1", "--forceflush"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True) as server:
            try:
                if not select.select([server.stdout], [], [], 5)[0]:
                    raise BenchError("iperf3 -s does not start")
                time.sleep(0.1)
                end = json.loads(run(*in_node[0], "-c", self.address(1), "-t", str(seconds), "--bidir", "-J"))["end"]
            finally:
                server.kill()
        both = [end[name]["bits_per_second"] for name in ("sum_received", "sum_received_bidir_reverse")]
        return sum(both) / len(both) / 8

    switch_address = "10.79.0.254"

    def namespace(self, node):
        return f"{PREFIX}{os.getpid()}-node{node}"

    def address(self, node):
        return f"10.79.0.{node + 1}"

    def command(self, node, command):
        """With its own host name, since MPI takes equal names for one machine."""
        one_core = self.cores[node % len(self.cores)]
        cores = ",".join(map(str, self.cores)) if self.ranks_per_node > 1 else str(one_core)
        return ["ip", "netns", "exec", self.namespace(node), "unshare", "--uts", "taskset", "--cpu-list", cores, "sh",
                "-c", f'hostname node{node}; exec "$@"', "sh", *command]

    def mpiexec(self, command, nodes=None):
        """On the first `nodes` nodes, or all. Over TCP alone between nodes: the ranks would otherwise find each other in
        shared memory."""
        nodes = nodes or self.nodes
        hosts = ",".join(self.address(node) for node in range(nodes))
        return ["ip", "netns", "exec", self.switch, "mpiexec.mpich", "-iface", "bridge", "-launcher", "ssh",
                "-launcher-exec", self._remote_shell(), "-hosts", hosts, "-n",
                str(nodes * self.ranks_per_node), "-ppn", str(self.ranks_per_node), "-genv", "UCX_TLS", "tcp,self",
                "-genv", "UCX_NET_DEVICES", "eth0", *command]

    def mpirun_openmpi(self, command):
        hosts = ",".join(f"{self.address(node)}:{self.ranks_per_node}" for node in range(self.nodes))
        network = self.switch_address.rpartition(".")[0] + ".0/24"
        settings = {"plm_rsh_agent": self._remote_shell(), "oob_tcp_if_include": network, "btl": "tcp,self,vader",
                    "pml": "ob1", "btl_tcp_if_include": network}
        return ["ip", "netns", "exec", self.switch, "mpirun.openmpi", "--host", hosts, "-n",
                str(self.nodes * self.ranks_per_node), "--bind-to", "none",
                *(word for name, value in settings.items() for word in ("--mca", name, value)), *command]

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
