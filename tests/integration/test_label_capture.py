# SPDX-License-Identifier: BSD-3-Clause
"""Frames of INT-label's prototype on interfaces that a real controller reads."""

import json
import re
import socket
import subprocess
import sys

from lib import InNamespace, RawPort, check, equal, main, need, run, test, until, veth
from prometheus_text import scrape
from test_cli import PROGRAM
from test_controller import Controller
from test_controller import PROGRAM as CONTROLLER
from test_label_control import FakeLabelNode

# As the prototype's sender and switches write them: to the first switch, and to the receiving host with one item.
SENT = bytes.fromhex("000000020202000000010101" "0700" "0000" "00010001000200038003" "0701" "0000" "77777777")
RECEIVED = bytes.fromhex("000000020202000000010101" "0701" "0001"
                         "040102000000000f42bb0000000f4408000f430800000007000000d200000006" "77777777")


def with_items(*items, number=None, route=b""):
    """A frame with the first frame's item of other switches, ports and times (us), the newest first."""
    stack = b"".join(bytes((switch, 1, port, 0)) + RECEIVED[20:26] + us.to_bytes(6, "big") + RECEIVED[32:48]
                     for switch, port, us in items)
    option = bytes((0, len(items) if number is None else number))
    return RECEIVED[:12] + (b"\x07\x00\x00\x00" + route if route else b"") + b"\x07\x01" + option + stack + bytes(1000)


class Network:
    """A controller beside two switches: of the one, the host's end of a link, of the other, the switch's own."""

    def __init__(self, workspace, nodes=(), **label):
        self.namespace, self.peers = workspace.namespace("ctl"), workspace.namespace("net")
        peers = self.peers
        veth(self.namespace, "c1", peers, "p1")
        veth(self.namespace, "c2", peers, "p2")
        self.controller = Controller(workspace, nodes, namespace=self.namespace, prometheus={}, label={
            "capture": [{"iface": "c1", "format": "prototype"}, {"iface": "c2", "format": "prototype"}], **label})
        if not nodes:
            self.controller.config["paths"] = []
        self.controller.start()
        self.came, self.left = RawPort(peers, "p1"), RawPort(self.namespace, "c2")

    def get(self):
        return self.controller.call("label_get")

    def until_frames(self, n):
        until(lambda: self.get()["counters"]["frames"] == n, 5, lambda: self.get()["counters"])

    def ports(self):
        return {(row["node_id"], row["id"]): row for row in self.get()["ports"]}


@test()
def a_controller_without_nodes_reads_frames_of_the_prototype(workspace):
    need()
    net = Network(workspace)
    net.came.send(RECEIVED)
    net.left.send(with_items((5, 3, 2000000), (4, 2, 1000500)))  # as a switch sends it to a host
    net.until_frames(2)
    rows = net.ports()
    row = {name: rows[4, 2][name] for name in rows[4, 2] if name not in ("age_ns", "active", "missed")}
    # The second frame has a later time of the port: 500 us more than 1,000,000, and the packet came in at 1,000,123.
    equal(row, {"node": "", "node_id": 4, "id": 2, "items": 2, "ingress_port": 1, "latency_ns": 377000, "enqueue_packets": 7,
                "dequeue_packets": 6, "queue_ns": 210000}, "the first port")
    equal((rows[5, 3]["items"], rows[5, 3]["active"], len(rows)), (1, True, 2), "the second port")
    route = b"\x00\x01\x80\x03"  # between switches, which have items and a rest of the route
    net.came.send(with_items((6, 1, 77), route=route), with_items((4, 2, 1000499)))
    net.until_frames(4)
    equal((net.ports()[6, 1]["items"], net.get()["taken"]["older"]), (1, 1), "a frame on its way, and an older item")
    done = subprocess.run([PROGRAM, "-c", net.controller.api, "label"], capture_output=True, text=True, check=True)
    check("all ports" in done.stdout and any(line.split()[:2] == ["5", "3"] for line in done.stdout.splitlines()),
          done.stdout)
    until(lambda: net.get()["coverage"]["last_ports"] == 3, 5, "active ports")
    until(lambda: any(event["kind"] == "ports_not_seen" for event in net.controller.call("events")["events"]), 5,
          "an event of silent ports")
    net.controller.stop()


@test()
def frames_that_cannot_be_read_are_counted_by_reason_and_others_are_not_looked_at(workspace):
    need()
    net = Network(workspace)
    short = with_items((4, 1, 5), number=255)
    foreign = [SENT[:26] + b"\x08\x00" + SENT[28:], SENT[:24] + b"\x00" + SENT[25:]]  # IPv4; no last entry of the route
    net.came.send(SENT, short, *foreign, RECEIVED[:40], RECEIVED)
    others = [RECEIVED[:12] + ether_type + RECEIVED[14:] for ether_type in (b"\x08\x00", b"\x07\x02", b"\x81\x00")]
    net.left.send(*others, RECEIVED)
    net.until_frames(7)
    counters = net.get()["counters"]
    equal({name: counters[f"frames_{name}"] for name in ("short", "foreign", "empty", "lost")},
          {"short": 2, "foreign": 2, "empty": 1, "lost": 0}, "reasons")
    equal((counters["datagrams"], list(net.ports())), (0, [(4, 2)]), "nothing else came")
    page, _ = scrape(net.namespace, 9464)
    equal([page.get(f"hopsight_controller_label_frames{name}_total") for name in ("", "_short", "_foreign", "_empty")],
          [7, 2, 2, 1], "metrics")
    net.controller.stop()


