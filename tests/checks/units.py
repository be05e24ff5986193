# SPDX-License-Identifier: BSD-3-Clause
"""Checks config/systemd: the units are as tight as documented, and not too tight for the
programs."""

import os
import re
import shutil
import subprocess

from harness import ROOT, Skip, check, test

UNITS = os.path.join(ROOT, "config", "systemd")
MOST_EXPOSED = {"hopsightd": 4.0, "hopsight-controller": 2.0, "hopsight-collector": 2.0}
# Calls that lib/sandbox makes itself before its filter is installed.
_OWN = {"seccomp", "prctl"}
# Calls that are parts of other calls, or belong to other kernels and machines.
_LISTS = {"hopsightd": ("base_calls", "node_calls"), "hopsight-controller": ("base_calls",),
          "hopsight-collector": ("base_calls",)}


def analyze(*words):
    if not shutil.which("systemd-analyze"):
        raise Skip("no systemd-analyze")
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60,
                          check=False)


@test()
def no_unit_is_more_exposed_than_it_must_be():
    for name, most in MOST_EXPOSED.items():
        done = analyze("security", "--offline=true", "--no-pager",
                       os.path.join(UNITS, name + ".service"))
        found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
        check(found, "no verdict on", name, done.stdout[-300:], done.stderr)
        check(float(found.group(1)) <= most, name, "has", found.group(1), "allowed", most)


def members(group, seen):
    """Returns the calls of a group of systemd's, including groups in it."""
    for line in analyze("syscall-filter", group).stdout.splitlines()[1:]:
        word = line.strip()
        if word.startswith("@"):
            members(word, seen)
        elif word and not word.startswith("#"):
            seen.add(word)
    return seen


def allowed_by(unit):
    """Reads the filter as in systemd.exec(5): the first line makes it a list of allowed calls."""
    allowed = set()
    with open(os.path.join(UNITS, unit + ".service"), encoding="ascii") as file:
        lines = re.findall(r"^SystemCallFilter=(.*)$", file.read(), re.M)
    for line in lines:
        away = line.startswith("~")
        for word in line.lstrip("~").split():
            calls = members(word, set()) if word.startswith("@") else {word}
            allowed = allowed - calls if away else allowed | calls
    return allowed | members("@default", set())


def listed(name):
    with open(os.path.join(ROOT, "lib", "sandbox", "syscall_filter.c"), encoding="ascii") as file:
        table = re.search(r"int %s\[\] = \{(.*?)\};" % name, file.read(), re.S)
    return set(re.findall(r"CALL\((\w+)\)", table.group(1)))


@test()
def every_unit_allows_what_its_program_allows_itself():
    for unit, lists in _LISTS.items():
        wanted = set(_OWN).union(*(listed(name) for name in lists))
        missing = sorted(wanted - allowed_by(unit))
        check(not missing, unit, "takes away", ", ".join(missing))
