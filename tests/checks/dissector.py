# SPDX-License-Identifier: BSD-3-Clause
"""Compares the dissector and the page of the report with the tables of fields of the codecs."""

import os
import shutil
import subprocess
import sys

from harness import ROOT, check, equal, test

_SCRIPT = os.path.join("tools", "wireshark", "make_fields.py")
_READ = ("lib/telemetry", "docs/wire-int-report.md", "tools/wireshark")


def _run(root, *words):
    return subprocess.run([sys.executable, os.path.join(root, _SCRIPT), *words], capture_output=True,
                          text=True, check=False)


@test()
def dissector_and_page_have_the_fields_of_the_codecs():
    run = _run(ROOT, "--check")
    equal((run.returncode, run.stdout), (0, ""), "tools/wireshark/make_fields.py --check")


# A table, a row of it, and what is put in its place.
_PLANTED = [
    ("flexint/flexint_fields.def", "HS_HOP_TIMESTAMP, 8,", "HS_HOP_TIMESTAMP, 4,"),
    ("int/int_fields.def", "HS_INT_VALUE(HS_INT_V_ALL, 2,", "HS_INT_VALUE(HS_INT_V_05, 2,"),
    ("int_report/int_report_fields.def", "HS_REPORT_2_0_HEAD(27, 1", "HS_REPORT_2_0_HEAD(28, 1"),
    ("int_report/int_report_fields.def", "HS_REPORT_1_0_PAD(0x02, 2)", "HS_REPORT_1_0_PAD(0x02, 3)"),
    ("int_report/int_report_reasons.def", "HS_INT_DROP_REASON(51,", "HS_INT_DROP_REASON(52,"),
]


@test()
def a_changed_row_of_a_table_of_fields_is_found(workspace):
    root = workspace.path("tree")
    for part in _READ:
        copy = shutil.copytree if os.path.isdir(os.path.join(ROOT, part)) else shutil.copy
        os.makedirs(os.path.dirname(os.path.join(root, part)), exist_ok=True)
        copy(os.path.join(ROOT, part), os.path.join(root, part))
    equal(_run(root, "--check").returncode, 0, "the copy")
    for name, old, new in _PLANTED:
        path = os.path.join(root, "lib", "telemetry", name)
        with open(path, encoding="ascii") as f:
            text = f.read()
        check(old in text, old, "is not in", name)
        with open(path, "w", encoding="ascii") as f:
            f.write(text.replace(old, new, 1))
        equal(_run(root, "--check").returncode, 1, new)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
