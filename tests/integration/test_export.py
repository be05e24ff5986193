# SPDX-License-Identifier: BSD-3-Clause
"""Telemetry reports of nodes, as a plain UDP socket receives them."""

import ipaddress
import socket
import struct

import telemetry_reports
from lib import (SO_RCVBUFFORCE, Chain, InNamespace, RawPort, audit_ok, check, drops, equal, iface, main, need,
                 ports, run, test, until, veth)
from netlab import mac_of
from test_int import A4, A6, B4, B6, MD, int_rule, send_udp, sockets
from test_wireshark import tshark

PORT = 32766


class Collector:
    """A namespace with an interface for each node that it knows, and a socket."""

    def __init__(self, workspace):
        self.namespace = workspace.namespace("collector")
        with InNamespace(self.namespace):
            self.socket = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.socket.bind(("::", PORT))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)

    def export_of(self, node, **more):
        """Gives a node a port to the collector, once, and a receiver of its reports over it."""
        number = node.config["node"]["id"]
        name, ipv6 = f"c{number}", more.pop("ipv6", False)
        if not any(port["name"] == "mon" for port in node.config["ports"]):
            veth(self.namespace, name, node.namespace, "mon")
            run("ip", "-n", self.namespace, "addr", "add", f"198.51.{number}.9/24", "dev", name)
            run("ip", "-n", self.namespace, "addr", "add", f"2001:db8:{number}::9/64", "dev", name, "nodad")
            node.config["ports"].append(iface("mon", "mon", "host"))
        ends = (f"[2001:db8:{number}::9]", f"2001:db8:{number}::1") if ipv6 else \
               (f"198.51.{number}.9", f"198.51.{number}.1")
        node.config.setdefault("export", []).append(
            {"to": f"{ends[0]}:{PORT}", "port": "mon", "from": ends[1],
             "mac": mac_of(self.namespace, name), **more})

    def receive(self, n, limit_s=5):
        """n reports, as (sending node, report). One more would be one too many."""
        found = []
        self.socket.settimeout(limit_s)
        try:
            while len(found) <= n:
                data, sender = self.socket.recvfrom(2000)
                reports = telemetry_reports.read(data)
                equal(len(reports), 1, "reports in a datagram")
                address = ipaddress.ip_address(sender[0])
                address = address.ipv4_mapped or address
                number = address.packed[2] if address.version == 4 else address.packed[5]
                found.append((number, reports[0]))
                if len(found) == n:
                    self.socket.settimeout(0.3)
        except TimeoutError:
            pass
        equal(len(found), n, "reports")
        return found


def sequences(found):
    """No number is left out and none comes twice, for each node, hw_id and format."""
    numbers = {}
    for number, report in found:
        numbers.setdefault((number, report.hw_id, report.version), []).append(report.sequence)
    for of, sequence in numbers.items():
        equal(sequence, list(range(len(sequence))), f"sequence numbers of {of}")
    return {of: len(sequence) for of, sequence in numbers.items()}


def total(node, name):
    return next(s["value"] for s in node.call("stats_get")["stats"] if s["name"] == f"hopsight_{name}_total")


def chain_of(workspace, profile, n, prepare):
    """Hosts and n nodes on veth, with one profile between the nodes; prepare gets the nodes before they start."""
    chain = Chain(workspace, n, link="veth", profiles={"dc": profile})
    for node in chain.nodes:
        for port in node.config["ports"]:
            if port["side"] == "network":
                port["profile"] = "dc"
    chain.address_ipv4()
    prepare(*chain.nodes)
    return chain.start()


def dropped_at(node):
    """Drops at the ports of the path: the collector's kernel speaks to the third port, which has no pair."""
    return {name: sum(port["drops"].values()) - sum(node.at_start[name]["drops"].values())
            for name, port in ports(node).items() if name != "mon"}


