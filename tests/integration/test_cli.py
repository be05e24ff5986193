# SPDX-License-Identifier: BSD-3-Clause
"""The command line against a simulated node: a socket and canned replies."""

import copy
import json
import os
import select
import subprocess
import sys
import threading

import zmq

from lib import check, equal, main, netlab, test, until

PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsight")
RULE = {"ns_id": 7, "app_id": 1, "src_ip": "2001:db8::1", "dst_ip": "2001:db8::2", "src_port": 0,
        "dst_port": 5001, "protocol": "udp", "trace_type": "0x7000E000", "mode": "count",
        "mode_setting": 100, "hop_enabled": True, "transmit_report": True}
HOP = {"throughput_bps": 44960000, "window_throughput_bps": 44960000,
       "delay_ns": {"mean": 10000000, "min": -1500, "p50": 10000000, "max": 1200000000},
       "jitter_ns": 250, "loss_ratio": 0.125, "lost_packets": 2, "tx_packets": 16,
       "rx_packets": 14}
QOS = {"seq": 1, "node_id": 9, "ns_id": 7, "app_id": 1, "window_ns": 1000000000,
       "start_ns": 1700000000000000000, "end_ns": 1700000001000000000, "reports": 100,
       "stale": False, "path": [0, 1, 9], "path_changed": False,
       "hops": [dict(HOP, **{"from": 0, "to": 1}), dict(HOP, **{"from": 1, "to": 9})],
       "e2e": dict(HOP, unattributed_lost_packets=0), "flags": ["negative_delay"]}
REPORT = {"int_report": {"seq": 1, "node_id": 9, "ns_id": 7, "app_id": 1,
          "trace_type": "0x7000E000",
          "e2e": {"ts_ns": 1700000000000000000, "tx_packets": 1000, "tx_bytes": 562000},
          "sink": {"node_id": 9, "ts_ns": 1700000000025000000, "rx_packets": 998,
                   "rx_bytes": 560876},
          "hops": [{"node_id": 1, "trace_type": "0xE000", "ts_ns": 1700000000010000000}]}}


class FakeNode:
    """Answers each verb with its value in `replies`, or with the next of a list or what a function
    returns, and keeps the requests."""

    def __init__(self, workspace, **replies):
        self.endpoint = f"ipc://{workspace.path('fake.api')}"
        self.publisher_endpoint = f"ipc://{workspace.path('fake.pub')}"
        self.replies = replies
        self.asked = []
        self.context = zmq.Context()
        self.publisher = self.context.socket(zmq.PUB)
        self.publisher.bind(self.publisher_endpoint)
        router = self.context.socket(zmq.ROUTER)
        router.bind(self.endpoint)
        threading.Thread(target=self._serve, args=(router,), daemon=True).start()

    def _serve(self, router):
        while True:
            *route, body = router.recv_multipart()
            self.asked.append(body)
            request = {}
            try:
                request = json.loads(body)
                reply = self.replies[next(iter(request))]
            except (ValueError, KeyError, StopIteration):
                reply = {"error": {"code": "unknown_verb", "path": "", "message": "what?"}}
            if reply is None:
                continue
            if isinstance(reply, list):
                reply = reply.pop(0)
            if callable(reply):
                reply = reply()
            if "id" in request:
                reply = dict(reply, id=request["id"])
            router.send_multipart([*route, json.dumps(reply).encode()])

    def run(self, *words, expected=0, stdin=None):
        done = subprocess.run([PROGRAM, "-c", self.endpoint, *words], capture_output=True,
                              text=True, check=False, timeout=20, input=stdin)
        equal(done.returncode, expected, f"exit code of {words}: {done.stdout} {done.stderr}")
        return done

    def request(self):
        return json.loads(self.asked[-1])


@test()
def rule_add_sends_the_papers_listing(workspace):
    node = FakeNode(workspace, int_request={"ok": {"ns_id": 7}, "generation": 1})
    done = node.run("rule", "add", "--ns", "7", "--app", "1", "--src", "2001:db8::1", "--dst",
                    "2001:db8::2", "--sport", "0", "--dport", "5001", "--proto", "udp",
                    "--trace", "0x7000E000", "--mode", "probability", "--setting", "0.5",
                    "--hop-enabled", "false", "--in-band", "true")
    equal(node.request(), {"int_request": {
        "ns_id": 7, "app_id": 1, "src_ip": "2001:db8::1", "dst_ip": "2001:db8::2", "src_port": 0,
        "dst_port": 5001, "protocol": "udp", "trace_type": "0x7000E000", "mode": "probability",
        "mode_setting": 0.5, "hop_enabled": False, "in_band": True}}, "request")
    equal(done.stdout, "rule 7 installed\n", "output")
    node.run("rule", "add", "--ns", "8", "--owner", "42", "--revision", "3", "--fields",
             '{"bytes": {"supported": false}}')
    equal(node.request(), {"int_request": {"ns_id": 8, "owner": "42", "revision": 3, "fields":
                                           {"bytes": {"supported": False}}}}, "labels")


@test()
def rule_add_at_a_controller_says_that_the_rule_is_wanted(workspace):
    controller = FakeNode(workspace, int_request={"ok": {"ns_id": 7, "nodes": 2}, "generation": 1})
    done = controller.run("rule", "add", "--ns", "7", "--owner", "42", "--on-path", "a-b")
    equal(done.stdout, "rule 7 wanted at 2 nodes; `rule list` says where it is present\n", "output")


