#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares nodes with Linux bridges on one machine: TCP, small UDP packets and pings between two hosts
on veths, as Linux makes them or without offloads. Each round measures every case once, so that what
else the machine does meets all cases alike. Run it as root."""

import argparse
import contextlib
import datetime
import glob
import json
import os
import platform
import re
import statistics
import sys
import tempfile
import time

_TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _TOOLS)

from netlab import Chain, Host, rule, veth  # noqa: E402
from workspace import Workspace, run  # noqa: E402

_A, _B = "2001:db8::1", "2001:db8::2"
_UDP_RATES = (400000, 350000, 310000, 250000, 200000, 170000, 140000, 110000, 80000, 50000, 20000)
_STALL_BPS = 1e6  # an interval of TCP below this is a stall
_PAYLOAD_BYTES = 64
_FRAME_BYTES = _PAYLOAD_BYTES + 62  # the headers of Ethernet, IPv6 and UDP
_UDP_FLOWS = 100
_STEADY_RATE = 50000
_BUSY_PROCESSES = 2
_SHARE = "of a core, each node"


class Bridges:
    """host1 - bridge 1 ... bridge n - host2, shaped like netlab.Chain."""

    def __init__(self, workspace, count, offloads):
        self.hosts = [Host(workspace, "host1", _A), Host(workspace, "host2", _B)]
        spaces = [workspace.namespace(f"b{i}") for i in range(count)]
        veth(self.hosts[0].namespace, "eth0", spaces[0], "west", offloads=offloads)
        veth(self.hosts[1].namespace, "eth0", spaces[-1], "east", offloads=offloads)
        for left, right in zip(spaces, spaces[1:]):
            veth(left, "east", right, "west", offloads=offloads)
        for space in spaces:
            run("ip", "-n", space, "link", "add", "br0", "up", "type", "bridge")
            for port in ("west", "east"):
                run("ip", "-n", space, "link", "set", port, "master", "br0")
        for host in self.hosts:
            host.configure()
        for host, other in (self.hosts, self.hosts[::-1]):
            host.knows(other)


def make_path(workspace, kind, count, offloads, every=0):
    if kind == "bridge":
        return Bridges(workspace, count, offloads)
    link = "memif" if "memif" in kind else "veth"
    options = {"worker_scheduling": {"class": "rr"}} if kind == "rr" else {}
    if "awake" in kind:
        options["cpu_latency_us"] = 0
    chain = Chain(workspace, nodes=count, link=link, offloads=offloads, **options)
    if kind == "af_xdp":
        for port in (port for node in chain.nodes for port in node.config["ports"]):
            port["driver"] = kind
    chain.start()
    if "memif" in kind:
        time.sleep(1.2)  # nodes look for each other's bell once a second
    if every:
        chain.install(*(rule(number, _A, _B, protocol, mode_setting=every)
                        for number, protocol in ((1, "tcp"), (2, "udp"))))
    return chain


# ---- measurements: each returns a dictionary of numbers ----

def _serve(host):
    """Starts iperf3 for one client. Returns its process once it listens."""
    server = host.spawn("iperf3", "-s", "-1", log="server.log")
    end = time.monotonic() + 5
    while ":5201" not in host.run("ss", "-ltn"):
        if time.monotonic() > end:
            raise RuntimeError("iperf3 does not listen")
        time.sleep(0.02)
    return server


def _iperf(path, words):
    left, right = path.hosts
    server = _serve(right)
    result = json.loads(left.run("iperf3", "-c", _B, "-J", *words))
    server.wait(10)
    return result


def tcp(path, seconds):
    result = _iperf(path, ["-t", str(seconds)])
    received = result["end"]["sum_received"]["bits_per_second"]
    stalls = sum(i["sum"]["bits_per_second"] < _STALL_BPS for i in result["intervals"]
                 if i["sum"]["seconds"] > 0.5)
    return {"Gbit/s": received / 1e9, "stalls": stalls}


def udp_arrived(host):
    """Returns how many packets for the host have come to its interface that are not TCP, whether or not its
    sockets had room for them."""
    ip = dict(line.split() for line in host.run("cat", "/proc/net/dev_snmp6/eth0").splitlines())
    names, values = [line.split()[1:] for line in host.run("cat", "/proc/net/snmp").splitlines()
                     if line.startswith("Tcp:")]
    return int(ip["Ip6InReceives"]) - int(ip["Ip6InMcastPkts"]) - int(dict(zip(names, values))["InSegs"])


def udp(path, seconds):
    """Returns the highest rate at which the path loses nothing, of those that tcpreplay sends when it is asked for
    _UDP_RATES. tcpreplay sends more than iperf3, because its packets go around the host's own stack."""
    left, right = path.hosts
    capture = left.workspace.path("udp.pcap")
    run(sys.executable, os.path.join(_TOOLS, "bench_pcap.py"), capture, "--flows", str(_UDP_FLOWS), "--frame-bytes",
        str(_FRAME_BYTES), "--src-mac", left.mac, "--dst-mac", right.mac)
    for rate in _UDP_RATES:
        loops = int(rate * seconds) // _UDP_FLOWS
        before = udp_arrived(right)
        said = left.run("tcpreplay", "-i", left.interface, "-K", "--loop", str(loops), "--pps", str(rate), capture)
        time.sleep(0.1)  # the last packets are on their way
        if udp_arrived(right) - before >= loops * _UDP_FLOWS:
            return {"packets/s": float(re.search(r"([\d.]+) pps", said).group(1))}
    return {"packets/s": 0.0}


