# SPDX-License-Identifier: BSD-3-Clause
"""Writes telemetry reports 0.5, 1.0 and 2.0, and packets with INT 0.5, 1.0 and 2.1 in them, from the
text of the specifications of P4.org. It shares no code with the switch and the collector.

A hop is a dictionary of values; a value that it lacks is written as not available. Hops are in the
order of the path, the source first.
"""

import ipaddress
import struct

SINK_BITS = {"2016-06": 0xFF00, "0.5": 0xFF00, "1.0": 0xFF00, "2.1": 0xFF80}
DSCP = 0x17  # marks INT over TCP and UDP

# By version: mask, and the values with their bits, in the order of the wire.
INSTRUCTIONS = {
    "2016-06": ((0x8000, (("node_id", 32),)), (0x4000, (("ingress_port", 32),)),
                (0x2000, (("latency", 32),)), (0x1000, (("occupancy", 32),)),
                (0x0800, (("ingress_ns", 32),)), (0x0400, (("egress_port", 32),)),
                (0x0200, (("congestion", 32),)), (0x0100, (("utilisation", 32),))),
    "0.5": ((0x8000, (("node_id", 32),)), (0x4000, (("ingress_port", 16), ("egress_port", 16))),
            (0x2000, (("latency", 32),)), (0x1000, (("queue_id", 8), ("occupancy", 24))),
            (0x0800, (("ingress_ns", 32),)), (0x0400, (("egress_ns", 32),)),
            (0x0200, (("congestion_queue_id", 8), ("congestion", 24))),
            (0x0100, (("utilisation", 32),))),
    "1.0": ((0x8000, (("node_id", 32),)), (0x4000, (("ingress_port", 16), ("egress_port", 16))),
            (0x2000, (("latency", 32),)), (0x1000, (("queue_id", 8), ("occupancy", 24))),
            (0x0800, (("ingress_ns", 32),)), (0x0400, (("egress_ns", 32),)),
            (0x0200, (("ingress_port_l2", 32), ("egress_port_l2", 32))),
            (0x0100, (("utilisation", 32),)), *((1 << bit, (("", 32),)) for bit in range(7, 0, -1)),
            (0x0001, (("complement", 32),))),
    "2.1": ((0x8000, (("node_id", 32),)), (0x4000, (("ingress_port", 16), ("egress_port", 16))),
            (0x2000, (("latency", 32),)), (0x1000, (("queue_id", 8), ("occupancy", 24))),
            (0x0800, (("ingress_ns", 64),)), (0x0400, (("egress_ns", 64),)),
            (0x0200, (("ingress_port_l2", 32), ("egress_port_l2", 32))),
            (0x0100, (("utilisation", 32),)), (0x0080, (("buffer_id", 8), ("buffer", 24))),
            *((1 << bit, (("", 32),)) for bit in range(6, 0, -1)), (0x0001, (("complement", 32),))),
}
# What a report says of its reporter: RepMdBits of 2.0.
REPORT_VALUES = (
    (0x4000, (("ingress_port", 16), ("egress_port", 16))), (0x2000, (("latency", 32),)),
    (0x1000, (("queue_id", 8), ("occupancy", 24))), (0x0800, (("ingress_ns", 64),)),
    (0x0400, (("egress_ns", 64),)), (0x0200, (("ingress_port_l2", 32), ("egress_port_l2", 32))),
    (0x0100, (("utilisation", 32),)), (0x0080, (("buffer_id", 8), ("buffer", 24))),
    *((1 << bit, (("", 32),)) for bit in range(6, 0, -1)),
    (0x0001, (("drop_queue_id", 8), ("drop_reason", 8), ("pad", 16))))
# The same for 1.0, with six bits.
REPORT_VALUES_1_0 = (
    (0x20, (("ingress_port", 16), ("egress_port", 16))), (0x10, (("latency", 32),)),
    (0x08, (("queue_id", 8), ("occupancy", 24))), (0x04, (("egress_ns", 32),)),
    (0x02, (("drop_queue_id", 8), ("drop_reason", 8), ("pad", 16))), (0x01, (("utilisation", 32),)))
NONE, TLV, DOMAIN, ETHERNET, IPV4, IPV6 = range(6)  # what follows the values, by 2.0's numbers


