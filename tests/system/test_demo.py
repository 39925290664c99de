# SPDX-License-Identifier: Apache-2.0
"""scripts/demo works, says so, and takes everything down, also when it is interrupted."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness.process import processes_with, run
from harness.switch import PREFIX, REPOSITORY

DEMO = REPOSITORY / "scripts" / "demo"


@unittest.skipUnless(os.geteuid() == 0, "needs root, for network namespaces and AF_XDP")
class DemoTest(unittest.TestCase):

    def setUp(self):
        if PREFIX != REPOSITORY / "build" / "ovs-4.0.0":
            self.skipTest("the demo shows build/ovs-4.0.0, not another OVS_PREFIX")
        for tool in ("iperf3", "ping", "ethtool"):
            if not shutil.which(tool):
                self.skipTest(f"{tool} is not installed")
        self.folder = tempfile.TemporaryDirectory(prefix=f"afx-{os.getpid()}-")
        self.addCleanup(self.folder.cleanup)

    def start(self):
        """In a process group of its own, as a terminal's foreground job is."""
        demo = subprocess.Popen(
            [str(DEMO), "--no-setup"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "TMPDIR": self.folder.name}, process_group=0)
        self.addCleanup(demo.stdout.close)
        self.addCleanup(demo.wait)
        self.addCleanup(self.kill, demo)
        return demo

    def kill(self, demo):
        if demo.poll() is None:
            os.killpg(demo.pid, signal.SIGKILL)

    def expect_nothing_left(self, demo):
        mark = f"afxdp-demo-{demo.pid}-"
        self.assertNotIn(mark, run(["ip", "netns", "list"]).stdout)
        self.assertEqual(os.listdir(self.folder.name), [])
        self.assertEqual(processes_with(mark) | processes_with(self.folder.name), {})

    def test_demo(self):
        demo = self.start()
        output, _ = demo.communicate(timeout=90)
        self.assertEqual(demo.returncode, 0, output)
        self.assertIn("Everything worked.", output)
        rows = re.findall(r"^(veth1|veth2|tap3) +native +copy +\d+ +(\d+) +(\d+) +(\d+)$",
                          output, re.MULTILINE)
        self.assertEqual([row[0] for row in rows], ["veth1", "veth2", "tap3"], output)
        for _, sent, in_place, copied in rows:
            self.assertEqual(int(sent), int(in_place) + int(copied))
            self.assertGreater(int(in_place), 1000)
        self.expect_nothing_left(demo)

    def interrupt_at(self, text, number):
        demo = self.start()
        for line in demo.stdout:
            if text in line:
                break
        else:
            self.fail(f"the demo ended without '{text}'")
        os.killpg(demo.pid, number)
        output, _ = demo.communicate(timeout=30)
        self.assertNotEqual(demo.returncode, 0, output)
        self.assertIn("Taking everything down", output)
        self.expect_nothing_left(demo)

    def test_interrupted_while_setting_up(self):
        self.interrupt_at("[switch] ovs-vswitchd", signal.SIGINT)

    def test_interrupted_by_control_c(self):
        self.interrupt_at("] iperf3", signal.SIGINT)

    def test_terminated(self):
        self.interrupt_at("] ping", signal.SIGTERM)
