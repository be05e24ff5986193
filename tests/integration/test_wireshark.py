# SPDX-License-Identifier: BSD-3-Clause
"""The dissector (tools/wireshark/hopsight.lua) in tshark: fields of packets whose meaning is known, and
bytes that mean nothing."""

import json
import os
import random
import shutil
import struct
import subprocess
import xml.etree.ElementTree

from harness import ROOT
from lib import Skip, check, equal, test
from wireshark_cases import CASES, FLEXINT, PREFERENCES

SCRIPT = os.path.join(ROOT, "tools", "wireshark", "hopsight.lua")
VECTORS = os.path.join(ROOT, "tests", "golden", "wire", "vectors.json")
INT_VECTORS = os.path.join(ROOT, "tests", "golden", "int", "vectors.json")
PROBES = os.path.join(ROOT, "tests", "golden", "probe", "vectors.json")
TREES = {"probe", "probe.entry", "probe.hop", "int", "int.hop", "int.shim", "report", "report.part", "flexint", "flexint.hop", "flexint.e2e",
         "packet"}


def write_pcap(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def tshark(workspace, name, frames, preferences, *options):
    if not shutil.which("tshark"):
        raise Skip("tshark is not installed")
    path = workspace.path(name + ".pcap")
    write_pcap(path, frames)
    words = [word for preference in preferences.split() for word in ("-o", "hopsight." + preference)]
    ran = subprocess.run(["tshark", "-n", "-X", "lua_script:" + SCRIPT, *words, "-r", path, *options],
                         capture_output=True, text=True, check=False, timeout=100)
    equal(ran.returncode, 0, ran.stderr)
    check("lua" not in ran.stderr.lower(), ran.stderr)
    return ran.stdout


def _value(show):
    try:
        return str(int(show, 0))
    except ValueError:
        return show.replace(":", "") if show.count(":") and "::" not in show else show


def dissected(workspace, name, frames, preferences):
    """Of each frame, what the dissector says: words `key=value` in the order of the tree."""
    text = tshark(workspace, name, frames, preferences, "-T", "pdml")
    found = []
    for packet in xml.etree.ElementTree.fromstring(text).iter("packet"):
        words = []
        for field in packet.iter("field"):
            key = field.get("name")
            if key.startswith("hopsight.") and key[9:] not in TREES:
                words.append(f"{key[9:]}={_value(field.get('show'))}".rstrip("="))
        found.append(words)
    equal(len(found), len(frames), "packets")
    return found


def expected_words(text):
    """`int. a=1 b=0x10`: a word that ends with a point is in front of all that follow."""
    words, prefix = [], ""
    for word in text.split():
        if word.endswith("."):
            prefix = word
            continue
        key, found, value = word.partition("=")
        key = key if key.split(".")[0] in {"malformed", "cut", "mismatch"} else prefix + key
        words.append(f"{key}={_value(value)}" if found else key)
    return words


# Bits of values of INT on the wire; all others have 32. 2016-06 has 31 of each.
BITS = {"ingress_port": 16, "egress_port": 16, "queue_id": 8, "buffer_id": 8, "queue_packets": 24,
        "queue_congestion": 24, "buffer_used": 24}
MARKED = {"dscp": "", "udp_port": " by port", "probe_marker": " by marker"}


def _golden_int(vectors, setting):
    """Packets of INT of a setting that have the same meaning by its preferences."""
    for case in vectors:
        settings, request = case["settings"], case["request"]
        mark = settings["mark"] if settings["carrier"] == "tcp_udp" else "dscp"
        if (settings["version"] + MARKED[mark] == setting and not request["source"]
                and (settings["dscp"], settings["dscp_mask"]) == (23, 63)
                and not (request["ds_instruction"] and "by" in setting)):
            yield case


def _width(settings, key):
    if settings["version"] == "2016-06":
        return 31
    if settings["version"] == "2.1" and key in {"ingress_ns", "egress_ns"}:
        return 64
    return BITS.get(key, 32)


def _compare_int(case, words):
    """Returns how many values were compared. What is too wide for the wire is the codec's matter."""
    settings, name = case["settings"], case["name"]
    check("malformed" not in words, name, words)
    for word in (f"carrier={settings['carrier']}", f"bitmap={case['request']['bitmap']}",
                 f"version_name={settings['version']}"):
        check("int." + word in words, name, "without", word, words)
    if settings["carrier"] == "vxlan-gpe":
        equal("int.shim.g=1" in words, "plain vxlan" in name, f"{name}: whether VXLAN was upgraded, {words}")
    if settings["mode"] != "md":
        return 0
    hops = [hop["values"] for hop in reversed(case["hops"])] + [own for own in [case.get("own")] if own is not None]
    check(f"int.hops={len(hops)}" in words, name, "has", len(hops), "hops", words)
    compared = 0
    for key in {key for hop in hops for key in hop} - {"queue_id", "checksum_complement"}:
        meant = [hop[key] for hop in hops if key in hop]
        if max(meant) < 2 ** _width(settings, key) - 1:
            found = [int(word.split("=")[1]) for word in words if word.startswith(f"int.{key}=")]
            if found:  # a value that was not asked for is not there
                equal(found, meant, f"{name}: {key}")
            compared += len(found)
    return compared


@test(limit_s=120)
def each_field_of_known_packets_is_shown_in_wireshark(workspace):
    with open(INT_VECTORS, encoding="ascii") as f:
        vectors = json.load(f)
    shown, compared = 0, 0
    for setting, preferences in PREFERENCES.items():
        cases = [case for case in CASES if case[1] == setting]
        golden = list(_golden_int(vectors, setting))
        frames = [frame for _, _, frame, _ in cases] + [
            bytes.fromhex(case["hops"][-1]["frame"] if case["hops"] else case["source"])
            for case in golden]
        found = dissected(workspace, setting, frames, preferences)
        for (name, _, _, expected), words in zip(cases, found):
            equal(words, expected_words(expected), name)
            shown += len(words)
        for case, words in zip(golden, found[len(cases):]):
            compared += _compare_int(case, words)
    check(shown > 800, "only", shown, "fields")
    check(compared > 2000, "only", compared, "values of golden packets")


def _flexint_words(case, hops):
    words = [f"flexint.ns_id={case['ns_id']}", f"flexint.trace_type={case['trace_type']}"]
    for hop in reversed(hops):
        words += [f"flexint.hop.{key}={hop[key]}" for key in
                  ("node_id", "bitmap", "tx_packets", "rx_packets", "ts_ns", "tx_bytes", "rx_bytes")
                  if key in hop]
    keys = ("bitmap", "int_packets", "ts_ns", "tx_packets", "tx_bytes")
    return words + [f"flexint.e2e.{key}={case['e2e'][key]}" for key in keys if key in case["e2e"]]


@test(limit_s=90)
def golden_packets_of_flexible_int_are_shown_in_wireshark(workspace):
    with open(VECTORS, encoding="ascii") as f:
        vectors = json.load(f)
    frames, expected = [], []
    for case in vectors["insert"][::3]:
        frames.append(bytes.fromhex(case["source"]))
        expected.append((case["name"], _flexint_words(case, [])))
        if case["hops"]:
            frames.append(bytes.fromhex(case["hops"][-1]["frame"]))
            expected.append((case["name"], _flexint_words(case, case["hops"])))
    check(len(frames) > 200, len(frames))
    for words, (name, meant) in zip(dissected(workspace, "golden", frames, FLEXINT), expected):
        if "host header" not in name:
            equal(words, meant, name)
        else:
            equal(words[:len(meant)], meant, name)
            check("malformed" not in words, name)


@test(limit_s=60)
def requests_and_reports_in_band_are_shown_as_cbor_in_wireshark(workspace):
    frames = [frame for name, _, frame, _ in CASES if name in
              {"flex-request", "a returning report in two options"}]
    shown = tshark(workspace, "cbor", frames, FLEXINT, "-T", "fields", "-e", "cbor.type.uint",
                   "-e", "cbor.type.textstring", "-E", "aggregator=;")
    request, report = shown.splitlines()
    equal(request.split("\t")[0], "7;1;0;5001;100", "numbers of the request")
    check("trace_type;0x7000E000;mode;count" in request, request)
    equal(report.split("\t")[0], "0;7;1;60", "numbers of the report")


@test(limit_s=60)
def packets_in_tunnels_are_dissected_behind_int_in_wireshark(workspace):
    names = {"int21-md-gre": "10.0.0.1,10.0.1.1", "int21-md-vxlan-gpe": "192.0.2.1,10.0.0.1",
             "int21-md-geneve": "192.0.2.1,10.0.0.1"}
    frames = [frame for name, _, frame, _ in CASES if name in names]
    shown = tshark(workspace, "tunnels", frames, PREFERENCES["2.1"], "-T", "fields", "-e", "ip.src",
                   "-e", "_ws.malformed")
    equal([line.rstrip("\t") for line in shown.splitlines()], list(names.values()), "addresses")


def _probe_words(case, visited, kind):
    """What a probe says after so many nodes; feedback has the request alone."""
    words = [f"probe.kind={kind}", f"probe.id={case['id']}", f"probe.type={case['type']}"]
    if kind == "feedback":
        return words
    entries, hops = case["entries"][visited:], case["hops"][:visited]
    words.append(f"probe.entries={len(entries)}")
    for entry in entries:
        words += [f"probe.entry.{key}={value}" for key, value in zip(("port", "first", "end"), entry)]
    words.append(f"probe.hops={len(hops)}")
    for hop in hops:
        words += [f"probe.hop.node_id={hop['node']}", f"probe.hop.depth={hop['depth']}",
                  f"probe.hop.n_values={len(hop['values'])}"]
    values = [value for hop in hops for value in hop["values"]]
    return words + [f"probe.values={len(values)}"] + [f"probe.value={value}" for value in values]


@test(limit_s=90)
def golden_packets_of_probes_are_shown_in_wireshark(workspace):
    with open(PROBES, encoding="ascii") as f:
        vectors = json.load(f)
    settings = {tuple(case[key] for key in ("udp_port", "dscp", "feedback_dscp", "recovery_dscp")) for case in vectors}
    compared = 0
    for setting in settings:
        port, *dscps = setting
        frames, expected = [], []
        for case in vectors:
            if (case["udp_port"], case["dscp"], case["feedback_dscp"], case["recovery_dscp"]) != setting:
                continue
            last = len(case["hops"])
            meant = [(case["start"], 0, "probe"), (case["recovery"], last, "recovery"), (case["feedback"], 0, "feedback"),
                     *((hop["frame"], i + 1, "probe") for i, hop in enumerate(case["hops"]))]
            for frame, visited, kind in meant:
                frames.append(bytes.fromhex(frame))
                expected.append((case["name"], _probe_words(case, visited, kind)))
        preferences = f"probe_port:{port} probe_dscps:{','.join(map(str, dscps))}"
        for (name, meant), words in zip(expected, dissected(workspace, "probes", frames, preferences)):
            equal(words, meant, name)
            compared += len(words)
    check(compared > 3000, "only", compared, "fields")


@test(limit_s=60)
def probes_that_contradict_themselves_are_malformed_in_wireshark(workspace):
    with open(PROBES, encoding="ascii") as f:
        case = json.load(f)[0]
    probe = bytes.fromhex(case["hops"][1]["frame"])
    payload = 42
    begin = {"entries": payload + 2, "hops": payload + 7, "values": payload + 17}
    frames = [probe]
    for at in begin.values():
        for number in (0, 1, 7, 0xffff):
            frames.append(probe[:at] + number.to_bytes(2, "big") + probe[at + 2:])
    feedback = bytes.fromhex(case["feedback"])
    frames.append(feedback[:16] + (31).to_bytes(2, "big") + feedback[18:38] + (11).to_bytes(2, "big") + feedback[40:] + b"x")
    found = dissected(workspace, "contradictions", frames, "")
    # Only the number that is right of each is well formed.
    sound = ["malformed" not in words for words in found]
    equal(sound, [True, False, True, False, False, *[False] * 8, False], "well formed")
    # Over IPv6 and at other ports, it is no probe.
    other = bytearray(probe)
    other[36:38] = (7778).to_bytes(2, "big")
    equal(dissected(workspace, "other", [bytes(other)], "") + dissected(workspace, "off", [probe], "probe_port:0"),
          [[], []], "other packets")


def _mutated(rng, frame):
    frame = bytearray(frame)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(14, len(frame))
        frame[at] = rng.choice((0, 1, 0xff, frame[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
    if rng.random() < 0.3:
        del frame[rng.randrange(14, len(frame)):]
    return bytes(frame)


def _probe_frames():
    with open(PROBES, encoding="ascii") as f:
        return [bytes.fromhex(case["hops"][-1]["frame"]) for case in json.load(f)[:4] if case["hops"]]


@test(limit_s=90)
def bytes_without_meaning_make_no_lua_error(workspace):
    rng, malformed = random.Random(12), 0
    for setting in ("2016-06", "0.5", "1.0", "2.1"):
        frames = [frame for _, _, frame, _ in CASES]
        of_setting = [frame for _, its, frame, _ in CASES if its == setting] + _probe_frames()
        frames += [_mutated(rng, rng.choice(of_setting)) for _ in range(300)]
        frames += [rng.choice(of_setting)[:54] + rng.randbytes(rng.randrange(80)) for _ in range(60)]
        frames += [frame[:cut] for frame in of_setting[:2] for cut in range(14, len(frame))]
        shown = tshark(workspace, "random", frames, PREFERENCES[setting], "-O", "hopsight")
        check("Lua Error" not in shown, shown[max(0, shown.find("Lua Error") - 900):][:1500])
        malformed += shown.count("Malformed telemetry")
        equal(shown.count("\nFrame ") + shown.startswith("Frame "), len(frames), "packets")
    check(malformed > 200, "only", malformed, "malformed")
