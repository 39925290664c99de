# SPDX-License-Identifier: Apache-2.0
"""One Open vSwitch: its two daemons in a namespace, with folders of their own."""

import contextlib
import dataclasses
import os
import pathlib
import re

from .processes import BenchError, Child, run

BRIDGE = "br0"


@dataclasses.dataclass(frozen=True)
class Build:
    """An installed Open vSwitch."""
    label: str
    prefix: pathlib.Path

    def tool(self, name):
        for folder in ("sbin", "bin"):
            path = self.prefix / folder / name
            if path.exists():
                return path
        raise BenchError(f"{self.prefix} has no {name}")

    @property
    def schema(self):
        return self.prefix / "share" / "openvswitch" / "vswitch.ovsschema"

    def version(self):
        return run(self.tool("ovs-vswitchd"), "--version").splitlines()[0].split()[-1]

    def compiler_flags(self):
        """How OVS's own C files were compiled, as their debug information says; sorted."""
        info = run("readelf", "--debug-dump=info", "--dwarf-depth=1", self.tool("ovs-vswitchd"))
        return sorted(set(re.findall(r"DW_AT_producer.*: (GNU C\d.*|clang.*)", info)))


@dataclasses.dataclass(frozen=True)
class PmdCounters:
    received: int
    used_cycles: int
    idle_cycles: float
    upcalls: int

    def minus(self, earlier):
        return PmdCounters(*(getattr(self, field.name) - getattr(earlier, field.name)
                             for field in dataclasses.fields(self)))

    def idle_share(self):
        return self.idle_cycles / self.used_cycles


def parse_pmd_counters(text, core):
    """Takes the section of one core out of what pmd-stats-show prints."""
    section = re.search(rf"^pmd thread [^\n]*core_id {core}:\n(.*?)(?=^\S|\Z)", text,
                        re.DOTALL | re.MULTILINE)
    if not section:
        raise BenchError(f"no PMD thread on core {core}:\n{text}")

    def number(pattern):
        match = re.search(pattern, section[1])
        if not match:
            raise BenchError(f"pmd-stats-show has no \"{pattern}\":\n{text}")
        return float(match[1])

    used = number(r"Used TSC cycles: +(\d+)")
    return PmdCounters(received=int(number(r"Rx packets: +(\d+)")),
                       used_cycles=int(used),
                       idle_cycles=used * number(r"idle iterations: .*\( *([\d.]+) %") / 100,
                       upcalls=int(number(r"Upcalls: +(\d+)")))


def parse_coverage(text):
    return {name: int(total)
            for name, total in re.findall(r"^(\w+)\s.*total: (\d+)$", text, re.MULTILINE)}


def parse_map(text):
    """A map column as ovs-vsctl prints it."""
    pairs = re.findall(r'("[^"]*"|[\w-]+)=("[^"]*"|[^,}]*)', text)
    return {key.strip('"'): value.strip('"') for key, value in pairs}


class Switch:
    """Both daemons, running between __enter__ and __exit__; a netdev bridge with no ports.

    Everything but the PMD thread is kept off the PMD's core.
    """

    def __init__(self, build, namespace, folder, pmd_cpu, other_cpu):
        self.build = build
        self.namespace = namespace
        self.folder = pathlib.Path(folder)
        self.pmd_cpu = pmd_cpu
        self.other_cpu = other_cpu
        self.daemon = None
        self._stack = contextlib.ExitStack()
        self._env = dict(os.environ, OVS_RUNDIR=str(folder), OVS_LOGDIR=str(folder),
                         OVS_DBDIR=str(folder), OVS_SYSCONFDIR=str(folder))

    def __enter__(self):
        with self._stack:
            self._start()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *exc_info):
        self._stack.close()

    def _start(self):
        build, folder = self.build, self.folder
        folder.mkdir(parents=True)
        run(build.tool("ovsdb-tool"), "create", folder / "conf.db", build.schema)
        self._spawn("ovsdb-server", f"--remote=punix:{folder}/db.sock",
                    f"--unixctl={folder}/ovsdb.ctl", folder / "conf.db")
        self.vsctl("--retry", "--no-wait", "init")  # The first to connect.
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".",
                   f"other_config:pmd-cpu-mask={1 << self.pmd_cpu:x}")
        self.daemon = self._spawn("ovs-vswitchd", f"--unixctl={folder}/vswitchd.ctl",
                                  f"unix:{folder}/db.sock")
        # MACs must not be forgotten while traffic flows in one direction only.
        self.vsctl("add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev",
                   "other_config:mac-aging-time=3600")

    def _spawn(self, name, *args):
        child = Child(
            self.namespace.inside("taskset", "-c", str(self.other_cpu), self.build.tool(name),
                                  f"--log-file={self.folder}/{name}.log", "-vconsole:off", *args),
            self.folder / f"{name}.out", env=self._env)
        self._stack.callback(child.stop)
        return child

    def vsctl(self, *args):
        return run(self.build.tool("ovs-vsctl"), f"--db=unix:{self.folder}/db.sock",
                   "--timeout=60", *args, env=self._env)

    def appctl(self, *args):
        self.daemon.check_running()
        return run(self.build.tool("ovs-appctl"), "--timeout=60", "-t",
                   f"{self.folder}/vswitchd.ctl", *args, env=self._env)

    def add_ports(self, names):
        args = []
        for name in names:
            args += ["--", "add-port", BRIDGE, name,
                     "--", "set", "interface", name, "type=afxdp"]
        self.vsctl(*args[1:])
        for name in names:
            error = self.vsctl("get", "interface", name, "error").strip()
            if error not in ("[]", '""'):
                raise BenchError(f"{self.build.label}: port {name}: {error}")
        cores = set(re.findall(r"core_id (\d+)", self.appctl("dpif-netdev/pmd-rxq-show")))
        if cores != {str(self.pmd_cpu)}:
            raise BenchError(f"{self.build.label}: PMD threads on cores {sorted(cores)}, "
                             f"expected {self.pmd_cpu}")

    def port_status(self, name):
        """The interface's status column, as a dict."""
        return parse_map(self.vsctl("get", "interface", name, "status"))

    def pmd_counters(self):
        """What the PMD thread has counted since the daemon's start."""
        return parse_pmd_counters(self.appctl("dpif-netdev/pmd-stats-show"), self.pmd_cpu)

    def coverage(self):
        """Coverage counters since the daemon's start: name -> number.

        A thread hands its counts over once a second, so the last ones are missing.
        """
        return parse_coverage(self.appctl("coverage/show"))

    def complaints(self):
        """Warnings and errors in the daemon's log."""
        text = (self.folder / "ovs-vswitchd.log").read_text(errors="replace")
        return [line for line in text.splitlines() if re.search(r"\|(WARN|ERR|EMER)\|", line)]
