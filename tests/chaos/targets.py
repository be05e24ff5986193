# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and controllers that need no interface, and checks of how they withstand an attack."""

import ctypes
import json
import os
import signal
import struct
import threading
import time

import zmq

import frames as fr
from lib import Node, check, equal, rule, until
from netlab import BUILD, Client


_PR_SET_PDEATHSIG = 1


def ring_node(workspace, name="n3", started=True, **config):
    """A node with two ring ports: it receives no packets, and has the whole API."""
    ports = [{"name": port, "devargs": f"net_ring{i}", "side": side}
             for i, (port, side) in enumerate((("in", "host"), ("out", "network")))]
    node = Node(workspace, 3, ports, name=name, **config)
    return node.start() if started else node


def _measured_frame(i):
    """A packet with telemetry of one hop, as a node before this one writes it."""
    a, b = (fr.address(f"2001:db8::{n}") for n in (1, 2))
    hop = struct.pack("!HHHHQII", 1, 0xE000, i, i, time.time_ns(), i * 100, i * 100)
    e2e = struct.pack("!QII", time.time_ns(), i, i * 100)
    options = fr.options_header(fr.UDP, fr.telemetry_options(1, 0x7000E000, [hop], e2e))
    return fr.ethernet(fr.ipv6(a, b, fr.HOP_BY_HOP,
                               options + fr.udp(a, b, 4000, 5001, bytes(100))))


def reporting_node(workspace, name="n3", **config):
    """A node that is not started. Its worker never rests and makes more reports than can be
    published."""
    replay = workspace.path("in.pcap")
    fr.write_pcap(replay, [_measured_frame(i) for i in range(64)])
    ports = [{"name": "a", "side": "network", "mtu": 1800,
              "devargs": f"net_pcap0,rx_pcap={replay},infinite_rx=1,tx_pcap=/dev/null"},
             {"name": "b", "side": "host", "mtu": 1500, "devargs": "net_null1,no-rx=1"}]
    wanted = rule(1, "2001:db8::1", "2001:db8::2", dst_port=5001)
    return Node(workspace, 3, ports, name=name, requests=[{"int_request": wanted}], **config)


def patient(target):
    """Requests from now on may take a minute: an audit looks for a moment without reports."""
    target.client.close()
    target.client.limit_ms = 60000
    return target


class Controller:
    """hopsight-controller for one node."""

    def __init__(self, workspace, node, name="ctl", **control):
        self.name, self.api = name, f"ipc://{workspace.path(name)}.api"
        self.reports = f"ipc://{workspace.path(name)}.sub"
        self.publisher = f"ipc://{workspace.path(name)}.pub"
        path = workspace.path(f"{name}.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump({"control": {"publish_bind": [self.publisher], **control,
                                   "bind": [self.api, *control.get("bind", [])],
                                   "subscribe_bind": [self.reports,
                                                      *control.get("subscribe_bind", [])]},
                       "nodes": [{"name": node.name, "id": 3, "api": node.api}]}, f)
        program = os.path.join(BUILD, "apps", "hopsight-controller")
        self.process = workspace.spawn([program, "--config", path], log=f"{name}.log")
        self.client = Client(self.api, limit_s=1)
        until(self._answers, 20, "the controller answers")
        self.client.limit_ms = 5000

    def _answers(self):
        try:
            return self.client.call("hello")
        except zmq.ZMQError:
            return None

    def call(self, verb, **arguments):
        return self.client.call(verb, **arguments)

    def sees_the_node(self):
        """Returns whether the node answers the client."""
        return self.call("node_get")["nodes"][0]["reachable"]


def resident_bytes(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmRSS"))


def kill(child):
    """Kills a process of fork_client, as kill -9 does."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def fork_client(behave, wait=True):
    """Calls behave() in a process that then waits to be killed. Returns when behave() is done."""
    ready, done = os.pipe()
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            behave()
        finally:
            try:
                os.write(done, b"x")
            except OSError:
                pass
            time.sleep(600)
            os._exit(0)
    os.close(done)
    if wait:
        os.read(ready, 1)
    os.close(ready)
    return child


class Bystander:
    """A client that asks all the time, and its waiting times."""

    def __init__(self, target, verb="hello"):
        self.client, self.verb = Client(target.api, keys=target.client.keys), verb
        self.client.call(verb)
        self.took_s, self.ended = [], False
        self.failure = None
        self.thread = threading.Thread(target=self._ask, daemon=True)
        self.thread.start()

    def _ask(self):
        try:
            while not self.ended:
                begin = time.monotonic()
                self.client.call(self.verb)
                self.took_s.append(time.monotonic() - begin)
                time.sleep(0.002)
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error
        self.client.close()

    def stop(self):
        """Returns the 99th percentile, in seconds."""
        self.ended = True
        self.thread.join()
        check(self.failure is None, f"another client was not answered: {self.failure!r}")
        took = sorted(self.took_s)
        return took[len(took) * 99 // 100]


def lives(*targets):
    for target in targets:
        equal(target.process.poll(), None, f"exit code of {target.name}")
        target.call("hello")
