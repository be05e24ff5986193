#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the golden cases of a node: rules, packets in, packets out, and every counter.

Packets come from scapy and from the independent encoder of tests/golden/wire. Counters follow from
docs/metrics.md and are worked out here by hand. A counter that a case does not name must be 0.

    make_cases.py DIRECTORY          write DIRECTORY/<case>/case.json
    make_cases.py --check DIRECTORY  exit 1 if the cases there differ
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "wire"))

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_Router_Alert  # noqa: E402
from scapy.layers.inet6 import (  # noqa: E402
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
    RouterAlert,
)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402

import make_vectors as wire  # noqa: E402

SRC, DST = "2001:db8::1", "2001:db8::2"
NOW = 1700000000000000000
MS = 1000000
SOURCE, TRANSIT, SINK = ("host", "network"), ("network", "network"), ("network", "host")


def ether(*tags):
    frame = Ether(src="02:00:00:00:00:0a", dst="02:00:00:00:00:0b")
    for tag in tags:
        frame = frame / tag
    return frame


def ip(**fields):
    return IPv6(src=SRC, dst=DST, hlim=64, **fields)


def udp(size=100, sport=1000, dport=2000):
    return UDP(sport=sport, dport=dport) / Raw(b"p" * size)


def padded(options):
    """Returns options, padded so that their header is a multiple of eight bytes."""
    return options + wire.padding(-(2 + wire.size(options)) % 8)


def telemetry(layout, ns_id, trace_type, values, hops=(), extra=()):
    """Returns a Hop-by-Hop header as a source writes it, with the hops' entries."""
    lead = [PadN(optdata=b"")] if layout == wire.ALIGNED else []
    options = lead + [wire.trace_option(ns_id, trace_type, list(hops)),
                      wire.e2e_option(trace_type >> 16, values)] + list(extra)
    return IPv6ExtHdrHopByHop(autopad=0, options=padded(options))


def hop(node_id, bitmap=0xE000, **values):
    return {"node_id": node_id, "bitmap": bitmap, **values}


def counted(frame):
    """Returns the bytes of a packet without telemetry, as docs/metrics.md counts them."""
    return 14 + 40 + len(bytes(frame.getlayer(IPv6).payload))


