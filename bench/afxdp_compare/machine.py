# SPDX-License-Identifier: Apache-2.0
"""What the machine is, and whether it had nothing else to do."""

import os
import pathlib
import platform
import time


def describe():
    model = [line.split(":", 1)[1].strip()
             for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return {"kernel": platform.release(), "cpu": model[0] if model else platform.machine(),
            "cpus": os.cpu_count()}


MAX_OTHERS_SHARE = 0.05  # Cores.


def doubts_about_machine(others_share):
    if others_share <= MAX_OTHERS_SHARE:
        return []
    return [f"the machine was busy: other processes used {others_share:.0%} of a core"]


class Bystanders:
    """Watches how much user-mode time processes other than `children` and ourselves take.

    It is the difference of two totals, so that short-lived processes count too.
    """

    def __init__(self, children):
        self._pids = [child.pid for child in children]
        self._start = self._read()

    def share(self):
        """Cores' worth since the start."""
        elapsed, others = (now - then for now, then in zip(self._read(), self._start))
        return max(0.0, others / elapsed)

    def _read(self):
        ticks = os.sysconf("SC_CLK_TCK")
        user, nice = pathlib.Path("/proc/stat").read_text().split()[1:3]
        ours = sum(_user_ticks(pid) for pid in self._pids) / ticks
        own = os.times()
        return (time.monotonic(),
                (int(user) + int(nice)) / ticks - ours - own.user - own.children_user)


def _user_ticks(pid):
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    # The command's name, in parentheses, may hold spaces; utime is field 14 (proc(5)).
    return int(text[text.rindex(")") + 2:].split()[11])
