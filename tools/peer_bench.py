#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures VPP, FastClick, DPDK's l3fwd and dpdk-testpmd beside Hopsight: nanoseconds and clocks of the worker's core
for each packet, in the roles that both have, with the same frames, flows and pages, in turn. A ratio is Hopsight's figure
divided by the other's of the same round. Run it as root. It reserves huge pages for the time of the measurement."""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bench import command, measure, result, show  # noqa: E402
from peers import fastclick, l3fwd, traffic, vpp  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HUGE_PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
ABOUT = {"route": "IPv6 forwarding", "uneven": "IPv6 forwarding, some 100,000 routes",
         "source": "source, every packet", "transit": "transit, every packet",
         "sink": "sink, report in a ring", "monitor": "sink and monitor, or export"}
LIMITS = {"route": 0.65, "uneven": 0.65, "source": 0.6, "transit": 0.67, "sink": 0.67, "monitor": 0.6}
OTHERS = {"testpmd": "testpmd mac", "l3fwd": "l3fwd, longest prefix match",
          **{f"fastclick-{mode}": about for mode, about in fastclick.ABOUT.items()}}  # what they do; `route` alone
MOST_LOST = 0.1  # of the reports, in each role that makes reports


def case_name(role, frame_bytes):
    return "route" + ("" if role == "route" else f"_{role}") + ("" if frame_bytes == 64 else f"_{frame_bytes}")


@contextlib.contextmanager
def huge_pages(wanted):
    """Reserves this number of huge pages, and releases them at the end."""
    if not wanted:
        yield
        return
    with open(HUGE_PAGES, encoding="ascii") as f:
        before = int(f.read())
    try:
        with open(HUGE_PAGES, "w", encoding="ascii") as f:
            f.write(str(max(wanted, before)))
        with open(HUGE_PAGES, encoding="ascii") as f:
            if int(f.read()) < wanted:
                raise SystemExit(f"peer_bench: the kernel does not have {wanted} huge pages")
        yield
    finally:
        with open(HUGE_PAGES, "w", encoding="ascii") as f:
            f.write(str(before))


class Cell:
    """The figures of one program in one role, with frames of one size and pages of one kind."""

    def __init__(self, program, role, frame_bytes, huge):
        self.program, self.role, self.frame_bytes, self.huge = program, role, frame_bytes, huge
        self.ns, self.error, self.made, self.lost = [], "", 0, 0

    def __str__(self):
        return f"{self.program} {self.role} {self.frame_bytes} B {'huge' if self.huge else 'small'} pages"

    def json(self):
        lost = {"reports_lost_ratio": round(self.lost / self.made, 4)} if self.made else {}
        return {"program": self.program, "role": self.role, "frame_bytes": self.frame_bytes,
                "huge_pages": self.huge, **({"error": self.error} if self.error else {}), **lost,
                **({"ns": show.summary(self.ns, statistics.median(self.ns), 1), "rounds": self.ns} if self.ns else {})}


