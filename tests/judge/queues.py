# SPDX-License-Identifier: BSD-3-Clause
"""Egress queues of nodes, replayed from arrivals and the rate by docs/operating.md alone."""

import bisect
import math

SECOND = 10**9
CONSTANT_NS = 10**7  # of the moving average


class WrongDepartures(Exception):
    """A packet that left a queue earlier or later than arrivals and the rate allow."""


def rates_of(scenario):
    """Returns the rate of each queue that stands in a node, by the ends of its link."""
    rates = {}
    for link in scenario.get("links", []):
        ends = link["from"], link["to"]
        for way, at in (ends, link), (ends[::-1], {**link, **link.get("reverse", {})}):
            if at.get("queue_at") == "node":
                rates[way] = at["rate_bps"]
    return rates


class Busy:
    """The share of time in which a port sends: a moving average with a time constant of 10 ms."""

    def __init__(self):
        self.at, self.value, self.sending = None, 0.0, []  # sending: [begin, end] to come

    def _pass(self, until, level):
        if until > self.at:
            kept = math.exp((self.at - until) / CONSTANT_NS)
            self.value = level + (self.value - level) * kept
            self.at = until

    def until(self, now):
        self.at = now if self.at is None else self.at
        while self.sending and self.sending[0][0] < now:
            begin, end = self.sending[0]
            self._pass(begin, 0.0)
            self._pass(min(end, now), 1.0)
            if end > now:
                return self.value
            self.sending.pop(0)
        self._pass(now, 0.0)
        return self.value


def replay(stops, rate_bps):
    """Sets what each packet found: the packets before it that had not left (depth), and the share of
    time in which the port was sending (busy). stops: of all packets that left by this port. Returns
    how many left at another time than the queue says."""
    stops = sorted(stops, key=lambda stop: stop.left)
    if any(stop.entered is None for stop in stops):
        return 0  # a packet without a known arrival: nothing is known of this queue
    left, free, wrong, busy = [], 0, 0, Busy()
    for n, stop in enumerate(stops):
        stop.depth = n - bisect.bisect_right(left, stop.entered)
        stop.busy = busy.until(stop.entered)
        begin = max(stop.entered * rate_bps, free)
        free = begin + stop.frame_bytes * 8 * SECOND
        busy.sending.append((begin / rate_bps, free / rate_bps))
        wrong += abs(stop.left - free // rate_bps) > 1
        left.append(stop.left)
    return wrong
