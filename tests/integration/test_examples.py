# SPDX-License-Identifier: BSD-3-Clause
"""The examples of docs/api.md, asked of real programs. HOPSIGHT_WRITE_EXAMPLES=1 writes them anew."""

import json
import os
import re
import socket
import sys
from types import SimpleNamespace

from collecting import Collector, packet, report
from lib import InNamespace, check, equal, labelling_node, main, need, ring_node, rule, test, until  # isort: skip

import api_page
from netlab import veth
from test_controller import A, B, Controller, chain_of, send
from test_label_control import PORT, datagram, item, now_us

RULE = rule(8, A, B, dst_port=5002, mode_setting=100)
NEIGHBOUR = {"addr": "2001:db8:1::2", "port": "out", "mac": "02:00:00:00:00:02"}
ROUTE = {"prefix": "2001:db8:2::/48", "via": NEIGHBOUR["addr"]}
ON = {"on": {"path": "all"}}
# What is asked of which program, in this order, so that each request finds what it needs.
ASKED = [
    ("node", {"hello": {}}),
    ("node", {"int_request": RULE}),
    ("node", {"int_update": {"ns_id": 8, "mode_setting": 50, "owner": "lab", "revision": 1}}),
    ("node", {"int_list": {"limit": 10}}),
    ("node", {"int_get": {"ns_id": 7}}),
    ("node", {"qos_get": {"ns_id": 7, "window": "1s"}}),
    ("node", {"int_delete": {"ns_id": 8}}),
    ("router", {"neighbour_add": NEIGHBOUR}),
    ("router", {"route_add": ROUTE}),
    ("router", {"route_list": {}}),
    ("router", {"neighbour_list": {}}),
    ("router", {"route_delete": {"prefix": ROUTE["prefix"]}}),
    ("router", {"neighbour_delete": {"addr": NEIGHBOUR["addr"]}}),
    ("node", {"explain": {"ns_id": 7}}),
    ("labels", {"label_set": {"ports": [{"id": 2, "shift": 3}]}}),
    ("labels", {"label_get": {}}),
    *[("node", {verb: {}}) for verb in ("node_get", "ports_get", "stats_get", "drops_get", "events", "audit")],
    ("controller", {"hello": {}}),
    ("controller", {"int_request": {**RULE, **ON}}),
    ("controller", {"int_update": {"ns_id": 8, "mode_setting": 50}}),
    ("controller", {"int_list": {}}),
    ("controller", {"int_get": {"ns_id": 7}}),
    ("controller", {"qos_get": {"ns_id": 7, "window": "1s"}}),
    ("controller", {"int_delete": {"ns_id": 8}}),
    ("controller", {"explain": {"ns_id": 7}}),
    *[("controller", {verb: {}}) for verb in ("node_get", "ports_get", "stats_get", "drops_get", "events", "audit")],
    ("fleet", {"label_set": {"node": "n5", "ports": [{"id": 2, "shift": 3}]}}),
    ("fleet", {"label_get": {}}),
    *[("fleet", {verb: {}}) for verb in ("probe_run", "probe_status", "probe_links", "probe_routes")],
    *[("collector", {verb: {}}) for verb in (
        "hello", "node_get", "ports_get", "stats_get", "drops_get", "events", "audit", "flow_get", "queue_get",
        "link_get", "exporter_get", "refused_get")],
]
# Verbs whose replies are the same whenever they are asked in this order. Of the others, the types are.
SAME = {"label_set", "int_request", "int_update", "int_list", "int_delete", "neighbour_add", "neighbour_delete",
        "neighbour_list", "route_add", "route_delete", "route_list"}
# Objects and lists whose members come and go with time and traffic.
_LOOSE = re.compile(r"\.(delay_ns|hops\[\]|events\[\]|flags|reasons(\[\])?)$|(^\.ok|\.nodes\.\w+)\.drops$")


def varies(verb):
    def how(path):
        if _LOOSE.search(path) and verb not in SAME:
            return "members"
        return "" if verb in SAME and not re.search(r"\.generation$|\.revision$|\.nodes\.\w+$", path) else "value"

    return how


