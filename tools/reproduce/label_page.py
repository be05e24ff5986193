# SPDX-License-Identifier: BSD-3-Clause
"""Makes the page of paper 001 from its numbers."""

import label_probes as probes
import label_prototype as prototype
import label_rivals as rivals
import label_tree as tree
from label_runs import INTERVALS, LOSSES, NEAR, PATIENCE_S, RATES, RATIOS, RESTS, RESTS_100, SEEDS
from label_section_4 import CHAIN, CHAIN_OWN_PPS, CHAIN_PPS, CHAIN_S, DELAY, LEVEL_95, TREE_CPU_S, TREE_SEEDS, TREES
from label_text import TEXT


# ---- cells ----


def table(*rows):
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def percent(value):
    return f"{100 * value[0]:.2f} ± {100 * value[1]:.2f}"


def count(value):
    return f"{value[0]:.0f} ± {value[1]:.0f}"


def both(runs, figure, values, cells, head):
    """A table with Base A and Base B for each value."""
    rows = [[head, *(f"{what}, {name}" for name in ("Base A", "Base B") for what, _ in cells)]]
    for value in values:
        rows.append([value, *(write(runs[f"{figure}-{algorithm}-{value}"])
                              for algorithm in "ab" for _, write in cells)])
    return table(*rows)


def coverage(run):
    return percent(run["coverage"])


# ---- the document ----


def chain_table(chains):
    rows = [["", "0", "1", "2", "3", "4", "5", "χ²", "degrees", "χ² at 5 %"]]
    for algorithm, of in chains.items():
        name = f"Base {algorithm.upper()}"
        rows.append([name, *[*of["packets"], *[0] * 6][:6], of["chi_squared"], of["freedom"],
                     LEVEL_95[of["freedom"]]])
        rows.append([f"{name}, expected", *of["expected"], "", "", ""])
    return table(*rows)


def beside(ours, theirs):
    return f"{ours[0]:.0f} ± {ours[1]:.0f} ({theirs})"


def fewer_and_more(runs, name):
    """By how many % this run has fewer labelled packets and more labels than Base A with T = 100 ms."""
    base = runs["8-a-100" if name.startswith("8-b") else "7-a-100"]
    return [100 * (1 - runs[name]["labelled_packets"][0] / base["labelled_packets"][0]),
            100 * (runs[name]["labels"][0] / base["labels"][0] - 1)]


def of_prototype(runs):
    """The parts of the page that compare with the authors' numbers."""
    rows = [["T, ms", "labelled packets, Base A", "labelled packets, Base B", "labels, Base A", "labels, Base B"]]
    for t, theirs in prototype.PUBLISHED.items():
        of = [runs[f"8-{x}-{t}"] for x in "ab"]
        rows.append([t, *(beside(one[key], n) for (key, one), n in zip(
            ((key, one) for key in ("labelled_packets", "labels") for one in of), theirs))])
    have = {x: runs[f"8-{x}-50"]["per_packet"] for x in "ab"}
    labels = [[n, *(f"{have[x][n]:.0f} ({prototype.PUBLISHED_LABELS[x][n - 1]})" for x in "ab")] for n in range(1, 6)]
    rests = [["T1/T", "labelled packets, %", "labels, %"],
             *([rest, *(f"{sign}{value:.1f}" for sign, value in zip("−+", fewer_and_more(runs, f"8-rest-{rest}")))]
               for rest in RESTS_100)]
    fewer, more = fewer_and_more(runs, "8-b-100")
    return {"few": fewer_and_more(runs, "8-rest-0.3"), "eight": table(*rows), "eight_labels": "".join(f"| {' | '.join(map(str, row))} |\n" for row in labels),
            "eight_rest": table(*rests), "p_fewer": fewer, "p_more": more,
            **{f"p_cover_{x}": 100 * runs[f"8-{x}-50"]["coverage"][0] for x in "ab"}}


def three(runs, figure, values, head):
    rows = [[head, "Base A, %", "Base B, %", "Pro, %", "labels, Base B", "labels, Pro"]]
    for value in values:
        of = {algorithm: runs[f"{figure}-{algorithm}-{value}"] for algorithm in ("a", "b", "pro")}
        rows.append([value, *(coverage(run) for run in of.values()), count(of["b"]["labels"]),
                     count(of["pro"]["labels"])])
    return table(*rows)


def by_function(runs, names):
    rows = [["", "labelled packets", "labels", "labels a packet"]]
    for name, key in names:
        run = runs[key]
        rows.append([name, count(run["labelled_packets"]), count(run["labels"]),
                     f"{run['labels'][0] / run['labelled_packets'][0]:.2f}"])
    return table(*rows)


def per_packet(runs):
    rows = [["labels", "Base A", "Base B"]]
    columns = [runs[f"7-{algorithm}-50"]["per_packet"] for algorithm in "ab"]
    return table(*rows, *([n, *(column[n] for column in columns)] for n in range(1, 6)))


