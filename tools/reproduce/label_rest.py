# SPDX-License-Identifier: BSD-3-Clause
"""The rest time T1, with more seeds than the other figures have: where the lines of figure 18 cross, and which T1 has both what
figure 7 and what figure 8 say of T = 100 ms.

A seed draws routes and the times of packets. The page's seeds are the first five; T1 was chosen by these, and the others tell
how far the choice holds with routes that had no part in it.
"""

from label_runs import SEEDS, mean_of, run_points

MORE_SEEDS = range(1, 21)
FEWER, MORE = 35.2, 10  # %: the paper's fewer labelled packets, and our "few" more labels
TENTHS = tuple(i / 10 for i in range(11))
RESTS_100 = (0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
CHOSEN = 0.15
ROUTES = {"drawn": {}, "prototype": {"prototype": True}}


def points():
    for routes, changes in ROUTES.items():
        for rest in TENTHS:
            yield f"18-{routes}-{rest}", {"algorithm": "b", "rest": rest, **changes}
    yield "8-a", {"algorithm": "a", "interval_ms": 100}
    for function in ("f1", "f2", "f3"):
        for rest in RESTS_100 if function == "f1" else (0,):
            yield f"8-{function}-{rest}", {"algorithm": "b", "interval_ms": 100, "rest": rest, "function": function}


def kept(_name, runs):
    return {**{key: [run[key] for run in runs] for key in ("labelled_packets", "labels")},
            "late_labels": sum(run["late_labels"] for run in runs)}


def run():
    return run_points(list(points()), MORE_SEEDS, kept)


# ---- figure 18 ----


def cross_at(of, routes, seed):
    """T1 / T where labels and labelled packets cross, each between its least and its greatest value, with straight lines
    between the points."""
    lines = [[of[f"18-{routes}-{rest}"][key][seed] for rest in TENTHS] for key in ("labels", "labelled_packets")]
    labels, packets = ([(y - min(line)) / (max(line) - min(line)) for y in line] for line in lines)
    above = [a - b for a, b in zip(labels, packets)]
    at = next(i for i in range(len(TENTHS) - 1) if above[i] > 0 >= above[i + 1])
    return TENTHS[at] + (TENTHS[at + 1] - TENTHS[at]) * above[at] / (above[at] - above[at + 1])


def crossings(of, routes):
    """Of each seed."""
    return [cross_at(of, routes, seed) for seed in range(len(MORE_SEEDS))]


# ---- figures 7 and 8 with T = 100 ms ----


def against_a(of, name):
    """By how many % each seed has fewer labelled packets and more labels than Base A with the same seed."""
    return [[100 * sign * (mine / base - 1) for mine, base in zip(of[name][key], of["8-a"][key])]
            for key, sign in (("labelled_packets", -1), ("labels", 1))]


def holds_with(fewer, more):
    """Whether each seed has both."""
    return [a >= FEWER and b <= MORE for a, b in zip(fewer, more)]


def row(of, function, rest):
    """What the page says of a function and T1: means, and what the page's seeds have at the worst; of how many of all seeds
    both hold."""
    fewer, more = against_a(of, f"8-{function}-{rest}")
    page = len(SEEDS)
    mean = ["{}{:.1f} ± {:.1f}".format(sign, *mean_of(values)) for sign, values in zip("−+", (fewer, more))]
    return [function.upper(), rest, *mean, f"{min(fewer[:page]):.1f}", f"{max(more[:page]):.1f}",
            sum(holds_with(fewer[:page], more[:page])), sum(holds_with(fewer[page:], more[page:]))]
