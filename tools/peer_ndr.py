#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures NDR, PDR, MRR and latency over memif: of a Hopsight node and of dpdk-testpmd, DPDK's l3fwd and VPP, in turn,
with the same frames and rings. tools/ndr.py says what the figures are. Run it as root."""

import argparse
import contextlib
import functools
import json
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import ndr  # noqa: E402
from bench import measure  # noqa: E402
from peer_bench import huge_pages  # noqa: E402
from peers import memif, traffic, vpp  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SETTLE_S = 2  # l3fwd starts its ports after it made their sockets, and refuses whoever comes earlier
PROGRAMS = {
    "Hopsight, a rule, telemetry in 1 of 100": memif.hopsight,
    "Hopsight, no rule": functools.partial(memif.hopsight, rules=False),
    f"Hopsight, routing, {traffic.ROUTES:,} prefixes": functools.partial(memif.hopsight, rules=False, routes=traffic.ROUTES),
    "testpmd mac": memif.testpmd,
    f"l3fwd, {traffic.ROUTES:,} prefixes": memif.l3fwd,
    f"VPP, {traffic.ROUTES:,} prefixes": memif.vpp,
}


def measure_one(args, start):
    """Returns the rates of one program, and its latency at half of NDR."""
    with tempfile.TemporaryDirectory(prefix="hopsight-ndr.") as folder, contextlib.ExitStack() as ends:
        ends.callback(start(args, folder))
        if not measure.wait_until(lambda: os.path.exists(memif.socket(folder, "out")), ndr.START_LIMIT_S):
            raise measure.Failed("the program makes no socket")
        time.sleep(SETTLE_S)
        generator = ndr.Generator(args, ["--dst-mac", memif.MAC, "--wait", str(ndr.START_LIMIT_S)],
                                  [memif.device(i, folder, name, "client") for i, name in enumerate(("in", "out"))])
        ends.callback(generator.stop)
        generator.warm_up(args.bytes)
        search = ndr.Search(lambda pps: generator.trial(pps, args.seconds, args.bytes), precision=args.precision)
        rates = search.rates(args.mrr_trials)
        half = generator.trial(rates["ndr_pps"] / 2, args.seconds, args.bytes) if rates["ndr_pps"] else {}
        return {**rates, "latency_ns": half.get("latency_ns", {})}


def hold(args, start):
    """Runs a program until Ctrl-C, for another generator."""
    with tempfile.TemporaryDirectory(prefix="hopsight-ndr.") as folder, contextlib.ExitStack() as ends:
        ends.callback(start(args, folder))
        print("\n".join(memif.device(i, folder, name, "client") for i, name in enumerate(("in", "out"))), flush=True)
        with contextlib.suppress(measure.Interrupted):
            measure.wait_until(lambda: False, float("inf"))


def text(values, unit):
    return f"{statistics.median(values) / unit:.1f} ({min(values) / unit:.1f}–{max(values) / unit:.1f})" if values else "–"


def table(results):
    lines = ["| program | NDR, Mpps | best | PDR, Mpps | MRR, Mpps | at half of NDR: p50, µs | p99, µs |",
             "|---|---|---|---|---|---|---|"]
    for name, found in results.items():
        rates = [text([one[key] for one in found], 1e6) for key in ("ndr_pps", "pdr_pps", "mrr_pps")]
        times = [text([one["latency_ns"][key] for one in found if key in one["latency_ns"]], 1e3) for key in ("p50", "p99")]
        best = max((one["ndr_pps"] for one in found), default=0) / 1e6
        lines.append(f"| {name} | {rates[0]} | {best:.1f} | {rates[1]} | {rates[2]} | {times[0]} | {times[1]} |")
    return "\n".join(lines)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vpp", metavar="DIR", help="as for tools/peer_bench.py, and memif_plugin.so")
    parser.add_argument("--l3fwd", metavar="PROGRAM", help="DPDK's l3fwd, which asks for no checksum offload")
    parser.add_argument("--only", metavar="WORDS", default="", help="the programs with these words in their name")
    parser.add_argument("--hold", action="store_true", help="run one program for another generator, until Ctrl-C")
    parser.add_argument("--config", default=os.path.join(ROOT, "config", "bench-memif.json"), help="of the node")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="our build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one trial")
    parser.add_argument("--bytes", type=int, default=128, help="frames without FCS, 74 at least")
    parser.add_argument("--flows", type=int, default=4096)
    parser.add_argument("--precision", type=float, default=0.02)
    parser.add_argument("--mrr-trials", type=int, default=3)
    parser.add_argument("--small-pages", dest="huge", action="store_false", help="pages of 4 KiB")
    parser.add_argument("--worker", type=int, default=sorted(os.sched_getaffinity(0))[-1])
    parser.add_argument("--control", type=int, default=sorted(os.sched_getaffinity(0))[0], help="and the generator")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args(words)
    args.cores, args.eal = str(args.control), None  # of the generator
    if args.vpp:
        args.vpp = vpp.Programs(args.vpp)
        if args.vpp.missing("memif_plugin.so"):
            parser.error(f"--vpp: {', '.join(args.vpp.missing('memif_plugin.so'))}: not there")
    there = {"testpmd": measure.peer_is_there(), "l3fwd": args.l3fwd, "VPP": args.vpp}
    for name in (name for name, is_there in there.items() if not is_there):
        print(f"peer_ndr: no {name}: it is left out", file=sys.stderr)
    args.programs = {name: start for name, start in PROGRAMS.items()
                     if args.only.lower() in name.lower() and there.get(name.split()[0].rstrip(","), True)}
    if not args.programs or args.hold and len(args.programs) > 1:
        parser.error(f"--only {args.only}: the programs are " + "; ".join(PROGRAMS))
    return args


def main(words):
    args = parse(words)
    measure.catch_signals()
    results = {name: [] for name in args.programs}
    with huge_pages(1024 if args.huge else 0):
        if args.hold:
            hold(args, next(iter(args.programs.values())))
            return 0
        for number in range(args.rounds):
            for name, start in args.programs.items():
                try:
                    results[name].append(measure_one(args, start))
                    said = f"NDR {results[name][-1]['ndr_pps'] / 1e6:.2f} Mpps"
                except (measure.Failed, ndr.Failed, OSError) as error:
                    said = str(error)
                print(f"round {number + 1}/{args.rounds} {name}: {said}", file=sys.stderr, flush=True)
    print(table(results))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"machine": ndr.machine(), "programs": results}, f, indent=1)
    return 0 if all(len(found) == args.rounds for found in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
