# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual pages of all programs and configurations.

    tools/pages/man.py OUTPUT... --programs DIR --version V

The name of each output, like `hopsightd.8`, says which page goes there."""

import argparse
import email.utils
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))

from pages import config_page, help_text, roff  # noqa: E402

# What --help does not say: the line of apropos(1), a description, the files.
PROGRAMS = {
    "hopsight.1": (
        "ask and change a Hopsight node, controller or collector",
        "hopsight sends requests to the API of hopsightd(8), hopsight-controller(8) or hopsight-collector(8), and "
        "shows the replies as tables or as JSON.",
        {"/run/hopsight/*.api": "the sockets of nodes and collectors of this machine",
         "/run/hopsight-controller/*.api": "the socket of a controller that runs as a unit"}),
    "hopsightd.8": (
        "poll-mode switch that measures the traffic it forwards",
        "hopsightd is one node. It forwards packets between its ports, adds telemetry to packets of monitored flows, "
        "removes the telemetry at the end of the path, and computes throughput, delay, jitter and loss of each hop.",
        {"/etc/hopsight/hopsightd.json": "the configuration of the unit hopsightd.service",
         "/etc/hopsight/NODE.json": "the configuration of the unit hopsightd@NODE.service",
         "/run/hopsight/*.api": "the socket of the API", "/var/lib/hopsight": "the folder for the state"}),
    "hopsight-controller.8": (
        "keep the rules of many Hopsight nodes and collect what they measure",
        "hopsight-controller installs the wanted rules at its nodes, repairs them, and collects the metrics that the "
        "nodes publish.",
        {"/etc/hopsight/controller.json": "the configuration of the unit",
         "/var/lib/hopsight-controller": "the folder for the state of the unit"}),
    "hopsight-collector.8": (
        "read telemetry reports and keep the values of flows, queues and links",
        "hopsight-collector receives telemetry reports of the formats 0.5, 1.0 and 2.0 in UDP datagrams. It keeps the "
        "newest values, publishes what changed, and serves metrics.",
        {"/etc/hopsight/collector.json": "the configuration of the unit",
         "/var/lib/hopsight-collector": "the folder for the state of the unit"}),
    "hopsight-lab.1": ("run many Hopsight nodes and links in one process", "",
                       {"/usr/share/hopsight/lab": "scenarios that are found by their name"}),
    "hopsight-bench.1": ("measure what a packet costs a Hopsight worker", "", {}),
}
CONFIGURATIONS = {
    "hopsight.json.5": ("configuration of a Hopsight node", "node.json", ["configuration.md", "influx.md"], "hopsightd"),
    "hopsight-controller.json.5": ("configuration of a Hopsight controller", "controller.json",
                                   ["controller.md", "configuration.md", "influx.md"], "hopsight-controller"),
    "hopsight-collector.json.5": ("configuration of a Hopsight collector", "collector.json",
                                  ["collector.md", "configuration.md", "influx.md"], "hopsight-collector"),
}


def release_date():
    """Returns the date of the newest version, so that two builds of one version give the same bytes."""
    with open(os.path.join(ROOT, "debian", "changelog"), encoding="utf-8") as file:
        signed = re.search(r"^ -- .*>  (.*)$", file.read(), re.M)
    return email.utils.parsedate_to_datetime(signed.group(1)).strftime("%Y-%m-%d")


def head(page, about, version, date):
    name, section = page.rsplit(".", 1)
    return [r'.\" SPDX-License-Identifier: BSD-3-Clause',
            f'.TH {name.upper()} {section} {date} "Hopsight {version}"',
            ".nh", ".ad l",  # words of programs are neither broken nor spaced out
            ".SH NAME", rf"{name} \- {roff.escape(about)}"]


def see_also(page):
    others = [other.rsplit(".", 1) for other in (*PROGRAMS, *CONFIGURATIONS) if other != page]
    others.sort(key=lambda pair: (pair[1], pair[0]))
    return [".SH SEE ALSO", ",\n".join(f".BR {roff.escape(name)} ({section})" for name, section in others)]


def items(pairs):
    return [roff.item(roff.words(words), roff.markdown(meaning)) for words, meaning in pairs]


def verb_sections(program, verbs):
    """Yields the section of the verbs: the help text of each."""
    yield ".SH VERBS"
    for words, _ in verbs:
        verb = help_text.verb_name(words)
        yield f".SS {roff.escape(verb)}"
        for block in help_text.blocks(help_text.run(program, *verb.split(), "--help")):
            if block.text.startswith("Usage: "):
                yield roff.fill(roff.words(block.text.removeprefix("Usage: ")))
            elif block.text:
                text = block.text[0].upper() + block.text[1:]
                yield roff.paragraph(roff.markdown(text if text[-1] in ".)" else text + "."))
            if block.title == "Keys":
                yield roff.paragraph("Keys:")
            yield from items(block.items)


def program_page(page, program, version, date):
    about, description, files = PROGRAMS[page]
    synopsis, options, verbs, said, codes = [], [], [], [description] if description else [], ""
    text = help_text.run(program, "--help")
    for block in help_text.blocks(text):
        if block.title == "Usage":
            synopsis += [words for words, _ in block.items]
            said += [f"`{words}`: {meaning}." for words, meaning in block.items]
        elif block.title == "Verbs":
            verbs = block.items
        elif block.items:
            options += block.items
        elif block.text.startswith("Usage: "):
            synopsis.append(block.text.removeprefix("Usage: "))
        elif "Exit codes: " in block.text:
            before, codes = block.text.split("Exit codes: ", 1)
            said += [before] if before else []
        else:
            said.append(block.text)
    lines = head(page, about, version, date) + [".SH SYNOPSIS"]
    for number, one in enumerate(synopsis):
        lines += ([".br"] if number else []) + [roff.fill(roff.words(one))]
    lines += [".SH DESCRIPTION", "\n.PP\n".join(roff.fill(roff.markdown(one)) for one in said)]
    lines += [".SH OPTIONS", *items(options)]
    if verbs:
        lines += verb_sections(program, verbs)
    lines += [".SH EXIT STATUS", roff.fill(roff.markdown(codes[0].upper() + codes[1:]))]
    variables = dict.fromkeys(re.findall(r"\bHOPSIGHT_\w+", text))
    if variables:
        named = {name: next(words for words, meaning in options if name in meaning) for name in variables}
        lines += [".SH ENVIRONMENT", *(roff.item(
            roff.bold(name), f"The value where {roff.bold(help_text.option_names(words)[0][-1])} is not given.")
            for name, words in named.items())]
    if files:
        lines += [".SH FILES", *(roff.item(roff.bold(path), roff.escape(what[0].upper() + what[1:] + "."))
                                 for path, what in files.items())]
    return lines + see_also(page)


def config_page_lines(page, version, date):
    about, schema, documents, program = CONFIGURATIONS[page]
    text = (f"{program}(8) reads one JSON object from the file that `--config` names. `{program} --config FILE "
            "--check` verifies the file. `--print-config` prints it with its defaults. In a name below, `[]` "
            "stands for each element of a list, and NAME for any name.")
    return (head(page, about, version, date) + [".SH DESCRIPTION", roff.fill(roff.markdown(text))]
            + config_page.body(ROOT, schema, documents) + see_also(page))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outputs", nargs="+")
    parser.add_argument("--programs", required=True)
    parser.add_argument("--version", required=True)
    words = parser.parse_args()
    date = release_date()
    for output in words.outputs:
        page = os.path.basename(output)
        if page in PROGRAMS:
            program = os.path.join(words.programs, page.rsplit(".", 1)[0])
            lines = program_page(page, program, words.version, date)
        else:
            lines = config_page_lines(page, words.version, date)
        with open(output, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
