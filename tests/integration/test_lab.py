# SPDX-License-Identifier: BSD-3-Clause
"""hopsight-lab as its users call it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

from lib import Skip, check, equal, main, netlab, test, until
from terminal import Terminal

PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsight-lab")
REPRODUCE = os.path.join(netlab.ROOT, "tools", "reproduce", "run.py")


def small(**changes):
    """Three nodes and two links; one link loses frames and one is slow, so that random numbers are
    drawn."""
    scenario = {
        "name": "small", "description": "Three nodes.", "seed": 1, "duration_s": 4,
        "nodes": [{"id": 0, "name": "src"}, {"id": 1, "name": "sw"}, {"id": 9, "name": "dst"}],
        "links": [{"from": "src", "to": "sw", "delay_ns": 1000000, "loss_ratio": 0.02},
                  {"from": "sw", "to": "dst", "delay_ns": 2000000, "jitter_ns": 500000}],
        "traffic": [{"name": "up", "from": "src", "to": "dst", "rate_pps": 1000}],
        "requests": [{"node": "*", "traffic": "up", "int_request": {
            "ns_id": 7, "mode": "count", "mode_setting": 10}}],
        "expect": [{"metric": "node_drops", "max": 0}]}
    scenario.update(changes)
    return scenario


def write(workspace, scenario, name="small.json"):
    path = workspace.path(name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(scenario if isinstance(scenario, str) else json.dumps(scenario))
    return path


def lab(*words, expected=0, limit_s=40, **kwargs):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                          timeout=limit_s, stdin=subprocess.DEVNULL, **kwargs)
    equal(done.returncode, expected, f"exit code of {words}: {done.stdout} {done.stderr}")
    return done


def result(workspace, scenario, *words, expected=0, **kwargs):
    path = workspace.path("result.json")
    lab("run", write(workspace, scenario), "--quiet", "--json", path, *words, expected=expected,
        **kwargs)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


@test()
def bad_scenarios_are_errors_with_their_path_and_code_2(workspace):
    triangle = [{"from": "src", "to": "sw"}, {"from": "sw", "to": "dst"},
                {"from": "dst", "to": "src"}]
    bad = [
        ("links[0].to", small(links=[{"from": "src", "to": "nowhere"}])),
        ("links", small(forwarding="bridge", links=triangle)),
        ("traffic[0].rate_pps", small(traffic=[{"name": "up", "from": "src", "to": "dst",
                                                "rate_pps": -1}])),
        ("links[0].rate_bps", small(links=[{"from": "src", "to": "sw", "rate_bps": -5},
                                           {"from": "sw", "to": "dst"}])),
        ("traffic[0].file", small(traffic=[{"name": "up", "from": "src", "to": "dst",
                                            "type": "pcap", "file": "no-such.pcap"}])),
        ("expect[0].metric", small(expect=[{"metric": "beauty", "min": 1}])),
        ("expect[0].hop", small(expect=[{"metric": "delay_ns", "hop": "sw-moon", "min": 1}])),
        ("links[1].loss_ratio", small(links=[{"from": "src", "to": "sw"},
                                             {"from": "sw", "to": "dst", "loss_ratio": 2}])),
        ("colour", small(colour="red")),
        ("events[0].at_s", small(events=[{"at_s": 99, "link": "src-sw", "set": {"up": False}}])),
        ("1:", "{]"),
    ]
    for path, scenario in bad:
        for verb in ("run", "check"):
            done = lab(verb, write(workspace, scenario), expected=2)
            said = done.stderr.splitlines()
            equal(len(said), 1, f"lines about {path}: {said}")
            check(f"small.json:{path}" in said[0], f"{path} is not in:", said[0])
            equal(done.stdout, "", "stdout")


@test()
def a_scenario_with_several_mistakes_names_each_and_none_that_follows_from_another(workspace):
    nodes, links = small()["nodes"], small()["links"]
    up = small()["traffic"][0]
    for paths, changes in (
            (["links[1].loss_ratio", "traffic[0].to", "expect[0].metric"],
             {"links": [links[0], dict(links[1], loss_ratio=2)], "traffic": [dict(up, to="moon")],
              "expect": [{"metric": "beauty", "min": 1}, {"metric": "delay_ns", "hop": "src-sw", "min": 1}]}),
            (["colour", "seed", "nodes[2].id", "expect[0].min"],
             {"colour": "red", "seed": "x", "nodes": [*nodes[:2], dict(nodes[2], id=-1)], "expect": [{"metric": "reports", "min": "x"}]}),
            (["nodes[0].name", "traffic[0].rate_pps"], {"nodes": [dict(nodes[0], name=7), *nodes[1:]], "traffic": [dict(up, rate_pps=-1)]}),
            (["duration_s", "links[0].from"], {"duration_s": 0, "links": [dict(links[0], **{"from": "moon"}), links[1]]}),
            (["nods", "links[0].delay"], {"nods": nodes, "nodes": None, "links": [dict(links[0], delay=3), links[1]]}),
            (["links[0].to", "links[1].to"], {"links": [dict(links[0], to="src"), dict(links[1], to="sw")]}),
            (["traffic[0].rate_pps"], {"traffic": [dict(up, rate_pps=-1), dict(up, name="on", type="relay", after="up")],
                                       "events": [{"at_s": 1, "traffic": "up", "set": {"rate_pps": 5}}],
                                       "expect": [{"metric": "loss_ratio", "flow": "up", "max": 0}]}),
            (["profiles.p.method"], {"profiles": {"p": {"method": "magic"}}, "links": [dict(link, profile="p") for link in links]})):
        scenario = {key: value for key, value in small(**changes).items() if value is not None}
        said = lab("check", write(workspace, scenario), expected=2).stderr.splitlines()
        equal([line.split("small.json:")[1].split(":")[0] for line in said], paths, said)
    many = small(links=[dict(links[0], loss_ratio=2)] * 20)
    said = lab("check", write(workspace, many), expected=2).stderr.splitlines()
    equal((len(said), said[16].split(": ")[-1]), (17, "4 more errors"), said)


@test()
def bad_usage_ends_with_code_2_before_anything_runs(workspace):
    path = write(workspace, small())
    for words in ([], ["walk"], ["run"], ["run", path, "more"], ["run", path, "--seed", "x"],
                  ["run", path, "--seed", "-1"], ["run", path, "--seed", str(2 ** 63)], ["run", path, "--duration", "0"],
                  ["run", path, "--duration", "1s"], ["run", path, "--no-such"],
                  ["run", workspace.path("missing.json")], ["run", "no-such-name"],
                  ["run", path, "--json"], ["check", path, "--packets", workspace.path("p")],
                  ["list", workspace.path("no-folder")], ["list", "--json", workspace.path("x")],
                  ["run", path, "--json", "/nonexistent/x.json"],
                  ["run", path, "--packets", "/nonexistent/x.csv"], ["run", path, "--packets", "-"],
                  ["run", path, "--packets", workspace.path("p"), "--published", workspace.path("p")],
                  ["run", path, "--json", workspace.path("p"), "--published", workspace.path("p")]):
        done = lab(*words, expected=2)
        check(done.stderr.startswith("hopsight-lab: "), words, done.stderr)
        equal(done.stdout, "", f"stdout of {words}")
    equal(sorted(n for n in os.listdir(workspace.path("")) if n not in ("log", "small.json")), [],
          "files")


@test()
def output_that_is_not_written_is_a_failure(workspace):
    path = write(workspace, small())
    for program, words in [("hopsight-lab", words) for words in
                           (["list"], ["list", "--json"], ["check", path], ["run", path], ["run", path, "--json", "-"],
                            ["plan", "gpint-degraded-5"], ["--help"], ["--version"])] + \
            [(name, [word]) for name in ("hopsightd", "hopsight-controller", "hopsight-collector")
             for word in ("--help", "--version")]:
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([os.path.join(netlab.BUILD, "apps", program), *words], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        equal(done.returncode, 1, (program, words, done.stderr))
        equal(done.stderr.count("cannot be written"), 1, (program, words, done.stderr))


@test()
def help_and_version_are_told():
    said = lab("--help").stdout
    for word in ("run SCENARIO", "list", "check", "plan SCENARIO", "--probes", "--real", "--seed", "--packets", "Exit codes"):
        check(word in said, word, said)
    equal(lab("run", "--help").stdout, said, "help of a verb")
    check(lab("--version").stdout.startswith("hopsight-lab 0."), "version")


@test()
def an_expectation_that_is_not_met_is_code_1_and_told_in_words(workspace):
    expects = [{"metric": "delay_ns", "hop": "src-sw", "value": 1000000, "tolerance": 1},
               {"metric": "delay_ns", "hop": "src-sw", "max": 5}]
    done = lab("run", write(workspace, small(expect=expects)), expected=1)
    lines = done.stdout.splitlines()
    equal(lines[-1], "1 of 2 expectations met", "last line")
    check("  NOT MET  delay_ns, src-sw: 1 ms (at most 0.000005 ms)" in lines, lines)
    check("  met      delay_ns, src-sw: 1 ms (1 ± 0.000001 ms)" in lines, lines)
    quiet = lab("run", write(workspace, small(expect=expects)), "--quiet", expected=1)
    equal(quiet.stdout.splitlines(), lines[-2:], "with --quiet")
    equal(quiet.stderr, "", "stderr with --quiet")
    done = lab("run", write(workspace, small(expect=expects)), "--json", "-", expected=1)
    equal([e["met"] for e in json.loads(done.stdout)["expect"]], [True, False], "JSON on stdout")
    check("NOT MET" in done.stderr and "1 of 2 expectations met" in done.stderr, done.stderr)


@test()
def tables_show_each_hop_in_units_of_people_within_100_columns(workspace):
    done = lab("run", write(workspace, small()))
    check(done.stdout.startswith("small\nThree nodes.\nseed 1, 4 s of virtual time, "
                                 "3 nodes, 2 links\n"), done.stdout[:200])
    for words in ("Flow up:", "Delay, ms", "Throughput, Mbit/s", "Loss, %", "src-sw", "sw-dst",
                  "end to end", "Lost in the run", "src-sw forward", "All hops and ends"):
        check(words in done.stdout, words, done.stdout)
    check(max(len(line) for line in done.stdout.splitlines()) <= 100, done.stdout)
    check(done.stderr.startswith("4 s of virtual time in "), "the only line of stderr",
          done.stderr)
    equal(len(done.stderr.splitlines()), 1, "lines without a terminal")


@test()
def the_same_seed_gives_the_same_bytes_and_another_one_others(workspace):
    texts = []
    for number, words in enumerate(([], [], ["--seed", "2"])):
        path = workspace.path(f"{number}.json")
        lab("run", write(workspace, small()), "--json", path, *words)
        with open(path, "rb") as f:
            texts.append(f.read())
    check(texts[0] == texts[1], "two runs differ")
    first, other = json.loads(texts[0]), json.loads(texts[2])
    equal((first["seed"], other["seed"]), (1, 2), "seeds")
    check(first["links"] != other["links"], "another seed changed nothing")


@test()
def duration_cuts_a_run_short(workspace):
    got = result(workspace, small(), "--duration", "1.5")
    equal(got["end_ns"] - got["start_ns"], 1500000000, "time")
    equal(got["traffic"][0]["sent"], 1500, "packets")


@test()
def a_paper_that_is_not_there_is_answered_so():
    done = subprocess.run(["/usr/bin/python3", REPRODUCE, "005"], capture_output=True, text=True, check=False, timeout=60)
    equal(done.returncode, 2, done.stderr)
    check("005 is no paper" in done.stderr, done.stderr)


@test()
def a_scenario_is_drawn_as_whole_pictures(workspace):
    folder = workspace.path("plots")
    done = subprocess.run(["/usr/bin/python3", REPRODUCE, "--plots", write(workspace, small()), folder],
                          capture_output=True, text=True, check=False, timeout=60)
    equal(done.returncode, 0, done.stderr)
    equal(sorted(os.listdir(folder)), [f"up.{kind}.svg" for kind in (
        "delay_ns", "jitter_ns", "loss_ratio", "throughput_bps")], "files")
    for name in os.listdir(folder):
        text = "".join(xml.etree.ElementTree.parse(os.path.join(folder, name)).getroot().itertext())
        check(all(word in text for word in ("src-sw", "e2e", "measured", "truth")), name)


def start(*words, **kwargs):
    return subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True, **kwargs)


def wait_for_packets(workspace, name="packets.csv"):
    """A file that has grown, so that the run is under way."""
    def grown():
        return any(os.path.getsize(workspace.path(n)) for n in os.listdir(workspace.path(""))
                   if n.startswith(f"{name}."))
    until(grown, 20, "the run to begin")


@test()
def ctrl_c_leaves_partial_results_that_say_so(workspace):
    path, packets = workspace.path("result.json"), workspace.path("packets.csv")
    for number in (signal.SIGINT, signal.SIGTERM):
        process = start("run", write(workspace, small(duration_s=3600)), "--real", "--json", path,
                        "--packets", packets)
        try:
            wait_for_packets(workspace)
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
        equal(process.returncode, 1, f"exit code: {err}")
        check("INTERRUPTED: partial results" in out, out)
        check("interrupted" in err, err)
        with open(path, encoding="utf-8") as f:
            got = json.load(f)
        check(got["partial"] is True, "not marked as partial")
        equal(got["audit"]["ok"], True, "audit")
        check(0 < got["traffic"][0]["sent"] < 3600000, got["traffic"])
        os.unlink(path)
        os.unlink(packets)


@test()
def a_second_ctrl_c_ends_at_once_and_leaves_nothing(workspace):
    process = start("run", write(workspace, small(duration_s=3600)), "--real", "--json",
                    workspace.path("result.json"), "--packets", workspace.path("packets.csv"))
    try:
        wait_for_packets(workspace)
        # Both signals wait while the process is stopped, so that they arrive one directly after the
        # other.
        with netlab.paused(process):
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()
    equal(process.returncode, 1, "exit code")
    check("second signal" in err, err)
    left = [n for n in os.listdir(workspace.path("")) if n.startswith(("result", "packets"))]
    equal(left, [], "files")


@test()
def on_the_machines_clock_packets_move_and_take_their_time(workspace):
    begin = time.time_ns()
    got = result(workspace, small(duration_s=2), "--real")
    check(got["real"] is True and got["wall_s"] >= 2, got["wall_s"])
    check(begin <= got["start_ns"] <= time.time_ns(), "start", got["start_ns"])
    check(got["traffic"][0]["delivered"] > 1000, got["traffic"])
    equal(got["audit"]["ok"], True, "audit")
    virtual = result(workspace, small(duration_s=2))
    equal((virtual["real"], virtual["wall_s"]), (False, 0), "virtual")


@test()
def nobody_in_particular_can_run_it(workspace):
    if os.geteuid() != 0:
        raise Skip("not root")
    os.chmod(workspace.path(""), 0o755)
    folder = workspace.path("theirs")
    program = workspace.path("hopsight-lab")
    os.mkdir(folder)
    os.chown(folder, 65534, 65534)
    shutil.copy(PROGRAM, program)
    path = write(workspace, small())
    os.chmod(path, 0o644)
    environment = {k: v for k, v in os.environ.items()
                   if k not in ("XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY")}
    done = subprocess.run([program, "run", path, "--json", os.path.join(folder, "x.json")],
                          capture_output=True, text=True, check=False, timeout=40, cwd=folder,
                          user=65534, group=65534, extra_groups=[], env=environment)
    equal(done.returncode, 0, done.stdout + done.stderr)
    equal(len(done.stderr.splitlines()), 1, done.stderr)
    with open(os.path.join(folder, "x.json"), encoding="utf-8") as f:
        equal(json.load(f)["audit"]["ok"], True, "audit")


@test()
def nothing_stays_of_a_run_but_its_result(workspace):
    environment = dict(os.environ, RUNTIME_DIRECTORY=workspace.path("runtime"))
    os.mkdir(workspace.path("runtime"))
    result(workspace, small(), env=environment)
    left = [os.path.join(where, n) for where, _, names in os.walk(workspace.path("runtime"))
            for n in names]
    equal(left, [], "files")
    found = os.listdir(workspace.path("runtime"))
    equal([n for n in os.listdir(workspace.path("runtime/dpdk"))] if found else [], [], "folders")


@test()
def scenarios_are_listed_and_run_by_name(workspace):
    os.makedirs(workspace.path("config/lab"))
    write(workspace, small(), "config/lab/tiny.json")
    write(workspace, "{", "config/lab/torn.json")
    here = workspace.path("")
    lines = lab("list", cwd=here).stdout.splitlines()
    equal(lines[0].split(), ["name", "description"], "header")
    check(any(line.split() == ["tiny", "Three", "nodes."] for line in lines), lines)
    check(max(len(line) for line in lines) <= 100, lines)
    for columns, environment in ((80, {}), (70, {"COLUMNS": "70"})):
        with Terminal([PROGRAM, "list"], environment=environment) as terminal:
            equal(terminal.end(), 0, "exit code")
            said = terminal.raw.decode().splitlines()
        check(max(len(line) for line in said) <= columns and len(said) > 10, said)
    listed = json.loads(lab("list", "--json", cwd=here).stdout)
    equal(listed, sorted(listed, key=lambda entry: entry["name"]), "order")
    tiny = next(entry for entry in listed if entry["name"] == "tiny")
    equal(tiny, {"name": "tiny", "file": "config/lab/tiny.json", "description": "Three nodes."},
          "entry")
    check(any(entry["name"] == "torn" and entry["error"] for entry in listed), listed)
    equal(json.loads(lab("list", here, "--json").stdout), [], "another folder")
    said = lab("check", "tiny", cwd=here).stdout
    check(said.startswith("small is right: 3 nodes, 2 links"), said)
    equal(lab("run", "tiny", "--quiet", cwd=here).stdout, "1 of 1 expectation met\n", "run")


@test()
def what_stdout_does_not_take_is_a_failure(workspace):
    with open("/dev/full", "w", encoding="ascii") as full:
        for words in (["--json", "-"], []):
            done = subprocess.run([PROGRAM, "run", write(workspace, small()), *words], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False, timeout=40)
            equal(done.returncode, 1, done.stderr)
            check("stdout" in done.stderr, done.stderr)


@test()
def a_terminal_is_told_how_far_a_run_is(workspace):
    master, slave = os.openpty()
    process = subprocess.Popen([PROGRAM, "run", write(workspace, small(duration_s=2)), "--real"],
                               stdout=subprocess.DEVNULL, stderr=slave, stdin=subprocess.DEVNULL)
    os.close(slave)
    text = b""
    try:
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        equal(process.wait(timeout=20), 0, "exit code")
    finally:
        process.kill()
        os.close(master)
    parts = text.decode().split("\r")
    check(any("%" in p and "of 2 s" in p and "events/s" in p for p in parts), parts)
    check("2 s of real time in" in text.decode(), parts[-2:])


# ---- plans of probes ----

WORLD = {"kind": "watts_strogatz", "n": 100, "k": 4, "beta": 0.1}


def grid(width, height):
    """A network of rows and columns. Two hosts are at its corners."""
    names = [f"g{x}.{y}" for y in range(height) for x in range(width)]
    pairs = [(f"g{x}.{y}", f"g{x + 1}.{y}") for y in range(height) for x in range(width - 1)]
    pairs += [(f"g{x}.{y}", f"g{x}.{y + 1}") for y in range(height - 1) for x in range(width)]
    return {"name": "grid", "duration_s": 1, "forwarding": "shortest_path",
            "nodes": [{"id": i + 1, "name": name} for i, name in enumerate(names)],
            "links": [{"from": a, "to": b} for a, b in pairs],
            "traffic": [{"name": "up", "from": names[0], "to": names[-1], "rate_pps": 1}]}


def ports_of(scenario):
    """Returns the nodes behind the ports of each node: its links in their order, then its hosts."""
    ports = {node["name"]: [] for node in scenario["nodes"]}
    for link in scenario["links"]:
        ports[link["from"]].append(link["to"])
        ports[link["to"]].append(link["from"])
    for end in ("from", "to"):
        ports[scenario["traffic"][0][end]].append("host")
    return ports


def follow(probe, ports):
    """Sends a probe by its entries. Returns the switches and the bytes at the end."""
    at, seen, size = probe["switches"][0], [], 20 + 8 + 2 + 2 + 2 + 2
    for number, (port, first, end) in enumerate(probe["entries"], 1):
        equal((first, end), (0, 0 if at in seen else len(ports[at])), f"counters of {at}")
        seen.append(at)
        size += 4 + 4 * (end - first)
        check(port > 0 or number == len(probe["entries"]), "port 0 in mid-path")
        at = ports[at][port - 1] if number < len(probe["entries"]) else port
    equal(at, 0, "the port of the last entry")
    return seen, size


@test()
def a_planned_probe_visits_what_the_plan_says_and_all_of_them_every_switch(workspace):
    scenario = grid(7, 6)
    ports = ports_of(scenario)
    made = json.loads(lab("plan", write(workspace, scenario), "--probes", "10", "--json").stdout)
    equal([made[key] for key in ("switches", "links", "mtu", "seed")], [42, 71, 1500, 1], "input")
    for name in ("gpint", "euler"):
        plan, visits, crossed = made[name], [], []
        for probe in plan["probes"]:
            seen, size = follow(probe, ports)
            equal((probe["switches"], probe["bytes"]), (seen, size), f"a probe of {name}")
            visits.append(seen)
            crossed += [frozenset(pair) for pair in zip(seen, seen[1:])]
        lengths = [len(seen) for seen in visits]
        equal(set().union(*visits), set(ports), f"switches of {name}")
        equal([plan["paths"], plan["switches_covered"], plan["links_covered"], plan["overlap"]],
              [len(visits), 42, len(set(crossed)), sum(lengths) - 42], name)
        equal([plan["hops"]["min"], plan["hops"]["max"]], [min(lengths), max(lengths)], f"hops of {name}")
        equal(plan["max_probe_bytes"], max(probe["bytes"] for probe in plan["probes"]), f"bytes of {name}")
        check(abs(plan["hops"]["mean"] - sum(lengths) / len(lengths)) < 1e-9, "mean", plan["hops"])
        if name == "gpint":
            check(len(visits) == 10 and max(lengths) <= 1.25 * sum(lengths) / 10, lengths)
        else:
            odd = sum(sum(name != "host" for name in behind) % 2 for behind in ports.values())
            equal((len(crossed), len(set(crossed)), len(visits)), (71, 71, odd // 2), "Euler")


@test()
def a_plan_of_a_topology_is_told_as_tables_beside_eulers():
    done = lab("plan", json.dumps(WORLD), "--mtu", "2200")
    lines = done.stdout.splitlines()
    check(max(len(line) for line in lines) <= 100, "wide", done.stdout)
    equal(lines[1].split()[:2], ["GPINT", "30"], "first row")
    check("100 of 100" in lines[1] and "100 of 100" in lines[2], done.stdout)
    equal(lines[2].split()[0], "Euler", "second row")
    equal(lines[4].split(), ["GPINT", "hops", "bytes", "switches"], "the list")
    equal(len(lines), 5 + 30, "lines")
    equal(lab("plan", json.dumps(WORLD), "--mtu", "2200").stdout, done.stdout, "the same again")
    check(lab("plan", json.dumps(WORLD), "--mtu", "2200", "--seed", "2").stdout != done.stdout, "another seed")
    euler = lab("plan", json.dumps(WORLD), "--mtu", "2200", "--euler").stdout.splitlines()
    equal(euler[:4], lines[:4], "the table")
    equal(euler[4].split()[0], "Euler", "the list")


@test()
def a_plan_of_a_thousand_switches_takes_no_two_seconds_and_fits():
    begin = time.monotonic()
    made = json.loads(lab("plan", json.dumps(dict(WORLD, n=1000)), "--mtu", "2200", "--json").stdout)
    seconds = time.monotonic() - begin
    check(seconds < 2 or "asan" in netlab.BUILD, seconds)
    plan = made["gpint"]
    equal([plan["paths"], plan["switches_covered"]], [300, 1000], "plan")
    check(plan["max_probe_bytes"] <= 2200 and plan["hops"]["max"] <= 1.25 * plan["hops"]["mean"], plan["hops"])
    return f"{seconds:.2f} s"


@test()
def a_plan_that_cannot_be_says_which_input_is_wrong(workspace):
    apart = grid(3, 2)
    apart["links"] = [link for link in apart["links"] if "g2" not in link["from"] + link["to"]]
    del apart["traffic"]
    path = write(workspace, apart)
    for words, said in ((["plan", path], "small.json:switches: no way leads from node g0.0 to node g2.0"),
                        (["plan", json.dumps(WORLD), "--mtu", "59"], "--mtu: 59 bytes have no room"),
                        (["plan", json.dumps(WORLD), "--probes", "101"], "--probes: 101 paths over 100 nodes"),
                        (["plan", json.dumps(dict(WORLD, k=5))], "topology.k: 5 is odd"),
                        (["plan", "{"], "1:1: "), (["plan", "no-such-name"], "no-such-name"), (["plan"], "missing"),
                        (["plan", path, "--probes", "0"], "--probes"), (["plan", path, "--mtu", "x"], "--mtu"),
                        (["plan", path, "--real"], "plan does not take --real"),
                        (["run", path, "--euler"], "run does not take --euler"),
                        (["rnu", path], "rnu is not a verb; did you mean run?"),
                        (["run", path, "--sed", "3"], "--sed is not an option; did you mean --seed?"),
                        (["check", path, "--eulr"], "--eulr is not an option (see"),
                        (["plan", path, "--eulr"], "--eulr is not an option; did you mean --euler?"),
                        (["run", path, "--json", "--quiet"], "--json needs a value"),
                        (["run", path, "--json", "-q"], "--json needs a value"),
                        (["run", path, "--quiet=yes"], "--quiet takes no value"),
                        (["run", path, "-x"], "-x is not an option"),
                        (["run", "paper-loss-constnat"], "paper-loss-constnat; did you mean paper-loss-constant?")):
        done = lab(*words, expected=2)
        check(said in done.stderr, words, done.stderr)
        equal((done.stdout, len(done.stderr.splitlines())), ("", 1), f"lines of {words}")


if __name__ == "__main__":
    sys.exit(main())
