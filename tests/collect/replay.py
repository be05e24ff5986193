# SPDX-License-Identifier: BSD-3-Clause
"""Runs the collector's library over datagrams (collect_replay.c) and reads what it told."""

import collections
import json
import os
import struct
import subprocess
import tempfile

from model import MEASURES, TABLES, Point

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("HOPSIGHT_BUILD", os.path.join(HERE, "..", "..", "build"))
PROGRAM = os.path.join(BUILD, "tests", "collect", "collect_replay")
VERSIONS = ("2016-06", "0.5", "1.0", "2.1")
CARRIERS = ("tcp_udp", "gre", "vxlan_gpe", "geneve")
MARKS = ("dscp", "udp_port", "probe")
# events: record's index, when its values were reported, flow or None, points. rows: by kind, lists. counters: by name.
Told = collections.namedtuple("Told", "events rows counters pushed")


def config_lines(config, batch=1, more=()):
    lines = [f"intercollector {int(config.lenient)}", f"new_keys_per_s {config.new_keys}",
             f"interval {config.interval}", f"gap_ns {config.gap_ns}", f"push_ns {config.push_ns}",
             f"batch {batch}", *more]
    lines += [f"max_{name} {config.tables[name]}" for name in TABLES]
    for i, name in enumerate(MEASURES):
        absolute, relative = config.thresholds[name] or (0, 0)
        lines += [f"off.{i} {int(config.thresholds[name] is None)}", f"absolute.{i} {absolute}",
                  f"relative.{i} {relative}"]
    for i, of in enumerate(config.settings):
        lines.append(f"format.taken.{i} {int(of is not None)}")
        if of:
            lines += [f"format.version_carrier.{i} {VERSIONS.index(of.version) << 8 | CARRIERS.index(of.carrier)}",
                      f"format.mark.{i} {MARKS.index(of.mark)}", f"format.dscp.{i} {of.dscp}",
                      f"format.dscp_mask.{i} {of.mask}", f"format.udp_port.{i} {of.port}",
                      f"format.probe_marker.{i} {of.marker}"]
    return "\n".join([*lines, "end\n"]).encode()


def record_bytes(record):
    if hasattr(record, "budget"):
        return struct.pack("=qIBBBB16s", record.time_ns, record.budget, 1, 0, 0, 0, bytes(16))
    is_ipv4, address = record.address
    return struct.pack("=qIBBBB16s", record.time_ns, len(record.data), 0, record.listener, is_ipv4, 0,
                       address) + record.data


def read(output):
    events, rows, counters, pushed = [], collections.defaultdict(list), None, {}
    for line in output:
        kind, *of = json.loads(line)
        if kind == "event":
            events.append((of[0], of[1], of[2], [Point(*point) for point in of[3]]))
        elif kind == "pushed":
            pushed[of[0]] = of[1]
        elif kind == "counters":
            counters = of[0]
        else:
            rows[kind].append(of)
    return Told(events, rows, counters, pushed)


def run(config, records, batch=1, more=()):
    """more: further lines of the configuration."""
    with tempfile.NamedTemporaryFile(prefix="hs-collect-") as file:
        file.write(config_lines(config, batch, more))
        file.writelines(record_bytes(record) for record in records)
        file.flush()
        done = subprocess.run([PROGRAM, file.name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"collect_replay ended with {done.returncode}: {done.stderr[-2000:]}")
    return read(done.stdout.splitlines())
