# SPDX-License-Identifier: Apache-2.0
"""Daemons that end, in good order or not, and the next one."""

import os
import signal

from harness.case import SystemTest
from harness.endpoint import background
from harness.process import Detached, run
from harness.waiting import wait_until


def parent_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("PPid:"))


class RestartTest(SystemTest):
    """p1, p2 and a VM's t3; the next daemon finds them all in the database."""

    def setUp(self):
        super().setUp()
        self.start_switch()
        self.one, self.two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.three = self.add_vm("t3", 3)

    def expect_all_work(self):
        for port in self.endpoints:
            self.expect_no_error(port)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(self.one, self.two)
        self.switch.connect("p1", "t3")
        self.expect_forwarding(self.one, self.three)

    def test_killed_and_started_again(self):
        """Neither the old program nor the old sockets' queues are in the way."""
        for _ in range(3):
            self.switch.restart("kill")
            self.expect_all_work()

    def test_killed_under_traffic(self):
        self.switch.connect("p1", "p2")
        with background(self.one, self.two.mac):
            self.switch.restart("kill")
            self.expect_no_error("p1")
        self.expect_all_work()

    def test_stopped_and_started_again(self):
        self.expect_all_work()
        # OVS cleans up in its signal handler, then dies of the signal.
        self.assertEqual(self.switch.daemon.stop(), -signal.SIGTERM)
        self.switch.restart()
        self.expect_all_work()

    def test_exits_in_good_order(self):
        """`ovs-appctl exit`, with all ports in use: no crash among the threads that still run."""
        self.expect_all_work()
        self.switch.appctl("exit")
        wait_until(lambda: not self.switch.daemon.alive(), "the daemon ends")
        self.assertEqual(self.switch.daemon.exit_status(), 0)
        self.switch.restart()

    def test_detached(self):
        """As service scripts start it: the daemon forks before it does any work."""
        self.switch.daemon.stop()
        self.switch.start_detached()
        self.expect_all_work()

    def test_crashed_under_monitor(self):
        """The monitor starts the next daemon while the kernel still tears the last one down."""
        self.switch.daemon.stop()
        self.allow_log(r"daemon_unix\(monitor\)\|ERR\|.*killed \(Aborted\)")
        self.switch.start_detached("--monitor")
        self.expect_all_work()
        worker = self.switch.daemon
        monitor = Detached(parent_of(worker.pid))
        self.addCleanup(monitor.kill)
        run(["prlimit", f"--pid={worker.pid}", "--core=0"])
        os.kill(worker.pid, signal.SIGABRT)
        wait_until(lambda: not worker.alive(), "the daemon ends")
        wait_until(self.next_daemon_answers, "the next daemon is there", timeout=20)
        self.assertNotEqual(self.switch.daemon.pid, worker.pid)
        self.expect_all_work()

    def next_daemon_answers(self):
        if self.switch.appctl("version", check=False).returncode != 0:
            return False
        self.switch.adopt_daemon()
        return self.switch.daemon.alive()

    def test_tools_say_nothing_more(self):
        """Each of OVS's tools contains the provider: none of them may print a byte for it."""
        for tool in ("ovs-vsctl", "ovs-ofctl", "ovs-appctl", "ovs-dpctl", "ovsdb-client"):
            done = self.switch.tool(tool, "--version")
            self.assertEqual(done.stderr, "", tool)
