# SPDX-License-Identifier: BSD-3-Clause
"""Reads pages of metrics, and asks for them. This follows the two formats and shares nothing with lib/prometheus."""

import contextlib
import http.client
import math
import re

import lib  # noqa: F401 # isort: skip # sets the path
from workspace import InNamespace  # isort: skip

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|})')
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
_ENDINGS = {
    "counter": {False: [""], True: ["_total", "_created"]},
    "info": {True: ["_info"]},
    "gauge": {False: [""], True: [""]},
    "summary": {False: ["", "_sum", "_count"], True: ["", "_sum", "_count", "_created"]},
    "histogram": {False: ["_bucket", "_sum", "_count"], True: ["_bucket", "_sum", "_count", "_created"]},
}


class Wrong(Exception):
    """The page is not of its format."""


def _demand(condition, *said):
    if not condition:
        raise Wrong(" ".join(str(s) for s in said))


def _labels(text, line):
    labels, at = {}, 0
    while True:
        found = _LABEL.match(text, at)
        _demand(found, "labels:", line)
        name, value, end = found.groups()
        _demand(name not in labels, "twice the label", name, "in", line)
        labels[name] = re.sub(r"\\.", lambda m: _ESCAPES[m.group()], value)
        at = found.end()
        if end == "}":
            return labels, text[at:]


def _sample(line):
    name = _NAME.match(line)
    _demand(name, "no name:", line)
    rest, labels = line[name.end():], {}
    if rest.startswith("{"):
        labels, rest = _labels(rest[1:], line)
    words = rest.split()
    _demand(rest.startswith(" ") and len(words) == 1, "not one value:", line)
    return name.group(), labels, float(words[0].replace("Inf", "inf"))


class Page:
    """kinds: type of each family; values: {(name, sorted labels): value}."""

    def __init__(self, text, openmetrics):
        _demand(text.endswith("# EOF\n" if openmetrics else "\n"), "the end:", text[-40:])
        self.openmetrics = openmetrics
        self.kinds, self.helps, self.units, self.values = {}, {}, {}, {}
        self._family = None
        for line in text[:-1].split("\n")[:-1 if openmetrics else None]:
            if line.startswith("# "):
                self._heading(line)
            else:
                self._series(line)
        for family in self.kinds:
            _demand(family in self.helps, "no help:", family)
        self._check_histograms()

    def _heading(self, line):
        words = line.split(" ", 3)
        _demand(len(words) == 4 and words[1] in ("HELP", "TYPE", "UNIT"), "heading:", line)
        _, word, family, rest = words
        into = {"HELP": self.helps, "TYPE": self.kinds, "UNIT": self.units}[word]
        _demand(family not in into, "twice:", line)
        into[family] = rest
        if word == "TYPE":
            _demand(rest in _ENDINGS, "type:", line)
            self._family = family
        if word == "UNIT":
            _demand(family.endswith("_" + rest), "a unit that the name does not say:", line)

    def _series(self, line):
        name, labels, value = _sample(line)
        family, kind = self._family, self.kinds[self._family]
        _demand(name.startswith(family) and name[len(family):] in _ENDINGS[kind][self.openmetrics],
                name, "stands under", family)
        key = name, tuple(sorted(labels.items()))
        _demand(key not in self.values, "twice:", line)
        _demand(kind != "counter" or value >= 0, "a counter below 0:", line)
        self.values[key] = value

    def _check_histograms(self):
        buckets = {}
        for (name, labels), value in self.values.items():
            if name.endswith("_bucket"):
                labels = dict(labels)
                bound = float(labels.pop("le").replace("Inf", "inf"))
                buckets.setdefault((name[:-7], tuple(sorted(labels.items()))), []).append((bound, value))
        for (family, labels), of in buckets.items():
            bounds, counts = zip(*of)
            _demand(list(bounds) == sorted(bounds) and bounds[-1] == math.inf, family, "bounds", bounds)
            _demand(list(counts) == sorted(counts), family, labels, "is not cumulative", counts)
            _demand(counts[-1] == self.values[family + "_count", labels], family, labels, "count")

    def get(self, name, **labels):
        return self.values[name, tuple(sorted(labels.items()))]

    def names(self):
        return {name for name, _ in self.values}


OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def ask(namespace, port, path="/metrics", method="GET", address="127.0.0.1", **headers):
    """Returns status, headers, text."""
    connection = http.client.HTTPConnection(address, port, timeout=10)
    with InNamespace(namespace) if namespace else contextlib.nullcontext():
        connection.connect()
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def scrape(namespace, port, openmetrics=False):
    """Returns (page, text)."""
    status, headers, text = ask(namespace, port, Accept=OPENMETRICS if openmetrics else "text/plain")
    _demand(status == 200, status, text)
    kind = "application/openmetrics-text; version=1.0.0" if openmetrics else "text/plain; version=0.0.4"
    _demand(headers["Content-Type"].startswith(kind), headers["Content-Type"])
    return Page(text, openmetrics), text
