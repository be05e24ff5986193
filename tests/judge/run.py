# SPDX-License-Identifier: BSD-3-Clause
"""Judges some seconds of every scenario of config/lab except a few, or of those whose names contain
one of the given words. Then judges random scenarios (search.py), with a new seed each time.

    run.py [--count N] [--seed S] [WORD]...
"""

import argparse
import glob
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import int_rules  # noqa: E402
import judge  # noqa: E402
import search  # noqa: E402

SCENARIOS = os.path.join(judge.ROOT, "config", "lab")
# Too large; no telemetry; no node publishes numbers of INT-label or of probes, and lab.md's are the lab's own.
LEFT_OUT = ("fat-tree-20", "paper-overhead-none", "/label-", "/gpint-")
SECONDS, SLOWER = 8, 4
FAST_BPS, MUCH_SLOWER = 100_000_000, 40
# One more than there are cores on a small machine: each run begins with 0.1 s of waiting for DPDK's clock.
LANES = 3
LEAD_S, TAIL_S = 1.5, 5  # before the first event, and after the last


def shorter(scenario):
    """Returns a few seconds of a scenario, from shortly before the first event, with fewer
    packets."""
    events = scenario.get("events", [])
    first = min((event["at_s"] for event in events), default=0)
    shift = max(0, first - LEAD_S)
    scenario["duration_s"] = min(scenario["duration_s"], SECONDS)
    for event in events:
        for key in ("at_s", "until_s"):
            if key in event:
                event[key] = round(event[key] - shift, 6)
    scenario["events"] = [e for e in events if e["at_s"] < min(LEAD_S + TAIL_S,
                                                              scenario["duration_s"])]
    for event in scenario["events"]:
        if "until_s" in event:
            event["until_s"] = min(event["until_s"], scenario["duration_s"])
    limited = "rate_bps" in json.dumps(scenario)
    for link in scenario.get("links", []):
        if link.get("rate_bps", 0) > FAST_BPS:
            link["rate_bps"] //= MUCH_SLOWER
    for traffic in scenario["traffic"]:
        if "file" in traffic:
            traffic["file"] = os.path.join(SCENARIOS, traffic["file"])
        if traffic.get("rate_pps", 0) > 2000 and not limited:
            traffic["rate_pps"] /= SLOWER
        for key in ("start_s", "stop_s"):
            if key in traffic:
                traffic[key] = min(traffic[key], scenario["duration_s"])
    scenario["expect"] = []
    scenario.setdefault("mbufs", judge.MBUFS)
    return scenario


def one(path):
    begin = time.monotonic()
    with open(path, encoding="utf-8") as f:
        scenario = shorter(json.load(f))
    with tempfile.TemporaryDirectory(prefix="hs-judge-") as folder:
        compared, findings = search.findings_of(scenario, folder)
    name, silent = os.path.basename(path)[:-5], int_rules.publishes_nothing(scenario)
    return name, compared, findings, silent, time.monotonic() - begin


def tell(name, compared, findings, silent, seconds):
    """Returns whether the scenario failed. silent: its nodes must publish no numbers."""
    wrong = bool(findings or not compared and not silent)
    for finding in findings[:10]:
        print(f"    [{finding.kind}] {finding.text}")
    what = f"{compared} numbers compared, {len(findings)} are wrong without saying so"
    if silent and not wrong:
        what = "nothing to judge: its packets bring no values, and nothing was published"
    print(f"{'FAIL' if wrong else 'PASS'} judge: {name}: {what} ({seconds:.1f} s)", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    paths = [path for path in sorted(glob.glob(os.path.join(SCENARIOS, "*.json")))
             if not any(name in path for name in LEFT_OUT) and (not options.words or any(
                 word in os.path.basename(path) for word in options.words))]
    failed = 0
    with multiprocessing.Pool(LANES) as pool:
        for verdict in pool.imap(one, paths):
            failed += tell(*verdict)
    if options.words:
        return 1 if failed else 0
    words = ["--count", str(options.count), "--jobs", str(LANES)]
    words += ["--seed", str(options.seed)] if options.seed is not None else []
    return subprocess.run([sys.executable, os.path.join(HERE, "search.py"), *words],
                          check=False).returncode or (1 if failed else 0)


if __name__ == "__main__":
    sys.exit(main())
