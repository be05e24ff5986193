# SPDX-License-Identifier: BSD-3-Clause
"""Metrics over HTTP: the page against the API, promtool, the real Prometheus, and clients that mean no good."""

import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.parse

from frames import udp_frame
from lib import Chain, RawPort, check, equal, main, need, quiet, rule, test, until, veth
from prometheus_text import Page, ask, scrape
from workspace import InNamespace, Workspace

import grafana
from collecting import Collector as Collecting, packet, report
from harness import ROOT
from test_cli import PROGRAM, FakeNode
from test_controller import Controller
from test_int import MD, NAMES, int_rule
from test_label_control import PORT as LABEL_PORT, FakeLabelNode, datagram, item, now_us

INT_NAMES = [*NAMES, "queue", "link_utilisation"]

A, B = "2001:db8::1", "2001:db8::2"
PORT, CONTROLLER_PORT, COLLECTOR_PORT, OWN_PORT = 9463, 9464, 9465, 9090
WINDOW_MS = 500
FRAME = udp_frame(A, B, 5, 7, bytes(60))


def chain_with_traffic(workspace, packets=300):
    """Two nodes with a rule, the second one with metrics over HTTP, and what both know after some packets."""
    chain = Chain(workspace, 2, telemetry={"windows_ms": [WINDOW_MS]}, prometheus={})
    chain.start()
    for node in chain.nodes:
        node.call("int_request", **rule(7, A, B, dst_port=7))
    sender = RawPort(chain.hosts[0].namespace, "eth0")
    for _ in range(packets):
        sender.send(FRAME)
    until(lambda: chain.nodes[1].call("int_get", ns_id=7)["counters"]["reports_made"] == packets, 5, "all packets")
    for node in chain.nodes:
        quiet(node)
    return chain


def promtool(*words, **kwargs):
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False, **kwargs)
    equal((done.returncode, done.stdout + done.stderr), (0, done.stdout), words)
    return done.stdout


# What grows from one question to the next.
MOVING = re.compile(r"hopsight_(uptime_seconds|clock_.*|requests_total|connections_total|worker_.*rounds_total"
                    r"|.*windows_published_total|.*monitor_bytes|disconnections_total)")


def compare(page, stats):
    """Each value of stats_get is on the page."""
    looked = 0
    for stat in stats:
        labels = {key: stat[key] for key in ("port", "reason", "event", "worker") if key in stat}
        name = stat["name"][:-6] if page.openmetrics and stat["kind"] == "counter" else stat["name"]
        equal(page.kinds[name], stat["kind"], stat["name"])
        equal(page.helps[name], stat["help"].replace("\\", "\\\\"), stat["name"])
        if not MOVING.fullmatch(stat["name"]):
            equal(page.get(stat["name"], **labels), stat["value"], stat)
            looked += 1
    check(looked > 150, "values compared:", looked)


def same_as_api(node, openmetrics=False):
    """A page on which each value is the API's. An event between the two questions makes them differ once."""
    found = []

    def look():
        page, text = scrape(node.namespace, PORT, openmetrics)
        try:
            compare(page, node.call("stats_get")["stats"])
        except AssertionError as error:
            found.append(error)
            return None
        return page, text

    return until(look, 5, lambda: found[-1])


@test()
def a_page_says_what_the_api_says_in_both_formats(workspace):
    need("promtool")
    chain = chain_with_traffic(workspace)
    node = chain.nodes[1]
    for openmetrics in (False, True):
        page, text = same_as_api(node, openmetrics)
        equal(page.get("hopsight_rule_rx_packets_total", ns_id="7"), 300, "packets of the rule")
        if not openmetrics:
            equal(promtool("check", "metrics", input=text), "", "promtool")
    equal(page.get("hopsight_series_capped_total"), 0, "series left out")
    check(page.get("process_resident_memory_bytes") > 1 << 20, "memory")
    check(0 < time.time() - page.get("process_start_time_seconds") < 60, "start")


def printed(endpoint):
    """What the command line prints of stats_get. Returns (page, text, errors)."""
    done = subprocess.run([PROGRAM, "-c", endpoint, "stats", "--prometheus"], capture_output=True, text=True, check=False,
                          timeout=20)
    equal(done.returncode, 0, done.stderr)
    equal(promtool("check", "metrics", input=done.stdout), "", "promtool")
    return Page(done.stdout, False), done.stdout, done.stderr


