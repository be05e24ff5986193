# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the command line on terminals of several widths, stale windows, and --watch."""

import json
import re
import signal
import subprocess
import sys

from lib import check, equal, main, test
from terminal import Terminal
from test_cli import PROGRAM, QOS, RULE, FakeNode

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}Z"
PORT = {"name": "west", "index": 0, "side": "network", "profile": "dc", "method": "int", "version": "2.1", "mode": "md",
        "carrier": "tcp_udp", "driver": "net_af_packet", "mtu": 1500, "link_up": True, "usable": True, "id": 1,
        "rx_packets": 1234567, "rx_bytes": 123456789, "tx_packets": 7654321, "tx_bytes": 987654321, "rx_missed": 3,
        "rx_errors": 77, "tx_errors": 88, "drops": {"no_room": 1}, "events": {"flooded": 5}}
EVENT = {"seq": 4, "ts_ns": 1700000000123456789, "kind": "port_down", "port": "west",
         "message": "the link of port west is down, and packets to it are dropped until the link is up again"}


def _on_terminal(node, *words, columns=80, environment=None, expected=0):
    with Terminal([PROGRAM, "-c", node.endpoint, *words], columns=columns, environment=environment) as terminal:
        equal(terminal.end(), expected, f"exit code of {words}")
        return terminal.raw.decode().replace("\r\n", "\n").splitlines()


@test()
def tables_fit_the_terminal_and_name_the_columns_that_they_leave_out(workspace):
    node = FakeNode(workspace, ports_get={"ok": {"ports": [PORT, dict(PORT, name="east")]}},
                    events={"ok": {"events": [EVENT], "next": 4}}, qos_get={"ok": {"qos": [QOS]}})
    whole = node.run("ports").stdout.splitlines()
    check(len(whole[0]) > 190 and "left out" not in "\n".join(whole), "not a terminal", whole)
    equal(_on_terminal(node, "ports", "--wide"), whole, "with --wide")
    for columns in (120, 80, 40, 9):
        lines = _on_terminal(node, "ports", columns=columns)
        check(all(len(line) <= columns for line in lines if "--wide" not in line), columns, lines)
        check(lines[0].startswith("name") and [line[:4] for line in lines[1:3]] == ["west", "east"], lines)
        said = " ".join(lines[3:])
        check(said.startswith("left out: ") and said.endswith("(--wide shows all)"), said)
        named = said[len("left out: "):-len(" (--wide shows all)")].split(", ")
        shown = re.split(r"  +", lines[0].strip())
        equal(sorted(named + shown), sorted(re.split(r"  +", whole[0].strip())), f"columns at {columns}")
        if columns == 80:
            check({"rx packets", "tx packets", "link"} <= set(shown) and {"mtu", "driver"} <= set(named), shown)
    equal(_on_terminal(node, "ports", columns=80, environment={"COLUMNS": "40"}),
          _on_terminal(node, "ports", columns=40), "COLUMNS goes before the terminal")
    piped = subprocess.run([PROGRAM, "-c", node.endpoint, "ports"], capture_output=True, text=True, check=True,
                           env={"COLUMNS": "40"}).stdout.splitlines()
    equal(piped, whole, "COLUMNS does not change what is no terminal")
    lines = _on_terminal(node, "events")
    check(len(lines[1]) == 80 and "the link of port" in lines[1] and "…" in lines[1], "a message is cut", lines)
    equal(lines[2:], ["left out: message, port (--wide shows all)"], "a message has room before a column that no view names")
    lines = _on_terminal(node, "qos")
    equal(lines[1].split(), QOS["flags"], "what has no room above the table")
    check(all(word in lines[2] for word in ("hop", "throughput", "delay mean", "jitter", "loss")), lines)


@test()
def on_80_columns_a_rule_has_its_sampling_its_values_and_who_asked_for_it(workspace):
    modes = (("count", 100, "every 100"), ("frequency", 20, "every 20 ms"), ("probability", 0.5, "0.5 %"))
    rules = [dict(RULE, ns_id=175596 + i, mode=mode, mode_setting=setting) for i, (mode, setting, _) in enumerate(modes)]
    node = FakeNode(workspace, int_list={"ok": {"rules": [dict(rule, trace_type="0xF000E000") for rule in rules],
                                                "count": 3, "state": [175597]}})
    lines = _on_terminal(node, "rule", "list")
    check(all(len(line) <= 80 for line in lines), lines)
    for line, (*_, sampling), origin in zip(lines[1:4], modes, ("api", "state", "api"), strict=True):
        check(f"  {sampling}  " in line, sampling, lines)
        equal(line.split()[-2:], ["all", origin], lines)
    check({"hop_enabled", "transmit_report", "app"} <= set(re.split("[ ,]+", " ".join(lines[4:]))), lines)


