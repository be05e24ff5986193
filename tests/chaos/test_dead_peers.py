# SPDX-License-Identifier: BSD-3-Clause
"""Peers that die while their queues are full."""

import json
import os
import signal
import sys
import time

import zmq

from lib import audit_ok, main, need, test
from targets import Controller, fork_client, kill, lives, ring_node

# What libzmq did in time: heartbeats of one second.
PERIOD_S = 1.2


def greedy(endpoint):
    """Asks for more than it takes, and for signs of life beside."""
    dealer = zmq.Context().socket(zmq.DEALER)
    dealer.linger, dealer.rcvhwm, dealer.sndtimeo = 0, 1, 1000
    dealer.heartbeat_ivl = 100
    dealer.connect(endpoint)
    body = json.dumps([{"stats_get": {}}] * 200).encode()
    try:
        for _ in range(200):
            dealer.send_multipart([b"", body])
    except zmq.Again:
        pass
    time.sleep(0.5)
    return dealer


@test(limit_s=120)
def a_client_killed_before_its_replies_were_taken_ends_neither_node_nor_controller(workspace):
    need()
    node = ring_node(workspace)
    controller = Controller(workspace, node)
    for target in (node, controller):
        for stop_first in (False, True):
            child = fork_client(lambda at=target.api: greedy(at))
            if stop_first:
                os.kill(child, signal.SIGSTOP)
            time.sleep(PERIOD_S)
            kill(child)
            time.sleep(PERIOD_S)
            lives(node, controller)
    audit_ok(node)


if __name__ == "__main__":
    sys.exit(main())
