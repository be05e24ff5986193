#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A controller of one's own: a rule in, metrics out. Usage: controller.py API REPORTS [SECONDS]

API is where the node (or hopsight-controller) answers; REPORTS is bound here, and the node's
control.publish_to names it. Needs python3-zmq.
"""
import json
import sys
import time

import zmq

RULE = {"ns_id": 7, "src_ip": "2001:db8::1", "dst_ip": "2001:db8::2", "dst_port": 5001,
        "protocol": "udp", "trace_type": "0x7000E000", "mode": "count", "mode_setting": 10}

api_endpoint, reports_endpoint = sys.argv[1:3]
end = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 60)
context = zmq.Context()
metrics = context.socket(zmq.SUB)
metrics.bind(reports_endpoint)
metrics.subscribe(f"qos.{RULE['ns_id']}")
api = context.socket(zmq.REQ)
api.connect(api_endpoint)

api.send_json({"int_request": RULE})
reply = api.recv_json()
if "error" in reply and reply["error"]["code"] != "ns_in_use":
    sys.exit(f"{reply['error']['path']}: {reply['error']['message']}")

while time.monotonic() < end and metrics.poll(1000 * max(0, end - time.monotonic())):
    topic, message = metrics.recv_multipart()
    window = json.loads(message)["qos_report"]
    for hop in window["hops"]:
        print(f"{hop['from']} -> {hop['to']}: {hop.get('throughput_bps', 0) / 1e6:.3f} Mbit/s,",
              f"{hop.get('delay_ns', {}).get('mean', 0) / 1e6:.3f} ms,",
              f"loss {100 * hop.get('loss_ratio', 0):.3f} %", flush=True)
