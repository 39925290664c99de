# SPDX-License-Identifier: Apache-2.0
"""Network namespaces of this test run, named afx-PID-NAME so that they can be swept up."""

import contextlib
import ctypes
import json
import os
import re
import shutil
import tempfile

from .process import processes_with, run

_CLONE_NEWNET = 0x40000000
_NAMES = "/run/netns"
_libc = ctypes.CDLL(None, use_errno=True)


def _setns(fd):
    if _libc.setns(fd, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")


class Namespace:
    """A network namespace without IPv6 traffic of its own, so that frames can be counted."""

    def __init__(self, name, ipv6=False):
        self.name = f"afx-{os.getpid()}-{name}"
        run(["ip", "netns", "add", self.name])
        if not ipv6:
            self.sysctl("net/ipv6/conf/all/disable_ipv6", "1")
            self.sysctl("net/ipv6/conf/default/disable_ipv6", "1")
        self.ip("link set lo up")

    @contextlib.contextmanager
    def entered(self):
        """The calling thread is inside; a socket made here stays in this namespace for ever."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            there = os.open(f"{_NAMES}/{self.name}", os.O_RDONLY | os.O_CLOEXEC)
            try:
                _setns(there)
            finally:
                os.close(there)
            try:
                yield
            finally:
                _setns(home)
        finally:
            os.close(home)

    def sysctl(self, key, value):
        with self.entered(), open(f"/proc/sys/{key}", "w", encoding="ascii") as file:
            file.write(value)

    def command(self, command):
        """`command` as it must be started to run inside."""
        return ["ip", "netns", "exec", self.name, *command]

    def run(self, command, **options):
        return run(self.command(command), **options)

    def ip(self, words, **options):
        """`ip WORDS` for this namespace; words as one string."""
        return run(["ip", "-n", self.name, *words.split()], **options)

    def link(self, device):
        """What `ip link show` knows of `device` as a dictionary, or None."""
        found = run(["ip", "-n", self.name, "-d", "-j", "link", "show", "dev", device], check=False)
        if found.returncode != 0:
            return None
        return json.loads(found.stdout)[0]

    def delete(self):
        run(["ip", "netns", "delete", self.name], check=False)


def _names():
    return os.listdir(_NAMES) if os.path.isdir(_NAMES) else []


def leftovers(pid):
    """What a test run with this pid has left: namespaces, folders, processes."""
    mark = f"afx-{pid}-"
    found = [name for name in _names() if name.startswith(mark)]
    found += [name for name in os.listdir(tempfile.gettempdir()) if name.startswith(mark)]
    return found + [f"process {left}: {command}" for left, command in processes_with(mark).items()]


def sweep():
    """Deletes what this run, or a run that is dead by now, has left: namespaces and folders."""
    for name in filter(_is_ours_or_nobodys, _names()):
        run(["ip", "netns", "delete", name], check=False)
    temporary = tempfile.gettempdir()
    for name in filter(_is_ours_or_nobodys, os.listdir(temporary)):
        shutil.rmtree(os.path.join(temporary, name), ignore_errors=True)


def _is_ours_or_nobodys(name):
    match = re.fullmatch(r"afx-(\d+)-.*", name)
    return match and (int(match[1]) == os.getpid() or not os.path.exists(f"/proc/{match[1]}"))
