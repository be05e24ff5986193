# SPDX-License-Identifier: BSD-3-Clause
"""Links between nodes with the MTU of the hosts: what the nodes say of it, and what mss_clamp does."""

import json
import subprocess
import sys

from lib import Chain, audit_ok, check, equal, main, need, ports, rule, test, until
from test_cli import PROGRAM

A, B, A4, B4 = "2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"
PROFILE = {"method": "int", "version": "2.1", "max_hops": 2}
NAMES = ["node_id", "hop_latency", "ingress_timestamp"]


def chain_of(workspace, **telemetry):
    """Two nodes: flexint over veth of MTU 1500, INT 2.1 in IPv4 over memif of MTU 1500."""
    chain = Chain(workspace, nodes=2, link="veth", net_mtu=1500,
                  telemetry={"max_hops": 2, **telemetry})
    chain.add_ipv4(PROFILE)
    return chain.start()


def rule_of_int(ns_id):
    return rule(ns_id, A4, B4, "tcp", method="int", instructions=NAMES)


def bulk(chain, source, destination):
    """Sends more TCP data than sockets hold: iperf3 ends when its last data are in a socket, and discards what is
    still there. Returns the MSS that the sender's kernel used."""
    left, right = chain.hosts
    server = right.spawn("iperf3", "-s", "-1", "-B", destination, stdout=subprocess.DEVNULL)
    until(lambda: "5201" in right.run("ss", "-Hltn"), 10, "iperf3 listens")
    report = json.loads(left.run("iperf3", "-J", "-c", destination, "-B", source, "-n", "20M"))
    server.wait(10)
    return report["start"]["tcp_mss_default"]


def counters(node, ns_id):
    return node.call("int_get", ns_id=ns_id)["counters"]


def clamped(node):
    return sum(port["events"]["mss_clamped"] for port in ports(node).values())


@test(path=True)
def bulk_tcp_carries_telemetry_on_links_of_mtu_1500_with_mss_clamp(workspace):
    need("iperf3")
    chain = chain_of(workspace, mss_clamp=True)
    chain.install(rule(1, A, B, "tcp"), rule_of_int(2))
    # An MTU of 1500 less headers of 60 or 40 bytes, less 12 of timestamps, less telemetry of every
    # field: 64 bytes of flexint, 4 + 12 + 2 * 52 of INT 2.1.
    equal(bulk(chain, A, B), 1500 - 60 - 12 - 64, "MSS of IPv6")
    equal(bulk(chain, A4, B4), 1500 - 40 - 12 - 120, "MSS of IPv4")
    for ns_id in (1, 2):
        source, sink = (counters(node, ns_id) for node in chain.nodes)
        check(source["rx_packets"] > 400, "packets", source)
        equal(source["int_packets"], source["rx_packets"], "packets with telemetry")
        equal(source["no_room_mtu"], 0, "packets without room")
        equal(sink["sink_packets"], sink["rx_packets"], "packets with telemetry at the sink")
    # Each of the two connections of each iperf3: both of its SYN segments, by the node that sees
    # them first.
    changed = [clamped(node) for node in chain.nodes]
    check(min(changed) >= 4, "SYN segments that were changed", changed)
    audit_ok(*chain.nodes)


@test(path=True)
def without_mss_clamp_nodes_name_the_mtu_that_bulk_tcp_lacks(workspace):
    need("iperf3")
    chain = chain_of(workspace)
    source = chain.nodes[0]
    # 10 of option 0x31, 4 + 16 of 0x11, an entry of 24, 4 in front, as a multiple of 8.
    flexint = source.call("int_request", **rule(1, A, B, "tcp"))
    equal((flexint["mtu_needed_bytes"], flexint["ports_below_mtu"]), (1564, ["east"]), "rule 1")
    # 4 + 12 and 2 nodes of 16.
    of_int = source.call("int_request", **rule_of_int(2))
    equal((of_int["mtu_needed_bytes"], of_int["ports_below_mtu"]), (1548, ["east4"]), "rule 2")
    equal(source.call("int_get", ns_id=2)["state"]["mtu_needed_bytes"], 1548, "rule 2 again")
    node = source.call("node_get")
    equal((node["mtu_needed_bytes"], node["ports_below_mtu"]), (1620, ["east", "east4"]), "node")
    equal({name: port.get("mtu_needed_bytes") for name, port in ports(source).items()},
          {"west": None, "east": 1564, "west4": None, "east4": 1620}, "ports")
    done = subprocess.run([PROGRAM, "-c", source.api, "rule", "add", "--ns", "3", "--app", "1", "--src", A,
                           "--dst", B, "--proto", "udp", "--trace", "0x70000000", "--mode", "count",
                           "--setting", "1"], capture_output=True, text=True, check=True)
    check("need an MTU of 1540" in done.stdout and "east\n" in done.stdout, done.stdout)
    for source_address, destination in ((A, B), (A4, B4)):
        check(bulk(chain, source_address, destination) > 1400, "MSS")
    for ns_id in (1, 2):
        found = counters(source, ns_id)
        check(found["no_room_mtu"] > 400, "packets without room", found)
        check(found["int_packets"] < found["rx_packets"] / 5, "packets with telemetry", found)
    equal(clamped(source), 0, "SYN segments that were changed")
    equal(source.call("int_request", **rule(4, A, B, "icmp", trace_type="0x80000000"))["mtu_needed_bytes"],
          1524, "a rule that asks transit nodes for nothing")


if __name__ == "__main__":
    sys.exit(main())
