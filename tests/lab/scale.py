# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions that an event of the lab takes in networks of 6, 60 and 600 nodes.

It runs a chain of nodes for two durations under callgrind. The difference in instructions over the
difference in events leaves out the cost of setting up. The number of packets under way does not
depend on the length of the chain. Time would tell less: the state of 600 nodes lies in caches that
other programs of the machine use too.
"""

import concurrent.futures
import json
import math
import os
import re
import subprocess
import tempfile

SIZES = [6, 60, 600]
PACKETS_PER_S = 1000
EVENTS = [60_000, 150_000]  # approximate events of the shorter and the longer run


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
    """Returns instructions and events."""
    with tempfile.NamedTemporaryFile() as result:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
             os.path.join(build, "apps", "hopsight-lab"), "run", path, "--quiet", "--duration",
             str(seconds), "--json", result.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{path} for {seconds} s ended with {done.returncode}: {done.stderr}")
        with open(result.name, encoding="utf-8") as file:
            return (int(re.search(r"Collected : (\d+)", done.stderr).group(1)),
                    json.load(file)["events"])


def cost(build, nodes, folder):
    """Returns instructions for an event."""
    path = os.path.join(folder, f"chain-{nodes}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(chain(nodes), file)
    per_s = PACKETS_PER_S * (nodes + 1)
    (taken_a, events_a), (taken_b, events_b) = (
        run(build, path, round(events / per_s, 3)) for events in EVENTS)
    return (taken_b - taken_a) / (events_b - events_a)


def costs(build):
    with tempfile.TemporaryDirectory(prefix="hs-scale-") as folder:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return dict(zip(SIZES, pool.map(lambda nodes: cost(build, nodes, folder), SIZES)))


def fault(costs_of):
    """Returns why these costs grow faster than the logarithm of the nodes, or None."""
    small, large = SIZES[0], SIZES[-1]
    allowed = math.log(large) / math.log(small)
    if costs_of[large] > costs_of[small] * allowed:
        return f"{costs_of[large]:.0f} instructions at {large} nodes, more than {allowed:.2f} " \
               f"times {costs_of[small]:.0f} at {small}"
    return None


def sentence(costs_of):
    return ", ".join(f"{costs_of[nodes]:.0f} at {nodes}" for nodes in SIZES)
