# SPDX-License-Identifier: BSD-3-Clause
"""INT-label and its competitors as packets in the lab: the bytes of figures 21 and 22 are those of the links in these runs.
label_rivals.py says which packets there are, and counts their bytes without a run: the two must agree.

A probe that a switch sends is a packet over one link, and what a switch sends on is a relay of it (docs/lab.md). All ToR
switches of a fat tree are alike, so that HULA's run is the round of one ToR.
"""

import random
import tempfile

import label_rivals as rivals
from label_runs import result_of

TREE_NAMES = {"tor": "edge", "leaf": "agg", "spine": "core"}
MOST = 100_000            # entries of traffic in a scenario
SPACING_S = 1e-6          # between pings of a run
FLOWS = 6                 # of each host, to other pods
PACKETS, PAYLOAD = 30, 64  # of a path that is traced
HOPS, MOST_HOPS = range(1, 11), 12
# What an item of INT-label has: node, ports, times and queue. 32 bytes of INT 2.1.
INSTRUCTIONS = ["node_id", "ports", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp"]


def scenario(name, k, traffic, profile=None):
    """A fat tree whose links have the profile, and this traffic."""
    link = {"delay_ns": 1000, **({"profile": "p"} if profile else {})}
    return {"name": f"{name}-{k}", "seed": 1, "duration_s": 1, "forwarding": "shortest_path", "keep_windows": False, "expect": [],
            "topology": {"kind": "fat_tree", "k": k, "addresses": "ipv4", "link": link}, "traffic": traffic,
            **({"profiles": {"p": profile}, "label": {}} if profile else {})}


def run(made):
    """Each packet arrives."""
    with tempfile.TemporaryDirectory(prefix="hs-001-") as folder:
        result = result_of(made, folder)
    if any(entry["delivered"] != entry["sent"] or not entry["sent"] for entry in result["traffic"]):
        raise RuntimeError(f"{made['name']}: packets were lost")
    return result


def link_bytes(name, k, traffic):
    return sum(link["sent_bytes"] for link in run(scenario(name, k, traffic))["links"])


# ---- figure 21 ----


def crossing(name, by, at, to, payload):
    """A packet over one link. Hosts that stand for switches have IPv6, whose header is 20 bytes longer than IPv4's."""
    sent = {"rate_pps": 1, "packets": 1} if by is None else {"type": "relay", "after": by}
    return {"name": name, "from": at, "to": to, "payload_bytes": payload - rivals.IPV6_MORE, **sent}


def hula(k):
    def name(switch):
        kind, *place = switch.split("-")
        return "-".join([TREE_NAMES[kind], *place])

    traffic = [crossing(f"p{place}", None if by is None else f"p{by}", name(at), name(to), rivals.ITEM * items)
               for place, (by, at, to, items) in enumerate(rivals.hula_round(k, k // 2, 1, 1))]
    return rivals.tree(k)["tors"] * link_bytes("hula", k, traffic)


def int_path(k, paths):
    traffic = []
    for n, part in enumerate(rivals.int_path_parts(paths)):
        links = len(part) - 1
        traffic += [crossing(f"p{n}-{i}", f"p{n}-{i - 1}" if i else None, part[i], part[i + 1],
                             rivals.ITEM * (i + 1) + rivals.ROUTE * (links - i - 1)) for i in range(links)]
    return link_bytes("int-path", k, traffic)


def hosts(k):
    half = range(1, k // 2 + 1)
    return [(pod, edge, n) for pod in range(1, k + 1) for edge in half for n in half]


def pingmesh(k):
    """Each server pings the server of its own number at each ToR, and at its own ToR the next one."""
    host, half, traffic = "h-{}-{}-{}".format, k // 2, []
    tors = [place[:2] for place in hosts(k) if place[2] == 1]
    for pod, edge, n in hosts(k):
        for to in tors:
            traffic.append({"name": f"p{len(traffic)}", "type": "ping", "protocol": "icmp", "from": host(pod, edge, n),
                            "to": host(*to, n % half + 1 if to == (pod, edge) else n), "payload_bytes": 0, "rate_pps": 1,
                            "packets": 1, "start_s": round(len(traffic) % MOST * SPACING_S, 9)})
    return sum(link_bytes("pingmesh", k, traffic[i:i + MOST]) for i in range(0, len(traffic), MOST))


def int_label(k):
    """The bytes of INT-label on all links where each port labels once: T is longer than the run. Hosts send to hosts of other
    pods at random. The ports that had packets stand for all."""
    rng, host, traffic = random.Random(k), "h-{}-{}-{}".format, []
    for place in hosts(k):
        for _ in range(FLOWS):
            to = rng.choice([pod for pod in range(1, k + 1) if pod != place[0]]), rng.randint(1, k // 2), rng.randint(1, k // 2)
            traffic.append({"name": f"p{len(traffic)}", "from": host(*place), "to": host(*to), "rate_pps": 30,
                            "payload_bytes": PAYLOAD, "type": "poisson", "stop_s": 0.9})
    label = run(scenario("int-label", k, traffic, {"method": "label", "interval_ns": 10**10, "rest_ns": 10**10}))["label"]
    between_switches = label["labels"] - len({entry["to"] for entry in traffic})  # the others are at ports to hosts
    return round(label["telemetry_bytes"] / between_switches * 2 * rivals.tree(k)["links"])


# ---- figure 22 ----


def chain(hops, method):
    """A path of `hops` nodes that add an item, and the node where the items end. The first node samples one of ten packets."""
    nodes = [{"id": i + 1, "name": f"n{i}"} for i in range(hops + 1)]
    links = [{"from": a["name"], "to": b["name"], "delay_ns": 1000, "profile": "p"} for a, b in zip(nodes, nodes[1:])]
    rule = {"method": method, "mode": "count", "mode_setting": 10}
    made = {"name": f"path-{method}-{hops}", "seed": 1, "duration_s": 1, "forwarding": "shortest_path", "keep_windows": False,
            "nodes": nodes, "links": links, "expect": [],
            "hosts": [{"name": "x", "at": "n0", "addr": "10.0.0.1"}, {"name": "y", "at": f"n{hops}", "addr": "10.0.0.2"}],
            "traffic": [{"name": "t", "from": "x", "to": "y", "rate_pps": 100, "packets": PACKETS, "payload_bytes": PAYLOAD}]}
    if method == "int":
        return {**made, "profiles": {"p": {"method": "int", "version": "2.1", "mode": "md", "carrier": "tcp_udp", "dscp": 32,
                                         "max_hops": MOST_HOPS}},
                "requests": [{"node": "*", "traffic": "t", "int_request": {**rule, "instructions": INSTRUCTIONS}}]}
    return {**made, "profiles": {"p": {"method": "label", "interval_ns": 10**10, "rest_ns": 10**10, "max_hops": MOST_HOPS}},
            "label": {}, "requests": [{"node": "n0", "traffic": "t", "int_request": rule}]}


def path_bits(hops, method):
    """The bits that telemetry adds to a packet of the flow with the whole path, on the last link."""
    last = run(chain(hops, method))["links"][-1]
    added = last["sent_bytes"] - last["sent_packets"] * (rivals.HEADERS + PAYLOAD)
    return 8 * added / last["telemetry_sent"]


def measure(paths, lengths=HOPS):
    """paths: of INT-path, by k. lengths: of paths that are traced."""
    return {"21": {k: {"INT-label": int_label(k), "INT-path": int_path(k, of), "HULA": hula(k), "Pingmesh": pingmesh(k)}
                   for k, of in paths.items()},
            "22": {hops: {"INT-label": path_bits(hops, "label"), "INT": path_bits(hops, "int")} for hops in lengths}}
