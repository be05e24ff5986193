# SPDX-License-Identifier: BSD-3-Clause
"""Compares docs/schema with the examples, and with what the programs refuse and answer."""

import glob
import json
import os
import re
import sys

import json_schemas
from harness import ROOT, check, equal, test

sys.path.append(os.path.join(ROOT, "tools"))
import python_client  # noqa: E402
import replies  # noqa: E402

# By the name of its file, of what an example is.
CONTROLLERS = {"controller.json", "pair.json"}
COLLECTORS = {"collector.json", "collector-ports.json"}
# What a table refuses by itself; everything else needs more than the value.
BY_TABLE = {"wrong_type", "unknown_field", "missing_field", "out_of_range", "bad_value"}


def load(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return json.load(f)


def cases(kind, name):
    """Yields (case, value, what the program says) of each golden case whose input is JSON."""
    for folder in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", kind, "*", ""))):
        try:
            value = load(folder, name)
        except (ValueError, FileNotFoundError):
            continue
        yield os.path.basename(folder[:-1]), value, load(folder, "expected.json")


@test()
def each_schema_is_a_json_schema():
    schemas = json_schemas.files()
    check(len(schemas) >= 8, "too few schemas")
    for name, schema in schemas.items():
        json_schemas.is_metaschema_valid(schema)
        check("draft/2020-12" in schema["$schema"], name)


@test()
def each_example_is_what_its_schema_allows():
    paths = glob.glob(os.path.join(ROOT, "config", "*.json"))
    places = {path: "controller.json" if os.path.basename(path) in CONTROLLERS
              else "collector.json" if os.path.basename(path) in COLLECTORS else "node.json"
              for path in paths}
    places.update({path: "scenario.json"
                   for path in glob.glob(os.path.join(ROOT, "config", "lab", "*.json"))})
    check(len(places) > 50, "too few examples")
    found = {os.path.relpath(path, ROOT): json_schemas.complaint(place, load(path))
             for path, place in places.items()}
    equal({path: said for path, said in found.items() if said}, {}, "examples")


def _refused(kind, place, keys):
    """Of the cases that a table refuses for one of the keys: all, and those that the schema lets
    pass."""
    wrong, passed = [], []
    for case, value, expected in cases(kind, "config.json" if kind != "scenario" else
                                       "scenario.json"):
        key = expected["path"].split(".")[0].split("[")[0]
        if expected["code"] not in keys or ".request" in expected["path"] or key == "requests":
            continue
        wrong.append(case)
        if not json_schemas.complaint(place, value):
            passed.append(case)
    return wrong, passed


@test()
def schemas_refuse_unknown_keys_and_wrong_types():
    for kind, place in (("config", "node.json"), ("controller", "controller.json"),
                        ("collector", "collector.json"), ("scenario", "scenario.json")):
        wrong, passed = _refused(kind, place, {"wrong_type", "unknown_field"})
        check(len(wrong) >= 8, kind, "has too few such cases")
        allowed = {
            # Parameters of an event depend on what it happens to.
            "event-with-an-unknown-parameter-is-refused", "clock-of-a-link-that-is-set-is-refused",
            "event-of-traffic-with-another-parameter-is-refused"}
        equal(sorted(set(passed) - allowed), [], f"of {kind}, the schema lets pass")


@test()
def schemas_refuse_most_of_what_tables_refuse():
    for kind, place in (("config", "node.json"), ("controller", "controller.json"),
                        ("collector", "collector.json"), ("scenario", "scenario.json")):
        wrong, passed = _refused(kind, place, BY_TABLE)
        check(len(passed) < len(wrong) / 2, kind, len(wrong), "refused,", passed)


@test()
def requests_and_replies_of_the_golden_cases_are_what_the_schemas_say():
    taken, refused, passed = 0, 0, []
    for case, request, reply in cases("api", "input"):
        # The backend of these cases is not a node: its answers to questions are its own.
        equal(json_schemas.complaint("reply.json", reply), None, case)
        if "ok" in reply:
            equal(json_schemas.complaint("request.json", request), None, case)
        taken += "ok" in reply
        code = reply.get("error", {}).get("code")
        if code in {"unknown_field", "wrong_type", "unknown_verb", "bad_envelope"}:
            refused += 1
            if not json_schemas.complaint("request.json", request):
                passed.append(case)
    check(taken > 10 and refused >= 20, taken, refused)
    # Fields of qos_get that do not go together.
    equal(passed, ["a_window_has_one_length", "an_application_beside_a_rule_is_refused"],
          "refused by a node, and let pass by the schema")


def _members(schema):
    """Yields (member, its schema) at any depth."""
    if isinstance(schema, list):
        for part in schema:
            yield from _members(part)
    elif isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties.items() if isinstance(properties, dict) else ()
        for key, part in schema.items():
            yield from _members(list(part.values()) if key in {"properties", "$defs"} else part)


@test()
def each_member_of_replies_and_publications_is_explained():
    """Replies and events by the schema itself, the others also by a document."""
    documents = ""
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
        if path == replies.PAGE:
            continue
        with open(path, encoding="utf-8") as f:
            documents += f.read()
    members = [(name, member, part) for name in ("reply", "report", "qos", "event", "hop")
               for member, part in _members(json_schemas.files()[name + ".json"])]
    check(len(members) > 150, "too few members")
    silent = sorted({f"{name}.json: {member}" for name, member, part in members
                     if "description" not in part
                     and (name in ("reply", "event") or not re.search(rf'[`"\.]{member}[`"\.\[]', documents))})
    equal(silent, [], "members that nothing explains")


_MAKES_EVENT = re.compile(
    r'_event\([^;]*?"\w+",\s*json_pack\(\s*"\{s:[^"]*",([^;]*?)\),\s*"')


def _details():
    """Yields the members that events get where they are made: json_pack("{s:I}", "packets", ...)."""
    for pattern in ("src/*/*.c", "src/*/*/*.c", "lib/*/*.c"):
        for path in glob.glob(os.path.join(ROOT, pattern)):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            for call in _MAKES_EVENT.findall(text):
                yield from re.findall(r'"(\w+)"', call)


@test()
def each_member_of_an_event_that_the_programs_make_is_in_its_schema():
    known = json_schemas.files()["event.json"]["$defs"]["event"]["properties"]
    made = set(_details())
    check(len(made) > 15, made)
    equal(sorted(made - set(known)), [], "members that lib/api/event_log.c does not list")


@test()
def the_page_of_replies_is_what_the_schemas_say():
    with open(replies.PAGE, encoding="utf-8") as f:
        check(f.read() == replies.page(), "docs/replies.md is old: run python3 tools/replies.py")


@test()
def the_types_of_the_python_client_are_what_the_schemas_say():
    for name, text in python_client.files().items():
        with open(os.path.join(python_client.FOLDER, name), encoding="utf-8") as f:
            check(f.read() == text, f"python/hopsight/{name} is old: run python3 tools/python_client.py")


@test()
def a_planted_error_is_found():
    report = {"int_report": {"ns_id": 7, "app_id": 1, "trace_type": "0x7000E000", "e2e": {},
                             "sink": {"node_id": 9, "ts_ns": 1, "rx_packets": 1, "rx_bytes": 1},
                             "hops": []}}
    equal(json_schemas.publication_complaint("report.7", report), None)
    report["int_report"]["sink"]["colour"] = "red"
    check("colour" in (json_schemas.publication_complaint("report.7", report) or ""), "report")
    reply = {"ok": {"ns_id": "7"}, "generation": 1}
    said = [x for x in json_schemas.exchange_complaints({"int_delete": {"ns_id": 7}}, reply) if x]
    check(said and "ns_id" in said[0], said)