class Peers:
    """Makes one measurement of a cell at a time."""

    def __init__(self, args, folder):
        self.args, self.bench = args, measure.Bench(args.case_program, args.seconds, args.worker, args.control)
        self.bench.folder = folder
        self.cases = {case["name"]: result.Case(**case) for case in args.build_facts["cases"]}
        self.ghz, self.versions = 0, {}
        self.prefixes = {}  # of cases by name

    def source(self, case):
        """Writes the frames of a case if they are not written yet. Returns the path of the file."""
        path = self.bench.capture(case)
        if not os.path.exists(path):
            measure.result_of(measure.start([self.args.case_program, case.name, "--frames", path], listen=True),
                              measure.CASE_LIMIT_S)
        return path

    def routes(self, case):
        """Returns the prefixes of a case, each once."""
        if case.name not in self.prefixes:
            said = measure.result_of(measure.start([self.args.case_program, case.name, "--routes"], listen=True),
                                     measure.CASE_LIMIT_S)
            self.prefixes[case.name] = list(dict.fromkeys(said["routes"]))
        return self.prefixes[case.name]

    def hopsight(self, cell, case):
        self.source(case)
        line = self.bench.measure_case(case, cell.huge)
        self.ghz = line["tsc_ghz"]
        cell.made, cell.lost = cell.made + line["reports_made"], cell.lost + line["reports_lost"]
        return line["cpu_ns"] / line["packets"]

    def vpp(self, cell, _case):
        routed = self.cases[case_name(cell.role if cell.role in vpp.PLAIN_ROLES else "route", cell.frame_bytes)]
        plain = self.source(routed)
        pcap = plain
        if cell.role in ("transit", "sink", "monitor"):
            pcap = plain + ".trace"
            if not os.path.exists(pcap):
                traffic.write_pcap(pcap, [traffic.with_trace(frame) for frame in traffic.read_pcap(plain)])
        with tempfile.TemporaryDirectory(prefix="hopsight-vpp.") as folder:
            process = vpp.Vpp(self.args.vpp, folder, cell.role, pcap, self.routes(routed), self.bench.worker,
                              self.bench.control, cell.huge)
            self.versions["vpp"] = process.version
            try:
                return process.ns(self.bench.seconds)
            finally:
                process.stop()

    def testpmd(self, cell, case):
        self.source(case)
        return self.bench.measure_peer(result.Row(str(cell), case, "mac", cell.huge))

    def l3fwd(self, cell, case):
        self.source(case)
        return l3fwd.ns(self.args.l3fwd, self.bench, self.bench.source(case), cell.huge)

    def fastclick(self, cell, case):
        self.source(case)
        return fastclick.ns(self.args.fastclick, self.bench, self.bench.source(case), cell.program.split("-")[1],
                            cell.huge)

    def measure(self, cell):
        """Measures a cell. Returns the text to print about it. A cell that failed has no further rounds."""
        if cell.error:
            return cell.error
        try:
            case = self.cases[case_name(cell.role, cell.frame_bytes)]
            if cell.program == "hopsight":
                taken = self.hopsight(cell, case)
            else:
                taken = measure.with_second_try(getattr(self, cell.program.split("-")[0]), cell, case)
            cell.ns.append(round(taken, 2))
        except (measure.Failed, OSError) as error:
            cell.error = str(error)
            return cell.error
        return f"{cell.ns[-1]:.1f} ns"


def make_cells(args):
    cells = []
    for huge in args.pages:
        for size in args.bytes:
            for role in args.roles:
                programs = ["hopsight"] + (["vpp"] if args.vpp else [])
                if role == "route":
                    programs += (["l3fwd"] if args.l3fwd else []) + (["testpmd"] if measure.peer_is_there() else [])
                    programs += [f"fastclick-{mode}" for mode in fastclick.ABOUT] if args.fastclick else []
                cells += [Cell(program, role, size, huge) for program in programs]
    return cells


# ---- tables ----

def ratios(cell, other):
    return [round(a / b, 3) for a, b in zip(cell.ns, other.ns)] if cell and other else []


def both(cell):
    """Returns the median and the least value as text."""
    if not cell or not cell.ns:
        return f"({cell.error})" if cell else ""
    return f"{statistics.median(cell.ns):.0f} / {min(cell.ns):.0f}"


def find(cells, *key):
    return next((c for c in cells if (c.program, c.role, c.frame_bytes, c.huge) == key), None)


def rows(cells, args, ghz):
    for huge in args.pages:
        for size in args.bytes:
            for role in args.roles:
                ours, theirs = (find(cells, program, role, size, huge) for program in ("hopsight", "vpp"))
                of = ratios(ours, theirs)
                lost = f", {100 * ours.lost / ours.made:.0f} % of reports lost" if ours and ours.made else ""
                clocks = " / ".join(f"{statistics.median(c.ns) * ghz:.0f}" if c and c.ns else "" for c in (ours, theirs))
                keeps = of and statistics.median(of) <= LIMITS[role] and ours.lost <= MOST_LOST * ours.made
                limit = f"{LIMITS[role]:.2f} {'met' if keeps else 'missed'}" if of and huge else ""
                yield (f"| {ABOUT[role]}{lost} | {size} | {'2 MiB' if huge else '4 KiB'} | {both(ours)} | "
                       f"{both(theirs)} | {clocks} | {f'{statistics.median(of):.2f}' if of else ''} | {limit} |")