@test()
def rule_add_sends_prefixes_any_protocol_and_a_dscp(workspace):
    node = FakeNode(workspace, int_request={"ok": {"ns_id": 9}, "generation": 1})
    node.run("rule", "add", "--ns", "9", "--src", "10.0.0.0/8", "--dst", "0.0.0.0/0", "--proto",
             "any", "--dscp", "10", "--method", "int", "--instructions", "node_id,queue",
             "--mode", "count", "--setting", "1")
    equal(node.request(), {"int_request": {
        "ns_id": 9, "src_ip": "10.0.0.0/8", "dst_ip": "0.0.0.0/0", "protocol": "any", "dscp": 10,
        "method": "int", "instructions": ["node_id", "queue"], "mode": "count",
        "mode_setting": 1}}, "request")


def method_at(*methods, instructions=()):
    return {"ports": [{"name": "h", "side": "host"}, *({"name": method, "side": "network", "method": method}
                      | ({"instructions": list(instructions)} if method == "int" else {}) for method in methods)]}


@test()
def rule_add_at_a_controller_takes_what_the_nodes_of_the_rule_have_in_common(workspace):
    nodes = {"flex": method_at("flexint"), "border": method_at("flexint", "int", instructions=("node_id", "queue", "ports")),
             "old": method_at("int", instructions=("queue", "node_id")), "new": method_at("int", instructions=("node_id", "ports")),
             "hosts": method_at()}
    node = FakeNode(workspace, int_request={"ok": {"ns_id": 7}})

    def asked(*words, there=tuple(nodes), source="2001:db8::1", expected=0):
        node.replies["ports_get"] = {"ok": {"nodes": {name: nodes[name] for name in there}, "errors": {}, "unreachable": []}}
        done = node.run("rule", "add", "-s", source, "-d", source + "2", *words, expected=expected)
        content = {} if expected else node.request()["int_request"]
        return done.stderr or {key: content[key] for key in ("method", "instructions", "trace_type", "on") if key in content}

    everything = {"trace_type": "0xF000E000"}
    equal(asked(there=("flex", "border", "hosts")), everything, "all nodes")
    check("name --method" in asked(expected=2), "nodes of both methods")
    check("name --method" in asked("--on-path", "p", expected=2), "a path may have any node")
    check("name --method" in asked("--on", "flex,old", expected=2), "both methods among the nodes of the rule")
    equal(asked("--on", "flex,border"), everything | {"on": {"nodes": ["flex", "border"]}}, "other nodes do not count")
    equal(asked("--on", "border,old,hosts"), {"method": "int", "instructions": ["node_id", "queue"],
          "on": {"nodes": ["border", "old", "hosts"]}}, "what each of them has")
    equal(asked("--on", "old,new")["instructions"], ["node_id"], "what each of them has")
    equal(asked("--at", "new"), {"method": "int", "instructions": ["node_id", "ports"], "on": {"source": "new"}}, "one")
    equal(asked("--method", "flexint"), {"method": "flexint"} | everything, "a method that is named")
    equal(asked("--on-path", "p", source="192.0.2.1"),
          {"method": "int", "instructions": ["node_id"], "on": {"path": "p"}}, "IPv4")
    check('no node is called "away"' in asked("--at", "away", there=("flex",), expected=2), "a node that is not there")
    check("a node's name is missing" in asked("--on", "", expected=2), "no name")
    for words in (("--at", "flex", "--on", "new"), ("--on-path", "p", "--at", "flex"), ("--on", "flex", "--on-path", "p")):
        check("cannot stand together" in asked(*words, expected=2), "where the rule belongs", words)
    node.replies["ports_get"] = {"ok": method_at("int", instructions=("node_id", "ports"))}
    for method in ("flexint", "bogus"):
        node.run("rule", "add", "-s", "192.0.2.1", "-d", "192.0.2.2", "--method", method)
        equal(node.request()["int_request"]["method"], method, "the node refuses a method that is not for IPv4")
    node.replies["ports_get"] = {"ok": {"nodes": {}, "errors": {"away": {"code": "busy"}}, "unreachable": []}}
    check("no node of the rule tells" in node.run("rule", "add", "-s", "2001:db8::1", "-d", "2001:db8::2", "--at", "away",
                                                  expected=2).stderr, "a node that says nothing")
    # A controller that has just begun.
    nobody = {"ok": {"nodes": {}, "errors": {}, "unreachable": list(nodes)}}
    node.replies["ports_get"] = [nobody, nobody, {"ok": {"nodes": {"old": nodes["old"]}, "unreachable": ["new"]}}]
    node.run("rule", "add", "-s", "192.0.2.1", "-d", "192.0.2.2")
    equal(sorted(node.request()["int_request"]["instructions"]), ["node_id", "queue"], "nodes that answered later")


@test()
def what_no_node_of_a_controller_answers_has_not_succeeded(workspace):
    asked = {"int_get": ("rule", "show", "7"), "explain": ("explain", "7"), "ports_get": ("ports",),
             "drops_get": ("drops",), "stats_get": ("stats",), "label_set": ("label", "set", "p1=3")}
    busy = {"n1": {"code": "busy", "message": "no"}}
    answers = (({"nodes": {}, "errors": busy, "unreachable": []}, 1), ({"nodes": {}, "errors": {}, "unreachable": ["n2"]}, 1),
               ({"nodes": {"n3": {}}, "errors": busy, "unreachable": ["n2"]}, 0),
               ({"nodes": {}, "errors": {}, "unreachable": []}, 0))  # there is no node to ask
    node = FakeNode(workspace)
    for verb, words in asked.items():
        for answer, expected in answers:
            node.replies[verb] = {"ok": answer}
            for option in ("--json", "--prometheus") if verb == "stats_get" else ("--json",):
                node.run(*words, expected=expected)
                node.run(option, *words, expected=expected)