@test()
def a_counter_has_its_value_and_its_labels_where_there_is_room(workspace):
    stat = {"name": "hopsight_reports_piggyback_unmonitored_total", "kind": "counter", "unit": "packets",
            "help": "Packets that went no further, by reason, at this port", "value": 4711}
    labelled = dict(stat, name="hopsight_port_drops_total", port="west", reason="host_telemetry", value=42)
    node = FakeNode(workspace, stats_get={"ok": {"stats": [stat, labelled]}})
    series = [labelled["name"], "port=west", "reason=host_telemetry"]
    for columns, names, rest in ((120, [[stat["name"]], series], ["packets", "Packets"]), (80, [[stat["name"]], series], []),
                                 (60, [[stat["name"]], [*series[:2], "reason=host_tele…"]], []),
                                 (30, [["hopsight_reports_piggy…"], ["hopsight_port_drops_to…"]], [])):
        lines = _on_terminal(node, "stats", columns=columns)
        for line, name, value in zip(lines[1:3], names, ("4711", "42"), strict=True):
            equal(line.split()[:len(name) + 1 + len(rest)], [*name, value, *rest], f"{columns} columns")
        check(rest or "meaning" in " ".join(lines[3:]), lines)


@test()
def what_is_not_a_table_is_broken_between_words_where_the_terminal_ends(workspace):
    words = ", ".join(f"word_{n}" for n in range(30))
    node = FakeNode(workspace, hello={"ok": {"a_key": words, "b": 1}}, qos_get={"ok": {"qos": [dict(
        QOS, stale=True, age_ns=3300000000, flags=["clock_step", "bypassed", "counts_missing", "entries_missing"])]}},
        explain={"ok": {"ns_id": 7, "name": "left", "packets": 4, "reports": 0, "reasons": [{"text": words}]}})
    for words_of, indent in ((("hello",), 7), (("explain", "7"), 2), (("qos",), 8)):
        whole, lines = node.run(*words_of).stdout.splitlines(), _on_terminal(node, *words_of)
        check(any(len(line) > 80 for line in whole) and not any(len(line) > 80 for line in lines), lines)
        long = next(line for line in whole if len(line) > 80)
        first = next(n for n, line in enumerate(lines) if line and long.startswith(line))
        said, end = lines[first], first + 1
        while said != re.sub(" +", " ", long):
            check(lines[end].startswith(" " * indent) and len(said) < len(long), said, long, lines)
            said, end = re.sub(" +", " ", f"{said} {lines[end][indent:]}"), end + 1
        check(end > first + 1, lines)
    equal(_on_terminal(node, "hello", "--wide"), node.run("hello").stdout.splitlines(), "with --wide")
    check(any(len(line) > 12 for line in _on_terminal(node, "hello", columns=12)), "a terminal with no room to begin anew")


@test()
def a_stale_window_shows_no_number(workspace):
    stale = dict(QOS, stale=True, reports=0, age_ns=3300000000)
    e2e = {"throughput_bps": 44960000, "delay_ns": {"mean": 25000000}, "loss_ratio": 0.125}
    flow = {"ns_id": 7, "from": "2001:db8::1", "to": "2001:db8::2", "direction": "up", "reports": 0, "stale": True,
            "e2e": e2e}
    app = {"app_id": 4, "flows": [flow], "round_trip_ns": {"mean": 50000000}, "round_trip_pairs": 99,
           "one_way_sum_ns": 51000000}
    node = FakeNode(workspace, qos_get={"ok": {"qos": [stale]}})
    lines = node.run("qos").stdout.splitlines()
    check("last report 3.3 s ago" in lines[0] and "path –" in lines[0], "how old it is", lines[0])
    for line, hop in zip(lines[2:], ("0 → 1", "1 → 9", "end to end"), strict=True):
        check(line.startswith(hop), line)
        equal(set(line[len(hop):].split()), {"–"}, line)
    equal(json.loads(node.run("--json", "qos").stdout), {"qos": [stale]}, "JSON has what the node said")
    node.replies["qos_get"] = {"ok": {"applications": [app]}}
    said = node.run("qos", "--app", "4").stdout
    check("round trip  –\n" in said and "–  –" in re.sub(" +", "  ", said), said)
    check(not re.search("44.96|25.000|50.000|51.000|12.5", said), said)
    fresh = dict(flow, stale=False, reports=100)
    node.replies["qos_get"] = {"ok": {"applications": [dict(app, flows=[flow, fresh])]}}
    said = node.run("qos", "--app", "4").stdout
    check("round trip  mean 50.000 ms" in said and said.count("44.96 Mbit/s") == 1, said)


