# SPDX-License-Identifier: BSD-3-Clause
"""Which folder may include whose headers: the arrows of docs/architecture.md as a table."""

import os
import re

# Each folder, and the other folders that it may see. lib/ never sees src/, and no folder sees
# apps/.
ALLOWED = {
    "lib/base": [],
    "lib/schema": ["lib/base"],
    "lib/daemon": ["lib/base", "lib/sandbox"],
    "lib/sandbox": [],
    "lib/wire": ["lib/base"],
    "lib/telemetry": ["lib/base"],
    # A family of telemetry sees no other, and nobody of lib/ sees a family.
    "lib/telemetry/flexint": ["lib/base", "lib/cbor", "lib/wire", "lib/telemetry", "lib/report"],
    "lib/telemetry/int": ["lib/base", "lib/wire", "lib/telemetry"],
    # Reports to collectors: bytes of a datagram, whatever the telemetry in the packet.
    "lib/telemetry/int_report": ["lib/base"],
    "lib/telemetry/label": ["lib/base", "lib/wire"],
    "lib/telemetry/probe": ["lib/base", "lib/wire"],
    # What reports say, of whatever INT the packet has.
    "lib/collect": ["lib/base", "lib/wire", "lib/telemetry", "lib/telemetry/int",
                    "lib/telemetry/int_report"],
    # What a controller knows of ports that label.
    "lib/label": ["lib/base", "lib/wire", "lib/telemetry/label"],
    # Paths of probes over a graph. Their sizes are the codec's.
    "lib/gpint": ["lib/base", "lib/wire", "lib/telemetry/probe"],
    "lib/cbor": ["lib/base"],
    "lib/rule": ["lib/base", "lib/cbor", "lib/schema"],  # a rule's `fields` are configuration's
    "lib/link": ["lib/base"],
    "lib/report": ["lib/base", "lib/schema", "lib/rule", "lib/telemetry"],
    "lib/qos": ["lib/base", "lib/schema", "lib/prometheus", "lib/rule", "lib/report", "lib/telemetry"],
    "lib/api": ["lib/base", "lib/schema", "lib/rule", "lib/report", "lib/qos"],
    "lib/state": ["lib/base"],
    "lib/bus": ["lib/base", "lib/api"],
    # Lines are made of what nodes publish and collectors find. The databases are reached by a thread of its own.
    "lib/influx": ["lib/base", "lib/schema", "lib/daemon", "lib/rule", "lib/report", "lib/telemetry",
                   "lib/telemetry/int", "lib/telemetry/int_report", "lib/qos", "lib/collect"],
    "lib/prometheus": ["lib/base"],  # text of metrics, whoever serves it
    "lib/http": ["lib/base", "lib/schema", "lib/daemon", "lib/prometheus"],
    "lib/watch": ["lib/base", "lib/rule", "lib/api", "lib/bus", "lib/daemon"],
}
_LIB = sorted(ALLOWED)
# The data path: no JSON, no ZeroMQ, no API, and no family of telemetry but in the family's folder.
_PATH = ["lib/base", "lib/daemon", "lib/wire", "lib/rule", "lib/link", "lib/report", "lib/telemetry"]
ALLOWED["src/platform"] = ["lib/base", "lib/daemon", "lib/link"]
ALLOWED["src/flow"] = _PATH + ["src/platform"]
# Reports to collectors are no family's: a worker makes and sends them.
ALLOWED["src/datapath"] = ALLOWED["src/flow"] + ["src/flow", "lib/telemetry/int_report"]
ALLOWED["src/datapath/forward"] = ALLOWED["src/datapath"] + ["src/datapath"]
ALLOWED["src/datapath/flexint"] = ALLOWED["src/datapath"] + ["src/datapath", "lib/telemetry/flexint"]
ALLOWED["src/datapath/int"] = ALLOWED["src/datapath"] + ["src/datapath", "lib/telemetry/int"]
ALLOWED["src/datapath/label"] = ALLOWED["src/datapath"] + ["src/datapath", "lib/telemetry/label"]
ALLOWED["src/datapath/probe"] = ALLOWED["src/datapath"] + ["src/datapath", "lib/telemetry/probe"]
_DATAPATH = ["src/datapath", "src/datapath/forward", "src/datapath/flexint", "src/datapath/int",
             "src/datapath/label", "src/datapath/probe"]
