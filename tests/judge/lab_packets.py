# SPDX-License-Identifier: BSD-3-Clause
"""What a run of the lab did to the packets: its CSV (`hopsight-lab run X --packets FILE`), read
together with the scenario. Nothing here comes from a node's counters."""

import collections
import csv
import re

import int_rules
import queues
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

    def __init__(self, ns_id, nodes, outages, instructions, rates):
        """instructions: of INT, None of other methods; rates: of queues in nodes, by link."""
        self.ns_id, self.nodes, self.outages = ns_id, nodes, outages
        self.instructions, self.rates = instructions, rates
        self.held = collections.defaultdict(list)  # (number, node): stops without a following line
        self.stops = collections.defaultdict(list)  # by node
        self.sent = collections.Counter()
        self.sent_bytes = collections.Counter()
        self.arrived = []    # (time, order, stop, header, shown)

    def is_down(self, node, at):
        outages = self.outages.get(node)
        return bool(outages) and any(begin <= at < end for begin, end in outages)

    def leaving(self, number, node, at, waits):
        """Returns the stop of a packet that leaves a node, or None where nothing brought it there. It
        leaves when it came, unless it waits in a queue of the node."""
        held = self.held[number, node]
        for i, stop in enumerate(held):
            if stop.at == at or waits and stop.at < at:
                return held.pop(i)
        return None

    def came(self, at, header):
        """Returns when a packet came from its host to a node where it waited: no link saw that, and
        the packet says it. The replay of the queue refutes a time that cannot be."""
        stamp = header and self.instructions and int_rules.source_stamp(header, self.instructions)
        return stamp if stamp and stamp <= at else None

    def take(self, order, row, start, end):
        """Reads one line: sent by start to end. Without an end, it was sent to its host."""
        at, number, copy = int(row[0]), int(row[5]), row[6] == "1"
        if copy and end:
            # This is the frame of the line before.
            self.arrive(self.latest, end, row, order, 0)
            return
        header = bytes.fromhex(row[13]) if row[13] else b""
        waits = (start, end) in self.rates
        stop = self.leaving(number, start, at, waits)
        if not stop:
            came = self.came(at, header) if waits else at
            stop = Stop(start, at if came is None else came, None, (order, 1))
            stop.entered = came
            stop.number = number
            self.stops[start].append(stop)
        stop.left, stop.frame_bytes = at, int(row[7])
        stop.shown = stop.at if waits else int(row[12])
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
        self.held[stop.number, end].append(following)

    def flow(self):
        for stops in self.stops.values():
            stops.sort(key=lambda s: (s.at, s.order))
            total = 0
            for rank, stop in enumerate(stops):
                total += stop.bytes
                stop.rx, stop.rx_bytes = rank + 1, total
        reports = []
        for stop, header in self.arrived:
            if self.instructions is not None:
                if header:
                    reports.append(self.report_int(stop))
                continue
            told = wire.telemetry_of(header) if header else None
            if told and told.ns_id == self.ns_id:
                reports.append(self.report(stop, told))
        return Flow(self.ns_id, reports, self.stops, self.instructions)

    @staticmethod
    def passed(sink):
        passed, stop = [], sink
        while stop:
            passed.append(stop)
            stop = stop.before
        return passed[::-1]

    def report_int(self, sink):
        """[24] Each node in front of the sink writes its id and what the rule asks for."""
        passed = self.passed(sink)
        bits = [int_rules.bits_of(self.instructions, stop is passed[0]) for stop in passed[:-1]]
        path = [self.nodes[stop.node] for stop in passed]
        return Report(sink.number, sink.copy, path, passed, bits, [stop.node for stop in passed])

    def report(self, sink, told):
        """Returns the stops that wrote entries into the packet, between source and sink."""
        passed = self.passed(sink)
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
    rates, strange = queues.rates_of(scenario), set()
    ways = {key: Way(ns_id, nodes, outages, int_rules.instructions_of(scenario, key[0]), rates)
            for key, ns_id in ns_ids.items()}
    with open(packets, encoding="utf-8", newline="") as f:
        lines = csv.reader(f)
        next(lines)
        for order, row in enumerate(lines):
            way = ways.get((row[3], row[4] == "1"))
            if not way:
                strange.add(ends.get((row[1], row[2])))
                continue
            if row[2] == "host":
                way.take(order, row, host_at(hosts, row[1]), None)
            else:
                way.take(order, row, *ends[row[1], row[2]])
    replay(ways.values(), {link: rates[link] for link in rates.keys() - strange})
    return {way.ns_id: way.flow() for way in ways.values()}


def replay(ways, rates):
    """Replays the queues of nodes. rates: of those by which only judged flows leave."""
    left = collections.defaultdict(list)
    for way in ways:
        for stops in way.stops.values():
            for stop in stops:
                if stop.sent_on in rates:
                    left[stop.sent_on].append(stop)
    for ends, stops in left.items():
        wrong = queues.replay(stops, rates[ends])
        if wrong:
            raise queues.WrongDepartures(f"{wrong} packets left the queue {ends[0]}-{ends[1]} at another "
                                         "time than it says")
