# SPDX-License-Identifier: BSD-3-Clause
"""Routers between subnets: real stacks on both sides, and routes that change under traffic."""

import json
import os
import re
import subprocess
import sys

from lib import (Host, Node, Refused, all_answered, audit_ok, check, drops, echo_replies, equal, iface, main, need, netlab,
                 pings, ports, quiet, rule, run, test, until, veth)
from netlab import mac_of  # noqa: E402

PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsight")
A, B = "2001:db8:1::2", "2001:db8:2::2"
A4, B4 = "192.0.2.2", "198.51.100.2"


class Routed:
    """host1 - router 1 ... router n - host2. Each link is a subnet, and nobody solicits
    neighbours."""

    def __init__(self, workspace, n, workers=None):
        self.workspace = workspace
        self.hosts = [Host(workspace, "host1", A), Host(workspace, "host2", B)]
        names = [workspace.namespace(f"r{i}") for i in range(1, n + 1)]
        veth(self.hosts[0].namespace, "eth0", names[0], "west")
        veth(self.hosts[1].namespace, "eth0", names[-1], "east")
        for left, right in zip(names, names[1:]):
            veth(left, "east", right, "west", 1800)
        for host, name, interface in ((self.hosts[0], names[0], "west"),
                                      (self.hosts[1], names[-1], "east")):
            host.configure()
            gateway = host.address[:-1] + "1"
            run("ip", "-n", host.namespace, "neigh", "replace", gateway, "lladdr",
                mac_of(name, interface), "dev", "eth0", "nud", "permanent")
            run("ip", "-n", host.namespace, "route", "add", "default", "via", gateway)
        self.nodes = [Node(workspace, i + 1, [
            iface("west", "west", "network" if i else "host", 1800 if i else 1500),
            iface("east", "east", "network" if i + 1 < n else "host", 1800 if i + 1 < n else 1500),
        ], name, workers=workers or [i % 2], control_core=1 - i % 2, forwarding=self.forwarding(names, i),
            memory={"routes": 1024}) for i, name in enumerate(names)]
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_ready()
            quiet(node)
            node.at_start = ports(node)

    def forwarding(self, names, i):
        """Hosts are neighbours. Other routers are known by their MAC addresses alone."""
        neighbours, routes = [], []
        for port, host, peer, prefix in (
                ("west", self.hosts[0] if i == 0 else None, i - 1, "2001:db8:1::/64"),
                ("east", self.hosts[1] if i + 1 == len(names) else None, i + 1, "2001:db8:2::/64")):
            if host:
                neighbours.append({"addr": host.address, "port": port, "mac": host.mac})
                continue
            mac = mac_of(names[peer], "west" if port == "east" else "east")
            routes.append({"prefix": prefix, "port": port, "next_hop_mac": mac})
        return {"mode": "route", "neighbours": neighbours, "routes": routes}


def lost(node):
    """Returns drops, without those of hosts' traffic on their own link (multicast listener
    reports)."""
    return {reason: n for reason, n in drops(node).items() if reason != "not_routable"}


def hopsight(node, *words, expected=0):
    done = subprocess.run([PROGRAM, "-c", node.api, *words], capture_output=True, text=True,
                          check=False, timeout=20)
    equal(done.returncode, expected, f"exit code of {words}: {done.stdout} {done.stderr}")
    return done


@test(path=True, alone=True)
def a_router_joins_two_subnets(workspace):
    need("ping", "iperf3")
    net = Routed(workspace, 1)
    left, right = net.hosts
    pings(left, 50, "-i", "0.01", B)
    check("ttl=63" in left.run("ping", "-c", "1", B), "the hop limit is one less")
    right.spawn("iperf3", "-s", "-1", "-B", B, stdout=subprocess.DEVNULL)
    for _ in range(50):
        if "5201" in right.run("ss", "-Hltn"):
            break
        left.run("ping", "-q", "-c", "1", "-i", "0.05", B)
    report = json.loads(left.run("iperf3", "-J", "-c", B, "-t", "1", "-M", "1400"))
    check(report["end"]["sum_received"]["bytes"] > 1000000, "bytes of TCP")
    check(lost(net.nodes[0]).keys() <= {"tx_full", "port_tx_error"}, lost(net.nodes[0]))
    audit_ok(*net.nodes)


