# SPDX-License-Identifier: BSD-3-Clause
"""Rules that spread in the packets of their flow, and reports that return in packets of the other
direction."""

import os
import sys
import threading
import time

import frames as fr
from lib import (Chain, RawPort, Refused, Subscriber, audit_ok, check, drops, equal, events, main,
                 need, netlab, ports, rule, run, test, until)

A, B = "2001:db8::1", "2001:db8::2"
SECOND = 10**9


class Stream:
    """Sends UDP packets from one host to the other, one in `interval_s`, until the end of the
    block."""

    def __init__(self, host, other, src_port=4000, dst_port=5001, interval_s=0.002, size=200):
        self.port = RawPort(host.namespace, "eth0")
        self.frame = fr.udp_frame(host.address, other.address, src_port, dst_port, bytes(size),
                                  destination=fr.mac(other.mac), source=fr.mac(host.mac))
        self.interval_s = interval_s
        self.ended = threading.Event()
        self.first_ns = None
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.ended.wait(self.interval_s):
            if self.first_ns is None:
                self.first_ns = time.time_ns()
            self.port.send(self.frame)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def subscribe(node, topic=""):
    subscriber = Subscriber(node.publisher, topic)
    subscriber.wait_connected(node)
    return subscriber


def path_of(report):
    return [hop["node_id"] for hop in report["hops"]]


def next_report(subscriber, wanted, limit_s, what):
    """Returns the first wanted report."""
    def look():
        message = subscriber.receive(0.5)
        report = message and message[0].startswith("report.") and message[1]["int_report"]
        return report if report and wanted(report) else None

    return until(look, limit_s, what, interval_s=0)


def state(node, ns_id=7):
    return node.call("int_get", ns_id=ns_id)["state"]


@test(path=True, looks=3)
def a_rule_given_to_the_source_alone_gives_metrics_of_every_hop_within_a_second(workspace):
    need()
    chain = Chain(workspace, nodes=6).start()
    sink = chain.nodes[-1]
    subscriber = subscribe(sink)
    chain.nodes[0].call("int_request", **rule(7, A, B, dst_port=5001, mode_setting=5, in_band=True))
    with Stream(*chain.hosts) as stream:
        report = next_report(subscriber, lambda r: path_of(r) == [2, 3, 4, 5], 10,
                             "a report of all four transit nodes")
        took_ns = report["sink"]["ts_ns"] - stream.first_ns
        check(took_ns < SECOND, "the first report of all of them came after", took_ns, "ns")

        def metrics():
            """The run, and its hops between neighbours of the path. A packet that passed before all
            nodes knew the rule has left a longer hop in it."""
            run = (sink.call("qos_get", ns_id=7, window="run")["qos"] or [{"path": [], "hops": []}])[0]
            hops = [hop for hop in run["hops"] if hop["to"] == (hop["from"] or 1) + 1]
            whole = len(hops) == 5 and all("delay_ns" in h and "loss_ratio" in h for h in hops)
            return (run, hops) if whole else None

        qos, hops = until(metrics, 1, "delay and loss of every hop")
        metrics_ns = time.time_ns() - stream.first_ns
        check(metrics_ns < SECOND, "metrics of every hop came after", metrics_ns, "ns")
        equal(qos["path"][1:], [2, 3, 4, 5, 6], "path")
        equal([hop["lost_packets"] for hop in hops], [0] * 5, "lost")
    for node in chain.nodes[1:]:
        equal(state(node)["origin"], "in_band", node.name)
        equal([e["action"] for e in events(node, "request_received")], ["installed"], node.name)
        equal(node.call("node_get")["requests_in_band_refused"], 0, node.name)
    check(state(chain.nodes[0])["request_sent"] >= 1, "request_sent", state(chain.nodes[0]))
    for node in chain.nodes:
        equal(drops(node), {}, f"drops of {node.name}")
    audit_ok(*chain.nodes)
    return (f"{took_ns / 1e6:.1f} ms from the first packet to a report of all four, "
            f"{metrics_ns / 1e6:.1f} ms to metrics")


