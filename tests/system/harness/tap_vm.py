# SPDX-License-Identifier: Apache-2.0
"""A VM on a tap port, stood in for by tests/tools/tap_vm and a namespace."""

import os
import pathlib

from .endpoint import Endpoint
from .netns import Namespace
from .process import Child
from .switch import REPOSITORY
from .waiting import wait_until

_TOOLS = pathlib.Path(os.environ.get("AFXDP_TOOLS", REPOSITORY / "build/release/tests/tools"))


class TapVm(Endpoint):
    """The tap is device `port` in the switch's namespace; it stays when the VM goes."""

    def __init__(self, switch, port, number, queues=1, mtu=1500, attach=True):
        super().__init__(switch, port, number, Namespace(port))
        self.queues = queues
        self.mtu = mtu
        self.process = None
        try:
            kind = "tap multi_queue" if queues > 1 else "tap"
            switch.namespace.ip(f"tuntap add dev {port} mode {kind}")
            switch.namespace.ip(f"link set {port} mtu {mtu} up")
            if attach:
                self.attach()
        except BaseException:
            self.close()
            raise

    def attach(self):
        """Starts the VM: the tap has carrier and its queues from here on."""
        command = [str(_TOOLS / "tap_vm"), "--tap", self.port, "--guest", self.device,
                   "--guest-netns", f"/run/netns/{self.namespace.name}",
                   "--queues", str(self.queues)]
        self.process = Child(self.switch.namespace.command(command),
                             self.switch.folder / f"{self.port}.out")
        wait_until(self._has_device, lambda: f"tap_vm: {self.process.output()}")
        self.set_up_device(self.mtu)

    def _has_device(self):
        if not self.process.alive():
            raise AssertionError(f"tap_vm ended: {self.process.output()}")
        return self.namespace.link(self.device)

    def detach(self):
        """Ends the VM, which takes its end of the tap away."""
        for port in self._raw:
            port.close()
        self._raw.clear()
        self.process.stop()

    def close(self):
        if self.process:
            self.process.stop()
        super().close()
