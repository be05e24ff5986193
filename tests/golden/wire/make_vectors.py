#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes vectors.json: Flexible INT packets from an encoder that shares no code with lib/telemetry.

Headers are scapy's. The telemetry options are built here by docs/wire-flexint.md. The expected
results of a parser follow from the construction and are never read back from bytes.

    make_vectors.py FILE          write the vectors
    make_vectors.py --check FILE  exit 1 if FILE differs
"""

import json
import random
import struct
import sys

try:
    from scapy.layers.inet import IP, TCP, UDP
    from scapy.layers.inet6 import (
        HBHOptUnknown,
        ICMPv6EchoRequest,
        IPv6,
        IPv6ExtHdrDestOpt,
        IPv6ExtHdrFragment,
        IPv6ExtHdrHopByHop,
        IPv6ExtHdrRouting,
        Pad1,
        PadN,
        RouterAlert,
    )
    from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
    from scapy.packet import Raw
except ImportError:
    print("skipped: scapy is not installed for this python", file=sys.stderr)
    sys.exit(77)

TRACE, E2E, REQUEST, REPORT = 0x31, 0x11, 0x32, 0x33
TELEMETRY = (TRACE, E2E, REQUEST, REPORT)
ALIGNED, PAPER = "aligned", "paper"
HEADER_MAX = 2048

E2E_VALUES = ((0x8000, "I", "int_packets"), (0x4000, "Q", "ts_ns"),
              (0x2000, "I", "tx_packets"), (0x1000, "I", "tx_bytes"))
HOP_VALUES = ((0x8000, "H", "tx_packets"), (0x8000, "H", "rx_packets"), (0x4000, "Q", "ts_ns"),
              (0x2000, "I", "tx_bytes"), (0x2000, "I", "rx_bytes"))

random_numbers = random.Random(0x31)


def number(code):
    """Draws a value from the full range, with more values at its ends than chance gives."""
    bits = {"H": 16, "I": 32, "Q": 63}[code]  # JSON's integers are signed in most readers
    pick = random_numbers.random()
    if pick < 0.1:
        return 0
    if pick < 0.2:
        return (1 << bits) - 1
    return random_numbers.getrandbits(bits)


def make_values(rows, bitmap):
    return {key: number(code) for bit, code, key in rows if bitmap & bit}


def pack_values(rows, bitmap, values):
    return b"".join(struct.pack("!" + code, values[key])
                    for bit, code, key in rows if bitmap & bit)


def make_hop(node_id, bitmap):
    return {"node_id": node_id, "bitmap": bitmap, **make_values(HOP_VALUES, bitmap)}


def hop_bytes(hop):
    return struct.pack("!HH", hop["node_id"], hop["bitmap"]) + \
        pack_values(HOP_VALUES, hop["bitmap"], hop)


def trace_option(ns_id, trace_type, hops):
    """Returns hops in the order of the path. On the wire, the newest stands first."""
    entries = b"".join(hop_bytes(hop) for hop in reversed(hops))
    return HBHOptUnknown(otype=TRACE, optdata=struct.pack("!II", ns_id, trace_type) + entries)


def e2e_option(bitmap, values):
    return HBHOptUnknown(otype=E2E, optdata=struct.pack("!H", bitmap) +
                         pack_values(E2E_VALUES, bitmap, values))


def padding(n):
    if n == 0:
        return []
    return [Pad1()] if n == 1 else [PadN(optdata=bytes(n - 2))]


def size(options):
    return sum(len(bytes(option)) for option in options)


def offset_of(options, otype):
    at = 2
    for option in options:
        if option.otype == otype:
            return at
        at += len(bytes(option))
    return None


def unknown(otype, data):
    return HBHOptUnknown(otype=otype, optdata=data)


# ---- packets of hosts ----

UDP_PORTS = (0x1234, 5001)


def l4_udp():
    return UDP(sport=UDP_PORTS[0], dport=UDP_PORTS[1]) / Raw(b"INTDATA!"), 17, UDP_PORTS


def l4_tcp():
    return TCP(sport=443, dport=50123, seq=7, flags="PA") / Raw(b"GET /"), 6, (443, 50123)


def l4_icmp():
    return ICMPv6EchoRequest(id=1, seq=2, data=b"ping"), 58, (0, 0)


L4 = {"udp": l4_udp, "tcp": l4_tcp, "icmp": l4_icmp}


def tags(n, outer=Dot1Q):
    if n == 0:
        return []
    if n == 1:
        return [outer(vlan=100, prio=5)]
    return [outer(vlan=200)] + tags(n - 1)


def dest_opt():
    return IPv6ExtHdrDestOpt(autopad=0, options=[PadN(optdata=bytes(4))])


def routing():
    return IPv6ExtHdrRouting(type=253, segleft=0, addresses=["2001:db8::9"])


def fragment(offset=0, more=0):
    return IPv6ExtHdrFragment(offset=offset, m=more, id=0x01020304)


def raw_header(proto, data):
    """A header that scapy has no class for. Host fills in its first byte."""
    return (proto, data)


def auth():  # RFC 4302: 24 bytes, length in four-byte units less two
    return raw_header(51, bytes([0, 4, 0, 0]) + bytes(range(20)))


def mobility():
    return raw_header(135, bytes([0, 0, 1, 0, 0, 0, 0, 0]))


def hip():
    return raw_header(139, bytes([0, 4, 1, 0x21]) + bytes(36))


def shim6():
    return raw_header(140, bytes([0, 0, 0x80, 0, 0, 0, 0, 1]))


PROTO_OF = {IPv6ExtHdrDestOpt: 60, IPv6ExtHdrRouting: 43, IPv6ExtHdrFragment: 44}


def header_proto(header):
    return header[0] if isinstance(header, tuple) else PROTO_OF[type(header)]


def header_bytes(header, next_proto):
    if isinstance(header, tuple):
        return bytes([next_proto]) + header[1][1:]
    built = header.copy()
    built.nh = next_proto
    return bytes(built)


class Host:
    """A packet as a host sends it, and the facts known about it."""

    def __init__(self, l4="udp", n_tags=0, outer=Dot1Q, options=None, chain=(), trailer=b""):
        self.l2 = tags(n_tags, outer)
        self.options = options  # of its own Hop-by-Hop header; None: no such header
        self.trailer = trailer
        payload, self.proto, self.ports = L4[l4]()
        self.l4_name = l4
        base = IPv6(src="2001:db8::1", dst="2001:db8::2")
        self.l4 = bytes(bytes(base / payload))[40:]  # with scapy's checksum
        protos = [header_proto(header) for header in chain] + [self.proto]
        self.first_proto = protos[0]
        self.chain = b"".join(header_bytes(header, protos[i + 1])
                              for i, header in enumerate(chain))
        self.kinds = chain
        self.l3_off = 14 + 4 * n_tags

    def frame(self, options):
        """Returns the packet with these Hop-by-Hop options (None: without such a header)."""
        body = self.chain + self.l4
        proto = self.first_proto
        if options is not None:
            header = IPv6ExtHdrHopByHop(nh=proto, autopad=0, options=options)
            header = bytes(header)
            assert len(header) % 8 == 0 and len(header) == 2 + size(options)
            assert header[1] == len(header) // 8 - 1
            body = header + body
            proto = 0
        packet = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
        for tag in self.l2:
            packet = packet / tag
        packet = packet / IPv6(src="2001:db8::1", dst="2001:db8::2", hlim=64, fl=0x12345,
                               nh=proto, plen=len(body))
        return bytes(packet) + body + self.trailer

    def parsed(self, options, telemetry_bytes=0, mixed=False):
        """Returns what a parser should find in frame(options), without zeros."""
        flags = {"ipv6"}
        found = {"l3_off": self.l3_off, "vlan_tags": len(self.l2)}
        hbh = 0
        if options is not None:
            hbh = 2 + size(options)
            flags.add("hbh")
            found["hbh_bytes"] = hbh
            self.options_parsed(options, found, flags)
        found["telemetry_bytes"] = telemetry_bytes
        found["l3_bytes"] = 40 + hbh + len(self.chain) + len(self.l4)
        if mixed:
            flags.add("mixed")
        later = self.fragment_parsed(flags)
        if not later:
            flags.add("flow")
            found["l4_off"] = self.l3_off + 40 + hbh + len(self.chain)
            found["l4_proto"] = self.proto
            found["src_port"], found["dst_port"] = self.ports
        return {"flags": sorted(flags), **{k: v for k, v in found.items() if v}}

    def options_parsed(self, options, found, flags):
        types = [option.otype for option in options]
        if any(otype in TELEMETRY for otype in types):
            flags.add("any_telemetry")
        if REQUEST in types:
            flags.add("request")
        if REPORT in types:
            flags.add("report")
        if types.count(TRACE) != 1 or types.count(E2E) != 1:
            return
        trace = next(o for o in options if o.otype == TRACE)
        e2e = next(o for o in options if o.otype == E2E)
        if len(trace.optdata) < 8 or len(e2e.optdata) < 2:
            return
        flags.add("telemetry")
        found["ns_id"], found["trace_type"] = struct.unpack("!II", trace.optdata[:8])
        found["trace_off"] = self.l3_off + 40 + offset_of(options, TRACE)
        found["e2e_off"] = self.l3_off + 40 + offset_of(options, E2E)

    def fragment_parsed(self, flags):
        for header in self.kinds:
            if isinstance(header, IPv6ExtHdrFragment) and (header.offset or header.m):
                flags.add("fragment")
                if header.offset:
                    flags.add("later")
                    return True
        return False


# ---- packets of nodes ----

def options_with(host_options, layout, blocks):
    """Returns the Hop-by-Hop options after the blocks (lists of options) were added one by one."""
    options = list(host_options) if host_options is not None else None
    for block in blocks:
        if options is None:
            lead = padding(2) if layout == ALIGNED and block[0].otype == TRACE else []
            block = lead + block
            options = block + padding(-(2 + size(block)) % 8)
        else:
            options = options + block + padding(-size(block) % 8)
    return options


def insert_case(name, host, layout, trace_type, bitmaps, extra=(), frames=True, refused=None):
    """One packet from the host through the source, a node for each bitmap, and extra options."""
    ns_id = number("I")
    e2e_bitmap = trace_type >> 16 & 0xF000
    e2e = {"bitmap": e2e_bitmap, **make_values(E2E_VALUES, e2e_bitmap)}
    hops = [make_hop(random_numbers.randint(1, 65535), bitmap) for bitmap in bitmaps]

    def options_after(n_hops):
        block = [trace_option(ns_id, trace_type, hops[:n_hops]), e2e_option(e2e_bitmap, e2e)]
        return options_with(host.options, layout, [block])

    def added(options):
        before = 2 + size(host.options) if host.options is not None else 0
        return 2 + size(options) - before

    case = {
        "name": name, "layout": layout, "ns_id": ns_id, "trace_type": trace_type, "e2e": e2e,
        "plain": host.frame(host.options).hex(), "plain_parsed": host.parsed(host.options),
        "source": host.frame(options_after(0)).hex(),
        "source_parsed": host.parsed(options_after(0), added(options_after(0))),
        "hops": hops,
    }
    for i, hop in enumerate(hops):
        if frames or i + 1 == len(hops):
            options = options_after(i + 1)
            hop["frame"] = host.frame(options).hex()
            hop["parsed"] = host.parsed(options, added(options))
    if refused is not None:
        case["refused"] = refused
    if extra:
        blocks = [[trace_option(ns_id, trace_type, hops), e2e_option(e2e_bitmap, e2e)]]
        blocks += [[unknown(otype, data)] for otype, data in extra]
        options = options_with(host.options, layout, blocks)
        case["extra"] = [{"type": otype, "data": data.hex()} for otype, data in extra]
        case["extra_frame"] = host.frame(options).hex()
        case["extra_parsed"] = host.parsed(options, added(options))
    return case


def option_case(name, host, extra):
    """Requests and reports in a packet without telemetry."""
    options = options_with(host.options, PAPER, [[unknown(t, data)] for t, data in extra])
    before = 2 + size(host.options) if host.options is not None else 0
    return {"name": name, "plain": host.frame(host.options).hex(),
            "extra": [{"type": t, "data": data.hex()} for t, data in extra],
            "extra_frame": host.frame(options).hex(),
            "extra_parsed": host.parsed(options, 2 + size(options) - before)}


def repacked(options):
    """Returns only the foreign options at their offset modulo 8, or None if there are none."""
    kept, at, to = [], 2, 2
    for option in options:
        n = len(bytes(option))
        if option.otype not in TELEMETRY + (0, 1):
            gap = (at - to) % 8
            kept += padding(gap) + [option]
            to += gap + n
        at += n
    return kept + padding(-to % 8) if kept else None


def strip_case(name, host, options, mixed=True):
    """A mixture that our nodes do not write, and what strip leaves of it."""
    rest = repacked(options)
    taken = 2 + size(options) - (2 + size(rest) if rest is not None else 0)
    return {"name": name, "frame": host.frame(options).hex(),
            "parsed": host.parsed(options, taken, mixed), "stripped": host.frame(rest).hex()}


def grow_case(name, host, options, bitmap):
    """A hop's entry in a header that our source did not write."""
    hop = make_hop(9, bitmap)
    i = next(k for k, option in enumerate(options) if option.otype == TRACE)
    data = options[i].optdata
    trace = unknown(TRACE, data[:8] + hop_bytes(hop) + data[8:])
    end = i + 2 if i + 1 < len(options) and options[i + 1].otype == E2E else i + 1
    rest = end
    while rest < len(options) and options[rest].otype in (0, 1):
        rest += 1
    room = size(options[end:rest]) - len(hop_bytes(hop))
    growth = max(0, -room + 7 & ~7)
    grown = options[:i] + [trace] + options[i + 1:end] + padding(room + growth) + options[rest:]
    assert size(grown) == size(options) + growth
    return {"name": name, "frame": host.frame(options).hex(), "hop": hop, "growth": growth,
            "grown": host.frame(grown).hex()}