@test()
def a_port_of_which_no_label_came_is_named(workspace):
    coverage = {"intervals": 5, "whole": 4, "mean": 0.9, "min": 0.5, "last_ports": 1}
    node = FakeNode(workspace, label_get={"ok": {"ports": [], "coverage": coverage, "not_seen": [], "hottest": []}})
    equal(node.run("label", "l1", "9", expected=1).stderr, "hopsight: no item of a port 9 of node l1 came\n", "label l1 9")
    equal(node.request()["label_get"], {"node": "l1", "id": 9}, "the question")


@test()
def reports_name_who_publishes_them(workspace):
    node = FakeNode(workspace)
    for other in "controller", "collector":
        node.replies["node_get"] = {"ok": {other: "x", "nodes": [], "publish_bind": ["ipc://somewhere"]}}
        equal(node.run("reports", expected=1).stderr,
              f"hopsight: a {other} publishes no reports of rules: ask a node\n", other)


@test()
def rule_set_and_del_send_what_they_are_told(workspace):
    node = FakeNode(workspace, int_update={"ok": {"ns_id": 7}}, int_delete={"ok": {"ns_id": 7}})
    node.run("rule", "set", "7", "hop_enabled=false", "mode=frequency", "mode_setting=10")
    equal(node.request(), {"int_update": {"ns_id": 7, "hop_enabled": False, "mode": "frequency",
                                          "mode_setting": 10}}, "request")
    node.run("rule", "set", "7", "hop_enabled=no", "transmit_report=yes")
    equal(node.request(), {"int_update": {"ns_id": 7, "hop_enabled": False,
                                          "transmit_report": True}}, "as tables say it")
    node.run("rule", "set", "7", "owner=42", "revision=3", "mode=null")
    equal(node.request(), {"int_update": {"ns_id": 7, "owner": "42", "revision": 3,
                                          "mode": None}}, "labels")
    before = len(node.asked)
    said = node.run("rule", "set", "7", "ns_id=9", "mode_setting=10", expected=2).stderr
    check("ns_id names the rule" in said, "another rule", said)
    said = node.run("rule", "set", "7", "mode_setting=10", "mode_setting=20", expected=2).stderr
    check("mode_setting is given twice" in said, "two values", said)
    equal(len(node.asked), before, "requests")
    node.run("rule", "del", "7", "--dry-run")
    equal(node.request(), {"int_delete": {"ns_id": 7}, "dry_run": True}, "request")
    node.replies["int_delete"] = {"ok": {"dry_run": True}}
    equal(node.run("rule", "del", "7", "--dry-run").stdout, "rule 7 would be accepted\n", "dry run")


@test()
def rule_show_has_no_time_of_what_never_was(workspace):
    counters = {"int_packets": 0, "mtu_needed_bytes": 0, "last_int_tx_ns": 0}
    node = FakeNode(workspace, int_get={"ok": {"rule": RULE, "counters": counters, "state": {"monitored": False}}})
    lines = [line.split() for line in node.run("rule", "show", "7").stdout.splitlines()]
    for line in (["int_packets", "0"], ["mtu_needed_bytes", "–"], ["last_int_tx_ns", "–"]):
        check(line in lines, line, lines)
    equal(json.loads(node.run("--json", "rule", "show", "7").stdout)["counters"], counters, "json")
    counters |= {"mtu_needed_bytes": 1540, "last_int_tx_ns": 1700000000000000000}
    said = node.run("rule", "show", "7").stdout
    check("1540" in said and "2023-11-14 22:13:20" in said, said)


@test()
def a_refusal_is_exit_1_with_message_path_and_what_was_allowed(workspace):
    error = {"code": "wrong_family", "path": "int_request.src_ip",
             "message": "src_ip: \"192.0.2.1\" is an IPv4 address\u001b[2J",
             "expected": "an IPv6 address"}
    node = FakeNode(workspace, int_request={"error": error})
    done = node.run("rule", "add", "--src", "192.0.2.1", expected=1)
    equal(done.stdout, "", "stdout")
    for said in ("192.0.2.1", "int_request.src_ip", "an IPv6 address"):
        check(said in done.stderr, done.stderr)
    check("\x1b" not in done.stderr, "a reply drives the terminal")
    done = node.run("--json", "rule", "add", "--src", "192.0.2.1", expected=1)
    equal(json.loads(done.stdout), {"error": error}, "stdout with --json")


@test()
def rule_list_asks_page_after_page(workspace):
    pages = [{"ok": {"rules": [RULE], "count": 2, "next": 1}},
             {"ok": {"rules": [dict(RULE, ns_id=8)], "count": 2}}]
    node = FakeNode(workspace, int_list=list(pages))
    listed = json.loads(node.run("--json", "rule", "list").stdout)
    equal([r["ns_id"] for r in listed["rules"]], [7, 8], "rules")
    check("next" not in listed, listed)
    equal([json.loads(a) for a in node.asked], [{"int_list": {}}, {"int_list": {"offset": 1}}],
          "requests")
    node.replies["int_list"] = list(pages)
    lines = node.run("rule", "list").stdout.splitlines()
    equal(lines[0].split()[:3], ["ns", "app", "protocol"], "header")
    check("hop_enabled" in lines[0] and "yes" in lines[1], "named as `rule set` has it", lines)
    equal([line.split()[0] for line in lines[1:]], ["7", "8"], "rows")
    equal(len({len(line[:line.index("udp")]) for line in lines[1:]}), 1, "alignment")
    check("owner" not in lines[0], "no rule has an owner", lines)
    node.replies["int_list"] = [{"ok": {"rules": [RULE, dict(RULE, ns_id=8, owner="lab")],
                                        "count": 2}}]
    lines = node.run("rule", "list").stdout.splitlines()
    equal((lines[0].split()[-1], lines[2].split()[-1]), ("owner", "lab"), "one rule has")


