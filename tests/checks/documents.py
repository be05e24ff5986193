# SPDX-License-Identifier: BSD-3-Clause
"""Compares documents with the code: keys of configurations, kinds of events, links."""

import glob
import json
import os
import re

import api_page
from harness import ROOT, check, equal, test

# The tables of keys in the sources: the section of the document that explains them, and the prefix
# of each key there. A new table needs a row here, and a section.
NODE_TABLES = {
    "fields": ("Cores", ""),
    "node_fields": ("node", "node."),
    "scheduling_fields": ("Cores", "worker_scheduling."),
    "memory_fields": ("memory", ""),
    "hs_config_profile_fields": ("profiles", ""),
    "port_fields": ("ports", ""),
    "export_fields": ("export", ""),
    "forwarding_fields": ("forwarding", ""),
    "telemetry_fields": ("telemetry", ""),
    "in_band_fields": ("telemetry", "in_band."),
    "written_fields": ("telemetry", ""),  # of each of the fields below
    "hs_partial_fields": ("telemetry", "fields."),
    "hs_config_control_fields": ("control", ""),
    "key_fields": ("control", "keys."),
    "state_fields": ("state", ""),
    "hs_scrape_fields": ("prometheus", "prometheus."),
}
CONTROLLER_TABLES = {
    "fields": ("Configuration", ""),
    "controller_fields": ("Configuration", "controller."),
    "control_fields": ("Configuration", "control."),
    "key_fields": ("Configuration", "control.keys."),
    "node_fields": ("Configuration", "nodes[]."),
    "path_fields": ("Configuration", "paths[]."),
    "hs_controller_label_fields": ("INT-label", "label."),
    "capture_fields": ("INT-label", "label.capture[]."),
    "pro_fields": ("INT-label", "label.pro."),
    "hs_probing_fields": ("Probes", "probing."),
    "probing_node_fields": ("Probes", "probing.nodes[]."),
    "probing_link_fields": ("Probes", "probing.links[]."),
    "reroute_fields": ("Routes around bad links", "probing.reroute."),
    "destination_fields": ("Routes around bad links", "probing.reroute.destinations[]."),
    "state_fields": ("Configuration", "state."),
    "hs_scrape_fields": ("Configuration", "prometheus."),
}
_SCRAPE = " lib/http/scrape_settings.c"  # what both have

COLLECTOR_TABLES = {
    "fields": ("Configuration", ""),
    "listen_fields": ("Configuration", "listen[]."),
    "port_fields": ("Configuration", "ports[]."),
    "accept_fields": ("Configuration", "accept."),
    "memory_fields": ("Configuration", "memory."),
    "event_fields": ("Configuration", "events."),
    "hs_collector_unit_fields": ("Configuration", "units[]."),
    "state_fields": ("Configuration", "state."),
    "prometheus_fields": ("Configuration", "prometheus."),
}

_TABLE = re.compile(r"struct hs_schema_field (\w+)\[\] = \{\n(.*?)\n\t*\};", re.DOTALL)
_ROW = re.compile(r'\{("?)(\w+)\1,\s*HS_SCHEMA_')


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def tables(patterns):
    """Yields (name of a table, its keys) for each table in the sources."""
    for path in sorted(path for pattern in patterns.split() for path in glob.glob(os.path.join(ROOT, pattern))):
        text = read(path)
        words = dict(re.findall(r'#define\s+(\w+)\s+"(\w+)"', text))
        for name, rows in _TABLE.findall(text):
            yield name, [key if quote else words[key] for quote, key in _ROW.findall(rows)]


def explained(text, section):
    """Returns the words in the first column of the tables of keys of one section."""
    found = re.search(rf"^##+ {re.escape(section)}\b[^\n]*\n(.*?)(?=^##+ |\Z)", text,
                      re.DOTALL | re.MULTILINE)
    check(found, "no section", section)
    words, keys = [], False
    for line in found.group(1).splitlines():
        if not line.startswith("|"):
            keys = False
        elif line.startswith("| key"):
            keys = True
        elif keys:
            words += re.findall(r"`([\w.\[\]]+)`", line.split("|")[1])
    return words


def compare(text, pattern, places, sections):
    """Each key of the sources is explained, and each explained key is in the sources. Keys that
    only contain others (a section of its own, or a prefix of others) need no explanation."""
    there = {section: set() for section, _ in places.values()}
    for name, keys in tables(pattern):
        check(name in places, "table", name, "has no place in", "tests/checks/documents.py")
        section, before = places[name]
        there[section] |= {before + key for key in keys}
    for section, keys in there.items():
        check(keys, "no key of", section, "was found in the sources")
        words = explained(text, section)
        holders = {key for key in keys if any(other.startswith((key + ".", key + "[]."))
                                              for other in keys)} | sections
        # A row may name several keys and give their prefix once: "`nodes[].name`, `id`".
        missing = {key for key in keys - holders
                   if key not in words and key.rsplit(".", 1)[-1] not in words}
        equal(sorted(missing), [], f"keys that section {section} does not explain")
        tails = {key.rsplit(".", 1)[-1] for key in keys}
        unknown = {word for word in words if word not in keys and word not in tails}
        equal(sorted(unknown), [], f"keys that section {section} explains and nobody reads")


@test()
def each_key_of_a_nodes_configuration_is_explained():
    compare(read("docs", "configuration.md"), "*/*/config*.c" + _SCRAPE, NODE_TABLES,
            {"node", "memory", "profiles", "ports", "export", "forwarding", "telemetry", "control", "state",
             "requests", "influx", "prometheus"})


