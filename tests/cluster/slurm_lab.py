"""A Slurm cluster on one machine.

Every node, and the controller `ctl`, has network, host name, IPC, mount and process namespaces of its own. They have no
names: they exist as long as their first process, which dies with the process that called Lab.start(). So the kernel
removes all of it even if everybody is killed; only the directory is left then.
"""

import os
import shutil
import subprocess
import time

import slurm_lab_config as config
from slurm_lab_node import DIES_WITH_PARENT, LabError, Node

PROGRAMS = ("slurmctld", "slurmd", "munged", "sinfo", "ip", "unshare", "nsenter", "setpriv")

# Runs a command on a node: on NODE COMMAND...
ON = """#!/bin/sh
node=$1
shift
if ! read -r pid 2>/dev/null <"{dir}/node/$node"; then
  echo "slurm-lab: no node $node is up in {dir}" >&2
  exit 1
fi
SLURM_CONF="{dir}/slurm.conf" exec nsenter --target "$pid" --net --uts --ipc --mount --pid --wdns="$PWD" "$@"
"""


def obstacle():
    """Why there can be no lab here; empty if there can."""
    if os.geteuid() != 0:
        return "needs root for namespaces"
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return f"not installed: {', '.join(missing)} (scripts/packages test)"
    tried = subprocess.run(["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "mount", "-t", "sysfs",
                            "sysfs", "/sys"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return f"no namespaces here: {tried.stderr.strip()}" if tried.returncode else ""


class Lab:
    """The cluster. All its processes are children of the process that called start()."""

    def __init__(self, directory, options):
        self.directory = directory
        self.controller = Node(directory, config.CONTROLLER, config.CONTROLLER_ADDRESS, "bridge", ["slurmctld", "-D"])
        self.nodes = {f"n{i}": Node(directory, f"n{i}", config.address(i), "eth0", ["slurmd", "-D", "-N", f"n{i}"])
                      for i in range(1, options.nodes + 1)}
        self.munged = None
        config.write(directory, options)
        self._write_on()

    def start(self):
        self._start_munged()
        self.controller.start()
        for node in self.nodes.values():
            node.start()
        self.controller.wait_for_namespaces()
        self._connect(self.nodes.values())
        self.controller.start_daemon()
        for node in self.nodes.values():
            node.start_daemon()
        self._wait_until_idle(timeout_s=30 + len(self.nodes))

    def stop(self):
        hosts = [self.controller, *self.nodes.values()]
        for host in hosts:
            host.kill()
        for host in hosts:
            host.wait()
        if self.munged:
            self.munged.kill()
            self.munged.wait()

    def node_down(self, name):
        """As if its power failed: nobody hears a last word from it."""
        node = self._node(name, up=True)
        self.cut(name)
        node.kill()
        node.wait()
        try:
            self._in_controller(f"link delete port-{name}")
        except LabError as error:  # the kernel, which clears up after the node's last process, may have been first
            if "Cannot find device" not in str(error):
                raise

    def node_up(self, name):
        node = self._node(name, up=False)
        node.start()
        self._connect([node])
        node.start_daemon()

    def cut(self, name):
        self._node(name, up=True)
        self._in_controller(f"link set port-{name} down")

    def heal(self, name):
        self._node(name, up=True)
        self._in_controller(f"link set port-{name} up")

    def _node(self, name, up):
        if name not in self.nodes:
            raise LabError(f"there is no node {name}; there are {', '.join(self.nodes)}")
        if (self.nodes[name].process is not None) != up:
            raise LabError(f"node {name} is {'down' if up else 'up'}")
        return self.nodes[name]

    def _connect(self, nodes):
        for node in nodes:
            node.wait_for_namespaces()
        self._in_controller(*(f"link add port-{node.name} up master bridge type veth peer name eth0 "
                              f"address {config.hardware_address(node.address)} netns {node.first_pid}"
                              for node in nodes))

    def _in_controller(self, *ip_commands):
        done = subprocess.run(["nsenter", "--target", str(self.controller.first_pid), "--net", "ip", "-batch", "-"],
                              input="\n".join(ip_commands) + "\n", capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"ip failed: {done.stderr.strip()}")

    def _start_munged(self):
        path = {name: os.path.join(self.directory, name) for name in
                ("munge.key", "munge.socket", "munge.pid", "munge.seed", "log/munged.log")}
        command = [*DIES_WITH_PARENT, "munged", "--foreground", "--force", f"--key-file={path['munge.key']}",
                   f"--socket={path['munge.socket']}", f"--pid-file={path['munge.pid']}",
                   f"--seed-file={path['munge.seed']}", f"--log-file={path['log/munged.log']}"]
        # pylint: disable-next=consider-using-with
        self.munged = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while not os.path.exists(path["munge.socket"]):
            if self.munged.poll() is not None or time.monotonic() > deadline:
                raise LabError(f"munged does not start; see {path['log/munged.log']}")
            time.sleep(0.01)

    def _wait_until_idle(self, timeout_s):
        command = [os.path.join(self.directory, "on"), config.CONTROLLER, "sinfo", "-h", "-N", "-p", "normal",
                   "-t", "idle", "-o", "%N"]
        deadline = time.monotonic() + timeout_s
        while True:
            shown = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if len(shown.stdout.split()) == len(self.nodes):
                return
            ended = [host for host in (self.controller, *self.nodes.values()) if host.process.poll() is not None]
            if ended:
                raise LabError(f"the daemon of {ended[0].name} ended: {ended[0].log_tail()}")
            if time.monotonic() > deadline:
                raise LabError(f"not all nodes are idle after {timeout_s} s: {shown.stdout} {shown.stderr}")
            time.sleep(0.05)

    def _write_on(self):
        path = os.path.join(self.directory, "on")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ON.format(dir=self.directory))
        os.chmod(path, 0o700)
