# SPDX-License-Identifier: Apache-2.0
"""Actions that change, grow, shrink, multiply or hand on packets."""

import struct

from harness.case import SystemTest
from harness.endpoint import frames_between, transfer
from harness.frames import ETHERTYPE_IPV4, NOBODY, ethernet, ipv4, mac_bytes, udp
from harness.waiting import wait_until


class ActionsTest(SystemTest):

    def setUp(self):
        super().setUp()
        self.start_switch()
        self.one, self.two = self.add_container("p1", 1), self.add_container("p2", 2)

    def check(self, actions, change, in_place=50, clone=0):
        self.switch.add_flow(f"in_port=1,actions={actions}")
        frames = frames_between(self.one, self.two, [100 + 20 * i for i in range(50)])
        sender, receiver = self.one.raw(), self.two.raw(0x0003)  # ETH_P_ALL: tags are seen
        before = self.sent("p2")
        for frame in frames:
            sender.send(frame)
            for expected in change(frame):
                self.assertEqual(receiver.receive(), expected)
        self.expect_sent("p2", before, in_place=in_place, clone=clone)

    def test_rewritten_address(self):
        new = "02:00:00:00:00:99"
        self.check(f"mod_dl_dst:{new},output:2", lambda frame: [mac_bytes(new) + frame[6:]])

    def test_mpls_pushed(self):
        """Four bytes more, in the headroom: still in place."""
        label = struct.pack("!I", 42 << 12 | 1 << 8)  # bottom of stack, TTL as the kernel has it
        self.check("push_mpls:0x8847,set_field:42->mpls_label,set_field:0->mpls_tc,output:2",
                   lambda frame: [frame[:12] + b"\x88\x47" + label[:3] + b"\x40" + frame[14:]])

    def test_truncated(self):
        self.check("output(port=2,max_len=80)", lambda frame: [frame[:80]])

    def test_sent_twice_by_one_port(self):
        """In place once, and once as the clone."""
        self.check("output:2,mod_dl_dst:02:00:00:00:00:99,output:2",
                   lambda frame: [frame, bytes.fromhex("020000000099") + frame[6:]],
                   in_place=50, clone=50)

    def test_sent_back(self):
        """Out by the port that it came in by."""
        self.switch.add_flow("in_port=1,actions=in_port")
        before = self.sent("p1")
        frames = frames_between(self.one, self.two, [100] * 200)
        sender, receiver = self.one.raw(), self.one.raw()
        transfer(sender, [receiver], frames)
        self.expect_sent("p1", before, in_place=200)

    def test_foreign_packets(self):
        """What the bridge's own device sends has to be copied into a frame."""
        before = self.sent("p2")
        self.switch.add_flow("in_port=LOCAL,actions=output:2")
        local = self.raw_local()
        frames = frames_between(self.one, self.two, [60 + i for i in range(200)])
        transfer(local, [self.two.raw()], frames, window=16)
        self.expect_sent("p2", before, foreign=200)

    def test_to_the_bridge_itself(self):
        """The kernel's stack gets it through OVS's own tap; the frame goes back to the pool."""
        self.switch.add_flow("in_port=1,actions=LOCAL")
        local = self.raw_local()
        transfer(self.one.raw(), [local], frames_between(self.one, self.two, [100] * 200))
        self.expect_all_frames()

    def test_dropped(self):
        """Actions that end nowhere: no flow at all, and a drop."""
        sender = self.one.raw()
        for action in ("drop", "resubmit(,7)"):
            before = self.switch.port("p1").total("rx_packets")
            self.switch.add_flow(f"in_port=1,actions={action}")
            for frame in frames_between(self.one, self.two, [100] * 100):
                sender.send(frame)
            wait_until(lambda end=before + 100: self.switch.port("p1").total("rx_packets") == end,
                       "100 packets came in")
            self.expect_all_frames()

    def test_through_a_second_bridge(self):
        """Bridges share the pool, so a patch port between them costs no copy."""
        switch = self.switch
        switch.add_bridge("br1")
        three = self.make_container("p3", 3)
        self.add_port("p3", bridge="br1", ofport=3)
        for bridge, patch, peer in (("br0", "x0", "x1"), ("br1", "x1", "x0")):
            switch.vsctl("add-port", bridge, patch, "--", "set", "interface", patch, "type=patch",
                         f"options:peer={peer}", "ofport_request=9")
        switch.add_flow("in_port=1,actions=output:9")
        switch.add_flow("in_port=9,actions=output:3", bridge="br1")
        before = self.sent("p3")
        self.exchange(self.one, three, [100] * 200)
        self.expect_sent("p3", before, in_place=200)

    def test_through_conntrack(self):
        """Recirculation hands the packet on as it is."""
        self.switch.add_flow("table=0,ip,actions=ct(commit,table=1)")
        self.switch.add_flow("table=1,in_port=1,actions=output:2")
        data = udp(self.one.address, self.two.address, 4000, 5000, b"x" * 100)
        frame = ethernet(NOBODY, mac_bytes(self.one.mac), ETHERTYPE_IPV4,
                         ipv4(self.one.address, self.two.address, 17, data))
        before = self.sent("p2")
        transfer(self.one.raw(ETHERTYPE_IPV4), [self.two.raw(ETHERTYPE_IPV4)], [frame] * 200)
        self.expect_sent("p2", before, in_place=200)

    def test_mirrored(self):
        """A mirror is one output more, so one of the two is a clone."""
        three = self.add_container("p3", 3)
        self.switch.add_flow("in_port=1,actions=output:2")
        self.switch.vsctl(
            "--", "--id=@out", "get", "port", "p3", "--", "--id=@m", "create", "mirror", "name=m",
            "select-all=true", "output-port=@out", "--", "set", "bridge", "br0", "mirrors=@m")
        before = {port: self.sent(port) for port in ("p2", "p3")}
        self.exchange(self.one, self.two, [100] * 200, receivers=[self.two, three])
        sums = [self.sent_since(port, before[port]) for port in ("p2", "p3")]
        self.assertEqual(sum(sent["tx_in_place"] for sent in sums), 200)
        self.assertEqual(sum(sent["tx_copied_clone"] for sent in sums), 200)

    def test_to_the_controller_and_back(self):
        """The slow path copies; what a controller sends is foreign."""
        self.switch.add_flow("in_port=1,actions=controller(max_len=65535),output:2")
        self.exchange(self.one, self.two, [100] * 100)
        self.expect_all_frames()
        before = self.sent("p2")
        receiver = self.two.raw()
        frame = frames_between(self.one, self.two, [200])[0]
        for _ in range(20):
            self.switch.ofctl("packet-out",
                              f"in_port=controller,packet={frame.hex()},actions=output:2")
            self.assertEqual(receiver.receive(), frame)
        self.expect_sent("p2", before, foreign=20)
