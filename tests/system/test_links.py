# SPDX-License-Identifier: Apache-2.0
"""Devices that go away, come back, go down and up, and peers that do."""

from harness.case import SystemTest
from harness.endpoint import background, frames_between
from harness.frames import ETHERNET_HEADER
from harness.netns import Namespace
from harness.waiting import wait_until

# Frames sent while they cannot arrive: more than the TX ring (128) and the socket's send buffer
# hold, so that each way of getting stuck shows.
LOST = 400


class LinksTest(SystemTest):
    """Traffic between p1 and p2; things happen to p1.  p2 and p3 always reach each other."""

    def setUp(self):
        super().setUp()
        # What OVS itself logs about a device that is gone, and what the port tells the operator.
        self.allow_log(r"\|(WARN|ERR)\|.*\b(p1|renamed)\b")
        self.start_switch()
        self.one, self.two, self.three = (
            self.add_container(f"p{number}", number) for number in (1, 2, 3))
        self.switch.connect("p1", "p2")
        self.switch.add_flow("in_port=3,actions=output:2")

    def expect_others_work(self):
        self.exchange(self.three, self.two, [100 + i for i in range(40)])

    def expect_gone(self):
        self.expect_error("p1", "p1", "no such device|not there|gone|missing")
        self.expect_others_work()
        self.assertNotIn("p1", self.switch.ports())
        self.expect_all_frames()

    def expect_back(self):
        self.expect_no_error("p1")
        self.expect_forwarding(self.one, self.two)
        self.expect_others_work()

    def test_deleted_and_made_again(self):
        for _ in range(3):
            self.one.delete_devices()
            self.expect_gone()
            self.one.make_devices()
            self.expect_back()

    def test_deleted_and_made_again_at_once_under_traffic(self):
        with background(self.two, self.one.mac):
            for _ in range(5):
                self.one.delete_devices()
                self.one.make_devices()
                # Another device of the same name.
                index = self.switch.namespace.link("p1")["ifindex"]
                wait_until(lambda index=index: self.shown_index() == index, "the new device is p1")
        self.expect_back()

    def shown_index(self):
        port = self.switch.ports().get("p1")
        return port and port.ifindex

    def test_renamed_and_back(self):
        namespace = self.switch.namespace
        namespace.ip("link set p1 down")
        namespace.ip("link set p1 name renamed")
        self.expect_gone()
        self.assertNotIn("xdp", namespace.link("renamed"), "our program leaves with the port")
        namespace.ip("link set renamed name p1")
        namespace.ip("link set p1 up")
        self.expect_back()

    def test_moved_away_and_back(self):
        elsewhere = Namespace("elsewhere")
        self.addCleanup(elsewhere.delete)
        self.switch.namespace.ip(f"link set p1 netns {elsewhere.name}")
        self.expect_gone()
        elsewhere.ip(f"link set p1 netns {self.switch.namespace.name}")
        self.switch.namespace.ip("link set p1 up")  # moving takes a device down
        self.expect_back()

    def test_container_goes_and_another_comes(self):
        """A namespace takes its end of the pair with it, and so the port's device."""
        self.one.close()
        wait_until(lambda: self.switch.namespace.link("p1") is None, "the device goes")
        self.expect_gone()
        self.one = self.make_container("p1", 1)
        self.expect_back()

    def test_tap_deleted_and_made_again(self):
        self.allow_log(r"\|(WARN|ERR)\|.*\bt4\b")
        vm = self.add_vm("t4", 4)
        self.switch.connect("t4", "p2")
        self.expect_forwarding(vm, self.two)
        vm.detach()
        self.switch.namespace.ip("tuntap del dev t4 mode tap")
        self.expect_error("t4", "t4")
        self.expect_others_work()
        self.switch.namespace.ip("tuntap add dev t4 mode tap")
        self.switch.namespace.ip("link set t4 up")
        vm.attach()
        self.expect_no_error("t4")
        self.expect_forwarding(vm, self.two)

    # ---- Down and up ---------------------------------------------------------------------------

    def check_nothing_stale(self, down, up):
        """What is sent while the way is down is counted as dropped and never delivered."""
        self.expect_forwarding(self.one, self.two)
        down()
        before = self.transmit_drops("p1")
        doomed = frames_between(self.two, self.one, [120] * LOST, start=10_000)
        sender = self.two.raw()
        received = self.switch.port("p2").total("rx_packets")
        for begin in range(0, LOST, 40):
            for frame in doomed[begin:begin + 40]:
                sender.send(frame)
            wait_until(lambda end=begin + 40: self.switch.port("p2").total("rx_packets")
                       == received + end, "the switch has taken them")
        wait_until(lambda: self.transmit_drops("p1") - before == LOST,
                   lambda: f"{LOST} drops are counted: {self.transmit_drops('p1') - before}")
        self.expect_others_work()
        self.expect_all_frames()
        up()
        wait_until(lambda: self.switch.port("p1").link == "up", "the link is up")
        # Raises at the first frame that is not one of these, such as a doomed one.
        self.expect_back()
        self.assertEqual(self.transmit_drops("p1") - before, LOST)

    def test_peer_down(self):
        self.check_nothing_stale(lambda: self.one.set_link("down"), lambda: self.one.set_link("up"))

    def test_our_end_down(self):
        namespace = self.switch.namespace
        self.check_nothing_stale(lambda: namespace.ip("link set p1 down"),
                                 lambda: namespace.ip("link set p1 up"))

    def test_down_and_up_under_traffic(self):
        with background(self.two, self.one.mac), background(self.one, self.two.mac):
            for _ in range(5):
                self.one.set_link("down")
                wait_until(lambda: self.switch.port("p1").link == "down", "the link is down")
                self.one.set_link("up")
                wait_until(lambda: self.switch.port("p1").link == "up", "the link is up")
                self.switch.namespace.ip("link set p1 down")
                self.switch.namespace.ip("link set p1 up")
        self.expect_back()

    def test_vm_attaches_late(self):
        """A tap without a VM loses what is sent to it, and works as soon as the VM is there."""
        self.allow_log(r"\|(WARN|ERR)\|.*\bt4\b")
        vm = self.make_vm("t4", 4, attach=False)
        self.add_port("t4", ofport=4)
        self.switch.add_flow("in_port=3,actions=output:4")
        before = self.switch.port("t4").total("tx_packets")
        sender = self.three.raw()
        for frame in frames_between(self.three, vm, [100] * 40):
            sender.send(frame)
        wait_until(lambda: self.switch.port("p3").total("rx_packets") >= 40, "they were taken")
        self.expect_all_frames()
        self.assertGreaterEqual(self.switch.port("t4").total("tx_packets"), before)
        self.expect_forwarding(self.one, self.two)
        for _ in range(2):
            vm.attach()
            self.switch.connect("t4", "p2")
            wait_until(lambda: self.switch.port("t4").link == "up", "the VM is there")
            self.expect_forwarding(vm, self.two)
            vm.detach()
            wait_until(lambda: self.switch.port("t4").link == "down", "the VM is gone")

    def test_vm_with_two_queues_attaches_late(self):
        """Without a VM a tap has one queue, so two cannot be had; with it they can."""
        self.allow_log(r"\|(WARN|ERR)\|.*\bt4\b")
        vm = self.make_vm("t4", 4, queues=2, attach=False)
        self.switch.add_port("t4", ofport=4, n_rxq=2)
        self.expect_error("t4", "t4", "queue")
        self.expect_others_work()
        vm.attach()
        self.switch.delete_port("t4")
        self.add_port("t4", ofport=4, n_rxq=2)
        self.switch.connect("t4", "p2")
        self.exchange(self.two, vm, [100] * 40)

    def test_mtu_of_the_device_grows(self):
        """Somebody gives the device the largest MTU that veth allows under a program."""
        for namespace, device in ((self.switch.namespace, "p1"), (self.one.namespace, "eth0"),
                                  (self.switch.namespace, "p2"), (self.two.namespace, "eth0")):
            namespace.ip(f"link set {device} mtu 3000")
        self.exchange(self.one, self.two, [3000 + ETHERNET_HEADER, 60, 2500, 1514] * 25)
