# SPDX-License-Identifier: Apache-2.0
"""XDP programs of others on our devices, and ours in the hands of others."""

from harness.bpf import PassProgram, link_ids, program_exists
from harness.case import SystemTest
from harness.process import run
from harness.waiting import wait_until


class ProgramsTest(SystemTest):

    def test_foreign_native_program(self):
        self.check_foreign_program("xdpdrv")

    def test_foreign_generic_program(self):
        self.check_foreign_program("xdpgeneric")

    def check_foreign_program(self, mode):
        """Named, left alone, and the port works once its owner has taken it away."""
        self.start_switch()
        self.allow_log(r"\|(WARN|ERR)\|.*p3")
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        three = self.make_container("p3", 3)
        self.switch.connect("p1", "p2")
        foreign = PassProgram()
        self.addCleanup(foreign.close)
        foreign.attach(self.switch.namespace, "p3", mode)
        self.switch.add_port("p3", ofport=3)
        self.expect_error("p3", "p3", "program", rf"\b{foreign.id}\b", foreign.name)
        self.expect_forwarding(one, two)
        self.assertEqual(sorted(self.switch.pool().posted), [("p1", 0), ("p2", 0)])
        self.assertEqual(self.switch.namespace.link("p3")["xdp"]["prog"]["id"], foreign.id)
        foreign.detach(self.switch.namespace, "p3", mode)
        self.switch.delete_port("p3")
        self.add_port("p3", ofport=3)
        self.switch.connect("p1", "p3")
        self.expect_forwarding(one, three)

    def test_program_detached_by_others(self):
        """Noticed, told, and attached again."""
        self.start_switch()
        self.allow_log(r"afxdp\w*\|WARN\|.*p1.*program")
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        before = self.switch.port("p1").program_id
        links = link_ids(before)
        self.assertEqual(len(links), 1, "the program is held by one bpf_link")
        run(["bpftool", "link", "detach", "id", str(links[0])])

        def attached():
            xdp = self.switch.namespace.link("p1").get("xdp")
            return xdp and xdp["prog"]["id"] == self.switch.port("p1").program_id
        wait_until(attached, "a program of ours is on p1 again", timeout=15)
        self.expect_forwarding(one, two)
        self.assertTrue(any("p1" in text for _, _, text in self.switch.log_lines()),
                        "the log tells of it")

    def test_program_cannot_be_replaced(self):
        self.start_switch()
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        foreign = PassProgram()
        self.addCleanup(foreign.close)
        refused = self.switch.namespace.run(
            ["bpftool", "net", "attach", "xdpdrv", "id", str(foreign.id), "dev", "p1",
             "overwrite"], check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.expect_forwarding(one, two)

    def test_program_goes_with_the_port(self):
        self.start_switch()
        self.add_container("p1", 1)
        program = self.switch.port("p1").program_id
        self.switch.delete_port("p1")
        self.assertNotIn("xdp", self.switch.namespace.link("p1"))
        wait_until(lambda: not program_exists(program), "the program is gone")

    def test_program_goes_with_a_daemon_that_stops(self):
        self.check_program_goes_with_the_daemon("stop")

    def test_program_goes_with_a_daemon_that_is_killed(self):
        self.check_program_goes_with_the_daemon("kill")

    def check_program_goes_with_the_daemon(self, how):
        self.start_switch()
        self.add_container("p1", 1)
        program = self.switch.port("p1").program_id
        getattr(self.switch.daemon, how)()
        wait_until(lambda: "xdp" not in self.switch.namespace.link("p1"),
                   "no program is left on the device")
        wait_until(lambda: not program_exists(program), "the program is gone")
        self.switch.daemon = None  # there is none whose health could be looked at
