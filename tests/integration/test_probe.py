# SPDX-License-Identifier: BSD-3-Clause
"""Source-routed probes over four nodes: what a monitor reads, and what it hears of a lost probe. The packets are made and
read here, from docs/wire-probe.md."""

import collections
import struct
import sys
import time

from frames import ethernet
from lib import Chain, RawPort, audit_ok, check, drops, equal, main, need, paused, ports, quiet, test, until

PROBE, FEEDBACK, RECOVERY = 0x17, 0x19, 0x21
MONITOR, FIRST = bytes((10, 0, 0, 100)), bytes((10, 0, 0, 1))
WEST, EAST = 1, 2  # ports by their numbers; the monitor is in the west
TIMEOUT_S = 0.4
PROFILE = {"method": "probe", "monitor_port": WEST, "timeout_ns": int(TIMEOUT_S * 1e9)}
Packet = collections.namedtuple("Packet", "dscp ttl id kind entries hops")
Hop = collections.namedtuple("Hop", "node depth values")


def request(number, entries, kind=1):
    """A frame: entries are (next port, first, end)."""
    payload = struct.pack("!HH", number << 1 | kind, len(entries))
    payload += b"".join(bytes(entry) for entry in entries) + bytes(4)
    return framed(PROBE, payload)


def framed(dscp, payload):
    body = struct.pack("!HHHH", 40000, 7777, 8 + len(payload), 0) + payload
    body = body[:6] + struct.pack("!H", checksum4(body)) + payload
    head = struct.pack("!BBHHHBBH", 0x45, dscp << 2, 20 + len(body), 1, 0, 64, 17, 0) + MONITOR + FIRST
    head = head[:10] + struct.pack("!H", ~ones_sum(head) & 0xFFFF) + head[12:]
    return ethernet(head + body, ethertype=0x0800)


def ones_sum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def checksum4(body):
    return ~ones_sum(MONITOR + FIRST + struct.pack("!HH", 17, len(body)) + body) & 0xFFFF


def read(frame):
    """Checks lengths and checksums, too."""
    ip = frame[14:14 + struct.unpack_from("!H", frame, 16)[0]]
    equal((ip[0], ip[9], ip[12:16], ip[16:20]), (0x45, 17, MONITOR, FIRST), "IPv4")
    equal((ones_sum(ip[:20]), checksum4(ip[20:26] + b"\0\0" + ip[28:])),
          (0xFFFF, struct.unpack_from("!H", ip, 26)[0]), "checksums")
    equal(struct.unpack_from("!HHH", ip, 20), (40000, 7777, len(ip) - 20), "UDP")
    data = ip[28:]
    meta = struct.unpack_from("!H", data)[0]
    if ip[1] >> 2 == FEEDBACK:
        equal(len(data), 2, "bytes of feedback")
        return Packet(FEEDBACK, ip[8], meta >> 1, meta & 1, [], [])
    n, at = struct.unpack_from("!H", data, 2)[0], 4
    entries = [tuple(data[at + 3 * i:at + 3 * i + 3]) for i in range(n)]
    at += 3 * n
    n, at = struct.unpack_from("!H", data, at)[0], at + 2
    heads = [struct.unpack_from("!BBH", data, at + 4 * i) for i in range(n)]
    at += 4 * n
    n, at = struct.unpack_from("!H", data, at)[0], at + 2
    values = list(struct.unpack_from(f"!{n}I", data, at))
    equal((at + 4 * n, sum(head[2] for head in heads)), (len(data), n), "bytes and values")
    hops = []
    for node, depth, count in heads:
        hops.append(Hop(node, depth, values[:count]))
        values = values[count:]
    return Packet(ip[1] >> 2, ip[8], meta >> 1, meta & 1, entries, hops)


class Monitor:
    def __init__(self, host):
        self.port = RawPort(host.namespace, "eth0")

    def send(self, *args, **kwargs):
        self.port.send(request(*args, **kwargs))

    def take(self, n, limit_s=5.0):
        """n packets of probes, and when each came."""
        found, end = [], time.monotonic() + limit_s
        while len(found) < n:
            got = self.port.receive(max(0, end - time.monotonic()))
            if got is None:
                break
            frame = got[0]
            if frame[12:14] == b"\x08\x00" and frame[15] >> 2 in (PROBE, FEEDBACK, RECOVERY):
                found.append((time.monotonic(), read(frame)))
        return found

    def nothing(self, limit_s):
        equal(self.take(1, limit_s), [], "packets that nobody asked for")


def chain_of(workspace):
    """A monitor, four nodes, and a host in the east."""
    chain = Chain(workspace, 4, link="veth", profiles={"gp": PROFILE})
    for node in chain.nodes:
        for port in node.config["ports"]:
            if node is not chain.nodes[-1] or port["name"] == "west":
                port.update(side="network", profile="gp")
    chain.start()
    for node in chain.nodes:
        quiet(node)
    return chain


