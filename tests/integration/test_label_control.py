# SPDX-License-Identifier: BSD-3-Clause
"""INT-label at a real controller: datagrams of a sender that shares no code with it, and nodes that answer its API as
hopsightd does."""

import json
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import zmq

from lib import InNamespace, Subscriber, check, equal, main, need, run, test, until, veth
from netlab import Refused
from prometheus_text import scrape
from test_cli import PROGRAM
from test_controller import Controller
from test_clock import Clock
from test_label import A4, B4, chain_of

PORT = 32768


def item(node, port, egress_us, ingress=1, latency_us=100, found=5, left=4, waited_us=20):
    """An item as docs/wire-label.md has it."""
    return (struct.pack(">BBBB", node & 0xFF, ingress, port, node >> 8) +
            struct.pack(">Q", egress_us - latency_us)[2:] + struct.pack(">Q", egress_us)[2:] +
            struct.pack(">II", 0, found) + struct.pack(">II", waited_us, left))


def datagram(*items, ipv6=False, specific=False, number=None, last=0):
    """What the last node sends of a packet with these items, the newest first."""
    addresses = socket.inet_pton(socket.AF_INET6, "2001:db8::1") * 2 if ipv6 else bytes((10, 0, 0, 1, 10, 0, 0, 2))
    flags = specific << 7 | ipv6 << 6
    return addresses + struct.pack(">HHBBBB", 4000, 5001, 17, len(items) if number is None else number, flags,
                                   last) + b"".join(items)


class FakeLabelNode:
    """A node that has ports with INT-label, each with a steady rate of packets."""

    def __init__(self, workspace, name, node_id, ports):
        self.name, self.node_id, self.api = name, node_id, f"ipc://{workspace.path(name)}.api"
        self.config = {"node": {"id": node_id}}
        self.shift = dict.fromkeys(ports, 0)
        self.rate = dict.fromkeys(ports, 1000)
        self.boot_id, self.asked = "one", []
        self.mute = False  # does what it is told, and does not answer
        self.router = zmq.Context.instance().socket(zmq.ROUTER)
        self.router.bind(self.api)
        threading.Thread(target=self._serve, daemon=True).start()

    def _ports(self):
        now = time.monotonic()
        return [{"name": f"p{port}", "id": port, "shift": self.shift[port], "link_up": True,
                 "tx_packets": int(now * self.rate[port])} for port in self.shift]

    def _answer(self, verb, content):
        if verb == "hello":
            return {"node_id": self.node_id, "boot_id": self.boot_id, "features": ["owner"]}
        if verb == "label_set":
            for port in content["ports"]:
                self.shift[port["id"]] = port["shift"]
            return content
        return {"ports": self._ports(), "rules": []}

    def _serve(self):
        while True:
            *route, body = self.router.recv_multipart()
            request = json.loads(body)
            verb, content = next((key, value) for key, value in request.items() if key != "id")
            if verb == "label_set":
                self.asked.append(content["ports"])
            answer = {"id": request["id"], "ok": self._answer(verb, content), "generation": 0}
            if not self.mute:
                self.router.send_multipart([*route, json.dumps(answer).encode()])

    def restart(self):
        self.boot_id += "+"
        self.shift = dict.fromkeys(self.shift, 0)


class Labelling:
    """A controller with INT-label, and a socket to it."""

    def __init__(self, workspace, nodes, namespace=None, clock=None, **label):
        self.namespace = namespace or workspace.namespace("ctl")
        self.label = {"listen": [f"127.0.0.1:{PORT}"], "poll_ms": 200, **label}
        self.controller = Controller(workspace, nodes, namespace=self.namespace, label=self.label, prometheus={})
        if clock:
            clock.give(self.controller)
        self.controller.start()
        with InNamespace(self.namespace):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", PORT))

    def send(self, *payloads):
        for payload in payloads:
            try:
                self.socket.send(payload)
            except ConnectionRefusedError:  # nobody listens while the controller is away
                pass

    def get(self):
        return self.controller.call("label_get")

    def counters(self):
        return self.get()["counters"]

    def ports(self):
        return {(row["node_id"], row["id"]): row for row in self.get()["ports"]}

    def until_active(self, n):
        until(lambda: sum(row["active"] and "name" in row for row in self.ports().values()) == n, 10,
              lambda: f"{n} active ports: {self.get()}")

    def run(self, *words):
        done = subprocess.run([PROGRAM, "-c", self.controller.api, *words], capture_output=True, text=True,
                              check=False, timeout=20)
        return done.returncode, done.stdout, done.stderr