def check_stack(frame, ids):
    """The copy of a packet of INT-MD, cut anywhere: the stack that is whole in it."""
    ipv6 = struct.unpack_from("!H", frame, 12)[0] == 0x86DD
    transport = 14 + (40 if ipv6 else 4 * (frame[14] & 15))
    traffic_class = struct.unpack_from("!H", frame, 14)[0] >> 4 & 255 if ipv6 else frame[15]
    equal(traffic_class >> 2, 32, "DSCP that marks INT")
    shim = transport + 8
    words, hop_words = frame[shim + 1], frame[shim + 6] & 31
    equal((words - 3) // hop_words, len(ids), "hops")
    first = shim + 4 + 12
    equal([struct.unpack_from("!I", frame, first + 4 * hop_words * k)[0] for k in range(len(ids))], ids, "nodes")


@test()
def a_sink_sends_a_report_of_each_packet_in_each_format(workspace):
    need("tshark")
    collector = Collector(workspace)

    def prepare(_, __, sink):
        for hw_id, form in enumerate(("0.5", "1.0", "2.0")):
            collector.export_of(sink, format=form, hw_id=hw_id, ipv6=form == "1.0", bytes=256)
        sink.config["ports"][1]["id"] = 70

    chain = chain_of(workspace, MD, 3, prepare)
    sink = chain.nodes[-1]
    wire = RawPort(collector.namespace, "c3")
    chain.install(int_rule(1, "udp", A6, B6, dst_port=7000), int_rule(2, "udp", A4, B4, dst_port=7000))
    for a, b in ((A6, B6), (A4, B4)):
        send_udp(chain, a, b, 7000)
    found = collector.receive(240)
    equal(sequences(found), {(3, 0, "0.5"): 80, (3, 1, "1.0"): 80, (3, 2, "2.0"): 80}, "reports")
    times = {}
    for _, report in found:
        v = report.values
        check(report.f and not report.q and not report.d, report)
        equal((report.node_id, v["ingress_port"], v["egress_port"]), (3, 1, 70), "node and ports")
        check("queue_packets" not in v and "utilisation" not in v, "a port without a queue", v)
        equal(v.get("hop_latency", 0), (v["egress_ns"] - v["ingress_ns"]) % 2**32 if "hop_latency" in v else 0,
              "latency")
        times.setdefault(report.version, []).append(v["ingress_ns"] & 0xFFFFFFFF)
        check_stack(report.packet, [2, 1])
    equal(times["0.5"], times["1.0"], "times of receipt")
    equal(times["0.5"], times["2.0"], "times of receipt")
    equal([total(sink, "exports_" + name) for name in ("sent", "lost_tx_full", "lost_no_mbuf", "over_quota")],
          [240, 0, 0, 0], "counters")
    frames = wire.collect(240)
    equal(len(frames), 240, "frames")
    output = tshark(workspace, "reports", frames, f"version:2.1 mark:dscp dscp:32 report_ports:{PORT}",
                    "-T", "fields", "-e", "hopsight.report.version_name", "-e", "hopsight.report.sequence",
                    "-e", "hopsight.report.egress_port", "-e", "hopsight.malformed", "-e", "hopsight.mismatch",
                    "-e", "udp.checksum.status", "-e", "ip.checksum.status")
    lines = [line.split("\t") for line in output.splitlines()]
    equal(sorted((line[0], int(line[1])) for line in lines),
          sorted((form, n) for form in ("0.5", "1.0", "2.0") for n in range(80)), "what tshark reads")
    equal({tuple(line[2:5]) for line in lines}, {("70", "", "")}, "nothing is malformed")
    audit_ok(*chain.nodes)
    for node in chain.nodes:
        equal(dropped_at(node), {"west": 0, "east": 0}, f"drops of {node.name}")


def open_receiver(node):
    """A UDP socket on the node's own machine, for both versions of IP."""
    with InNamespace(node.namespace):
        receiver = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 22)
    receiver.bind(("::", PORT))
    receiver.settimeout(5)
    return receiver


def receive_all(receiver, limit_s=0.5):
    """Reports and their senders, until none comes."""
    found = []
    try:
        while True:
            data, sender = receiver.recvfrom(2000)
            found.append((sender[0], telemetry_reports.read(data)[0]))
            receiver.settimeout(limit_s)
    except TimeoutError:
        return found


def lost_to(node):
    """Receivers and reasons of the events about lost reports."""
    return sorted((event["to"], event["reason"]) for event in node.call("events", since=0)["events"]
                  if event["kind"] == "exports_lost")


