# SPDX-License-Identifier: BSD-3-Clause
"""What a packet costs, in nanoseconds of the worker's core, beside dpdk-testpmd's mac forwarding.

The source is a capture that net_pcap repeats for ever, the sink is net_null. Runs of all cases are
interleaved, so that a neighbour's load hits them alike; the thread's own running time is counted,
not the wall's.
"""

import argparse
import json
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "integration")]

import frames as fr  # noqa: E402
from lib import Node, need, ports, rule  # noqa: E402
from harness import Skip  # noqa: E402
from workspace import Workspace  # noqa: E402

FLOWS = 512
FRAME_BYTES = 128
SOURCE, DESTINATION = "2001:db8:1::1", "2001:db8:2::2"


def capture(workspace):
    path = workspace.path("flows.pcap")
    fr.write_pcap(path, [fr.udp_frame(SOURCE, DESTINATION, 10000 + i, 20000,
                                      bytes(FRAME_BYTES - 62)) for i in range(FLOWS)])
    return path


def exact(mode_setting):
    """A rule for each flow of the capture."""
    return [rule(i + 1, SOURCE, DESTINATION, "udp", 10000 + i, 20000, mode_setting=mode_setting,
                 transmit_report=False) for i in range(FLOWS)]


def elsewhere():
    return [rule(i + 1, DESTINATION, SOURCE, "udp", 10000 + i, 20000) for i in range(FLOWS)]


# A rule that never samples is the match alone: its millions are never reached.
CASES = {
    "no_rules": lambda: [],
    "unmatched": elsewhere,
    "matched_512": lambda: exact(1 << 30),
    "sampled_100": lambda: exact(100),
    "sampled_10": lambda: exact(10),
    "sampled_1": lambda: exact(1),
}


def thread_ns(process):
    found = {}
    for task in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{task}/schedstat", encoding="ascii") as f:
            found[task] = int(f.read().split()[0])
    return found


def cost(process, packets, seconds):
    """Nanoseconds of the busiest thread for each packet, between two readings."""
    cpu, count = thread_ns(process), packets()
    time.sleep(seconds)
    cpu_now, count_now = thread_ns(process), packets()
    if count_now == count:
        raise RuntimeError("no packet was sent")
    return max(cpu_now[t] - cpu.get(t, 0) for t in cpu_now) / (count_now - count)


def hopsight(path, rules, seconds):
    with tempfile.TemporaryDirectory(prefix="hsbench-") as folder:
        workspace = Workspace(folder)
        node = Node(workspace, 1, [
            {"name": "in", "side": "host", "devargs": f"net_pcap0,rx_pcap={path},infinite_rx=1"},
            {"name": "out", "side": "network", "devargs": "net_null0,no-rx=1"},
        ], polling="busy", requests=[{"int_request": r} for r in rules])
        try:
            node.start()
            return cost(node.process, lambda: ports(node)["out"]["tx_packets"], seconds)
        finally:
            workspace.close()


def testpmd(path, seconds):
    process = subprocess.Popen(
        ["stdbuf", "-oL", "dpdk-testpmd", "--no-huge", "-m", "512", "-l", "0,1", "--no-pci",
         "--file-prefix", f"hsbench{os.getpid()}",
         "--vdev", f"net_pcap0,rx_pcap={path},infinite_rx=1", "--vdev",
         "net_null0,no-rx=1", "--", "-i", "--forward-mode=mac", "--total-num-mbufs=8192",
         "--nb-cores=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        def sent():
            process.stdin.write(b"show port stats 1\n")
            process.stdin.flush()
            return int(read_until(process.stdout, rb"TX-packets: (\d+).*?Tx-pps[^\n]*\n"))

        read_until(process.stdout, rb"(testpmd>)")
        process.stdin.write(b"start\n")
        process.stdin.flush()
        read_until(process.stdout, rb"(packet forwarding)")
        return cost(process, sent, seconds)
    finally:
        process.stdin.write(b"stop\nquit\n")
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def read_until(stream, pattern, limit_s=20):
    seen, end = b"", time.monotonic() + limit_s
    while True:
        found = re.search(pattern, seen, re.S)
        if found:
            return found.group(1)
        left = end - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            raise RuntimeError(f"testpmd did not say {pattern!r}: {seen[-400:]!r}")
        chunk = os.read(stream.fileno(), 65536)
        if not chunk:
            raise RuntimeError(f"testpmd ended: {seen[-400:]!r}")
        seen += chunk


def spread(values):
    return {"median": round(statistics.median(values), 1), "min": round(min(values), 1),
            "max": round(max(values), 1)}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"model name\s*:\s*(.*)", f.read())
    return {"cpu": model.group(1) if model else "unknown", "cores": os.cpu_count(),
            "kernel": os.uname().release}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    return parser.parse_args()


def measure(options):
    names = options.names or list(CASES)
    values = {name: [] for name in ["testpmd mac", *names]}
    problems = {}
    with tempfile.TemporaryDirectory(prefix="hsbench-") as folder:
        path = capture(Workspace(folder))
        for _ in range(options.rounds):
            for name, kept in values.items():
                try:
                    kept.append(testpmd(path, options.seconds) if name == "testpmd mac"
                                else hopsight(path, CASES[name](), options.seconds))
                except Exception as problem:  # pylint: disable=broad-except
                    problems[name] = problem
    return values, problems


def main():
    options = arguments()
    try:
        need("dpdk-testpmd")
    except Skip as reason:
        print(f"SKIP bench ({reason})")
        return 0
    begin = time.monotonic()
    values, problems = measure(options)
    took = (time.monotonic() - begin) / len(values)
    for name, problem in problems.items():
        print(f"FAIL bench {name} ({problem}) {took:.1f} s")
    yardstick = spread(values.pop("testpmd mac") or [float("nan")])
    cases = []
    for name, kept in values.items():
        if kept:
            ns = spread(kept)
            cases.append({"name": name, "frame_bytes": FRAME_BYTES, "ns_per_packet": ns,
                          "ratio": round(ns["median"] / yardstick["median"], 2),
                          "mpps": round(1000 / ns["median"], 1)})
            print(f"PASS bench {name} ({ns['median']:.1f} ns a packet, {cases[-1]['ratio']:.2f} x "
                  f"testpmd mac's {yardstick['median']:.1f}) {took:.1f} s")
    if options.json:
        with open(options.json, "w", encoding="ascii") as f:
            json.dump({"machine": machine(),
                       "yardstick": {"name": "testpmd mac", "ns_per_packet": yardstick},
                       "cases": cases}, f, indent=2)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
