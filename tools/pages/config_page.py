# SPDX-License-Identifier: BSD-3-Clause
"""The manual page of a configuration: keys, types and bounds of its JSON Schema, defaults and meanings of
the tables of its document."""

import collections
import json
import os
import re

from pages import roff

Key = collections.namedtuple("Key", "path kind is_leaf")

_ROW = re.compile(r"(?<!\\)\|")


def load(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tables(text):
    """Returns {section: {key: (default, meaning)}} of a document's tables of keys."""
    found, section, columns = collections.defaultdict(dict), "", 0
    for line in text.splitlines():
        if line.startswith("#"):
            section = re.match(r"#+ ([\w-]*)", line).group(1)
        if not line.startswith("|"):
            columns = 0
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in _ROW.split(line)[1:-1]]
        if cells[0].startswith("key"):
            columns = len(cells)
        elif columns and not cells[0].startswith("---"):
            default = cells[1] if columns == 3 else ""
            for key in re.findall(r"`([^`]+)`", cells[0]):
                found[section][key] = (default, cells[-1])
    return found


def _bounds(schema):
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None and most is None:
        return ""
    return f" from {least}" if most is None else f" up to {most}" if least is None else f" from {least} to {most}"


def kind(schema):
    """Says in words what a value may be."""
    if "enum" in schema:
        return "one of " + ", ".join(f"`{word}`" for word in schema["enum"])
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return ", or ".join(kind(one) for one in schema[word])
    if "$ref" in schema:
        return "a request that changes something"
    names = {"integer": "an integer", "number": "a number", "string": "a text", "boolean": "`true` or `false`",
             "object": "an object", "array": "a list"}
    text = names[schema["type"]]
    if schema["type"] in ("integer", "number"):
        return text + _bounds(schema)
    if schema["type"] == "string" and "maxLength" in schema:
        return f"{text} of {schema.get('minLength', 0)} to {schema['maxLength']} bytes"
    if schema["type"] == "array":
        most = f", at most {schema['maxItems']}" if "maxItems" in schema else ""
        return f"{text}{most}; each is {kind(schema['items'])}" if "items" in schema else text + most
    return text


def keys(schema, path=""):
    """Yields each key of a schema, in its order, with the keys in it behind it."""
    for name, value in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        inner = here + "[]" if "items" in value else here
        within = list(_keys_within(value.get("items", value), inner))
        yield Key(here, kind(value), not within)
        yield from within


def _keys_within(schema, path):
    yield from keys(schema, path)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from keys(schema["additionalProperties"], path + ".NAME")


def meaning(path, documents):
    """Returns (default, meaning) of a key, or None. A document names a key in full, or by its last parts
    in a section that has the name of one of the first."""
    parts = path.split(".")
    names = [".".join(parts[i:]) for i in range(len(parts))]
    sections = ["Configuration", *(part.removesuffix("[]") for part in parts), "Cores", "Keys"]
    for document in documents:
        for section in sections:
            for name in names:
                found = document.get(section, {}).get(name)
                if found:
                    return found
    return None


def key_text(key, documents):
    default, text = meaning(key.path, documents) or ("", "")
    default = re.sub("^required$", "must be given", default)
    default = "" if default in ("", "–") else f"It {default}." if default.startswith("must be given") \
        else f"Default: {default}."
    said = f"{key.kind[0].upper()}{key.kind[1:]}." if key.kind[0] != "`" else f"{key.kind}."
    text = text if not text or text[-1] in ".:" else text + "."
    return roff.markdown(" ".join(part for part in (said, default, text[:1].upper() + text[1:]) if part))


def body(root, schema, documents):
    """Returns the section KEYS. It leaves out keys that only contain others."""
    with open(os.path.join(root, "docs", "schema", schema), encoding="utf-8") as file:
        content = json.load(file)
    found = [tables(load(os.path.join(root, "docs", name))) for name in documents]
    return [".SH KEYS", *(roff.item(roff.bold(key.path), key_text(key, found)) for key in keys(content)
                          if key.is_leaf or meaning(key.path, found))]
