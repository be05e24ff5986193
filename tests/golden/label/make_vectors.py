#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes vectors.json: labelled packets from an encoder that shares no code with lib/telemetry.

Headers are scapy's, and so are all lengths and checksums: each packet is built anew, never changed.
INT-label itself is built here by docs/wire-label.md. The values of the items are random. The fragments of the last frame
are scapy's, as a router makes them that keeps options in the first one only (RFC 791: these are not copied).

    make_vectors.py FILE          write the vectors
    make_vectors.py --check FILE  exit 1 if FILE differs
"""

import ipaddress
import json
import random
import struct
import sys

try:
    from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP
    from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrDestOpt
    from scapy.layers.l2 import Dot1Q, Ether
    from scapy.packet import Raw
except ImportError:
    print("skipped: scapy is not installed for this python", file=sys.stderr)
    sys.exit(77)

SRC4, DST4 = "10.0.1.1", "10.0.2.2"
SRC6, DST6 = "2001:db8::1", "2001:db8::2"
OPTION6 = 0x3E
WIDTHS = {"node_id": 16, "ingress_port": 8, "egress_port": 8, "ingress_us": 48, "egress_us": 48,
          "enqueue_us": 32, "enqueue_packets": 24, "queue_us": 32, "dequeue_packets": 24}

numbers = random.Random(0x1abe1)


def item_bytes(item):
    low, high = item["node_id"] & 255, item["node_id"] >> 8
    return (bytes((low, item["ingress_port"], item["egress_port"], high)) +
            item["ingress_us"].to_bytes(6, "big") + item["egress_us"].to_bytes(6, "big") +
            struct.pack(">IIII", item["enqueue_us"], item["enqueue_packets"], item["queue_us"],
                        item["dequeue_packets"]))


def transport(kind, sport, dport, payload, pseudo):
    """The bytes of the host's transport header and payload, with the checksum of the host's packet."""
    layer = {"udp": lambda: UDP(sport=sport, dport=dport),
             "tcp": lambda: TCP(sport=sport, dport=dport, flags="PA", seq=7, ack=9),
             "icmp": lambda: ICMP(type=8, id=3, seq=4),
             "icmpv6": lambda: ICMPv6EchoRequest(id=3, seq=4),
             "other": lambda: Raw(b"")}[kind]()
    whole = type(pseudo)(bytes(pseudo / layer / Raw(payload)))
    return bytes(whole.payload)


PROTO = {"udp": 17, "tcp": 6, "icmp": 1, "icmpv6": 58, "other": 50}


def build4(case, items):
    addressed = {"src": SRC4, "dst": DST4, "ttl": 64, "id": case["id"], "tos": case["tos"],
                 "flags": "DF" if case["df"] else 0,
                 "options": [IPOption_NOP()] * 4 * case["ip_options"]}
    kind = case["kind"]
    host = transport(kind, case["sport"], case["dport"], case["payload"],
                     IP(**addressed, proto=PROTO[kind]))
    if not items:
        return IP(**addressed, proto=PROTO[kind]) / Raw(host)
    number = len(items) + (case["max_hops"] if case["specific"] else 0)
    stack = bytes((PROTO[kind], number)) + b"".join(item_bytes(i) for i in reversed(items))
    return IP(**addressed, proto=case["ip_protocol"]) / Raw(stack + host)


def build6(case, items):
    kind = case["kind"]
    base = {"src": SRC6, "dst": DST6, "tc": case["tos"], "fl": 0x12345, "hlim": 63}
    pseudo = IPv6(**base, nh=PROTO[kind])
    host = transport(kind, case["sport"], case["dport"], case["payload"], pseudo)
    first = PROTO[kind]
    if case["destination"]:
        host = bytes(IPv6ExtHdrDestOpt(nh=first, options=[])) + host
        first = 60
    own = b"\x05\x02\0\0" + b"\x01\x06" + bytes(6) + b"\x01\0" if case["host_header"] else b""
    number = len(items) + (case["max_hops"] if case["specific"] and items else 0)
    body = struct.pack(">BBH", number, 0x80 if own else 0, 0)
    body += b"".join(item_bytes(i) for i in reversed(items))
    option = bytes((OPTION6, len(body))) + body + (b"\x01\0" if own else b"") if items else b""
    options = option + own
    if options:
        assert (len(options) + 2) % 8 == 0
        host = bytes((first, (len(options) + 2) // 8 - 1)) + options + host
        first = 0
    return IPv6(**base, nh=first) / Raw(host)


def framed(case, packet):
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", type=0x86DD if case["ipv6"] else 0x0800)
    if case["vlan"]:
        ether = Ether(src=ether.src, dst=ether.dst, type=0x8100) / Dot1Q(vlan=5, type=ether.type)
    return bytes(ether / packet)


def built(case, items):
    return (build6 if case["ipv6"] else build4)(case, items)


def fragments(case, items):
    """Of at most so many bytes behind the header."""
    found = built(case, items).fragment(case["fragment"])
    for later in found[1:]:
        later.options, later.ihl, later.len, later.chksum = [], None, None, None
    return [framed(case, one).hex() for one in found]


def export(case, items):
    kind, ported = case["kind"], case["kind"] in ("udp", "tcp")
    pair = (SRC6, DST6) if case["ipv6"] else (SRC4, DST4)
    key = b"".join(ipaddress.ip_address(a).packed for a in pair)
    ports = (case["sport"], case["dport"]) if ported else (0, 0)
    proto = 60 if case["ipv6"] and kind == "other" and case["destination"] else PROTO[kind]
    flags = (0x80 if case["specific"] else 0) | (0x40 if case["ipv6"] else 0)
    return (key + struct.pack(">HHBBBB", *ports, proto, len(items), flags, 0) +
            b"".join(item_bytes(i) for i in reversed(items)))


def value(width):
    pick = numbers.random()
    return 0 if pick < 0.1 else (1 << width) - 1 if pick < 0.2 else numbers.getrandbits(width)


def made(name, **choices):
    case = {"ipv6": False, "kind": "udp", "sport": 1000, "dport": 2000, "payload": b"DATADATA", "id": 1,
            "tos": 0, "df": False, "ip_options": 0, "vlan": False, "host_header": False, "destination": False,
            "max_hops": 5, "ip_protocol": 253, "specific": False, "n": 5, "fragment": 0, **choices}
    items, hops = [], []
    plain = framed(case, built(case, []))
    for _ in range(case["n"]):
        items.append({key: value(width) for key, width in WIDTHS.items()})
        hops.append({"item": items[-1], "frame": framed(case, built(case, items)).hex()})
    cut = {"fragments": fragments(case, items)} if case["fragment"] else {}
    return {"name": name, **cut, "max_hops": case["max_hops"], "ip_protocol": case["ip_protocol"],
            "specific": case["specific"], "plain": plain.hex(), "hops": hops, "export": export(case, items).hex()}


def cases():
    for specific in (False, True):
        what = "specific " if specific else ""
        for kind in ("udp", "tcp", "icmp", "other"):
            yield made(f"{what}IPv4 {kind}", kind=kind, specific=specific)
        for kind in ("udp", "tcp", "icmpv6", "other"):
            for host_header in (False, True):
                for destination in (False, True):
                    yield made(f"{what}IPv6 {kind} host header {host_header} destination options {destination}",
                               ipv6=True, kind=kind, specific=specific, host_header=host_header,
                               destination=destination)
    yield made("IPv4 of a tag, with options and DF", vlan=True, ip_options=2, df=True, tos=0xB9, id=0xFFFF)
    yield made("IPv4 without payload", kind="other", payload=b"")
    yield made("IPv4 of another INT_TYPE and 127 hops", ip_protocol=254, max_hops=127, n=20)
    yield made("IPv6 of a tag with as many items as an option has", ipv6=True, vlan=True, max_hops=7, n=7)
    for i in range(40):
        ipv6 = numbers.random() < 0.5
        kinds = ["udp", "tcp", "other", "icmpv6" if ipv6 else "icmp"]
        max_hops = numbers.randint(1, 7 if ipv6 else 9)
        yield made(f"random {i}", ipv6=ipv6, kind=numbers.choice(kinds), max_hops=max_hops,
                   specific=numbers.random() < 0.3, n=numbers.randint(1, max_hops),
                   sport=numbers.getrandbits(16), dport=numbers.getrandbits(16), id=numbers.getrandbits(16),
                   payload=numbers.randbytes(numbers.randint(0, 40)), tos=numbers.getrandbits(8),
                   df=numbers.random() < 0.5, ip_options=numbers.randint(0, 5), vlan=numbers.random() < 0.3,
                   host_header=numbers.random() < 0.5, destination=numbers.random() < 0.3)
    for specific in (False, True):
        what = "specific " if specific else ""
        yield made(f"{what}UDP in three fragments", payload=numbers.randbytes(1300), fragment=552, specific=specific, id=2)
        yield made(f"{what}TCP of a tag with options in two", kind="tcp", payload=numbers.randbytes(700), fragment=800,
                   vlan=True, ip_options=3, tos=0xB8, specific=specific, id=0xFFFE)
        yield made(f"{what}ICMP in eight, the first without its items", kind="icmp", payload=numbers.randbytes(150),
                   fragment=40, specific=specific, id=0)
    yield made("another protocol and INT_TYPE in two, the last of one byte", kind="other", payload=numbers.randbytes(47),
               ip_protocol=200, n=1, fragment=80)


def main(argv):
    text = "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases()) + "\n]\n"
    path = argv[-1]
    if len(argv) == 3 and argv[1] == "--check":
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                print(f"{path} is not what make_vectors.py makes", file=sys.stderr)
                return 1
        return 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
