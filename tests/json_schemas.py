# SPDX-License-Identifier: BSD-3-Clause
"""Validates JSON against docs/schema."""

import json
import os

from harness import ROOT, Skip

try:
    import jsonschema
except ImportError:
    jsonschema = None

FOLDER = os.path.join(ROOT, "docs", "schema")
_BASE = f"file://{FOLDER}/"
# A controller gathers the answers of its nodes to these.
_GATHERED = {"int_get", "ports_get", "drops_get", "stats_get", "audit", "explain", "label_set"}
_BESIDE = {"id", "dry_run", "if_generation"}
_files = {}
_validators = {}


def files():
    """Returns each schema by the name of its file."""
    if not _files:
        for name in sorted(os.listdir(FOLDER)):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
                _files[name] = json.load(f)
    return _files


def _validator(place):
    if jsonschema is None:
        raise Skip("python3-jsonschema is not installed")
    if place not in _validators:
        schema = {"$ref": _BASE + place}
        store = {_BASE + name: content for name, content in files().items()}
        resolver = jsonschema.RefResolver(_BASE, schema, store=store)
        _validators[place] = jsonschema.Draft202012Validator(schema, resolver=resolver)
    return _validators[place]


def _innermost(error):
    while error.context:
        error = max(error.context, key=lambda inner: len(inner.absolute_path))
    return error


def complaint(place, value):
    """Returns what is wrong with a value by "file.json" or "file.json#/$defs/name", or None."""
    for error in _validator(place).iter_errors(value):
        error = _innermost(error)
        path = "/".join(str(part) for part in error.absolute_path)
        return f"{place}: {path or 'the value'}: {error.message[:300]}"
    return None


def is_metaschema_valid(schema):
    if jsonschema is None:
        raise Skip("python3-jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(schema)


def verb_of(request):
    """Returns the verb of a request that is no transaction, or None."""
    verbs = [key for key in request if key not in _BESIDE] if isinstance(request, dict) else []
    return verbs[0] if len(verbs) == 1 and verbs != ["transaction"] else None


def place_of_ok(verb, request, ok):
    """Returns the place of the schema of a reply's `ok`."""
    if request.get("dry_run"):
        return "reply.json#/$defs/dry_run"
    if verb in _GATHERED and "nodes" in ok:
        return f"reply.json#/$defs/nodes_{verb}"
    return f"reply.json#/$defs/{verb}"


def exchange_complaints(request, reply):
    """Yields what is wrong with a request that was taken, and with its reply."""
    yield complaint("reply.json", reply)
    if "ok" not in reply:
        return
    yield complaint("request.json", request)
    verb = verb_of(request)
    if verb:
        yield complaint(place_of_ok(verb, request, reply["ok"]), reply["ok"])


def publication_complaint(topic, message):
    """Returns what is wrong with a published message."""
    return complaint(topic.split(".")[0] + ".json", message)
