# SPDX-License-Identifier: BSD-3-Clause
"""Prints one PASS, FAIL or SKIP line for each test of a meson log (one JSON object per line)."""

import json
import sys

_WORDS = {"OK": "PASS", "EXPECTEDFAIL": "PASS", "SKIP": "SKIP"}

with open(sys.argv[1], encoding="utf-8") as log:
    for line in log:
        result = json.loads(line)
        word = _WORDS.get(result["result"], "FAIL")
        print(f"{word} {sys.argv[2]} {result['name']} {result['duration']:.1f} s")
