# SPDX-License-Identifier: BSD-3-Clause
"""The Python client (python/hopsight) against real programs."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import typing

import zmq
import zmq.auth
import zmq.utils.monitor

from collecting import Collector, packet, report
from lib import check, equal, main, need, ring_node, rule, test, until  # isort: skip
from netlab import ROOT, paused
from test_controller import Controller, chain_of
from test_keys import Keys, free_port, node_with_keys

sys.path.append(os.path.join(ROOT, "python"))
import hopsight  # noqa: E402
from hopsight import replies, requests  # noqa: E402

A, B = "2001:db8::1", "2001:db8::2"


def refusal(call, *args, **fields):
    try:
        call(*args, **fields)
    except hopsight.Refused as refused:
        return refused
    raise AssertionError("nothing was refused")


def no_answer(client):
    try:
        client.hello()
    except hopsight.NoAnswer as error:
        return error.reason
    raise AssertionError("an answer came")


def commands_of(document):
    """The shell commands of a document."""
    with open(os.path.join(ROOT, document), encoding="utf-8") as file:
        return "".join(re.findall(r"^```sh\n(.*?)^```", file.read(), re.S | re.M))


@test(limit_s=90)
def the_client_is_installed_as_its_document_has_it_typed_without_a_network(workspace):
    need("unshare")
    source = workspace.path("source")
    shutil.copytree(os.path.join(ROOT, "python"), os.path.join(source, "python"),
                    ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": workspace.path("home"), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["unshare", "--net", "bash", "-e", "-c", commands_of("python/README.md")], cwd=source,
                          env=environment, capture_output=True, text=True, check=False, timeout=80)
    equal(done.returncode, 0, done.stdout + done.stderr)
    node = ring_node(workspace).start()
    script = ("import hopsight, sys\n"
              "with hopsight.Client(sys.argv[1]) as node:\n"
              "    print(hopsight.__file__, node.hello()['api_version'])\n")

    def said(python, **more):
        return subprocess.run([python, "-c", script, node.api], capture_output=True, text=True, check=True, timeout=20,
                              cwd=workspace.path("."), env={**environment, **more}).stdout.split()

    path, version = said(os.path.join(source, ".venv", "bin", "python3"))
    check(path.startswith(os.path.join(source, ".venv")) and version == "1.0", path, version)
    check(os.path.exists(os.path.join(os.path.dirname(path), "py.typed")), path)
    # And without an installation.
    equal(said("/usr/bin/python3", PYTHONPATH=os.path.join(ROOT, "python")),
          [os.path.join(ROOT, "python", "hopsight", "__init__.py"), "1.0"], "PYTHONPATH")


@test()
def a_client_changes_rules_one_by_one_together_and_without_waiting(workspace):
    need()
    node = ring_node(workspace, memory={"rules": 5000}).start()
    with hopsight.Client(node.api) as client:
        equal(client.int_request(**rule(1, A, B, dst_port=1))["ns_id"], 1, "a rule")
        generation = client.generation
        wrong = refusal(client.int_request, **rule(2, "192.0.2.1", B))
        equal((wrong.code, wrong.path, bool(wrong.allowed)), ("wrong_family", "int_request.src_ip", True), "a refusal")
        a_transaction_is_done_as_a_whole(client, generation)
        # More messages than may be under way, and one that is refused in the middle.
        most = client.limits["connection"]["requests"]
        asked = [{"int_request": rule(i, A, B, dst_port=i)} for i in range(100, 100 + 3 * most)]
        asked[most] = {"int_get": {"ns_id": 99}}
        answers = list(client.pipeline(asked))
        equal([i for i, reply in enumerate(answers) if reply.error], [most], "refused")
        equal(answers[most].error.code, "no_such_rule", "the refusal")
        equal([reply.ok["ns_id"] for reply in answers if reply.ok], [request["int_request"]["ns_id"] for request in asked
                                                                    if "int_request" in request], "the order")
        # Another request while replies are on their way, and an end before the last reply.
        begun = client.pipeline({"int_get": {"ns_id": i}} for i in range(100, 120))
        equal(next(begun).ok["rule"]["ns_id"], 100, "the first")
        equal(client.int_get(ns_id=1)["rule"]["ns_id"], 1, "between two replies")
        equal(next(begun).ok["rule"]["ns_id"], 101, "the second")
        begun.close()
        numbers = [1, 3, *(i for i in range(100, 100 + 3 * most) if i != 100 + most)]
        equal([entry["ns_id"] for entry in client.entries("int_list", limit=100)], numbers, "all pages")
        equal([entry["ns_id"] for entry in client.entries("int_list")], numbers, "all rules")
        huge = client.send({"int_list": {"x": "x" * (5 << 20)}})
        equal((huge.error.code, "at most" in huge.error.allowed), ("too_large", True), "a message that is too long")
        equal(client.hello()["name"], node.config["node"]["name"], "the connection remains")


def a_transaction_is_done_as_a_whole(client, generation):
    with client.transaction(if_generation=generation) as change:
        change.int_request(**rule(3, A, B, dst_port=3))
        change.int_update(ns_id=3, mode_setting=5)
    equal([entry["ns_id"] for entry in change.results], [3, 3], "results")
    late = client.transaction(if_generation=generation)
    late.int_delete(ns_id=1)
    equal(refusal(late.commit).code, "stale_generation", "a change that came first")
    broken = client.transaction()
    broken.int_delete(ns_id=1)
    broken.int_delete(ns_id=77)
    equal(refusal(broken.commit).path, "transaction[1].int_delete.ns_id", "the request that was refused")
    equal(client.int_get(ns_id=1)["rule"]["ns_id"], 1, "a rule that was not deleted")
    equal(client.send({"int_delete": {"ns_id": 1}}, dry_run=True).ok, {"dry_run": True}, "a dry run")


@test()
def a_client_asks_a_controller_and_a_collector_in_the_same_words(workspace):
    need()
    node = ring_node(workspace).start()
    controller = Controller(workspace, [node], subscribe=False).start()
    collector = Collector(workspace).start()
    with hopsight.Client(controller.api) as client:
        client.int_request(**rule(7, A, B), on={"path": "all"})
        controller.wait_present(7)
        equal(list(client.int_get(ns_id=7)["nodes"]), [node.name], "the nodes that were asked")
        equal([entry["ns_id"] for entry in client.entries("int_list")], [7], "rules")
    flow = ("192.0.2.1", "192.0.2.2", 1000, 2000)
    collector.socket().send(report(packet(flow, [(1, 10, 11, 100, 3, 5, 700)])))
    with hopsight.Client(collector.api) as client:
        flows = until(lambda: client.entries("flow_get"), 5, "a flow")
        equal(flows[0]["dst_port"], 2000, "the flow")
        check("qos_get" not in client.verbs and "refused_get" in client.verbs, client.verbs)
    controller.stop()
    collector.stop()


@test()
def a_client_says_why_no_answer_comes_and_uses_keys(workspace):
    need()
    keys = Keys(workspace)
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    node = node_with_keys(workspace, keys, bind=[endpoint])
    node.client.endpoint = endpoint
    node.start()
    own = hopsight.Keys(*keys.of("operator"))
    with hopsight.Client(endpoint, keys=own) as client:
        equal(client.hello()["node_id"], 3, "with a key")
    viewer = hopsight.Client(endpoint, keys=hopsight.Keys(*keys.of("viewer")))
    equal(refusal(viewer.int_delete, ns_id=7).code, "read_only", "a key for reading")
    for others, words in ((None, "keys"), (hopsight.Keys(*keys.of("stranger")), "handshake failed")):
        reason = no_answer(hopsight.Client(endpoint, keys=others, timeout_s=0.7))
        check(words in reason, reason)
    equal(hopsight.Client(endpoint.removeprefix("ipc://"), keys=own).hello()["node_id"], 3, "by its path")
    nobody = hopsight.Client(f"ipc://{workspace.path('nobody.api')}", timeout_s=0.3)
    equal(no_answer(nobody), "nobody listens there", "without a program")
    try:
        hopsight.Client("tcp://no port").hello()
        check(False, "an endpoint that is none was taken")
    except hopsight.Error as error:
        equal(str(error), "tcp://no port: Invalid argument (allowed: /path, ipc:///path or tcp://address:port)", "text")
    waits = hopsight.Client(endpoint, keys=own, timeout_s=0.5)
    waits.hello()
    with paused(node.process):
        equal(no_answer(waits), "connected", "a program that is stopped")
    equal(waits.hello()["node_id"], 3, "after it goes on")
    # A node proves its key to a subscription that is bound.
    allowed = workspace.path("trusted")
    os.makedirs(allowed)
    shutil.copy(keys.file("node.pub"), allowed)
    keys.allow("controller")
    reports = f"tcp://127.0.0.1:{free_port()}"
    node.stop()
    node.config["control"]["publish_to"] = [reports]
    node.config["control"]["keys"] = keys.config(controller=keys.file("controller.pub"))
    with hopsight.Subscription(reports, "event.keys_changed", bind=True,
                               keys=hopsight.Keys(keys.file("controller.secret"), allowed=allowed)) as listener:
        node.start()
        keys.allow("stranger")
        told = until(lambda: (keys.forbid("stranger") if os.path.exists(os.path.join(keys.allowed, "stranger.pub"))
                              else keys.allow("stranger")) or listener.receive(1.5), 12, "an event")
        equal((told.kind, told.node_id), ("event", 3), "the event")


class FakeClient:
    """Says what a publisher would say."""

    verbs = ["qos_get", "int_list", "events"]

    def __init__(self):
        self.events = []

    def entries(self, verb):
        return [{"ns_id": 7}, {"ns_id": 8}] if verb == "qos_get" else [{"ns_id": 9}]

    def events_since(self, seq):
        return [{"seq": n, "kind": "clock"} for n in self.events if n > seq], 0


@test()
def a_subscription_tells_each_message_once_and_each_gap(workspace):
    """With a publisher that says anything."""
    endpoint, client = f"ipc://{workspace.path('pub')}", FakeClient()
    publisher = zmq.Context.instance().socket(zmq.XPUB)
    publisher.linger = 0
    publisher.bind(endpoint)
    with hopsight.Subscription(endpoint, ("qos.7", "event."), clients=client) as listener:
        equal(publisher.recv(), b"\x01", "the subscription")

        def say(topic, seq, boot_id="b1", **more):
            key = {"qos": "qos_report", "report": "int_report", "event": "event"}[topic.split(".")[0]]
            content = {"seq": seq, "node_id": 3, "boot_id": boot_id, **more}
            publisher.send_multipart([topic.encode(), json.dumps({key: content}, separators=(",", ":")).encode()])

        def next_is(**members):
            told = listener.receive(3)
            equal({key: getattr(told, key, None) for key in members}, members, told)

        client.events = [1, 2]
        for seq, topic in enumerate(("qos.7", "report.1", "qos.8"), 10):
            say(topic, seq)
        say("event.clock", 13, event_seq=3)
        say("qos.7", 14)
        next_is(topic="qos.7", seq=10)
        next_is(topic="event.clock", seq=13)
        next_is(seq=14)
        # A gap is told where it is, also before a message that nobody wants.
        client.events = [1, 2, 3, 4, 5]
        say("report.1", 20)
        say("event.clock", 21, event_seq=5)
        say("event.clock", 22, event_seq=6)
        next_is(missed=5, restarted=False, windows=[{"ns_id": 7}], rules=None, events_lost=0,
                events=[{"seq": 4, "kind": "clock"}, {"seq": 5, "kind": "clock"}])
        next_is(seq=22)
        # A restart: nobody knows what was missed, and rules may be gone.
        client.events = [1]
        say("event.clock", 1, boot_id="b2", event_seq=1)
        say("qos.77", 2, boot_id="b2")
        next_is(missed=None, restarted=True, rules=[{"ns_id": 9}], events=[{"seq": 1, "kind": "clock"}])
        next_is(topic="qos.77", seq=2)
        equal(listener.receive(0.1), None, "the end")
    publisher.close()


@test()
def receive_of_no_time_finds_what_waits_behind_other_topics(workspace):
    """Messages over inproc wait as soon as they are sent."""
    del workspace
    context = zmq.Context()
    publisher = context.socket(zmq.XPUB)
    publisher.linger = 0
    publisher.bind("inproc://published")
    with hopsight.Subscription("inproc://published", "event.", context=context, queue=100) as listener:
        equal(publisher.recv(), b"\x01", "the subscription")

        def say(topic, seq):
            publisher.send_multipart([topic, json.dumps({"x": {"seq": seq, "node_id": 3, "boot_id": "b"}}).encode()])

        for seq in range(1, 51):
            say(b"qos.7", seq)
        say(b"event.clock", 51)
        equal(getattr(listener.receive(0), "seq", None), 51, "what waits behind 50 others")
        equal(listener.receive(0), None, "the end")
        # A flood of what nobody wants does not hold the caller for ever.
        ends = threading.Event()
        seq = 52

        def flood():
            nonlocal seq
            while not ends.is_set():
                say(b"qos.7", seq)
                seq += 1

        thread = threading.Thread(target=flood)
        thread.start()
        begin = time.monotonic()
        try:
            for _ in range(20):
                # The publisher drops what finds its queue full, and the client tells that.
                got = listener.receive(0)
                check(got is None or isinstance(got, hopsight.Gap), got)
        finally:
            ends.set()
            thread.join()
        check(time.monotonic() - begin < 5, time.monotonic() - begin)
    publisher.close()
    context.term()


WRONG = {b"{": "not JSON", b"": "not JSON", b"\xff\xfe": "not JSON", b"[" * 100000: "not JSON", b"7": "an object",
         b"{}": "an object", b'{"event":7}': "an object", b'{"event":{},"x":{}}': "an object",
         b'{"event":{"seq":1}}': "boot_id", b'{"event":{"boot_id":"b","seq":"1"}}': "seq",
         b'{"event":{"boot_id":"b","seq":1,"node_id":[]}}': "node_id",
         b'{"event":{"boot_id":"b","seq":1,"event_seq":"1"}}': "event_seq"}


@test()
def a_subscription_tells_messages_that_it_cannot_read_as_such(workspace):
    endpoint = f"ipc://{workspace.path('pub')}"
    publisher = zmq.Context.instance().socket(zmq.XPUB)
    publisher.linger = 0
    publisher.bind(endpoint)
    with hopsight.Subscription(endpoint, "event.") as listener:
        equal(publisher.recv(), b"\x01", "the subscription")
        good = [b"event.clock", b'{"event":{"boot_id":"b","seq":1,"node_id":3}}']
        publisher.send_multipart(good)
        equal(listener.receive(3).seq, 1, "a message")
        for text, words in WRONG.items():
            publisher.send_multipart([b"qos.7", text])  # of a topic that nobody wants
            publisher.send_multipart([b"event.\xff", text, b"a third part"])
            told = listener.receive(3)
            check(isinstance(told, hopsight.Unreadable) and words in told.reason, text[:60], told)
            equal((told.topic, told.text), (b"event.\xff", text), "its parts")
        publisher.send(b"event.alone")
        equal(listener.receive(3).text, b"", "a message of one part")
        publisher.send_multipart([b"qos.7", b'{"int_report":{"seq":' + b"9" * 5000 + b',"node_id":3,"boot_id":"b"'])
        publisher.send_multipart([good[0], good[1].replace(b"1", b"3")])
        told = listener.receive(3)
        equal((told.missed, told.restarted), (1, False), "the message that could not be read")
        equal(listener.receive(3).seq, 3, "the next message")
    publisher.close()


@test()
def a_client_says_that_an_answer_is_none(workspace):
    endpoint = f"ipc://{workspace.path('api')}"
    router = zmq.Context.instance().socket(zmq.ROUTER)
    router.linger = 0
    router.bind(endpoint)

    def answer(texts):
        for text in texts:
            sender, number, empty, _ = router.recv_multipart()
            router.send_multipart([sender, *((number, empty, text) if text is not None else (b"x",))])

    texts = [b"{", b"[" * 100000, b"7", b"{}", b'{"error":"no"}', b'{"error":{"code":"x"}}', None]
    thread = threading.Thread(target=answer, args=([*texts, b'{"ok":{"name":"n"}}'],))
    thread.start()
    with hopsight.Client(endpoint, timeout_s=3) as client:
        for text in texts:
            try:
                client.hello()
                check(False, "taken:", text)
            except hopsight.NoAnswer as error:
                check(False, text and text[:60], error)
            except hopsight.Error as error:
                check("none of Hopsight's" in str(error), error)
        equal(client.hello(), {"name": "n"}, "an answer that is one")
    thread.join()
    router.close()


def publisher_with(keys, name, server, endpoint):
    """A socket of pyzmq that proves a key."""
    made = zmq.Context.instance().socket(zmq.PUB)
    made.linger = 0
    made.curve_publickey, made.curve_secretkey = zmq.auth.load_certificate(keys.file(f"{name}.secret"))
    made.curve_serverkey, _ = zmq.auth.load_certificate(keys.file(f"{server}.pub"))
    monitor = made.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_HANDSHAKE_FAILED_AUTH)
    made.connect(endpoint)
    check(monitor.poll(5000), name, "at", endpoint)
    allowed = zmq.utils.monitor.recv_monitor_message(monitor)["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED
    made.disable_monitor()
    monitor.close()
    made.close()
    return allowed


@test()
def each_bound_subscription_allows_the_keys_of_its_own_folder(workspace):
    need()
    keys, context = Keys(workspace), zmq.Context()
    before = set(threading.enumerate())
    folders = {name: workspace.path(f"allows-{name}") for name in ("operator", "viewer", "nobody")}
    for name, folder in folders.items():
        os.makedirs(folder)
        if name != "nobody":
            shutil.copy(keys.file(f"{name}.pub"), folder)

    def bound(name, secret="controller.secret"):
        return hopsight.Subscription(f"tcp://127.0.0.1:{free_port()}", "event.", bind=True, context=context,
                                     keys=hopsight.Keys(keys.file(secret), allowed=folders[name]))

    # A key that cannot be read leaves nothing behind.
    for secret in ("none.secret", "node.pub"):
        try:
            bound("operator", secret)
            check(False, secret, "was taken")
        except (OSError, ValueError):
            pass
    equal(set(threading.enumerate()) - before, set(), "threads of keys that cannot be read")
    listeners = {name: bound(name) for name in folders}
    shutil.rmtree(folders["nobody"])
    for _ in range(2):  # a folder that is gone does not end the judge
        for name, listener in listeners.items():
            found = [who for who in ("operator", "viewer", "stranger")
                     if publisher_with(keys, who, "controller", listener.endpoint)]
            equal(found, [name] if name != "nobody" else [], f"who may connect to the folder of {name}")
    for listener in listeners.values():
        listener.close()
    equal(set(threading.enumerate()) - before, set(), "threads after the end")
    context.term()


def send_at_once(chain, packets):
    script = (f"import socket\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
              f"for _ in range({packets}):\n    s.sendto(bytes(100), ('{B}', 5001))\n")
    chain.hosts[0].spawn(sys.executable, "-c", script, log="sender.log").wait(20)


@test(limit_s=90)
def a_slow_subscriber_is_told_of_its_gap_and_gets_the_state_again(workspace):
    need()
    chain = chain_of(workspace, nodes=2)
    chain.install(rule(7, A, B, dst_port=5001))
    sink = chain.nodes[1]
    client = hopsight.Client(sink.api)
    slow = hopsight.Subscription(sink.publisher, ("report.7", "qos.7", "event."), clients=client, queue=10)
    quick = hopsight.Subscription(sink.publisher, "qos.7", gaps=False)

    def begins():
        send_at_once(chain, 1)
        return slow.receive(0.3)

    first = until(begins, 10, "a message")
    seen, missed = {first.seq}, 0
    send_at_once(chain, 20000)
    until(lambda: sink.call("qos_get", ns_id=7, window="1s")["qos"], 5, "a window")
    gaps = []
    send_at_once(chain, 1)
    end = time.monotonic() + 5
    while time.monotonic() < end and not (gaps and isinstance(told, hopsight.Message)):
        told = slow.receive(0.5)
        if told is None:
            continue
        if isinstance(told, hopsight.Gap):
            gaps.append(told)
            missed += told.missed
        else:
            seen.add(told.seq)
    check(missed and gaps, missed, "missed,", len(seen), "seen")
    # The numbers count messages of all topics. A node publishes few of others.
    others = max(seen) - min(seen) + 1 - len(seen) - missed
    check(0 <= others <= 3, others, "messages neither seen nor known to be missed")
    gap = gaps[0]
    equal((gap.error, gap.restarted, gap.rules), (None, False, None), "the gap")
    equal({window["ns_id"] for window in gap.windows}, {7}, "the windows that were asked for")
    check(isinstance(gap.events, list), gap)
    check(quick.receive(2).topic == "qos.7", "a filter at the publisher")
    sink.stop()
    sink.start()
    sink.call("int_request", **rule(7, A, B, dst_port=5001))

    def after_restart():
        send_at_once(chain, 10)
        told = slow.receive(0.5)
        return told if isinstance(told, hopsight.Gap) else None

    restart = until(after_restart, 15, "the restart")
    equal((restart.restarted, restart.missed, [entry["ns_id"] for entry in restart.rules]), (True, None, [7]), "restart")
    for one in (slow, quick, client):
        one.close()
    return f"{missed} of {max(seen) - min(seen) + 1} missed"


@test()
def each_type_of_the_client_can_be_read_and_has_the_members_of_real_replies(workspace):
    need()
    node = ring_node(workspace).start()
    shapes = {name: typing.get_type_hints(made, vars(module)) for module in (replies, requests)
              for name, made in vars(module).items()
              if typing.is_typeddict(made) and made.__module__ == module.__name__}
    check(len(shapes) > 80, len(shapes), "types")
    with hopsight.Client(node.api) as client:
        client.int_request(**rule(7, A, B))
        for verb, name in (("hello", "HelloReply"), ("int_get", "IntGetReply"), ("int_list", "IntListReply"),
                           ("events", "EventsReply")):
            said = client.call(verb, **({"ns_id": 7} if verb == "int_get" else {}))
            equal(set(said) - set(shapes[name]), set(), f"members of {verb} without a type")
        equal(sorted(client.verbs), sorted(set(vars(requests.Verbs)) & set(client.verbs)), "verbs with a method")


if __name__ == "__main__":
    sys.exit(main())
