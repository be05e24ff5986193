# SPDX-License-Identifier: BSD-3-Clause
"""Every verb of a node and of a controller, held against docs/schema. lib.py does the same with the
first messages of every other test."""

import glob
import json
import os
import subprocess
import sys

import json_schemas
import netlab
from harness import ROOT
from lib import Subscriber, check, equal, labelling_node, main, need, rule, test
from test_controller import Controller, chain_of, send
from test_route import A, B, Routed

RULE = rule(7, A, B, "udp", dst_port=5001)
ROUTE = {"prefix": "2001:db8:7::/48", "via": "2001:db8:9::1"}
NEIGHBOUR = {"addr": "2001:db8:9::1", "port": "east", "mac": "02:00:00:00:00:09"}
# In this order, so that each finds what it needs.
ASKED = [
    {"hello": {}, "id": "first"},
    {"int_request": RULE, "dry_run": True},
    {"int_request": RULE},
    {"int_request": dict(RULE, ns_id=8, dst_port=5002, trace_type="0x10008000",
                         fields={"bytes": {"supported": False}})},
    {"int_update": {"ns_id": 7, "mode": "frequency", "mode_setting": 0.5, "owner": "lab",
                    "revision": 2}},
    {"int_update": {"ns_id": 8, "fields": None}, "id": 5},
    {"int_list": {"limit": 1}},
    {"int_list": {"offset": 1, "limit": 10}},
    {"int_get": {"ns_id": 7}},
    {"qos_get": {"ns_id": 7}},
    {"qos_get": {"app_id": 1, "window": "10s"}},
    {"neighbour_add": NEIGHBOUR},
    {"route_add": ROUTE},
    {"route_list": {}},
    {"neighbour_list": {"limit": 1}},
    {"route_delete": {"prefix": ROUTE["prefix"]}},
    {"neighbour_delete": {"addr": NEIGHBOUR["addr"]}},
    {"node_get": {}}, {"ports_get": {}}, {"stats_get": {}}, {"drops_get": {}},
    {"events": {"since": 0}}, {"audit": {}}, {"explain": {"ns_id": 7}},
    {"int_delete": {"ns_id": 8}},
]
OF_LABELS = [{"label_set": {"ports": [{"id": 2, "shift": 3}]}}, {"label_get": {}}]
WRONG = [
    {"int_get": {"ns_id": 99}}, {"int_request": RULE}, {"no_such_verb": {}}, {"int_delete": {}},
    {"int_list": {}, "if_generation": 123456}, {"qos_get": {"window": "7s"}},
]


def hold(client, request):
    """Sends a request, holds it and its reply against the schemas, and returns the reply."""
    reply = json.loads(client.raw(json.dumps(request).encode()))
    said = [what for what in json_schemas.exchange_complaints(request, reply) if what]
    equal(said, [], f"{request}: {reply}")
    return reply


@test()
def every_verb_of_a_node_says_what_its_schema_says(workspace):
    need()
    node, labels = Routed(workspace, 1).nodes[0], labelling_node(workspace, 5).start()
    for target, requests in ((node, ASKED), (labels, OF_LABELS)):
        for request in requests:
            reply = hold(target.client, request)
            check("ok" in reply, request, reply)
    asked = {json_schemas.verb_of(request) for request in ASKED + OF_LABELS}
    equal(sorted(asked), sorted(node.call("hello")["verbs"]), "verbs that were asked")
    for request in WRONG:
        check("error" in hold(node.client, request), request)
    hold(node.client, [{"int_get": {"ns_id": 7}, "id": 1}, {"int_list": {}}])
    hold(node.client, {"transaction": [{"int_delete": {"ns_id": 7}}], "id": "t", "dry_run": True})


@test()
def every_verb_of_a_controller_says_what_its_schema_says(workspace):
    need("ping")
    chain = chain_of(workspace)
    controller = Controller(workspace, chain.nodes).start()
    listener = Subscriber(controller.publisher)
    host, other = chain.hosts
    on = {"on": {"nodes": [node.name for node in chain.nodes]}}
    wanted = rule(7, host.address, other.address, "udp", dst_port=5001)
    check("ok" in hold(controller.client, {"int_request": {**wanted, **on}}), "int_request")
    controller.wait_present(7)
    send(chain, seconds=2)
    topics = set()
    for topic, message in listener.collect(1, topic="qos") + listener.collect(10, 1):
        equal(json_schemas.publication_complaint(topic, message), None, topic)
        topics.add(topic.split(".")[0])
    check("qos" in topics, topics)
    check(controller.call("qos_get")["qos"], "no window")
    first = {"on": {"nodes": [chain.nodes[0].name]}}
    hold(controller.client, {"int_request": {**wanted, **first, "ns_id": 8}})
    controller.wait_present(8)
    reply = hold(controller.client, {"int_get": {"ns_id": 8}})["ok"]
    equal({name: error["code"] for name, error in reply["errors"].items()},
          {node.name: "no_such_rule" for node in chain.nodes[1:]}, "nodes without the rule")
    for verb, content in (("hello", {}), ("int_list", {}), ("int_get", {"ns_id": 7}),
                          ("qos_get", {}), ("qos_get", {"app_id": 1}), ("node_get", {}),
                          ("ports_get", {}), ("drops_get", {}), ("stats_get", {}), ("audit", {}),
                          ("explain", {"ns_id": 7}),
                          ("events", {}), ("int_update", {"ns_id": 7, "hop_enabled": False}),
                          ("int_delete", {"ns_id": 7})):
        check("ok" in hold(controller.client, {verb: content}), verb)


@test()
def the_values_in_force_are_what_the_schemas_of_configurations_allow():
    held = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "config", "*.json"))):
        controls = os.path.basename(path) in ("controller.json", "pair.json")
        program = "hopsight-controller" if controls else "hopsightd"
        done = subprocess.run([os.path.join(netlab.BUILD, "apps", program), "--print-config",
                               "--config", path], capture_output=True, text=True, check=False)
        if done.returncode == 0:  # some examples need more cores than this machine has
            equal(json_schemas.complaint("controller.json" if controls else "node.json",
                                         json.loads(done.stdout)), None, path)
            held += 1
    check(held > 5, held, "configurations were printed")


if __name__ == "__main__":
    sys.exit(main())