@test()
def rules_and_ports_of_int_are_shown_with_what_is_of_int(workspace):
    watch = {key: value for key, value in RULE.items() if key != "trace_type"}
    watch |= {"ns_id": 9, "method": "int", "src_ip": "10.0.0.0/8", "dst_ip": "0.0.0.0/0", "protocol": "any",
              "dscp": 10, "instructions": ["node_id", "hop_latency"]}
    node = FakeNode(workspace, int_list={"ok": {"rules": [RULE, watch], "count": 2}}, ports_get={"ok": {"ports": [
        {"name": "west", "side": "host"},
        {"name": "east", "side": "network", "profile": "dc", "method": "int", "version": "2.1", "mode": "md",
         "carrier": "tcp_udp"}]}})
    lines = node.run("rule", "list").stdout.splitlines()
    for header, value in (("method", "int"), ("instructions", "node_id, hop_latency"), ("dscp", "10")):
        check(header in lines[0] and value in lines[2] and value not in lines[1].split(), lines)
    lines = node.run("ports").stdout.splitlines()
    for header, value in (("profile", "dc"), ("method", "int"), ("version", "2.1"), ("mode", "md"),
                          ("carrier", "tcp_udp")):
        check(header in lines[0] and value in lines[2] and value not in lines[1], lines)
    error = {"code": "unsupported", "path": "int_request.instructions",
             "message": "instructions: INT 1.0 has no buffer", "expected": "node_id, ports"}
    node.replies["int_request"] = {"error": error}
    words = ("rule", "add", "--ns", "9", "--method", "int", "--instructions", "buffer")
    done = node.run(*words, expected=1)
    for said in ("INT 1.0 has no buffer", "int_request.instructions", "node_id, ports"):
        check(said in done.stderr, done.stderr)
    equal(json.loads(node.run("--json", *words, expected=1).stdout), {"error": error}, "with --json")


@test()
def rules_whose_packets_another_takes_and_what_a_trace_type_does_not_tell_are_shown(workspace):
    pages = [{"ok": {"rules": [RULE], "count": 2, "next": 1}},
             {"ok": {"rules": [dict(RULE, ns_id=8)], "count": 2,
                     "shadowed": [{"ns_id": 8, "shadowed_by": 4711}]}}]
    untold = [{"metric": "loss_ratio", "of": "e2e", "needs": "0x20000000", "text": "no count"}]
    node = FakeNode(workspace, int_list=list(pages),
                    int_request={"ok": {"ns_id": 7, "not_told": untold}})
    lines = node.run("rule", "list").stdout.splitlines()
    check("shadowed_by" in lines[0] and "4711" not in lines[1] and "4711" in lines[2], lines)
    node.replies["int_list"] = list(pages)
    listed = json.loads(node.run("--json", "rule", "list").stdout)
    equal(listed["shadowed"], pages[1]["ok"]["shadowed"], "shadowed")
    said = node.run("rule", "add", "--ns", "7").stdout
    for word in ("loss_ratio of e2e", "no count", "(--trace needs packets)"):
        check(word in said, said)
    said = node.run("rule", "add", "--ns", "7", "--trace", "0x40000000").stdout
    check("(--trace needs 0x20000000)" in said, said)


@test()
def a_node_that_names_the_same_page_again_is_not_asked_for_ever(workspace):
    node = FakeNode(workspace, int_list={"ok": {"rules": [RULE], "next": 0}})
    node.run("rule", "list")
    equal(len(node.asked), 1, "requests")


@test()
def a_session_of_a_controller_that_has_restarted_is_not_waited_for(workspace):
    status = {"running": True, "nodes": [], "known": 0}
    over = {"ok": {**status, "running": False, "session": {"number": 7, "elapsed_ns": 5}}}
    node = FakeNode(workspace, probe_run={"ok": {"session": 7}}, probe_status=[{"ok": status}, over, over])
    check("session 7:" in node.run("probe", "run").stdout, "the session")
    node.replies["probe_status"] = lambda: {"ok": {**status, "running": False}}
    said = node.run("probe", "run", expected=1).stderr
    check("session 7" in said, said)