# A stage works on the node's own structures, which src/node's one public header does not show.
ALLOWED["src/node"] = ALLOWED["src/datapath/flexint"] + ["lib/telemetry/int", "lib/telemetry/label",
                                                                 "lib/telemetry/probe"] + _DATAPATH
ALLOWED["src/export"] = _LIB + ["src/platform", "src/flow", "src/node"] + _DATAPATH
ALLOWED["src/config"] = _LIB + ["src/platform", "src/flow", "src/node"] + _DATAPATH
# What of control is about packets in band. It calls control through callbacks only.
ALLOWED["src/control/in_band"] = ALLOWED["src/export"] + ["src/export", "src/config"]
ALLOWED["src/control"] = ALLOWED["src/control/in_band"] + ["src/control/in_band"]
ALLOWED["src/daemon"] = ALLOWED["src/control"] + ["src/control"]
# The lab, from what it is told to what comes of it.
_LAB = ALLOWED["src/control"] + ["src/control"]
for _part in ("scenario", "traffic", "truth", "engine", "outcome"):
    ALLOWED[f"src/lab/{_part}"] = list(_LAB)
    _LAB.append(f"src/lab/{_part}")
# Measures all of it, from the burst to the report as text.
ALLOWED["src/bench"] = ALLOWED["src/control"] + ["src/control", "src/collector"]
ALLOWED["src/controller"] = _LIB
# A collector has ports and parts of a node's configuration, whose header names a node's parts.
ALLOWED["src/collector"] = ALLOWED["src/config"] + ["src/config"]

# Headers of other projects that only some folders may use.
FOREIGN = [
    (re.compile(r"^(rte_|ethdev|bus_)"), ["src/"], "DPDK stays out of lib/"),
    (re.compile(r"^zmq"), ["lib/bus"], "lib/bus alone knows ZeroMQ"),
    (
        re.compile(r"^jansson"),
        ["lib/api", "lib/rule", "lib/report", "lib/qos", "lib/schema", "lib/state",
         "lib/watch", "lib/influx", "src/config", "src/control", "src/daemon", "src/export", "src/lab", "src/bench",
         "src/controller", "src/collector"],
        "the data path knows no JSON",
    ),
    (re.compile(r"^zlib"), ["lib/state", "lib/http", "lib/influx"],
     "checksums of files belong to lib/state, compression to lib/http and lib/influx"),
    (re.compile(r"^curl"), ["lib/influx"], "lib/influx alone speaks to databases"),
    (re.compile(r"^microhttpd"), ["lib/http"], "lib/http alone knows libmicrohttpd"),
    (re.compile(r"^(cap-ng|seccomp)"), ["lib/sandbox"], "lib/sandbox gives up privileges"),
    (re.compile(r"^sodium"), ["lib/rule"], "what is signed is the codec's to know"),
    (re.compile(r"^cbor"), ["lib/cbor"], "lib/cbor alone knows libcbor"),
]

_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def sources(root, folders=("lib", "src")):
    for top in folders:
        for where, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.relpath(os.path.join(where, name), root)


def headers(root):
    """Maps each header name to the folders that have a header of this name."""
    found = {}
    for path in sources(root):
        if path.endswith((".h", ".def")):
            found.setdefault(os.path.basename(path), []).append(os.path.dirname(path))
    return found


def _foreign(folder, name):
    for pattern, allowed, reason in FOREIGN:
        if pattern.match(name) and not any(folder.startswith(a) for a in allowed):
            return reason
    return None


def _judge(folder, name, owners):
    """Returns what is wrong if the folder includes the header of this name, or None."""
    base = os.path.basename(name)
    if base not in owners:
        return _foreign(folder, name)
    if name != base:
        return "our headers are included by bare name"
    owner = owners[base][0]
    if owner == folder or owner in ALLOWED.get(folder, []):
        return None
    return f"{folder} may not see {owner}"


def violations(root):
    owners = headers(root)
    for path in sources(root):
        folder = os.path.dirname(path)
        if folder not in ALLOWED:
            yield f"{path}: {folder} has no row in the table of layers"
            continue
        with open(os.path.join(root, path), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                include = _INCLUDE.match(line)
                wrong = include and _judge(folder, include.group(2), owners)
                if wrong:
                    yield f"{path}:{number}: {include.group(2)}: {wrong}"