def _fields(fields, values, pad=0):
    word, width = 0, 0
    for name, bits in fields:
        ones = (1 << bits) - 1
        value = values.get(name)
        word = word << bits | (pad if name == "pad" else ones if value is None else value & ones)
        width += bits
    return word.to_bytes(width // 8, "big")


def values_of(table, bitmap, values):
    """Returns the bytes of the values that the bitmap names, in its order."""
    return b"".join(_fields(fields, values) for mask, fields in table if bitmap & mask)


def words_of(table, bitmap):
    return sum(sum(bits for _, bits in fields) for mask, fields in table if bitmap & mask) // 32


# ---- INT in a packet ----


def int_2016_stack(bitmap, hops):
    """Returns the stack of June 2016: the first bit of each word is 1 in the last one only."""
    words = [(hop.get(fields[0][0], 0x7FFFFFFF)) & 0x7FFFFFFF for hop in reversed(hops)
             for mask, fields in INSTRUCTIONS["2016-06"] if bitmap & mask]
    if words:
        words[-1] |= 0x80000000
    return struct.pack(f"!{len(words)}I", *words)


def int_head(version, bitmap, n_hops, hop_words=None, domain=(0, 0, 0)):
    """Returns the INT header. hop_words: words of a hop, if they are not those of the bitmap."""
    words = words_of(INSTRUCTIONS[version], bitmap) if hop_words is None else hop_words
    if version in ("2016-06", "0.5"):
        return struct.pack("!HBBHH", words, max(64, n_hops), n_hops, bitmap, 0)
    if version == "1.0":
        return struct.pack("!BBBBHH", 0x10, 0, words, max(0, 64 - n_hops), bitmap, 0)
    return struct.pack("!BBBBHHHH", 0x20, 0, words, max(0, 64 - n_hops), bitmap, *domain)


def int_md(version, bitmap, hops, protocol, port):
    """Returns shim, header, stack and, in 0.5, tail, as they follow a TCP or UDP header."""
    stack = b"".join(values_of(INSTRUCTIONS[version], bitmap, hop) for hop in reversed(hops))
    body = int_head(version, bitmap, len(hops)) + stack
    if version == "0.5":
        return struct.pack("!BBBB", 1, 0, len(body) // 4 + 2, 0) + body + struct.pack(
            "!BHB", protocol, port, 0)
    if version == "1.0":
        return struct.pack("!BBBB", 1, 0, len(body) // 4 + 1, 0) + body
    return struct.pack("!BBBB", 0x10, len(body) // 4, 0, 0) + body


# ---- packets ----


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(src, dst, protocol, payload, dscp=0, identification=1, whole=None):
    """Returns an IPv4 or IPv6 packet. whole: the payload's bytes as the header states them, if they
    differ from the real ones."""
    src, dst = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    length = len(payload) if whole is None else whole
    if src.version == 6:
        return struct.pack("!IHBB", 6 << 28 | dscp << 22, length & 0xFFFF, protocol, 64) + \
            src.packed + dst.packed + payload
    head = struct.pack("!BBHHHBBH", 0x45, dscp << 2, 20 + length & 0xFFFF, identification, 0, 64,
                       protocol, 0) + src.packed + dst.packed
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def udp(src_port, dst_port, payload):
    return struct.pack("!HHHH", src_port, dst_port, 8 + len(payload) & 0xFFFF, 0) + payload


def tcp(src_port, dst_port, payload, options=b""):
    return struct.pack("!HHIIBBHHH", src_port, dst_port, 1000, 2000, 0x50 + (len(options) // 4 << 4),
                       0x18, 0x2000, 0, 0) + options + payload


def ethernet(packet, vlans=()):
    """Returns a frame. packet: IPv4 or IPv6. vlans: the ids of its tags, the outermost first."""
    head = bytes.fromhex("020000000002020000000001")
    for vlan in vlans:
        head += struct.pack("!HH", 0x8100, vlan)
    return head + struct.pack("!H", 0x86DD if packet[0] >> 4 == 6 else 0x0800) + packet


def packet_of(flow, inside=b"", payload=b"data", marked=True):
    """Returns an IP packet. flow: source, destination, protocol, ports. inside: what int_md made."""
    src, dst, protocol, src_port, dst_port = flow
    transport = {6: tcp, 17: udp}.get(protocol)
    body = transport(src_port, dst_port, inside + payload) if transport else payload
    return ip(src, dst, protocol, body, DSCP if inside and marked else 0)


# ---- reports ----


def report_0_5(hw_id, sequence, ingress_ns, flags, packet, kind=0, values=None, version=0):
    """Returns a report. flags: letters of D, Q, F. kind: 0 Ethernet, 1 drop header, 2 switch local
    header."""
    word = version << 28 | kind << 24 | ("D" in flags) << 23 | ("Q" in flags) << 22 | \
        ("F" in flags) << 21 | hw_id
    data = struct.pack("!III", word, sequence & 0xFFFFFFFF, ingress_ns & 0xFFFFFFFF)
    head = (("node_id", 32), ("ingress_port", 16), ("egress_port", 16))
    if kind == 1:
        data += _fields((*head, ("drop_queue_id", 8), ("drop_reason", 8), ("pad", 16)), values)
    elif kind == 2:
        data += _fields((*head, ("queue_id", 8), ("occupancy", 24), ("egress_ns", 32)), values)
    return data + packet


def report_1_0(node_id, hw_id, sequence, ingress_ns, flags, packet, inner=ETHERNET, bits=0,
               values=None, length=None):
    """Returns a report. bits: the six of RepMdBits. length: words of the header, if they are not those
    of bits."""
    words = 4 + bits.bit_count() if length is None else length
    word = 1 << 28 | words << 24 | (inner - ETHERNET) << 21 | bits << 15 | ("D" in flags) << 8 | \
        ("Q" in flags) << 7 | ("F" in flags) << 6 | hw_id
    return struct.pack("!IIII", word, node_id, sequence & 0xFFFFFFFF, ingress_ns & 0xFFFFFFFF) + \
        values_of(REPORT_VALUES_1_0, bits, values or {}) + packet


def report_2_0(flags, packet, inner=ETHERNET, bits=None, values=None, domain=(0, 0, 0), words=b""):
    """Returns one report, which follows a group header. bits: RepMdBits, None for a report without values. domain:
    its id, bits and status; words: its values."""
    packet += bytes(-len(packet) % 4)
    md, body = b"", b""
    if bits is not None:
        md = values_of(REPORT_VALUES, bits, values or {}) + words
        body = struct.pack("!HHHH", bits, *domain) + md
    length = (len(body) + len(packet)) // 4
    low = ("D" in flags) << 7 | ("Q" in flags) << 6 | ("F" in flags) << 5 | ("I" in flags) << 4
    return struct.pack("!BBBB", (bits is not None) << 4 | inner, min(length, 255), len(md) // 4,
                       low) + body + packet


def group_2_0(node_id, hw_id, sequence, reports):
    return struct.pack("!II", 2 << 28 | hw_id << 22 | sequence & 0x3FFFFF, node_id) + b"".join(reports)


# ---- what INTCollector's own generator sends ----


def intercollector(version, hops, flow=("10.0.0.1", "10.0.0.2", 17, 5000, 5000),
                   ingress_ns=1524138290):
    """Returns a report as this generator writes it, with lengths and a version that the specifications
    do not have. hops: the newest first, as the generator sends them. A hop: node id, ports in and out, latency,
    queue id, occupancy, ingress and egress time, word of bit 6, utilisation."""
    stack = b"".join(struct.pack("!IHHIHHIIII", *hop) for hop in hops)
    if version == "1.0":
        inside = struct.pack("!BBBB", 1, 0, len(stack) // 4 + 3, 0) + struct.pack(
            "!BBBBHH", 0, 0, 8, 3, 0xFF00, 0) + stack
        head = struct.pack("!IIII", 0x11000040, 0, 0, ingress_ns)
    else:
        inside = bytes.fromhex("01000000") + struct.pack("!BBBBHH", 0, 8, 8, len(hops), 0xFF00, 0) + \
            stack + bytes.fromhex("0000000e")
        head = struct.pack("!III", 0x10200000, 0, ingress_ns)
    # The packet's DSCP does not mark INT, and its UDP checksum is a constant in 1.0.
    packet = packet_of(flow, inside, b"", marked=False)
    number = 0x9999 if version == "1.0" else 0xBEF2
    return head + ethernet(packet[:26] + struct.pack("!H", number) + packet[28:])