@test(path=True, looks=3, apart=True)
def a_transit_node_that_was_restarted_is_back_within_one_repeat(workspace):
    need()
    interval_s = 2
    chain = Chain(workspace, nodes=4, link="veth", telemetry={
        "request_schedule_s": [0.1, 0.5], "request_interval_s": interval_s}).start()
    subscriber = subscribe(chain.nodes[-1], "report.7")
    chain.nodes[0].call("int_request", **rule(7, A, B, dst_port=5001, mode_setting=5, in_band=True))
    with Stream(*chain.hosts):
        next_report(subscriber, lambda r: path_of(r) == [2, 3], 10, "reports of both")
        chain.nodes[1].stop()
        chain.nodes[1].start()
        began_ns = time.time_ns()
        report = next_report(subscriber, lambda r: r["e2e"]["ts_ns"] > began_ns and
                             path_of(r) == [2, 3], 2 * interval_s + 5, "the node is back")
        took_s = (report["e2e"]["ts_ns"] - began_ns) / 1e9
    check(took_s < interval_s + 0.5, "back after", took_s, "s")
    equal(state(chain.nodes[1])["origin"], "in_band", "origin")
    return f"back {took_s:.2f} s after it answered, requests every {interval_s} s"


def last_before_silence(subscriber, stamp, quiet_s=0.3, limit_s=3):
    """Returns the newest stamp of the reports, after none has had one for a while, or at the
    limit."""
    newest, end = None, time.monotonic() + quiet_s
    limit = time.monotonic() + limit_s
    while time.monotonic() < min(end, limit):
        message = subscriber.receive(0.05)
        report = message and message[1].get("int_report")
        found = report and stamp(report)
        if found:
            newest, end = found, time.monotonic() + quiet_s
    return newest


def hop_stamp(node_id):
    def stamp(report):
        return next((h["ts_ns"] for h in report["hops"] if h["node_id"] == node_id), None)

    return stamp


@test(path=True, looks=3)
def switches_of_a_live_rule_are_in_force_within_ten_milliseconds(workspace):
    need()
    chain = Chain(workspace, nodes=3).start()
    source, transit, sink = chain.nodes
    chain.install(rule(7, A, B, dst_port=5001))
    # Each case: the changed node, the change, its reversal, and the stamp that packets no longer
    # carry.
    cases = [(transit, {"hop_enabled": False}, {"hop_enabled": True}, hop_stamp(2)),
             (source, {"mode": "count", "mode_setting": 1000000},
              {"mode": "count", "mode_setting": 1}, lambda r: r["e2e"]["ts_ns"]),
             (sink, {"transmit_report": False}, {"transmit_report": True},
              lambda r: r["sink"]["ts_ns"])]
    late_ns = []
    with Stream(*chain.hosts, interval_s=0.0005):
        for node, change, undo, stamp in cases:
            subscriber = subscribe(sink, "report.7")
            for _ in range(3):
                node.call("int_update", ns_id=7, **undo)
                next_report(subscriber, stamp, 5, "reports as before")
                asked_ns = time.time_ns()
                node.call("int_update", ns_id=7, **change)
                answered_ns = time.time_ns()
                newest = last_before_silence(subscriber, stamp)
                late_ns.append(max(0, (newest or 0) - asked_ns))
                # On a busy machine, the answer itself may take longer.
                limit_ns = max(10_000_000, answered_ns - asked_ns) + 2_000_000
                check(late_ns[-1] < limit_ns, change, "in force after", late_ns[-1], "ns")
            node.call("int_update", ns_id=7, **undo)
    audit_ok(*chain.nodes)
    return f"in force after {max(late_ns) / 1e6:.2f} ms at most, 9 changes"


def window_rows(message):
    report = message[1]["qos_report"]
    keys = ("delay_ns", "jitter_ns", "lost_packets", "tx_packets", "rx_packets", "rx_bytes",
            "throughput_bps")
    return report["path"], [{k: hop.get(k) for k in keys}
                            for hop in [*report["hops"], report["e2e"]]]


