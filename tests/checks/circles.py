# SPDX-License-Identifier: BSD-3-Clause
"""Circles: which parts of a folder use each other, and which folders.

A part is a header together with its implementation. Part A uses part B if a file of A includes the
header of B, or if A calls a function that B implements, under whatever header it is declared.
"""

import os
import re

import layering

# Folders where a header still counts as a part of its own, apart from its implementation, because
# its x.c calls parts that build on the types of x.h.
APART = {
    "lib/state", "lib/telemetry/flexint",
    "src/config", "src/datapath/flexint", "src/datapath/forward",
    "src/datapath/int", "src/datapath/probe", "src/node",
}

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_NOISE = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*')
# House style begins a function in the first column, and its body with a brace there.
_DEFINED = re.compile(r"^(?!static\b)[A-Za-z_][^;{}=\n]*?\b(hs_\w+)\([^;{}]*\)\n\{", re.MULTILINE)
_USED = re.compile(r"(?<!struct )(?<!enum )(?<!union )\b(hs_\w+)\b")


def _stem(name):
    return os.path.splitext(name)[0]


def _part(folder, name):
    return name if folder in APART else _stem(name)


def uses(folder, texts):
    """Maps each part of a folder to the other parts that it uses. `texts`: file name to text."""
    code = {name: _NOISE.sub("", text) for name, text in texts.items()}
    owner = {function: _part(folder, name) for name in texts if name.endswith(".c")
             for function in _DEFINED.findall(code[name])}
    found = {}
    for name, text in texts.items():
        others = {_part(folder, other) for other in _INCLUDE.findall(text) if other in texts}
        if name.endswith(".c"):
            others |= {owner[f] for f in _USED.findall(code[name]) if f in owner}
        found.setdefault(_part(folder, name), set()).update(others)
    return {part: others - {part} for part, others in found.items()}


def includes(texts):
    """Maps each part of a folder, header and implementation, to the other parts that it includes."""
    found = {}
    for name, text in texts.items():
        others = {_stem(other) for other in _INCLUDE.findall(text) if other in texts}
        found.setdefault(_stem(name), set()).update(others - {_stem(name)})
    return found


def circles(graph):
    """Returns the sets of nodes, at least two each, from each of which all others are reached."""
    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for other in graph.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    reach = {node: reached(node) for node in graph}
    rings = {frozenset(o for o in reach[node] if node in reach.get(o, ())) for node in graph}
    return sorted(sorted(ring) for ring in rings if ring)


def in_folders(root):
    """Yields (folder, parts that use each other, or include each other's headers)."""
    folders = {}
    for path in layering.sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            folders.setdefault(os.path.dirname(path), {})[os.path.basename(path)] = f.read()
    for folder, texts in sorted(folders.items()):
        used = circles(uses(folder, texts))
        included = [ring for ring in circles(includes(texts)) if ring not in used]
        for ring in used + included:
            yield folder, ring


def between_folders(root):
    """Returns the sets of folders that include each other's headers."""
    owners = layering.headers(root)
    graph = {}
    for path in layering.sources(root):
        folder = os.path.dirname(path)
        with open(os.path.join(root, path), encoding="utf-8") as f:
            names = _INCLUDE.findall(f.read())
        seen = {owners[name][0] for name in names if name in owners}
        graph.setdefault(folder, set()).update(seen - {folder})
    return circles(graph)
