# SPDX-License-Identifier: BSD-3-Clause
"""A controller that probes a ring of four nodes: what it reads, what it says of a link that is cut and of a node that
stops, that sessions go on afterwards, and that routes lead around the link."""

import json
import re
import signal
import subprocess
import sys
import time

from lib import RawPort, Subscriber, audit_ok, check, equal, events, main, need, ports, quiet, test, until
from netlab import BUILD, Host, Node, Refused, iface, mac_of, run, veth
from frames import ethernet
from test_controller import PROGRAM, Controller

NODES = (1, 2, 3, 4)
# The controller is at port 1 of the first node; behind the ports of the ring, each node has a port to a host.
LINKS = [(1, 2, 2, 1), (2, 2, 3, 1), (3, 2, 4, 1), (4, 2, 1, 3)]  # node, port, peer, its port
TO_MONITOR = {1: 1, 2: 1, 3: 1, 4: 2}  # over the links 1-2, 2-3 and 4-1
NAMES = {1: ["mon", "pa", "pb", "host"], **{n: ["pa", "pb", "host"] for n in (2, 3, 4)}}
TIMEOUT_S = 0.2


def probing(**more):
    return {"iface": "eth0", "first_node": 1, "address": "10.0.0.100", "period_ms": 200, "feedback_ms": 400,
            "attempts": 2, "adaptive": False,
            "nodes": [{"id": n, "first": 0, "end": len(NAMES[n])} for n in NODES],
            "links": [dict(zip(("node", "port", "peer", "peer_port"), link)) for link in LINKS], **more}


class Ring:
    def __init__(self, workspace, **more):
        self.monitor = workspace.namespace("monitor")
        spaces = {n: workspace.namespace(f"n{n}") for n in NODES}
        veth(self.monitor, "eth0", spaces[1], "mon", 1600)
        for node, port, peer, peer_port in LINKS:
            veth(spaces[node], NAMES[node][port - 1], spaces[peer], NAMES[peer][peer_port - 1], 1600)
        self.add_hosts(workspace, spaces)
        self.nodes = {n: self._node(workspace, n, spaces[n]) for n in NODES}
        for node in self.nodes.values():
            node.launch()
        for node in self.nodes.values():
            node.wait_ready()
        for node in self.nodes.values():
            quiet(node)
        self.controller = Controller(workspace, self.nodes.values(), namespace=self.monitor, paths=[],
                                     prometheus={"bind": "127.0.0.1:9464"}, probing=probing(**more))

    def add_hosts(self, workspace, spaces):
        host = workspace.namespace("host")
        for n in NODES:
            veth(host, f"h{n}", spaces[n], "host")
        self.hosts = {n: RawPort(host, f"h{n}") for n in NODES}

    def forwarding(self, _n):
        return {"mode": "patch", "pairs": [["pa", "pb"]]}

    def _node(self, workspace, n, namespace):
        profile = {"method": "probe", "monitor_port": TO_MONITOR[n], "timeout_ns": int(TIMEOUT_S * 1e9)}
        found = [iface(name, name, "host" if name == "host" else "network", 1500 if name == "host" else 1600)
                 for name in NAMES[n]]
        for port in found[:-1]:
            port["profile"] = "gp"
        return Node(workspace, n, found, namespace, profiles={"gp": profile}, control_core=n % 2, workers=[(n + 1) % 2],
                    forwarding=self.forwarding(n), memory={"routes": 64})

    def start(self):
        self.controller.start()
        self.messages = Subscriber(self.controller.publisher, "probe.")
        return self

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


class RoutedRing(Ring):
    """Routers, with a host at each of the nodes 2 and 3 and no route but those to them."""

    def add_hosts(self, workspace, spaces):
        self.spaces = spaces
        self.hosts = {n: Host(workspace, f"host{n}", f"2001:db8:{n}::2") for n in (2, 3)}
        for n in NODES:
            if n not in self.hosts:
                veth(workspace.namespace(f"none{n}"), "eth0", spaces[n], "host")
                continue
            host = self.hosts[n]
            veth(host.namespace, "eth0", spaces[n], "host")
            host.configure()
            gateway = f"2001:db8:{n}::1"
            run("ip", "-n", host.namespace, "neigh", "replace", gateway, "lladdr", mac_of(spaces[n], "host"), "dev",
                "eth0", "nud", "permanent")
            run("ip", "-n", host.namespace, "route", "add", "default", "via", gateway)

    def forwarding(self, n):
        host = self.hosts.get(n)
        return {"mode": "route",
                "neighbours": [{"addr": host.address, "port": "host", "mac": host.mac}] if host else []}

    def ping(self):
        """The hop limit with which answers of host 3 come to host 2, or None."""
        done = subprocess.run(["ip", "netns", "exec", self.hosts[2].namespace, "ping", "-c", "1", "-W", "1",
                               self.hosts[3].address], capture_output=True, text=True, check=False, timeout=10)
        found = re.search(r"ttl=(\d+)", done.stdout)
        return found and int(found.group(1))

    def routes(self):
        return {n: node.call("route_list")["routes"] for n, node in self.nodes.items()}


