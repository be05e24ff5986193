# SPDX-License-Identifier: BSD-3-Clause
"""The figures of paper 001 as SVG."""

import math

import figures
import label_beside as beside
import label_expected as expected
import label_probes as probes
import label_prototype as prototype
import label_rivals as rivals
from label_runs import INTERVAL_MS, INTERVALS, LOSSES, NEAR, OVER_TIME, RATES, RATIOS, RESTS
from label_section_4 import TREES

SHOWN = 40  # intervals of figure 11
TITLES = {"a": "Base A", "b": "Base B", "pro": "Pro"}


def course(numbers, figure):
    """Coverage of the first intervals of one run, by T, and the mean that section 4.1 says."""
    lines = {}
    for t in OVER_TIME:
        values = numbers["runs"][f"{figure}-a-{t}"]["course"][0][:SHOWN]
        at = [i * INTERVAL_MS / 1000 for i in range(len(values))]
        lines[f"T = {t} ms"] = (at, values)
    for t in OVER_TIME:
        mean = expected.of_point(f"{figure}-a-{t}")["coverage"]
        lines[f"T = {t} ms{figures.THEORY}"] = ((at[0], at[-1]), (mean, mean))
    return lines


def draw_runs(numbers, path_of):
    runs = numbers["runs"]

    def series(figure, values, key, names=("a", "b"), published=(), by_theory=()):
        made = {TITLES[x]: (values, *zip(*(runs[f"{figure}-{x}-{v}"][key] for v in values))) for x in names}
        for i, x in enumerate(names if published else ()):
            made[f"{TITLES[x]}, the authors'"] = (list(published), [of[i] for of in published.values()])
        for x in by_theory:
            made[TITLES[x] + figures.THEORY] = (values, [expected.of_point(f"{figure}-{x}-{v}")[key] for v in values])
        return made

    def packets(first):
        return {t: of[first:first + 2] for t, of in prototype.PUBLISHED.items()}

    rate, t = "Mbit/s of a sender", "T, ms"
    figures.lines(path_of("001-figure-6.svg"), [
        ("coverage", rate, series(6, RATES, "coverage", by_theory="a")),
        ("bandwidth of INT-label", rate, series(6, RATES, "bandwidth", by_theory="ab"))])
    for name, figure, published in (("7", 7, ((), ())), ("7-prototype", 8, (packets(0), packets(2)))):
        figures.lines(path_of(f"001-figure-{name}.svg"), [
            (what, t, series(figure, INTERVALS, key, published=of, by_theory="ab")) for (what, key), of in zip(
                (("labelled packets", "labelled_packets"), ("labels", "labels")), published)])
    ratio = series(9, RATIOS, "coverage", published=prototype.PUBLISHED_RATIO, by_theory="a")
    ratio["P_t" + figures.THEORY] = (RATIOS, [expected.of_point(f"9-a-{v}")["next_in_time"] for v in RATIOS])
    figures.lines(path_of("001-figure-9.svg"), [("coverage", "telemetry interval / T", ratio)])
    figures.lines(path_of("001-figure-10.svg"), [
        ("coverage, prototype's routes", t, series(8, INTERVALS, "coverage", published=prototype.PUBLISHED_COVERAGE,
                                                     by_theory="a")),
        ("bandwidth of INT-label", t, series(8, INTERVALS, "bandwidth", by_theory="ab"))])
    figures.lines(path_of("001-figure-11.svg"), [
        ("coverage, section 6.1", "s", course(numbers, 7)), ("coverage, prototype's routes", "s", course(numbers, 8))])
    three = ("a", "b", "pro")
    figures.lines(path_of("001-figure-12.svg"), [
        ("coverage", t, series(12, NEAR, "coverage", three, by_theory="a")), ("coverage", "loss", series(13, LOSSES, "coverage", three))])
    figures.lines(path_of("001-figure-18.svg"), [
        (what, "T1/T", series(18, RESTS, key, ("b",))) for what, key in (
            ("labelled packets", "labelled_packets"), ("labels", "labels"))])
    draw_bars(runs, path_of)


