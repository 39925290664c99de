# SPDX-License-Identifier: Apache-2.0
"""Ports come and go while traffic flows."""

import contextlib
import os
import random

from harness.case import SystemTest
from harness.endpoint import RawPort, background, transfer
from harness.frames import (MAC_BROADCAST, NOBODY, TEST_ETHERTYPE, ethernet, mac_bytes,
                            marked)
from harness.netns import Namespace
from harness.waiting import wait_until

STEPS = 200
BROADCAST = "ff:ff:ff:ff:ff:ff"


class ChurnTest(SystemTest):
    """No order of adding and deleting loses a frame, and no port is special."""

    def setUp(self):
        super().setUp()
        self.random = random.Random(os.environ.get("AFXDP_SEED", "afxdp"))
        # On a loaded machine the kernel can take longer to let go of a queue than anybody would
        # wait; such a port has to come up by itself then, which expect_no_error() waits for.
        self.allow_log(r"(netdev|netdev_afxdp)\|WARN\|.*(Device or resource busy|EBUSY)")

    def flood_from(self, endpoint):
        return background(endpoint, BROADCAST, size=self.random.randrange(60, 1514), rate=2000)

    def test_two_hundred_adds_and_deletes(self):
        self.start_switch()
        for number in range(1, 5):
            self.make_container(f"p{number}", number)
        for number in range(5, 7):
            self.make_vm(f"t{number}", number)
        self.switch.add_flow("actions=NORMAL")
        numbers = {name: number for number, name in enumerate(self.endpoints, 1)}
        present = []
        with contextlib.ExitStack() as streams:
            for endpoint in self.endpoints.values():
                streams.enter_context(self.flood_from(endpoint))
            for step in range(STEPS):
                # The very first port of all goes early, and comes back.
                name = "p1" if step in (0, 6) else self.random.choice(list(self.endpoints))
                if name in present:
                    self.switch.delete_port(name)
                    present.remove(name)
                else:
                    self.switch.add_port(name, ofport=numbers[name])
                    self.expect_no_error(name, timeout=30)
                    present.append(name)
        self.expect_all_frames()
        self.expect_whole_mesh(present, numbers)
        for name in present:
            self.switch.delete_port(name)
        self.expect_all_frames()
        pool = self.switch.pool()
        self.assertEqual(pool.posted, {}, "frames on rings of ports that are gone")
        self.assertEqual(pool.reserved[0], 0)
        self.assertEqual(pool.free + sum(pool.caches.values()), pool.frames)

    def expect_whole_mesh(self, present, numbers):
        """Adds what is missing; then everybody reaches the next."""
        for name in self.endpoints:
            if name not in present:
                self.add_port(name, ofport=numbers[name])
                present.append(name)
        ends = list(self.endpoints.values())
        for one, other in zip(ends, ends[1:] + ends[:1]):
            self.switch.connect(one.port, other.port)
            self.expect_forwarding(one, other)

    def test_first_port_goes_while_others_forward(self):
        self.start_switch()
        self.add_container("p1", 1)
        two, three = self.add_container("p2", 2), self.add_container("p3", 3)
        self.switch.connect("p2", "p3")
        self.switch.delete_port("p1")
        self.expect_forwarding(two, three)
        self.add_port("p1", ofport=1)
        self.expect_forwarding(two, three)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(self.endpoints["p1"], two)

    def test_deleted_and_added_at_once(self):
        """The queue is still held by the socket that is being torn down: that is waited for."""
        self.start_switch()
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        for _ in range(10):
            self.switch.vsctl("del-port", "br0", "p1", "--", "add-port", "br0", "p1", "--",
                              "set", "interface", "p1", "type=afxdp", "ofport_request=1")
            self.expect_no_error("p1")
            self.switch.delete_port("p1")
            self.add_port("p1", ofport=1)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two)

    def test_sockets_that_linger(self):
        """A container's qdisc keeps frames that we sent: their socket, and so the queue, cannot be
        had until it lets go.  Nobody waits for that for ever, and no frame is used meanwhile."""
        self.start_switch()
        self.allow_log(r"\|(WARN|ERR)\|.*p1")
        one, two, three = (self.add_container(f"p{number}", number) for number in (1, 2, 3))
        self.switch.add_flow("in_port=2,actions=output:1")
        self.switch.add_flow("in_port=3,actions=output:2")
        self.bridge_to_a_slow_link(one)
        sender = two.raw()
        for number in range(20):
            sender.send(marked(NOBODY, mac_bytes(two.mac), 1000, number))
        wait_until(lambda: self.switch.port("p1").total("tx_packets") == 20, "they are sent")
        self.switch.delete_port("p1")
        wait_until(lambda: self.switch.pool().quarantined > 0, "frames in quarantine")
        self.switch.add_port("p1", ofport=1)
        self.expect_error("p1", "p1", "queue 0", "busy", timeout=15)
        self.exchange(three, two, [100] * 100)
        one.namespace.run(["tc", "qdisc", "delete", "dev", "slow", "root"])
        self.expect_all_frames()
        self.switch.delete_port("p1")
        self.add_port("p1", ofport=1)
        one.namespace.ip("link set eth0 nomaster")
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two)

    def bridge_to_a_slow_link(self, container):
        """What comes to the container's device goes on, one frame in 8 s."""
        namespace = container.namespace
        if namespace.ip("link add lan type bridge", check=False).returncode != 0:
            self.skipTest("this kernel has no bridge")
        namespace.ip("link add slow type veth peer name end")
        for device in ("end", "slow", "lan"):
            namespace.ip(f"link set {device} up")
        if namespace.run(["tc", "qdisc", "add", "dev", "slow", "root", "tbf", "rate", "1kbit",
                          "burst", "2000", "limit", "1000000"], check=False).returncode != 0:
            self.skipTest("this kernel has no tbf")
        for device in ("eth0", "slow"):
            namespace.ip(f"link set {device} master lan")

    def test_port_changes_its_type_under_traffic(self):
        self.start_switch()
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        with self.flood_from(one), self.flood_from(two):
            for kind in ("afxdp-nonpmd", "afxdp", "system", "afxdp"):
                self.switch.vsctl("set", "interface", "p1", f"type={kind}")
                self.expect_no_error("p1")
        self.expect_forwarding(one, two)

    def test_sixty_four_ports(self):
        """As many containers as a host may have, added at once; frames go round all of them."""
        self.start_switch()
        containers = Namespace("containers")
        self.addCleanup(containers.delete)
        count, words = 64, []
        for number in range(1, count + 1):
            self.switch.namespace.ip(f"link add c{number} up type veth "
                                     f"peer name e{number} netns {containers.name}")
            containers.ip(f"link set e{number} up")
            words += ["--", "add-port", "br0", f"c{number}", "--", "set", "interface",
                      f"c{number}", "type=afxdp", f"ofport_request={number}"]
        self.switch.vsctl(*words)
        for number in range(1, count + 1):
            self.expect_no_error(f"c{number}", timeout=60)
            self.switch.add_flow(f"in_port={number},actions=output:{number % count + 1}")
        self.assertEqual(len(self.switch.pool().posted), count)
        for number in range(1, count + 1):
            sender = RawPort(containers, f"e{number}")
            receiver = RawPort(containers, f"e{number % count + 1}")
            with contextlib.closing(sender), contextlib.closing(receiver):
                frame = ethernet(MAC_BROADCAST, b"\x02" * 6, TEST_ETHERTYPE, bytes(100))
                transfer(sender, [receiver], [frame] * 20)
        self.expect_all_frames()

    def test_bridge_goes_with_its_ports(self):
        self.start_switch()
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        with self.flood_from(one):
            self.switch.vsctl("del-br", "br0")
        self.expect_all_frames()
        wait_until(lambda: not self.switch.pool().posted, "no frame posted any more")
        self.switch.add_bridge("br0")
        self.add_port("p1", ofport=1)
        self.add_port("p2", ofport=2)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two)
