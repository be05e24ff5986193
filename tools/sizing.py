#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what memory a node and a collector take: as they start, for each rule, each monitored flow, each worker,
each client and each flow of a collector. Needs root; the processes run in network namespaces of their own.

    sizing.py [--rules 50000] [--flows 500] [--json]

Memory is what a process has in RAM and in huge pages (VmRSS and HugetlbPages of /proc/PID/status). Each figure is a
difference, divided by the number of what was added between two looks."""

import argparse
import json
import os
import re
import socket
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import netlab  # noqa: E402
from workspace import InNamespace, Workspace, run  # noqa: E402

A, B = "2001:db8::1", "2001:db8::2"
CLIENTS = 100
SETTLED_S, LIMIT_S = 0.5, 20
COLLECTOR_PORT = 32766


def memory_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return 1024 * sum(int(kib) for kib in re.findall(r"^(?:VmRSS|HugetlbPages):\s+(\d+) kB", file.read(), re.M))


def settled(pid):
    """Returns the memory of a process when it has not changed for a while."""
    value, since, end = memory_bytes(pid), time.monotonic(), time.monotonic() + LIMIT_S
    while time.monotonic() < min(since + SETTLED_S, end):
        time.sleep(0.05)
        now = memory_bytes(pid)
        if now != value:
            value, since = now, time.monotonic()
    return value


def until(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"within {LIMIT_S} s: {what}")
        time.sleep(0.05)


class Growth:
    """The memory of a process between two looks."""

    def __init__(self, pid):
        self.pid = pid
        self.before = settled(pid)

    def each(self, number):
        return round((settled(self.pid) - self.before) / number)


def node_with(workspace, name, **config):
    """Starts a node whose two ports lead nowhere."""
    ports = [{"name": side, "devargs": f"net_ring{number}", "side": side} for number, side in
             enumerate(("host", "network"))]
    return netlab.Node(workspace, 1, ports, name=name, **config).start()


def install(node, numbers):
    for first in range(numbers.start, numbers.stop, 1000):
        node.client.transaction([{"int_request": netlab.rule(ns_id, A, B, dst_port=ns_id)}
                                 for ns_id in range(first, min(first + 1000, numbers.stop))])


def sizes_of_nodes(workspace, rules):
    """Returns the memory that a node takes without traffic."""
    state = workspace.path("state")
    small = node_with(workspace, "small", memory={"rules": 1000})
    rows = {"node": memory_bytes(small.process.pid)}
    growth = Growth(small.process.pid)
    clients = [netlab.Client(small.api) for _ in range(CLIENTS)]
    for client in clients:
        client.call("hello")
    rows["client"] = growth.each(CLIENTS)
    for client in clients:
        client.close()
    large = node_with(workspace, "large", memory={"rules": rules + 1000}, state={"file": state})
    rows["rule_place"] = round((settled(large.process.pid) - rows["node"]) / rules)
    install(large, range(1, 1 + rules // 4))  # memory that requests use again and again
    growth = Growth(large.process.pid)
    install(large, range(1 + rules // 4, 1 + rules))
    rows["rule"] = growth.each(rules - rules // 4)
    rows["rule_in_state"] = round(os.path.getsize(state) / rules)
    two = node_with(workspace, "two", memory={"rules": 1000}, workers=[0, 1])
    rows["worker"] = memory_bytes(two.process.pid) - rows["node"]
    for node in (small, large, two):
        node.stop()
    return rows


def size_of_a_monitored_flow(workspace, flows):
    """Returns the memory that a sink takes for a flow whose packets carry telemetry."""
    chain = netlab.Chain(workspace, 2, memory={"monitored_rules": flows + 1})
    chain.start()
    for node in chain.nodes:
        install(node, range(1, 1 + flows))
    sink = chain.nodes[-1]
    growth = Growth(sink.process.pid)
    with InNamespace(chain.hosts[0].namespace):
        sender = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    for number in range(2 * flows):
        sender.sendto(b"packet", (B, 1 + number % flows))
        time.sleep(0.0005)

    def monitored():
        stats = sink.call("stats_get")["stats"]
        return next(s["value"] for s in stats if s["name"] == "hopsight_rules_monitored") == flows

    until(monitored, "every flow is monitored")
    return growth.each(flows)


def size_of_a_collected_flow(workspace, flows):
    namespace = workspace.namespace("collector")
    api = f"ipc://{workspace.path('collector.api')}"
    config = workspace.path("collector.json")
    with open(config, "w", encoding="ascii") as file:
        json.dump({"name": f"{workspace.prefix}-c", "listen": [{"udp": f"127.0.0.1:{COLLECTOR_PORT}"}],
                   "control": {"bind": [api]}, "push_interval_s": 0}, file)
    collector = workspace.spawn([os.path.join(netlab.BUILD, "apps", "hopsight-collector"), "--config", config],
                                namespace=namespace, log="collector.log")
    client = netlab.Client(api)
    client.call("hello")
    _collect(namespace, client, flows)  # memory of the sockets and of the rings
    growth = Growth(collector.pid)
    _collect(namespace, client, 2 * flows)
    return growth.each(flows)


def _collect(namespace, client, flows):
    run("ip", "netns", "exec", namespace, sys.executable, os.path.join(HERE, "reports.py"),
        f"127.0.0.1:{COLLECTOR_PORT}", "--flows", str(flows), "--count", str(flows), "--rate", "10000", "--hops", "3")
    until(lambda: any(s["name"] == "hopsight_collector_flows" and s["value"] == flows
                      for s in client.call("stats_get")["stats"]), "every flow is known")


ROWS = {"node": "a node with 1,000 places for rules, 8,192 buffers, one worker and no traffic",
        "worker": "each further worker", "client": "each client of the API", "rule_place": "each place for a rule (memory.rules)",
        "rule": "each rule, in addition to its place", "monitored_flow": "each monitored flow at its sink, after two reports",
        "rule_in_state": "each rule in the file of the state", "collected_flow": "each flow of a collector, with three hops"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", type=int, default=50000, help="rules of a node, up to 65,535 (default 50000)")
    parser.add_argument("--flows", type=int, default=500, help="monitored flows; a collector gets 20 times as many (default 500)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hs-") as folder:
        workspace = Workspace(folder)
        try:
            rows = {**sizes_of_nodes(workspace, words.rules),
                    "monitored_flow": size_of_a_monitored_flow(workspace, words.flows),
                    "collected_flow": size_of_a_collected_flow(workspace, 20 * words.flows)}
        finally:
            workspace.close()
    if words.json:
        print(json.dumps({name: rows[name] for name in ROWS}))
        return
    print("| bytes | of |\n|---|---|")
    for name, text in ROWS.items():
        print(f"| {rows[name]:,} | {text} |")


if __name__ == "__main__":
    main()
