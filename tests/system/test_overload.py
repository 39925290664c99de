# SPDX-License-Identifier: Apache-2.0
"""More than can be forwarded: what is lost is counted, and nothing is stuck afterwards."""

import contextlib
import os
import signal

from harness.case import SystemTest
from harness.endpoint import frames_between
from harness.waiting import wait_until

# More than RX ring, fill ring, veth's own ring and a tap's queue hold together.
BURST = 4000


class OverloadTest(SystemTest):

    def send_all(self, sender, frames, port):
        """Sends in portions that the port takes, so that nothing is lost before the switch."""
        before = self.switch.port(port).total("rx_packets")
        for begin in range(0, len(frames), 40):
            for frame in frames[begin:begin + 40]:
                sender.send(frame)
            wait_until(lambda end=begin + 40: self.switch.port(port).total("rx_packets")
                       >= min(before + end, before + len(frames)), "the switch has taken them")

    def test_more_than_the_switch_can_take(self):
        """What the kernel counts as dropped and what has come in is all that was sent."""
        self.start_switch()
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        before = self.switch.port("p1").totals()
        sender, receiver = one.raw(), two.raw()
        frames = frames_between(one, two, [100] * BURST)
        os.kill(self.switch.daemon.pid, signal.SIGSTOP)
        try:
            for frame in frames:
                sender.send(frame)
        finally:
            os.kill(self.switch.daemon.pid, signal.SIGCONT)
        self.expect_all_frames()
        now = self.switch.port("p1").totals()
        grown = {name: now[name] - before[name] for name in now}
        taken = grown["rx_packets"]
        self.assertTrue(0 < taken < BURST, f"{taken} of {BURST} came in")
        self.assertEqual(grown["rx_dropped"] + grown["rx_ring_full"], BURST - taken, grown)
        self.assertGreater(grown["rx_fill_ring_empty_descs"], 0, grown)
        self.assertEqual(receiver.pending(), frames[:taken])
        self.expect_forwarding(one, two, count=200)

    def test_more_than_a_vm_takes(self):
        """A VM that stands still: its tap's queue fills, the rest is dropped and counted."""
        self.start_switch()
        one, vm = self.add_container("p1", 1), self.add_vm("t2", 2)
        self.switch.connect("p1", "t2")
        before = self.transmit_drops("t2")
        receiver = vm.raw()
        frames = frames_between(one, vm, [100] * BURST)
        os.kill(vm.process.pid, signal.SIGSTOP)
        try:
            self.send_all(one.raw(), frames, "p1")
            self.expect_all_frames()
        finally:
            os.kill(vm.process.pid, signal.SIGCONT)
        received = []
        while (frame := receiver.receive(0.5)) is not None:
            received.append(frame)
        dropped = self.transmit_drops("t2") - before
        self.assertEqual(len(received) + dropped, BURST)
        self.assertTrue(0 < dropped < BURST, f"{dropped} dropped")
        self.assertEqual(received, frames[:len(received)], "the oldest ones, in their order")
        self.expect_forwarding(one, vm, count=200)

    def test_bursts_to_three_ports(self):
        """Everything at full speed: some are lost, all frames come back, and the rest goes on."""
        self.start_switch()
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        vm = self.add_vm("t3", 3)
        self.switch.add_flow("in_port=1,actions=output:2,output:3,in_port")
        sender, receiver = one.raw(), two.raw()
        frames = frames_between(one, two, [1514] * 64)
        for _ in range(200):
            for frame in frames:
                with contextlib.suppress(OSError):  # ENOBUFS: the veth's own ring is full
                    sender.send(frame)
        self.expect_all_frames()
        self.assertGreater(len(receiver.pending()), 0)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two, count=200)
        self.switch.connect("p1", "t3")
        self.expect_forwarding(one, vm, count=200)