@test()
def the_command_line_prints_the_counters_as_a_page(workspace):
    need("promtool")
    chain = chain_with_traffic(workspace)
    found, node = [], chain.nodes[1]

    def is_same():
        try:
            return compare(printed(node.api)[0], node.call("stats_get")["stats"]) is None
        except AssertionError as error:
            found.append(error)
            return False

    until(is_same, 5, lambda: found[-1])
    controller = Controller(workspace, chain.nodes).start()
    until(lambda: controller.call("node_get")["reachable"] == 2, 10, "nodes that answer")
    page = printed(controller.api)[0]
    for one in chain.nodes:
        equal(page.get("hopsight_port_rx_packets_total", node=one.name, port="west"),
              next(port for port in one.call("ports_get")["ports"] if port["name"] == "west")["rx_packets"], one.name)
    controller.stop()
    # What a node may not say.
    stat = {"name": "ok_total", "kind": "counter", "unit": "packets", "help": "a\nb\\c", "value": 7, "port": "a\"b\\c"}
    fake = FakeNode(workspace, stats_get={"ok": {
        "nodes": {"n{1}": {"stats": [stat, dict(stat, name="bad name"), dict(stat, name=""), dict(stat, name="x 1\ny"),
                                     dict(stat, name="half", value=0.5), dict(stat, value="7", port="other"),
                                     {"name": "_total", "kind": "counter", "value": 1},
                                     {"name": "bare", "help": "no unit", "value": 1, "a-b": "c", "node": "mine"}, {"value": 1}]}},
        "errors": {"n2": {"code": "busy", "message": "no"}}, "unreachable": ["n3"]}})
    page, text, errors = printed(fake.endpoint)
    labels = {"node": "n{1}", "port": stat["port"]}
    equal(page.values, {(name, tuple(sorted(of.items()))): value for name, of, value in (
        ("ok_total", labels, 7), ("half", labels, 0.5), ("bare", {"node": "n{1}"}, 1))}, text)
    equal(errors.splitlines(), ["hopsight: n2: no", "hopsight: n3 does not answer"], "nodes that are missing")
    fake.run("--json", "stats", "--prometheus", expected=2)


@test()
def delays_are_in_a_histogram_and_windows_in_gauges(workspace):
    need()
    node = chain_with_traffic(workspace).nodes[1]
    page, _ = scrape(node.namespace, PORT)
    made = page.get("hopsight_rule_reports_made_total", ns_id="7")
    equal(made, 300, "reports")
    equal(page.get("hopsight_path_delay_seconds_count", ns_id="7"), made, "delays end to end")
    hop = {"ns_id": "7", "hop": "1", "from": "0", "to": "2"}  # the source tells no id
    equal(page.get("hopsight_hop_delay_seconds_count", **hop), made, "delays of the hop")
    mean = page.get("hopsight_path_delay_seconds_sum", ns_id="7") / made
    run = node.call("qos_get", ns_id=7, window="run")["qos"][0]["e2e"]
    check(abs(mean * 1e9 - run["delay_ns"]["mean"]) < 2, mean, run)
    buckets = {float(dict(labels)["le"]): value for (name, labels), value in page.values.items()
               if name == "hopsight_path_delay_seconds_bucket"}
    least, most = run["delay_ns"]["min"] / 1e9, run["delay_ns"]["max"] / 1e9
    for bound, count in buckets.items():
        check(count == 0 or bound >= least, "before the least:", bound, count, least)
        check(count == made or bound < most, "behind the greatest:", bound, count, most)

    def window():
        page, _ = scrape(node.namespace, PORT)
        got = node.call("qos_get", ns_id=7, window=f"{WINDOW_MS}ms")["qos"]
        key = {"ns_id": "7", "window": f"{WINDOW_MS}ms"}
        same = got and not got[0]["stale"] and page.values.get(
            ("hopsight_path_window_end_timestamp_seconds", tuple(sorted(key.items()))))
        return same and abs(same - got[0]["end_ns"] / 1e9) < 1e-6 and (page, got[0], key)

    sender = RawPort(node.workspace.prefix + "-host1", "eth0")

    def send_and_look():
        sender.send(*[FRAME] * 10)
        return window()

    page, got, key = until(send_and_look, 10, "a window in both")
    e2e = got["e2e"]
    equal(page.get("hopsight_path_reports", **key), got["reports"], "reports")
    for name, value in (("delay_mean_seconds", e2e["delay_ns"]["mean"] / 1e9), ("loss_ratio", e2e["loss_ratio"]),
                        ("tx_packets", e2e["tx_packets"]), ("throughput_bytes_per_second", e2e["throughput_bps"] / 8)):
        equal(page.get("hopsight_path_" + name, **key), value, name)
    equal(page.get("hopsight_path_delay_window_seconds", quantile="1.0", **key), e2e["delay_ns"]["max"] / 1e9, "max")
    first = got["hops"][0]
    equal(page.get("hopsight_hop_tx_packets", **hop, window=key["window"]), first["tx_packets"], "of the hop")


