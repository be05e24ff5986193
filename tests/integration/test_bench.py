# SPDX-License-Identifier: BSD-3-Clause
"""hopsight-bench as its users call it: what it prints and writes, not how fast it is."""

import ipaddress
import json
import os
import re
import signal
import subprocess
import sys

from lib import Skip, check, equal, main, netlab, need, test, until

PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsight-bench")
SHORT = ("--rounds", "1", "--seconds", "0.02")
# A sample of every way through a node.
WAYS = ("drivers", "unmatched_4masks", "matched_64", "sampled_10", "transit_4", "sink_ring", "sink_ring_empty",
        "sink_monitor", "bridge", "route", "route_uneven", "route_source", "route_transit", "route_sink",
        "route_monitor", "mixed", "no_rules_ring")


def bench(*words, expected=0, **kwargs):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                          timeout=80, stdin=subprocess.DEVNULL, **kwargs)
    equal(done.returncode, expected, f"exit code of {words}: {done.stdout} {done.stderr}")
    return done


def without_testpmd(workspace):
    """An environment without dpdk-testpmd, and with the test's temporary folder."""
    os.makedirs(workspace.path("tmp"), exist_ok=True)
    return {"TMPDIR": workspace.path("tmp"), "PATH": "/nowhere"}


@test()
def bad_words_of_the_bench_are_bad_usage_and_said(workspace):
    bad = workspace.path("bad.json")
    with open(bad, "w", encoding="utf-8") as f:
        f.write('{"ratios": {"no_such_case": 1}}')
    for words in (["no_such_case"], ["--rounds", "0"], ["--rounds", "2.5"], ["--seconds", "x"],
                  ["--worker", "5000"], ["--frobnicate"], ["--seconds"], ["--list=x"], ["-x"], ["\x1b[2J"],
                  ["--baseline", bad], ["--baseline", workspace.path("absent")]):
        done = bench(*words, expected=2)
        check(done.stderr.startswith("hopsight-bench: ") and "\x1b" not in done.stderr, words, done.stderr)
        equal(done.stdout, "", words)
    for words, said in ((["no_ruels"], 'there is no case "no_ruels"; did you mean no_rules? (--list)'),
                        (["--secnds", "1"], "did you mean --seconds?"), (["--json", "--list"], "--json needs a value"),
                        (["--seconds", "-1"], '"-1" is no number')):
        error = bench(*words, expected=2).stderr
        check(said in error and len(error.splitlines()) == 1, words, error)


@test()
def the_list_of_the_bench_names_every_promised_case():
    names = [line.split()[0] for line in bench("--list").stdout.splitlines()]
    for name in ("no_rules", "matched_1000000", "sampled_1", "route_sink", "json_reports"):
        check(name in names, name)
    check("--card" in bench("--help").stdout, "help")


@test()
def a_case_prints_the_routes_of_its_table():
    program = os.path.join(netlab.BUILD, "apps", "hopsight-bench-case")
    for case, least, depths in (("route_10", 10, {48}), ("route_uneven", 90000, {32, 48})):
        said = subprocess.run([program, case, "--routes"], capture_output=True, text=True, check=True, timeout=20)
        routes = {ipaddress.ip_network(route) for route in json.loads(said.stdout)["routes"]}
        check(len(routes) >= least, case, len(routes))
        equal({route.prefixlen for route in routes}, depths, case)


@test(limit_s=90)
def every_way_through_a_node_passes_the_checks_of_the_bench(workspace):
    done = bench(*SHORT, "--json", "-", *WAYS, env=without_testpmd(workspace))
    result = json.loads(done.stdout)
    equal({case["name"] for case in result["cases"]}, set(WAYS))
    for case in result["cases"]:
        check("error" not in case, case)
        check(case["ns_per_packet"]["median"] > 0 and case["mpps"] > 0, case)
        check("ratio" not in case, case)
    check("no ratios" in done.stderr, done.stderr)
    equal(os.listdir(workspace.path("tmp")), [], "what is left")


