#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of an event of the lab in networks of 6, 60 and 600 nodes.

    scale.py [--build DIR] [--json]

It runs a chain of nodes for two durations. The difference in processor time over the difference in
events leaves out the cost of setting up. The number of packets under way does not depend on the
length of the chain.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = [6, 60, 600]
PACKETS_PER_S = 1000
EVENTS = [300_000, 1_500_000]  # approximate events of the shorter and the longer run
ROUNDS = 3


def chain(nodes):
    names = [f"n{i}" for i in range(nodes)]
    return {
        "name": f"chain-{nodes}", "duration_s": 1000,
        "nodes": [{"id": i, "name": name} for i, name in enumerate(names)],
        "links": [{"from": a, "to": b, "delay_ns": 1000000 // nodes * 6}
                  for a, b in zip(names, names[1:])],
        "traffic": [{"name": "up", "from": names[0], "to": names[-1],
                     "rate_pps": PACKETS_PER_S}],
        "expect": [{"metric": "delivered_ratio", "min": 0.98}, {"metric": "node_drops", "max": 0}],
    }


def run(build, path, seconds):
    """Returns processor time in ns, and events."""
    with tempfile.NamedTemporaryFile() as result:
        process = subprocess.Popen(
            [os.path.join(build, "apps", "hopsight-lab"), "run", path, "--quiet", "--duration",
             str(seconds), "--json", result.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{path} for {seconds} s ended with {process.returncode}")
        with open(result.name, encoding="utf-8") as file:
            return (usage.ru_utime + usage.ru_stime) * 1e9, json.load(file)["events"]


def cost(build, nodes, folder):
    """Returns nanoseconds for an event: the best of some rounds, which other work disturbed
    least."""
    path = os.path.join(folder, f"chain-{nodes}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(chain(nodes), file)
    per_s = PACKETS_PER_S * (nodes + 1)
    short, long = (max(1, round(events / per_s, 3)) for events in EVENTS)
    long = max(long, short + 1)
    best = math.inf
    for _ in range(ROUNDS):
        (cpu_a, events_a), (cpu_b, events_b) = (run(build, path, s) for s in (short, long))
        best = min(best, (cpu_b - cpu_a) / (events_b - events_a))
    return best


def costs(build):
    with tempfile.TemporaryDirectory(prefix="hs-scale-") as folder:
        return {nodes: cost(build, nodes, folder) for nodes in SIZES}


def fault(ns):
    """Returns why these costs grow faster than the logarithm of the nodes, or None."""
    small, large = SIZES[0], SIZES[-1]
    allowed = math.log(large) / math.log(small)
    if ns[large] > ns[small] * allowed:
        return f"{ns[large]:.0f} ns at {large} nodes, more than {allowed:.2f} times " \
               f"{ns[small]:.0f} ns at {small}"
    return None


def sentence(ns):
    return ", ".join(f"{ns[nodes]:.0f} ns at {nodes}" for nodes in SIZES)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    ns = costs(options.build)
    print(json.dumps(ns) if options.json else sentence(ns) + " nodes")
    return 1 if fault(ns) else 0


if __name__ == "__main__":
    sys.exit(main())
