# SPDX-License-Identifier: BSD-3-Clause
"""Computes the numbers of a result again, only from the scenario and the packets' CSV.

    check_packets.py SCENARIO RESULT PACKETS

It shares no code with the lab. It compares the measured, the true and the configured values of every
flow, window and hop, then rows, losses of the run, overhead and the links' counters. It works for
scenarios whose clocks are exact and whose nodes neither restart nor lose anything. It prints a line
for each difference, and then exits with 1.
"""

import bisect
import collections
import csv
import fractions
import functools
import json
import math
import sys

SECOND = 10**9
HEADERS = {"udp": 14 + 40 + 8, "tcp": 14 + 40 + 20, "icmp": 14 + 40 + 8}

Row = collections.namedtuple("Row", "at order link way copy bytes telemetry fate wait arrives")


class Stop:
    """A packet at a node, with the counts of its flow there, including this packet."""

    __slots__ = ("node", "at", "rx", "tx", "rx_bytes")

    def __init__(self, node, at, rx, tx, rx_bytes):
        self.node, self.at, self.rx, self.tx, self.rx_bytes = node, at, rx, tx, rx_bytes


class Arrival:
    """A packet at its sink."""

    __slots__ = ("number", "at", "stops", "telemetry")

    def __init__(self, number, at, stops, telemetry):
        self.number, self.at, self.stops, self.telemetry = number, at, stops, telemetry


class Check:
    def __init__(self):
        self.compared = collections.Counter()
        self.wrong = []

    def same(self, what, got, want, tolerance=0):
        self.compared[what.split(":")[-1].strip()] += 1
        if got is None or want is None:
            fine = got is want
        else:
            fine = abs(got - want) <= tolerance
        if not fine:
            self.wrong.append(f"{what}: the result has {got}, the packets say {want}")

    def near(self, what, got, want):
        self.same(what, got, want, 1e-12 * max(1, abs(want or 0)))


