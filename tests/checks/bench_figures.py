# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what hopsight-bench makes of its measurements: ratios, limits, the baseline, JSON, the table, the card.
The results are made by hand."""

from harness import check, equal, test  # it knows where tools/ is

from bench import result, show

MACHINE = {"cpu": "a processor", "cores": 2}
CONTROL = {"packets": False}
SLOWER, OVER = "slower than the baseline", "over its limit"
SPECIAL = {
    "no_rules": {"limit": 1.25},
    "unmatched": {"limit": 1.45},
    "matched_4096": {"limit": 1.8},
    "sampled_100": {"limit": 1.02, "limit_of": "matched_4096"},
    "monitor_reports": {**CONTROL, "least_per_second": 4e6},
    "json_reports": {**CONTROL, "least_per_second": 250e3},
    "rule_change_1000000": CONTROL,
    "collect_100": {"packets": False, "collects": True, "least_per_second": 10e6},
    "collect_garbage": {"packets": False, "collects": True, "limit": 1, "limit_of": "collect_100"},
    "memif_no_rules": {"memif": True, "shared_cores": True},
}


def make_case(name):
    """A case of the table, as far as it matters here; a number of hops after its name is its traffic's."""
    hops = int(name[-1]) if name.startswith("transit_") else -1
    traffic = {"frame_bytes": 128, "frames": 4096, "flows": 4096, "hops": hops, "routes": 0, "int": False, "mixed": False}
    return result.Case(**{"name": name, "about": f"what {name} is", "packets": True, "collects": False, "memif": False,
                          "shared_cores": False, "quick": True, "limit": 0, "least_per_second": 0,
                          "limit_of": None, "traffic": traffic, **SPECIAL.get(name, {})})


def make(yardstick, **figures):
    """Rows of the named cases with these samples, after the yardstick's row if it has a sample."""
    rows = result.make_rows([make_case(name) for name in figures], yardstick is not None)
    for row in rows:
        row.samples = [yardstick] if row.mode else list(figures[row.name])
    return rows


def last_json(rows):
    return show.result_json(MACHINE, rows)["cases"][-1]


# ---- rows ----

@test()
def cases_of_the_same_frames_share_a_row_of_testpmd():
    names = ["no_rules", "matched_64", "transit_2", "transit_4"]
    rows = result.make_rows([make_case(name) for name in names], True)
    equal([row.name for row in rows],
          ["testpmd mac", "testpmd mac 2 hops", "testpmd mac 4 hops", "testpmd csum", *names])
    equal([row.yardstick for row in rows[3:]], [rows[0], rows[0], rows[0], rows[1], rows[2]])


@test()
def control_and_memif_have_no_row_of_testpmd_and_without_testpmd_nothing_has():
    rows = result.make_rows([make_case("json_reports"), make_case("memif_no_rules")], True)
    equal([(row.name, row.yardstick) for row in rows], [("json_reports", None), ("memif_no_rules", None)])
    rows = result.make_rows([make_case("no_rules"), make_case("transit_2")], False)
    equal([(row.name, row.yardstick) for row in rows], [("no_rules", None), ("transit_2", None)])


@test()
def the_name_of_a_row_of_testpmd_says_what_is_unusual_about_its_frames():
    case = make_case("no_rules")
    case.traffic.update(frame_bytes=64, frames=1024, hops=0)
    equal(result.peer_name(case, "mac"), "testpmd mac 64 B 1024 frames 0 hops")


@test()
def rows_of_huge_pages_are_compared_with_each_other_and_the_baseline_has_none_of_them():
    cases = [make_case("no_rules"), make_case("matched_4096"), make_case("sampled_100")]
    small, huge = result.make_rows(cases, True), result.make_rows(cases, True, huge=True)
    equal([row.name for row in huge], [f"{row.name}, huge pages" for row in small])
    equal([row.huge for row in small + huge], [False] * 5 + [True] * 5)
    equal([row.yardstick for row in huge], [None] + [huge[0]] * 4)
    equal(huge[4].limit_row, huge[3])
    for row in small + huge:
        row.samples = [20]
    equal(list(result.make_baseline(small + huge)["ratios"]), ["no_rules", "matched_4096", "sampled_100"])


# ---- ratios ----

@test()
def medians_are_of_all_samples():
    for samples, median in (([], 0), ([7], 7), ([1, 3], 2), ([30, 90, 40], 40), ([4, 1, 3, 2], 2.5)):
        equal(result.median(samples), median, samples)


@test()
def a_ratio_is_of_medians_or_of_least_figures():
    row = make(20, unmatched=[30, 90, 40])[-1]
    equal([row.ratio(), row.ratio_of_least(), row.limited()], [2, 1.5, 2])
    row.yardstick.samples = []
    equal([row.ratio(), row.ratio_of_least(), row.limited()], [0, 0, 0])


