# SPDX-License-Identifier: BSD-3-Clause
"""Figure 14 of paper 001: packets that HULA's probes displace where switches have a limit, and labels do not.

The lab's nodes are the switches, each port with a service rate and a queue, with the routes of the prototype
(label_prototype.py). Servers send at a steady rate, each packet to the next of the others. The rate of all ports is what
the busiest one needs for this traffic alone, and MORE.

The lab has HULA's probes as streams of one link each. A round of a ToR crosses each link as HULA's rules say: to the
leaf switches of its pod, from these to the pod's other ToR and to their spine switches, from these to the other pod,
and there from each leaf switch to each ToR, once for each spine switch. A probe that a queue drops crosses the links
behind it all the same. As in the prototype, each server starts rounds at its ToR.
"""

import itertools
import math
import random

PODS = LEAVES = TORS = 2
SPINES = 2    # of a leaf switch
HOP_S = 0.0005
SERVERS = 2   # of a ToR
QUEUE = 5     # packets that wait at a port, as at the prototype's
MORE = 1.01   # of what the busiest port needs
FAST_PPS = 100_000
INTERVALS = (10, 20, 50, 100)


def spines_of(leaf):
    return [f"spine-{SPINES * (leaf - 1) + n}" for n in range(1, SPINES + 1)]


def round_of(pod, tor):
    """The links that a round of a ToR's probes crosses: (links before, from, to), each once for each probe."""
    own, links = f"tor-{pod}-{tor}", []
    for leaf in range(1, LEAVES + 1):
        up = f"leaf-{pod}-{leaf}"
        links.append((0, own, up))
        links += [(1, up, f"tor-{pod}-{other}") for other in range(1, TORS + 1) if other != tor]
        for spine in spines_of(leaf):
            links.append((1, up, spine))
            for far in (p for p in range(1, PODS + 1) if p != pod):
                down = f"leaf-{far}-{leaf}"
                links.append((2, spine, down))
                links += [(3, down, f"tor-{far}-{other}") for other in range(1, TORS + 1)]
    return links


def streams(period_s, seed):
    """HULA's probes as traffic: each server begins its rounds at a time of its own."""
    rng, made = random.Random(seed), []
    for pod, tor, _ in itertools.product(range(1, PODS + 1), range(1, TORS + 1), range(SERVERS)):
        phase_s = rng.random() * period_s
        for before, begin, end in round_of(pod, tor):
            made.append({"name": f"p{len(made)}", "from": begin, "to": end, "rate_pps": 1 / period_s,
                         "start_s": round(phase_s + before * HOP_S, 9), "payload_bytes": 32})
    return made


def steady(traffic):
    """Each server sends at an even pace, to each of the others in turn."""
    made = []
    for number, server in enumerate(sorted({entry["from"] for entry in traffic})):
        own = [entry for entry in traffic if entry["from"] == server]
        pace = sum(entry["rate_pps"] for entry in own)
        made += [dict(entry, type="constant", start_s=round((place + number / 2) / pace, 9))
                 for place, entry in enumerate(own)]
    return made


def scenario(base, rate_pps, labels, probes_ms=None):
    """The setup `base` with this service rate, with INT-label or without, with HULA's rounds or without."""
    link = {key: value for key, value in base["topology"]["link"].items()
            if key == "delay_ns" or (labels and key == "profile")}
    made = dict(base, traffic=steady(base["traffic"]), topology=dict(
        base["topology"], link=link, node={"rate_pps": rate_pps, "queue_packets": QUEUE}))
    if not labels:
        del made["profiles"], made["label"]
    if probes_ms:
        made["traffic"] += streams(probes_ms / 1000, base["seed"])
    return made


def lost(result):
    """The share of the servers' packets that did not arrive."""
    of = [entry for entry in result["traffic"] if entry["name"].startswith("s")]
    return 1 - sum(entry["delivered"] for entry in of) / sum(entry["sent"] for entry in of)


def measure(run, setup, own_ms):
    """Losses by what runs beside the servers' packets, one for each interval. `run` gives a result of the lab;
    `setup` the prototype's setup with an algorithm and T in ms."""
    base = setup("a", INTERVALS[0])
    busiest = max(queue["packets"] for queue in run(scenario(base, FAST_PPS, False))["queues"])
    rate_pps = math.ceil(MORE * busiest / base["duration_s"])
    made = {"nothing": [lost(run(scenario(base, rate_pps, False)))]}
    for name, algorithm in (("Base A", "a"), ("Base B", "b")):
        made[name] = [lost(run(scenario(setup(algorithm, ms), rate_pps, True))) for ms in INTERVALS]
    made["HULA"] = [lost(run(scenario(base, rate_pps, False, ms + own_ms))) for ms in INTERVALS]
    return made
