# SPDX-License-Identifier: BSD-3-Clause
"""Each alert rule of docs/grafana/rules.yml is raised by series that mean what its name says, and not by
series of a sound machine. test_prometheus.py compares the names in the rules with real pages."""

import collections
import json
import os
import re

from harness import ROOT
from lib import check, equal, main, need, test
from workspace import run

RULES = os.path.join(ROOT, "docs", "grafana", "rules.yml")

# Series in promtool's notation: `0+60x90` begins at 0 and grows by 60 a minute.
# bad: series by which the rule is raised after `minutes`. good: values in their place, by which it is not.
# labels: those of the alert beside instance and job.
Case = collections.namedtuple("Case", "bad good labels severity minutes")


def case(bad, good, labels="", severity="warning", minutes=25):
    return Case(bad, good, dict(re.findall(r"(\w+)=(\S+)", labels)), severity, minutes)


PORT = "port=west"
STEADY = "5+0x2000"
GROWING = "0+60x2000"

CASES = {
    "HopsightDown": case({"up": "0x90"}, {"up": "1x90"}, severity="critical"),
    "HopsightRestarted": case({"process_start_time_seconds": "100+200x90"}, {"process_start_time_seconds": STEADY}),
    "HopsightPortDown": case({"hopsight_port_link_up": "0x90", "hopsight_port_usable": "1x90"},
                             {"hopsight_port_link_up": "1x90", "hopsight_port_usable": "1x90"}, PORT, "critical"),
    # 20 packets a second; 5 packets a second.
    "HopsightDrops": case({"hopsight_port_drops_total": "0+1200x90"}, {"hopsight_port_drops_total": "0+300x90"},
                          PORT + " reason=no_route"),
    "HopsightRxMissed": case({"hopsight_port_rx_missed_total": GROWING}, {"hopsight_port_rx_missed_total": STEADY}, PORT),
    "HopsightRxErrors": case({"hopsight_port_rx_errors_total": GROWING}, {"hopsight_port_rx_errors_total": STEADY}, PORT),
    "HopsightNoRoom": case({"hopsight_rule_no_room_mtu_total": GROWING}, {"hopsight_rule_no_room_mtu_total": STEADY},
                           "ns_id=7"),
    "HopsightClockNotSynchronised": case({"hopsight_clock_synchronised": "0x90"}, {"hopsight_clock_synchronised": "1x90"}),
    "HopsightClockStepped": case({"hopsight_clock_steps_total": "0x20 1x10"}, {"hopsight_clock_steps_total": STEADY}),
    "HopsightReportsLost": case({"hopsight_reports_lost_total": GROWING}, {"hopsight_reports_lost_total": STEADY}),
    "HopsightExportsLost": case(
        {f"hopsight_exports_lost_{reason}_total": GROWING if reason == "socket" else STEADY for reason in (
            "no_mbuf", "port_down", "refused", "ring_full", "socket", "tx_full", "unreachable")},
        {f"hopsight_exports_lost_{reason}_total": STEADY for reason in (
            "no_mbuf", "port_down", "refused", "ring_full", "socket", "tx_full", "unreachable")}),
    "HopsightInfluxLinesLost": case(
        {"hopsight_influx_lines_queue_full_total": GROWING, "hopsight_influx_lines_refused_total": STEADY},
        {"hopsight_influx_lines_queue_full_total": STEADY, "hopsight_influx_lines_refused_total": STEADY}),
    "HopsightRulesUnmonitored": case({"hopsight_rules_unmonitored": "3x90"}, {"hopsight_rules_unmonitored": "0x90"}),
    "HopsightRulesNearlyFull": case({"hopsight_rules": "950x90", "hopsight_rules_capacity": "1000x90"},
                                    {"hopsight_rules": "850x90", "hopsight_rules_capacity": "1000x90"}),
    "HopsightPathLoss": case({"hopsight_path_loss_ratio": "0.02x90"}, {"hopsight_path_loss_ratio": "0.005x90"},
                             "ns_id=7 window=10s"),
    "HopsightStateErrors": case({"hopsight_state_errors_total": "0x20 1x10"}, {"hopsight_state_errors_total": STEADY},
                                severity="critical"),
    "HopsightDescriptorsNearlyUsed": case({"process_open_fds": "900x90", "process_max_fds": "1024x90"},
                                          {"process_open_fds": "700x90", "process_max_fds": "1024x90"}),
    # A MiB a minute; a MiB an hour.
    "HopsightMemoryGrows": case({"process_resident_memory_bytes": "100000000+1048576x2000"},
                                {"process_resident_memory_bytes": "100000000+17476x2000"}, minutes=1600),
    "HopsightStrangers": case({"hopsight_handshakes_failed_total": GROWING}, {"hopsight_handshakes_failed_total": "0+0x20 3x40"}),
    "HopsightSeriesCapped": case({"hopsight_series_capped_total": GROWING}, {"hopsight_series_capped_total": STEADY}),
    "HopsightReportsMissing": case({"hopsight_collector_reports_missing": GROWING},
                                   {"hopsight_collector_reports_missing": STEADY}),
    "HopsightReportsRefused": case({"hopsight_collector_refused_total": GROWING},
                                   {"hopsight_collector_refused_total": STEADY}, "reason=version"),
    "HopsightNodeUnreachable": case({"hopsight_controller_node_reachable": "0x90"},
                                    {"hopsight_controller_node_reachable": "1x90"}, "node=sw1", "critical"),
    "HopsightRulesNotInPlace": case(
        {f"hopsight_controller_node_rules_{state}": value for state, value in (
            ("missing", "0x90"), ("refused", "2x90"), ("conflicting", "0x90"))},
        {f"hopsight_controller_node_rules_{state}": "0x90" for state in ("missing", "refused", "conflicting")}, "node=sw1"),
}


def name_with(name, labels):
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


def promtool_test(alert, one, values, is_raised):
    labels = {"job": "hopsight", "instance": "192.0.2.1:9463", **one.labels}
    raised = {"alertname": alert, "alertstate": "firing", "severity": one.severity, **labels}
    return {"name": f"{alert} {'bad' if is_raised else 'good'}", "interval": "1m",
            "input_series": [{"series": name_with(name, labels), "values": series} for name, series in values.items()],
            "promql_expr_test": [{"expr": f'ALERTS{{alertname="{alert}",alertstate="firing"}}',
                                  "eval_time": f"{one.minutes}m",
                                  "exp_samples": [{"labels": name_with("ALERTS", raised), "value": 1}] if is_raised else []}]}


@test()
def each_alert_is_raised_by_what_it_is_for_and_by_nothing_else(workspace):
    need("promtool")
    with open(RULES, encoding="utf-8") as file:
        alerts = re.findall(r"^ *- alert: (\w+)$", file.read(), re.M)
    check(len(alerts) >= 10, alerts)
    equal(sorted(CASES), sorted(alerts), "alerts with a case, and alerts")
    run("promtool", "check", "rules", RULES)
    for minutes in {one.minutes for one in CASES.values()}:
        path = workspace.path(f"test{minutes}.yml")
        with open(path, "w", encoding="ascii") as file:
            json.dump({"rule_files": [RULES], "evaluation_interval": "1m" if minutes < 100 else "10m",
                       "tests": [promtool_test(alert, one, values, is_raised) for alert, one in CASES.items()
                                 for values, is_raised in ((one.bad, True), (one.good, False))
                                 if one.minutes == minutes]}, file)
        run("promtool", "test", "rules", path)


if __name__ == "__main__":
    main()
