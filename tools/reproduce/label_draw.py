# SPDX-License-Identifier: BSD-3-Clause
"""The figures of paper 001 as SVG."""

import figures
import label_probes as probes
from label_runs import INTERVALS, LOSSES, NEAR, RATES


def draw(numbers, path_of):
    runs = numbers["runs"]

    def series(figure, values, key, names=("a", "b")):
        titles = {"a": "Base A", "b": "Base B", "pro": "Pro"}
        return {titles[x]: (values, [runs[f"{figure}-{x}-{v}"][key][0] for v in values]) for x in names}

    figures.lines(path_of("001-figure-6.svg"), [
        ("coverage", "Mbit/s of a sender", series(6, RATES, "coverage")),
        ("bandwidth of INT-label", "Mbit/s of a sender", series(6, RATES, "bandwidth"))])
    figures.lines(path_of("001-figure-7.svg"), [
        ("labelled packets", "T, ms", series(7, INTERVALS, "labelled_packets")),
        ("labels", "T, ms", series(7, INTERVALS, "labels"))])
    figures.lines(path_of("001-figure-14.svg"), [(title, "interval, ms", {
        name: (probes.INTERVALS, [mean for mean, _ in values])
        for name, values in numbers["probes"]["lost"][limit].items() if name != "nothing"})
        for title, limit in (("loss, limit of packets", "packets 1.01"), ("loss, limit of bytes, 5 % more", "bytes 1.05"))])
    figures.lines(path_of("001-figure-12.svg"), [
        ("coverage", "T, ms", series(12, NEAR, "coverage", ("a", "b", "pro"))),
        ("coverage", "loss", series(13, LOSSES, "coverage", ("a", "b", "pro")))])