DESTINATIONS = [{"prefix": f"2001:db8:{n}::/64", "node": n} for n in (2, 3)]


def kinds(controller, prefix):
    return [event for event in events(controller) if event["kind"].startswith(prefix)]


def received(ring):
    return {n: [ports(node)[name]["rx_packets"] for name in NAMES[n]] for n, node in ring.nodes.items()}


def is_whole(session):
    return (not session["failed"], session["nodes_covered"], session["nodes_unavailable"],
            session["links_unavailable"]) == (True, 4, 0, 0)


@test(limit_s=90)
def a_controller_reads_counters_of_four_nodes_by_probes(workspace):
    need()
    ring = Ring(workspace, paths=2).start()
    frame = ethernet(b"\x45" + bytes(59), ethertype=0x0800)
    for n in NODES:
        ring.hosts[n].send(*[frame] * (100 * n))
    until(lambda: all(counts[-1] >= 100 * n for n, counts in received(ring).items()), 10, "the nodes counted")
    for _ in range(3):
        before = received(ring)
        session = ring.next_session()
        after = received(ring)
        check(is_whole(session), session)
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
    equal({link["state"] for link in ring.controller.call("probe_links")["links"] if link["planned"]}, {"available"},
          "links of the paths")
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
    ring = Ring(workspace, plan="euler").start()
    check(is_whole(ring.next_session()), "before anything is lost")
    links = ring.controller.call("probe_links")["links"]
    crossed = [(link["node_id"], link["peer_id"]) for link in links if link["planned"]]
    equal((len(links), sorted(tuple(sorted(pair)) for pair in crossed)), (8, [(1, 2), (1, 4), (2, 3), (3, 4)]), "links")
    cut = next(pair for pair in crossed if set(pair) == {3, 4})

    run("ip", "-n", ring.nodes[3].namespace, "link", "set", "pb", "down")
    session = ring.next_session()
    equal((session["failed"], session["nodes_covered"], session["links_unavailable"]), (False, 4, 1), "with a cut link")
    equal([(link["node_id"], link["peer_id"]) for link in session["links"] if link["state"] == "unavailable"], [cut],
          "the link that is named")
    equal([(event["kind"], event["node_id"], event["peer_id"]) for event in kinds(ring.controller, "probe_")],
          [("probe_link_unavailable", *cut)], "events")
    run("ip", "-n", ring.nodes[3].namespace, "link", "set", "pb", "up")
    until(lambda: is_whole(ring.next_session()), 20, "a session with the link again")
    equal([event["kind"] for event in kinds(ring.controller, "probe_")],
          ["probe_link_unavailable", "probe_link_available"], "events")

    ring.nodes[3].process.send_signal(signal.SIGSTOP)
    session = ring.next_session()
    equal((session["failed"], session["nodes_covered"], session["nodes_unavailable"]), (False, 3, 1), "with a stopped node")
    equal([(node["id"], node["state"]) for node in session["nodes"] if node["state"] != "available"],
          [(3, "unavailable")], "the node that is named")
    ring.nodes[3].process.send_signal(signal.SIGCONT)
    until(lambda: is_whole(ring.next_session()), 20, "a session with the node again")
    equal([(event["kind"], event.get("node_id")) for event in kinds(ring.controller, "probe_")][2:],
          [("probe_node_unavailable", 3), ("probe_node_available", 3)], "events")
    equal(ring.status()["counters"]["failed"], 0, "failed sessions")
    ring.controller.stop()


@test(limit_s=90)
def a_session_runs_on_request(workspace):
    need()
    ring = Ring(workspace, period_ms=0).start()
    check("session" not in ring.status(), "no session by itself")
    out = subprocess.run([f"{BUILD}/apps/hopsight", "-c", ring.controller.api, "probe", "run", "--json"], check=True,
                         capture_output=True, text=True)
    status = json.loads(out.stdout)
    equal((status["session"]["number"], status["session"]["nodes_covered"]), (1, 4), "the session")
    table = run(f"{BUILD}/apps/hopsight", "-c", ring.controller.api, "probe", "status")
    check("session 1:" in table and table.count("available") >= 4, table)
    check("planned" in run(f"{BUILD}/apps/hopsight", "-c", ring.controller.api, "probe", "links").lower(), "links")
    ring.nodes[4].process.send_signal(signal.SIGSTOP)
    ring.controller.call("probe_run")
    try:
        ring.controller.call("probe_run")
        check(False, "two sessions at once")
    except Refused as refused:
        equal(refused.error["code"], "busy", "the second request")
    until(lambda: ring.status()["session"]["number"] == 2, 20, "the session is over")
    ring.nodes[4].process.send_signal(signal.SIGCONT)
    try:
        ring.nodes[1].call("probe_status")
        check(False, "a node answered")
    except Refused as refused:
        equal(refused.error["code"], "unsupported", "at a node")


