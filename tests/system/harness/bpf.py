# SPDX-License-Identifier: Apache-2.0
"""XDP programs of other people: loaded by the plain system call, attached by bpftool."""

import ctypes
import json
import os
import struct

from .process import run

_SYS_BPF = 321  # x86-64
_BPF_PROG_LOAD = 5
_BPF_PROG_TYPE_XDP = 6
_ATTRIBUTES = 128  # more than any command used here knows, the rest being zero
_libc = ctypes.CDLL(None, use_errno=True)

# r0 = XDP_PASS; exit
_PASS = struct.pack("=BBhi", 0xB7, 0, 0, 2) + struct.pack("=BBhi", 0x95, 0, 0, 0)


class PassProgram:
    """An XDP program that passes everything; it lives while this object or a device has it."""

    def __init__(self, name="somebodys"):
        instructions = ctypes.create_string_buffer(_PASS, len(_PASS))
        license_text = ctypes.create_string_buffer(b"GPL")
        # union bpf_attr for BPF_PROG_LOAD: prog_type, insn_cnt, insns, license, log_level,
        # log_size, log_buf, kern_version, prog_flags, prog_name
        attributes = struct.pack(
            "=IIQQIIQII16s", _BPF_PROG_TYPE_XDP, len(_PASS) // 8, ctypes.addressof(instructions),
            ctypes.addressof(license_text), 0, 0, 0, 0, 0, name.encode()[:15])
        attributes = ctypes.create_string_buffer(attributes, _ATTRIBUTES)
        self.fd = _libc.syscall(_SYS_BPF, _BPF_PROG_LOAD, attributes, _ATTRIBUTES)
        if self.fd < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"BPF_PROG_LOAD: {os.strerror(number)}")
        self.name = name
        with open(f"/proc/self/fdinfo/{self.fd}", encoding="ascii") as info:
            self.id = next(int(line.split()[1]) for line in info if line.startswith("prog_id:"))

    def attach(self, namespace, device, mode="xdpdrv"):
        """As other tools do, by netlink; `mode` is xdpdrv or xdpgeneric."""
        namespace.run(["bpftool", "net", "attach", mode, "id", str(self.id), "dev", device])

    def detach(self, namespace, device, mode="xdpdrv"):
        namespace.run(["bpftool", "net", "detach", mode, "dev", device])

    def close(self):
        os.close(self.fd)


def link_ids(program_id):
    """The bpf_links that hold a program."""
    links = json.loads(run(["bpftool", "-j", "link", "show"]).stdout)
    return [link["id"] for link in links if link.get("prog_id") == program_id]


def program_exists(program_id):
    return run(["bpftool", "prog", "show", "id", str(program_id)], check=False).returncode == 0
