# SPDX-License-Identifier: Apache-2.0
"""What cannot work says why in the Interface's error column, harms nobody, and can be mended."""

from harness.case import SystemTest
from harness.process import run
from harness.sockets import HeldQueue, xsk_inodes
from harness.waiting import wait_until

# ovs-vswitchd's own lines about a port that cannot be set up.
PORT_REFUSED = (
    r"bridge\|WARN\|could not (open network device|add network device|set configuration)",
    r"netdev\|WARN\|.*could not set configuration",
    r"netdev_linux\|WARN\|.*ioctl\(SIOCGIFINDEX\)",
    r"dpif\|WARN\|.*failed to add",
)


class BadInputTest(SystemTest):
    """p1 and p2 work and must go on working; p3 is what the test is about."""

    def setUp(self):
        super().setUp()
        self.allow_log(*PORT_REFUSED, r"afxdp.*\|(WARN|ERR)\|.*p3")

    def good_pair(self, **switch):
        self.start_switch(**switch)
        self.one, self.two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")

    def expect_harmless(self):
        """The good ports forward, and the bad one has left nothing behind."""
        self.expect_forwarding(self.one, self.two)
        self.assertEqual(sorted(self.switch.ports()), ["p1", "p2"])
        self.assertEqual(sorted(self.switch.pool().posted), [("p1", 0), ("p2", 0)])
        wait_until(lambda: len(xsk_inodes(self.switch.daemon.pid)) == 2, "no socket of p3 is left")
        link = self.switch.namespace.link("p3")
        self.assertNotIn("xdp", link or {}, "no program of ours is left on p3")
        self.expect_all_frames()

    def check_refused(self, *patterns, mended=None, **options):
        """Adding p3 with `options` fails with text that matches; with `mended` it works."""
        self.switch.add_port("p3", ofport=3, **options)
        self.expect_error("p3", *patterns)
        self.expect_harmless()
        if mended:
            self.switch.set_options("p3", **mended)
        else:
            self.switch.vsctl("clear", "interface", "p3", "options")
        self.expect_no_error("p3")
        self.switch.connect("p1", "p3")
        self.expect_forwarding(self.one, self.endpoints["p3"])
        # The same on a port that works: it reports, the others go on, and it can be mended.
        self.switch.set_options("p3", **options)
        self.expect_error("p3", *patterns)
        self.switch.connect("p1", "p2")
        self.expect_harmless()
        self.switch.delete_port("p3")

    def check_options_refused(self, cases, **container):
        self.good_pair()
        self.make_container("p3", 3, **container)
        for options, patterns in cases:
            with self.subTest(options):
                self.check_refused(*patterns, **options)

    def test_no_such_device(self):
        self.good_pair()
        self.switch.add_port("p3", ofport=3)
        self.expect_error("p3", "p3", "no such device")
        self.expect_harmless()
        three = self.make_container("p3", 3)
        self.expect_no_error("p3")  # OVS sees the device come, nobody needs to ask again
        self.switch.connect("p1", "p3")
        self.expect_forwarding(self.one, three)

    def test_loopback(self):
        self.good_pair()
        self.allow_log(r"\|(WARN|ERR)\|.*\blo\b")
        self.switch.add_port("lo")
        self.expect_error("lo", r"\blo\b", "loopback")
        self.expect_harmless()
        self.assertNotIn("xdp", self.switch.namespace.link("lo"))
        self.switch.delete_port("lo")

    def test_queues(self):
        self.check_options_refused([
            ({"n_rxq": 3}, ["n_rxq", r"\b3\b", r"\b2\b", "queue"]),
            ({"n_rxq": 2, "start-queue": 1}, ["start-queue", r"\b2\b", "queue"]),
            ({"start-queue": 2}, ["start-queue", r"\b2\b"]),
            ({"n_rxq": 0}, ["n_rxq", r"\b0\b"]),
            ({"n_rxq": -1}, ["n_rxq", "-1"]),
            ({"n_rxq": "many"}, ["n_rxq", "many"]),
            ({"start-queue": "-1"}, ["start-queue", "-1"]),
            ({"start-queue": "first"}, ["start-queue", "first"]),
        ], queues=2, sender_queues=1)

    def test_ring_sizes(self):
        self.check_options_refused([
            ({"n_rxq_desc": 1000}, ["n_rxq_desc", "1000", "power of two"]),
            ({"n_txq_desc": 100}, ["n_txq_desc", "100", "power of two"]),
            ({"n_rxq_desc": 32}, ["n_rxq_desc", r"\b32\b", r"\b64\b", r"\b4096\b"]),
            ({"n_txq_desc": 8192}, ["n_txq_desc", r"\b8192\b", r"\b64\b", r"\b4096\b"]),
            ({"n_rxq_desc": 0}, ["n_rxq_desc", r"\b0\b"]),
            ({"n_txq_desc": "big"}, ["n_txq_desc", "big"]),
            ({"n_rxq_desc": 4294967296 + 512}, ["n_rxq_desc", "4294967808"]),
        ])

    def test_words(self):
        self.check_options_refused([
            ({"xdp-mode": "fastest"},
             ["xdp-mode", "fastest", "best-effort", "native-with-zerocopy", "native", "generic"]),
            ({"use-need-wakeup": "perhaps"}, ["use-need-wakeup", "perhaps", "true", "false"]),
        ])

    def test_zero_copy_on_veth(self):
        self.good_pair()
        self.make_container("p3", 3)
        # What the kernel said, and what would help.
        self.check_refused("native-with-zerocopy", "Operation not supported|EOPNOTSUPP|errno 95",
                           "best-effort|xdp-mode=native\\b", **{"xdp-mode": "native-with-zerocopy"})

    def test_mtu_that_does_not_fit(self):
        self.good_pair()
        three = self.make_container("p3", 3, mtu=9000)
        self.switch.add_port("p3", ofport=3)
        self.expect_error("p3", "MTU", "9000")
        self.expect_harmless()
        for namespace, device in ((self.switch.namespace, "p3"), (three.namespace, "eth0")):
            namespace.ip(f"link set {device} mtu 1500")
        self.switch.delete_port("p3")
        self.add_port("p3", ofport=3)
        self.switch.connect("p1", "p3")
        self.expect_forwarding(self.one, three)

    def test_mtu_request_that_does_not_fit(self):
        self.good_pair()
        self.allow_log(r"(netdev|bridge|afxdp)\w*\|(WARN|ERR)\|.*(MTU|mtu|p1)")
        before = frozenset(xsk_inodes(self.switch.daemon.pid))
        self.switch.vsctl("set", "interface", "p1", "mtu_request=9000")
        self.expect_forwarding(self.one, self.two)
        self.assertEqual(self.switch.namespace.link("p1")["mtu"], 1500)
        self.assertEqual(frozenset(xsk_inodes(self.switch.daemon.pid)), before)
        self.assertTrue(any("MTU" in text or "mtu" in text
                            for _, _, text in self.switch.log_lines()), "the log says why")

    def test_too_few_frames(self):
        """Two ports need 2 x (512 + 128) frames and what the caches need; a third does not fit
        with large rings, and does with small ones."""
        self.good_pair(other_config={"afxdp-umem-frames": 4096})
        self.assertEqual(self.switch.pool().frames, 4096)
        self.make_container("p3", 3)
        self.check_refused("afxdp-umem-frames", r"\d+ (too few|missing)", "n_rxq_desc",
                           n_rxq_desc=4096, n_txq_desc=4096,
                           mended={"n_rxq_desc": 64, "n_txq_desc": 64})

    def test_queue_held_by_somebody_else(self):
        self.good_pair()
        three = self.make_container("p3", 3)
        holder = HeldQueue(self.switch.namespace, "p3")
        self.addCleanup(holder.close)
        self.switch.add_port("p3", ofport=3)  # waits for the queue, but not for ever
        self.expect_error("p3", "p3", "queue 0", "busy|in use|held")
        self.expect_harmless()
        holder.close()
        self.switch.delete_port("p3")
        self.add_port("p3", ofport=3)
        self.switch.connect("p1", "p3")
        self.expect_forwarding(self.one, three)

    def test_bond(self):
        """Neither a bond nor one of its members: its driver would be passed by."""
        self.good_pair()
        if self.switch.namespace.ip("link add b0 type bond", check=False).returncode != 0:
            self.skipTest("this kernel has no bonding driver")
        self.allow_log(r"\|(WARN|ERR)\|.*\b(b0|m0)\b")
        self.switch.namespace.ip("link add m0 type veth peer name m1")
        self.switch.namespace.ip("link set m0 master b0")
        for device in ("b0", "m0"):
            self.switch.add_port(device)
            self.expect_error(device, device, "bond")
            self.switch.delete_port(device)
        self.expect_harmless()


