# SPDX-License-Identifier: BSD-3-Clause
"""Computes the numbers of a result again, only from the scenario and the packets' CSV.

    check_packets.py SCENARIO RESULT PACKETS

It shares no code with the lab; the judge follows the packets and computes a window. It compares the
measured, the true and the configured values of every flow, window and hop, then rows, losses of the
run, overhead and the links' counters. It works for scenarios whose clocks are exact and whose nodes
neither restart nor lose anything. It prints a line for each difference, and then exits with 1.
"""

import bisect
import collections
import csv
import fractions
import functools
import gc
import itertools
import json
import math
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "judge")]

import lab_packets  # noqa: E402
import rules  # noqa: E402

SECOND = 10**9
HEADERS = {"udp": 14 + 40 + 8, "tcp": 14 + 40 + 20, "icmp": 14 + 40 + 8}

Row = collections.namedtuple("Row", "at copy bytes telemetry fate wait arrives")


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


# ---- what the packets did ----

def read_links(path):
    """Returns rows of each flow (traffic, reply) by link, and rows of each direction of a link, both in
    order."""
    flows = collections.defaultdict(lambda: collections.defaultdict(list))
    ways = collections.defaultdict(list)
    with open(path, encoding="utf-8", newline="") as f:
        for r in itertools.islice(csv.reader(f), 1, None):
            if r[2] == "host":
                continue
            delivered = r[9] == "delivered"
            row = Row(int(r[0]), r[6] == "1", int(r[7]), r[8] == "1", r[9],
                      int(r[10]) if delivered else None, int(r[11]) if delivered else None)
            flows[r[3], r[4] == "1"][r[1], r[2]].append(row)
            ways[r[1], r[2]].append(row)
    return flows, ways


class Flow:
    """A flow as the judge sees it. Packets on its hops are counted here."""

    def __init__(self, judged, ways, ends, frame_bytes):
        self.frame_bytes = frame_bytes
        self.sent = collections.Counter()       # by hop
        self.received = collections.Counter()
        self.copies = collections.Counter()
        self.telemetry = collections.Counter()  # packets; bytes
        self.telemetry_bytes = collections.Counter()
        for way, rows in ways.items():
            self.count(ends[way], rows)
        self.reports = judged.reports
        self.life = rules.Life(self.reports)
        self.arrivals = judged.stops[self.reports[0].stops[-1].node]
        self.times = [stop.at for stop in self.arrivals]
        self.newest = list(itertools.accumulate(
            self.arrivals, lambda best, one: one if one.number > best.number else best))

    def count(self, hop, rows):
        for row in rows:
            self.sent[hop] += not row.copy
            self.received[hop] += row.arrives is not None
            self.copies[hop] += row.copy and row.arrives is not None
            if row.telemetry and not row.copy:
                self.telemetry[hop] += 1
                self.telemetry_bytes[hop] += row.bytes - self.frame_bytes

    def bytes_by(self, to, at):
        n = bisect.bisect_right(self.times, at)
        if not n:
            return 0
        if to < 0:
            return self.arrivals[n - 1].rx_bytes
        return lab_packets.Way.passed(self.newest[n - 1])[to].rx_bytes


# ---- one hop in one window ----

def numbers_of(flow, ends, last, start, end):
    """Returns the numbers of a hop, and from end to end without ends, by the judge's rules."""
    delays = rules.delay_numbers(flow.life.delays(ends, start, end))
    exact = len(flow.life.within(start, end)) <= rules.EXACT_REPORTS
    for key in ("p999",) if exact else ("p50", "p99", "p999"):
        delays.pop(key, None)
    span = rules.span_numbers(flow.life, ends, "last" if last else None, start, end, None)
    return delays, {"jitter_ns": flow.life.jitter(ends, start, end), **span}


