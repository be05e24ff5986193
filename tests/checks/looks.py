# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the harness: which tests run, and which get another look."""

import contextlib
import io
import os
import signal
import time

import harness
from harness import Skip, check, equal, test, until
from stalls import Stalls


class FakeStalls:
    """Stalls of these lengths, one for each look."""

    def __init__(self, *lengths_s):
        self.lengths_s = list(lengths_s)

    def since(self, _begin):
        return self.lengths_s.pop(0)


def fails_until(path, look, message="too early"):
    """A test that passes from this look on. The file counts the looks."""
    def function(_workspace):
        with open(path, "a+", encoding="ascii") as f:
            f.write(".")
            f.seek(0)
            check(len(f.read()) >= look, message)

    return function


@test()
def a_test_that_fails_beside_a_stall_gets_up_to_three_looks(workspace):
    def outcome(name, look, looks, *lengths_s, message="too early"):
        found = harness._look(fails_until(workspace.path(name), look, message), 10, looks, FakeStalls(*lengths_s))
        return found[0], found[1].splitlines()[0] if found[1] else ""

    failed = "AssertionError: too early"
    equal(outcome("a", 1, 1), ("PASS", ""), "a test that passes")
    equal(outcome("b", 2, 1, 0), ("FAIL", failed), "a test that fails by itself")
    equal(outcome("c", 2, 1, 0.298), ("PASS", "look 2; a core stood still for 298 ms"), "one stall")
    equal(outcome("d", 3, 1, 0.1, 0), ("FAIL", f"look 2; a core stood still for 100 ms; {failed}"), "fails without a stall, too")
    equal(outcome("e", 4, 1, 0.1, 0.2, 0.3)[0], "FAIL", "three looks")
    for said in ("AddressSanitizer: heap-use-after-free", "x.c:1:2: runtime error: shift", "n1: the audit does not add up"):
        equal(outcome(said[:4], 2, 1, 0.1, message=said)[0], "FAIL", said)
    equal(outcome("g", 3, 3, 0, 0), ("PASS", "look 3"), "a test of speed")
    equal(outcome("h", 4, 3, 0, 0, 0), ("FAIL", f"look 3; {failed}"), "a test of speed that fails")


@test()
def words_choose_tests_and_a_word_of_no_test_is_refused():
    for words, names in ((["of_speed"], ["a test of speed"]), (["speed", "route"], ["a test of speed", "a route"]),
                         (["route", "speed", "--general"], ["a route"])):
        harness._TESTS[:] = [("a test of speed", None, 10, False, 1, "together"), ("a route", None, 10, True, 1, "apart")]
        equal([entry[0] for entry in harness._parse(words)[1]], names, words)
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        harness._parse(["speed", "bridges"])
        check(False, "a word of no test is taken")
    check(said.getvalue().endswith("error: no test has 'bridges' in its name\n"), said.getvalue())


@test(alone=True)
def a_core_that_stood_still_is_noticed(_workspace):
    stalls = Stalls()
    try:
        pids = stalls.pids()
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        except PermissionError as error:
            raise Skip("no real-time priority") from error
        until(stalls.woke, 5, "watchers that wake")
        check(all(os.sched_getscheduler(pid) == os.SCHED_FIFO for pid in pids), "the watchers' priority")
        equal(len(pids), len(os.sched_getaffinity(0)), "watchers")
        for pid in pids:
            begin = time.monotonic()
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.2)
            os.kill(pid, signal.SIGCONT)
            until(lambda begin=begin: stalls.since(begin), 5, "a stall")
            check(0.15 < stalls.since(begin) < 1, stalls.since(begin))
            equal(stalls.since(time.monotonic()), 0, "stalls since then")
    finally:
        stalls.stop()
