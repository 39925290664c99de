# SPDX-License-Identifier: Apache-2.0
"""Options of an Interface, what each does, and what the daemon shows of it."""

import collections

from harness.case import SystemTest
from harness.counters import parse_show
from harness.frames import ETHERTYPE_IPV4, NOBODY, ethernet, ipv4, mac_bytes, udp
from harness.waiting import wait_until

# Every counter that each queue has, in the Interface's statistics as xsk_queue_N_NAME.
COUNTERS = """
rx_packets rx_bytes tx_packets tx_bytes
tx_in_place tx_copied_clone tx_copied_foreign tx_copied_unfit
rx_dropped rx_invalid_descs tx_invalid_descs
rx_ring_full rx_fill_ring_empty_descs tx_ring_empty_descs
tx_kicks tx_kick_again tx_kick_busy tx_kick_error
tx_drop_no_descriptor tx_drop_no_frame tx_drop_invalid tx_drop_link_down tx_completion_invalid
rx_drop_invalid rx_refill_short rx_wakeups
""".split()


def flows(source, destination, count):
    """UDP frames of `count` flows, which a multi-queue sender spreads over its queues.

    Addressed to nobody, so that no stack answers.
    """
    ends = source.address, destination.address
    packets = [ipv4(*ends, 17, udp(*ends, 10000 + i, 20000 + i, b"x" * 40)) for i in range(count)]
    return [ethernet(NOBODY, mac_bytes(source.mac), ETHERTYPE_IPV4, packet) for packet in packets]


