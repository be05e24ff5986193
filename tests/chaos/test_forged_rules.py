# SPDX-License-Identifier: BSD-3-Clause
"""In-band requests for rules from an attacker on a link."""

import hashlib
import hmac
import os
import signal
import struct
import sys
import threading
import time

import frames as fr
from attack import SECONDS
from lib import Chain, RawPort, audit_ok, check, equal, events, main, need, rule, test, until

A, B = "2001:db8::1", "2001:db8::2"
FORGED = 4096  # namespaces that the attacker asks for repeatedly: four times a node's capacity
KEY = "a" * 64


def cbor(value):
    """Encodes as much of RFC 8949 as a request needs."""
    def head(major, n):
        if n < 24:
            return bytes([major << 5 | n])
        size = next(s for s in (1, 2, 4, 8) if n < 1 << 8 * s)
        return bytes([major << 5 | {1: 24, 2: 25, 4: 26, 8: 27}[size]]) + n.to_bytes(size, "big")

    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value.items())
    if isinstance(value, str):
        return head(3, len(value)) + value.encode()
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    return head(0, value)


def request(ns_id, key=None, counter_ns=0, **more):
    content = {**rule(ns_id, A, B, src_port=ns_id % 60000 + 1, dst_port=7), **more}
    whole = {"int_request": content}
    if key:
        counter = struct.pack("!Q", counter_ns)
        mac = hmac.new(bytes.fromhex(key), counter + cbor(content), hashlib.sha256).digest()
        whole["auth"] = counter + mac[:8]
    return cbor(whole)


def flow_packet(data, ns_id, chain):
    """Returns a packet of the request's flow, as its source's node would send it."""
    a, b = fr.address(A), fr.address(B)
    options = fr.options_header(fr.UDP, bytes([0x32, len(data)]) + data)
    body = options + fr.udp(a, b, ns_id % 60000 + 1, 7, b"forged")
    return fr.ethernet(fr.ipv6(a, b, fr.HOP_BY_HOP, body),
                       destination=fr.mac(chain.hosts[1].mac), source=fr.mac(chain.hosts[0].mac))


class Sender(threading.Thread):
    """Sends frames in turn, `burst` of them every `interval_s`, until the end of the block."""

    def __init__(self, port, frames, burst=1, interval_s=0.002):
        super().__init__()
        self.port, self.frames, self.burst, self.interval_s = port, frames, burst, interval_s
        self.sent = 0
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(self.interval_s):
            for _ in range(self.burst):
                self.port.send(self.frames[self.sent % len(self.frames)])
                self.sent += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def on_the_link(chain):
    """An interface whose frames reach the second node as if the first had sent them."""
    return RawPort(chain.nodes[0].namespace, "east")


def genuine_flow(chain, src_port):
    left, right = chain.hosts
    frame = fr.udp_frame(A, B, src_port, 5001, bytes(100), destination=fr.mac(right.mac),
                         source=fr.mac(left.mac))
    return Sender(RawPort(left.namespace, "eth0"), [frame], interval_s=0.01)


def has_rule(node, ns_id):
    return ns_id in node.call("int_list", limit=10000).get("in_band", [])


@test(limit_s=60 + 4 * SECONDS, apart=True)
def forged_requests_do_not_keep_genuine_rules_out(workspace):
    need()
    chain = Chain(workspace, nodes=2, link="veth").start()
    source, sink = chain.nodes
    forged = [flow_packet(request(100000 + i), 100000 + i, chain) for i in range(FORGED)]
    with Sender(on_the_link(chain), forged, burst=16, interval_s=0.002) as flood:
        until(lambda: sink.call("node_get")["rules_in_band"] == 1024, 10, "the forged fill the table")
        took = []
        for i in range(max(3, int(SECONDS))):
            source.call("int_request", **rule(7 + i, A, B, src_port=4000 + i, dst_port=5001,
                                              in_band=True))
            with genuine_flow(chain, 4000 + i):
                begin = time.monotonic()
                until(lambda ns_id=7 + i: has_rule(sink, ns_id), 1, "the genuine rule is in")
                took.append(time.monotonic() - begin)
                # The rule has shown its flow, and stays while forged requests continue.
                until(lambda ns_id=7 + i: sink.call("int_get", ns_id=ns_id)["counters"]
                      ["rx_packets"] > 50, 5, "the flow is counted")
        check(flood.sent > FORGED, "the flood went on", flood.sent)
        for i in range(len(took)):
            check(has_rule(sink, 7 + i), "rule", 7 + i, "stays")
        totals = sink.call("node_get")
    equal(totals["rules_in_band"], 1024, "rules in band")
    check(totals["requests_in_band_displaced"] > 0, "counted", totals)
    told = events(sink, "request_displaced")
    check(told and told[0]["rules"] > 0, "told", told)
    audit_ok(*chain.nodes)
    return f"{max(took) * 1000:.0f} ms at most, {flood.sent} forged"


def write_key(workspace):
    path = workspace.path("domain.key")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as f:
        f.write(KEY + "\n")
    return path


@test(limit_s=60 + 2 * SECONDS, apart=True)
def a_domain_with_a_key_takes_none_of_them(workspace):
    need()
    chain = Chain(workspace, nodes=2, link="veth",
                  telemetry={"in_band": {"key_file": write_key(workspace)}}).start()
    source, sink = chain.nodes
    forged = [flow_packet(request(100000 + i, key=("b" * 64 if i % 2 else None),
                                  counter_ns=time.time_ns()), 100000 + i, chain)
              for i in range(512)]
    with Sender(on_the_link(chain), forged, burst=8):
        source.call("int_request", **rule(7, A, B, src_port=4000, dst_port=5001, in_band=True))
        with genuine_flow(chain, 4000):
            until(lambda: has_rule(sink, 7), 1, "the genuine rule is in")
        until(lambda: sink.call("node_get")["requests_in_band_bad"] > 512, 5 + SECONDS, "counted")
    equal(sink.call("node_get")["rules_in_band"], 1, "rules in band")
    audit_ok(*chain.nodes)


def replay_over_a_restart(workspace, ahead_ns, **config):
    chain = Chain(workspace, nodes=2, link="veth",
                  telemetry={"in_band": {"key_file": write_key(workspace)}})
    sink = chain.nodes[1]
    sink.config.update(config)
    chain.start()
    link = on_the_link(chain)
    captured = flow_packet(request(9, KEY, time.time_ns() + ahead_ns), 9, chain)
    link.send(captured)
    until(lambda: has_rule(sink, 9), 5, "the rule is in")
    time.sleep(0.3)  # counters are saved ten times a second
    sink.client.close()
    sink.process.send_signal(signal.SIGKILL)
    sink.process.wait()
    sink.start()

    def refused():
        link.send(captured)  # the first ones may come before the port is up
        return sink.call("node_get")["requests_in_band_replayed"]

    until(refused, 5, "it is refused")
    check(not has_rule(sink, 9), "the replay made no rule")
    link.send(flow_packet(request(9, KEY, time.time_ns() + ahead_ns), 9, chain))
    until(lambda: has_rule(sink, 9), 5, "a new one is taken")
    audit_ok(sink)


@test()
def a_request_that_was_taken_once_is_not_taken_after_a_restart(workspace):
    need()
    # The source's clock is a minute ahead, so that only the state file can know the request.
    replay_over_a_restart(workspace, 60 * 10**9, state={"file": workspace.path("sink.state")})


@test()
def a_node_without_a_state_takes_nothing_that_was_signed_before_it_started(workspace):
    need()
    replay_over_a_restart(workspace, 0)


if __name__ == "__main__":
    sys.exit(main())
