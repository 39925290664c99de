# SPDX-License-Identifier: Apache-2.0
"""Namespaces and folders carry their maker's process ID, so that they can be found afterwards.

Processes are no matter: they end with their maker (processes.Child).
"""

import pathlib
import re
import shutil
import tempfile

from .network import namespace_prefix
from .processes import run

NAMESPACES = pathlib.Path("/run/netns")


def folder_prefix(pid):
    return f"afxdp-bench-{pid}-"


def delete_of(pid):
    for path in NAMESPACES.glob(namespace_prefix(pid) + "*"):
        run("ip", "netns", "del", path.name)
    for path in _temporary().glob(folder_prefix(pid) + "*"):
        shutil.rmtree(path)


def delete_of_the_dead():
    """What earlier runs left that were killed before they could tidy up."""
    names = [path.name for folder in (NAMESPACES, _temporary()) for path in folder.glob("*bench-*")]
    pids = {match[1] for name in names if (match := re.match(r"(?:afxdp-)?bench-(\d+)-", name))}
    for pid in pids:
        if not pathlib.Path("/proc", pid).exists():
            delete_of(pid)


def _temporary():
    return pathlib.Path(tempfile.gettempdir())
