# SPDX-License-Identifier: BSD-3-Clause
"""What nodes say of themselves by INT, at the sink: in reports, windows, messages and on the command line. The
truth are the packets on the links, read by a decoder of its own, and when the kernel saw them there."""

import json
import random
import socket
import statistics
import struct
import subprocess
import sys
import time

from lib import RawPort, Subscriber, audit_ok, check, drops, equal, main, need, quiet, test
from test_cli import PROGRAM
from test_int import A4, A6, B4, B6, MD, NAMES, Wire, chain_of, int_rule, qos_of, sockets
import int_frames

NAMES = [*NAMES, "queue", "link_utilisation"]
BURST, BURSTS, RATE_BPS = 30, 3, 1_000_000
NONE = {"hop_latency": 2**32 - 1, "queue": 2**24 - 1, "utilisation": 2**32 - 1}


class TimedWire(Wire):
    """Keeps when each frame came, too."""

    def __init__(self, node, name):
        self.times = []
        super().__init__(node, name)

    def run(self):
        receive = self.port.receive

        def timed(limit_s):
            got = receive(limit_s)
            if got:
                self.times.append(got[1])
            return got
        self.port.receive = timed
        super().run()

    def told(self, port):
        """(time, frame, telemetry) of each packet to this port that has INT."""
        found = []
        for at, frame in zip(list(self.times), list(self.frames)):
            packet = int_frames.packet_of(frame)
            if packet and packet.dport == port and packet.dscp == MD["dscp"]:
                found.append((at, frame, int_frames.behind_transport("2.1", packet.payload)))
        return found


def send_bursts(chain, source, destination, port):
    server, client = sockets(chain, 2, source, destination, port)  # SOCK_DGRAM
    for burst in range(BURSTS):
        for i in range(BURST):
            client.sendto(bytes([burst, i]) * 100, (destination, port))
        for i in range(BURST):
            equal(server.recv(2000), bytes([burst, i]) * 100, f"datagram {i} of burst {burst}")
    server.close()
    client.close()


def same_numbers(hop, said, keys):
    """A hop of a window has the mean, least and most of what packets on the link said."""
    for key, name, unit in keys:
        values = [node[name] / unit for node in said if node[name] != NONE[name]]
        equal(key in hop, bool(values), f"{key} of {hop['from']} → {hop['to']}")
        if not values:
            continue
        rounding = 0.5 if key == "hop_latency_ns" else 1e-9 * max(1, *values)
        check(abs(hop[key]["mean"] - statistics.fmean(values)) <= rounding, key, hop[key], values)
        equal(hop[key]["max"], max(values), f"greatest {key}")
        if "min" in hop[key]:
            equal(hop[key]["min"], min(values), f"least {key}")


KEYS = [("hop_latency_ns", "hop_latency", 1), ("queue_packets", "queue", 1),
        ("link_utilisation_ratio", "utilisation", 10000)]


RAW = [("node_id", "node_id", None), ("ts_ns", "ingress_ns", None), ("ingress_port", "ingress_port", None),
       ("egress_port", "egress_port", None), ("hop_latency_ns", "hop_latency", None),
       ("queue_id", "queue_id", 255), ("queue_packets", "queue", NONE["queue"]),
       ("link_utilisation", "utilisation", NONE["utilisation"])]


def look_at_queue(hop, before, behind):
    """The kernel saw each packet on both sides of the node with the queue: how long it was there, and how many
    others were."""
    went_in, came_out = [at for at, *_ in before], [at for at, *_ in behind]
    latency = [out - at for at, out in zip(went_in, came_out)]
    waiting = [sum(out > at for out in came_out[:i]) for i, at in enumerate(went_in)]
    check(max(latency) > 30e6 and max(waiting) > BURST / 2, "the queue was used", latency, waiting)
    mean = hop["hop_latency_ns"]["mean"]
    check(0 < mean < statistics.fmean(latency) + 1e6, "what the node said is within what the kernel saw", hop)
    check(hop["delay_ns"]["mean"] > mean - 1e6, "the link is behind the node", hop)
    if "queue_packets" not in hop:  # the node tells nothing of its queue
        return
    # The node takes a packet from the device some time after the kernel saw it, and sends it some time late.
    check(abs(mean - statistics.fmean(latency)) < 15e6, hop, statistics.fmean(latency))
    check(abs(hop["queue_packets"]["mean"] - statistics.fmean(waiting)) < 5, hop, statistics.fmean(waiting))
    check(abs(hop["queue_packets"]["max"] - max(waiting)) < 8, hop, max(waiting))
    # The last packet of a burst waited for all before it.
    bits = statistics.fmean(len(frame) for _, frame, _ in behind) * 8
    check(hop["hop_latency_ns"]["max"] < 1.3 * BURST * bits / RATE_BPS * 1e9, hop, bits)
    check(0 < hop["link_utilisation_ratio"]["mean"] < hop["link_utilisation_ratio"]["max"] <= 1, hop)


