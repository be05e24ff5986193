# SPDX-License-Identifier: BSD-3-Clause
"""Makes the page of paper 001 from its numbers."""

import label_beside as beside
import label_expected as expected
import label_probes as probes
import label_prototype as prototype
import label_rest as rest_time
import label_rivals as rivals
import label_tree as tree
from label_cells import count, percent
from label_runs import (INTERVALS, K_LOSSES, KS, KS_NEAR, LOSSES, NEAR, OVER_TIME, PACKETS, PATIENCE_S, RATES, RATIOS, RESTS,
                        SEEDS, mean_of)
from label_section_4 import CHAIN, CHAIN_OWN_PPS, CHAIN_PPS, CHAIN_S, DELAY, LEVEL_95, TREE_CPU_S, TREE_SEEDS, TREES
from label_text import TEXT
from paper_page import table

FUNCTIONS = ("f1", "f2", "f3")


def coverage(run):
    return percent(run["coverage"])


def bandwidth(run):
    return percent(run["bandwidth"])


# ---- figures of runs ----


def both(runs, figure, values, cells, head):
    """A table with Base A and Base B for each value."""
    rows = [[head, *(f"{what}, {name}" for name in ("Base A", "Base B") for what, _ in cells)]]
    for value in values:
        rows.append([value, *(write(runs[f"{figure}-{algorithm}-{value}"])
                              for algorithm in "ab" for _, write in cells)])
    return table(*rows)


def covered(runs, figure, value, published, names="ab"):
    """Coverage of each algorithm, with the authors' where they have this value."""
    theirs = published.get(value, [None] * 3)
    return [percent(runs[f"{figure}-{x}-{value}"]["coverage"], of)
            for x, of in zip(("a", "b", "pro") if names == "pro" else names, theirs)]


def fewer_and_more(runs, name):
    """By how many % this run has fewer labelled packets and more labels than Base A with T = 100 ms: of the means, and the
    halves of the confidence intervals, from the seeds."""
    of, base = runs[name], runs["8-a-100" if name.startswith("8-b") else "7-a-100"]
    made = []
    for key, sign in (("labelled_packets", -1), ("labels", 1)):
        error = mean_of([a / b for a, b in zip(of["seeds"][key], base["seeds"][key])])[1]
        made.append((100 * sign * (of[key][0] / base[key][0] - 1), 100 * error))
    return made


def signed(value):
    return f"{value[0]:.1f} ± {value[1]:.1f}"


def by_labels(run):
    """The bandwidth as the authors count it: 32 bytes of each label over the packets' bytes."""
    return 100 * run["labels"][0] * rivals.ITEM / (PACKETS * probes.FRAME_BYTES)


def of_prototype(runs):
    """The parts of the page that compare with the authors' numbers."""
    rows = [["T, ms", "labelled packets, Base A", "labelled packets, Base B", "labels, Base A", "labels, Base B"]]
    for t, theirs in prototype.PUBLISHED.items():
        of = [runs[f"8-{x}-{t}"] for x in "ab"]
        rows.append([t, *(count(one[key], n) for (key, one), n in zip(
            ((key, one) for key in ("labelled_packets", "labels") for one in of), theirs))])
    ten = [[t, *covered(runs, 8, t, prototype.PUBLISHED_COVERAGE), *(bandwidth(runs[f"8-{x}-{t}"]) for x in "ab")]
           for t in INTERVALS]
    heads = [f"{what}, {name}" for what in ("coverage, %", "bandwidth, %") for name in ("Base A", "Base B")]
    fewer, more = fewer_and_more(runs, "8-b-100")
    return {"eight": table(*rows),
            "eight_labels": beside.by_labels(runs, 8, prototype.PUBLISHED_LABELS),
            "ten_prototype": table(["T, ms", *heads], *ten), "p_fewer": signed(fewer), "p_more": signed(more),
            **{f"by_labels_{x}": by_labels(runs[f"8-{x}-50"]) for x in "ab"},
            **{f"p_cover_{x}": 100 * runs[f"8-{x}-50"]["coverage"][0] for x in "ab"}}


