# SPDX-License-Identifier: BSD-3-Clause
"""INT-label between kernel hosts over IPv4: what nodes export, and what hosts send and get."""

import collections
import contextlib
import json
import select
import socket
import struct
import sys
import threading
import time

from lib import (PACKET_OUTGOING, SO_RCVBUFFORCE, SO_TIMESTAMPNS, Chain, InNamespace, RawPort, audit_ok, check,
                 drops, equal, main, need, ports, quiet, run, since_start, test, until)
from test_cli import PROGRAM

A4, B4 = "192.0.2.1", "192.0.2.2"
TO = 32767
INTERVAL_NS, SLOT_NS = 100_000_000, 25_000_000
LABEL = {"method": "label", "interval_ns": 50_000_000, "rest_ns": 50_000_000}
Item = collections.namedtuple("Item", "node ingress egress ingress_us egress_us enqueue_us depth queue_us dequeue")
Export = collections.namedtuple("Export", "source destination sport dport protocol specific items")


def chain_of(workspace, profile):
    """Hosts and four nodes that label; each end exports to a socket of its own namespace."""
    chain = Chain(workspace, 4, profiles={"lb": profile})
    for node in chain.nodes:
        for number, port in enumerate(node.config["ports"], 1):
            port["id"] = 10 * node.config["node"]["id"] + number
            if port["side"] == "network":
                port["profile"] = "lb"
    for node in (chain.nodes[0], chain.nodes[-1]):
        node.config["export"] = [{"format": "label", "to": f"127.0.0.1:{TO}"}]
        run("ip", "-n", node.namespace, "link", "set", "lo", "up")
    chain.address_ipv4()
    return chain


def whole_us(field):
    """Of the 48 bits on the wire, the time near now."""
    now = time.time_ns() // 1000
    return now + ((int.from_bytes(field, "big") - now + 2**47) % 2**48) - 2**47


def read_item(data):
    low, ingress, egress, high, *rest = struct.unpack("!BBBB6s6sIB3sIB3s", data)
    in_us, out_us, enqueue_us, zero, depth, queue_us, zero2, dequeue = rest
    equal((zero, zero2), (0, 0), "bytes without a field")
    number = lambda field: int.from_bytes(field, "big")  # noqa: E731
    return Item(high << 8 | low, ingress, egress, whole_us(in_us), whole_us(out_us), enqueue_us, number(depth), queue_us,
                number(dequeue))


def read_export(data):
    size, family = (4, socket.AF_INET) if len(data) % 32 == 16 else (16, socket.AF_INET6)
    head = 2 * size + 8
    source, destination, sport, dport, protocol, n, flags, zero = struct.unpack_from(f"!{size}s{size}sHHBBBB", data)
    equal((len(data), zero, flags & 0x7F), (head + 32 * n, 0, 0 if size == 4 else 0x40), "length and flags")
    items = [read_item(data[head + 32 * i:head + 32 * i + 32]) for i in range(n)]
    return Export(socket.inet_ntop(family, source), socket.inet_ntop(family, destination), sport, dport, protocol,
                  bool(flags & 0x80), items)


class Receiver:
    """What the two ends of the chain export."""

    def __init__(self, chain):
        self.sockets = []
        for node in (chain.nodes[0], chain.nodes[-1]):
            with InNamespace(node.namespace):
                self.sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            self.sockets[-1].setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
            self.sockets[-1].bind(("127.0.0.1", TO))

    def close(self):
        for one in self.sockets:
            one.close()

    def take(self):
        found = []
        while ready := select.select(self.sockets, [], [], 0.2)[0]:
            found += [read_export(one.recv(65536)) for one in ready]
        return found


