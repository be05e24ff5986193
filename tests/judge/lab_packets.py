# SPDX-License-Identifier: BSD-3-Clause
"""What a run of the lab did to the packets: its CSV (`hopsight-lab run X --packets FILE`), read
together with the scenario. Nothing here comes from a node's counters."""

import collections
import csv
import re

import wire
from flow import Flow, Report, Stop

SECOND = 10**9


def nodes_of(scenario):
    """Returns ids by name. A fat tree numbers its switches: the core, then each pod."""
    if "nodes" in scenario:
        return {node["name"]: node["id"] for node in scenario["nodes"]}
    half = scenario["topology"]["k"] // 2
    names = [f"core-{n}" for n in range(1, half * half + 1)]
    for pod in range(1, 2 * half + 1):
        names += [f"{kind}-{pod}-{n}" for kind in ("agg", "edge") for n in range(1, half + 1)]
    return {name: i + 1 for i, name in enumerate(names)}


def ends_of(scenario, nodes):
    """Returns the two nodes of each link and direction."""
    ends = {}
    for link in scenario.get("links", []):
        name = link.get("name", f"{link['from']}-{link['to']}")
        ends[name, "forward"] = (link["from"], link["to"])
        ends[name, "reverse"] = (link["to"], link["from"])
    if "links" not in scenario:
        for a in nodes:
            for b in nodes:
                ends[f"{a}-{b}", "forward"] = (a, b)
                ends[f"{a}-{b}", "reverse"] = (b, a)
    return ends


def hosts_of(scenario, nodes):
    """Returns nodes by the names of their hosts."""
    at = {name: name for name in nodes}
    at.update((host["name"], host["at"]) for host in scenario.get("hosts", []))
    return at


def host_at(hosts, name):
    found = re.fullmatch(r"h-(\d+)-(\d+)-\d+", name)
    return hosts.get(name) or f"edge-{found[1]}-{found[2]}"


def outages_of(scenario, start_ns):
    """Returns when each node was down, by the scenario's events."""
    outages = collections.defaultdict(list)
    for event in scenario.get("events", []):
        if not event.get("restart"):
            continue
        at = event["at_s"]
        until = event.get("until_s", scenario["duration_s"]) if "every_s" in event else at
        while at <= until:
            begin = start_ns + round(at * SECOND)
            outages[event["node"]].append((begin, begin + round(event.get("down_s", 0) * SECOND)))
            at += event.get("every_s", until + 1)
    return outages


class Way:
    """All packets of one flow on all links, each followed from node to node."""

    def __init__(self, ns_id, nodes, outages):
        self.ns_id, self.nodes, self.outages = ns_id, nodes, outages
        self.held = {}  # (number, node, time): stops without a following line
        self.stops = collections.defaultdict(list)  # by node
        self.sent = collections.Counter()
        self.sent_bytes = collections.Counter()
        self.arrived = []    # (time, order, stop, header, shown)

    def is_down(self, node, at):
        return any(begin <= at < end for begin, end in self.outages.get(node, ()))

    def take(self, order, row, start, end):
        """Reads one line: sent by start to end. Without an end, it was sent to its host."""
        at, number, copy = int(row[0]), int(row[5]), row[6] == "1"
        if copy and end:
            # This is the frame of the line before.
            self.arrive(self.latest, end, row, order, 0)
            return
        waiting = self.held.get((number, start, at))
        if waiting:
            stop = waiting.pop(0)
        else:
            stop = Stop(start, at, None, (order, 1))
            stop.number = number
            self.stops[start].append(stop)
        stop.shown = int(row[12])
        header = bytes.fromhex(row[13]) if row[13] else b""
        if not end:
            self.arrived.append((stop, stop.header))
            return
        stop.bytes = int(row[7]) - len(header)
        self.sent[start] += 1
        self.sent_bytes[start] += stop.bytes
        stop.tx, stop.tx_bytes = self.sent[start], self.sent_bytes[start]
        stop.sent_on = (start, end)
        self.latest, self.latest_header = stop, header
        self.arrive(stop, end, row, order, 1)

    def arrive(self, stop, end, row, order, original):
        if row[9] != "delivered" or self.is_down(end, int(row[11])):
            return
        following = Stop(end, int(row[11]), stop, (order, original))
        following.number, following.bytes = stop.number, stop.bytes
        following.header, following.copy = self.latest_header, stop.copy or not original
        stop.arrivals += 1
        self.stops[end].append(following)
        self.held.setdefault((stop.number, end, following.at), []).append(following)

    def flow(self):
        for stops in self.stops.values():
            stops.sort(key=lambda s: (s.at, s.order))
            total = 0
            for rank, stop in enumerate(stops):
                total += stop.bytes
                stop.rx, stop.rx_bytes = rank + 1, total
        reports = []
        for stop, header in self.arrived:
            told = wire.telemetry_of(header) if header else None
            if told and told.ns_id == self.ns_id:
                reports.append(self.report(stop, told))
        return Flow(self.ns_id, reports, self.stops)

    def report(self, sink, told):
        """Returns the stops that wrote entries into the packet, between source and sink."""
        passed, stop = [], sink
        while stop:
            passed.append(stop)
            stop = stop.before
        passed.reverse()
        stops, bits, at = [passed[0]], [told.source.bits], 1
        for hop in told.hops:
            while at < len(passed) - 1 and self.nodes[passed[at].node] != hop.node:
                at += 1
            stops.append(passed[at])
            bits.append(hop.bits)
            at += 1
        path = [0] + [hop.node for hop in told.hops] + [self.nodes[sink.node]]
        return Report(sink.number, sink.copy, path, stops + [sink], bits,
                      [stop.node for stop in passed])


def read(scenario, ns_ids, packets, start_ns):
    """Returns flows by ns_id. ns_ids: the ids of each monitored (traffic, reply)."""
    nodes = nodes_of(scenario)
    ends, hosts = ends_of(scenario, nodes), hosts_of(scenario, nodes)
    outages = outages_of(scenario, start_ns)
    ways = {key: Way(ns_id, nodes, outages) for key, ns_id in ns_ids.items()}
    with open(packets, encoding="utf-8", newline="") as f:
        lines = csv.reader(f)
        next(lines)
        for order, row in enumerate(lines):
            way = ways.get((row[3], row[4] == "1"))
            if not way:
                continue
            if row[2] == "host":
                way.take(order, row, host_at(hosts, row[1]), None)
            else:
                way.take(order, row, *ends[row[1], row[2]])
    return {way.ns_id: way.flow() for way in ways.values()}
