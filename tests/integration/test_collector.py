# SPDX-License-Identifier: BSD-3-Clause
"""The collector as a process: both ways in, what it keeps and tells, garbage, questions under load, and a chain of
nodes whose reports it gets."""

import gzip
import http.server
import json
import random
import struct
import subprocess
import threading
import time

import frames as fr
import int_frames
from collecting import COMMAND, PORT, PROGRAM, Collector, frame, packet, report
from lib import (InNamespace, RawPort, Subscriber, audit_ok, check, equal, iface, main, need, run, test, until,
                 veth)
from netlab import Refused, mac_of, memif
from test_export import chain_of
from test_int import A4, A6, B4, B6, MD, Wire, int_rule, send_udp
from test_prometheus import COLLECTOR_PORT, flood

PATH = [(1, 10, 11, 100, 3, 5, 700), (2, 20, 21, 200, 4, 6, 800), (9, 90, 91, 300, 5, 7, 900)]


def flow_of(number):
    return (f"10.0.{number >> 8}.{number & 255}", "10.9.9.9", 1000, 2000)


def hops_of(flow):
    return [(hop["node_id"], hop.get("latency")) for hop in flow["hops"]]


@test()
def reports_come_by_a_socket_and_by_a_port_at_once(workspace):
    need()
    outside, inside = workspace.namespace("outside"), workspace.namespace("c1")
    veth(outside, "out", inside, "reports0")
    collector = Collector(workspace, namespace=inside,
                          listen=[{"udp": f"127.0.0.1:{PORT}"}, {"udp": f"[::1]:{PORT}"}],
                          ports=[iface("in", "reports0", "network") | {"udp_port": PORT}])
    for key in ("side",):
        collector.config["ports"][0].pop(key)
    collector.start()
    mac, wire = mac_of(inside, "reports0"), RawPort(outside, "out")
    by_port = [frame("192.0.2.1", "192.0.2.9", report(packet(flow_of(1), PATH)), mac),
               frame("192.0.2.1", "192.0.2.9", report(packet(flow_of(2), PATH), sequence=1), mac, vlans=(7,),
                     options=b"\x01" * 8),
               frame("2001:db8::1", "2001:db8::9", report(packet((A6, B6, 5, 6), PATH)), mac, vlans=(7, 8)),
               frame("192.0.2.1", "192.0.2.9", b"other", mac, port=PORT + 1),
               bytes.fromhex("ffffffffffff02000000aa010806") + bytes(46)]
    wire.send(*by_port)
    collector.socket().send(report(packet(flow_of(3), PATH)))
    collector.socket(("::1", PORT)).send(report(packet(flow_of(4), PATH)))
    collector.expect(5)
    flows = collector.pages("flow_get", "flows")
    equal(sorted((f["src_ip"], f["src_port"], f["dst_port"]) for f in flows),
          sorted([(flow_of(n)[0], 1000, 2000) for n in (1, 2, 3, 4)] + [(A6, 5, 6)]), "flows")
    for flow in flows:
        equal(hops_of(flow), [(1, 100), (2, 200), (9, 300)], "path")
        equal((flow["latency"], flow["unit"], flow["reports"]), (600, "ns", 1), "flow")
    equal(sorted((e["address"], e["listener"], e["datagrams"], e["missing"])
                 for e in collector.pages("exporter_get", "exporters")),
          sorted([("127.0.0.1", f"127.0.0.1:{PORT}", 1, 0), ("::1", f"[::1]:{PORT}", 1, 0),
                  ("192.0.2.1", "in", 2, 0), ("2001:db8::1", "in", 1, 0)]), "exporters")
    equal(sorted((q["node_id"], q["queue_id"], q["occupancy"]) for q in collector.pages("queue_get", "queues")),
          [(1, 3, 5), (2, 4, 6), (9, 5, 7)], "queues")
    equal(sorted((k["node_id"], k["port"], k["utilisation"]) for k in collector.pages("link_get", "links")),
          [(1, 11, 700), (2, 21, 800), (9, 91, 900)], "links")
    equal([collector.counter("frame_kinds_total", frame=kind) for kind in ("datagram", "malformed", "scattered")],
          [3, 0, 0], "frames")
    check(collector.counter("frame_kinds_total", frame="other") >= 2, "ARP and another port")
    equations = collector.audit()
    equal(equations["received"]["left"], 5, "received")
    names = {port["name"]: port for port in collector.call("ports_get")["ports"]}
    check(names["in"]["link_up"] and names["in"]["usable"], names)
    collector.stop()


