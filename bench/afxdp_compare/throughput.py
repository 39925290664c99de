# SPDX-License-Identifier: Apache-2.0
"""Packets per second from container to container, and whether that number means what it says."""

import contextlib
import dataclasses
import time

from .machine import Bystanders, doubts_about_machine
from .processes import BenchError, Child, wait_until
from .testbed import Testbed

# Counters that must not move in a plain forwarding test (OVS's coverage).
ODD_COUNTERS = ("datapath_drop_", "dp_packet_batch_grow", "netdev_push_header_drops")
# Worth writing down with the result.
TOLD_COUNTERS = (*ODD_COUNTERS, "afxdp_", "dpif_netdev_")

MAX_IDLE_SHARE = 0.05  # Of the PMD's cycles; more means that the generator did not overload it.
MIN_OVERLOAD = 1.05    # Offered to delivered.
MAX_LOSS = 0.01        # Of what the datapath received and the container did not.


@dataclasses.dataclass(frozen=True)
class Case:
    size: int
    flows: int

    def __str__(self):
        return f"{self.size} B, {self.flows:,} flow{'s' if self.flows > 1 else ''}"


@dataclasses.dataclass
class Throughput:
    pps: float
    offered_pps: float
    idle_share: float      # Of the PMD's cycles, while measured.
    loss_share: float      # Received by the datapath, not delivered.
    upcalls: int           # While measured.
    others_share: float    # Cores that other processes used.
    mode: str
    counters: dict
    doubts: list = dataclasses.field(default_factory=list)


def measure(bed: Testbed, case: Case) -> Throughput:
    """Offers traffic for warmup and duration; counts what arrives in the latter."""
    with contextlib.ExitStack() as stack:
        sink, generator = _Traffic(bed, stack).start(case)
        before = bed.switch.pmd_counters()
        generator.start()
        time.sleep(bed.settings.warmup)
        bystanders = Bystanders([bed.switch.daemon, sink.child, generator.child])
        begin, at_begin = time.monotonic(), bed.switch.pmd_counters()
        time.sleep(bed.settings.duration)
        end, at_end = time.monotonic(), bed.switch.pmd_counters()
        others = bystanders.share()
        offered = generator.stop()
        delivered = sink.stop()
        after = bed.switch.pmd_counters()
        coverage = bed.switch.coverage()
    window = at_end.minus(at_begin)
    total = after.minus(before)
    return judge(case, delivered, Throughput(
        pps=rate(sink.samples, begin, end),
        offered_pps=offered,
        idle_share=window.idle_share(),
        loss_share=1 - delivered["packets"] / max(total.received, 1),
        upcalls=window.upcalls,
        others_share=others,
        mode=bed.switch.port_status(bed.containers[1].port).get("xdp-mode", "unknown"),
        counters={name: count for name, count in coverage.items()
                  if name.startswith(TOLD_COUNTERS)}))


def rate(samples, begin, end):
    """Packets per second between the first and the last sample in [begin, end]."""
    inside = [sample for sample in samples if begin <= sample["time"] <= end]
    if len(inside) < 2:
        raise BenchError("the sink took no samples while measuring")
    first, last = inside[0], inside[-1]
    return (last["packets"] - first["packets"]) / (last["time"] - first["time"])


def judge(case, delivered, result):
    """Writes into `result` every reason not to believe it."""
    if result.pps == 0:
        raise BenchError(f"{case}: nothing arrived")
    if delivered["bytes"] != delivered["packets"] * case.size:
        result.doubts.append("other packets than the generator's arrived")
    if result.offered_pps < MIN_OVERLOAD * result.pps:
        result.doubts.append(f"only {result.offered_pps / 1e6:.2f} Mpps offered: no overload")
    if result.idle_share > MAX_IDLE_SHARE:
        result.doubts.append(f"the PMD thread was idle for {result.idle_share:.0%}: no overload")
    if abs(result.loss_share) > MAX_LOSS:
        result.doubts.append(f"{result.loss_share:.1%} of what the datapath received was lost")
    result.doubts += doubts_about_machine(result.others_share)
    for name, count in result.counters.items():
        if name.startswith(ODD_COUNTERS):
            result.doubts.append(f"{name} is {count}")
    return result


class _Traffic:
    """Starts the sink in the last container and the generator in the first."""

    def __init__(self, bed, stack):
        self.bed = bed
        self.stack = stack

    def start(self, case):
        source, target = self.bed.containers[0], self.bed.containers[-1]
        tool, folder = self.bed.settings.traffic_tool, self.bed.folder
        sink = _Sink(target.namespace.inside(tool, "sink", "--dev", "eth0", "--interval", "0.05"),
                     folder / "sink.out", self.stack)
        generator = _Generator(
            source.namespace.inside(
                tool, "gen", "--dev", "eth0", "--cpu", self.bed.settings.load_cpu,
                "--size", case.size, "--flows", case.flows,
                "--src-mac", source.mac, "--dst-mac", target.mac,
                "--src-ip", source.ip, "--dst-ip", target.ip),
            folder / "generator.out", self.stack)
        sink.start()
        return sink, generator


class _Tool:
    def __init__(self, command, log, stack):
        self.command = command
        self.log = log
        self.stack = stack
        self.child = None

    def start(self):
        self.child = Child(self.command, self.log)
        self.stack.callback(self.child.stop)
        self.child.wait_for_line()


class _Sink(_Tool):
    samples = ()

    def stop(self):
        """Waits until no more packets come; the last sample."""
        def quiet():
            self.child.check_running()
            lines = self.child.json_lines()
            return len(lines) >= 4 and lines[-1]["packets"] == lines[-4]["packets"]
        wait_until(quiet, "the last packets", interval=0.05)
        self.child.stop()
        self.samples = self.child.json_lines()
        return self.samples[-1]


class _Generator(_Tool):
    def stop(self):
        """Packets that it offered per second."""
        self.child.check_running()
        self.child.stop()
        return self.child.json_lines()[-1]["pps"]