class DaemonOptionsTest(SystemTest):
    """other_config of the daemon: how many frames, on which pages."""

    def pool_with(self, **other_config):
        self.start_switch(other_config=other_config)
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two)
        return self.switch.pool()

    def test_frames(self):
        self.assertEqual(self.pool_with(**{"afxdp-umem-frames": 8192}).frames, 8192)

    def test_unacceptable_frames(self):
        """The daemon cannot refuse to start: it says so, and takes the default."""
        self.allow_log(r"afxdp\w*\|(WARN|ERR)\|.*afxdp-umem-frames.*plenty")
        self.assertEqual(self.pool_with(**{"afxdp-umem-frames": "plenty"}).frames, 65536)
        self.assertTrue(any("plenty" in text for _, _, text in self.switch.log_lines()))

    def test_frames_out_of_range(self):
        self.allow_log(r"afxdp\w*\|(WARN|ERR)\|.*afxdp-umem-frames")
        self.assertEqual(self.pool_with(**{"afxdp-umem-frames": 3}).frames, 65536)
        self.assertTrue(self.switch.log_lines(), "the log says so")

    def test_unacceptable_hugepages(self):
        self.allow_log(r"afxdp\w*\|(WARN|ERR)\|.*afxdp-hugepages.*perhaps")
        self.pool_with(**{"afxdp-hugepages": "perhaps"})
        self.assertTrue(any("perhaps" in text for _, _, text in self.switch.log_lines()))

    def test_without_huge_pages(self):
        pool = self.pool_with(**{"afxdp-hugepages": "false"})
        self.assertEqual(pool.page_size, "4 KiB")

    def test_huge_pages(self):
        """On huge pages where there are any: 32 of 2 MiB hold 16,384 frames."""
        setting = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
        try:
            with open(setting, encoding="ascii") as file:
                before = int(file.read())
        except FileNotFoundError:
            self.skipTest("this kernel has no 2 MiB pages")
        self.addCleanup(run, ["sysctl", "-q", f"vm.nr_hugepages={before}"])
        run(["sysctl", "-q", f"vm.nr_hugepages={before + 32}"])
        with open(setting, encoding="ascii") as file:
            if int(file.read()) < before + 32:
                self.skipTest("the machine has no room for 32 huge pages")
        pool = self.pool_with(**{"afxdp-umem-frames": 16384, "afxdp-hugepages": "true"})
        self.assertEqual(pool.page_size, "2 MiB huge pages")

    def test_huge_pages_that_are_not_there(self):
        """Wanted, not to be had: plain pages, and the log says so."""
        self.allow_log(r"afxdp\w*\|(WARN|INFO)\|.*huge")
        frames = 262144  # 1 GiB
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) for line in file if line.startswith("HugePages_Free"))
        if free * 512 >= frames:
            self.skipTest("the machine has huge pages for all of them")
        pool = self.pool_with(**{"afxdp-umem-frames": frames, "afxdp-hugepages": "true"})
        self.assertEqual(pool.page_size, "4 KiB")
