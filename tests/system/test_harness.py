# SPDX-License-Identifier: Apache-2.0
"""The tests' own machinery: verdicts are right, and nothing stays behind, whatever happens."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

from harness import netns
from harness.counters import parse_pool, parse_show
from harness.waiting import wait_until

RUNNER = pathlib.Path(__file__).resolve().parent / "run.py"


@unittest.skipUnless(os.geteuid() == 0, "needs root, for network namespaces and AF_XDP")
class RunnerTest(unittest.TestCase):

    def start(self, name):
        process = subprocess.Popen(
            [sys.executable, "-B", str(RUNNER), f"selftest.scenarios.Scenarios.{name}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def check(self, name, status, text):
        process = self.start(name)
        output, _ = process.communicate(timeout=60)
        # CTest must not find this in what is printed when the check fails.
        output = output.replace("[  SKIPPED ]", "(skipped)")
        self.assertEqual(process.returncode, status, output)
        self.assertIn(text, output)
        self.assertEqual(netns.leftovers(process.pid), [])

    def test_failure(self):
        self.check("test_fails", 1, "on purpose")

    def test_error_while_setting_up(self):
        self.check("test_breaks_in_the_middle", 1, "ip netns add")

    def test_daemon_that_dies(self):
        self.check("test_daemon_dies", 1, "ovs-vswitchd ended")

    def test_log_line(self):
        self.check("test_unexpected_log_line", 1, "unexpected lines in ovs-vswitchd.log")

    def test_skip(self):
        self.check("test_skips", 0, "(skipped) on purpose")

    def hanging(self):
        process = self.start("test_hangs")
        while "hanging" not in process.stdout.readline():
            self.assertIsNone(process.poll())
        return process

    def test_terminated(self):
        process = self.hanging()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(netns.leftovers(process.pid), [])

    def test_killed(self):
        """Its processes go at once; namespaces and folders go with the next run."""
        process = self.hanging()
        process.kill()
        process.communicate(timeout=30)
        wait_until(lambda: not any("process" in left for left in netns.leftovers(process.pid)),
                   lambda: f"no process left: {netns.leftovers(process.pid)}")
        netns.sweep()
        self.assertEqual(netns.leftovers(process.pid), [])


class ParserTest(unittest.TestCase):

    def test_pool(self):
        pool = parse_pool("frames: 100\npage size: 4 KiB\npool: 40\ncache pmd/1: 7\n"
                          "held by OVS: 3\nport a queue 0: rx 20 tx 10\nport a queue 1: rx 8 tx 0\n"
                          "quarantined: 12\nreserved: 30 of 90\nmisgiven: 0\nsum: 100\n")
        self.assertEqual((pool.frames, pool.total(), pool.printed_sum), (100, 100, 100))
        self.assertEqual(pool.posted, {("a", 0): (20, 10), ("a", 1): (8, 0)})
        self.assertEqual((pool.caches, pool.reserved), ({"pmd/1": 7}, (30, 90)))

    def test_show(self):
        ports = parse_show("port a: ifindex 3, driver veth, link up\n"
                           "  mode: native, copy (no (zero) copy here)\n"
                           "  refused: native-with-zerocopy: no\n"
                           "  program: redirect id 7\n"
                           "  rings: rx 512 fill 512 tx 128 completion 128\n"
                           "  need-wakeup: on\n"
                           "  queue 1:\n    rx_packets: 5\n    tx_packets: 6\n"
                           "port b: ifindex 4, driver tun, link down\n"
                           "  mode: native, zero-copy\n"
                           "  queue 0:\n    rx_packets: 9\n")
        self.assertEqual(ports["a"].queues, {1: {"rx_packets": 5, "tx_packets": 6}})
        self.assertEqual((ports["a"].reason, ports["a"].program_id), ("no (zero) copy here", 7))
        self.assertEqual(ports["a"].rings["completion"], 128)
        self.assertEqual((ports["b"].copy, ports["b"].reason), ("zero-copy", None))

    def test_unknown_lines_are_not_passed_over(self):
        with self.assertRaises(AssertionError):
            parse_pool("pol: 7\n")
        with self.assertRaises(AssertionError):
            parse_show("port a: ifindex 3, driver veth, link up\n  colour: green\n")
