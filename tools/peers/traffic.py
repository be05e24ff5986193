# SPDX-License-Identifier: BSD-3-Clause
"""The frames that programs get: those of hopsight-bench, and the same with telemetry as VPP writes it."""

import struct

ROUTES = 1024
ETHER_BYTES, IPV6_BYTES = 14, 40
PCAP_HEADER, PCAP_RECORD = struct.Struct("<IHHIIII"), struct.Struct("<IIII")

# VPP's trace option (ioam/lib-trace): hop limit and node, both interfaces, time, data of an application.
TRACE_OPTION = 0x3B
TRACE_TYPE = 0x1F
NODES, ENTRY_BYTES = 3, 16


def prefix(number):
    """Returns a destination as hs_bench_prefix (src/bench/bench_frames.c) does, of 48 bits."""
    word = 0x0DB80000 + number
    return f"2001:{word >> 16:x}:{word & 0xffff:x}::"


def next_hop_mac(number):
    return f"02:00:00:00:02:{number % 256:02x}"


def read_pcap(path):
    with open(path, "rb") as f:
        data = f.read()
    frames, at = [], PCAP_HEADER.size
    while at < len(data):
        size = PCAP_RECORD.unpack_from(data, at)[2]
        at += PCAP_RECORD.size
        frames.append(data[at:at + size])
        at += size
    return frames


def write_pcap(path, frames):
    with open(path, "wb") as f:
        f.write(PCAP_HEADER.pack(0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            f.write(PCAP_RECORD.pack(0, 0, len(frame), len(frame)) + frame)


def with_trace(frame):
    """Returns the frame as VPP's source sends it: a header with room for NODES entries, of which the last one is
    written."""
    ip = bytearray(frame[ETHER_BYTES:ETHER_BYTES + IPV6_BYTES])
    entries = bytes((NODES - 1) * ENTRY_BYTES) + struct.pack(">IIII", 64 << 24 | 1, 0x10002, 0x5F000000, 0x1234)
    option = bytes([TRACE_OPTION, 2 + len(entries), TRACE_TYPE, NODES - 1]) + entries
    size = (2 + len(option) + 7) // 8 * 8
    header = (bytes([ip[6], size // 8 - 1]) + option).ljust(size, b"\0")  # Pad1
    ip[6] = 0
    ip[4:6] = struct.pack(">H", struct.unpack(">H", ip[4:6])[0] + len(header))
    return frame[:ETHER_BYTES] + bytes(ip) + header + frame[ETHER_BYTES + IPV6_BYTES:]