@test()
def a_port_of_a_capture_file_is_read_whole(workspace):
    """Without a socket, and faster than reports come: nothing is lost."""
    need()
    path = workspace.path("reports.pcap")
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for n in range(20000):
            data = frame("192.0.2.1", "192.0.2.9", report(packet(flow_of(n % 300), PATH), sequence=n),
                         "02:00:00:00:00:01")
            f.write(struct.pack("<IIII", 0, 0, len(data), len(data)) + data)
    collector = Collector(workspace, listen=[], ports=[
        {"name": "file", "devargs": f"net_pcap0,rx_pcap={path}", "udp_port": PORT}]).start()
    collector.expect(20000, limit_s=20)
    exporter, = collector.pages("exporter_get", "exporters")
    equal([exporter[key] for key in ("listener", "datagrams", "reports", "missing", "late")],
          ["file", 20000, 20000, 0, 0], "the exporter")
    equal(len(collector.pages("flow_get", "flows")), 300, "flows")
    equal(collector.audit()["frames"]["left"], 20000, "frames")
    collector.stop()


@test()
def what_changed_is_told_to_subscribers_and_kept(workspace):
    need()
    collector = Collector(workspace, events={"hop_latency": 50, "flow_latency": 50, "queue_occupancy": "10%",
                                             "link_utilisation": "off"},
                          units=[{"node_id": 2, "latency": "us"}]).start()
    events, hops = Subscriber(collector.publisher, "event."), Subscriber(collector.publisher, "hop.2")
    sender = collector.socket()
    sequence = iter(range(100))

    def send(changed):
        hops_now = [list(hop) for hop in PATH]
        for (hop, member), value in changed.items():
            hops_now[hop][member] = value
        sender.send(report(packet(flow_of(1), hops_now), sequence=next(sequence)))

    def kinds(last):
        """Counts of points of each kind in messages, up to a message that says `last`."""
        found = {}
        while True:
            topic, message = events.receive(5)
            event = message["event"]
            found[event["kind"]] = found.get(event["kind"], 0) + len(event["points"])
            equal(topic, "event." + event["kind"], "topic")
            if event["kind"] == last:
                return found

    for subscriber in (events, hops):
        subscriber.wait_connected(collector)
    send({})
    equal(kinds("link_utilisation"), {"flow_new": 1, "hop_latency": 3, "queue_occupancy": 3, "link_utilisation": 3},
          "of a new flow: what is off is told when it is new")
    send({})  # nothing
    send({(0, 3): 150, (1, 3): 240})  # 50 and 40 more: only the flow's sum changed by more than 50
    equal(kinds("flow_latency"), {"flow_latency": 1}, "of small changes")
    send({(0, 3): 150, (1, 3): 251, (1, 5): 7, (2, 6): 5000})
    equal(kinds("queue_occupancy"), {"hop_latency": 1, "queue_occupancy": 1}, "of large changes")
    sender.send(report(packet(flow_of(1), PATH[:2]), sequence=next(sequence)))
    equal(kinds("path_change").get("path_change"), 1, "of a shorter path")
    collector.expect(5)
    flow, = collector.call("flow_get", src_ip=flow_of(1)[0])["flows"]
    equal((hops_of(flow), flow["unit"]), ([(1, 100), (2, 200)], "mixed"), "path")
    equal([hop["unit"] for hop in flow["hops"]], ["ns", "us"], "units")
    equal(collector.call("flow_get", src_ip="10.1.1.1")["flows"], [], "of another source")
    kept = collector.call("events")["events"]
    equal([event["kind"] for event in kept if event["kind"] in ("flow_new", "path_change")],
          ["flow_new", "path_change"], "events that are kept")
    change = next(e for e in kept if e["kind"] == "queue_occupancy" and e["points"][0]["cause"] == "change")
    equal({key: change["points"][0][key] for key in ("node_id", "queue_id", "value", "before", "unit")},
          {"node_id": 2, "queue_id": 4, "value": 7, "before": 6, "unit": "packets"}, "the point")
    topic, message = hops.receive(5)
    equal((topic, message["hop"]["node_id"], message["hop"]["flow"]["src_ip"]), ("hop.2", 2, flow_of(1)[0]), "hop")
    equal(sorted(p["kind"] for p in message["hop"]["points"]), ["hop_latency", "link_utilisation", "queue_occupancy"]
          if any(p["kind"] == "link_utilisation" for p in message["hop"]["points"])
          else ["hop_latency", "queue_occupancy"], "values of node 2")
    collector.audit()
    collector.stop()


