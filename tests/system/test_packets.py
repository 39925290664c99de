# SPDX-License-Identifier: Apache-2.0
"""Frames that are short, long, or too long."""

from harness.case import SystemTest
from harness.endpoint import transfer
from harness.frames import ETHERNET_HEADER, TEST_ETHERTYPE, ethernet, mac_bytes, marked
from harness.waiting import wait_until


class SizesTest(SystemTest):

    def test_every_size(self):
        self.start_switch()
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        before = self.sent("p2")
        sizes = range(ETHERNET_HEADER, 1515)
        self.exchange(one, two, sizes)
        self.expect_sent("p2", before, in_place=len(sizes))

    def test_largest_mtu(self):
        """veth takes 3506 under a program that is not made for fragments."""
        self.start_switch()
        one = self.add_container("p1", 1, mtu=3498)
        two = self.add_container("p2", 2, mtu=3498)
        self.switch.connect("p1", "p2")
        before = self.sent("p2")
        self.exchange(one, two, [3498 + ETHERNET_HEADER, 60, 2048, 3000] * 20)
        self.expect_sent("p2", before, in_place=80)

    def test_too_long_for_the_other_port(self):
        """A tap lets frames beyond its MTU in; a veth at 1500 drops them; the rest goes on."""
        self.start_switch()
        container, vm = self.add_container("p1", 1), self.add_vm("t2", 2)
        self.switch.connect("p1", "t2")
        vm.namespace.ip("link set eth0 mtu 9000")
        sender, receiver = vm.raw(), container.raw()
        for number in range(300):
            sender.send(marked(mac_bytes(container.mac), mac_bytes(vm.mac), 3000, number))
            sender.send(marked(mac_bytes(container.mac), mac_bytes(vm.mac), 8000, number))
        wait_until(lambda: self.switch.port("t2").total("rx_packets") >= 300,
                   lambda: f"300 taken: {self.switch.port('t2').totals()}")
        self.expect_all_frames()
        self.assertEqual(receiver.pending(), [])
        self.expect_forwarding(container, vm)

    def test_no_payload(self):
        """The least that a socket can send: an Ethernet header and nothing else."""
        self.start_switch()
        container, vm = self.add_container("p1", 1), self.add_vm("t2", 2)
        self.switch.connect("p1", "t2")
        frame = ethernet(mac_bytes(vm.mac), mac_bytes(container.mac), TEST_ETHERTYPE, b"")
        sender, receiver = container.raw(), vm.raw()
        transfer(sender, [receiver], [frame] * 10)
        self.expect_forwarding(container, vm)
