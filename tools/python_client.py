# SPDX-License-Identifier: BSD-3-Clause
"""Writes the types of the Python client (python/hopsight/requests.py and replies.py) from docs/schema. The schemas
come from the tables of the programs: run `build/apps/hopsight-schema docs/schema` first."""

import json
import keyword
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "python", "hopsight")
_WIDTH = 120
_SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_HEAD = """# SPDX-License-Identifier: BSD-3-Clause
# tools/python_client.py writes this file from docs/schema.
"""
# The types of what is published: (class, file, member of the message).
_PUBLISHED = [("Report", "report", "int_report"), ("Event", "event", "event"), ("HopEvent", "hop", "hop")]


def _load(name):
    with open(os.path.join(ROOT, "docs", "schema", name), encoding="utf-8") as f:
        return json.load(f)


def _camel(name):
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


class Types:
    """Collects the classes of one file. names: the class of a place that is referred to."""

    def __init__(self, file, names):
        self.file, self.names, self.classes = file, names, []

    def of(self, schema, name):
        """Returns the type of a value as text. name: of the class to make, if the value is an object."""
        if "$ref" in schema:
            file, _, place = schema["$ref"].partition("#")
            known = self.names.get((file or self.file, place.rsplit("/", 1)[-1]))
            return f'"{known}"' if known else "Any"  # the rest is as in a configuration
        for key in ("anyOf", "oneOf"):
            if key in schema and schema.get("type", "object") == "object":
                many = len(schema[key]) > 1
                return self._any([self.of(part, f"{name}{i + 1}" if many else name)
                                  for i, part in enumerate(schema[key])])
        if "const" in schema or "enum" in schema:
            words = schema.get("enum", [schema.get("const")])
            return f"Literal[{', '.join(repr(word) for word in words)}]".replace("'", '"')
        kinds = schema.get("type", [])
        return self._any([self._plain(kind, schema, name)
                          for kind in ([kinds] if isinstance(kinds, str) else kinds)]) or "Any"

    @staticmethod
    def _any(types):
        types = list(dict.fromkeys(types))
        return types[0] if len(types) == 1 else f"Union[{', '.join(types)}]" if types else ""

    def _plain(self, kind, schema, name):
        if kind == "array":
            return f"list[{self.of(schema.get('items', {}), name)}]"
        if kind != "object":
            return _SIMPLE[kind]
        if "properties" in schema:
            self.add(name, schema)
            return f'"{name}"'
        more = schema.get("additionalProperties")
        return f"dict[str, {self.of(more, name) if isinstance(more, dict) else 'Any'}]"

    def add(self, name, schema):
        """Adds the class of an object."""
        rows = []
        for key, part in schema["properties"].items():
            kind = self.of(part, name + _camel(key))
            rows.append((key, kind if key in schema.get("required", []) else f"NotRequired[{kind}]",
                         part.get("description", "")))
        made = _mapping(name, rows) if any(keyword.iskeyword(key) for key, _, _ in rows) else \
            _class(name, schema.get("description", ""), rows)
        if made not in self.classes:
            self.classes.append(made)

    def text(self, imports):
        return _HEAD + imports + "\n\n" + "\n\n\n".join(self.classes) + "\n"


def _rows(rows, form):
    for key, kind, help_ in rows:
        line, note = form.format(key, kind), f"  # {help_}" if help_ else ""
        if len(line + note) <= _WIDTH:
            yield line + note
        else:
            yield from ([f"    # {help_}"] if help_ else []) + [line]


def _class(name, help_, rows):
    said = [f'    """{help_[:1].upper()}{help_[1:]}."""', ""] if help_ else []
    return "\n".join([f"class {name}(TypedDict):", *said, *(_rows(rows, "    {}: {}") if rows else ["    pass"])])


def _mapping(name, rows):
    """Returns the text of a class with a member whose name is a keyword of Python."""
    return "\n".join([f'{name} = TypedDict("{name}", {{', *_rows(rows, '    "{}": {},'), "})"])