@test()
def garbage_is_refused_counted_and_the_first_of_each_kind_is_kept(workspace):
    need()
    collector = Collector(workspace).start()
    sender, rng = collector.socket(), random.Random(1)
    good = report(packet(flow_of(1), PATH))
    sender.send(b"\xf0" * 20)
    sender.send(good[:6])
    sender.send(good)
    until(lambda: collector.counter("datagrams_total") == 3, 5, "datagrams")
    refused = {one["reason"]: one for one in collector.call("refused_get")["refused"]}
    equal((refused["version"]["datagram"], refused["version"]["datagram_bytes"]), ("f0" * 20, 20), "the first")
    equal(refused["short"]["datagram"], good[:6].hex(), "the first that is short")
    sent = 3
    for _ in range(20000):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        sender.send(bytes(data[:rng.randrange(1, len(data) + 1)]))
        sent += 1
        if sent % 500 == 0:
            until(lambda: collector.counter("datagrams_total") +
                  collector.counter("socket_lost_total") >= sent, 5, "datagrams so far")
    sender.send(good)
    until(lambda: collector.counter("datagrams_total") + collector.counter("socket_lost_total") == sent + 1, 5,
          "all datagrams")
    check(collector.counter("refused_total") > 1000, "too little was refused")
    equations = collector.audit()
    equal(equations["received"]["right"], collector.counter("datagrams_total"), "datagrams")
    told = [e for e in collector.call("events")["events"] if e["kind"] == "reports_refused"]
    check(1 <= len(told) <= 2, "refusals are told once a minute", told)
    collector.stop()


@test()
def questions_under_load_are_answered_and_every_entry_is_told_once(workspace):
    need()
    collector = Collector(workspace, memory={"flows": 4000, "queues": 100, "links": 100},
                          events={"hop_latency": "off", "flow_latency": "off", "gap_ns": 0}).start()
    sender, stop = collector.socket(), threading.Event()
    datagrams = [report(packet(flow_of(n), PATH), sequence=n) for n in range(3000)]
    for i, data in enumerate(datagrams):
        sender.send(data)
        if i % 200 == 199:
            collector.expect(i + 1)

    def load():
        while not stop.is_set():
            for data in datagrams[:500]:
                sender.send(data)
            time.sleep(0.001)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        for limit in (None, 7, 1000):
            flows = collector.pages("flow_get", "flows", limit=limit) if limit != 7 else \
                collector.call("flow_get", limit=7)["flows"]
            found = [flow["src_ip"] for flow in flows]
            equal(len(found), len(set(found)), "no flow twice")
            equal(len(found), 7 if limit == 7 else 3000, "flows")
        for _ in range(20):
            collector.audit()
            collector.call("stats_get")
            collector.call("queue_get")
    finally:
        stop.set()
        thread.join()
    equal(collector.counter("points_lost_total"), 0, "points lost")
    collector.stop()


@test()
def reports_of_drops_are_told_page_by_page(workspace):
    need()
    collector = Collector(workspace, memory={"drops": 4000}).start()
    sender = collector.socket()
    for n in range(1, 3001):
        sender.send(report(packet(flow_of(1), PATH), node=n, flags=0x80))
        if n % 200 == 0:
            collector.expect(n)
    done = subprocess.run([COMMAND, "--json", "-c", collector.api, "drops"], capture_output=True, text=True, check=False)
    equal(done.returncode, 0, done.stderr)
    for told in collector.pages("drops_get", "drops", limit=700), json.loads(done.stdout)["drops"]:
        equal(sorted(drop["node_id"] for drop in told), list(range(1, 3001)), "nodes")
    equal(len(collector.call("drops_get", limit=7)["drops"]), 7, "a page of seven")
    collector.stop()