class OptionsTest(SystemTest):
    """One daemon per test, two containers p1 and p2 that reach each other."""

    def two_containers(self, options=None, **how):
        self.start_switch()
        ends = (self.add_container("p1", 1, options=options, **how), self.add_container("p2", 2))
        self.switch.connect("p1", "p2")
        return ends

    def test_defaults(self):
        one, two = self.two_containers()
        vm = self.add_vm("t3", 3)
        for port in ("p1", "t3"):
            shown = self.switch.port(port)
            self.assertEqual((shown.mode, shown.copy, shown.link), ("native", "copy", "up"))
            self.assertEqual(
                shown.rings, {"rx": 512, "fill": 512, "tx": 128, "completion": 128})
            self.assertEqual((shown.need_wakeup, list(shown.queues)), ("on", [0]))
            self.assertEqual(set(shown.queues[0]), set(COUNTERS))
            self.assertTrue(shown.reason, "why zero-copy is not in use")
            self.assertTrue(any("native-with-zerocopy" in why for why in shown.refused))
        self.assertEqual(self.switch.port("t3").driver, "tun")
        self.assertEqual(self.switch.pool().frames, 65536)
        self.expect_forwarding(one, two)
        self.switch.connect("p1", "t3")
        self.expect_forwarding(one, vm)

    def test_status_columns(self):
        self.two_containers()
        program = self.switch.namespace.link("p1")["xdp"]["prog"]["id"]
        shown = self.switch.port("p1")
        self.assertEqual((shown.program_id, shown.driver), (program, "veth"))
        self.assertEqual(shown.ifindex, self.switch.namespace.link("p1")["ifindex"])
        status = wait_until(lambda: self.switch.interface_map("p1", "status"), "a status")
        expected = {"driver_name": "veth", "xdp-mode": "native", "xsk-copy-mode": "copy",
                    "xdp-program-id": str(program), "xdp-program-name": shown.program,
                    "n_rxq_desc": "512", "n_txq_desc": "128", "start-queue": "0",
                    "xsk-queues": "1"}
        self.assertEqual({key: status.get(key) for key in expected}, expected)
        self.assertIn("native-with-zerocopy", status["xdp-mode-refused"])
        self.assertTrue(status["xsk-copy-mode-reason"])
        self.assertEqual(self.switch.interface("p1", "link_speed"), "10000000000")
        self.assertEqual(self.switch.interface("p1", "duplex"), "full")

    def test_show_takes_a_port(self):
        self.two_containers()
        self.assertEqual(sorted(self.switch.ports()), ["p1", "p2"])
        only = self.switch.appctl("afxdp/show", "p2").stdout
        self.assertEqual(list(parse_show(only)), ["p2"])
        refused = self.switch.appctl("afxdp/show", "nosuch", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("nosuch", refused.stderr)

    def test_statistics_in_the_database(self):
        one, two = self.two_containers()
        self.exchange(one, two, [100] * 30)

        def written():
            statistics = self.switch.interface_map("p2", "statistics")
            return statistics if statistics.get("xsk_queue_0_tx_packets") == "30" else None
        # They are written every 5 s.
        statistics = wait_until(written, lambda: self.switch.interface("p2", "statistics"), 8)
        for counter in COUNTERS:
            self.assertIn(f"xsk_queue_0_{counter}", statistics)
        self.assertEqual(statistics["xsk_queue_0_tx_in_place"], "30")
        self.assertEqual(statistics["xsk_queue_0_tx_bytes"], "3000")
        self.assertEqual(self.switch.interface_map("p1", "statistics")["rx_packets"], "30")

    def check_flows_reach(self, source, destination, count=64):
        """Sends `count` flows; returns how many p1 received by queue, and how many arrived."""
        sender, receiver = source.raw(ETHERTYPE_IPV4), destination.raw(ETHERTYPE_IPV4)
        frames = flows(source, destination, count)
        before = self.switch.port("p1").queues
        for frame in frames:
            sender.send(frame)
        got = collections.Counter()
        while got.total() < count and (frame := receiver.receive(1)) is not None:
            got[frame] += 1
        self.assertFalse(got - collections.Counter(frames), "frames that nobody sent")
        now = self.switch.port("p1").queues
        by_queue = {queue: now[queue]["rx_packets"] - before[queue]["rx_packets"] for queue in now}
        return by_queue, got.total()

    def test_two_queues(self):
        one, two = self.two_containers({"n_rxq": 2}, queues=2)
        received, arrived = self.check_flows_reach(one, two)
        self.assertEqual(arrived, 64)
        self.assertEqual(sorted(received), [0, 1])
        self.assertEqual(sum(received.values()), 64)
        self.assertTrue(all(received.values()), f"both queues are in use: {received}")
        self.expect_forwarding(two, one)

    def test_queues_of_two_pmds(self):
        self.start_switch(pmd_mask="0x3")
        one = self.add_container("p1", 1, options={"n_rxq": 2}, queues=2)
        two = self.add_container("p2", 2, options={"n_rxq": 2}, queues=2)
        self.switch.connect("p1", "p2")
        self.assertEqual(self.check_flows_reach(one, two)[1], 64)
        self.expect_forwarding(two, one)

    def test_start_queue(self):
        """The flows that the sender puts on queue 1 come in, those of queue 0 are the kernel's."""
        one, two = self.two_containers({"start-queue": 1}, queues=2)
        received, arrived = self.check_flows_reach(one, two)
        self.assertEqual(list(received), [1])
        self.assertEqual(received[1], arrived)
        self.assertTrue(0 < arrived < 64, f"one of two queues is ours, {arrived} of 64 arrived")
        self.exchange(two, one, [100] * 40)

    def test_two_queues_of_a_tap(self):
        self.start_switch()
        one = self.add_container("p1", 1)
        vm = self.add_vm("t2", 2, options={"n_rxq": 2}, queues=2)
        self.switch.connect("p1", "t2")
        self.assertEqual(sorted(self.switch.port("t2").queues), [0, 1])
        before = self.sent("p1")
        sender, receiver = vm.raw(ETHERTYPE_IPV4), one.raw(ETHERTYPE_IPV4)
        for frame in flows(vm, one, 64):
            sender.send(frame)
        wait_until(lambda: self.sent_since("p1", before)["tx_in_place"] == 64,
                   lambda: f"64 sent in place: {self.sent_since('p1', before)}")
        self.assertEqual(len([receiver.receive() for _ in range(64)]), 64)
        self.exchange(one, vm, [100] * 40)

    def test_ring_sizes(self):
        one, two = self.two_containers()
        for rx, tx in ((64, 64), (1024, 256), (4096, 4096)):
            with self.subTest(rx=rx, tx=tx):
                self.switch.set_options("p1", n_rxq_desc=rx, n_txq_desc=tx)
                self.expect_no_error("p1")
                self.assertEqual(self.switch.port("p1").rings,
                                 {"rx": rx, "fill": rx, "tx": tx, "completion": tx})
                self.expect_forwarding(one, two, count=96)

    def test_need_wakeup_off(self):
        one, two = self.two_containers({"use-need-wakeup": "false"})
        self.assertEqual(self.switch.port("p1").need_wakeup, "off")
        self.assertEqual(self.switch.port("p2").need_wakeup, "on")
        self.expect_forwarding(one, two, count=100)

    def test_modes(self):
        one, two = self.two_containers({"xdp-mode": "generic"})
        for mode, attached in (("generic", 2), ("native", 1)):  # XDP_ATTACHED_SKB, _DRV
            with self.subTest(mode):
                self.switch.set_options("p1", **{"xdp-mode": mode})
                self.expect_no_error("p1")
                self.assertEqual(self.switch.port("p1").mode, mode)
                self.assertEqual(self.switch.namespace.link("p1")["xdp"]["mode"], attached)
                self.expect_forwarding(one, two)

    def test_generic_mode_sends_in_place(self):
        one, two = self.two_containers({"xdp-mode": "generic"})
        before = {port: self.sent(port) for port in ("p1", "p2")}
        self.expect_forwarding(one, two, count=100)
        self.expect_sent("p1", before["p1"], in_place=100)
        self.expect_sent("p2", before["p2"], in_place=100)

    def test_nonpmd(self):
        self.start_switch()
        one = self.add_container("p1", 1, kind="afxdp-nonpmd")
        two = self.add_container("p2", 2, kind="afxdp-nonpmd")
        three = self.add_container("p3", 3)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two)
        self.switch.connect("p1", "p3")
        self.expect_forwarding(one, three)
        for port in ("p1", "p3"):
            self.assertEqual(self.switch.port(port).total("tx_copied_foreign"), 0)

    def test_number_of_pmds_changes(self):
        one, two = self.two_containers()
        for mask in ("0x3", "0x2", "0x1"):
            with self.subTest(mask):
                self.switch.vsctl("set", "Open_vSwitch", ".", f"other_config:pmd-cpu-mask={mask}")
                self.expect_forwarding(one, two)