@test()
def without_testpmd_there_is_no_ratio_and_no_verdict():
    rows = make(None, unmatched=[30])
    equal(rows[-1].ratio(), 0)
    check("yardstick" not in show.result_json(MACHINE, rows), "yardstick")
    check(not {"ratio", "met", "limit_ratio"} & set(last_json(rows)), last_json(rows))


@test()
def a_limit_of_another_case_counts_from_that_case():
    equal(make(20, matched_4096=[40], sampled_100=[50])[-1].limited(), 1.25)
    equal(make(20, sampled_100=[50])[-1].limited(), 0, "without the other case")


# ---- JSON ----

@test()
def json_has_the_promised_members():
    rows = make(20, unmatched=[30, 50.004, 40])
    rows[-1].cycles = [75, 125, 100]
    whole = show.result_json(MACHINE, rows)
    equal(list(whole), ["machine", "yardstick", "peers", "cases"])
    equal(whole["machine"], MACHINE)
    equal(whole["yardstick"], {"name": "testpmd mac", "frame_bytes": 128, "mpps": 50.0, "rounds": 1,
                               "ns_per_packet": {"median": 20, "min": 20, "max": 20}})
    equal(whole["cases"], [{
        "name": "unmatched", "frame_bytes": 128, "ns_per_packet": {"median": 40, "min": 30, "max": 50.0},
        "cycles_per_packet": {"median": 100, "min": 75, "max": 125}, "mpps": 25, "ratio": 2,
        "yardstick": "testpmd mac", "rounds": 3, "limit_ratio": 1.45, "met": False}])
    equal(last_json(make(20, transit_2=[30]))["telemetry_hops"], 2)
    equal(last_json(make(20, memif_no_rules=[30]))["shared_cores"], True)


@test()
def control_has_a_rate_in_place_of_a_cost():
    equal(last_json(make(20, json_reports=[1500000.4])), {
        "name": "json_reports", "per_second": {"median": 1500000, "min": 1500000, "max": 1500000}, "rounds": 1,
        "least_per_second": 250000, "met": True})
    equal(last_json(make(20, monitor_reports=[3999999]))["met"], False)


@test()
def a_collector_has_a_rate_and_a_ratio():
    rows = make(20, collect_100=[8e6, 10e6, 12.5e6], collect_garbage=[12.5e6])
    equal(last_json(rows[:3]), {
        "name": "collect_100", "per_second": {"median": 10000000, "min": 8000000, "max": 12500000}, "ratio": 5,
        "yardstick": "testpmd mac", "rounds": 3, "least_per_second": 10e6, "met": True})
    equal([rows[2].ratio_of_least(), rows[3].limited()], [4, 0.8])
    text = show.card(MACHINE, rows)
    for line in ("| 0.100 | 10000000 | met |\n", "| 0.080 | 1.00 of collect_100 (0.800) | met |\n",
                 "| `testpmd mac` | dpdk-testpmd | 128 | 20.0"):
        check(line in text, f"no {line!r} in\n{text}")


@test()
def a_slower_collector_fails():
    for rate, verdict in ((10e6, ""), (8.8e6, ""), (8.6e6, SLOWER), (50e6, "")):
        equal(result.judge(make(10, collect_100=[rate])[-1], {"ratios": {"collect_100": 10.0}}), verdict, rate)
    baseline = {"ratios": {"collect_100": 10.0, "collect_garbage": 9.9}}
    equal(result.judge(make(10, collect_100=[10e6], collect_garbage=[8.6e6])[-1], baseline), SLOWER)
    equal(result.judge(make(10, collect_100=[11e6], collect_garbage=[9.2e6])[-1], baseline), OVER)


@test()
def a_case_that_failed_says_so_and_has_no_figures():
    rows = make(20, unmatched=[])
    rows[-1].error = "no packets came"
    equal(last_json(rows), {"name": "unmatched", "frame_bytes": 128, "rounds": 0, "error": "no packets came"})


@test()
def lost_reports_are_a_share_of_those_made():
    rows = make(None, sink_ring=[60])
    rows[0].reports_made, rows[0].reports_lost = 1000, 250
    equal(last_json(rows)["reports_lost_ratio"], 0.25)


# ---- the table ----

@test()
def the_table_has_a_line_for_each_row_and_no_empty_column():
    rows = make(20, unmatched=[30, 50, 40], no_rules=[21], bridge=[], json_reports=[1500000])
    rows[4].error = "no packets came"
    equal(show.table(rows), """\
case            ns   min   max   Mpps  ratio  limit          per second
testpmd mac   20.0  20.0  20.0  50.00
testpmd csum  20.0  20.0  20.0  50.00  1.000
unmatched     40.0  30.0  50.0  25.00  2.000   1.45  missed
no_rules      21.0  21.0  21.0  47.62  1.050   1.25  met
bridge
json_reports                                                    1500000
bridge failed: no packets came
""")


