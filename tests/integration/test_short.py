# SPDX-License-Identifier: BSD-3-Clause
"""Short commands at real nodes: a rule by two addresses, and what a node says of rules that measure
nothing."""

import json
import os
import re
import subprocess
import sys

import frames as fr
from lib import (Chain, Node, RawPort, Refused, check, equal, events, main, memif, need, reasons, run, test, until)
from test_api_rate import measured_frame
from test_cli import PROGRAM

A, B = "2001:db8::1", "2001:db8::2"


def hopsight(node, *words, expected=0):
    done = subprocess.run([PROGRAM, "-c", node.api.removeprefix("ipc://"), *words], timeout=20,
                          capture_output=True, text=True, check=False)
    equal(done.returncode, expected, f"exit code of {words}: {done.stdout} {done.stderr}")
    return done.stdout if expected == 0 else done.stderr


def add(node, *words):
    """Adds a rule, and returns the ns_id that the program prints."""
    said = hopsight(node, "rule", "add", *words)
    found = re.fullmatch(r"rule (\d+) installed\n", said.splitlines(keepends=True)[0])
    check(found, said)
    return int(found.group(1))


def quiet_node(workspace, name, side="network", **config):
    return Node(workspace, 1, [memif("a", workspace.path(f"{name}.sock"), "server", 0, side=side)],
                name=name, **{"forwarding": {"mode": "bridge"}, **config})


@test(limit_s=60)
def a_rule_of_two_addresses_measures_everything_between_them(workspace):
    need("ping")
    chain = Chain(workspace, nodes=2).start()
    source, sink = chain.nodes
    numbers = {add(node, "--src", A, "--dst", B) for node in chain.nodes}
    equal(len(numbers), 1, "namespaces that the nodes chose")
    ns_id = numbers.pop()
    shown = source.call("int_get", ns_id=ns_id)["rule"]
    equal({key: shown[key] for key in ("protocol", "trace_type", "mode", "mode_setting")},
          {"protocol": "any", "trace_type": "0xF000E000", "mode": "count", "mode_setting": 100},
          "what the command left out")
    for node in chain.nodes:
        hopsight(node, "rule", "set", str(ns_id), "mode=count", "mode_setting=1")
    chain.hosts[0].run("ping", "-q", "-c", "5", "-i", "0.02", B)
    with subprocess.Popen(["ip", "netns", "exec", chain.hosts[0].namespace, sys.executable, "-c",
                           "import socket\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
                           f"for i in range(5): s.sendto(b'x' * 100, ('{B}', 7000 + i))"]) as udp:
        udp.wait(10)
    run = until(lambda: [window for window in sink.call("qos_get", ns_id=ns_id, window="run")["qos"]
                         if window["reports"] >= 10], 5, "reports of ICMP and UDP")[0]
    equal(run["e2e"]["lost_packets"], 0, run)
    for node in chain.nodes:
        hopsight(node, "rule", "del", str(ns_id))
    # In band, the rule of one node is enough.
    equal(add(source, "--src", A, "--dst", B, "--every", "1", "--in-band", "true"), ns_id, "namespace")

    def is_measured():
        try:
            return any(window["reports"] > 4 for window in sink.call("qos_get", ns_id=ns_id, window="run")["qos"])
        except Refused:  # the first packets may pass before the sink has the rule
            return False

    with chain.hosts[0].spawn("ping", "-q", "-c", "40", "-i", "0.02", B) as ping:
        until(is_measured, 5, "reports of the learned rule")
        ping.terminate()
    equal(sink.call("int_get", ns_id=ns_id)["rule"]["protocol"], "any", "protocol of the learned rule")
    check("in-band" in hopsight(sink, "rule", "list"), "who asked for the rule")
    for verb in ("drops", "audit"):
        said = hopsight(sink, verb)
        check("lost before the node: no packet (rx_errors 0, rx_missed 0)" in said, verb, said)
    listed = hopsight(source, "rule", "list")
    for word in ("all", "api", str(ns_id)):
        check(word in listed.split(), word, listed)