def _processor_s(path):
    """Returns the processor time of all nodes on the path."""
    total_ns = 0
    for node in getattr(path, "nodes", []):
        for name in glob.glob(f"/proc/{node.process.pid}/task/*/schedstat"):
            with open(name, encoding="ascii") as f:
                total_ns += int(f.read().split()[0])
    return total_ns / 1e9


def _share(path, function, seconds):
    """Returns what a function of the seconds returns, and the share of a core that each node takes meanwhile."""
    begin, before = time.monotonic(), _processor_s(path)
    result = function(seconds)
    taken = (_processor_s(path) - before) / (time.monotonic() - begin)
    return result, taken / max(1, len(getattr(path, "nodes", [])))


def _ping(path, seconds):
    said = path.hosts[0].run("ping", "-i", "0.01", "-c", str(int(seconds * 100)), _B)
    times = sorted(float(ms) * 1000 for ms in re.findall(r"time=([\d.]+) ms", said))
    if not times:
        raise RuntimeError(f"no reply: {said}")
    return {f"p{percent} µs": times[len(times) * percent // 100] for percent in (50, 90, 99)}


def idle(path, seconds):
    """Measures pings, and then the share of a core that a node takes while nobody sends."""
    result = _ping(path, seconds)
    return {**result, _SHARE: _share(path, time.sleep, seconds)[1]}


def busy(path, seconds):
    """Measures pings beside processes that are always busy."""
    with contextlib.ExitStack() as stack:
        for _ in range(_BUSY_PROCESSES):
            process = path.hosts[0].spawn("sh", "-c", "while :; do :; done")
            stack.callback(process.wait)
            stack.callback(process.kill)
        return _ping(path, seconds)


def steady(path, seconds):
    """Measures pings beside packets of a steady rate, and the share of a core that a node takes for both."""
    server = _serve(path.hosts[1])
    client = path.hosts[0].spawn("iperf3", "-c", _B, "-u", "-l", str(_PAYLOAD_BYTES), "-b",
                                 str(_STEADY_RATE * _PAYLOAD_BYTES * 8), "-t", str(seconds + 2), log="client.log")
    time.sleep(1)
    result, taken = _share(path, lambda s: _ping(path, s), seconds)
    if client.wait(10) or server.wait(10):
        raise RuntimeError("iperf3 failed")
    return {**result, _SHARE: taken}


_COMMANDS = {
    tcp: f"iperf3 -c {_B} -J -t SECONDS",
    udp: f"tcpreplay -i eth0 -K --loop N --pps RATE udp.pcap, from {_UDP_RATES[0]:,} packets/s down, "
         "until all packets come to the other host's interface",
    idle: f"ping -i 0.01 -c N {_B}",
    busy: f"ping -i 0.01 -c N {_B}, beside {_BUSY_PROCESSES} of sh -c 'while :; do :; done'",
    steady: f"ping -i 0.01 -c N {_B}, beside iperf3 -u -c {_B} -l {_PAYLOAD_BYTES} "
            f"-b {_STEADY_RATE * _PAYLOAD_BYTES * 8}",
}
_PATHS = (("bridge", 1, 0), ("bridge", 2, 0), ("node", 1, 0), ("node", 2, 0), ("node", 1, 100),
          ("node", 2, 100))
# The numbers that have a ratio, to one bridge or to two. The targets of the idle ping were set on a machine where two bridges
# took 21 µs, p99 58: 60 and 120 µs are 2.86 and 2.07 times that.
_COMPARED = ("Gbit/s", "packets/s", "p50 µs", "p99 µs")
_IDLE_TARGETS = "Asked of two nodes: 60 µs and p99 120 µs where two bridges take 21 and 58, that is 2.86 and 2.07 times as long."
_IDLE_SHARE = "The share of a core is that of a node after the pings, while nobody sends. 0.01 is asked."
# Measurement, title, offloads, paths.
SECTIONS = (
    (tcp, "TCP, offloads as Linux has them", True, _PATHS),
    (tcp, "TCP, all offloads off", False, (*_PATHS[:4], ("af_xdp", 1, 0), ("af_xdp", 2, 0))),
    (udp, "UDP of 64 bytes without loss", True, _PATHS[:4]),
    (idle, "Idle ping", True, (*_PATHS[:4], ("memif", 2, 0), ("awake", 2, 0),
                                    ("awake memif", 2, 0))),
    (busy, "Ping beside busy processes", True, (*_PATHS[:4], ("rr", 2, 0))),
    (steady, f"Ping beside {_STEADY_RATE:,} packets/s", True,
     (*_PATHS[:4], ("awake", 1, 0), ("awake", 2, 0))),
)


def measure(kind, count, every, offloads, measurement, seconds):
    with tempfile.TemporaryDirectory(prefix="hs-") as folder:
        workspace = Workspace(folder)
        try:
            return measurement(make_path(workspace, kind, count, offloads, every), seconds)
        finally:
            workspace.close()


def measure_all(rounds, seconds, sections, say=lambda text: None):
    """Returns a list of results, one for each round, by (title, kind, count, every)."""
    results = {}
    for number in range(rounds):
        for measurement, title, offloads, paths in sections:
            for kind, count, every in paths:
                found = measure(kind, count, every, offloads, measurement, seconds)
                results.setdefault((title, kind, count, every), []).append(found)
                say(f"round {number + 1}: {title}, {name_of(kind, count, every)}: {found}")
    return results


# ---- the page ----

def name_of(kind, count, every):
    name = {("bridge", 1): "a bridge", ("bridge", 2): "two bridges", ("node", 1): "one node",
            ("node", 2): "two nodes", ("memif", 2): "two nodes, memif between them",
            ("rr", 2): "two nodes, workers of class `rr`",
            ("af_xdp", 1): "one node, `af_xdp`", ("af_xdp", 2): "two nodes, `af_xdp`",
            ("awake", 1): "one node, `cpu_latency_us` 0",
            ("awake", 2): "two nodes, `cpu_latency_us` 0",
            ("awake memif", 2): "two nodes, memif between them, `cpu_latency_us` 0"}[kind, count]
    return f"{name}, a rule samples 1/{every}" if every else name


def _number(value):
    if value == 0 and isinstance(value, float):
        return "–"
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.3g}"


def _cell(values):
    if max(values) == min(values):
        return _number(values[0])
    return f"{_number(statistics.median(values))} ({_number(min(values))}–{_number(max(values))})"


def _ratio(rows, others, key):
    """Returns the median of the ratios of each round. What slows the machine for a while slows both values of a
    round."""
    ratios = [row[key] / other[key] for row, other in zip(rows, others) if other[key]]
    return f"{statistics.median(ratios):.2f}" if ratios else "–"


def _comparisons(results, title, paths):
    """Returns the titles of the columns of ratios, and a function from a path to their values."""
    keys = [key for key in results[(title, *paths[0])][0] if key in _COMPARED]
    titles = [f"{key.split()[0]} against the bridges" if len(keys) > 1 else "against the bridges" for key in keys]
    rules = any(every for _, _, every in paths)

    def values(kind, count, every):
        rows = results[(title, kind, count, every)]
        cells = [_ratio(rows, results[(title, "bridge", count, 0)], key) for key in keys]
        if rules:
            cells.append(_ratio(rows, results[(title, kind, count, 0)], keys[0]) if every else "–")
        return cells
    return titles + ["against no rule"] * rules, values


def _table(results, title, paths):
    keys = list(results[(title, *paths[0])][0])
    titles, ratios = _comparisons(results, title, paths)
    lines = ["| path | " + " | ".join(keys + titles) + " |", "|---" * (len(keys + titles) + 1) + "|"]
    for path in paths:
        cells = [_cell([row[key] for row in results[(title, *path)]]) for key in keys] + ratios(*path)
        lines.append(f"| {name_of(*path)} | {' | '.join(cells)} |")
    return lines


def _is_empty(results, title, paths):
    return not any(value for path in paths for row in results[(title, *path)] for value in row.values())


def page(results, rounds, seconds, sections, load):
    command = f"tools/linux_compare.py --rounds {rounds} --seconds {seconds:g} --out docs/results/linux.md"
    lines = ["# Nodes beside Linux bridges", "",
             f"`{command}` wrote this page on",
             f"{datetime.date.today()}. Values are medians of all rounds, with the least and the greatest value in",
             "brackets. A round measures each case once, and a ratio is the median of those of each round. Two hosts, and each bridge or node between them, have a",
             "network namespace of their own; veths join them, unless a path says otherwise. `–` stands for a rate that was not",
             "reached. A section that no path reached is left out.", "",
             f"The machine: Linux {'.'.join(platform.release().split('.')[:2])}, {os.cpu_count()} cores, load average {load[0]:.1f} at the",
             f"start and {load[1]:.1f} at the end. The load of a quiet machine is below 1 at the start; on a machine",
             "with other work, only ratios mean something.", ""]
    for measurement, title, _, paths in sections:
        if _is_empty(results, title, paths):
            continue
        lines += [f"## {title}", "", f"`{_COMMANDS[measurement]}`", ""]
        if measurement is idle:
            lines += [_IDLE_TARGETS, "", _IDLE_SHARE, ""]
        if measurement in (idle, steady):
            lines += ["A bridge works in the time of those who send and has no process of its own.", ""]
        if measurement is udp:
            lines += [f"The capture has a packet of {_UDP_FLOWS} flows each. Through bridges the sender is the limit, because a bridge works in the",
                      "sender's time: they lose nothing at any rate that the sender reaches.", ""]
        lines += [*_table(results, title, paths), ""]
    return "\n".join(lines)


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each case is measured (5)")
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement (3)")
    parser.add_argument("--out", metavar="FILE", help="where the page goes; default: standard output")
    parser.add_argument("--only", metavar="WORDS", default="", help="the sections with these words in their title")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.seconds < 1:
        parser.error("--rounds and --seconds must be at least 1")
    arguments.sections = [s for s in SECTIONS if arguments.only.lower() in s[1].lower()]
    if not arguments.sections:
        parser.error(f"--only {arguments.only}: the titles are " + "; ".join(s[1] for s in SECTIONS))
    return arguments


def main():
    arguments = _arguments()
    load = [os.getloadavg()[0]]
    results = measure_all(arguments.rounds, arguments.seconds, arguments.sections,
                          lambda text: print(text, file=sys.stderr, flush=True))
    load.append(os.getloadavg()[0])
    text = page(results, arguments.rounds, arguments.seconds, arguments.sections, load)
    if not arguments.out:
        print(text)
        return
    with open(arguments.out, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