@test(path=True)
def two_hosts_measure_their_conversation_without_a_controller(workspace):
    need()
    chain = Chain(workspace, nodes=4, link="veth").start()
    left, right = chain.hosts
    source, sink = chain.nodes[0], chain.nodes[-1]
    at_source, windows_of = subscribe(source, "report.7"), {
        "source": subscribe(source, "qos.7"), "sink": subscribe(sink, "qos.7")}
    source.call("int_request", **rule(7, A, B, src_port=4000, dst_port=5001, mode_setting=5,
                                      in_band=True, piggyback_report=True, transmit_report=False))
    with Stream(left, right, 4000, 5001), Stream(right, left, 5001, 4000):
        report = next_report(at_source, lambda r: path_of(r) == [2, 3], 10,
                             "reports at the source's own node")
        equal((report["node_id"], report["sink"]["node_id"], report["app_id"]), (1, 4, 1),
              "who published it, who made it, of what")
        windows = {}

        def same_window():
            for name, subscriber in windows_of.items():
                message = subscriber.receive(0.05)
                body = message and message[1].get("qos_report")
                # Both had reports of the whole path before it began, and so counts to begin with.
                if body and body["window_ns"] == SECOND and body["start_ns"] > report["sink"]["ts_ns"] and body["reports"] > 50:
                    windows.setdefault(body["start_ns"], {})[name] = message
            of_both = [w for w in windows.values() if len(w) == 2]
            # A report that comes back late counts in the source's next window.
            same = [w for w in of_both if len({m[1]["qos_report"]["reports"] for m in w.values()}) == 1]
            check(len(of_both) - len(same) <= 2, "windows with other numbers of reports", of_both)
            return same[0] if same else None

        both = until(same_window, 10, "the same window of both", interval_s=0)
    equal(window_rows(both["source"]), window_rows(both["sink"]), "metrics")
    equal(sink.call("node_get")["reports_published"], 0, "reports that the sink published")
    totals = source.call("node_get")
    check(totals["reports_piggyback_received"] > 50, "reports brought back", totals)
    equal((totals["reports_piggyback_bad"], totals["signals_lost"]), (0, 0), "bad, lost")
    for node in chain.nodes:
        equal(drops(node), {}, f"drops of {node.name}")
    audit_ok(*chain.nodes)


@test(path=True)
def the_sources_own_node_shows_both_directions_of_an_application(workspace):
    need()
    chain = Chain(workspace, nodes=3, link="veth").start()
    left, right = chain.hosts
    near, far = chain.nodes[0], chain.nodes[-1]
    # Each is at its source. `near` has its own sink's reports of 8, and the returning reports of 7.
    near.call("int_request", **rule(7, A, B, src_port=4000, dst_port=5001, mode_setting=5,
                                    in_band=True, piggyback_report=True, transmit_report=False))
    far.call("int_request", **rule(8, B, A, src_port=5001, dst_port=4000, mode_setting=5,
                                   in_band=True, transmit_report=False))
    with Stream(left, right, 4000, 5001), Stream(right, left, 5001, 4000):
        def both_measured():
            found = near.call("qos_get", app_id=1, window="1s")["applications"]
            flows = found[0]["flows"] if found else []
            # The first window may end before the node on the way has the rules, or with few pairs.
            measured = [flow for flow in flows
                        if flow.get("e2e", {}).get("delay_ns") and len(flow["path"]) == 3]
            return found[0] if len(measured) == 2 and found[0].get("round_trip_pairs", 0) > 10 else None

        app = until(both_measured, 15, "metrics of both directions")
    equal([(flow["ns_id"], flow["from"], flow["to"], flow["direction"], flow["opposite"])
           for flow in app["flows"]],
          [(7, A, B, "up", 8), (8, B, A, "down", 7)], "flows")
    equal([flow["path"] for flow in app["flows"]], [[0, 2, 3], [0, 2, 1]], "paths")
    trip = app["round_trip_ns"]
    check(0 < trip["min"] <= trip["mean"] <= trip["max"] < SECOND, "round trip", trip)
    check(app["worst_hop"]["delay"]["ns_id"] in (7, 8), "worst hop", app)
    equal(far.call("qos_get", app_id=1)["applications"][0]["flows"][0]["ns_id"], 7,
          "what the far end has: its own sink's")
    audit_ok(*chain.nodes)