@test(limit_s=60)
def sampling_and_values_are_said_in_words(workspace):
    need()
    node = quiet_node(workspace, "short").start()
    for words, expected in (
            (("--every", "7"), ("count", 7, "0xF000E000")),
            (("--every", "20ms", "--trace", "packets,time,bytes"), ("frequency", 20, "0x7000E000")),
            (("--percent", "5", "--trace", "time"), ("probability", 5, "0x40004000")),
            (("--percent", "0.5", "--trace", "0x40000000"), ("probability", 0.5, "0x40000000")),
            (("--mode", "frequency", "--setting", "3"), ("frequency", 3, "0xF000E000")),
            (("--setting", "9"), ("count", 9, "0xF000E000")), (("--mode", "count"), ("count", 100, "0xF000E000"))):
        ns_id = add(node, "-s", A, "-d", B, "--proto", "udp", *words)
        rule = node.call("int_get", ns_id=ns_id)["rule"]
        equal((rule["mode"], rule["mode_setting"], rule["trace_type"]), expected, words)
    listed = hopsight(node, "rule", "list")
    for word in ("all", "packets,time,bytes", "time", "0x40000000"):
        check(word in listed.split(), word, listed)
    for words in (("--every", "7", "--percent", "5"), ("--every", "7", "--mode", "count"),
                  ("--every", "20parsec"), ("--every", ""), ("--every", "7", "--setting", "7")):
        hopsight(node, "rule", "add", "-s", A, "-d", B, *words, expected=2)
    for length, expected in (("1.5ms", "write --mode frequency --setting 1.5"),
                             ("500us", "a whole number of ms, s, m or h, such as 20ms")):
        said = hopsight(node, "rule", "add", "-s", A, "-d", B, "--every", length, expected=2)
        check(f"--every: {length} is " in said and expected in said, said)
    for mode, unit in (("frequency", "MILLISECONDS"), ("probability", "PERCENT")):
        said = hopsight(node, "rule", "add", "-s", A, "-d", B, "--mode", mode, expected=2)
        check(f"--mode {mode} needs --setting {unit}" in said, said)
    said = hopsight(node, "rule", "add", "-s", A, "-d", B, "--mode", "often", expected=1)
    check("count, frequency or probability" in said, said)
    said = hopsight(node, "rule", "add", "-s", "::", "-d", B, expected=1)
    check("int_request.src_ip" in said and "::/0 for any" in said, said)
    said = hopsight(node, "rule", "add", "-s", "any", "-d", B, expected=1)
    check("int_request.src_ip" in said and "methods int and label take a prefix" in said, said)
    said = hopsight(node, "rule", "add", "-s", "192.0.2.1", "-d", "192.0.2.2", expected=1)
    check("no port of this node has a profile of method int, which IPv4 addresses need" in said, said)
    said = hopsight(node, "rule", "add", "-s", A, "-d", B, "--proto", "udp", "--method", "int", expected=1)
    check("no port of this node has a profile of method int\n" in said, said)
    said = hopsight(node, "rule", "add", "-s", A, "-d", B, "--trace", "colour", expected=2)
    check("colour" in said and "--trace" in said and "packets, time, bytes" in said, said)
    equal(hopsight(node, "rule", "add", "-s", A, "-d", B, "--dry-run"), "rule would be accepted\n",
          "dry run")


