# SPDX-License-Identifier: BSD-3-Clause
"""Section 4 of paper 001 beside the figures of its page: what it says of each run, and by how much the run differs."""

import math

import label_expected as expected
import label_tree as tree
from label_runs import INTERVALS, NEAR, RATES, RATIOS
from label_section_4 import LEVEL_95, TREES
from paper_page import table

BASE = {"a": "Base A", "b": "Base B"}
SHARES = ("coverage", "bandwidth", "next_in_time")
NAMES = {"coverage": "coverage, %", "bandwidth": "bandwidth, %", "labels": "labels", "labelled_packets": "labelled packets",
         "next_in_time": "P_t, %"}
COVERED = [("a", "coverage", "4.1"), ("a", "next_in_time", "4.2")]
LABELS = [("a", "labels", "4.1"), ("a", "labelled_packets", "4.3"), ("b", "labels", "4.3"), ("b", "labelled_packets", "4.3")]
BYTES = [("a", "bandwidth", "4.3"), ("b", "bandwidth", "4.3")]


def said(name, key):
    value = expected.of_point(name)[key]
    return f"{100 * value:.2f}" if key in SHARES else f"{value:.0f}"


def signed(value, digits):
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")


def difference(have, theory, points=False):
    """In points of a percentage, or in % of the theory."""
    return signed(100 * (have - theory), 2) if points else signed(100 * (have / theory - 1), 1) + " %"


def cells(runs, name, key):
    if key == "next_in_time":
        return [said(name, key)]
    return [said(name, key), difference(runs[name][key][0], expected.of_point(name)[key], key == "coverage")]


def beside(runs, figure, values, head, columns):
    """Theory and difference of each value of a figure. columns: algorithm, key, section."""
    titles = [head]
    for x, key, section in columns:
        titles.append(f"{NAMES[key]}, {BASE[x]}, by {section}")
        titles += [] if key == "next_in_time" else ["difference"]
    return table(titles, *([value, *(cell for x, key, _ in columns for cell in cells(runs, f"{figure}-{x}-{value}", key))]
                           for value in values))


def by_labels(runs, figure, published=None):
    """Packets with one to five labels, and what 4.3 says of them."""
    head = ["labels", *(f"{BASE[x]}{more}" for x in "ab" for more in ("", ", by 4.3"))]
    rows = []
    for n in range(1, 6):
        row = [n]
        for x in "ab":
            mean, half = runs[f"{figure}-{x}-50"]["per_packet"][n]
            theirs = f" ({published[x][n - 1]})" if published else ""
            row += [f"{mean:.0f} ± {half:.0f}{theirs}", f"{expected.of_point(f'{figure}-{x}-50')['per_packet'][n]:.0f}"]
        rows.append(row)
    return table(head, *rows)


def ranges(runs, figures, algorithm, key):
    """The least and the greatest difference of these figures, in %."""
    of = [runs[name][key][0] / expected.of_point(name)[key] - 1
          for figure, values in figures for value in values for name in [f"{figure}-{algorithm}-{value}"]]
    return f"{signed(100 * min(of), 1)} to {signed(100 * max(of), 1)} %"


def holds(runs):
    """What section 4 says of Base A holds at each point without loss: labels and bandwidth, coverage, and P_t as its lower
    bound; and how many packets of Base B have five labels."""
    made = {}
    for figure, values in ((6, RATES), (7, INTERVALS), (8, INTERVALS), (9, RATIOS), (12, NEAR)):
        for name in (f"{figure}-a-{value}" for value in values):
            run, theory = runs[name], expected.of_point(name)
            made[f"labels of {name} by 4.1"] = abs(run["labels"][0] / theory["labels"] - 1) < 0.01
            made[f"bandwidth of {name} by 4.3"] = abs(run["bandwidth"][0] / theory["bandwidth"] - 1) < 0.02
            made[f"coverage of {name} by 4.1"] = abs(run["coverage"][0] - theory["coverage"]) < 0.01
            made[f"coverage of {name} above P_t"] = theory["next_in_time"] < run["coverage"][0] + 0.0005
    for name in ("7-b-50", "8-b-50"):
        five, theory = runs[name]["per_packet"][5], expected.of_point(name)["per_packet"][5]
        made[f"five labels of {name} by 4.3"] = abs(five[0] - theory) < five[1]
    return made


# ---- figures 15 and 16 ----


def mean_labels(packets):
    """The mean labels of a packet, and the half of its 95 % confidence interval."""
    total = sum(packets)
    mean, square = (sum(n ** power * of for n, of in enumerate(packets)) / total for power in (1, 2))
    return mean, 1.96 * math.sqrt((square - mean * mean) / total)


def tree_runs(numbers, figure):
    """The runs in trees, by k or by T/Ts. Those of section 4.3 are in both figures."""
    return {**numbers["means"][figure], str(TREES[-1] if figure == "15" else tree.PER_LABEL): numbers["trees"]}


def means(numbers, figure, head):
    rows, runs = [[head, *(cell for name in BASE.values() for cell in (f"{name}, by 4.3", f"{name}, the lab"))]], tree_runs(numbers, figure)
    for key, pair in numbers["theory"][figure].items():
        rows.append([key, *(cell for theory, x in zip(pair, BASE) for cell in (
            theory, "{:.5f} ± {:.5f}".format(*mean_labels(runs[key][x]["packets"])) if key in runs else ""))])
    return table(*rows)


def means_within(numbers):
    """How many of the means have the theory in their interval, and of how many runs; and of how many the χ² test holds."""
    inside, tests = [], []
    for figure in ("15", "16"):
        for key, row in numbers["means"][figure].items():
            for theory, x in zip(numbers["theory"][figure][key], BASE):
                mean, half = mean_labels(row[x]["packets"])
                inside.append(abs(mean - theory) <= half)
                tests.append(row[x]["chi_squared"] <= LEVEL_95[row[x]["freedom"]])
    return {"means_inside": sum(inside), "means_tests": sum(tests), "means_runs": len(inside)}


def all_of(numbers):
    runs, both = numbers["runs"], [(7, INTERVALS), (8, INTERVALS)]
    made = {"six_4": beside(runs, 6, RATES, "Mbit/s of a sender", COVERED + BYTES),
            "nine_4": beside(runs, 9, RATIOS, "telemetry interval / T", COVERED),
            "twelve_4": beside(runs, 12, NEAR, "T, ms", COVERED)}
    for name, figure in (("drawn", 7), ("prototype", 8)):
        made[f"labels_{name}_4"] = beside(runs, figure, INTERVALS, "T, ms", LABELS)
        made[f"ten_{name}_4"] = beside(runs, figure, INTERVALS, "T, ms", COVERED + BYTES)
    for x in "ab":
        made.update({f"range_{key}_{x}": ranges(runs, both, x, key) for key in ("labels", "labelled_packets", "bandwidth")})
    return {**made, **means_within(numbers)}
