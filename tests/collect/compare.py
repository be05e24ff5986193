# SPDX-License-Identifier: BSD-3-Clause
"""Compares what the collector's library told of datagrams with the model: events, last values,
exporters, counters, and the equations that must hold."""

import ipaddress

import replay
from decode import UNKNOWN
from model import KINDS, Model


ALL = 100_000  # entries: a call that may push as many pushes all that is due


class Differs(Exception):
    """The two disagree. index: of the record, or None."""

    def __init__(self, text, index=None):
        super().__init__(text)
        self.index = index


def key_of(row):
    """A flow's key as the model has it."""
    is_ipv4, src, dst, *rest = row
    n = 4 if is_ipv4 else 16
    src, dst = bytes.fromhex(src), bytes.fromhex(dst)
    if any(src[n:]) or any(dst[n:]):
        raise Differs(f"bytes behind an address: {row}")
    src_port, dst_port, vlan, protocol, reporter = rest
    return bool(is_ipv4), src[:n], dst[:n], src_port, dst_port, vlan, protocol, reporter


def key_text(key):
    is_ipv4, src, dst, src_port, dst_port, vlan, protocol, reporter = key
    src, dst = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    return f"{src}:{src_port}->{dst}:{dst_port}/{protocol} vlan {vlan} by {reporter:#x}"


def flow_of(flow):
    """What both know of a flow."""
    return (flow["key"], flow["reports"], flow["first_ns"], flow["last_ns"], flow["event_ns"],
            flow["latency"], tuple(flow["hops"]), flow["lacking"])


def flow_row(row):
    key, reports, first, last, event, latency, hops, lacking = row
    return key_of(key), reports, first, last, event, latency, tuple(map(tuple, hops)), lacking


def same_event(index, wanted, told):
    flow, points = wanted
    _, _, got_flow, got_points = told
    # A point without a value may have any number there.
    got_points = [point if point.has_value else point._replace(value=0) for point in got_points]
    if sorted(points) != sorted(got_points):
        raise Differs(f"points: model only {sorted(set(points) - set(got_points))}, "
                      f"collector only {sorted(set(got_points) - set(points))}", index)
    if (flow is None) != (got_flow is None):
        raise Differs(f"flow of an event: model {flow is not None}, collector {got_flow is not None}",
                      index)
    if flow is not None and flow != flow_row(got_flow):
        raise Differs(f"flow of an event:\n  model     {flow}\n  collector {flow_row(got_flow)}", index)


def same_time(index, wanted_ns, told):
    if told[1] != wanted_ns:
        raise Differs(f"values of an event: reported at {wanted_ns}, collector {told[1]}", index)


def events(model, records, told):
    """Replays the records in the model; both must tell the same, record by record."""
    at = 0
    for index, record in enumerate(records):
        if hasattr(record, "budget"):
            at = pushes(model, told, at, index, record)
            continue
        for flow, points in model.take(record.data, record.address, record.listener, record.time_ns):
            if at == len(told.events) or told.events[at][0] != index:
                raise Differs(f"the model alone tells {points}", index)
            same_event(index, (flow, points), told.events[at])
            same_time(index, record.time_ns, told.events[at])
            at += 1
        if at < len(told.events) and told.events[at][0] <= index:
            raise Differs(f"the collector alone tells {told.events[at][3]}", index)


def pushes(model, told, at, index, record):
    """What one call pushed: entries as the model has them."""
    begin = at
    while at < len(told.events) and told.events[at][0] == index:
        _, _, flow, points = told.events[at]
        wanted = model.push(flow and key_of(flow[0]), points, record.time_ns)
        got = sorted(point._replace(device_ns=0, value=point.value * point.has_value) for point in points)
        if wanted is None or sorted(wanted) != got:
            raise Differs(f"pushed: model {wanted}, collector {got}", index)
        same_time(index, model.told_ns(flow and key_of(flow[0]), points), told.events[at])
        at += 1
    if at - begin > record.budget:
        raise Differs(f"{at - begin} entries were pushed, {record.budget} were allowed", index)
    return at


def all_pushed(model, end_ns):
    """Every entry that is known for long was pushed."""
    period = model.config.push_ns
    for name in ("flows", "queues", "links", "drops"):
        for key, entry in getattr(model, name).entries.items():
            if period and end_ns - entry.get("pushed_ns", entry["made_ns"]) > 2 * period:
                raise Differs(f"{name}: {key} was not pushed for {end_ns - entry['made_ns']} ns")


