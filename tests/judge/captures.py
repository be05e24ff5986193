# SPDX-License-Identifier: BSD-3-Clause
"""What captures of links say about a flow's packets (pcap, nanoseconds). Nothing here comes from a
node's counters. A number that the sender puts first into the payload identifies a packet. A node
receives and sends in order, so that its counts are positions in the captures of its links."""

import collections
import struct

import wire
from flow import Flow, Report, Stop

ETHERNET, IPV6, UDP = 14, 40, 8
Frame = collections.namedtuple("Frame", "at number header bytes")


def read_pcap(path):
    with open(path, "rb") as f:
        data = f.read()
    assert struct.unpack_from("<I", data)[0] == 0xA1B23C4D, "captures in nanoseconds"
    at = 24
    while at + 16 <= len(data):
        seconds, ns, kept, _ = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + ns, data[at + 16:at + 16 + kept]
        at += 16 + kept


def frames_of(path, port):
    """Yields UDP packets to this port, with their telemetry."""
    frames = []
    for at, data in read_pcap(path):
        if len(data) < ETHERNET + IPV6 or data[12:14] != b"\x86\xdd":
            continue
        following, behind, header = data[ETHERNET + 6], ETHERNET + IPV6, b""
        if following == 0 and len(data) > behind + 2:
            header = data[behind:behind + 8 * (data[behind + 1] + 1)]
            following, behind = header[0], behind + len(header)
        if following == 17 and struct.unpack_from("!H", data, behind + 2)[0] == port:
            number = struct.unpack_from("!I", data, behind + UDP)[0]
            frames.append(Frame(at, number, header, len(data) - len(header)))
    return frames


class Node:
    """What one node received and sent, from all its captures."""

    def __init__(self, name, came, sent):
        self.name = name
        self.came = sorted(came, key=lambda frame: frame.at)
        self.sent = sorted(sent, key=lambda frame: frame.at)


def follow(nodes, source):
    """Returns the stops of all packets, by node. The nodes are in an order in which packets may
    pass them."""
    stops = collections.defaultdict(list)
    departed = collections.defaultdict(list)  # number: (time, stop, header)
    for node in nodes:
        waiting = collections.defaultdict(list)
        total = 0
        for frame in node.came:
            before = max((d for d in departed[frame.number] if d[0] <= frame.at),
                         key=lambda d: d[0], default=None)
            stop = Stop(node.name, frame.at, before and before[1], (0, 0))
            total += frame.bytes
            stop.number, stop.header, stop.bytes = frame.number, frame.header, frame.bytes
            stop.rx, stop.rx_bytes = len(stops[node.name]) + 1, total
            stops[node.name].append(stop)
            waiting[frame.number].append(stop)
        for i, frame in enumerate(node.sent):
            if node.name == source and not waiting[frame.number]:
                stop = Stop(node.name, frame.at, None, (0, 0))
                stop.number = frame.number
                stops[node.name].append(stop)
            elif waiting[frame.number]:
                stop = waiting[frame.number].pop(0)
            else:
                continue
            stop.tx = i + 1
            departed[frame.number].append((frame.at, stop))
    return stops


def flow_of(nodes, ids, ns_id, published):
    """nodes: from the source to the sink; ids: their ids by name; published: the sink's stamps of
    reports, in order, by the source's stamp."""
    source, sink = nodes[0].name, nodes[-1].name
    stops, reports, seen = follow(nodes, source), [], set()
    for last in stops[sink]:
        told = wire.telemetry_of(last.header) if last.header else None
        if not told or told.ns_id != ns_id or not published.get(told.source.values.get("ts_ns")):
            continue
        last.shown = published[told.source.values["ts_ns"]].pop(0)
        report = report_of(last, told, ids)
        if report:
            report.copy = report.number in seen
            seen.add(report.number)
            reports.append(report)
    return Flow(ns_id, reports, stops)


def report_of(sink, told, ids):
    """Returns None if a frame before it is in no capture."""
    passed, stop = [], sink.before
    way = [sink.node]
    while stop:
        passed.insert(0, stop)
        way.insert(0, stop.node)
        stop = stop.before
    chosen, bits = [], []
    for entry in [told.source, *told.hops]:
        while passed and chosen and ids[passed[0].node] != entry.node:
            passed.pop(0)
        if not passed:
            return None
        stop = passed.pop(0)
        stop.shown = entry.values.get("ts_ns", stop.at)
        chosen.append(stop)
        bits.append(entry.bits)
    path = [0] + [hop.node for hop in told.hops] + [ids[sink.node]]
    return Report(sink.number, False, path, chosen + [sink], bits, way)
