# SPDX-License-Identifier: BSD-3-Clause
"""Runs every scenario of config/lab, two at a time, or those whose names contain one of the words
given. Prints one PASS or FAIL line for each. check_packets.py computes the numbers of a few scenarios
again from their packets.

--sanitized BUILD runs a few seconds of some scenarios with another build, whose sanitizers must report
nothing and which must give the same bytes. --general runs a few seconds of each scenario but the largest
with nodes that take the general code for every packet, which must also give the same bytes.
"""

import argparse
import collections
import filecmp
import functools
import glob
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

import scale  # noqa: E402
from harness import ROOT  # noqa: E402

import check_packets  # noqa: E402

SCENARIOS = os.path.join(ROOT, "config", "lab")
BUILD = os.environ.get("HOPSIGHT_BUILD", os.path.join(ROOT, "build"))
AT_ONCE = 2
# One more for short runs, because each run begins with 0.1 s of waiting for DPDK's clock.
SHORT_AT_ONCE = 3
# Of processor time: a run that test.sh stops, or that runs in the time that others leave, takes longer.
LIMIT_S = 300
HANG_S = 3600  # of a run that takes no processor time
LIMIT_BYTES = 8 << 30
ALL_LIMIT_S = 660  # for all scenarios together
LARGE = ("fat-tree-20", "label-fat-tree-20")
# Jitter, loss and bursts draw the most random numbers.
TWICE = "paper-jitter-bursty-count10"
SHORT = ["fat-tree-4", "label-pro-loss", "path-change", "paper-clock-5s", "paper-jitter-bursty-count10",
         "telemetry-loss", "transit-restart", "window-queue"]
SHORT_S = "2"
# The lab's own 65,536 packet buffers take most of a short run's time. Too few of them end a run with an error.
SHORT_MBUFS = 16384
GENERAL = {"HS_GENERAL_PATH": "1"}
SANITIZER_EXIT = 99
# Seconds of the scenarios that are computed again: jitter and losses, queues, copies.
AGAIN = {"duplicates": 3, "paper-jitter-constant-count10": 3, "paper-throughput-count": 4,
         "telemetry-loss": 4}

Done = collections.namedtuple("Done", "code stdout stderr seconds peak_bytes timed_out")


RUNNING = set()  # processes, so that they end with this one