def rows(name, wanted, got):
    wanted, got = sorted(wanted, key=repr), sorted(got, key=repr)
    if wanted != got:
        only = [row for row in wanted if row not in got], [row for row in got if row not in wanted]
        raise Differs(f"{name}: model only {only[0][:3]} ({len(only[0])}), "
                      f"collector only {only[1][:3]} ({len(only[1])})")


def tables(model, told):
    rows("flows", map(flow_of, model.flows.entries.values()), map(flow_row, told.rows["flow"]))
    rows("queues", ([*q["key"], q["occupancy"], q["congestion"], int(q["congested"] and not model.lapses(q)),
                     q["last_ns"], q["device_ns"]] for q in model.queues.entries.values()), told.rows["queue"])
    rows("links", ([*e["key"], e["utilisation"], e["last_ns"], e["device_ns"]]
                   for e in model.links.entries.values()), told.rows["link"])
    rows("drops", ([*e["key"], e["reports"], e["first_ns"], e["last_ns"]]
                   for e in model.drops.entries.values()), told.rows["drop"])
    rows("exporters", (exporter_row(key, e) for key, e in model.exporters.entries.items()),
         told.rows["exporter"])


def exporter_row(key, e):
    (is_ipv4, address), listener, hw_id, _ = key
    s = e["sequence"]
    counts = [s.missing, s.late, s.duplicates, s.restarts] if s else [0] * 4
    return [address.hex(), listener, hw_id, int(e["node"] != UNKNOWN), e["node"] if e["node"] != UNKNOWN else 0, e["version"],
            int(is_ipv4), e["datagrams"], e["reports"], *counts, e["first_ns"], e["last_ns"]]


def counters(model, told):
    wanted = dict(model.counters)
    for name in ("flows", "queues", "links", "exporters", "drops"):
        wanted[name] = len(getattr(model, name).entries)
    wrong = [f"{name}: model {wanted.get(name, 0)}, collector {told.counters.get(name)}"
             for name in sorted({*wanted, *told.counters}) if wanted.get(name, 0) != told.counters.get(name)]
    if wrong:
        raise Differs(f"counters {'; '.join(wrong)}")


def audit(counted):
    """What an operator's audit adds up."""
    refused = {name: n for name, n in counted.items() if name.startswith("refused_")}
    early = refused.pop("refused_version") + refused.pop("refused_short")
    equations = {
        "datagrams": (counted["datagrams"], counted["datagrams_read"] + early),
        "reports": (counted["reports"],
                    counted["reports_read"] + counted["reports_skipped"] + sum(refused.values())),
        "points": (counted["points"], sum(n for name, n in counted.items() if name.startswith("events_"))),
    }
    for name, (left, right) in equations.items():
        if left != right:
            raise Differs(f"audit of {name}: {left} is not {right}")


def compare(config, records, batch=1):
    """Returns the model, for counts. Raises Differs."""
    told = replay.run(config, records, batch)
    model = Model(config)
    if batch == 1:
        events(model, records, told)
    else:
        in_order(model, records, told)
    calls = [record.time_ns for record in records if getattr(record, "budget", 0) >= ALL]
    regular = all(b - a < config.push_ns for a, b in zip(calls, calls[1:]))
    if calls and regular:
        all_pushed(model, calls[-1])
    counters(model, told)
    tables(model, told)
    audit(told.counters)
    return model, told


def in_order(model, records, told):
    """The same for datagrams that are given in bursts: the order of all events must be the same."""
    wanted = [(index, event) for index, record in enumerate(records) for event in model.take(
        record.data, record.address, record.listener, record.time_ns)]
    if len(wanted) != len(told.events):
        raise Differs(f"events: model {len(wanted)}, collector {len(told.events)}")
    for (index, event), got in zip(wanted, told.events):
        same_event(index, event, got)


def smallest(config, records, index):
    """Returns the records up to index without those that the difference does not need."""
    kept = records[:index + 1]
    step = max(1, len(kept) // 2)
    while step:
        at = 0
        while at < len(kept) - 1 and len(kept) > 1:
            fewer = kept[:at] + kept[min(at + step, len(kept) - 1):]
            if len(fewer) < len(kept) and differs(config, fewer):
                kept = fewer
            else:
                at += step
        step //= 2
    return kept


def differs(config, records):
    try:
        compare(config, records)
    except Differs:
        return True
    return False


__all__ = ["Differs", "compare", "smallest", "KINDS", "key_text"]
