# SPDX-License-Identifier: BSD-3-Clause
"""Results of real programs through real nodes on veth: the throughput at each sampling rate (figure
7), and a round trip. Needs root. Everything runs in network namespaces of its own."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]

import netlab  # noqa: E402
from workspace import Workspace  # noqa: E402

UP, DOWN = ("2001:db8::1", "2001:db8::2"), ("2001:db8::2", "2001:db8::1")
EVERY = [0, 10000, 1000, 100, 10, 1]  # 0: no rule
ROUNDS, SECONDS, TRIES = 10, 1, 5
PORT = 5201
UDP_RATE = "300M"  # below what the nodes carry: a program that sends more measures its own losses
TCP, UDP, PING_UP, PING_DOWN = 1, 2, 3, 4
BENCH = ["unmatched", "sampled_10000", "sampled_1000", "sampled_100", "sampled_10", "sampled_1"]


def name_of(every):
    return f"1/{every}" if every else "none"


def set_rate(chain, every):
    """Installs the same rules on every node, or none."""
    rules = [netlab.rule(TCP, *UP, protocol="tcp", dst_port=PORT, mode_setting=every or 1),
             netlab.rule(UDP, *UP, protocol="udp", dst_port=PORT, mode_setting=every or 1)]
    for node in chain.nodes:
        for old in node.call("int_list")["rules"]:
            node.call("int_delete", ns_id=old["ns_id"])
    if every:
        chain.install(*rules)


def iperf(chain, *words):
    """Returns the Mbit/s that the server received."""
    for _ in range(TRIES):
        done = subprocess.run(["ip", "netns", "exec", chain.hosts[0].namespace, "iperf3", "-6", "-c",
                               UP[1], "-p", str(PORT), "-J", "-t", str(SECONDS), *words],
                              capture_output=True, text=True, check=False, timeout=60)
        answer = json.loads(done.stdout)
        end = answer["end"]
        if end:
            break
        print(answer.get("error"), file=sys.stderr)  # the server is busy still with the last one
        time.sleep(0.5)
    else:
        raise RuntimeError(answer.get("error"))
    received = end.get("sum_received") or end["sum"]
    lost = received.get("lost_percent", 0) if "sum_received" not in end else 0
    return received["bits_per_second"] * (1 - lost / 100) / 1e6


def throughput(chain, workspace):
    server = chain.hosts[1].spawn("iperf3", "-s", "-p", str(PORT), log="iperf3.log")
    found = {"tcp": {name_of(e): [] for e in EVERY}, "udp": {name_of(e): [] for e in EVERY}}
    for turn in range(ROUNDS):
        for place in range(len(EVERY)):
            every = EVERY[(place + turn) % len(EVERY)]  # each rate comes first equally often
            set_rate(chain, every)
            found["tcp"][name_of(every)].append(iperf(chain))
            found["udp"][name_of(every)].append(iperf(chain, "-u", "-b", UDP_RATE, "-l", "1400"))
        print(f"round {turn + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    server.terminate()
    server.wait()
    return {protocol: {rate: [round(v, 1) for v in values] for rate, values in of.items()}
            for protocol, of in found.items()}


def round_trip(chain):
    set_rate(chain, 0)
    chain.install(netlab.rule(PING_UP, *UP, protocol="icmp"),
                  netlab.rule(PING_DOWN, *DOWN, protocol="icmp"))
    said = chain.hosts[0].run("ping", "-6", "-q", "-i", "0.01", "-c", "500", UP[1])
    mean = float(said.split(" = ")[-1].split("/")[1])

    def delay(node, ns_id):
        report = node.call("qos_get", ns_id=ns_id, window="run")["qos"][0]
        return report["e2e"]["delay_ns"]["mean"] / 1e6

    hopsight = delay(chain.nodes[-1], PING_UP) + delay(chain.nodes[0], PING_DOWN)
    return {"ping_ms": mean, "hopsight_ms": round(hopsight, 4)}


def bench():
    """Returns medians of ns a packet: the cost of a node's work without ports."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.json")
        subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsight-bench"), "--json", path,
                        "--seconds", "0.3", *BENCH], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as f:
            cases = json.load(f)["cases"]
    return {case["name"]: round(case["ns_per_packet"]["median"], 2) for case in cases}


def measure():
    with tempfile.TemporaryDirectory(prefix="hsresults-") as folder:
        workspace = Workspace(folder, f"hsres{os.getpid()}")
        try:
            chain = netlab.Chain(workspace, nodes=3, link="veth").start()
            result = {"round_trip": round_trip(chain), **throughput(chain, workspace)}
        finally:
            workspace.close()
    return {**result, "bench_ns": bench(), "rounds": ROUNDS, "seconds": SECONDS,
            "cores": os.cpu_count()}


def medians(values):
    return {rate: statistics.median(of) for rate, of in values.items()}


if __name__ == "__main__":
    json.dump(measure(), sys.stdout, indent=1)
