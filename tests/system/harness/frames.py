# SPDX-License-Identifier: Apache-2.0
"""Building frames whose every byte is known."""

import random
import socket
import struct

# IEEE 802 local experimental: nobody's stack answers it.
TEST_ETHERTYPE = 0x88B5
# The other such, for traffic in the background that must not be taken for what a test sends.
BACKGROUND_ETHERTYPE = 0x88B6
ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_IPV6 = 0x86DD
ETHERNET_HEADER = 14
MAC_BROADCAST = b"\xff" * 6
NOBODY = bytes.fromhex("02000000ffff")  # a MAC that no device here has


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def ethernet(destination, source, ethertype, payload):
    return destination + source + struct.pack("!H", ethertype) + payload


def marked(destination, source, size, number, ethertype=TEST_ETHERTYPE):
    """A frame of `size` bytes: its payload is the number and bytes that follow from it."""
    length = size - ETHERNET_HEADER
    payload = struct.pack("!I", number) + random.Random(number).randbytes(max(length - 4, 0))
    return ethernet(destination, source, ethertype, payload[:length])


def internet_checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(source, destination, protocol, payload, *, identifier=0, offset=0, more=False):
    """An IPv4 packet or fragment; `offset` in bytes."""
    fragment = (0x2000 if more else 0) | offset // 8
    fields = (0x45, 0, 20 + len(payload), identifier, fragment, 64, protocol)
    ends = socket.inet_aton(source) + socket.inet_aton(destination)
    checksum = internet_checksum(struct.pack("!BBHHHBBH", *fields, 0) + ends)
    return struct.pack("!BBHHHBBH", *fields, checksum) + ends + payload


def udp(source, destination, source_port, destination_port, data):
    """A UDP datagram with its checksum; addresses are IPv4 text."""
    length = 8 + len(data)
    pseudo = (socket.inet_aton(source) + socket.inet_aton(destination)
              + struct.pack("!BBH", 0, socket.IPPROTO_UDP, length))
    header = struct.pack("!HHHH", source_port, destination_port, length, 0)
    checksum = internet_checksum(pseudo + header + data) or 0xFFFF
    return struct.pack("!HHHH", source_port, destination_port, length, checksum) + data
