# SPDX-License-Identifier: Apache-2.0
"""A container: a namespace at the far end of a veth pair."""

from .endpoint import Endpoint
from .netns import Namespace


class Container(Endpoint):
    """The host end is device `port` in the switch's namespace, the other end eth0 in its own.

    The host end has `queues` queues; the container puts its frames on `sender_queues` of them.
    """

    def __init__(self, switch, port, number, queues=1, sender_queues=None, mtu=1500, ipv6=False):
        super().__init__(switch, port, number, Namespace(port, ipv6=ipv6))
        self.queues = queues
        self.sender_queues = sender_queues or queues
        self.mtu = mtu
        try:
            self.make_devices()
        except BaseException:
            self.close()
            raise

    def make_devices(self):
        """Makes the pair; again, after delete_devices()."""
        self.switch.namespace.ip(
            f"link add {self.port} mtu {self.mtu} "
            f"numrxqueues {self.queues} numtxqueues {self.queues} type veth "
            f"peer name {self.device} netns {self.namespace.name} "
            f"numrxqueues {self.queues} numtxqueues {self.sender_queues}")
        self.set_up_device(self.mtu)
        self.switch.namespace.ip(f"link set {self.port} up")

    def delete_devices(self):
        self.switch.namespace.ip(f"link delete {self.port}")

    def finish_checksums(self):
        """The container's stack finishes its checksums itself (ethtool -K eth0 tx off)."""
        self.namespace.run(["ethtool", "-K", self.device, "tx", "off"])
