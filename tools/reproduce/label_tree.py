# SPDX-License-Identifier: BSD-3-Clause
"""Section 4.3 of paper 001 with packets: labels of a packet in a fat tree where each port has the same Ts/T.

Each host sends to hosts at random. These packets are few, so that other packets decide when a port is due: packets of a
single link between two switches, and packets between two hosts of one switch. With them, each port has `RATE_PPS` packets
per second, at random times (Poisson). A port is due after T and labels the next packet, 1 / RATE_PPS later on average, so
that T = 99 / RATE_PPS makes one of 100 packets a labelled one: T / Ts = 100.
"""

import random

import label_theory as theory

RATE_PPS, SHARE = 1000, 0.02  # of a port; of these, packets that are looked at
FLOWS, FEW = 5, 128           # of each host; with so many hosts in all, to each other host
BEGIN, SECONDS = 1.2, 0.5     # when these packets begin, in T; how long they last
PER_LABEL = 100               # T / Ts


def arcs(k):
    """The links between switches in both directions."""
    half, made = k // 2, []
    for pod in range(1, k + 1):
        for a in range(1, half + 1):
            agg = f"agg-{pod}-{a}"
            made += [(agg, f"core-{half * (a - 1) + n}") for n in range(1, half + 1)]
            made += [(agg, f"edge-{pod}-{e}") for e in range(1, half + 1)]
    return made + [(to, at) for at, to in made]


def hosts(k):
    half = range(1, k // 2 + 1)
    return [(pod, edge, n) for pod in range(1, k + 1) for edge in half for n in half]


def loads(k):
    """The packets that are looked at, by kind of port, over those of a port to a host."""
    far = theory.hops_of(k)
    return {"edge": far[3] + far[5], "core": far[5], "host": 1}


def interval_s(per_label=PER_LABEL):
    return (per_label - 1) / RATE_PPS


def receivers(places, place, rng):
    """Of a host's own packets: some by chance, or all others where these are few, so that path lengths have their shares."""
    if len(places) <= FEW:
        return [other for other in places if other != place]
    return [rng.choice([p for p in rng.sample(places, 2) if p != place]) for _ in range(FLOWS)]


def scenario(k, base_b, seconds=SECONDS, seed=1, per_label=PER_LABEL):
    rng, load, traffic, t_s = random.Random(seed), loads(k), [], interval_s(per_label)
    places = hosts(k)
    name = "h-{}-{}-{}".format

    def send(what, at, to, pps, begin_s):
        traffic.append({"name": f"{what}{len(traffic)}", "from": at, "to": to, "type": "poisson",
                        "rate_pps": round(pps, 6), "payload_bytes": 64, "start_s": round(begin_s, 9)})

    def fill(at, to, kind):
        send("x", at, to, RATE_PPS * (1 - SHARE * load[kind]), rng.random() * t_s)

    for at, to in arcs(k):
        fill(at, to, "core" if "core" in at + to else "edge")
    for pod, edge, n in places:
        fill(name(pod, edge, n % (k // 2) + 1), name(pod, edge, n), "host")
    for place in places:
        others = receivers(places, place, rng)
        for to in others:
            send("own", name(*place), name(*to), RATE_PPS * SHARE / len(others), BEGIN * t_s)
    interval_ns = round(t_s * 1e9)
    profile = {"method": "label", "interval_ns": interval_ns, "max_hops": 6, "function": "f2",
               "rest_ns": 0 if base_b else interval_ns}
    return {"name": f"tree-{'b' if base_b else 'a'}-{k}", "seed": seed, "duration_s": BEGIN * t_s + seconds,
            "forwarding": "shortest_path", "keep_windows": False, "rules": 16, "profiles": {"l": profile},
            "label": {}, "expect": [], "traffic": traffic,
            "topology": {"kind": "fat_tree", "k": k, "addresses": "ipv4", "link": {"profile": "l", "delay_ns": 10000}}}


def labels(result):
    """Packets with 0 to 5 labels, of those that are looked at."""
    sums = [0] * (theory.MAX_HOP + 1)
    for row in result["traffic"]:
        if row["name"].startswith("own"):
            for n, packets in enumerate(row["labels_per_packet"]):
                sums[n] += packets
    return sums


def compare(k, base_b, have, per_label=PER_LABEL):
    """What section 4.3 expects of so many packets, and chi squared. Classes that are expected fewer than five times are one
    with the class before them."""
    shares = theory.distribution(k, 1 / per_label, theory.base_b if base_b else theory.base_a)
    expected = [share * sum(have) for share in shares]
    classes = [list(pair) for pair in zip(have, expected)]
    while classes[-1][1] < 5:
        last = classes.pop()
        classes[-1] = [a + b for a, b in zip(classes[-1], last)]
    return {"packets": have, "expected": [round(e, 1) for e in expected], "freedom": len(classes) - 1,
            "chi_squared": round(sum((h - e) ** 2 / e for h, e in classes), 2)}
