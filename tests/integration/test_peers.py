# SPDX-License-Identifier: BSD-3-Clause
"""Peers on memif that connect and disconnect during traffic."""

import os
import signal
import sys

from lib import Node, Skip, audit_ok, equal, main, memif, netlab, ports, test, until

LOADGEN = os.path.join(netlab.BUILD, "tests", "bench", "loadgen")
PEERS = 50


def node_between_peers(workspace, **config):
    """Servers on both sides, and one worker on the peers' own core, which can lose the core at any
    moment."""
    sockets = [workspace.path(f"{name}.sock") for name in ("in", "out")]
    node = Node(workspace, 1, [memif("in", sockets[0], "server", 0, "host"),
                               memif("out", sockets[1], "server", 1)],
                **{"workers": [0], "control_core": 1, "polling": "busy", **config})
    return node.start(), sockets


def peer(workspace, number, sockets):
    """A generator that sends as much as it can into one port and receives what leaves the other."""
    eal = ["--no-huge", "-m", "512", "--no-shconf", "--no-pci", "--no-telemetry", "--log-level=3",
           f"--file-prefix={workspace.prefix}-peer{number}", "-l", "0"]
    for i, path in enumerate(sockets):
        eal += ["--vdev", f"net_memif{i},role=client,socket={path},socket-abstract=no,rsize=10"]
    return workspace.spawn([LOADGEN, *eal, "--", "--seconds", "20"], log="peers.log")


def received(node):
    return ports(node)["in"]["rx_packets"]


@test(limit_s=150)
def a_node_outlives_fifty_memif_peers_that_leave_in_the_middle_of_traffic(workspace):
    if not os.path.exists(LOADGEN):
        raise Skip("loadgen is not built")
    node, sockets = node_between_peers(workspace)
    for number in range(PEERS):
        before = received(node)
        process = peer(workspace, number, sockets)
        until(lambda: received(node) > before + 5000, 20, f"traffic of peer {number}")
        # If the process is killed, its kernel closes the socket. If it is told to end, its driver
        # disconnects.
        process.send_signal(signal.SIGKILL if number % 2 else signal.SIGINT)
        process.wait(10)
        equal(node.process.poll(), None, f"the node's exit code after peer {number}")
    audit_ok(node)
    workspace.processes = [p for p in workspace.processes if p.poll() is None]


if __name__ == "__main__":
    sys.exit(main())
