# SPDX-License-Identifier: BSD-3-Clause
"""A run of some seconds of tools/soak.py, with all attacks at once."""

import json
import os
import subprocess

from attack import SECONDS
from lib import check, equal, need, test
from netlab import ROOT

LEAST_S = 16


@test(limit_s=180, apart=True)
def all_attacks_at_once_leave_nodes_whole():
    need()
    seconds = max(LEAST_S, SECONDS)
    done = subprocess.run(
        ["/usr/bin/python3", os.path.join(ROOT, "tools", "soak.py"), "--seconds", str(seconds),
         "--restart-every", "6", "--every", "5", "--json"],
        capture_output=True, text=True, check=False, timeout=seconds + 120)
    equal(done.returncode, 0, done.stdout + done.stderr)
    result = json.loads(done.stdout)
    check(result["ok"] and result["restarts"] >= 1 and result["audits"] >= 9, result)
    check(result["attacks"] > 10 and result["hostile_frames"] > 100, result)
    return f"{result['attacks']} attacks, {result['hostile_frames']} hostile frames"