class Capture(threading.Thread):
    """IPv4 packets at a host's interface: (ns, is outgoing, frame)."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.socket = RawPort(host.namespace, "eth0").socket
        self.seen, self.going = [], True
        self.start()

    def run(self):
        while self.going or select.select([self.socket], [], [], 0)[0]:
            if not select.select([self.socket], [], [], 0.1)[0]:
                continue
            frame, controls, _, sender = self.socket.recvmsg(65536, 256)
            seconds, ns = next(struct.unpack("qq", data) for _, kind, data in controls if kind == SO_TIMESTAMPNS)
            if frame[12:14] == b"\x08\x00":
                self.seen.append((seconds * 1000000000 + ns, sender[2] == PACKET_OUTGOING, frame))

    def end(self):
        self.going = False
        self.join()
        self.socket.close()
        return self


def frames(capture, outgoing):
    return collections.Counter(frame for _, out, frame in capture.seen if out == outgoing)


def traffic(chain, seconds):
    """iperf3 and ping together. Returns how many segments TCP sent again."""
    left, right = chain.hosts
    server = right.spawn("iperf3", "-s", "-1", "-B", B4, log="iperf3.log")
    until(lambda: ":5201 " in right.run("ss", "-Hltn"), 5, "iperf3 listens")
    ping = left.spawn("ping", "-q", "-i", "0.005", "-w", str(seconds + 1), "-M", "do", "-s", "1472", B4, log="ping.log")
    said = json.loads(left.run("iperf3", "-J", "-c", B4, "-t", str(seconds), "-b", "8M"))
    server.wait(5)
    equal(ping.wait(10), 0, "ping")
    return said["end"]["sum_sent"]["retransmits"]


def missed(chain):
    return sum(since_start(node, name, key) for node in chain.nodes for name in ports(node)
               for key in ("rx_missed", "rx_errors"))


def labels(chain):
    return sum(port["labels_by_interval"] + port["labels_by_chance"] + port["labels_by_flow"]
               for node in chain.nodes for port in node.call("label_get")["ports"])


def start(chain):
    """Returns the receiver, and how many labels are from before."""
    receiver = Receiver(chain)
    chain.start()
    for node in chain.nodes:
        quiet(node)
    receiver.take()
    return receiver, labels(chain)


def run_once(chain, seconds):
    """Starts the nodes and stops them. Returns (captures, exports, packets sent again)."""
    receiver, before = start(chain)
    captures = [Capture(host) for host in chain.hosts]
    again = traffic(chain, seconds)
    for node in chain.nodes:
        quiet(node)
    left, right = (capture.end() for capture in captures)
    for node in chain.nodes:
        equal(drops(node), {}, f"drops of {node.name}")
    audit_ok(*chain.nodes)
    for sender, far in ((left, right), (right, left)):  # patch: not even the TTL changes
        lost = frames(sender, True) - frames(far, False)
        equal(frames(far, False) - frames(sender, True), collections.Counter(), "packets that nobody sent")
        check(sum(lost.values()) <= missed(chain), "packets lost", len(lost), missed(chain))
    exports = receiver.take()
    equal(sum(len(export.items) for export in exports), labels(chain) - before, "items exported and labels counted")
    exports = [export for export in exports if export.source in (A4, B4)]
    for node in chain.nodes:
        node.stop()
    receiver.close()
    return (left, right), exports, again


def steady(captures):
    """The intervals in which packets flow both ways without a pause, those beside them among it."""
    slots = [{ns // SLOT_NS for ns, out, _ in capture.seen if not out} for capture in captures]
    busy, per = slots[0] & slots[1], INTERVAL_NS // SLOT_NS
    return {slot // per for slot in busy if slot % per == 0 and all(slot + k in busy for k in range(-1, per + 1))}


@test(path=True, limit_s=90)
def four_nodes_see_each_busy_port_in_each_interval_and_hosts_notice_nothing(workspace):
    need("iperf3", "ping")
    chain = chain_of(workspace, LABEL)
    captures, exports, again = run_once(chain, 4)
    seen, counts = collections.defaultdict(set), collections.Counter()
    first = min(ns for capture in captures for ns, _, _ in capture.seen) // 1000
    last = max(ns for capture in captures for ns, _, _ in capture.seen) // 1000
    for export in exports:
        check({export.source, export.destination} == {A4, B4} and export.protocol in (1, 6), "a flow", export)
        check(not export.specific and 1 <= len(export.items) <= 4, "items", export)
        for item in export.items:
            check(item.ingress // 10 == item.node == item.egress // 10 and item.ingress != item.egress, "ports", item)
            check(first - 1000000 < item.ingress_us <= item.egress_us < last + 1000000, "times", item)
            seen[item.node, item.egress].add(item.egress_us * 1000 // INTERVAL_NS)
            counts[item.node, item.egress] += 1
    busy = {(i, 10 * i + side) for i in (1, 2, 3, 4) for side in (1, 2)}  # those to the hosts, too
    equal(set(seen), busy, "ports that are seen")
    wanted = steady(captures)
    check(len(wanted) >= 10, "the machine paused the traffic too often", len(wanted))
    for port in busy:
        equal(sorted(wanted - seen[port]), [], f"intervals in which port {port} was not seen")
        rate = counts[port] / ((last - first) / 1e6)
        check(10 < rate <= 20.5, "labels a second", port, rate)
    for node in chain.nodes:
        node.config["profiles"]["lb"]["interval_ns"] = 3600 * 10**9
    _, nothing, without = run_once(chain, 4)
    check(len(nothing) <= 8, "labels where none is due but the first", len(nothing))
    # Each packet arrived in both runs. TCP also sends again what a pause of the machine has delayed.
    return (f"{len(wanted)} intervals, {len(exports)} datagrams; "
            f"TCP sent {again} packets again with labels, {without} without")


@test(path=True)
def a_rule_gives_the_whole_path_and_label_set_more_labels(workspace):
    need()
    chain = chain_of(workspace, LABEL)
    receiver, _ = start(chain)
    chain.nodes[0].call("int_request", ns_id=7, src_ip=A4, dst_ip=B4, protocol="udp", dst_port=7000,
                        method="label", mode="count", mode_setting=2)
    with contextlib.ExitStack() as stack:
        made = []
        for host in chain.hosts:
            with InNamespace(host.namespace):
                made.append(stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
        client, server = made
        server.settimeout(5)
        server.bind((B4, 7000))
        for i in range(20):
            client.sendto(bytes([i]) * 100, (B4, 7000))
            equal(server.recv(200), bytes([i]) * 100, "what the host sent")
        found = [export for export in receiver.take() if export.specific]
        equal([[item.node for item in export.items] for export in found], 10 * [[4, 3, 2, 1]], "paths, the newest first")
        equal([[item.egress for item in export.items] for export in found], 10 * [[42, 32, 22, 12]], "ports")

        id_of = chain.nodes[0].config["ports"][1]["id"]
        equal(chain.nodes[0].call("label_set", ports=[{"id": id_of, "shift": 5}]),
              {"ports": [{"id": id_of, "shift": 5}]}, "the reply")
        chain.nodes[0].call("int_delete", ns_id=7)
        run(PROGRAM, "-c", chain.nodes[0].api, "rule", "add", "--src", A4, "--dst", B4, "--dport", "7001", "--proto", "udp",
            "--ns", "8")
        equal(chain.nodes[0].call("int_get", ns_id=8)["rule"]["method"], "label", "the method of the node's ports")
        before = {node.name: node.call("label_get")["ports"] for node in chain.nodes}
        end = time.monotonic() + 1
        while time.monotonic() < end:
            client.sendto(b"x", (B4, 7000))
            time.sleep(0.0005)
        grown = [next(port["labels_by_interval"] for port in node.call("label_get")["ports"] if port["name"] == "east")
                 - next(port["labels_by_interval"] for port in before[node.name] if port["name"] == "east")
                 for node in chain.nodes[:2]]
        check(grown[1] <= 21 and grown[0] > 4 * grown[1], "labels of both nodes", grown)
    audit_ok(*chain.nodes)


if __name__ == "__main__":
    sys.exit(main())
