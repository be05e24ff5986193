# SPDX-License-Identifier: BSD-3-Clause
"""Compares the committed pictures of a paper with what its numbers draw."""

import glob
import json
import os
import tempfile

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "results")


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as f:
        return f.read()


def wrong(paper, draw, results=RESULTS):
    """The names of the pictures that are not, byte for byte, those that `draw` makes of the paper's numbers."""
    with open(os.path.join(results, f"{paper}.json"), encoding="utf-8") as f:
        numbers = json.load(f)
    with tempfile.TemporaryDirectory(prefix="hs-pictures-") as folder:
        draw(numbers, folder)
        names = {os.path.basename(path) for of in (folder, results) for path in glob.glob(os.path.join(of, f"{paper}-*.svg"))}
        return [name for name in sorted(names) if read(os.path.join(folder, name)) != read(os.path.join(results, name))]


def check(paper, draw):
    names = wrong(paper, draw)
    print(f"{'FAIL' if names else 'PASS'} reproduce {paper}: the numbers draw the pictures"
          f"{': other bytes in ' + ', '.join(names) if names else ''}")
    return 1 if names else 0
