# SPDX-License-Identifier: BSD-3-Clause
"""What is known about a flow's packets, from any source."""

import wire


class Stop:
    """A packet at a node. rx and tx: how many packets of the flow that node had received and sent
    by then, including this one, computed from links and never from a counter; at: true time; shown:
    the node's clock; entered, left: the true times at which it came to the node and left it, None if
    unknown; frame_bytes: with telemetry, as it left; depth, busy: what it found at an egress queue of
    the node, if there is one."""

    __slots__ = ("node", "at", "shown", "before", "order", "number", "bytes", "rx", "tx",
                 "rx_bytes", "tx_bytes", "header", "copy", "arrivals", "sent_on",
                 "entered", "left", "frame_bytes", "depth", "busy")

    def __init__(self, node, at, before, order):
        self.node, self.at, self.before, self.order = node, at, before, order
        self.shown = at
        self.number = self.bytes = self.rx = self.rx_bytes = self.arrivals = 0
        self.tx = self.tx_bytes = None
        self.header, self.copy, self.sent_on = b"", False, None
        self.entered, self.left = at, None
        self.frame_bytes, self.depth, self.busy = 0, None, None


class Report:
    """A packet with telemetry that came to its sink. stops: of each node in its path; bits: what
    each but the sink wrote; passed: the nodes that it really passed, also those of which no entry
    tells."""

    __slots__ = ("number", "copy", "path", "stops", "bits", "passed", "arrival")

    def __init__(self, number, copy, path, stops, bits, passed):
        self.number, self.copy, self.path, self.stops = number, copy, tuple(path), stops
        self.bits, self.passed = bits, tuple(passed)
        self.arrival = 0

    def _has(self, stop, of_source, of_hop):
        if stop == len(self.stops) - 1:
            return True
        return bool(self.bits[stop] & (of_hop if stop else of_source))

    def has_packets(self, stop):
        return self._has(stop, wire.SOURCE_PACKETS, wire.PACKETS)

    def has_stamp(self, stop):
        return self._has(stop, wire.SOURCE_STAMP, wire.STAMP)

    def has_bytes(self, stop):
        return self._has(stop, wire.SOURCE_BYTES, wire.BYTES)

    def hop(self, ends, adjacent):
        """Returns where the path has a hop, or None."""
        start, end = ends
        for i in range(len(self.path) - 1):
            if self.path[i] != start:
                continue
            for j in range(i + 1, i + 2 if adjacent else len(self.path)):
                if self.path[j] == end and j < len(self.path):
                    return i, j
        return None


STEP_NS, SLEWED = 5 * 10**8, 0.25  # what no clock that is slewed gets ahead, at once and by rate


def steps_of(stops):
    """When a node's clock stepped: true times of the packets before and after it."""
    for a, b in zip(stops, stops[1:]):
        if abs((b.shown - b.at) - (a.shown - a.at)) > STEP_NS + SLEWED * (b.at - a.at):
            yield a.at, b.at


class Flow:
    def __init__(self, ns_id, reports, stops, instructions=None):
        """reports: in the order in which they came; stops: of all packets, by node; instructions:
        of INT."""
        self.ns_id, self.reports, self.stops = ns_id, reports, stops
        self.instructions = instructions
        self.steps = [step for node in stops for step in steps_of(stops[node])]
        for i, report in enumerate(reports):
            report.arrival = i

    def overtaken_ns(self):
        """Returns how much later a packet was sent, at most, than one that it overtook on its way to a
        node."""
        most = 0
        sent = {stop.number: stop.at for stops in self.stops.values() for stop in stops
                if stop.before is None}
        for stops in self.stops.values():
            newest = 0
            for stop in sorted(stops, key=lambda stop: stop.at):
                at = sent.get(stop.number, newest)
                newest = max(newest, at)
                most = max(most, newest - at)
        return most
