# SPDX-License-Identifier: BSD-3-Clause
"""Writes the bash completion of programs: tables of verbs, options and kinds of values from --help, and the
functions of completion.bash.

    tools/pages/completion.py OUTPUT... --programs DIR

Each output has the name of its program."""

import argparse
import os
import re
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))

from pages import help_text  # noqa: E402

FUNCTIONS = os.path.join(ROOT, "tools", "pages", "completion.bash")
DECLARE = "declare -gA _hopsight_words _hopsight_options _hopsight_values _hopsight_arguments _hopsight_keys"

# What the value of an option, or an argument, is, by what the help text calls it. The functions know
# these kinds.
KINDS = {"NS": "rule", "PREFIX": "route", "ENDPOINT": "endpoint", "FILE": "file", "FILE|-": "file",
         "DIR": "folder", "FOLDER": "folder", "SCENARIO": "scenario", "KEY=VALUE...": "key",
         "NODE": "node", "NODE,NODE...": "node"}
# The same words mean something else here.
SPECIAL = {("--port", "NAME"): "port", ("--worker", "CORE"): "none", ("neighbour del", "ADDRESS"): "neighbour",
           ("route add", "PREFIX"): "none", ("hopsight-bench", "NAME..."): "case"}


def choices(meaning):
    """Returns the words of an allowed list like `(count, frequency or probability; required)`."""
    found = re.search(r"\(((?:[a-z_]+, )*[a-z_]+ or [a-z_]+)(?:, or [^;)]*? ([a-z]+))?(?:;[^)]*)?\)$", meaning)
    if not found:
        return []
    return re.findall(r"[a-z_]+", found.group(1).replace(" or ", " ")) + ([found.group(2)] if found.group(2) else [])


def kind_of(where, value, meaning=""):
    """Returns a kind, or `=` with the words that may stand there."""
    words = choices(meaning)
    return SPECIAL.get((where, value)) or ("=" + " ".join(words) if words else KINDS.get(value, "none"))


def option_rows(items):
    """Yields (name, kind); the kind is empty where the option takes no value."""
    for words, meaning in items:
        names, value = help_text.option_names(words)
        for name in names:
            yield name, kind_of(names[-1], value, meaning) if value else ""


def lists(program, *words):
    """Returns {title: items} of a help text; options may have no title."""
    found = {}
    for block in help_text.blocks(help_text.run(program, *words, "--help")):
        if block.items:
            found.setdefault(block.title or "Options", []).extend(block.items)
    return found


def arguments(verb, words):
    """Returns the kinds of a verb's arguments, from the words behind it in its usage."""
    words = re.split(r" \[?--| \| |\(", f" {words}".replace("[options]", " "))[0]
    return [kind_of(verb, word) for word in words.replace("[", " ").replace("]", " ").split()]


class Tables:
    """Lines of bash that fill associative arrays. A key is a program, or a program and its verb."""

    def __init__(self):
        self.lines, self.words = [], {}

    def put(self, array, key, value):
        if value:
            self.lines.append(f"_hopsight_{array}[{shlex.quote(key)}]={shlex.quote(value)}")

    def options(self, key, items):
        rows = list(option_rows(items))
        self.put("options", key, " ".join(name for name, _ in rows))
        for name, kind in rows:
            self.put("values", f"{key} {name}", kind)

    def add_verb(self, before, verb):
        for word in verb.split():
            self.words.setdefault(before, []).append(word)
            before += " " + word

    def verb_of_hopsight(self, path, verb):
        """A verb whose options stand in a help text of its own."""
        self.add_verb("hopsight", verb)
        self.add_verb("hopsight help", verb)
        key, own = f"hopsight {verb}", lists(path, *verb.split())
        usage = next(block.text for block in help_text.blocks(help_text.run(path, *verb.split(), "--help"))
                     if block.text.startswith("Usage: "))
        self.put("arguments", key, " ".join(arguments(verb, usage.split(verb, 1)[1])))
        self.options(key, own.get("Options", []))
        self.put("keys", key, " ".join(name for name, _ in own.get("Keys", [])))
        for name, meaning in own.get("Keys", []):
            self.put("values", f"{key} {name}", kind_of(verb, "", meaning))

    def program(self, name, path):
        found = lists(path)
        self.options(name, found.pop("Options"))
        if "Verbs" in found:
            self.add_verb(name, "help")
        for words, _ in found.get("Verbs", []):
            self.verb_of_hopsight(path, help_text.verb_name(words))
        for words, _ in found.get("Usage", []):
            verb, rest = re.match(rf"{name} ([a-z]+)(.*)", words).groups()
            self.add_verb(name, verb)
            self.put("arguments", f"{name} {verb}", " ".join(arguments(verb, rest)))
        if not self.words.get(name):
            usage = help_text.run(path, "--help").splitlines()[0]
            self.put("arguments", name, " ".join(arguments(name, usage.partition("[options]")[2])))

    def text(self):
        for key, words in self.words.items():
            self.put("words", key, " ".join(dict.fromkeys(words)))
        return "\n".join(self.lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outputs", nargs="+")
    parser.add_argument("--programs", required=True)
    words = parser.parse_args()
    with open(FUNCTIONS, encoding="utf-8") as file:
        functions = file.read()
    for output in words.outputs:
        name = os.path.basename(output)
        tables = Tables()
        tables.program(name, os.path.join(words.programs, name))
        with open(output, "w", encoding="utf-8") as file:
            file.write(f"{functions}\n{DECLARE}\n{tables.text()}\ncomplete -F _hopsight {name}\n")


if __name__ == "__main__":
    main()
