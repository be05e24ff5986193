# SPDX-License-Identifier: BSD-3-Clause
"""INT between kernel hosts: what arrives, what the nodes count, and what is on the links between them."""

import contextlib
import hashlib
import json
import os
import random
import socket
import sys
import threading
import time

import frames as fr
import int_frames
import netlab
from lib import (Chain, InNamespace, RawPort, audit_ok, check, drops, equal, main, need, pings, ports, quiet, reasons,
                 rule, run, test, until)

PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsight")
A6, B6, A4, B4 = "2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"
MD = {"method": "int", "version": "2.1", "dscp": 32, "max_hops": 6}
NAMES = ["node_id", "ports", "hop_latency", "ingress_timestamp", "egress_timestamp"]


def chain_of(workspace, profiles, *of_links, queues=(), **more):
    """Nodes on veth; of_links names the profile of each link between two of them. queues: of the east ports of
    these nodes (by index), settings of an egress queue."""
    chain = Chain(workspace, len(of_links) + 1, link="veth", profiles=profiles, **more)
    for i, name in enumerate(of_links):
        chain.nodes[i].config["ports"][1]["profile"] = name
        chain.nodes[i + 1].config["ports"][0]["profile"] = name
    for i, queue in queues:
        chain.nodes[i].config["ports"][1].update(queue)
    chain.address_ipv4()
    return chain.start()


def int_rule(ns_id, protocol, source, destination, **more):
    return {"ns_id": ns_id, "src_ip": source, "dst_ip": destination, "protocol": protocol,
            "method": "int", "instructions": NAMES, "mode": "count", "mode_setting": 1, **more}


class Wire(threading.Thread):
    """Keeps what arrives at a port of a node or host, until its interface is gone."""

    def __init__(self, node, name):
        super().__init__(daemon=True)
        self.port, self.frames = RawPort(node.namespace, name), []
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                got = self.port.receive(0.1)
                if got:
                    self.frames.append(got[0])

    def packets(self, wanted):
        """The IP packets so far of which `wanted` says true."""
        found = map(int_frames.packet_of, list(self.frames))
        return [packet for packet in found if packet and wanted(packet)]