class Case:
    def __init__(self, about, sides, node=None, mtu=1500):
        self.about = about
        self.node = {"id": 1, "layout": "aligned", "forwarding": "patch", **(node or {})}
        self.ports = [{"side": side, "mtu": mtu} for side in sides]
        self.rules = []
        self.routes = []
        self.offers = []
        self.signals = []
        self.steps = []
        self.out = [[] for _ in sides]
        self.counts = [dict() for _ in sides]
        self.flows = {}
        self.drops_at_transmit = [0 for _ in sides]

    def rule(self, ns_id=7, **fields):
        rule = {"ns_id": ns_id, "src_ip": SRC, "dst_ip": DST, "src_port": 0, "dst_port": 0,
                "protocol": "udp", "trace_type": "0x7000E000", "mode": "count", "mode_setting": 1}
        rule.update(fields)
        self.rules.append(rule)
        self.flows.setdefault(ns_id, {})
        return self

    def router(self):
        """Gives the ports MAC addresses, which a router needs."""
        for index, port in enumerate(self.ports):
            port["mac"] = MACS[index]
        return self

    def route(self, prefix, port, mac):
        self.routes.append({"prefix": prefix, "port": port, "next_hop_mac": mac})
        return self

    def offer(self, options, ns_id=None, carrier_of=None, holds=False):
        """Adds ready pending options for the next packet of a rule's flow, or of the reverse
        flow."""
        to = {"ns_id": ns_id} if ns_id else {"carrier_of": carrier_of}
        self.offers.append({**to, "options": b"".join(map(bytes, options)).hex(),
                            "holds_telemetry": holds})
        return self

    def signal(self, port, option, taken, part=0, parts=1):
        self.signals.append({"port": port, "type": option.otype, "data": option.optdata.hex(),
                             "taken": taken, "part": part, "parts": parts})
        return self

    def feed(self, port, *frames, at_ns=NOW):
        frames = [bytes(frame) for frame in frames]
        self.steps.append({"now_ns": at_ns, "port": port, "frames": [f.hex() for f in frames]})
        count = self.counts[port]
        count["rx_packets"] = count.get("rx_packets", 0) + len(frames)
        count["rx_bytes"] = count.get("rx_bytes", 0) + sum(map(len, frames))
        return self

    def expect(self, port, *frames):
        self.out[port] += [bytes(frame).hex() for frame in frames]
        return self

    def forwarded(self, port, n):
        self.counts[port]["forwarded"] = n
        return self

    def drop(self, port, reason, n=1):
        self.counts[port]["drops." + reason] = n
        if reason in ("tx_full", "port_down", "not_linear"):
            self.drops_at_transmit[port] += n
        return self

    def event(self, port, name, n=1):
        self.counts[port]["events." + name] = n
        return self

    def flow(self, ns_id, **counters):
        self.flows[ns_id].update(counters)
        return self

    def done(self):
        for port, count in enumerate(self.counts):
            frames = self.out[port]
            if frames or self.drops_at_transmit[port]:
                count["tx_packets"] = len(frames)
                count["tx_bytes"] = sum(len(f) // 2 for f in frames)
                count["offered"] = len(frames) + self.drops_at_transmit[port]
        optional = {"routes": self.routes} if self.routes else {}
        if self.offers:
            optional["offers"] = self.offers
        signals = {"signals": self.signals} if self.signals else {}
        return {"about": self.about, "node": self.node, "ports": self.ports, "rules": self.rules,
                **optional, "steps": self.steps,
                "expect": {"out": self.out, "ports": self.counts, **signals,
                           "rules": {str(ns): c for ns, c in self.flows.items()}}}


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def a_source_stamps_every_third_packet():
    c = Case("mode count: the first packet carries telemetry, and then every third", SOURCE)
    c.rule(mode_setting=3)
    plain = [ether() / ip() / udp(100 + i) for i in range(5)]
    c.feed(0, *plain).forwarded(0, 5)
    total = 0
    for i, frame in enumerate(plain):
        total += counted(frame)
        if i % 3 == 0:
            values = {"ts_ns": NOW, "tx_packets": i + 1, "tx_bytes": total}
            frame = ether() / ip() / telemetry("aligned", 7, 0x7000E000, values) / udp(100 + i)
        c.expect(1, frame)
    return c.flow(7, rx_packets=5, rx_bytes=total, tx_packets=5, tx_bytes=total, int_packets=2)


@case
def the_paper_layout_has_no_leading_padding():
    c = Case("layout paper, all end-to-end fields", SOURCE, {"layout": "paper"})
    c.rule(trace_type="0xF0000000")
    frame = ether() / ip() / udp()
    n = counted(frame)
    values = {"int_packets": 1, "ts_ns": NOW, "tx_packets": 1, "tx_bytes": n}
    c.feed(0, frame).forwarded(0, 1)
    c.expect(1, ether() / ip() / telemetry("paper", 7, 0xF0000000, values) / udp())
    return c.flow(7, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n, int_packets=1)


@case
def frequency_takes_one_packet_in_an_interval():
    c = Case("mode frequency, 10 ms: packets arrive at 0, 4, 9, 10 and 25 ms", SOURCE)
    c.rule(mode="frequency", mode_setting=10, trace_type="0x20000000")
    frame = ether() / ip() / udp()
    for i, at in enumerate((0, 4, 9, 10, 25)):
        c.feed(0, frame, at_ns=NOW + at * MS)
        stamped = ether() / ip() / telemetry("aligned", 7, 0x20000000, {"tx_packets": i + 1}) / udp()
        c.expect(1, stamped if at in (0, 10, 25) else frame)
    n = counted(frame) * 5
    c.forwarded(0, 5)
    return c.flow(7, rx_packets=5, rx_bytes=n, tx_packets=5, tx_bytes=n, int_packets=3)


@case
def tags_and_options_of_the_host_stay_as_they_are():
    c = Case("the packet has two VLAN tags and the host's Hop-by-Hop header; telemetry joins at "
             "its end",
             SOURCE)
    c.rule(trace_type="0x40006000")
    tags = (Dot1AD(vlan=200), Dot1Q(vlan=100, prio=3))
    host = [RouterAlert(), PadN(optdata=b"")]
    frame = ether(*tags) / ip() / IPv6ExtHdrHopByHop(autopad=0, options=host) / udp()
    ours = [wire.trace_option(7, 0x40006000, []), wire.e2e_option(0x4000, {"ts_ns": NOW})]
    ours += wire.padding(-wire.size(ours) % 8)
    out = ether(*tags) / ip() / IPv6ExtHdrHopByHop(autopad=0, options=host + ours) / udp()
    n = counted(frame)
    c.feed(0, frame).forwarded(0, 1).expect(1, out)
    return c.flow(7, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n, int_packets=1)


@case
def a_transit_node_adds_its_entry_before_older_ones():
    c = Case("two nodes add their entries one after the other", TRANSIT, {"id": 42})
    c.rule()
    values = {"ts_ns": NOW - 5 * MS, "tx_packets": 90, "tx_bytes": 9000}
    first = hop(3, tx_packets=80, rx_packets=81, ts_ns=NOW - MS, tx_bytes=8000, rx_bytes=8100)
    plain = ether() / ip() / udp()
    n = counted(plain)
    mine = hop(42, tx_packets=2, rx_packets=2, ts_ns=NOW, tx_bytes=2 * n, rx_bytes=2 * n)
    c.feed(0, plain, ether() / ip() / telemetry("aligned", 7, 0x7000E000, values, [first]) / udp())
    c.expect(1, plain,
             ether() / ip() / telemetry("aligned", 7, 0x7000E000, values, [first, mine]) / udp())
    c.forwarded(0, 2)
    return c.flow(7, rx_packets=2, rx_bytes=2 * n, tx_packets=2, tx_bytes=2 * n, hop_entries=1)


@case
def an_entry_of_twelve_bytes_moves_the_padding():
    c = Case("the node computes the padding again: present without the entry, absent with it",
             TRANSIT, {"id": 2, "layout": "paper"})
    c.rule(trace_type="0x40004000")
    values = {"ts_ns": NOW - MS}
    plain = ether() / ip() / udp()
    n = counted(plain)
    for hops in ([], [hop(9, 0x4000, ts_ns=NOW - 1)]):
        mine = hop(2, 0x4000, ts_ns=NOW)
        c.feed(0, ether() / ip() / telemetry("paper", 7, 0x40004000, values, hops) / udp())
        c.expect(1, ether() / ip() / telemetry("paper", 7, 0x40004000, values, hops + [mine]) / udp())
    c.forwarded(0, 2)
    return c.flow(7, rx_packets=2, rx_bytes=2 * n, tx_packets=2, tx_bytes=2 * n, hop_entries=2)


@case
def transit_leaves_other_namespaces_alone():
    c = Case("the telemetry is of namespace 8, and the flow's rule is of namespace 7", TRANSIT)
    c.rule()
    frame = ether() / ip() / telemetry("aligned", 8, 0x7000E000,
                                       {"ts_ns": 1, "tx_packets": 2, "tx_bytes": 3}) / udp()
    n = counted(ether() / ip() / udp())
    c.feed(0, frame).forwarded(0, 1).expect(1, frame).event(0, "unknown_namespace")
    return c.flow(7, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n)


@case
def a_full_option_takes_no_more_entries():
    c = Case("ten hops of 24 bytes fill the option", TRANSIT, {"id": 11})
    c.rule()
    hops = [hop(i, tx_packets=i, rx_packets=i, ts_ns=i, tx_bytes=i, rx_bytes=i)
            for i in range(1, 11)]
    frame = ether() / ip() / telemetry("aligned", 7, 0x7000E000, {
        "ts_ns": 1, "tx_packets": 2, "tx_bytes": 3}, hops) / udp()
    n = counted(ether() / ip() / udp())
    c.feed(0, frame).forwarded(0, 1).expect(1, frame).event(0, "no_room_option")
    return c.flow(7, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n, no_room_option=1)


@case
def a_sink_gives_the_host_what_the_host_sent():
    c = Case("packets carry telemetry of two hops, a request, a report, and an unknown namespace",
             SINK, {"id": 9})
    c.rule()
    values = {"ts_ns": NOW - MS, "tx_packets": 5, "tx_bytes": 500}
    hops = [hop(i, tx_packets=5, rx_packets=5, ts_ns=NOW - i, tx_bytes=500, rx_bytes=500)
            for i in (1, 2)]
    plain = ether() / ip() / udp()
    asked = wire.unknown(wire.REQUEST, b"\xa1\x61\x61\x01")
    n = counted(plain)
    c.feed(0,
           ether() / ip() / telemetry("aligned", 7, 0x7000E000, values, hops) / udp(),
           ether() / ip() / telemetry("paper", 99, 0x7000E000, values, hops) / udp(),
           ether() / ip() / IPv6ExtHdrHopByHop(autopad=0, options=padded([asked])) / udp())
    c.expect(1, plain, plain, plain).forwarded(0, 3)
    c.event(0, "unknown_namespace").event(0, "stripped", 3).signal(0, asked, 1)
    return c.flow(7, rx_packets=3, rx_bytes=3 * n, tx_packets=3, tx_bytes=3 * n, sink_packets=1,
                  reports_made=1)


@case
def a_host_is_not_believed():
    c = Case("the node strips a host's own telemetry and then inserts its own", SOURCE)
    c.rule()
    forged = {"ts_ns": 1, "tx_packets": 1000000, "tx_bytes": 1000000}
    plain = ether() / ip() / udp()
    n = counted(plain)
    mine = {"ts_ns": NOW, "tx_packets": 1, "tx_bytes": n}
    c.feed(0, ether() / ip() / telemetry("aligned", 7, 0x7000E000, forged) / udp()).forwarded(0, 1)
    c.expect(1, ether() / ip() / telemetry("aligned", 7, 0x7000E000, mine) / udp())
    c.event(0, "host_telemetry_stripped")
    return c.flow(7, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n, int_packets=1)


@case
def a_host_with_telemetry_is_dropped_by_policy():
    c = Case("host_side_policy drop", SOURCE, {"host_side_policy": "drop"})
    c.rule()
    forged = {"ts_ns": 1, "tx_packets": 1, "tx_bytes": 1}
    c.feed(0, ether() / ip() / telemetry("aligned", 7, 0x7000E000, forged) / udp())
    n = counted(ether() / ip() / udp())
    return c.drop(0, "host_telemetry").flow(7, rx_packets=1, rx_bytes=n)


def hiding():
    """Returns frames with telemetry behind headers that the parser does not search, but that
    devices between nodes may remove."""
    forged = telemetry("aligned", 7, 0x7000E000, {"ts_ns": 1, "tx_packets": 1, "tx_bytes": 1})
    inside = bytes(forged / udp())
    route = IPv6ExtHdrRouting(addresses=[], segleft=0)
    whole = bytes(ether() / ip() / forged / udp())
    snap = whole[:12] + (len(whole) - 6).to_bytes(2, "big") + b"\xaa\xaa\3\0\0\0" + whole[12:]
    chain = ip()
    for _ in range(9):
        chain = chain / IPv6ExtHdrDestOpt()
    return [ether(*[Dot1Q(vlan=n) for n in range(9)]) / ip() / forged / udp(),
            Raw(snap),
            ether() / ip(nh=43) / Raw(bytes([0]) + bytes(route)[1:]) / Raw(inside),
            ether() / ip(nh=0) / Raw(bytes([0]) + bytes(IPv6ExtHdrHopByHop())[1:]) / Raw(inside),
            ether() / chain / udp()]


@case
def what_hides_headers_does_not_enter():
    c = Case("a host port drops nine tags, SNAP, a Hop-by-Hop header that is not first, and nine "
             "extension headers", SOURCE)
    c.rule()
    frames = hiding()
    return c.feed(0, *frames).drop(0, "hidden_headers", len(frames)).event(0, "malformed", 3)


@case
def what_hides_headers_does_not_reach_a_host():
    c = Case("the same packets arrive from the network", SINK)
    c.rule()
    frames = hiding()
    return c.feed(0, *frames).drop(0, "hidden_headers", len(frames)).event(0, "malformed", 3)


@case
def what_is_opaque_goes_on_as_it_came():
    c = Case("a tunnel, destination options and later fragments are not searched and go on "
             "unchanged; their content is telemetry to no node", SOURCE)
    forged = telemetry("aligned", 7, 0x7000E000, {"ts_ns": 1, "tx_packets": 1, "tx_bytes": 1})
    tunnel = ether() / ip(nh=41) / ip() / forged / udp()
    options = ether() / ip(nh=60) / forged / udp()
    later = ether() / ip(nh=44) / Raw(bytes([0, 0, 0, 8, 0, 0, 0, 1])) / Raw(bytes(forged / udp()))
    other = ether() / Raw(b"IPv6 of no type")
    other.type = 0x8847
    frames = [tunnel, options, later, other]
    c.rule(ns_id=9, dst_ip="2001:db8::3")
    return c.feed(0, *frames).expect(1, *frames).forwarded(0, len(frames))


@case
def only_the_first_fragment_has_ports():
    c = Case("the first fragment matches and may carry telemetry; later fragments match nothing",
             SOURCE)
    c.rule(trace_type="0x20000000")
    first = IPv6ExtHdrFragment(offset=0, m=1, id=1)
    later = IPv6ExtHdrFragment(offset=20, m=0, id=1)
    data = bytes(udp(152))
    a = ether() / ip() / first / Raw(data)
    b = ether() / ip() / later / Raw(b"q" * 50)
    a.getlayer(IPv6ExtHdrFragment).nh = 17
    b.getlayer(IPv6ExtHdrFragment).nh = 17
    n = counted(a)
    stamped = ether() / ip() / telemetry("aligned", 7, 0x20000000, {"tx_packets": 1}) / first / Raw(data)
    stamped.getlayer(IPv6ExtHdrFragment).nh = 17
    c.feed(0, a, b).forwarded(0, 2).expect(1, stamped, b)
    return c.flow(7, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n, int_packets=1)


@case
def the_most_specific_rule_counts():
    c = Case("three rules overlap; two further rules are for ICMPv6 and TCP", SOURCE)
    never = {"mode": "count", "mode_setting": 4000000000}
    c.rule(1, **never).rule(2, dst_port=2000, **never).rule(3, src_port=1000, dst_port=2000, **never)
    c.rule(4, protocol="icmp", **never).rule(5, protocol="tcp", dst_port=80, **never)
    exact, port, wild = udp(), udp(sport=1001), udp(dport=2001)
    echo = ICMPv6EchoRequest(id=1, seq=1, data=b"x" * 56)
    web, other = TCP(sport=5000, dport=80), TCP(sport=5000, dport=81)
    frames = [ether() / ip() / l4 for l4 in (exact, port, wild, echo, web, other)]
    frames.append(ether() / ARP(pdst="192.0.2.1"))
    c.feed(0, *frames).forwarded(0, 7)
    for ns, frame in zip((3, 2, 1, 4, 5), frames):
        n = counted(frame)
        stamped = ether() / ip() / telemetry("aligned", ns, 0x7000E000, {
            "ts_ns": NOW, "tx_packets": 1, "tx_bytes": n}) / frame.getlayer(IPv6).payload
        c.expect(1, stamped)
        c.flow(ns, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n, int_packets=1)
    c.expect(1, *frames[5:])
    return c


@case
def what_does_not_fit_the_mtu_goes_without():
    c = Case("with an MTU of 1,500, a packet of 1,461 bytes has no room for 40 bytes of telemetry; "
             "a packet of 1,460 bytes has room", SOURCE)
    c.rule()
    tight, fits = ether() / ip() / udp(1461 - 48), ether() / ip() / udp(1460 - 48)
    total = counted(tight) + counted(fits)
    values = {"ts_ns": NOW, "tx_packets": 2, "tx_bytes": total}
    c.feed(0, tight, fits).forwarded(0, 2)
    c.expect(1, tight, ether() / ip() / telemetry("aligned", 7, 0x7000E000, values) / udp(1460 - 48))
    c.event(0, "no_room_mtu")
    return c.flow(7, rx_packets=2, rx_bytes=total, tx_packets=2, tx_bytes=total, int_packets=1,
                  no_room_mtu=1, mtu_needed=1501)


ROUTE = {"forwarding": "route"}
MACS = ("02:00:00:00:00:0b", "02:00:00:00:01:0b")
NEXT = "02:00:00:00:01:0c"


def routed(src=SRC, dst=DST, hlim=64, to=MACS[0], tags=()):
    """Returns a packet to the router's first port."""
    frame = Ether(src="02:00:00:00:00:0a", dst=to)
    for tag in tags:
        frame = frame / tag
    return frame / IPv6(src=src, dst=dst, hlim=hlim)


def sent(hlim, src=SRC, dst=DST, mac=NEXT, port=1):
    return Ether(src=MACS[port], dst=mac) / IPv6(src=src, dst=dst, hlim=hlim)


@case
def a_router_sends_to_the_next_hop_of_the_longest_prefix():
    c = Case("the router decrements the hop limit and rewrites both MAC addresses; routes are a "
             "longer prefix and the default route",
             TRANSIT, ROUTE).router()
    near, far = "2001:db8:0:1::5", "2a00::5"
    c.route("2001:db8::/32", 1, NEXT).route("2001:db8:0:1::/64", 1, "02:00:00:00:01:0d")
    c.route("::/0", 0, "02:00:00:00:00:0f")
    c.feed(0, routed() / udp(), routed(dst=near, hlim=2) / udp(), routed(dst=far) / udp())
    c.expect(1, sent(63) / udp(), sent(1, dst=near, mac="02:00:00:00:01:0d") / udp())
    c.expect(0, sent(63, dst=far, mac="02:00:00:00:00:0f", port=0) / udp())
    return c.forwarded(0, 3).event(0, "routed_back")


@case
def a_router_drops_what_it_may_not_pass_on():
    c = Case("each reason occurs once or twice, with good packets in between",
             TRANSIT, ROUTE).router()
    c.route("2001:db8::/32", 1, NEXT).route("fe80::/16", 1, NEXT).route("ff00::/8", 1, NEXT)
    good = routed() / udp()
    c.feed(0,
           good,
           Ether(src="02:00:00:00:00:0a", dst=MACS[0]) / ARP(pdst="192.0.2.1"),
           routed(tags=(Dot1Q(vlan=5),)) / udp(),
           routed(to="02:00:00:00:00:99") / udp(),
           routed(to="33:33:00:00:00:01") / udp(),
           routed(to="ff:ff:ff:ff:ff:ff") / udp(),
           good,
           routed(dst="ff0e::1") / udp(),
           routed(dst="fe80::1") / udp(),
           routed(dst="febf::1") / udp(),
           routed(dst="::1") / udp(),
           routed(dst="::") / udp(),
           routed(src="fe80::1") / udp(),
           routed(src="::") / udp(),
           routed(src="ff02::1") / udp(),
           routed(hlim=1) / udp(),
           routed(hlim=0) / udp(),
           routed(dst="2001:db9::1") / udp(),
           good)
    c.expect(1, *[sent(63) / udp()] * 3).forwarded(0, 3)
    c.drop(0, "not_ipv6").drop(0, "vlan_tagged").drop(0, "other_mac").drop(0, "not_routable", 10)
    return c.drop(0, "hop_limit", 2).drop(0, "no_route")


def routed4(src="192.0.2.1", dst="198.51.100.2", ttl=64, to=MACS[0], tags=(), **fields):
    frame = Ether(src="02:00:00:00:00:0a", dst=to)
    for tag in tags:
        frame = frame / tag
    return frame / IP(src=src, dst=dst, ttl=ttl, **fields)


def sent4(ttl, src="192.0.2.1", dst="198.51.100.2", mac=NEXT, port=1, **fields):
    return Ether(src=MACS[port], dst=mac) / IP(src=src, dst=dst, ttl=ttl, **fields)


@case
def a_router_sends_ipv4_to_the_next_hop_of_the_longest_prefix():
    c = Case("the router decrements the TTL, adjusts the checksum and rewrites both MAC addresses; "
             "options and fragments pass; a default route of IPv6 is none of IPv4",
             TRANSIT, ROUTE).router()
    c.route("0.0.0.0/0", 1, NEXT).route("198.51.100.128/25", 1, "02:00:00:00:01:0d")
    c.route("::/0", 0, "02:00:00:00:00:0f")
    near = "198.51.100.200"
    alert = {"options": [IPOption_Router_Alert()]}
    kinds = [{}, {"tos": 0xb8}, {"id": 0xffff}, {"flags": "DF"}, {"flags": "MF"}, {"frag": 3}, alert]
    data = udp()
    c.feed(0, *[routed4(**kind) / data for kind in kinds], routed() / data,
           *[routed4(ttl=ttl, dst=near, id=ttl) / data for ttl in range(2, 18)],
           routed4(proto=132) / Raw(bytes(40)), routed4(proto=1) / ICMP() / Raw(bytes(8)))
    c.expect(1, *[sent4(63, **kind) / data for kind in kinds],
             *[sent4(ttl - 1, dst=near, mac="02:00:00:00:01:0d", id=ttl) / data for ttl in range(2, 18)],
             sent4(63, proto=132) / Raw(bytes(40)), sent4(63, proto=1) / ICMP() / Raw(bytes(8)))
    c.expect(0, sent(63, mac="02:00:00:00:00:0f", port=0) / data)
    return c.forwarded(0, 26).event(0, "routed_back")


@case
def a_router_drops_the_ipv4_that_it_may_not_pass_on():
    c = Case("each reason occurs, with good packets in between",
             TRANSIT, ROUTE).router()
    c.route("0.0.0.0/1", 1, NEXT).route("128.0.0.0/1", 1, NEXT).route("::/0", 1, NEXT)
    c.route("198.51.100.0/24", 1, NEXT)
    good = routed4() / udp()
    stay = ["0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.1.1", "169.254.1.1", "224.0.0.1", "239.1.1.1",
            "240.0.0.1", "255.255.255.255"]
    pass_on = ["1.0.0.0", "126.1.1.1", "128.0.0.1", "169.253.1.1", "169.255.1.1", "223.255.255.255",
               "10.0.0.1"]
    c.feed(0, good,
           *[routed4(dst=address) / udp() for address in stay],
           *[routed4(src=address) / udp() for address in stay],
           good,
           *[routed4(dst=address) / udp() for address in pass_on])
    c.feed(0,
           routed4(tags=(Dot1Q(vlan=5),)) / udp(),
           routed4(to="02:00:00:00:00:99") / udp(),
           routed4(to="01:00:5e:00:00:01") / udp(),
           routed4(to="ff:ff:ff:ff:ff:ff") / udp(),
           routed4(ttl=1) / udp(), routed4(ttl=0) / udp(),
           routed4(chksum=0x1234) / udp(), routed4(chksum=0) / udp(),
           routed4(ihl=4) / udp(), routed4(ihl=6) / udp(), routed4(len=19) / udp(),
           routed4(len=2000) / udp(),
           good)
    c.expect(1, *[sent4(63) / udp()] * 2, *[sent4(63, dst=address) / udp() for address in pass_on],
             sent4(63) / udp())
    c.event(0, "malformed", 4).forwarded(0, 10)
    c.drop(0, "not_routable", 2 * len(stay) + 2).drop(0, "vlan_tagged").drop(0, "other_mac")
    return c.drop(0, "hop_limit", 2).drop(0, "bad_header", 6)


@case
def a_routing_source_stamps_what_it_sends_on():
    c = Case("the source inserts telemetry after the router rewrites MACs and hop limit; dropped "
             "packets count as received",
             SOURCE, ROUTE).router()
    c.rule().route("2001:db8::/32", 1, NEXT)
    n = counted(ether() / ip() / udp())
    c.feed(0, routed() / udp(), routed(hlim=1) / udp(), routed() / udp()).forwarded(0, 2)
    for k in (1, 2):
        values = {"ts_ns": NOW, "tx_packets": k, "tx_bytes": k * n}
        c.expect(1, sent(63) / telemetry("aligned", 7, 0x7000E000, values) / udp())
    c.drop(0, "hop_limit")
    return c.flow(7, rx_packets=3, rx_bytes=3 * n, tx_packets=2, tx_bytes=2 * n, int_packets=2)


@case
def a_routing_transit_node_and_its_entry():
    c = Case("the entry is the same as with other forwarding modes", TRANSIT,
             {"id": 42, **ROUTE}).router()
    c.rule().route("2001:db8::2/128", 1, NEXT)
    values = {"ts_ns": NOW - 5 * MS, "tx_packets": 90, "tx_bytes": 9000}
    n = counted(ether() / ip() / udp())
    mine = hop(42, tx_packets=1, rx_packets=1, ts_ns=NOW, tx_bytes=n, rx_bytes=n)
    c.feed(0, routed() / telemetry("aligned", 7, 0x7000E000, values) / udp()).forwarded(0, 1)
    c.expect(1, sent(63) / telemetry("aligned", 7, 0x7000E000, values, [mine]) / udp())
    return c.flow(7, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n, hop_entries=1)


@case
def a_routing_sink_takes_telemetry_out():
    c = Case("the sink makes a report, and the host gets a packet without telemetry",
             SINK, {"id": 9, **ROUTE}).router()
    c.rule().route("2001:db8::/64", 1, NEXT)
    values = {"ts_ns": NOW - MS, "tx_packets": 5, "tx_bytes": 500}
    n = counted(ether() / ip() / udp())
    c.feed(0, routed() / telemetry("aligned", 7, 0x7000E000, values) / udp()).forwarded(0, 1)
    c.expect(1, sent(63) / udp()).event(0, "stripped")
    return c.flow(7, rx_packets=1, rx_bytes=n, tx_packets=1, tx_bytes=n, sink_packets=1,
                  reports_made=1)


# ---- in band: requests, returning reports, entries with some of the fields ----

# {"int_request": {...}} of the example in docs/wire-flexint.md, encoded by RFC 8949.
def cbor_text(text):
    assert len(text) < 24
    return bytes([0x60 + len(text)]) + text.encode("ascii")


def cbor_uint(n):
    if n < 24:
        return bytes([n])
    return b"\x18" + bytes([n]) if n < 256 else b"\x19" + n.to_bytes(2, "big")


REQUEST_PAIRS = (("ns_id", 7), ("app_id", 1), ("src_ip", SRC), ("dst_ip", DST), ("src_port", 0),
                 ("dst_port", 2000), ("protocol", "udp"), ("trace_type", "0x7000E000"),
                 ("mode", "count"), ("mode_setting", 1))
REQUEST = wire.unknown(wire.REQUEST, b"\xa1" + cbor_text("int_request") + b"\xaa" + b"".join(
    cbor_text(key) + (cbor_text(value) if isinstance(value, str) else cbor_uint(value))
    for key, value in REQUEST_PAIRS))


def report_option(ns_id):
    """{0: ns_id, 1: 0x7000E000}: the part of a report that workers read."""
    return wire.unknown(wire.REPORT, b"\xa2\x00" + cbor_uint(ns_id) + b"\x01\x1a\x70\x00\xe0\x00")


def hbh(*options):
    return IPv6ExtHdrHopByHop(autopad=0, options=padded(list(options)))


@case
def a_request_goes_before_telemetry():
    c = Case("a rule in band: the first packet carries the request in a header of 160 bytes, which "
             "exceeds the headroom; packets carry telemetry from the second on", SOURCE)
    c.rule(in_band=True).offer([REQUEST], ns_id=7, holds=True)
    frame = ether() / ip() / udp(1200)
    n = counted(frame)
    c.feed(0, frame, frame, frame).forwarded(0, 3)
    c.expect(1, ether() / ip() / hbh(REQUEST) / udp(1200))
    for i in (2, 3):
        values = {"ts_ns": NOW, "tx_packets": i, "tx_bytes": i * n}
        c.expect(1, ether() / ip() / telemetry("aligned", 7, 0x7000E000, values) / udp(1200))
    return c.flow(7, rx_packets=3, rx_bytes=3 * n, tx_packets=3, tx_bytes=3 * n, int_packets=2)


@case
def a_request_waits_for_a_packet_with_room():
    c = Case("with an MTU of 1,500, two packets are too long for the request, and telemetry waits; "
             "the third packet carries the request behind its own options", SOURCE)
    c.rule(in_band=True).offer([REQUEST], ns_id=7, holds=True)
    size = len(bytes(hbh(REQUEST)))
    long = [ether() / ip() / udp(1500 - 40 - 8 - size + more) for more in (1, 100)]
    host = [RouterAlert(), PadN(optdata=b"")]
    small = ether() / ip() / IPv6ExtHdrHopByHop(autopad=0, options=host) / udp()
    ours = [REQUEST] + wire.padding(-wire.size([REQUEST]) % 8)
    n = sum(counted(frame) for frame in (*long, small))
    c.feed(0, *long, small).forwarded(0, 3).expect(1, *long)
    c.expect(1, ether() / ip() / IPv6ExtHdrHopByHop(autopad=0, options=host + ours) / udp())
    c.event(0, "no_room_mtu", 2)
    return c.flow(7, rx_packets=3, rx_bytes=n, tx_packets=3, tx_bytes=n, no_room_mtu=2,
                  mtu_needed=1600)


@case
def a_request_not_yet_ready_keeps_telemetry_back():
    c = Case("a rule in band has no request yet", SOURCE)
    c.rule(in_band=True)
    frame = ether() / ip() / udp()
    n = counted(frame)
    c.feed(0, frame, frame).forwarded(0, 2).expect(1, frame, frame)
    return c.flow(7, rx_packets=2, rx_bytes=2 * n, tx_packets=2, tx_bytes=2 * n)


@case
def reports_go_back_in_packets_of_no_rule():
    c = Case("the next packet of the reversed 5-tuple, which no rule has, carries three reports; a "
             "packet of another 5-tuple carries none", SOURCE)
    back = {"src_ip": DST, "dst_ip": SRC, "src_port": 2000, "dst_port": 1000, "protocol": "udp"}
    reports = [report_option(ns_id) for ns_id in (7, 300, 30)]
    c.offer(reports, carrier_of=back)
    other, frame = ether() / ip() / udp(sport=1001), ether() / ip() / udp()
    c.feed(0, other, frame, frame).forwarded(0, 3)
    c.expect(1, other, ether() / ip() / hbh(*reports) / udp(), frame)
    return c


@case
def transit_takes_out_the_reports_of_rules_that_say_so():
    c = Case("a request passes and is punted; the node removes the reports of the namespace whose "
             "rule extracts them, not those of the other; a host's own options stay", TRANSIT)
    for ns_id, port, extract in ((7, 2000, True), (8, 2001, False)):
        c.rule(ns_id, src_ip=DST, dst_ip=SRC, src_port=port, dst_port=1000, extract_report=extract)
    asked = ether() / ip() / hbh(REQUEST) / udp()
    host = [RouterAlert(), PadN(optdata=b"")]
    mine, others = report_option(7), report_option(8)
    ours = [mine] + wire.padding(-wire.size([mine]) % 8)
    behind = ether() / ip() / IPv6ExtHdrHopByHop(autopad=0, options=host + ours) / udp()
    left = ether() / ip() / hbh(others) / udp(dport=2001)
    wrong = ether() / ip() / hbh(others) / udp()
    c.feed(0, asked, behind, ether() / ip() / hbh(mine, mine) / udp(), left, wrong)
    c.expect(1, asked, ether() / ip() / IPv6ExtHdrHopByHop(autopad=0, options=host) / udp(),
             ether() / ip() / udp(), left, wrong).forwarded(0, 5)
    c.signal(0, REQUEST, 0).signal(0, mine, 1)
    c.signal(0, mine, 1, 0, 2).signal(0, mine, 1, 1, 2)
    return c.signal(0, others, 0).signal(0, others, 0)


@case
def a_transit_node_leaves_out_fields_that_did_not_change():
    c = Case("entries have counts of packets if more than two packets came since, no bytes, and "
             "always a stamp; the first, the fourth and the seventh packet have counts", TRANSIT,
             {"id": 5, "partial": {"packets": {"min_change": 2}, "bytes": {"supported": False}}})
    c.rule()
    n = counted(ether() / ip() / udp())
    values = {"ts_ns": NOW - MS, "tx_packets": 9, "tx_bytes": 900}
    for i in range(7):
        c.feed(0, ether() / ip() / telemetry("aligned", 7, 0x7000E000, values) / udp(),
               at_ns=NOW + i)
        counters = {"tx_packets": i + 1, "rx_packets": i + 1} if i % 3 == 0 else {}
        entry = hop(5, 0xC000 if counters else 0x4000, ts_ns=NOW + i, **counters)
        c.expect(1, ether() / ip() / telemetry("aligned", 7, 0x7000E000, values, [entry]) / udp())
    return c.forwarded(0, 7).flow(7, rx_packets=7, rx_bytes=7 * n, tx_packets=7, tx_bytes=7 * n,
                                  hop_entries=7)


CLAMPED = {"mss_clamp": True, "max_hops": 2}
# Of paths of two nodes: a source with its four fields and one entry with three fields. Options of
# 10, 4 + 20 and 24 bytes, 2 bytes of header and 2 of padding, as a multiple of 8.
PATH_BYTES = 64
LIMIT_6, LIMIT_4 = 1500 - PATH_BYTES - 40 - 20, 1500 - 20 - 20


def syn(*options, flags="S", v4=False, tags=(), payload=b"", below=()):
    """Returns a SYN segment with these options, and a payload where one is given."""
    tcp = TCP(sport=1000, dport=2000, flags=flags, seq=1, options=list(options))
    front = IP(src="192.0.2.1", dst="192.0.2.2", id=7) if v4 else ip()
    for header in below:
        front = front / header
    return ether(*tags) / front / tcp / Raw(payload)


def mss(value):
    return ("MSS", value)


@case
def a_syn_segment_gets_a_smaller_mss_on_its_way_to_the_network():
    c = Case("IPv6, IPv4, tags, extension headers, SYN/ACK, a value at an odd offset, two values, "
             "a payload: the MSS that leaves room is announced, and never a larger one", SOURCE,
             CLAMPED)
    usual = [("SAckOK", b""), ("Timestamp", (1, 0)), ("NOP", None), ("WScale", 7)]
    nop = ("NOP", None)
    scale = ("WScale", 7)
    pairs = [
        (lambda m: syn(mss(m), *usual), 1440, LIMIT_6),
        (lambda m: syn(mss(m), *usual, flags="SA"), 8940, LIMIT_6),
        (lambda m: syn(mss(m), flags="SEC", tags=(Dot1Q(vlan=5),)), 1440, LIMIT_6),
        (lambda m: syn(mss(m), tags=(Dot1AD(vlan=9), Dot1Q(vlan=5))), 65535, LIMIT_6),
        (lambda m: syn(nop, mss(m), scale), 1440, LIMIT_6),
        (lambda m: syn(mss(m), nop, mss(m), scale), 1440, LIMIT_6),
        (lambda m: syn(mss(m), payload=b"early data"), 1440, LIMIT_6),
        (lambda m: syn(mss(m), below=(IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)]),)),
         1440, LIMIT_6),
        (lambda m: syn(mss(m), *usual, v4=True), 8960, LIMIT_4),
        (lambda m: syn(mss(m), v4=True, tags=(Dot1Q(vlan=5),)), 1461, LIMIT_4),
    ]
    c.feed(0, *[make(before) for make, before, _ in pairs]).forwarded(0, len(pairs))
    c.expect(1, *[make(after) for make, _, after in pairs])
    return c.event(0, "mss_clamped", len(pairs))


