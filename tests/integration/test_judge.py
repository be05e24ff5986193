# SPDX-License-Identifier: BSD-3-Clause
"""What real nodes publish about real traffic: packets are lost, copied and delayed, a node
restarts, rules are removed and installed again, and a path changes. Captures of each link judge
it."""

import collections
import os
import sys
import threading
import time

import frames as fr
from lib import (Host, InNamespace, Node, RawPort, Subscriber, audit_ok, check, iface, main, need, rule, test,
                 veth)

JUDGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "judge")
sys.path[:0] = [JUDGE]

import bridge  # noqa: E402
import captures  # noqa: E402
import judge  # noqa: E402

A, B, PORT, NS_ID = "2001:db8::1", "2001:db8::2", 5001, 7
RATE_PPS, SECONDS = 300, 15
IDS = {"n1": 1, "n2": 2, "n3": 3, "n4": 4}
PORTS = ("p1e", "p2w", "p2e", "p3w", "p3e", "p4w")
FATES = ({"loss": 0.05, "hold": 0.02}, {"loss": 0.02, "copy": 0.01})


class Net:
    """host1 - n1 - n2 or n3 - n4 - host2, with a panel of faulty wires between the nodes."""

    def __init__(self, workspace, seed):
        self.workspace = workspace
        self.hosts = [Host(workspace, "host1", A), Host(workspace, "host2", B)]
        panel = workspace.namespace("panel")
        spaces = {name: workspace.namespace(name) for name in IDS}
        veth(self.hosts[0].namespace, "eth0", spaces["n1"], "west")
        veth(self.hosts[1].namespace, "eth0", spaces["n4"], "east")
        for port in PORTS:
            veth(panel, port, spaces["n" + port[1]], "west" if port[2] == "w" else "east", 1800)
        for host in self.hosts:
            host.configure()
        for host, other in (self.hosts, self.hosts[::-1]):
            host.knows(other)
        self.nodes = {name: self.node(name, space) for name, space in spaces.items()}
        with InNamespace(panel):
            self.panel = bridge.Panel(workspace.folder, seed, PORTS)

    def node(self, name, space):
        sides = ("host" if name == "n1" else "network", "host" if name == "n4" else "network")
        ports = [iface(port, port, side, 1500 if side == "host" else 1800)
                 for port, side in zip(("west", "east"), sides)]
        return Node(self.workspace, IDS[name], ports, space, name,
                    requests=[{"int_request": the_rule()}])

    def start(self):
        for node in self.nodes.values():
            node.launch()
        for node in self.nodes.values():
            node.wait_ready()
        return self

    def patch(self, middle):
        self.panel.patch(("p1e", f"p{middle}w", FATES[0]), (f"p{middle}e", "p4w", FATES[1]))

    def again(self, name):
        self.nodes[name].client.transaction([{"int_delete": {"ns_id": NS_ID}},
                                             {"int_request": the_rule()}])

    def restart(self, name):
        self.nodes[name].stop()
        self.nodes[name].start()


def the_rule():
    return rule(NS_ID, A, B, dst_port=PORT, mode="count", mode_setting=3)


def send(net, ended):
    """Sends so many packets a second, each with its number."""
    left, right = net.hosts
    port = RawPort(left.namespace, "eth0")
    begin = time.monotonic()
    for number in range(RATE_PPS * SECONDS):
        while time.monotonic() < begin + number / RATE_PPS:
            time.sleep(0.001)
        port.send(fr.udp_frame(A, B, 4000, PORT, number.to_bytes(4, "big") + bytes(200),
                               destination=fr.mac(right.mac), source=fr.mac(left.mac)))
    ended.set()


def of_one_clock(window):
    """The kernel's report on its clock is no excuse if all nodes share the clock."""
    return {key: value for key, value in window.items() if key != "clock"}


def gather(subscriber, ended, windows, stamps):
    """Returns the windows of the flow, and the sink's stamps of its reports by the source's
    stamps."""
    last = time.monotonic()
    while not ended.is_set() or time.monotonic() < last + 2:
        last = last if ended.is_set() else time.monotonic()
        message = subscriber.receive(0.2)
        if message and message[0] == f"qos.{NS_ID}":
            windows.append(of_one_clock(message[1]["qos_report"]))
        elif message and message[0] == f"report.{NS_ID}":
            report = message[1]["int_report"]
            stamps[report["e2e"]["ts_ns"]].append(report["sink"]["ts_ns"])


def links_of(workspace):
    def seen(port, way):
        return captures.frames_of(workspace.path(f"{port}.{way}.pcap"), PORT)
    return [captures.Node("n1", [], seen("p1e", "in")),
            captures.Node("n2", seen("p2w", "out"), seen("p2e", "in")),
            captures.Node("n3", seen("p3w", "out"), seen("p3e", "in")),
            captures.Node("n4", seen("p4w", "out"), [])]


class Happened:
    """Returns what a judge must know in addition to the packets."""
    reorders, undisturbed, steps = True, False, False

    def __init__(self, start_ns):
        self.start_ns = start_ns


def verdict(workspace, windows, stamps):
    nodes = links_of(workspace)
    flow = captures.flow_of(nodes, IDS, NS_ID, stamps)
    # There is one clock here. A node that does not run for a while stamps packets later.
    for report in flow.reports:
        for stop in report.stops:
            check(abs(stop.shown - stop.at) < 10**9, "a stamp and its capture", stop.shown, stop.at)
    check(len(flow.reports) > RATE_PPS * SECONDS // 6, "reports", len(flow.reports))
    it = judge.Judge(flow, [flow.reports], [], Happened(flow.reports[0].stops[0].at))
    for window in windows:
        it.window(window)
    it.published(windows)
    return it


@test(limit_s=120)
def captures_of_every_link_agree_with_each_window_that_carries_no_flag(workspace):
    need()
    net = Net(workspace, seed=1).start()
    net.patch(2)
    sink = net.nodes["n4"]
    subscriber = Subscriber(sink.publisher)
    subscriber.wait_connected(sink)
    ended, windows, stamps = threading.Event(), [], collections.defaultdict(list)
    threads = [threading.Thread(target=send, args=(net, ended)),
               threading.Thread(target=gather, args=(subscriber, ended, windows, stamps))]
    for thread in threads:
        thread.start()
    for wait_s, act in ((4.3, lambda: net.restart("n2")), (2, lambda: net.again("n2")),
                        (2, lambda: net.again("n1")), (2, lambda: net.patch(3)),
                        (2, lambda: net.patch(2))):
        time.sleep(wait_s)
        act()
    for thread in threads:
        thread.join()
    audit_ok(*(net.nodes[name] for name in ("n1", "n3", "n4")))
    windows += [of_one_clock(w) for w in sink.call("qos_get", ns_id=NS_ID, window="run")["qos"]]
    net.panel.close()
    it = verdict(workspace, windows, stamps)
    check(not it.findings, f"{len(it.findings)} numbers are wrong without saying so",
          *[finding.text for finding in it.findings[:20]])
    check(it.compared > 500, "numbers compared", it.compared)
    of_a_second = [w for w in windows if w["window_ns"] == 10**9 and w["reports"]]
    clean = [w for w in of_a_second if not judge.markers_of(w)]
    check(len(clean) >= 4, "windows without a flag", [judge.markers_of(w) for w in of_a_second])
    check(any(w["e2e"].get("lost_packets", 0) > 0 for w in clean), "nothing was lost")
    check(any("epoch" in w["flags"] for w in of_a_second), "no restart was seen")
    check(any(w["path_changed"] for w in of_a_second), "no other path was seen")


if __name__ == "__main__":
    main()
