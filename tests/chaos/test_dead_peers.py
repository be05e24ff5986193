# SPDX-License-Identifier: BSD-3-Clause
"""Peers that die while their queues are full, for every kind of socket of nodes and controllers.
Some send heartbeats: libzmq aborted in the answers to these."""

import json
import os
import signal
import socket
import sys
import threading
import time

import zmq

from lib import audit_ok, main, need, test, until
from netlab import veth
from targets import (Controller, fork_client, kill, lives, patient, reporting_node,
                     ring_node)
from workspace import run
from zmtp import MORE, Zmtp, frame, ping, request

# The interval of libzmq's own heartbeats, which detected the dead peer, was a second.
PERIOD_S = 1.2
_KEPT = []  # sockets that only the death of their process closes


def greedy(endpoint):
    """Asks for more than it takes, with 190 KB an answer, and sends heartbeats."""
    dealer = zmq.Context.instance().socket(zmq.DEALER)
    _KEPT.append(dealer)
    dealer.linger, dealer.rcvhwm, dealer.sndtimeo = 0, 1, 300
    dealer.heartbeat_ivl = 100
    dealer.connect(endpoint)
    body = json.dumps([{"stats_get": {}}] * 8).encode()
    try:
        for _ in range(200):
            dealer.send_multipart([b"", body])
    except zmq.Again:
        pass


@test(limit_s=120)
def a_client_killed_before_its_replies_were_taken_ends_neither_node_nor_controller(workspace):
    need()
    node = ring_node(workspace)
    controller = Controller(workspace, node)
    for stop_first in (False, True):
        children = [fork_client(lambda at=target.api: greedy(at)) for target in (node, controller)]
        for child in children if stop_first else ():
            os.kill(child, signal.SIGSTOP)
        time.sleep(PERIOD_S)
        for child in children:
            kill(child)
        time.sleep(PERIOD_S)
        lives(node, controller)
    audit_ok(node)


def listen_tcp():
    """Returns a free endpoint on loopback."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{sock.getsockname()[1]}"


def flood(endpoint, kind, data):
    """Sends until the socket is full, reads nothing, and is reset in the middle of a message."""
    connection = Zmtp(endpoint, kind)
    if kind == "SUB":
        connection.send(frame(b"\x01"))
        time.sleep(0.3)
    connection.send_some((data + ping()) * (4000000 // len(data)))
    connection.reset()


@test(limit_s=120)
def connections_reset_in_the_middle_of_everything_end_nothing(workspace):
    need()
    node_at, listeners_at, api_at, reports_at = (listen_tcp() for _ in range(4))
    node = reporting_node(workspace, control={"publish_queue": 4, "publish_bind": [listeners_at]})
    node.config["control"]["bind"].append(node_at)
    node.start()
    controller = Controller(workspace, node, bind=[api_at], subscribe_bind=[reports_at])
    hello, report = request(b'{"hello": {}}'), frame(b"report.1", MORE) + frame(b"{}" * 200)
    for _ in range(2):
        threads = [threading.Thread(target=flood, args=arguments) for arguments in (
            (node_at, "DEALER", hello), (node_at, "DEALER", request(b'{"node_get": {}}')),
            (node_at, "REQ", frame(bytes(1000), MORE)), (listeners_at, "SUB", ping()),
            (api_at, "DEALER", hello), (reports_at, "PUB", report),
            (reports_at, "PUB", frame(b"report.1", MORE)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(0.3)
        lives(node, controller)
    audit_ok(patient(node))


def deaf(workspace, endpoint, bound):
    """Another process that subscribes to everything and reads nothing."""
    return workspace.spawn([sys.executable, "-c", f"""
import time, zmq
context = zmq.Context()
listener = context.socket(zmq.SUB)
listener.rcvhwm = 1
listener.subscribe("")
listener.{"bind" if bound else "connect"}({endpoint!r})
for _ in range(6000):
    listener.get(zmq.EVENTS)  # subscribes to the peers that came
    time.sleep(0.1)
"""], log="deaf.log")


@test(limit_s=120)
def subscribers_killed_or_stopped_while_their_queues_are_full_end_no_node(workspace):
    need()
    controller_at = f"ipc://{workspace.path('deaf.sub')}"
    node = reporting_node(workspace, control={"publish_queue": 4, "publish_to": [controller_at]})
    node.start()
    for stop_first in (False, True):
        before = node.call("node_get")["reports_publish_lost"]
        children = [deaf(workspace, controller_at, True), deaf(workspace, node.publisher, False)]
        until(lambda was=before: node.call("node_get")["reports_publish_lost"] > was + 1000, 10,
              "their queues are full")
        for child in children if stop_first else ():
            child.send_signal(signal.SIGSTOP)
        time.sleep(PERIOD_S)
        for child in children:
            child.kill()
            child.wait()
        time.sleep(PERIOD_S / 2)
        lives(node)
    audit_ok(patient(node))


def false_node(listener):
    """Answers a controller with more than it asked for, and closes the connection in the middle."""
    while True:
        peer, _ = listener.accept()
        try:
            node = Zmtp(None, "ROUTER", accepted=peer)
            node.receive()
            node.send_some((frame(b'{"ok": {}}') + ping()) * 100000)
            node.reset()
        except (OSError, ConnectionError):
            peer.close()


@test(limit_s=60)
def a_node_that_answers_too_much_and_dies_ends_no_controller(workspace):
    need()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    threading.Thread(target=false_node, args=(listener,), daemon=True).start()
    node = ring_node(workspace, started=False)
    node.api = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    controller = Controller(workspace, node)
    time.sleep(3 * PERIOD_S)
    lives(controller)


@test(limit_s=60)
def a_machine_that_vanishes_is_noticed_by_the_kernel(workspace):
    need("ethtool")
    here, there = workspace.namespace("here"), workspace.namespace("there")
    veth(here, "eth0", there, "eth0")
    for namespace, address in ((here, "192.0.2.1/24"), (there, "192.0.2.2/24")):
        run("ip", "-n", namespace, "addr", "add", address, "dev", "eth0")
    node = ring_node(workspace, started=False, namespace=here,
                     control={"insecure": True})
    node.config["control"]["bind"].append("tcp://192.0.2.1:5555")
    node.start()
    client = workspace.spawn([sys.executable, "-c", "import socket, sys, time\n"
                              f"sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
                              "import zmtp\n"
                              "one = zmtp.Zmtp('tcp://192.0.2.1:5555')\n"
                              "two = zmtp.Zmtp('tcp://192.0.2.1:5555')\n"
                              "two.send_some(zmtp.request(b'{\"node_get\": {}}') * 20000)\n"
                              "time.sleep(600)\n"], namespace=there, log="client.log")

    def connections():
        stats = {s["name"]: s["value"] for s in node.call("stats_get")["stats"]}
        return stats["hopsight_connections_total"] - stats["hopsight_disconnections_total"]

    before = connections()
    until(lambda: connections() == before + 2, 10, "two connections")
    time.sleep(1)
    run("ip", "-n", there, "link", "set", "eth0", "down")
    until(lambda: connections() == before, 40, "the kernel has noticed")
    lives(node)
    client.kill()


if __name__ == "__main__":
    sys.exit(main())
