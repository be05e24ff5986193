# SPDX-License-Identifier: BSD-3-Clause
"""What a running node and a running controller have given up, as the kernel reports it."""

import json
import os

import netlab
from lib import Chain, check, equal, need, need_af_xdp, ports, ring_node, test, until

NET_ADMIN, NET_RAW, NET_BIND_SERVICE = 1 << 12, 1 << 13, 1 << 10
IPC_LOCK, SYS_ADMIN, SYS_RESOURCE = 1 << 14, 1 << 21, 1 << 24


def threads(pid):
    """Returns the status of each thread: name to text."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as file:
            found.append(dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line))
    return found


def expect_given_up(pid, kept, n_threads):
    filtered = not netlab.BUILD.endswith(("asan", "tsan"))  # sanitizers make calls of their own
    found = threads(pid)
    check(len(found) >= n_threads, [t["Name"] for t in found])
    for thread in found:
        for key in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb"):
            check(int(thread[key], 16) & ~kept == 0, thread["Name"], key, thread[key])
        equal(thread["NoNewPrivs"], "1", thread["Name"])
        equal(thread["Seccomp"], "2" if filtered else "0", thread["Name"])
    return found


@test()
def no_thread_of_a_node_without_interfaces_has_any_capability(workspace):
    need()
    node = ring_node(workspace).start()
    expect_given_up(node.process.pid, 0, 5)
    sandbox = node.call("node_get")["sandbox"]
    equal((sandbox["enabled"], sandbox["capabilities"]), (True, []), "node_get")
    node.stop()


@test()
def a_node_on_interfaces_keeps_those_of_packet_sockets(workspace):
    need()
    chain = Chain(workspace, 2).start()
    kept = NET_ADMIN | NET_RAW
    for thread in expect_given_up(chain.nodes[0].process.pid, kept, 5):
        equal(int(thread["CapEff"], 16), kept, thread["Name"])


@test()
def a_node_on_af_xdp_forwards_with_what_it_keeps(workspace):
    need("ping")
    need_af_xdp()
    chain = Chain(workspace, 1)
    node = chain.nodes[0]
    for port in node.config["ports"]:
        port["driver"] = "af_xdp"
    chain.start()
    chain.hosts[0].run("ping", "-q", "-c", "3", "-i", "0.02", chain.hosts[1].address)
    equal({port["driver"] for port in ports(node).values()}, {"net_af_xdp"}, "drivers")
    expect_given_up(node.process.pid, NET_ADMIN | NET_RAW | IPC_LOCK | SYS_ADMIN | SYS_RESOURCE, 5)


@test()
def a_node_that_is_told_so_keeps_everything(workspace):
    need()
    node = ring_node(workspace, sandbox=False).start()
    main = threads(node.process.pid)[0]
    equal((main["NoNewPrivs"], main["Seccomp"]), ("0", "0"), "nothing is given up")
    check("sandbox off" in node.log(), node.log())
    equal(node.call("node_get")["sandbox"]["enabled"], False, "node_get")
    node.stop()


@test()
def a_controller_has_no_capability_at_all(workspace):
    need()
    config = workspace.path("ctl.json")
    api = "ipc://" + workspace.path("ctl.api")
    with open(config, "w", encoding="ascii") as file:
        json.dump({"control": {"bind": [api]},
                   "nodes": [{"name": "a", "id": 1, "api": "ipc://" + workspace.path("a")}]}, file)
    process = workspace.spawn([os.path.join(netlab.BUILD, "apps", "hopsight-controller"),
                               "--config", config], log="ctl.log")
    log = workspace.path("ctl.log")
    until(lambda: os.path.exists(log) and "ready" in open(log, encoding="utf-8").read(), 20,
          "the controller is ready")
    expect_given_up(process.pid, 0, 3)