@test(path=True)
def a_node_on_the_way_takes_reports_out_where_it_is_told_to(workspace):
    need()
    chain = Chain(workspace, nodes=3, link="veth").start()
    left, right = chain.hosts
    source, middle, sink = chain.nodes
    subscriber = subscribe(middle, "report.7")
    for node in chain.nodes:
        node.call("int_request", **rule(7, A, B, src_port=4000, dst_port=5001, mode_setting=5,
                                        piggyback_report=True, extract_report=node is middle))
    receiver = RawPort(left.namespace, "eth0")
    with Stream(left, right, 4000, 5001), Stream(right, left, 5001, 4000) as back:
        report = next_report(subscriber, lambda r: True, 10, "reports in the middle")
        equal((report["node_id"], report["sink"]["node_id"]), (2, 3), "publisher and sink")
        # The kernel's own frames do not count; they report that nobody listens there.
        frames = receiver.collect(20, 5, lambda f: f[6:12] == fr.mac(right.mac) and f[20] == fr.UDP)
        equal(frames, [back.frame] * 20, "what the host gets")
        until(lambda: middle.call("node_get")["reports_piggyback_received"] > 10, 5, "many of them")
    equal(source.call("node_get")["reports_piggyback_received"], 0, "at the source")
    audit_ok(*chain.nodes)


@test(path=True)
def what_a_sink_was_told_outlasts_repeats_and_a_restart(workspace):
    need()
    chain = Chain(workspace, nodes=2, link="veth", telemetry={
        "request_schedule_s": [0.1, 0.2, 0.3], "request_interval_s": 1})
    source, sink = chain.nodes
    sink.config["state"] = {"file": workspace.path("sink.state")}
    chain.start()
    source.call("int_request", **rule(7, A, B, dst_port=5001, mode_setting=5, in_band=True))

    def repeats(n):
        before = sink.call("node_get")["requests_in_band_refreshed"]
        until(lambda: sink.call("node_get")["requests_in_band_refreshed"] >= before + n, 5,
              "repeats came")

    with Stream(*chain.hosts):
        until(lambda: sink.call("int_list").get("in_band"), 5, "the rule at the sink")
        sink.call("int_update", ns_id=7, transmit_report=False)
        repeats(2)
        equal(state(sink)["own"], {"transmit_report": False}, "what stands")
        equal(state(sink)["in_band"], {"transmit_report": True}, "what travels")
        published = sink.call("node_get")["reports_published"]
        repeats(1)
        equal(sink.call("node_get")["reports_published"], published, "published since")
        sink.stop()
        sink.start()
        until(lambda: sink.call("int_list").get("in_band"), 5, "the rule is there again")
        equal(sink.call("node_get")["reports_published"], 0, "published after the restart")
        sink.call("int_update", ns_id=7, transmit_report=None)
        check("own" not in state(sink), "given back", state(sink))
        until(lambda: sink.call("node_get")["reports_published"] > 0, 5, "published again")
    audit_ok(*chain.nodes)


@test()
def fields_of_a_rule_are_set_at_run_time_and_outlive_the_node(workspace):
    need()
    chain = Chain(workspace, nodes=3, link="veth")
    source, transit, sink = chain.nodes
    transit.config["state"] = {"file": workspace.path("transit.state")}
    chain.start()
    chain.install(rule(7, A, B, dst_port=5001))
    subscriber = subscribe(sink, "report.7")

    def command(*words):
        return run(os.path.join(netlab.BUILD, "apps", "hopsight"), "-c", transit.api, *words)

    def entry_has(wanted):
        keys = {"packets": "rx_packets", "timestamp": "ts_ns", "bytes": "rx_bytes"}

        def right(report):
            found = {name for name, key in keys.items() if key in report["hops"][0]}
            return found == wanted

        next_report(subscriber, right, 5, f"entries with {wanted}")

    with Stream(*chain.hosts):
        entry_has({"packets", "timestamp", "bytes"})
        command("rule", "set", "7", 'fields={"bytes": {"supported": false}}')
        entry_has({"packets", "timestamp"})
        check('"supported": false' in command("--json", "rule", "list"), "rule list shows them")
        transit.stop()
        transit.start()
        entry_has({"packets", "timestamp"})
        transit.call("int_update", ns_id=7, fields=None)
        entry_has({"packets", "timestamp", "bytes"})
        try:
            transit.call("int_update", ns_id=7, fields={"bytes": {"probability_percent": 101}})
            check(False, "a probability of 101 % was taken")
        except Refused as refused:
            check("int_update.fields.bytes.probability_percent" in str(refused), refused)
    audit_ok(*chain.nodes)