def rounded(total, n):
    """The nearest integer, halves away from zero."""
    return (total + n // 2) // n if total >= 0 else -((-total + n // 2) // n)


# ---- what the packets did ----

def read_packets(path):
    """Returns rows of each flow (traffic, reply) by number, and rows of each direction of a link in
    order."""
    flows = collections.defaultdict(lambda: collections.defaultdict(list))
    ways = collections.defaultdict(list)
    with open(path, encoding="utf-8", newline="") as f:
        for order, r in enumerate(csv.reader(f)):
            if not order or r[2] == "host":
                continue
            delivered = r[9] == "delivered"
            row = Row(int(r[0]), order, r[1], r[2], r[6] == "1", int(r[7]), r[8] == "1", r[9],
                      int(r[10]) if delivered else None, int(r[11]) if delivered else None)
            flows[r[3], r[4] == "1"][int(r[5])].append(row)
            ways[r[1], r[2]].append(row)
    return flows, ways


def ends_of(scenario):
    ends = {}
    for link in scenario["links"]:
        name = link.get("name", f"{link['from']}-{link['to']}")
        ends[name, "forward"] = (link["from"], link["to"])
        ends[name, "reverse"] = (link["to"], link["from"])
    return ends


class Flow:
    """The path of each packet of a flow. All counts are made here."""

    def __init__(self, rows, ends, frame_bytes):
        self.frame_bytes = frame_bytes
        self.ends = ends
        self.sent = collections.Counter()       # by hop
        self.received = collections.Counter()
        self.copies = collections.Counter()
        self.telemetry = collections.Counter()  # packets; bytes
        self.telemetry_bytes = collections.Counter()
        self.arrivals = []
        self.follow(rows)
        self.reports = [a for a in self.arrivals if a.telemetry]
        self.newest = []  # report with the highest number by each report
        for report in self.reports:
            best = self.newest[-1] if self.newest else report
            self.newest.append(report if report.number > best.number else best)
        self.times = [r.at for r in self.reports]
        self.all_times = [a.at for a in self.arrivals]
        self.all_newest = []
        for arrival in self.arrivals:
            best = self.all_newest[-1] if self.all_newest else arrival
            self.all_newest.append(arrival if arrival.number > best.number else best)
        self.order()

    def follow(self, by_number):
        """Goes through time and counts a frame where it arrives and where it is sent on."""
        rx, tx, held = collections.Counter(), collections.Counter(), {}
        moves = []
        for number, rows in by_number.items():
            for row in rows:
                if not row.copy:
                    moves.append((row.at, row.order, number, row))
        moves.sort(key=lambda m: m[1])
        copies = collections.defaultdict(list)
        for number, rows in by_number.items():
            for row in rows:
                if row.copy:
                    copies[row.order - 1].append(row)
        last = []
        for at, order, number, row in moves:
            start, end = self.ends[row.link, row.way]
            waiting = held.get((number, start, at))
            stops = waiting.pop(0) if waiting else ()
            rx[start] += 1
            tx[start] += 1
            stops += (Stop(start, at, rx[start], tx[start], rx[start] * self.frame_bytes),)
            hop = (start, end)
            self.sent[hop] += 1
            if row.telemetry:
                self.telemetry[hop] += 1
                self.telemetry_bytes[hop] += row.bytes - self.frame_bytes
            for one in copies.get(order, []) + [row]:
                if one.arrives is None:
                    continue
                self.received[hop] += 1
                self.copies[hop] += one is not row
                held.setdefault((number, end, one.arrives), []).append(stops)
                last.append((one.arrives, order, one is row, number, end, row.telemetry))
        # A packet that was never sent on has reached its sink.
        last.sort(key=lambda m: m[:3])
        for at, _, _, number, node, telemetry in last:
            waiting = held.get((number, node, at))
            if not waiting:
                continue
            stops = waiting.pop(0)
            rx[node] += 1
            stops += (Stop(node, at, rx[node], None, rx[node] * self.frame_bytes),)
            self.arrivals.append(Arrival(number, at, stops, telemetry))

    def order(self):
        """Finds neighbours in source order. Of several copies, the first counts."""
        seen, firsts = set(), []
        for report in self.reports:
            if report.number not in seen:
                seen.add(report.number)
                firsts.append(report)
        firsts.sort(key=lambda r: r.number)
        self.before = {id(b): a for a, b in zip(firsts, firsts[1:])}

    def until(self, at):
        return bisect.bisect_right(self.times, at)

    def edge(self, at):
        n = self.until(at)
        return self.newest[n - 1] if n else self.reports[0]

    def bytes_by(self, to, at):
        n = bisect.bisect_right(self.all_times, at)
        if not n:
            return 0
        if to < 0:
            return self.arrivals[n - 1].stops[-1].rx_bytes
        return self.all_newest[n - 1].stops[to].rx_bytes


# ---- one hop in one window ----

def delay_numbers(flow, low, high, a, b):
    delays = [r.stops[b].at - r.stops[a].at for r in flow.reports[low:high]]
    pairs = []
    for report, delay in zip(flow.reports[low:high], delays):
        before = flow.before.get(id(report))
        if before:
            pairs.append(abs(delay - (before.stops[b].at - before.stops[a].at)))
    n, ranked = len(delays), sorted(delays)
    numbers = {"mean": rounded(sum(delays), n), "min": ranked[0], "max": ranked[-1]}
    if n <= 1000:
        numbers["p50"] = ranked[-(-50 * n // 100) - 1]
        if n >= 100:
            numbers["p99"] = ranked[-(-99 * n // 100) - 1]
    return numbers, rounded(sum(pairs), len(pairs)) if pairs else None


def span_numbers(flow, window, a, b):
    first, newest = flow.edge(window["start_ns"]), flow.edge(window["end_ns"])
    numbers = {
        "tx_packets": newest.stops[a].tx - first.stops[a].tx,
        "rx_packets": newest.stops[b].rx - first.stops[b].rx,
        "rx_bytes": newest.stops[b].rx_bytes - first.stops[b].rx_bytes,
        "span_start_ns": first.stops[b].at,
        "span_end_ns": newest.stops[b].at,
    }
    numbers["lost_packets"] = numbers["tx_packets"] - numbers["rx_packets"]
    span = numbers["span_end_ns"] - numbers["span_start_ns"]
    if span > 0:
        numbers["throughput_bps"] = numbers["rx_bytes"] * 8 * SECOND // span
    return numbers


def check_window(check, flow, window, hops):
    name = f"{window['flow']} {window['start_ns']}"
    low, high = flow.until(window["start_ns"]), flow.until(window["end_ns"])
    check.same(f"{name}: reports", window["reports"], high - low)
    check.same(f"{name}: true_reports", window["true_reports"], high - low)
    if window["stale"] or low == high:
        check.same(f"{name}: stale", window["stale"], low == high)
        return
    check.same(f"{name}: hops", len(window["hops"]), len(hops))
    for (a, b), hop in zip(hops + [(0, -1)], window["hops"] + [window["e2e"]]):
        what = f"{name} {hop.get('link', 'e2e')}"
        delays, jitter = delay_numbers(flow, low, high, a, b)
        # The first report has no earlier report to count from.
        span = {}
        if flow.edge(window["end_ns"]) is not flow.reports[0]:
            span = span_numbers(flow, window, a, b)
        for side in ("measured", "truth"):
            of = hop[side]
            for key, value in delays.items():
                check.same(f"{what} {side}: {key}", of["delay_ns"].get(key), value)
            check.same(f"{what} {side}: jitter_ns", of.get("jitter_ns"), jitter)
            for key, value in span.items():
                check.same(f"{what} {side}: {key}", of.get(key), value)
        begin, end = (flow.bytes_by(-1 if b in (-1, len(hops)) else b, window[key])
                      for key in ("start_ns", "end_ns"))
        length = window["end_ns"] - window["start_ns"]
        check.same(f"{what} truth: window_throughput_bps", hop["truth"]["window_throughput_bps"],
                   (end - begin) * 8 * SECOND // length)
        if span:
            check.same(f"{what} measured: window_throughput_bps",
                       hop["measured"]["window_throughput_bps"],
                       span["rx_bytes"] * 8 * SECOND // length)
        if hop["measured"].get("node_lost_packets"):
            check.same(f"{what} measured: node_lost_packets",
                       hop["measured"]["node_lost_packets"], 0)


def check_shown(check, windows):
    """Checks the loss that is shown, on links that keep the order and copy nothing."""
    for window in windows:
        for hop in window["hops"] + [window["e2e"]]:
            sent, lost = (hop["truth"].get(key) for key in ("tx_packets", "lost_packets"))
            if sent is None:
                continue
            for side in ("measured", "truth"):
                check.near(f"{window['flow']} {window['start_ns']} {hop.get('link', 'e2e')} "
                           f"{side}: loss_ratio", hop[side]["loss_ratio"],
                           float(f"{lost / sent if sent else 0:.15g}"))


# ---- rows ----

KINDS = ["throughput_bps", "window_throughput_bps", "delay_ns", "jitter_ns", "loss_ratio",
         "lost_packets", "rx_bytes", "span_ns"]


def value_of(side, kind):
    if side is None:
        return None
    if kind == "delay_ns":
        value = side.get("delay_ns")
        return value["mean"] if isinstance(value, dict) else value
    if kind == "span_ns":
        return side["span_end_ns"] - side["span_start_ns"] if "span_end_ns" in side else None
    return side.get(kind)


def mean(values):
    values = [v for v in values if v is not None]
    return float(sum(map(fractions.Fraction, values)) / len(values)) if values else None


def close(check, what, got, want):
    check.same(what, got, want, 0 if want is None else 1e-9 * max(1e-6, abs(want)))


def check_row(check, row, windows, index):
    hops = [(w["hops"] + [w["e2e"]])[index] for w in windows]
    for kind in KINDS:
        of, what = row.get(kind), f"{row['flow']} {row['hop']} row {kind}"
        having = [h for h in hops if value_of(h["measured"], kind) is not None]
        columns = {side: [value_of(h.get(side), kind) for h in having]
                   for side in ("measured", "truth", "configured")}
        if of is None:
            check.same(f"{what}: absent", None, mean(columns["measured"]))
            continue
        check.same(f"{what}: windows", of["windows"], len(having))
        for side in ("measured", "truth", "configured"):
            if side in of:
                close(check, f"{what}: {side}", of[side], mean(columns[side]))
        for side in ("truth", "configured"):
            errors = [abs(m - t) for m, t in zip(columns["measured"], columns[side])
                      if m is not None and t is not None]
            close(check, f"{what}: mae.{side}", of.get("mae", {}).get(side), mean(errors))
            if side == "truth" and errors:
                close(check, f"{what}: max_error", of["max_error"], max(errors))


# ---- the run ----

def check_lost(check, flow, name, lost, hops, path):
    first, last = flow.reports[0], flow.newest[-1]
    for (a, b), of in zip(hops + [(0, -1)], lost):
        truth = (last.stops[a].tx - first.stops[a].tx) - (last.stops[b].rx - first.stops[b].rx)
        check.same(f"{name} {of['hop']} run: truth", of["truth"], truth)
        check.same(f"{name} {of['hop']} run: measured", of["measured"], truth)
        check.same(f"{name} {of['hop']} run: truth_all", of["truth_all"],
                   sum(flow.sent[p] + flow.copies[p] - flow.received[p]
                       for p in zip(path[a:], path[1:] if b < 0 else path[b:b + 1])))


def check_links(check, ways, links):
    for link in links:
        rows = ways.get((link["name"], link["direction"]), [])
        what = f"link {link['name']} {link['direction']}"
        fates = collections.Counter(r.fate for r in rows)
        check.same(f"{what}: sent", link["sent_packets"], sum(not r.copy for r in rows))
        check.same(f"{what}: wait_max_ns", link["wait_max_ns"],
                   max((r.wait for r in rows if r.wait is not None), default=0))
        check.same(f"{what}: telemetry_lost", link["telemetry_lost"],
                   sum(r.telemetry and not r.copy and r.arrives is None for r in rows))
        check.same(f"{what}: copies", link["copies"], sum(r.copy for r in rows))
        check.same(f"{what}: delivered", link["delivered_packets"], fates.pop("delivered", 0))
        for reason, n in link["lost"].items():
            check.same(f"{what}: {reason}", n, fates.pop(reason, 0))
        check.same(f"{what}: bytes", link["delivered_bytes"] + link["lost_bytes"],
                   sum(r.bytes for r in rows))
        check.same(f"{what}: telemetry", link["telemetry_sent"],
                   sum(r.telemetry and not r.copy for r in rows))
        latest, late = None, 0
        for arrives in reversed([r.arrives for r in rows if r.arrives is not None]):
            late += latest is not None and arrives > latest
            latest = arrives if latest is None else min(latest, arrives)
        check.same(f"{what}: late", link["late"], late)


def check_queue(check, scenario, ways):
    """Checks waits, drops and departures with a queue of its own."""
    for link in scenario["links"]:
        name = link.get("name", f"{link['from']}-{link['to']}")
        rate = link.get("rate_bps", 0)
        delay, jitter = link.get("delay_ns", 0), link.get("jitter_ns", 0)
        free, starts, early, late = fractions.Fraction(0), collections.deque(), 0, 0
        for row in ways.get((name, "forward"), []):
            if row.fate not in ("delivered", "queue"):
                continue
            start = max(free, row.at) if rate else fractions.Fraction(row.at)
            while starts and math.floor(starts[0]) <= row.at:
                starts.popleft()
            waits = rate and math.floor(start) > row.at
            full = waits and len(starts) >= link.get("queue_packets", 1000)
            check.same(f"{name}: queue drop", row.fate == "queue", full)
            if row.fate == "queue":
                continue
            check.same(f"{name}: wait", row.wait, math.floor(start) - row.at)
            free = start + fractions.Fraction(row.bytes * 8 * SECOND, rate) if rate else start
            if waits:
                starts.append(start)
            took = row.arrives - math.floor(free)
            early += took < max(0, delay - jitter)
            late += took > delay + max(0, jitter - 1)
        if link.get("jitter_distribution", "uniform") == "uniform" and not (
                link.get("in_order") or link.get("reorder_ratio")):
            check.same(f"{name}: too early", early, 0)
            check.same(f"{name}: too late", late, 0)


# ---- configured ----

@functools.lru_cache(maxsize=None)
def mean_difference(jitters, steps=40000):
    """Computes E|sum of (X - Y)|, X and Y uniform within each jitter, by the characteristic
    function: E|Z| = 2/pi * integral over t > 0 of (1 - phi(t)) / t^2."""
    total, top = 0.0, 400.0 / max(jitters)
    width = top / steps
    for i in range(steps):
        t = (i + 0.5) * width
        phi = 1.0
        for j in jitters:
            phi *= (math.sin(j * t) / (j * t)) ** 2
        total += (1 - phi) / (t * t) * width
    return 2 / math.pi * (total + 1 / top)


def check_configured(check, scenario, windows, path):
    links = {(l["from"], l["to"]): l for l in scenario["links"]}
    hops = [links[pair] for pair in zip(path, path[1:])]
    if any(l.get("rate_bps") or "bursts" in l or l.get("duplicate_ratio")
           or l.get("telemetry_loss_ratio") or l.get("reorder_ratio") or l.get("in_order")
           or l.get("jitter_distribution") for l in hops) or scenario.get("events"):
        return
    for window in windows:
        for index, hop in enumerate(window["hops"] + [window["e2e"]]):
            passed = hops[index:index + 1] if index < len(hops) else hops
            what = f"configured {window['start_ns']} {hop.get('link', 'e2e')}"
            jitters = [l["jitter_ns"] for l in passed if l.get("jitter_ns")]
            kept = math.prod(1 - l.get("loss_ratio", 0) for l in passed)
            check.same(f"{what}: delay_ns", hop["configured"]["delay_ns"],
                       sum(l.get("delay_ns", 0) for l in passed))
            close(check, f"{what}: loss_ratio", hop["configured"]["loss_ratio"], 1 - kept)
            if len(jitters) == 1:
                close(check, f"{what}: jitter_ns", hop["configured"]["jitter_ns"],
                      2 * jitters[0] / 3)
            elif jitters:
                want = mean_difference(tuple(jitters))
                check.same(f"{what}: jitter_ns e2e", hop["configured"]["jitter_ns"], want,
                           1e-4 * want)


def check_overhead(check, flow, overhead, path, names):
    for of in overhead:
        pair = dict(zip(names, zip(path, path[1:])))[of["hop"]]
        what = f"{of['flow']} {of['hop']}"
        check.same(f"{what}: packets", of["packets"], flow.sent[pair])
        check.same(f"{what}: telemetry_bytes", of["telemetry_bytes"], flow.telemetry_bytes[pair])
        close(check, f"{what}: bytes_ratio", of["bytes_ratio"],
              flow.telemetry_bytes[pair] / (flow.sent[pair] * flow.frame_bytes))
        close(check, f"{what}: packets_ratio", of["packets_ratio"],
              flow.telemetry[pair] / flow.sent[pair])


def check_flow(check, scenario, result, name, flow):
    windows, rows, lost, overhead = ([x for x in result[key] if x["flow"] == name] for key in (
        "windows", "rows", "lost_packets", "overhead"))
    path = [stop.node for stop in flow.arrivals[0].stops]
    hops = [(i, i + 1) for i in range(len(path) - 1)]
    for window in windows:
        check_window(check, flow, window, hops)
    whole = [w for w in windows if not w["partial"] and not w["stale"]]
    if not any(link["late"] or link["copies"] for link in result["links"]):
        check_shown(check, whole)
    check.same(f"{name}: rows", len(rows), len(hops) + 1)
    for index, row in enumerate(rows):
        check_row(check, row, whole, index)
    check_lost(check, flow, name, lost, hops, path)
    check_overhead(check, flow, overhead, path, [row["hop"] for row in rows])
    if not name.endswith("/reply"):
        check_configured(check, scenario, whole, path)


def frame_of(traffic):
    usual = {"ping": "icmp", "window": "tcp"}.get(traffic.get("type"), "udp")
    return HEADERS[traffic.get("protocol", usual)] + traffic.get("payload_bytes", 500)


def compare(scenario_path, result_path, packets_path):
    """Returns how many numbers were compared, and a line for each that differs."""
    with open(scenario_path, encoding="utf-8") as f:
        scenario = json.load(f)
    with open(result_path, encoding="utf-8") as f:
        result = json.load(f)
    flows, ways = read_packets(packets_path)
    check, ends = Check(), ends_of(scenario)
    for traffic in scenario["traffic"]:
        for reply in (False, True):
            name = traffic["name"] + ("/reply" if reply else "")
            if any(w["flow"] == name for w in result["windows"]):
                flow = Flow(flows[traffic["name"], reply], ends, frame_of(traffic))
                check_flow(check, scenario, result, name, flow)
    check_links(check, ways, result["links"])
    check_queue(check, scenario, ways)
    return sum(check.compared.values()), check.wrong


def main():
    compared, wrong = compare(*sys.argv[1:4])
    for line in wrong[:40]:
        print(line)
    print(f"{compared} numbers compared, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