@test()
def qos_shows_each_hop_with_units(workspace):
    node = FakeNode(workspace, qos_get={"ok": {"qos": [QOS]}})
    node.run("qos", "--window", "250ms")
    equal(node.request(), {"qos_get": {"window": "250ms"}}, "request")
    lines = node.run("qos", "7", "--window", "1s").stdout.splitlines()
    equal(node.request(), {"qos_get": {"ns_id": 7, "window": "1s"}}, "request")
    for said in ("rule 7", "1 s", "100 reports", "0 → 1 → 9", "negative_delay",
                 "2023-11-14 22:13:21"):
        check(said in lines[0], said, lines[0])
    check("p99" not in lines[1], "a column without a value is shown", lines[1])
    equal(len(lines), 5, "lines")
    for said in ("44.96 Mbit/s", "10.000 ms", "-1.5 µs", "1.2 s", "250 ns", "12.5 %"):
        check(all(said in line for line in lines[2:]), said, lines)
    check(lines[4].startswith("end to end"), lines[4])
    equal(json.loads(node.run("--json", "qos").stdout), {"qos": [QOS]}, "json")
    node = FakeNode(workspace, qos_get={"ok": {"qos": []}})
    for words, said in (((), "came here lately; `--window run` shows"), (("--window", "run"), "ask the node where the flow leaves")):
        out = " ".join(node.run("qos", "7", *words).stdout.split())
        check(out.startswith("no metrics") and said in out, said, out)
    node.replies["qos_get"] = {"ok": {"qos": [{"qos_report": QOS}]}}
    equal(node.run("qos").stdout.splitlines(), lines, "a report in its wrapping")
    stale = dict(QOS, stale=True, age_ns=3300000000)
    node.replies["qos_get"] = {"ok": {"qos": [stale]}}
    check("last report 3.3 s ago" in node.run("qos").stdout, "how old a stale window is")
    node.replies["qos_get"] = {"ok": {"qos": []}}
    check("explain NS" in node.run("qos").stdout, "what says why there are none")


@test()
def every_query_prints_a_table_and_json(workspace):
    port = {"name": "west", "index": 0, "side": "network", "profile": "dc", "driver": "net_af_packet", "mtu": 1500,
            "link_up": True, "usable": True, "rx_packets": 10, "rx_bytes": 1000, "tx_packets": 9,
            "tx_bytes": 900, "rx_missed": 0, "rx_errors": 77,
            "tx_errors": 88, "drops": {"no_room": 1, "other": 0}, "events": {}}
    replies = {
        "hello": {"api_version": "1.0", "verbs": ["hello", "audit"], "limits": {"depth": 16}},
        "node_get": {"id": 2, "name": "sw1", "workers": [{"worker": 0, "ports": ["west"]}]},
        "ports_get": {"ports": [port]},
        "drops_get": {"drops": [{"port": "west", "reason": "no_room", "text": "it is full",
                                 "packets": 1},
                                {"port": "west", "reason": "other", "text": "-", "packets": 0}]},
        "stats_get": {"stats": [{"name": "rx", "kind": "counter", "unit": "packets",
                                 "help": "received", "value": 10, "port": "west"}]},
        "events": {"events": [{"seq": 4, "ts_ns": 1700000000123456789, "kind": "link",
                               "message": "west went away"}], "lost": 3, "next": 4},
        "audit": {"ok": True, "node_id": 2, "equations": [
            {"name": "port_in", "text": "rx = tx + drops", "ok": True, "left": 1, "right": 1,
             "terms": {"rx": 1}}], "ports": [{"name": "west", "rx_packets": 10}]},
    }
    node = FakeNode(workspace, **{verb: {"ok": ok} for verb, ok in replies.items()})
    said = {"hello": "hello, audit", "node": "west", "ports": "no_room=1", "drops": "it is full",
            "stats": "port=west", "events": "west went away", "audit": "everything adds up"}
    for words, expected in said.items():
        out = node.run(words).stdout
        check(expected in out, words, out)
        asked = next(iter(node.request()))
        equal(json.loads(node.run("--json", words).stdout), replies[asked], words)
    check("other" not in node.run("drops").stdout, "a reason without drops is shown")
    out = node.run("ports").stdout
    check("rx errors" in out and "77" in out and "tx errors" in out and "88" in out, out)
    check("profile" in out and "dc" in out, out)
    check("other" not in out, "a reason without drops is shown")
    check("3 events were lost" in node.run("events", "--since", "1").stdout, "lost events")
    equal(node.request(), {"events": {"since": 1}}, "request")


@test()
def long_settings_are_shown_whole_or_say_that_they_are_cut(workspace):
    settings = {f"key_{i}": "é" * 40 for i in range(20)}
    node = FakeNode(workspace, node_get={"ok": {"settings": settings}})
    said = node.run("node").stdout
    check(all(f"{key}={value}" in said for key, value in settings.items()), said)
    settings |= {f"more_{i}": "é" * 40 for i in range(100)}
    said = node.run("node").stdout.rstrip()
    check("more_5=" in said and "more_99=" not in said and "…" in said[-8:], said)


@test()
def flows_of_a_collector_have_the_names_of_protocols(workspace):
    flows = [{"src_ip": "::1", "src_port": 1, "dst_ip": "::2", "dst_port": 2, "protocol": number} for number in (6, 17, 58, 132)]
    node = FakeNode(workspace, flow_get={"ok": {"flows": flows}})
    equal([line.split()[4] for line in node.run("flow").stdout.splitlines()[1:]], ["tcp", "udp", "icmp", "132"], "names")
    equal(json.loads(node.run("--json", "flow").stdout)["flows"], flows, "json")