class Prometheus:
    """The real one, with data of its own, in the namespace of what it scrapes."""

    def __init__(self, workspace, namespace, targets, rules=None):
        self.namespace = namespace
        config = workspace.path("prometheus.yml")
        with open(config, "w", encoding="ascii") as f:
            json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                       "rule_files": [rules] if rules else [],
                       "scrape_configs": [{"job_name": "hopsight", "static_configs": [{"targets": targets}]}]}, f)
        workspace.spawn(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={workspace.path('tsdb')}",
                         f"--web.listen-address=127.0.0.1:{OWN_PORT}"], namespace=namespace, log="prometheus.log",
                        env={**os.environ, "GOMAXPROCS": "1"})

    def query(self, text):
        """Returns {labels: value}; without the labels that Prometheus adds."""
        try:
            status, _, answer = ask(self.namespace, OWN_PORT, "/api/v1/query?" + urllib.parse.urlencode({"query": text}))
        except OSError:
            return {}
        if status == 503:  # it starts
            return {}
        answer = json.loads(answer)
        equal(answer["status"], "success", answer)
        return {tuple(sorted((k, v) for k, v in series["metric"].items() if k not in ("job", "instance"))):
                float(series["value"][1]) for series in answer["data"]["result"]}


def _key(name, labels):
    return tuple(sorted([("__name__", name), *labels]))


@test()
def what_prometheus_keeps_is_what_the_api_says(workspace):
    need("prometheus")
    node = chain_with_traffic(workspace).nodes[1]
    prometheus = Prometheus(workspace, node.namespace, [f"127.0.0.1:{PORT}"])
    until(lambda: prometheus.query("scrape_samples_scraped > 0"), 20, "a scrape")
    got = prometheus.query('{__name__=~"hopsight_.*"}')
    page, _ = scrape(node.namespace, PORT, openmetrics=True)
    looked = 0
    for (name, labels), value in page.values.items():
        if name.startswith("hopsight_") and re.match(r"hopsight_(port|rule|path_delay|hop_delay|build)", name):
            equal(got[_key(name, labels)], value, name)
            looked += 1
    check(looked > 150, "series compared:", looked)
    for stat in node.call("stats_get")["stats"]:
        if stat["name"] == "hopsight_port_rx_packets_total":
            equal(got[_key(stat["name"], [("port", stat["port"])])], stat["value"], stat)
    equal(list(prometheus.query("up").values()), [1], "up")


@test()
def readiness_follows_the_ports(workspace):
    need()
    chain = Chain(workspace, 1, prometheus={"bind": f"[::1]:{PORT}"}).start()
    node = chain.nodes[0]

    def ready():
        status, _, text = ask(node.namespace, PORT, "/-/ready", address="::1")
        return status, text

    until(lambda: ready() == (200, "ready\n"), 5, "ready")
    equal(ask(node.namespace, PORT, "/-/healthy", address="::1")[0], 200, "healthy")
    subprocess.run(["ip", "-n", chain.hosts[0].namespace, "link", "set", "eth0", "down"], check=True)
    until(lambda: ready() == (503, 'port "west" is down\n'), 5, "not ready")


