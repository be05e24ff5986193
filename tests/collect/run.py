# SPDX-License-Identifier: BSD-3-Clause
"""Compares the collector's library with an independent decoder and model in Python: the vectors of the
specifications, INTCollector's own frames, what tools/reports.py sends, and random reports.

    run.py [--reports N] [--seed S] [--jobs N] [--changed PART] [WORD]...
"""

import argparse
import contextlib
import io
import multiprocessing
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools")]

import compare  # noqa: E402
import generate  # noqa: E402
import report_formats as formats  # noqa: E402
import reports as sender  # noqa: E402
from decode import Settings  # noqa: E402
from generate import BEGIN_NS, Record  # noqa: E402
from model import (  # noqa: E402
    CHANGE, CONGESTION, FLOW, HOP, LINK, MEASURES, NEW, OCCUPANCY, PATH, TABLES, Config)

EACH = 500  # records of one random configuration
SPECIFIED = [Settings(version, "dscp", formats.DSCP, 0x3F, 0, 0) for version in ("0.5", "1.0", "2.1")]
ADDRESS = True, bytes((192, 0, 2, 1)) + bytes(12)


def config(threshold=50, lenient=False, **changes):
    return Config(SPECIFIED, lenient, dict.fromkeys(TABLES, 100_000), 1000,
                  {name: (threshold, 0) for name in MEASURES}, 0, 0, 0)._replace(**changes)


def told(of, payloads, step_ns=1_000_000):
    """Returns the model and, by datagram, the kinds and causes of what the collector told."""
    records = [Record(BEGIN_NS + i * step_ns, 0, ADDRESS, data) for i, data in enumerate(payloads)]
    model, got = compare.compare(of, records)
    points = [[] for _ in records]
    for index, _, _, some in got.events:
        points[index] += [(point.kind, point.cause) for point in some]
    return model, points


def demand(got, wanted, what):
    if got != wanted:
        raise compare.Differs(f"{what}: {got}, not {wanted}")


# ---- tests ----

VECTORS = {
    "switch local": ("0220000300000007075bcd1500000003000100020500001e075bcde702000000000202000000000108"
                     "00", (OCCUPANCY,)),
    "drop 0.5": ("0180000300000008075bcd15000000030001000205320000", (5,)),
    "minimal 1.0": ("140000430000000300000007075bcd15", ()),
    "ports and queue": ("163400430000000300000007075bcd15000100020500001e", (OCCUPANCY,)),
    "drop 1.0": ("150101030000000300000008075bcd1505320000", (5,)),
    "two coalesced": ("20c0000700000003140e02205000000000000000000100020500001e4500002800010000400663cd0a00"
                      "01010a0002029c400016000003e8000007d050182000d0bb00001005038041010000000000000001"
                      "00020000004d05320000", (FLOW, OCCUPANCY, LINK, 5)),
}


def vectors_of_the_specifications():
    for name, (text, kinds) in VECTORS.items():
        _, points = told(config(), [bytes.fromhex(text)])
        demand(sorted(points[0]), sorted((kind, NEW) for kind in kinds), name)
    return f"{len(VECTORS)} vectors"


FIRST = (4, 5, 3, 400, 5, 600, 700, 1524234560, 0x000503E8, 1)
REST = [(node, 2, 3, 4, 5, 6, 7, 1524234556 + node, 0x0005000A, 1) for node in (5, 6)]
FRAME_1_0 = (
    "1100004000000000000000005ad8813202000000000202000000000108004500008800010000401166620a0000010a0000"
    "02138813880074999901001b0000000803ff00000000000004000500030000019000050258000002bc5ad9f940000503e8"
    "0000000100000005000200030000000400050006000000075ad9f9410005000a0000000100000006000200030000000400"
    "050006000000075ad9f9420005000a00000001")
FRAME_0_5 = (
    "10200000000000005ad8813202000000000202000000000108004500008c000100004011665e0a0000010a000002138813"
    "880078bef20100000000080803ff00000000000004000200030000000400050006000000075ad9f9400005000a00000001"
    "00000005000200030000000400050006000000075ad9f9400005000a000000010000000600020003000000040005000600"
    "0000075ad9f9400005000a000000010000000e")


def cut_stacks():
    """Ten seconds of stacks that were cut, and the path that was known has no latency any more."""
    frame = bytes.fromhex(FRAME_1_0)
    model, points = told(config(lenient=True), [frame] + 13 * [frame[:-30]] + [frame], 1_000_000_000)
    demand(model.counters["reports_partial"], 13, "reports with a cut stack")
    demand(sum(points[1:14], []), [], "events of cut stacks")
    demand(sorted(points[14])[:4], [(FLOW, PATH)] + 3 * [(HOP, NEW)], "the path is known again")
    return "13 reports"


def frames_of_intercollector():
    """The frames of its generator, and exactly the points that INTCollector makes of them."""
    lenient = config(lenient=True)
    changed = (4, 5, 3, 4, 5, 6, 700, 1524234560, 0x000503E8, 1000)
    demand(formats.intercollector("1.0", [FIRST, *REST]).hex(), FRAME_1_0, "the generator's frame")
    frame, after = bytes.fromhex(FRAME_1_0), formats.intercollector("1.0", [changed, *REST])
    model, points = told(lenient, [frame, frame, after])
    new = [(FLOW, NEW)] + 3 * [(HOP, NEW)] + 3 * [(OCCUPANCY, NEW)] + 3 * [(LINK, NEW)]
    demand(sorted(points[0]), sorted(new), "frame A: 10 points")
    demand(points[1], [], "frame A again")
    demand(sorted(points[2]), [(FLOW, CHANGE), (HOP, CHANGE), (OCCUPANCY, CHANGE), (LINK, CHANGE)],
           "the changed frame")
    flow = next(iter(model.flows.entries.values()))
    demand(flow["hops"], [(6, 4), (5, 4), (4, 4)], "the path, the source first")
    _, points = told(lenient, [bytes.fromhex(FRAME_0_5)] * 2)
    demand(sorted(points[0]), sorted(new + 3 * [(CONGESTION, NEW)]), "frame of 0.5")
    demand(points[1], [], "frame of 0.5 again")
    return "10, 0 and 4 points; 0.5: 13 and 0"