def check_window(check, flow, window, hops, length):
    name, path = f"{window['flow']} {window['start_ns']}", flow.reports[0].path
    start, end = window["start_ns"], window["end_ns"]
    reports = len(flow.life.within(start, end))
    check.same(f"{name}: reports", window["reports"], reports)
    check.same(f"{name}: true_reports", window["true_reports"], reports)
    if window["stale"] or not reports:
        check.same(f"{name}: stale", window["stale"], not reports)
        return
    check.same(f"{name}: hops", len(window["hops"]), len(hops))
    for (a, b), hop in zip(hops + [(0, -1)], window["hops"] + [window["e2e"]]):
        what, last = f"{name} {hop.get('link', 'e2e')}", b in (-1, len(hops))
        delays, numbers = numbers_of(flow, None if b < 0 else (path[a], path[b]), last, start, end)
        for side in ("measured", "truth"):
            of = hop[side]
            for key, value in delays.items():
                check.same(f"{what} {side}: {key}", of["delay_ns"].get(key), value)
            for key, value in numbers.items():
                check.same(f"{what} {side}: {key}", of.get(key), value)
        if end - start == length:  # else the window was cut, and has no such number
            before, after = (flow.bytes_by(-1 if last else b, at) for at in (start, end))
            check.same(f"{what} truth: window_throughput_bps", hop["truth"]["window_throughput_bps"],
                       (after - before) * 8 * SECOND // (end - start))
        if "rx_bytes" in numbers and end - start == length:
            check.same(f"{what} measured: window_throughput_bps",
                       hop["measured"]["window_throughput_bps"],
                       numbers["rx_bytes"] * 8 * SECOND // (end - start))


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
    side = side or {}
    if kind == "span_ns":
        return side["span_end_ns"] - side["span_start_ns"] if "span_end_ns" in side else None
    value = side.get(kind)
    return value["mean"] if isinstance(value, dict) else value


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
    first, last = flow.reports[0], max(flow.reports, key=lambda report: report.number)
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
        fates = collections.Counter(r.fate for r in rows)
        sent = [r for r in rows if not r.copy]
        latest, late = None, 0
        for arrives in reversed([r.arrives for r in rows if r.arrives is not None]):
            late += latest is not None and arrives > latest
            latest = arrives if latest is None else min(latest, arrives)
        want = {
            "sent_packets": len(sent),
            "sent_bytes": sum(r.bytes for r in sent),
            "wait_max_ns": max((r.wait for r in rows if r.wait is not None), default=0),
            "telemetry_sent": sum(r.telemetry for r in sent),
            "telemetry_lost": sum(r.telemetry and r.arrives is None for r in sent),
            "copies": len(rows) - len(sent),
            "delivered_packets": fates["delivered"],
            "delivered_bytes": sum(r.bytes for r in rows if r.fate == "delivered"),
            "lost_bytes": sum(r.bytes for r in rows if r.fate != "delivered"),
            "late": late,
        }
        for key, value in want.items():
            check.same(f"link {link['name']} {link['direction']}: {key}", link[key], value)
        for reason, n in link["lost"].items():
            check.same(f"link {link['name']} {link['direction']}: {reason}", n, fates[reason])


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
        for key, want in (
                ("packets", flow.sent[pair]), ("telemetry_bytes", flow.telemetry_bytes[pair]),
                ("bytes_ratio", flow.telemetry_bytes[pair] / (flow.sent[pair] * flow.frame_bytes)),
                ("packets_ratio", flow.telemetry[pair] / flow.sent[pair])):
            close(check, f"{of['flow']} {of['hop']}: {key}", of[key], want)


def check_flow(check, scenario, result, name, flow):
    windows, rows, lost, overhead = ([x for x in result[key] if x["flow"] == name] for key in (
        "windows", "rows", "lost_packets", "overhead"))
    path = [stop.node for stop in flow.reports[0].stops]
    hops = [(i, i + 1) for i in range(len(path) - 1)]
    for window in windows:
        check_window(check, flow, window, hops, result["window_ns"])
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
    ns_ids = {(name, bool(reply)): of["ns_id"] for of in result["flows"]
              for name, reply, _ in [of["flow"].partition("/reply")]}
    judged = lab_packets.read(scenario, ns_ids, packets_path, result["start_ns"])
    flows, ways = read_links(packets_path)
    check, ends = Check(), lab_packets.ends_of(scenario, lab_packets.nodes_of(scenario))
    frames = {traffic["name"]: frame_of(traffic) for traffic in scenario["traffic"]}
    for key, ns_id in ns_ids.items():
        name = key[0] + ("/reply" if key[1] else "")
        if any(w["flow"] == name for w in result["windows"]):
            flow = Flow(judged[ns_id], flows[key], ends, frames[key[0]])
            check_flow(check, scenario, result, name, flow)
    check_links(check, ways, result["links"])
    check_queue(check, scenario, ways)
    return sum(check.compared.values()), check.wrong


def main():
    gc.disable()  # there are millions of objects without a circle of references
    compared, wrong = compare(*sys.argv[1:4])
    for line in wrong[:40]:
        print(line)
    print(f"{compared} numbers compared, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
