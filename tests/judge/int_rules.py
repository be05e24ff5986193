# SPDX-License-Identifier: BSD-3-Clause
"""What a scenario says about telemetry of method INT, and what its windows tell of nodes, by the text
of docs/metrics.md, [24]."""

import rules
import wire

# Bytes that a node of version 2.1 writes for each instruction, in this order (docs/wire-int.md).
SIZES = {"node_id": 4, "ports": 4, "hop_latency": 4, "queue": 4, "ingress_timestamp": 8,
         "egress_timestamp": 8, "ports_l2": 8, "link_utilisation": 4, "buffer": 4,
         "checksum_complement": 4}
ENOUGH_FOR_P99 = 100
BUCKET = 64  # a percentile's error is at most this part of the latency
UNIT = 1e-4  # of a utilisation


def requests_of(data):
    return [request["int_request"] for request in data.get("requests", [])
            if "int_request" in request]


def publishes_nothing(data):
    """In the modes MX and XD, packets carry no values to their sink, which has no window then."""
    profiles = data.get("profiles", {}).values()
    return bool(profiles) and all(profile.get("mode") in ("mx", "xd") for profile in profiles) and all(
        request.get("method") == "int" for request in requests_of(data))


def instructions_of(data, traffic):
    """Returns what the source of this traffic asks of nodes by INT, or None."""
    for request in data.get("requests", []):
        asked = request.get("int_request", {})
        if asked.get("method") == "int" and request.get("traffic") == traffic:
            return frozenset(asked["instructions"])
    return None


def bits_of(instructions, is_source):
    """[24] Entries of INT have times, and no counts of packets or bytes."""
    stamp = wire.SOURCE_STAMP if is_source else wire.STAMP
    return stamp if "ingress_timestamp" in instructions else 0


def source_stamp(header, instructions):
    """Returns the source's ingress timestamp: its entry is the last of the stack of 2.1."""
    asked = [name for name in SIZES if name in instructions]
    if "ingress_timestamp" not in asked:
        return None
    behind = sum(SIZES[name] for name in asked[asked.index("ingress_timestamp"):])
    return wire.number(header, len(header) - behind, SIZES["ingress_timestamp"])


def summary(values, names):
    found = {"mean": sum(values) / len(values), "min": min(values), "max": max(values)}
    return {name: found[name] for name in names}


def local_numbers(instructions, stops):
    """Returns by key the numbers of a hop whose `from` is where these packets stopped."""
    numbers = {}
    times = {"ingress_timestamp", "egress_timestamp"}
    measured = "hop_latency" in instructions or times <= instructions
    if measured and all(stop.entered is not None for stop in stops):
        latencies = sorted(stop.left - stop.entered for stop in stops)
        n = len(latencies)
        wanted = summary(latencies, ("min", "max"))
        wanted["mean"] = rules.rounded(sum(latencies), n)
        wanted["p50"] = latencies[-(-50 * n // 100) - 1]
        if n >= ENOUGH_FOR_P99:
            wanted["p99"] = latencies[-(-99 * n // 100) - 1]
        numbers["hop_latency_ns"] = wanted
    queued = [stop for stop in stops if stop.depth is not None]
    if queued and "queue" in instructions:
        numbers["queue_packets"] = summary([stop.depth for stop in queued], ("mean", "max"))
    if queued and "link_utilisation" in instructions:
        numbers["link_utilisation_ratio"] = summary([stop.busy for stop in queued], ("mean", "max"))
    return numbers


def slack_of(key, name, value):
    """Returns how far a published number may be from the exact value."""
    if key == "hop_latency_ns":
        return value // BUCKET + 1 if name in ("p50", "p99") else 0
    # The mean of whole numbers differs by rounding alone. The average of a port's utilisation is
    # kept in whole numbers.
    return 1e-9 if key == "queue_packets" else UNIT + value / 1000
