# SPDX-License-Identifier: BSD-3-Clause
"""Section 4 of paper 001 against the lab: labels of a packet in a chain and in a whole tree, and delay."""

import math
import tempfile

import label_theory as theory
import label_tree as tree
from label_runs import MS, result_of, run_lab

TREES = tuple(range(4, 21, 2))

# ---- section 4.3 against the lab ----

CHAIN = 6  # nodes: a packet from end to end leaves five ports
CHAIN_PPS, CHAIN_OWN_PPS, CHAIN_S = 10_000, 100, 100
LEVEL_95 = {1: 3.84, 2: 5.99, 3: 7.81, 4: 9.49, 5: 11.07}  # of the chi-squared distribution


def chain(base_b):
    """One in 100 packets of each link goes from end to end; T is 99 times the mean time between packets,
    so that one of 100 packets of a link is due. Hosts are behind nodes that do not label: only the links of
    the chain do."""
    names, edges = [f"n{i}" for i in range(CHAIN)], [f"e{i}" for i in range(CHAIN)]
    hosts = [{"name": f"h{i}", "at": name, "addr": f"10.0.0.{i + 1}"} for i, name in enumerate(edges)]
    interval_ns = round(99 / CHAIN_PPS * 1e9)
    profile = {"method": "label", "interval_ns": interval_ns, "max_hops": 6, "function": "f2",
               "rest_ns": 0 if base_b else interval_ns}
    poisson = {"type": "poisson", "payload_bytes": 64}
    cross = [{"name": f"x{i}", "from": f"h{i}", "to": f"h{i + 1}",
              "rate_pps": CHAIN_PPS - CHAIN_OWN_PPS, **poisson} for i in range(CHAIN - 1)]
    return {"name": "chain-b" if base_b else "chain-a", "seed": 1, "duration_s": CHAIN_S,
            "forwarding": "shortest_path", "keep_windows": False, "mbufs": 8192, "rules": 16,
            "profiles": {"l": profile}, "label": {},
            "nodes": [{"id": i + 1, "name": name} for i, name in enumerate(names + edges)],
            "links": [{"from": a, "to": b, "delay_ns": 1000000, "profile": "l"}
                      for a, b in zip(names, names[1:])] +
                     [{"from": a, "to": b} for a, b in zip(names, edges)],
            "hosts": hosts, "expect": [],
            "traffic": [{"name": "own", "from": "h0", "to": f"h{CHAIN - 1}",
                         "rate_pps": CHAIN_OWN_PPS, **poisson}, *cross]}


def expected_of_chain(base_b):
    """Packets with 0 to 5 labels by section 4.3: those from end to end, and those of one link."""
    own, cross = CHAIN_OWN_PPS * CHAIN_S, (CHAIN - 1) * (CHAIN_PPS - CHAIN_OWN_PPS) * CHAIN_S
    f = theory.base_b if base_b else theory.base_a
    through, once = theory.after(CHAIN - 1, 0.01, f), theory.after(1, 0.01, theory.base_a)
    return [own * p + cross * (once[i] if i < 2 else 0) for i, p in enumerate(through)]


def chi_squared(have, expected):
    """Of packets with two labels or more, which only those from end to end can have. What is expected
    fewer than four times stands in one class with what stands before it."""
    classes = [[h, e] for h, e in zip([*have, *[0] * 6][2:6], expected[2:])]
    while len(classes) > 1 and classes[-1][1] < 4:
        (h, e) = classes.pop()
        classes[-1][0] += h
        classes[-1][1] += e
    return round(sum((h - e) ** 2 / e for h, e in classes), 2), len(classes)


def run_chains():
    made = {}
    with tempfile.TemporaryDirectory(prefix="hs-001-") as folder:
        for base_b in (False, True):
            label = run_lab(chain(base_b), folder)
            expected = expected_of_chain(base_b)
            value, freedom = chi_squared(label["labels_per_packet"], expected)
            made["b" if base_b else "a"] = {
                "packets": label["labels_per_packet"], "late_labels": label["late_labels"],
                "expected": [round(e, 1) for e in expected], "chi_squared": value, "freedom": freedom}
    return made


