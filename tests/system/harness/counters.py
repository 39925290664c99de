# SPDX-License-Identifier: Apache-2.0
"""Reading what afxdp/pool and afxdp/show print."""

import collections
import dataclasses
import re


@dataclasses.dataclass
class Pool:
    """Frames by who has them, as afxdp/pool says."""

    text: str
    frames: int = 0
    page_size: str = ""
    free: int = 0
    caches: dict = dataclasses.field(default_factory=dict)
    held: int = 0
    posted: dict = dataclasses.field(default_factory=dict)  # (port, queue): (rx, tx)
    quarantined: int = 0
    reserved: tuple = (0, 0)
    misgiven: int = 0  # frames given back by who did not have them
    printed_sum: int = 0

    def total(self):
        """Our own sum, not the printed one."""
        posted = sum(rx + tx for rx, tx in self.posted.values())
        return self.free + sum(self.caches.values()) + self.held + posted + self.quarantined


def parse_pool(text):
    pool = Pool(text)
    for line in text.splitlines():
        key, _, value = line.strip().partition(": ")
        if match := re.fullmatch(r"port (\S+) queue (\d+)", key):
            rx, tx = re.fullmatch(r"rx (\d+) tx (\d+)", value).groups()
            pool.posted[match[1], int(match[2])] = (int(rx), int(tx))
        elif key.startswith("cache "):
            pool.caches[key.removeprefix("cache ")] = int(value)
        elif key == "page size":
            pool.page_size = value
        elif key == "reserved":
            pool.reserved = tuple(int(number) for number in value.split(" of "))
        elif key in _POOL_NUMBERS:
            setattr(pool, _POOL_NUMBERS[key], int(value))
        else:
            raise AssertionError(f"afxdp/pool: unknown line '{line}'")
    return pool


_POOL_NUMBERS = {
    "frames": "frames",
    "pool": "free",
    "held by OVS": "held",
    "quarantined": "quarantined",
    "misgiven": "misgiven",
    "sum": "printed_sum",
}


@dataclasses.dataclass
class Port:
    """One port as afxdp/show says."""

    name: str
    ifindex: int
    driver: str
    link: str
    mode: str = ""
    copy: str = ""
    reason: str = ""
    refused: list = dataclasses.field(default_factory=list)
    program: str = ""
    program_id: int = 0
    program_note: str = None
    rings: dict = dataclasses.field(default_factory=dict)
    need_wakeup: str = ""
    queues: dict = dataclasses.field(default_factory=dict)  # number: {counter: value}

    def total(self, counter):
        """A counter summed over the queues."""
        return sum(queue[counter] for queue in self.queues.values())

    def totals(self):
        sums = collections.Counter()
        for queue in self.queues.values():
            sums.update(queue)
        return sums


def parse_show(text):
    """Name to Port."""
    ports, port, queue = {}, None, None
    for line in text.splitlines():
        if match := re.fullmatch(r"port (\S+): ifindex (\d+), driver (\S+), link (up|down)", line):
            port = Port(match[1], int(match[2]), match[3], match[4])
            ports[port.name] = port
        elif match := re.fullmatch(r"\s+queue (\d+):", line):
            queue = port.queues.setdefault(int(match[1]), {})
        elif match := re.fullmatch(r"\s{4,}(?:xsk_queue_\d+_)?(\w+): (\d+)", line):
            queue[match[1]] = int(match[2])
        elif line.strip():
            _parse_property(port, line.strip())
    return ports


def _parse_property(port, line):
    key, _, value = line.partition(": ")
    if key == "mode":
        port.mode, port.copy, port.reason = re.fullmatch(
            r"([\w-]+), ([\w-]+)(?: \((.*)\))?", value).groups()
    elif key == "refused":
        port.refused.append(value)
    elif key == "program":
        port.program, program_id, port.program_note = re.fullmatch(
            r"(\S+) id (\d+)(?:, (.*))?", value).groups()
        port.program_id = int(program_id)
    elif key == "rings":
        words = value.split()
        port.rings = {name: int(size) for name, size in zip(words[::2], words[1::2])}
    elif key == "need-wakeup":
        port.need_wakeup = value
    else:
        raise AssertionError(f"afxdp/show: unknown line '{line}'")
