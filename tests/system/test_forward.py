# SPDX-License-Identifier: Apache-2.0
"""Packets are forwarded between containers and VMs without a copy."""

from harness.case import SystemTest
from harness.endpoint import tcp_transfer

COUNT = 500
# From the shortest frame that Ethernet allows (and shorter ones, which virtual devices carry) to a
# full one with its header.
SIZES = [14, 15, 59, 60, 61, 64, 127, 128, 512, 1023, 1024, 1500, 1513, 1514]


class ForwardTest(SystemTest):
    """Unicast between two ports: all sent in place, none copied."""

    def check_in_place(self, source, destination):
        before = self.sent(destination.port)
        sizes = [SIZES[i % len(SIZES)] for i in range(COUNT)]
        self.exchange(source, destination, sizes)
        self.expect_sent(destination.port, before, in_place=COUNT)

    def test_veth_to_veth(self):
        self.start_switch()
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        self.check_in_place(one, two)
        self.check_in_place(two, one)

    def test_veth_and_tap(self):
        self.start_switch()
        container, vm = self.add_container("p1", 1), self.add_vm("t2", 2)
        self.switch.connect("p1", "t2")
        self.check_in_place(container, vm)
        self.check_in_place(vm, container)

    def test_flood_copies_just_the_clones(self):
        self.start_switch()
        source = self.add_container("p1", 1)
        sinks = [self.add_container("p2", 2), self.add_container("p3", 3), self.add_vm("t4", 4)]
        self.switch.add_flow("in_port=1,actions=output:2,output:3,output:4")
        before = {sink.port: self.sent(sink.port) for sink in sinks}
        self.exchange(source, sinks[0], [200] * COUNT, receivers=sinks)
        self.expect_sent("p2", before["p2"], clone=COUNT)
        self.expect_sent("p3", before["p3"], clone=COUNT)
        self.expect_sent("t4", before["t4"], in_place=COUNT)

    def test_ping_and_tcp(self):
        """A learning switch, stacks at both ends.  Partial checksums are finished by the senders:
        a container has tx off, a VM without a virtio-net header never leaves any open."""
        self.start_switch()
        ends = [self.add_container("p1", 1), self.add_container("p2", 2), self.add_vm("t3", 3)]
        self.switch.add_flow("actions=NORMAL")
        for container in ends[:2]:
            container.finish_checksums()
        for client in ends:
            for server in ends:
                if client is not server:
                    client.ping(server)
                    client.ping(server, count=3, size=1472)
                    tcp_transfer(client, server, 2_000_000)
