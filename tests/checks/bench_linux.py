# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the page that tools/linux_compare.py writes, with results made by hand."""

import os
import re
import types

from harness import check, test

import linux_compare


@test()
def the_page_of_comparisons_leaves_out_what_no_path_reached():
    paths = (("bridge", 1, 0), ("node", 1, 0))
    sections = tuple((linux_compare.udp, title, True, paths) for title in ("None", "Some"))
    results = {(title, *path): [{"packets/s": 0.0}] for _, title, _, _ in sections for path in paths}
    results["Some", "bridge", 1, 0] = [{"packets/s": 20000.0}]
    text = linux_compare.page(results, 1, 1, sections, [0, 0])
    check("## None" not in text and "## Some" in text and "| one node | – |" in text, text)
    release = os.uname().release
    short = re.match(r"\d+\.\d+", release)[0]
    check(f"Linux {short}, " in text and (release == short or release not in text), text)


@test()
def a_ratio_is_the_median_of_those_of_each_round():
    paths = (("bridge", 2, 0), ("node", 2, 0), ("node", 2, 100))
    tables = ((linux_compare.tcp, "Rates", "Gbit/s", ((8, 4, 2), (6, 2, 2), (3, 2, 1)),
               "| two nodes, a rule samples 1/100 | 2 (1–3) | 0.50 | 0.50 |"),
              (linux_compare.idle, "Pings", "p50 µs", ((10, 20, 40), (20, 60, 100), (1, 1, 1)),
               "| two nodes | 60 (20–100) | 2.50 | – |"))
    for measurement, title, key, values, line in tables:
        results = {(title, *path): [{key: float(v)} for v in row] for path, row in zip(paths, values)}
        text = linux_compare.page(results, 3, 1, ((measurement, title, True, paths),), [0, 0])
        check(line in text and f"| {key} | against the bridges | against no rule |" in text, text)
    results = {("Both", *path): [{"p50 µs": 10.0 * n, "p99 µs": 30.0 * n * n}] for n, path in enumerate(paths[:2], 1)}
    text = linux_compare.page(results, 1, 1, ((linux_compare.idle, "Both", True, paths[:2]),), [0, 0])
    check("| p50 against the bridges | p99 against the bridges |" in text, text)
    check("| two nodes | 20 | 120 | 2.00 | 4.00 |" in text, text)
    check("A bridge works in the time of those who send" in text, "what `–` means in a share of a core", text)


@test()
def of_pings_three_percentiles_are_stated():
    class Replies:
        def run(self, *_):
            return "\n".join(f"64 bytes: time={ms / 1000:.3f} ms" for ms in range(1000, 0, -1))

    path = types.SimpleNamespace(hosts=[Replies()])
    result = linux_compare.idle(path, 0.01)
    check(result == {"p50 µs": 501, "p90 µs": 901, "p99 µs": 991, "of a core, each node": 0}, result)
