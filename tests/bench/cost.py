#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a packet on one worker, beside dpdk-testpmd's mac forwarding in the same run.

Packets come from net_pcap (infinite_rx) and go to net_null. What is counted is the worker thread's
own processor time (schedstat), not the wall's: these machines have neighbours. Runs are interleaved
round by round; the ratio is of medians, to testpmd with the same traffic. hopsightd and testpmd
are asked in the same way, over DPDK's telemetry socket.

    cost.py [--build DIR] [--rounds N] [--seconds S] [--cases A,B] [--json FILE] [--limits]
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

FLOWS = 4096
ROUTED_FLOWS = 1024  # each to an address of its own, spread over all routes
FRAME_BYTES = 128
PCAP_MAC = "02:70:63:61:70:00"  # of the first net_pcap device
SRC, DST = "2001:db8::1", "2001:db8::2"
# What the design must not be in the way of, as ratios to testpmd mac, and what noise may add to a
# short run on a shared machine before it is called a regression.
GOALS = {"unmatched": 1.4, "matched_4096": 2.0, "sampled_1": 3.4, "route_10": 1.64,
         "route_100k": 1.8}
NOISE = 1.15
LIMITS = {name: round(goal * NOISE, 2) for name, goal in GOALS.items()}


def prefix_of(i):
    return f"2001:{0xdb8 + (i >> 16):x}:{i & 0xffff:x}"


def make_traffic(path, routes):
    """One flow each to DST; or flows spread over the prefixes of so many routes."""
    payload = Raw(b"x" * (FRAME_BYTES - 62))
    to = [DST] * FLOWS
    if routes:
        to = [f"{prefix_of(i * 7919 % routes)}::{i + 1:x}" for i in range(ROUTED_FLOWS)]
    wrpcap(path, [Ether(src="02:00:00:00:00:01", dst=PCAP_MAC) /
                  IPv6(src=SRC, dst=dst) / UDP(sport=1024 + i, dport=5001) / payload
                  for i, dst in enumerate(to)])


def rules(dst, every):
    return [{"int_request": {
        "ns_id": i + 1, "app_id": 0, "src_ip": SRC, "dst_ip": dst, "src_port": 1024 + i,
        "dst_port": 5001, "protocol": "udp", "trace_type": "0x7000E000", "mode": "count",
        "mode_setting": every}} for i in range(FLOWS)]


CASES = {
    "no_rules": [],
    "unmatched": rules("2001:db8::3", 1),
    "matched_4096": rules(DST, 4000000000),
    "sampled_100": rules(DST, 100),
    "sampled_1": rules(DST, 1),
}
ROUTES = {"route_10": 10, "route_100k": 100000}
YARDSTICK, ROUTED_YARDSTICK = "testpmd mac", "testpmd mac 1k"


def devices(pcap):
    return f"net_pcap0,rx_pcap={pcap},infinite_rx=1", "net_null0,no-rx=1"


def forwarding(routes):
    if not routes:
        return {"mode": "patch", "pairs": [["in", "out"]]}
    return {"mode": "route", "routes": [
        {"prefix": prefix_of(i) + "::/48", "port": "out",
         "next_hop_mac": f"02:00:00:00:01:{i % 256:02x}"} for i in range(routes)]}


def hopsightd(build, folder, name, pcap, prefix):
    first, second = devices(pcap)
    routes = ROUTES.get(name, 0)
    config = {
        "node": {"id": 1, "name": "bench"}, "workers": [1], "control_core": 0, "polling": "busy",
        "memory": {"huge_pages": False, "mbufs": 16384, "rules": 65536,
                   "routes": max(routes, 1)},
        "ports": [{"name": "in", "devargs": first, "side": "host", "mtu": 1500},
                  {"name": "out", "devargs": second, "side": "network", "mtu": 1800}],
        "forwarding": forwarding(routes),
        "control": {"bind": [f"ipc://{folder}/{name}.api"]},
        "requests": CASES.get(name, []),
    }
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    return [os.path.join(build, "apps", "hopsightd"), "--config", path, "--",
            f"--file-prefix={prefix}"]