@test()
def a_port_that_comes_back_sends_reports_from_its_new_address(workspace):
    need()
    collector = Collector(workspace)
    chain = chain_of(workspace, MD, 2, lambda _, sink: collector.export_of(sink, format="2.0"))
    sink = chain.nodes[-1]
    chain.install(int_rule(1, "udp", A6, B6, dst_port=7000))

    def source_addresses():
        wire = RawPort(collector.namespace, "c2")
        send_udp(chain, A6, B6, 7000)
        return {frame[6:12].hex(":") for frame in wire.collect(40) if struct.pack("!H", PORT) in frame[14:42]}

    first = mac_of(sink.namespace, "mon")
    equal(source_addresses(), {first}, "before")
    run("ip", "-n", sink.namespace, "link", "del", "mon")
    until(lambda: not ports(sink)["mon"]["usable"], 5, "the port is gone")
    veth(collector.namespace, "c2", sink.namespace, "mon")
    until(lambda: ports(sink)["mon"]["usable"], 10, "the port is back")
    check(mac_of(sink.namespace, "mon") != first, "the new interface has the old address")
    equal(source_addresses(), {mac_of(sink.namespace, "mon")}, "after")
    audit_ok(sink)


@test()
def a_receiver_without_a_port_gets_reports_from_a_socket(workspace):
    """Both versions of IP and all formats; the receiver closes and opens again, and a route comes late."""
    need()
    receivers = [{"format": "0.5", "to": f"127.0.0.1:{PORT}", "from": "127.0.0.7"},
                 {"format": "1.0", "to": f"[::1]:{PORT}", "hw_id": 1},
                 {"format": "2.0", "to": f"127.0.0.1:{PORT}", "hw_id": 2, "bytes": 512},
                 {"format": "2.0", "to": f"198.51.100.9:{PORT}", "hw_id": 3}]
    chain = chain_of(workspace, MD, 2, lambda _, sink: sink.config.update(export=receivers))
    sink = chain.nodes[-1]
    chain.install(int_rule(1, "udp", A6, B6, dst_port=7000), int_rule(2, "udp", A4, B4, dst_port=7000))

    def send():
        """80 packets, and waits until control has sent or lost their reports."""
        handed = total(sink, "exports_handed") + 4 * 80
        send_udp(chain, A6, B6, 7000)
        send_udp(chain, A4, B4, 7000)
        until(lambda: sum(total(sink, "exports_" + name) for name in
                          ("sent", "lost_refused", "lost_unreachable")) == handed, 5, "no report waits")

    receiver = open_receiver(sink)
    send()
    found = receive_all(receiver)
    equal(sequences(found), {("::ffff:127.0.0.7", 0, "0.5"): 80, ("::1", 1, "1.0"): 80,
                             ("::ffff:127.0.0.1", 2, "2.0"): 80}, "reports")
    for _, report in found:
        equal((report.node_id, report.values["ingress_port"], report.values["egress_port"]), (2, 1, 2))
        check_stack(report.packet, [1])
    equal((total(sink, "exports_sent"), total(sink, "exports_lost_unreachable")), (240, 80), "counters")
    audit_ok(sink)

    receiver.close()
    send()
    check(total(sink, "exports_lost_refused") > 0, "nobody refused")
    until(lambda: len(lost_to(sink)) == 4, 5, "an event for each receiver")
    equal(lost_to(sink), sorted([*[(each["to"], "Connection refused") for each in receivers[:3]],
                                 (receivers[3]["to"], "Network is unreachable")]), "events")

    receiver = open_receiver(sink)
    run("ip", "-n", sink.namespace, "addr", "add", "198.51.100.9/32", "dev", "lo")

    def reached():
        lost = total(sink, "exports_lost_unreachable")
        send()
        return total(sink, "exports_lost_unreachable") == lost

    until(reached, 5, "a way that came late")
    numbers = {}
    for _, report in receive_all(receiver):
        numbers.setdefault(report.hw_id, []).append(report.sequence)
    for hw_id, of in numbers.items():
        equal(of, list(range(of[0], of[0] + len(of))), f"sequence numbers of {hw_id}")
    equal(numbers[3][0], 0, "the first report that had a way")
    check(all(numbers[hw_id][0] >= 80 for hw_id in (0, 1, 2)), numbers)
    equal(sum(of[-1] + 1 for of in numbers.values()), total(sink, "exports_sent"), "numbers given")
    audit = sink.call("audit")
    check("exports_handed" in [each["name"] for each in audit["equations"]], audit)
    audit_ok(*chain.nodes)


