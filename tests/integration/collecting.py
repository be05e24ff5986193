# SPDX-License-Identifier: BSD-3-Clause
"""A collector as a process, and telemetry reports 2.0 with INT 2.1 MD for it, written from the text of the
specifications."""

import http.client
import ipaddress
import json
import os
import signal
import socket
import struct

import zmq

from lib import InNamespace, check, equal, until  # isort: skip

import netlab

PORT = 32766
PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsight-collector")
COMMAND = os.path.join(netlab.BUILD, "apps", "hopsight")


class Collector:
    """hopsight-collector in a namespace of its own."""

    def __init__(self, workspace, name="c1", namespace=None, **config):
        self.workspace, self.name = workspace, name
        self.namespace = namespace or workspace.namespace(name)
        self.api = f"ipc://{workspace.path(name)}.api"
        self.publisher = f"ipc://{workspace.path(name)}.pub"
        self.config = {"name": f"{workspace.prefix}-{name}", "listen": [{"udp": f"0.0.0.0:{PORT}"}],
                       "workers": [1], "control_core": 0, "push_interval_s": 0,
                       "control": {"bind": [self.api], "publish_bind": [self.publisher]}, **config}
        self.client = netlab.Client(self.api)

    def start(self):
        path = self.workspace.path(f"{self.name}.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(self.config, f)
        self.process = self.workspace.spawn([PROGRAM, "--config", path], namespace=self.namespace,
                                            log=f"{self.name}.log")
        until(self._answers, netlab.START_LIMIT_S, "the collector answers")
        return self

    def _answers(self):
        check(self.process.poll() is None, "the collector ended")
        try:
            return self.call("hello")
        except zmq.ZMQError:
            return None

    def call(self, verb, **arguments):
        return self.client.call(verb, **arguments)

    def kill(self):
        """As kill -9."""
        self.client.close()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.client.close()
        os.killpg(self.process.pid, signal.SIGTERM)
        equal(self.process.wait(10), 0, "exit code of the collector")

    def socket(self, address=("127.0.0.1", PORT)):
        """A socket in the collector's namespace that is connected to it."""
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        with InNamespace(self.namespace):
            made = socket.socket(family, socket.SOCK_DGRAM)
        made.connect(address)
        return made

    def counter(self, name, **labels):
        return sum(s["value"] for s in self.call("stats_get")["stats"]
                   if s["name"] == f"hopsight_collector_{name}" and
                   all(s.get(key) == value for key, value in labels.items()))

    def get(self, path, port=9465):
        """Asks a server in the namespace."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with InNamespace(self.namespace):
            connection.connect()
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def expect(self, count, name="datagrams_total", limit_s=5):
        until(lambda: self.counter(name) >= count, limit_s, f"{count} {name}")

    def audit(self):
        answer = self.call("audit")
        check(answer["ok"], [one for one in answer["equations"] if not one["ok"]])
        return {one["name"]: one for one in answer["equations"]}

    def pages(self, verb, key, limit=None, **more):
        """All entries, page by page."""
        found, offset = [], 0
        while True:
            page = self.call(verb, offset=offset, **({"limit": limit} if limit else {}), **more)
            found += page[key]
            if "next" not in page:
                return found
            check(page["next"] > offset, page["next"], "does not go on")
            offset = page["next"]


def packet(flow, hops, dscp=0x17):
    """An IP packet of UDP with INT 2.1 MD. flow: source, destination, ports. hops, the source first: (node,
    in port, out port, latency, queue, occupancy, utilisation)."""
    src, dst = ipaddress.ip_address(flow[0]), ipaddress.ip_address(flow[1])
    stack = b"".join(struct.pack("!IHHIII", node, in_port, out_port, latency, queue << 24 | occupancy, used)
                     for node, in_port, out_port, latency, queue, occupancy, used in reversed(hops))
    head = struct.pack("!BBBBHHHH", 0x20, 0, 5, 8, 0xF100, 0, 0, 0)
    shim = struct.pack("!BBBB", 0x10, (len(head) + len(stack)) // 4, 0, 0)
    body = struct.pack("!HHHH", flow[2], flow[3], 8 + len(shim + head + stack), 0) + shim + head + stack
    if src.version == 6:
        return struct.pack("!IHBB", 6 << 28 | dscp << 22, len(body), 17, 64) + src.packed + dst.packed + body
    return struct.pack("!BBHHHBBH", 0x45, dscp << 2, 20 + len(body), 0, 0, 64, 17, 0) + src.packed + dst.packed + body


def report(inner, node=9, hw_id=0, sequence=0, flags=0x20, bits=None, values=b""):
    """A datagram with one report 2.0. inner: a packet of IP, or none. bits, values: RepMdBits."""
    kind = 0 if not inner else 5 if inner[0] >> 4 == 6 else 4
    inner += bytes(-len(inner) % 4)
    body = b"" if bits is None else struct.pack("!HHHH", bits, 0, 0, 0) + values
    words = (len(body) + len(inner)) // 4
    return struct.pack("!IIBBBB", 2 << 28 | hw_id << 22 | sequence & 0x3FFFFF, node,
                       (bits is not None) << 4 | kind, min(words, 255), len(values) // 4, flags) + body + inner


def frame(source, destination, payload, mac, port=PORT, vlans=(), options=b""):
    """An Ethernet frame with a UDP datagram; options are those of IPv4."""
    src, dst = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    body = struct.pack("!HHHH", 5000, port, 8 + len(payload), 0) + payload
    head = bytes.fromhex(mac.replace(":", "")) + bytes.fromhex("02000000aa01")
    head += b"".join(struct.pack("!HH", 0x8100, vlan) for vlan in vlans)
    if src.version == 6:
        return head + struct.pack("!HIHBB", 0x86DD, 6 << 28, len(body), 17, 64) + src.packed + dst.packed + body
    return head + struct.pack("!HBBHHHBBH", 0x0800, 0x45 + len(options) // 4, 0, 20 + len(options) + len(body), 0, 0,
                              64, 17, 0) + src.packed + dst.packed + options + body
