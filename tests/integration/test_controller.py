# SPDX-License-Identifier: BSD-3-Clause
"""The controller over real nodes: rules are installed, restored, and not fought over; metrics
arrive."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from random import Random

import zmq

from lib import Chain, Subscriber, check, equal, events, main, need, paused, rule, test, until  # isort: skip

import netlab
from netlab import Client

A, B = "2001:db8::1", "2001:db8::2"
PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsight-controller")


class Controller:
    """hopsight-controller for the nodes of a chain, all on one path called "all"."""

    def __init__(self, workspace, nodes, name="ctl", subscribe=True, namespace=None, **config):
        self.workspace = workspace
        self.namespace = namespace
        self.name = name
        self.api = f"ipc://{workspace.path(name)}.api"
        self.reports = f"ipc://{workspace.path(name)}.sub"
        self.publisher = f"ipc://{workspace.path(name)}.pub"
        self.config = {
            "control": {"bind": [self.api], "publish_bind": [self.publisher],
                        "subscribe_bind": [self.reports] if subscribe else []},
            "nodes": [{"name": node.name, "id": node.config["node"]["id"], "api": node.api}
                      for node in nodes],
            "paths": [{"name": "all", "nodes": [node.name for node in nodes]}],
            **config,
        }
        self.client = Client(self.api)
        self.environment = {}

    def launch(self):
        path = self.workspace.path(f"{self.name}.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(self.config, f)
        self.process = self.workspace.spawn([PROGRAM, "--config", path], namespace=self.namespace,
                                            log=f"{self.name}.log", env={**os.environ, **self.environment})
        return self

    def start(self):
        self.launch()
        until(self._answers, 20, "the controller answers")
        return self

    def _answers(self):
        try:
            return self.client.call("hello")
        except zmq.ZMQError:
            return None

    def call(self, verb, **arguments):
        return self.client.call(verb, **arguments)

    def stop(self):
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        equal(self.process.wait(10), 0, "exit code of the controller")

    def nodes(self):
        return {node["name"]: node for node in self.call("node_get")["nodes"]}

    def states(self, ns_id):
        for entry in self.call("int_list")["rules"]:
            if entry["ns_id"] == ns_id:
                return entry["nodes"]
        return None

    def wait_present(self, ns_id, limit_s=10):
        return until(lambda: set((self.states(ns_id) or {"": ""}).values()) == {"present"}, limit_s,
                     lambda: f"rule {ns_id} at all nodes: {self.states(ns_id)}")


def chain_of(workspace, nodes=3, name="ctl", **config):
    """A chain whose nodes publish to the endpoint of a controller of this name."""
    control = {"publish_to": [f"ipc://{workspace.path(name)}.sub"]}
    return Chain(workspace, nodes=nodes, control=control, **config).start()


def rules_at(node):
    return {entry["ns_id"]: entry for entry in node.call("int_list")["rules"]}


def send(chain, pps=1000, seconds=3, dport=5001, back=False):
    """Sends datagrams of 500 bytes from the first host to the second, or back, at an even pace."""
    script = (f"import socket, time\n"
              f"s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
              f"end = time.monotonic() + {seconds}\n"
              f"while time.monotonic() < end:\n"
              f"    s.sendto(bytes(500), ('{A if back else B}', {dport}))\n"
              f"    time.sleep({1 / pps})\n")
    return chain.workspace.spawn([sys.executable, "-c", script],
                                 namespace=chain.hosts[back].namespace,
                                 log=f"sender{int(back)}.log")


def same_windows(controller, sink, ns_id):
    """The windows of 1 s that the controller shows as the sink does."""
    ours, theirs = ({window["start_ns"]: window
                     for window in target.call("qos_get", ns_id=ns_id, window="1s")["qos"]
                     if not window["stale"]} for target in (controller, sink))
    return [window for start, window in theirs.items()
            if start in ours and {key: ours[start].get(key) for key in window} == window]


@test(limit_s=90)
def a_rule_on_a_path_comes_to_its_nodes_and_the_metrics_of_their_sink_come_back(workspace):
    need()
    chain = chain_of(workspace)
    controller = Controller(workspace, chain.nodes).start()
    controller.call("int_request", **rule(7, A, B, dst_port=5001, mode_setting=10),
                    on={"path": "all"})
    controller.wait_present(7)
    for node in chain.nodes:
        equal(list(rules_at(node)), [7], f"rules of {node.name}")
    listener = Subscriber(controller.publisher, "qos.7")
    sender = send(chain)
    topic, message = until(lambda: listener.receive(1), 10, "metrics of the controller")
    # Until the first window of the sink comes, the controller computes its own, from fewer reports.
    until(lambda: same_windows(controller, chain.nodes[-1], 7), 10,
          "a window that the controller shows as the sink does")
    sender.wait(20)
    window = message["qos_report"]
    equal((topic, window["ns_id"], window["path"]), ("qos.7", 7, [0, 2, 3]), "the window")
    published = controller.nodes()[chain.nodes[-1].name]
    check(published["published"] > 0, published)
    controller.call("int_delete", ns_id=7)
    until(lambda: not any(rules_at(node) for node in chain.nodes), 5, "rules removed")
    controller.stop()


@test(limit_s=90, looks=3, apart=True)
def a_node_that_was_killed_has_its_rules_back_within_two_seconds_of_its_return(workspace):
    need()
    chain = chain_of(workspace, nodes=2)
    controller = Controller(workspace, chain.nodes).start()
    for ns_id in range(1, 201):
        controller.call("int_request", **rule(ns_id, A, B, dst_port=ns_id))
    controller.wait_present(200)
    node = chain.nodes[0]
    node.process.kill()
    node.process.wait()
    node.client.close()
    until(lambda: not controller.nodes()[node.name]["reachable"], 10, "the node is missed")
    node.start()
    begin = time.monotonic()
    until(lambda: len(rules_at(node)) == 200, 2.0, lambda: f"{len(rules_at(node))} of 200 rules")
    took = time.monotonic() - begin
    equal(controller.nodes()[node.name]["restarts"], 1, "restarts noticed")
    controller.stop()
    return f"{took:.2f} s"


@test(limit_s=90)
def a_node_that_was_cut_off_is_brought_up_to_date_and_others_do_not_wait_for_it(workspace):
    need()
    chain = chain_of(workspace, nodes=2)
    controller = Controller(workspace, chain.nodes, controller={"timeout_ms": 1000}).start()
    controller.call("int_request", **rule(1, A, B, dst_port=1))
    controller.call("int_request", **rule(2, A, B, dst_port=2))
    controller.wait_present(2)
    stopped, other = chain.nodes
    with paused(stopped.process):
        until(lambda: not controller.nodes()[stopped.name]["reachable"], 10, "it is missed")
        begin = time.monotonic()
        controller.call("int_delete", ns_id=1)
        controller.call("int_update", ns_id=2, mode_setting=50)
        controller.call("int_request", **rule(3, A, B, dst_port=3))
        until(lambda: set(rules_at(other)) == {2, 3}, 2, "the other node has the changes")
        check(time.monotonic() - begin < 2, "nobody waited")
    until(lambda: set(rules_at(stopped)) == {2, 3}, 5, lambda: str(rules_at(stopped)))
    equal(rules_at(stopped)[2]["mode_setting"], 50, "a change that it missed")
    controller.stop()


@test(limit_s=90)
def two_controllers_of_one_node_leave_each_others_rules_alone(workspace):
    need()
    chain = chain_of(workspace, nodes=2)
    first = Controller(workspace, chain.nodes, "first", subscribe=False).start()
    second = Controller(workspace, chain.nodes, "second", subscribe=False).start()
    first.call("int_request", **rule(1, A, B, dst_port=1))
    second.call("int_request", **rule(2, A, B, dst_port=2))
    first.call("int_request", **rule(3, A, B, dst_port=3))
    first.wait_present(3)
    second.wait_present(2)
    second.call("int_request", **rule(3, A, B, dst_port=3))  # the same content: no conflict
    second.wait_present(3)
    second.call("int_request", **rule(1, A, B, dst_port=99))  # other content: left alone
    until(lambda: set(second.states(1).values()) == {"conflict"}, 5, lambda: str(second.states(1)))
    time.sleep(1.5)
    for node in chain.nodes:
        equal({n: r["dst_port"] for n, r in rules_at(node).items()}, {1: 1, 2: 2, 3: 3}, node.name)
    equal(set(first.states(1).values()), {"present"}, "at the first one")
    first.stop()
    second.stop()


@test(limit_s=120)
def a_controller_that_was_away_finds_everything_right_and_knows_what_it_missed(workspace):
    need()
    chain = chain_of(workspace, nodes=2)
    state = {"state": {"file": workspace.path("ctl.state")}}
    controller = Controller(workspace, chain.nodes, **state).start()
    controller.call("int_request", **rule(7, A, B, dst_port=5001, mode_setting=10))
    controller.call("int_request", **rule(8, A, B, dst_port=5002))
    controller.call("int_request", **rule(9, A, B, dst_port=5003))
    controller.wait_present(8)
    controller.wait_present(9)
    written = rules_at(chain.nodes[0])[9]
    equal((written["owner"], written["revision"]),
          ("controller", rules_at(chain.nodes[1])[9]["revision"]), "labels")
    sender = send(chain, seconds=8)
    until(lambda: controller.nodes()[chain.nodes[-1].name]["published"] > 10, 10, "reports")
    controller.process.send_signal(signal.SIGKILL)
    controller.process.wait()
    controller.client.close()
    time.sleep(2)
    chain.nodes[0].call("int_delete", ns_id=8)  # without the controller
    chain.nodes[0].call("int_update", ns_id=9, mode_setting=4711)
    begin = time.monotonic()
    check(chain.nodes[1].call("hello")["node_id"] == 2, "nodes answer")
    check(time.monotonic() - begin < 1, "a node without its controller does not wait")
    controller.start()
    controller.wait_present(8)
    equal(set(rules_at(chain.nodes[0])), {7, 8, 9}, "rules")
    equal(set(controller.states(9).values()), {"conflict", "present"}, "changed by somebody else")
    equal(rules_at(chain.nodes[0])[9]["mode_setting"], 4711, "and left alone")
    metrics = until(lambda: controller.call("qos_get", ns_id=7, window="1s")["qos"], 10, "metrics")
    sender.terminate()
    equal(metrics[0]["ns_id"], 7, "metrics")
    controller.stop()


@test(limit_s=90, apart=True)
def a_listener_that_does_not_read_holds_up_nobody(workspace):
    need()
    chain = chain_of(workspace, nodes=2)
    controller = Controller(workspace, chain.nodes).start()
    lazy = zmq.Context.instance().socket(zmq.SUB)
    lazy.rcvhwm = 1
    lazy.linger = 0
    lazy.subscribe("")
    lazy.connect(controller.publisher)
    controller.call("int_request", **rule(7, A, B, dst_port=5001, mode_setting=1))
    controller.wait_present(7)
    sender = send(chain, seconds=3)
    longest = 0.0
    while sender.poll() is None:
        begin = time.monotonic()
        controller.call("hello")
        longest = max(longest, time.monotonic() - begin)
        time.sleep(0.05)
    check(longest < 1.0, f"an answer took {longest:.3f} s")
    check(controller.nodes()[chain.nodes[-1].name]["published"] > 1000, "reports arrived meanwhile")
    lazy.close()
    controller.stop()
    return f"longest answer {longest * 1e3:.0f} ms"


@test(limit_s=120)
def raw_reports_of_a_sink_that_computes_nothing_become_metrics(workspace):
    need()
    chain = chain_of(workspace, memory={"monitored_rules": 0})
    controller = Controller(workspace, chain.nodes).start()
    controller.call("int_request", **rule(7, A, B, dst_port=5001, mode_setting=10))
    controller.wait_present(7)
    # Until the publisher is connected, nobody receives its messages.
    controller.call("int_request", **rule(8, A, B, dst_port=5002, mode_setting=1))
    controller.wait_present(8)
    warm_up = send(chain, dport=5002, seconds=10)
    until(lambda: controller.nodes()[chain.nodes[-1].name]["published"], 10, "a first report")
    warm_up.terminate()
    send(chain, seconds=5).wait(20)

    def whole_run():
        counters = chain.nodes[-1].call("int_get", ns_id=7)["counters"]
        found = controller.call("qos_get", ns_id=7, window="run")["qos"]
        windows = [w for w in found if w["reports"] == counters["sink_packets"]]
        return windows and (counters, windows)

    counters, windows = until(whole_run, 5, "metrics of all reports")
    equal(windows[0]["path"], [0, 2, 3], "path")
    check(0 <= counters["rx_packets"] - windows[0]["e2e"]["rx_packets"] < 30, counters, windows)
    equal(windows[0]["e2e"]["lost_packets"], 0, "loss")
    equal(chain.nodes[-1].call("qos_get", ns_id=7)["qos"], [], "the sink computes nothing")
    controller.stop()


@test(limit_s=60)
def what_others_learn_in_band_is_theirs_and_no_conflict(workspace):
    need()
    chain = chain_of(workspace)
    source, *others = chain.nodes
    controller = Controller(workspace, chain.nodes).start()
    controller.call("int_request", **{**rule(7, A, B, dst_port=5001, mode_setting=10),
                                      "in_band": True}, on={"source": source.name})
    controller.wait_present(7)
    sender = send(chain, seconds=8)
    until(lambda: all(7 in rules_at(node) for node in others), 5, "the others learn it")
    until(lambda: [controller.nodes()[n.name]["rules_in_band"] for n in chain.nodes] == [0, 1, 1],
          5, "the controller sees that")
    equal([controller.nodes()[n.name]["rules_foreign"] for n in chain.nodes], [0, 0, 0], "foreign")
    equal(list(controller.states(7)), [source.name], "where it is wanted")
    # The first window may end before node 2 has the rule.
    until(lambda: [window["path"][1:] for window in controller.call("qos_get", ns_id=7, window="1s")["qos"]] == [[2, 3]],
          10, "metrics of the path")
    # A rule that is asked for everywhere replaces what the nodes learned, and stays.
    controller.call("int_delete", ns_id=7)
    controller.call("int_request", **{**rule(7, A, B, dst_port=5001, mode_setting=20),
                                      "in_band": True}, on={"path": "all"})
    until(lambda: set(controller.states(7).values()) == {"present"}, 5,
          lambda: str(controller.states(7)))
    for node in chain.nodes:
        equal(node.call("int_get", ns_id=7)["state"]["origin"], "api", node.name)
    equal(events(controller, "rule_conflict"), [], "conflicts")
    sender.terminate()
    controller.stop()


@test(limit_s=60)
def an_application_shows_both_directions_and_their_round_trip(workspace):
    need()
    chain = chain_of(workspace)
    controller = Controller(workspace, chain.nodes).start()
    there = rule(7, A, B, dst_port=5001, mode_setting=10)
    back = rule(8, B, A, dst_port=5001, mode_setting=10)
    for one in (there, back):
        controller.call("int_request", **{**one, "app_id": 3})
    controller.wait_present(8)
    senders = [send(chain, seconds=6), send(chain, seconds=6, back=True)]

    def round_trip():
        found = controller.call("qos_get", app_id=3, window="1s")["applications"]
        return found[0] if found and "round_trip" in str(found[0]) else None

    until(round_trip, 10, "a round trip")
    time.sleep(2.5)  # from now on the sinks publish windows, and nothing is computed here
    application = round_trip()
    check(application, "no round trip beside windows of the sinks")
    equal({flow["ns_id"] for flow in application["flows"]}, {7, 8}, "flows")
    command = os.path.join(netlab.BUILD, "apps", "hopsight")
    done = subprocess.run([command, "-c", controller.api, "qos", "--app", "3", "--window", "1s"],
                          capture_output=True, text=True, check=True, timeout=20)
    check("round trip" in done.stdout, done.stdout)
    for sender in senders:
        sender.terminate()
    controller.stop()


@test(limit_s=90)
def whenever_it_is_killed_nothing_confirmed_is_lost(workspace):
    need()
    rounds, random = 6, Random(7)
    chain = chain_of(workspace, nodes=2)
    state = {"state": {"file": workspace.path("ctl.state")}}
    wanted, unsure = {}, None

    def change():
        """Returns one change: (ns_id, setting or None for no rule)."""
        ns_id = random.randrange(1, 60)
        if ns_id not in wanted:
            what = (ns_id, random.randrange(1, 100))
            return what, "int_request", rule(ns_id, A, B, dst_port=ns_id, mode_setting=what[1])
        if random.random() < 0.4:
            return (ns_id, None), "int_delete", {"ns_id": ns_id}
        what = (ns_id, random.randrange(1, 100))
        return what, "int_update", {"ns_id": ns_id, "mode_setting": what[1]}

    def apply(what):
        if what[1] is None:
            wanted.pop(what[0], None)
        else:
            wanted[what[0]] = what[1]

    def listed():
        return {entry["ns_id"]: entry["mode_setting"]
                for entry in controller.call("int_list")["rules"]}

    for number in range(rounds):
        controller = Controller(workspace, chain.nodes, **state).start()
        found = listed()
        if unsure and found != wanted:
            apply(unsure)  # sent and not answered: it may be in force or not
        equal(found, wanted, f"after {number} kills")
        end, unsure = time.monotonic() + random.uniform(0.2, 1.5), None
        timer = threading.Timer(end - time.monotonic(), controller.process.kill)
        timer.start()
        client = Client(controller.api, limit_s=0.3)  # the controller will soon be gone
        try:
            while True:
                unsure, verb, content = change()
                client.call(verb, **content)
                apply(unsure)
        except zmq.ZMQError:
            pass
        timer.join()
        controller.process.wait(10)
        controller.client.close()
    controller = Controller(workspace, chain.nodes, **state).start()
    found = listed()
    if found != wanted:
        apply(unsure)
    equal(found, wanted, "in the end")
    for node in chain.nodes:
        until(lambda node=node: {n: r["mode_setting"] for n, r in rules_at(node).items()} == wanted,
              5, lambda node=node: f"{node.name}: {rules_at(node).keys()}, {wanted.keys()}")
    controller.stop()


@test(limit_s=60)
def a_damaged_state_is_set_aside_and_told(workspace):
    need()
    chain = chain_of(workspace, nodes=2)
    file = workspace.path("ctl.state")
    state = {"state": {"file": file}}
    controller = Controller(workspace, chain.nodes, **state).start()
    for ns_id in (1, 2, 3):
        controller.call("int_request", **rule(ns_id, A, B, dst_port=ns_id))
    controller.stop()
    with open(file, "r+b") as f:
        data = f.read()
        at = data.index(b'"ns_id":2')
        f.seek(at + 8)
        f.write(b"9")
    controller = Controller(workspace, chain.nodes, **state).start()
    equal([entry["ns_id"] for entry in controller.call("int_list")["rules"]], [1], "before it")
    told = events(controller, "state_set_aside")
    equal(len(told), 1, "told once")
    aside = [name for name in os.listdir(os.path.dirname(file)) if ".damaged-" in name]
    check(len(aside) == 1 and aside[0] in told[0]["message"], aside, told)
    controller.stop()


# systemd starts a unit again after code 1, and not after code 2.
@test()
def a_state_that_cannot_be_opened_now_is_a_failure_at_run_time(workspace):
    config = {"nodes": [{"name": "a", "id": 1, "api": f"ipc://{workspace.path('a')}"}],
              "control": {"bind": [f"ipc://{workspace.path('c')}"]},
              "state": {"file": workspace.path("ctl.state")}}
    path = workspace.path("locked.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(config, f)
    with open(config["state"]["file"], "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = subprocess.run([PROGRAM, "--config", path], capture_output=True,
                              text=True, timeout=20, check=False)
    equal(done.returncode, 1, done.stderr)
    check("state.file" in done.stderr, done.stderr)


@test(limit_s=90, looks=3, apart=True)
def a_state_is_folded_under_load_and_nobody_waits(workspace):
    need()
    chain = chain_of(workspace, nodes=2)
    file = workspace.path("ctl.state")
    controller = Controller(workspace, chain.nodes, state={"file": file}).start()
    for begin in range(1, 2001, 500):
        controller.client.transaction([{"int_request": rule(ns_id, A, B, dst_port=ns_id)}
                                       for ns_id in range(begin, begin + 500)])
    longest = largest = 0
    for turn in range(9000):
        begin = time.monotonic()
        controller.call("int_update", ns_id=turn % 2000 + 1, mode_setting=turn + 1)
        longest = max(longest, time.monotonic() - begin)
        largest = max(largest, os.stat(file).st_size)
    check(os.stat(file).st_size < largest, "it was never folded", largest)
    check(longest < 1.0, f"an answer took {longest:.3f} s")
    controller.process.kill()
    controller.process.wait()
    controller.client.close()
    controller = Controller(workspace, chain.nodes, state={"file": file}).start()
    rules = {}
    while True:
        page = controller.call("int_list", offset=len(rules))
        rules.update({r["ns_id"]: r["mode_setting"] for r in page["rules"]})
        if "next" not in page:
            break
    last = {turn % 2000 + 1: turn + 1 for turn in range(9000)}
    equal(rules, last, "rules")
    controller.stop()
    return f"longest answer {longest * 1e3:.0f} ms"


@test(limit_s=60)
def the_controller_of_the_documentation_works_as_it_stands(workspace):
    need()
    chain = chain_of(workspace, nodes=2, name="own")
    script = os.path.join(netlab.ROOT, "docs", "examples", "controller.py")
    with open(script, encoding="utf-8") as f:
        lines = f.read().splitlines()
    check(len(lines) < 40, f"{len(lines)} lines")
    own = workspace.spawn([sys.executable, script, chain.nodes[-1].api,
                           f"ipc://{workspace.path('own')}.sub", "6"], log="own.log",
                          env={**os.environ, "PYTHONPATH": os.path.join(netlab.ROOT, "python")})
    until(lambda: 7 in rules_at(chain.nodes[-1]), 5, "the rule")
    chain.nodes[0].call("int_request", **rule(7, A, B, dst_port=5001, mode_setting=10))
    send(chain, seconds=4).wait(20)
    equal(own.wait(20), 0, "exit code")
    with open(workspace.path("own.log"), encoding="utf-8") as f:
        said = f.read()
    found = re.findall(r"0 -> 2: ([0-9.]+) Mbit/s, (-?[0-9.]+) ms, loss ([0-9.]+) %", said) or \
        re.findall(r"1 -> 2: ([0-9.]+) Mbit/s, (-?[0-9.]+) ms, loss ([0-9.]+) %", said)
    check(found, said)
    check(any(float(mbps) > 0.5 and float(loss) == 0 for mbps, _, loss in found), said)


WRONG = [
    ({}, "nodes"),
    ({"nodes": [{"name": "a", "id": 1}]}, "nodes[0].api"),
    ({"nodes": [{"name": "a", "id": 1, "api": "udp://x"}]}, "nodes[0].api"),
    ({"nodes": [{"name": "a", "id": 1, "api": "tcp://192.0.2.1:5555"}]}, "nodes[0].api"),
    ({"nodes": [{"name": "a", "id": 1, "api": "ipc:///a"}, {"name": "a", "id": 2,
                                                           "api": "ipc:///b"}]}, "nodes[1].name"),
    ({"nodes": [{"name": "a", "id": 1, "api": "ipc:///a"}],
      "paths": [{"name": "p", "nodes": ["b"]}]}, "paths[0].nodes[0]"),
    ({"nodes": [{"name": "a", "id": 1, "api": "ipc:///a"}], "colour": 1}, "colour"),
    ({"nodes": [{"name": "a", "id": 1, "api": "ipc:///a"}],
      "control": {"subscribe_bind": ["tcp://0.0.0.0:5556"]}}, "control.subscribe_bind[0]"),
    ({"nodes": [{"name": "a", "id": 1, "api": "ipc:///a"}],
      "control": {"bind": ["ipc:///c"], "subscribe_bind": ["ipc:///s", "ipc:///c"]}}, "control.subscribe_bind[1]"),
    ({"nodes": [{"name": "a", "id": 1, "api": "tcp://127.0.0.1:65536"}]}, "nodes[0].api"),
    ({"nodes": [{"name": "a", "id": 1, "api": "ipc:///a"}],
      "requests": [{"int_request": {**rule(1, A, B), "on": {"path": "x"}}}]},
     "requests[0].int_request.on.path"),
]


@test()
def a_wrong_configuration_is_refused_with_its_path(workspace):
    for number, (config, path) in enumerate(WRONG):
        file = workspace.path(f"wrong{number}.json")
        with open(file, "w", encoding="ascii") as f:
            json.dump(config, f)
        done = subprocess.run([PROGRAM, "--config", file, "--check"], capture_output=True,
                              text=True, check=False, timeout=20)
        equal(done.returncode, 2, f"exit code for {config}")
        check(f"{file}:{path}" in done.stderr, done.stderr, path)
    equal(subprocess.run([PROGRAM, "--config", os.path.join(netlab.ROOT, "config",
                                                            "controller.json"), "--check"],
                         check=False, timeout=20).returncode, 0, "the example")


if __name__ == "__main__":
    sys.exit(main())
