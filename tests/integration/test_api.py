# SPDX-License-Identifier: BSD-3-Clause
"""The API from outside: a plain socket of another language, good and bad messages."""

import json
import os
import subprocess
import sys
import time

import netlab
from lib import Chain, Subscriber, check, equal, main, need, pings, rule, test, until

# Listing 1 of the paper, with values.
LISTING_1 = b"""{"int_request": {
"ns_id": 7,
"app_id": 1,
"src_ip": "2001:db8::1",
"dst_ip": "2001:db8::2",
"src_port": 0,
"dst_port": 5001,
"protocol": "udp",
"trace_type": "0x7000E000",
"mode": "count",
"mode_setting": 100}}"""


def one_node(workspace, **config):
    chain = Chain(workspace, nodes=1, **config).start()
    return chain, chain.nodes[0]


def command(node, *words, expected=0):
    done = subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsight"), "-c", node.api, *words],
                          capture_output=True, text=True, check=False, timeout=20)
    equal(done.returncode, expected, f"exit code of {words}: {done.stdout} {done.stderr}")
    return done.stdout


@test(path=True, apart=True)
def the_message_of_listing_1_from_a_plain_req_socket_installs_a_rule_at_once(workspace):
    need()
    _, node = one_node(workspace)
    begin = time.monotonic()
    reply = json.loads(node.client.raw(LISTING_1))
    took = time.monotonic() - begin
    check("ok" in reply, reply)
    check(took < 0.1, f"confirmed after {took:.3f} s")
    installed = node.call("int_get", ns_id=7)["rule"]
    installed = installed.get("int_request", installed)
    for key, value in json.loads(LISTING_1)["int_request"].items():
        equal(installed[key], value, key)
    return f"{took * 1e6:.0f} us"


BAD = [
    (b"", None),
    (b"\xff\xfe\x00", None),
    (b"{", None),
    (b'{"int_request": {"ns_id": 1, "ns_id": 2}}', None),
    (b'{"no_such_verb": {}}', None),
    (b'{"hello": {}, "int_list": {}}', None),
    (b'{"int_request": {"ns_id": 1, "colour": "red"}}', "colour"),
    (LISTING_1.replace(b'"ns_id": 7', b'"ns_id": "7"'), "ns_id"),
    (LISTING_1.replace(b'"ns_id": 7', b'"ns_id": 4294967296'), "ns_id"),
    (LISTING_1.replace(b"2001:db8::1", b"192.0.2.1"), "src_ip"),
    (LISTING_1.replace(b'"udp"', b'"sctp"'), "protocol"),
    (LISTING_1.replace(b"0x7000E000", b"0x7000E001"), "trace_type"),
    (b"[" * 5000 + b"]" * 5000, None),
    (b'{"int_request": "' + b"x" * (1 << 19) + b'"}', None),
]


@test()
def each_bad_message_gets_an_error_of_its_own_and_changes_nothing(workspace):
    need()
    _, node = one_node(workspace)
    before = node.call("int_list")
    for message, field in BAD:
        reply = json.loads(node.client.raw(message))
        check("error" in reply, message[:80], reply)
        error = reply["error"]
        check(error["code"] and error["message"], message[:80], reply)
        if field:
            check(field in error["path"], message[:200], error)
    equal(node.call("int_list"), before, "rules afterwards")
    node.client.raw(LISTING_1)
    again = json.loads(node.client.raw(LISTING_1))
    equal(again["error"]["code"], "ns_in_use", "the same namespace twice")


@test()
def a_transaction_with_one_bad_request_changes_nothing(workspace):
    need()
    _, node = one_node(workspace)
    good = {"int_request": rule(1, "2001:db8::1", "2001:db8::2")}
    reply = json.loads(node.client.raw(json.dumps([good, {"int_delete": {"ns_id": 99}}]).encode()))
    check("error" in json.dumps(reply), reply)
    equal(node.call("int_list")["rules"], [], "rules")


@test()
def the_command_line_adds_shows_changes_and_deletes_a_rule(workspace):
    need()
    _, node = one_node(workspace)
    command(node, "rule", "add", "--ns", "9", "--app", "2", "--src", "2001:db8::1", "--dst",
            "2001:db8::2", "--dport", "5001", "--proto", "udp", "--trace", "0x7000E000", "--mode",
            "count", "--setting", "10")
    check("2001:db8::2" in command(node, "rule", "list"), "rule list")
    command(node, "rule", "set", "9", "hop_enabled=false")
    shown = command(node, "--json", "rule", "show", "9")
    check('"hop_enabled": false' in json.dumps(json.loads(shown)), shown)
    command(node, "rule", "del", "9")
    command(node, "rule", "show", "9", expected=1)
    for verb in ("hello", "node", "ports", "drops", "stats", "events", "audit", "qos"):
        check(command(node, verb), verb)
        json.loads(command(node, "--json", verb))
    command(node, "no-such-verb", expected=2)
    refused = [stat["value"] for stat in node.call("stats_get")["stats"]
               if "handshakes_failed" in stat["name"]]
    equal(refused, [0], "handshakes that failed while all went well")


@test()
def the_command_line_says_3_when_no_node_answers(workspace):
    done = subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsight"), "-c",
                           f"ipc://{workspace.path('nobody')}", "hello"],
                          capture_output=True, text=True, check=False, timeout=30)
    equal(done.returncode, 3, "exit code")


@test(path=True)
def traffic_and_api_go_on_while_the_publishers_peer_is_absent(workspace):
    need("ping")
    missing = f"ipc://{workspace.path('controller')}"
    absent = {"publish_to": ["tcp://127.0.0.1:9", missing]}
    chain = Chain(workspace, nodes=2, control=absent).start()
    chain.install(rule(1, "2001:db8::1", "2001:db8::2", "icmp"))
    pings(chain.hosts[0], 100, "-i", "0.005", "2001:db8::2")
    begin = time.monotonic()
    chain.nodes[1].call("hello")
    check(time.monotonic() - begin < 0.5, "the API answers late")
    # The peer starts at last and receives messages.
    subscriber = Subscriber(missing, "report.1", bind=True)

    def heard():
        chain.hosts[0].run("ping", "-q", "-c", "3", "-i", "0.01", "2001:db8::2")
        return subscriber.receive(0.2)

    until(heard, 15, "the node connects to a peer that came late")


if __name__ == "__main__":
    sys.exit(main())