# ---- the cases ----

def router_alert():
    return [RouterAlert(value=0), *padding(2)]


def several():
    return [RouterAlert(value=1), unknown(0x1e, b"12345"), Pad1(), unknown(0x3e, bytes(range(9))),
            unknown(0x7e, b""), *padding(5)]


HOST_HEADERS = {
    "router alert": router_alert,
    "several options": several,
    "one PadN": lambda: padding(6),
    "six Pad1": lambda: [Pad1()] * 6,
    "two PadN": lambda: padding(2) + padding(4),
    "sixteen bytes of padding": lambda: padding(7) + padding(7),
    "a long option": lambda: [unknown(0x1e, bytes(range(200))), *padding(4)],
}

CHAINS = {
    "destination options": lambda: [dest_opt()],
    "routing": lambda: [routing()],
    "authentication": lambda: [auth()],
    "mobility": lambda: [mobility()],
    "host identity": lambda: [hip()],
    "shim6": lambda: [shim6()],
    "atomic fragment": lambda: [fragment()],
    "first fragment": lambda: [fragment(0, 1)],
    "later fragment": lambda: [fragment(185, 1)],
    "last fragment": lambda: [fragment(370, 0)],
    "all of them": lambda: [dest_opt(), routing(), fragment(0, 1), auth(), mobility(), hip(),
                            dest_opt()],
}


