# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and publishers of a controller that send what no node would send."""

import sys
import time

import zmq

from lib import check, equal, main, need, test, until
from targets import Bystander, Controller, fork_client, kill, lives, resident_bytes, ring_node

LONGEST_WAIT_S = 1.0


def publish(endpoint, messages):
    """Sends the messages as a publisher, once the controller subscribes."""
    publisher = zmq.Context.instance().socket(zmq.XPUB)
    publisher.linger, publisher.sndhwm = -1, 0
    publisher.connect(endpoint)
    publisher.recv()
    for message in messages:
        publisher.send_multipart([b"report.1", message])


def monitor(controller):
    return controller.call("node_get")["monitor"]


@test(limit_s=120)
def huge_messages_of_a_publisher_keep_nobody_waiting(workspace):
    need()
    node = ring_node(workspace)
    controller = Controller(workspace, node)
    until(controller.sees_the_node, 5, "the controller sees the node")
    unreachable = controller.call("node_get")["nodes"][0]["timeouts"]
    empty = b'{"zz":{"node_id":3,"a":[' + b"[]," * 1300000 + b"[]]}}"
    window = b'{"qos_report":{"node_id":3,"ns_id":%d,"window_ns":1000000000,"pad":"%s"}}'
    windows = [window % (i + 1, b"x" * 3900000) for i in range(30)]
    before, bystander = resident_bytes(controller.process), Bystander(controller)
    client = fork_client(lambda: publish(controller.reports, [empty] * 30 + windows), wait=False)
    until(lambda: monitor(controller)["messages_too_large"] == 60, 60,
          lambda: f"messages dropped: {monitor(controller)}")
    bystander.stop()
    longest_s = max(bystander.took_s)
    grown = (resident_bytes(controller.process) - before) / (1 << 20)
    kill(client)
    check(longest_s < LONGEST_WAIT_S, f"a client waited {longest_s:.2f} s")
    check(grown < 60, f"{grown:.0f} MiB")
    equal(controller.call("node_get")["nodes"][0]["timeouts"], unreachable, "timeouts of the node")
    check(controller.sees_the_node(), "the node is reachable")
    lives(node, controller)
    return f"longest wait {longest_s * 1000:.0f} ms, {grown:.0f} MiB"


if __name__ == "__main__":
    sys.exit(main(at_once=1))
