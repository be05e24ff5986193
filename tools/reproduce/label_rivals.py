# SPDX-License-Identifier: BSD-3-Clause
"""What INT-label's competitors send, each by one model: figures 14, 20, 21 and 22 of paper 001 all count with it.

HULA: a round of a ToR's probes goes to the pod's leaf switches, from these to the pod's other ToRs and to their spine
switches, from these to the other pods, and there from each leaf switch to each ToR, once for each spine switch. A probe
has the item of each port that it left by: the authors' HULA.p4 adds one at each port. INT-path: the probes follow paths by
Euler's method, each in as few parts of at most MTU_HOPS links as it needs; a generator stands where a part begins or ends.
Pingmesh: each server pings one server at each ToR; each server and each ToR is a generator. PINT: its coding of a path
(github.com/ProbabilisticINT/Mininet-PINT, p4src/pint.p4), with 16 bits in a packet.

`published` has the counts of the authors, who publish them beside their figures (label_prototype.py says where).
"""

import math
import random

ETHERNET = 14
HEADERS = ETHERNET + 20 + 8  # with IPv4 and UDP
IPV6_MORE = 20         # the lab's hosts that stand for switches have IPv6, whose header is so much longer
ITEM, OPTION = 32, 2
ROUTE = 2              # an entry of a source route
MTU = 1500             # of IP, without Ethernet
MTU_HOPS = (MTU - (HEADERS - ETHERNET)) // ITEM  # links of a probe at most: each gives it an item, and its route is used up
NAMES = ("INT-label", "INT-path", "HULA", "Pingmesh")