def now_us():
    return time.time_ns() // 1000


@test()
def a_controller_keeps_the_values_of_items_and_refuses_older_ones(workspace):
    need()
    nodes = [FakeLabelNode(workspace, "a", 1, (1, 2)), FakeLabelNode(workspace, "b", 777, (3,))]
    lab = Labelling(workspace, nodes)
    lab.until_active(3)
    base = now_us()
    lab.send(datagram(item(777, 3, base + 7, 9, 70, 1000, 11, 12345), item(1, 2, base, 4, 250, 77, 33, 4321)),
             datagram(item(1, 1, base, found=0xFFFFFF), ipv6=True, specific=True),
             datagram(item(1, 2, base - 1)), datagram(item(1, 2, base)), datagram(item(8, 1, base)),
             datagram(item(1, 9, base)))
    until(lambda: lab.counters()["datagrams"] == 6, 5, "datagrams")
    rows = lab.ports()
    told = {key: [row[name] for name in ("ingress_port", "latency_ns", "enqueue_packets", "dequeue_packets",
                                         "queue_ns", "items", "node", "name")] for key, row in rows.items()}
    equal(told, {(777, 3): [9, 70000, 1000, 11, 12345000, 1, "b", "p3"],
                 (1, 2): [4, 250000, 77, 33, 4321000, 1, "a", "p2"],
                 (1, 1): [1, 100000, 0xFFFFFF, 4, 20000, 1, "a", "p1"]}, "ports")
    got = lab.get()
    equal(got["taken"], {"new": 3, "newer": 0, "older": 2, "no_room": 0, "forgotten": 0}, "taken")
    equal([got["counters"][name] for name in ("unknown_node", "unknown_port")], [1, 1], "unknown")
    equal([row["id"] for row in got["hottest"]], [1, 3, 2], "the deepest queues")
    lab.send(datagram(item(1, 2, base + 1, found=1)))
    until(lambda: lab.ports()[1, 2]["enqueue_packets"] == 1, 5, "a newer item")
    lab.controller.stop()


@test()
def coverage_is_exactly_what_was_sent(workspace):
    need()
    node = FakeLabelNode(workspace, "a", 1, (1, 2, 3))
    node.rate[3] = 0  # idle: it does not count
    lab = Labelling(workspace, [node], interval_ms=500)
    until(lambda: lab.get()["coverage"]["last_ports"] == 2, 10, "active ports")

    def wait_for(share):
        """Returns when this share of an interval of 500 ms has passed."""
        time.sleep((share - time.time() * 2) % 1 / 2)

    wait_for(0.8)
    before, sent = lab.get(), []
    for number in range(12):
        ports = [port for port in (1, 2) if number % (port + 1) == 0]
        wait_for(0.3)
        lab.send(*(datagram(item(1, port, now_us())) for port in ports))
        sent.append(len(ports))
        wait_for(0.8)
    after = lab.get()
    # The interval that was open before has ended, and the last one is open.
    first = after["coverage"]["intervals"] - before["coverage"]["intervals"] - 11
    equal(first, 1, "intervals")
    missed = after["counters"]["not_seen"] - before["counters"]["not_seen"]
    equal(missed - sum(2 - n for n in sent[:-1]), 2, "ports that were not seen, and both of the interval before")
    equal(after["coverage"]["whole"] - before["coverage"]["whole"], sent[:-1].count(2), "whole intervals")
    total = after["coverage"]["mean"] * after["coverage"]["intervals"]
    check(abs(total - before["coverage"]["mean"] * before["coverage"]["intervals"] - sum(sent[:-1]) / 2) < 1e-6, after)
    equal([row["id"] for row in after["not_seen"]], [2], "ports that the last interval missed")
    kind = next(event for event in lab.controller.call("events")["events"] if event["kind"] == "ports_not_seen")
    equal((kind["node"], kind["node_id"], kind["port"] in ("p1", "p2")), ("a", 1, True), "event")
    lab.controller.stop()


