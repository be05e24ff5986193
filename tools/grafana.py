#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a Grafana dashboard of the metrics that a program serves.

    grafana.py NAME PAGE... [-o FILE]

NAME is the program's. PAGE is the text of its /metrics, a file or an http:// address; of several pages, the families
are put together. The first row has the panels of the table below whose metrics are there; the other rows have a panel
for each family of the pages, so that no metric is missing.
"""

import argparse
import json
import re
import sys
import urllib.request

# Rows: the beginning of names as a regular expression, and the title. The first row that fits gets the family.
ROWS = (
    ("hopsight_port_drops|hopsight_port_events", "Drops and events"),
    ("hopsight_port_", "Ports"),
    ("hopsight_path_", "Paths, end to end"),
    ("hopsight_hop_", "Hops"),
    ("hopsight_rule_", "Rules"),
    ("hopsight_clock_", "Clock"),
    ("hopsight_worker_", "Workers"),
    ("hopsight_controller_node_", "Nodes"),
    ("hopsight_controller_label_", "INT-label"),
    ("hopsight_controller_probe", "Probes"),
    ("hopsight_controller_reroute_", "Routes around bad links"),
    ("hopsight_controller_", "Controller"),
    ("hopsight_collector_exporter_", "Exporters"),
    ("hopsight_collector_(hop|link|queue|node|flow)_", "Network, as reported"),
    ("hopsight_collector_", "Collector"),
    ("hopsight_influx_", "InfluxDB"),
    ("hopsight_http_", "HTTP server"),
    ("process_", "Process"),
    ("", "Program"),
)
# The first row: title, unit of Grafana, query, legend. R stands for the span of a rate, I for the chosen instances.
FIRST = (
    ("Up", "short", "up{I}", "{{instance}}"),
    ("Received", "Bps", "rate(hopsight_port_rx_bytes_total{I}[R])", "{{instance}} {{port}}"),
    ("Sent", "Bps", "rate(hopsight_port_tx_bytes_total{I}[R])", "{{instance}} {{port}}"),
    ("Dropped by reason", "pps", "sum by (instance, reason) (rate(hopsight_port_drops_total{I}[R])) > 0",
     "{{instance}} {{reason}}"),
    ("Delay end to end, 99th percentile", "s",
     "histogram_quantile(0.99, sum by (instance, ns_id, le) (rate(hopsight_path_delay_seconds_bucket{I}[R])))",
     "{{instance}} rule {{ns_id}}"),
    ("Loss end to end", "percentunit", "hopsight_path_loss_ratio{I}", "{{instance}} rule {{ns_id}}"),
    ("Throughput end to end", "Bps", "hopsight_path_throughput_bytes_per_second{I}", "{{instance}} rule {{ns_id}}"),
    ("Reports lost", "short", "rate(hopsight_reports_lost_total{I}[R])", "{{instance}}"),
    ("Clock error", "s", "hopsight_clock_error_seconds{I}", "{{instance}}"),
    ("Nodes that answer", "short", "hopsight_controller_node_reachable{I}", "{{node}}"),
    ("Rules that are missing", "short", "hopsight_controller_node_rules_missing{I}", "{{node}}"),
    ("Ports with INT-label that were seen", "percentunit",
     "hopsight_controller_label_ports_seen{I} / (hopsight_controller_label_ports_active{I} > 0)", "{{instance}}"),
    ("Nodes that answer probes", "short", "hopsight_controller_probe_nodes_covered{I}", "{{instance}}"),
    ("Links that lose probes", "short",
     "hopsight_controller_probe_links_unavailable{I} + hopsight_controller_probe_links_congested{I}", "{{instance}}"),
    ("Links that routes avoid", "short", "hopsight_controller_reroute_links_avoided{I}", "{{instance}}"),
    ("Reports read", "cps", "rate(hopsight_collector_reports_read_total{I}[R])", "{{instance}}"),
    ("Datagrams missing", "short", "hopsight_collector_exporter_missing{I}", "{{exporter}} {{node_id}} {{hw_id}}"),
    ("Latency of nodes", "s", "hopsight_collector_hop_latency_seconds{I}", "node {{node_id}}"),
    ("Utilisation of links", "percentunit", "hopsight_collector_link_utilisation_ratio{I}",
     "node {{node_id}} port {{port}}"),
    ("Refused", "cps", "rate(hopsight_collector_refused_total{I}[R]) > 0", "{{instance}} {{reason}}"),
    ("Processor time", "percentunit", "rate(process_cpu_seconds_total{I}[R])", "{{instance}}"),
)
UNITS = {"seconds": "s", "bytes": "bytes", "ratio": "percentunit", "second": "Bps"}
INSTANCES = 'job=~"$job",instance=~"$instance"'
SUFFIXES = re.compile(r"_(bucket|sum|count)$")


def families(pages):
    """Returns {name: (type, help, labels)} of the text format."""
    found, kinds, helps = {}, {}, {}
    for line in "".join(pages).splitlines():
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            {"TYPE": kinds, "HELP": helps}[word][name] = rest
            continue
        name = re.match(r"\w+", line).group()
        name = name if name in kinds else SUFFIXES.sub("", name)
        labels = found.setdefault(name, [])
        for label in re.findall(r'[{,](\w+)="', line):
            if label not in labels and label not in ("le", "quantile"):
                labels.append(label)
    return {name: (kinds[name], helps[name], labels) for name, labels in found.items()}


def unit_of(name, kind):
    word = name.removesuffix("_total").rsplit("_", 1)[-1]
    unit = UNITS.get(word, "short")
    if "timestamp" in name or "start_time" in name:
        return "dateTimeAsIso"
    if kind == "counter":
        return {"bytes": "Bps", "s": "percentunit"}.get(unit, "cps")
    return unit


def legend_of(labels, more=()):
    return " ".join(["{{instance}}", *(f"{label} {{{{{label}}}}}" for label in (*labels, *more))])


def targets_of(name, kind, labels):
    if kind == "counter":
        return [(f"rate({name}{{I}}[R])", legend_of(labels))]
    if kind == "summary":
        return [(f"{name}{{I}}", legend_of(labels, ["quantile"]))]
    if kind == "histogram":
        by = ", ".join(["instance", *labels, "le"])
        return [(f"histogram_quantile({q}, sum by ({by}) (rate({name}_bucket{{I}}[R])))", legend_of(labels) + f" {q}")
                for q in (0.5, 0.99)]
    return [(f"{name}{{I}}", legend_of(labels))]


def query(text):
    text = text.replace("[R]", "[$__rate_interval]")
    return text.replace("{I}", "{" + INSTANCES + "}")


def panel(number, place, title, help_text, unit, targets):
    return {
        "id": number, "type": "timeseries", "title": title, "description": help_text,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": {"h": 8, "w": 8, "x": place % 3 * 8, "y": place // 3 * 8},
        "fieldConfig": {"defaults": {"unit": unit, "custom": {"showPoints": "never"}}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [{"refId": chr(65 + i), "expr": query(text), "legendFormat": legend}
                    for i, (text, legend) in enumerate(targets)],
    }


def row_of(name):
    return next(title for start, title in ROWS if re.match(start, name))


def names_in(text):
    """Returns the metrics that a query names."""
    return {SUFFIXES.sub("", name) for name in re.findall(r"\b(?:hopsight|process)_\w+", text)}


def variable(name, query_text):
    return {"name": name, "type": "query", "datasource": {"type": "prometheus", "uid": "${datasource}"},
            "query": query_text, "refresh": 2, "multi": True, "includeAll": True, "allValue": ".*",
            "current": {"text": "All", "value": "$__all"}}


def variables(program):
    info = f'hopsight_build_info{{program="{program}"}}'
    return {"list": [
        {"name": "datasource", "type": "datasource", "query": "prometheus", "current": {}},
        variable("job", f"label_values({info}, job)"),
        variable("instance", f'label_values(hopsight_build_info{{program="{program}",job=~"$job"}}, instance)'),
    ]}


def panels_of(found):
    """Returns the panels in rows. The first row is open, the others are folded."""
    panels, rows, number = [], {}, 0
    for title, unit, text, legend in FIRST:
        if names_in(text) <= set(found):
            number += 1
            panels.append(panel(number, number - 1, title, "", unit, [(text, legend)]))
    for name, (kind, help_text, labels) in sorted(found.items()):
        if not name.endswith("_info"):
            rows.setdefault(row_of(name), []).append((name, kind, help_text, labels))
    for at, title in enumerate(title for _, title in ROWS if title in rows):
        inside = []
        for place, (name, kind, help_text, labels) in enumerate(rows[title]):
            number += 1
            inside.append(panel(number, place, name, help_text, unit_of(name, kind), targets_of(name, kind, labels)))
        number += 1
        panels.append({"id": number, "type": "row", "title": title, "collapsed": True, "panels": inside,
                       "gridPos": {"h": 1, "w": 24, "x": 0, "y": 100 + at}})
    return panels


def dashboard(program, found):
    return {
        "title": program, "uid": program, "tags": ["hopsight"], "schemaVersion": 37, "version": 1, "editable": True,
        "refresh": "10s", "time": {"from": "now-30m", "to": "now"}, "templating": variables(program),
        "panels": panels_of(found),
    }


def queries(board):
    """Yields every query of a dashboard."""
    for item in board["panels"]:
        for one in item.get("panels", [item]):
            yield from (target["expr"] for target in one["targets"])


def text_of(board):
    return json.dumps(board, indent=1) + "\n"


def _read(page):
    if page.startswith(("http://", "https://")):
        with urllib.request.urlopen(page, timeout=10) as answer:
            return answer.read().decode()
    with open(page, encoding="utf-8") as f:
        return f.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="the program: hopsightd, hopsight-controller, hopsight-collector")
    parser.add_argument("page", nargs="+", help="a file or an address with its metrics")
    parser.add_argument("-o", "--output", help="the file to write; without it, standard output")
    arguments = parser.parse_args()
    text = text_of(dashboard(arguments.name, families([_read(page) for page in arguments.page])))
    if not arguments.output:
        sys.stdout.write(text)
        return
    with open(arguments.output, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
