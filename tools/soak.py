#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs three nodes between two hosts for a long time, under traffic and attack, and checks that
nothing grows, ends or stops adding up. Needs root; prints progress, and exits with 1 after a failure.

All of this happens at once: real UDP in both directions; rules that are installed and removed; a
middle node that restarts, every second time by SIGKILL; API clients that send junk, send floods and
never read; a host that forges telemetry. Each node is checked every second: audit, resident memory,
descriptors, and the time to answer.

    soak.py [--seconds 1800] [--restart-every 20] [--every 10] [--seed N] [--json]
"""

import argparse
import json
import math
import os
import random
import signal
import socket
import struct
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import zmq  # noqa: E402

from netlab import Chain, Refused, rule  # noqa: E402
from workspace import InNamespace, Workspace  # noqa: E402

A, B = "2001:db8::1", "2001:db8::2"
MEASURED = 1  # ns_id of the permanent rule
CHURNED = range(1000, 1100)
# The client that changes rules connects while the soak runs. A connection has three descriptors:
# the client's at the gate, the gate's to the socket behind it, and that socket's.
OWN_FDS = 3
FLAT_SHARE = 0.005  # growth of resident memory over a whole run that does not count as a slope
FLAT_BYTES = 1 << 20
JUDGED_S = 240  # after the warm-up; a shorter run only finds growth beyond all bounds
SHORT_BYTES = 64 << 20
BLOCKS = 30
FORGED = bytes.fromhex("31080000000170" "00e000"
                       + "1112700017979cfe362a0000000003e80007c060") + bytes([1, 0])


class Stopped(Exception):
    pass


class Actor(threading.Thread):
    """Does something repeatedly until told to stop. An exception is kept for the end."""

    def __init__(self, name, step, interval_s):
        super().__init__(name=name, daemon=True)
        self.step, self.interval_s = step, interval_s
        self.over = threading.Event()
        self.problem = None
        self.done = 0

    def run(self):
        try:
            while not self.over.wait(self.interval_s):
                self.step()
                self.done += 1
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = f"{self.name}: {type(problem).__name__}: {problem}"


# ---- traffic ----

class Traffic:
    """UDP from one host to the other, and the part of it that arrived."""

    def __init__(self, source, destination, port, burst):
        with InNamespace(source.namespace):
            self.out = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        with InNamespace(destination.namespace):
            self.into = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            self.into.bind((destination.address, port))
        self.into.setblocking(False)
        self.to = (destination.address, port)
        self.burst = burst
        self.sent = self.arrived = 0

    def step(self):
        for _ in range(self.burst):
            self.out.sendto(b"soak" * 50, self.to)
            self.sent += 1
        try:
            while self.into.recv(2048):
                self.arrived += 1
        except BlockingIOError:
            pass


# ---- a hostile host ----

def options_header(next_header, rng):
    body = bytes(rng.randrange(0, 3)) + (FORGED if rng.random() < 0.8 else rng.randbytes(20))
    body += bytes(-(len(body) + 2) % 8)
    return bytes([next_header, (len(body) + 2) // 8 - 1]) + body


def hostile_frame(rng, source, destination, macs):
    """Returns a frame with forged telemetry in any place, or junk."""
    if rng.random() < 0.1:
        return macs + rng.randbytes(rng.randrange(2, 1200))
    datagram = struct.pack("!HHHH", 5000, 5001, 8 + 32, 0) + rng.randbytes(32)
    kinds = [rng.choice((0, 0, 43, 60, 44)) for _ in range(rng.randrange(0, 4))]
    packet, proto = datagram, 17
    for kind in reversed(kinds):
        header = bytes([proto, 0, 0, rng.choice((0, 1, 8)), 0, 0, 0, 9])
        packet = (options_header(proto, rng) if kind in (0, 60) else header) + packet
        proto = kind
    packet = struct.pack("!IHBB", 6 << 28, len(packet), proto, 64) + \
        socket.inet_pton(socket.AF_INET6, source) + \
        socket.inet_pton(socket.AF_INET6, destination) + packet
    tags = b"".join(struct.pack("!HH", rng.choice((0x8100, 0x88a8, 0x9100)), rng.randrange(4096))
                    for _ in range(rng.choice((0, 0, 0, 1, 2, 3, 8, 9, 12))))
    frame = macs + tags + b"\x86\xdd" + packet
    return frame[:rng.randrange(14, len(frame) + 1)] if rng.random() < 0.05 else frame[:1514]


class HostileHost:
    def __init__(self, host, other, rng):
        with InNamespace(host.namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self.socket.bind((host.interface, 0x86DD))
        self.macs = bytes.fromhex((other.mac + host.mac).replace(":", ""))
        self.addresses = (host.address, other.address)
        self.rng = rng

    def step(self):
        for _ in range(8):
            self.socket.send(hostile_frame(self.rng, *self.addresses, self.macs))


# ---- a hostile client ----

class HostileClient:
    """Sends junk, broken and huge requests, and floods whose replies are never read. Makes silent connections."""

    def __init__(self, endpoints, rng):
        self.endpoints, self.rng = endpoints, rng
        self.context = zmq.Context()

    def _dealer(self):
        dealer = self.context.socket(zmq.DEALER)
        dealer.linger, dealer.sndtimeo = 0, 100
        dealer.connect(self.rng.choice(self.endpoints))
        return dealer

    def _flood(self, body, times):
        dealer = self._dealer()
        try:
            for _ in range(times):
                dealer.send_multipart([b"", body])
        except zmq.Again:
            pass
        if self.rng.random() < 0.5:
            time.sleep(0.05)
        dealer.close()

    def _raw(self):
        path = self.rng.choice(self.endpoints).removeprefix("ipc://")
        with socket.socket(socket.AF_UNIX) as raw:
            raw.settimeout(0.2)
            try:
                raw.connect(path)
                raw.sendall(self.rng.randbytes(self.rng.randrange(0, 300)))
            except OSError:
                pass

    def step(self):
        rng = self.rng
        good = json.dumps({"stats_get": {}}).encode()
        kind = rng.randrange(6)
        if kind == 0:
            self._flood(rng.randbytes(rng.randrange(0, 4000)), 5)
        elif kind == 1:
            broken = bytearray(json.dumps({"int_request": rule(7, A, B)}).encode())
            for _ in range(rng.randrange(1, 5)):
                broken[rng.randrange(len(broken))] = rng.randrange(256)
            self._flood(bytes(broken), 20)
        elif kind == 2:
            self._flood(b"[" + b",".join([good] * 200) + b"]", 20)
        elif kind == 3:
            self._flood(b"[" * rng.randrange(1, 100000), 3)
        elif kind == 4:
            self._flood(good, 300)
        else:
            self._raw()


# ---- rules that come and go ----

class Churn:
    def __init__(self, nodes, rng):
        self.nodes, self.rng = nodes, rng

    def step(self):
        node = self.rng.choice(self.nodes)
        ns_id = self.rng.choice(CHURNED)
        try:
            if self.rng.random() < 0.5:
                node.client_of_churn.call("int_delete", ns_id=ns_id)
            else:
                node.client_of_churn.call("int_request", **rule(
                    ns_id, A, B, dst_port=ns_id, mode_setting=self.rng.randrange(1, 9)))
        except (Refused, zmq.ZMQError):
            pass  # the rule exists already, or does not exist, or the node is starting


# ---- looking ----

def resident_bytes(pid):
    """Returns the memory that the process allocated itself. This excludes packet buffers, rings and
    tables, which are reserved at start in shared memory. The first packets touch their pages."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon:"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def fit(points):
    """Returns the slope of a line through medians of blocks, and its standard error. Neighbours in
    time are not independent; blocks nearly are."""
    size = max(1, len(points) // BLOCKS)
    blocks = [sorted(points[i:i + size], key=lambda p: p[1])[size // 2]
              for i in range(0, len(points) - size + 1, size)]
    n = len(blocks)
    if n < 3:
        return 0.0, math.inf
    mean_t = sum(t for t, _ in blocks) / n
    mean_v = sum(v for _, v in blocks) / n
    spread = sum((t - mean_t) ** 2 for t, _ in blocks)
    slope = sum((t - mean_t) * (v - mean_v) for t, v in blocks) / spread
    rest = sum((v - mean_v - slope * (t - mean_t)) ** 2 for t, v in blocks)
    return slope, math.sqrt(rest / (n - 2) / spread)


class Looker:
    """Measures one node again and again, and computes its figures."""

    def __init__(self, node):
        self.node = node
        self.rss, self.fds, self.answer_ms = [], [], []
        self.looks = 0
        self.problems = []

    def look(self, now):
        begin = time.monotonic()
        audit = self.node.call("audit")
        self.answer_ms.append((time.monotonic() - begin) * 1000)
        self.looks += 1
        if not audit["ok"]:
            self.problems.append(f"{self.node.name} at {now:.0f} s: audit: {json.dumps(audit)}")
        pid = self.node.process.pid
        self.rss.append((now, resident_bytes(pid)))
        self.fds.append((now, descriptors(pid)))

    def figures(self, warm_s, rest_fds):
        points = [p for p in self.rss if p[0] >= warm_s]
        slope, error = fit(points)
        span = points[-1][0] - points[0][0] if points else 0
        grown, size = slope * span, points[-1][1] if points else 0
        judged = span >= JUDGED_S
        small = grown <= (max(FLAT_BYTES, FLAT_SHARE * size) if judged else SHORT_BYTES)
        times = sorted(self.answer_ms)
        return {"name": self.node.name, "looks": self.looks,
                "rss_bytes": size, "rss_slope_bytes_per_s": round(slope, 1),
                "rss_slope_error_bytes_per_s": None if math.isinf(error) else round(error, 1),
                "rss_judged": judged, "rss_flat": small or slope <= 2 * error,
                "descriptors_before": rest_fds[0], "descriptors_after": rest_fds[1],
                "answer_ms_p50": round(times[len(times) // 2], 2),
                "answer_ms_p99": round(times[int(len(times) * 0.99)], 2),
                "answer_ms_max": round(times[-1], 2)}


# ---- all of it ----

class Soak:
    def __init__(self, workspace, options):
        self.options = options
        self.chain = Chain(workspace, 3).start()
        self.nodes = self.chain.nodes
        rng = random.Random(options.seed)
        self.measured = [rule(MEASURED, A, B, dst_port=6001, mode_setting=10)]
        self.chain.install(*self.measured)
        one, two = self.chain.hosts
        self.traffic = [Traffic(one, two, 6001, 10), Traffic(two, one, 6002, 5)]
        for node in self.nodes:
            node.client_of_churn = type(node.client)(node.api, 2)
        seeds = [random.Random(rng.random()) for _ in range(3)]
        self.actors = [
            *[Actor(f"traffic {t.to[1]}", t.step, 0.01) for t in self.traffic],
            Actor("hostile host", HostileHost(one, two, seeds[0]).step, 0.05),
            Actor("hostile client",
                  HostileClient([n.api for n in self.nodes], seeds[1]).step, 0.05),
            Actor("churn", Churn(self.nodes, seeds[2]).step, 0.05)]
        # The middle node restarts often. Growth shows at the nodes that never restart.
        self.lookers = [Looker(self.nodes[0]), Looker(self.nodes[2])]
        self.middle = Looker(self.nodes[1])
        self.restarts = self.kills = 0
        self.rest_fds = {}
        self.begin = time.monotonic()

    def now(self):
        return time.monotonic() - self.begin

    def restart_middle(self):
        node = self.nodes[1]
        if self.restarts % 2:
            node.process.kill()
            node.process.wait()
            node.client.close()
            self.kills += 1
        else:
            node.stop()
        self.restarts += 1
        node.start()
        node.client.transaction([{"int_request": r} for r in self.measured])

    def look(self):
        for looker in [*self.lookers, self.middle]:
            looker.look(self.now())
        return [a.problem for a in self.actors if a.problem] + \
            [p for looker in [*self.lookers, self.middle] for p in looker.problems]

    def say(self, text):
        print(f"{self.now():7.1f} s  {text}", file=sys.stderr, flush=True)

    def progress(self):
        sent, arrived = (sum(getattr(t, k) for t in self.traffic) for k in ("sent", "arrived"))
        nodes = ", ".join(f"{w.node.name} {w.rss[-1][1] / 1e6:.1f} MB {w.fds[-1][1]} fds"
                          for w in self.lookers)
        self.say(f"{nodes}; {sent} sent, {arrived} arrived, {self.restarts} restarts, "
                 f"{self.actors[3].done} attacks, {self.actors[4].done} changes of rules")

    def run(self):
        """Returns the problems; the list is empty if all went well."""
        options = self.options
        for node in self.nodes:
            self.rest_fds[node.name] = descriptors(node.process.pid)
        for actor in self.actors:
            actor.start()
        next_restart, next_word = options.restart_every, options.every
        try:
            while self.now() < options.seconds:
                time.sleep(1)
                problems = self.look()
                if problems:
                    return problems
                if self.now() >= next_restart:
                    self.restart_middle()
                    next_restart += options.restart_every
                if self.now() >= next_word:
                    self.progress()
                    next_word += options.every
        except (KeyboardInterrupt, Stopped):
            self.say("interrupted: what was seen so far counts")
        return self.end()

    def end(self):
        for actor in self.actors:
            actor.over.set()
        for actor in self.actors:
            actor.join(10)
        problems = self.look()
        end = time.monotonic() + 10  # silent connections end by themselves
        while self.fds_left() and time.monotonic() < end:
            time.sleep(0.2)
        return problems

    def fds_left(self):
        """Counts descriptors again. Returns whether a node has more than it had at rest."""
        for looker in self.lookers:
            looker.fds.append((self.now(), descriptors(looker.node.process.pid)))
        return any(w.fds[-1][1] - self.rest_fds[w.node.name] > OWN_FDS for w in self.lookers)

    def result(self, problems):
        warm_s = min(120.0, self.now() / 3)
        nodes = [w.figures(warm_s, (self.rest_fds[w.node.name], w.fds[-1][1]))
                 for w in self.lookers if w.rss]
        problems = list(problems)
        for node in nodes:
            if not node["rss_flat"]:
                problems.append(f"{node['name']}: memory grows by "
                                f"{node['rss_slope_bytes_per_s']} bytes/s")
            if node["descriptors_after"] - node["descriptors_before"] > OWN_FDS:
                problems.append(f"{node['name']}: descriptors are left over")
        return {"ok": not problems, "problems": problems, "seconds": round(self.now(), 1),
                "seed": self.options.seed, "warm_up_s": round(warm_s, 1), "nodes": nodes,
                "sent_packets": sum(t.sent for t in self.traffic),
                "arrived_packets": sum(t.arrived for t in self.traffic),
                "hostile_frames": self.actors[2].done * 8, "attacks": self.actors[3].done,
                "rule_changes": self.actors[4].done, "restarts": self.restarts,
                "kills": self.kills,
                "audits": sum(w.looks for w in [*self.lookers, self.middle])}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--restart-every", type=float, default=20, metavar="SECONDS")
    parser.add_argument("--every", type=float, default=10, metavar="SECONDS",
                        help="a line of progress")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--json", action="store_true", help="only JSON on stdout")
    return parser.parse_args()


def stop(*_):
    raise Stopped


def main():
    options = read_options()
    if os.geteuid():
        print("soak.py needs root: it makes network namespaces", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, stop)
    with tempfile.TemporaryDirectory(prefix="hs-") as folder:
        workspace = Workspace(folder)
        try:
            soak = Soak(workspace, options)
            result = soak.result(soak.run())
        finally:
            workspace.close()
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        for node in result["nodes"]:
            print(json.dumps(node))
        print("ok" if result["ok"] else "\n".join(result["problems"]))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, Stopped):
        sys.exit(130)
