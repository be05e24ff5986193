# SPDX-License-Identifier: BSD-3-Clause
"""Computes every number of a window from what the packets did, by the text of docs/metrics.md. The
numbers in brackets are its rules."""

import bisect
import collections

SECOND = 10**9
HELD_NS = 50 * 10**6  # a packet is overtaken by those that were sent so much later, as [10] assumes
LEAST_HELD = 8  # packets
LATENESS = SECOND // 10  # [6]
EXACT_REPORTS = 1000      # [17]

Numbers = collections.namedtuple("Numbers", "values edges")


def rounded(total, n):
    """Returns the nearest integer, halves away from zero."""
    return (total + n // 2) // n if total >= 0 else -((-total + n // 2) // n)


class Life:
    """A flow at its sink, from the time when the sink began to collect its reports."""

    def __init__(self, reports):
        self.reports = reports
        self._count()
        self.ordered = sorted(reports, key=lambda r: (self.counted[r.arrival], r.arrival))
        self.times = [self.counted[r.arrival] for r in self.ordered]
        self.edges, self.pairs = {}, {}
        self.firsts, self.movers, seen, newest = [], set(), set(), None
        for report in reports:
            if newest is None or report.number > newest:
                self.movers.add(report.arrival)
                newest = report.number
            if report.number not in seen:
                seen.add(report.number)
                self.firsts.append(report)
        self.firsts.sort(key=lambda r: r.number)

    def _count(self):
        """[6] Where the sink's clock goes back, windows that were closed stay so."""
        latest, self.counted = None, {}
        for report in self.reports:
            shown = report.stops[-1].shown
            latest = shown if latest is None else max(latest, shown)
            closed = (latest - LATENESS) // SECOND * SECOND
            self.counted[report.arrival] = shown if shown > closed else closed + 1

    def within(self, start, end):
        return self.ordered[bisect.bisect_right(self.times, start):
                            bisect.bisect_right(self.times, end)]

    def doubts(self):
        """Returns the times of reports at which a node may have begun anew, by what was received."""
        movers = [report for report in self.reports if report.arrival in self.movers]
        return [self.counted[b.arrival] for a, b in zip(movers, movers[1:]) if looks_restarted(a, b)]

    # ---- edges, [7] and [22] ----

    def _edges(self, ends, need):
        """Returns the reports that have what a number is made of, and the newest up to each."""
        key = ends, need
        if key not in self.edges:
            times, newest, first = [], [], None
            for report in self.ordered:
                at = self._at(report, ends, False)
                # [7] A report that is not the newest when it comes moves no edge.
                if not at or report.arrival not in self.movers or not NEEDS[need](report, *at):
                    continue
                if first is None or report.arrival < first.arrival:
                    first = report
                times.append(self.counted[report.arrival])
                newest.append(report if not newest or report.number > newest[-1].number
                              else newest[-1])
            self.edges[key] = times, newest, first
        return self.edges[key]

    def edge(self, ends, need, at):
        times, newest, first = self._edges(ends, need)
        n = bisect.bisect_right(times, at)
        return newest[n - 1] if n else first

    @staticmethod
    def _at(report, ends, adjacent):
        """Returns the stops of a hop, or of the whole path without ends."""
        if ends is None:
            return 0, len(report.stops) - 1
        return report.hop(ends, adjacent)

    def span(self, ends, need, start, end):
        """Returns the two stops at `from` and the two at `to` over which a number is measured."""
        first, last = self.edge(ends, need, start), self.edge(ends, need, end)
        if not first or not last or first is last:
            return None
        (a, b), (c, d) = self._at(first, ends, False), self._at(last, ends, False)
        return first.stops[a], last.stops[c], first.stops[b], last.stops[d]

    # ---- delay and jitter, [16] to [18] ----

    def delays(self, ends, start, end):
        values = []
        for report in self.within(start, end):
            at = self._at(report, ends, True)
            if at and report.has_stamp(at[0]) and report.has_stamp(at[1]):
                values.append(report.stops[at[1]].shown - report.stops[at[0]].shown)
        return values

    def _pairs(self, ends):
        if ends not in self.pairs:
            pairs, before = [], []
            for report in self.firsts:
                at = self._at(report, ends, True)
                if not at or not (report.has_stamp(at[0]) and report.has_stamp(at[1])):
                    continue
                delay = report.stops[at[1]].shown - report.stops[at[0]].shown
                closes = -(-self.counted[report.arrival] // SECOND) * SECOND + LATENESS
                for other, other_delay in reversed(before):
                    if other.stops[-1].shown <= closes:
                        pairs.append((self.counted[report.arrival], abs(delay - other_delay)))
                        break
                before.append((report, delay))
            self.pairs[ends] = pairs
        return self.pairs[ends]

    def jitter(self, ends, start, end):
        of = [value for at, value in self._pairs(ends) if start < at <= end]
        return rounded(sum(of), len(of)) if of else None


# The members that a number is made of, at the stops a and b of a report ([22]).
NEEDS = {
    "loss": lambda r, a, b: r.has_packets(a) and r.has_packets(b),
    "received": lambda r, a, b: r.has_packets(b),
    "bytes": lambda r, a, b: r.has_bytes(b),
    "stamps": lambda r, a, b: r.has_stamp(b),
    "rate": lambda r, a, b: r.has_bytes(b) and r.has_stamp(b),
}


def looks_restarted(a, b):
    """[10] Whether counts of two reports may be those of a node that began anew between them, though
    none did. More packets came behind a node than it sent, by more than are overtaken in 50 ms, and it
    may have sent all of its packets since; or its count went back, and it gives no stamps."""
    elapsed = b.stops[-1].shown - a.stops[-1].shown
    before = {stop.node: stop for stop in a.stops}
    at = [i for i, stop in enumerate(b.stops) if stop.node in before]
    both = [(before[b.stops[i].node], b.stops[i]) for i in at]
    sent = [new.tx - old.tx for old, new in both[:-1]]
    received = [new.rx - old.rx for old, new in both[1:]]
    most = max(sent + received)
    held = max(LEAST_HELD, most * HELD_NS // max(elapsed, 1))
    behind = received[-1]
    for i in reversed(range(len(sent))):
        count = both[i][1].tx % (1 << 16 if i else 1 << 32)
        if behind - sent[i] > held and count <= 2 * behind + held:
            return True
        if i and min(sent[i], received[i - 1]) <= 0 and most > held and not b.has_stamp(at[i]):
            return True
        behind = max(behind, sent[i], received[i - 1] if i else behind)
    return (received[-1] - sent[0] > max(16, sent[0] // 2)
            and b.stops[0].shown - a.stops[0].shown > SECOND // 10)


def delay_numbers(delays):
    n, ranked = len(delays), sorted(delays)
    numbers = {"mean": rounded(sum(delays), n), "min": ranked[0], "max": ranked[-1],
               "p50": ranked[-(-50 * n // 100) - 1]}
    if n >= 100:
        numbers["p99"] = ranked[-(-99 * n // 100) - 1]
    if n >= 1000:
        numbers["p999"] = ranked[-(-999 * n // 1000) - 1]
    return numbers


def span_numbers(life, ends, place, start, end, length):
    """[8] and [11]; leaves out what the reports cannot tell. place: "first" hop, "last" or None."""
    numbers, last_hop = {}, place == "last"
    of = life.span(ends, "loss", start, end)
    if of:
        numbers["tx_packets"] = of[1].tx - of[0].tx
        numbers["lost_packets"] = numbers["tx_packets"] - (of[3].rx - of[2].rx)
    of = life.span(ends, "received", start, end)
    if of and not last_hop and of[2].tx is not None and of[3].tx is not None:
        numbers["node_lost_packets"] = of[3].rx - of[2].rx - (of[3].tx - of[2].tx)
    # [22] Behind a source that never counts, only the first node's own counts exist.
    counted = not last_hop and life.span(ends, "loss", start, end)
    alone = last_hop or place == "first" and not life.edge(ends, "loss", end)
    of = counted or (of if alone else None)
    if of:
        numbers["rx_packets"] = of[3].rx - of[2].rx
    of = life.span(ends, "bytes", start, end)
    if of:
        numbers["rx_bytes"] = of[3].rx_bytes - of[2].rx_bytes
        if length:
            numbers["window_throughput_bps"] = numbers["rx_bytes"] * 8 * SECOND // length
    of = life.span(ends, "stamps", start, end)
    if of:
        numbers["span_start_ns"], numbers["span_end_ns"] = of[2].shown, of[3].shown
    of = life.span(ends, "rate", start, end)
    if of and of[3].shown > of[2].shown:
        numbers["throughput_bps"] = ((of[3].rx_bytes - of[2].rx_bytes) * 8 * SECOND
                                     // (of[3].shown - of[2].shown))
    return numbers