def over_time(runs):
    """Figure 11."""
    rows = []
    for figure, routes in ((7, "section 6.1"), (8, "the prototype's")):
        for t in OVER_TIME:
            run, (least, mean) = runs[f"{figure}-a-{t}"], prototype.PUBLISHED_COURSE[t]
            theirs = [f"{100 * mean:.2f}", f"{100 * least:.0f}"] if figure == 8 else ["", ""]
            rows.append([routes, t, coverage(run), beside.said(f"{figure}-a-{t}", "coverage"), percent(run["whole"]),
                         f"{100 * run['least']:.1f}", *theirs])
    return table(["routes", "T, ms", "coverage, %", "by 4.1", "whole intervals, %", "least, %", "the authors' coverage", "least"], *rows)


def three(runs, figure, values, head, published):
    rows = [[head, "Base A, %", "Base B, %", "Pro, %", "labels, Base B", "labels, Pro"]]
    for value in values:
        rows.append([value, *covered(runs, figure, value, published, "pro"),
                     *(count(runs[f"{figure}-{x}-{value}"]["labels"]) for x in ("b", "pro"))])
    return table(*rows)


def by_k(runs):
    """Pro with T = 50 ms by k; docs/label.md has this table, too."""
    names = {"without Pro": "b", **{f"{k:g}, {50 * k:.0f} ms": f"k{k}" for k in KS}}
    head = ["k, k × T", *(cell for loss in ("no loss", "20 % lost", "60 % lost") for cell in (f"{loss}: coverage, %", "labels"))]
    return table(head, *([name, *(cell for loss in K_LOSSES for cell in (
        coverage(runs[f"13-{of}-{loss}"]), count(runs[f"13-{of}-{loss}"]["labels"])))] for name, of in names.items()))


def by_function(runs, names):
    keys = ("labelled_packets", "labels")
    rows = [["", "labelled packets", "labels", "labels a packet", "labelled packets, by 4.3", "difference", "labels, by 4.3", "difference"]]
    for name, key in names:
        of = runs[key]
        each = [labels / packets for labels, packets in zip(of["seeds"]["labels"], of["seeds"]["labelled_packets"])]
        theory = [beside.cells(runs, key, what) if expected.knows(key) else [""] * 2 for what in keys]
        rows.append([name, *(count(of[what]) for what in keys), "{:.2f} ± {:.2f}".format(*mean_of(each)), *theory[0], *theory[1]])
    return table(*rows)


def of_rest(of):
    """Figures 8 and 18 with more seeds."""
    fewer, more = rest_time.against_a(of, f"8-f1-{rest_time.CHOSEN}")
    head = ["f", "T1/T", "labelled packets, %", "labels, %", "least fewer, %", "most more, %", "both hold, of 5", "of 15 others"]
    page, others = slice(len(SEEDS)), slice(len(SEEDS), None)
    made = {"rest_chosen": rest_time.CHOSEN, "rest_least": min(fewer[page]), "rest_most": max(more[page]),
            "rest_others": sum(rest_time.holds_with(fewer[others], more[others])), "rest_others_least": min(fewer[others]),
            "rest_others_most": max(more[others]), "rest_more": rest_time.MORE,
            "eight_rest": table(head, *(rest_time.row(of, *name.split("-")[1:]) for name in of if name.startswith("8-f")))}
    cross = "{:.3f} ± {:.3f}".format
    made["cross_five"] = cross(*mean_of(rest_time.crossings(of, "drawn")[page]))
    for routes in rest_time.ROUTES:
        seeds = rest_time.crossings(of, routes)
        made[f"cross_{routes}"] = cross(*mean_of(seeds))
        made[f"seeds_{routes}"] = f"{min(seeds):.2f} to {max(seeds):.2f}"
    return made


