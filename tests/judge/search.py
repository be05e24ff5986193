# SPDX-License-Identifier: BSD-3-Clause
"""Runs random scenarios in the lab and judges them: no number may be wrong without a flag.

    search.py [--count N] [--seed S] [--keep FOLDER] [--jobs N] [--no-shrink] [--all]

Scenario K of seed S is the same everywhere: `--seed S+K --count 1` repeats it. A scenario that fails
is reduced while it still fails, and kept.
"""

import argparse
import copy
import functools
import json
import math
import multiprocessing
import os
import random
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import judge  # noqa: E402

ROWS = 40000  # approximate number of packet lines of a scenario
FULL, WITH_COUNT = 0x7000E000, 0xF000E000
MS = 10**6
# The source's entry, in a trace type.
STAMPED, ORDERED, ANY_ORDER = 0x40000000, 0x60000000, 0xE0000000


def some(rng, chance):
    return rng.random() < chance


def logarithmic(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


# ---- what the network is ----

def link_between(rng, a, b):
    return {"from": a, "to": b, "delay_ns": round(logarithmic(rng, 10**4, 2 * 10**7))}


def line(rng):
    n = rng.randint(2, 7)
    names = [f"n{i}" for i in range(n)]
    return names, [link_between(rng, a, b) for a, b in zip(names, names[1:])], "patch", n - 1


def diamond(rng):
    """Two paths between in and out; one has some nodes more."""
    left = [f"l{i}" for i in range(1)]
    right = [f"r{i}" for i in range(rng.randint(1, 2))]
    names = ["src", "in"] + left + right + ["out", "dst"]
    links = [link_between(rng, a, b) for way in (left, right) for a, b in zip(
        ["in"] + way, way + ["out"])]
    links += [link_between(rng, "src", "in"), link_between(rng, "out", "dst")]
    return names, links, "shortest_path", 4 + len(right) - 1


def ring(rng):
    n = rng.randint(4, 6)
    names = [f"n{i}" for i in range(n)]
    names = names[:1] + names[2:] + names[1:2]  # the first and the last are the hosts' nodes
    order = [f"n{i}" for i in range(n)]
    links = [link_between(rng, a, b) for a, b in zip(order, order[1:] + order[:1])]
    return names, links, "shortest_path", n - 2


# ---- what happens on it ----
# Each function adds one thing to a scenario. `middle` has the links that every packet may pass.

def loss(rng, s):
    for link in rng.sample(s["links"], rng.randint(1, len(s["links"]))):
        link["loss_ratio"] = round(logarithmic(rng, 0.001, 0.4), 4)


def bursts(rng, s):
    rng.choice(s["links"])["bursts"] = {"p": round(logarithmic(rng, 0.0005, 0.05), 5),
                                        "r": round(logarithmic(rng, 0.005, 0.5), 4)}


def telemetry_loss(rng, s):
    rng.choice(s["links"])["telemetry_loss_ratio"] = round(rng.uniform(0.01, 0.7), 3)


def jitter(rng, s):
    link = rng.choice(s["links"])
    link["jitter_ns"] = round(link["delay_ns"] * rng.uniform(0.05, 1))
    if some(rng, 0.3):
        link["in_order"] = True


def reordering(rng, s):
    link = rng.choice(s["links"])
    link["delay_ns"] = rng.randint(5, 60) * MS
    link["reorder_ratio"] = round(logarithmic(rng, 0.001, 0.3), 4)


def copies(rng, s):
    rng.choice(s["links"])["duplicate_ratio"] = round(logarithmic(rng, 0.001, 0.2), 4)


def queue(rng, s):
    t = s["traffic"][0]
    bits = 8 * (t["payload_bytes"] + 62) * t["rate_pps"]
    rng.choice(s["links"]).update(rate_bps=round(bits * rng.uniform(0.5, 3)),
                                  queue_packets=rng.randint(5, 300))


def at(rng, s):
    return round(rng.uniform(1.2, s["duration_s"] - 0.5), 3)


def restart(rng, s):
    event = {"at_s": at(rng, s), "node": rng.choice(s["nodes"])["name"], "restart": True}
    if some(rng, 0.6):
        event["down_s"] = round(logarithmic(rng, 0.002, 1.5), 3)
    s["events"].append(event)


def again(rng, s):
    """Removes a rule and installs it again: at one node, or at all of them."""
    when, node = at(rng, s), rng.choice([n["name"] for n in s["nodes"]] + ["*"])
    gap = 0 if some(rng, 0.6) else round(logarithmic(rng, 0.001, 1), 3)
    if any("request" in event and abs(event["at_s"] - when) < 2.2 for event in s["events"]):
        return  # a removed rule cannot be removed again
    request = dict(s["requests"][0]["int_request"])
    s["events"].append({"at_s": when, "node": node, "request": {
        "int_delete": {"ns_id": request["ns_id"]}}})
    s["events"].append({"at_s": min(s["duration_s"] - 0.1, round(when + gap, 3)), "node": node,
                        "request": {"traffic": "t", "int_request": request}})


def path_change(rng, s):
    link = rng.choice(s["links"])
    name = f"{link['from']}-{link['to']}"
    when = at(rng, s)
    s["events"].append({"at_s": when, "link": name, "set": {"up": False}})
    if some(rng, 0.7):
        s["events"].append({"at_s": min(s["duration_s"], round(when + logarithmic(rng, 0.05, 2), 3)),
                            "link": name, "set": {"up": True}})


def spray(rng, s):
    """Packets alternate between two paths, each for a while."""
    link = next(l for l in s["links"] if "in" in (l["from"], l["to"]) and "src" not in (
        l["from"], l["to"])) if s["nodes"][0]["name"] == "src" else rng.choice(s["links"])
    name, half = f"{link['from']}-{link['to']}", round(logarithmic(rng, 0.002, 0.4), 3)
    begin = 0.001 if some(rng, 0.5) else at(rng, s)
    for shift, up in ((0, False), (half, True)):
        if begin + shift < s["duration_s"]:
            s["events"].append({"at_s": round(begin + shift, 3), "every_s": 2 * half,
                                "until_s": s["duration_s"], "link": name, "set": {"up": up}})


def link_changes(rng, s):
    link = rng.choice(s["links"])
    change = rng.choice([{"loss_ratio": round(rng.uniform(0, 1), 2)},
                         {"delay_ns": round(logarithmic(rng, 10**4, 10**8))}])
    s["events"].append({"at_s": at(rng, s), "link": f"{link['from']}-{link['to']}", "set": change})


def rate_changes(rng, s):
    s["events"].append({"at_s": at(rng, s), "traffic": "t", "set": {
        "rate_pps": round(s["traffic"][0]["rate_pps"] * logarithmic(rng, 0.05, 3))}})


def clocks(rng, s):
    for node in rng.sample(s["nodes"], rng.randint(1, 2)):
        clock = {"offset_ns": round(rng.choice((-1, 1)) * logarithmic(rng, 10**3, 10**10))}
        if some(rng, 0.4):
            clock["drift_ppb"] = rng.randint(-10**5, 10**5)
        if some(rng, 0.4):
            clock["sync"] = {"interval_s": rng.randint(1, 4), "error_ns": rng.randint(0, 10**6),
                             "correction": rng.choice(("step", "slew"))}
        node["clock"] = clock


def partial(rng, s):
    for node in rng.sample(s["nodes"], rng.randint(1, len(s["nodes"]))):
        node["fields"] = {field: rng.choice(({"supported": False}, {
            "probability_percent": rng.randint(5, 90)}, {"max_age_ms": rng.randint(5, 400)}))
            for field in rng.sample(("packets", "timestamp", "bytes"), rng.randint(1, 3))}


def in_band(rng, s):
    s["telemetry"] = {"request_schedule_s": [0.1, 0.3], "request_interval_s": 1}
    s["requests"][0]["node"] = s["nodes"][0]["name"]
    s["requests"][0]["int_request"]["in_band"] = True


def tight(rng, s):
    """Packets have no room for all entries."""
    s["mtu"] = 1280
    s["traffic"][0]["payload_bytes"] = 1280 - 48 - rng.randint(0, 160)


def pauses(rng, s):
    t = s["traffic"][0]
    t.update(type="bursty", burst_s=round(rng.uniform(0.1, 1.5), 2),
             mean_interval_s=round(rng.uniform(1, 3), 2))


THINGS = {f.__name__: f for f in (
    loss, bursts, telemetry_loss, jitter, reordering, copies, queue, restart, again, path_change,
    spray, link_changes, rate_changes, clocks, partial, in_band, tight, pauses)}
WEIGHTS = dict.fromkeys(THINGS, 1) | {"loss": 3, "restart": 4, "again": 3, "spray": 2,
                                      "path_change": 2, "jitter": 2}
# The forwarding mode that a thing needs.
ONLY = {"path_change": "shortest_path", "spray": "shortest_path"}


# Combinations that only --all allows, each with the reason; the run prints them.
EXCLUDED = {
    ("partial", "restart or again"): "after a restart a number may begin with the first report that has "
                                     "its field, and end before the restart with the last",
    ("copies, jitter, reordering or links that flap", "a trace type without the source's count or stamp"):
        "packets are told apart and put in order by what the sink can see alone",
    ("a clock of the source that is corrected", "a trace type without the source's count"):
        "packets are put in order by stamps, and those behind a step back are late until time is there again",
    ("restart or again at the source", "a trace type without the source's stamp"):
        "it is seen some reports later, and until then the old span stands",
}


def trace_of(rng):
    if some(rng, 0.45):
        return rng.choice((FULL, FULL, WITH_COUNT))
    return rng.randint(0, 15) << 28 | rng.randint(0, 7) << 13


def mode_of(rng, rate):
    mode = rng.choice(("count", "count", "frequency", "probability"))
    if mode == "count":
        return mode, max(1, round(logarithmic(rng, 1, rate)))
    if mode == "frequency":
        return mode, round(logarithmic(rng, 1, 900))
    return mode, round(logarithmic(rng, 100 / rate, 100), 2)


def fit_together(s, everything):
    """Rules that spread in band are installed again at their source, and no node restarts between the
    removal of its rule and the installation: it would have the rule again."""
    request, source = s["requests"][0]["int_request"], s["nodes"][0]["name"]
    trace = int(request["trace_type"], 16)
    kept, without = [], set()
    for event in sorted(s["events"], key=lambda event: event["at_s"]):
        verb = event.get("request", {})
        if "restart" in event and without & {event["node"], "*"}:
            continue
        if "in_band" in request and "int_request" in verb:
            verb["int_request"]["in_band"] = True
        begins = bool(verb) or "restart" in event
        if verb and "in_band" in request and event["node"] != source:
            continue
        if not everything and begins and event["node"] in (source, "*") and not trace & STAMPED:
            continue
        if not everything and trace & ORDERED != ORDERED and "up" in event.get("set", {}):
            continue
        if verb:
            (without.add if "int_delete" in verb else without.discard)(event["node"])
        kept.append(event)
    if not everything and trace & ANY_ORDER == STAMPED:
        s["nodes"][0].get("clock", {}).pop("sync", None)
    for node in s["nodes"] if not everything else []:
        if any("restart" in event or "request" in event for event in kept):
            node.pop("fields", None)
    for link in s["links"] if not everything and trace & ORDERED != ORDERED else []:
        for key in ("duplicate_ratio", "jitter_ns", "reorder_ratio"):
            link.pop(key, None)
    s["events"] = kept


def scenario_of(seed, everything=False):
    rng = random.Random(seed)
    names, links, forwarding, hops = rng.choice((line, line, diamond, ring))(rng)
    duration = rng.randint(3, 12)
    rate = max(50, round(logarithmic(rng, 100, 5000)))
    rate = min(rate, ROWS // (duration * (hops + 1)))
    mode, setting = mode_of(rng, rate)
    scenario = {
        "name": f"search-{seed}", "seed": rng.randint(1, 10**6), "duration_s": duration,
        "forwarding": forwarding, "mbufs": judge.MBUFS,
        "nodes": [{"id": i, "name": name} for i, name in enumerate(names)],
        "links": links,
        "traffic": [{"name": "t", "type": rng.choice(("constant", "constant", "poisson")),
                     "from": names[0], "to": names[-1], "rate_pps": rate,
                     "payload_bytes": rng.choice((64, 500, 1000))}],
        "requests": [{"node": "*", "traffic": "t", "int_request": {
            "ns_id": 7, "app_id": 1, "trace_type": f"0x{trace_of(rng):08X}", "mode": mode,
            "mode_setting": setting}}],
        "events": [],
    }
    if forwarding == "shortest_path" and some(rng, 0.3):
        scenario["reroute_s"] = round(logarithmic(rng, 0.001, 0.3), 3)
    wanted = [name for name in THINGS if ONLY.get(name, forwarding) == forwarding]
    chosen = rng.choices(wanted, [WEIGHTS[name] for name in wanted],
                         k=rng.choice((0, 1, 1, 1, 2, 2, 3, 4)))
    for name in chosen:
        THINGS[name](rng, scenario)
    fit_together(scenario, everything)
    scenario["events"].sort(key=lambda event: event["at_s"])
    return scenario


# ---- trying ----

def findings_of(scenario, folder):
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(scenario, f)
    try:
        return judge.judge_scenario(path)
    except judge.LabFailed as e:
        return 0, [judge.Finding("lab", str(e))]


def smaller(scenario):
    """Yields what a scenario may leave out, one thing at a time."""
    for i in range(len(scenario["events"])):
        one = copy.deepcopy(scenario)
        del one["events"][i]
        yield one
    for key in ("telemetry", "mtu", "reroute_s"):
        if key in scenario and key != "telemetry":
            one = copy.deepcopy(scenario)
            del one[key]
            yield one
    for kind in ("links", "nodes"):
        for i, item in enumerate(scenario[kind]):
            for key in item:
                if key not in ("from", "to", "delay_ns", "id", "name"):
                    one = copy.deepcopy(scenario)
                    del one[kind][i][key]
                    yield one
    if scenario["traffic"][0]["type"] != "constant":
        one = copy.deepcopy(scenario)
        one["traffic"][0] = {k: v for k, v in one["traffic"][0].items()
                             if k not in ("burst_s", "mean_interval_s")} | {"type": "constant"}
        yield one
    latest = max([event["at_s"] for event in scenario["events"]], default=0)
    if scenario["duration_s"] > max(3, latest + 2):
        one = copy.deepcopy(scenario)
        one["duration_s"] -= 1
        for event in one["events"]:
            if "until_s" in event:
                event["until_s"] = one["duration_s"]
        yield one
    if scenario["forwarding"] == "patch" and len(scenario["nodes"]) > 2:
        for i in range(1, len(scenario["nodes"]) - 1):
            gone = scenario["nodes"][i]["name"]
            if any(event.get("node") == gone or gone in event.get("link", "").split("-")
                   for event in scenario["events"]):
                continue
            one = copy.deepcopy(scenario)
            del one["nodes"][i], one["links"][i]
            one["links"][i - 1]["to"] = one["nodes"][i]["name"]
            yield one


def shrink(scenario, kinds, folder, limit=60):
    tries, again_ = 0, True
    while again_ and tries < limit:
        again_ = False
        for one in smaller(scenario):
            tries += 1
            found = {f.kind for f in findings_of(one, folder)[1]}
            if found & kinds and "lab" not in found:
                scenario, again_ = one, True
                break
            if tries >= limit:
                break
    return scenario


def one(seed, shrinks, everything):
    """Runs in a process of its own. Returns (seed, scenario, numbers compared, findings)."""
    scenario = scenario_of(seed, everything)
    with tempfile.TemporaryDirectory(prefix="hs-search-") as folder:
        compared, findings = findings_of(scenario, folder)
        if findings and shrinks:
            scenario = shrink(scenario, {f.kind for f in findings}, folder)
            findings = findings_of(scenario, folder)[1]
    return seed, scenario, compared, findings


def tell(seed, scenario, findings, options):
    os.makedirs(options.keep, exist_ok=True)
    path = os.path.join(options.keep, f"search-{seed}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(scenario, f, indent=1)
    print(f"scenario {path}: {len(findings)} numbers are wrong without saying so")
    for finding in findings[:options.show]:
        print(f"    [{finding.kind}] {finding.text}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=6)
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "hs-search"))
    parser.add_argument("--all", action="store_true", help="what EXCLUDED names, too")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randint(1, 10**9)
    begin = time.monotonic()
    print(f"seed {options.seed}: {options.count} scenarios"
          f"{'' if options.all else '; none has together:'}", flush=True)
    for pair, reason in () if options.all else EXCLUDED.items():
        print(f"    {' and '.join(pair)}: {reason}")
    seeds = range(options.seed, options.seed + options.count)
    compared = wrong = 0
    with multiprocessing.Pool(options.jobs) as pool:
        each = functools.partial(one, shrinks=options.shrink, everything=options.all)
        for seed, scenario, numbers, findings in pool.imap_unordered(each, seeds):
            compared += numbers
            wrong += bool(findings)
            if findings:
                tell(seed, scenario, findings, options)
    print(f"{'FAIL' if wrong else 'PASS'} judge: {options.count} random scenarios of seed "
          f"{options.seed}: {compared} numbers, {wrong} scenarios with numbers that are wrong "
          f"without saying so ({time.monotonic() - begin:.0f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
