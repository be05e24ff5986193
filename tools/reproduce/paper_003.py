# SPDX-License-Identifier: BSD-3-Clause
"""Paper 003, INTCollector: figure 9 and the storage of section V-B2, by lib/collect itself.

docs/results/003.json keeps the numbers. The document and the figure are made only from them.
"""

import os
import random
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "collect")]

import report_formats as formats  # noqa: E402
from decode import Settings  # noqa: E402
from model import HOP, MEASURES, TABLES, Config  # noqa: E402
from generate import BEGIN_NS, Push, Record  # noqa: E402
from paper_page import RESULTS, keep, read_kept, table, tell  # noqa: E402
import replay  # noqa: E402

SECOND = 10**9
ADDRESS = True, bytes((192, 0, 2, 1)) + bytes(12)
THRESHOLDS = (40, 20)
RATES = (10, 1_000_000)  # reports a second, as in the paper
SAMPLES, SEED, NOISE_NS = 600, 9, 4


# ---- figure 9 ----


def series():
    """Hop latencies in ns. They are a queue's: at rest, slowly more, slowly less, and bursts that come
    at once and go in some reports. Everything has noise."""
    rng, level, values, burst = random.Random(SEED), 150.0, [], 0.0
    for i in range(SAMPLES):
        if 150 <= i < 250:
            level += 1.2
        elif 350 <= i < 450:
            level -= 1.2
        if i % 75 == 40:
            burst = rng.uniform(80, 200)
        values.append(max(0, round(level + burst + rng.gauss(0, NOISE_NS))))
        burst = burst * 0.75 if burst > 5 else 0.0
    return values


def config(thresholds, push_ns=0):
    settings = [Settings("0.5", "dscp", formats.DSCP, 0x3F, 0, 0),
                Settings("1.0", "dscp", formats.DSCP, 0x3F, 0, 0), None]
    return Config(settings, False, dict.fromkeys(TABLES, 100_000), 100_000, thresholds, 0, 0, push_ns)