# ---- section 4.2 against the lab ----

DELAY = {"interval_ms": 50, "first_ms": 1, "sigma_ms": 1, "seconds": 600}


def delayed():
    """One link with normal jitter; packets come each ms. The interval that 99 % of the updates keep is
    T_i: what section 4.2 says of it is 99 %, too. The host is behind a node that does not label."""
    profile = {"method": "label", "interval_ns": DELAY["interval_ms"] * MS,
               "rest_ns": DELAY["interval_ms"] * MS}
    return {"name": "delayed", "seed": 1, "duration_s": DELAY["seconds"], "mbufs": 8192, "rules": 16,
            "profiles": {"l": profile}, "label": {}, "expect": [],
            "nodes": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}],
            "links": [{"from": "a", "to": "b", "profile": "l", "delay_ns": 10 * MS,
                       "jitter_ns": DELAY["sigma_ms"] * MS, "jitter_distribution": "normal"},
                      {"from": "b", "to": "c"}],
            "hosts": [{"name": "x", "at": "a", "addr": "10.0.0.1"},
                      {"name": "y", "at": "c", "addr": "10.0.0.2"}],
            "traffic": [{"name": "up", "from": "x", "to": "y", "payload_bytes": 64,
                         "rate_pps": 1000 / DELAY["first_ms"]}]}


def run_delayed():
    with tempfile.TemporaryDirectory(prefix="hs-001-") as folder:
        label = run_lab(delayed(), folder)
    updates, interval_ms = label["labels"] - 1, label["update_interval_ns"]["p99"] / MS
    said = theory.probability_in_interval(DELAY["interval_ms"], DELAY["first_ms"], interval_ms,
                                          DELAY["sigma_ms"])
    return {"updates": updates, "interval_ms": round(interval_ms, 4), "theory": round(said, 5),
            "error": round(1.96 * math.sqrt(0.01 * 0.99 / updates), 5),
            "late_labels": label["late_labels"]}


# ---- section 4.3 in a whole tree ----

TREE_CPU_S = 65  # of a run, as measured on two virtual cores of 2026
TREE_SEEDS = (11, 12, 13, 14, 15, 16)  # chosen before their first run


def run_tree(k, base_b, seconds, seeds=(1,), per_label=tree.PER_LABEL):
    have, packets, late = [0] * (theory.MAX_HOP + 1), 0, 0
    with tempfile.TemporaryDirectory(prefix="hs-001-") as folder:
        for seed in seeds:
            result = result_of(tree.scenario(k, base_b, seconds, seed, per_label), folder)
            have = [a + b for a, b in zip(have, tree.labels(result))]
            packets += result["label"]["packets"]
            late += result["label"]["late_labels"]
    return {**tree.compare(k, base_b, have, per_label), "all_packets": packets, "late_labels": late}


# ---- figures 15 and 16 ----

PER_LABELS = (10, 20, 50, 100, 200, 500)  # T/Ts of figure 16
SMALL = {4: 60, 8: 8, 12: 2.4, 16: 1}     # seconds, by k: some five million packets each
SOONER = {10: 0.2, 20: 0.2, 50: 0.4}      # seconds, by T/Ts, with k = 20
MEANS_SEED = 21                           # chosen before the first of these runs


def run_means():
    """Labels of packets in trees of other sizes, and with other T/Ts."""
    pairs = (("a", False), ("b", True))
    return {"15": {k: {x: run_tree(k, base_b, seconds, (MEANS_SEED,)) for x, base_b in pairs} for k, seconds in SMALL.items()},
            "16": {n: {x: run_tree(TREES[-1], base_b, seconds, (MEANS_SEED,), n) for x, base_b in pairs}
                   for n, seconds in SOONER.items()}}


def run_trees():
    return {"b" if base_b else "a": run_tree(TREES[-1], base_b, tree.SECONDS, TREE_SEEDS) for base_b in (False, True)}
