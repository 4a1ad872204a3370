"""Machines with slow links on one host: a Linux network namespace each, on a bridge in another.

All traffic stays within the namespaces that `Network` makes and removes. Needs root, `ip` and `tc`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

SUBNET = "10.77.0"
BRIDGE = "02:00:0a:4d:00:fe"
# Seconds that killed processes have to end, and a command that configures the network.
PATIENCE = 20


def missing():
    """Why there can be no namespaces here, or None."""
    if sys.platform != "linux":
        return "network namespaces need Linux"
    for tool in ("ip", "tc"):
        if not shutil.which(tool):
            return f"there is no `{tool}`: install iproute2"
    if os.geteuid() != 0:
        return "network namespaces need root"
    probe = f"fyke-{os.getpid()}-probe"
    try:
        command("ip", "netns", "add", probe)
        command("ip", "netns", "delete", probe)
    except RuntimeError as error:
        return str(error)
    return None


def command(*words):
    """Runs a command of the network. Its output."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(words)}` failed: {done.stderr.strip()}")
    return done.stdout


class Machine:
    """A namespace, with an address in the network."""

    def __init__(self, name, host):
        self.name, self.address = name, f"{SUBNET}.{host}"

    def exec(self, *words):
        """The words of a command that runs on this machine."""
        return ["ip", "netns", "exec", self.name, *map(str, words)]

    def processes(self):
        return list(map(int, command("ip", "netns", "pids", self.name).split()))

    def kill(self):
        """Ends all processes of this machine at once, as a loss of power does."""
        end = time.monotonic() + PATIENCE
        while left := self.processes():
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name}: processes {left} do not end")
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)


class Network:
    """A hub, and machines whose links to it carry a number of bits per second both ways."""

    def __init__(self):
        self.prefix = f"fyke-{os.getpid()}"
        self.machines = []

    def __enter__(self):
        try:
            self.hub = self._namespace("hub", 254)
            in_hub = ("ip", "-n", self.hub.name)
            # Without an address of its own the bridge takes that of a port, and changes it with them.
            command(*in_hub, "link", "add", "bridge", "address", BRIDGE, "type", "bridge")
            command(*in_hub, "address", "add", f"{self.hub.address}/24", "dev", "bridge")
            command(*in_hub, "link", "set", "bridge", "up")
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def _namespace(self, name, host):
        machine = Machine(f"{self.prefix}-{name}", host)
        command("ip", "netns", "add", machine.name)
        self.machines.append(machine)
        command("ip", "-n", machine.name, "link", "set", "lo", "up")
        return machine

    def add(self, name, rate=None):
        """A machine, whose link is throttled to `rate` as `tc` writes it, or is not."""
        host = len(self.machines)
        machine = self._namespace(name, host)
        here, hub, port = ("ip", "-n", machine.name), ("ip", "-n", self.hub.name), f"port{host}"
        peer = ("peer", "name", "eth0", "netns", machine.name)
        command(*hub, "link", "add", port, "type", "veth", *peer)
        command(*hub, "link", "set", port, "master", "bridge", "up")
        command(*here, "address", "add", f"{machine.address}/24", "dev", "eth0")
        command(*here, "link", "set", "eth0", "up")
        # Programs ask for a route to the outside to learn their address. The hub forwards nothing.
        command(*here, "route", "add", "default", "via", self.hub.address)
        if rate is not None:
            for namespace, device in ((self.hub.name, port), (machine.name, "eth0")):
                queue = ("tbf", "rate", rate, "burst", "256kb", "latency", "50ms")
                command("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", *queue)
        return machine

    def received(self, machine):
        """Bytes that a machine received."""
        counter = "/sys/class/net/eth0/statistics/rx_bytes"
        return int(command(*machine.exec("cat", counter)))

    def remove(self):
        """Ends what runs on the machines, and removes them, with their links."""
        for machine in reversed(self.machines):
            with contextlib.suppress(RuntimeError, TimeoutError):
                machine.kill()
            with contextlib.suppress(RuntimeError):
                command("ip", "netns", "delete", machine.name)
        self.machines = []
