# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration: what it prints for scripts, that it is right, and that it cleans up."""

import json
import os
import signal
import subprocess
import sys

import netlab
from lib import check, equal, main, need, test, until
from workspace import Workspace

NAMES = ["ping-up", "ping-down", "udp-up", "udp-down", "tcp-up", "mgen-up", "mgen-down"]
PROGRAM = ["/usr/bin/python3", os.path.join(netlab.ROOT, "demo", "demo.py")]


def check_flow(flow, dropped):
    report, said = flow["hopsight"], flow["program"]
    check(report["reports"] > 0, flow["name"], "has no reports")
    equal(len(report["hops"]), 3, f"hops of {flow['name']}")
    for part in [*report["hops"], report["e2e"]]:
        for key in ("throughput_bps", "delay_ns", "jitter_ns", "loss_ratio", "rx_packets"):
            check(key in part, flow["name"], "has no", key, part)
        equal(part["loss_ratio"], 0, f"loss of {flow['name']}, drops {dropped}")
    if "loss_ratio" in said:
        equal(said["loss_ratio"], 0, f"loss that the program of {flow['name']} saw")


@test(limit_s=90)
def the_demonstration_measures_what_the_programs_say_of_themselves(workspace):
    need("ping", "iperf3", "mgen")
    demo = workspace.spawn([*PROGRAM, "--seconds", "8", "--json"], stdout=subprocess.PIPE,
                           text=True)
    output, _ = demo.communicate(timeout=80)
    equal(demo.returncode, 0, "exit code")
    result = json.loads(output)
    flows = {flow["name"]: flow for flow in result["flows"]}
    equal(list(flows), NAMES, "flows")
    check(result["audit"]["ok"], "audit", result["audit"])
    dropped = [node["drops"] for node in result["audit"]["nodes"]]
    for flow in flows.values():
        check_flow(flow, dropped)
    ratios = []
    for name in ("mgen-up", "mgen-down"):
        ratio = flows[name]["hopsight"]["e2e"]["throughput_bps"] / (2000 * 562 * 8)
        check(0.99 < ratio < 1.01, f"{name} is {ratio:.4f} of what was sent")
        ratios.append(ratio)
    one_way = sum(flows[n]["hopsight"]["e2e"]["delay_ns"]["p50"] for n in ("ping-up", "ping-down"))
    share = one_way / flows["ping-up"]["program"]["rtt_ns"]
    check(0.5 <= share <= 1, f"one-way delays are {share:.2f} of the round trip")
    return f"mgen {ratios[0]:.4f} and {ratios[1]:.4f}, ping {share:.2f} of its round trip"


@test(limit_s=60)
def the_demonstration_leaves_nothing_behind_when_it_is_interrupted(workspace):
    need("ping", "iperf3", "mgen")
    demo = workspace.spawn([*PROGRAM, "--seconds", "30"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": workspace.folder})
    until(lambda: b"send" in demo.stderr.readline(), 40, "the traffic runs")
    folder = next(name for name in os.listdir(workspace.folder) if name.startswith("hsdemo-"))
    prefix = Workspace(os.path.join(workspace.folder, folder)).prefix
    check([name for name in os.listdir("/run/netns") if name.startswith(prefix)], "namespaces")
    demo.send_signal(signal.SIGINT)
    demo.wait(20)
    equal(demo.returncode, 130, "exit code")
    equal([name for name in os.listdir("/run/netns") if name.startswith(prefix)], [], "left")
    check(folder not in os.listdir(workspace.folder), "the folder is left")


if __name__ == "__main__":
    sys.exit(main())
