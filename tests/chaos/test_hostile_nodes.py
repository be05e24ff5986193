# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and publishers of a controller that send what no node would send."""

import json
import sys
import threading

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


@test(limit_s=120, apart=True)
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


class HostileNode:
    """Answers int_list with the given lists, and everything else like a node."""

    def __init__(self, workspace, rules, in_band):
        self.name, self.api = "evil", f"ipc://{workspace.path('evil')}.api"
        self.page = b'"ok":{"rules":[' + rules + b'],"in_band":[' + in_band + b"]}}"
        self.pages = 0
        self.socket = zmq.Context.instance().socket(zmq.ROUTER)
        self.socket.linger, self.socket.rcvtimeo = 0, 100
        self.socket.bind(self.api)
        self.ended = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while not self.ended:
            try:
                *way, body = self.socket.recv_multipart()
            except zmq.Again:
                continue
            request = json.loads(body)
            head = b'{"id":%d,' % request["id"]
            answer = b'"ok":{"node_id":3,"boot_id":"b"},"generation":1}'
            if "int_list" in request:
                self.pages += 1
                answer = self.page
            self.socket.send_multipart([*way, head + answer])
        self.socket.close()

    def stop(self):
        self.ended = True
        self.thread.join()


@test(limit_s=60, apart=True)
def a_page_of_rules_longer_than_was_asked_for_keeps_nobody_waiting(workspace):
    need()
    said = []
    # Of few values, of many, and of more bytes than a node ever sends.
    for i, (rules, ids) in enumerate(((251, 0), (250, 251), (60000, 60000), (500000, 500000))):
        node = HostileNode(workspace, b",".join([b"{}"] * rules), b",".join([b"1"] * ids))
        controller = Controller(workspace, node, name=f"ctl{i}")
        bystander = Bystander(controller)
        until(lambda node=node: node.pages >= 2, 10, "the controller asks again")
        bystander.stop()
        longest_s = max(bystander.took_s)
        check(longest_s < LONGEST_WAIT_S, f"{rules}, {ids}: a client waited {longest_s:.2f} s")
        if rules < 100000:
            bad = controller.call("node_get")["nodes"][0]["replies_bad"]
            check(bad > 0, f"{rules}, {ids}: {bad} replies refused")
        lives(controller)
        controller.process.kill()
        controller.client.close()
        node.stop()
        said.append(f"{longest_s * 1000:.0f}")
    return f"longest waits {', '.join(said)} ms"


if __name__ == "__main__":
    sys.exit(main(at_once=1))
