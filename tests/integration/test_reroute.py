# SPDX-License-Identifier: BSD-3-Clause
"""A controller that probes a ring of four routers lets routes lead around a link that its probes find bad."""

import re
import subprocess
import sys
import time

from lib import audit_ok, check, equal, main, need, pings, test, until
from netlab import BUILD, Host, Refused, mac_of, run, veth
from test_probing import DESTINATIONS, RING, Network, kinds


class RoutedRing(Network):
    """Routers, with a host at each of the nodes 2 and 3 and no route but those to them."""

    def __init__(self, workspace, pairs, **more):
        self.hosts = {n: Host(workspace, f"host{n}", f"2001:db8:{n}::2") for n in (2, 3)}
        super().__init__(workspace, pairs, **more)

    def add_hosts(self):
        for n, space in self.spaces.items():
            if n not in self.hosts:
                veth(self.workspace.namespace(f"none{n}"), "eth0", space, "host")
                continue
            host = self.hosts[n]
            veth(host.namespace, "eth0", space, "host")
            host.configure()
            gateway = f"2001:db8:{n}::1"
            run("ip", "-n", host.namespace, "neigh", "replace", gateway, "lladdr", mac_of(space, "host"), "dev",
                "eth0", "nud", "permanent")
            run("ip", "-n", host.namespace, "route", "add", "default", "via", gateway)
            self.nodes[n].config["forwarding"]["neighbours"] = [{"addr": host.address, "port": "host", "mac": host.mac}]

    def forwarding(self, _n):
        return {"mode": "route"}

    def ping(self):
        """The hop limit with which answers of host 3 come to host 2, or None."""
        done = subprocess.run(["ip", "netns", "exec", self.hosts[2].namespace, "ping", "-c", "1", "-W", "1",
                               self.hosts[3].address], capture_output=True, text=True, check=False, timeout=10)
        found = re.search(r"ttl=(\d+)", done.stdout)
        return found and int(found.group(1))

    def routes(self):
        return {n: node.call("route_list")["routes"] for n, node in self.nodes.items()}


def ends_ns(session):
    return session["began_ns"] + session["elapsed_ns"]


@test(limit_s=120)
def routes_lead_around_a_cut_link_after_two_sessions_and_back_when_it_is_well(workspace):
    need("ping")
    ring = RoutedRing(workspace, RING, plan="euler", attempts=3, reroute={"destinations": DESTINATIONS, "hold_ms": 2000}).start()
    until(lambda: ring.ping() == 62, 20, "two routers lie between the hosts")
    until(lambda: {route["state"] for route in ring.controller.call("probe_routes")["routes"]} == {"set"}, 5, "routes")
    # What node 3 sends to the monitor by its monitor_port goes over this link, too.
    run("ip", "-n", ring.nodes[2].namespace, "link", "set", "p2", "down")
    cut_ns, bad = time.time_ns(), []
    while not kinds(ring.controller, "reroute_link_avoided"):
        session = ring.session_after(cut_ns)
        bad += [session] if session["links_unavailable"] else []
        cut_ns = session["began_ns"]
        equal(session["nodes_unavailable"], 0, "nodes are there")
    until(lambda: ring.ping() == 60, 5, "four routers lie between the hosts")  # routes are set behind the event
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
    pings(ring.hosts[2], 50, "-i", "0.02", ring.hosts[3].address)

    run("ip", "-n", ring.nodes[2].namespace, "link", "set", "p2", "up")
    up_ns = time.time_ns()
    until(lambda: ring.ping() == 62, 30, "the short way again")
    back = kinds(ring.controller, "reroute_link_used")
    equal(len(back), 1, "the link came back")
    check(back[0]["ts_ns"] - up_ns >= 2e9, "the hold", back, up_ns)
    pings(ring.hosts[2], 50, "-i", "0.02", ring.hosts[3].address)
    equal(kinds(ring.controller, "reroute_refused"), [], "refusals")
    audit_ok(*ring.nodes.values())
    ring.controller.stop()


@test(limit_s=120)
def without_reroute_no_route_changes(workspace):
    need("ping")
    ring = RoutedRing(workspace, RING, plan="euler", attempts=3).start()
    for node, prefix, port, peer, peer_port in ((2, 3, "p2", 3, "p1"), (3, 2, "p1", 2, "p2")):
        ring.nodes[node].call("route_add", prefix=f"2001:db8:{prefix}::/64", port=port,
                              next_hop_mac=mac_of(ring.spaces[peer], peer_port))
    until(lambda: ring.ping() == 62, 5, "the configured way")
    before = ring.routes()
    run("ip", "-n", ring.nodes[2].namespace, "link", "set", "p2", "down")
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


if __name__ == "__main__":
    sys.exit(main())