@test()
def what_ports_lost_before_the_node_stands_beside_drops_and_equations(workspace):
    node = FakeNode(workspace)
    for lost, said in (((0, 0), "lost before the node: no packet (rx_errors 0, rx_missed 0)\n"),
                       ((19, 3), "lost before the node: at port west rx_errors 19, rx_missed 3\n")):
        counters = dict(zip(("rx_errors", "rx_missed"), lost))
        none = {"name": "east", "rx_errors": 0, "rx_missed": 0}
        node.replies["drops_get"] = {"ok": {"drops": [], "ports": [none, {"name": "west", **counters}]}}
        node.replies["audit"] = {"ok": {"ok": True, "equations": [], "ports": [
            {"name": "west", "rx_packets": 10, "device": counters}]}}
        for verb in ("drops", "audit"):
            out = node.run(verb).stdout
            check(said in out, verb, out)
            check("east" not in out, verb, out)
    node.replies["drops_get"] = {"ok": {"drops": []}}  # as a collector answers
    check("lost before" not in node.run("drops").stdout, "counters that nobody gave")


@test()
def an_audit_that_does_not_add_up_is_exit_1(workspace):
    node = FakeNode(workspace, audit={"ok": {"ok": False}})
    check("NOT" in node.run("audit", expected=1).stdout, "audit")


