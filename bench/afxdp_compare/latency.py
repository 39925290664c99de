# SPDX-License-Identifier: Apache-2.0
"""Request-response latency from container to container: sockperf ping-pong over UDP."""

import contextlib
import dataclasses
import math
import pathlib
import re
import struct

from .machine import Bystanders, doubts_about_machine
from .processes import BenchError, Child, wait_until
from .testbed import Testbed

PORT = 11111
MESSAGE_SIZE = 64  # Bytes of UDP payload.
PERCENTILES = {"p50": "50.000", "p99": "99.000", "p999": "99.900"}


QOS_DEVICE = pathlib.Path("/dev/cpu_dma_latency")


@dataclasses.dataclass
class Latency:
    """Round-trip times in microseconds."""
    p50: float
    p99: float
    p999: float
    lost: int
    mode: str
    doubts: list


def measure(bed: Testbed) -> Latency:
    """Client and server share the load's core, as they would while one waits for the other."""
    client_side, server_side = bed.containers[0], bed.containers[-1]
    pin = ["taskset", "-c", str(bed.settings.load_cpu)]
    with _no_deep_sleep():
        output, others = _run(bed, client_side, server_side, pin)
    mode = bed.switch.port_status(server_side.port).get("xdp-mode", "unknown")
    result = Latency(**parse(output), mode=mode, doubts=doubts_about_machine(others))
    if result.lost:
        result.doubts.append(f"{result.lost} messages were lost")
    return result


def _run(bed, client_side, server_side, pin):
    """What the client printed, and the cores' worth of time that others used meanwhile."""
    server = Child(server_side.namespace.inside(
        *pin, "sockperf", "server", "-i", server_side.ip, "-p", PORT),
        bed.folder / "latency-server.out")
    try:
        wait_until(lambda: server.check_running() and _listens(server_side), "sockperf's server")
        bystanders = Bystanders([bed.switch.daemon, server])
        # sockperf counts whole seconds.
        seconds = max(1, math.ceil(bed.settings.duration))
        client = Child(client_side.namespace.inside(
            *pin, "sockperf", "ping-pong", "-i", server_side.ip, "-p", PORT,
            "-m", MESSAGE_SIZE, "-t", seconds, "--full-rtt"),
            bed.folder / "latency-client.out")
        try:
            client.wait(seconds + 20)  # Its time is now among that of our ended children.
            others = bystanders.share()
        finally:
            client.stop()
    finally:
        server.stop()
    return client.output.read_text(), others


@contextlib.contextmanager
def _no_deep_sleep():
    """Lets idle CPUs poll while this lasts (PM QoS; pm_qos_interface.rst in the kernel's docs).

    Without it the median was seen to jump between about 17 and 40 us, for both builds; what the
    halt-polling governor guesses, and what waking a halted virtual CPU costs, would explain that.
    """
    if not QOS_DEVICE.exists():
        yield
        return
    with QOS_DEVICE.open("wb", buffering=0) as device:
        device.write(struct.pack("i", 0))
        yield


def parse(text):
    """Reads what sockperf's client prints at the end: Latency's numbers by name."""
    values = {}
    for name, percentile in PERCENTILES.items():
        match = re.search(rf"percentile {re.escape(percentile)} = +([\d.]+)", text)
        if not match:
            raise BenchError(f"sockperf printed no percentile {percentile}:\n{text}")
        values[name] = float(match[1])
    dropped = re.search(r"# dropped messages = (\d+)", text)
    return {**values, "lost": int(dropped[1]) if dropped else 0}


def _listens(container):
    """Whether a UDP socket in the container is bound to PORT."""
    sockets = container.namespace.udp_sockets()
    return f":{PORT:04X} " in sockets
