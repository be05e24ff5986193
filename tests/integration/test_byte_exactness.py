# SPDX-License-Identifier: BSD-3-Clause
"""What leaves the sink towards the host equals, byte for byte, what entered the source."""

import os
import sys

import frames as fr
from lib import Node, audit_ok, check, equal, main, need, pcap, ports, rule, test, until

SOURCE, DESTINATION = "2001:db8:1::1", "2001:db8:2::2"
PACKETS = 100000
PROFILES = {layout: {"method": "flexint", "layout": layout} for layout in ("aligned", "paper")}
_NAMES = {fr.UDP: "udp", fr.TCP: "tcp", fr.ICMP6: "icmp"}


def every_trace_type():
    """Rules for a flow for each of the 16 x 8 sets of fields, some with wildcard ports."""
    flows, rules = [], []
    for i in range(128):
        trace_type = (i >> 3) << 28 | (i & 7) << 13
        protocol = (fr.UDP, fr.TCP)[i % 2] if i else fr.ICMP6
        sport, dport = (0, 0) if i == 0 else (5000 + i if i % 3 == 0 else 0, 6000 + i)
        flows.append((SOURCE, DESTINATION, protocol, sport, dport))
        rules.append(rule(i + 1, SOURCE, DESTINATION, _NAMES[protocol], sport, dport,
                          f"0x{trace_type:08X}", transmit_report=False))
    return flows, rules


def pass_through(workspace, node_id, sides, captures, n, rules, profile):
    """A node that reads a capture on its first port and writes another on its second."""
    # After the end of its capture, the port stays and receives nothing.
    both = [pcap("in", 0, sides[0], rx=captures[0], mtu=9000 if sides[0] == "host" else 9200),
            pcap("out", 1, sides[1], tx=captures[1], mtu=9000 if sides[1] == "host" else 9200)]
    for port in both:
        if port["side"] == "network":
            port["profile"] = profile
    node = Node(workspace, node_id, both, profiles=PROFILES,
                requests=[{"int_request": r} for r in rules], memory={"mbufs": 4096})
    node.start()
    equal(node.call("node_get")["profiles"], PROFILES, "profiles")
    equal([port.get("profile") for port in ports(node).values()],
          [profile if side == "network" else None for side in sides], "profiles of ports")
    until(lambda: ports(node)["in"]["rx_packets"] == n and
          ports(node)["out"]["tx_packets"] == n, 60,
          lambda: f"{n} packets pass node {node_id}: {ports(node)}")
    audit_ok(node)
    code, _ = node.stop()
    equal(code, 0, "exit code")
    return list(fr.read_pcap(captures[1]))


def chain_is_byte_exact(workspace, n, layout):
    flows, rules = every_trace_type()
    shapes = list(fr.Shapes(20, flows).frames(n))
    sent = [frame for frame, _ in shapes]
    files = [workspace.path(f"{name}.pcap") for name in ("host", "one", "two", "back")]
    fr.write_pcap(files[0], sent)

    one = pass_through(workspace, 1, ("host", "network"), files[0:2], n, rules, layout)
    for (frame, matches), out in zip(shapes, one):
        carried = fr.telemetry_of(out) is not None
        check(matches is None or carried == matches,
              "telemetry" if carried else "no telemetry", "in", frame[:120].hex())
        check(carried or out == frame, "changed without telemetry:", frame[:120].hex())

    two = pass_through(workspace, 2, ("network", "network"), files[1:3], n, rules,
                       layout)
    for before, after in zip(one, two):
        check_transit(fr.telemetry_of(before), fr.telemetry_of(after), layout)

    os.unlink(files[1])
    back = pass_through(workspace, 3, ("network", "host"), files[2:4], n, rules,
                        layout)
    for i, (frame, got) in enumerate(zip(sent, back)):
        check(frame == got, f"packet {i}: sent {frame[:160].hex()} got {got[:160].hex()}")
    equal(len(back), n, "packets that left")


def check_transit(before, after, layout):
    equal(before is None, after is None, "telemetry after the transit node")
    if before is None:
        return
    equal(after["ns_id"], before["ns_id"], "namespace")
    equal(after.get("e2e"), before.get("e2e"), "the source's entry")
    wanted = before["trace_type"] & 0xE000
    # If the header is full, the entry is left out. Nothing else may be missing.
    check(after["hops"] or not wanted, "no entry for", hex(before["trace_type"]))
    if wanted:
        equal([(h["node_id"], h["bitmap"]) for h in after["hops"]], [(2, wanted)], "entry")
    # Behind options of the host, both layouts begin at a multiple of eight.
    check(after["offset"] % 8 in (0, 4 if layout == "aligned" else 2), "place of option 0x31")


@test(limit_s=180, path=True)
def a_hundred_thousand_packets_of_every_shape_leave_the_sink_as_they_entered_the_source(workspace):
    need()
    chain_is_byte_exact(workspace, PACKETS, "aligned")


@test(limit_s=60, path=True)
def the_layout_of_the_paper_is_byte_exact_too(workspace):
    need()
    chain_is_byte_exact(workspace, PACKETS // 10, "paper")


if __name__ == "__main__":
    sys.exit(main())
