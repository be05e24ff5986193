# SPDX-License-Identifier: BSD-3-Clause
"""Checks the built programs: position-independent, read-only relocations, no executable stack,
checked copies, a protected stack."""

import os
import re
import shutil
import subprocess

from harness import ROOT, Skip, check, test

BUILD = os.environ.get("HOPSIGHT_BUILD", os.path.join(ROOT, "build"))
PROGRAMS = ("hopsightd", "hopsight", "hopsight-controller", "hopsight-collector", "hopsight-lab", "hopsight-bench-case")


def readelf(path, *words):
    return subprocess.run(["readelf", "--wide", *words, path], capture_output=True, text=True,
                          timeout=60, check=True).stdout


def built():
    if not shutil.which("readelf"):
        raise Skip("no readelf")
    paths = [os.path.join(BUILD, "apps", name) for name in PROGRAMS]
    if not all(os.path.isfile(path) for path in paths):
        raise Skip("the programs are not built")
    return paths


@test()
def every_program_is_hardened():
    for path in built():
        head, dynamic = readelf(path, "--file-header"), readelf(path, "--dynamic")
        segments, symbols = readelf(path, "--segments"), readelf(path, "--dyn-syms")
        name = os.path.basename(path)
        check(re.search(r"Type:\s+DYN", head) and "PIE" in dynamic, name, "is not PIE")
        check("GNU_RELRO" in segments, name, "has no RELRO")
        check(re.search(r"BIND_NOW|FLAGS.*\bNOW\b", dynamic), name, "binds lazily")
        stack = re.search(r"GNU_STACK\s+(?:0x\w+\s+){5}(\S+)", segments)
        check(stack and "E" not in stack.group(1), name, "has a stack that runs")
        check("__stack_chk_fail" in symbols, name, "has no stack protector")
        check(re.search(r"__\w+_chk\b(?<!__stack_chk)", symbols), name, "has no FORTIFY_SOURCE")
        loads = re.findall(r"LOAD\s+(?:0x\w+\s+){5}([RWE ]+?)\s+0x", segments)
        check(not any("W" in flags and "E" in flags for flags in loads), name, "can write code")
