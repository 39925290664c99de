# SPDX-License-Identifier: Apache-2.0
"""What containers and VMs have in common: a device in a namespace, and traffic from there."""

import contextlib
import hashlib
import random
import select
import socket
import threading
import time

from .frames import BACKGROUND_ETHERTYPE, TEST_ETHERTYPE, mac_bytes, marked

_SO_RCVBUFFORCE = 33
_SOL_PACKET = 263
_PACKET_IGNORE_OUTGOING = 23
_RECEIVE_BUFFER = 8 << 20
# Frames under way at a time.  Less than the smallest ring in use, so that none is lost to a PMD
# that the machine has no time for, and the counts are exact.
_WINDOW = 48


class RawPort:
    """Frames of one ethertype, to and from one device."""

    def __init__(self, namespace, device, ethertype=TEST_ETHERTYPE):
        with namespace.entered():
            self.socket = socket.socket(
                socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ethertype))
            self.socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BUFFER)
            self.socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
            self.socket.bind((device, ethertype))

    def send(self, frame):
        self.socket.send(frame)

    def receive(self, timeout=5.0):
        """The next frame, or None after `timeout` seconds without one."""
        # Frames sent to others come here too: the socket is bound to the device, not to its MAC.
        ready, _, _ = select.select([self.socket], [], [], timeout)
        return self.socket.recv(65536) if ready else None

    def pending(self):
        """All frames that are here already."""
        frames = []
        while (frame := self.receive(0)) is not None:
            frames.append(frame)
        return frames

    def close(self):
        self.socket.close()


class Endpoint:
    """A device with an address, in a namespace of its own, behind port `port` of the switch."""

    device = "eth0"

    def __init__(self, switch, port, number, namespace):
        self.switch = switch
        self.port = port
        self.namespace = namespace
        self.mac = f"02:00:00:00:00:{number:02x}"
        self.address = f"10.0.0.{number}"
        self._raw = []

    def set_up_device(self, mtu):
        self.namespace.ip(f"link set {self.device} address {self.mac} mtu {mtu} up")
        self.namespace.ip(f"address add {self.address}/24 dev {self.device}")

    def raw(self, ethertype=TEST_ETHERTYPE):
        port = RawPort(self.namespace, self.device, ethertype)
        self._raw.append(port)
        return port

    def set_link(self, state):
        self.namespace.ip(f"link set {self.device} {state}")

    def ping(self, other, count=5, size=56):
        """Raises unless every ping is answered."""
        self.namespace.run(["ping", "-n", "-q", "-c", str(count), "-i", "0.002", "-W", "2",
                            "-s", str(size), other.address])

    def close(self):
        for port in self._raw:
            port.close()
        self.namespace.delete()


def frames_between(source, destination, sizes, start=1):
    """One frame per size, numbered from `start`."""
    return [marked(mac_bytes(destination.mac), mac_bytes(source.mac), size, number)
            for number, size in enumerate(sizes, start)]


def transfer(sender, receivers, frames, timeout=10.0, window=_WINDOW):
    """Sends `frames`; each of `receivers` must get exactly these, byte for byte and in order."""
    for begin in range(0, len(frames), window):
        batch = frames[begin:begin + window]
        for frame in batch:
            sender.send(frame)
        for receiver in receivers:
            for number, frame in enumerate(batch, begin):
                got = receiver.receive(timeout)
                if got != frame:
                    raise AssertionError(f"frame {number} of {len(frames)}: sent {_show(frame)}, "
                                         f"received {_show(got)}")
    for receiver in receivers:
        extra = receiver.pending()
        if extra:
            raise AssertionError(f"{len(extra)} frames too many, the first {_show(extra[0])}")


def _show(frame):
    return "nothing" if frame is None else f"{len(frame)} bytes {frame[:24].hex()}…"


@contextlib.contextmanager
def background(source, destination_mac, size=200, rate=5000):
    """Frames of BACKGROUND_ETHERTYPE, about `rate` a second, while the body runs."""
    frame = marked(mac_bytes(destination_mac), mac_bytes(source.mac), size, 0,
                   BACKGROUND_ETHERTYPE)
    stop = threading.Event()
    thread = threading.Thread(
        target=_send_until, args=(stop, source.raw(BACKGROUND_ETHERTYPE), frame, rate), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


_TICK = 0.002


def _send_until(stop, sender, frame, rate):
    while not stop.wait(_TICK):
        # ENOBUFS, ENETDOWN, ENXIO: the device is just being changed by the test.
        with contextlib.suppress(OSError):
            for _ in range(max(1, int(rate * _TICK))):
                sender.send(frame)


def tcp_transfer(client, server, size, port=5001, timeout=30):
    """Sends `size` random bytes by TCP and checks them at the server; returns bits a second."""
    data = random.Random(size).randbytes(size)
    with server.namespace.entered():
        listener = socket.create_server((server.address, port))
    with client.namespace.entered():
        sender = socket.socket()
    with listener, sender:
        listener.settimeout(timeout)
        sender.settimeout(timeout)
        begin = time.monotonic()
        sender.connect((server.address, port))
        receiver, _ = listener.accept()
        with receiver:
            receiver.settimeout(timeout)
            thread = threading.Thread(target=_send_and_shut, args=(sender, data), daemon=True)
            thread.start()
            digest, length = hashlib.sha256(), 0
            while chunk := receiver.recv(1 << 16):
                digest.update(chunk)
                length += len(chunk)
            thread.join()
    if length != size or digest.digest() != hashlib.sha256(data).digest():
        raise AssertionError(f"TCP: sent {size} bytes, received {length}, or different ones")
    return size * 8 / (time.monotonic() - begin)


def _send_and_shut(sender, data):
    sender.sendall(data)
    sender.shutdown(socket.SHUT_WR)