def entry_size(bitmap):
    return 4 + sum(struct.calcsize(code) for bit, code, _ in HOP_VALUES if bitmap & bit)


def random_bitmaps(n, requested):
    return [random_numbers.getrandbits(16) & requested for _ in range(n)]


def full_path(requested):
    """Different entries until no further entry fits, and the bitmap that does not fit."""
    bitmaps, room = [], 255 - 8
    while room >= entry_size(requested):
        bitmap = random_numbers.getrandbits(16) & requested
        bitmaps.append(bitmap)
        room -= entry_size(bitmap)
    return bitmaps, requested


def insert_cases():
    for layout in (ALIGNED, PAPER):
        for e2e in range(0, 0x10000, 0x1000):
            for hop in range(0, 0x10000, 0x2000):
                trace_type = e2e << 16 | hop
                bitmaps = [hop] + random_bitmaps(1, hop)
                l4 = ("udp", "tcp", "icmp")[(e2e + hop >> 12) % 3]
                yield insert_case(f"trace type {trace_type:#010x}", Host(l4), layout, trace_type,
                                  bitmaps)
        for hop in range(0, 0x10000, 0x2000):
            whole = 247 // entry_size(hop)
            yield insert_case(f"as many hops {hop:#06x} as fit", Host(), layout, 0x70000000 | hop,
                              [hop] * whole, frames=False, refused=hop)
            bitmaps, refused = full_path(hop)
            yield insert_case(f"differing hops until {hop:#06x} does not fit", Host(), layout,
                              0x40000000 | hop, bitmaps, frames=False, refused=refused)
        yield insert_case("unknown bits in the trace type", Host(), layout, 0x7123E456,
                          [0xE000, 0x2000])
        for name, header in HOST_HEADERS.items():
            for trace_type in (0x7000E000, 0x40006000, 0x80000000, 0x00008000):
                hop = trace_type & 0xE000
                yield insert_case(f"host header: {name}, {trace_type:#010x}",
                                  Host(options=header()), layout, trace_type,
                                  [hop] + random_bitmaps(2, hop))
        for n_tags in (1, 2):
            for outer in (Dot1Q, Dot1AD):
                yield insert_case(f"{n_tags} tags, outer {outer.__name__}",
                                  Host("tcp", n_tags, outer), layout, 0x7000E000, [0xE000, 0x4000])
                yield insert_case(f"{n_tags} tags, outer {outer.__name__}, router alert",
                                  Host("icmp", n_tags, outer, router_alert()), layout, 0x40004000,
                                  [0x4000, 0x0000])
        for name, chain in CHAINS.items():
            yield insert_case(f"chain: {name}", Host(chain=chain()), layout, 0x7000E000,
                              [0xE000, 0x8000])
            yield insert_case(f"chain: {name}, host header",
                              Host("tcp", options=several(), chain=chain()), layout, 0x6000C000,
                              [0xC000, 0x4000])
        yield insert_case("trailing bytes of Ethernet", Host(trailer=bytes(6)), layout, 0x7000E000,
                          [0xE000])
        for extra in ([(REQUEST, b"\xa0")], [(REPORT, bytes(range(250)))],
                      [(REQUEST, bytes(150)), (REPORT, bytes(255)), (REPORT, b"tail")]):
            what = " and ".join(f"{t:#x} of {len(data)}" for t, data in extra)
            yield insert_case(f"telemetry, then {what}", Host(), layout, 0x7000E000,
                              [0xE000, 0x2000], extra)
            yield insert_case(f"router alert, telemetry, then {what}",
                              Host(options=router_alert()), layout, 0x40002000, [0x2000], extra)