@test()
def a_collector_says_what_a_node_would_do_and_refuses_it(workspace):
    need()
    collector = Collector(workspace).start()
    hello = collector.call("hello")
    check(hello["collector"] and "node_id" not in hello, hello)
    for verb, arguments in (("int_list", {}), ("qos_get", {}), ("route_list", {}), ("int_get", {"ns_id": 1}),
                            ("int_request", int_rule(1, "udp", A6, B6))):
        try:
            collector.call(verb, **arguments)
            check(False, verb, "was answered")
        except Refused as refused:
            equal(refused.error["code"], "unsupported", verb)
    for verb in ("hello", "flow", "queue", "link", "exporter", "drops", "refused", "events", "stats", "audit",
                 "ports", "node"):
        for words in ((verb,), ("--json", verb)):
            done = subprocess.run([COMMAND, "-c", collector.api, *words], capture_output=True, text=True, check=False)
            equal((done.returncode, done.stderr), (0, ""), f"hopsight {verb}")
            if len(words) == 2:
                json.loads(done.stdout)
    collector.stop()


@test()
def a_socket_that_cannot_be_opened_ends_the_start(workspace):
    need()
    collector = Collector(workspace).start()
    other = Collector(workspace, "c2", namespace=collector.namespace)
    path = workspace.path("c2.json")
    with open(path, "w", encoding="ascii") as f:
        json.dump(other.config, f)
    done = subprocess.run(["ip", "netns", "exec", collector.namespace, PROGRAM, "--config", path],
                          capture_output=True, text=True, check=False, timeout=20)
    equal(done.returncode, 3, "exit code")
    check("listen[0].udp" in done.stderr and "in use" in done.stderr, done.stderr)
    collector.stop()


class Database(threading.Thread):
    """Takes lines as InfluxDB does, and keeps them."""

    def __init__(self, namespace):
        super().__init__(daemon=True)
        self.lines = []
        database = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                database.lines += body.decode().splitlines()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        with InNamespace(namespace):
            self.server = http.server.HTTPServer(("127.0.0.1", 8086), Handler)
        self.start()

    def run(self):
        self.server.serve_forever()


@test()
def points_and_counters_reach_a_database(workspace):
    need()
    namespace = workspace.namespace("c1")
    database = Database(namespace)
    collector = Collector(workspace, namespace=namespace,
                          influx=[{"url": "http://127.0.0.1:8086", "database": "a"},
                                  {"url": "http://127.0.0.1:8086", "database": "b", "lines": "intcollector"}]).start()
    collector.socket().send(report(packet(flow_of(1), PATH)))
    until(lambda: sum("hopsight_flow_hop" in line for line in database.lines) == 3 and
          sum(line.startswith("flow_hop_latency") for line in database.lines) == 3 and
          any(line.startswith("hopsight_collector,") for line in database.lines), 8, "lines")
    found = sorted(line.split(" ")[1] for line in database.lines if line.startswith("queue_occupancy"))
    equal(found, ["value=5", "value=6", "value=7"], "occupancies by INTCollector's names")
    flow, = [line for line in database.lines if line.startswith("hopsight_flow,")]
    check("latency=600i" in flow and 'path="1>2>9"' in flow, flow)
    equations = collector.audit()
    check(equations["influx_lines"]["left"] >= 20, equations["influx_lines"])
    collector.stop()
    counters = [line for line in database.lines if line.startswith("hopsight_collector,")]
    check("points_written_total=10i" in counters[-1], counters[-1])
    database.server.shutdown()


