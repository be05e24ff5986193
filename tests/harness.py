# SPDX-License-Identifier: BSD-3-Clause
"""Runs test functions, each in a process of its own with a time limit, and prints a line for each.

A test's name is its function's name, read as a sentence. A test fails by raising, and skips by
raising Skip with the reason. It gets a Workspace, which removes what the test leaves behind.

A test of speed or processor time has several looks. Other work on the machine makes its result
worse and never better, so one look within the bound shows that the program keeps the bound. The
line says how many looks there were, and what the first ones measured. Bounds are for the machine of
_YARDSTICK_S, and in_time() widens them on a slower one. It runs alone, unless its bound is so far above
what it measures that a build beside it does not matter (apart). Tests that count what a paused
machine loses run alone, too. Tests that load the machine, set its clock or need names for themselves
run apart from each other. The others mostly wait: they run four at a time, and those with the highest limits
begin first.

A test that failed while a core stood still (stalls.py) gets another look, too, and up to three in all. The line
says how long the core stood still. What no stall explains fails at the first look: a crash, a sanitizer's report,
counters that do not add up, a wait of many seconds.

--together, --apart and --alone run only these kinds. A build may run beside the first two.

--general runs the tests about packets, with nodes that use the general path for every
packet (docs/benchmark-method.md, "Fast and general path").
"""

import argparse
import multiprocessing
import json
import os
import re
import signal
import statistics
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests")]

from stalls import Stalls  # noqa: E402
from workspace import Workspace  # noqa: E402

_TESTS = []
_KINDS = ("together", "apart", "alone")
_AT_ONCE = 4
_LOOKS_BESIDE_STALLS = 3
_NO_STALL = re.compile(r"Sanitizer|runtime error:|process died|do(es)? not add up|ended with|did not end|not done within")
_GENERAL = "HS_GENERAL_PATH"  # hopsightd's; it says so in its log
# A system call that the sandbox does not allow ends the program: no test passes by a refusal unseen.
os.environ.setdefault("HS_SANDBOX_KILL", "1")


class Skip(Exception):
    """The machine lacks what the test needs."""


def test(limit_s=60, path=False, looks=1, apart=False, alone=False):
    """path: about what nodes do to packets, so that --general runs it, too. looks: of a test of speed.
    apart: no other test may run beside it. alone: nothing may."""
    def register(function):
        kind = "apart" if apart else "alone" if alone or looks > 1 else "together"
        _TESTS.append((function.__name__.replace("_", " "), function, limit_s, path, looks, kind))
        return function

    return register


def check(condition, *said):
    if not condition:
        raise AssertionError(" ".join(str(s) for s in said))


def equal(got, expected, what=""):
    if got != expected:
        raise AssertionError(f"{what}: got {got!r}, expected {expected!r}")


def until(condition, limit_s, what, interval_s=0.02):
    """Returns the first true value of condition() within a limit; `what` (or what()) names it."""
    end = time.monotonic() + limit_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"within {limit_s} s: {what() if callable(what) else what}")
        time.sleep(interval_s)


_YARDSTICK_S = 0.009  # processor time of _yardstick_s() on an idle AMD EPYC core
_WIDEST = 3


def _yardstick_s():
    begin = time.process_time()
    for i in range(300):
        rules = [{"ns_id": i + j, "src": f"2001:db8::{j}", "dst_port": j} for j in range(30)]
        json.loads(json.dumps({"rules": rules}))
    return time.process_time() - begin


def in_time(took_s, bound_s):
    """Whether something took at most `bound_s` on the machine on which bounds were set. This machine may
    need more processor time for the same work now, because others use its caches: up to _WIDEST times
    as much widens the bound."""
    if took_s <= bound_s:
        return True
    factor = statistics.median(_yardstick_s() for _ in range(5)) / _YARDSTICK_S
    return took_s <= bound_s * min(factor, _WIDEST)


def _child(function, workspace, result):
    # A session of its own, so that a terminal's Ctrl-C reaches the runner alone, which then cleans.
    os.setsid()
    # A runner that nohup or a shell's & began has them ignored, and whatever it starts inherits that.
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        try:
            note = function(workspace) if function.__code__.co_argcount else function()
        finally:
            workspace.close()
        outcome = ("PASS", note or "")
    except Skip as reason:
        outcome = ("SKIP", str(reason))
    except BaseException as error:  # pylint: disable=broad-except
        outcome = ("FAIL", f"{type(error).__name__}: {error}"[:2000])
        traceback.print_exc()
    with os.fdopen(result, "w") as f:
        f.write("\n".join(outcome))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _run(function, limit_s):
    with tempfile.TemporaryDirectory(prefix="hs-") as folder:
        log = os.path.join(folder, "log")
        read_end, write_end = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            _child(function, Workspace(folder), write_end)
        os.close(write_end)
        timed_out = []

        def stop(_signal, _frame):
            timed_out.append(True)
            os.kill(pid, signal.SIGKILL)

        previous = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        try:
            with os.fdopen(read_end) as f:
                outcome = f.read().split("\n", 1)
            os.waitpid(pid, 0)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
            Workspace(folder).remove_namespaces()
        if timed_out:
            outcome = ["FAIL", f"not done within {limit_s} s"]
        elif len(outcome) != 2:
            outcome = ["FAIL", "the test's process died"]
        elif outcome[0] == "PASS" and _GENERAL in os.environ and not _said_general(folder):
            outcome = ["FAIL", "no node says that it takes the general path"]
        return (*outcome, _tails(folder) if outcome[0] == "FAIL" else [])


