# SPDX-License-Identifier: BSD-3-Clause
"""Common functions of the integration tests: packet sockets, subscriptions, and checks of
audits."""

import collections
import json
import os
import re
import select
import shutil
import socket
import struct
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(os.path.dirname(TESTS), "tools")]

import zmq  # noqa: E402
import zmq.utils.monitor  # noqa: E402

import json_schemas  # noqa: E402
import netlab  # noqa: E402
from harness import Skip, check, equal, in_time, main, test, until  # noqa: E402,F401
from netlab import Chain, Host, Node, Refused, iface, memif, paused, pcap, rule, veth  # noqa: E402,F401
from workspace import InNamespace, run  # noqa: E402,F401

_ETH_P_ALL = 3
_AF_XDP = 44
PACKET_OUTGOING = 4
SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35


# What a node or controller says in any of these tests is what docs/schema says: the first messages of
# each kind in each test, because a validator in Python is slow.
_LOOKS = 20
_looks = collections.Counter()


def _is_looked_at(kind):
    _looks[kind] += 1
    return json_schemas.jsonschema is not None and _looks[kind] <= _LOOKS


def _checked(raw):
    def ask(client, message):
        text = raw(client, message)
        try:
            request = json.loads(message)
        except (ValueError, RecursionError):  # what Python cannot read, a node refuses
            request = None
        reply = json.loads(text)
        kind = json_schemas.verb_of(request) if "ok" in reply else "error"
        if not _is_looked_at(kind):
            return text
        for complaint in json_schemas.exchange_complaints(request, reply):
            check(complaint is None, complaint)
        return text

    return ask


netlab.Client.raw = _checked(netlab.Client.raw)


def need(*programs):
    if os.geteuid() != 0:
        raise Skip("not root")
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")


def need_af_xdp():
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW).close()
    except OSError as reason:
        raise Skip(f"no af_xdp on this machine: {reason}") from reason


