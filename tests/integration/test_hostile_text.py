# SPDX-License-Identifier: BSD-3-Clause
"""A node that puts terminal controls into every string and every key of its answers."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time

import zmq

from lib import check, equal, main, netlab, test, until
from terminal import Terminal
from test_cli import PROGRAM, QOS, REPORT, RULE

UNSAFE = [*map(chr, range(1, 0x20)), *map(chr, range(0x7f, 0xa0)), "\u061c", "\u200e", "\u200f",
          "\u2028", "\u2029", *map(chr, range(0x202a, 0x202f)), *map(chr, range(0x2066, 0x206a))]
NASTY = "".join(UNSAFE) + "\x1b]0;title\x07\x1b[2J\x9b31m\r\nrule 9 installed\n\u202egnp.exe"
# A program's output is text without any of these. The program's own line ends are allowed.
FORBIDDEN = re.compile("[" + "".join(re.escape(c) for c in UNSAFE if c != "\n") + "]")
PORT = {"name": "west", "index": 0, "side": "host", "driver": "x", "rx_packets": 10,
        "drops": {"no_room": 1}}
LABEL = {"node": "a", "node_id": 1, "id": 2, "name": "west", "active": True, "missed": 0, "items": 9, "age_ns": 7,
        "latency_ns": 100, "enqueue_packets": 5, "queue_ns": 20, "shift": 1, "confirmed": True}
REPLIES = {
    "hello": {"api_version": "1.0", "verbs": ["hello"], "limits": {"depth": 16}},
    "node_get": {"id": 2, "name": "sw1", "workers": [{"worker": 0, "ports": ["west"]}]},
    "ports_get": {"ports": [PORT]},
    "drops_get": {"drops": [{"port": "west", "reason": "no_room", "text": "full", "packets": 1}]},
    "stats_get": {"stats": [{"name": "rx", "kind": "counter", "unit": "packets", "help": "in",
                             "value": 10, "port": "west"}]},
    "events": {"events": [{"seq": 4, "ts_ns": 1700000000123456789, "kind": "link",
                           "message": "went away"}], "lost": 3, "next": 4},
    "audit": {"ok": True, "equations": [{"name": "port_in", "text": "rx = tx", "ok": True,
                                         "left": 1, "right": 1, "terms": {"rx": 1}}],
              "ports": [{"name": "west", "rx_packets": 10}]},
    "int_list": {"rules": [RULE], "count": 1, "shadowed": [{"ns_id": 7, "shadowed_by": 8}]},
    "int_get": {"rule": RULE, "counters": {"tx_packets": 1}, "state": {"origin": "api"}},
    "int_request": {"ns_id": 7, "not_told": [{"metric": "loss_ratio", "of": "e2e", "needs": "0x2",
                                              "text": "no count"}]},
    "int_update": {"ns_id": 7},
    "int_delete": {"ns_id": 7},
    "qos_get": {"qos": [QOS], "applications": [{"app_id": 4, "flows": [
        {"ns_id": 7, "from": "::1", "to": "::2", "direction": "up", "reports": 1}]}]},
    "route_list": {"routes": [{"prefix": "::/0", "port": "west", "next_hop_mac": "02:0:0:0:0:1"}],
                   "count": 1},
    "neighbour_list": {"neighbours": [{"addr": "::1", "port": "west", "mac": "x", "routes": 1}]},
    "route_add": {"prefix": "::/0"},
    "neighbour_add": {"addr": "::1"},
    "label_get": {"ports": [LABEL], "not_seen": [LABEL], "hottest": [LABEL], "interval_ns": 100000000, "coverage": {
        "intervals": 4, "whole": 2, "mean": 0.5, "min": 0.0, "last": 1.0, "last_ports": 1, "last_seen": 1}},
}
GATHERED = {verb: {"nodes": {"n1": REPLIES[verb]},
                   "errors": {"n2": {"code": "busy", "message": "no"}}, "unreachable": ["n3"]}
            for verb in ("ports_get", "drops_get", "stats_get", "audit", "int_get")}
WORDS = [("hello",), ("node",), ("ports",), ("drops",), ("stats",), ("events",), ("audit",),
         ("rule", "list"), ("rule", "show", "7"), ("rule", "del", "7"),
         ("rule", "set", "7", "hop_enabled=true"), ("rule", "add", "--ns", "7"), ("qos",),
         ("qos", "7"), ("qos", "--app", "4"), ("label",), ("route", "list"), ("neighbour", "list"),
         ("route", "add", "::/0", "--via", "::1"), ("call", "-")]


def spoil(value, keys, nasty=NASTY):
    """Appends the controls to every string and, if requested, to every key and further members."""
    if isinstance(value, dict):
        spoilt = {key + nasty if keys else key: spoil(inner, keys, nasty)
                  for key, inner in value.items()}
        return {**spoilt, "more" + nasty: {"inner" + nasty: [nasty, {nasty: nasty}]}}
    if isinstance(value, list):
        return [spoil(inner, keys, nasty) for inner in value]
    return value + nasty if isinstance(value, str) else value


class Hostile:
    def __init__(self, workspace):
        self.endpoint = f"ipc://{workspace.path('hostile.api')}"
        self.publisher_endpoint = f"ipc://{workspace.path('hostile.pub')}"
        self.answer = lambda verb: b""
        self.context = zmq.Context()
        self.publisher = self.context.socket(zmq.PUB)
        self.publisher.bind(self.publisher_endpoint)
        self.router = self.context.socket(zmq.ROUTER)
        self.router.bind(self.endpoint)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            *route, body = self.router.recv_multipart()
            verb = next((v for v in json.loads(body or b"{}") if v.endswith(
                ("get", "list", "hello", "events", "audit", "add", "request", "update", "delete"))),
                "hello")
            answer = self.answer(verb)
            if b'"id"' in body:
                answer = json.dumps({**json.loads(answer), "id": json.loads(body)["id"]}, ensure_ascii=False).encode()
            self.router.send_multipart([*route, answer])

    def run(self, *words):
        done = subprocess.run([PROGRAM, "-c", self.endpoint, *words], capture_output=True,
                              input=b'{"hello": {}}', check=False, timeout=20)
        return done.stdout, done.stderr


def judge(output, words, lines=None):
    text = output.decode()  # strict decoding: only UTF-8 may come out
    found = FORBIDDEN.search(text)
    check(not found, f"{words}: {found and hex(ord(found[0]))} in {text!r}"[:3000])
    check("\nrule 9 installed" not in text, f"{words}: a line of the node's own in {text!r}"[:3000])
    return text


def reply_of(ok):
    return json.dumps({"ok": ok, "generation": 1}, ensure_ascii=False).encode()


@test(limit_s=120)
def nothing_in_strings_or_keys_of_a_node_reaches_the_terminal(workspace):
    node = Hostile(workspace)
    for table in (REPLIES, {**REPLIES, **GATHERED}):
        for keys in (False, True):
            node.answer = lambda verb: reply_of(
                spoil(table.get(verb, REPLIES["hello"]), keys))  # pylint: disable=cell-var-from-loop
            for words in WORDS:
                for output in node.run(*words):
                    judge(output, words)
                out, said = node.run("--json", *words)
                judge(said, words)
                parsed = json.loads(judge(out, ("--json", *words)))
                if words in (("hello",), ("node",)):
                    inner = parsed["more" + NASTY]["inner" + NASTY]
                    equal(inner, [NASTY, {NASTY: NASTY}], "--json tells it as it is")


@test(limit_s=60)
def nothing_in_an_error_of_a_node_reaches_the_terminal(workspace):
    node = Hostile(workspace)
    error = {"code": "x", "path": "a", "message": "no", "expected": "yes"}
    node.answer = lambda verb: json.dumps({"error": spoil(error, False)},
                                          ensure_ascii=False).encode()
    for words in WORDS:
        for option in ((), ("--json",)):
            for output in node.run(*option, *words):
                judge(output, words)


@test(limit_s=60)
def a_reply_that_is_no_json_and_no_utf8_does_not_reach_the_terminal(workspace):
    node = Hostile(workspace)
    for reply in (bytes(range(1, 256)), NASTY.encode(), b'{"ok": "' + bytes(range(128, 256)) + b'"}',
                  b"\xc2", b"\xe2\x80", b"\xed\xa0\x80\x9b31m", b"\xf0\x9b\x1b[2J"):
        node.answer = lambda verb: reply  # pylint: disable=cell-var-from-loop
        for words in (("call", "-"), ("hello",), ("--json", "call", "-"), ("--json", "rule", "list")):
            for output in node.run(*words):
                judge(output, words)


@test(limit_s=60)
def nothing_published_reaches_the_terminal(workspace):
    node = Hostile(workspace)
    for option in ((), ("--json",)):
        with subprocess.Popen([PROGRAM, "-c", node.endpoint, *option, "reports", "--from",
                               node.publisher_endpoint], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as program:
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                for body in (json.dumps(spoil(REPORT, False), ensure_ascii=False).encode(),
                             json.dumps(spoil(REPORT, True), ensure_ascii=False).encode(),
                             bytes(range(1, 256)), NASTY.encode()):
                    node.publisher.send_multipart([b"report.7" + NASTY.encode(), body])
                time.sleep(0.02)
            program.terminate()
            text = judge(program.communicate(timeout=10)[0], ("reports", *option))
        check("998" in text, "no report was shown")


@test(limit_s=60)
def watching_on_a_terminal_shows_nothing_but_the_programs_own_control(workspace):
    node = Hostile(workspace)
    node.answer = lambda verb: reply_of(spoil(REPLIES["hello"], True))
    ours, theirs = pty.openpty()
    with subprocess.Popen([PROGRAM, "-c", node.endpoint, "--watch", "0.05", "hello"], stdout=theirs,
                          stderr=theirs) as program:
        os.close(theirs)
        seen = b""

        def repeated():
            nonlocal seen
            if select.select([ours], [], [], 0.1)[0]:
                seen += os.read(ours, 65536)
            return seen.count(b"\x1b[H\x1b[J") >= 3

        until(repeated, 10, "three looks")
        program.terminate()
    whole = seen[:seen.rindex(b"\x1b[H\x1b[J")]  # the last screen may be incomplete
    judge(whole.replace(b"\x1b[H\x1b[J", b"").replace(b"\r\n", b"\n"), ("--watch",))


@test(limit_s=60)
def top_draws_nothing_of_a_nodes_strings_but_characters(workspace):
    node = Hostile(workspace)
    for hello in ({}, {"controller": True}, {"collector": True}):
        replies = {**REPLIES, **(GATHERED if "controller" in hello else {}), "hello": {**REPLIES["hello"], **hello,
                                                                                    "name": "n"}}
        for keys in (False, True):
            node.answer = lambda verb: reply_of({  # the members that say who answers are whole
                **spoil(replies.get(verb, {}), keys), **hello})  # pylint: disable=cell-var-from-loop
            with Terminal([PROGRAM, "-c", node.endpoint, "top", "--interval", "0.1"], columns=200) as terminal:
                terminal.until(lambda text: "[1 ports]" in text, "a screen")
                for view in "23":
                    terminal.type(view)
                    terminal.until(lambda text, view=view: f"[{view} " in text, "a view")
                named = "" if keys or "collector" in hello else "\\u001b"  # of a port
                terminal.type("1")
                text = terminal.until(  # the title comes before the rows
                    lambda text, named=named: "[1 ports]" in text and named in text and text, "the ports and their names")
                terminal.type("q")
                equal(terminal.end(), 0, "exit code")
                check(b"title\x07" not in terminal.raw, "the title of the terminal")
                judge(text.encode(), ("top",))


@test(limit_s=60)
def names_in_files_do_not_reach_the_terminal_or_the_log(workspace):
    """Node and controller name what is wrong in a file, and the lab shows names of scenarios."""
    path = workspace.path("nasty.json")
    programs = (("hopsightd", "--check", "--config"), ("hopsight-controller", "--check", "--config"),
                ("hopsightd", "--print-config", "--config"), ("hopsight-lab", "run"),
                ("hopsight-lab", "check"), ("hopsight-lab", "run", "--json", "-"))
    with open(os.path.join(netlab.ROOT, "config", "lab", "path-change.json"), encoding="utf-8") as f:
        scenario = json.load(f)
    files = [{"node": {"id": 1, "name": NASTY}, NASTY: 1},
             {"node": {"id": 1, "name": "x"}, "ports": [{"name": NASTY, "iface": NASTY}]},
             {"node": {"id": NASTY}},
             {**scenario, "name": "x" + NASTY, "source": NASTY},
             {**scenario, NASTY: NASTY},
             {**scenario, "duration_s": 2, "source": NASTY}]
    for content in files:
        with open(path, "w", encoding="utf-8") as f:
            json.dump(content, f, ensure_ascii=False)
        for program, *words in programs:
            done = subprocess.run([os.path.join(netlab.BUILD, "apps", program), *words, path],
                                  capture_output=True, check=False, timeout=30,
                                  cwd=workspace.folder)
            for output in (done.stdout, done.stderr):
                judge(output.replace(b"\r", b""), (program, *words))


if __name__ == "__main__":
    sys.exit(main())