# ---- the card ----

@test()
def a_row_of_the_card_has_median_span_rate_ratio_and_limit():
    rows = make(20, unmatched=[30, 50, 40], no_rules=[21], matched_4096=[40], sampled_100=[42], sink_ring=[60])
    rows[-1].reports_made, rows[-1].reports_lost = 1000, 250
    text = show.card(MACHINE, rows)
    for line in ("| processor | a processor |\n| cores | 2 |\n\n| case |",
                 "| `testpmd mac` | dpdk-testpmd | 128 | 20.0 (20.0–20.0) | 50.0 | | | |\n",
                 "| `unmatched` | what unmatched is | 128 | 40.0 (30.0–50.0) | 25.0 | 2.00 | 1.45 | **missed** |\n",
                 "| 128 | 21.0 (21.0–21.0) | 47.6 | 1.05 | 1.25 | met |\n",
                 "| 2.10 | 1.02 of matched_4096 (1.050) | **missed** |\n",
                 "| what sink_ring is; 25.0 % of the reports found no place in the ring | 128 |"):
        check(line in text, f"no {line!r} in\n{text}")
    check("control" not in text, text)


@test()
def control_stands_in_a_table_of_its_own():
    text = show.card(MACHINE, make(None, rule_change_1000000=[500000], monitor_reports=[4000000],
                                   json_reports=[200000]))
    for line in ("| control |", "| 500000 (500000–500000) | 2.000 | | |\n",
                 "| 4000000 (4000000–4000000) | 0.250 | 4000000 | met |\n",
                 "| 200000 (200000–200000) | 5.000 | 250000 | **missed** |\n"):
        check(line in text, f"no {line!r} in\n{text}")


@test()
def every_row_of_a_table_of_the_card_has_as_many_columns():
    rows = make(20, unmatched=[40], bridge=[40], matched_4096=[40], sampled_100=[41], memif_no_rules=[9],
                transit_0=[], json_reports=[1], rule_change_1000000=[1], monitor_reports=[])
    for row in rows:
        row.error = "" if row.samples else "no packets came"
    text = show.card(MACHINE, rows)
    check(text.count("failed: no packets came") == 2 and "more busy threads than cores" in text, text)
    for part in text.split("\n\n"):
        equal(len({line.count("|") for line in part.splitlines()}), 1, part)


@test()
def both_kinds_of_pages_stand_in_one_row_of_the_card():
    rows = make(20, unmatched=[40], bridge=[30], memif_no_rules=[9])
    cases = [make_case("unmatched"), make_case("bridge")]
    rows += result.make_rows(cases, True, huge=True)
    for row, samples in zip(rows[-4:], ([10], [15], [30, 35, 40], []), strict=True):
        row.samples, row.error = samples, "" if samples else "no packets came"
    text = show.card(MACHINE, rows)
    for line in ("| limit | | huge pages: ns | ratio |\n",
                 "| `testpmd mac` | dpdk-testpmd | 128 | 20.0 (20.0–20.0) | 50.0 | | | | 10.0 (10.0–10.0) | |\n",
                 "| 40.0 (40.0–40.0) | 25.0 | 2.00 | 1.45 | **missed** | 35.0 (30.0–40.0) | 3.50 |\n",
                 "| 30.0 (30.0–30.0) | 33.3 | 1.50 | | | failed: no packets came | |\n",
                 "| 9.0 (9.0–9.0) | 111.1 | | | | | |\n"):
        check(line in text, f"no {line!r} in\n{text}")
    check(result.HUGE not in text, text)
    for part in text.split("\n\n"):
        equal(len({line.count("|") for line in part.splitlines()}), 1, part)


@test()
def a_card_replaces_the_one_before_and_nothing_else():
    begin, end = show.BEGIN_MARK, show.END_MARK
    for document, placed in ((f"# Head\n{begin}old\n{end}tail\n", f"# Head\n{begin}new\n{end}tail\n"),
                             ("# Head\n", f"# Head\n{begin}new\n{end}"), ("", f"{begin}new\n{end}"),
                             (f"# Head\n{begin}", f"# Head\n{begin}{begin}new\n{end}")):
        equal(show.place_card(document, "new\n"), placed)


# ---- the baseline: the yardstick of 10 ns makes a ratio a tenth of the figure ----

def judged(name, ns, was):
    return result.judge(make(10, **{name: [ns]})[-1], {"ratios": {name: was}})




@test()
def a_planted_regression_fails():
    equal([judged("bridge", ns, 2.0) for ns in (20, 22.9, 23.1, 5)], ["", "", SLOWER, ""])