@test()
def each_node_of_mx_sends_what_packets_ask_for(workspace):
    need()
    collector = Collector(workspace)
    chain = chain_of(workspace, {**MD, "mode": "mx"}, 3,
                     lambda *nodes: [collector.export_of(node) for node in nodes])
    chain.nodes[0].client.transaction([{"int_request": int_rule(1, "udp", A6, B6, dst_port=7000)}])
    send_udp(chain, A6, B6, 7000)
    found = collector.receive(120)
    equal(sequences(found), {(n, 0, "2.0"): 40 for n in (1, 2, 3)}, "reports")
    sent = {}
    for number, report in found:
        v = report.values
        equal(report.node_id, number, "node")
        equal(sorted(v), ["egress_ns", "egress_port", "hop_latency", "ingress_ns", "ingress_port"], "values")
        equal((v["ingress_port"], v["egress_port"], v["hop_latency"]), (1, 2, v["egress_ns"] - v["ingress_ns"]))
        sent.setdefault(number, []).append(report.packet[54:58])
    equal((sent[2], sent[3]), (sent[1], sent[1]), "UDP ports of the packets")
    audit_ok(*chain.nodes)
    for node in chain.nodes:
        equal((total(node, "exports_sent"), dropped_at(node)), (40, {"west": 0, "east": 0}), node.name)


@test()
def drops_and_deep_queues_are_reported_with_what_they_met(workspace):
    """INT-XD at a source whose link is slow: 100 datagrams at once, of which 21 have a place."""
    need()
    collector = Collector(workspace)

    def prepare(source, sink):
        source.config["ports"][1].update(rate_bps=400000, queue_packets=20)
        collector.export_of(source, drops=True, queue_packets=5, queue_quota=3, bytes=80)
        collector.export_of(sink, format="1.0", drops=True, on="change", latency_change_ns=10**9)

    chain = chain_of(workspace, {**MD, "mode": "xd"}, 2, prepare)
    source, sink = chain.nodes
    names = ["node_id", "ports", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp"]
    chain.install({**int_rule(1, "udp", A6, B6, dst_port=7000), "instructions": names})
    _server, client = sockets(chain, socket.SOCK_DGRAM, A6, B6, 7000)
    for i in range(100):
        client.sendto(struct.pack("!I", i) * 50, (B6, 7000))
    until(lambda: total(source, "exports_sent") == 103, 5, "a report of each packet")
    lost = drops(source)["queue_full"]
    until(lambda: total(sink, "exports_sent") + total(sink, "exports_unchanged") == 100 - lost, 5,
          "packets at the sink")
    found = collector.receive(100 + 3 + 1)
    equal(sequences(found), {(1, 0, "2.0"): 103, (2, 0, "1.0"): 1}, "reports")
    of_source = [report for number, report in found if number == 1]
    dropped = [report for report in of_source if report.d]
    deep = [report for report in of_source if "utilisation" in report.values] # a flow's report has none
    passed = [report for report in of_source if not report.d and report not in deep]
    equal((len(dropped), len(deep), len(passed)), (lost, 3, 100 - lost), "reports of each kind")
    for report in dropped:
        equal(report.values, {**report.values, "ingress_port": 1, "egress_port": 2, "drop_reason": 51})
    equal([report.values["queue_packets"] for report in deep], [5, 6, 7], "depth of a deep queue")
    for report in deep + passed:
        v = report.values
        equal(report.q, v["queue_packets"] >= 5, "Q")
        equal(v["egress_ns"] - v["ingress_ns"], v["hop_latency"], "time in the queue")
        equal(len(report.packet), 80, "copy of a packet")
    equal(max(report.values["queue_packets"] for report in passed), 20, "greatest depth")
    report = next(report for number, report in found if number == 2)
    equal((report.node_id, report.values["ingress_port"], report.values["egress_port"]), (2, 1, 2), "sink")
    equal((total(sink, "exports_sent"), total(sink, "exports_unchanged")), (1, 99 - lost), "changes")
    audit_ok(source, sink)


if __name__ == "__main__":
    main()
