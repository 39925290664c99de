# SPDX-License-Identifier: Apache-2.0
"""Tunnels that OVS itself ends, over AF_XDP ports: headers pushed in front of pool packets."""

import struct

from harness.case import SystemTest
from harness.endpoint import frames_between
from harness.frames import (ETHERNET_HEADER, ETHERTYPE_IPV6, MAC_BROADCAST, ethernet, mac_bytes,
                            marked)
from harness.waiting import wait_until

GENEVE_PORT = 6081
PHY_MAC = "02:00:00:00:01:01"
IPV6_HEADER, UDP_HEADER, GENEVE_HEADER = 40, 8, 8
# Two Geneve options, by the bytes of their values, as large as OVS can send (252 with the options'
# own headers; one byte more aborts upstream's tun_metadata_to_geneve__).
OPTION_LENGTHS = [124, 116]
OPTION_BYTES = sum(4 + length for length in OPTION_LENGTHS)


class TunnelTest(SystemTest):
    """OVS's own Geneve over IPv6, the outer packet leaving by an AF_XDP port."""

    def setUp(self):
        super().setUp()
        self.start_switch(ipv6=True)
        self.switch.add_bridge("phy")
        self.switch.vsctl("set", "bridge", "phy", f"other_config:hwaddr={PHY_MAC}")
        self.inside = self.add_container("p1", 1)
        self.outside = self.make_container("p2", 2)
        self.switch.add_port("p2", bridge="phy", ofport=2)
        self.expect_no_error("p2")
        namespace = self.switch.namespace
        namespace.ip("link set phy up")
        namespace.ip("address add fc00::1/64 dev phy nodad")
        self.switch.add_flow("in_port=LOCAL,actions=output:2", bridge="phy")
        self.switch.add_flow("in_port=2,actions=LOCAL", bridge="phy")
        self.switch.vsctl("add-port", "br0", "gnv", "--", "set", "interface", "gnv", "type=geneve",
                          "options:remote_ip=fc00::2", "options:key=7", "ofport_request=9")
        self.expect_no_error("gnv")
        wait_until(lambda: "fc00::" in self.switch.appctl("ovs/route/show").stdout, "the route")
        self.switch.appctl("tnl/neigh/set", "phy", "fc00::2", self.outside.mac)

    def large_options(self):
        """Maps fields to options and returns the actions that fill them."""
        maps = [f"{{class=0x1234,type={i},len={length}}}->tun_metadata{i}"
                for i, length in enumerate(OPTION_LENGTHS)]
        self.switch.ofctl("add-tlv-map", ",".join(maps))
        return ",".join(f"set_field:0x{'ab' * length}->tun_metadata{i}"
                        for i, length in enumerate(OPTION_LENGTHS))

    def check_encapsulation(self, actions, option_bytes, sizes):
        self.switch.add_flow(f"in_port=1,actions={actions}output:9")
        sender, receiver = self.inside.raw(), self.outside.raw(ETHERTYPE_IPV6)
        outer = ETHERNET_HEADER + IPV6_HEADER + UDP_HEADER + GENEVE_HEADER + option_bytes
        for frame in frames_between(self.inside, self.outside, sizes):
            sender.send(frame)
            got = self.receive_geneve(receiver)
            self.assertEqual(len(got), outer + len(frame))
            self.assertEqual(got[outer:], frame)
        return len(sizes)

    def receive_geneve(self, receiver):
        """The next frame to Geneve's port; neighbour discovery of real stacks is passed over."""
        while (got := receiver.receive()) is not None:
            next_header = got[ETHERNET_HEADER + 6]
            port = struct.unpack_from("!H", got, ETHERNET_HEADER + IPV6_HEADER + 2)[0]
            if next_header == 17 and port == GENEVE_PORT:
                return got
        raise AssertionError("no Geneve packet arrived")

    def test_push_within_the_headroom(self):
        before = self.sent("p2")
        count = self.check_encapsulation("", 0, range(60, 1400, 67))
        self.assertEqual(self.sent_since("p2", before)["tx_in_place"], count)

    def test_push_beyond_the_headroom(self):
        """318 bytes in front of a packet with 256 of headroom: moved to the heap, copied, sent."""
        actions = self.large_options()
        before = self.sent("p2")
        count = self.check_encapsulation(actions + ",", OPTION_BYTES, range(60, 1100, 53))
        # The bridge's own device may send, too (neighbour discovery); those are foreign.
        now = self.sent_since("p2", before)
        self.assertEqual((now["tx_copied_unfit"], now["tx_in_place"]), (count, 0))

    def test_push_and_flood(self):
        """The packet is sent by the tunnel and as it is, so one of them is a clone."""
        actions = self.large_options()
        three = self.add_container("p3", 3)
        plain = three.raw()
        self.check_encapsulation(f"output:3,{actions},", OPTION_BYTES, [200] * 20)
        for frame in frames_between(self.inside, self.outside, [200] * 20):
            self.assertEqual(plain.receive(), frame)

    def test_decapsulation(self):
        """What comes out of the tunnel lies in the frame that it came in, and leaves from there."""
        self.switch.add_flow("in_port=9,actions=output:1")
        inner = [marked(MAC_BROADCAST, mac_bytes(self.outside.mac), 60 + 13 * number, number)
                 for number in range(40)]
        outer = self.outside.raw(ETHERTYPE_IPV6)
        receiver = self.inside.raw()
        before = self.sent("p1")
        for frame in inner:
            outer.send(self.encapsulated(frame))
            self.assertEqual(receiver.receive(), frame)
        self.expect_sent("p1", before, in_place=len(inner))

    def encapsulated(self, frame):
        geneve = struct.pack("!BBHI", 0, 0, 0x6558, 7 << 8) + frame
        header = struct.pack("!HHHH", 12345, GENEVE_PORT, UDP_HEADER + len(geneve), 0)
        ends = bytes.fromhex("fc00" + "00" * 13 + "02") + bytes.fromhex("fc00" + "00" * 13 + "01")
        packet = (struct.pack("!IHBB", 6 << 28, UDP_HEADER + len(geneve), 17, 64)
                  + ends + header + geneve)
        return ethernet(mac_bytes(PHY_MAC), mac_bytes(self.outside.mac),
                        ETHERTYPE_IPV6, packet)