def look_at_messages(subscriber, said):
    """Each packet's values are published, and the windows of a second have all of them."""
    reports, windows = [], []
    while sum(w["reports"] for w in windows) < len(said):
        message = subscriber.receive(4)
        check(message, f"{len(reports)} reports, {len(windows)} windows")
        topic, body = message
        if topic == "report.1":
            reports.append(body["int_report"])
        elif topic == "qos.1" and body["qos_report"]["window_ns"] == 10**9 and not body["qos_report"]["stale"]:
            windows.append(body["qos_report"])
    equal([[(key, hop[key]) for key, name, none in RAW if key in hop] for r in reports for hop in r["hops"]],
          [[(key, node[name]) for key, name, none in RAW if node[name] != none] for node, _ in said], "reports")
    equal([(r["e2e"]["hop_latency_ns"], r["e2e"]["ts_ns"], "queue_packets" in r["e2e"]) for r in reports],
          [(s["hop_latency"], s["ingress_ns"], False) for _, s in said], "what the source said")
    at = 0
    for window in windows:
        part, at = said[at:at + window["reports"]], at + window["reports"]
        for hop, side in zip(window["hops"], (1, 0)):
            same_numbers(hop, [both[side] for both in part], KEYS)


def typed(node, *words):
    done = subprocess.run([PROGRAM, "-c", node.api, *words], capture_output=True, text=True, check=True,
                          timeout=10)
    return done.stdout


def look_at_command_line(sink, report, window="run"):
    listed = json.loads(typed(sink, "--json", "qos", "1", "--window", window))["qos"][0]["hops"]
    heading, header, *rows = typed(sink, "qos", "1", "--window", window).splitlines()
    check("loss" not in header, "INT counts nothing", header)
    for hop, row in zip(report["hops"], rows):
        equal([{key: one.get(key) for key, *_ in KEYS} for one in listed if one["from"] == hop["from"]],
              [{key: hop.get(key) for key, *_ in KEYS}], "--json")
        check(row.lstrip().startswith(f"{hop['from']} → {hop['to']}"), heading, row)
        for key, text in (("hop_latency_ns", "hop latency mean"), ("queue_packets", "queue mean"),
                          ("link_utilisation_ratio", "link used mean")):
            check(text in header or not any(key in one for one in report["hops"]), key, header)
        for key, shown in (("queue_packets", "{:.6g}"), ("link_utilisation_ratio", "{:.4g} %")):
            value = hop[key]["mean"] * (100 if "ratio" in key else 1) if key in hop else None
            check(value is None or f" {shown.format(value)} " in f"{row} ", key, row)
    return rows


@test()
def int_metrics_are_what_the_packets_say_and_the_queue_did(workspace):
    need()
    chain = chain_of(workspace, {"dc": MD}, "dc", "dc",
                     queues=[(1, {"rate_bps": RATE_BPS, "queue_packets": 100})])
    source_node, transit, sink = chain.nodes
    wires = [TimedWire(transit, "west"), TimedWire(sink, "west")]
    chain.install(int_rule(1, "udp", A6, B6, dst_port=7000, instructions=NAMES))
    subscriber = Subscriber(sink.publisher)
    subscriber.wait_connected(sink)
    send_bursts(chain, A6, B6, 7000)
    quiet(sink)
    n = BURST * BURSTS
    report = qos_of(sink, 1, n)
    before, behind = (wire.told(7000) for wire in wires)
    equal((len(before), len(behind), report["reports"], report["path"]), (n, n, n, [1, 2, 3]), "packets")
    said = [tuple(telemetry.hops) for *_, telemetry in behind]
    for hop, side in zip(report["hops"], (1, 0)):
        same_numbers(hop, [both[side] for both in said], KEYS)
        check(not {"loss_ratio", "lost_packets", "tx_packets", "node_lost_packets"} & set(hop), "no counts", hop)
    equal({"queue_packets", "link_utilisation_ratio"} & set(report["hops"][0]), set(), "the source has no queue")
    check("hop_latency_ns" not in report["e2e"], report["e2e"])
    look_at_queue(report["hops"][1], before, behind)
    look_at_messages(subscriber, said)
    look_at_command_line(sink, report)
    equal(drops(transit), {}, "drops")
    audit_ok(source_node, transit, sink)


@test()
def int_metrics_of_nodes_without_ids_have_no_path_and_say_so(workspace):
    need()
    chain = chain_of(workspace, {"dc": MD}, "dc", "dc")
    sink = chain.nodes[2]
    chain.install(int_rule(1, "udp", A6, B6, dst_port=7000, instructions=["hop_latency", "ingress_timestamp"]))
    send_bursts(chain, A6, B6, 7000)
    report = qos_of(sink, 1, BURST * BURSTS)
    equal(("path" in report, report["flags"], len(report["hops"])), (False, ["nodes_unknown"], 2), "no ids")
    equal([(hop.get("from"), hop.get("to")) for hop in report["hops"]], [(None, None), (None, 3)], "ends of hops")
    check(all(hop["hop_latency_ns"]["mean"] > 0 and "delay_ns" in hop for hop in report["hops"]), report)
    typed_text = typed(sink, "qos", "1", "--window", "run")
    check("path unknown" in typed_text and "? → 3" in typed_text, typed_text)