@test(looks=3)
def a_clock_that_is_set_by_little_adds_no_interval_without_items(workspace):
    """The controller's clock is set by 0.9 s, as NTP may do, while items come every 25 ms."""
    need()
    clock, node = Clock(workspace), FakeLabelNode(workspace, "a", 1, (1,))
    lab = Labelling(workspace, [node], clock=clock, interval_ms=100)
    lab.until_active(1)
    base = now_us()
    stop = threading.Event()

    def label():
        while not stop.wait(0.025):
            lab.send(datagram(item(1, 1, base + int(time.monotonic() * 1e6))))

    thread = threading.Thread(target=label, daemon=True)
    thread.start()
    time.sleep(0.5)
    before, began = lab.get(), time.monotonic()
    for offset_ns in (900_000_000, 0, 900_000_000):
        clock.set(offset_ns)
        time.sleep(0.5)
    after, passed_s = lab.get(), time.monotonic() - began
    stop.set()
    thread.join()
    intervals = after["coverage"]["intervals"] - before["coverage"]["intervals"]
    check(passed_s * 10 - 6 <= intervals <= passed_s * 10 + 2, f"{intervals} intervals in {passed_s} s")
    missed = after["counters"]["not_seen"] - before["counters"]["not_seen"]
    check(missed <= 3, f"{missed} intervals without an item of the port")
    lab.controller.stop()


PRO = {"k": 2, "interval_ms": 100, "repeat_ms": 100, "max_shift": 3}


@test()
def shift_follows_silence_and_lost_changes_are_told_again(workspace):
    need()
    nodes = [FakeLabelNode(workspace, "a", 1, (1, 2)), FakeLabelNode(workspace, "b", 2, (1, 2))]
    lab = Labelling(workspace, nodes, pro=PRO)
    until(lambda: nodes[0].shift == nodes[1].shift == {1: 3, 2: 3}, 10, "S of silent ports")
    until(lambda: all(row["confirmed"] for row in lab.ports().values()), 5, "confirmed")

    def be_loud():
        lab.send(datagram(item(1, 1, now_us()), item(2, 2, now_us())))
        time.sleep(0.05)

    def is_loud(wanted):
        be_loud()
        return wanted()

    until(lambda: is_loud(lambda: (nodes[0].shift, nodes[1].shift) == ({1: 0, 2: 3}, {1: 3, 2: 0})), 10,
          "S of loud ports")
    nodes[0].mute = True  # the changes are made, and nobody says so
    asked = len(nodes[0].asked)
    until(lambda: nodes[0].shift[1] == 1, 10, "S of a port that became silent")
    until(lambda: len(nodes[0].asked) >= asked + 4, 5, "the same again")
    nodes[0].mute = False
    until(lambda: lab.ports()[1, 1].get("confirmed"), 5, "confirmed at last")
    nodes[1].restart()
    until(lambda: nodes[1].shift[1] == 3, 10, "S of a node that restarted")
    lab.controller.stop()


@test()
def shift_goes_up_after_a_twentieth_of_the_interval(workspace):
    need()
    node = FakeLabelNode(workspace, "a", 1, (1,))
    lab = Labelling(workspace, [node], pro={"k": 0.05, "interval_ms": 4000, "max_shift": 5})
    lab.until_active(1)
    # 5 x 200 ms; with k of 1, 5 x 4 s.
    until(lambda: node.shift[1] == 5, 10, "S of a silent port")
    lab.controller.stop()


