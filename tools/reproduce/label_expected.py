# SPDX-License-Identifier: BSD-3-Clause
"""What section 4 of paper 001 says of the runs in the network of section 6.1: from a scenario's parameters, never from a run.

Packets come to a port at random times (Poisson), so that the first one after T comes T_p = 1 / rate later on average. Section
4.1 and 4.2: a port labels each T + T_p. Section 4.3: a packet is labelled at a port by T_s / T, here T_p / (T + T_p), the same
for small T_s / T; a packet's labels follow the recurrence over the ports of its path, each with its own share. Section 4.2: an
update follows the one before within T_i by P_t, here the mean over the distribution of T_p and over ports. A telemetry
interval is covered where one of the gaps T + T_p ends in it.
"""

import functools
import itertools
import math

import label_rivals as rivals
import label_theory as theory
from label_runs import MS, SEEDS, points, scenario

FRAME_BYTES = 1000
HALF = 2  # ToR and leaf switches of a pod
U64 = 2 ** 64 - 1
SECOND_NS = 1000 * MS
POINTS = dict(points())


# ---- the ways of packets ----


def draw(seed):
    """The first number of the lab's generator (lib/base/rng.h)."""
    z = (seed + 0x9e3779b97f4a7c15) & U64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & U64
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb & U64
    x = (z ^ (z >> 31)) or 1
    x ^= x >> 12
    x = (x ^ (x << 25)) & U64
    x ^= x >> 27
    return x * 0x2545f4914f6cdd1d & U64


def index_of(kind, pod, n):
    """The place of a leaf or ToR switch in the lab's list of nodes: the spines, then each pod's leaves and ToRs."""
    return HALF * HALF + (pod - 1) * 2 * HALF + (HALF if kind == "tor" else 0) + n - 1


def up(made, kind, at, to):
    """Which of the switches above (1 or 2) packets from this one to a host take: a route of the scenario says it, or the
    greatest draw (docs/lab.md, Topology)."""
    name = f"{kind}-{at[0]}-{at[1]}"
    for route in made.get("routes", []):
        if (route["node"], route["to"]) == (name, "h-{}-{}-{}".format(*to)):
            via = int(route["via"].split("-")[-1])
            return via if kind == "tor" else via - HALF * (at[1] - 1)
    base = made["seed"] + (index_of(kind, *at) << 40) + (index_of("tor", *to[:2]) << 16)
    return max(range(HALF), key=lambda port: draw(base + port)) + 1


def path(made, entry):
    """The ports that label a packet of this traffic, in their order."""
    at, to = (tuple(int(part) for part in entry[end].split("-")[1:]) for end in ("from", "to"))
    ends, host = (f"tor-{to[0]}-{to[1]}", entry["to"])
    if at[:2] == to[:2]:
        return [(ends, host)]
    n = up(made, "tor", at[:2], to)
    leaf, far = (f"leaf-{pod}-{n}" for pod in (at[0], to[0]))
    above = [] if at[0] == to[0] else [f"spine-{HALF * (n - 1) + up(made, 'leaf', (at[0], n), to)}", far]
    nodes = [f"tor-{at[0]}-{at[1]}", leaf, *above, ends, host]
    return list(zip(nodes, nodes[1:]))


def rates(made):
    """Packets a second of each port."""
    of = {}
    for entry in made["traffic"]:
        for port in path(made, entry):
            of[port] = of.get(port, 0) + entry["rate_pps"]
    return of


# ---- sections 4.1 and 4.2 ----


def covered(rate, interval, telemetry):
    """The share of telemetry intervals in which a gap T + T_p ends, with T_p as it is between random packets."""
    longer = max(telemetry - interval, 0)
    return (min(interval, telemetry) + (1 - math.exp(-rate * longer)) / rate) / (interval + 1 / rate)


def coverage(of, interval, telemetry):
    """Of the ports that have a packet in the interval."""
    return sum(covered(rate, interval, telemetry) for rate in of) / sum(1 - math.exp(-rate * telemetry) for rate in of)


def next_in_time(rate, interval, telemetry, sigma):
    """P_t of section 4.2, 1 - Phi((T + T_p - T_i) / (sqrt(2) sigma)), as the mean over T_p."""
    def phi(x):
        return 0.5 * (1 + math.erf(x / math.sqrt(2)))

    longer, s = telemetry - interval, math.sqrt(2) * sigma
    if not s:
        return 1 - math.exp(-rate * longer) if longer > 0 else 0.0
    return phi(longer / s) - math.exp(rate * (rate * s * s / 2 - longer)) * phi(longer / s - rate * s)


def in_time(made, rate, interval, telemetry):
    """The mean over ports, and over the packets of a port: each crosses the links that are left of its way, whose jitter is
    uniform."""
    jitter, sums = made["topology"]["link"]["jitter_ns"] / SECOND_NS, dict.fromkeys(rate, 0.0)
    for entry in made["traffic"]:
        ports = path(made, entry)
        for links, port in zip(range(len(ports) - 1, -1, -1), ports):
            sums[port] += entry["rate_pps"] / rate[port] * next_in_time(
                rate[port], interval, telemetry, jitter * math.sqrt(links / 3))
    return sum(sums.values()) / len(sums)


# ---- section 4.3 ----


def chances(profile):
    """f of the items that a packet has."""
    if profile["rest_ns"] == profile["interval_ns"]:
        return theory.base_a
    return {"f1": lambda items: float(items > 0), "f2": lambda items: min(items / (theory.MAX_HOP - 1), 1)}[profile["function"]]


def item_bytes(have):
    return sum(p * (rivals.OPTION + rivals.ITEM * i) for i, p in enumerate(have) if i)


def expected(made):
    """Of one run."""
    profile, telemetry, seconds = made["profiles"]["label"], made["label"]["interval_s"], made["duration_s"]
    interval, rate, f = profile["interval_ns"] / SECOND_NS, rates(made), chances(profile)
    per_packet, added, carried = [0.0] * (theory.MAX_HOP + 1), 0.0, 0.0
    for entry in made["traffic"]:
        packets = entry["rate_pps"] * seconds
        behind = list(theory.along([1 / (1 + rate[port] * interval) for port in path(made, entry)], f))
        per_packet = [have + packets * more for have, more in itertools.zip_longest(per_packet, behind[-1], fillvalue=0.0)]
        added += packets * sum(item_bytes(have) for have in behind[:-1])
        carried += packets * (len(behind) - 1) * FRAME_BYTES
    return {"per_packet": per_packet, "labelled_packets": sum(per_packet[1:]),
            "labels": sum(n * packets for n, packets in enumerate(per_packet)), "bandwidth": added / carried,
            "coverage": coverage(rate.values(), interval, telemetry),
            "next_in_time": in_time(made, rate, interval, telemetry)}


def knows(name):
    """Whether section 4 says how packets are labelled in a run: it has neither Pro, nor a rest time, nor a function of time."""
    of = POINTS[name]
    return of["algorithm"] == "a" or (of["algorithm"] == "b" and of.get("rest", 0) in (0, 1) and of.get("function") != "f3")


@functools.cache
def of_point(name):
    """The mean over the seeds of a point of the page (label_runs.points)."""
    runs = [expected(scenario(name, seed, **POINTS[name])) for seed in SEEDS]
    return {key: [sum(of) / len(SEEDS) for of in zip(*(run[key] for run in runs))] if key == "per_packet" else
            sum(run[key] for run in runs) / len(SEEDS) for key in runs[0]}