def option_cases():
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 150, 253, 254, 255):
        data = bytes(random_numbers.getrandbits(8) for _ in range(n))
        yield option_case(f"request of {n} bytes", Host(), [(REQUEST, data)])
        yield option_case(f"report of {n} bytes behind a router alert",
                          Host(options=router_alert()), [(REPORT, data)])
    yield option_case("report in three parts", Host("tcp", 1),
                      [(REPORT, bytes([i] * 255)) for i in range(3)])


def telemetry(hops=1):
    made = [make_hop(i + 1, 0xE000) for i in range(hops)]
    return (trace_option(7, 0x7000E000, made),
            e2e_option(0x7000, make_values(E2E_VALUES, 0x7000)))


def strip_cases():
    trace, e2e = telemetry()
    alert, odd = RouterAlert(value=0), unknown(0x1e, b"12345")

    def filled(*options):
        return list(options) + padding(-(2 + size(options)) % 8)

    yield strip_case("telemetry before a host's option", Host(), filled(trace, e2e, alert))
    yield strip_case("telemetry before options of odd sizes", Host("tcp", 1),
                     filled(trace, e2e, Pad1(), alert, Pad1(), odd, Pad1(), odd))
    yield strip_case("a foreign option between trace and e2e", Host(), filled(trace, alert, e2e))
    yield strip_case("e2e before trace, foreign between", Host(), filled(e2e, odd, trace))
    yield strip_case("telemetry off the places our nodes use", Host(), filled(Pad1(), trace, e2e))
    yield strip_case("telemetry at four behind Pad1 twice", Host(),
                     filled(Pad1(), Pad1(), trace, e2e))
    yield strip_case("telemetry directly behind an option", Host(), filled(alert, trace, e2e))
    yield strip_case("all four kinds among options", Host("icmp"),
                     filled(odd, unknown(REQUEST, b"abc"), alert, unknown(REPORT, b"d"), trace,
                            odd, e2e, Pad1(), odd))
    yield strip_case("only a trace, too short", Host(), filled(odd, unknown(TRACE, b"\0" * 7)))
    yield strip_case("two traces", Host(), filled(trace, alert, trace, e2e))
    yield strip_case("empty telemetry options", Host(),
                     filled(unknown(0x3e, b""), unknown(TRACE, b""), unknown(E2E, b""),
                            unknown(REQUEST, b""), alert))
    yield strip_case("e2e alone in front, as ours would be", Host(), filled(e2e), mixed=False)
    yield strip_case("e2e before trace, ours otherwise", Host(), filled(e2e, trace), mixed=False)
    yield strip_case("padding between the options", Host(),
                     filled(trace, *padding(5), e2e, *padding(7)), mixed=False)
    short = unknown(TRACE, bytes(7))
    yield strip_case("a trace too short where ours would be", Host(),
                     filled(short, unknown(E2E, bytes(3))), mixed=False)
    for n in (0, 1):
        yield strip_case(f"an e2e of {n} bytes where ours would be", Host(),
                         filled(trace, unknown(E2E, bytes(n))), mixed=False)
    for i in range(60):
        options = []
        for _ in range(random_numbers.randint(1, 7)):
            kind = random_numbers.randint(0, 4)
            if kind == 0:
                options += padding(random_numbers.randint(1, 9))
            elif kind == 1:
                options.append(random_numbers.choice([trace, e2e]))
            elif kind == 2:
                options.append(unknown(random_numbers.choice([REQUEST, REPORT]),
                                       bytes(random_numbers.randint(0, 20))))
            else:
                options.append(unknown(random_numbers.choice([5, 0x1e, 0x3e, 0xc2]),
                                       bytes(random_numbers.randint(0, 20))))
        options = filled(*options, odd)
        if any(option.otype in TELEMETRY for option in options) and not truncates(options):
            yield strip_case(f"random mixture {i}", Host(), options)


def truncates(options):
    """Telemetry on an eight-byte boundary with nothing foreign behind it is not a mixture."""
    first = next(i for i, option in enumerate(options) if option.otype in TELEMETRY)
    return all(option.otype in TELEMETRY + (0, 1) for option in options[first:])


def grow_cases():
    trace, e2e = telemetry()
    alert, odd = RouterAlert(value=0), unknown(0x1e, b"12345")

    def filled(*options):
        return list(options) + padding(-(2 + size(options)) % 8)

    for bitmap in range(0, 0x10000, 0x2000):
        for name, options in (
                ("a foreign option behind", filled(trace, e2e, odd)),
                ("a foreign option between", filled(trace, alert, e2e)),
                ("padding between", filled(trace, *padding(3), e2e)),
                ("e2e in front", filled(e2e, trace, odd)),
                ("a request behind", filled(trace, e2e, *padding(5), unknown(REQUEST, b"abc"))),
                ("room enough in padding", filled(trace, e2e, *padding(42))),
                ("room in many paddings", filled(trace, e2e, *[Pad1()] * 9, *padding(20), alert)),
                ("directly behind the host's option", filled(odd, trace, e2e))):
            yield grow_case(f"hop {bitmap:#06x}, {name}", Host(), options, bitmap)