class RawPort:
    """Sends and receives whole frames on an interface of a namespace."""

    def __init__(self, namespace, interface):
        with InNamespace(namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
            self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self.socket.bind((interface, _ETH_P_ALL))
        self.namespace = namespace

    def send(self, *frames):
        for frame in frames:
            self.socket.send(frame)

    def receive(self, limit_s=2.0):
        """Returns the next frame from outside and its arrival by the kernel in ns, or None at the
        limit."""
        end = time.monotonic() + limit_s
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                return None
            frame, controls, _, sender = self.socket.recvmsg(65536, 256)
            if sender[2] == PACKET_OUTGOING:
                continue
            for level, kind, data in controls:
                if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                    seconds, ns = struct.unpack("qq", data)
                    return frame, seconds * 1000000000 + ns
            return frame, 0

    def collect(self, n, limit_s=5.0, wanted=lambda frame: True):
        """Returns n wanted frames, or as many as came within the limit."""
        end, frames = time.monotonic() + limit_s, []
        while len(frames) < n:
            got = self.receive(max(0, end - time.monotonic()))
            if got is None:
                break
            if wanted(got[0]):
                frames.append(got[0])
        return frames


class Subscriber:
    """Messages that nodes publish: from one endpoint, or bound for nodes to connect to."""

    def __init__(self, endpoint, topic="", bind=False):
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.rcvhwm = 0
        self.socket.linger = 0
        self.socket.subscribe(topic)
        self.monitor = self.socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        if bind:
            self.socket.bind(endpoint)
        else:
            self.socket.connect(endpoint)

    def receive(self, limit_s=3.0):
        """Returns (topic, object) or None."""
        if not self.socket.poll(int(limit_s * 1000)):
            return None
        parts = self.socket.recv_multipart()
        topic, message = parts[0].decode(), json.loads(parts[1])
        if _is_looked_at(topic.split(".")[0]):
            check(json_schemas.publication_complaint(topic, message) is None,
                  json_schemas.publication_complaint(topic, message))
        return topic, message

    def collect(self, n, limit_s=5.0, topic=""):
        """Returns the first n messages whose topics begin like this; a node also publishes
        events."""
        end, messages = time.monotonic() + limit_s, []
        while len(messages) < n:
            message = self.receive(max(0, end - time.monotonic()))
            if message is None:
                break
            if message[0].startswith(topic):
                messages.append(message)
        return messages

    def wait_connected(self, node, limit_s=5):
        """One thread of the node answers requests and takes subscriptions. A subscription that was
        sent before a request is therefore in force after the reply."""
        found = self.monitor.poll(int(limit_s * 1000))
        check(found, "no connection to the publisher")
        zmq.utils.monitor.recv_monitor_message(self.monitor)
        for _ in range(3):
            node.call("node_get")


def ring_node(workspace, node_id=3, **config):
    """A node that needs no interfaces."""
    ring_ports = [{"name": name, "devargs": f"net_ring{i}", "side": side}
                  for i, (name, side) in enumerate((("in", "host"), ("out", "network")))]
    return Node(workspace, node_id, ring_ports, **config)


def labelling_node(workspace, node_id):
    """A node that needs no interfaces and labels."""
    node = ring_node(workspace, node_id, profiles={"lb": {"method": "label"}},
                     export=[{"format": "label", "to": "127.0.0.1:32767"}])
    node.config["ports"][1]["profile"] = "lb"
    return node


def ports(node):
    """Returns the counters of a node's ports by name."""
    return {port["name"]: port for port in node.call("ports_get")["ports"]}


def since_start(node, name, key):
    """Returns a port's counter minus its value when the chain was complete."""
    return ports(node)[name][key] - node.at_start.get(name, {}).get(key, 0)


def drops(node):
    """Returns every reason that dropped packets since the chain was complete, over all ports."""
    found = {}
    for name, port in ports(node).items():
        before = node.at_start.get(name, {}).get("drops", {})
        for reason, count in port["drops"].items():
            if count > before.get(reason, 0):
                found[reason] = found.get(reason, 0) + count - before.get(reason, 0)
    return found


def echo_replies(host):
    """The answers to pings that the host's kernel has received, of IPv4 and IPv6."""
    names, values = [line.split() for line in host.run("cat", "/proc/net/snmp").splitlines()
                     if line.startswith("Icmp:")]
    of_ipv6 = re.search(r"Icmp6InEchoReplies\s+(\d+)", host.run("cat", "/proc/net/snmp6"))
    return int(values[names.index("InEchoReps")]) + int(of_ipv6.group(1))


def all_answered(host, before, count, output):
    """All pings of a host are answered: the kernel's count says so, because ping waits for the last answer
    no longer than between two requests."""
    until(lambda: echo_replies(host) - before >= count, 2, lambda: f"{count} answers: {output}")


def pings(host, count, *words):
    """Pings so often, and returns what ping said. All are answered."""
    before = echo_replies(host)
    output = host.run("ping", "-c", str(count), *words)
    all_answered(host, before, count, output)
    return output


def audit_ok(*nodes):
    for node in nodes:
        audit = node.call("audit")
        check(audit["ok"], f"{node.name}: the audit does not add up: {json.dumps(audit)}")


def quiet(node, limit_s=5):
    """Waits until no port of the node has received anything for a tenth of a second."""
    state = {"packets": None, "since": time.monotonic()}

    def still():
        packets = [(p["rx_packets"], p["tx_packets"]) for p in ports(node).values()]
        if packets != state["packets"]:
            state["packets"], state["since"] = packets, time.monotonic()
        return time.monotonic() - state["since"] > 0.1

    until(still, limit_s, f"{node.name} is quiet")


def events(node, kind=None, since=0):
    listed = node.call("events", since=since)["events"]
    return [e for e in listed if kind is None or e["kind"] == kind]


def reasons(node, ns_id):
    """What explain says of a rule, without what the machine's clock adds, by the words for scripts."""
    found = {one["reason"]: one for one in node.call("explain", ns_id=ns_id)["reasons"]}
    found.pop("clock", None)
    return found