def lab(words, build=BUILD, limit_s=LIMIT_S, **env):
    """Runs hopsight-lab to its end or the limit. The kernel counts its processor time and peak memory."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([os.path.join(build, "apps", "hopsight-lab"), *words],
                                   stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                   env=dict(os.environ, **env), cwd=ROOT)
        RUNNING.add(process.pid)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit_s, limit_s))
        watch = threading.Timer(HANG_S, process.kill)
        watch.daemon = True
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        RUNNING.discard(process.pid)
        watch.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
        late = usage.ru_utime + usage.ru_stime >= limit_s or seconds >= HANG_S
        out.seek(0)
        err.seek(0)
        return Done(process.returncode, out.read().decode(errors="replace"),
                    err.read().decode(errors="replace"), seconds, usage.ru_maxrss << 10,
                    late and process.returncode == -signal.SIGKILL)


def fault(done, path):
    """Returns why a run failed, or None."""
    if done.timed_out:
        return f"not done within {LIMIT_S} s of processor time"
    if done.code != 0:
        return f"ended with {done.code}"
    if done.peak_bytes > LIMIT_BYTES:
        return f"took {done.peak_bytes >> 20} MiB of memory"
    with open(path, encoding="utf-8") as f:
        expects = json.load(f)["expect"]
    if not expects:
        return "the scenario has no expectation"
    return None if all(e["met"] for e in expects) else "an expectation was not met"


class Report:
    """Prints lines of results. The output of a failed run comes before its line."""

    def __init__(self):
        self.lock = threading.Lock()
        self.failed = 0

    def line(self, name, wrong, note, done=None):
        with self.lock:
            if wrong and done:
                print(*(done.stdout + done.stderr).splitlines()[-40:], sep="\n")
            print(f"{'FAIL' if wrong else 'PASS'} lab: {name}: {wrong or note}", flush=True)
            self.failed += bool(wrong)


def each(jobs, function, at_once=AT_ONCE):
    """Calls function for each job in order, so many at a time. Raises what a call raised."""
    left, raised = collections.deque(jobs), []

    def work():
        while not raised:
            try:
                job = left.popleft()
            except IndexError:
                return
            try:
                function(job)
            except Exception as error:  # pylint: disable=broad-except
                raised.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        left.clear()  # after a signal no more jobs begin
    if raised:
        raise raised[0]


def run_one(name, folder, report):
    path = os.path.join(folder, f"{name}.json")
    done = lab(["run", os.path.join(SCENARIOS, f"{name}.json"), "--quiet", "--json", path])
    wrong = fault(done, path)
    last = (done.stdout.splitlines() or [""])[-1]
    met = last.split(" of ")[0] if " of " in last else "?"
    report.line(name, wrong, f"{met} expectations met ({done.seconds:.1f} s, "
                f"{done.peak_bytes >> 20} MiB)", done)


def run_all(names, others, report):
    """Runs scenarios and the other functions, those that take longest first."""
    with tempfile.TemporaryDirectory(prefix="hs-lab-") as folder:
        begin = time.monotonic()
        runs = [functools.partial(run_one, name, folder, report)
                for name in sorted(names, key=lambda name: name not in LARGE)]
        large = sum(name in LARGE for name in names)
        each(runs[:large] + others + runs[large:], lambda run: run())
        seconds = time.monotonic() - begin
        if len(names) > 1:
            report.line("all of them", seconds > ALL_LIMIT_S
                        and f"took {seconds:.0f} s, more than {ALL_LIMIT_S}",
                        f"{len(names)} scenarios in {seconds:.0f} s")


def short_one(name, folder):
    """Returns the path of a copy of a scenario for short runs."""
    with open(os.path.join(SCENARIOS, f"{name}.json"), encoding="utf-8") as f:
        scenario = json.load(f)
    scenario.setdefault("mbufs", SHORT_MBUFS)
    for traffic in scenario["traffic"]:
        if "file" in traffic:
            traffic["file"] = os.path.join(SCENARIOS, traffic["file"])
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(scenario, f)
    return path


def same_bytes(name, report, what, build=BUILD, env=None):
    """Runs a few seconds of a scenario normally, and with another build or environment. The results
    must be the same, and sanitizers must report nothing."""
    with tempfile.TemporaryDirectory(prefix="hs-lab-") as folder:
        paths = [os.path.join(folder, str(i)) for i in range(2)]
        words = ["run", short_one(name, folder), "--quiet", "--duration", SHORT_S, "--json"]
        done = [lab([*words, paths[0]]), lab([*words, paths[1]], build, **(env or {}))]
        # So short a run need not meet the expectations of the whole run.
        bad = [one for one in done
               if one.code not in (0, 1) or one.timed_out or "runtime error" in one.stderr]
        wrong = bad and f"ended with {bad[0].code}"
        if not wrong and not all(os.path.exists(path) for path in paths):
            wrong = "there is no result"
        if not wrong and not filecmp.cmp(*paths, shallow=False):
            wrong = "the results differ"
        report.line(f"{name} {what}", wrong, f"the same {SHORT_S} s twice "
                    f"({max(one.seconds for one in done):.1f} s)", (bad or done)[-1])


def run_scale(report):
    costs = scale.costs(BUILD)
    report.line("the instructions of an event grow no faster than the logarithm of the nodes",
                scale.fault(costs), f"{scale.sentence(costs)} nodes")


def compute_again(name, report):
    """Computes the numbers of a few seconds again, only from the packets."""
    scenario = os.path.join(SCENARIOS, f"{name}.json")
    with tempfile.TemporaryDirectory(prefix="hs-lab-") as folder:
        result, packets = (os.path.join(folder, x) for x in ("result", "packets"))
        done = lab(["run", scenario, "--quiet", "--duration", str(AGAIN[name]), "--json",
                    result, "--packets", packets])
        said, wrong = "", None
        # So short a run need not meet the expectations of the whole run.
        if done.code not in (0, 1) or done.timed_out or not os.path.exists(packets):
            wrong = f"ended with {done.code}"
        else:
            # In a process of its own, because threads of Python compute one at a time.
            check = subprocess.run([sys.executable, check_packets.__file__, scenario, result, packets],
                                   stdout=subprocess.PIPE, text=True, check=False)
            *differences, said = check.stdout.splitlines() or [""]
            if check.returncode:
                wrong = f"{said or 'nothing was compared'}: {(differences or ['see above'])[0]}"
        report.line(f"{name} computed again from its packets", wrong, f"{said} ({done.seconds:.1f} s)",
                    done)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sanitized", metavar="BUILD")
    parser.add_argument("--general", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    names = [os.path.basename(path)[:-5]
             for path in sorted(glob.glob(os.path.join(SCENARIOS, "*.json")))]
    wanted = [name for name in names
              if not options.words or any(word in name for word in options.words)]
    report = Report()
    os.environ.pop(*GENERAL, None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if options.sanitized:
            env = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "detect_leaks=0")
                   + f":exitcode={SANITIZER_EXIT}",
                   "UBSAN_OPTIONS": f"halt_on_error=1:exitcode={SANITIZER_EXIT}"}
            each([name for name in SHORT if name in wanted], lambda name: same_bytes(
                name, report, "under sanitizers", options.sanitized, env), SHORT_AT_ONCE)
        elif options.general:
            each([name for name in wanted if name not in LARGE], lambda name: same_bytes(
                name, report, "on the general path", env=GENERAL), SHORT_AT_ONCE)
        else:
            if not wanted and options.words != ["scale"]:
                report.line("scenarios", "there are none", "")
            others = [functools.partial(compute_again, name, report) for name in AGAIN if name in wanted]
            if not options.words or "scale" in options.words:
                others.append(lambda: run_scale(report))
            if TWICE in wanted:
                others.append(lambda: same_bytes(TWICE, report, "and its seed"))
            run_all(wanted, others, report)
    finally:
        for pid in list(RUNNING):
            os.kill(pid, signal.SIGKILL)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