@test()
def call_sends_bytes_as_they_are_and_prints_the_reply(workspace):
    node = FakeNode(workspace, hello={"ok": {"a": 1}, "generation": 3})
    raw = '{ "hello" : {}}\n'
    done = node.run("call", "-", stdin=raw)
    equal(node.asked[-1], raw.encode(), "request")
    equal(json.loads(done.stdout), {"ok": {"a": 1}, "generation": 3}, "reply")
    path = workspace.path("request.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write("not json")
    equal(json.loads(node.run("call", path, expected=1).stdout)["error"]["code"], "unknown_verb",
          "refusal")
    node.run("call", workspace.path("absent"), expected=2)
    before = len(node.asked)
    check("Is a directory" in node.run("call", os.path.dirname(path), expected=2).stderr, "a folder")
    equal(len(node.asked), before, "requests")


@test()
def reports_are_streamed_from_where_the_node_publishes(workspace):
    node = FakeNode(workspace)
    node.replies["node_get"] = {"ok": {"publish_bind": [node.publisher_endpoint]}}
    uncounted = copy.deepcopy(REPORT)  # as INT's are
    for key in ("tx_packets", "tx_bytes"):
        del uncounted["int_report"]["e2e"][key]
    node.replies["int_get"] = [
        {"ok": RULE}, {"error": {"code": "no_such_rule", "path": "ns_id", "message": "no rule has this namespace"}}]
    for words, sent, expected in (
            (("reports", "7"), REPORT, "sent 1000 received 998  source → 10.000 ms → 1 → 15.000 ms → sink 9"),
            (("reports", "7"), uncounted, "rule 7  received 998  source → 10.000 ms → 1 →"),
            (("--json", "reports"), REPORT, '"rx_packets": 998')):
        program = subprocess.Popen([PROGRAM, "-c", node.endpoint, *words], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)

        def heard(sent=sent):
            for ns in (77, 7):  # "reports 7" does not ask for 77
                report = json.dumps(sent).replace('"ns_id": 7', f'"ns_id": {ns}')
                node.publisher.send_multipart([f"report.{ns}".encode(), report.encode()])
            node.publisher.send_multipart([b"qos.7", json.dumps(QOS).encode()])
            return select.select([program.stdout], [], [], 0)[0]

        try:
            until(heard, 10, "a report")
        finally:
            program.terminate()
            out, said = (each.decode() for each in program.communicate(timeout=10))
        equal(program.returncode, 0, "exit code after SIGTERM")
        check(expected in out, out)
        equal("no rule has namespace 7 yet" in said, sent is uncounted, said or "no warning")
        if words[0] == "reports":
            check("rule 77" not in out, out)
    node.replies["node_get"] = {"ok": {"publish_bind": []}}
    check("--from" in node.run("reports", expected=1).stderr, "what to do without a publisher")
    node.replies["node_get"] = {"ok": {"collector": "c1", "publish_bind": [node.publisher_endpoint]}}
    check("a collector publishes no reports of rules" in node.run("reports", expected=1).stderr, "a collector")


@test()
def qos_of_an_application_shows_both_directions(workspace):
    e2e = {"throughput_bps": 44960000, "delay_ns": {"mean": 25000000}, "loss_ratio": 0.125}
    app = {"app_id": 4, "flows": [
               {"ns_id": 7, "from": "2001:db8::1", "to": "2001:db8::2", "direction": "up",
                "opposite": 8, "reports": 100, "e2e": e2e},
               {"ns_id": 8, "from": "2001:db8::2", "to": "2001:db8::1", "direction": "down",
                "opposite": 7}],
           "round_trip_ns": {"mean": 50000000, "min": 49000000, "p50": 50000000,
                             "max": 52000000},
           "round_trip_pairs": 99, "clocks_differ": True, "one_way_sum_ns": 51000000,
           "worst_hop": {"loss": {"ns_id": 7, "from": 1, "to": 9, "loss_ratio": 0.125},
                         "delay": {"ns_id": 8, "from": 0, "to": 1, "delay_ns": 20000000}}}
    node = FakeNode(workspace, qos_get={"ok": {"applications": [app]}})
    said = node.run("qos", "--app", "4", "--window", "60s").stdout
    equal(node.request(), {"qos_get": {"app_id": 4, "window": "60s"}}, "request")
    for words in ("application 4", "2001:db8::1 → 2001:db8::2", "44.96 Mbit/s", "12.5 %",
                  "round trip  mean 50.000 ms", "(99 pairs)",
                  "one-way delays add up to 51.000 ms, but the clocks differ",
                  "most loss: 1 → 9 of rule 7, 12.5 %",
                  "longest delay: 0 → 1 of rule 8, 20.000 ms"):
        check(words in said, words, said)
    equal(json.loads(node.run("--json", "qos", "--app", "4").stdout), {"applications": [app]},
          "json")
    node.replies["qos_get"] = {"ok": {"applications": []}}
    check("no report" in node.run("qos", "--app", "4").stdout, "an application without reports")
    check(node.run("qos", "7", "--app", "4", expected=2).stderr, "a rule and an application")
    check(node.run("qos", "--app", "four", expected=2).stderr, "an application that is no number")


@test()
def bad_usage_is_exit_2_and_asks_nobody(workspace):
    node = FakeNode(workspace)
    for words in ((), ("nonsense",), ("rule",), ("rule", "add", "7"), ("rule", "show"),
                  ("rule", "show", "seven"), ("rule", "set", "7", "hop_enabled"),
                  ("hello", "--window", "1s"), ("--watch", "-1", "hello"), ("--colour", "hello"),
                  ("--timeout", "x", "hello"), ("rule", "del", "7", "--watch", "1"),
                  ("qos", "--window", "5x"), ("qos", "--window", "0.1s"), ("events", "--since", "x"),
                  ("events", "--since", "-1"), ("rule", "add"), ("rule", "frob"),
                  ("-c", "nowhere", "hello")):
        check(node.run(*words, expected=2).stderr, words)
    for trace in ("bogus", "packets,", "packets,tim", "", "x7000"):
        said = node.run("rule", "add", "-s", "2001:db8::1", "-d", "2001:db8::2", "--trace", trace, expected=2).stderr
        check("all, or names of packets, time, bytes, telemetry, or hex such as 0x7000E000" in said, said)
    for words in (("rule",), ("rule", "frob"), ("help", "rule", "frob")):
        said = node.run(*words, expected=2).stderr
        check("rule needs add, list, show, set or del" in said, said)
    for words, expected in (
            (("rule", "add", "--frobnicate"), "is not an option (see hopsight help rule add)\n"),
            (("--json", "rule", "set", "7"), "usage: hopsight rule set NS KEY=VALUE... (see hopsight help rule set)\n"),
            (("top", "7"), "usage: hopsight top (see hopsight help top)\n"),
            (("hello", "7"), "usage: hopsight hello (see hopsight --help)\n"),
            (("--timeout", "0", "hello"), "0 is no number of seconds above 0, to 86400"),
            (("--watch", "x", "hello"), "x is no number of seconds above 0, to 86400"),
            (("rule", "add", "--src", "::1", "--dst", "::2", "--percent", "half"), "--percent: half is no number"),
            (("rule", "add", "--src", "::1", "--dst", "::2", "--proto", b"\xff"), "--proto: the value is not valid UTF-8"),
            (("rule", "add", "--src", "::1", "--dst", "::2", "--owner", b"a\xffb"), "--owner: the value is not valid UTF-8"),
            (("rule", "set", "7", b"owner=\xff"), "the arguments are not valid UTF-8"),
            (("label", b"\xff"), "the arguments are not valid UTF-8"),
            (("-c", "nowhere", "hello"), "nowhere is no endpoint: write ipc:///path, tcp://address:port or the path of a socket"),
            (("-c", "", "hello"), '"" is no endpoint: write ipc:///path'),
            (("-c", "tcp://127.0.0.1", "hello"), "tcp://127.0.0.1 is no endpoint: write"),
            (("reports", "--from", "nowhere"), "nowhere is no endpoint: write")):
        said = node.run(*words, expected=2).stderr
        check(expected in said, words, said)
    equal(node.asked, [], "requests")


@test()
def a_mistyped_verb_or_option_is_answered_with_the_nearest_one(workspace):
    node = FakeNode(workspace)
    for words, said in (
            (("prots",), "prots is not a verb; did you mean ports?"),
            (("qso", "7"), "qso is not a verb; did you mean qos?"),
            (("rule", "lst"), "rule lst is not a verb; did you mean rule list?"),
            (("ruel", "add"), "ruel add is not a verb; did you mean rule add?"),
            (("neigh", "list"), "did you mean neighbour list?"),
            (("rules",), "rules is not a verb; did you mean rule add, list, show, set or del?"),
            (("help", "nieghbour"), "nieghbour is not a verb; did you mean neighbour list, add or del?"),
            (("help", "audt"), "audt is not a verb; did you mean audit?"),
            (("watch", "ports"), "watch is not a verb; did you mean --watch?"),
            (("help", "version"), "version is not a verb; did you mean --version?"),
            (("ports", "--jsn"), "--jsn is not an option; did you mean --json?"),
            (("rule", "add", "--proto=udp", "--moed", "count"), "did you mean --mode?"),
            (("rule", "add", "--port", "5"), "rule add takes no --port; did you mean --sport or --dport?"),
            (("rule", "add", "--prto", "udp"), "--prto is not an option; did you mean --proto?"),
            (("rule", "list", "--sine", "3"), "--sine is not an option (see"),
            (("events", "--sine", "3"), "--sine is not an option; did you mean --since?"),
            (("events", "--s", "3"), "--s can mean --server-key and --since"),
            (("hello", "--window", "1s"), "hello takes no --window (see"),
            (("ports", "--json=yes"), "--json takes no value"),
            (("--s", "7"), "--s can mean --s"),
            (("ports", "-x"), "-x is not an option"),
            (("rule", "add", "--in-band", "--proto", "icmp"), "--in-band needs a value"),
            (("rule", "add", "--in-band", "-c", "x"), "--in-band needs a value (see hopsight help rule add)"),
            (("rule", "add", "-s", "-d", "::2"), "--src needs a value (see hopsight help rule add)"),
            (("-c", "events", "--xyzzy", "3"), "--xyzzy is not an option (see hopsight --help)"),
            (("-c", "events"), "a verb is missing (see hopsight --help)"),
            (("--timeout", "-5", "events"), "-5 is no number of seconds"),
            (("ports", "-t"), "--timeout needs a value"),
            (("ports", "--timeout"), "--timeout needs a value")):
        error = node.run(*words, expected=2).stderr
        check(said in error, error)
        equal(len(error.splitlines()), 1, error)
    for words in (("elephant",), ("--elephant", "ports")):
        error = node.run(*words, expected=2).stderr
        check("did you mean" not in error, error)
    equal(node.asked, [], "requests")
    node.replies["int_request"] = {"ok": {"ns_id": 7}}
    node.run("rule", "add", "--src", "::1", "--trace", "all", "--mode", "count", "--setting", "-5")
    equal(node.request()["int_request"]["mode_setting"], -5, "a number below 0")
    node.run("rule", "add", "--src", "::1", "--dst", "::2", "--trace", "all", "--mode", "null")
    equal(node.request()["int_request"]["mode"], None, "a mode that only the node refuses")


@test()
def help_of_a_verb_is_asked_for_before_or_behind_the_verb(workspace):
    node = FakeNode(workspace)
    for verb in (("rule", "set"), ("ports",)):
        said = node.run("help", *verb).stdout
        check(said.startswith(f"Usage: hopsight {' '.join(verb)}"), said)
        equal(node.run(*verb, "--help").stdout, said, verb)
    said = node.run("help", "rule").stdout
    check("rule add" in said and "rule del" in said and "audit" not in said, said)
    equal(node.run("help").stdout, node.run("--help").stdout, "help of everything")


@test()
def a_bare_path_is_the_socket_of_this_path(workspace):
    node = FakeNode(workspace, hello={"ok": {"a": 1}})
    path = node.endpoint.removeprefix("ipc://")
    equal(node.run("-c", path, "hello").stdout, "a  1\n", "absolute")
    done = subprocess.run([PROGRAM, "-c", "./" + os.path.basename(path), "hello"],
                          capture_output=True, text=True, check=False, timeout=20,
                          cwd=os.path.dirname(path))
    equal((done.returncode, done.stdout), (0, "a  1\n"), "relative")


@test()
def output_that_cannot_be_written_is_exit_1(workspace):
    node = FakeNode(workspace, hello={"ok": {"a": 1}})
    for words in (("hello",), ("--json", "hello"), ("--help",), ("--version",)):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, "-c", node.endpoint, *words], stdout=full, timeout=20,
                                  stderr=subprocess.PIPE, text=True, check=False)
        equal(done.returncode, 1, f"exit code of {words}")
        check("cannot be written" in done.stderr, done.stderr)


