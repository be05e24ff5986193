# SPDX-License-Identifier: BSD-3-Clause
"""INT-label's theory (paper 001, section 4), as plain arithmetic."""

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


def along(ratios, f):
    """The distribution of labels behind each switch of a path. ratios: T_s / T of each port. f of the items that a packet has;
    what is due by the interval is labelled where chance did not: g(x) = ratio * (1 - x)."""
    have = [1.0]
    for ratio in ratios:
        due = [f(i) + ratio * (1 - f(i)) for i in range(len(have))]
        have = [sum(pair) for pair in zip([*(p * (1 - d) for p, d in zip(have, due)), 0.0],
                                          [0.0, *(p * d for p, d in zip(have, due))])]
        yield have


def after(n, ratio, f):
    """Behind n switches with one T_s / T."""
    return list(along([ratio] * n, f))[-1]


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