@test()
def a_person_reads_and_sets_ports_on_the_command_line(workspace):
    need()
    nodes = [FakeLabelNode(workspace, "a", 1, (1, 2)), FakeLabelNode(workspace, "b", 2, (1,))]
    lab = Labelling(workspace, nodes)
    equal(lab.run("label")[1].splitlines()[0], "coverage: no interval of 100.000 ms ended with active ports", "coverage")
    lab.until_active(3)
    lab.send(datagram(item(1, 2, now_us(), found=41)))
    until(lambda: lab.get()["coverage"]["last_ports"] == 3 and not lab.get()["coverage"]["last_seen"], 5,
          "an interval without items")
    code, text, _ = lab.run("label")
    equal(code, 0, "exit code")
    for part in ("of 3 ports", "not seen in the last interval", "deepest queues", "all ports", "p2"):
        check(part in text, part, text)
    queue = text[text.index("deepest queues"):].splitlines()
    check("41" in queue[2], text)
    told = json.loads(lab.run("label", "--json")[1])
    equal((len(told["ports"]), len(told["hottest"]), "next" in told), (3, 1, False), "as JSON")
    lab.send(datagram(item(1, 2, now_us(), found=42)))
    until(lambda: lab.ports()[1, 2]["items"] == 2, 5, "a second item")
    text = lab.run("label", "a", "2")[1]
    check(text.index("42") < text.index("its last items") < text.rindex("42") < text.rindex("41"), text)
    check("p1" in lab.run("label", "a")[1] and "p1" not in text, text)
    watch = subprocess.Popen([PROGRAM, "-c", lab.controller.api, "--json", "--watch", "0.1", "label"],
                             stdout=subprocess.PIPE, text=True)
    rounds = [json.loads(watch.stdout.readline()) for _ in range(3)]
    watch.kill()
    watch.wait()
    check(all(first["ts_ns"] < second["ts_ns"] and len(second["ports"]) == 3
              for first, second in zip(rounds, rounds[1:])), rounds)
    equal(lab.run("label", "set", "--at", "b", "1=4")[0], 0, "exit code")
    equal((nodes[1].shift, nodes[0].shift), ({1: 4}, {1: 0, 2: 0}), "S")
    until(lambda: lab.ports()[2, 1]["shift"] == 4, 5, "S that the node has")
    for words in (("1=4",), ("--at", "c", "1=4"), ("--at", "b", "1=63")):
        equal(lab.run("label", "set", *words)[0], 1, words)
    equal(lab.run("label", "set", "--at", "b", "14")[0], 2, "a word without S")
    nodes[1].mute = True
    equal(lab.run("label", "set", "--at", "b", "1=5")[0], 1, "a node that does not answer")
    try:
        lab.controller.call("label_set", node="a", ports=[])
        raise AssertionError("no ports were accepted")
    except Refused as refused:
        equal(refused.error["code"], "out_of_range", "no ports")
    lab.controller.stop()


@test()
def coverage_recovers_within_two_intervals_when_a_controller_is_killed(workspace):
    need()
    node = FakeLabelNode(workspace, "a", 1, (1, 2, 3))
    lab = Labelling(workspace, [node], interval_ms=400, pro=PRO)
    going = True

    def label():
        while going:
            lab.send(datagram(*(item(1, port, now_us()) for port in (3, 2, 1))))
            time.sleep(0.1)

    thread = threading.Thread(target=label, daemon=True)
    thread.start()
    until(lambda: lab.get()["coverage"]["last_seen"] == 3, 10, "coverage")
    node.shift[2] = 2  # as a controller said before
    lab.controller.process.send_signal(signal.SIGKILL)
    lab.controller.process.wait(10)
    asked = len(node.asked)
    lab.controller.start()
    until(lambda: lab.get()["coverage"]["last_ports"] == 3, 10, "active ports")
    until(lambda: lab.get()["coverage"]["intervals"] >= 8, 10, "intervals")
    coverage = lab.get()["coverage"]
    check(coverage["intervals"] - coverage["whole"] <= 2, coverage)
    equal(coverage["last_seen"], 3, "seen")
    # It went on from the S that the node had, and lowered it.
    until(lambda: node.shift[2] == 0, 5, "S")
    check([{"id": 2, "shift": 1}] in node.asked[asked:], node.asked[asked:])
    going = False
    thread.join()
    lab.controller.stop()


SENDER = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    s.sendto(bytes(400), (sys.argv[1], 5001))
    time.sleep(0.001)