def crossing(runs):
    """T1 / T where labels and labelled packets cross in figure 18, each between its least and its greatest
    value, with straight lines between the points."""
    lines = [[runs[f"18-b-{rest}"][key][0] for rest in RESTS] for key in ("labels", "labelled_packets")]
    labels, packets = ([(y - min(line)) / (max(line) - min(line)) for y in line] for line in lines)
    above = [a - b for a, b in zip(labels, packets)]
    at = next(i for i in range(len(RESTS) - 1) if above[i] > 0 >= above[i + 1])
    return RESTS[at] + (RESTS[at + 1] - RESTS[at]) * above[at] / (above[at] - above[at + 1])


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


def one_path(hops, pint):
    """Figure 22: packets and bits by hops."""
    items = 8 * (rivals.OPTION + rivals.ITEM * hops)
    cells = [hops, 1, items, 1, 8 * rivals.HEADERS + items]
    for mean, half in pint:
        cells += [f"{mean:.1f} ± {half:.1f}", f"{rivals.PINT_BITS * mean:.0f} ± {rivals.PINT_BITS * half:.0f}"]
    return cells


def of_rivals(numbers):
    of, lost = numbers["theory"], numbers["probes"]["lost"]
    limits = {kind: {limit: value for limit, value in lost.items() if limit.startswith(kind)} for kind in probes.LIMITS}
    pairs = {figure: [[key, *pair] for key, pair in of[figure].items()] for figure in ("15", "16")}
    return {
        "queue": probes.QUEUE, "own_ms": prototype.own_ms(), "fourteen": losses(limits["packets"], True),
        "fourteen_bytes": losses(limits["bytes"], False),
        "fifteen": table(["k", "Base A", "Base B"], *pairs["15"]),
        "sixteen": table(["T / Ts", "Base A", "Base B"], *pairs["16"]),
        "twenty": generators_table(of["20"]), "twentyone": bytes_table(of["21"]),
        "twentyone_authors": bytes_table({k: rivals.published_bytes(int(k)) for k in of["21"]}),
        "path_least": min(row["INT-path"] / row["INT-label"] for row in of["21"].values()),
        "pint_trials": rivals.PINT_TRIALS,
        "twentytwo": table(["hops", "packets, INT-label", "bits", "packets, INT", "bits", "packets, PINT, 32 bytes", "bits",
                            "packets, PINT, 2 bytes", "bits"],
                           *(one_path(int(hops), pint) for hops, pint in of["22"].items()))}


def document(numbers):
    runs, chains = numbers["runs"], numbers["chains"]
    a, b = runs["7-a-100"], runs["7-b-100"]
    cells = [("coverage, %", coverage), ("bandwidth, %", lambda run: percent(run["bandwidth"]))]
    counts = [("labelled packets", lambda run: count(run["labelled_packets"])),
              ("labels", lambda run: count(run["labels"])), ("coverage, %", coverage)]
    trees = numbers["trees"]
    return TEXT.format(
        labels=round(sum(run["labels"][0] for run in runs.values()) * len(SEEDS)) + numbers["probes"]["labels"],
        late=late_labels(numbers), own=CHAIN_OWN_PPS * CHAIN_S,
        cross=(CHAIN - 1) * (CHAIN_PPS - CHAIN_OWN_PPS) * CHAIN_S, chain=chain_table(chains),
        tree=chain_table(trees), tree_all=trees["a"]["all_packets"], tree_own=sum(trees["a"]["packets"]),
        tree_ports=len(tree.arcs(TREES[-1])) + len(tree.hosts(TREES[-1])), tree_s=tree.BEGIN_S + tree.SECONDS,
        tree_cpu=TREE_CPU_S, tree_seeds=len(TREE_SEEDS), **of_prototype(runs),
        sigma=DELAY["sigma_ms"], t=DELAY["interval_ms"], updates=numbers["delayed"]["updates"],
        ti=numbers["delayed"]["interval_ms"], said=100 * numbers["delayed"]["theory"],
        error=100 * numbers["delayed"]["error"],
        six=both(runs, 6, RATES, cells, "Mbit/s of a sender"),
        fewer=100 * (1 - b["labelled_packets"][0] / a["labelled_packets"][0]),
        more=100 * (b["labels"][0] / a["labels"][0] - 1),
        seven=both(runs, 7, INTERVALS, counts, "T, ms"),
        nine=both(runs, 9, RATIOS, [("coverage, %", coverage)], "telemetry interval / T"),
        **{f"least_{t}": 100 * runs[f"7-a-{t}"]["least"] for t in (20, 50, 80)},
        crossing=crossing(runs), patience=1000 * PATIENCE_S, twelve=three(runs, 12, NEAR, "T, ms"),
        thirteen=three(runs, 13, LOSSES, "loss"), seventeen=per_packet(runs),
        eighteen=by_function(runs, [(f"T1/T = {rest}", f"18-b-{rest}") for rest in RESTS]),
        nineteen=by_function(runs, [(name.upper(), f"19-b-{name}") for name in ("f1", "f2", "f3")]),
        **of_rivals(numbers))


def late_labels(numbers):
    return round(sum(run["late_labels"][0] for run in numbers["runs"].values()) +
                 sum(of["late_labels"] for part in ("chains", "trees") for of in numbers[part].values()) +
                 numbers["delayed"]["late_labels"] + numbers["probes"]["late_labels"])