def parse_case(name, frame, flags, frame_len=None, **found):
    case = {"name": name, "frame": frame.hex(),
            "parsed": {"flags": sorted(flags), **found}}
    if frame_len is not None:
        case["frame_len"] = frame_len
    return case


def parse_cases():
    plain = Host().frame(None)
    base = {"l3_off": 14, "l3_bytes": 56}
    flow = {**base, "l4_off": 54, "l4_proto": 17, "src_port": 0x1234, "dst_port": 5001}
    yield parse_case("nothing", b"", [])
    yield parse_case("an Ethernet header cut off", plain[:13], [])
    yield parse_case("an IPv6 header cut off", plain[:53], [])
    yield parse_case("an IPv6 header in the next segment", plain[:53], ["short"], len(plain))
    yield parse_case("an Ethernet header in the next segment", plain[:6], ["short"], len(plain))
    yield parse_case("a payload cut off", plain[:-1], ["ipv6", "malformed"], **base)
    yield parse_case("a payload in the next segment", plain[:58], ["ipv6", "flow"], len(plain),
                     **flow)
    yield parse_case("ports in the next segment", plain[:57], ["ipv6", "short"], len(plain),
                     **base)
    yield parse_case("version 6 behind IPv4's type", plain[:12] + b"\x08\x00" + plain[14:], [])
    yield parse_case("version 4 behind IPv6's type", plain[:14] + b"\x45" + plain[15:], [])
    three = plain[:12] + b"\x88\xa8\0\1\x81\0\0\2\x81\0\0\3" + plain[12:]
    yield parse_case("three tags match no rule", three, ["ipv6"], vlan_tags=3,
                     **{**flow, "l3_off": 26, "l4_off": 66})
    nine = plain[:12] + b"\x91\0\0\1" * 9 + plain[12:]
    yield parse_case("nine tags", nine, ["hidden"], vlan_tags=8)
    ninth = nine[:44] + b"\x08\x06" + nine[46:]
    yield parse_case("eight tags, then ARP", ninth, [], vlan_tags=8)
    for tpid in (b"\x92\0", b"\x93\0"):
        old = plain[:12] + tpid + b"\0\1" + plain[12:]
        yield parse_case(f"a tag of type {tpid.hex()} matches no rule", old, ["ipv6"], vlan_tags=1,
                         **{**flow, "l3_off": 18, "l4_off": 58})
    for oui in (b"\0\0\0", b"\0\0\xf8"):
        snap = plain[:12] + b"\0\x60\xaa\xaa\3" + oui + plain[12:]
        yield parse_case(f"IPv6 behind SNAP {oui.hex()}", snap, ["hidden"])
        yield parse_case(f"a tag behind SNAP {oui.hex()}",
                         snap[:20] + b"\x81\0\0\1" + plain[12:], ["hidden"])
    yield parse_case("a tag, then SNAP", plain[:12] + b"\x81\0\0\1" + snap[12:], ["hidden"],
                     vlan_tags=1)
    yield parse_case("SNAP of another kind", snap[:17] + b"\0\0\x0c" + snap[20:], [])
    yield parse_case("SNAP with IPv4", snap[:20] + b"\x08\0" + snap[22:], [])
    yield parse_case("SNAP cut off", snap[:21], [])
    yield parse_case("SNAP in the next segment", snap[:21], ["short"], len(snap))
    yield parse_case("a tag cut off", three[:16], [], vlan_tags=1)

    def ipv6(proto, body, plen=None):
        return bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") /
                     IPv6(src="2001:db8::1", dst="2001:db8::2", nh=proto,
                          plen=len(body) if plen is None else plen)) + body

    udp = Host().l4
    for proto, what in ((50, "ESP"), (59, "no next header"), (253, "unknown"), (4, "IPv4")):
        yield parse_case(f"{what} is no flow", ipv6(proto, udp), ["ipv6"], **base)
    yield parse_case("no payload", ipv6(59, b""), ["ipv6"], l3_off=14, l3_bytes=40)
    yield parse_case("UDP without payload", ipv6(17, b""), ["ipv6", "malformed"],
                     l3_off=14, l3_bytes=40)
    yield parse_case("ports beyond the payload", ipv6(17, udp, 3), ["ipv6", "malformed"],
                     l3_off=14, l3_bytes=43)
    yield parse_case("exactly the ports", ipv6(17, udp, 4), ["ipv6", "flow"],
                     **{**flow, "l3_bytes": 44})
    yield parse_case("a jumbogram", ipv6(0, bytes([17, 0, 0xc2, 4, 0, 1, 0, 0]) + udp, 0),
                     ["ipv6", "malformed"], l3_off=14, l3_bytes=40)
    options = bytes([0, 0, 1, 4, 0, 0, 0, 0])
    yield parse_case("Hop-by-Hop twice", ipv6(0, options + bytes([17]) + options[1:] + udp),
                     ["ipv6", "hbh", "malformed", "hidden"], l3_off=14, l3_bytes=72, hbh_bytes=8)
    request = bytes([0, 0, 0x32, 4, 1, 2, 3, 4])
    yield parse_case("requests in two Hop-by-Hop headers",
                     ipv6(0, request + bytes([17]) + request[1:] + udp),
                     ["ipv6", "hbh", "malformed", "any_telemetry", "hidden"], l3_off=14, l3_bytes=72,
                     hbh_bytes=8)
    dest = bytes([60, 0, 1, 4, 0, 0, 0, 0])
    yield parse_case("Hop-by-Hop behind destination options",
                     ipv6(60, bytes([0]) + dest[1:] + bytes([17]) + dest[1:] + udp),
                     ["ipv6", "malformed", "hidden"], l3_off=14, l3_bytes=72)
    last = bytes([17]) + dest[1:]
    yield parse_case("eight extension headers", ipv6(60, dest * 7 + last + udp), ["ipv6", "flow"],
                     **{**flow, "l3_bytes": 120, "l4_off": 118})
    yield parse_case("nine extension headers", ipv6(60, dest * 8 + last + udp),
                     ["ipv6", "malformed", "hidden"], l3_off=14, l3_bytes=128)
    yield parse_case("Hop-by-Hop and eight more", ipv6(0, bytes([60]) + options[1:] + dest * 7 +
                                                       last + udp),
                     ["ipv6", "hbh", "flow"],
                     **{**flow, "l3_bytes": 128, "hbh_bytes": 8, "l4_off": 126})
    yield parse_case("Hop-by-Hop and nine more", ipv6(0, bytes([60]) + options[1:] + dest * 8 +
                                                      last + udp),
                     ["ipv6", "hbh", "malformed", "hidden"], l3_off=14, l3_bytes=136, hbh_bytes=8)
    route = bytes([0, 0, 4, 0, 0, 0, 0, 0])
    hidden = bytes([17]) + request[1:]
    yield parse_case("a request behind a Routing header", ipv6(43, route + hidden + udp),
                     ["ipv6", "malformed", "hidden"], l3_off=14, l3_bytes=72)
    yield parse_case("the same in a packet cut off", ipv6(43, route + hidden + udp)[:-1],
                     ["ipv6", "malformed", "hidden"], l3_off=14, l3_bytes=72)
    yield parse_case("a request in a first fragment",
                     ipv6(44, bytes([0, 0, 0, 1, 0, 0, 0, 9]) + hidden + udp),
                     ["ipv6", "fragment", "malformed", "hidden"], l3_off=14, l3_bytes=72)
    yield parse_case("a request in a later fragment",
                     ipv6(44, bytes([0, 0, 0, 9, 0, 0, 0, 9]) + hidden + udp),
                     ["ipv6", "fragment", "later"], l3_off=14, l3_bytes=72)
    broken = bytes([0, 0, 1, 9, 0, 0, 0, 0])
    yield parse_case("a request behind a broken Hop-by-Hop header",
                     ipv6(0, broken + hidden + udp), ["ipv6", "hbh", "malformed", "hidden"],
                     l3_off=14, l3_bytes=72, hbh_bytes=8)
    yield parse_case("a request in a tunnel", ipv6(41, ipv6(0, hidden + udp)[14:]), ["ipv6"],
                     l3_off=14, l3_bytes=104)
    yield parse_case("a request in destination options", ipv6(60, hidden + udp), ["ipv6", "flow"],
                     **{**flow, "l3_bytes": 64, "l4_off": 62})
    asked = bytes([17]) + request[1:]
    yield parse_case("a request in a packet cut off", ipv6(0, asked + udp)[:-1],
                     ["ipv6", "malformed", "any_telemetry"], l3_off=14, l3_bytes=64)
    yield parse_case("a request in a jumbogram", ipv6(0, asked + udp, 0),
                     ["ipv6", "malformed", "any_telemetry"], l3_off=14, l3_bytes=40)
    yield parse_case("a request in a header beyond the payload", ipv6(0, asked + udp, 4),
                     ["ipv6", "malformed", "any_telemetry"], l3_off=14, l3_bytes=44)
    yield parse_case("a header that goes beyond the payload",
                     ipv6(60, bytes([17, 3]) + bytes(22)), ["ipv6", "malformed"], l3_off=14,
                     l3_bytes=64)
    yield parse_case("Hop-by-Hop beyond the payload", ipv6(0, bytes([17, 9]) + bytes(22)),
                     ["ipv6", "malformed"], l3_off=14, l3_bytes=64)
    hbh = {"l3_off": 14, "l3_bytes": 64, "hbh_bytes": 8}
    yield parse_case("a foreign option beyond its header",
                     ipv6(0, bytes([17, 0, 0x1e, 5, 0, 0, 0, 0]) + udp),
                     ["ipv6", "hbh", "malformed"], **hbh)
    yield parse_case("an option without length byte",
                     ipv6(0, bytes([17, 0, 1, 3, 0, 0, 0, 0x1e]) + udp),
                     ["ipv6", "hbh", "malformed"], **hbh)
    for otype in TELEMETRY:
        yield parse_case(f"option {otype:#x} beyond its header",
                         ipv6(0, bytes([17, 0, otype, 5, 0, 0, 0, 0]) + udp),
                         ["ipv6", "hbh", "malformed", "any_telemetry"], **hbh)
    yield parse_case("telemetry, then a broken option",
                     ipv6(0, bytes([17, 0, 0x32, 2, 0, 0, 1, 1]) + udp),
                     ["ipv6", "hbh", "malformed", "any_telemetry"], **hbh)
    own = bytes([0x31, 8, 0, 0, 0, 7, 0x70, 0, 0xe0, 0, 0x11, 2, 0, 0])
    yield parse_case("padding that looks like telemetry",
                     ipv6(0, bytes([17, 2, 1, 20]) + own + bytes([1, 4, 0, 0, 0, 0]) + udp),
                     ["ipv6", "hbh", "flow"], **{**flow, "l3_bytes": 80, "hbh_bytes": 24,
                                                 "l4_off": 78})
    yield parse_case("telemetry in two Hop-by-Hop headers",
                     ipv6(0, (bytes([0, 1]) + own) * 2 + udp),
                     ["ipv6", "hbh", "malformed", "any_telemetry", "hidden"], l3_off=14, l3_bytes=88,
                     hbh_bytes=16)
    own = bytes([17, 2, 0x31, 8, 0, 0, 0, 7, 0x70, 0, 0xe0, 0, 0x11, 2, 0, 0])
    yield parse_case("e2e shorter than its header says", ipv6(0, own + bytes([1, 7]) + bytes(6) +
                                                              udp),
                     ["ipv6", "hbh", "malformed", "any_telemetry"], l3_off=14, l3_bytes=80,
                     hbh_bytes=24)


