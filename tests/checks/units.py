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


def unit_text(name):
    """Returns the text of a unit as an installation to /usr/local has it."""
    with open(os.path.join(UNITS, name + ".service.in"), encoding="ascii") as file:
        text = file.read()
    return text.replace("@BINDIR@", "/usr/local/bin").replace("@NODE@", name).replace("@DESCRIPTION@", "Hopsight node")


def analyze(*words):
    if not shutil.which("systemd-analyze"):
        raise Skip("no systemd-analyze")
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60,
                          check=False)


@test()
def no_unit_is_more_exposed_than_it_must_be(workspace):
    for name, most in MOST_EXPOSED.items():
        unit = workspace.path(name + ".service")
        with open(unit, "w", encoding="ascii") as file:
            file.write(unit_text(name))
        done = analyze("security", "--offline=true", "--no-pager", unit)
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


def allowed_by(unit, more=""):
    """Reads the filter as in systemd.exec(5): the first line makes it a list of allowed calls. `more`: lines
    of a drop-in."""
    allowed = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit_text(unit) + more, re.M):
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


def drop_in(row):
    """Returns the lines that docs/operating.md tells to add for something."""
    with open(os.path.join(ROOT, "docs", "operating.md"), encoding="utf-8") as file:
        cells = re.search(r"^\| %s \| (.*) \|$" % re.escape(row), file.read(), re.M)
    check(cells, "docs/operating.md has no row", row)
    return "".join("\n" + line for line in re.findall(r"`([^`]+)`", cells.group(1)))


@test()
def the_documented_drop_ins_allow_each_scheduling():
    unit = unit_text("hopsightd")
    # RestrictRealtime and the missing CAP_SYS_NICE are why a real-time class needs more than its call.
    check("RestrictRealtime=yes" in unit and "CAP_SYS_NICE" not in unit, "the unit is another one")
    for row, calls, lines in (
            ("`worker_scheduling` of class `rr` or `fifo`", {"sched_setscheduler"},
             ("RestrictRealtime=no", "LimitRTPRIO=99")),
            ("`worker_scheduling.nice`", {"sched_setscheduler", "getpriority", "setpriority"},
             ("LimitNICE=-20",))):
        more = drop_in(row)
        for line in lines:
            check(line in more.splitlines(), row, "needs", line)
        missing = sorted(calls - allowed_by("hopsightd", more))
        check(not missing, row, "lacks", ", ".join(missing))
    check({"sched_setscheduler", "getpriority", "sched_setattr"} <= allowed_by("hopsightd"), "class normal lacks a call")