@test()
def no_node_or_no_reply_is_exit_3(workspace):
    node = FakeNode(workspace, hello=None)
    check("no reply in time" in node.run("-t", "0.2", "hello", expected=3).stderr, "time-out")
    nobody = f"ipc://{workspace.path('nobody')}"
    check("nobody" in node.run("-c", nobody, "hello", expected=3).stderr, "missing socket")
    check("nobody" in node.run("-c", "tcp://127.0.0.1:1", "-t", "0.2", "hello",
                               expected=3).stderr, "refused connection")
    if not os.path.exists("/run/hopsight/hopsight.api"):
        done = subprocess.run([PROGRAM, "hello"], capture_output=True, text=True, check=False, timeout=20,
                              env={name: value for name, value in os.environ.items() if name != "HOPSIGHT_ENDPOINT"})
        check(done.returncode == 3 and "-c or HOPSIGHT_ENDPOINT names" in done.stderr, "no node of the usual name", done)


@test()
def the_endpoint_may_come_from_the_environment(workspace):
    node = FakeNode(workspace, hello={"ok": {"a": 1}})
    done = subprocess.run([PROGRAM, "hello"], capture_output=True, text=True, check=False,
                          timeout=20, env=dict(os.environ, HOPSIGHT_ENDPOINT=node.endpoint))
    equal((done.returncode, done.stdout), (0, "a  1\n"), "hello")


@test()
def help_names_every_verb_and_every_field_of_a_rule(workspace):
    node = FakeNode(workspace)
    out = node.run("--help").stdout
    for verb in ("hello", "rule add", "rule list", "rule show", "rule set", "rule del", "route list",
                 "route add", "route del", "neighbour list", "neighbour add", "neighbour del", "qos",
                 "reports", "node", "ports", "drops", "stats", "top", "events", "audit", "call"):
        check(f"  {verb} " in out, verb, out)
    out = " ".join(node.run("rule", "add", "--help").stdout.split())  # lines are wrapped
    for said in ("rule add --src ADDRESS --dst ADDRESS", "--trace HEX", "0xF000E000",
                 "1 to 4294967295", "required", "-s, --src", "default any", "(true or false; default false)", "--every N|TIME", "or names of packets, time, bytes, telemetry"):
        check(said in out, said, out)
    check("hop_enabled" in node.run("rule", "set", "--help").stdout, "keys")
    check("hopsight 0." in node.run("--version").stdout, "version")


if __name__ == "__main__":
    sys.exit(main())
