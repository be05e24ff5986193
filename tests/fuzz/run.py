# SPDX-License-Identifier: BSD-3-Clause
"""Runs each fuzz target of a build folder for a bounded time, two at once, with the seeds that lie beside the folder:
run.py FOLDER SECONDS."""

import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

FOLDER, SECONDS = sys.argv[1], int(sys.argv[2])
AT_LEAST = {"fuzz_int_report": 20}  # a collector takes reports from anybody


def targets():
    if not os.path.isdir(FOLDER):
        return
    for where, _, names in os.walk(FOLDER):
        for name in sorted(names):
            path = os.path.join(where, name)
            is_program = os.path.isfile(path) and os.access(path, os.X_OK)
            if "fuzz" in name and "." not in name and is_program:
                yield name, path


def fuzz(name, path):
    corpus = os.path.join(FOLDER, os.pardir, "corpus", name)
    with tempfile.TemporaryDirectory(prefix="hs-fuzz-") as grown:
        seeds = [corpus] if os.path.isdir(corpus) else []
        begin, seconds = time.monotonic(), max(SECONDS, AT_LEAST.get(name, 0))
        run = subprocess.run(
            # libFuzzer ends when more than so many whole seconds are over.
            [path, f"-max_total_time={max(seconds - 1, 1)}", "-timeout=10", "-rss_limit_mb=2048",
             "-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={grown}/", grown, *seeds],
            capture_output=True, text=True, errors="replace", check=False, timeout=seconds + 120,
            env={**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"})
        took = time.monotonic() - begin
        units = next((line.split()[-1] for line in run.stderr.splitlines()
                      if line.startswith("stat::number_of_executed_units")), "?")
        if run.returncode:
            print(run.stderr[-6000:])
            for left in os.listdir(grown):
                if left.startswith(("crash-", "timeout-", "oom-", "leak-")):
                    with open(os.path.join(grown, left), "rb") as f:
                        print(f"input: {f.read().hex()}")
    outcome = "FAIL" if run.returncode else "PASS"
    print(f"{outcome} {name} ({units} inputs) {took:.1f} s", flush=True)
    return run.returncode


found = sorted(targets(), key=lambda target: target[0] not in AT_LEAST)
if not found:
    print("SKIP fuzz (no fuzz target was built)")
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    codes = list(pool.map(lambda target: fuzz(*target), found))
sys.exit(1 if any(codes) else 0)
