# SPDX-License-Identifier: BSD-3-Clause
"""Reads INT in frames. This is written from the specifications of P4.org, not from the switch's code,
so that the two can disagree. A frame that breaks a rule of its specification raises ValueError."""

import collections
import struct

UDP, TCP = 17, 6
VXLAN, VXLAN_GPE = 4789, 4790
SHIM_BYTES = 4

# By version, what each bit of the instruction bitmap adds: (name, bytes) in wire order.
_COMMON = {0: [("node_id", 4)], 1: [("ingress_port", 2), ("egress_port", 2)], 2: [("hop_latency", 4)],
           3: [("queue_id", 1), ("queue", 3)], 7: [("utilisation", 4)]}
_VALUES = {
    "0.5": {**_COMMON, 4: [("ingress_ns", 4)], 5: [("egress_ns", 4)],
            6: [("queue_id", 1), ("congestion", 3)]},
    "1.0": {**_COMMON, 4: [("ingress_ns", 4)], 5: [("egress_ns", 4)],
            6: [("ingress_l2", 4), ("egress_l2", 4)], 15: [("complement", 4)]},
    "2.1": {**_COMMON, 4: [("ingress_ns", 8)], 5: [("egress_ns", 8)],
            6: [("ingress_l2", 4), ("egress_l2", 4)], 8: [("buffer_id", 1), ("buffer", 3)],
            15: [("complement", 4)]},
}

# An IP packet: its class, its transport header and what is behind that.
Packet = collections.namedtuple("Packet", "version dscp ecn proto sport dport head payload")
# hops: dicts of values, the newest first. after: what is behind the stack. dscp: the host's.
Telemetry = collections.namedtuple("Telemetry", "bitmap hop_words remaining flags hops dscp after")


def _demand(condition, said):
    if not condition:
        raise ValueError(said)


def _sum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _check_transport(proto, addresses, body):
    """The receiver's check: lengths, and the checksum over the pseudo-header."""
    if proto == UDP:
        _demand(struct.unpack_from("!H", body, 4)[0] == len(body), f"UDP of {len(body)} bytes: {body[:8].hex()}")
        if body[6:8] == b"\0\0" and len(addresses) == 8:
            return
    _demand(_sum(addresses + struct.pack("!IBBH", len(body), 0, proto, 0)[:4]
                 + struct.pack("!I", proto) + body) == 0xFFFF, "checksum of TCP or UDP")


def packet_of(frame):
    """The IP packet in a frame, where it has TCP or UDP; None for all else. No extension headers."""
    ethertype, data = struct.unpack_from("!H", frame, 12)[0], frame[14:]
    if ethertype == 0x0800:
        size, total = 4 * (data[0] & 15), struct.unpack_from("!H", data, 2)[0]
        _demand(_sum(data[:size]) == 0xFFFF, "header checksum")
        tos, proto, addresses, body = data[1], data[9], data[12:20], data[size:total]
    elif ethertype == 0x86DD:
        tos = struct.unpack_from("!H", data)[0] >> 4 & 255
        proto, addresses = data[6], data[8:40]
        body = data[40:40 + struct.unpack_from("!H", data, 4)[0]]
    else:
        return None
    if proto not in (UDP, TCP):
        return None
    _check_transport(proto, addresses, body)
    size = 8 if proto == UDP else 4 * (body[12] >> 4)
    return Packet(4 if ethertype == 0x0800 else 6, tos >> 2, tos & 3, proto,
                  *struct.unpack_from("!HH", body), body[:size], body[size:])


def _hop(version, bitmap, data):
    values, at = {}, 0
    for bit in range(16):
        for name, size in _VALUES[version].get(bit, []) if bitmap & 0x8000 >> bit else []:
            values[name], at = int.from_bytes(data[at:at + size], "big"), at + size
    _demand(at == len(data), f"values of {at} bytes in a hop of {len(data)}")
    return values


def _read(version, header, stack, dscp, after):
    """header: that of hop-by-hop INT (INT-MD), and behind it the stack of all nodes."""
    number = {"0.5": 0, "1.0": 1, "2.1": 2}[version]
    _demand(header[0] >> 4 == number, f"version {header[0] >> 4}")
    bitmap, words = struct.unpack_from("!H", header, 4)[0], header[2] & 31
    if version == "0.5":  # a count of instructions, and a limit and a count of hops
        words, left, n = header[1] & 31, header[2] - header[3], header[3]
        flags = {"E": header[0] & 1}
    else:
        left, n = header[3], len(stack) // (4 * words)
        flags = {"E": header[0] >> (2 if version == "2.1" else 0) & 1,
                 "M": (header[0] >> 1 if version == "2.1" else header[1] >> 7) & 1}
    _demand(len(stack) == 4 * words * n, "the stack has no whole number of hops")
    hops = [_hop(version, bitmap, stack[4 * words * i:4 * words * (i + 1)]) for i in range(n)]
    return Telemetry(bitmap, words, left, flags, hops, dscp, after)


def behind_transport(version, data):
    """INT behind the TCP or UDP header, marked by a DSCP."""
    if version == "2.1":
        end = SHIM_BYTES + 4 * data[1]
        _demand(data[0] == 0x10 and data[2] == 0 and not data[3] & 3, f"shim {data[:4].hex()}")
        return _read(version, data[4:16], data[16:end], data[3] >> 2, data[end:])
    end, tail = 4 * data[2], 4 if version == "0.5" else 0
    _demand(data[0] == 1, f"shim {data[:4].hex()}")
    dscp = data[end - 1] & 63 if tail else data[3] >> 2
    return _read(version, data[4:12], data[12:end - tail], dscp, data[end:])


def in_gpe(packet):
    """INT 2.1 in a VXLAN-GPE packet; after: the Ethernet frame. None where it has none. The second
    value says whether plain VXLAN was upgraded."""
    data = packet.payload
    if packet.proto != UDP or packet.dport != VXLAN_GPE:
        return None, False
    _demand(data[0] == 0x0C and data[3] == 0x82, f"VXLAN-GPE {data[:8].hex()}")
    end = 8 + SHIM_BYTES + 4 * data[9]
    _demand(data[8] == 0x10 and data[11] == 3, f"shim {data[8:12].hex()}")
    return _read("2.1", data[12:24], data[24:end], 0, data[end:]), data[10] >> 7 == 1
