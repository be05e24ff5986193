# SPDX-License-Identifier: BSD-3-Clause
"""A controller that probes a ring of four nodes, and a small world of eight with a link that loses packets: what it
reads, what it says of a link that is cut and of a node that stops, and that sessions go on afterwards.

With HOPSIGHT_PROBING_S=600, the eight nodes lose links and nodes for so many seconds instead of one round:

    HOPSIGHT_PROBING_S=600 python3 tests/integration/run.py 'eight nodes'
"""

import collections
import json
import os
import random
import subprocess
import sys
import threading
import time

from lib import RawPort, Subscriber, audit_ok, check, equal, events, main, need, ports, quiet, test, until
from netlab import BUILD, Node, Refused, iface, paused, run, veth
from frames import ethernet
from test_controller import PROGRAM, Controller

RING = [(1, 2), (2, 3), (3, 4), (4, 1)]
NODES = (1, 2, 3, 4)
TIMEOUT_S = 0.2
WORLD_S = float(os.environ.get("HOPSIGHT_PROBING_S", "0"))
LOSS = 0.2
DESTINATIONS = [{"prefix": f"2001:db8:{n}::/64", "node": n} for n in (2, 3)]  # of routes: where hosts are
CORES = sorted(os.sched_getaffinity(0))

Link = collections.namedtuple("Link", "node port peer peer_port")


def place(pairs):
    """The links between nodes and the names of each node's ports. The controller is at port 1 of node 1; behind the
    ports of links, each node has a port to a host."""
    names = {n: ["mon"] if n == 1 else [] for n in sorted({n for pair in pairs for n in pair})}
    links = []
    for pair in pairs:
        for n in pair:
            names[n].append(f"p{len(names[n]) + 1}")
        links.append(Link(pair[0], len(names[pair[0]]), pair[1], len(names[pair[1]])))
    return links, {n: [*listed, "host"] for n, listed in names.items()}


def ways(links):
    """For each node: the port that leads to node 1 over the fewest links, and the node behind it."""
    found, order = {1: (1, None)}, [1]
    for parent in order:
        for link in links:
            for node, port, peer in ((link.node, link.port, link.peer), (link.peer, link.peer_port, link.node)):
                if peer == parent and node not in found:
                    found[node] = (port, parent)
                    order.append(node)
    return found


def probing(pairs=None, **more):
    links, names = place(pairs or RING)
    return {"iface": "eth0", "first_node": 1, "address": "10.0.0.100", "period_ms": 200, "feedback_ms": 400,
            "attempts": 2, "adaptive": False, "nodes": [{"id": n, "first": 0, "end": len(names[n])} for n in names],
            "links": [link._asdict() for link in links], **more}


class Relay:
    """Passes frames between its two interfaces, but loses some."""

    def __init__(self, namespace, seed):
        self.rng = random.Random(seed)
        self.passed = self.lost = 0
        ends = [RawPort(namespace, name) for name in ("r1", "r2")]
        for source, target in (ends, ends[::-1]):
            threading.Thread(target=self._relay, args=(source, target), daemon=True).start()

    def _relay(self, source, target):
        try:
            while True:
                got = source.receive(3600)
                if got and self.rng.random() < LOSS:
                    self.lost += 1
                elif got:
                    self.passed += 1
                    target.send(got[0])
        except OSError:
            pass  # the namespace is gone


