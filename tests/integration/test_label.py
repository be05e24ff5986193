# SPDX-License-Identifier: BSD-3-Clause
"""INT-label between kernel hosts over IPv4: what nodes export, and what hosts send and get."""

import collections
import contextlib
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


def serve(host):
    server = host.spawn("iperf3", "-s", "-1", "-B", B4, log="iperf3.log")
    until(lambda: ":5201 " in host.run("ss", "-Hltn"), 5, "iperf3 listens")
    return server


def traffic(chain, seconds):
    """iperf3 and ping together."""
    left, right = chain.hosts
    server = serve(right)
    ping = left.spawn("ping", "-q", "-i", "0.005", "-w", str(seconds + 1), "-M", "do", "-s", "1472", B4, log="ping.log")
    left.run("iperf3", "-c", B4, "-t", str(seconds), "-b", "8M")
    server.wait(5)
    equal(ping.wait(10), 0, "ping")


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
    """Starts the nodes and stops them. Returns (captures, exports)."""
    receiver, before = start(chain)
    captures = [Capture(host) for host in chain.hosts]
    traffic(chain, seconds)
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
    return (left, right), exports


def steady(captures):
    """The intervals in which packets flow both ways without a pause, those beside them among it."""
    slots = [{ns // SLOT_NS for ns, out, _ in capture.seen if not out} for capture in captures]
    busy, per = slots[0] & slots[1], INTERVAL_NS // SLOT_NS
    return {slot // per for slot in busy if slot % per == 0 and all(slot + k in busy for k in range(-1, per + 1))}


@test(path=True, limit_s=90)
def four_nodes_see_each_busy_port_in_each_interval_and_hosts_notice_nothing(workspace):
    need("iperf3", "ping")
    chain = chain_of(workspace, LABEL)
    captures, exports = run_once(chain, 4)
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
    _, nothing = run_once(chain, 4)
    check(len(nothing) <= 8, "labels where none is due but the first", len(nothing))
    return f"{len(wanted)} intervals, {len(exports)} datagrams"


PHASES, SEGMENTS = 12, 400  # a phase takes about half a second
OFF, ON = 0, 16  # S, where T is 2^16 x 25 ms


def tcp_counters(host):
    """The kernel's counters of TCP in the host's namespace."""
    lines = []
    with InNamespace(host.namespace):
        for name in ("snmp", "netstat"):
            with open(f"/proc/thread-self/net/{name}", encoding="ascii") as f:
                lines += [line.split() for line in f]
    return collections.Counter({name: int(value) for names, values in zip(lines[::2], lines[1::2])
                                if names[0].startswith("Tcp") for name, value in zip(names[1:], values[1:])})


def tcp_phase(chain, shift):
    """What happens while the first host's TCP sends some segments and the ports have this S."""
    for node in chain.nodes:
        node.call("label_set", ports=[{"id": port["id"], "shift": shift} for port in node.call("label_get")["ports"]])

    def now():
        found = tcp_counters(chain.hosts[0])
        # A segment that a pause of the machine has delayed, not lost, arrives twice: the other host says so, of
        # several segments at once where they came together.
        found["lost"] = found["RetransSegs"] - found["TCPDSACKRecvSegs"]
        return found

    before, labels_before, missed_before = now(), labels(chain), missed(chain)

    def done():
        grown = now() - before
        return grown["OutSegs"] >= (2 * SEGMENTS if grown["lost"] > 0 else SEGMENTS) and grown

    return until(done, 20, "segments") + collections.Counter(
        labels=labels(chain) - labels_before, missed=missed(chain) - missed_before)


@test(limit_s=90, alone=True)
def tcp_sends_no_segment_again_because_of_labels(workspace):
    """One connection, far below what the nodes forward, while labels go on and off. Beside other tests, pauses of the
    machine made TCP send segments again."""
    need("iperf3")
    chain = chain_of(workspace, {"method": "label", "interval_ns": 25_000_000 << ON, "rest_ns": 25_000_000 << ON})
    receiver, _ = start(chain)
    left, right = chain.hosts
    server = serve(right)
    client = left.spawn("iperf3", "-c", B4, "-t", "80", "-b", "8M", "-l", "1200", "-N", log="client.log")
    until(lambda: tcp_counters(left)["OutSegs"] > SEGMENTS, 10, "the connection sends")
    sums = {OFF: collections.Counter(), ON: collections.Counter()}
    for number in range(PHASES):
        sums[(OFF, ON)[number % 2]] += tcp_phase(chain, (OFF, ON)[number % 2])
    client.terminate()
    client.wait(5)
    server.wait(5)
    without, with_labels = sums[OFF], sums[ON]
    said = {name: (without[name], with_labels[name])
            for name in ("OutSegs", "RetransSegs", "TCPFastRetrans", "lost", "missed", "labels")}
    # Eight ports: about 320 labels a second, of some hundred packets of both directions.
    check(without["labels"] == 0 and with_labels["labels"] >= 80 * PHASES / 2, "labels", said)
    for node in chain.nodes:
        equal(drops(node), {}, f"drops of {node.name}")
    # Where packets were lost or came out of order, TCP sends fast again. What a node's interface missed was lost before it.
    for name in ("lost", "TCPFastRetrans"):
        check(with_labels[name] <= without[name] + with_labels["missed"], name, said)
    receiver.close()
    return "of TCP without and with labels: " + ", ".join(f"{name} {a}, {b}" for name, (a, b) in said.items())


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
        found = []

        def are_all_there():
            found.extend(export for export in receiver.take() if export.specific)
            return len(found) >= 10

        until(are_all_there, 5, lambda: f"exports: {found}")
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
