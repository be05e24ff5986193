# SPDX-License-Identifier: BSD-3-Clause
"""What a collector must know and tell after each datagram: dictionaries, by the contract of
lib/collect/collect.h and the rules of the INTCollector paper. It shares no code with the collector.
"""

import collections

import decode
from decode import UNKNOWN

SECOND = 10**9
KINDS = FLOW, HOP, OCCUPANCY, CONGESTION, LINK, DROP = range(6)
CAUSES = NEW, PATH, CHANGE, GAP, PUSH = range(5)
MEASURES = ("flow_latency", "hop_latency", "occupancy", "congestion", "utilisation")
_OF = dict(zip((FLOW, HOP, OCCUPANCY, CONGESTION, LINK), MEASURES))
_OWN = ("ingress_port", "egress_port", "latency", "queue_id", "occupancy", "egress_ns",
        "ingress_port_l2", "egress_port_l2", "utilisation", "buffer_id", "buffer")
Point = collections.namedtuple("Point", "kind cause has_value by_q node id value before device_ns")
# threshold: None (never), or absolute and relative.
Config = collections.namedtuple("Config", "settings lenient tables new_keys thresholds interval gap_ns "
                                "push_ns")
TABLES = ("flows", "queues", "links", "exporters", "drops")
KEPT = 11  # begun seconds, at least ten whole ones, in which no other entry takes the place of one, except of a flow
WIDTH = {0: 32, 1: 32, 2: 22}
NEAR, AHEAD, FAR = 256, 1 << 16, 1 << 24  # numbers: of what is late, of a step that is believed at once, or when
                                          # another number follows
FOLLOWS = 256  # numbers: of what follows the first one of an exporter that began anew
AGAIN = 8  # duplicates in a row of an exporter that began anew


class Table:
    """A bounded table: the entry that was seen longest ago goes, to a second."""

    def __init__(self, limit, new_keys, counters, name):
        self.entries, self.limit, self.new_keys = collections.OrderedDict(), limit, new_keys
        self.counters, self.name, self.second, self.taken = counters, name, None, 0

    def get(self, key, now, make):
        """Returns the entry, None where it is refused, and whether it is new."""
        entry, tick = self.entries.get(key), now // SECOND
        if entry is not None:
            if entry["tick"] < tick:
                entry["tick"] = tick
                self.entries.move_to_end(key)
            return entry, False
        if len(self.entries) >= self.limit:
            if self.second != tick:
                self.second, self.taken = tick, 0
            oldest = next(iter(self.entries.values()))
            is_alive = self.name != "flows" and 0 <= tick - oldest["tick"] < KEPT
            if self.taken >= self.new_keys or is_alive:
                self.counters[self.name + "_refused"] += 1
                return None, True
            self.taken += 1
            self.counters[self.name + "_evicted"] += 1
            self.entries.popitem(last=False)
        entry = self.entries[key] = {"tick": tick, "made_ns": now, **make}
        return entry, True