def labelling_fleet(workspace, node):
    """A controller with INT-label that has an item of a port of the node, and with probes that nobody answers."""
    namespace = workspace.namespace("fleet")
    veth(namespace, "eth0", namespace, "eth1")
    probing = {"iface": "eth0", "first_node": 5, "address": "10.0.0.100", "period_ms": 0, "feedback_ms": 10, "attempts": 0,
               "nodes": [{"id": 5, "end": 2}, {"id": 6, "end": 2}],
               "links": [{"node": 5, "port": 2, "peer": 6, "peer_port": 1}], "plan": "euler",
               "reroute": {"destinations": [{"prefix": "2001:db8:6::/48", "node": 6}]}}
    absent = SimpleNamespace(name=f"{workspace.prefix}-n6", config={"node": {"id": 6}},
                             api=f"ipc://{workspace.path('n6')}.api")
    fleet = Controller(workspace, [node, absent], name="fleet", namespace=namespace,
                       # The node sends nothing: its second answer would say that the port is not active.
                       label={"listen": [f"127.0.0.1:{PORT}"], "interval_ms": 1000, "poll_ms": 60000, "pro": {}},
                       probing=probing).start()
    with InNamespace(namespace):
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.sendto(datagram(item(node.config["node"]["id"], 2, now_us())), ("127.0.0.1", PORT))
    until(lambda: fleet.call("label_get")["coverage"]["intervals"], 10, "an interval")
    fleet.call("probe_run")
    until(lambda: "session" in fleet.call("probe_status"), 5, "a session")
    return fleet


def programs(workspace):
    """Returns the programs by the words of the page, with traffic of rule 7 in their memory."""
    chain = chain_of(workspace, nodes=2)
    controller = Controller(workspace, chain.nodes).start()
    controller.call("int_request", **rule(7, A, B, dst_port=5001), **ON)
    router = ring_node(workspace, 4, forwarding={"mode": "route"}, memory={"routes": 64}).start()
    labels = labelling_node(workspace, 5).start()
    fleet = labelling_fleet(workspace, labels)
    collector = Collector(workspace).start()
    controller.wait_present(7)
    send(chain, seconds=60)  # until the test ends
    reports = collector.socket()
    reports.send(report(packet(("192.0.2.1", "192.0.2.2", 1000, 2000), [(1, 10, 11, 100, 3, 5, 700)])))
    reports.send(b"no report")
    sink = chain.nodes[1]
    for one in (sink, controller):
        until(lambda asked=one: any(window["reports"] > 100 and not window["stale"] for window in
                                    asked.call("qos_get", ns_id=7, window="1s")["qos"]), 10, "a whole window")
    until(lambda: collector.call("refused_get")["refused"], 5, "a datagram that is no report")
    return {"node": sink, "router": router, "labels": labels, "controller": controller, "fleet": fleet,
            "collector": collector}


def captured(workspace, targets):
    """Yields ((program, verb), (request, reply)) of each request, without what is this run's own."""
    for program, request in ASKED:
        text = targets[program].client.raw(json.dumps(request).encode()).decode()
        for own, word in ((workspace.path(""), "/run/hopsight/"), (f"{workspace.prefix}-", ""),
                          (workspace.prefix, "host")):
            text = text.replace(own, word)
        reply = json.loads(text)
        check("ok" in reply, program, request, reply)
        shown = {"router": "node", "labels": "node", "fleet": "controller"}.get(program, program)
        yield (shown, next(iter(request))), (request, reply)


@test(limit_s=90)
def each_verb_of_the_page_is_answered_as_the_page_says(workspace):
    need()
    targets = programs(workspace)
    found = dict(captured(workspace, targets))
    for program in ("node", "controller", "collector"):
        verbs = {verb for verb in targets[program].call("hello")["verbs"]
                 if program != "controller" or not verb.startswith(("route_", "neighbour_"))}
        equal(sorted(verb for of, verb in found if of == program), sorted(verbs), f"verbs of a {program}")
    for program in ("controller", "fleet", "collector"):
        targets[program].stop()
    page = api_page.read()
    if os.environ.get("HOPSIGHT_WRITE_EXAMPLES"):
        with open(api_page.PAGE, "w", encoding="utf-8") as f:
            f.write(api_page.with_examples(page, found))
        return "written"
    shown = api_page.examples(page)
    equal(sorted(shown), sorted(found), "examples of the page")
    said = [f"{program} {verb}{what}" for (program, verb), (request, reply) in shown.items()
            if (what := " request" if request != found[program, verb][0] else
                api_page.difference(reply, found[program, verb][1], varies(verb)))]
    equal(said, [], "examples that are no longer right (HOPSIGHT_WRITE_EXAMPLES=1 writes them)")
    return f"{len(shown)} examples"


if __name__ == "__main__":
    sys.exit(main())