@test(limit_s=60)
def a_node_of_int_asks_for_every_value_that_its_version_has(workspace):
    need()
    profile = {"method": "int", "version": "2.1", "dscp": 32, "max_hops": 6}
    ports = [dict(memif("a", workspace.path("int.sock"), "server", 0), profile="dc")]
    node = Node(workspace, 1, ports, name="int", forwarding={"mode": "bridge"},
                profiles={"dc": profile}).start()
    for source, destination in ((A, B), ("192.0.2.1", "192.0.2.2")):
        ns_id = add(node, "--src", source, "--dst", destination)
        rule = node.call("int_get", ns_id=ns_id)["rule"]
        equal((rule["method"], rule["protocol"]), ("int", "any"), source)
        check({"node_id", "hop_latency", "queue", "ingress_timestamp"} <= set(rule["instructions"]),
              rule)
        ns_id = add(node, "--src", "any", "--dst", destination)
        equal(node.call("int_get", ns_id=ns_id)["rule"]["src_ip"],
              "0.0.0.0/0" if "." in destination else "::/0", "any source")
        try:  # a value more is one that this version does not have
            node.call("int_request", **dict(rule, ns_id=1, instructions=["queue_congestion"]))
            raise AssertionError("INT 2.1 has queue_congestion")
        except Refused:
            check("queue_congestion" not in rule["instructions"], rule)
    ns_id = add(node, "--src", "192.0.2.3", "--dst", "any")
    equal(node.call("int_get", ns_id=ns_id)["rule"]["dst_ip"], "0.0.0.0/0", "any destination")
    said = hopsight(node, "rule", "add", "--src", "any", "--dst", "any", expected=2)
    check("write ::/0 or 0.0.0.0/0 for --src" in said, said)


@test(limit_s=60)
def the_namespace_that_a_node_chose_stays_and_the_list_says_who_asked(workspace):
    need()
    flow = {"src_ip": A, "dst_ip": B, "protocol": "udp", "trace_type": "0x7000E000",
            "mode": "count", "mode_setting": 1}
    os.mkdir(workspace.path("kept"), 0o700)
    node = quiet_node(workspace, "kept", state={"file": workspace.path("kept/rules.state")},
                      requests=[{"int_request": dict(flow, dst_port=1)}]).start()
    asked = [node.call("int_request", **flow)["ns_id"] for _ in range(2)]
    equal(asked[1], asked[0] + 1, "a second rule of the same flow")
    listed = json.loads(hopsight(node, "--json", "rule", "list"))
    configured = listed["config"]
    equal(sorted(configured + asked), sorted(rule["ns_id"] for rule in listed["rules"]), "rules")
    said = {line.split()[0]: line for line in hopsight(node, "rule", "list").splitlines()[1:]}
    check("configuration" in said[str(configured[0])], said)
    check("api" in said[str(asked[0])], said)
    node.stop()
    node.start()
    again = node.call("int_list")
    equal(again["config"], configured, "rules of the configuration")
    equal(sorted(rule["ns_id"] for rule in again["rules"]), sorted(configured + asked),
          "rules after a restart")
    equal(sorted(again["state"]), sorted(asked), "rules of the state")
    equal(node.call("int_get", ns_id=asked[0])["state"]["origin"], "state", "who asked for one of them")
    ns_id = node.call("int_request", **dict(flow, dst_port=9))["ns_id"]
    said = {line.split()[0]: line.split() for line in hopsight(node, "rule", "list").splitlines()[1:]}
    check("state" in said[str(asked[0])] and "api" in said[str(ns_id)] and "state" not in said[str(ns_id)], said)


def flow(port, **more):
    return {"src_ip": A, "dst_ip": B, "protocol": "udp", "dst_port": port, "mode": "count",
            "trace_type": "0xF000E000", "mode_setting": 1, **more}