@test(limit_s=60)
def reports_to_a_collector_pass_the_checks_of_the_bench(workspace):
    names = ("collect_1", "collect_100", "collect_garbage", "collect_events", "collect_idle_1200000",
             "collect_idle_1", "collect_idle_events")
    result = json.loads(bench(*SHORT, "--json", "-", *names, env=without_testpmd(workspace)).stdout)
    equal({case["name"] for case in result["cases"]}, set(names))
    for case in result["cases"]:
        check("error" not in case, case)
        check(case["per_second"]["median"] > 0, case)


@test(limit_s=60, apart=True)
def the_bench_compares_with_testpmd_where_it_is_there(workspace):
    need("dpdk-testpmd")
    card, baseline = workspace.path("card.md"), workspace.path("baseline.json")
    with open(card, "w", encoding="utf-8") as f:
        f.write("# Head\n<!-- card: begin -->\nold\n<!-- card: end -->\ntail\n")
    done = bench(*SHORT, "--json", "-", "--card", card, "--update-baseline", baseline, "no_rules")
    result = json.loads(done.stdout)
    case = result["cases"][0]
    yard = result["yardstick"]["ns_per_packet"]["median"]
    check(abs(case["ns_per_packet"]["median"] / yard - case["ratio"]) < 0.01, case)
    with open(card, encoding="utf-8") as f:
        text = f.read()
    check(text.startswith("# Head\n") and text.endswith("\ntail\n") and "old" not in text, text)
    check("| `no_rules` |" in text, text)
    with open(baseline, encoding="utf-8") as f:
        equal(json.load(f)["ratios"], {"no_rules": case["ratio"]})


@test(limit_s=60)
def a_bench_without_testpmd_is_skipped_by_its_gate(workspace):
    done = bench(*SHORT, "json_reports", "--baseline", workspace.path("absent"),
                 env=without_testpmd(workspace))
    check(done.stdout.startswith("SKIP bench: dpdk-testpmd is not installed"), done.stdout)


@test(limit_s=60)
def an_interrupted_bench_leaves_nothing(workspace):
    process = subprocess.Popen([PROGRAM, "--rounds", "9", "--seconds", "60", "no_rules"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=without_testpmd(workspace))
    try:
        until(lambda: measurements_of(process.pid), 20, "a measurement")
        measurements = measurements_of(process.pid)
        process.send_signal(signal.SIGINT)
        equal(process.wait(20), 1)
        check("interrupted" in process.stderr.read(), "a word about it")
        until(lambda: not [p for p in measurements if os.path.exists(f"/proc/{p}")], 10, "its end")
        equal(os.listdir(workspace.path("tmp")), [], "what is left")
        check(not os.path.exists(f"/var/run/dpdk/hsbench{process.pid}"), "DPDK's folder")
    finally:
        process.kill()
        process.wait()


def measurements_of(pid):
    """The processes that measure a case."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [child for child in f.read().split() if "--seconds" in words_of(child)]


def words_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
            return f.read().split("\0")
    except OSError:
        return []


def scaling_of(words):
    """Returns for each case what two workers do in their own processor time, divided by what one
    does: medians of alternating rounds, and best rounds."""
    program = os.path.join(netlab.BUILD, "tests", "bench", "bench_workers")
    # Real-time priority keeps both workers on their cores at once, whatever else runs.
    done = subprocess.run(["chrt", "-f", "1", program, "21", "4", words], capture_output=True,
                          text=True, check=False, timeout=60)
    equal(done.returncode, 0, done.stderr)
    number = r" +([\d.]+)"
    found = re.findall(rf"^(.+?){number * 3} +[\d.]+\.\.[\d.]+{number * 2} +(\d+) %$",
                       done.stdout, re.M)
    return {case: (float(median), float(best), int(together))
            for case, _, _, median, best, _, together in found}


@test(limit_s=200, alone=True)
def two_workers_do_at_least_1_8_times_the_work_of_one():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one core")
    need("chrt")
    note = []
    for words in ("matched, 4,096 rules", "sampled 1/100"):
        # Other work in the common cache and on the host only reduces the rate.
        for _ in range(5):
            scaling = scaling_of(words)
            check(words in scaling, scaling)
            median, best, together = scaling[words]
            if max(median, best) >= 1.8 and together >= 80:
                break
        check(max(median, best) >= 1.8 and together >= 80, f"{words}: {scaling}")
        note.append(f"{words}: median {median}, best {best}")
    return "; ".join(note)


if __name__ == "__main__":
    sys.exit(main())