def ends_ns(session):
    return session["began_ns"] + session["elapsed_ns"]


@test(limit_s=120)
def routes_lead_around_a_cut_link_after_two_sessions_and_back_when_it_is_well(workspace):
    need("ping")
    ring = RoutedRing(workspace, plan="euler", attempts=3, reroute={"destinations": DESTINATIONS, "hold_ms": 2000}).start()
    until(lambda: ring.ping() == 62, 20, "two routers lie between the hosts")
    equal({route["state"] for route in ring.controller.call("probe_routes")["routes"]}, {"set"}, "routes")
    # What node 3 sends to the monitor by its monitor_port goes over this link, too.
    run("ip", "-n", ring.nodes[2].namespace, "link", "set", "pb", "down")
    cut_ns, bad = time.time_ns(), []
    while not kinds(ring.controller, "reroute_link_avoided"):
        session = ring.session_after(cut_ns)
        bad += [session] if session["links_unavailable"] else []
        cut_ns = session["began_ns"]
        equal(session["nodes_unavailable"], 0, "nodes are there")
    equal(ring.ping(), 60, "four routers lie between the hosts")
    moment = kinds(ring.controller, "reroute_link_avoided")[0]["ts_ns"]
    equal(len([session for session in bad if ends_ns(session) <= moment + 1000000]), 2, "bad sessions before")
    equal([(event["node_id"], event["peer_id"]) for event in kinds(ring.controller, "reroute_link_avoided")], [(2, 3)],
          "the link that is avoided")
    table = run(f"{BUILD}/apps/hopsight", "-c", ring.controller.api, "probe", "routes")
    check(table.count("set") == 6 and "2001:db8:3::/64" in table, table)
    told = run("ip", "netns", "exec", ring.monitor, "curl", "-s", "http://127.0.0.1:9464/metrics")
    check("hopsight_controller_reroute_links_avoided 1" in told, "metrics of routes")
    with open(workspace.path("ctl.log"), encoding="utf-8") as file:
        check("routes avoid the link between node 2, port 2, and node 3, port 1, which is unavailable" in file.read(),
              "the decision is in the log")
    output = ring.hosts[2].run("ping", "-q", "-c", "50", "-i", "0.02", ring.hosts[3].address)
    check(" 0% packet loss" in output, output)

    run("ip", "-n", ring.nodes[2].namespace, "link", "set", "pb", "up")
    up_ns = time.time_ns()
    until(lambda: ring.ping() == 62, 30, "the short way again")
    back = kinds(ring.controller, "reroute_link_used")
    equal(len(back), 1, "the link came back")
    check(back[0]["ts_ns"] - up_ns >= 2e9, "the hold", back, up_ns)
    output = ring.hosts[2].run("ping", "-q", "-c", "50", "-i", "0.02", ring.hosts[3].address)
    check(" 0% packet loss" in output, output)
    equal(kinds(ring.controller, "reroute_refused"), [], "refusals")
    audit_ok(*ring.nodes.values())
    ring.controller.stop()


@test(limit_s=120)
def without_reroute_no_route_changes(workspace):
    need("ping")
    ring = RoutedRing(workspace, plan="euler", attempts=3).start()
    for node, prefix, port, peer, peer_port in ((2, 3, "pb", 3, "pa"), (3, 2, "pa", 2, "pb")):
        ring.nodes[node].call("route_add", prefix=f"2001:db8:{prefix}::/64", port=port,
                              next_hop_mac=mac_of(ring.spaces[peer], peer_port))
    equal(ring.ping(), 62, "the configured way")
    before = ring.routes()
    run("ip", "-n", ring.nodes[2].namespace, "link", "set", "pb", "down")
    for _ in range(2):
        session = ring.next_session()
    equal(session["links_unavailable"], 1, "the link is named")
    equal((ring.ping(), ring.routes()), (None, before), "routes")
    equal(kinds(ring.controller, "reroute"), [], "events")
    try:
        ring.controller.call("probe_routes")
        check(False, "there are no routes")
    except Refused as refused:
        equal(refused.error["code"], "unsupported", "without reroute")


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
                                ({"links": probing()["links"][:2]}, "links", "no way leads"),
                                ({"dscp": 25}, "dscp", "three values"),
                                ({"paths": 2, "max_paths": 1}, "max_paths", "less than paths"),
                                ({"max_paths": 5}, "max_paths", "there are 4 nodes"),
                                ({"node_timeout_ms": 400}, "node_timeout_ms", "must be more"),
                                ({"mtu": 72, "nodes": [{"id": n, "end": 60} for n in NODES]}, "mtu", "no room"),
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
