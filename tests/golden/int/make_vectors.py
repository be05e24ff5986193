#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes vectors.json and nodes.json: packets of INT from an encoder that shares no code with lib/telemetry.

Headers are scapy's, and so are all lengths and checksums: each packet is built anew, never changed.
INT itself is built here by docs/wire-int.md. The values of vectors.json are random, those of nodes.json are
what nodes in a row know of a packet.

    make_vectors.py FILE...          write the vectors of each
    make_vectors.py --check FILE...  exit 1 if one differs
"""

import json
import os
import random
import struct
import sys

try:
    from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP
    from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
    from scapy.layers.l2 import Dot1Q, Ether
    from scapy.packet import Raw
    from scapy.utils import checksum
except ImportError:
    print("skipped: scapy is not installed for this python", file=sys.stderr)
    sys.exit(77)

OLDEST, V05, V10, V21 = "2016-06", "0.5", "1.0", "2.1"
VERSIONS = (OLDEST, V05, V10, V21)
DSCP, PORT, PROBE = "dscp", "udp_port", "probe_marker"
INT_PORT, MARKER = 5000, 0xAAAABBBBCCCCDDDD
GPE_PROTOCOL = {OLDEST: 5, V05: 5, V10: 8, V21: 0x82}
GENEVE_CLASS = {OLDEST: 0xAB, V05: 0xAB, V10: 0xAB, V21: 0x103}
GRE_PROTOCOL = 0x88B5
TUNNEL = {False: ("10.0.0.1", "10.0.0.3"), True: ("2001:db8:f::1", "2001:db8:f::3")}

# What each bit of the bitmap adds: (key, bits) in wire order.
COMMON = {0: [("node_id", 32)], 2: [("hop_latency_ns", 32)], 7: [("link_utilisation", 32)]}
PORTS = {1: [("ingress_port", 16), ("egress_port", 16)]}
QUEUE = {3: [("queue_id", 8), ("queue_packets", 24)]}
LEVEL_2 = {6: [("ingress_port_l2", 32), ("egress_port_l2", 32)]}
VALUES = {
    OLDEST: {**COMMON, 1: [("ingress_port", 31)], 3: [("queue_packets", 31)],
             4: [("ingress_ns", 31)], 5: [("egress_port", 31)], 6: [("queue_congestion", 31)],
             **{bit: [(COMMON[bit][0][0], 31)] for bit in COMMON}},
    V05: {**COMMON, **PORTS, **QUEUE, 4: [("ingress_ns", 32)], 5: [("egress_ns", 32)],
          6: [("queue_id", 8), ("queue_congestion", 24)]},
    V10: {**COMMON, **PORTS, **QUEUE, 4: [("ingress_ns", 32)], 5: [("egress_ns", 32)], **LEVEL_2},
    V21: {**COMMON, **PORTS, **QUEUE, 4: [("ingress_ns", 64)], 5: [("egress_ns", 64)], **LEVEL_2,
          8: [("buffer_id", 8), ("buffer_used", 24)]},
}
ALL = {OLDEST: 0xFF00, V05: 0xFF00, V10: 0xFF00, V21: 0xFF80}
IDS = {"node_id", "ingress_port", "egress_port", "ingress_port_l2", "egress_port_l2", "queue_id",
       "buffer_id"}
TIMES = {"ingress_ns", "egress_ns"}

# Nodes in a row: ids from 1 on, the packet comes in by the first port and leaves by the second at the same
# time, and no port has a queue.
NODES_NOW = 1700000000000000000

numbers = random.Random(0x17)


# ---- the stack ----

def bits_of(bitmap):
    return [bit for bit in range(16) if bitmap & 0x8000 >> bit]


def encoded(key, bits, value):
    """One value as it goes on the wire; None is not available."""
    ones = (1 << bits) - 1
    if value is None:
        return ones
    if key in TIMES:
        value &= ones
        return value - (value == ones)
    if value >= ones:
        return ones if key in IDS else ones - 1
    return value


def block(version, bitmap, values, ds_words=0):
    """One hop's bytes. The Checksum Complement is all ones."""
    text = b""
    for bit in bits_of(bitmap & ~1):
        number, width = 0, 0
        for key, bits in VALUES[version].get(bit, [(None, 32)]):
            number = number << bits | encoded(key, bits, values.get(key))
            width += bits
        text += number.to_bytes((width + 7) // 8, "big")
    text += b"\xff" * 4 * ds_words
    return text + b"\xff\xff\xff\xff" * (bitmap & 1)


def words_of(version, bitmap, ds_words=0):
    return len(block(version, bitmap, {}, ds_words)) // 4


def limit_of(case):
    """How many hops may add values."""
    words = words_of(case["version"], case["bitmap"], case["ds_words"])
    if case["carrier"] != "geneve" or not words:
        return case["max_hops"]
    fixed = 3 if case["version"] == V21 else 2
    return min(case["max_hops"], (31 - fixed) // words)


def header(case, n_hops):
    """The INT header after n_hops nodes added their values."""
    version, bitmap, limit = case["version"], case["bitmap"], limit_of(case)
    words = words_of(version, bitmap, case["ds_words"])
    left = limit - n_hops
    d, rep = case["d"], case["replication"]
    if case["mode"] == "mx":
        return struct.pack(">IHHHH", 2 << 28 | d << 27, bitmap, case["domain_id"],
                           case["ds_instruction"], case["ds_flags"]) + case["source"]
    if version == OLDEST:
        return struct.pack(">HBBHH", rep << 12 | words, limit, n_hops, bitmap, 0)
    if version == V05:
        return struct.pack(">HBBHH", rep << 10 | words, limit, n_hops, bitmap, 0)
    m = case["own"] is None and not case["no_own"]
    if version == V10:
        return struct.pack(">HBBHH", 1 << 12 | rep << 10 | m << 7, words, left, bitmap, 0)
    return struct.pack(">HBBHHHH", 2 << 12 | d << 11 | m << 9, words, left, bitmap,
                       case["domain_id"], case["ds_instruction"], case["ds_flags"])


def stack(case, blocks):
    text = b"".join(reversed(blocks))
    if case["version"] == OLDEST and blocks:
        text = text[:-4] + bytes((text[-4] | 0x80,)) + text[-3:]
    return text


# ---- carriers ----

def addressed(case, tos, proto=None):
    """The IP header of the packet that the host sent, with another traffic class or protocol."""
    more = {} if proto is None else {"nh" if case["ipv6"] else "proto": proto}
    if case["ipv6"]:
        return IPv6(src="2001:db8::1", dst="2001:db8::2", tc=tos, fl=0x12345, hlim=63, **more)
    options = [IPOption_NOP()] * 4 if case["ip_options"] else []
    return IP(src="10.0.1.1", dst="10.0.2.2", tos=tos, id=1, ttl=64, options=options, **more)


def framed(case, packet):
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02",
                  type=0x86DD if case["ipv6"] else 0x0800)
    if case["vlan"]:
        kind = ether.type
        ether.type = 0x8100
        ether = ether / Dot1Q(vlan=7, type=kind)
    return bytes(ether / packet)


def l4_of(case, sport, dport):
    if case["l4"] == "tcp":
        options = [("MSS", 1400), ("NOP", None), ("NOP", None)] if case["long_tcp"] else []
        return TCP(sport=sport, dport=dport, seq=1000, ack=2000, flags="PA", window=8192,
                   options=options)
    if case["l4"] == "icmp":
        return ICMPv6EchoRequest(id=5, seq=6) if case["ipv6"] else ICMP(id=5, seq=6)
    return UDP(sport=sport, dport=dport, **({"chksum": 0} if case["zero"] else {}))


def shim(case, body, nibble, last):
    kind = 3 if case["mode"] == "mx" else 1
    if case["version"] == V21:
        return struct.pack(">BBH", kind << 4 | nibble, len(body) // 4, last)
    return struct.pack(">BBBB", 1, 0, len(body) // 4 + 1, last & 0xFF)


def entropy(case, proto, sport, dport):
    """The source port of a UDP header that a source adds: a hash of the flow."""
    ip = bytes(addressed(case, 0))
    value = ((sport << 16 | dport) ^ proto) * 0x9E3779B1 & 0xFFFFFFFF
    for word in struct.unpack(">8I" if case["ipv6"] else ">2I",
                              ip[8:40] if case["ipv6"] else ip[12:20]):
        value = ((value << 5 | value >> 27) & 0xFFFFFFFF ^ word) * 0x9E3779B1 & 0xFFFFFFFF
    return 0xC000 | value >> 18


def tcp_udp(case, body):
    """body None: as the host sent it."""
    tos, dport = case["tos"], case["dport"]
    if body is None:
        return framed(case, addressed(case, tos) / l4_of(case, 40000, dport)
                      / Raw(case["payload"]))
    proto = {"tcp": 6, "udp": 17, "icmp": 58 if case["ipv6"] else 1}[case["l4"]]
    if case["mark"] == PORT and case["version"] == V21 and case["l4"] != "udp":
        whole = addressed(case, tos) / l4_of(case, 40000, dport) / Raw(case["payload"])
        inner = bytes(whole)[len(whole) - len(whole.payload):]
        ports = (0, 0) if case["l4"] == "icmp" else (40000, dport)
        udp = UDP(sport=entropy(case, proto, *ports), dport=INT_PORT, chksum=0)
        return framed(case, addressed(case, tos, 17) / udp
                      / Raw(shim(case, body, 8, proto) + body + inner))
    nibble, last, front = 0, 0, b""
    if case["mark"] == DSCP:
        last = tos & 0xFC
        tos = (tos & ~(case["dscp_mask"] << 2)) | case["dscp"] << 2
    elif case["mark"] == PORT:
        nibble, last, dport = 4, dport, INT_PORT
    else:
        front = struct.pack(">Q", MARKER)
    if case["version"] == V05:
        saved = case["tos"] >> 2 if case["mark"] == DSCP else 0
        text = body + struct.pack(">BHB", proto, case["dport"], saved)
        front += shim(case, text, 0, 0) + text
    else:
        front += shim(case, body, nibble, last) + body
    return framed(case, addressed(case, tos) / l4_of(case, 40000, dport)
                  / Raw(front + case["payload"]))


def inner_frame(case):
    ip = IP(src="172.16.0.1", dst="172.16.0.2")
    return bytes(Ether(src="02:00:00:00:01:01", dst="02:00:00:00:01:02") / ip
                 / l4_of(case, 1111, 2222) / Raw(case["payload"]))


def tunnelled(case, port, payload):
    chksum = {"chksum": 0} if case["zero"] else {}
    return framed(case, addressed(case, case["tos"])
                  / UDP(sport=50001, dport=port, **chksum) / Raw(payload))


def vxlan_gpe(case, body):
    plain = case["plain_vxlan"]
    if body is None:
        head = b"\x08\0\0\0" if plain else b"\x0c\0\0\x03"
        return tunnelled(case, 4789 if plain else 4790,
                         head + b"\0\x01\x23\0" + inner_frame(case))
    if case["version"] == V21:
        text = shim(case, body, 0, (0x8000 if plain else 0) | 3)
    else:
        text = shim(case, body, 0, 3)
        text = bytes((1, 0x80 if plain else 0)) + text[2:]
    head = bytes((0x0C, 0, 0, GPE_PROTOCOL[case["version"]]))
    return tunnelled(case, 4790, head + b"\0\x01\x23\0" + text + body + inner_frame(case))


def geneve(case, body):
    other = bytes.fromhex("0102800111223344" "0103000255667788") + b"\x99" * 4 \
        if case["options"] else b""
    text = other
    if body is not None:
        kind = 3 if case["mode"] == "mx" else 1
        text = struct.pack(">HBB", GENEVE_CLASS[case["version"]], kind, len(body) // 4) \
            + body + other
    head = struct.pack(">BBH", len(text) // 4, 0x40 if other else 0, 0x6558) + b"\0\x01\x23\0"
    return tunnelled(case, 6081, head + text + inner_frame(case))


def gre_header(case, protocol, rest):
    """With checksum and key where the case says so."""
    flags = case["gre_flags"]
    options = (b"\0\0\0\0" if flags & 0x80 else b"") + (b"\0\0\0\x2a" if flags & 0x20 else b"") \
        + (b"\0\0\0\x07" if flags & 0x10 else b"")
    text = struct.pack(">BBH", flags, 0, protocol) + options + rest
    if flags & 0x80:
        text = text[:4] + struct.pack(">H", checksum(text)) + text[6:]
    return text


def gre(case, body):
    inner = IP(src="172.16.0.1", dst="172.16.0.2") / l4_of(case, 1111, 2222) / Raw(case["payload"])
    if not case["adds_tunnel"]:
        text = bytes(inner)
        protocol = 0x0800
        if body is not None:
            text = shim(case, body, 0, protocol) + body + text
            protocol = GRE_PROTOCOL
        return framed(case, addressed(case, case["tos"], 47)
                      / Raw(gre_header(case, protocol, text)))
    host = addressed(case, case["tos"]) / l4_of(case, 40000, 443) / Raw(case["payload"])
    if body is None:
        return framed(case, host)
    src, dst = TUNNEL[case["tunnel_ipv6"]]
    text = gre_header(case, GRE_PROTOCOL,
                      shim(case, body, 8, 0x86DD if case["ipv6"] else 0x0800) + body + bytes(host))
    tos = case["tos"] & 0xFC
    if case["tunnel_ipv6"]:
        outer = IPv6(src=src, dst=dst, nh=47, hlim=64, tc=tos, fl=0x12345 if case["ipv6"] else 0)
    elif case["ipv6"]:
        outer = IP(src=src, dst=dst, proto=47, ttl=64, id=0, flags="DF", tos=tos)
    else:
        outer = IP(src=src, dst=dst, proto=47, ttl=64, id=1, tos=tos)
    return framed({**case, "ipv6": case["tunnel_ipv6"]}, outer / Raw(text))


CARRIERS = {"tcp_udp": tcp_udp, "vxlan-gpe": vxlan_gpe, "geneve": geneve, "gre": gre}


# ---- the Checksum Complement ----

def l4_place(frame):
    at = 18 if frame[12:14] == b"\x81\0" else 14
    if frame[at] >> 4 == 4:
        return at, at + 4 * (frame[at] & 15), frame[at + 9]
    return at, at + 40, frame[at + 6]


def with_complement(frame, before, offset):
    """Keeps the checksum of `before` and makes it right by the complement at `offset`."""
    ip, l4, proto = l4_place(frame)
    field = {6: l4 + 16, 17: l4 + 6}.get(proto)
    if field is None or before[field:field + 2] == b"\0\0":
        return frame
    frame = frame[:field] + before[field:field + 2] + frame[field + 2:]
    frame = frame[:offset] + b"\0\0\0\0" + frame[offset + 4:]
    end = len(frame)
    addresses = frame[ip + 12:ip + 20] if frame[ip] >> 4 == 4 else frame[ip + 8:ip + 40]
    pseudo = addresses + struct.pack(">II", end - l4, proto)
    return frame[:offset] + struct.pack(">I", checksum(pseudo + frame[l4:end])) + frame[offset + 4:]


# ---- cases ----

DEFAULTS = {"mode": "md", "mark": DSCP, "dscp": 0x17, "dscp_mask": 0x3F, "max_hops": 8,
            "tos": 0, "dport": 443, "vlan": False, "long_tcp": False, "zero": False, "d": 0,
            "replication": 0, "domain_id": 0, "ds_instruction": 0, "ds_flags": 0, "ds_words": 0,
            "source": b"", "own": {}, "no_own": False, "plain_vxlan": False, "options": False, "ip_options": False,
            "gre_flags": 0, "adds_tunnel": False, "tunnel_ipv6": False, "n_transits": 2,
            "payload": b"GET / HTTP/1.1\r\n\r\n"}


def values_of(version, bitmap, _node):
    """What a node may know of a packet: some values are missing, some too big for the version."""
    values = {}
    for bit in bits_of(bitmap):
        for key, bits in VALUES[version].get(bit, []):
            pick = numbers.random()
            if pick < 0.15:
                continue
            width = 63 if key in TIMES or key == "hop_latency_ns" else 32
            whole = (1 << bits) - 1
            values[key] = 0 if pick < 0.2 else min(whole, (1 << width) - 1) if pick < 0.3 \
                else numbers.getrandbits(width) if pick < 0.4 or key in TIMES \
                else numbers.getrandbits(min(bits, width))
    return values


def known_at(_version, _bitmap, node):
    """What node `node` of a row knows of a packet."""
    now = NODES_NOW + 1000 * (node + 1)
    return {"node_id": node + 1, "ingress_port": 1, "egress_port": 2, "hop_latency_ns": 0,
            "ingress_ns": now, "egress_ns": now}


def settings_of(case):
    found = {"version": case["version"], "mode": case["mode"], "carrier": case["carrier"],
             "mark": case["mark"], "dscp": case["dscp"], "dscp_mask": case["dscp_mask"],
             "max_hops": case["max_hops"], "udp_port": INT_PORT, "probe_marker": f"{MARKER:016x}"}
    if case["adds_tunnel"]:
        src, dst = TUNNEL[case["tunnel_ipv6"]]
        found["gre_src"], found["gre_dst"] = src, dst
    return found


def made(name, **choices):
    case = {**DEFAULTS, "known": values_of, **choices}
    version, bitmap, known = case["version"], case["bitmap"], case["known"]
    build = CARRIERS[case["carrier"]]
    if case["own"] == {}:
        case["own"] = known(version, bitmap, 0)
    plain = build(case, None)
    blocks = []
    if case["own"] is not None and case["mode"] == "md":
        own = block(version, bitmap, case["own"], case["ds_words"])
        front = len(own) - 4 * (bitmap & 1)
        blocks.append(own[:front] + case["source"] + own[front:])
    if case["mode"] == "mx":
        case["own"] = None
    frame = build(case, header(case, len(blocks)) + stack(case, blocks))
    source = frame
    hops = []
    for node in range(1, 1 + case["n_transits"] if case["mode"] == "md" else 1):
        values = known(version, bitmap, node)
        blocks.append(block(version, bitmap, values, case["ds_words"]))
        head = header(case, len(blocks))
        text = head + stack(case, blocks)
        before, frame = frame, build(case, text)
        if bitmap & 1:
            at = frame.find(text) + len(head) + len(blocks[-1]) - 4
            frame = with_complement(frame, before, at)
            blocks[-1] = blocks[-1][:-4] + frame[at:at + 4]
        hops.append({"values": values, "frame": frame.hex()})
    request = {key: case[key] for key in
               ("bitmap", "replication", "domain_id", "ds_instruction", "ds_flags", "d", "no_own")}
    request["ds_hop_words"] = case["ds_words"]
    request["source"] = case["source"].hex()
    return {"name": name, "settings": settings_of(case), "request": request, "own": case["own"],
            "plain": plain.hex(), "source": source.hex(), "hops": hops}


def bitmaps(version, carrier):
    yield 0x9000
    yield 0x8000 if carrier == "geneve" else ALL[version]
    if carrier == "geneve":
        yield {OLDEST: 0xFF00, V05: 0xFF00, V10: 0xFF00, V21: 0xCC80}[version]
    if version in (V10, V21):
        yield 0x9001


def marks(version):
    return {V05: (DSCP, PORT), V10: (DSCP, PROBE), V21: (DSCP, PORT, PROBE)}[version]


def plain_cases():
    for version in VERSIONS:
        carriers = ["vxlan-gpe", "geneve"] + ["tcp_udp"] * (version != OLDEST) \
            + ["gre"] * (version == V21)
        for carrier in carriers:
            for mark in marks(version) if carrier == "tcp_udp" else (DSCP,):
                for ipv6 in (False, True):
                    for l4 in ("udp", "tcp"):
                        for bitmap in bitmaps(version, carrier):
                            yield (f"{version} {carrier} {mark} {'IPv6' if ipv6 else 'IPv4'} {l4} "
                                   f"{bitmap:04x}"), {
                                "version": version, "carrier": carrier, "mark": mark,
                                "ipv6": ipv6, "l4": l4, "bitmap": bitmap}


def more_cases():
    """Each with one thing that is not as usual."""
    for version, carrier in ((V05, "tcp_udp"), (V10, "tcp_udp"), (V21, "tcp_udp"), (V21, "gre"),
                             (V21, "geneve"), (OLDEST, "geneve"), (V10, "vxlan-gpe")):
        for ipv6 in (False, True):
            base = {"version": version, "carrier": carrier, "ipv6": ipv6, "l4": "udp",
                    "bitmap": 0xD000}
            name = f"{version} {carrier} {'IPv6' if ipv6 else 'IPv4'}"
            yield name + " behind a tag", {**base, "vlan": True}
            yield name + " traffic class", {**base, "tos": 0xB9}
            yield name + " no UDP checksum", {**base, "zero": True}
            yield name + " no payload", {**base, "payload": b""}
            yield name + " odd payload", {**base, "payload": b"odd"}
            yield name + " no values of the source", {**base, "own": None}
            yield name + " a source that adds none", {**base, "own": None, "no_own": True}
            yield name + " long path", {**base, "bitmap": 0x8000, "n_transits": 6}
            yield name + " TCP options", {**base, "l4": "tcp", "long_tcp": True}
            if version in (V10, V21):
                yield name + " complement, no checksum", {**base, "bitmap": 0x9001, "zero": True}
                yield name + " reserved bits", {**base, "bitmap": 0x9000 | 0x7E}
            if version != V21:
                yield name + " replication", {**base, "replication": 3}
            if carrier == "geneve":
                yield name + " other options", {**base, "options": True}
            if not ipv6:
                yield name + " IPv4 options", {**base, "ip_options": True}


def new_cases():
    """Of 2.1 alone."""
    base = {"version": V21, "carrier": "tcp_udp", "bitmap": 0x9000}
    for ipv6 in (False, True):
        name = f"2.1 {'IPv6' if ipv6 else 'IPv4'}"
        for mark in (DSCP, PORT, PROBE):
            for l4 in ("udp", "tcp"):
                yield f"{name} mx {mark} {l4}", {**base, "ipv6": ipv6, "mark": mark, "l4": l4,
                                                 "mode": "mx"}
        yield f"{name} npt 2 icmp", {**base, "ipv6": ipv6, "mark": PORT, "l4": "icmp"}
        yield f"{name} one bit of the DSCP", {**base, "ipv6": ipv6, "l4": "udp", "tos": 0x48,
                                              "dscp": 1, "dscp_mask": 1}
        domain = {"domain_id": 0xABCD, "ds_instruction": 0xC000, "ds_flags": 0x1234}
        sent = struct.pack(">II", 15, 0x12345678)
        for carrier in ("tcp_udp", "geneve", "vxlan-gpe", "gre"):
            more = {**base, **domain, "ipv6": ipv6, "l4": "udp", "carrier": carrier}
            yield f"{name} {carrier} domain", {**more, "ds_words": 2}
            yield f"{name} {carrier} domain, complement", {**more, "ds_words": 1, "bitmap": 0x8001}
            yield f"{name} {carrier} source-only", {**more, "source": sent[:4]}
            yield f"{name} {carrier} source-only, complement", {**more, "source": sent,
                                                               "bitmap": 0x9001}
            yield f"{name} {carrier} mx source-inserted", {**more, "source": sent, "mode": "mx"}
            yield f"{name} {carrier} discarded", {**more, "d": 1}
        for version in VERSIONS:
            for l4 in ("udp", "tcp"):
                yield f"{version} {ipv6 and 'IPv6' or 'IPv4'} plain vxlan {l4}", {
                    **base, "version": version, "ipv6": ipv6, "l4": l4, "carrier": "vxlan-gpe",
                    "plain_vxlan": True}
        gre_base = {**base, "ipv6": ipv6, "carrier": "gre", "tos": 0x2E}
        for flags in (0x20, 0x80, 0xB0):
            yield f"{name} gre flags {flags:02x}", {**gre_base, "l4": "udp", "gre_flags": flags,
                                                    "bitmap": 0x9001}
        for tunnel_ipv6 in (False, True):
            for l4 in ("udp", "tcp"):
                yield f"{name} {l4} in a new tunnel of {'IPv6' if tunnel_ipv6 else 'IPv4'}", {
                    **gre_base, "l4": l4, "adds_tunnel": True, "tunnel_ipv6": tunnel_ipv6}


def vectors():
    for cases in (plain_cases, more_cases, new_cases):
        for name, choices in cases():
            yield made(name, **choices)


def nodes():
    """What rules of nodes can ask for."""
    no_rule = {"own", "n_transits", "replication", "domain_id", "d"}
    for cases in (plain_cases, more_cases, new_cases):
        for name, choices in cases():
            if no_rule & set(choices):
                continue
            case = made(name, known=known_at, **choices)
            yield {"name": name, "settings": case["settings"], "bitmap": choices["bitmap"], "plain": case["plain"],
                   "source": case["source"], "hops": [hop["frame"] for hop in case["hops"]]}


FILES = {"vectors.json": vectors, "nodes.json": nodes}


def text_of(path):
    rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in FILES[os.path.basename(path)]())
    return "[\n" + rows + "\n]\n"


def is_same(path):
    with open(path, encoding="ascii") as file:
        same = file.read() == text_of(path)
    if not same:
        print(f"{path} is not what make_vectors.py makes", file=sys.stderr)
    return same


def main(argv):
    check = argv[1:2] == ["--check"]
    paths = argv[2:] if check else argv[1:]
    if not paths or any(os.path.basename(path) not in FILES for path in paths):
        print(__doc__, file=sys.stderr)
        return 2
    if check:
        return 0 if all([is_same(path) for path in paths]) else 1
    for path in paths:
        with open(path, "w", encoding="ascii") as file:
            file.write(text_of(path))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