@test()
def reports_that_came_while_it_was_dead_are_missing_exactly(workspace):
    """Killed at a random moment, also over the wrap of 22 bits."""
    need()
    rng = random.Random(5)
    collector = Collector(workspace, state={"file": workspace.path("exporters")}).start()
    first = (1 << 22) - 3000
    at, missing = first, 0

    def send(n):
        nonlocal at
        sender = collector.socket()
        for _ in range(n):
            sender.send(report(packet(flow_of(1), PATH), sequence=at, hw_id=5))
            at += 1

    for _ in range(4):
        n = rng.randrange(50, 900)
        send(n)
        collector.expect(n)
        collector.kill()
        gap = rng.randrange(1, 900)
        at += gap  # nobody hears these
        missing += gap
        collector.start()
        equal(len(collector.pages("flow_get", "flows")), 0, "flows after a start")
    send(10)
    collector.expect(10)
    exporter, = collector.pages("exporter_get", "exporters")
    equal({key: exporter[key] for key in ("hw_id", "sequence", "datagrams", "missing", "late", "restarts")},
          {"hw_id": 5, "sequence": at - 1 & 0x3FFFFF, "datagrams": at - first - missing, "missing": missing, "late": 0,
           "restarts": 0}, "the exporter")
    until(lambda: any(e["kind"] == "reports_missing" for e in collector.call("events")["events"]), 5, "the event")
    told = [e["message"] for e in collector.call("events")["events"] if e["kind"] == "reports_missing"]
    check(len(told) == 1 and f" {gap} " in told[0], told)
    other = Collector(workspace, "c2", namespace=collector.namespace, state=collector.config["state"],
                      listen=[{"udp": "127.0.0.1:1"}])
    path = workspace.path("c2.json")
    with open(path, "w", encoding="ascii") as f:
        json.dump(other.config, f)
    done = subprocess.run([PROGRAM, "--config", path], capture_output=True, text=True, check=False, timeout=20)
    check(done.returncode == 1 and "another process has it" in done.stderr, done)
    collector.stop()
    for content, code in ((b"{}\n", 1), (b"hopsight-collector exporters 1\n" + bytes(30) + b"\xff" * 5000, 0)):
        with open(other.config["state"]["file"], "wb") as f:
            f.write(content)
        if code:  # another file is not written over
            done = subprocess.run([PROGRAM, "--config", path], capture_output=True, text=True, check=False, timeout=20)
            check(done.returncode == code and "state.file" in done.stderr, done)
            with open(other.config["state"]["file"], "rb") as f:
                equal(f.read(), content, "the file")
        else:
            collector.start()
            equal(collector.pages("exporter_get", "exporters"), [], "exporters of a damaged file")
            collector.stop()


@test()
def another_listener_does_not_take_the_exporters_of_the_one_before(workspace):
    """The numbers of one exporter at two sockets are not of one sequence."""
    need()
    collector = Collector(workspace, state={"file": workspace.path("exporters")}).start()
    listen, (first,) = collector.config["listen"], collector.config["listen"]
    second = {"udp": f"127.0.0.1:{PORT + 1}"}

    def sequences():
        return {e["listener"]: (e["sequence"], e["missing"]) for e in collector.pages("exporter_get", "exporters")}

    def send(at, sequence):
        collector.socket(("127.0.0.1", at)).send(report(packet(flow_of(1), PATH), sequence=sequence, hw_id=5))
        collector.expect(1)

    send(PORT, 100)
    name, = sequences()
    collector.stop()
    collector.start()
    equal(sequences(), {name: (100, 0)}, "the same listener after a start")
    collector.stop()
    listen[:] = [second, first]
    collector.start()
    equal(sequences(), {}, "with another listener at the place of the first")
    send(PORT, 103)
    equal(sequences(), {name: (103, 0)}, "the first listener at the second place")
    collector.stop()


def link_to(collector, node):
    """Gives a node a port to the collector, and reports 2.0 over it."""
    number = node.config["node"]["id"]
    name = f"c{number}"
    veth(collector.namespace, name, node.namespace, "mon")
    run("ip", "-n", collector.namespace, "addr", "add", f"198.51.{number}.9/24", "dev", name)
    node.config["ports"].append(iface("mon", "mon", "host"))
    node.config["export"] = [{"to": f"198.51.{number}.9:{PORT}", "port": "mon", "from": f"198.51.{number}.1",
                              "mac": mac_of(collector.namespace, name)}]


