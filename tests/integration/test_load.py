# SPDX-License-Identifier: BSD-3-Clause
"""Real traffic in quantity: rules that change under TCP, links that lose, idle nodes."""

import json
import math
import os
import statistics
import sys
import time

import frames as fr
from lib import (Chain, RawPort, Subscriber, audit_ok, check, drops, equal, main, need, ports,
                 quiet, rule, run, since_start, test, until, veth)

A, B = "2001:db8::1", "2001:db8::2"


class Iperf:
    """Runs one iperf3 transfer from the first host to the second."""

    def __init__(self, chain, *words):
        left, right = chain.hosts
        self.server = right.spawn("iperf3", "-s", "-1", log="server.log")
        until(lambda: ":5201" in right.run("ss", "-ltn"), 5, "iperf3 listens")
        self.output = chain.workspace.path("iperf.json")
        self.client = left.spawn("iperf3", "-c", B, "-J", *words, log="iperf.json")

    def result(self, limit_s=30):
        equal(self.client.wait(limit_s), 0, "iperf3")
        with open(self.output, encoding="utf-8") as f:
            return json.load(f)["end"]


def change_rules(chain, numbers):
    """Makes and deletes one rule of each number on each node, and says how many seconds that took."""
    begin = time.monotonic()
    for number in numbers:
        for node in chain.nodes:
            # Each rule is more specific for the flow of some port, so that the masks in use change,
            # too.
            node.call("int_request", **rule(number, A, B, "tcp", src_port=number, dst_port=5201))
            node.call("int_delete", ns_id=number)
    return time.monotonic() - begin


def sent_in_vain(host):
    """How many segments a receiver told a host that it had got twice: TCP sends again what is not confirmed
    in time, which a pause of the machine delays, too."""
    names, values = (line.split() for line in host.run("cat", "/proc/net/netstat").splitlines()
                     if line.startswith("TcpExt:"))
    return int(dict(zip(names, values))["TCPDSACKRecvSegs"])


@test(limit_s=150, looks=3)
def tcp_at_300_mbit_s_loses_no_packet_while_a_thousand_rules_come_and_go(workspace):
    need("iperf3")
    chain = Chain(workspace).start()
    chain.install(rule(1, A, B, "tcp", dst_port=5201, mode="count", mode_setting=100))
    # The traffic must last longer than the changes on a slow machine, too. Three times what they take
    # without traffic leaves room for the work of the traffic.
    traffic_s = max(8, math.ceil(3 * 20 * change_rules(chain, range(2000, 2050))))
    iperf = Iperf(chain, "-b", "300M", "-t", str(traffic_s))
    changes = range(1000, 2000)
    took = change_rules(chain, changes)
    check(iperf.client.poll() is None,
          f"the changes took {took:.1f} s, longer than the traffic of {traffic_s} s")
    end = iperf.result(traffic_s + 20)
    for node in chain.nodes:
        quiet(node)
        equal(drops(node), {}, f"drops of {node.name}")
        for name, port in ports(node).items():
            equal(port["rx_missed"], 0, f"missed at {node.name} {name}")
    audit_ok(*chain.nodes)
    rate = end["sum_received"]["bits_per_second"] / 1e6
    check(rate > 290, f"only {rate:.0f} Mbit/s")
    again = end["sum_sent"]["retransmits"]
    check(again <= sent_in_vain(chain.hosts[0]), f"{again} retransmissions")
    return (f"{rate:.0f} Mbit/s, {again} needless retransmissions, {2 * len(changes)} changes on each of 4 nodes "
            f"in {took:.1f} s")


def unlimited_tcp(workspace, **links):
    chain = Chain(workspace, **links).start()
    chain.install(rule(1, A, B, "tcp", dst_port=5201, mode="count", mode_setting=10))
    end = Iperf(chain, "-t", "2").result()
    for node in chain.nodes:
        quiet(node)
    audit_ok(*chain.nodes)
    lost = [drops(node) for node in chain.nodes]
    missed = [sum(p["rx_missed"] for p in ports(node).values()) for node in chain.nodes]
    # Between two nodes, no packet is lost that neither has counted.
    for left, right in zip(chain.nodes, chain.nodes[1:]):
        equal(since_start(left, "east", "tx_packets"),
              since_start(right, "west", "rx_packets") + since_start(right, "west", "rx_missed"),
              f"{left.name} to {right.name}")
    return lost, (f"{end['sum_received']['bits_per_second'] / 1e6:.0f} Mbit/s, "
                  f"{end['sum_sent']['retransmits']} retransmits, drops {lost}, missed {missed}")


@test(limit_s=60, apart=True)
def every_packet_that_unlimited_tcp_loses_on_memif_is_named_by_a_node(workspace):
    need("iperf3")
    lost, said = unlimited_tcp(workspace, link="memif", ring=7)
    check(any(lost), "a ring of 128 lost nothing: nothing was tested", said)
    return said


