# SPDX-License-Identifier: BSD-3-Clause
"""INT-label where a router of Linux fragments labelled packets: hosts get what other hosts sent."""

import random
import select
import socket
import struct
import sys

from lib import (Host, InNamespace, Node, RawPort, audit_ok, check, drops, equal, iface, main, need, ports, quiet, run,
                 test, until, veth)
from test_label import A4, TO, Capture, read_export

B4 = "198.51.100.2"
PORT = 7000
N, PAYLOAD = 200, 1400
NARROW = 1440  # bytes of an IP packet behind the router: with an item, this payload has 1,462
MORE, INT_TYPE = 0x2000, 253


class Net:
    """host1 - node 1 - a router of Linux - node 2 - host2. The router's second link is narrow."""

    def __init__(self, workspace, workers=1):
        self.hosts = [Host(workspace, "host1", "2001:db8::1"), Host(workspace, "host2", "2001:db8::2")]
        names = [workspace.namespace(f"n{i}") for i in (1, 2)]
        self.router = workspace.namespace("router")
        run("ip", "netns", "exec", self.router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        veth(self.hosts[0].namespace, "eth0", names[0], "west")
        veth(names[0], "east", self.router, "west", 1800)
        veth(self.router, "east", names[1], "west", NARROW)
        veth(names[1], "east", self.hosts[1].namespace, "eth0")
        for host, ipv4, side in zip(self.hosts, (A4, B4), ("west", "east")):
            gateway = ipv4.rsplit(".", 1)[0] + ".254"
            run("ip", "-n", host.namespace, "addr", "add", f"{ipv4}/24", "dev", "eth0")
            run("ip", "-n", host.namespace, "route", "add", "default", "via", gateway)
            run("ip", "-n", self.router, "addr", "add", f"{gateway}/24", "dev", side)
        mtus = ((1500, 1800), (NARROW, 1500))
        self.nodes = [Node(workspace, i + 1, [
            {**iface("west", "west", "network" if i else "host", mtus[i][0]), "id": 10 * (i + 1) + 1, "rx_queues": workers},
            {**iface("east", "east", "host" if i else "network", mtus[i][1]), "id": 10 * (i + 1) + 2},
        ], name, workers=[i, 1 - i][:workers], control_core=1 - i, profiles={"lb": {"method": "label", "interval_ns": 0, "rest_ns": 0}},
            export=[{"format": "label", "to": f"127.0.0.1:{TO}"}]) for i, name in enumerate(names)]
        for node, port in zip(self.nodes, ("east", "west")):
            next(one for one in node.config["ports"] if one["name"] == port)["profile"] = "lb"

    def start(self):
        """Returns the socket that gets what node 2 exports. Hosts and router know each other then."""
        with InNamespace(self.nodes[1].namespace):
            told = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        told.bind(("127.0.0.1", TO))
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_ready()
        until(lambda: "1 received" in run("ip", "netns", "exec", self.hosts[0].namespace, "sh", "-c",
                                          f"ping -c 1 -W 1 {B4} || true"), 10, "the hosts reach each other")
        for node in self.nodes:
            quiet(node)
            node.at_start = ports(node)
        take(told)
        return told

    def fragments_made(self):
        names, values = [line.split() for line in run("ip", "netns", "exec", self.router, "cat", "/proc/net/snmp").splitlines()
                         if line.startswith("Ip:")]
        counts = dict(zip(names[1:], map(int, values[1:])))
        return counts["FragOKs"], counts["FragCreates"]


def take(told):
    found = []
    while select.select([told], [], [], 0.2)[0]:
        found.append(read_export(told.recv(65536)))
    return found


def datagrams(net, source=A4):
    """Two sockets: the first sends packets that may be fragmented."""
    made = []
    for host in net.hosts:
        with InNamespace(host.namespace):
            made.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    made[0].setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_MTU_DISCOVER, IP_PMTUDISC_DONT
    made[0].bind((source, 0))
    made[1].settimeout(5)
    made[1].bind((B4, PORT))
    return made


def after_the_router(frame):
    """What a host sent, as it is behind a router: another TTL, and the checksum that belongs to it."""
    header = bytearray(frame[14:34])
    header[8] -= 1
    header[10:12] = bytes(2)
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack("!H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
    return bytes(header) + frame[34:]


def udp_of(capture, outgoing):
    return [frame for _, out, frame in capture.seen if out == outgoing and frame[23] == 17]


def send(net, n=N, source=A4):
    """Sends numbered datagrams, of which each arrives as it was sent."""
    client, server = datagrams(net, source)
    numbers = random.Random(16)
    for i in range(n):
        sent = i.to_bytes(4, "big") + numbers.randbytes(PAYLOAD - 4)
        client.sendto(sent, (B4, PORT))
        equal(server.recv(2048), sent, f"datagram {i}")
    client.close()
    server.close()


@test(path=True)
def labelled_packets_that_a_router_fragmented_reach_the_host_as_they_were_sent(workspace):
    need("ping")
    net = Net(workspace)
    told = net.start()
    before = net.fragments_made()
    captures = [Capture(host) for host in net.hosts]
    send(net)
    left, right = (capture.end() for capture in captures)
    equal(tuple(b - a for a, b in zip(before, net.fragments_made())), (N, 2 * N), "packets that the router fragmented")
    equal([frame[14:] for frame in udp_of(right, False)], [after_the_router(frame) for frame in udp_of(left, True)],
          "packets at the far host, with their headers")

    found = [export for export in take(told) if export.dport == PORT]
    equal([(export.source, export.destination, export.protocol) for export in found], N * [(A4, B4, 17)], "datagrams")
    equal({tuple((item.node, item.ingress, item.egress) for item in export.items) for export in found},
          {((2, 21, 22), (1, 11, 12))}, "items, the newest first")
    west = ports(net.nodes[1])["west"]
    equal((west["events"]["fragments"], west["events"]["reassembled"], west["copies"]), (2 * N, N, N), "counters")
    equal([drops(node) for node in net.nodes], [{}, {"fragment_joined": 2 * N}], "drops")
    audit_ok(*net.nodes)
    one_that_stays_alone(net)
    return f"{N} packets, {2 * N} fragments, {len(found)} datagrams"


def one_that_stays_alone(net):
    """It waits, and goes without any packet that would wake the node."""
    node = net.nodes[1]
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + 80, 7, MORE, 64, INT_TYPE, 0, socket.inet_aton(A4),
                         socket.inet_aton(B4))
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header = header[:10] + struct.pack("!H", ~total & 0xFFFF) + header[12:]
    quiet(node)
    before = ports(node)["east"]["tx_packets"]
    RawPort(net.router, "east").send(bytes(12) + b"\x08\0" + header + bytes(80))
    until(lambda: ports(node)["east"]["queued"] == 1, 2, "the fragment waits")
    audit_ok(node)
    until(lambda: drops(node).get("fragment_expired"), 5, "the fragment expires")
    check(ports(node)["east"]["queued"] == 0 and ports(node)["east"]["tx_packets"] == before, "what is left", ports(node))
    audit_ok(node)


@test()
def fragments_of_a_packet_come_to_one_worker_of_several(workspace):
    need("ping")
    net = Net(workspace, 2)
    sources = [f"192.0.2.{i}" for i in range(10, 26)]
    for source in sources:
        run("ip", "-n", net.hosts[0].namespace, "addr", "add", f"{source}/24", "dev", "eth0")
    net.start()
    node = net.nodes[1]

    def received():
        return [worker["rx_packets"] for worker in node.call("node_get")["workers"]]

    before = received()
    for source in sources:
        send(net, 10, source)
    grown = [now - then for now, then in zip(received(), before)]
    check(min(grown) >= 20, "packets of the workers", grown)
    equal(drops(node), {"fragment_joined": 20 * len(sources)}, "drops")
    audit_ok(*net.nodes)
    return f"packets of the workers: {grown}"


if __name__ == "__main__":
    sys.exit(main())
