# SPDX-License-Identifier: BSD-3-Clause
"""The command line of hopsight-bench, and what it writes."""

import contextlib
import difflib
import fnmatch
import getopt
import json
import os
import re
import signal
import sys
import textwrap
import time

from bench import measure, result, show

DONE, FAILED, USAGE = 0, 1, 2
MAX_ROUNDS = 100
MORE_ROUNDS = 4  # so often are cases that are slower than the baseline measured again
LIST_LIMIT_S = 30
HUGE_PAGES = 512  # of 2 MiB
FREE_HUGE_PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"

OPTIONS = (
    ("json", "FILE", "the whole result; - for stdout, without the table"),
    ("list", "", "the cases that there are"),
    ("seconds", "S", "length of one measurement (default 1)"),
    ("rounds", "N", "each case so many times, in turn with the others (default 10)"),
    ("card", "FILE", "put a card into this Markdown file, between its markers"),
    ("worker", "CORE", "core that is measured (default: the last one)"),
    ("huge", "", "each packet case and its yardstick with huge pages, too"),
    ("quick", "", "a small set of cases, 3 rounds of 0.3 s"),
    ("baseline", "FILE", "fail where a ratio is 15 % above this file's"),
    ("update-baseline", "FILE", "write the ratios into this file"),
    ("version", "", "print the version"),
    ("help", "", "print this"),
)
HELP = """Usage: hopsight-bench [options] [NAME...]

What a packet costs one worker in each stage and role, as nanoseconds of its
core's own time and as a ratio to dpdk-testpmd's mac forwarding of the same
frames, measured in turn. NAME: a case, or several by a pattern ('matched_*');
all without one. Needs no NIC, and huge pages only with --huge.

""" + "".join(textwrap.fill(text, 80, initial_indent=f"  {f'--{name} {value}'.rstrip():<24} ",
                            subsequent_indent=" " * 27) + "\n" for name, value, text in OPTIONS) + """
Exit codes: 0 done; 1 a case failed or is slower than its baseline; 2 bad usage.
"""

# What lib/base/clean_text.c calls unsafe: it could control the terminal or hide text.
UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
                    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]")


class Usage(Exception):
    """The command line or a file that it names is wrong."""


# ---- text ----

def escaped(match):
    code = match.group()
    units = "\ufffd" if "\ud800" <= code <= "\udfff" else code
    return re.sub("....", r"\\u\g<0>", units.encode("utf-16-be").hex())


def put(text, stream):
    stream.write(UNSAFE.sub(escaped, text))
    stream.flush()


def say(text):
    put(f"hopsight-bench: {text}\n", sys.stderr)


def write(path, text):
    """Returns an exit code."""
    try:
        if path == "-":
            put(text, sys.stdout)
        else:
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(text)
    except OSError:
        say(f"{path}: cannot be written")
        return FAILED
    return DONE


def write_json(path, value):
    return write(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


# ---- options ----

def read_number(options, word, least, most, default):
    if word not in options:
        return default
    text = options[word]
    value = float(text) if re.fullmatch(r"[0-9]+\.?[0-9]*([eE][-+]?[0-9]+)?", text) else -1
    if not least <= value <= most:
        raise Usage(f'--{word}: "{text}" is no number from {least:g} to {most:g}')
    return value


def read_whole(options, word, least, most, default):
    value = read_number(options, word, least, most, default)
    if value != int(value):
        raise Usage(f'--{word}: "{options[word]}" is no whole number')
    return int(value)


def read_cores(options):
    """Returns the cores of the worker and of control. The worker uses the last core. Control uses another core if
    there is one."""
    cores = sorted(os.sched_getaffinity(0))
    worker = read_whole(options, "worker", 0, 1023, cores[-1])
    if worker not in cores:
        raise Usage(f"--worker: core {worker} is not there")
    return worker, next((core for core in cores if core != worker), worker)


def nearest(word, words):
    """Returns the end of an error: the known word that a mistyped one most likely means, if one is near."""
    return "".join(f"; did you mean {near}?" for near in difflib.get_close_matches(word, words, 1))


def read_options(words):
    """Returns the options by name, and the names of cases."""
    try:
        pairs, names = getopt.gnu_getopt(
            words, "h", [name + ("=" if value else "") for name, value, _ in OPTIONS])
    except getopt.GetoptError as error:
        unknown = error.opt not in [name for name, *_ in OPTIONS]
        raise Usage(error.msg + (nearest(f"--{error.opt}", [f"--{name}" for name, *_ in OPTIONS]) if unknown else "")) from error
    for word, value in pairs:
        if re.match("-[^0-9.]", value):
            raise Usage(f"{word} needs a value")
    return {"help" if word == "-h" else word[2:]: value for word, value in pairs}, names


def choose_cases(cases, names, quick):
    """Returns the chosen cases in the order of the table, whatever the order of the names."""
    for name in names:
        if not fnmatch.filter([case.name for case in cases], name):
            raise Usage(f'there is no case "{name}"{nearest(name, [case.name for case in cases])} (--list)')
    if not names:
        return [case for case in cases if case.quick or not quick]
    return [case for case in cases if any(fnmatch.fnmatchcase(case.name, name) for name in names)]


def need_places(options):
    """Refuses files that cannot be written, before the minutes of measuring."""
    for word in ("json", "card", "update-baseline"):
        path = options.get(word, "-")
        folder = os.path.dirname(path) or "."
        there = os.access(path if os.path.exists(path) else folder, os.W_OK) and not os.path.isdir(path)
        if not path or path != "-" and not there:
            raise Usage(f'--{word}: "{path}" cannot be written')


def need_huge_pages():
    """Checks that enough huge pages are free. One process at a time uses them, and the largest process needs some
    hundred MiB."""
    try:
        with open(FREE_HUGE_PAGES, encoding="ascii") as f:
            free = int(f.read())
    except OSError:
        free = 0
    if free < HUGE_PAGES:
        raise Usage(f"--huge: {free} huge pages of 2 MiB are free, and {HUGE_PAGES} are needed "
                    f"(echo {HUGE_PAGES} >{FREE_HUGE_PAGES.replace('free', 'nr')})")


# ---- measuring ----

def machine_facts(build, words):
    """Returns what a figure needs beside it: the machine and the build."""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        model = re.search(r"^model name[^:]*: (.*)", f.read(), re.M)
    command = " ".join(["hopsight-bench", *words])
    return {"cpu": model.group(1) if model else "unknown", "cores": os.cpu_count(), "kernel": os.uname().release,
            **{key: build[key] for key in ("dpdk", "compiler", "options", "version")},
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "command": os.fsencode(command).decode("utf-8", "replace")}


def run_rounds(bench, rows, rounds, baseline):
    bench.run(rows, rounds)
    for _ in range(MORE_ROUNDS):
        slow = result.slow_factors(rows, baseline) if baseline else None
        again = [row for row in rows if baseline and result.judge(row, baseline, slow) not in ("", "not measured")]
        if not again:
            return
        print("some are slower than the baseline: more rounds of these", file=sys.stderr)
        bench.run(rows, rounds, again + [row for row in rows if row.mode == "csum"])


def write_card(path, machine, rows):
    document = ""
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="surrogateescape", newline="") as f:
        document = f.read()
    return write(path, show.place_card(document, show.card(machine, rows)))