class Exporter:
    """How many of an exporter's datagrams are missing, by their sequence numbers."""

    def __init__(self, first, version):
        self.begin(first, version)
        self.missing = self.late = self.duplicates = self.restarts = 0

    def begin(self, first, version):
        self.version = version
        self.newest, self.seen, self.known = first, {0}, 0  # seen: distances behind the newest
        self.candidate = self.repeated = None
        self.repeats = 0

    def advance(self, step):
        self.seen = {0} | {old + step for old in self.seen if old + step <= NEAR}
        self.known += step
        self.missing += step - 1

    def take(self, sequence, version):
        width = WIDTH[version]
        span = 1 << width
        if version != self.version:  # its numbers have nothing to do with the former ones
            self.begin(sequence, version)
            self.restarts += 1
            return
        step = (sequence - self.newest + span // 2) % span - span // 2
        if 0 < step <= AHEAD:
            self.advance(step)
            self.newest, self.candidate, self.repeats = sequence, None, 0
        elif -NEAR <= step <= 0:
            self.old(-step, sequence, span)
        elif self.candidate is not None and 1 <= (sequence - self.candidate) % span <= FOLLOWS:
            ahead = (sequence - self.candidate) % span
            jump = (self.candidate - self.newest + span // 2) % span - span // 2
            if 0 < jump <= FAR:
                self.advance(jump)
                self.candidate, self.repeats = None, 0
            else:
                self.begin(self.candidate, version)
                self.restarts += 1
            self.advance(ahead)
            self.newest = sequence
        else:
            self.candidate = sequence

    def old(self, behind, sequence, span):
        if behind in self.seen:
            self.duplicates += 1
            follows = self.repeated is not None and (sequence - self.repeated) % span == 1
            self.repeats = self.repeats + 1 if self.repeats and follows else 1
            self.repeated = sequence
            if self.repeats == AGAIN:
                self.begin(sequence, self.version)
                self.restarts += 1
        elif behind <= self.known:
            self.seen.add(behind)
            self.late += 1
            self.missing -= 1


class Model:
    def __init__(self, config):
        self.config = config
        self.counters = collections.Counter()
        for name in TABLES:
            setattr(self, name, Table(config.tables[name], config.new_keys, self.counters, name))
        self.events = []  # of the last datagram: flow's entry or None, points

    # ---- datagrams ----

    def take(self, data, address, listener, now):
        """Returns the events: pairs of flow and points."""
        self.events = []
        self.counters["datagrams"] += 1
        taken = [version for version, settings in enumerate(self.config.settings) if settings]
        try:
            found = decode.datagram(data, taken, self.config.lenient)
        except decode.Refused as reason:
            self.counters[f"refused_{reason}"] += 1
            return self.events
        self.counters["datagrams_read"] += 1
        self.exporter(found, address, listener, now)
        for report in found.reports:
            self.counters["reports"] += 1
            try:
                decode.demand(isinstance(report, decode.Report), report)
                self.report(report, self.config.settings[found.version], self.is_lenient(found), now)
                self.counters["reports_read"] += 1
            except decode.Refused as reason:
                name = "reports_skipped" if str(reason) == "skipped" else f"refused_{reason}"
                self.counters[name] += 1
        return self.events

    def is_lenient(self, found):
        return self.config.lenient and found.version < 2

    def exporter(self, found, address, listener, now):
        key = (address, listener, found.hw_id, found.node if found.version else None)
        entry, new = self.exporters.get(key, now, {"datagrams": 0, "reports": 0, "first_ns": now,
                                                   "node": found.node,
                                                   "sequence": None})
        if entry is None:
            return
        entry.update(version=found.version, last_ns=now)
        if entry["node"] == UNKNOWN:
            entry["node"] = found.node
        entry["datagrams"] += 1
        entry["reports"] += sum(report != "skipped" for report in found.reports)
        if new:
            entry["sequence"] = Exporter(found.sequence, found.version)
            return
        sequence = entry["sequence"]
        if self.is_lenient(found) and found.version == sequence.version:
            return
        before = (sequence.missing, sequence.late, sequence.duplicates)
        sequence.take(found.sequence, found.version)
        for name, old, value in zip(("missing", "late", "duplicate"), before, (
                sequence.missing, sequence.late, sequence.duplicates)):
            self.counters[f"reports_{name}"] += value - old

    # ---- one report ----

    def report(self, report, settings, lenient, now):
        packet = decode.packet(report.packet, "F" in report.flags, settings, lenient)
        own = {name: report.values[name] for name in (*_OWN, "ingress_ns", "time_bits")
               if name in report.values}
        stacked = packet.hops is not None
        # One cut stack misses the hops that are nearest the source.
        hops = [dict(hop) for hop in reversed(packet.hops or [])]
        mine = self.reporter_hop(report, own, hops, stacked)
        decode.demand(len(hops) <= 64, "hops")
        for hop in hops:
            hop["latency"] = decode.latency_of(hop)
        points, flow = [], None
        if packet.partial:
            self.counters["reports_partial"] += 1
        if packet.lacking:
            self.counters["reports_incomplete"] += 1
        key = packet.key and self.flow_key(packet, report)
        if key is None:
            self.counters["reports_without_flow"] += 1
        else:
            cut = stacked and (packet.partial or packet.lacking and not hops)
            congested = "Q" in report.flags and report.node != UNKNOWN
            flow = self.flow(key, hops, cut, packet.lacking, congested, report.values.get("ingress_ns", 0), now, points)
        of_flow = bool(points)
        for hop in hops:
            if hop.get("node_id", UNKNOWN) != UNKNOWN:
                self.shared(hop, "Q" in report.flags if hop is mine else None, now, points)
        if "D" in report.flags:
            self.drop(report, now, points)
        if points:
            self.tell(flow if of_flow else None, points)

    def reporter_hop(self, report, own, hops, stacked):
        """Returns the hop that the reporter is, if it is one. Adds it where it is no hop yet."""
        if report.node == UNKNOWN:
            return None
        if hops and hops[-1].get("node_id") == report.node:
            hop = hops[-1]
            self.fill(hop, own)
            return hop
        if not stacked or any(name in own for name in _OWN):
            hops.append({"node_id": report.node, **own})
            return hops[-1]
        return None

    @staticmethod
    def fill(hop, own):
        """Takes of the reporter's own values what its hop of the stack does not tell."""
        latency = decode.latency_of(hop)
        if latency is None:
            latency = decode.latency_of(own)
        hop["latency"] = latency  # never of one time of each
        if "occupancy" not in hop and "occupancy" in own:
            hop.update({name: own[name] for name in ("queue_id", "occupancy") if name in own})
        for name in ("egress_port", "utilisation"):
            if name not in hop and name in own:
                hop[name] = own[name]
        if not hop.get("egress_ns") and "egress_ns" in own:  # 0 is none (device_ns in collect.h)
            hop["egress_ns"] = own["egress_ns"]

    @staticmethod
    def flow_key(packet, report):
        """Returns the key, with who tells of the flow: one node, or None for the whole path."""
        whole = packet.hops is not None and "I" not in report.flags and "D" not in report.flags
        if not whole and report.node == UNKNOWN:
            return None
        return (*packet.key, UNKNOWN if whole else report.node)

    def tell(self, flow, points):
        self.counters["points"] += len(points)
        self.counters["event_reports"] += 1
        for point in points:
            self.counters[f"events_{point.kind}_{point.cause}"] += 1
        self.events.append((flow and (flow["key"], flow["reports"], flow["first_ns"], flow["last_ns"],
                                     flow["event_ns"], flow["latency"], tuple(flow["hops"]), flow["lacking"]), points))

    def differs(self, kind, before, value):
        threshold = self.config.thresholds[_OF[kind]]
        if threshold is None:
            return False
        if self.config.interval:
            return value // self.config.interval != before // self.config.interval
        absolute, relative = threshold
        if relative:
            return abs(value - before) * 10000 > relative * before
        return abs(value - before) > absolute

    # ---- flows ----

    @staticmethod
    def keeps_path(flow, now):
        """Whether a flow keeps its path although a report lacks hops: not all reports of 10 s do."""
        if flow["lacked"] != flow["reports"]:
            flow["lacked_ns"] = now
        keeps = 0 <= now - flow["lacked_ns"] < 10 * SECOND
        flow["lacked"] = flow["reports"] + 1 if keeps else 0
        return keeps

    @staticmethod
    def lose_path(flow):
        """No report of 10 s told the path: what was known of it is old."""
        hops = flow["hops"]
        flow.update(lacking=bool(hops), latency=None, hops=[(node, None) for node, _ in hops],
                    bases=[None] * len(hops))

    @staticmethod
    def is_of_the_middle(flow, nodes):
        """Whether a node of the path, not the sink, sent a report of its queue: it has the path's begin."""
        known = [node for node, _ in flow["hops"]]
        return len(nodes) < len(known) and nodes == known[:len(nodes)]

    def flow(self, key, hops, cut, lacking, congested, device, now, points):
        flow = self.flows.entries.get(key)
        nodes = [hop.get("node_id", UNKNOWN) for hop in hops]
        # A path that is not whole only says that the flow is alive.
        part = flow and (lacking and not flow["lacking"]
                         or congested and self.is_of_the_middle(flow, nodes))
        if cut or part and self.keeps_path(flow, now):
            if cut and flow and not flow["lacking"] and not self.keeps_path(flow, now):
                self.lose_path(flow)
            if flow:
                self.flows.get(key, now, {})
                flow["reports"] += 1
                flow["last_ns"] = now
            return flow
        flow, new = self.flows.get(key, now, {
            "key": key, "reports": 0, "first_ns": now, "event_ns": now, "hops": [], "bases": [],
            "base": None, "latency": None, "lacking": False, "lacked": 0, "lacked_ns": 0})
        if flow is None:
            return None
        self.keep_latencies(flow, nodes, hops)
        latency = None if lacking else self.latency_of(flow, hops, nodes)
        other, flow["lacking"] = lacking != flow["lacking"], lacking
        sink = nodes[-1] if nodes else UNKNOWN
        cause, before = self.flow_cause(flow, new, other, nodes, latency, now)
        if cause is not None:
            points.append(Point(FLOW, cause, latency is not None, False, sink, 0, latency or 0, before,
                                device))
            if latency is not None or cause == PATH:  # of another path nothing compares
                flow["base"] = latency
        else:
            self.counters[f"suppressed_{FLOW}"] += 1
        self.hops(flow, new, hops, nodes, points)
        flow.update(hops=[(node, hop["kept"]) for node, hop in zip(nodes, hops)], latency=latency,
                    last_ns=now)
        flow["reports"] += 1
        if points:
            flow["event_ns"] = now
        return flow

    @staticmethod
    def latency_of(flow, hops, nodes):
        """The sum of what hops said last. What it was, where none says any now and the path is the same."""
        same = nodes == [node for node, _ in flow["hops"]]
        if all(hop["latency"] is None for hop in hops):
            return flow["latency"] if same else None
        return sum(hop["kept"] for hop in hops if hop["kept"] is not None)

    @staticmethod
    def keep_latencies(flow, nodes, hops):
        """A latency that a report does not bring stays what it was, at the same node and place."""
        before = flow["hops"] + [(None, None)] * len(hops)
        for node, hop, (old_node, old) in zip(nodes, hops, before):
            hop["kept"] = old if hop["latency"] is None and node == old_node else hop["latency"]

    def flow_cause(self, flow, new, other, nodes, latency, now):
        if new:
            return NEW, 0
        if other or nodes != [node for node, _ in flow["hops"]]:
            return PATH, 0
        if latency is not None:
            if flow["base"] is None:
                return NEW, 0
            if self.differs(FLOW, flow["base"], latency):
                return CHANGE, flow["base"]
        if self.config.gap_ns and abs(now - flow["event_ns"]) > self.config.gap_ns:
            return GAP, 0
        return None, 0

    def hops(self, flow, new, hops, nodes, points):
        bases = flow["bases"][:len(hops)] + [None] * (len(hops) - len(flow["bases"]))
        for place, (hop, node) in enumerate(zip(hops, nodes)):
            moved = not new and (place >= len(flow["hops"]) or flow["hops"][place][0] != node)
            if moved:
                bases[place] = None
            latency, before = hop["latency"], bases[place]
            if latency is None:
                continue
            if before is None:
                cause = PATH if moved else NEW
            elif self.differs(HOP, before, latency):
                cause = CHANGE
            else:
                self.counters[f"suppressed_{HOP}"] += 1
                continue
            points.append(Point(HOP, cause, True, False, node, place, latency,
                                before if cause == CHANGE else 0, hop.get("egress_ns", 0)))
            bases[place] = latency
        flow["bases"] = bases

    # ---- queues, links, drops ----

    def shared(self, hop, q, now, points):
        node, device = hop["node_id"], hop.get("egress_ns", 0)
        entry = None
        if "occupancy" in hop:
            entry = self.queue(node, hop.get("queue_id", UNKNOWN), now, device)
            self.value(entry, OCCUPANCY, "occupancy", hop["occupancy"], node,
                       hop.get("queue_id", UNKNOWN), device, points)
        if "congestion" in hop:
            queue = hop.get("congestion_queue", UNKNOWN)
            of = self.queue(node, queue, now, device)
            self.value(of, CONGESTION, "congestion", hop["congestion"], node, queue, device, points)
        if q and "occupancy" not in hop and "queue_id" in hop:
            entry = self.queue(node, hop["queue_id"], now, device)
        if q is not None and entry is not None and "queue_id" in hop:
            self.by_q(entry, q, hop, device, points)
        if "utilisation" in hop and "egress_port" in hop:
            key = (node, hop["egress_port"])
            entry, _ = self.links.get(key, now, {"key": key, "base_utilisation": None})
            if entry is not None:
                entry.update(last_ns=now, device_ns=device)
            self.value(entry, LINK, "utilisation", hop["utilisation"], *key, device, points)

    def queue(self, node, queue, now, device):
        entry, _ = self.queues.get((node, queue), now, {
            "key": (node, queue), "base_occupancy": None, "base_congestion": None, "congested": False,
            "occupancy": None, "congestion": None, "by_q": None, "q_ns": 0})
        if entry is not None:
            entry.update(last_ns=now, device_ns=device)
        return entry

    @staticmethod
    def lapses(queue):
        """Q of ten seconds ago is not known to be true any more, if newer values came."""
        return queue["congested"] and not 0 <= queue["last_ns"] - queue["q_ns"] < 10 * SECOND

    def value(self, entry, kind, name, value, node, number, device, points):
        if entry is None:
            return
        before = entry[f"base_{name}"]
        entry[name] = value
        if before is not None and not self.differs(kind, before, value):
            self.counters[f"suppressed_{kind}"] += 1
            return
        cause = NEW if before is None else CHANGE
        points.append(Point(kind, cause, True, False, node, number, value, before or 0, device))
        entry[f"base_{name}"] = value

    def by_q(self, entry, q, hop, device, points):
        was = None if q and self.lapses(entry) else entry["by_q"]
        entry["congested"] = q
        entry["q_ns"] = entry["last_ns"] if q else entry["q_ns"]
        entry["by_q"] = q or None if was is None else q
        if was == entry["by_q"] or self.config.thresholds["congestion"] is None:
            self.counters[f"suppressed_{CONGESTION}"] += 1
            return
        points.append(Point(CONGESTION, NEW if was is None else CHANGE, True, True, *entry["key"], int(q),
                            0 if was is None else int(was), device))

    def drop(self, report, now, points):
        key = (report.node, report.values.get("drop_reason", 0))
        entry, new = self.drops.get(key, now, {"key": key, "reports": 0, "first_ns": now,
                                               "event_ns": now, "told": 0})
        if entry is None:
            return
        entry["reports"] += 1
        entry["last_ns"] = now
        if not new and now - entry["event_ns"] < SECOND:
            self.counters[f"suppressed_{DROP}"] += 1
            return
        points.append(Point(DROP, NEW if new else CHANGE, True, False, *key, entry["reports"],
                            entry["told"], report.values.get("ingress_ns", 0)))
        entry.update(event_ns=now, told=entry["reports"])

    # ---- pushes ----

    def push(self, key, points, now):
        """What the collector pushed: returns the points that it should be, and takes them as events.
        key: of a flow, or None. Which entry is pushed when is the collector's to choose."""
        entry = self.flows.entries.get(key) if key else self.entry_of(points[0])
        if entry is None:
            return None
        wanted = self.flow_points(entry) if key else self.other_points(entry, points[0])
        for point in wanted:
            self.counters[f"events_{point.kind}_{PUSH}"] += 1
        self.counters["points"] += len(wanted)
        if "event_ns" in entry:
            entry["event_ns"] = now
        entry["pushed_ns"] = now
        return wanted

    def told_ns(self, key, points):
        """When the newest report with an entry came."""
        return (self.flows.entries[key] if key else self.entry_of(points[0]))["last_ns"]

    def entry_of(self, point):
        table = self.links if point.kind == LINK else self.drops if point.kind == DROP else self.queues
        return table.entries.get((point.node, point.id))

    @staticmethod
    def flow_points(flow):
        hops, latency = flow["hops"], flow["latency"]
        flow["base"] = latency if latency is not None else flow["base"]
        points = [Point(FLOW, PUSH, latency is not None, False, hops[-1][0] if hops else UNKNOWN, 0,
                        latency or 0, 0, 0)]
        for place, (node, value) in enumerate(hops):
            if value is not None:
                points.append(Point(HOP, PUSH, True, False, node, place, value, 0, 0))
                flow["bases"][place] = value
        return points

    @staticmethod
    def other_points(entry, point):
        def of(kind, value, by_q=False):
            return Point(kind, PUSH, True, by_q, *entry["key"], value, 0, 0)

        if point.kind == DROP:
            entry["told"] = entry["reports"]
            return [of(DROP, entry["reports"])]
        points = []
        for kind, name in ((OCCUPANCY, "occupancy"), (CONGESTION, "congestion"), (LINK, "utilisation")):
            if entry.get(name) is not None:
                points.append(of(kind, entry[name]))
                entry[f"base_{name}"] = entry[name]
        if entry.get("by_q") is not None and not Model.lapses(entry):
            points.append(of(CONGESTION, int(entry["congested"]), True))
            entry["by_q"] = entry["congested"]
        return points