def sockets(chain, kind, source, destination, port):
    """A listening socket at the right host, and one at the left."""
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    made = []
    for host, address in ((chain.hosts[1], (destination, port)), (chain.hosts[0], (source, 0))):
        with InNamespace(host.namespace):
            made.append(socket.socket(family, kind))
        made[-1].settimeout(5)
        made[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made[-1].bind(address)
    return made


def send_udp(chain, source, destination, port, n=40, tclass=0):
    """Datagrams of several sizes; returns the class that each arrived with."""
    server, client = sockets(chain, socket.SOCK_DGRAM, source, destination, port)
    is_ipv6 = ":" in source
    level, kind = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if is_ipv6 else (socket.IPPROTO_IP, socket.IP_TOS)
    server.setsockopt(level, socket.IPV6_RECVTCLASS if is_ipv6 else socket.IP_RECVTOS, 1)
    client.setsockopt(level, kind, tclass)
    classes = []
    for i in range(n):
        payload = random.randbytes((1, 2, 333, 1400)[i % 4])
        client.sendto(payload, (destination, port))
        got, controls, _, _ = server.recvmsg(2000, 64)
        equal(got, payload, f"payload of datagram {i}")
        classes.append(int.from_bytes(controls[0][2], sys.byteorder))
    return classes


def send_tcp(chain, source, destination, port, n=400000):
    """Sends n bytes over one connection and compares them."""
    server, client = sockets(chain, socket.SOCK_STREAM, source, destination, port)
    for one in (server, client):  # less on the way than the nodes' rings hold
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
    payload, got = random.randbytes(n), hashlib.sha256()
    server.listen()
    client.connect((destination, port))
    peer, _ = server.accept()
    peer.settimeout(10)

    def read():
        while part := peer.recv(65536):
            got.update(part)

    reader = threading.Thread(target=read)
    reader.start()
    client.sendall(payload)
    client.shutdown(socket.SHUT_WR)
    reader.join(20)
    equal(got.digest(), hashlib.sha256(payload).digest(), "payload of the connection")
    for one in (server, client, peer):
        one.close()


def iperf(chain, destination, port, *words):
    """Sends a megabyte. Returns how many packets of it the far host had, at least."""
    left, right = chain.hosts
    server = right.spawn("iperf3", "-s", "-1", "-p", str(port), log="iperf3.log")
    until(lambda: f":{port} " in right.run("ss", "-Hltn"), 5, "iperf3 listens")
    said = json.loads(left.run("iperf3", "-J", "-c", destination, "-p", str(port), "-n", "1M", "-w", "64K",
                               *words))
    server.wait(5)
    got, start = said["end"]["sum_received"]["bytes"], said["start"]
    return got // (start["test_start"]["blksize"] if "-u" in words else start["tcp_mss_default"])


def loses_nothing(chain, far, ns_id, wanted, run_once):
    """Runs without INT and with it. A machine that does other work may lose packets before the source, in a
    host or between two nodes (rx_missed), so that programs count losses and send again. INT may lose none:
    each packet that the source took arrives at the far host, and a receiver's checks pass."""
    source, *others = chain.nodes

    def missed():
        return sum(port["rx_missed"] for node in others for port in ports(node).values())

    for setting in (2**32 - 1, 1):
        source.call("int_update", ns_id=ns_id, mode="count", mode_setting=setting)
        before, missed_before, seen = counters(source, ns_id), missed(), len(far.frames)
        least = run_once()
        for node in chain.nodes:
            quiet(node)
        took, got = (counters(source, ns_id)[key] - before[key] for key in ("rx_packets", "int_packets"))
        check(took >= least > 0, f"{took} packets at the source, {least} or more at the far program")
        check(got == took if setting == 1 else got <= 1, f"{got} of {took} packets with INT, of each {setting}")

        def arrived(seen=seen):
            return sum(packet is not None and wanted(packet)
                       for packet in map(int_frames.packet_of, far.frames[seen:]))
        until(lambda took=took, before=missed_before: took - (missed() - before) <= arrived() <= took, 3,
              lambda took=took: f"{took} packets, {missed()} missed by nodes, {arrived()} at the far host",
              interval_s=0.2)


def counters(node, ns_id):
    return node.call("int_get", ns_id=ns_id)["counters"]


def qos_of(node, ns_id, reports):
    """The whole run, as soon as it has all reports."""
    def full():
        run_ = node.call("qos_get", ns_id=ns_id, window="run")["qos"]
        return run_ and run_[0]["reports"] >= reports and run_[0]
    return until(full, 5, lambda: f"{reports} reports: {node.call('qos_get', ns_id=ns_id)}")


def behind(wire, version, wanted):
    """What the packets on a link say, in order: (packet, telemetry)."""
    return [(p, int_frames.behind_transport(version, p.payload)) for p in wire.packets(wanted)]


def check_hops(telemetry, ids, begin_ns, what):
    """The newest hop is the first; times go on from the source, and 64 bits hold the whole time."""
    equal([hop["node_id"] for hop in telemetry.hops], ids, what)
    latest = time.time_ns() + 10**9
    for hop in telemetry.hops:
        equal((hop["ingress_port"], hop["egress_port"]), (1, 2), f"ports, {what}")
        equal(hop["egress_ns"] - hop["ingress_ns"], hop["hop_latency"], f"latency, {what}")
        check(begin_ns - 10**9 < hop["ingress_ns"] < latest, what, hop)
    # Four processes on one machine; their clocks are set by the same one.
    for newer, older in zip(telemetry.hops, telemetry.hops[1:]):
        check(newer["ingress_ns"] > older["egress_ns"] - 10**6, what, telemetry.hops)


FLOWS = [(1, "udp", A6, B6, 7000), (2, "tcp", A6, B6, 7001), (3, "udp", A4, B4, 7000),
         (4, "tcp", A4, B4, 7001)]


@test(path=True)
def int_2_1_of_kernel_hosts_is_on_the_links_and_in_the_metrics_and_nowhere_else(workspace):
    need("iperf3")
    begin_ns = time.time_ns()
    chain = chain_of(workspace, {"dc": MD}, "dc", "dc")
    source, transit, sink = chain.nodes
    wires = [Wire(transit, "west"), Wire(sink, "west")]
    far = Wire(chain.hosts[1], "eth0")
    # At nodes behind the source the mark stands where the class was; a rule means the host's class.
    chain.install(*[int_rule(n, kind, a, b, dst_port=port, **({"dscp": 46} if kind == "udp" else {}))
                    for n, kind, a, b, port in FLOWS])
    for ns_id, kind, a, b, port in FLOWS:
        if kind == "udp":
            equal(send_udp(chain, a, b, port, tclass=0xB8), [0xB8] * 40, "class at the far host")
        else:
            send_tcp(chain, a, b, port)
        quiet(sink)
        sent = counters(source, ns_id)["int_packets"]
        check(sent == 40 if kind == "udp" else sent > 250, kind, sent)
        report = qos_of(sink, ns_id, sent)
        equal((counters(transit, ns_id)["hop_entries"], counters(sink, ns_id)["sink_packets"]),
              (sent, sent), f"packets of rule {ns_id}")
        equal((report["path"], len(report["hops"])), ([1, 2, 3], 2), "path")
        for hop in (*report["hops"], report["e2e"]):
            check(hop["delay_ns"]["mean"] > -10**6 and "jitter_ns" in hop, hop)
            check("loss_ratio" not in hop and "lost_packets" not in hop, "INT counts nothing", hop)
        for wire, ids in zip(wires, ([1], [2, 1])):
            found = behind(wire, "2.1", lambda p: p.version == (6 if ":" in a else 4)
                           and p.dport == port and p.dscp == 32)
            equal(len(found), sent, f"packets of rule {ns_id} on the link behind node {ids[0]}")
            for packet, telemetry in found:
                check_hops(telemetry, ids, begin_ns, f"rule {ns_id}")
                equal((telemetry.bitmap, telemetry.hop_words, telemetry.remaining), (0xEC00, 7, 6 - len(ids)),
                      "header")
                equal((telemetry.flags, telemetry.dscp), ({"E": 0, "M": 0}, 0xB8 >> 2 if kind == "udp" else 0))
    for ns_id, kind, _, b, port in FLOWS:
        words = ("-u", "-b", "40M", "-l", "1400", "-S", "0xB8") if kind == "udp" else ()
        loses_nothing(chain, far, ns_id,
                      lambda p, b=b, port=port, kind=kind: (p.version, p.proto, p.dport, p.dscp) == (
                          6 if ":" in b else 4, *((int_frames.UDP, port, 46) if kind == "udp" else
                                                  (int_frames.TCP, port, 0))),
                      lambda b=b, port=port, words=words: iperf(chain, b, port, *words))
    quiet(sink)
    equal([p for p in far.packets(lambda p: True) if p.dscp == 32], [], "marked packets at a host")
    total = sum(counters(source, ns_id)["int_packets"] for ns_id, *_ in FLOWS)
    equal(ports(sink)["west"]["events"]["stripped"], total, "stripped")
    audit_ok(*chain.nodes)
    for node in chain.nodes:
        equal(drops(node), {}, f"drops of {node.name}")


@test()
def explain_says_which_packets_cannot_carry_int(workspace):
    need("ping")
    chain = chain_of(workspace, {"dc": MD}, "dc")
    source, sink = chain.nodes
    chain.install(*(int_rule(n, kind, A4, B4, mode_setting=setting, dst_port=7000 if kind == "udp" else 0)
                    for n, kind, setting in ((1, "icmp", 1), (3, "udp", 1000))))
    for setting in (1, 1000):
        for node in chain.nodes:
            node.call("int_update", ns_id=1, mode="count", mode_setting=setting)
        chain.hosts[0].run("ping", "-q", "-c", "4", "-i", "0.02", B4)
        until(lambda: counters(source, 1)["no_room_option"] >= 4, 5, "packets that were due")
        quiet(source)
        quiet(sink)
        count = counters(source, 1)["no_room_option"]
        found = reasons(source, 1)
        equal((set(found), found["no_carrier"]["packets"]), ({"no_carrier"}, count), found)
        check("TCP and UDP" in found["no_carrier"]["text"], found)
        found = reasons(sink, 1)
        equal((set(found), found["no_carrier"].get("packets")), ({"no_carrier"}, None), found)
    # Fragments have no place; whole packets have.
    server, client = sockets(chain, socket.SOCK_DGRAM, A4, B4, 7000)
    for size in (5000, 10, 10):
        client.sendto(bytes(size), (B4, 7000))
        server.recv(9000)
    quiet(sink)
    found, count = reasons(source, 3), counters(source, 3)
    equal(count["int_packets"], 1, count)
    equal((set(found), found["no_carrier"]["packets"]), ({"no_carrier", "sampled_out", "sink_elsewhere"},
                                                         count["no_room_option"]), found)
    server.close()
    client.close()


@test()
def a_rule_whose_method_no_port_has_is_said_at_once(workspace):
    need("ping")
    chain = chain_of(workspace, {"dc": MD}, "dc")
    source = chain.nodes[0]
    reply = source.call("int_request", **rule(1, A6, B6, "icmp", mode="count", mode_setting=1))
    equal({key: reply.get(key) for key in ("no_port_of_method", "mtu_needed_bytes", "ports_below_mtu")},
          {"no_port_of_method": True, "mtu_needed_bytes": None, "ports_below_mtu": None}, reply)
    check("no_port_of_method" not in source.call("int_request", **int_rule(2, "icmp", A4, B4)), "a rule of method int")
    said = run(PROGRAM, "-c", source.api, "rule", "add", "--src", A6, "--dst", B6, "--proto", "udp", "--method", "flexint")
    check("no network port has its method" in said, said)
    chain.hosts[0].run("ping", "-q", "-c", "3", "-i", "0.02", B6)
    check("other_method" in reasons(source, 1), reasons(source, 1))


def explains_reports_alone(workspace, mode, **more):
    need()
    chain = chain_of(workspace, {"dc": {"method": "int", "version": "2.1", "mode": mode, **more}}, "dc", "dc")
    transit, sink = chain.nodes[1:]
    sink.stop()
    sink.config["export"] = [{"to": "127.0.0.1:32766"}]
    sink.start()
    chain.install(int_rule(1, "udp", A4, B4, dst_port=7000))
    send_udp(chain, A4, B4, 7000, 4)
    quiet(sink)
    for node in chain.nodes:
        found = reasons(node, 1)
        equal(set(found), {"no_metrics"} if node is sink else {"no_metrics", "no_receiver"}, (node.name, found))
        check(f"mode {mode}" in found["no_metrics"]["text"], found)
    transit.call("int_update", ns_id=1, hop_enabled=False)
    check("hop_disabled" in reasons(transit, 1), reasons(transit, 1))


@test()
def explain_says_that_mode_mx_has_reports_and_no_metrics(workspace):
    explains_reports_alone(workspace, "mx", dscp=33)


@test()
def explain_says_that_mode_xd_has_reports_and_no_metrics(workspace):
    explains_reports_alone(workspace, "xd")


@test(path=True)
def a_host_that_sends_the_mark_of_int_is_marked_anew_and_counted(workspace):
    need()
    chain = chain_of(workspace, {"dc": MD}, "dc")
    source, sink = chain.nodes
    wire = Wire(sink, "west")
    chain.install(int_rule(1, "udp", A6, B6, dst_port=7000))
    for a, b, port in ((A6, B6, 7000), (A6, B6, 7001), (A4, B4, 7000)):
        equal(send_udp(chain, a, b, port, tclass=32 << 2 | 1), [1] * 40, "class: the mark is gone, ECN is not")
    equal(ports(source)["west"]["events"]["host_telemetry_stripped"], 120, "counted")
    equal(ports(sink)["west"]["events"]["bad_telemetry"], 0, "telemetry that is none")
    marked = behind(wire, "2.1", lambda p: p.dscp == 32)
    equal([(p.version, p.dport, t.dscp) for p, t in marked], [(6, 7000, 0)] * 40, "packets with telemetry")
    audit_ok(source, sink)


VXLAN = {"method": "int", "version": "2.1", "carrier": "vxlan-gpe"}


def add_vxlan(chain, name, number, address):
    """A VXLAN device on each host, whose tunnel is between the hosts' own addresses."""
    ends = (A6, B6) if ":" in address else (A4, B4)
    for i, host in enumerate(chain.hosts):
        run("ip", "-n", host.namespace, "link", "add", name, "type", "vxlan", "id", str(number), "dstport",
            "4789", "local", ends[i], "remote", ends[1 - i])
        run("ip", "-n", host.namespace, "link", "set", name, "mtu", "1400", "addrgenmode", "none")
        run("ip", "-n", host.namespace, "addr", "add", f"10.{number}.0.{i + 1}/24", "dev", name)
        run("ip", "-n", host.namespace, "link", "set", name, "up")


@test(path=True)
def vxlan_of_kernel_hosts_is_vxlan_gpe_with_int_between_the_nodes(workspace):
    need("ping", "iperf3")
    chain = chain_of(workspace, {"vx": VXLAN}, "vx", "vx")
    source, transit, sink = chain.nodes
    wires = [Wire(transit, "west"), Wire(sink, "west")]
    far = Wire(chain.hosts[1], "eth0")
    add_vxlan(chain, "vx4", 4, A4)
    add_vxlan(chain, "vx6", 6, A6)
    chain.install(int_rule(4, "udp", A4, B4, dst_port=4789), int_rule(6, "udp", A6, B6, dst_port=4789))
    for n in (4, 6):
        pings(chain.hosts[0], 5, "-q", "-i", "0.2", "-s", "1300", f"10.{n}.0.2")
        send_tcp(chain, f"10.{n}.0.1", f"10.{n}.0.2", 7001)
        quiet(sink)
        sent = counters(source, n)["int_packets"]
        check(sent > 250, sent)
        equal(qos_of(sink, n, sent)["path"], [1, 2, 3], "path")
        for wire, ids in zip(wires, ([1], [2, 1])):
            found = [int_frames.in_gpe(p) for p in wire.packets(lambda p: p.version == n and p.dport == 4790)]
            equal(len(found), sent, "packets of VXLAN-GPE")
            for telemetry, upgraded in found:
                check(upgraded, "the packet was plain VXLAN")
                equal([hop["node_id"] for hop in telemetry.hops], ids, "nodes")
                inner = int_frames.packet_of(telemetry.after)
                check(inner is None or inner.dport == 7001, "the inner frame", inner)
            equal(wire.packets(lambda p: p.version == n and p.dport == 4789), [], "plain VXLAN")
    for n in (4, 6):
        loses_nothing(chain, far, n, lambda p, n=n: (p.version, p.dport) == (n, 4789),
                      lambda n=n: iperf(chain, f"10.{n}.0.2", 5201))
    quiet(sink)
    equal(far.packets(lambda p: p.dport == 4790), [], "VXLAN-GPE at a host")
    audit_ok(*chain.nodes)
    for node in chain.nodes:
        equal(drops(node), {}, f"drops of {node.name}")


@test(path=True)
def each_side_of_a_border_between_int_2_1_and_1_0_sees_only_its_own(workspace):
    need()
    old = {"method": "int", "version": "1.0", "dscp": 23}
    chain = chain_of(workspace, {"dc": MD, "old": old}, "dc", "old")
    source, border, sink = chain.nodes
    new_side, old_side = Wire(border, "west"), Wire(sink, "west")
    chain.install(int_rule(1, "udp", A6, B6, dst_port=7000), int_rule(2, "udp", A4, B4, dst_port=7000))
    for ns_id, a, b in ((1, A6, B6), (2, A4, B4)):
        equal(send_udp(chain, a, b, 7000), [0] * 40, "class")
        equal(qos_of(border, ns_id, 40)["path"], [1, 2], "path before the border")
        equal(qos_of(sink, ns_id, 40)["path"], [2, 3], "path behind it")
        equal((counters(border, ns_id)["sink_packets"], counters(border, ns_id)["int_packets"]), (40, 40),
              "the border is a sink and a source")
    for wire, version, dscp, node in ((new_side, "2.1", 32, 1), (old_side, "1.0", 23, 2)):
        found = behind(wire, version, lambda p: p.dport == 7000)
        equal([p.dscp for p, _ in found], [dscp] * 80, "marks")
        equal([[hop["node_id"] for hop in t.hops] for _, t in found], [[node]] * 80, "nodes")
        equal({len(t.after) for _, t in found}, {1, 2, 333, 1400}, "payloads")
    audit_ok(*chain.nodes)


@test(path=True)
def a_link_without_room_carries_packets_without_int_and_the_node_says_so(workspace):
    need()
    chain = chain_of(workspace, {"dc": MD}, "dc", net_mtu=1500)
    source, sink = chain.nodes
    wire = Wire(sink, "west")
    chain.install(int_rule(1, "udp", A6, B6, dst_port=7000), int_rule(2, "tcp", A6, B6, dst_port=7001))
    send_udp(chain, A6, B6, 7000)  # 1,400 bytes and 48 of headers: 48 more fit, 44 are needed
    send_tcp(chain, A6, B6, 7001)
    quiet(sink)
    equal(counters(source, 1)["int_packets"], 40, "packets with room")
    said = counters(source, 2)
    check(said["no_room_mtu"] > 200 and said["mtu_needed_bytes"] >= 1516, said)
    check(said["int_packets"] + said["no_room_mtu"] == said["rx_packets"], said)
    for packet, telemetry in behind(wire, "2.1", lambda p: p.dscp == 32):
        check(len(telemetry.hops) == (1 if packet.dport == 7000 else 1 - telemetry.flags["M"]), telemetry)
    audit_ok(source, sink)


def malformed(head):
    """INT 2.1 packets that are not what they claim."""
    good = head + bytes.fromhex("200001078000000000000000") + bytes(4)
    yield from (good[:4], good[:14], b"", good[:1] + b"\xff" + good[2:], b"\x50" + good[1:],
                good[:4] + b"\x70" + good[5:], good[:6] + b"\x05" + good[7:], good[:6] + b"\0" + good[7:])


@test(path=True)
def packets_that_claim_int_and_are_malformed_reach_no_host_and_are_counted(workspace):
    need()
    chain = chain_of(workspace, {"dc": MD}, "dc")
    source, sink = chain.nodes
    right = chain.hosts[1]
    receiver = RawPort(right.namespace, "eth0")
    before = ports(sink)["west"]
    frames = [fr.udp_frame(A6, B6, 4000, 7000, data, destination=fr.mac(right.mac))
              for data in (*malformed(b"\x10\x04\0\0"), b"plain")]
    for i, frame in enumerate(frames[:-1]):
        frames[i] = frame[:14] + b"\x68\0" + frame[16:]  # DSCP 32
    RawPort(source.namespace, "east").send(*frames)
    # Of UDP: the kernels of both hosts send reports of multicast groups.
    equal(receiver.collect(1, 3, lambda f: f[12:14] == b"\x86\xdd" and f[20] == int_frames.UDP), frames[-1:],
          "what the host gets")
    after = ports(sink)["west"]
    equal(after["drops"]["unstrippable"] - before["drops"]["unstrippable"], len(frames) - 1, "dropped by name")
    equal(after["events"]["bad_telemetry"], len(frames) - 1, "counted")
    audit_ok(sink)


if __name__ == "__main__":
    sys.exit(main())