def draw_bars(runs, path_of):
    def per_packet(figure):
        return {TITLES[x]: [list(of) for of in zip(*runs[f"{figure}-{x}-50"]["per_packet"][1:6])] for x in "ab"}

    def theory(figure):
        return {TITLES[x] + figures.THEORY: (expected.of_point(f"{figure}-{x}-50")["per_packet"][1:6], None) for x in "ab"}

    theirs = {f"{TITLES[x]}, the authors'": (of, None) for x, of in prototype.PUBLISHED_LABELS.items()}
    figures.groups(path_of("001-figure-17.svg"), [
        ("packets, section 6.1", "labels", range(1, 6), {**per_packet(7), **theory(7)}),
        ("packets, prototype's routes", "labels", range(1, 6), {**per_packet(8), **theirs, **theory(8)})])
    functions = ("f1", "f2", "f3")
    figures.groups(path_of("001-figure-19.svg"), [(
        "packets", "function", [f.upper() for f in functions],
        {name + more: of_functions(runs, functions, key, more) for more in ("", figures.THEORY)
         for name, key in (("labelled packets", "labelled_packets"), ("labels", "labels"))})])


def of_functions(runs, functions, key, by_theory):
    """Means and errors of figure 19, or what section 4.3 says, which has no F3."""
    points = [f"19-b-{f}" for f in functions]
    if by_theory:
        return [expected.of_point(name)[key] if expected.knows(name) else math.nan for name in points], None
    return [list(of) for of in zip(*(runs[name][key] for name in points))]


def draw_rivals(numbers, path_of):
    of, runs = numbers["theory"], numbers["rivals"]

    def losses(limit):
        return {name: (probes.INTERVALS, *zip(*values)) for name, values in numbers["probes"]["lost"][limit].items()
                if name != "nothing"}

    theirs = {"HULA, the authors'": (list(prototype.PUBLISHED_LOSS), list(prototype.PUBLISHED_LOSS.values()))}
    figures.lines(path_of("001-figure-14.svg"), [
        ("loss, limit of packets", "interval, ms", {**losses("packets 1.01"), **theirs}),
        ("loss, limit of bytes, 5 % more", "interval, ms", losses("bytes 1.05"))])

    def pairs(figure):
        rows = of[figure]
        return {name: ([int(key) for key in rows], [pair[i] for pair in rows.values()])
                for i, name in enumerate(("Base A" + figures.THEORY, "Base B" + figures.THEORY))}

    def lab(figure):
        of_figure = sorted(beside.tree_runs(numbers, figure).items(), key=lambda item: int(item[0]))
        return {f"{TITLES[x]}, the lab": ([int(key) for key, _ in of_figure],
                                          *zip(*(beside.mean_labels(row[x]["packets"]) for _, row in of_figure))) for x in "ab"}

    figures.lines(path_of("001-figure-15.svg"), [
        ("labels of a packet, Ts/T = 1/100", "k", {**lab("15"), **pairs("15")}),
        ("labels of a packet, k = 20", "T/Ts", {**lab("16"), **pairs("16")})], log=True)

    def by_k(rows, names):
        return {name: (TREES, [rows[str(k)][name] for k in TREES]) for name in names}

    figures.lines(path_of("001-figure-20.svg"), [
        ("generators", "k", by_k(of["20"], rivals.NAMES[1:])), ("bytes of a round", "k", by_k(runs["21"], rivals.NAMES))], log=True)

    hops, pint = [int(key) for key in of["22"]], list(zip(*of["22"].values()))
    items, sampled = ([row[name] for row in runs["22"].values()] for name in ("INT-label", "INT"))

    def of_pint(bits, which):
        return hops, [bits * mean for mean, _ in pint[which]], [bits * half for _, half in pint[which]]

    one = [1] * len(hops)
    figures.lines(path_of("001-figure-22.svg"), [
        ("packets", "hops", {"INT-label": (hops, one), "INT": (hops, one), "PINT, 32 bytes": of_pint(1, 0),
                             "PINT, 2 bytes": of_pint(1, 1)}),
        ("bits", "hops", {"INT-label": (hops, items), "INT": (hops, sampled), "INT's probe": (hops, [8 * rivals.HEADERS + n for n in items]),
                          "PINT, 32 bytes": of_pint(rivals.PINT_BITS, 0),
                          "PINT, 2 bytes": of_pint(rivals.PINT_BITS, 1)})], log=True)


def draw(numbers, path_of):
    draw_runs(numbers, path_of)
    draw_rivals(numbers, path_of)
