# SPDX-License-Identifier: Apache-2.0
"""Network namespaces: one for a switch, one per container."""

import os
import shutil

from .processes import BenchError, run


def namespace_prefix(pid):
    return f"bench-{pid}-"


class Namespace:
    """A named network namespace of this process: bench-PID-ROLE."""

    def __init__(self, role):
        self.name = namespace_prefix(os.getpid()) + role

    def __enter__(self):
        run("ip", "netns", "add", self.name)
        try:
            self.disable_ipv6()
            run("ip", "-n", self.name, "link", "set", "lo", "up")
        except BaseException:
            self.delete()
            raise
        return self

    def __exit__(self, *exc_info):
        self.delete()

    def delete(self):
        run("ip", "netns", "del", self.name)

    def disable_ipv6(self):
        """Keeps neighbour discovery out of the packet counts."""
        run(*self.inside("sh", "-c", "for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do "
                                     "[ ! -e $f ] || echo 1 > $f; done"))

    def udp_sockets(self):
        """The text of the namespace's /proc/net/udp."""
        return run(*self.inside("cat", "/proc/net/udp"))

    def inside(self, *command):
        """The command line that runs `command` in the namespace; it does not fork."""
        return ["ip", "netns", "exec", self.name, *command]


class Container:
    """A namespace with eth0, the far end of a veth whose near end is in the switch's namespace."""

    def __init__(self, namespace, switch_namespace, number):
        self.namespace = namespace
        self.switch_namespace = switch_namespace
        self.port = f"port{number}"
        self.ip = f"10.99.{number >> 8}.{number & 255}"
        self.mac = f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"

    def create(self):
        switch, container = self.switch_namespace.name, self.namespace.name
        run("ip", "-n", switch, "link", "add", self.port, "type", "veth",
            "peer", "name", "eth0", "address", self.mac, "netns", container)
        run("ip", "-n", switch, "link", "set", self.port, "up")
        run("ip", "-n", container, "link", "set", "eth0", "up")
        run("ip", "-n", container, "address", "add", f"{self.ip}/16", "dev", "eth0")
        # Upstream sends a checksum on as unfinished as the container's stack left it.
        run(*self.namespace.inside("ethtool", "-K", "eth0", "tx", "off"))

    def know(self, other):
        """Makes `other` a permanent neighbour, so that no ARP comes in between."""
        run("ip", "-n", self.namespace.name, "neighbour", "replace", other.ip,
            "lladdr", other.mac, "dev", "eth0", "nud", "permanent")

    def ping(self, other):
        run(*self.namespace.inside("ping", "-q", "-c", "3", "-i", "0.05", "-W", "2", other.ip))


# Command -> Debian package.
TOOLS = {"ip": "iproute2", "ethtool": "ethtool", "ping": "iputils-ping", "setpriv": "util-linux",
         "taskset": "util-linux", "readelf": "binutils", "sockperf": "sockperf"}


def require_root_and_tools():
    if os.geteuid() != 0:
        raise BenchError("must be run as root: it makes network namespaces and loads BPF programs")
    missing = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool)})
    if missing:
        raise BenchError(f"these Debian packages are missing: {' '.join(missing)}")