@test(limit_s=60, apart=True)
def every_packet_that_unlimited_tcp_loses_on_veth_is_named_by_a_node(workspace):
    need("iperf3")
    return unlimited_tcp(workspace, link="veth")[1]


def lossy_link(workspace, chain):
    """Joins nodes 2 and 3 by a kernel bridge, whose port towards node 3 has a token bucket."""
    middle = workspace.namespace("br")
    run("ip", "netns", "exec", middle, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
    run("ip", "-n", chain.nodes[1].namespace, "link", "del", "east")
    veth(chain.nodes[1].namespace, "east", middle, "left", 1800)
    veth(middle, "right", chain.nodes[2].namespace, "west", 1800)
    run("ip", "-n", middle, "link", "add", "br0", "type", "bridge", "stp_state", "0",
        "mcast_snooping", "0")
    for name in ("left", "right"):
        run("ip", "-n", middle, "link", "set", name, "master", "br0", "up")
    run("ip", "-n", middle, "link", "set", "br0", "mtu", "1800", "up")
    return middle


def qdisc(namespace):
    # tbf has no statistics of its own class. Backlog and drops are the qdisc's.
    listed = json.loads(run("tc", "-j", "-s", "-n", namespace, "qdisc", "show", "dev", "right"))
    return next(q for q in listed if q["kind"] == "tbf")


@test(limit_s=60, alone=True)
def the_loss_of_a_hop_is_exactly_what_the_qdisc_on_it_dropped(workspace):
    need("tc")
    chain = Chain(workspace, link="veth")
    middle = lossy_link(workspace, chain)
    chain.start()
    chain.install(rule(7, A, B, dst_port=5001))
    left, right = chain.hosts
    frame = fr.udp_frame(A, B, 4000, 5001, bytes(1000), destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    sender = RawPort(left.namespace, "eth0")
    receiver = RawPort(right.namespace, "eth0")
    # One packet comes first, because a loss before the first report is not attributed.
    sender.send(frame)
    equal(len(receiver.collect(1, 5, lambda f: f == frame)), 1, "the first packet")
    run("tc", "-n", middle, "qdisc", "add", "dev", "right", "root", "tbf", "rate", "20mbit",
        "burst", "5k", "limit", "30k")
    sent = 1
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        sender.send(*[frame] * 20)
        sent += 20
        # The sender's pace is faster than the link and slower than the nodes.
        time.sleep(0.004)
    for node in chain.nodes:
        quiet(node)
    until(lambda: qdisc(middle)["backlog"] == 0, 5, "the queue runs empty")
    dropped = qdisc(middle)["drops"]
    check(dropped > 100, f"the link dropped {dropped}")
    # The newest report follows the last lost packet, so that the loss is attributed.
    sender.send(frame)
    sent += 1

    def run_report():
        report = chain.nodes[3].call("qos_get", ns_id=7, window="run")["qos"][0]
        return report if report["e2e"]["tx_packets"] == sent - 1 else None

    report = until(run_report, 5, lambda: f"the last report counts: {sent} sent, "
                   f"{chain.nodes[3].call('qos_get', ns_id=7, window='run')}")
    by_hop = {(h["from"], h["to"]): h["lost_packets"] for h in report["hops"]}
    equal(by_hop[(2, 3)], dropped, "lost between 2 and 3")
    equal(sum(by_hop.values()), dropped, "lost on all hops")
    equal(report["e2e"]["lost_packets"], dropped, "lost end to end")
    audit_ok(*chain.nodes)
    return f"{dropped} of {sent} packets"


def cpu_ns(process):
    """Returns the time that each thread of a process has run, by thread id."""
    found = {}
    for task in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{task}/schedstat", encoding="ascii") as f:
            found[task] = int(f.read().split()[0])
    return found


def idle_shares(chain):
    """Returns the processor time of each idle node: (busiest thread, all threads)."""
    before = [cpu_ns(node.process) for node in chain.nodes]
    begin = time.monotonic()
    # Idleness has no event to wait for. This sleep is the measurement.
    time.sleep(2)
    took_ns = (time.monotonic() - begin) * 1e9
    shares = []
    for node, then in zip(chain.nodes, before):
        used = [ns - then.get(thread, 0) for thread, ns in cpu_ns(node.process).items()]
        shares.append((max(used) / took_ns, sum(used) / took_ns))
    return shares


@test(looks=3)
def an_idle_node_takes_less_than_two_percent_of_a_core(workspace):
    need()
    chain = Chain(workspace, nodes=2).start()
    time.sleep(1.2)  # nodes look for each other's bell once a second
    for node in chain.nodes:
        quiet(node)
    shares = idle_shares(chain)
    said = ", ".join(f"{100 * thread:.1f} % ({100 * process:.1f} % in all threads)"
                     for thread, process in shares)
    check(all(thread < 0.02 and process < 0.03 for thread, process in shares), said)
    return f"busiest thread {said}"


def send_evenly(sender, frame, gap_s, seconds):
    """Sends a frame every gap_s. Returns how many, and the time that it took."""
    sent, begin = 0, time.perf_counter()
    while (now := time.perf_counter()) < begin + seconds:
        if now - begin >= sent * gap_s:
            sender.send(frame)
            sent += 1
    return sent, now - begin


@test(looks=5)
def a_worker_with_50000_packets_a_second_rests_between_them(workspace):
    need()
    # At a real-time priority, the worker takes as much of its core as it wants, whatever else runs.
    chain = Chain(workspace, nodes=1, worker_scheduling={"class": "rr"}).start()
    node, (left, right) = chain.nodes[0], chain.hosts
    frame = fr.udp_frame(A, B, 4000, 5001, bytes(20), destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    sender = RawPort(left.namespace, "eth0")
    os.sched_setaffinity(0, {0})  # the worker has the other core
    send_evenly(sender, frame, 20e-6, 0.1)
    quiet(node)
    used = cpu_ns(node.process)
    sent, took_s = send_evenly(sender, frame, 20e-6, 1)
    share = max(ns - used.get(task, 0) for task, ns in cpu_ns(node.process).items()) / took_s / 1e9
    said = f"{sent / took_s:.0f} packets a second take {share:.2f} of a core"
    check(sent / took_s > 5000, "the sender is too slow:", said)
    # A worker that looks again for 50 us after each packet takes all of the core, or 50 us of each
    # packet where a busy machine slows the sender down.
    check(share < min(0.6, 0.15 + sent / took_s * 15e-6), said)
    return said


def first_packet_delays(sender, receiver, frame, n=150):
    """Measures host to host through a node that has been idle for a while, in microseconds."""
    delays = []
    for i in range(n):
        time.sleep(0.02)  # long enough for the worker to fall asleep
        marked = frame[:-4] + i.to_bytes(4, "big")
        begin = time.clock_gettime_ns(time.CLOCK_REALTIME)
        sender.send(marked)
        while True:
            got = receiver.receive(2)
            check(got, "a packet was lost")
            if got[0] == marked:
                break
        delays.append((got[1] - begin) / 1000)
    return sorted(delays)


@test(looks=3)
def the_first_packet_after_idle_waits_at_most_200_us_in_the_median(workspace):
    need()
    chain = Chain(workspace, nodes=1).start()
    left, right = chain.hosts
    frame = fr.udp_frame(A, B, 4000, 5001, bytes(100), destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    delays = first_packet_delays(RawPort(left.namespace, "eth0"), RawPort(right.namespace, "eth0"),
                                 frame)
    median, p99 = statistics.median(delays), delays[int(len(delays) * 0.99)]
    check(median <= 200, f"median {median:.0f} us")
    # The tail includes the machine's own scheduler. A node that slept until its timer would be at
    # 1000.
    check(delays[int(len(delays) * 0.9)] < 1000, f"p90 {delays[int(len(delays) * 0.9)]:.0f} us")
    return f"median {median:.0f} us, p99 {p99:.0f} us"


@test(looks=3)
def the_first_packet_after_idle_on_memif_waits_at_most_400_us_in_the_median(workspace):
    need()
    chain = Chain(workspace, nodes=2).start()
    time.sleep(1.2)  # nodes look for each other's bell once a second
    left, right = chain.hosts
    frame = fr.udp_frame(A, B, 4000, 5001, bytes(100), destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    delays = first_packet_delays(RawPort(left.namespace, "eth0"), RawPort(right.namespace, "eth0"),
                                 frame, n=100)
    median, p99 = statistics.median(delays), delays[int(len(delays) * 0.99)]
    # A node that looks from time to time gets the packet half a millisecond late on average.
    check(median <= 400, f"median {median:.0f} us")
    return f"median {median:.0f} us, p99 {p99:.0f} us"


@test(path=True)
def a_subscriber_that_does_not_read_costs_reports_that_are_counted_and_no_packet(workspace):
    need()
    chain = Chain(workspace, nodes=2).start()
    left, right = chain.hosts
    chain.install(rule(7, A, B, dst_port=5001))
    frame = fr.udp_frame(A, B, 4000, 5001, bytes(20), destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    deaf = Subscriber(chain.nodes[1].publisher, "report.7")
    deaf.wait_connected(chain.nodes[1])
    sender = RawPort(left.namespace, "eth0")
    for i in range(1, 51):
        sender.send(*[frame] * 200)
        # A ring between the nodes holds a thousand packets, so no more are on the way.
        until(lambda: since_start(chain.nodes[1], "east", "tx_packets") >= 200 * i, 5,
              "the packets pass", interval_s=0.001)
    for node in chain.nodes:
        quiet(node)
        equal(drops(node), {}, f"drops of {node.name}")
    audit_ok(*chain.nodes)
    counters = chain.nodes[1].call("int_get", ns_id=7)["counters"]
    equal(counters["reports_made"] + counters["reports_lost"], counters["sink_packets"], counters)


if __name__ == "__main__":

    sys.exit(main())