def testpmd(pcap, prefix):
    first, second = devices(pcap)
    return ["dpdk-testpmd", "--no-huge", "-m", "512", "--no-shconf", "--no-pci",
            f"--file-prefix={prefix}", "-l", "0,1", "--vdev", first, "--vdev", second, "--",
            "--forward-mode=mac", "--nb-cores=1", "--total-num-mbufs=16384", "--stats-period=3600"]


def ask(prefix, command):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.settimeout(5)
        sock.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        sock.recv(1024)
        sock.send(command.encode())
        return json.loads(sock.recv(65536))[command.split(",")[0]]


def received(prefix):
    return ask(prefix, "/ethdev/stats,0")["ipackets"]


def worker_thread(pid):
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as file:
            name = file.read()
        if "worker" in name:
            return tid
    return None


def cpu_ns(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="utf-8") as file:
        return int(file.read().split()[0])


def wait_for(condition, limit_s):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        try:
            value = condition()
        except (OSError, KeyError, TypeError, ValueError):
            value = None
        if value:
            return value
        time.sleep(0.05)
    raise RuntimeError("it did not start forwarding")


def measure(command, prefix, seconds):
    """Nanoseconds of the worker's own time for a packet."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: received(prefix) > 1000000, 20)
        tid = worker_thread(process.pid)
        before = received(prefix), cpu_ns(process.pid, tid)
        time.sleep(seconds)
        after = received(prefix), cpu_ns(process.pid, tid)
        return (after[1] - before[1]) / (after[0] - before[0])
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def summary(values):
    return {"median": round(statistics.median(values), 2), "min": round(min(values), 2),
            "max": round(max(values), 2)}


def yardstick_of(name):
    return ROUTED_YARDSTICK if name in ROUTES else YARDSTICK


def run(options, folder):
    names = [name for name in (*CASES, *ROUTES) if name in options.cases]
    yardsticks = {yardstick_of(name): max(ROUTES.values()) if name in ROUTES else 0
                  for name in names}
    routes = {**yardsticks, **{name: ROUTES.get(name, 0) for name in names}}
    pcaps = {n: os.path.join(folder, f"in{n}.pcap") for n in routes.values()}
    for n, pcap in pcaps.items():
        make_traffic(pcap, n)
    samples = {name: [] for name in routes}
    for number in range(options.rounds):
        for name, values in samples.items():
            prefix = f"hsbench{os.getpid()}"
            pcap = pcaps[routes[name]]
            command = testpmd(pcap, prefix) if name in yardsticks else \
                hopsightd(options.build, folder, name, pcap, prefix)
            values.append(measure(command, prefix, options.seconds))
            print(f"round {number + 1}/{options.rounds} {name}: {values[-1]:.1f} ns",
                  file=sys.stderr)
    return samples


def row(name, samples, yardstick):
    ns = summary(samples[name])
    return {"name": name, "frame_bytes": FRAME_BYTES, "ns_per_packet": ns,
            "ratio": round(ns["median"] / statistics.median(samples[yardstick]), 3),
            "mpps": round(1000 / ns["median"], 2)}


def report(samples):
    sticks = [name for name in samples if name in (YARDSTICK, ROUTED_YARDSTICK)]
    return {"yardsticks": [row(name, samples, name) for name in sticks],
            "cases": [row(name, samples, yardstick_of(name)) for name in samples
                      if name not in sticks]}


def main():
    parser = argparse.ArgumentParser(description="cost of a packet beside testpmd mac")
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--cases", type=lambda text: text.split(","), default=[*CASES, *ROUTES])
    parser.add_argument("--json")
    parser.add_argument("--limits", action="store_true", help="fail above the ratios in this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hopsight-bench") as folder:
        result = report(run(options, folder))
    print(f"{'case':<14} {'ns median':>9} {'min':>7} {'max':>7} {'ratio':>6}")
    over = []
    for case in result["yardsticks"] + result["cases"]:
        ns = case["ns_per_packet"]
        print(f"{case['name']:<14} {ns['median']:>9} {ns['min']:>7} {ns['max']:>7} "
              f"{case['ratio']:>6}")
        if case["ratio"] > LIMITS.get(case["name"], float("inf")):
            over.append(f"{case['name']} {case['ratio']} > {LIMITS[case['name']]}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    if options.limits and over:
        print("over the limit:", "; ".join(over))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