def ipv4(proto, body, change=None, tags=b"", **fields):
    """A frame of scapy's; `change` sets bytes of the IPv4 header: {offset: byte}."""
    frame = bytearray(bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01", type=0x0800) /
                            IP(src="192.0.2.1", dst="198.51.100.2", proto=proto, **fields) / body))
    for at, byte in (change or {}).items():
        frame[14 + at] = byte
    return bytes(frame[:12]) + tags + bytes(frame[12:])


def ipv4_lengths():
    """Lengths in the header against the frame and against each other."""
    udp = Host().l4
    plain = ipv4(17, udp)
    base = {"l3_off": 14, "l3_bytes": 36}
    flow = {**base, "l4_off": 34, "l4_proto": 17, "src_port": 0x1234, "dst_port": 5001}
    yield parse_case("IPv4 with UDP", plain, ["ipv4", "flow"], **flow)
    yield parse_case("IPv4 with padding behind", plain + bytes(10), ["ipv4", "flow"], **flow)
    yield parse_case("an IPv4 header cut off", plain[:33], [])
    yield parse_case("an IPv4 header in the next segment", plain[:33], ["ipv4", "short"], len(plain))
    yield parse_case("IPv4 cut off", plain[:-1], ["ipv4", "malformed"], **base)
    yield parse_case("ports of IPv4 in the next segment", plain[:37], ["ipv4", "short"], len(plain),
                     **base)
    yield parse_case("a payload of IPv4 in the next segment", plain[:38], ["ipv4", "flow"],
                     len(plain), **flow)
    for length in (0, 4, 19):
        yield parse_case(f"a total length of {length}", ipv4(17, udp, {2: 0, 3: length}),
                         ["ipv4", "malformed"], l3_off=14, l3_bytes=length)
    yield parse_case("IPv4 without payload", ipv4(17, b""), ["ipv4", "malformed"], l3_off=14,
                     l3_bytes=20)
    yield parse_case("another protocol without payload", ipv4(59, b""), ["ipv4"], l3_off=14, l3_bytes=20)
    yield parse_case("ports beyond IPv4's payload", ipv4(6, udp, {2: 0, 3: 23}),
                     ["ipv4", "malformed"], l3_off=14, l3_bytes=23)
    yield parse_case("exactly the ports behind IPv4", ipv4(6, udp, {2: 0, 3: 24}), ["ipv4", "flow"],
                     **{**flow, "l4_proto": 6, "l3_bytes": 24})
    for words in range(5):
        yield parse_case(f"a header of {words} words", ipv4(17, udp, {0: 0x40 + words}),
                         ["ipv4", "malformed"], **base)
    yield parse_case("a header longer than the packet", ipv4(17, udp, {0: 0x4a}),
                     ["ipv4", "malformed"], **base)
    yield parse_case("version 5", ipv4(17, udp, {0: 0x55}), [])