def of_runs(runs):
    fewer, more = (signed(value) for value in fewer_and_more(runs, "7-b-100"))
    labels = [("labelled packets", lambda run: count(run["labelled_packets"])),
              ("labels", lambda run: count(run["labels"])), ("coverage, %", coverage)]
    nine = [[ratio, *covered(runs, 9, ratio, prototype.PUBLISHED_RATIO)] for ratio in RATIOS]
    lost = {loss: "{:.1f}, {:.1f} and {:.1f} %".format(*(100 * of for of in values))
            for loss, values in prototype.PUBLISHED_LOST.items()}
    return {
        "six": both(runs, 6, RATES, [("coverage, %", coverage), ("bandwidth, %", bandwidth)], "Mbit/s of a sender"),
        "fewer": fewer, "more": more, "seven": both(runs, 7, INTERVALS, labels, "T, ms"),
        "ten": both(runs, 7, INTERVALS, [("bandwidth, %", bandwidth)], "T, ms"),
        "nine": table(["telemetry interval / T", "coverage, %, Base A", "coverage, %, Base B"], *nine),
        "eleven": over_time(runs), "p_not_whole": f"{100 * (1 - runs['8-a-20']['whole'][0]):.2f}",
        "patience": 1000 * PATIENCE_S, "by_k": by_k(runs),
        **{f"k{k}_near": percent(runs[f"12-k{k}-100"]["coverage"]) for k in KS_NEAR},
        "k2_labels": 100 * (runs["13-k2-0"]["labels"][0] / runs["13-b-0"]["labels"][0] - 1),
        "k08_labels": 100 * (runs["13-k0.8-0"]["labels"][0] / runs["13-b-0"]["labels"][0] - 1),
        "twelve": three(runs, 12, NEAR, "T, ms", prototype.PUBLISHED_NEAR),
        "lost_41": lost[0.41], "lost_61": lost[0.61],
        "thirteen": three(runs, 13, LOSSES, "loss", {}),
        "seventeen": beside.by_labels(runs, 7),
        "eighteen": by_function(runs, [(f"T1/T = {rest}", f"18-b-{rest}") for rest in RESTS]),
        "nineteen": by_function(runs, [(name.upper(), f"19-b-{name}") for name in FUNCTIONS])}


# ---- section 4 ----


def chain_table(chains):
    rows = [["", "0", "1", "2", "3", "4", "5", "χ²", "degrees", "χ² at 5 %"]]
    for algorithm, of in chains.items():
        name = f"Base {algorithm.upper()}"
        rows.append([name, *[*of["packets"], *[0] * 6][:6], of["chi_squared"], of["freedom"],
                     LEVEL_95[of["freedom"]]])
        rows.append([f"{name}, expected", *of["expected"], "", "", ""])
    return table(*rows)


def of_section_4(numbers):
    trees, delayed = numbers["trees"], numbers["delayed"]
    return {
        "own": CHAIN_OWN_PPS * CHAIN_S, "cross": (CHAIN - 1) * (CHAIN_PPS - CHAIN_OWN_PPS) * CHAIN_S,
        "chain": chain_table(numbers["chains"]), "tree": chain_table(trees), "tree_all": trees["a"]["all_packets"],
        "tree_own": sum(trees["a"]["packets"]), "tree_ports": len(tree.arcs(TREES[-1])) + len(tree.hosts(TREES[-1])),
        "tree_s": tree.BEGIN * tree.interval_s() + tree.SECONDS, "tree_cpu": TREE_CPU_S, "tree_seeds": len(TREE_SEEDS),
        "sigma": DELAY["sigma_ms"], "t": DELAY["interval_ms"], "updates": delayed["updates"],
        "ti": delayed["interval_ms"], "said": 100 * delayed["theory"], "error": 100 * delayed["error"]}


# ---- competitors ----


def losses(of, theirs):
    names = [name for name in next(iter(of.values())) if name != "nothing"]
    head = ["interval, ms", *names, *(["HULA, the authors'"] if theirs else [])]
    rows = []
    for limit, lost in of.items():
        more = [] if theirs else [f"{100 * float(limit.split()[1]) - 100:.0f} % more"]
        rows += [[*more, ms, *(percent(lost[name][i]) for name in names),
                  *([f"{100 * prototype.PUBLISHED_LOSS[ms]:.1f}"] if theirs else [])]
                 for i, ms in enumerate(probes.INTERVALS)]
    return table([*([] if theirs else ["limit"]), *head], *rows)


