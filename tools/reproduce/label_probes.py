# SPDX-License-Identifier: BSD-3-Clause
"""Figure 14 of paper 001: packets that HULA's probes and INT-label's bytes displace where switches have a limit.

The lab's nodes are the switches, each port with a limit and a queue, with the routes of the prototype (label_prototype.py).
Servers send at a steady rate, each packet to the next of the others. The limit of all ports is what the busiest one needs
for this traffic alone, and some more: in packets per second, as the prototype's switch has it, or in bits per second.

HULA's probes are the model's of label_rivals.py. A probe is a packet over one link. What a switch sends on when it gets one
is a relay of it (docs/lab.md), so that a probe which a queue drops goes no further. As in the prototype, each server
starts rounds at its ToR.
"""

import itertools
import math
import random

import label_rivals as rivals

PODS = HALF = 2
SERVERS = 2   # of a ToR
QUEUE = 5     # packets that wait at a port, as at the prototype's
FAST_PPS = 100_000
FRAME_BYTES = 1000
INTERVALS = (10, 20, 50, 100)
LIMITS = {"packets": (1.01,), "bytes": (1.01, 1.05)}  # what a port serves, over what the busiest needs


def streams(period_s, seed):
    """HULA's probes as traffic: each server begins its rounds at a time of its own."""
    rng, made = random.Random(seed), []
    for pod, tor, server in itertools.product(range(1, PODS + 1), range(1, HALF + 1), range(SERVERS)):
        phase_s, name = rng.random() * period_s, f"p-{pod}-{tor}-{server}-{{}}".format
        for place, (by, at, to, items) in enumerate(rivals.hula_round(PODS, HALF, pod, tor)):
            sent = {"rate_pps": 1 / period_s, "start_s": round(phase_s, 9)} if by is None else \
                   {"type": "relay", "after": name(by)}
            made.append({"name": name(place), "from": at, "to": to,
                         "payload_bytes": rivals.ITEM * items - rivals.IPV6_MORE, **sent})
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


def scenario(base, limit, pps, labels, probes_ms=None):
    """The setup `base` whose ports serve so many of the servers' packets a second, counted in packets or in bytes; with
    INT-label or without, with HULA's rounds or without."""
    link = {key: value for key, value in base["topology"]["link"].items()
            if key == "delay_ns" or (labels and key == "profile")}
    topology = {key: value for key, value in base["topology"].items() if key != "node"}
    if limit == "packets":
        topology["node"] = {"rate_pps": math.ceil(pps), "queue_packets": QUEUE}
    else:
        link.update(rate_bps=math.ceil(pps * 8 * FRAME_BYTES), queue_packets=QUEUE, queue_at="node")
    made = dict(base, traffic=steady(base["traffic"]), topology=dict(topology, link=link))
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
    """By limit and by what runs beside the servers' packets: losses, one for each interval; and what is said of the labels.
    `run` gives a result of the lab; `setup` the prototype's setup with an algorithm and T in ms."""
    base = setup("a", INTERVALS[0])
    queues = run(scenario(base, "packets", FAST_PPS, False))["queues"]
    busiest = max(queue["packets"] for queue in queues) / base["duration_s"]
    made, labels = {}, {"labels": 0, "late_labels": 0}

    def labelled(*of):
        result = run(scenario(*of, True))
        for key in labels:
            labels[key] += result["label"][key]
        return lost(result)

    for limit, factors in LIMITS.items():
        for more in factors:
            of = limit, more * busiest
            made[f"{limit} {more}"] = {
                "nothing": [lost(run(scenario(base, *of, False)))],
                **{name: [labelled(setup(x, ms), *of) for ms in INTERVALS] for name, x in (("Base A", "a"), ("Base B", "b"))},
                "HULA": [lost(run(scenario(base, *of, False, ms))) for ms in INTERVALS],
                "HULA, fitted": [lost(run(scenario(base, *of, False, ms + own_ms))) for ms in INTERVALS]}
    return made, labels
