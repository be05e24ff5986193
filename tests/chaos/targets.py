# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and controllers that need no interface, and how well they bear what is done to them."""

import ctypes
import json
import os
import signal
import threading
import time

import zmq

from lib import Node, check, equal, until
from netlab import BUILD, Client


_PR_SET_PDEATHSIG = 1


def ring_node(workspace, name="n3", started=True, **config):
    """Two ring ports: nothing comes in, and all of the API is there."""
    ports = [{"name": port, "devargs": f"net_ring{i}", "side": side}
             for i, (port, side) in enumerate((("in", "host"), ("out", "network")))]
    node = Node(workspace, 3, ports, name=name, **config)
    return node.start() if started else node


class Controller:
    """hopsight-controller of one node."""

    def __init__(self, workspace, node, name="ctl", **control):
        self.name, self.api = name, f"ipc://{workspace.path(name)}.api"
        self.reports = f"ipc://{workspace.path(name)}.sub"
        self.publisher = f"ipc://{workspace.path(name)}.pub"
        path = workspace.path(f"{name}.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump({"control": {"bind": [self.api], "publish_bind": [self.publisher],
                                   "subscribe_bind": [self.reports], **control},
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
        """Does the node answer it?"""
        return self.call("node_get")["nodes"][0]["reachable"]


def resident_bytes(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmRSS"))


def kill(child):
    """One of fork_client, as kill -9 does."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def fork_client(behave, wait=True):
    """behave(), in a process of its own that then waits to be killed; until it has done so."""
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
    """A client that asks all the time, and the times that it waited."""

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
        """The 99th percentile, in seconds."""
        self.ended = True
        self.thread.join()
        check(self.failure is None, f"another client was not answered: {self.failure!r}")
        took = sorted(self.took_s)
        return took[len(took) * 99 // 100]


def lives(*targets):
    for target in targets:
        equal(target.process.poll(), None, f"exit code of {target.name}")
        target.call("hello")
