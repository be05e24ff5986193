# SPDX-License-Identifier: BSD-3-Clause
"""Clients that want more than their share of memory, connections and replies."""

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import time

import zmq

from attack import SECONDS
from lib import audit_ok, check, equal, events, in_time, main, need, test, until
from netlab import BUILD, Client
from targets import Bystander, Controller, fork_client, kill, lives, resident_bytes, ring_node
from zmtp import HELLO, MORE, Zmtp, frame, ping, request

MIB = 1 << 20
# For two busy cores. docs/operating.md gives the values of an idle machine.
P99_S = 0.05


def command(*words):
    subprocess.run([os.path.join(BUILD, "apps", "hopsight"), *words], check=True, timeout=30,
                   stdout=subprocess.DEVNULL)


def counter(node, name):
    return next(s["value"] for s in node.call("stats_get")["stats"] if s["name"] == name)


def total(node, name):
    return counter(node, f"hopsight_{name}_total")


def grown_mib(target, before):
    return (resident_bytes(target.process) - before) / MIB


def endless(endpoint, size):
    """Returns parts of a message that never ends."""
    try:
        connection, part = Zmtp(endpoint), frame(bytes(size), MORE) * max(1, 65536 // (size + 2))
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            connection.send_some(part)
    except (OSError, ConnectionError):
        pass


@test(limit_s=120, looks=3, apart=True)
def a_message_without_end_costs_a_bounded_amount_and_its_connection(workspace):
    need()
    node = ring_node(workspace)
    controller = Controller(workspace, node)
    targets = (node, controller)
    before = [resident_bytes(target.process) for target in targets]
    bystanders = [Bystander(target) for target in targets]
    clients = [fork_client(lambda at=endpoint, n=size: endless(at, n), wait=False)
               for endpoint in (node.api, node.publisher, controller.api, controller.reports)
               for size in (0, 100, 1000000)]
    time.sleep(SECONDS + 2.5)
    grown = [grown_mib(target, was) for target, was in zip(targets, before)]
    p99_s = [bystander.stop() for bystander in bystanders]
    for client in clients:
        kill(client)
    said = "; ".join(f"{target.name} {mib:.0f} MiB, p99 {s * 1000:.1f} ms"
                     for target, mib, s in zip(targets, grown, p99_s))
    check(max(grown) < 100, said)
    check(in_time(max(p99_s), P99_S), said)
    lives(*targets)
    check(total(node, "connections_closed") > 0, "nobody was closed")
    for target in targets:
        check(events(target, "connection_refused"), f"no event of {target.name} told of it")
    audit_ok(node)
    return said


def subscribe(endpoint, n):
    listener = zmq.Context.instance().socket(zmq.SUB)
    listener.linger, listener.sndhwm = 0, 0
    listener.connect(endpoint)
    for i in range(n):
        listener.subscribe(os.urandom(20))
    time.sleep(SECONDS)


@test(limit_s=90, looks=3, apart=True)
def subscriptions_without_number_cost_a_bounded_amount(workspace):
    need()
    node = ring_node(workspace)
    before, bystander = resident_bytes(node.process), Bystander(node)
    clients = [fork_client(lambda: subscribe(node.publisher, 30000), wait=False)
               for _ in range(3)]
    time.sleep(SECONDS + 2)
    grown, p99_s = grown_mib(node, before), bystander.stop()
    for client in clients:
        kill(client)
    check(total(node, "connections_closed") > 0, "nobody was closed")
    check(grown < 150, f"{grown:.0f} MiB")
    check(in_time(p99_s, P99_S), f"p99 of another client {p99_s * 1000:.1f} ms")
    lives(node)
    audit_ok(node)
    return f"{grown:.0f} MiB, p99 {p99_s * 1000:.1f} ms"


@test(limit_s=90, looks=3, apart=True)
def every_one_of_10_000_pipelined_requests_is_answered_in_order(workspace):
    need()
    node = ring_node(workspace)
    before = resident_bytes(node.process)
    dealer = zmq.Context().socket(zmq.DEALER)
    dealer.linger, dealer.sndhwm, dealer.rcvhwm = 0, 0, 1
    dealer.rcvtimeo = 20000
    dealer.connect(node.api)
    for i in range(10000):
        dealer.send_multipart([b"", json.dumps({"id": i, "int_get": {"ns_id": 1}}).encode()])
    time.sleep(1)  # nothing is taken, so not all can have been answered
    lives(node)
    for i in range(10000):
        equal(json.loads(dealer.recv_multipart()[-1])["id"], i, "the reply's id")
    equal(total(node, "replies_lost"), 0, "replies lost")
    dealer.close()
    # Nobody takes these large replies, and they do not fit into any buffer.
    bystander = Bystander(node)
    greedy = Zmtp(node.api)
    greedy.send_some(request(b'{"stats_get": {}}') * 20000)
    time.sleep(1)
    grown, p99_s = grown_mib(node, before), bystander.stop()
    check(grown < 60, f"{grown:.0f} MiB")
    check(in_time(p99_s, P99_S), f"p99 of another client {p99_s * 1000:.1f} ms")
    for _ in range(1000):
        check(b'"ok"' in greedy.reply(), "a reply")
    equal(total(node, "replies_lost"), 0, "replies lost")
    greedy.close()
    lives(node)
    audit_ok(node)
    return f"{grown:.0f} MiB, p99 {p99_s * 1000:.1f} ms"


def hold_connections(endpoint, n, first=HELLO):
    """Opens n connections that then send nothing."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, most), most))
    for _ in range(n):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(endpoint[len("ipc://"):])
        try:
            connection.send(first)
        except OSError:
            pass
        connection.detach()


@test(limit_s=120, looks=3, apart=True)
def two_thousand_connections_cost_a_bounded_amount_and_leave_others_a_place(workspace):
    need()
    node = ring_node(workspace)
    before, bystander = resident_bytes(node.process), Bystander(node)
    client = fork_client(lambda: hold_connections(node.api, 2000))
    grown, p99_s = grown_mib(node, before), bystander.stop()
    check(grown < 150, f"{grown:.0f} MiB")
    check(in_time(p99_s, P99_S), f"p99 of another client {p99_s * 1000:.1f} ms")
    other = Client(node.api)
    other.call("hello")
    check(total(node, "connections_refused") > 0, "nobody was refused")
    kill(client)
    lives(node)
    audit_ok(node)
    return f"{grown:.0f} MiB, p99 {p99_s * 1000:.1f} ms"


@test(limit_s=120, looks=3, apart=True)
def descriptors_that_run_out_refuse_connections_and_end_nothing(workspace):
    need()
    for name in ("node", "controller"):
        command("keygen", name, "--dir", workspace.path("."))
    allowed = workspace.path("allowed")
    os.mkdir(allowed)
    shutil.copy(workspace.path("controller.pub"), allowed)
    keys = {"secret": workspace.path("node.secret"), "allowed": allowed}
    node = ring_node(workspace, control={"keys": keys}, started=False)
    node.client.keys = (workspace.path("controller.secret"), workspace.path("node.pub"))
    node.start()
    soft, hard = resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE)
    check(soft == min(hard, 65536), f"a soft limit of {soft}, and {hard} would have been allowed")
    resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE, (300, 300))
    before, bystander = resident_bytes(node.process), Bystander(node)
    clients = [fork_client(lambda at=endpoint: hold_connections(at, 400, b""), wait=False)
               for endpoint in (node.api, node.publisher)]
    folder, held, end = f"/proc/{node.process.pid}/fd", 0, time.monotonic() + 2
    while time.monotonic() < end and node.process.poll() is None:
        held = max(held, len(os.listdir(folder)))
    # The directory changes while the node cannot read it.
    shutil.copy(workspace.path("node.pub"), allowed)
    lives(node)
    check(200 < held < 300, f"{held} descriptors")
    check(total(node, "connections_refused") > 0, "nobody was refused")
    p99_s = bystander.stop()
    for client in clients:
        kill(client)
    check(in_time(p99_s, P99_S), f"p99 of another client {p99_s * 1000:.1f} ms")
    until(lambda: node.call("hello"), 5, "a place for others")
    check(grown_mib(node, before) < 100, "memory")
    return f"{held} descriptors of 300, p99 {p99_s * 1000:.1f} ms"


@test(limit_s=120, apart=True)
def signs_of_life_cost_nothing_that_lasts(workspace):
    need()
    node = ring_node(workspace)
    for endpoint, kind in ((node.api, "DEALER"), (node.publisher, "SUB")):
        connection = Zmtp(endpoint, kind)
        for _ in range(5000):  # 20,000 frames: more than a connection may hold
            connection.send(ping(context=b"x" * 16) * 4)
            for _ in range(4):
                equal(connection.receive()[1], b"\x04PONG" + b"x" * 16, "the answer")
        connection.close()
    equal(total(node, "connections_closed"), 0, "connections closed")
    lives(node)


if __name__ == "__main__":
    sys.exit(main())
