# SPDX-License-Identifier: Apache-2.0
"""A daemon that lacks a privilege says which one, for each port, and goes on running."""

from harness.case import SystemTest
from harness.waiting import wait_until

# A daemon without privileges has more to complain about than AF_XDP.
COMPLAINTS = (
    r"\|(WARN|ERR)\|.*(Operation not permitted|Permission denied|could not|failed|capabilit|"
    r"memlock|CAP_)",
)
# Locked memory is not counted for who has CAP_IPC_LOCK; CAP_SYS_RESOURCE can raise the limit.
NO_MEMLOCK = ("prlimit", "--memlock=65536:65536")


class PrivilegesTest(SystemTest):
    """The bounding set is what root's capabilities are cut to on exec."""

    def daemon_without(self, *capabilities, prefix=()):
        self.make_switch()
        self.allow_log(*COMPLAINTS)
        dropped = ",".join(f"-{name}" for name in capabilities)
        self.switch.start(wrapper=[*prefix, "setpriv", f"--bounding-set={dropped}"])

    def check_refused(self, *patterns):
        one = self.make_container("p1", 1)
        self.switch.add_port("p1", ofport=1)
        self.expect_error("p1", *patterns)
        self.assertTrue(self.switch.daemon.alive())
        self.assertNotIn("xdp", self.switch.namespace.link("p1"))
        self.assertEqual(self.switch.ports(), {})
        return one

    def test_cap_net_raw(self):
        self.daemon_without("net_raw")
        self.check_refused("CAP_NET_RAW")

    def test_cap_net_admin(self):
        """CAP_SYS_ADMIN would do for some of it.  OVS could not make the bridge's own devices, so
        they are there before, belong to the daemon's user, and are as OVS wants them."""
        self.make_switch()
        self.allow_log(*COMPLAINTS)
        for device in ("ovs-netdev", "br0"):
            self.switch.namespace.ip(f"tuntap add dev {device} mode tap user 0")
            self.switch.namespace.ip(f"link set {device} promisc on up")
        self.switch.start(wrapper=["setpriv", "--bounding-set=-net_admin,-sys_admin"])
        self.check_refused("CAP_NET_ADMIN")

    def test_cap_bpf(self):
        """CAP_SYS_ADMIN contains it, so both are dropped."""
        self.daemon_without("bpf", "sys_admin")
        self.check_refused("CAP_BPF")

    def test_memlock(self):
        self.daemon_without("ipc_lock", "sys_resource", prefix=NO_MEMLOCK)
        self.check_refused("memlock", "CAP_IPC_LOCK")

    def test_memlock_limit_without_need(self):
        """With CAP_IPC_LOCK the limit says nothing, and nothing is said about it."""
        self.make_switch()
        self.switch.start(wrapper=[*NO_MEMLOCK, "setpriv", "--bounding-set=-sys_resource"])
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two)

    def test_works_with_what_is_documented(self):
        """CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF and CAP_IPC_LOCK are enough."""
        self.make_switch()
        self.switch.start(wrapper=[
            "setpriv", "--bounding-set=-all,+net_admin,+net_raw,+bpf,+ipc_lock"])
        one, two = self.add_container("p1", 1), self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two)

    def test_privilege_is_given_later(self):
        """The same database, a daemon with everything: the ports that were refused work."""
        self.daemon_without("net_raw")
        one = self.check_refused("CAP_NET_RAW")
        self.switch.restart()
        self.expect_no_error("p1")
        two = self.add_container("p2", 2)
        self.switch.connect("p1", "p2")
        self.expect_forwarding(one, two)
        wait_until(lambda: self.switch.port_error("p1") == "", "the error is gone")