@test()
def a_port_in_use_and_a_bound_on_series_are_explained(workspace):
    need()
    chain = Chain(workspace, 1, prometheus={"max_series": 100})
    node = chain.nodes[0]
    with InNamespace(node.namespace):
        holder = socket.create_server(("127.0.0.1", PORT))
    node.launch()
    equal(node.process.wait(20), 1, "exit code")
    check(f"prometheus.bind: somebody listens at 127.0.0.1:{PORT} already (allowed: a port that nobody listens at)"
          in node.log(), node.log())
    holder.close()
    node.start()
    page, _ = scrape(node.namespace, PORT)
    equal(len(page.values), 100, "series")
    check(page.get("hopsight_series_capped_total") > 100, "left out")


@test()
def a_controller_shows_its_nodes_and_their_flows(workspace):
    need("promtool")
    chain = Chain(workspace, 2, telemetry={"windows_ms": [WINDOW_MS]})
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(workspace, chain.nodes, controller={"windows_ms": [WINDOW_MS]}, prometheus={
        "bind": f"127.0.0.1:{port}"})
    for node in chain.nodes:
        node.config["control"]["publish_to"] = [controller.reports]
    chain.start()
    controller.start()
    controller.client.call("int_request", **rule(7, A, B, dst_port=7), on={"path": "all"})
    sender = RawPort(chain.hosts[0].namespace, "eth0")

    def shown():
        sender.send(*[FRAME] * 10)
        page, text = scrape(None, port)
        found = [key for key in page.values if key[0] == "hopsight_hop_tx_packets"]
        return found and (page, text)

    page, text = until(shown, 15, "windows at the controller")
    equal(promtool("check", "metrics", input=text), "", "promtool")
    for node in chain.nodes:
        equal(page.get("hopsight_controller_node_reachable", node=node.name), 1, node.name)
        equal(page.get("hopsight_controller_node_rules_present", node=node.name), 1, node.name)
    equal(page.get("hopsight_controller_rules"), 1, "rules")
    scrape(None, port, openmetrics=True)

    # The source counts anew.
    chain.nodes[0].stop()
    chain.nodes[0].start()

    def flagged():
        sender.send(*[FRAME] * 10)
        return 'flag="epoch"' in scrape(None, port)[1]

    until(flagged, 15, "a window with a flag at the controller")


# ---- dashboards and rules ----

RULES = os.path.join(ROOT, "docs", "grafana", "rules.yml")


def int_page(workspace):
    """A page with what only INT tells, as long as a chain of its own lives."""
    folder = workspace.path("int")
    os.mkdir(folder)
    own = Workspace(folder, workspace.prefix + "i")
    workspace.at_close.append(own.close)
    chain = Chain(own, 2, link="veth", profiles={"dc": MD}, prometheus={}, telemetry={"windows_ms": [WINDOW_MS]})
    chain.nodes[0].config["ports"][1].update(profile="dc", rate_bps=10**9, queue_packets=100)
    chain.nodes[1].config["ports"][0]["profile"] = "dc"
    chain.start()
    chain.install(int_rule(1, "udp", A, B, dst_port=7, instructions=INT_NAMES))
    sender = RawPort(chain.hosts[0].namespace, "eth0")

    def page():
        sender.send(*[FRAME] * 10)
        _, text = scrape(chain.nodes[1].namespace, PORT)
        return "hopsight_hop_latency_window_seconds" in text and text

    return until(page, 15, "windows of INT")


def collector_page(workspace):
    """A page of a collector that was told something in each unit."""
    units = [{"node_id": 2, "latency": "us", "occupancy": "bytes", "utilisation": "bps"},
             {"node_id": 9, "latency": "ticks", "occupancy": "percent", "utilisation": "percent"}]
    collector = Collecting(workspace, prometheus={"flows": True}, units=units).start()
    hops = [(1, 10, 11, 100, 3, 5, 700), (2, 20, 21, 200, 4, 6, 800), (9, 90, 91, 300, 5, 7, 900)]
    sender = collector.socket()
    for sequence in (0, 1):
        sender.send(report(packet((A, B, 1, 2 + sequence), hops[:1 + 2 * sequence]), sequence=sequence))

    def page():
        _, text = scrape(collector.namespace, COLLECTOR_PORT)
        wanted = ("hop_latency_seconds", "hop_latency_ticks", "flow_latency_seconds", "queue_occupancy_ratio")
        return all(f"hopsight_collector_{name}{{" in text for name in wanted) and text

    return until(page, 10, "metrics of the collector")


