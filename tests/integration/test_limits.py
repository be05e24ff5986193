# SPDX-License-Identifier: BSD-3-Clause
"""The limits that hello tells: each is the one that is enforced, at the limit and one beyond. Limits of connections
that need a client of their own are in tests/unit/bus/test_bus_bounds.c."""

import json
import os
import socket
import struct
import sys

import zmq

from lib import TESTS, check, equal, main, need, paused, ring_node, rule, test, until  # first: the path
from test_controller import Controller

sys.path.append(os.path.join(TESTS, "chaos"))
from zmtp import LARGE, MORE, Zmtp, frame  # noqa: E402

A, B = "2001:db8::1", "2001:db8::2"
RULE = {"int_request": rule(7, A, B)}
GET = {"int_get": {"ns_id": 7}}


def ask(node, message):
    """Returns the bytes of the reply. Such large messages are not held against the schemas, which takes seconds."""
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    with zmq.Context.instance().socket(zmq.REQ) as client:
        client.linger, client.rcvtimeo = 0, 10000
        client.connect(node.api)
        client.send(text)
        return client.recv()


def code_of(node, message):
    """Returns the code of the refusal, or "ok"."""
    return json.loads(ask(node, message)).get("error", {"code": "ok"})["code"]


def nested(levels):
    return b'{"hello":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


def padded(length):
    return b'{"hello":{}}'.ljust(length)


def commas(n):
    """Lists of up to 1,000 numbers, which need as many commas as there are numbers, less one in all."""
    return {"hello": {str(i): [0] * min(1000, n + 1 - i) for i in range(0, n + 1, 1000)}}


def beside_a_change(question):
    return lambda n: {"transaction": [RULE] + [question] * n, "dry_run": True}


# The limit, a message that is as large as its argument, what it gets, and what one beyond the limit gets.
MESSAGES = [
    ("message_bytes", padded, "ok", "too_large"),
    ("depth", nested, "wrong_type", "too_deep"),
    ("commas", commas, "unknown_field", "too_large"),
    ("string_bytes", lambda n: {"hello": {"x": "x" * n}}, "unknown_field", "too_large"),
    ("id_bytes", lambda n: {"hello": {}, "id": "x" * n}, "ok", "out_of_range"),
    ("transaction_verbs", lambda n: [{"int_delete": {"ns_id": 7}}] * n, "no_such_rule", "too_large"),
    ("questions", lambda n: [GET] * n, "no_such_rule", "too_large"),
    ("questions_beside_changes", beside_a_change(GET), "ok", "too_large"),
    ("page", lambda n: {"int_list": {"limit": n}}, "ok", "out_of_range"),
]


@test()
def each_limit_that_hello_tells_is_the_one_that_is_enforced(workspace):
    need()
    node = ring_node(workspace, memory={"rules": 2000, "monitored_rules": 8}).start()
    limits = node.call("hello")["limits"]
    for name, message, at, beyond in MESSAGES:
        equal([code_of(node, message(limits[name])), code_of(node, message(limits[name] + 1))], [at, beyond], name)
    heavy = limits["questions_beside_changes"] // limits["question_weight"]
    ask = beside_a_change({"hello": {}})
    equal([code_of(node, ask(heavy)), code_of(node, ask(heavy + 1))], ["ok", "too_large"], "question_weight")
    a_page_has_its_bytes(node, limits)
    a_part_has_its_bytes(node, limits["connection"]["message_bytes"])
    check(limits["connection"]["queued_messages"] == 1000, "control.publish_queue is 1000 without a value")


def a_page_has_its_bytes(node, limits):
    requests = [{"int_request": rule(i + 1, A, B, dst_port=i + 1)} for i in range(limits["rules"])]
    equal(code_of(node, requests), "ok", "as many rules as the limit")
    equal(code_of(node, {"int_request": rule(70000, A, B, dst_port=60000)}), "table_full", "a rule beyond the limit")
    reply = ask(node, {"int_list": {"limit": limits["page"]}})
    page = json.loads(reply)["ok"]
    check("next" in page, len(page["rules"]), "rules and no further page")
    check(abs(len(reply) - limits["answer_bytes"]) < 4096, len(reply), "bytes of a page")


def a_part_has_its_bytes(node, most):
    raw = Zmtp(node.api)
    raw.send(frame(b"", MORE) + frame(bytes(most)))
    check(b"too_large" in raw.reply(), "no reply to the longest part")
    raw.send(frame(b"", MORE) + struct.pack(">BQ", LARGE, most + 1))
    try:
        equal(raw.socket.recv(1), b"", "the connection is closed")
    except socket.timeout:
        check(False, "a longer part left the connection open")
    except ConnectionError:
        pass
    raw.close()


@test()
def a_controller_tells_how_many_questions_may_be_under_way_at_a_node(workspace):
    need()
    node = ring_node(workspace).start()
    controller = Controller(workspace, [node], subscribe=False, controller={"timeout_ms": 1500}).start()
    limits = controller.call("hello")["limits"]
    check("rules" not in limits and limits["gathered_bytes"] > 1 << 20, limits)
    until(lambda: controller.nodes()[node.name]["reachable"], 10, "the controller reaches the node")
    dealer = zmq.Context.instance().socket(zmq.DEALER)
    dealer.linger, dealer.rcvtimeo = 0, 5000
    dealer.connect(controller.api)
    with paused(node.process):
        for i in range(limits["node_questions"] + 1):
            dealer.send_multipart([b"", json.dumps({"id": i, "stats_get": {}}).encode()])
        first = json.loads(dealer.recv_multipart()[-1])
        equal((first["id"], first["ok"]["errors"][node.name]["code"]), (limits["node_questions"], "busy"),
              "the first answer")
        others = [json.loads(dealer.recv_multipart()[-1]) for _ in range(limits["node_questions"])]
    equal({tuple(reply["ok"]["unreachable"]) for reply in others}, {(node.name,)}, "the other answers")
    dealer.close()
    controller.stop()


if __name__ == "__main__":
    sys.exit(main())