def add_ipv4(net):
    """Gives the hosts addresses, gateways and routes of IPv4, and one router routes to both."""
    node = net.nodes[0]
    for host, address, port in zip(net.hosts, (A4, B4), ("west", "east")):
        gateway = address[:-1] + "1"
        for words in (("addr", "add", f"{address}/24", "dev", "eth0"),
                      ("neigh", "replace", gateway, "lladdr", mac_of(node.namespace, port), "dev",
                       "eth0", "nud", "permanent"),
                      ("route", "add", "default", "via", gateway)):
            run("ip", "-n", host.namespace, "-4", *words)
        hopsight(node, "neighbour", "add", address, "--port", port, "--mac", host.mac)
    hopsight(node, "route", "add", "203.0.113.0/24", "--via", B4)
    run("ip", "-n", net.hosts[1].namespace, "addr", "add", "203.0.113.7/32", "dev", "lo")


@test(path=True)
def a_router_joins_two_subnets_of_ipv4(workspace):
    need("ping", "iperf3")
    net = Routed(workspace, 1)
    add_ipv4(net)
    node, (left, right) = net.nodes[0], net.hosts
    for target in (B4, "203.0.113.7", B):
        pings(left, 50, "-i", "0.01", target)
    check("ttl=63" in left.run("ping", "-c", "1", B4), "the TTL is one less")
    # The first fragment has ports and the last one has not. Options stand in front of the ports.
    pings(left, 5, "-i", "0.01", "-s", "4000", B4)
    pings(left, 5, "-i", "0.01", "-R", B4)
    for words in ((), ("-u", "-b", "20M")):
        server = right.spawn("iperf3", "-s", "-1", "-B", B4, stdout=subprocess.DEVNULL)
        until(lambda: "5201" in right.run("ss", "-Hltn"), 10, "iperf3 listens")
        report = json.loads(left.run("iperf3", "-J", "-c", B4, "-t", "1", *words))
        server.wait(10)
        check(report["end"]["sum_received" if not words else "sum"]["bytes"] > 1000000, f"bytes of {words or 'TCP'}")
    table = json.loads(hopsight(node, "--json", "route", "list").stdout)
    check({B4, A4, "203.0.113.0/24"} <= {route["prefix"] for route in table["routes"]}, table)
    check(lost(node).keys() <= {"tx_full", "port_tx_error", "not_ipv6"}, lost(node))  # ARP
    for target, option, reason in (("192.0.3.1", (), "no_route"), (B4, ("-t", "1"), "hop_limit")):
        before = drops(node).get(reason, 0)
        left.spawn("ping", "-q", "-c", "3", "-i", "0.01", "-W", "1", *option, target,
                   stdout=subprocess.DEVNULL).wait(20)
        equal(drops(node).get(reason, 0) - before, 3, reason)
    hopsight(node, "route", "del", "203.0.113.0/24")
    hopsight(node, "route", "add", "::/0", "--via", B)  # leads no IPv4 anywhere
    before = drops(node).get("no_route", 0)
    left.spawn("ping", "-q", "-c", "3", "-i", "0.01", "-W", "1", "203.0.113.7",
               stdout=subprocess.DEVNULL).wait(20)
    equal(drops(node).get("no_route", 0) - before, 3, "no_route without the route")
    audit_ok(*net.nodes)


@test(path=True)
def packets_to_nowhere_are_counted_and_nobody_is_told(workspace):
    need("ping")
    net = Routed(workspace, 1)
    left = net.hosts[0]
    for target, option, reason in (("2001:db8:9::1", (), "no_route"),
                                   (B, ("-t", "1"), "hop_limit")):
        done = subprocess.run(["ip", "netns", "exec", left.namespace, "ping", "-q", "-c", "3", "-i",
                               "0.01", "-W", "1", *option, target],
                              capture_output=True, text=True, check=False)
        check("100% packet loss" in done.stdout and "errors" not in done.stdout, done.stdout)
        equal(drops(net.nodes[0]).get(reason), 3, reason)
    audit_ok(*net.nodes)