def _logs(folder):
    return [os.path.join(at, name) for at, _, names in os.walk(folder) for name in sorted(names)
            if name == "log" or name.endswith(".log")]


def _said_general(folder):
    for path in _logs(folder):
        with open(path, encoding="utf-8", errors="replace") as f:
            if any(_GENERAL in line for line in f):
                return True
    return False


def _tails(folder):
    """Returns the last lines of each log."""
    lines = []
    for path in _logs(folder):
        if os.path.getsize(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                lines += [f"---- {os.path.relpath(path, folder)}", *f.read().splitlines()[-60:]]
    return lines


def _look(function, limit_s, looks, stalls):
    """Returns the outcome of the first look that passes, or of the last one, and lines to show."""
    shown, causes, look = [], [], 0
    while True:
        look, begin = look + 1, time.monotonic()
        outcome, said, lines = _run(function, limit_s)
        shown += lines
        if outcome != "FAIL":
            break
        stall_s = stalls.since(begin)
        causes += [f"a core stood still for {1e3 * stall_s:.0f} ms"] if stall_s else []
        may_be_stall = stall_s and not _NO_STALL.search("\n".join([said, *lines]))
        if look >= (max(looks, _LOOKS_BESIDE_STALLS) if may_be_stall else looks):
            break
        shown.append(f"look {look}: {said}")
    if look > 1 or causes:
        said = "; ".join([f"look {look}", *causes, *([said] if said else [])])
    return outcome, said, shown


def _take_turns(tests, taken, failed, printing, general, stalls):
    """Runs one test after the other, of those that nobody has taken yet."""
    while True:
        with taken.get_lock():
            at, taken.value = taken.value, taken.value + 1
        if at >= len(tests):
            return
        name, function, limit_s, _, looks, _ = tests[at]
        begin = time.monotonic()
        outcome, said, lines = _look(function, limit_s, looks, stalls)
        seconds = time.monotonic() - begin
        note = f" ({said.splitlines()[0]})" if said else ""
        lines.append(f"{outcome} {name}{', on the general path' if general else ''}{note} {seconds:.1f} s")
        with printing:
            print(*lines, sep="\n", flush=True)
        if outcome == "FAIL":
            with failed.get_lock():
                failed.value += 1


def _run_all(tests, at_once, general, stalls):
    """Returns how many failed."""
    taken, failed = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    turns = (tests, taken, failed, multiprocessing.Lock(), general, stalls)
    if at_once == 1 or len(tests) < 2:
        _take_turns(*turns)
        return failed.value
    lanes = [multiprocessing.Process(target=_take_turns, args=turns) for _ in range(at_once)]
    try:
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
    finally:
        for lane in lanes:
            if lane.is_alive():
                lane.terminate()
                lane.join()
    return failed.value + sum(lane.exitcode != 0 for lane in lanes)


def _parse(argv):
    parser = argparse.ArgumentParser(description="Runs all tests, or those whose names contain one of the given words.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="a part of a test's name; _ stands for a space")
    parser.add_argument("--general", action="store_true", help="the tests about packets, with nodes on the general path")
    for kind in _KINDS:
        parser.add_argument(f"--{kind}", dest="kinds", action="append_const", const=kind, help=f"tests that run {kind}")
    args = parser.parse_args(argv)
    words = [word.replace("_", " ") for word in args.words]
    for word in words:
        if not any(word in entry[0] for entry in _TESTS):
            parser.error(f"no test has '{word}' in its name")
    return args, [entry for entry in _TESTS
                  if (entry[3] or not args.general) and (not words or any(word in entry[0] for word in words))]


def main(argv=None, at_once=_AT_ONCE):
    """Runs the tests that the words of `argv` choose. Returns the exit status."""
    args, chosen = _parse((argv or sys.argv)[1:])
    if args.general:
        os.environ[_GENERAL] = "1"
    else:
        os.environ.pop(_GENERAL, None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen.sort(key=lambda entry: -entry[2])
    failed, stalls = 0, Stalls()
    try:
        for kind in args.kinds or _KINDS:
            failed += _run_all([entry for entry in chosen if entry[5] == kind],
                               at_once if kind == "together" else 1, args.general, stalls)
    finally:
        stalls.stop()
    return 1 if failed else 0
