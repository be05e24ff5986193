# SPDX-License-Identifier: BSD-3-Clause
"""Exports: a program calls each function that a header declares; none is for tests alone."""

import os
import re

import layering

_NOISE = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*')
# House style begins a declaration and a definition in the first column.
_DECLARED = re.compile(r"^(?!#|\s|\}|typedef\b)[^;{}=#]*?\b(hs_\w+)\(", re.MULTILINE)
_NAME = re.compile(r"\bhs_\w+")


def uncalled(texts):
    """Returns (header, function) of each function that nothing calls. `texts`: path to text."""
    declared, called = {}, set()
    for path, text in texts.items():
        code = _NOISE.sub("", text)
        own = {match.start(1): match.group(1) for match in _DECLARED.finditer(code)}
        if path.endswith(".h"):
            declared.update(dict.fromkeys(own.values(), path))
        called |= {match.group() for match in _NAME.finditer(code) if match.start() not in own}
    return sorted((path, name) for name, path in declared.items() if name not in called)


def for_tests_alone(root):
    """Returns (header, function) of each function of lib/ and src/ that no program calls."""
    texts = {}
    for path in layering.sources(root, ("lib", "src", "apps")):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            texts[path] = f.read()
    return uncalled(texts)