@test(path=True, alone=True)
def no_packet_is_lost_while_routes_change(workspace):
    need("ping")
    net = Routed(workspace, 1)
    node, (left, right) = net.nodes[0], net.hosts
    hopsight(node, "route", "add", "2001:db8:2::/64", "--via", B)
    before = echo_replies(left)
    ping = left.spawn("ping", "-q", "-c", "750", "-i", "0.002", B, stdout=subprocess.PIPE,
                      text=True)
    changes = 0
    while ping.poll() is None:
        # More and less specific routes, by MAC address and by neighbour, and the neighbour itself.
        hopsight(node, "route", "add", "2001:db8:2::/48", "--port", "east", "--mac", right.mac)
        hopsight(node, "route", "add", "2001:db8:2::/120", "--via", B)
        hopsight(node, "neighbour", "add", B, "--port", "east", "--mac", right.mac)
        node.client.transaction([{"route_add": {"prefix": f"2001:db8:{i:x}::/48", "via": A}}
                                 for i in range(256, 756)])
        node.client.transaction([{"route_delete": {"prefix": f"2001:db8:{i:x}::/48"}}
                                 for i in range(256, 756)])
        hopsight(node, "route", "del", "2001:db8:2::/120")
        hopsight(node, "route", "del", "2001:db8:2::/48")
        changes += 7
    output = ping.communicate()[0]
    all_answered(left, before, 750, output)
    check(changes >= 21, f"only {changes} changes")
    equal(lost(node), {}, "drops")
    audit_ok(node)
    return f"{changes} changes, {re.search('time [0-9]*ms', output).group()}"


@test(path=True, alone=True)
def two_workers_share_a_table_that_changes(workspace):
    need("ping")
    net = Routed(workspace, 1, workers=[0, 1])
    node, (left, right) = net.nodes[0], net.hosts
    before = [echo_replies(host) for host in net.hosts]
    pings = [host.spawn("ping", "-q", "-c", "500", "-i", "0.002", other.address,
                        stdout=subprocess.PIPE, text=True)
             for host, other in ((left, right), (right, left))]
    changes = 0
    while any(ping.poll() is None for ping in pings):
        for address, port, mac in ((A, "west", left.mac), (B, "east", right.mac)):
            node.call("route_add", prefix=address + "/127", port=port, next_hop_mac=mac)
            node.call("neighbour_add", addr=address, port=port, mac=mac)
            node.call("route_delete", prefix=address + "/127")
            changes += 3
    for host, ping, replies in zip(net.hosts, pings, before):
        output = ping.communicate()[0]
        all_answered(host, replies, 500, output)
    equal(lost(node), {}, "drops")
    check(all(worker["rx_packets"] >= 500 for worker in node.call("node_get")["workers"]),
          "each worker has a port")
    run("ip", "-n", right.namespace, "link", "set", "eth0", "down")
    until(lambda: not ports(node)["east"]["link_up"], 5, "the link is down")
    subprocess.run(["ip", "netns", "exec", left.namespace, "ping", "-q", "-c", "3", "-i", "0.01",
                    "-W", "1", B], capture_output=True, check=False)
    equal(lost(node), {"port_down": 3}, "drops")
    audit_ok(node)
    return f"{changes} changes"


@test(path=True)
def a_route_leads_packets_from_the_next_one_on(workspace):
    need("ping")
    net = Routed(workspace, 1)
    node, left = net.nodes[0], net.hosts[0]
    run("ip", "-n", net.hosts[1].namespace, "addr", "add", "2001:db8:3::3/128", "dev", "lo")

    def is_lost():
        done = subprocess.run(["ip", "netns", "exec", left.namespace, "ping", "-q", "-c", "1", "-W",
                               "1", "2001:db8:3::3"], capture_output=True, check=False)
        return done.returncode != 0

    check(is_lost(), "there is no route yet")
    hopsight(node, "route", "add", "2001:db8:3::/64", "--via", B)
    check(not is_lost(), "there is a route")
    equal(hopsight(node, "route", "del", "2001:db8:3::/64").stdout,
          "route 2001:db8:3::/64 removed\n", "output")
    check(is_lost(), "the route is gone")
    audit_ok(node)


