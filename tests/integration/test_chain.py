# SPDX-License-Identifier: BSD-3-Clause
"""Source, two transit nodes and sink: what the hosts see, what is published, and the sums."""

import json
import statistics
import subprocess
import sys

import frames as fr
from lib import (Chain, RawPort, Refused, Subscriber, audit_ok, check, drops, equal, main, need, pings, ports,
                 quiet, rule, run, test, until)

A, B = "2001:db8::1", "2001:db8::2"


def numbered(host, other, n, size=500, dport=5001):
    """UDP frames from one host's address to the other's, each with its number."""
    return [fr.udp_frame(host.address, other.address, 4000, dport,
                         i.to_bytes(4, "big") + bytes(size - 4),
                         destination=fr.mac(other.mac), source=fr.mac(host.mac)) for i in range(n)]


def packets_arrive_and_reports_say_so(workspace, link, n=200):
    chain = Chain(workspace, link=link).start()
    left, right = chain.hosts
    chain.install(rule(7, A, B, dst_port=5001, mode="count", mode_setting=10))
    subscriber = Subscriber(chain.nodes[-1].publisher)
    subscriber.wait_connected(chain.nodes[-1])
    receiver = RawPort(right.namespace, "eth0")
    sender = RawPort(left.namespace, "eth0")
    frames = numbered(left, right, n)
    sender.send(*frames)
    equal(receiver.collect(n, 10, lambda f: f in frames), frames, "frames at the far host")

    messages = [body["int_report"] for _, body in subscriber.collect(n // 10, 10, "report.7")]
    equal(len(messages), n // 10, "reports of every tenth packet")
    for i, report in enumerate(messages):
        check_report(report, first=messages[0], index=i)
    equal([m["seq"] for m in messages],
          list(range(messages[0]["seq"], messages[0]["seq"] + len(messages))), "no gap in seq")
    audit_ok(*chain.nodes)
    for node in chain.nodes:
        equal(drops(node), {}, f"drops of {node.name}")


def check_report(report, first, index):
    size = 562
    packets = first["e2e"]["tx_packets"] + 10 * index
    equal(report["ns_id"], 7, "namespace")
    equal(report["trace_type"].upper(), "0X7000E000", "trace type")
    equal(report["e2e"]["tx_packets"], packets, "packets of the source")
    equal(report["e2e"]["tx_bytes"], packets * size, "bytes of the source")
    equal(report["sink"]["rx_packets"], packets, "packets of the sink")
    equal(report["sink"]["rx_bytes"], packets * size, "bytes of the sink")
    equal([hop["node_id"] for hop in report["hops"]], [2, 3], "path")
    stamps = [report["e2e"]["ts_ns"]]
    for hop in report["hops"]:
        equal((hop["rx_packets"], hop["tx_packets"]), (packets, packets), "packets of a hop")
        equal((hop["rx_bytes"], hop["tx_bytes"]), (packets * size,) * 2, "bytes of a hop")
        stamps.append(hop["ts_ns"])
    stamps.append(report["sink"]["ts_ns"])
    # The clocks of four processes on one machine differ by far less than a hop takes on a busy
    # machine.
    for earlier, later in zip(stamps, stamps[1:]):
        check(-200000 < later - earlier < 500000000, "delays", stamps)


@test(path=True)
def packets_cross_four_nodes_over_veth_unchanged_and_reports_have_every_count(workspace):
    need()
    packets_arrive_and_reports_say_so(workspace, "veth")


@test(path=True)
def packets_cross_four_nodes_over_memif_unchanged_and_reports_have_every_count(workspace):
    need()
    packets_arrive_and_reports_say_so(workspace, "memif")


def add_ipv4(*hosts):
    for i, host in enumerate(hosts, 1):
        run("ip", "-n", host.namespace, "addr", "add", f"192.0.2.{i}/24", "dev", "eth0")


def ipv4_reaches(left, address, *options):
    pings(left, 10, "-i", "0.01", *options, address)


@test(path=True)
def ipv4_of_kernel_hosts_crosses_pairs_beside_measured_ipv6(workspace):
    need("ping", "iperf3")
    chain = Chain(workspace).start()
    left, right = chain.hosts
    add_ipv4(left, right)
    chain.install(rule(3, A, B, "icmp", mode="count", mode_setting=1))
    for options in ((), ("-s", "4000"), ("-R",), ("-t", "1")):  # fragments, options, a node is no hop
        ipv4_reaches(left, "192.0.2.2", *options)
    for words in ((), ("-u", "-b", "10M")):
        server = right.spawn("iperf3", "-s", "-1", "-B", "192.0.2.2", stdout=subprocess.DEVNULL)
        until(lambda: "5201" in right.run("ss", "-Hltn"), 10, "iperf3 listens")
        report = json.loads(left.run("iperf3", "-J", "-c", "192.0.2.2", "-t", "1", *words))
        server.wait(10)
        check(report["end"]["sum" if words else "sum_received"]["bytes"] > 500000, "bytes", report["end"])
    before = chain.nodes[-1].call("int_get", ns_id=3)["counters"]["reports_made"]
    ipv4_reaches(left, B)
    after = chain.nodes[-1].call("int_get", ns_id=3)["counters"]["reports_made"]
    equal(after - before, 10, "reports of the pings of IPv6")
    try:
        chain.nodes[0].call("int_request", **rule(4, "192.0.2.1", "192.0.2.2"))
        check(False, "a rule between IPv4 addresses was taken")
    except Refused as refused:
        check("method flexint needs IPv6 addresses" in str(refused), str(refused))
    audit_ok(*chain.nodes)


@test(path=True)
def windows_of_one_second_name_every_hop_with_all_five_metrics(workspace):
    need("ping")
    chain = Chain(workspace).start()
    chain.install(rule(3, A, B, "icmp"))
    subscriber = Subscriber(chain.nodes[-1].publisher, "qos.3")
    # ping rounds its waits up by 4 ms and more after a quick answer.
    ping = chain.hosts[0].spawn("ping", "-q", "-c", "500", "-i", "0.005", B, log="ping.log")

    def full_window():
        message = subscriber.receive(4)
        report = message and message[1]["qos_report"]
        full = report and report["window_ns"] == 10**9 and report["reports"] > 80
        return report if full else None

    report = until(full_window, 10, "a window of one second full of reports")
    equal(report["path"], [0, 2, 3, 4] if report["path"][0] == 0 else [1, 2, 3, 4], "path")
    equal([(h["from"], h["to"]) for h in report["hops"]],
          list(zip(report["path"], report["path"][1:])), "hops")
    for hop in [*report["hops"], report["e2e"]]:
        equal(hop["loss_ratio"], 0, "loss")
        for key in ("throughput_bps", "delay_ns", "jitter_ns", "tx_packets", "rx_packets"):
            check(key in hop, key, hop)
    mean = [hop["delay_ns"]["mean"] for hop in report["hops"]]
    check(abs(sum(mean) - report["e2e"]["delay_ns"]["mean"]) <= len(mean), "delays add up", report)
    ping.wait(20)


@test(path=True)
def windows_are_of_the_lengths_that_the_configuration_lists(workspace):
    need("ping")
    chain = Chain(workspace, telemetry={"windows_ms": [100, 500]}).start()
    sink = chain.nodes[-1]
    chain.install(rule(3, A, B, "icmp"))
    subscriber = Subscriber(sink.publisher, "qos.3")
    ping = chain.hosts[0].spawn("ping", "-q", "-c", "200", "-i", "0.01", B, log="ping.log")
    short, long = [], []

    def both():
        message = subscriber.receive(4)
        report = message and message[1]["qos_report"]
        if report and not report["stale"]:
            {10**8: short, 5 * 10**8: long}[report["window_ns"]].append(report)
        return len(long) > 1

    until(both, 10, "windows of two lengths")
    for report in short:
        equal(report["end_ns"] % 10**8, 0, "end")
        equal(report["end_ns"] - report["start_ns"], 10**8, "length")
    parts = [r["reports"] for r in short if long[1]["start_ns"] <= r["start_ns"] < long[1]["end_ns"]]
    check(len(parts) <= 5, "short windows of a long one", parts)
    # One that a pause filled may have more.
    check(statistics.median(report["reports"] for report in short) <= 12, short)
    equal(sum(parts), long[1]["reports"], "reports")
    equal({w["window_ns"] for w in sink.call("qos_get", ns_id=3)["qos"]}, {10**8, 5 * 10**8}, "qos_get")
    equal([w["window_ns"] for w in sink.call("qos_get", ns_id=3, window="100ms")["qos"]], [10**8],
          "qos_get of one length")
    refused = json.loads(sink.client.raw(b'{"qos_get": {"ns_id": 3, "window": "1s"}}'))["error"]
    equal((refused["code"], refused["expected"]), ("out_of_range", "100ms, 500ms or run"), "1s")
    ping.wait(20)


@test(path=True)
def a_node_that_is_told_not_to_writes_no_entry_and_counts_on(workspace):
    need()
    chain = Chain(workspace).start()
    left, right = chain.hosts
    chain.install(rule(7, A, B, dst_port=5001))
    chain.nodes[1].call("int_update", ns_id=7, hop_enabled=False)
    subscriber = Subscriber(chain.nodes[-1].publisher)
    subscriber.wait_connected(chain.nodes[-1])
    frames = numbered(left, right, 20)
    receiver = RawPort(right.namespace, "eth0")
    RawPort(left.namespace, "eth0").send(*frames)
    equal(receiver.collect(20, 5, lambda f: f in frames), frames, "frames")
    reports = [b["int_report"] for _, b in subscriber.collect(20, 5, "report.7")]
    equal([[h["node_id"] for h in r["hops"]] for r in reports], [[3]] * 20, "entries")
    counters = chain.nodes[1].call("int_get", ns_id=7)["counters"]
    equal((counters["rx_packets"], counters["hop_entries"]), (20, 0), counters)


@test(path=True)
def a_namespace_that_a_transit_node_does_not_know_passes_it_untouched(workspace):
    need()
    chain = Chain(workspace, nodes=3).start()
    left, right = chain.hosts
    for node in (chain.nodes[0], chain.nodes[2]):
        node.call("int_request", **rule(7, A, B, dst_port=5001))
    frames = numbered(left, right, 20)
    receiver = RawPort(right.namespace, "eth0")
    RawPort(left.namespace, "eth0").send(*frames)
    equal(receiver.collect(20, 5, lambda f: f in frames), frames, "frames")
    equal(ports(chain.nodes[1])["west"]["events"]["unknown_namespace"], 20, "counted")
    equal(chain.nodes[2].call("int_get", ns_id=7)["counters"]["reports_made"], 20, "reports")


@test(path=True)
def a_namespace_that_the_sink_does_not_know_is_stripped_all_the_same(workspace):
    need()
    chain = Chain(workspace, nodes=2).start()
    left, right = chain.hosts
    chain.nodes[0].call("int_request", **rule(7, A, B, dst_port=5001))
    frames = numbered(left, right, 20)
    receiver = RawPort(right.namespace, "eth0")
    RawPort(left.namespace, "eth0").send(*frames)
    equal(receiver.collect(20, 5, lambda f: f in frames), frames, "frames")
    equal(ports(chain.nodes[1])["west"]["events"]["unknown_namespace"], 20, "counted")


def host_telemetry(host, other, payload):
    """A lying host: telemetry of an existing namespace, with an entry of node 99."""
    entry = (99).to_bytes(2, "big") + b"\x00\x00"
    options = fr.telemetry_options(7, 0x00000000, [entry])
    source, destination = fr.address(host.address), fr.address(other.address)
    body = fr.udp(source, destination, 4000, 5001, payload)
    return fr.ethernet(fr.ipv6(source, destination, fr.HOP_BY_HOP,
                               fr.options_header(fr.UDP, options) + body),
                       destination=fr.mac(other.mac), source=fr.mac(host.mac))


@test(path=True)
def telemetry_from_a_host_is_stripped_counted_and_never_believed(workspace):
    need()
    chain = Chain(workspace, nodes=2).start()
    left, right = chain.hosts
    chain.install(rule(7, A, B, dst_port=5001))
    subscriber = Subscriber(chain.nodes[-1].publisher)
    subscriber.wait_connected(chain.nodes[-1])
    receiver = RawPort(right.namespace, "eth0")
    RawPort(left.namespace, "eth0").send(host_telemetry(left, right, b"lie" * 20))
    plain = fr.udp_frame(A, B, 4000, 5001, b"lie" * 20, destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    equal(receiver.collect(1, 5, lambda f: f[:14] == plain[:14]), [plain], "what the host gets")
    report = next(b["int_report"] for _, b in subscriber.collect(1, 5, "report.7"))
    equal(report["hops"], [], "entries that the sink believes")
    equal(ports(chain.nodes[0])["west"]["events"]["host_telemetry_stripped"], 1, "counted")


@test(path=True)
def telemetry_from_a_host_is_dropped_and_counted_where_the_policy_says_so(workspace):
    need()
    chain = Chain(workspace, nodes=2, telemetry={"host_side_policy": "drop"}).start()
    left, right = chain.hosts
    receiver = RawPort(right.namespace, "eth0")
    frames = numbered(left, right, 1)
    RawPort(left.namespace, "eth0").send(host_telemetry(left, right, b"lie"), *frames)
    equal(receiver.collect(1, 5, lambda f: f[6:12] == fr.mac(left.mac)), frames, "what arrives")
    equal(drops(chain.nodes[0]), {"host_telemetry": 1}, "drops")
    audit_ok(*chain.nodes)


@test(path=True)
def telemetry_that_does_not_fit_the_mtu_is_left_out_counted_and_explained(workspace):
    need()
    chain = Chain(workspace, nodes=3, host_mtu=1500, net_mtu=1500, link="veth").start()
    left, right = chain.hosts
    chain.install(rule(7, A, B, dst_port=5001))
    frames = numbered(left, right, 50, size=1500 - 48)
    receiver = RawPort(right.namespace, "eth0")
    RawPort(left.namespace, "eth0").send(*frames)
    equal(receiver.collect(50, 5, lambda f: f in frames), frames, "frames")
    counters = chain.nodes[0].call("int_get", ns_id=7)["counters"]
    equal((counters["no_room_mtu"], counters["int_packets"]), (50, 0), counters)

    def told():
        return [e for e in chain.nodes[0].call("events", since=0)["events"]
                if e["kind"] == "no_room_mtu"]

    event = until(told, 5, "an event says so")[0]
    # 1500 bytes and 40 of telemetry in the aligned layout: 12 + 20, two pads to a multiple of 8.
    equal((event["ns_id"], event["mtu_needed_bytes"]), (7, 1540), event)
    audit_ok(*chain.nodes)


@test(path=True)
def jumbo_packets_of_9000_bytes_cross_af_packet_with_telemetry(workspace):
    need()
    chain = Chain(workspace, nodes=3, host_mtu=9000, net_mtu=9200, link="veth",
                  memory={"mbufs": 4096}).start()
    left, right = chain.hosts
    chain.install(rule(7, A, B, dst_port=5001))
    frames = numbered(left, right, 60, size=9000 - 48)
    receiver = RawPort(right.namespace, "eth0")
    RawPort(left.namespace, "eth0").send(*frames)
    # The host's kernel may send a packet of its own, which is no UDP, behind a Hop-by-Hop header.
    got = receiver.collect(60, 5, lambda f: f[6:12] == fr.mac(left.mac) and f[20] == fr.UDP)
    equal([len(f) for f in got], [9014] * 60, "sizes")
    check(got == frames, "the bytes differ")
    equal(chain.nodes[2].call("int_get", ns_id=7)["counters"]["reports_made"], 60, "reports")
    audit_ok(*chain.nodes)


@test(path=True, alone=True)
def the_kernels_own_counters_agree_with_the_nodes_on_af_packet(workspace):
    need("iperf3")
    chain = Chain(workspace, nodes=2, link="veth").start()
    left, right = chain.hosts
    chain.install(rule(7, A, B, "tcp", dst_port=5201))
    before = [both(node) for node in chain.nodes]
    server = right.spawn("iperf3", "-s", "-1", log="server.log")
    until(lambda: "5201" in right.run("ss", "-ltn"), 5, "iperf3 listens")
    left.run("iperf3", "-c", B, "-t", "1", "-J")
    server.wait(5)
    audit_ok(*chain.nodes)
    total = 0
    for node, then_both, now_both in zip(chain.nodes, before, [both(n) for n in chain.nodes]):
        for name in ("west", "east"):
            (then, k_then), (now, k_now) = then_both[name], now_both[name]
            missed = now["rx_missed"] - then["rx_missed"]
            received = now["rx_packets"] - then["rx_packets"]
            equal(received + missed, k_now["rx"] - k_then["rx"], f"{node.name} {name} received")
            equal(now["tx_packets"] - then["tx_packets"], k_now["tx"] - k_then["tx"],
                  f"{node.name} {name} sent")
            total += received
    return f"{total} packets, drops {[drops(node) for node in chain.nodes]}"


def both(node):
    """Returns the node's counters and the kernel's at a moment in which none of them changed."""
    def still():
        first, ours = kernel(node), ports(node)
        quiet(node)
        second = kernel(node)
        moved = any(p["rx_packets"] != ports(node)[n]["rx_packets"] for n, p in ours.items())
        return None if moved or first != second else {n: (ours[n], second[n]) for n in ours}

    return until(still, 10, f"{node.name} is quiet")


def kernel(node):
    found = {}
    for link in json.loads(run("ip", "-j", "-s", "-n", node.namespace, "link", "show")):
        stats = link["stats64"]
        found[link["ifname"]] = {"rx": stats["rx"]["packets"], "tx": stats["tx"]["packets"]}
    return found


@test(path=True)
def source_and_sink_work_for_both_directions_of_a_ping_at_once(workspace):
    need("ping")
    chain = Chain(workspace).start()
    chain.install(rule(1, A, B, "icmp"), rule(2, B, A, "icmp"))
    pings(chain.hosts[0], 50, "-i", "0.01", B)
    equal(chain.nodes[3].call("int_get", ns_id=1)["counters"]["reports_made"], 50, "up")
    equal(chain.nodes[0].call("int_get", ns_id=2)["counters"]["reports_made"], 50, "down")
    audit_ok(*chain.nodes)


if __name__ == "__main__":
    sys.exit(main())
