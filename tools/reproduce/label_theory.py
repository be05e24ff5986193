# SPDX-License-Identifier: BSD-3-Clause
"""INT-label's theory (paper 001, section 4), and what its competitors cost, as plain arithmetic."""

import math

MAX_HOP = 5


# ---- section 4.2: what delay costs ----


def probability_in_interval(labelling, first, interval, sigma):
    """P_t = 1 - Phi((T + T_p - T_i) / (sqrt(2) sigma)). All in the same unit of time."""
    x = (labelling + first - interval) / (math.sqrt(2) * sigma)
    return 1 - 0.5 * (1 + math.erf(x / math.sqrt(2)))


# ---- section 4.3: labels of a packet ----


def hops_of(k):
    """P(H = 1), P(H = 3) and P(H = 5) in a fat tree: the switches between two hosts."""
    half, others = k // 2, k ** 3 // 4 - 1
    counts = {1: half - 1, 3: (half - 1) * half, 5: (k - 1) * half ** 2}
    return {hops: n / others for hops, n in counts.items()}


def after(n, ratio, f):
    """The distribution of labels behind n switches. ratio is T_s / T. f of the items that a packet has;
    what is due by the interval is labelled where chance did not: g(x) = ratio * (1 - x)."""
    have = [1.0] + [0.0] * n
    for _ in range(n):
        due = [f(i) + ratio * (1 - f(i)) for i in range(n + 1)]
        have = [have[i] * (1 - due[i]) + (have[i - 1] * due[i - 1] if i else 0) for i in range(n + 1)]
    return have


def base_a(_items):
    return 0.0


def base_b(items):
    return items / MAX_HOP


def distribution(k, ratio, f):
    """P(Z = 0) to P(Z = 5) of a packet between two hosts of a fat tree."""
    sums = [0.0] * (MAX_HOP + 1)
    for hops, share in hops_of(k).items():
        for items, p in enumerate(after(hops, ratio, f)):
            sums[items] += share * p
    return sums


def expectation(k, ratio, f):
    return sum(i * p for i, p in enumerate(distribution(k, ratio, f)))


# ---- figures 20 and 21: probes ----


def tree(k):
    """Switches, links between switches, ToR switches and hosts."""
    return {"switches": 5 * k * k // 4, "links": k ** 3 // 2, "tors": k * k // 2, "hosts": k ** 3 // 4}


def generators(k):
    """INT-path begins a path at each second switch with an odd number of links to switches, and ends it
    at another: both are generators. Without such switches, one path goes round."""
    of = tree(k)
    odd = of["tors"] if k // 2 % 2 else 0
    return {"INT-label": 0, "INT-path": odd or 1, "HULA": of["tors"],
            "Pingmesh": of["hosts"] + of["tors"]}


ITEM, OPTION = 32, 2
HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP
ROUTE = 2              # an entry of a source route


MTU_HOPS = 45          # items that an MTU of 1,500 bytes has room for, beside the route


def int_path_bytes(lengths):
    """Bytes on links of one round of INT-path, whose paths cross so many links each: together each link once, whatever
    the direction. A path that is longer than the MTU allows is several. A probe grows by an item at each link, and its
    source route shrinks."""
    parts = []
    for links in lengths:
        n = -(-links // MTU_HOPS)
        parts += [links * (i + 1) // n - links * i // n for i in range(n)]
    return sum(n * HEADERS + ITEM * n * (n + 1) // 2 + ROUTE * n * (n - 1) // 2 for n in parts)


def hula_bytes(k):
    """A round of a ToR's probes goes to the pod's aggregation switches, from these to the other ToRs of the pod
    and to the core, from each core switch to the other pods, and there from each aggregation switch to each
    ToR, once for each of its core switches. A probe has the item of each port that it left by, or it could
    not tell of each port, as the other methods do: HULA alone keeps one number, the greatest utilisation."""
    half = k // 2
    crossed = {1: half, 2: half * (half - 1) + half * half, 3: half * half * (k - 1), 4: (k - 1) * half ** 3}
    return tree(k)["tors"] * sum(links * (HEADERS + ITEM * items) for items, links in crossed.items())


def pingmesh_bytes(k):
    """Each server pings one server at each ToR; a ping and its reply cross two links for each switch that
    lies between."""
    half, of = k // 2, tree(k)
    links_of = {1: 0, 3: 2, 5: 4}
    tors_at = {1: 1, 3: half - 1, 5: of["tors"] - half}
    crossed = sum(links_of[hops] * tors_at[hops] for hops in links_of)
    return of["hosts"] * 2 * crossed * HEADERS


def int_label_bytes(k, labels_of_a_packet=1.0):
    """Each direction of each link is labelled once. An item is carried to the end of the path: on three,
    two, one or no further link of a path between pods. labels_of_a_packet shares the option."""
    arcs = 2 * tree(k)["links"]
    carried = 1 + sum(range(4)) / 4  # on the link itself, and beyond
    return arcs * carried * (ITEM + OPTION / labels_of_a_packet)


# ---- figure 22: one path ----


PINT_BITS = 16  # that a packet carries


def pint_packets(hops, rng, value_bytes, trials=400):
    """The packets until each hop of a path is known, where each packet carries a piece of the value of
    one hop, both chosen at random: the coupon collector's number."""
    pieces = -(-value_bytes * 8 // PINT_BITS)
    total = 0
    for _ in range(trials):
        missing = {(hop, piece) for hop in range(hops) for piece in range(pieces)}
        while missing:
            total += 1
            missing.discard((rng.randrange(hops), rng.randrange(pieces)))
    return total / trials