def ipv4_fields():
    """Protocols, fragments, options and tags."""
    udp = Host().l4
    base = {"l3_off": 14, "l3_bytes": 36}
    flow = {**base, "l4_off": 34, "l4_proto": 17, "src_port": 0x1234, "dst_port": 5001}
    for proto in (0, 2, 4, 41, 50, 51, 58, 60):
        yield parse_case(f"protocol {proto} behind IPv4 is no flow", ipv4(proto, udp), ["ipv4"], **base)
    yield parse_case("ICMP", ipv4(1, bytes([8, 0, 1, 2]) + bytes(4)), ["ipv4", "flow"], l3_off=14,
                     l3_bytes=28, l4_off=34, l4_proto=1)
    yield parse_case("GRE has no ports", ipv4(47, udp), ["ipv4", "flow"], l4_off=34, l4_proto=47, **base)
    yield parse_case("a request in IPv6 in IPv4",
                     ipv4(41, bytes(IPv6(nh=0, plen=24)) + bytes([17, 0, 0x32, 4, 1, 2, 3, 4]) + udp),
                     ["ipv4"], l3_off=14, l3_bytes=84)
    for name, flags, fragment in (("may not be cut", "DF", 0), ("has the bit that is 0", "evil", 0)):
        yield parse_case(f"IPv4 that {name}", ipv4(17, udp, flags=flags, frag=fragment),
                         ["ipv4", "flow"], **flow)
    yield parse_case("a first fragment of IPv4", ipv4(17, udp, flags="MF"),
                     ["ipv4", "flow", "fragment"], **flow)
    yield parse_case("a first fragment without ports", ipv4(17, udp[:3], flags="MF"),
                     ["ipv4", "fragment", "malformed"], l3_off=14, l3_bytes=23)
    for name, flags in (("later", "MF"), ("last", "")):
        yield parse_case(f"a {name} fragment of IPv4", ipv4(17, udp, flags=flags, frag=1),
                         ["ipv4", "fragment", "later"], **base)
    yield parse_case("the largest offset", ipv4(17, udp[:3], frag=0x1fff),
                     ["ipv4", "fragment", "later"], l3_off=14, l3_bytes=23)
    for count in (1, 2):
        off = 14 + 4 * count
        yield parse_case(f"{count} tags, then IPv4", ipv4(17, udp, tags=b"\x81\0\0\1" * count),
                         ["ipv4", "flow"], vlan_tags=count, **{**flow, "l3_off": off, "l4_off": off + 20})
    yield parse_case("three tags, then IPv4", ipv4(17, udp, tags=b"\x81\0\0\1" * 3), ["ipv4"],
                     vlan_tags=3, **{**flow, "l3_off": 26, "l4_off": 46})

    def options(body):
        return ipv4(17, body + udp, {0: 0x45 + len(body) // 4})

    for name, body in (("no operation", b"\1\1\1\1"), ("an end", b"\0\xff\xff\xff"),
                       ("a router alert", bytes([148, 4, 0, 0])), ("a route", bytes([7, 39, 4]) + bytes(37)),
                       ("an empty option at the end", b"\1\1\x82\2")):
        yield parse_case(f"IPv4 with {name}", options(body), ["ipv4", "flow"],
                         **{**flow, "l4_off": 34 + len(body), "l3_bytes": 36 + len(body)})
    for name, body in (("a length of 0", b"\x94\0\0\0"), ("a length of 1", b"\x94\1\0\0"),
                       ("a length beyond the header", b"\x94\5\0\0"), ("no length", b"\1\1\1\x94")):
        yield parse_case(f"an IPv4 option of {name}", options(body), ["ipv4", "malformed"],
                         l3_off=14, l3_bytes=40)
    late = ipv4(17, b"\x94\4\0\0" + udp, {0: 0x46}, frag=5)
    yield parse_case("a later fragment with options", late, ["ipv4", "fragment", "later"],
                     l3_off=14, l3_bytes=40)
    yield parse_case("IPv4 options in the next segment", late[:36], ["ipv4", "fragment", "later", "short"],
                     len(late), l3_off=14, l3_bytes=40)


# ---- blocks of ready options, and the removal of one type ----

def block_cases():
    for n, sizes in enumerate(((1,), (148,), (232,), (255, 255, 3), (254,) * 7 + (246,),
                               (5, 1, 9), (249,) * 8)):
        parts = [unknown(REPORT if n % 2 else REQUEST, bytes([i + 1]) * k)
                 for i, k in enumerate(sizes)]
        for name, host in (("alone", Host()), ("behind options", Host("tcp", 1, Dot1Q, several())),
                           ("behind padding", Host("icmp", options=padding(6)))):
            options = options_with(host.options, PAPER, [parts])
            if 2 + size(options) > HEADER_MAX:
                continue
            yield {"name": f"block of {sizes} {name}", "plain": host.frame(host.options).hex(),
                   "type": parts[0].otype, "block": b"".join(map(bytes, parts)).hex(),
                   "frame": host.frame(options).hex()}


def without(options, otype):
    """Leaves everything before the first option of the type unchanged and the rest at its offset
    modulo 8. If nothing is before it and only telemetry behind, that goes to 4 and what follows, at
    its offset modulo 4. None: nothing is left."""
    types = [option.otype for option in options]
    if otype not in types:
        return options
    first = types.index(otype)
    kept = list(options[:first])
    start = 2 + size(kept)
    rest = [option for option in options[first:] if option.otype not in (otype, 0, 1)]
    leads = not kept or [bytes(option) for option in kept] == [b"\1\0"]
    if not rest and leads:
        return None
    at, to, align = start, start, 8
    if leads and all(option.otype in (TRACE, E2E, REQUEST, REPORT) for option in rest):
        kept, to, align = padding(2), 4, 4
    for option in options[first:]:
        n = len(bytes(option))
        if option.otype not in (otype, 0, 1):
            gap = (at - to) % align
            kept += padding(gap) + [option]
            to += gap + n
        at += n
    return kept + padding(-to % 8)


def take_cases():
    trace, e2e = telemetry()
    alert, odd = RouterAlert(value=0), unknown(0x1e, b"12345")
    report, request = unknown(REPORT, b"report"), unknown(REQUEST, b"request")

    def filled(*options):
        return list(options) + padding(-(2 + size(options)) % 8)

    cases = {
        "a report alone": filled(report),
        "reports in three parts": filled(*[unknown(REPORT, bytes([i] * 255)) for i in range(3)]),
        "a report behind PadN": filled(*padding(2), report),
        "a report behind the host's options": several() + filled(alert, report)[1:],
        "a report on its eight-byte boundary": several() + [report],
        "a report directly behind an option": filled(alert, report),
        "a report behind Pad1": filled(Pad1(), report),
        "a report before a request": filled(report, request),
        "a request before a report": filled(request, *padding(3), report),
        "a report behind telemetry": filled(trace, e2e, report),
        "a report before telemetry": filled(report, trace, e2e),
        "a report between trace and e2e": filled(*padding(2), trace, report, e2e),
        "a report before the host's option": filled(report, odd),
        "reports among options": filled(odd, report, alert, Pad1(), report, odd, Pad1(), report),
        "an empty report": filled(alert, unknown(REPORT, b""), odd),
        "no report": filled(alert, Pad1(), trace, e2e),
        "only a request": filled(request),
    }
    for i in range(60):
        pick = [random_numbers.choice((report, report, request, trace, e2e, alert, odd, Pad1(),
                                       *padding(5), unknown(REPORT, bytes(i))))
                for _ in range(random_numbers.randint(1, 7))]
        cases[f"random mixture {i}"] = filled(*pick)
    for name, options in cases.items():
        options = options + padding(-(2 + size(options)) % 8)
        host = Host("tcp", 1)
        for otype in (REPORT, REQUEST):
            yield {"name": f"{name}, {otype:#x} taken", "frame": host.frame(options).hex(),
                   "type": otype, "rest": host.frame(without(options, otype)).hex()}


def vectors():
    return {"insert": list(insert_cases()), "option": list(option_cases()),
            "strip": list(strip_cases()), "grow": list(grow_cases()),
            "parse": [*parse_cases(), *ipv4_lengths(), *ipv4_fields()], "block": list(block_cases()),
            "take": list(take_cases())}


def text():
    made = vectors()
    lines = []
    for kind, cases in made.items():
        rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
        lines.append(f'"{kind}": [\n{rows}\n]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(argv):
    if len(argv) == 3 and argv[1] == "--check":
        with open(argv[2], encoding="ascii") as file:
            same = file.read() == text()
        if not same:
            print(f"{argv[2]} is not what make_vectors.py makes", file=sys.stderr)
        return 0 if same else 1
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(argv[1], "w", encoding="ascii") as file:
        file.write(text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