def unanswered_probes(namespace, nodes):
    """Probes to an interface that leads nowhere, and routes that follow them."""
    veth(namespace, "probe0", namespace, "probe1")
    return {"iface": "probe0", "first_node": nodes[0], "address": "10.0.0.100", "feedback_ms": 10, "attempts": 0,
            "plan": "euler", "nodes": [{"id": n} for n in nodes],
            "links": [{"node": nodes[0], "port": 2, "peer": nodes[1], "peer_port": 1}],
            "reroute": {"destinations": [{"prefix": "2001:db8:2::/64", "node": nodes[1]}]}}


def full_pages(workspace):
    """Pages of a node and of a controller with every metric that needs no INT, and the namespace of both."""
    windows = {"windows_ms": [4 * WINDOW_MS]}  # of 1,000 values
    chain = Chain(workspace, 2, telemetry=windows, prometheus={"bind": f"0.0.0.0:{PORT}"})
    namespace = chain.nodes[1].namespace
    labels = FakeLabelNode(workspace, "labels", 77, (1,))
    controller = Controller(workspace, [*chain.nodes, labels], controller=windows, prometheus={},
                            namespace=namespace, label={"listen": [f"127.0.0.1:{LABEL_PORT}"]},
                            probing=unanswered_probes(namespace, [node.config["node"]["id"] for node in chain.nodes]))
    for node in chain.nodes:
        node.config["control"]["publish_to"] = [controller.reports]
    chain.start()
    controller.start()
    controller.client.call("int_request", **rule(7, A, B, dst_port=7), on={"path": "all"})
    sender = RawPort(chain.hosts[0].namespace, "eth0")
    with InNamespace(namespace):
        items = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    items.connect(("127.0.0.1", LABEL_PORT))

    def pages():
        sender.send(*[FRAME] * 100)
        items.send(datagram(item(77, 1, now_us())))
        texts = [scrape(namespace, port)[1] for port in (PORT, CONTROLLER_PORT)]
        return all("hopsight_hop_pdv_seconds" in text for text in texts) and all(
            name in texts[1] for name in ("label_coverage_mean", "probe_session_seconds")) and texts

    return until(pages, 15, "windows at both"), namespace


def without_flags(text):
    """A flag is on a page while a window has it."""
    return "".join(line + "\n" for line in text.splitlines() if "hopsight_path_flag" not in line)


@test(limit_s=90)
def dashboards_and_rules_ask_for_what_programs_serve(workspace):
    need("prometheus", "promtool")
    promtool("check", "rules", RULES)
    (node, controller), namespace = full_pages(workspace)
    pages = {"hopsightd": [node, int_page(workspace)], "hopsight-controller": [controller],
             "hopsight-collector": [collector_page(workspace)]}
    prometheus = Prometheus(workspace, namespace, [f"127.0.0.1:{PORT}", f"127.0.0.1:{CONTROLLER_PORT}"], RULES)
    for program, texts in pages.items():
        found = grafana.families([without_flags(text) for text in texts])
        wanted = grafana.text_of(grafana.dashboard(program, found))
        path = os.path.join(ROOT, "docs", "grafana", f"{program}.json")
        if os.environ.get("HS_WRITE_DASHBOARDS"):
            with open(path, "w", encoding="utf-8") as f:
                f.write(wanted)
        with open(path, encoding="utf-8") as f:
            check(f.read() == wanted, path, "is not what tools/grafana.py makes of these metrics;",
                  "HS_WRITE_DASHBOARDS=1 with this test writes it")
    rate = "sum(rate(hopsight_http_requests_total[1m]) >= 0) >= 0 and sum(up) == 2"
    until(lambda: prometheus.query(rate), 20, "two scrapes of both")
    answered = 0
    for program, texts in pages.items():
        known = set(grafana.families(texts))
        for query in grafana.queries(grafana.dashboard(program, grafana.families(texts))):
            check(grafana.names_in(query) <= known, query, "asks for what is not there")
            query = query.replace("$__rate_interval", "1m").replace("$job", ".*").replace("$instance", ".*")
            answered += bool(prometheus.query(query))
    check(answered > 100, "queries with an answer:", answered)
    with open(RULES, encoding="utf-8") as f:
        asked = grafana.names_in(re.sub(r"\w+:hopsight_\w+:\w+", "", f.read()))
    known = set(grafana.families(sum(pages.values(), [])))
    equal(sorted(asked - known), [], "metrics of rules that nobody serves")