def write_key(workspace, name, digit):
    path = workspace.path(name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as f:
        f.write(digit * 64 + "\n")
    return path


@test(path=True)
def a_domain_with_a_key_believes_no_other(workspace):
    need()
    chain = Chain(workspace, nodes=3)
    good, bad = write_key(workspace, "good.key", "a"), write_key(workspace, "bad.key", "b")
    for node in chain.nodes:
        node.config["telemetry"] = {
            "in_band": {"key_file": bad if node is chain.nodes[1] else good}}
    chain.start()
    chain.nodes[0].call("int_request", **rule(7, A, B, dst_port=5001, in_band=True))
    with Stream(*chain.hosts):
        until(lambda: chain.nodes[2].call("node_get")["rules_in_band"] == 1, 5, "the sink's rule")
    equal(chain.nodes[1].call("node_get")["rules_in_band"], 0, "rules under the other key")
    check(chain.nodes[1].call("node_get")["requests_in_band_bad"] > 0, "counted")
    told = events(chain.nodes[1], "request_refused")
    check(told and "another key" in told[0]["reason"], "told", told)
    audit_ok(*chain.nodes)


@test(path=True)
def a_host_installs_nothing_by_a_request_in_its_packets(workspace):
    need()
    chain = Chain(workspace, nodes=2).start()
    left, right = chain.hosts
    # This is {"int_request": {...}} of the documentation, as another node would send it.
    request = bytes.fromhex(
        "a16b696e745f72657175657374aa656e735f696407666170705f696401667372635f69706b323030313a6462"
        "383a3a31666473745f69706b323030313a6462383a3a32687372635f706f727400686473745f706f72741913"
        "896870726f746f636f6c637564706a74726163655f747970656a30783730303045303030646d6f646565636f"
        "756e746c6d6f64655f73657474696e671864")
    source, destination = fr.address(left.address), fr.address(right.address)
    option = bytes([0x32, len(request)]) + request
    body = fr.udp(source, destination, 4000, 5001, b"lie")
    frame = fr.ethernet(fr.ipv6(source, destination, fr.HOP_BY_HOP,
                                fr.options_header(fr.UDP, option) + body),
                        destination=fr.mac(right.mac), source=fr.mac(left.mac))
    plain = fr.udp_frame(A, B, 4000, 5001, b"lie", destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    receiver, sender, arrived = RawPort(right.namespace, "eth0"), RawPort(left.namespace, "eth0"), []
    for _ in range(3):  # the count below shows whether a frame was lost before the node or in it
        sender.send(frame)
        arrived = receiver.collect(1, 3, lambda f: f[6:12] == fr.mac(left.mac))
        if arrived:
            break
    equal(arrived, [plain], "what arrives")
    equal(ports(chain.nodes[0])["west"]["events"]["host_telemetry_stripped"], 1, "counted")
    for node in chain.nodes:
        totals = node.call("node_get")
        equal((totals["rules"], totals["requests_in_band_received"]), (0, 0), node.name)


@test(path=True)
def a_request_waits_for_a_packet_with_room_and_says_so(workspace):
    need()
    chain = Chain(workspace, nodes=2, link="veth", host_mtu=1500, net_mtu=1500).start()
    left, right = chain.hosts
    source, sink = chain.nodes
    source.call("int_request", **rule(7, A, B, dst_port=5001, in_band=True))
    with Stream(left, right, size=1500 - 48, interval_s=0.01):
        event = until(lambda: events(source, "request_waiting"), 10, "an event says so")[0]
    check(event["ns_id"] == 7 and event["packets"] > 100, "event", event)
    equal(sink.call("node_get")["rules"], 0, "rules at the sink")
    equal(source.call("int_get", ns_id=7)["counters"]["int_packets"], 0, "telemetry before it")
    with Stream(left, right, size=100):
        until(lambda: sink.call("node_get")["rules_in_band"] == 1, 5, "the rule at the sink")
    audit_ok(*chain.nodes)


if __name__ == "__main__":
    sys.exit(main())
