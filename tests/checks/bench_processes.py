# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the processes that hopsight-bench starts, with a small script in place of hopsight-bench-case."""

import contextlib
import glob
import os
import signal
import threading
import time

from harness import check, equal, test

from bench import command, measure, result
from bench_figures import make_case

# Logs the case that it measures; a case called `slow`, `silent`, `loud` or `wrong` does so.
PROGRAM = """#!/bin/sh
case "$*" in
"mute "*--frames*) exit 1;;
*--frames*) touch "$3"; echo '{"frames": 4096}'; exit;;
esac
echo "$1" >> "$0.log"
[ -e "$3" ] || echo '{"error": "no frames"}'
case "$1" in
slow) exec sleep 1000;;
silent) exit 1;;
loud) echo 'Segmentation fault';;
wrong) echo '{"error": "packets: none came"}';;
json_reports) echo '{"per_second": 1000.0}';;
*) echo '{"packets": 100, "cpu_ns": 2000, "tsc_ghz": 2.5, "reports_made": 10, "reports_lost": 3}';;
esac
"""


def make_bench(workspace, *names):
    """A bench, rows of these cases without testpmd, and a function that returns the log."""
    path = workspace.path("program")
    with open(path, "w", encoding="ascii") as f:
        f.write(PROGRAM)
    os.chmod(path, 0o700)
    os.environ["TMPDIR"] = workspace.path("tmp")
    os.makedirs(os.environ["TMPDIR"])
    measure.tempfile.tempdir = None

    def log():
        with open(path + ".log", encoding="ascii") as f:
            return f.read().split()

    return measure.Bench(path, 0.01, 0, 0), result.make_rows([make_case(name) for name in names], False), log


@test()
def every_round_measures_every_case_once_and_leaves_nothing(workspace):
    bench, rows, log = make_bench(workspace, "no_rules", "sink_ring", "json_reports")
    bench.run(rows, 3)
    equal(log(), ["no_rules", "sink_ring", "json_reports"] * 3)
    equal([row.samples for row in rows], [[20.0] * 3, [20.0] * 3, [1000.0] * 3])
    equal([row.cycles for row in rows], [[50.0] * 3, [50.0] * 3, []])
    equal([rows[1].reports_made, rows[1].reports_lost], [30, 9])
    equal(os.listdir(os.environ["TMPDIR"]), [])


@test()
def huge_pages_are_asked_of_the_case_that_has_them(workspace):
    bench, rows, log = make_bench(workspace, "no_rules")
    with open(bench.program, "a", encoding="ascii") as f:
        f.write('case "$*" in *--huge*) echo huge >> "$0.log";; esac\n')
    bench.run(rows + result.make_rows([make_case("no_rules")], False, huge=True), 2)
    equal(log(), ["no_rules", "no_rules", "huge"] * 2)


@test()
def a_case_that_fails_has_the_reason_and_is_not_measured_again(workspace):
    bench, rows, log = make_bench(workspace, "silent", "loud", "wrong", "no_rules")
    bench.run(rows, 2)
    equal([row.error for row in rows], ["the measurement ended without a result"] * 2 + ["packets: none came", ""])
    equal(log(), ["silent", "loud", "wrong", "no_rules", "no_rules"])
    bench.program = "/nowhere/at/all"
    bench.run(rows, 1)
    check(rows[3].error.startswith("its frames: "), rows[3].error)
    with contextlib.suppress(measure.Failed):
        measure.start(["hopsight-no-such-program"])
        check(False, "was started")


@test()
def a_yardstick_that_fails_once_is_measured_again(workspace):
    bench, _, _ = make_bench(workspace, "no_rules")
    for fails, samples, reason in ((1, [7.0, 7.0], ""), (2, [], "it did not begin to forward")):
        left = [measure.Failed("it did not begin to forward")] * fails

        def measure_once(_row, left=left):
            if left:
                raise left.pop()
            return 7.0

        bench.measure_peer = measure_once
        row = result.Row("testpmd mac", make_case("no_rules"), "mac")
        bench.run([row], 2)
        equal((row.samples, row.error), (samples, reason))


@test()
def cases_whose_frames_cannot_be_written_fail_and_the_others_are_measured(workspace):
    bench, rows, log = make_bench(workspace, "mute", "no_rules")
    rows[0].case.traffic["frames"] += 1  # others than those of no_rules
    bench.run(rows, 2)
    equal([row.error for row in rows], ["its frames: the measurement ended without a result", ""])
    equal(log(), ["no_rules"] * 2)


@test()
def a_case_is_measured_again_together_with_what_it_is_compared_with(workspace):
    bench, rows, log = make_bench(workspace, "no_rules", "matched_4096", "sampled_100", "bridge")
    bench.run(rows, 2, [rows[2]])
    equal(log(), ["matched_4096", "sampled_100"] * 2)


@test()
def a_process_that_takes_too_long_is_ended(workspace):
    bench, _, _ = make_bench(workspace)
    process = measure.start([bench.program, "slow", "--pcap", "/dev/null"], listen=True)
    try:
        measure.result_of(process, 0.05)
        check(False, "there is a result")
    except measure.Failed as error:
        equal(str(error), "the measurement ended without a result")
    check(not os.path.exists(f"/proc/{process.pid}"), "it is still there")


@test()
def a_stopped_process_is_gone_even_if_it_ignores_the_request():
    measure.GRACE_S = 0.1
    for words in (["sleep", "1000"], ["sh", "-c", "trap '' INT; exec sleep 1000"]):
        process = measure.start(words)
        time.sleep(0.1)
        measure.stop(process)
        check(not os.path.exists(f"/proc/{process.pid}"), words)
        measure.stop(process)  # again: nothing