@test()
def each_key_of_a_database_is_explained():
    """Nodes, controllers and collectors have these rows in common."""
    with open(os.path.join(ROOT, "docs", "schema", "node.json"), encoding="utf-8") as f:
        keys = json.load(f)["properties"]["influx"]["items"]["properties"]
    for page, section in (("configuration.md", "influx"), ("influx.md", "Keys")):
        equal(sorted(explained(read("docs", page), section)), sorted(keys), f"keys of a database in {page}")


@test()
def each_key_of_a_controllers_configuration_is_explained():
    compare(read("docs", "controller.md"),
            "src/controller/controller_config.c src/controller/controller_label_config.c "
            "src/controller/controller_probing_config.c" + _SCRAPE, CONTROLLER_TABLES,
            {"controller", "control", "nodes", "paths", "prometheus", "label.capture", "probing.nodes", "probing.links",
             "probing.reroute", "probing.reroute.destinations"})


@test()
def each_key_of_a_collectors_configuration_is_explained():
    compare(read("docs", "collector.md"), "src/collector/collector_config.c src/collector/collector_units.c", COLLECTOR_TABLES,
            {"listen", "ports", "accept", "memory", "events", "units", "control", "state", "influx", "prometheus"})


@test()
def a_key_that_is_not_explained_is_found():
    text = read("docs", "configuration.md")
    line = next(line for line in text.splitlines() if line.startswith("| `monitored_rules`"))
    for broken in (text.replace(line + "\n", ""), text.replace("| `mbufs`", "| `buffers`")):
        try:
            each = {"node", "ports", "forwarding", "telemetry", "control", "state", "requests",
                    "memory", "profiles", "export", "influx", "prometheus"}
            compare(broken, "*/*/config*.c" + _SCRAPE, NODE_TABLES, each)
        except AssertionError as error:
            check("memory" in str(error), error)
        else:
            check(False, "a document without a key was taken")


@test()
def each_key_of_a_scenario_is_named_where_scenarios_are_explained():
    text = read("docs", "lab.md")
    keys = {key for _, rows in tables("src/lab/scenario/scenario*.c") for key in rows}
    check(len(keys) > 50, "too few keys were found")
    equal(sorted(k for k in keys if not re.search(rf'`(?:[\w.]*\.)?{k}`|"{k}"', text)), [],
          "keys that docs/lab.md does not name")


def _events(pattern, call):
    kinds = set()
    for path in glob.glob(os.path.join(ROOT, pattern)):
        kinds |= set(re.findall(call, read(path)))
    return kinds


@test()
def each_kind_of_event_is_explained():
    for folder, name, document in (("src/control", "hs_control_event", "operating.md"),
                                   ("src/controller", "hs_controller_event", "controller.md"),
                                   ("src/collector", "hs_collector_event", "collector.md")):
        kinds = _events(folder + "/*.c", rf'\b{name}\([^;"]*?"(\w+)"')
        check(kinds, "no events in", folder)
        text = read("docs", document)
        equal(sorted(k for k in kinds if f"`{k}`" not in text), [], f"kinds not in {document}")


@test()
def each_verb_has_an_example():
    with open(os.path.join(ROOT, "docs", "schema", "request.json"), encoding="utf-8") as f:
        verbs = set(json.load(f)["$defs"]["item"]["properties"]) - {"id"}
    shown = api_page.examples(api_page.read())
    equal(sorted(verbs - {verb for _, verb in shown}), [], "verbs of docs/api.md without an example")
    for (program, verb), (request, reply) in shown.items():
        check(verb in request and "ok" in reply, program, verb, "the example is of another verb, or of an error")


@test()
def a_reply_that_differs_from_the_page_is_found():
    text = api_page.with_examples(api_page.read(), {("node", "audit"): ({"audit": {}}, {
        "ok": {"ok": True, "all": [{"n": 1, "of": "a"}, {"n": 2, "of": "b"}, {"n": 3, "of": "c"}]}, "generation": 4})})
    page = api_page.examples(text)["node", "audit"][1]
    equal(page["ok"]["all"][-1], api_page.MORE, "the end of a list")

    def said(**members):
        reply = {"ok": {"ok": True, "all": [{"n": 9, "of": "x"}], **members}, "generation": 5}
        return api_page.difference(page, reply, lambda path: "value") or ""

    equal(said(), "", "other values")
    for wrong, place in (({"more": 1}, ".ok: "), ({"all": []}, ".ok.all: "), ({"ok": 1}, ".ok.ok: "),
                         ({"all": [{"n": "9", "of": "x"}]}, ".ok.all[].n: "), ({"all": [{"n": 1}]}, ".ok.all[]: ")):
        check(said(**wrong).startswith(place), wrong, said(**wrong))
    check(".generation" in (api_page.difference(page, {**page, "generation": 5}, lambda path: "") or ""), "a value")


def _anchors(text):
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@test()
def each_link_of_the_documents_leads_somewhere():
    problems = []
    paths = [p for pattern in ("*.md", "docs/*.md", "docs/*/*.md")
             for p in sorted(glob.glob(os.path.join(ROOT, pattern)))]
    check(len(paths) > 10, "too few documents")
    for path in paths:
        for target in re.findall(r"\]\(([^)\s]+)\)", read(path)):
            if re.match(r"\w+:", target):
                continue
            file, _, anchor = target.partition("#")
            to = os.path.join(os.path.dirname(path), file) if file else path
            if not os.path.exists(to):
                problems.append(f"{os.path.relpath(path, ROOT)}: {target}")
            elif anchor and to.endswith(".md") and anchor not in _anchors(read(to)):
                problems.append(f"{os.path.relpath(path, ROOT)}: {target}: no such heading")
    equal(problems, [], "links")
