# SPDX-License-Identifier: BSD-3-Clause
"""What section 4 of INT-label's paper says of the runs on its page (tools/reproduce/label_expected.py), against ports that are
simulated here, and against numbers by hand."""

import json
import math
import os
import random
import sys

from harness import ROOT, check, equal, test

sys.path.insert(0, os.path.join(ROOT, "tools", "reproduce"))

import label_expected as expected  # noqa: E402
import label_theory as theory  # noqa: E402
from label_runs import scenario  # noqa: E402


def near(have, said, room, *what):
    check(abs(have - said) <= room, *what, have, "and not", said)


@test()
def routes_are_drawn_as_the_lab_draws_them():
    with open(os.path.join(ROOT, "config", "lab", "label-base-a.json"), encoding="utf-8") as f:
        lab = json.load(f)
    ports = next(entry["value"] for entry in lab["expect"] if entry["metric"] == "label.ports")
    equal(len(expected.rates(dict(lab, seed=1))), ports)
    # The prototype counts 25 ports (coverage.py of its controller).
    made = scenario("x", 1, prototype=True)
    equal(len(expected.rates(made)), 25)
    far = next(entry for entry in made["traffic"] if (entry["from"], entry["to"]) == ("h-1-1-1", "h-2-2-2"))
    equal(expected.path(made, far), [("tor-1-1", "leaf-1-2"), ("leaf-1-2", "spine-4"), ("spine-4", "leaf-2-2"),
                                     ("leaf-2-2", "tor-2-2"), ("tor-2-2", "h-2-2-2")])


def label_times(rate, interval, labels, rng):
    """A port with random packets labels the first one that comes later than T behind its last label."""
    now, last, made = 0.0, -interval, []
    while len(made) < labels:
        now += rng.expovariate(rate)
        if now - last > interval:
            last = now
            made.append(now)
    return made


@test()
def a_simulated_port_covers_intervals_and_follows_in_time_as_section_4_says():
    rng = random.Random(1)
    for rate, interval, telemetry, sigma in ((90, 0.1, 0.1, 0.002), (90, 0.05, 0.1, 0.0), (9, 0.05, 0.1, 0.02), (400, 0.08, 0.06, 0.01)):
        times = label_times(rate, interval, 40000, rng)
        near(len(times) / times[-1], 1 / (interval + 1 / rate), 0.01 / interval, "labels")
        seen = {int(time / telemetry) for time in times}
        near(len(seen) / (times[-1] / telemetry), expected.covered(rate, interval, telemetry), 0.01, "covered", rate)
        arrivals = [time + rng.gauss(0, sigma) for time in times]
        follow = sum(b - a <= telemetry for a, b in zip(arrivals, arrivals[1:])) / (len(times) - 1)
        near(follow, expected.next_in_time(rate, interval, telemetry, sigma), 0.01, "P_t", rate)


@test()
def an_interval_counts_if_the_port_has_a_packet():
    # One packet in ten seconds on average: a packet that comes is labelled, because T is long over.
    near(expected.coverage([0.1], 0.001, 0.1), 1, 0.01)
    # A busy port beside it: an interval of T = T_i is covered but for the wait for a packet.
    near(expected.coverage([1000, 1000], 0.1, 0.1), 0.1 / 0.101, 1e-9)


@test()
def a_packet_gains_labels_along_its_path():
    base_b = expected.chances({"interval_ns": 50, "rest_ns": 0, "function": "f1"})
    # By half at the first port, with certainty behind it.
    equal(list(theory.along([0.5, 0.25], base_b)), [[0.5, 0.5], [0.375, 0.125, 0.5]])
    base_a = expected.chances({"interval_ns": 50, "rest_ns": 50, "function": "f1"})
    equal(list(theory.along([0.5, 0.25], base_a))[-1], [0.375, 0.5, 0.125])
    # 0.6 of a packet with one label: 34 bytes. 0.1 of one with two: 66 bytes.
    check(math.isclose(expected.item_bytes([0.3, 0.6, 0.1]), 0.6 * 34 + 0.1 * 66))


@test()
def a_path_of_three_ports_loads_its_two_links():
    traffic = [{"from": "h-1-1-1", "to": "h-1-2-1", "rate_pps": 100}]
    made = {"traffic": traffic, "seed": 1, "duration_s": 10, "profiles": {"label": {"interval_ns": 10**7, "rest_ns": 10**7}},
            "label": {"interval_s": 0.1}, "topology": {"link": {"jitter_ns": 0}}}
    have = expected.expected(made)
    # Three ports, each labels once in 10 + 10 ms. The packet crosses two links, with one port's items and with two's.
    near(have["labels"], 3 * 10 / 0.02, 1e-6)
    near(have["labelled_packets"], 1000 * (1 - 0.5 ** 3), 1e-6)
    near(have["bandwidth"], (0.5 * 34 + 0.5 * 34 + 0.25 * 66) / 2000, 1e-9)
