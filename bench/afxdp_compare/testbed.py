# SPDX-License-Identifier: Apache-2.0
"""A switch with containers, made afresh for each measurement."""

import contextlib
import dataclasses
import itertools
import pathlib

from .network import Container, Namespace
from .switch import Build, Switch


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is the same for both builds."""
    traffic_tool: pathlib.Path
    folder: pathlib.Path  # For run, log and database folders.
    warmup: float = 1.0   # Seconds.
    duration: float = 3.0
    pmd_cpu: int = 1
    load_cpu: int = 0  # The generator's, the latency test's, and of all daemon threads but the PMD.


class Testbed:
    _numbers = itertools.count(1)

    def __init__(self, build: Build, settings: Settings, containers=2):
        self.build = build
        self.settings = settings
        self.folder = settings.folder / f"{next(self._numbers):03d}-{build.label}"
        self.containers = []
        self._count = containers
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with self._stack:
            self._create()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *exc_info):
        self._stack.close()

    def _create(self):
        enter = self._stack.enter_context
        namespace = enter(Namespace("switch"))
        for number in range(1, self._count + 1):
            container = Container(enter(Namespace(f"container{number}")), namespace, number)
            container.create()
            self.containers.append(container)
        self.switch = enter(Switch(self.build, namespace, self.folder,
                                   self.settings.pmd_cpu, self.settings.load_cpu))

    def connect(self):
        """Adds all ports and teaches the first two containers and the bridge to find each other."""
        self.switch.add_ports([container.port for container in self.containers])
        first, second = self.containers[:2]
        first.know(second)
        second.know(first)
        first.ping(second)
