# SPDX-License-Identifier: Apache-2.0
"""Memory of the daemon and of the kernel, by number of ports."""

import dataclasses
import pathlib
import re

from .processes import wait_until
from .report import format_table
from .testbed import Testbed

# What the kernel holds for itself, of /proc/meminfo: the page and chunk tables of each UMEM
# registration and the rings (both vmalloc), and small objects.  Not the daemon's own pages, nor
# caches that the kernel would give back (SReclaimable).
KERNEL_FIELDS = ("VmallocUsed", "SUnreclaim", "PageTables", "Percpu", "KernelStack")


@dataclasses.dataclass
class Memory:
    """KiB; all but `daemon` and `locked` are what the ports added."""
    ports: int
    daemon: int          # Resident set, with huge pages.
    daemon_added: int
    locked: int          # VmLck of the daemon.
    kernel_added: int    # Sum of KERNEL_FIELDS.
    available_added: int  # Loss of MemAvailable: all in all.
    details: dict        # Every field of /proc/meminfo that moved.


def measure(build, settings, ports) -> Memory:
    with Testbed(build, settings, containers=ports) as bed:
        pid = bed.switch.daemon.pid
        info_before, status_before = _settled(pid)
        bed.switch.add_ports([container.port for container in bed.containers])
        info, status = _settled(pid)
    moved = {name: info[name] - before for name, before in info_before.items()
             if info.get(name, before) != before}
    return Memory(
        ports=ports,
        daemon=_resident(status),
        daemon_added=_resident(status) - _resident(status_before),
        locked=status["VmLck"],
        kernel_added=_kernel(moved),
        available_added=-moved.get("MemAvailable", 0),
        details=moved)


def table(results):
    """`results`: label -> list of Memory."""
    lines = [["ports", "build", "daemon MiB", "of it for ports", "kernel MiB for ports",
              "all in all MiB for ports"]]
    for label, memories in results.items():
        for memory in memories:
            lines.append([str(memory.ports), label, _mib(memory.daemon), _mib(memory.daemon_added),
                          _mib(memory.kernel_added), _mib(memory.available_added)])
    return format_table([lines[0], *sorted(lines[1:], key=lambda line: int(line[0]))])


def parse_kib(text):
    """/proc/meminfo or /proc/PID/status: name -> KiB."""
    return {name: int(value)
            for name, value in re.findall(r"^(\w+(?:\(\w+\))?):\s+(\d+) kB$", text, re.MULTILINE)}


def _mib(kib):
    return f"{kib / 1024:.1f}"


def _resident(status):
    return status["VmRSS"] + status.get("HugetlbPages", 0)


def _kernel(info):
    return sum(info.get(name, 0) for name in KERNEL_FIELDS)


def _read(pid):
    return (parse_kib(pathlib.Path("/proc/meminfo").read_text()),
            parse_kib(pathlib.Path(f"/proc/{pid}/status").read_text()))


def _settled(pid):
    """Reads both once what belongs to the ports does not move any more."""
    last = []

    def still():
        last.append(_read(pid))
        if len(last) < 4:
            return None
        then, now = last[-4], last[-1]
        calm = (abs(_kernel(then[0]) - _kernel(now[0])) < 2048
                and _resident(then[1]) == _resident(now[1]))
        return now if calm else None

    return wait_until(still, "memory to settle", timeout=30, interval=0.25)
