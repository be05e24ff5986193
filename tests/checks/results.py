# SPDX-License-Identifier: BSD-3-Clause
"""The committed pictures of the papers (docs/results) against what their numbers draw."""

import glob
import importlib
import os
import shutil
import sys

from harness import ROOT, Skip, check, equal, test

sys.path.insert(0, os.path.join(ROOT, "tools", "reproduce"))

import pictures  # noqa: E402

RESULTS = os.path.join(ROOT, "docs", "results")


def draw_of(paper):
    try:
        return importlib.import_module(f"paper_{paper}").draw
    except ImportError as missing:
        raise Skip(str(missing)) from missing


@test()
def the_numbers_of_each_paper_draw_the_committed_pictures():
    papers = sorted(os.path.basename(path).split(".")[0] for path in glob.glob(os.path.join(RESULTS, "*.json")))
    equal(papers, ["000", "001", "002", "003", "004"])
    for paper in papers:
        equal(pictures.wrong(paper, draw_of(paper)), [], paper)


@test()
def a_picture_that_is_changed_removed_or_too_many_is_named(space):
    copy = space.path("results")
    shutil.copytree(RESULTS, copy)
    changed, gone, new = (os.path.join(copy, f"001-figure-{n}.svg") for n in ("18", "19", "99"))
    with open(changed, encoding="utf-8") as f:
        text = f.read()
    check("</svg>" in text, "the picture is one")
    with open(changed, "w", encoding="utf-8") as f:
        f.write(text.replace("</svg>", "</svg> "))
    os.remove(gone)
    shutil.copy(changed, new)
    equal(pictures.wrong("001", draw_of("001"), copy), [os.path.basename(path) for path in (changed, gone, new)])