def _names():
    """Returns the class of each place that schemas refer to."""
    names = {("request.json", "rule"): "Rule", ("qos.json", "window"): "Window", ("qos.json", "e2e"): "WindowE2e",
             ("qos.json", "flags"): "WindowFlags", ("event.json", "event"): "LoggedEvent"}
    for verb in _load("request.json")["$defs"]:
        names.setdefault(("request.json", verb), _camel(verb) + "Fields")
    for part in _load("reply.json")["$defs"]:
        names[("reply.json", part)] = _camel(part) + "Reply"
    return names


def replies():
    """Returns the text of replies.py."""
    names = _names()
    made = {}
    for name in ("qos.json", "event.json", "request.json", "reply.json"):
        types, schema = Types(name, names), _load(name)
        for part, content in schema["$defs"].items():
            if name == "request.json" and part != "rule":
                continue
            own = names[(name, part)]
            if "properties" in content:
                types.add(own, content)
            else:
                types.classes.append(f"{own} = {types.of(content, own)}")
        made[name] = types.classes
    for own, name, member in _PUBLISHED:
        types, schema = Types(name + ".json", names), _load(name + ".json")
        types.of(schema["properties"][member], own)
        made[own] = types.classes
    whole = Types("", names)
    whole.classes = [text for classes in made.values() for text in classes]
    doc = '"""The `ok` of each reply, and what is published."""\n\n'
    return whole.text(doc + "from typing import Any, Literal, NotRequired, TypedDict, Union\n")


def _method(verb, description, names, replied):
    fields = names[("request.json", verb)]
    known = [names[("reply.json", part)] for part in (verb, "nodes_" + verb) if part in replied]
    result = known[0] if len(known) == 1 else f"Union[{', '.join(known)}]"
    said = f'        """{description[:1].upper()}{description[1:]}."""'
    return "\n".join([f"    def {verb}(self, **fields: Unpack[{fields}]) -> {result}:", said,
                      f'        return self.call("{verb}", **fields)'])


def requests():
    """Returns the text of requests.py."""
    names, schema, replied = _names(), _load("request.json"), _load("reply.json")["$defs"]
    verbs = [verb for verb in schema["$defs"]["item"]["properties"] if verb != "id"]
    types = Types("request.json", names)
    for verb in verbs:
        types.add(names[("request.json", verb)], schema["$defs"][verb])
    # Programs whose replies differ have their pages under one key.
    rows = {verb: reply.get("anyOf", [reply])[0].get("properties", {}) for verb, reply in replied.items()}
    paged = {verb: next(key for key, part in rows[verb].items() if part.get("type") == "array")
             for verb in verbs if "offset" in schema["$defs"][verb]["properties"]}
    types.classes.append("# The member of each reply that comes in pages.\nPAGED = {\n" + "".join(
        f'    "{verb}": "{key}",\n' for verb, key in paged.items()) + "}")
    methods = [_method(verb, schema["$defs"][verb].get("description", ""), names, replied) for verb in verbs]
    types.classes.append("\n".join([
        "class Verbs:", '    """A method for each verb, with the fields of its request."""', "",
        "    def call(self, verb: str, **fields: Any) -> Any:",
        '        """Sends one request and returns the `ok` of its reply."""',
        "        raise NotImplementedError", "", "\n\n".join(methods)]))
    used = sorted(name for name in _names().values() if any(
        name in method.split("\n")[0].partition("->")[2] for method in methods))
    lines, line = [], "   "
    for name in used:
        if len(line) + len(name) + 2 > _WIDTH:
            lines, line = lines + [line], "   "
        line += f" {name},"
    doc = '"""The fields of each request."""\n\n'
    return types.text(doc + "from typing import Any, Literal, NotRequired, TypedDict, Union, Unpack\n\n" +
                      "from .replies import (\n" + "\n".join(lines + [line]) + "\n)\n")


def files():
    """Returns the text of each file by its name."""
    return {"replies.py": replies(), "requests.py": requests()}


if __name__ == "__main__":
    for file_name, content in files().items():
        with open(os.path.join(FOLDER, file_name), "w", encoding="utf-8") as out:
            out.write(content)
    sys.exit(0)
