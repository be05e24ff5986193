# SPDX-License-Identifier: BSD-3-Clause
"""Writes the papers' tables and figures, with ours beside theirs, to docs/results.

    reproduce.sh [000] [001] ... [--check] [--live]
    reproduce.sh --plots SCENARIO FOLDER

Without a number, it writes those of all papers. The lab's runs take some minutes. --live measures
again what depends on this machine (figure 7 and a round trip), on veth and as root. --check compares
the committed results with a fresh, short run, and the pictures with what the numbers draw. It changes
nothing. --plots draws any scenario's metrics over time.
"""

import argparse
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE))]

import pictures  # noqa: E402

PAPERS = ("000", "001", "002", "003", "004")


def module_of(paper):
    """Imports a paper's module only when needed, because it may need numpy and matplotlib."""
    return importlib.import_module(f"paper_{paper}")


def main():
    parser = argparse.ArgumentParser(prog="reproduce.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", metavar="PAPER", help="000 to 004")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--plots", nargs=2, metavar=("SCENARIO", "FOLDER"))
    options = parser.parse_args()
    if options.plots:
        return module_of("000").plots(*options.plots)
    strange = [paper for paper in options.papers if paper not in PAPERS]
    if strange:
        parser.error(f"{strange[0]} is no paper: 000 to 004")
    code = 0
    for paper in options.papers or PAPERS:
        of = module_of(paper)
        code = max(code, of.check(), pictures.check(paper, of.draw)) if options.check else \
            max(code, of.write(options.live))
    return code


if __name__ == "__main__":
    sys.exit(main())