class Network:
    def __init__(self, workspace, pairs, **more):
        self.workspace = workspace
        self.links, self.names = place(pairs)
        self.ways = ways(self.links)
        self.monitor = workspace.namespace("monitor")
        self.spaces = {n: workspace.namespace(f"n{n}") for n in self.names}
        veth(self.monitor, "eth0", self.spaces[1], "mon", 1600)
        self.nodes = {n: self._node(n) for n in self.names}
        self.controller = Controller(workspace, self.nodes.values(), namespace=self.monitor, paths=[],
                                     prometheus={"bind": "127.0.0.1:9464"}, probing=probing(pairs, **more))

    def _node(self, n):
        names = self.names[n]
        profile = {"method": "probe", "monitor_port": self.ways[n][0], "timeout_ns": int(TIMEOUT_S * 1e9)}
        found = [iface(name, name, "network", 1600, profile="gp") for name in names[:-1]]
        found.append(iface("host", "host", "host"))
        return Node(self.workspace, n, found, self.spaces[n], profiles={"gp": profile}, control_core=CORES[n % len(CORES)],
                    workers=[CORES[(n + 1) % len(CORES)]], forwarding=self.forwarding(n), memory={"routes": 64})

    def forwarding(self, n):
        return {"mode": "patch", "pairs": [[self.names[n][-2], "host"]]}

    def add_hosts(self):
        host = self.workspace.namespace("host")
        for n in self.names:
            veth(host, f"h{n}", self.spaces[n], "host")
        self.hosts = {n: RawPort(host, f"h{n}") for n in self.names}

    def planned(self):
        """The links of the plan, in its direction: the controller knows them without any node."""
        config = self.controller.config["probing"]
        period_ms, config["period_ms"] = config["period_ms"], 0
        self.controller.start()
        found = [(link["node_id"], link["peer_id"]) for link in self.controller.call("probe_links")["links"]
                 if link["planned"]]
        self.controller.stop()
        config["period_ms"] = period_ms
        return found

    def _connect(self, link, relayed):
        ends = [(self.spaces[link.node], self.names[link.node][link.port - 1]),
                (self.spaces[link.peer], self.names[link.peer][link.peer_port - 1])]
        if relayed:
            relay = self.workspace.namespace("relay")
            veth(*ends[0], relay, "r1", 1600)
            veth(*ends[1], relay, "r2", 1600)
            self.relay = Relay(relay, 1)
        else:
            veth(*ends[0], *ends[1], 1600)

    def start(self, lossy=None):
        """`lossy`: the nodes of the link that loses packets."""
        for link in self.links:
            self._connect(link, lossy and {link.node, link.peer} == set(lossy))
        self.add_hosts()
        for node in self.nodes.values():
            node.launch()
        for node in self.nodes.values():
            node.wait_ready()
        for node in self.nodes.values():
            quiet(node)
        self.controller.start()
        self.messages = Subscriber(self.controller.publisher, "probe.")
        return self

    def set_link(self, pair, state):
        """Of the port of its first node."""
        link = next(link for link in self.links if {link.node, link.peer} == set(pair))
        port = link.port if link.node == pair[0] else link.peer_port
        run("ip", "-n", self.spaces[pair[0]], "link", "set", self.names[pair[0]][port - 1], state)

    def paused(self, n):
        return paused(self.nodes[n].process)

    def traces(self):
        """What each node received, sent and dropped, by port."""
        return {n: {name: (port["rx_packets"], port["tx_packets"], {k: v for k, v in port["drops"].items() if v})
                    for name, port in ports(node).items()} for n, node in self.nodes.items()}

    def is_whole(self, session):
        return (not session["failed"], session["nodes_covered"], session["nodes_unavailable"],
                session["links_unavailable"]) == (True, len(self.names), 0, 0)

    def wait_whole(self, what):
        until(lambda: self.is_whole(self.next_session()), 20, what)

    def status(self):
        return self.controller.call("probe_status")

    def session_after(self, moment_ns, limit_s=20):
        """The first session that began after a moment."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            got = self.messages.receive(limit_s)
            message = got and got[1]["probe_session"]
            if message and message["began_ns"] > moment_ns:
                return message
        return check(False, "no session")

    def next_session(self):
        return self.session_after(time.time_ns())


def kinds(controller, prefix):
    return [event for event in events(controller) if event["kind"].startswith(prefix)]


def received(ring):
    return {n: [ports(node)[name]["rx_packets"] for name in ring.names[n]] for n, node in ring.nodes.items()}


def links_lost(session):
    return [(link["node_id"], link["peer_id"]) for link in session["links"] if link["state"] == "unavailable"]


def nodes_lost(session):
    return [node["id"] for node in session["nodes"] if node["state"] == "unavailable"]


@test(limit_s=90)
def a_controller_reads_counters_of_four_nodes_by_probes(workspace):
    need()
    ring = Network(workspace, RING, paths=2).start()
    frame = ethernet(b"\x45" + bytes(59), ethertype=0x0800)
    for n in NODES:
        ring.hosts[n].send(*[frame] * (100 * n))
    until(lambda: all(counts[-1] >= 100 * n for n, counts in received(ring).items()), 10, "the nodes counted")
    for _ in range(3):
        before = received(ring)
        session = ring.next_session()
        after = received(ring)
        check(ring.is_whole(session), session)
        equal([node["id"] for node in session["nodes"]], list(NODES), "nodes")
        for node in session["nodes"]:
            n, values = node["id"], node["values"]
            equal((node["session"], node["state"], node["first"]), (session["number"], "available", 0), "of a node")
            # Ports to hosts are at rest; the others count the probes themselves.
            equal(values[-1], before[n][-1], f"packets of the host of node {n}")
            check(all(a <= v <= b for a, v, b in zip(before[n], values, after[n])), n, before[n], values, after[n])
    status = ring.status()
    equal((status["counters"]["failed"], status["counters"]["malformed"], status["known"]), (0, 0, 4), "counters")
    check(status["counters"]["sessions"] >= 3 and status["counters"]["sent"] >= 6, status)
    # A probe that was late makes a link congested until the next session.
    until(lambda: {link["state"] for link in ring.controller.call("probe_links")["links"] if link["planned"]}
          == {"available"}, 1, "links of the paths")
    equal(kinds(ring.controller, "probe_"), [], "events")
    with open(f"/proc/{ring.controller.process.pid}/status", encoding="ascii") as file:
        check("CapEff:\t0000000000000000" in file.read(), "the controller kept a capability")
    told = run("ip", "netns", "exec", ring.monitor, "curl", "-s", "http://127.0.0.1:9464/metrics")
    check("hopsight_controller_probe_nodes_covered 4" in told, "metrics of probes")
    audit_ok(*ring.nodes.values())
    ring.controller.stop()


@test(limit_s=120)
def a_cut_link_and_a_stopped_node_are_named_within_one_session(workspace):
    need()
    ring = Network(workspace, RING, plan="euler").start()
    check(ring.is_whole(ring.next_session()), "before anything is lost")
    links = ring.controller.call("probe_links")["links"]
    crossed = [(link["node_id"], link["peer_id"]) for link in links if link["planned"]]
    equal((len(links), sorted(tuple(sorted(pair)) for pair in crossed)), (8, [(1, 2), (1, 4), (2, 3), (3, 4)]), "links")
    cut = next(pair for pair in crossed if set(pair) == {3, 4})

    ring.set_link((3, 4), "down")
    session = ring.next_session()
    equal((session["failed"], session["nodes_covered"], session["links_unavailable"]), (False, 4, 1), "with a cut link")
    equal(links_lost(session), [cut], "the link that is named")
    equal([(event["kind"], event["node_id"], event["peer_id"]) for event in kinds(ring.controller, "probe_")],
          [("probe_link_unavailable", *cut)], "events")
    ring.set_link((3, 4), "up")
    ring.wait_whole("a session with the link again")
    equal([event["kind"] for event in kinds(ring.controller, "probe_")],
          ["probe_link_unavailable", "probe_link_available"], "events")

    with ring.paused(3):
        session = ring.next_session()
    equal((session["failed"], session["nodes_covered"], session["nodes_unavailable"]), (False, 3, 1), "with a stopped node")
    equal(nodes_lost(session), [3], "the node that is named")
    ring.wait_whole("a session with the node again")
    equal([(event["kind"], event.get("node_id")) for event in kinds(ring.controller, "probe_")][2:],
          [("probe_node_unavailable", 3), ("probe_node_available", 3)], "events")
    equal(ring.status()["counters"]["failed"], 0, "failed sessions")
    ring.controller.stop()


@test(limit_s=90)
def a_session_runs_on_request(workspace):
    need()
    ring = Network(workspace, RING, period_ms=0).start()
    check("session" not in ring.status(), "no session by itself")
    out = subprocess.run([f"{BUILD}/apps/hopsight", "-c", ring.controller.api, "probe", "run", "--json"], check=True,
                         capture_output=True, text=True)
    status = json.loads(out.stdout)
    equal((status["session"]["number"], status["session"]["nodes_covered"]), (1, 4), "the session")
    table = run(f"{BUILD}/apps/hopsight", "-c", ring.controller.api, "probe", "status")
    check("session 1:" in table and table.count("available") >= 4, table)
    check("planned" in run(f"{BUILD}/apps/hopsight", "-c", ring.controller.api, "probe", "links").lower(), "links")
    with ring.paused(4):
        ring.controller.call("probe_run")
        try:
            ring.controller.call("probe_run")
            check(False, "two sessions at once")
        except Refused as refused:
            equal(refused.error["code"], "busy", "the second request")
        until(lambda: ring.status()["session"]["number"] == 2, 20, "the session is over")
    try:
        ring.nodes[1].call("probe_status")
        check(False, "a node answered")
    except Refused as refused:
        equal(refused.error["code"], "unsupported", "at a node")


# ---- eight nodes ----


def small_world(n, k, beta, seed):
    """By Watts and Strogatz."""
    rng, pairs = random.Random(seed), [(i, (i + d) % n) for d in range(1, k // 2 + 1) for i in range(n)]
    for at, (node, _) in enumerate(pairs):
        free = [other for other in range(n) if other != node and not {(node, other), (other, node)} & set(pairs)]
        if rng.random() < beta and free:
            pairs[at] = (node, rng.choice(free))
    return [(node + 1, peer + 1) for node, peer in pairs]


def lose_and_find(world, stopped, cut):
    """A node stops and goes on, then a link is cut and comes back. Each is named by the first session that begins
    afterwards, and nothing else is."""
    with world.paused(stopped):
        session = world.next_session()
    check((session["failed"], nodes_lost(session)) == (False, [stopped]), "with a stopped node", stopped, session,
          world.traces())
    check(all(stopped in pair for pair in links_lost(session)), "links beside the stopped node", session)
    world.wait_whole(f"a session with the node {stopped} again")
    world.set_link(cut, "down")
    session = world.next_session()
    check((session["failed"], nodes_lost(session), links_lost(session)) == (False, [], [cut]), "with a cut link", cut,
          session, world.traces())
    world.set_link(cut, "up")
    world.wait_whole(f"a session with the link {cut} again")


@test(limit_s=120 + WORLD_S)
def eight_nodes_with_a_lossy_link_lose_links_and_nodes_and_no_session_fails(workspace):
    need()
    # 0.2^9 of the suspicions of the lossy link look as if it was cut, and a busy machine may let a node wait for seconds.
    world = Network(workspace, small_world(8, 4, 0.2, 1), paths=2, attempts=8, feedback_ms=600)
    planned = world.planned()
    # Without their own way to the monitor, nodes behind a link would be unavailable themselves.
    tree = [{n, parent} for n, (_, parent) in world.ways.items()]
    lossy, *cuts = [pair for pair in planned if set(pair) not in tree]
    leaves = [n for n in world.names if n not in {parent for _, parent in world.ways.values()}]
    # What was learnt of ways to a stopped node must not hide it when a link to it is cut.
    pairs = [(n, cut) for cut in cuts for n in cut if n in leaves]
    check(pairs, "the network has such links and nodes", planned, world.ways)
    world.start(lossy)
    world.wait_whole("a session at the begin")
    rng, rounds, end = random.Random(1), 0, time.monotonic() + WORLD_S
    while not rounds or time.monotonic() < end:
        lose_and_find(world, *(pairs[-1] if not rounds else (rng.choice(leaves), rng.choice(cuts))))
        rounds += 1
    # What was lost on the lossy link was found, and sent again.
    until(lambda: world.status()["counters"]["recovery"], 20, "a probe was sent again")
    counters, relay = world.status()["counters"], world.relay
    equal((counters["failed"], counters["malformed"]), (0, 0), "failed sessions, and answers that are wrong")
    check(relay.lost and abs(relay.lost / (relay.lost + relay.passed) - LOSS) < 0.15, relay.lost, relay.passed)
    named = {(event["node_id"], event["peer_id"]) for event in kinds(world.controller, "probe_link_unavailable")}
    check(named <= set(cuts), "links that were cut alone are named", named, cuts)
    audit_ok(*world.nodes.values())
    world.controller.stop()
    return (f"{counters['sessions']} sessions, {counters['failed']} failed, {rounds} links cut and nodes stopped, "
            f"{relay.lost} of {relay.lost + relay.passed} frames lost on the link {lossy}, "
            f"{counters['recovery']} recovery probes")


@test(limit_s=60)
def each_mistake_in_probing_is_told_with_its_path(workspace):
    need()
    run("ip", "link", "show", "lo")
    wrong = probing(first_node=9, mtu=70, plan="shortest", attempts=101)
    wrong["nodes"][1]["id"] = 1
    wrong["nodes"][2] |= {"first": 4, "end": 3}
    wrong["links"][0]["port"] = 0
    config = {"control": {"bind": [f"ipc://{workspace.path('c')}.api"]},
              "nodes": [{"name": "n1", "id": 1, "api": f"ipc://{workspace.path('n1')}.api"}]}

    def errors(value):
        path = workspace.path("wrong.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump({**config, "probing": value}, f)
        done = subprocess.run([PROGRAM, "--check", "--config", path], capture_output=True, text=True, check=False)
        return done.stderr + done.stdout

    text = errors(wrong)
    for path in ("mtu", "plan", "attempts", "nodes[1].id", "nodes[2].end", "links[0].port"):
        check(f"probing.{path}" in text, path, text)
    for change, path, words in (({"first_node": 9}, "first_node", "no node with id 9"),
                                ({"paths": 5}, "paths", "1 to 4"),
                                ({"links": probing()["links"][:2]}, "links",
                                 "no way leads from node 1 to node 4"),
                                ({"links": [*probing()["links"], {"node": 2, "port": 9, "peer": 2, "peer_port": 8}]},
                                 "links[4]", "from node 2 to itself"),
                                ({"dscp": 25}, "dscp", "three values"),
                                ({"paths": 2, "max_paths": 1}, "max_paths", "less than paths"),
                                ({"max_paths": 5}, "max_paths", "there are 4 nodes"),
                                ({"node_timeout_ms": 400}, "node_timeout_ms", "must be more"),
                                ({"mtu": 72, "nodes": [{"id": n, "end": 60} for n in NODES]}, "mtu",
                                 "no room for the values of node"),
                                ({"iface": "none0"}, "iface", "none0"),
                                ({"reroute": {"destinations": DESTINATIONS}}, "plan", "needs plan euler"),
                                ({"reroute": {}}, "reroute.destinations", "there is no"),
                                ({"plan": "euler", "reroute": {"destinations": DESTINATIONS}}, "nodes[1].id",
                                 "the API of node 2"),
                                ({"plan": "euler", "reroute": {"destinations": 2 * DESTINATIONS}},
                                 "reroute.destinations[2].prefix", "another destination"),
                                ({"plan": "euler", "reroute": {"destinations": [{"prefix": "::/0", "node": 7}]}},
                                 "reroute.destinations[0].node", "no node with id 7")):
        text = errors(probing(**change))
        check(f"probing.{path}" in text and words in text, path, text)


if __name__ == "__main__":
    sys.exit(main())