@test()
def the_command_line_lists_and_changes_routes_and_neighbours(workspace):
    net = Routed(workspace, 1)
    node, (left, right) = net.nodes[0], net.hosts
    own = [{"prefix": A, "port": "west", "next_hop_mac": left.mac, "neighbour": True},
           {"prefix": B, "port": "east", "next_hop_mac": right.mac, "neighbour": True}]
    equal(json.loads(hopsight(node, "--json", "route", "list").stdout),
          {"routes": own, "count": 2}, "routes of the configuration")
    hopsight(node, "route", "add", "::/0", "--via", B)
    hopsight(node, "route", "add", "2001:db8:8::/45", "--port", "west", "--mac", "02:00:00:00:00:99",
             "--dry-run")
    listed = json.loads(hopsight(node, "--json", "route", "list").stdout)["routes"]
    equal(listed, [{"prefix": "::/0", "port": "east", "next_hop_mac": right.mac, "via": B}, *own],
          "routes")
    check("::/0" in hopsight(node, "route", "list").stdout, "a table")
    equal(json.loads(hopsight(node, "--json", "neighbour", "list").stdout)["neighbours"][1],
          {"addr": B, "port": "east", "mac": right.mac, "routes": 1}, "a neighbour")
    done = hopsight(node, "neighbour", "del", B, expected=1)
    check("1 route goes via" in done.stderr, done.stderr)
    hopsight(node, "neighbour", "add", B, "--port", "east", "--mac", "02:00:00:00:00:98")
    listed = json.loads(hopsight(node, "--json", "route", "list").stdout)["routes"]
    equal(listed[0]["next_hop_mac"], "02:00:00:00:00:98", "routes follow their neighbour")
    done = hopsight(node, "route", "add", "2001:db8:4::1/32", "--via", B, expected=1)
    check("behind its length" in done.stderr and "route_add.prefix" in done.stderr, done.stderr)
    hopsight(node, "route", "del", "::/0")
    hopsight(node, "neighbour", "del", B)
    equal(node.call("node_get")["routes"], 1, "routes that are left")


@test(path=True)
def telemetry_crosses_three_routers(workspace):
    need("ping")
    net = Routed(workspace, 3)
    for node in net.nodes:
        node.client.transaction([{"int_request": rule(1, A, B, "icmp")},
                                 {"int_request": rule(2, B, A, "icmp")}])
    check("ttl=61" in pings(net.hosts[0], 50, "-i", "0.01", B), "three hops")
    equal(net.nodes[2].call("int_get", ns_id=1)["counters"]["reports_made"], 50, "up")
    equal(net.nodes[0].call("int_get", ns_id=2)["counters"]["reports_made"], 50, "down")
    equal(net.nodes[1].call("int_get", ns_id=1)["counters"]["hop_entries"], 50, "entries")
    for node in net.nodes:
        equal(lost(node), {}, f"drops of {node.name}")
    audit_ok(*net.nodes)


@test()
def a_node_that_does_not_route_says_so(workspace):
    namespace = workspace.namespace("n1")
    peer = workspace.namespace("peer")
    veth(namespace, "west", peer, "west")
    veth(namespace, "east", peer, "east")
    node = Node(workspace, 1, [iface("west", "west", "host"), iface("east", "east", "host")],
                namespace).start()
    for verb, content in (("route_list", {}), ("neighbour_list", {}),
                          ("route_delete", {"prefix": "::/0"}),
                          ("neighbour_delete", {"addr": A})):
        try:
            node.call(verb, **content)
        except Refused as refused:
            equal((refused.error["code"], refused.error["expected"]),
                  ("unsupported", "forwarding.mode route"), verb)
            check("forwarding.mode is not route" in refused.error["message"], verb)
        else:
            check(False, f"{verb} is answered")


if __name__ == "__main__":
    sys.exit(main())