def from_another(chain, version, hops, number):
    """A frame with INT as another maker's node sends it, the newest hop first. None: not available."""
    wide = 8 if version == "2.1" else 4
    stack = b""
    for hop in hops:
        fields = [(hop["node_id"], 4), (hop["ports"], 4), (hop["hop_latency"], 4), (hop["queue"], 4),
                  (hop["ingress_ns"], wide), (hop["utilisation"], 4)]
        stack += b"".join(b"\xff" * size if value is None else (value % 256**size).to_bytes(size, "big")
                          for value, size in fields)
    words = len(stack) // 4 // len(hops)
    if version == "2.1":
        head = struct.pack("!BBBBHHHH", 0x20, 0, words, 4, 0xF900, 0, 0, 0)
        shim = struct.pack("!BBBB", 0x10, (len(head) + len(stack)) // 4, 0, 0)
    else:
        head = struct.pack("!BBBBHH", 0x10, 0, words, 4, 0xF900, 0)
        shim = struct.pack("!BBBB", 1, 0, (len(head) + len(stack)) // 4 + 1, 0)
    body = shim + head + stack + f"datagram {number}".encode()
    udp = struct.pack("!HHHH", 9000, 7000, 8 + len(body), 0) + body  # no checksum
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, MD["dscp"] << 2, 20 + len(udp), number, 0, 60, 17, 0,
                     socket.inet_aton(A4), socket.inet_aton(B4))
    ip = ip[:10] + struct.pack("!H", 0xFFFF - int_frames._sum(ip)) + ip[12:]
    addresses = [bytes.fromhex(host.mac.replace(":", "")) for host in chain.hosts[::-1]]
    return b"".join(addresses) + b"\x08\x00" + ip + udp


def some_hop(node_id, at_ns, random_):
    """What a node says, as the test's own dict and as on the wire; each value may be missing."""
    said = {"hop_latency": random_.choice([None, random_.randrange(2**20), random_.randrange(2**31)]),
            "queue": random_.choice([None, random_.randrange(1000), random_.randrange(2**23)]),
            "utilisation": random_.choice([None, random_.randrange(10001)])}
    queue = None if said["queue"] is None else node_id % 256 << 24 | said["queue"]
    wire = {"node_id": node_id, "ports": node_id << 16 | node_id + 1, "ingress_ns": at_ns, **said, "queue": queue}
    return {name: NONE[name] if value is None else value for name, value in said.items()}, wire


def of_another_maker(workspace, version):
    need()
    chain = chain_of(workspace, {"dc": {**MD, "version": version}}, "dc")
    sink, random_, n = chain.nodes[1], random.Random(version), 60
    sink.client.transaction([{"int_request": int_rule(1, "udp", A4, B4, dst_port=7000)}])
    link, far = RawPort(chain.nodes[0].namespace, "east"), Wire(chain.hosts[1], "eth0")
    said, delays = [], []
    for number in range(n):
        now_ns = time.time_ns()
        stamps = [now_ns - random_.randrange(10**9, 17 * 10**8)]  # 32 bits tell 2.1 s
        for _ in range(2):
            stamps.append(stamps[-1] + random_.randrange(10**8))
        made = [some_hop(7 + i, stamps[i], random_) for i in range(3)]
        said.append([hop for hop, _ in made])
        delays.append([b - a for a, b in zip(stamps, stamps[1:])])
        link.send(from_another(chain, version, [wire for _, wire in made[::-1]], number))
    report = qos_of(sink, 1, n)
    equal((report["path"], [hop["from"] for hop in report["hops"]]), ([7, 8, 9, 2], [7, 8, 9]), "path")
    for i, hop in enumerate(report["hops"]):
        same_numbers(hop, [nodes[i] for nodes in said], KEYS)
        check(not {"loss_ratio", "lost_packets", "tx_packets", "node_lost_packets"} & set(hop), "no counts", hop)
    for i, hop in enumerate(report["hops"][:2]):
        values = [delay[i] for delay in delays]
        equal((hop["delay_ns"]["min"], hop["delay_ns"]["max"]), (min(values), max(values)), "delays")
        check(abs(hop["delay_ns"]["mean"] - statistics.fmean(values)) <= 1, hop, values)
    check(0.7e9 < report["hops"][2]["delay_ns"]["min"] <= report["hops"][2]["delay_ns"]["max"] < 7e9, report)
    look_at_command_line(sink, report)
    equal([p.payload for p in far.packets(lambda p: p.dport == 7000)],
          [f"datagram {number}".encode() for number in range(n)], "what the host got")
    audit_ok(sink)


@test()
def metrics_of_int_2_1_of_another_maker_are_what_its_nodes_said(workspace):
    of_another_maker(workspace, "2.1")


@test()
def metrics_of_int_1_0_of_another_maker_are_what_its_nodes_said(workspace):
    of_another_maker(workspace, "1.0")


if __name__ == "__main__":
    sys.exit(main())