@test()
def a_measurement_ends_with_the_bench():
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        process = measure.start(["sleep", "1000"])
        os.write(writer, str(process.pid).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    child = os.read(reader, 20).decode()
    end = time.monotonic() + 10
    while os.path.exists(f"/proc/{child}") and time.monotonic() < end:
        with contextlib.suppress(OSError), open(f"/proc/{child}/stat", encoding="ascii") as f:
            if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                return
        time.sleep(0.01)
    check(not os.path.exists(f"/proc/{child}"), "it is still there")


@test()
def a_signal_ends_waiting_and_nothing_else(workspace):
    measure.catch_signals()
    check(measure.wait_until(lambda: True, 10), "without a signal")
    bench, rows, log = make_bench(workspace, "no_rules", "slow")
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    try:
        bench.run(rows, 1)
        check(False, "the run came to its end")
    except measure.Interrupted:
        pass
    equal([(row.samples, row.error) for row in rows], [([20.0], ""), ([], "")])
    equal(log(), ["no_rules", "slow"])
    equal(os.listdir(os.environ["TMPDIR"]), [], "files")
    own = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    with open(own, encoding="ascii") as f:
        equal(f.read(), "", "processes")
    os.kill(os.getpid(), signal.SIGINT)  # outside of a wait: nothing, until the next wait
    try:
        measure.wait_until(lambda: True, 10)
        check(False, "a wait after a signal")
    except measure.Interrupted:
        pass


@test()
def a_socket_that_nobody_serves_and_a_thread_that_is_not_there_give_no_reading(workspace):
    os.environ["RUNTIME_DIRECTORY"] = workspace.path("run")
    equal(measure.runtime_folder("x"), workspace.path("run") + "/dpdk/x")
    equal(measure.received_packets("x"), None)
    equal(measure.worker_thread(os.getpid()), None)
    equal(glob.glob(measure.runtime_folder("*")), [])


@test()
def text_that_could_control_the_terminal_is_escaped():
    for text, shown in (("a\n\tb µ–", "a\n\tb µ–"), ("\x1b[2J", "\\u001b[2J"), ("\x7f\x9b", "\\u007f\\u009b"),
                        ("\u202e", "\\u202e"), ("\udcff", "\\ufffd"), ("\U000e0041", "\\udb40\\udc41")):
        equal(command.UNSAFE.sub(command.escaped, text), shown)


@test()
def a_case_that_is_slower_than_its_baseline_is_measured_more_often_before_it_fails():
    rows = result.make_rows([make_case(name) for name in ("no_rules", "matched_4096", "sampled_100")], True)
    baseline = {"ratios": {"no_rules": 1.0, "matched_4096": 1.0, "sampled_100": 1.0}}
    asked = []

    class Noisy:
        """Its first measurement of matched_4096 is slow, and no_rules fails."""

        @staticmethod
        def run(rows, rounds, again=None):
            asked.append((rounds, again))
            for row in rows:
                slow = row.name == "matched_4096" and len(asked) < 3
                row.samples += [20 if slow else 10] * (rounds if len(asked) < 3 else 9)
            rows[2].samples, rows[2].error = [], "no packets came"

    command.run_rounds(Noisy, rows, 2, baseline)
    equal(asked, [(2, None)] + [(2, [rows[3], rows[1]])] * 2)
    equal([result.judge(row, baseline) for row in rows[2:]], ["not measured", "", ""])
    asked.clear()
    command.run_rounds(Noisy, rows, 2, None)
    equal(asked, [(2, None)], "without a baseline")


@test()
def cases_come_in_the_order_of_the_table_by_name_or_pattern():
    cases = [make_case(name) for name in ("no_rules", "matched_1", "matched_64", "route")]
    for names, chosen in (([], "no_rules matched_1 matched_64 route"), (["route", "no_rules"], "no_rules route"),
                          (["matched_*", "matched_1"], "matched_1 matched_64"), (["matched_?"], "matched_1")):
        equal(" ".join(case.name for case in command.choose_cases(cases, names, False)), chosen)
    for names in (["matched"], ["route", "nothing*"]):
        with contextlib.suppress(command.Usage):
            check(False, names, command.choose_cases(cases, names, False))


@test()
def places_of_results_are_looked_at_before_minutes_of_measuring(workspace):
    there = workspace.path("there.json")
    with open(there, "w", encoding="ascii"):
        pass
    for path in ("-", there, workspace.path("new.json"), "new.json"):
        command.need_places({"json": path, "card": path, "update-baseline": path})
    for word in ("json", "card", "update-baseline"):
        for path in (workspace.path("absent/x"), os.path.dirname(there), ""):
            try:
                command.need_places({word: path})
            except command.Usage as error:
                equal(str(error), f'--{word}: "{path}" cannot be written')
            else:
                raise AssertionError(f"--{word} {path!r} was taken")


@test()
def numbers_of_options_are_whole_and_within_their_limits():
    for text, value in (("1", 1), ("1.5", 1.5), ("1e1", 10), ("600", 600), ("0", None), ("601", None), ("-1", None),
                        ("", None), ("1x", None), ("0x10", None), ("nan", None), ("1_0", None), (" 1", None)):
        try:
            equal(command.read_number({"seconds": text}, "seconds", 0.01, 600, 1), value, text)
        except command.Usage:
            equal(value, None, text)