def write_all(options, machine, rows, baseline):
    """Returns an exit code."""
    codes = [FAILED if row.error else DONE for row in rows]
    if options.get("json") != "-":
        codes.append(write("-", show.table(rows)))
    if "json" in options:
        codes.append(write_json(options["json"], show.result_json(machine, rows)))
    if "card" in options:
        codes.append(write_card(options["card"], machine, rows))
    if "update-baseline" in options:
        codes.append(write_json(options["update-baseline"], result.make_baseline(rows)))
    if baseline:
        lines, passed = result.compare(rows, baseline)
        codes += [write("-", "".join(line + "\n" for line in lines)), DONE if passed else FAILED]
    return max(codes)


def run(options, names, words, program, build):
    cases = [result.Case(**case) for case in build["cases"]]
    chosen, quick = choose_cases(cases, names, "quick" in options), "quick" in options
    seconds = read_number(options, "seconds", 0.01, 600, 0.3 if quick else 1)
    rounds = read_whole(options, "rounds", 1, MAX_ROUNDS, 3 if quick else 10)
    need_places(options)
    bench = measure.Bench(program, seconds, *read_cores(options))
    peers, baseline = measure.peer_is_there(), None
    if not peers:
        skipped = "baseline" in options
        put(f"{'SKIP bench: ' if skipped else ''}dpdk-testpmd is not installed: no ratios\n",
            sys.stdout if skipped else sys.stderr)
    elif "baseline" in options:
        try:
            baseline = result.load_baseline(options["baseline"], {case.name for case in cases})
        except ValueError as error:
            say(error)
            return USAGE
    machine, rows = machine_facts(build, words), result.make_rows(chosen, peers)
    if "huge" in options:
        need_huge_pages()
        rows += result.make_rows([case for case in chosen if case.packets and not case.memif], peers, huge=True)
    try:
        run_rounds(bench, rows, rounds, baseline)
    except measure.Interrupted:
        say("interrupted; this is what there is")
        # An interrupted run writes no card and no baseline.
        write_all({key: value for key, value in options.items() if key == "json"}, {**machine, "partial": True}, rows,
                  None)
        return FAILED
    return write_all(options, machine, rows, baseline)


def main(program, words):
    """`program` is hopsight-bench-case. Returns an exit code."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    measure.catch_signals()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")
    try:
        options, names = read_options(words)
        if "help" in options:
            return write("-", HELP)
        build = measure.result_of(measure.start([program, "--list"], listen=True), LIST_LIMIT_S)
        if "version" in options:
            return write("-", f"hopsight-bench {build['release']}\n")
        if "list" in options:
            return write("-", "".join(f"{case['name']:<22} {case['about']}\n" for case in build["cases"]))
        return run(options, names, words, program, build)
    except Usage as error:
        say(f"{error}; --help has more")
        return USAGE
    except (measure.Failed, OSError) as error:
        say(error)
    except measure.Interrupted:
        say("interrupted")
    return FAILED
