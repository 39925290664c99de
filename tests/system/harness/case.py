# SPDX-License-Identifier: Apache-2.0
"""The base of all system tests: sets things up, and looks at the daemon's health afterwards."""

import os
import re
import unittest

from . import netns
from .container import Container
from .endpoint import RawPort, frames_between, transfer
from .switch import PREFIX, Switch
from .tap_vm import TapVm
from .waiting import wait_until

_HARMLESS = [
    # Tests end daemons by SIGTERM, and OVS says so.
    r"fatal_signal.*\|WARN\|terminating with signal 15",
    # A packet that was on its way to OVS's slow path when its port or bridge went.
    r"ofproto_dpif_upcall.*\|WARN\|xlate_key failed \(No such device\)",
    # Registering memory, attaching programs and closing sockets wait for the kernel's grace periods
    # and its RTNL lock, which take seconds on a machine that others load.
    r"timeval.*\|WARN\|(Unreasonably long|faults|disk|context switches)",
    r"ovs_rcu.*\|WARN\|blocked \d+ ms waiting for",
]

# Packets that left by a port, and how.
_COPIES = ("tx_copied_clone", "tx_copied_foreign", "tx_copied_unfit")


class SystemTest(unittest.TestCase):
    """start_switch() first, then add_container() and add_vm()."""

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, for network namespaces and AF_XDP")
        self.assertTrue((PREFIX / "sbin/ovs-vswitchd").exists(),
                        f"no Open vSwitch at {PREFIX}: run scripts/setup")
        self.switch = None
        self.endpoints = {}
        self._allowed = list(_HARMLESS)
        self._pool_exists = True
        self.addCleanup(netns.sweep)

    # ---- Setting up ----------------------------------------------------------------------------

    def make_switch(self, **options):
        """A switch whose daemon is not started yet."""
        self.switch = Switch(**options)
        self.addCleanup(self.switch.close)
        return self.switch

    def start_switch(self, **options):
        return self.make_switch(**options).start()

    def make_container(self, port, number, **options):
        """A container whose port is not part of the bridge yet."""
        container = Container(self.switch, port, number, **options)
        self.addCleanup(container.close)
        self.endpoints[port] = container
        return container

    def make_vm(self, port, number, **options):
        vm = TapVm(self.switch, port, number, **options)
        self.addCleanup(vm.close)
        self.endpoints[port] = vm
        return vm

    def add_container(self, port, number, kind="afxdp", options=None, **how):
        """A container behind an AF_XDP port that works."""
        container = self.make_container(port, number, **how)
        self.add_port(port, kind=kind, ofport=number, **(options or {}))
        return container

    def add_vm(self, port, number, options=None, **how):
        vm = self.make_vm(port, number, **how)
        self.add_port(port, ofport=number, **(options or {}))
        return vm

    def add_port(self, name, **how):
        self.switch.add_port(name, **how)
        self.expect_no_error(name)

    def expect_no_error(self, port, timeout=10):
        """The port has no error, and has an OpenFlow number."""
        wait_until(lambda: self.switch.port_error(port) == ""
                   and self.switch.interface(port, "ofport") not in ("[]", "-1"),
                   lambda: f"{port} works; its error is: {self.switch.port_error(port)}", timeout)

    def expect_error(self, port, *patterns, timeout=10):
        """The Interface's error column comes to match each of `patterns`; returns its text."""
        def matches():
            text = self.switch.port_error(port)
            return text if all(re.search(p, text, re.IGNORECASE) for p in patterns) else None
        return wait_until(
            matches, lambda: f"error of {port} should match {patterns}, "
                             f"is '{self.switch.port_error(port)}'", timeout)

    def allow_log(self, *patterns):
        """The daemon may log WARN and ERR lines "module|LEVEL|text" that match one of these."""
        self._allowed += patterns

    def expect_no_pool(self):
        """No AF_XDP port was ever opened, so there are no frames to be counted at the end."""
        self._pool_exists = False

    def raw_local(self, bridge="br0"):
        """Frames to and from the bridge's own device."""
        self.switch.namespace.ip(f"link set {bridge} up")
        port = RawPort(self.switch.namespace, bridge)
        self.addCleanup(port.close)
        return port

    # ---- Traffic and counting ------------------------------------------------------------------

    def exchange(self, source, destination, sizes, receivers=None):
        """Frames of `sizes` from one endpoint to another, all of which must arrive."""
        frames = frames_between(source, destination, sizes)
        sender = source.raw()
        sinks = [end.raw() for end in receivers or [destination]]
        transfer(sender, sinks, frames)
        return frames

    def expect_forwarding(self, one, other, count=20):
        """The cheap proof that two endpoints, whose ports are connected, reach each other."""
        self.exchange(one, other, [60 + 7 * i for i in range(count)])
        self.exchange(other, one, [1514 - 7 * i for i in range(count)])

    def sent(self, port):
        """How `port` sent its packets so far: a dictionary to be given to sent_since()."""
        totals = self.switch.port(port).totals()
        return {key: totals[key] for key in ("tx_packets", "tx_in_place", *_COPIES)}

    def sent_since(self, port, before):
        now = self.sent(port)
        return {key: now[key] - before[key] for key in now}

    def transmit_drops(self, port):
        """Packets that `port` gave up.  A kick that says EBUSY is one that the device refused."""
        return sum(value for name, value in self.switch.port(port).totals().items()
                   if name.startswith("tx_drop_") or name == "tx_kick_busy")

    def expect_sent(self, port, before, in_place=0, clone=0, foreign=0, unfit=0):
        """What `port` has sent since `before` = sent(port)."""
        self.assertEqual(
            self.sent_since(port, before),
            {"tx_packets": in_place + clone + foreign + unfit, "tx_in_place": in_place,
             "tx_copied_clone": clone, "tx_copied_foreign": foreign, "tx_copied_unfit": unfit},
            f"{port}: packets sent in place and copied")

    # ---- The daemon's health -------------------------------------------------------------------

    def tearDown(self):
        if self.switch and self.switch.daemon:
            self.check_daemon()

    def check_daemon(self):
        """Still the process that the test started, nothing unexpected in its log, no frame lost."""
        self.assertTrue(self.switch.daemon.alive(),
                        f"ovs-vswitchd ended: {self.switch.daemon.exit_status()}")
        if self._pool_exists:
            self.expect_all_frames()
        lines = ["|".join(line) for line in self.switch.log_lines()]
        unexpected = [line for line in lines
                      if not any(re.search(pattern, line) for pattern in self._allowed)]
        self.assertEqual(unexpected, [], "unexpected lines in ovs-vswitchd.log")
        self.assertEqual(
            self.switch.appctl("coverage/read-counter", "dp_packet_batch_grow").stdout.strip(), "0")

    def expect_all_frames(self, timeout=10):
        """Every frame has an owner, and with the traffic gone none is OVS's or quarantined."""
        def complete():
            pool = self.switch.pool()
            return (pool.held == 0 and pool.quarantined == 0 and pool.misgiven == 0
                    and pool.printed_sum == pool.frames and pool.total() == pool.frames)
        wait_until(complete, lambda: f"all frames accounted for:\n{self.switch.pool().text}",
                   timeout)

    def describe(self):
        """What helps to understand a failure, asked while everything is still up."""
        if not self.switch or not self.switch.daemon:
            return ""
        text = f"---- ovs-vswitchd ----\n{self.switch.tail(40)}\n"
        if self.switch.daemon.alive():
            for command in ("afxdp/pool", "afxdp/show"):
                shown = self.switch.appctl(command, check=False)
                text += f"---- {command} ----\n{shown.stdout}{shown.stderr}"
            text += f"---- flows ----\n{self.switch.ofctl('dump-flows', check=False)}"
        return text