@test(limit_s=60, looks=3)
def a_thousand_scrapers_and_slow_ones_delay_no_report(workspace):
    need()
    collector = Collector(workspace, prometheus={"bind": f"127.0.0.1:{COLLECTOR_PORT}"}).start()
    events, sender, stop, times = Subscriber(collector.publisher, "event."), collector.socket(), threading.Event(), []
    scrapers = threading.Thread(target=flood, args=(collector.namespace, stop, COLLECTOR_PORT))
    scrapers.start()
    try:
        time.sleep(0.5)
        for number in range(200):
            begin = time.monotonic()
            sender.send(report(packet(flow_of(number), PATH), sequence=number))
            check(events.receive(), "a new flow is told")
            times.append(time.monotonic() - begin)
            while events.receive(0.005):
                pass
    finally:
        stop.set()
        scrapers.join()
    collector.expect(200, "reports_read_total")
    equal(collector.call("exporter_get")["exporters"][0]["missing"], 0, "missing reports")
    times.sort()
    check(times[100] < 0.01 and times[-1] < 0.25, "until the event", times[100], times[-1])
    return f"events after {times[100] * 1e3:.1f} ms in the median, {times[-1] * 1e3:.0f} ms at most"


@test()
def what_is_known_is_a_page_of_metrics(workspace):
    need("promtool")
    collector = Collector(workspace, prometheus={"bind": "127.0.0.1:9465", "flows": True},
                          units=[{"node_id": 2, "latency": "us", "occupancy": "bytes", "utilisation": "bps"},
                                 {"node_id": 9, "latency": "ticks", "occupancy": "percent", "utilisation": "percent"}])
    collector.start()
    sender = collector.socket()
    sender.send(report(packet(flow_of(1), PATH), sequence=3))
    sender.send(report(packet(flow_of(2), PATH[:1]), sequence=7))
    sender.send(b"?")
    collector.expect(3)
    until(lambda: collector.counter("points_written_total") == collector.counter("points_made_total"), 5, "all told")
    status, page = collector.get("/metrics")
    equal(status, 200, "status")
    done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""), "promtool")
    values = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    start = "hopsight_collector_"
    exporter = f'{{exporter="127.0.0.1",listener="0.0.0.0:{PORT}",node_id="9",hw_id="0"}}'
    flow = 'flow_latency_seconds{src_ip="%s",dst_ip="10.9.9.9",src_port="1000",dst_port="2000",protocol="17"}'
    expected = {"reports_read_total": 2, "flows": 2, 'refused_total{reason="version"}': 1,
                "exporter_reports_total" + exporter: 2, "exporter_missing" + exporter: 3,
                'hop_latency_seconds{node_id="1"}': 1e-7, 'hop_latency_seconds{node_id="2"}': 2e-4,
                'hop_latency_ticks{node_id="9"}': 300,
                'link_utilisation_ratio{node_id="1",port="11"}': 0.07,
                'link_utilisation_bytes_per_second{node_id="2",port="21"}': 100,
                'link_utilisation_ratio{node_id="9",port="91"}': 9,
                'queue_occupancy_packets{node_id="1",queue_id="3"}': 5,
                'queue_occupancy_bytes{node_id="2",queue_id="4"}': 6,
                'queue_occupancy_ratio{node_id="9",queue_id="5"}': 0.07, flow % flow_of(2)[0]: 1e-7}
    equal({name: float(values.get(start + name, "nan")) for name in expected}, expected, "values")
    check(start + flow % flow_of(1)[0] not in values, "the sum of different units")
    for path in ("/-/healthy", "/-/ready"):
        equal(collector.get(path)[0], 200, path)
    collector.stop()


def in_prometheus(collector, expression):
    """What a real Prometheus knows of an expression, by the label node_id."""
    status, text = collector.get("/api/v1/query?query=" + expression, 9090)
    equal(status, 200, text)
    return {one["metric"].get("node_id"): float(one["value"][1]) for one in json.loads(text)["data"]["result"]}


