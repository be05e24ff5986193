# SPDX-License-Identifier: BSD-3-Clause
"""Egress queues of ports, with real packets: the rate, what is dropped, and packets that wait when something ends."""

import json
import os
import subprocess
import time

import frames as fr
import netlab
from lib import Chain, RawPort, audit_ok, check, drops, equal, main, need, ports, run, test, until

A, B = "2001:db8::1", "2001:db8::2"
RATE, PLACES = 20_000_000, 50


def received(host):
    """Bytes that a host's interface has received, and when."""
    link = json.loads(run("ip", "-j", "-s", "-n", host.namespace, "link", "show", host.interface))
    return link[0]["stats64"]["rx"]["bytes"], time.monotonic()


def chain_of(workspace, rate_bps, queue_packets):
    """One node, whose port east has a queue."""
    chain = Chain(workspace, 1)
    chain.nodes[0].config["ports"][1].update(id=77, rate_bps=rate_bps, queue_packets=queue_packets)
    return chain.start()


@test(limit_s=60, looks=3)
def a_port_sends_no_faster_than_its_rate(workspace):
    need("iperf3")
    chain = chain_of(workspace, RATE, PLACES)
    node, (left, right) = chain.nodes[0], chain.hosts
    right.spawn("iperf3", "-s", "-1", log="server.log")
    until(lambda: ":5201" in right.run("ss", "-ltn"), 5, "iperf3 listens")
    client = left.spawn("iperf3", "-c", B, "-u", "-b", "40M", "-l", "1000", "-t", "4", log="client.log")
    until(lambda: ports(node)["east"]["drops"]["queue_full"], 5, "the queue is full")
    (bytes_0, begin), waited = received(right), 0
    while time.monotonic() < begin + 2:
        waited += ports(node)["east"]["queued"]
        audit_ok(node)
        time.sleep(0.02)
    bytes_1, end = received(right)
    equal(client.wait(20), 0, "iperf3")
    rate = (bytes_1 - bytes_0) * 8 / (end - begin)
    check(abs(rate / RATE - 1) < 0.03, f"{rate:.0f} bit/s")
    check(waited, "packets wait")
    port = ports(node)["east"]
    equal([port[key] for key in ("id", "rate_bps", "queue_packets", "depth_max")], [77, RATE, PLACES, PLACES],
          "east")
    equal(set(drops(node)), {"queue_full"}, "drops")
    until(lambda: not ports(node)["east"]["queued"], 5, "the queue is empty")
    audit_ok(node)
    shown = subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsight"), "-c", node.api, "ports"], check=True,
                           capture_output=True, text=True, timeout=10).stdout
    for word in ("77", "20.00 Mbit/s", "depth max", "queue_full="):
        check(word in shown, word, shown)


def fill(chain):
    """Eight packets of 1,000 bytes at 80 kbit/s: the last leaves after 0.8 s, or much later."""
    raw = RawPort(chain.hosts[0].namespace, "eth0")
    frame = fr.udp_frame(A, B, 4660, 5001, bytes(1000 - 62))
    equal(len(frame), 1000, "bytes of a frame")
    raw.send(*[frame] * 8)
    until(lambda: ports(chain.nodes[0])["east"]["queued"], 5, "packets wait")


@test()
def packets_that_wait_leave_at_their_departures(workspace):
    """Nothing is received meanwhile: the worker wakes for them."""
    chain = chain_of(workspace, 80_000, 100)
    far = RawPort(chain.hosts[1].namespace, "eth0")
    fill(chain)
    arrivals = []
    while len(arrivals) < 8:
        got = far.receive(3)
        check(got, f"{len(arrivals)} of 8 packets")
        if len(got[0]) == 1000:
            arrivals.append(got[1])
    for i, arrived in enumerate(arrivals):
        late = (arrived - arrivals[0]) / 1e9 - i * 0.1
        check(abs(late) < 0.05, f"packet {i} is {late:.3f} s late")
    audit_ok(chain.nodes[0])


@test()
def packets_that_wait_when_a_port_or_the_node_ends_are_counted(workspace):
    chain = chain_of(workspace, 8_000, 100)  # a packet takes a second
    node = chain.nodes[0]
    fill(chain)
    waits = ports(node)["east"]["queued"]
    check(waits >= 6, f"{waits} packets wait")
    audit_ok(node)
    run("ip", "-n", node.namespace, "link", "delete", "east")
    # The host may send something of its own, which is dropped at once.
    until(lambda: ports(node)["east"]["queued"] < waits - 1, 8, "packets that are due are dropped")
    check(drops(node).get("port_down", 0) >= 2, drops(node))
    check(ports(node)["east"]["queued"] > 0, "no packet waits")
    audit_ok(node)
    code, took = node.stop()
    equal(code, 0, "end of the node")
    check(took < 5, f"it took {took:.1f} s")


if __name__ == "__main__":
    raise SystemExit(main())