@test()
def watch_repeats_with_the_time_of_each_round(workspace):
    node = FakeNode(workspace, hello={"ok": {"a": 1}}, ports_get={"ok": {"ports": [PORT] * 40}})
    for words in (("--json", "hello"), ("hello",)):
        with subprocess.Popen([PROGRAM, "-c", node.endpoint, "--watch", "0.05", *words], stdout=subprocess.PIPE,
                              text=True) as program:
            lines = [program.stdout.readline() for _ in range(6)]
            program.terminate()
        if words[0] == "--json":
            rounds = [json.loads(line) for line in lines]
            times = [answer.pop("ts_ns") for answer in rounds]
            equal(rounds, [{"a": 1}] * 6, "lines")
        else:
            times = lines[0::2]
            check(all(re.fullmatch(TIME + "\n", time) for time in times), times)
            equal(lines[1::2], ["a  1\n"] * 3, "lines")
        check(times == sorted(set(times)), "the times grow", times)
    node.replies["stats_get"] = {"ok": {"stats": [{"name": "rules", "kind": "gauge", "value": 3}]}}
    with subprocess.Popen([PROGRAM, "-c", node.endpoint, "--watch", "0.05", "stats", "--prometheus"],
                          stdout=subprocess.PIPE, text=True) as program:
        lines = [program.stdout.readline() for _ in range(8)]
        program.terminate()
    check(re.fullmatch("# " + TIME + "\n", lines[0]), "the time is a comment of the text format", lines)
    check(all(line == "\n" or line[0] == "#" or line.startswith("rules") for line in lines), lines)
    words = [PROGRAM, "-c", node.endpoint, "--watch", "0.05", "ports"]
    with Terminal(words, rows=10) as terminal:
        first = terminal.until(lambda text: re.match(TIME, text), "a round").group()
        terminal.until(lambda text: re.match(TIME, text) and not text.startswith(first), "another round in its place")
        lines = terminal.until(lambda text: "more lines" in text and text.splitlines(), "how much more there is")
        check(len(lines) <= 10 and lines[1].startswith("name") and lines[2].startswith("west"), lines)
        check(int(lines[-1].split()[1]) >= 33, "all other lines are counted", lines)
        node.replies["ports_get"] = {"error": {"code": "internal", "path": "", "message": "it has a problem"}}
        terminal.until(lambda text: "it has a problem" in text, "an error stays on the screen")
        equal(terminal.end(signal.SIGTERM), -signal.SIGTERM, "how it ends")
        check(terminal.is_restored(), "the terminal's modes")
    words[-1] = "hello"
    for environment in ({"TERM": "dumb"}, {"TERM": ""}):
        with Terminal(words, rows=10, environment=environment) as terminal:
            terminal.until(lambda text: len(re.findall(TIME + "\na  1\n", text)) >= 3,
                           "rounds below each other where nothing can be erased")
            terminal.end(signal.SIGTERM)


@test()
def on_a_very_narrow_terminal_an_audit_still_says_which_equation_fails(workspace):
    equations = [{"name": name, "port": "west", "ok": ok, "left": 7, "right": 7, "terms": {},
                  "text": "received = installed + refreshed + refused"}
                 for name, ok in (("reports_piggyback", True), ("port_in", False))]
    node = FakeNode(workspace, audit={"ok": {"ok": False, "equations": equations}})
    lines = _on_terminal(node, "audit", columns=40, expected=1)
    check(any(re.match("port_in +no", line) for line in lines), lines)


if __name__ == "__main__":
    sys.exit(main())