def reports_that_the_tool_sends():
    """All are read, and with --events so many values change, and no more."""
    for words in (["--kinds", "sink,postcard,drop,queue,intermediate", "--coalesce", "3", "--flows", "20"],
                  ["--format", "1.0", "--kinds", "sink,postcard,drop,queue", "--ipv6", "--flows", "7"],
                  ["--format", "0.5", "--kinds", "sink,postcard,drop,queue", "--hops", "6"],
                  ["--hops", "64", "--fields", "latency"]):
        model = sent(words)[0]
        for name, n in model.counters.items():
            if n and (name.startswith(("refused", "reports_missing", "reports_late")) or "skipped" in name):
                raise compare.Differs(f"reports.py {' '.join(words)}: {name} is {n}")
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            sent(["--hops", "64"])
        raise compare.Differs("reports.py: 64 hops with all fields are more than INT's length can say")
    except SystemExit as end:
        demand(end.code, 2, "exit code of 64 hops with all fields")
    _, points, changes = sent(["--format", "1.0", "--flows", "50", "--events", "500"])
    changed = sum((HOP, CHANGE) in some for some in points)
    # A flow whose turn does not come again keeps its change to itself.
    if not changes - 50 <= changed <= changes:
        raise compare.Differs(f"reports.py: {changes} changed values, {changed} events")
    return f"{changed} events of {changes} changed latencies"


def sent(words):
    options = sender.parser_of().parse_args(["--pcap", "none", "--quiet", *words])
    sender.check(sender.parser_of(), options)
    reports, payloads, changes = sender.Reports(options), [], 0
    for i in range(2000):
        while options.events and changes < i * options.events // 10000:
            reports.change()
            changes += 1
        payloads.append(reports.next(BEGIN_NS + i * 100_000)[0])
    return *told(config(1000), payloads, 100_000), changes


def one(job):
    seed, n, lenient, batch, changed, tunnels = job
    chosen, records = generate.of_seed(seed, n, lenient, changed, tunnels)
    if batch > 1:  # what is pushed when is compared without bursts
        chosen = chosen._replace(push_ns=0)
        records = [record for record in records if not hasattr(record, "budget")]
    try:
        model, got = compare.compare(chosen, records, batch)
        return seed, None, got.counters["reports"], got.counters["points"], model.counters["reports_read"]
    except (compare.Differs, RuntimeError) as error:
        text = f"{error}"[:1500]
        index = getattr(error, "index", None)
        if index is not None and hasattr(records[index], "data"):
            text += f"\n  record {index}: {records[index].data.hex()[:600]}\n  settings {chosen.settings}"
        return seed, text, 0, 0, 0


def random_reports(options, tunnels=False):
    """Every third configuration gets its datagrams in bursts; every fifth is INTCollector's; every
    second gets datagrams in which bytes are changed. Those of tunnels are cut, but no byte is changed."""
    runs = max(1, options.reports * 2 // (3 * EACH))  # a datagram of 2.0 contains several
    work = ((seed, EACH, seed % 5 == 4 and not tunnels, 32 if seed % 3 == 2 else 1,
             options.changed * (seed % 2) * (not tunnels), tunnels)
            for seed in range(options.seed, options.seed + runs))
    total = points = read = 0
    failed = []
    with multiprocessing.Pool(options.jobs) as pool:
        for of, wrong, n, told_points, n_read in pool.imap(one, work):
            if wrong:
                failed.append(of)
                print(f"    --seed {of}: {wrong}" if len(failed) <= 3 else f"    --seed {of}", flush=True)
            total, points, read = total + n, points + told_points, read + n_read
    if failed:
        raise compare.Differs(f"{len(failed)} of {runs} runs differ; {total} reports were the same")
    if not points or read < total // 2:
        raise compare.Differs(f"{read} of {total} reports were read, {points} points")
    return f"{total} reports, {read} of them read, {points} points: the same in both; seed {options.seed}"


def tests(options):
    yield "vectors of the specifications", vectors_of_the_specifications
    yield "frames of INTCollector", frames_of_intercollector
    yield "stacks that were cut", cut_stacks
    yield "reports that the tool sends", reports_that_the_tool_sends
    yield "random reports", lambda: random_reports(options)
    yield "random reports of packets with INT in GRE, VXLAN-GPE and Geneve", lambda: random_reports(options, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10**6 * 1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--changed", type=float, default=0.05,
                        help="part of the datagrams in which some bytes are others")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    failed = 0
    for name, test in tests(options):
        if options.words and not any(word in name for word in options.words):
            continue
        begin = time.monotonic()
        try:
            word, said = "PASS", test()
        except (compare.Differs, RuntimeError, AssertionError) as error:
            word, said = "FAIL", str(error)
            failed += 1
        print(f"{word} collect: {name} ({said}) {time.monotonic() - begin:.1f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