"""


def labelling_chain(workspace):
    """Four nodes that label, whose ends export to a controller in the namespace of the last node."""
    chain = chain_of(workspace, {"method": "label", "interval_ns": 50_000_000})
    first, last = chain.nodes[0].namespace, chain.nodes[-1].namespace
    veth(first, "mgmt", last, "mgmt")
    for i, namespace in enumerate((first, last), 1):
        run("ip", "-n", namespace, "addr", "add", f"198.51.100.{i}/24", "dev", "mgmt")
    for node in (chain.nodes[0], chain.nodes[-1]):
        node.config["export"][0]["to"] = f"198.51.100.2:{PORT}"
    return chain.start()


def coverage_of(lab, intervals):
    """Coverage of the next intervals, as (intervals, whole, mean)."""
    before = lab.get()["coverage"]
    after = until(lambda: (now := lab.get()["coverage"])["intervals"] >= before["intervals"] + intervals and now,
                  intervals, "intervals")
    n = after["intervals"] - before["intervals"]
    return n, after["whole"] - before["whole"], (
        after["mean"] * after["intervals"] - before["mean"] * before["intervals"]) / n


@test(limit_s=120, path=True, looks=3)
def every_port_of_real_nodes_is_seen_and_is_again_after_the_controller_was_killed(workspace):
    need()
    chain = labelling_chain(workspace)
    lab = Labelling(workspace, chain.nodes, namespace=chain.nodes[-1].namespace, interval_ms=100, pro={},
                    listen=[f"198.51.100.2:{PORT}"])
    for i, (host, peer) in enumerate(zip(chain.hosts, (B4, A4))):
        workspace.spawn([sys.executable, "-c", SENDER, peer], namespace=host.namespace, log=f"sender{i}.log")
    lab.until_active(8)
    until(lambda: lab.get()["coverage"]["last_seen"] == 8, 10, lambda: f"each port: {lab.get()}")
    n, whole, mean = coverage_of(lab, 50)
    check(mean > 0.99 and whole >= n - 1, n, whole, mean)
    for row in lab.ports().values():
        check(row["latency_ns"] < 1_000_000_000 and row["items"] > 50, row)
    east = chain.nodes[1].config["ports"][1]["id"]
    equal(lab.run("label", "set", "--at", chain.nodes[1].name, f"{east}=1")[0], 0, "S of a real port")
    lab.controller.process.send_signal(signal.SIGKILL)
    lab.controller.process.wait(10)
    lab.controller.start()
    until(lambda: lab.get()["coverage"]["last_ports"] == 8, 10, "active ports")
    until(lambda: lab.get()["coverage"]["intervals"] >= 10, 10, "intervals")
    after = lab.get()["coverage"]
    check(after["intervals"] - after["whole"] <= 2, after)
    lab.controller.stop()
    return f"{whole} of {n} intervals whole, mean {mean:.4f}"


@test(limit_s=120)
def datagrams_that_lie_are_counted_and_harm_nobody(workspace):
    need()
    nodes = [FakeLabelNode(workspace, "a", 1, (1, 2))]
    lab = Labelling(workspace, nodes, ports=4)
    lab.until_active(2)
    rng, sent = random.Random(5), 100000
    good = datagram(item(1, 1, now_us()), item(1, 2, now_us()))

    def lie():
        kind = rng.randrange(6)
        if kind == 0:
            return rng.randbytes(rng.randrange(300))
        if kind == 1:
            return datagram(item(1, 1, now_us()), number=rng.randrange(256))
        if kind == 2:
            return datagram(*(rng.randbytes(32) for _ in range(rng.randrange(6))))
        if kind == 3:
            return datagram(item(rng.randrange(3), rng.randrange(256), rng.randrange(1 << 48)))
        if kind == 4:
            return datagram(last=rng.randrange(1, 256)) if rng.randrange(2) else bytes(rng.randrange(8300, 9000))
        at = rng.randrange(len(good))
        return good[:at] + bytes((good[at] ^ 1 << rng.randrange(8),)) + good[at + 1:]

    for number in range(sent):
        lab.send(lie())
        if number % 1000 == 0:  # not faster than an ASan build can read
            time.sleep(0.01)
            lab.get()
    until(lambda: (lambda c: c["datagrams"] + c["lost"])(lab.counters()) == sent, 20, lambda: lab.counters())
    got = lab.get()
    check(got["counters"]["datagrams"] > sent / 2, got["counters"])
    for reason in ("too_long", "bad_length", "bad_flags", "empty"):
        check(got["counters"][reason] > 1000, reason, got["counters"])
    equal([row["id"] for row in got["ports"]], [1, 2], "ports")
    equal(got["taken"]["no_room"], 0, "no lie took the room of a port")
    lab.controller.stop()


@test()
def coverage_is_on_the_page_of_metrics_and_silence_is_published(workspace):
    need()
    lab = Labelling(workspace, [FakeLabelNode(workspace, "a", 1, (1, 2))])
    listener = Subscriber(lab.controller.publisher, "event.ports_not_seen")
    lab.until_active(2)
    lab.send(datagram(item(1, 1, now_us())), b"?")
    until(lambda: lab.counters()["datagrams"] == 2, 5, "datagrams")
    listener.receive(5)
    page, text = scrape(lab.namespace, 9464)
    name = "hopsight_controller_label"
    equal([page.get(f"{name}_{key}") for key in ("datagrams_total", "datagrams_bad_length_total", "ports_active")] +
          [page.get(f"{name}_items_total", result="new")], [2, 1, 2, 1], "values")
    check(0 <= page.get(f"{name}_coverage_mean_ratio") < 1, text)
    lab.controller.stop()


if __name__ == "__main__":
    main()
