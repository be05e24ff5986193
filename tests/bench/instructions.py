#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that the program's own functions execute for a packet or report, counted by callgrind, beside a
baseline.

Times differ from minute to minute on a machine that others share; instructions do not. Counted is what runs below
a worker's poll, a step of control or a collector's hs_collect_take and lies in hopsight-bench-case itself: DPDK and
its drivers, and libc, are not in it.

    instructions.py [CASE...]          compare with instructions.json; PASS or FAIL for each case
    instructions.py --update           write instructions.json
    instructions.py --functions CASE   what each function takes
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINE = os.path.join(HERE, "instructions.json")
BENCH = os.path.join(HERE, "..", "..", os.environ.get("HOPSIGHT_BUILD", "build"), "apps", "hopsight-bench-case")
# Packets or reports: each of 4,096 rules gets 25, or 100 or 1,000 where telemetry is rarer. With 100, no packet is one of
# 10,000 (sampled_10000), which changes the count by 0.01. A monitor gets 100 of each, which are a second's. Each kind of
# garbage gets 20,000.
# The longest begins first.
CASES = {"sampled_1000": 4096000, "monitor_reports": 409600, "matched_4096": 102400, "sampled_10000": 409600,
         "sampled_100": 409600, "sampled_10": 409600, "sampled_1": 102400, "unmatched": 102400, "transit_2": 102400,
         "sink_ring": 102400, "route_transit": 102400, "int_source": 102400, "int_transit": 102400, "int_sink": 102400,
         "int_mx": 102400, "matched_4096_ipv4": 102400, "matched_16masks": 102400, "route": 102400, "route_ipv4": 102400,
         "no_rules": 102400, "label_idle": 102400, "probe_idle": 102400, "probe_transit": 102400, "label_all": 102400,
         "mixed": 102400, "bridge": 102400, "route_10": 102400,
         "route_uneven": 102400, "collect_1": 80000, "collect_100": 80000, "collect_garbage": 20000}
MORE = 1.01  # what is more than this is a regression
LIMITS = {"label_idle": ("no_rules", 1.05), "probe_idle": ("no_rules", 1.02)}  # of another case, where both are counted
LIMIT_S = 120
ENTRIES = ("counted_poll", "counted_step", "counted_take*")  # of a worker, of control, of a collector


def compiler():
    """What built the program decides what it counts: "gcc 12.2.0"."""
    found = re.search(rb"GCC: \(Debian [^)]*\) ([0-9.]+)|(clang version [0-9.]+)", open(BENCH, "rb").read())
    if not found:
        return "unknown"
    return f"gcc {found.group(1).decode()}" if found.group(1) else found.group(2).decode()


def self_cost(path):
    """Function to instructions, of those in hopsight-bench-case (the format: valgrind manual, "Callgrind Format")."""
    names, cost = {}, collections.Counter()
    ours, function, skip = False, "", False

    def name_of(kind, value):
        number, name = re.match(r"\((\d+)\)(?: (.*))?", value).groups()
        if name is not None:
            names[kind, number] = name
        return names[kind, number]

    with open(path, encoding="utf-8") as f:
        for line in f:
            key, _, value = line.rstrip("\n").partition("=")
            if key in ("ob", "cob"):
                name = name_of("ob", value)
                if key == "ob":
                    ours = os.path.basename(name) == "hopsight-bench-case"
            elif key in ("fn", "cfn"):
                name = name_of("fn", value)
                if key == "fn":
                    function = name
            elif key == "calls":
                skip = True  # the line after it is what was called
            elif line[:1] in "+-*0123456789" and line.strip():
                if not skip and ours:
                    cost[function] += int(line.split()[1])
                skip = False
    return cost


def count(case, folder, cores):
    """Instructions a packet, by function."""
    out, pcap = os.path.join(folder, "out"), os.path.join(folder, "frames.pcap")
    subprocess.run([BENCH, case, "--frames", pcap], check=True, stdout=subprocess.DEVNULL)
    command = ["valgrind", "--tool=callgrind", *(f"--toggle-collect={name}" for name in ENTRIES), f"--callgrind-out-file={out}",
               BENCH, case, "--packets", str(CASES[case]), "--pcap", pcap, "--worker", str(cores[-1]),
               "--control", str(cores[0]), "--prefix", f"hsinstr{os.getpid()}{case}"]
    # How far a core is from the other one must not decide what is counted.
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env=os.environ | {"HS_REPORT_STORES": "cached"})
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr)[-2000:])
    packets = json.loads(done.stdout.splitlines()[-1])["packets"]
    return {name: n / packets for name, n in self_cost(out).items()}


def count_all(cases):
    """Yields what count returns for each case. Two run at once, because time does not count, with their
    workers on different cores."""
    cores = sorted(os.sched_getaffinity(0))

    def one(at):
        with tempfile.TemporaryDirectory(prefix="hopsight-instructions.") as folder:
            return count(cases[at], folder, cores[::-1] if at % 2 else cores)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield from pool.map(one, range(len(cases)))


def judge(case, now, baseline):
    was = baseline["instructions"].get(case)
    if was is None:
        print(f"FAIL instructions {case}: the baseline has no such case")
        return False
    good = now <= was * MORE
    print(f"{'PASS' if good else 'FAIL'} instructions {case} takes {now:.1f} a packet, baseline {was:.1f}"
          f" ({now / was - 1:+.1%}){'' if good else ': more than 1 % above it'}", flush=True)
    return good


def show_functions(cost):
    for name, n in sorted(cost.items(), key=lambda item: -item[1]):
        print(f"{n:9.2f}  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--functions", action="store_true")
    args = parser.parse_args()
    unknown = [case for case in args.cases if case not in CASES]
    if unknown:
        parser.error(f"no case {unknown[0]}: {', '.join(CASES)}")
    with open(BASELINE, encoding="utf-8") as f:
        baseline = json.load(f)
    if not args.update and not args.functions and compiler() != baseline["compiler"]:
        print(f"SKIP instructions: built by {compiler()}, the baseline by {baseline['compiler']}")
        return 0
    counts, good = {}, True
    cases = args.cases or list(CASES)
    for case, cost in zip(cases, count_all(cases)):
        counts[case] = round(sum(cost.values()), 1)
        if args.functions:
            show_functions(cost)
        if not args.update:
            good &= judge(case, counts[case], baseline)
    for case, (of, limit) in LIMITS.items():
        if case in counts and of in counts and counts[case] > limit * counts[of]:
            print(f"FAIL instructions {case} takes more than {limit} of {of}")
            good = False
    if args.update:
        with open(BASELINE, "w", encoding="utf-8") as f:
            json.dump({"compiler": compiler(), "instructions": {**baseline["instructions"], **counts}}, f, indent=1)
            f.write("\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
