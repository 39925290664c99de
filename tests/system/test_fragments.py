# SPDX-License-Identifier: Apache-2.0
"""IPv4 fragments through connection tracking."""

from harness.case import SystemTest
from harness.frames import ETHERTYPE_IPV4, NOBODY, ethernet, ipv4, mac_bytes, udp
from harness.waiting import wait_until


class FragmentsTest(SystemTest):
    """ct reassembles and fragments again; its packets lie in the pool and leave by swaps."""

    def setUp(self):
        super().setUp()
        self.start_switch()
        self.one, self.two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.add_flow("table=0,ip,actions=ct(commit,table=1)")
        self.switch.add_flow("table=1,in_port=1,actions=output:2")
        self.switch.add_flow("table=1,in_port=2,actions=output:1")

    def fragments(self, identifier, size=4000):
        """The frames of one UDP datagram in fragments."""
        datagram = udp(self.one.address, self.two.address, 4000, 5000, bytes(size))
        step = 1480
        frames = []
        for offset in range(0, len(datagram), step):
            piece = ipv4(self.one.address, self.two.address, 17, datagram[offset:offset + step],
                         identifier=identifier, offset=offset, more=offset + step < len(datagram))
            frames.append(ethernet(NOBODY, mac_bytes(self.one.mac), ETHERTYPE_IPV4, piece))
        return frames

    def test_fragments_through_conntrack(self):
        sender, receiver = self.one.raw(ETHERTYPE_IPV4), self.two.raw(ETHERTYPE_IPV4)
        for identifier in range(1, 101):
            frames = self.fragments(identifier)
            # In order, the wrong way round, and the first one last.
            order = [frames, frames[::-1], frames[1:] + frames[:1]][identifier % 3]
            for frame in order:
                sender.send(frame)
            got = sorted(receiver.receive() or b"" for _ in frames)
            self.assertEqual(got, sorted(frames), f"datagram {identifier}")
        self.assertEqual(receiver.pending(), [])

    def test_fragments_are_held_and_given_back(self):
        """Incomplete datagrams are held by OVS, and counted so, also when their port goes."""
        sender, receiver = self.one.raw(ETHERTYPE_IPV4), self.two.raw(ETHERTYPE_IPV4)
        datagrams = [self.fragments(identifier) for identifier in range(1, 51)]
        for frames in datagrams:
            for frame in frames[:-1]:
                sender.send(frame)
        wait_until(lambda: self.switch.pool().held == 100,
                   lambda: f"100 frames held:\n{self.switch.pool().text}")
        self.switch.delete_port("p1")
        self.add_port("p1", ofport=1)
        self.assertEqual(self.switch.pool().held, 100)
        for frames in datagrams:
            sender.send(frames[-1])
            got = sorted(receiver.receive() or b"" for _ in frames)
            self.assertEqual(got, sorted(frames))
        self.expect_all_frames()

    def test_daemon_ends_while_fragments_are_held(self):
        sender = self.one.raw(ETHERTYPE_IPV4)
        for identifier in range(1, 51):
            sender.send(self.fragments(identifier)[0])
        wait_until(lambda: self.switch.pool().held == 50,
                   lambda: f"50 frames held:\n{self.switch.pool().text}")
        self.switch.appctl("exit")
        wait_until(lambda: not self.switch.daemon.alive(), "the daemon ends")
        self.assertEqual(self.switch.daemon.exit_status(), 0)
        self.switch.daemon = None  # there is none whose health could be looked at
