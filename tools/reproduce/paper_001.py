# SPDX-License-Identifier: BSD-3-Clause
"""Paper 001, INT-label: figures 6 to 22, by the lab's runs and by the theory of section 4.

docs/results/001.json keeps the numbers. The document and the figures are made only from them.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import label_beside as beside  # noqa: E402
import label_page as page  # noqa: E402
import label_probes as probes  # noqa: E402
import label_prototype as prototype  # noqa: E402
import label_rest as rest_time  # noqa: E402
import label_rival_runs as rival_runs  # noqa: E402
import label_rivals as rivals  # noqa: E402
import label_runs as lab  # noqa: E402
import label_section_4 as section_4  # noqa: E402
import label_theory as theory  # noqa: E402
from paper_page import RESULTS, keep, read_kept, tell  # noqa: E402



# ---- figure 14 ----


def run_probes():
    """Losses by the limit and by what runs beside the servers' packets: for each interval of figure 14 the seeds' mean."""
    with tempfile.TemporaryDirectory(prefix="hs-001-") as folder:
        made = [probes.measure(lambda one: lab.result_of(one, folder),
                               lambda algorithm, ms, seed=seed: lab.scenario(
                                   "14", seed, algorithm=algorithm, interval_ms=ms, prototype=True),
                               prototype.own_ms())
                for seed in lab.SEEDS]
    lost = {limit: {name: [lab.mean_of(list(values)) for values in zip(*(of[limit][name] for of, _ in made))]
                    for name in made[0][0][limit]} for limit in made[0][0]}
    return {"lost": lost, **{key: sum(labels[key] for _, labels in made) for key in made[0][1]}}


# ---- what needs no packets ----


def euler(k):
    """The paths of INT-path, by the planner of probes (lib/gpint)."""
    done = subprocess.run([os.path.join(lab.BUILD, "apps", "hopsight-lab"), "plan", "--json", "--mtu", "9216",
                           json.dumps({"kind": "fat_tree", "k": k})], capture_output=True, check=True)
    plan = json.loads(done.stdout)["euler"]
    paths = [probe["switches"] for probe in plan["probes"]]
    if not sum(len(path) - 1 for path in paths) == plan["links_covered"] == rivals.tree(k)["links"]:
        raise RuntimeError(f"k = {k}: the paths do not cross each link once")
    return paths


def of_theory(paths):
    return {
        "15": {k: [round(theory.expectation(k, 0.01, f), 5) for f in (theory.base_a, theory.base_b)]
               for k in section_4.TREES},
        "16": {n: [round(theory.expectation(20, 1 / n, f), 5) for f in (theory.base_a, theory.base_b)]
               for n in section_4.PER_LABELS},
        "20": {k: rivals.generators(k, of) for k, of in paths.items()},
        "21": {k: rivals.round_bytes(k, of) for k, of in paths.items()},
        "22": {hops: [rivals.pint_packets(hops, size) for size in (rivals.ITEM, 2)] for hops in range(1, 11)},
    }


# ---- what the numbers must show ----


def needs_of_runs(runs):
    a_packets, b_packets = ([n for n, _ in runs[f"7-{x}-50"]["per_packet"][1:]] for x in "ab")
    fewer, more = (value for value, _ in page.fewer_and_more(runs, "8-b-100"))
    must = {
        "coverage at T = 50 ms": all(runs[f"7-{x}-50"]["coverage"][0] >= 0.999 for x in "ab"),
        "coverage at a ratio of 1.6": all(runs[f"9-{x}-1.6"]["coverage"][0] > 0.98 for x in "ab"),
        "every interval at T = 20 ms": runs["7-a-20"]["least"] == 1,
        "Base B labels 35.2 % fewer packets at T = 100 ms":
            runs["7-b-100"]["labelled_packets"][0] <= 0.648 * runs["7-a-100"]["labelled_packets"][0],
        "Pro near the interval": all(runs[f"12-pro-{t}"]["coverage"][0] >= 0.99 for t in lab.NEAR),
        "Pro at 60 % loss": all(runs[f"13-{pro}-0.6"]["coverage"][0] >= 0.92 for pro in ("pro", "k0.8", "k0.6", "k0.4", "k0.2")),
        "k = 2 adds no labels without loss": runs["13-k2-0"]["labels"][0] < 1.01 * runs["13-b-0"]["labels"][0],
        "F1 before F2 before F3": runs["19-b-f1"]["labelled_packets"][0]
            < runs["19-b-f2"]["labelled_packets"][0] < runs["19-b-f3"]["labelled_packets"][0],
        "Base A falls with the labels of a packet": a_packets == sorted(a_packets, reverse=True),
        "Base B has a second mode at 5": b_packets[0] > b_packets[4] > max(b_packets[1:4]),
        "labelled packets and labels of the prototype": all(
            abs(runs[f"8-{x}-{t}"][key][0] / prototype.PUBLISHED[t][i] - 1) < (0.1 if t < 50 else 0.05)
            for t in prototype.PUBLISHED for i, (key, x) in enumerate(itertools.product(lab.KEPT[1:3], "ab"))),
        "the prototype's fewer packets and more labels": abs(fewer - 35.2) < 1 and abs(more - 22.7) < 1,
    }
    must.update({f"Pro above {x.upper()} at {figure} of {value}":
                 runs[f"{figure}-pro-{value}"]["coverage"][0] > runs[f"{figure}-{x}-{value}"]["coverage"][0]
                     or runs[f"{figure}-pro-{value}"]["least"] == runs[f"{figure}-{x}-{value}"]["least"] == 1
                 for figure, values in ((12, lab.NEAR), (13, lab.LOSSES)) for value in values for x in "ab"})
    return must


def needs_of_rest(of):
    both = rest_time.holds_with(*rest_time.against_a(of, f"8-f1-{rest_time.CHOSEN}"))
    return {"fewer labelled packets and few more labels with a rest time, with each seed of the page": all(both[:len(lab.SEEDS)]),
            **{f"figure 18 crosses near T1 = T/2, {routes}": 0.4 < statistics.fmean(rest_time.crossings(of, routes)) < 0.6
               for routes in rest_time.ROUTES}}


def needs_of_probes(lost):
    fitted = [mean for mean, _ in lost["packets 1.01"]["HULA, fitted"]]
    bases = ("nothing", "Base A", "Base B")
    return {
        "no packet is lost for labels": all(
            value == [0, 0] for limit in ("packets 1.01", "bytes 1.05") for name in bases for value in lost[limit][name]),
        "the bytes of labels count": all(lost["bytes 1.01"][name][0][0] > 0 for name in bases[1:]),
        "nothing is lost without labels and probes": all(of["nothing"] == [[0, 0]] for of in lost.values()),
        "HULA loses 12 % at 10 ms and 5 % at 100 ms": fitted[0] >= 0.12 and fitted[-1] >= 0.05
            and fitted == sorted(fitted, reverse=True) and 2 < fitted[0] / fitted[-1] < 3,
        "HULA loses more than INT-label": all(
            theirs[0] > ours[0] for of in lost.values() for hula in ("HULA", "HULA, fitted") for name in bases[1:]
            for theirs, ours in zip(of[hula], of[name])),
    }


def in_order(rows):
    return all(row["HULA"] > row["Pingmesh"] > row["INT-path"] > row["INT-label"] for row in rows)


def needs_of_rivals(runs, of):
    """The links of the runs have the bytes that the models count."""
    bits = {hops: 8 * (rivals.OPTION + rivals.ITEM * int(hops)) for hops in runs["22"]}
    return {
        **{f"{name} as counted": all(row[name] == of["21"][k][name] for k, row in runs["21"].items()) for name in rivals.NAMES[1:]},
        "INT-label nearly as counted": all(abs(row["INT-label"] / of["21"][k]["INT-label"] - 1) < 0.03 for k, row in runs["21"].items()),
        "HULA, Pingmesh, INT-path and INT-label in this order on the links": in_order(runs["21"].values()),
        "INT-path takes 35 % more on the links, also with two labels in an interval": all(
            row["INT-path"] >= 1.35 * 2 * row["INT-label"] for row in runs["21"].values()),
        "INT-label's path as counted": all(row["INT-label"] == bits[hops] for hops, row in runs["22"].items()),
        "INT 2.1 takes more bits": all(row["INT"] > bits[hops] for hops, row in runs["22"].items()),
    }


def needs_of_theory(of):
    return {
        "HULA, Pingmesh, INT-path and INT-label in this order": in_order(of["21"].values()),
        "the same order as the authors count": in_order(rivals.published_bytes(k) for k in section_4.TREES),
        "Pingmesh grows faster than INT-path": of["21"]["20"]["Pingmesh"] / of["21"]["20"]["INT-path"]
            > of["21"]["4"]["Pingmesh"] / of["21"]["4"]["INT-path"],
        "INT-path takes 35 % more, also with two labels in an interval": all(
            row["INT-path"] >= 1.35 * 2 * row["INT-label"] for row in of["21"].values()),
        "more packets and bits for PINT": all(
            whole[0] > 1 and rivals.PINT_BITS * whole[0] > 8 * (rivals.OPTION + rivals.ITEM * int(hops)) and short[0] > 1
            for hops, (whole, short) in of["22"].items()),
    }


def wrong_in(numbers):
    """Yields what does not show what it must."""
    must = {
        "no label is late": page.late_labels(numbers) == 0,
        "means of labels in other trees": beside.means_within(numbers)["means_inside"] >= 12,  # of 14 with 95 %
        "section 4.2": abs(numbers["delayed"]["theory"] - 0.99) <= numbers["delayed"]["error"],
        **needs_of_runs(numbers["runs"]), **beside.holds(numbers["runs"]), **needs_of_rest(numbers["rest"]),
        **needs_of_probes(numbers["probes"]["lost"]), **needs_of_rivals(numbers["rivals"], numbers["theory"]),
        **needs_of_theory(numbers["theory"]),
        **{f"section 4.3 of Base {x.upper()}, {part}": one["chi_squared"] <= section_4.LEVEL_95[one["freedom"]]
           for part in ("chains", "trees") for x, one in numbers[part].items()}}
    yield from (what for what, holds in must.items() if not holds)


# ---- the files ----


def draw(numbers, folder):
    import label_draw  # pylint: disable=import-outside-toplevel
    label_draw.draw(numbers, lambda name: os.path.join(folder, name))


def write(_live):
    paths = {k: euler(k) for k in section_4.TREES}
    made = {"runs": lab.run_points(list(lab.points())), "rest": rest_time.run(), "delayed": section_4.run_delayed(),
            "chains": section_4.run_chains(), "trees": section_4.run_trees(), "means": section_4.run_means(),
            "probes": run_probes(),
            "rivals": rival_runs.measure(paths), "theory": of_theory(paths)}
    numbers = json.loads(json.dumps(made))  # with the keys that a file has
    for wrong in wrong_in(numbers):
        print(f"001: {wrong}", file=sys.stderr)
    keep("001", numbers, page.document)
    draw(numbers, RESULTS)
    return 1 if any(wrong_in(numbers)) else 0


def check():
    """A fresh run of one point shows what is committed."""
    numbers, stale = read_kept("001", page.document)
    again = [point for point in lab.points() if point[0] in ("7-a-100", "7-b-100")]
    fresh = json.loads(json.dumps(lab.run_points(again)))
    paths = {k: euler(k) for k in section_4.TREES}
    competitors = json.loads(json.dumps(rival_runs.measure({4: paths[4]}, [3])))
    return tell("001", {
        "001.md is made of 001.json": stale,
        "labels at T = 100 ms are what the lab shows":
            "" if all(numbers["runs"][name] == run for name, run in fresh.items()) else str(fresh),
        "labels of a small fat tree are distributed as section 4.3 says": "; ".join(
            str(small) for small in [section_4.run_tree(4, True, 5)]
            if small["chi_squared"] > section_4.LEVEL_95[small["freedom"]] or small["late_labels"]),
        "theory is what the models say":
            "" if json.loads(json.dumps(of_theory(paths))) == numbers["theory"] else "other numbers",
        "competitors load the links as the lab shows, k = 4 and 3 hops":
            "" if all(numbers["rivals"][figure][key] == of for figure, rows in competitors.items() for key, of in rows.items())
            else str(competitors),
        "the numbers show what they must": "; ".join(wrong_in(numbers)),
    })