def held(values, threshold, rate):
    """Returns where lib/collect told an event, and the value that is known at each report."""
    flow = ("10.0.0.1", "10.0.0.2", 17, 5000, 5000)
    records = []
    for i, value in enumerate(values):
        inside = formats.int_md("1.0", 0xA000, [{"node_id": 1, "latency": value}], flow[2], flow[4])
        data = formats.report_1_0(1, 0, i, i, "F", formats.ethernet(formats.packet_of(flow, inside)))
        records.append(Record(BEGIN_NS + i * SECOND // rate, 0, ADDRESS, data))
    only = {name: (threshold, 0) if name == "hop_latency" else None for name in MEASURES}
    told = {index: point.value for index, _, _, points in replay.run(config(only), records).events
            for point in points if point.kind == HOP}
    known, out = None, []
    for i in range(len(values)):
        known = told.get(i, known)
        out.append(known)
    return sorted(told), out


def sampled(values, n):
    """The value that is known at each report when every so many reports one is taken, n in all."""
    at = {round(k * len(values) / n) for k in range(n)}
    known, out = None, []
    for i, value in enumerate(values):
        known = value if i in at else known
        out.append(known)
    return out


def mse(values, known):
    return round(statistics.fmean((a - b) ** 2 for a, b in zip(values, known)), 2)


def samples_for(values, wanted):
    """How many periodic samples have an error as small."""
    return next(n for n in range(1, len(values) + 1) if mse(values, sampled(values, n)) <= wanted)


def figure_9():
    values, rows = series(), []
    for threshold in THRESHOLDS:
        at, known = held(values, threshold, RATES[0])
        if held(values, threshold, RATES[1]) != (at, known):
            raise RuntimeError("another rate of reports gives other events")
        if any(abs(a - b) > threshold for a, b in zip(values, known)):
            raise RuntimeError("a held value is further away than the threshold")
        error = mse(values, known)
        rows.append({"threshold": threshold, "events": len(at), "mse": error, "at": at,
                     "sampled_mse": mse(values, sampled(values, len(at))),
                     "samples_for_the_same": samples_for(values, error)})
    return {"values": values, "rows": rows}


# ---- storage, section V-B2 ----

# A fat tree: 20 switches of four ports, 5,000 flows of five hops, nine fields, 1,000,000 reports/s.
SWITCHES, PORTS, FLOWS, HOPS, FIELDS = 20, 4, 5000, 5, 22
RATE, PUSH_S, BLOCK = 1_000_000, 10, 100_000
EVENTS = (1000, 10_000)


def hop(rng):
    port = rng.randrange(PORTS)
    return {"node_id": 1 + rng.randrange(SWITCHES), "ingress_port": 0, "egress_port": port,
            "latency": 500, "queue_id": port, "occupancy": 10, "ingress_ns": 0, "egress_ns": 500,
            "congestion_queue_id": port, "congestion": 5, "utilisation": 1000}


def report(flow, hops, sequence):
    inside = formats.int_md("0.5", 0xFF00, hops, flow[2], flow[4])
    return formats.report_0_5(0, sequence, 0, "F", formats.ethernet(formats.packet_of(flow, inside)))


def block(events):
    """BLOCK reports, in which hop latencies change and change back: so many points a second. A change
    is two points: the hop's latency and the flow's."""
    rng = random.Random(SEED)
    flows = [((f"10.0.{n >> 8}.{n & 255}", "10.1.0.1", 17, 5000, 80), [hop(rng) for _ in range(HOPS)])
             for n in range(FLOWS)]
    plain = [report(flow, hops, 0) for flow, hops in flows]
    rounds = BLOCK // FLOWS
    changes = events * BLOCK // RATE // 2  # of them half up, half back
    busy = {n * FLOWS * 2 // changes: True for n in range(changes // 2)}
    for n in range(BLOCK):
        which, turn = n % FLOWS, n // FLOWS
        flow, hops = flows[which]
        payload = plain[which]
        if which in busy and turn == rounds // 2:  # up for one report
            payload = report(flow, [{**hops[0], "latency": 5000}, *hops[1:]], 0)
        yield Record(BEGIN_NS + n * SECOND // RATE, 0, ADDRESS, payload)
        if n % 1000 == 999:
            yield Push(BEGIN_NS + n * SECOND // RATE, 1000)


def storage(events, seconds):
    thresholds = dict.fromkeys(MEASURES, (1000, 0))
    blocks = seconds * RATE // BLOCK
    told = replay.run(config(thresholds, PUSH_S * SECOND), block(events), 32, (
        "quiet 1", f"repeat {blocks}", f"repeat_ns {BLOCK * SECOND // RATE}")).counters
    points = {cause: sum(told[f"events_{kind}_{n}"] for kind in range(6))
              for n, cause in enumerate(("new", "path", "change", "gap", "push"))}
    if not told["reports_read"] == told["reports"] == blocks * BLOCK:
        raise RuntimeError(f"not all reports were read: {told}")
    # A point of a flow is two values: its path and its latency.
    flow_points = sum(told[f"events_0_{n}"] for n in range(5))
    return {"events": events, "seconds": seconds, "reports": told["reports"], "points": points,
            "values_in_reports": told["reports"] * FIELDS, "values": sum(points.values()) + flow_points}


def storage_rows(seconds):
    return [storage(events, seconds) for events in EVENTS]


def formula(events):
    return RATE * FIELDS / (events + 110240 / PUSH_S)


# ---- the document ----


TEXT = """# INTCollector (paper 003)

`./reproduce.sh 003` makes this page. All events come from `lib/collect`, the library of hopsight-collector.

## Figure 9: events of a hop latency

The paper does not print its series of hop latencies, so this one is ours: {n} reports of one hop. The latency is at
rest at 150 ns, grows by 1.2 ns a report in the reports 150 to 249, and falls as fast in the reports 350 to 449. Every 75
reports a burst adds 80 to 200 ns at once, and a quarter of what is left of it goes with each report. Noise has a standard
deviation of {noise} ns. 10 and 1,000,000 reports a second give the same events.

A value is held until the next event. *Sampling* holds every n-th value, with as many values as there are events. The last
column says how many periodic samples have an error as small.

{figure}
The paper's series is another one: 29 events with 40 ns and 54 with 20 ns. It calls 16.0 ns and 7.3 ns the MSE; the unit is
that of the root.
The error of a held value is never greater than the threshold; the error of a sample is as great as the burst that it missed.

![hop latency and what is held](003-figure-9.svg)

## Storage (section V-B2)

The paper's network: {switches} switches of {ports} ports, {flows} flows of {hops} hops, all nine fields, so {fields} values a
report, 1,000,000 reports a second, everything known pushed once in {push} s. The run gives `lib/collect` {reports} reports of
version 0.5. *Values kept* are all that a database gets in the run: new keys, changes and pushes. A flow's point counts as two
values, its path and its latency. The paper's formula is {fields} x 10^6 / (E + 110240 / {push}), where E is the number of
changes a second.

{storage}
"""


def document(numbers):
    nine = [["threshold, ns", "events", "MSE of the held value, ns²", "its root, ns",
             "MSE of sampling, ns²",
             "samples for the same MSE"]]
    nine += [[row["threshold"], row["events"], row["mse"], f"{row['mse'] ** 0.5:.1f}", row["sampled_mse"],
              row["samples_for_the_same"]] for row in numbers["figure_9"]["rows"]]
    kept = [["E, 1/s", "values in reports", "new", "changed", "pushed", "values kept", "ratio", "paper's formula"]]
    for row in numbers["storage"]:
        points = row["points"]
        kept.append([row["events"], row["values_in_reports"], points["new"], points["change"],
                     points["push"], row["values"], f"{row['values_in_reports'] / row['values']:.0f}",
                     f"{formula(row['events']):.0f}"])
    return TEXT.format(n=SAMPLES, noise=NOISE_NS, figure=table(*nine), storage=table(*kept).rstrip("\n"),
                       switches=SWITCHES, ports=PORTS, flows=FLOWS, hops=HOPS, fields=FIELDS,
                       push=PUSH_S, reports=numbers["storage"][0]["reports"])


def wrong_in(numbers):
    """Yields what does not show what it must."""
    for row in numbers["figure_9"]["rows"]:
        if not row["mse"] < row["sampled_mse"] or not row["events"] < row["samples_for_the_same"]:
            yield f"threshold {row['threshold']}: no better than sampling"
    for row in numbers["storage"]:
        if row["events"] == EVENTS[0] and row["values_in_reports"] < 1000 * row["values"]:
            yield f"{row['values_in_reports']} values make {row['values']}"
        if row["points"]["change"] != row["events"] * row["seconds"]:
            yield f"E = {row['events']}: {row['points']['change']} changes in {row['seconds']} s"


def draw(numbers, folder):
    import figures  # pylint: disable=import-outside-toplevel
    nine = numbers["figure_9"]
    figures.figure_of_events(os.path.join(folder, "003-figure-9.svg"), nine["values"], {
        row["threshold"]: row["at"] for row in nine["rows"]})


def write(_live):
    numbers = {"figure_9": figure_9(), "storage": storage_rows(20)}
    for wrong in wrong_in(numbers):
        print(f"003: {wrong}", file=sys.stderr)
        return 1
    keep("003", numbers, document)
    draw(numbers, RESULTS)
    return 0


def check():
    """A fresh run of figure 9 and of one second of reports shows what is committed."""
    numbers, stale = read_kept("003", document)
    fresh = storage(EVENTS[0], 1)
    return tell("003", {
        "003.md is made of 003.json": stale,
        "figure 9 is what lib/collect tells": "" if figure_9() == numbers["figure_9"] else "other events",
        "events and storage beat sampling and reports": "; ".join(wrong_in(numbers)),
        "a short run has as many changes": "" if fresh["points"]["change"] == EVENTS[0] else str(fresh),
    })