def received(nodes):
    return [[ports(node)[name]["rx_packets"] for name in ("west", "east")] for node in nodes]


# To the fourth node and back: it has no port with probes in the east.
PATH = [(EAST, 0, 2), (EAST, 0, 2), (EAST, 0, 2), (WEST, 0, 2)]


def values_are_right(hops, before, after):
    for hop, least, most in zip(hops, before, after):
        check(len(hop.values) == 2 and all(a <= v <= b for a, v, b in zip(least, hop.values, most)),
              "values between what the ports counted before and after", hop, least, most)


@test(path=True, limit_s=60)
def a_probe_walks_its_entries_over_four_nodes_and_comes_back(workspace):
    need()
    chain = chain_of(workspace)
    monitor = Monitor(chain.hosts[0])
    for number in range(1, 21):
        before = received(chain.nodes)
        monitor.send(number, PATH)
        (_, feedback), (_, probe) = monitor.take(2)
        equal(feedback, Packet(FEEDBACK, 64, number, 1, [], []), "feedback of the first node")
        equal((probe.dscp, probe.ttl, probe.id, probe.entries), (PROBE, 61, number, []), "the probe")
        equal([(hop.node, hop.depth) for hop in probe.hops], [(n, 0) for n in (1, 2, 3, 4)], "hops")
        values_are_right(probe.hops, before, received(chain.nodes))
    # Hits of a rule are at its namespace.
    for node in chain.nodes:
        node.call("int_request", ns_id=9, src_ip="2001:db8::1", dst_ip="2001:db8::2", protocol="udp", dst_port=7000,
                  trace_type="0x7000E000", mode="count", mode_setting=1000)
    monitor.send(30, [(port, 8, 11) for port, _, _ in PATH], kind=0)
    equal([hop.values for hop in monitor.take(2)[1][1].hops], 4 * [[0, 0, 0]], "hits")
    monitor.nothing(2 * TIMEOUT_S)  # each copy was confirmed
    for i, node in enumerate(chain.nodes):
        port = ports(node)["west"]
        equal(port["events"]["probe_filled"], 21, "probes that the node filled")
        equal(port["events"]["probe_held"], 21 if i < 3 else 0, "copies")
        equal(drops(node), {"probe_confirmed": 21} if i < 3 else {}, f"drops of {node.name}")
        equal(node.call("node_get")["probes_held"], 0, "copies that wait")
    audit_ok(*chain.nodes)


@test(path=True, limit_s=60)
def a_lost_probe_comes_back_from_the_last_node_that_had_it(workspace):
    need()
    chain = chain_of(workspace)
    monitor = Monitor(chain.hosts[0])
    last = chain.nodes[3]
    with paused(last.process):
        before, sent = received(chain.nodes[:3]), time.monotonic()
        monitor.send(7, PATH)
        (_, feedback), (at, alarm) = monitor.take(2)
        equal(feedback.dscp, FEEDBACK, "feedback of the first node")
        equal((alarm.dscp, alarm.id, alarm.entries), (RECOVERY, 7, PATH[3:]), "the recovery packet")
        equal([hop.node for hop in alarm.hops], [1, 2, 3], "hops up to the lost one")
        values_are_right(alarm.hops, before, received(chain.nodes[:3]))
        check(TIMEOUT_S <= at - sent < TIMEOUT_S + 1, "when it came", at - sent)
        equal(ports(chain.nodes[2])["east"]["events"]["probe_recovered"], 1, "at the third node")
    late = monitor.take(1)[0][1]  # the link was slow only
    equal((late.dscp, [hop.node for hop in late.hops]), (PROBE, [1, 2, 3, 4]), "the late probe")
    until(lambda: drops(chain.nodes[2]).get("probe_stray") == 1, 5, "its feedback comes too late")

    # The monitor goes on behind the third node, over another node's port that does not exist.
    monitor.send(8, [*PATH[:3], (9, 0, 2)])
    packets = [packet for _, packet in monitor.take(2)]
    equal([(p.dscp, len(p.hops)) for p in packets], [(FEEDBACK, 0), (RECOVERY, 3)], "a refused probe")
    equal(drops(last), {"probe_no_port": 1}, "drops of the last node")

    # A host's probe, and its feedback, go nowhere.
    host = RawPort(chain.hosts[1].namespace, "eth0")
    host.send(request(9, [(WEST, 0, 2)]), framed(FEEDBACK, struct.pack("!H", 9 << 1)))
    until(lambda: drops(last).get("host_telemetry") == 2, 5, "what the host sent was dropped")
    monitor.nothing(2 * TIMEOUT_S)
    audit_ok(*chain.nodes)


if __name__ == "__main__":
    sys.exit(main())
