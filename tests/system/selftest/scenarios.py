# SPDX-License-Identifier: Apache-2.0
"""Tests that do not pass, for test_harness.py to run.  Not found by run.py without being named."""

import select

from harness.case import SystemTest


class Scenarios(SystemTest):

    def everything(self):
        self.start_switch()
        self.add_container("p1", 1)
        self.add_vm("t2", 2)

    def test_fails(self):
        self.everything()
        self.fail("on purpose")

    def test_breaks_in_the_middle(self):
        self.start_switch()
        self.make_container("p1", 1)
        self.make_container("p1", 1)  # there is one already

    def test_daemon_dies(self):
        self.everything()
        self.switch.daemon.kill()

    def test_unexpected_log_line(self):
        self.everything()
        self.switch.add_port("nosuch")

    def test_skips(self):
        self.everything()
        self.skipTest("on purpose")

    def test_hangs(self):
        self.everything()
        print("hanging", flush=True)
        select.select([], [], [])