@test()
def noise_that_leaves_the_least_figure_alone_is_no_regression():
    baseline = {"ratios": {"bridge": 2.0}, "ratios_of_least": {"bridge": 1.8}}
    for samples, verdict in (([18, 40, 40], ""), ([21, 23.2, 24], SLOWER), ([12, 22, 23], "")):
        equal(result.judge(make(10, bridge=samples)[-1], baseline), verdict, samples)


@test()
def a_machine_that_is_slower_for_checksum_forwarding_widens_the_gate_by_as_much():
    rows = make(10, matched_4096=[30], unmatched=[19])
    csum = result.csum_row(rows)
    baseline = {"ratios": {"matched_4096": 2.0, "unmatched": 1.4}, "ratios_of_least": {"matched_4096": 2.0},
                "csum": {"ratio": 2.0, "ratio_of_least": 2.0}}
    for samples, factors, passed in (([20], (1, 1), False), ([12], (1, 1), False), ([30], (1.5, 1.5), True),
                                     ([20, 30, 30], (1.5, 1), True), ([90], (2, 2), True), ([], (1, 1), False)):
        csum.samples = samples
        equal((result.slow_factors(rows, baseline), result.compare(rows, baseline)[1]), (factors, passed), samples)
    csum.samples = [30]
    equal(result.compare(rows, baseline)[0][-1],
          "the machine is slower for work in caches: 1.50 in the median, 1.50 at least")
    equal(result.slow_factors(rows, {"ratios": {"matched_4096": 2.0}}), (1, 1), "a baseline without csum")
    equal(result.make_baseline(rows)["csum"], {"ratio": 3.0, "ratio_of_least": 3.0})


@test()
def a_limit_that_the_baseline_kept_is_kept_and_one_that_it_missed_does_not_fail():
    # 1.45 and 15 % for noise are 1.6675, before 15 % above the baseline.
    equal([judged("unmatched", ns, 1.4499) for ns in (16.5, 16.67, 16.68)], ["", "", SLOWER])
    equal(judged("unmatched", 20, 1.9), "")


@test()
def a_limit_from_another_case_is_compared_with_that_case():
    baseline = {"ratios": {"matched_4096": 2.0, "sampled_100": 2.02}}
    equal(result.judge(make(10, matched_4096=[20], sampled_100=[20.4])[-1], baseline), "")
    # Within 15 % of its own baseline, but 20 % above what it counts from.
    equal(result.judge(make(10, matched_4096=[18.8], sampled_100=[22.6])[-1], baseline), OVER)


@test()
def a_case_that_was_not_measured_fails_and_one_that_the_baseline_does_not_have_is_left_alone():
    baseline = {"ratios": {"bridge": 2.0}}
    equal(result.judge(make(10, bridge=[])[-1], baseline), "not measured")
    equal(result.judge(make(10, unmatched=[1000])[-1], baseline), "")


@test()
def lines_of_the_gate_say_what_passed_and_what_failed():
    rows = make(10, bridge=[20], matched_64=[40], unmatched=[1])
    lines, passed = result.compare(rows, {"ratios": {"bridge": 2.0, "matched_64": 2.0}})
    equal(lines, ["PASS bench bridge costs 2.00 of testpmd's mac forwarding, baseline 2.00",
                  "FAIL bench matched_64 costs 4.00 of testpmd's mac forwarding, baseline 2.00: "
                  "slower than the baseline"])
    check(not passed, "passed")
    check(result.compare(rows, {"ratios": {"bridge": 2.0}})[1], "not passed")
    equal(result.compare(rows, {"ratios": {"route": 2.0}}),
          (["FAIL bench: the baseline has none of the measured cases"], False))


@test()
def what_was_measured_passes_against_itself():
    rows = make(10, bridge=[20], json_reports=[20])
    baseline = result.make_baseline(rows)
    equal(baseline, {"ratios": {"bridge": 2.0}, "ratios_of_least": {"bridge": 2.0},
                     "csum": {"ratio": 1.0, "ratio_of_least": 1.0}})
    equal([result.judge(row, baseline) for row in rows], [""] * len(rows))


@test()
def a_baseline_that_would_compare_nothing_is_refused(workspace):
    path = workspace.path("baseline.json")

    def load(text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return result.load_baseline(path, {"bridge"})

    equal(load('{"ratios": {"bridge": 2.0}}'), {"ratios": {"bridge": 2.0}})
    for text in ("", "{}", "[]", '{"ratios": {}}', '{"ratios": {"no_such_case": 2.0}}', '{"ratios": {"bridge": 0}}',
                 '{"ratios": {"bridge": "2"}}', '{"ratios": {"bridge": true}}', '{"ratios": [1]}',
                 '{"ratios": {"bridge": 2, "bridge": 3}}'):
        try:
            check(False, text, "was taken:", load(text))
        except ValueError as error:
            check(str(error).startswith(f"{path}: "), error)
