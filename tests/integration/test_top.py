# SPDX-License-Identifier: BSD-3-Clause
"""`hopsight top` on terminals: against simulated nodes, and against a real node, controller and
collector."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import time

import frames as fr
from collecting import Collector, packet, report
from lib import Chain, RawPort, check, equal, main, need, paused, rule, test, until
from terminal import Terminal
from test_cli import PROGRAM, QOS, REPORT, RULE, FakeNode
from test_controller import Controller

A, B = "2001:db8::1", "2001:db8::2"
LEFT, RIGHT, DOWN, UP, END = "\x1bOD", "\x1bOC", "\x1bOB", "\x1bOA", "\x1bOF"
PAGE_DOWN = "\x1b[6~"
RATE = re.compile(r"(\d+(?:\.\d+)?) ([kM]?)bit/s")


class Counting(FakeNode):
    """A node whose counters grow with time: port p<i> receives i * 1000 packets of 100 bytes in a second."""

    def __init__(self, workspace, ports=2):
        self.begin, self.boot, self.n_ports = time.monotonic(), "first", ports
        self.window = QOS
        super().__init__(workspace, hello=self._hello, ports_get=self._ports, int_get=self._rule,
                         int_list={"ok": {"rules": [RULE], "count": 1}},
                         qos_get=lambda: {"ok": {"qos": [self.window]}})

    def ticks(self):
        return int((time.monotonic() - self.begin) * 10000)

    def _hello(self):
        return {"ok": {"api_version": "1.0", "verbs": [], "name": "sw1", "node_id": 2, "boot_id": self.boot}}

    def _ports(self):
        ticks = self.ticks()
        return {"ok": {"ports": [
            {"name": f"p{i}", "side": "host", "link_up": i != 2, "rx_packets": i * ticks // 10, "rx_bytes": i * ticks * 10,
             "tx_packets": 0, "tx_bytes": 0, "rx_missed": 0, "rx_errors": 0, "tx_errors": 0, "queued": 0,
             "drops": {"no_route": ticks // 100 if i == 1 else 0}} for i in range(1, self.n_ports + 1)]}}

    def _rule(self):
        ticks = self.ticks()
        return {"ok": {"rule": RULE, "counters": {"rx_packets": ticks // 10, "rx_bytes": ticks * 10}, "state": {}}}

    def top(self, *words, rows=24, columns=80, **environment):
        return Terminal([PROGRAM, "-c", self.endpoint, "top", "--interval", "0.2", *words], rows, columns, environment)


def bits(text):
    """The rates of a line in bit/s."""
    return [float(number) * {"": 1, "k": 1e3, "M": 1e6}[prefix] for number, prefix in RATE.findall(text)]


def row(terminal, name):
    return next((line for line in terminal.lines() if line.split()[:1] == [name]), "")


def near(value, expected):
    return abs(value - expected) <= 0.3 * expected


@test()
def top_shows_rates_loss_and_paths_and_unknown_numbers_as_a_dash(workspace):
    node = Counting(workspace)
    with node.top(TERM="xterm-256color") as terminal:
        terminal.until(lambda text: "–" in row(terminal, "p1"), "no rate after one round")
        terminal.until(lambda text: bits(row(terminal, "p1")) and bits(row(terminal, "p2")), "rates")
        lines = terminal.lines()
        check(near(bits(row(terminal, "p1"))[0], 800e3) and near(bits(row(terminal, "p2"))[0], 1.6e6), lines)
        check(re.search(r" (9|10)\d /s", row(terminal, "p1")), "drops", lines)
        check("node 2 sw1" in lines[0] and re.search(r"\d\d:\d\d:\d\dZ  every 0.2 s", lines[0]), lines[0])
        check(31 in terminal.screen.colours, "drops and a link that is down are red", terminal.screen.colours)
        terminal.type("2")
        found = terminal.until(lambda text: bits(row(terminal, "7")) and row(terminal, "7"), "rule 7")
        check(near(bits(found)[0], 800e3) and all(said in found for said in ("12.5 %", "250 ns", "0 → 1 → 9")), found)
        terminal.type("\t")
        found = terminal.until(lambda text: "[3 hops]" in text and "44.96" in text and terminal.lines(), "hops")
        check("44.96 Mbit/s" in found[3] and "10.000 ms" in found[3], found)
        node.window = dict(QOS, stale=True, reports=0, age_ns=5)
        found = terminal.until(lambda text: "12.5" not in text and terminal.lines(), "a stale window")
        check("0 → 1" in found[3] and "Mbit" not in found[3] and found[3].count("–") >= 3, found)
        terminal.type("1")
        terminal.until(lambda text: bits(row(terminal, "p1")), "ports again")
        node.boot, node.begin = "second", time.monotonic() - 1e6  # its counters are larger now
        terminal.until(lambda text: "–" in row(terminal, "p1"), "no rate over a restart")
        terminal.until(lambda text: bits(row(terminal, "p1")) and near(bits(row(terminal, "p1"))[0], 800e3),
                       "rates of the new start")
        node.begin = time.monotonic()  # the counters go back
        terminal.until(lambda text: "–" in row(terminal, "p1"), "no rate of a counter that went back")
        terminal.type("q")
        equal(terminal.end(), 0, "exit code")
        check(terminal.is_restored(), "the terminal")


def names(terminal):
    return [line.split()[0] for line in terminal.lines()[3:-2] if line]


def is_writing(pid):
    """Whether a process waits in write, system call 1."""
    with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
        return file.read().startswith("1 ")


# A program of a terminal's session is not its leader. Says the program's id, and how the program ended.
LEADER = ("import subprocess, sys, time\nprogram = subprocess.Popen(sys.argv[1:])\n"
          "print(program.pid, file=sys.stderr, flush=True)\nprint(program.wait(), file=sys.stderr, flush=True)\ntime.sleep(60)")


@test(limit_s=60)
def a_signal_ends_top_and_reports_while_nobody_takes_their_output(workspace):
    node = Counting(workspace, ports=30)
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        ours, theirs = pty.openpty()
        before = termios.tcgetattr(theirs)
        with subprocess.Popen([sys.executable, "-c", LEADER, PROGRAM, "-c", node.endpoint, "top", "--interval", "0.1"],
                              stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True, start_new_session=True,
                              env={**os.environ, "TERM": "xterm"},
                              preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as leader:
            pid = int(leader.stderr.readline())
            check(select.select([ours], [], [], 10)[0], "a screen")
            termios.tcflow(theirs, termios.TCOOFF)  # as Ctrl-S does
            until(lambda pid=pid: is_writing(pid), 10, "top waits for its terminal")
            check(termios.tcgetattr(theirs) != before, "the terminal has other settings")
            os.kill(pid, signal_number)
            check(select.select([leader.stderr], [], [], 6)[0], "top has not ended")
            equal(int(leader.stderr.readline()), 1, "exit code of top")
            equal(termios.tcgetattr(theirs), before, "the terminal's settings")
            termios.tcflow(theirs, termios.TCOON)
            leader.kill()
        os.close(ours)
        os.close(theirs)
    listen = ("reports", "--from", node.publisher_endpoint)
    for words in (("--json", "top", "--interval", "0.1"), listen):
        with subprocess.Popen([PROGRAM, "-c", node.endpoint, *words], stdout=subprocess.PIPE) as program:
            fcntl.fcntl(program.stdout, fcntl.F_SETPIPE_SZ, 4096)

            def is_full(program=program, words=words):
                for _ in range(100 if words == listen else 0):
                    node.publisher.send_multipart([b"report.7", json.dumps(REPORT).encode()])
                return is_writing(program.pid)
            until(is_full, 20, "a full pipe")
            program.terminate()
            try:
                equal(program.wait(6), 1, f"exit code of {words}")
            finally:
                program.kill()


@test()
def keys_sort_scroll_and_choose_what_top_shows(workspace):
    node = Counting(workspace, ports=40)
    with node.top(rows=15, TERM="xterm") as terminal:
        terminal.until(lambda text: bits(text) and "1–10 of 40" in text, "the first ten ports")
        equal(names(terminal)[:3], ["p1", "p10", "p11"], "by name")
        terminal.type(RIGHT * 2)
        terminal.until(lambda text: "by rx ▾" in text and names(terminal)[:3] == ["p40", "p39", "p38"], "by rate")
        terminal.type("r")
        terminal.until(lambda text: "by rx ▴" in text and names(terminal)[:3] == ["p1", "p2", "p3"], "reversed")
        terminal.type(DOWN * 3 + UP)
        terminal.until(lambda text: "3–12 of 40" in text and names(terminal)[0] == "p3", "scrolled by two")
        terminal.type(PAGE_DOWN)
        terminal.until(lambda text: "13–22 of 40" in text, "a page")
        terminal.type(END)
        terminal.until(lambda text: "31–40 of 40" in text and names(terminal)[-1] == "p40", "the end")
        terminal.type("k" * 60)
        terminal.until(lambda text: "1–10 of 40" in text, "the beginning")
        terminal.type(LEFT * 2)
        terminal.until(lambda text: "by port" in text, "by name again")
        terminal.type("3")
        terminal.until(lambda text: "[3 hops]" in text and "0 → 1" in text, "hops")
        terminal.type("\x1b[Z")
        terminal.until(lambda text: "[2 rules]" in text, "the view before")
        terminal.type("9x\x07")  # keys without a meaning
        terminal.type("1")
        terminal.until(lambda text: "[1 ports]" in text, "ports")
    one = subprocess.run([PROGRAM, "-c", node.endpoint, "top", "--interval", "0"], capture_output=True, text=True,
                         check=False)
    check(one.returncode == 2 and "from 0.1" in one.stderr, one)


@test()
def top_fits_every_size_and_follows_the_terminals(workspace):
    node = Counting(workspace, ports=30)
    with node.top() as terminal:
        terminal.until(lambda text: bits(text), "rates")
        for rows, columns in ((24, 80), (50, 200), (10, 40), (5, 30), (3, 20), (1, 1), (24, 80)):
            terminal.resize(rows, columns)
            terminal.program.send_signal(signal.SIGWINCH)
            begun = "hopsight top  node 2 sw1"[:columns]
            # A round after the resize has drawn the whole screen.
            terminal.until(lambda text, begun=begun: text.startswith(begun), f"a screen of {rows} x {columns}")
            if rows < 10:
                continue
            lines = terminal.until(lambda text, rows=rows: f"1–{min(30, rows - 5)} of 30" in text and
                                   terminal.lines(), f"the rows that fit {rows}")
            check(lines[-1].startswith("1–") and lines[2].startswith("port"), lines)
            left_out = next((line for line in lines if line.startswith("left out: ")), "")
            equal(bool(left_out), columns <= 80, f"what is left out at {columns}: {left_out}")
        terminal.type("q")
        equal(terminal.end(), 0, "exit code")
    with node.top(COLUMNS="50", LINES="12") as terminal:
        terminal.until(lambda text: "1–7 of 30" in text, "LINES and COLUMNS go before the terminal")
        check(all(len(line) <= 50 for line in terminal.lines()), terminal.lines())


@test()
def the_terminal_is_restored_in_every_way_out_of_top(workspace):
    node = Counting(workspace)
    for what, number in (("q", None), ("\x03", None), ("\x1c", None), (None, signal.SIGTERM), (None, signal.SIGHUP),
                         (None, signal.SIGINT)):
        with node.top(TERM="xterm") as terminal:
            terminal.until(lambda text: "quit" in text and 1049 in terminal.screen.modes, "the screen is taken")
            check(not terminal.is_restored(), "there is something to restore")
            if what:
                terminal.type(what)
            equal(terminal.end(number), 0, f"exit code of {what!r} {number}")
            check(terminal.is_restored(), f"after {what!r} {number}", terminal.raw[-200:])
    for term, said in (("dumb", "TERM: dumb"), ("nothing-like-it", "TERM: nothing-like-it"), (None, "TERM")):
        with node.top(TERM=term) as terminal:
            equal(terminal.end(), 2, f"exit code of TERM={term}")
            check(said in terminal.text() and terminal.is_restored(), terminal.text())
    with Terminal([PROGRAM, "-c", f"ipc://{workspace.path('nobody')}", "top"]) as terminal:
        equal(terminal.end(), 3, "exit code without a node")
        check("No such file" in terminal.text() and terminal.raw.count(b"\x1b") == 0, terminal.raw)


def json_rounds(endpoint, *words, n=3):
    with subprocess.Popen([PROGRAM, "-c", endpoint, "--json", "top", "--interval", "0.3", *words],
                          stdout=subprocess.PIPE, text=True) as program:
        rounds = [json.loads(program.stdout.readline()) for _ in range(n)]
        program.send_signal(signal.SIGINT)
    equal(program.returncode, 0, "exit code after Ctrl-C")
    return rounds


@test()
def top_that_is_not_on_a_terminal_prints_rounds(workspace):
    node = Counting(workspace)
    rounds = json_rounds(node.endpoint)
    equal(rounds[0]["ports"][0]["rx_pps"], None, "no rate in the first round")
    check(near(rounds[2]["ports"][1]["rx_pps"], 2000) and near(rounds[2]["rules"][0]["rx_bps"], 800e3), rounds[2])
    check(rounds[0]["ts_ns"] < rounds[1]["ts_ns"] and len(rounds[2]["hops"]) == 2, rounds[1])
    check(not any(key.startswith(".") for key in rounds[2]["ports"][0]), rounds[2])
    with subprocess.Popen([PROGRAM, "-c", node.endpoint, "top", "--interval", "0.2"], stdout=subprocess.PIPE,
                          text=True) as program:
        lines = [program.stdout.readline().rstrip() for _ in range(40)]
        program.terminate()
    times = [line for line in lines if re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}Z", line)]
    check(len(times) >= 2 and times == sorted(times), lines)
    header = next(line for line in lines if line.startswith("port "))
    check("rx total" in header and "ports" in lines and "rules" in lines and "hops" in lines, lines)


@test()
def top_takes_replies_of_more_than_a_mebibyte(workspace):
    """As those of a controller with many nodes are."""
    node = Counting(workspace, ports=8000)
    check(len(json.dumps(node.replies["ports_get"]())) > 1 << 20, "the reply is too short for this test")
    equal(len(json_rounds(node.endpoint, n=2)[1]["ports"]), 8000, "ports")


class Stream:
    """Sends a frame again and again, and counts."""

    def __init__(self, port, frame, pps):
        self.port, self.frame, self.pps, self.sent, self.on = port, frame, pps, 0, True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        begin = time.monotonic()
        while self.on:
            due = int((time.monotonic() - begin) * self.pps)
            self.port.send(*[self.frame] * (due - self.sent))
            self.sent = max(due, self.sent)
            time.sleep(0.005)

    def stop(self):
        self.on = False
        self.thread.join()


@test(limit_s=90)
def top_shows_the_rates_of_a_real_node_and_of_its_controller_and_says_that_it_is_gone(workspace):
    need()
    control = {"publish_to": [f"ipc://{workspace.path('ctl')}.sub"]}
    chain = Chain(workspace, nodes=2, control=control).start()
    controller = Controller(workspace, chain.nodes).start()
    left, right = chain.hosts
    controller.call("int_request", **rule(7, A, B, dst_port=5001, mode="count", mode_setting=1), on={"path": "all"})
    controller.wait_present(7)
    frame = fr.udp_frame(left.address, right.address, 4000, 5001, bytes(500), destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    stream = Stream(RawPort(left.namespace, "eth0"), frame, 500)
    source, sink = chain.nodes
    until(lambda: sink.call("qos_get", ns_id=7, window="1s")["qos"], 10, "a window")
    # All rates are those of the sender, whoever says them.
    begin, sent = time.monotonic(), stream.sent
    at_source = json_rounds(source.api, n=4)[-1]
    pps = (stream.sent - sent) / (time.monotonic() - begin)
    found = at_source["rules"][0]
    check(near(found["rx_pps"], pps) and near(found["rx_bps"], pps * 562 * 8) and "path" not in found, pps, found)
    check(max(port["rx_pps"] for port in at_source["ports"]) > 0.7 * pps, pps, at_source["ports"])
    found = json_rounds(sink.api, "--window", "1s")[-1]
    check(found["rules"][0]["path"].endswith("→ 2") and found["rules"][0]["loss_ratio"] < 0.5, found["rules"])
    check(found["rules"][0]["p99_ns"] > 0 and found["rules"][0]["jitter_ns"] > 0, found["rules"])
    check(near(found["hops"][0]["throughput_bps"], pps * 562 * 8), pps, found["hops"])
    found = {entry["node"]: entry for entry in json_rounds(controller.api)[-1]["rules"]}
    equal(set(found), {node.name for node in chain.nodes}, "rows of the controller")
    check(all(near(entry["rx_pps"], pps) and entry["state"] == "present" for entry in found.values()), pps, found)
    check("path" not in found[source.name] and found[sink.name]["path"].endswith("→ 2"), "metrics stand at the sink", found)

    with Terminal([PROGRAM, "-c", source.api, "-t", "1", "top", "--interval", "0.3"]) as terminal:
        terminal.until(lambda text: bits(text), "rates")
        source.stop()
        text = terminal.until(lambda text: "nobody answers there, since" in text and text, "the node is gone")
        check(not bits(text) and "–" in text and "asking again" in text, text)
        source.start()
        terminal.until(lambda text: "nobody" not in text and bits(text), "the node is back", limit_s=20)
        with paused(source.process):
            terminal.until(lambda text: "no reply in time, since" in text and not bits(text), "the node says nothing")
        terminal.until(lambda text: "no reply" not in text and bits(text), "it speaks again", limit_s=20)
        source.stop()
        terminal.until(lambda text: "nobody answers there" in text, "the node is gone for good")
        terminal.type("q")
        equal((terminal.end(), terminal.is_restored()), (0, True), "the end while the node is gone")
    stream.stop()
    controller.stop()


@test()
def top_shows_flows_queues_links_and_exporters_of_a_collector(workspace):
    need()
    collector = Collector(workspace).start()
    told = packet(("10.0.0.1", "10.0.0.2", 1000, 2000), [(1, 1, 2, 400, 0, 3, 7), (2, 1, 2, 500, 0, 4, 8)])
    sender, sent = collector.socket(), 0
    with Terminal([PROGRAM, "-c", collector.api, "top", "--interval", "0.3"], columns=120) as terminal:
        def seen(*words):
            def condition(text):
                nonlocal sent
                sender.send(report(told, sequence=sent))
                sent += 1
                return all(word in text for word in words)
            return condition
        terminal.until(seen("collector", "[1 ports]", "2 flows"), "the views of a collector")
        for key, words in (("2", ("[2 flows]", "10.0.0.1", "1 (400) → 2 (500)", "900 ns")), ("3", ("[3 queues]", "occupancy", "age")),
                           ("4", ("[4 links]", "utilisation")), ("5", ("[5 exporters]", "127.0.0.1"))):
            terminal.type(key)
            terminal.until(seen(*words), words)
        terminal.until(seen("/s"), "rates")
        terminal.type("q")
        equal(terminal.end(), 0, "exit code")
    rows, = json_rounds(collector.api, n=1)
    equal({row["latency"] for row in rows["flows"]}, {flow["latency"] for flow in collector.call("flow_get")["flows"]},
          "latencies are numbers in JSON")
    check(all(isinstance(row["latency"], int) and row["unit"] == "ns" for row in rows["flows"]), rows["flows"])
    collector.stop()


if __name__ == "__main__":
    sys.exit(main())
