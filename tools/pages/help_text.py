# SPDX-License-Identifier: BSD-3-Clause
"""Reads the text that a program prints for --help: paragraphs, and lists of words with their meaning."""

import collections
import os
import re
import subprocess

# A block of a help text. `title` is the line before a list, without its colon. `items` are pairs of the
# words and their meaning. `text` is a paragraph.
Block = collections.namedtuple("Block", "title items text")

_OPTION = re.compile(r"(?:-\w, )?--[\w-]+(?:[ =][A-Z|{\[(]\S*)?")


class Unreadable(Exception):
    """The text has another form than the ones that this file knows."""


def run(program, *words):
    """Returns what a program prints. It gets an environment without variables of its own."""
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "COLUMNS": "1000"}
    done = subprocess.run([program, *words], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise Unreadable(f"{program} {' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _column(lines):
    """Returns where the meanings of a list begin: the commonest place behind two spaces or more."""
    places = collections.Counter()
    for line in lines:
        found = re.match(r" {2,6}\S.*?( {2,})(?=\S)", line)
        if found:
            places[found.end()] += 1
    return places.most_common(1)[0][0] if places else 0


def _split(line, column):
    """Returns the words and the meaning of a line of a list."""
    if column and line[column - 1:column] == " " and line[column:column + 1].strip():
        return line[:column].strip(), line[column:].strip()
    text = line.strip()
    found = _OPTION.match(text) if text.startswith("-") else re.match(r".*?(?=  |$)", text)
    return found.group().strip(), text[found.end():].strip()


def _is_item(line, column):
    indent = len(line) - len(line.lstrip(" "))
    return indent == 2 or indent == 6 and line.lstrip().startswith("-") and column > 6


def _list(lines):
    column, items = _column(lines), []
    for line in lines:
        if _is_item(line, column):
            items.append(_split(line, column))
        elif items:
            words, meaning = items[-1]
            items[-1] = (words, f"{meaning} {line.strip()}".strip())
        else:
            raise Unreadable(f"a list begins with {line!r}")
    return items


def blocks(text):
    """Yields the blocks of a help text."""
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        lines = part.splitlines()
        title = ""
        if len(lines) > 1 and lines[0].endswith(":") and lines[1].startswith("  "):
            title = lines.pop(0)[:-1]
        if lines[0].startswith("  "):
            yield Block(title, _list(lines), "")
        else:
            yield Block(title, [], " ".join(line.strip() for line in lines))


def option_names(words):
    """Returns the names in `-c, --connect ENDPOINT`, and what the value is called."""
    names = re.findall(r"(?<![\w-])--?\w[\w-]*", words)
    value = re.search(r"--[\w-]+[ =](.+)$", words)
    return names, value.group(1) if value else ""


def verb_name(words):
    """Returns the name of a verb, without the words for its arguments: `rule show` of `rule show NS`."""
    return re.match(r"[a-z][\w-]*(?: [a-z][\w-]*)*", words).group()