def table(cells, args, ghz):
    lines = ["| work | bytes | pages | Hopsight ns | VPP ns | clocks | ratio | limit |", "|---|---|---|---|---|---|---|---|",
             *rows(cells, args, ghz)]
    others = [c for c in cells if c.program in OTHERS]
    if others:
        lines += ["", "| program | bytes | pages | ns | Hopsight `route` by it |", "|---|---|---|---|---|"]
    for cell in others:
        of = ratios(find(cells, "hopsight", "route", cell.frame_bytes, cell.huge), cell)
        lines.append(f"| {OTHERS[cell.program]} | {cell.frame_bytes} | {'2 MiB' if cell.huge else '4 KiB'} | "
                     f"{both(cell)} | {f'{statistics.median(of):.2f}' if of else ''} |")
    return "\n".join(lines) + "\n"


# ---- the command line ----

def parse(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vpp", metavar="DIR", help="a build or an installation of VPP: bin/vpp, bin/vppctl and "
                        "lib/*/vpp_plugins/ioam_plugin.so below it")
    parser.add_argument("--l3fwd", metavar="PROGRAM", help="DPDK's l3fwd, which asks for no checksum offload")
    parser.add_argument("--fastclick", metavar="PROGRAM", help="userlevel/click of a FastClick with DPDK and IPv6; it "
                        "is measured in the role `route` alone")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="our build")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one measurement")
    parser.add_argument("--bytes", type=lambda text: [int(word) for word in text.split(",")], default=[64, 128])
    parser.add_argument("--roles", type=lambda text: text.split(","), default=list(vpp.ROLES),
                        help=",".join(vpp.ROLES))
    parser.add_argument("--pages", type=lambda text: [word == "huge" for word in text.split(",")],
                        default=[True, False], help="huge,small")
    parser.add_argument("--reserve", type=int, default=1024, help="huge pages of 2 MiB")
    parser.add_argument("--worker", type=int, default=sorted(os.sched_getaffinity(0))[-1])
    parser.add_argument("--control", type=int, default=sorted(os.sched_getaffinity(0))[0])
    parser.add_argument("--json", metavar="FILE")
    return parser, parser.parse_args(words)


def look_for_programs(parser, args):
    """Says which programs are left out. Exits if Hopsight's own program or a named one is missing."""
    args.case_program = os.path.join(args.build, "apps", "hopsight-bench-case")
    if not os.path.exists(args.case_program):
        parser.error(f"{args.case_program} is not built")
    if set(args.roles) - set(vpp.ROLES) or set(args.bytes) - {64, 128}:
        parser.error(f"roles are {', '.join(vpp.ROLES)}; frames have 64 or 128 bytes")
    if not args.vpp:
        print("peer_bench: no --vpp: it is left out", file=sys.stderr)
    else:
        args.vpp = vpp.Programs(args.vpp)
        if args.vpp.missing():
            parser.error(f"--vpp: {', '.join(args.vpp.missing())}: not there")
    for name, path in (("--l3fwd", args.l3fwd), ("--fastclick", args.fastclick)):
        if path and not shutil.which(path):
            parser.error(f"{name}: {path}: not there, or not a program")
    for name, there in (("--l3fwd", args.l3fwd), ("--fastclick", args.fastclick),
                        (measure.PEER, measure.peer_is_there())):
        if not there:
            print(f"peer_bench: no {name}: it is left out", file=sys.stderr)


def main(words):
    parser, args = parse(words)
    look_for_programs(parser, args)
    measure.catch_signals()
    args.build_facts = measure.result_of(measure.start([args.case_program, "--list"], listen=True), measure.CASE_LIMIT_S)
    cells = make_cells(args)
    with huge_pages(args.reserve if True in args.pages else 0), \
            tempfile.TemporaryDirectory(prefix="hopsight-peers.") as folder:
        peers = Peers(args, folder)
        for number in range(args.rounds):
            for cell in cells:
                print(f"round {number + 1}/{args.rounds} {cell}: {peers.measure(cell)}", file=sys.stderr)
    machine = {**command.machine_facts(args.build_facts, ["peer_bench", *words]), **peers.versions}
    print(table(cells, args, peers.ghz), end="")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"machine": machine, "cells": [cell.json() for cell in cells]}, f, indent=1)
    return 1 if any(cell.error for cell in cells) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