@test(limit_s=60)
def a_node_explains_why_a_rule_measures_nothing(workspace):
    need("ping")
    chain = Chain(workspace, nodes=2, net_mtu=1500).start()
    source, sink = chain.nodes
    host = chain.hosts[0]
    ping = dict(flow(0), protocol="icmp")
    for node in chain.nodes:
        node.client.transaction([{"int_request": {"ns_id": n, **content}} for n, content in (
            (1, ping), (2, ping), (3, flow(7003)), (4, flow(7004, mode_setting=1000)),
            (5, dict(flow(0), protocol="any")))])
    # Hosts may have spoken of themselves.
    check(set(reasons(source, 1)) in ({"nothing_received"}, {"no_packets"}), reasons(source, 1))
    host.run("ping", "-q", "-c", "4", "-i", "0.02", B)
    host.run("ping", "-q", "-c", "3", "-i", "0.02", "-s", "1440", B)
    host.run(sys.executable, "-c", "import socket\n"
             "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
             f"for i in range(5): s.sendto(b'x', ('{B}', 7004))")
    until(lambda: sink.call("explain", ns_id=4)["packets"] == 5, 5, "the datagrams at the sink")
    found = reasons(source, 1)
    equal(set(found), {"no_room_mtu", "sink_elsewhere"}, found)
    equal((found["no_room_mtu"]["packets"], found["sink_elsewhere"]["packets"]), (3, 4), found)
    check(1500 < found["no_room_mtu"]["mtu_needed_bytes"] < 1600, found)
    equal(reasons(source, 2)["shadowed"]["ns_id"], 1, "the rule that takes the packets")
    equal(set(reasons(source, 3)), {"no_packets"}, "a flow without packets")
    found = reasons(source, 5)
    equal((set(found), found["shadowed"]["ns_id"], found["shadowed"]["packets"]), ({"shadowed"}, 1, 7),
          "a rule of all protocols whose packets the rule of ICMP takes")
    found = reasons(source, 4)
    equal((set(found), found["sampled_out"]["packets"]), ({"sampled_out", "sink_elsewhere"}, 5), found)
    equal(set(reasons(sink, 4)), {"one_report"}, "the first packet of mode count")
    said = sink.call("explain", ns_id=1)
    equal((said["source"], said["sink"], said["reports"], said["measured"]), (False, True, 4, True), said)
    equal(reasons(sink, 1), {}, "a rule that measures")
    said = hopsight(source, "explain", "4").splitlines()
    check(said[0].startswith("rule 4 at node ") and "5 packets, 0 reports" in said[0], said)
    check(any("1 of them carried telemetry" in line for line in said[1:]), said)
    check("no packet of this flow came here" in hopsight(source, "explain", "3"), "a flow without packets")
    check("`hopsight explain NS` says why" in hopsight(source, "qos", "3"), "metrics that there are not")
    check("9 has no rule" in hopsight(source, "explain", "9", expected=1), "no rule")
    # The packets of this flow that came before its rule do not belong to another flow.
    source.client.transaction([{"int_delete": {"ns_id": n}} for n in (4, 5)])
    source.call("int_request", ns_id=6, **flow(7004))
    said = hopsight(source, "explain", "6")
    check("came here since the rule was installed" in said and "packets came, none" not in said, said)
    node = quiet_node(workspace, "apart", side="host").start()
    node.call("int_request", ns_id=3, **flow(7003))
    equal(set(reasons(node, 3)), {"nothing_received", "link_down"}, "a node without traffic")


@test(limit_s=60)
def a_node_explains_what_its_ports_lack_and_lose(workspace):
    need("ping")
    chain = Chain(workspace, nodes=1)
    node, host = chain.nodes[0], chain.hosts[0]
    for side, lacking in (("host", "no_network_port"), ("network", "no_host_port")):
        for port in node.config["ports"]:
            port["side"] = side
        node.start()
        node.call("int_request", ns_id=1, **dict(flow(0), protocol="icmp"))
        host.run("ping", "-q", "-c", "2", "-i", "0.02", B)
        equal(set(reasons(node, 1)), {lacking}, f"ports of side {side}")
        if side == "host":
            node.stop()
    for namespace, name in ((host.namespace, "eth0"), (node.namespace, "west")):
        run("ip", "-n", namespace, "link", "set", name, "mtu", "2000")
    host.spawn("ping", "-q", "-c", "1", "-W", "1", "-s", "1900", B, stdout=subprocess.DEVNULL).wait(10)
    node.call("int_request", ns_id=3, **flow(7003))
    found = until(lambda: reasons(node, 3).get("lost_before"), 5, "the packet that is too long")
    equal((found["port"], found["packets"]), ("west", 1), found)


