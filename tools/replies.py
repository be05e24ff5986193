# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/replies.md, the members of each reply and event, from docs/schema. The schemas come
from the tables that print the replies: run `build/apps/hopsight-schema docs/schema` first."""

import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "replies.md")

_HEAD = """# Members of replies and events

This page lists the members of the `ok` of each reply, and of events. [api.md](api.md) explains requests and the
envelope of replies. `tools/replies.py` writes this page from [schema/](schema), and the programs write the schemas from
the tables that print the replies.

- `ports[].name` is the member `name` of each entry of the list `ports`. `errors.NAME` is the member of `errors` that
  has the name of a node.
- A member that is not always there is left out if it does not apply.
- A rule has the fields of `int_request` ([api.md](api.md#int_request)). At a controller, a rule also has `on`, and
  `nodes` with the state of the rule at each node. [metrics.md](metrics.md) explains the numbers of a window.
"""
_NAMES = {"rule": "a rule", "window": "a window", "e2e": "as in a window", "flags": "as in a window",
          "event": "an event", "application": "an application", "not_told": "a metric"}


def _load(name):
    with open(os.path.join(ROOT, "docs", "schema", name), encoding="utf-8") as f:
        return json.load(f)


def _type_of(part):
    """Returns the type of a value in words."""
    if "$ref" in part:
        file, _, place = part["$ref"].partition("#")
        name = place.split("/")[-1]
        known = "as in the configuration" if file == "node.json" else f"as of `{name}`"
        return _NAMES.get(name, known)
    if "const" in part:
        return "`true`"
    if "enum" in part:
        return ", ".join(f"`{word}`" for word in part["enum"])
    if part.get("type") == "array":
        item = part["items"]
        inner = _type_of(item) if "$ref" in item else item.get("type", "")
        return "list" if inner == "object" else f"list: {inner}"
    kind = part.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else kind


def _rows(schema, prefix=""):
    """Yields (member, type, whether it is always there, meaning) at any depth."""
    for name, part in schema.get("properties", {}).items():
        yield (prefix + name, _type_of(part), name in schema.get("required", []),
               part.get("description", ""))
        inner, dots = part, "."
        while inner.get("type") == "array":
            inner, dots = inner["items"], "[]" + dots
        more = inner.get("additionalProperties")
        if isinstance(more, dict) and "properties" in more:
            inner, dots = more, ".NAME."
        if "$ref" not in inner:
            yield from _rows(inner, prefix + name + dots)


def _table(schema):
    lines = ["| member | type | always | meaning |", "|---|---|---|---|"]
    for member, kind, always, meaning in _rows(schema):
        lines.append(f"| `{member}` | {kind} | {'yes' if always else 'no'} | {meaning} |")
    return lines + [""]


def _section(title, schema):
    lines = [f"## {title}", ""]
    if "anyOf" not in schema:
        return lines + _table(schema)
    for part in schema["anyOf"]:
        lines += [f"{part['title']}:", ""] + _table(part)
    return lines


def page():
    """Returns the text of the page."""
    replies = _load("reply.json")["$defs"]
    event = _load("event.json")["properties"]["event"]
    lines = _HEAD.splitlines() + [""]
    for name, schema in replies.items():
        if name.startswith("nodes_"):
            lines += _section(f"`{name[6:]}` at a controller", schema)
        elif name in ("not_told", "application"):
            lines += _section({"not_told": "An entry of `not_told`",
                               "application": "An entry of `applications`"}[name], schema)
        elif name != "dry_run":
            lines += _section(f"`{name}`", schema)
    return "\n".join(lines + _section("Published events", event)).rstrip() + "\n"


if __name__ == "__main__":
    with open(PAGE, "w", encoding="utf-8") as out:
        out.write(page())
    sys.exit(0)