def start_prometheus(workspace, collector):
    path = workspace.path("prometheus.yml")
    with open(path, "w", encoding="ascii") as f:
        json.dump({"scrape_configs": [{"job_name": "hopsight", "scrape_interval": "1s", "static_configs": [
            {"targets": ["127.0.0.1:9465"]}]}]}, f)
    workspace.spawn(["prometheus", f"--config.file={path}", f"--storage.tsdb.path={workspace.path('tsdb')}",
                     "--web.listen-address=127.0.0.1:9090"], namespace=collector.namespace, log="prometheus.log")


@test(limit_s=60)
def a_chain_of_nodes_is_known_as_it_is(workspace):
    """Three nodes of INT 2.1 MD; the sink exports. The first node's link has an egress queue. A real Prometheus
    scrapes the collector."""
    need("prometheus")
    collector = Collector(workspace, accept={"profiles": {"2.0": MD}}, prometheus={"bind": "127.0.0.1:9465"},
                          events={"gap_ns": 0, "hop_latency": 0, "queue_occupancy": 0}).start()
    start_prometheus(workspace, collector)

    def prepare(source, transit, sink):
        source.config["ports"][1].update(rate_bps=10**9, queue_packets=100)
        transit.config["ports"][1]["id"] = 70
        link_to(collector, sink)

    chain = chain_of(workspace, MD, 3, prepare)
    names = ["node_id", "ports", "hop_latency", "queue", "link_utilisation"]
    chain.nodes[0].client.transaction([
        {"int_request": {**int_rule(1, "udp", A6, B6, dst_port=7000), "instructions": names}},
        {"int_request": {**int_rule(2, "udp", A4, B4, dst_port=7000), "instructions": names}}])
    for a, b in ((A6, B6), (A4, B4)):
        send_udp(chain, a, b, 7000)
    collector.expect(80)
    flows = [flow for flow in collector.pages("flow_get", "flows") if "reporter" not in flow]
    equal(sorted((f["src_ip"], f["dst_ip"], f["dst_port"], f["protocol"], f["reports"]) for f in flows),
          sorted([(A6, B6, 7000, 17, 40), (A4, B4, 7000, 17, 40)]), "flows")
    for flow in flows:
        equal([hop["node_id"] for hop in flow["hops"]], [1, 2, 3], "path")
    exporter, = collector.pages("exporter_get", "exporters")
    equal({key: exporter[key] for key in ("address", "node_id", "version", "datagrams", "reports", "missing")},
          {"address": "198.51.3.1", "node_id": 3, "version": "2.0", "datagrams": 80, "reports": 80, "missing": 0},
          "exporter")
    queues = {(q["node_id"], q["queue_id"]): q for q in collector.pages("queue_get", "queues")}
    check(any(node == 1 for node, _ in queues), "the queue of the first node", queues)
    links = {(k["node_id"], k["port"]) for k in collector.pages("link_get", "links")}
    check((1, 2) in links, "the link of the first node", links)
    latencies = {}
    for flow in sorted(flows, key=lambda flow: flow["last_ns"]):
        for hop in flow["hops"]:
            if "latency" in hop:
                latencies[str(hop["node_id"])] = hop["latency"] / 1e9
    check(latencies, "no latency", flows)

    def scraped():
        try:
            found = in_prometheus(collector, "hopsight_collector_hop_latency_seconds")
        except OSError:
            return False
        return all(abs(found.get(node, -1) - value) < 1e-12 for node, value in latencies.items())

    until(scraped, 30, "Prometheus knows the latencies")
    equal(sum(in_prometheus(collector, "hopsight_collector_exporter_reports_total").values()), 80, "reports")
    collector.audit()
    audit_ok(*chain.nodes)
    collector.stop()


def drop_repeats(values):
    return [value for i, value in enumerate(values) if not i or value != values[i - 1]]