# ---- clients that mean no good ----

def flood(namespace, stop, port=PORT, n=1000):
    """n scrapers at once, again and again, and as many clients that send a byte now and then."""
    with InNamespace(namespace):
        slow = []
        while not stop.is_set():
            quick = []
            for i in range(n):
                client = socket.socket()
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", port))
                (slow if i % 2 and len(slow) < 500 else quick).append(client)
            for client in quick + slow:
                try:
                    client.send(b"G" if client in slow[:50] else b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                except OSError:
                    pass
            stop.wait(0.05)
            for client in quick:
                client.close()
        for client in slow:
            client.close()


def _slowest_answer_s(node, seconds):
    slowest, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        node.call("hello")
        slowest = max(slowest, time.monotonic() - begin)
        time.sleep(0.01)
    return slowest


@test(limit_s=90, looks=3)
def a_thousand_scrapers_and_slow_ones_delay_neither_packets_nor_the_api(workspace):
    need()
    chain = Chain(workspace, 1, prometheus={}).start()
    node = chain.nodes[0]
    west, east = (RawPort(host.namespace, "eth0") for host in chain.hosts)
    stop = threading.Event()
    scrapers = threading.Thread(target=flood, args=(node.namespace, stop))
    scrapers.start()
    try:
        time.sleep(0.5)
        times = []
        for _ in range(100):
            begin = time.monotonic()
            west.send(FRAME)
            check(east.receive(1.0), "a packet was lost")
            times.append(time.monotonic() - begin)
            time.sleep(0.01)
        slowest_s = _slowest_answer_s(node, 1)
        page = until(lambda: _page_or_none(node), 15, "a page for an honest client")
    finally:
        stop.set()
        scrapers.join()
    check(page.get("hopsight_http_connections_turned_away_total") > 100, "turned away")
    times.sort()
    check(times[50] < 0.01, "median through the node", times[50])
    check(slowest_s < 0.25, "slowest answer of the API", slowest_s)
    check(node.process.poll() is None, node.log())
    return f"median {times[50] * 1e6:.0f} us through the node, slowest answer {slowest_s * 1e3:.0f} ms"


def _page_or_none(node):
    try:
        return scrape(node.namespace, PORT)[0]
    except (OSError, ValueError):
        return None


def _worker_switches(node):
    """How often the worker's thread has gone to sleep or been put aside."""
    found = []
    for task in os.listdir(f"/proc/{node.process.pid}/task"):
        with open(f"/proc/{node.process.pid}/task/{task}/status", encoding="ascii") as f:
            status = dict(line.split(":\t", 1) for line in f.read().splitlines() if ":\t" in line)
        if status["Name"].startswith(("rte-worker", "lcore-worker")):
            found.append(int(status["voluntary_ctxt_switches"]))
    equal(len(found), 1, "workers")
    return found[0]


@test(looks=3)
def scraping_ten_times_a_second_wakes_no_worker(workspace):
    need()
    node = Chain(workspace, 1, prometheus={}).start().nodes[0]

    def switches(seconds, scrapes):
        before, end, n = _worker_switches(node), time.monotonic() + seconds, 0
        while time.monotonic() < end:
            n += 1
            if scrapes:
                scrape(node.namespace, PORT)
            time.sleep(0.1)
        return _worker_switches(node) - before, n

    alone, _ = switches(2, False)
    scraped, n = switches(2, True)
    check(n >= 15, "scrapes:", n)
    check(scraped <= alone + 2, "a sleeping worker woke", scraped, "times, and without scrapes", alone)
    return f"{scraped} wake-ups of the worker with {n} scrapes, {alone} without"


if __name__ == "__main__":
    raise SystemExit(main())
