#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A controller of one's own: a rule in, metrics out. Usage: controller.py API REPORTS [SECONDS]

API is where the node (or hopsight-controller) answers; REPORTS is bound here, and the node's
control.publish_to names it. Needs the Python client: PYTHONPATH=python, or python/README.md
"""
import sys
import time

import hopsight

RULE = {"ns_id": 7, "src_ip": "2001:db8::1", "dst_ip": "2001:db8::2", "dst_port": 5001,
        "protocol": "udp", "trace_type": "0x7000E000", "mode": "count", "mode_setting": 10}

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
api_endpoint, reports_endpoint = sys.argv[1:3]
end = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 60)
with hopsight.Client(api_endpoint) as node, \
        hopsight.Subscription(reports_endpoint, f"qos.{RULE['ns_id']}", bind=True, clients=node) as metrics:
    try:
        node.int_request(**RULE)
    except hopsight.Refused as refused:
        if refused.code != "ns_in_use":
            sys.exit(f"{refused.path}: {refused}")
    while told := metrics.receive(max(0, end - time.monotonic())):
        if isinstance(told, hopsight.Gap):
            print(f"{told.missed} messages were missed; {len(told.windows or [])} windows asked for", flush=True)
            continue
        if isinstance(told, hopsight.Unreadable):
            print(f"a message that is none: {told.reason}", flush=True)
            continue
        for hop in told.content["hops"]:
            print(f"{hop['from']} -> {hop['to']}: {hop.get('throughput_bps', 0) / 1e6:.3f} Mbit/s,",
                  f"{hop.get('delay_ns', {}).get('mean', 0) / 1e6:.3f} ms,",
                  f"loss {100 * hop.get('loss_ratio', 0):.3f} %", flush=True)
