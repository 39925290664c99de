# SPDX-License-Identifier: Apache-2.0
"""Options change while traffic flows, and only what changed is rebuilt."""

import contextlib

from harness.case import SystemTest
from harness.endpoint import background
from harness.frames import BACKGROUND_ETHERTYPE
from harness.sockets import xsk_inodes
from harness.waiting import wait_until


class ChangeTest(SystemTest):
    """p1 with two device queues, one of them in use, and p2; traffic flows between them."""

    def setUp(self):
        super().setUp()
        self.start_switch()
        self.one = self.add_container("p1", 1, queues=2, sender_queues=1)
        self.first = self.sockets()
        self.two = self.add_container("p2", 2)
        self.second = self.sockets() - self.first
        self.switch.connect("p1", "p2")
        self.programs = self.program_ids()

    def sockets(self):
        return frozenset(xsk_inodes(self.switch.daemon.pid))

    def program_ids(self):
        return {port: self.switch.namespace.link(port)["xdp"]["prog"]["id"]
                for port in self.endpoints}

    @contextlib.contextmanager
    def traffic(self):
        """Frames from p1 to p2, which must still be arriving after the body."""
        sink = self.two.raw(BACKGROUND_ETHERTYPE)
        with background(self.one, self.two.mac):
            wait_until(lambda: len(sink.pending()) > 10, "traffic before the change")
            yield
            sink.pending()
            wait_until(lambda: len(sink.pending()) > 10, "traffic after the change")

    def change(self, port, **options):
        with self.traffic():
            self.switch.set_options(port, **options)
            self.expect_no_error(port)
        self.expect_forwarding(self.one, self.two)

    def expect_untouched(self, port):
        """`port` has the sockets and the program that it was set up with."""
        mine = {"p1": self.first, "p2": self.second}[port]
        self.assertLessEqual(mine, self.sockets(), f"sockets of {port}")
        self.assertEqual(self.program_ids()[port], self.programs[port], f"program of {port}")

    def test_setting_what_is_set_already(self):
        self.change("p1", n_rxq=1, n_rxq_desc=512, **{"xdp-mode": "best-effort"})
        self.expect_untouched("p1")
        self.expect_untouched("p2")
        self.assertEqual(self.sockets(), self.first | self.second)

    def test_ring_sizes(self):
        self.change("p1", n_rxq_desc=1024, n_txq_desc=256)
        self.assertEqual(self.switch.port("p1").rings,
                         {"rx": 1024, "fill": 1024, "tx": 256, "completion": 256})
        self.assertEqual(self.program_ids(), self.programs)
        self.expect_untouched("p2")
        self.assertEqual(len(self.sockets()), 2)

    def test_one_queue_more_and_one_less(self):
        self.change("p1", n_rxq=2)
        self.assertEqual(list(self.switch.port("p1").queues), [0, 1])
        self.expect_untouched("p1")
        self.expect_untouched("p2")
        self.assertEqual(len(self.sockets()), 3)
        self.change("p1", n_rxq=1)
        self.assertEqual(list(self.switch.port("p1").queues), [0])
        self.expect_untouched("p1")
        self.expect_untouched("p2")
        wait_until(lambda: len(self.sockets()) == 2, "the second queue's socket is closed")

    def test_start_queue(self):
        """Queue 0's socket goes, queue 1's comes; the program can stay."""
        # Only what the sender puts on queue 1 comes in, so the other way is looked at.
        self.switch.set_options("p1", **{"start-queue": 1})
        self.expect_no_error("p1")
        self.assertEqual(list(self.switch.port("p1").queues), [1])
        self.assertEqual(self.program_ids(), self.programs)
        self.expect_untouched("p2")
        self.exchange(self.two, self.one, [100] * 50)

    def test_need_wakeup(self):
        self.change("p1", **{"use-need-wakeup": "false"})
        self.assertEqual(self.switch.port("p1").need_wakeup, "off")
        self.assertEqual(self.program_ids(), self.programs)
        self.expect_untouched("p2")

    def test_mode(self):
        self.change("p1", **{"xdp-mode": "generic"})
        self.assertEqual(self.switch.port("p1").mode, "generic")
        self.expect_untouched("p2")
        self.change("p1", **{"xdp-mode": "best-effort"})
        self.assertEqual(self.switch.port("p1").mode, "native")
        self.expect_untouched("p2")

    def test_options_are_taken_back(self):
        self.change("p1", n_rxq_desc=2048, n_rxq=2)
        self.switch.vsctl("clear", "interface", "p1", "options")
        self.expect_no_error("p1")
        self.assertEqual(self.switch.port("p1").rings["rx"], 512)
        self.assertEqual(list(self.switch.port("p1").queues), [0])
        self.expect_forwarding(self.one, self.two)

    def test_mtu(self):
        """The MTU follows what the user asks for; nothing of AF_XDP depends on it."""
        with self.traffic():
            self.switch.vsctl("set", "interface", "p1", "mtu_request=1400")
            wait_until(lambda: self.switch.namespace.link("p1")["mtu"] == 1400, "the new MTU")
        self.expect_untouched("p1")
        self.expect_untouched("p2")