@test(limit_s=60)
def a_node_explains_packets_that_it_does_not_send_and_requests_that_wait(workspace):
    need()
    chain = Chain(workspace, nodes=2, net_mtu=1500).start()
    source, sink = chain.nodes
    host = RawPort(chain.hosts[0].namespace, "eth0")

    def send(n, size):
        host.send(*[fr.udp_frame(A, B, 4000, 7001, bytes(size), destination=fr.mac(chain.hosts[1].mac),
                                 source=fr.mac(chain.hosts[0].mac))] * n)

    source.call("int_request", ns_id=1, **flow(7001, in_band=True))
    send(4, 1452)
    until(lambda: source.call("explain", ns_id=1)["packets"] == 4, 5, "packets without room for the request")
    check("request_waits" in reasons(source, 1), reasons(source, 1))
    send(4, 100)
    until(lambda: sink.call("int_list")["rules"], 5, "the rule at the sink")
    check("request_waits" not in reasons(source, 1), reasons(source, 1))
    source.call("int_delete", ns_id=1)
    source.call("int_request", ns_id=2, **flow(7001))
    sink.stop()
    until(lambda: events(source, "port_down"), 5, "the link between the nodes is down")
    # The first packets have no room for telemetry, the others have it when the port refuses them.
    for size, expected in ((1452, {"not_sent": 3, "no_room_mtu": 3}), (100, {"not_sent": 6, "no_room_mtu": 3})):
        send(3, size)
        until(lambda: source.call("explain", ns_id=2)["packets"] == expected["not_sent"], 5, "packets for the link")
        found = reasons(source, 2)
        equal({word: one["packets"] for word, one in found.items()}, expected, found)


def node_with_endless_reports(workspace, rules, **config):
    """A sink of packets with telemetry, one rule after the other, as fast as it can."""
    replay = workspace.path("in.pcap")
    fr.write_pcap(replay, [measured_frame(i, 1 + i % rules) for i in range(64)])
    return Node(workspace, 1, [
        {"name": "a", "side": "network", "mtu": 1800,
         "devargs": f"net_pcap0,rx_pcap={replay},infinite_rx=1,tx_pcap=/dev/null"},
        {"name": "b", "side": "host", "devargs": "net_null1,no-rx=1"}], **config).start()


@test(limit_s=60)
def a_node_explains_reports_that_it_loses_and_rules_that_it_does_not_monitor(workspace):
    need()
    node = node_with_endless_reports(workspace, 2, memory={"monitored_rules": 1})
    node.client.transaction([{"int_request": {"ns_id": n, **flow(5000 + n)}} for n in (1, 2)])
    for n in (1, 2):
        until(lambda: reasons(node, n).get("reports_lost"), 10, "reports that control does not take")
    known = [set(reasons(node, n)) for n in (1, 2)]
    equal(sorted(map(sorted, known)), [["not_monitored", "reports_lost"], ["reports_lost"]], "one rule is monitored")
    check(reasons(node, 1)["reports_lost"]["packets"] > 0, reasons(node, 1))


@test(limit_s=60)
def a_worker_that_is_ahead_of_control_helps_the_monitor(workspace):
    need()
    node = node_with_endless_reports(workspace, 8, workers_help_monitor=True)
    node.client.transaction([{"int_request": {"ns_id": n, **flow(5000 + n), "transmit_report": False}}
                             for n in range(1, 9)])
    until(lambda: node.call("node_get")["reports_helped"] > 1000, 20, "reports that the worker added up")
    counts = node.call("node_get")
    check(counts["reports_helped"] <= counts["reports_taken"], counts)
    equal(counts["workers_help_monitor"], True, "node_get")
    equal(len(node.call("qos_get", window="run")["qos"]), 8, "monitored rules")
    equal(node.call("audit")["ok"], True, "audit")


if __name__ == "__main__":
    sys.exit(main())
