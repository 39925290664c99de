# SPDX-License-Identifier: Apache-2.0
"""AF_XDP sockets: those that a process has open, and one that the tests open themselves."""

import ctypes
import mmap
import os
import re
import socket
import struct

AF_XDP = 44
_SOL_XDP = 283
_XDP_RX_RING, _XDP_UMEM_REG, _XDP_FILL_RING, _XDP_COMPLETION_RING = 2, 4, 5, 6
_XDP_COPY = 1 << 1
_SYS_PIDFD_GETFD = 438
_libc = ctypes.CDLL(None, use_errno=True)


def xsk_inodes(pid):
    """The inode of each AF_XDP socket that process `pid` has open.

    A socket that was closed and made again has another inode.  (sock_diag would tell the queues
    too, but not every kernel has it for AF_XDP.)
    """
    found = set()
    process = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{name}"))
            except FileNotFoundError:
                continue  # closed meanwhile
            if match and _family(process, int(name)) == AF_XDP:
                found.add(int(match[1]))
    finally:
        os.close(process)
    return found


def _family(process, number):
    copy = _libc.syscall(_SYS_PIDFD_GETFD, process, number, 0)
    if copy < 0:
        return None
    # Family and protocol are given, whatever they are, to keep Python from asking: SO_PROTOCOL is
    # not known to AF_XDP.
    with socket.socket(AF_XDP, socket.SOCK_RAW, 0, fileno=copy) as opened:
        return opened.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN)


class HeldQueue:
    """An AF_XDP socket of somebody else on a queue of `device` in `namespace`."""

    def __init__(self, namespace, device, queue=0):
        frames, size = 64, 4096
        self._memory = mmap.mmap(-1, frames * size)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        with namespace.entered():
            self._socket = socket.socket(AF_XDP, socket.SOCK_RAW)
            index = socket.if_nametoindex(device)
        # struct xdp_umem_reg: addr, len, chunk_size, headroom, flags, tx_metadata_len
        registration = struct.pack("=QQIIII", address, frames * size, size, 0, 0, 0)
        self._socket.setsockopt(_SOL_XDP, _XDP_UMEM_REG, registration)
        for ring in (_XDP_FILL_RING, _XDP_COMPLETION_RING, _XDP_RX_RING):
            self._socket.setsockopt(_SOL_XDP, ring, frames)
        # struct sockaddr_xdp: family, flags, ifindex, queue, shared fd
        where = struct.pack("=HHIII", AF_XDP, _XDP_COPY, index, queue, 0)
        if _libc.bind(self._socket.fileno(), where, len(where)) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"bind {device} queue {queue}: {os.strerror(number)}")

    def close(self):
        self._socket.close()