def tree(k):
    """Switches, links between switches, ToR switches and hosts."""
    return {"switches": 5 * k * k // 4, "links": k ** 3 // 2, "tors": k * k // 2, "hosts": k ** 3 // 4}


# ---- HULA ----


def hula_round(pods, half, pod, tor):
    """The links that the probes of a ToR's round cross: (the place in this list of the crossing that the probe came by, or
    None; from; to; items that the probe has). The names are those of the lab's topology `hula`."""
    made, name = [], "{}-{}-{}".format

    def cross(by, at, to):
        made.append((by, at, to, 1 + (made[by][3] if by is not None else 0)))
        return len(made) - 1

    def cross_to_tors(by, at, in_pod):
        for other in range(1, half + 1):
            if (in_pod, other) != (pod, tor):
                cross(by, at, name("tor", in_pod, other))

    for leaf in range(1, half + 1):
        own = name("leaf", pod, leaf)
        up = cross(None, name("tor", pod, tor), own)
        cross_to_tors(up, own, pod)
        for n in range(1, half + 1):
            spine = f"spine-{half * (leaf - 1) + n}"
            top = cross(up, own, spine)
            for far in (p for p in range(1, pods + 1) if p != pod):
                far_leaf = name("leaf", far, leaf)
                cross_to_tors(cross(top, spine, far_leaf), far_leaf, far)
    return made


def hula_bytes(k):
    """On all links, of a round of each ToR."""
    return tree(k)["tors"] * sum(HEADERS + ITEM * items for *_, items in hula_round(k, k // 2, 1, 1))


# ---- INT-path ----


def int_path_parts(paths):
    """The paths, as lists of switches, in as few parts as MTU_HOPS allows."""
    for path in paths:
        links = len(path) - 1
        n = -(-links // MTU_HOPS)
        for i in range(n):
            yield path[links * i // n:links * (i + 1) // n + 1]


def int_path_generators(paths):
    """Switches where a part begins or ends."""
    return len({end for part in int_path_parts(paths) for end in (part[0], part[-1])})


def int_path_bytes(paths):
    """On links, of one round: together the paths cross each link once, whatever the direction. A probe grows by an item at
    each link, and its source route shrinks."""
    links = [len(part) - 1 for part in int_path_parts(paths)]
    return sum(n * HEADERS + ITEM * n * (n + 1) // 2 + ROUTE * n * (n - 1) // 2 for n in links)


# ---- Pingmesh and INT-label ----


def pingmesh_bytes(k):
    """Each server pings one server at each ToR; a ping and its reply cross two links for each switch that lies between."""
    half, of = k // 2, tree(k)
    links_of = {1: 0, 3: 2, 5: 4}
    tors_at = {1: 1, 3: half - 1, 5: of["tors"] - half}
    crossed = sum(links_of[hops] * tors_at[hops] for hops in links_of)
    return of["hosts"] * 2 * crossed * HEADERS


def int_label_bytes(k, labels_of_a_packet=1.0):
    """Each direction of each link is labelled once. An item is carried to the end of the path: on three, two, one or no
    further link of a path between pods. labels_of_a_packet shares the option."""
    arcs = 2 * tree(k)["links"]
    carried = 1 + sum(range(4)) / 4  # on the link itself, and beyond
    return arcs * carried * (ITEM + OPTION / labels_of_a_packet)


def generators(k, paths):
    of = tree(k)
    return {"INT-label": 0, "INT-path": int_path_generators(paths), "HULA": of["tors"],
            "Pingmesh": of["hosts"] + of["tors"]}


def round_bytes(k, paths):
    return {"INT-label": round(int_label_bytes(k)), "INT-path": int_path_bytes(paths), "HULA": hula_bytes(k),
            "Pingmesh": pingmesh_bytes(k)}


# ---- the authors' counts ----


def text_generators(k):
    """Of INT-path by the paper's text: the odd vertices of the graph of switches, or one."""
    return tree(k)["tors"] if k // 2 % 2 else 1


def published_generators(k):
    """Figure 20. A host has one link, so that each is an odd vertex."""
    of = tree(k)
    return {"INT-label": 0, "INT-path": of["hosts"], "HULA": of["tors"], "Pingmesh": of["hosts"] + of["tors"]}


def published_bytes(k):
    """Figure 21 over its 100 rounds a second. INT-label and INT-path: 160.5 and 216.5 bytes for each host. HULA: a probe has
    64 bytes where it ends in its pod, 128 where it ends in another. The authors' sheet takes Pingmesh's bytes as bits: their
    Mbit/s of Pingmesh are an eighth of these."""
    half, of = k // 2, tree(k)
    hula = ((half - 1) * half ** 2 * 64 + half ** 3 * (k - 1) * 128) * half * k
    pings = of["tors"] * half * (half - 1) + of["tors"] * (of["tors"] - 1)
    return {"INT-label": round(160.5 * of["hosts"]), "INT-path": round(216.5 * of["hosts"]), "HULA": hula,
            "Pingmesh": 64 * pings}


# ---- PINT ----


PINT_BITS = 16        # that a packet carries
PINT_BASELINE = 0.5   # of packets; the others have an XOR
PINT_TYPICAL = 10     # hops: PINT's authors take part in an XOR with a chance of 1 / 10 in their code
PINT_TRIALS = 200


def pint_hops(hops, rng):
    """The hops whose values a packet carries: by reservoir sampling one, each as likely as the others; or the XOR of each
    hop by chance. Each switch and the receiver know this from the packet's hash."""
    if rng.random() < PINT_BASELINE:
        return {rng.randrange(hops)}
    return {hop for hop in range(hops) if rng.random() < 1 / PINT_TYPICAL}


def pint_packets_of_a_path(hops, rng, pieces):
    """The packets until each piece of the value of each hop is known. A packet's hash chooses the piece. What is known is
    taken out of the XORs that came before, too."""
    missing = [set(range(hops)) for _ in range(pieces)]
    xors = [[] for _ in range(pieces)]
    packets = 0
    while any(missing):
        packets += 1
        piece = rng.randrange(pieces)
        xors[piece].append(pint_hops(hops, rng))
        while known := next((x & missing[piece] for x in xors[piece] if len(x & missing[piece]) == 1), None):
            missing[piece] -= known
        xors[piece] = [x for x in xors[piece] if x & missing[piece]]
    return packets


def pint_packets(hops, value_bytes, seed=1):
    """The mean, and half of its 95 % confidence interval."""
    pieces = -(-value_bytes * 8 // PINT_BITS)
    rng = random.Random(f"{seed} {hops} {value_bytes}")
    of = [pint_packets_of_a_path(hops, rng, pieces) for _ in range(PINT_TRIALS)]
    mean = sum(of) / PINT_TRIALS
    error = math.sqrt(sum((n - mean) ** 2 for n in of) / (PINT_TRIALS - 1) / PINT_TRIALS)
    return [round(mean, 2), round(1.96 * error, 2)]