def bytes_table(rows):
    return table(["k", *(f"bytes, {name}" for name in rivals.NAMES), "INT-path / INT-label"],
                 *([k, *(row[name] for name in rivals.NAMES), f"{row['INT-path'] / row['INT-label']:.2f}"]
                   for k, row in rows.items()))


def generators_table(rows):
    names = rivals.NAMES
    made = [["k", *(f"generators, {name}" for name in names), "INT-path, by the text", "INT-path, as the authors count"]]
    for k, row in rows.items():
        made.append([k, *(row[name] for name in names), rivals.text_generators(int(k)),
                     rivals.published_generators(int(k))["INT-path"]])
    return table(*made)


def one_path(hops, run, pint):
    """Figure 22: packets and bits by hops."""
    probe = 8 * (rivals.HEADERS + rivals.OPTION + rivals.ITEM * int(hops))
    cells = [hops, 1, f"{run['INT-label']:.0f}", 1, f"{run['INT']:.0f}", probe]
    for mean, half in pint:
        cells += [f"{mean:.1f} ± {half:.1f}", f"{rivals.PINT_BITS * mean:.0f} ± {rivals.PINT_BITS * half:.0f}"]
    return cells


def of_rivals(numbers):
    of, runs, lost = numbers["theory"], numbers["rivals"], numbers["probes"]["lost"]
    limits = {kind: {limit: value for limit, value in lost.items() if limit.startswith(kind)} for kind in probes.LIMITS}
    return {
        "queue": probes.QUEUE, "own_ms": prototype.own_ms(), "fourteen": losses(limits["packets"], True),
        "fourteen_bytes": losses(limits["bytes"], False),
        "fifteen": beside.means(numbers, "15", "k"), "sixteen": beside.means(numbers, "16", "T / Ts"),
        "twenty": generators_table(of["20"]), "twentyone": bytes_table(runs["21"]),
        "twentyone_authors": bytes_table({k: rivals.published_bytes(int(k)) for k in of["21"]}),
        "path_least": min(row["INT-path"] / row["INT-label"] for row in runs["21"].values()),
        "label_counted": "{} to {} %".format(*(beside.signed(100 * of_all(
            row["INT-label"] / of["21"][k]["INT-label"] - 1 for k, row in runs["21"].items()), 1) for of_all in (min, max))),
        "pint_trials": rivals.PINT_TRIALS, "hops": rivals.MTU_HOPS,
        "twentytwo": table(["hops", "packets, INT-label", "bits", "packets, INT 2.1", "bits", "bits of INT's probe", "packets, PINT, 32 bytes",
                            "bits", "packets, PINT, 2 bytes", "bits"],
                           *(one_path(hops, runs["22"][hops], pint) for hops, pint in of["22"].items()))}


# ---- the page ----


def late_labels(numbers):
    of_runs_of_a_seed = sum(run["late_labels"][0] for run in numbers["runs"].values())
    return (round(of_runs_of_a_seed * len(SEEDS)) +
            sum(of["late_labels"] for part in ("chains", "trees", "rest") for of in numbers[part].values()) +
            sum(of["late_labels"] for rows in numbers["means"].values() for row in rows.values() for of in row.values()) +
            numbers["delayed"]["late_labels"] + numbers["probes"]["late_labels"])


def document(numbers):
    runs = numbers["runs"]
    labels = (round(sum(run["labels"][0] for run in runs.values()) * len(SEEDS)) + numbers["probes"]["labels"] +
              sum(sum(of["labels"]) for of in numbers["rest"].values()))
    return TEXT.format(labels=labels, late=late_labels(numbers), **of_runs(runs), **of_prototype(runs), **of_rest(numbers["rest"]),
                       **beside.all_of(numbers),                       **of_section_4(numbers), **of_rivals(numbers))