@test()
def pro_leaves_devices_alone_that_are_no_nodes_and_datagrams_bring_none(workspace):
    need()
    node = FakeLabelNode(workspace, "a", 1, (1, 2))
    net = Network(workspace, [node], listen=["127.0.0.1:32768"], poll_ms=200,
                  pro={"k": 0.2, "interval_ms": 100, "max_shift": 3})
    until(lambda: len(net.ports()) == 2, 10, "ports of the node")
    net.came.send(with_items((4, 2, 5), (1, 1, 7), (1, 9, 7)))
    with InNamespace(net.namespace):
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for device in (4, 9):  # a datagram with an item of the device
        sender.sendto(bytes(13) + b"\x01\x00\x00" + bytes((device, 1, 7, 0)) + RECEIVED[20:48], ("127.0.0.1", 32768))
    until(lambda: net.get()["counters"]["datagrams"] == 2, 5, "datagrams")
    counters = net.get()["counters"]
    equal((counters["unknown_port"], counters["unknown_node"]), (1, 2), "items that are not taken")
    until(lambda: node.shift == {1: 3, 2: 3}, 10, "S of the node's silent ports")
    rows = net.ports()
    equal((sorted(rows), "shift" in rows[4, 2], "confirmed" in rows[4, 2]), ([(1, 1), (1, 2), (4, 2)], False, False),
          "ports")
    check({row["id"] for request in node.asked for row in request} == {1, 2}, node.asked)
    net.controller.stop()


def buffers(namespace):
    """Of packet sockets, in KiB. The kernel doubles what it is asked for."""
    said = run("ip", "netns", "exec", namespace, "ss", "-0Hnm")
    return [int(number) // 2048 for number in re.findall(r"rb(\d+)", said)]


@test()
def each_interface_has_the_buffer_of_the_configuration_or_the_log_says_so(workspace):
    need("ss", "setpriv")
    with open("/proc/sys/net/core/rmem_max", encoding="ascii") as f:
        most_kib = int(f.read()) // 1024
    net = Network(workspace, buffer_kib=2 * most_kib)
    check(buffers(net.namespace).count(2 * most_kib) == 2, buffers(net.namespace))
    net.controller.stop()
    log = "limited.log"
    limited = workspace.spawn(["setpriv", "--bounding-set", "-net_admin", CONTROLLER, "--config", workspace.path("ctl.json")],
                              namespace=net.namespace, log=log)

    def said():
        with open(workspace.path(log), encoding="utf-8") as f:
            return f.read()

    until(lambda: "ready" in said(), 10, said)
    for i in range(2):
        check(f"label.capture[{i}].iface: the kernel gives a buffer of {most_kib} KiB in place of {2 * most_kib}" in said(), said())
    limited.terminate()
    equal(limited.wait(10), 0, "exit code")


@test()
def an_interface_that_goes_is_told_and_read_when_it_is_there_again(workspace):
    need()
    net = Network(workspace)

    def said(name, what=": Network is down"):
        with open(workspace.path("ctl.log"), encoding="utf-8") as f:
            return f.read().count(name + what)

    run("ip", "-n", net.namespace, "link", "set", "c2", "down")
    until(lambda: said("label.capture[1].iface: c2") == 1, 5, "the interface that is down")
    run("ip", "-n", net.namespace, "link", "set", "c2", "up")
    run("ip", "-n", net.namespace, "link", "del", "c1")
    until(lambda: said("label.capture[0].iface: c1") == 1, 5, "the interface that is gone")
    RawPort(net.namespace, "c2").send(RECEIVED)
    net.until_frames(1)
    equal((said("c1"), said("c2")), (1, 1), "each is told once")
    veth(net.namespace, "c1", net.peers, "p1")
    until(lambda: said("label.capture[0].iface: c1", " is there again") == 1, 5, "the interface that was made again")
    RawPort(net.peers, "p1").send(RECEIVED)
    net.until_frames(2)
    RawPort(net.namespace, "c1").send(RECEIVED)  # what leaves, too
    net.until_frames(3)
    net.controller.stop()


@test()
def an_interface_that_is_not_there_is_told_by_its_path(workspace):
    need()
    path = workspace.path("wrong.json")
    with open(path, "w", encoding="ascii") as f:
        json.dump({"control": {"bind": [f"ipc://{workspace.path('c')}.api"]}, "nodes": [],
                   "label": {"capture": [{"iface": "lo", "format": "prototype"},
                                         {"iface": "none0", "format": "prototype"}]}}, f)
    for words, code in ((["--check"], 0), ([], 1)):
        done = subprocess.run([CONTROLLER, "--config", path, *words], capture_output=True, text=True, check=False,
                              timeout=20)
        equal(done.returncode, code, done.stderr)
        check("label.capture[1].iface" in done.stdout + done.stderr and "none0" in done.stdout + done.stderr, done)


if __name__ == "__main__":
    sys.exit(main())