@test(limit_s=60)
def depths_of_a_queue_are_those_that_packets_met(workspace):
    """Bursts into a slow queue. A packet of a burst finds those of it that were sent before, because none of them
    leaves meanwhile: it is the burst, what the packets on the link carry, and what the collector says."""
    need()
    bursts, places = (10, 1, 6), 100
    collector = Collector(workspace, accept={"profiles": {"2.0": MD}},
                          events={"gap_ns": 0, "queue_occupancy": 0, "link_utilisation": 0}).start()

    def prepare(source, sink):
        source.config["ports"][1].update(id=77, rate_bps=80_000, queue_packets=places)  # a packet in 0.1 s
        link_to(collector, sink)

    chain = chain_of(workspace, MD, 2, prepare)
    names = ["node_id", "ports", "queue", "link_utilisation"]
    chain.nodes[0].client.transaction([
        {"int_request": {**int_rule(1, "udp", A6, B6, dst_port=7000), "instructions": names}}])
    host, link = RawPort(chain.hosts[0].namespace, "eth0"), Wire(chain.nodes[1], "west")
    one, met = fr.udp_frame(A6, B6, 4660, 7000, bytes(900)), []
    for burst in bursts:
        host.send(*[one] * burst)
        met += range(burst)
        collector.expect(len(met), limit_s=15)
    carried = [int_frames.behind_transport("2.1", packet.payload).hops[0]
               for packet in link.packets(lambda packet: packet.dport == 7000)]
    equal([hop["queue"] for hop in carried], met, "depths that packets carry")
    queue, = [q for q in collector.pages("queue_get", "queues") if q["node_id"] == 1]
    equal((queue["queue_id"], queue["occupancy"], queue["unit"]), (carried[-1]["queue_id"], met[-1], "packets"),
          "the queue's newest depth")
    line, = [k for k in collector.pages("link_get", "links") if k["node_id"] == 1]
    equal((line["port"], line["utilisation"]), (77, carried[-1]["utilisation"]), "the link's newest utilisation")
    told = {"queue_occupancy": [], "link_utilisation": []}
    for event in collector.call("events")["events"]:
        if event["kind"] in told:
            told[event["kind"]] += [point["value"] for point in event["points"] if point["node_id"] == 1]
    equal(told["queue_occupancy"], drop_repeats(met), "depths that were events")
    equal(told["link_utilisation"], drop_repeats([hop["utilisation"] for hop in carried]),
          "utilisations that were events")
    collector.audit()
    audit_ok(*chain.nodes)
    collector.stop()


@test(limit_s=60)
def reports_come_over_shared_memory_and_again_after_a_kill(workspace):
    """The sink exports over memif, whose other end is the collector's port. Killed, the collector misses what is
    sent meanwhile: the sink's numbers go on only with reports that left it."""
    need()
    path = workspace.path("reports.sock")
    port = memif("in", path, "server", 0)
    port.pop("side")
    collector = Collector(workspace, listen=[], ports=[port | {"udp_port": PORT}],
                          accept={"profiles": {"2.0": MD}}, state={"file": workspace.path("exporters")}).start()

    def prepare(_, sink):
        sink.config["ports"].append(memif("mon", path, "client", 0, side="host"))
        sink.config["export"] = [{"to": f"198.51.100.9:{PORT}", "port": "mon", "from": "198.51.100.1",
                                  "mac": "02:00:00:00:00:09"}]

    chain = chain_of(workspace, MD, 2, prepare)
    chain.nodes[0].client.transaction([{"int_request": int_rule(1, "udp", A6, B6, dst_port=7000)}])
    send_udp(chain, A6, B6, 7000)
    collector.expect(40)
    collector.audit()
    collector.kill()
    until(lambda: not all(p["link_up"] for p in chain.nodes[1].call("ports_get")["ports"]), 10, "the link is down")
    collector.start()
    until(lambda: all(p["link_up"] for p in chain.nodes[1].call("ports_get")["ports"]), 20, "the link is up again")
    send_udp(chain, A6, B6, 7000)
    collector.expect(40)
    exporter, = collector.pages("exporter_get", "exporters")
    equal([exporter[key] for key in ("address", "node_id", "datagrams", "missing", "restarts")],
          ["198.51.100.1", 2, 80, 0, 0], "the exporter")
    flow, = [f for f in collector.pages("flow_get", "flows") if "reporter" not in f]
    equal(([hop["node_id"] for hop in flow["hops"]], flow["reports"]), ([1, 2], 40), "the flow")
    collector.audit()
    collector.stop()


if __name__ == "__main__":
    main()