@case
def a_syn_segment_gets_a_smaller_mss_on_its_way_to_a_host():
    c = Case("the other direction; an IPv6 segment that carries telemetry, and a wrong checksum, "
             "which stays wrong by as much", SINK, {**CLAMPED, "id": 2})
    c.rule(protocol="tcp", trace_type="0xF000E000")
    plain, lowered = syn(mss(1440)), syn(mss(LIMIT_6))
    values = {"int_packets": 1, "ts_ns": NOW, "tx_packets": 1, "tx_bytes": counted(plain)}
    carries = (ether() / ip() / telemetry("aligned", 7, 0xF000E000, values) /
               plain.getlayer(TCP))
    wrong, lower = syn(mss(9000), v4=True), syn(mss(LIMIT_4), v4=True)
    for frame in wrong, lower:
        right = TCP(bytes(frame)[34:]).chksum
        frame.getlayer(TCP).chksum = (right + 1000) % 65535
    c.feed(0, carries, wrong).forwarded(0, 2).expect(1, lowered, lower)
    c.event(0, "mss_clamped", 2).event(0, "stripped")
    return c.flow(7, rx_packets=1, rx_bytes=counted(plain), tx_packets=1, tx_bytes=counted(plain),
                  sink_packets=1, reports_made=1)


def with_options(data):
    """Returns a SYN segment with these bytes as options, padded with zeros."""
    data += bytes(-len(data) % 4)
    tcp = TCP(sport=1000, dport=2000, flags="S", dataofs=5 + len(data) // 4)
    return ether() / ip() / tcp / Raw(data)


@case
def segments_whose_mss_is_not_to_be_lowered_stay_as_they_are():
    c = Case("small enough, no SYN, no option, malformed lists, cut headers, fragments, UDP", SOURCE,
             CLAMPED)
    big = b"\x02\x04\xff\xff"
    cut = ether() / ip(plen=18) / Raw(bytes(TCP(flags="S", sport=1, dport=2, chksum=1))[:18])
    long = ether() / ip() / TCP(sport=1000, dport=2000, flags="S", dataofs=15) / Raw(big)
    fragment = ether() / ip() / IPv6ExtHdrFragment(id=3, m=1) / Raw(
        bytes(TCP(flags="S", sport=1, dport=2, options=[mss(9000)], chksum=1)))
    frames = [syn(mss(LIMIT_6)), syn(mss(536)), syn(mss(0)), syn(mss(LIMIT_4), v4=True), syn(),
              syn(mss(9000), flags="A"), syn(mss(9000), flags="R"),
              with_options(big + b"\x03\x00"), with_options(big + b"\x08\x0a\x00\x00"),
              with_options(b"\x03\x01" + big), with_options(big + b"\x01\x01\x01\x05"),
              with_options(b"\x02\x05\xff\xff\x00"), with_options(b"\x02\x03\xff\x00" + big),
              with_options(b"\x00" + big), cut, long, fragment, ether() / ip() / udp()]
    return c.feed(0, *frames).forwarded(0, len(frames)).expect(1, *frames)


@case
def without_mss_clamp_a_syn_segment_stays_as_it_is():
    c = Case("the default", SOURCE)
    frames = [syn(mss(9000)), syn(mss(9000), v4=True)]
    return c.feed(0, *frames).forwarded(0, 2).expect(1, *frames)


def written(directory):
    files = {}
    for name, function in CASES.items():
        path = os.path.join(directory, name, "case.json")
        files[path] = json.dumps(function().done(), indent=1) + "\n"
    return files


def main():
    check = "--check" in sys.argv
    directory = sys.argv[-1]
    stale = 0
    for path, text in written(directory).items():
        if check:
            if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
                print("differs:", path)
                stale += 1
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
