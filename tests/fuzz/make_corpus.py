#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the seed corpora in a new folder: copies those of corpus/, which no script makes, and makes those of the wire
fuzzers from the golden vectors, of the API's cases that are no golden cases, and of the readers of files. Usage:
make_corpus.py FOLDER"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "golden", "wire", "vectors.json")
LABEL_VECTORS = os.path.join(HERE, "..", "golden", "label", "vectors.json")
PROBE_VECTORS = os.path.join(HERE, "..", "golden", "probe", "vectors.json")
INT_VECTORS = os.path.join(HERE, "..", "golden", "int", "vectors.json")
REPORT_VECTORS = os.path.join(HERE, "..", "golden", "report", "make_vectors.py")
PER_KIND = {"insert": 24, "option": 6, "strip": 24, "grow": 16, "parse": 200, "block": 4, "take": 12}


# Accepted requests that change routes. The golden cases' node does not route.
DIRECT = {"port": "p1", "next_hop_mac": "02:00:00:00:00:02"}
ROUTES = {
    "direct": {"route_add": {"prefix": "2001:db8:1::/48", **DIRECT}},
    "via": {"route_add": {"prefix": "::/0", "via": "fe80::1"}},
    "replaced": {"route_add": {"prefix": "2001:db8::/32", **DIRECT}},
    "removed": {"route_delete": {"prefix": "2001:db8::/32"}},
    "dry_run": {"route_add": {"prefix": "2001:db8:1::1", **DIRECT}, "dry_run": True},
    "neighbour": {"neighbour_add": {"addr": "fe80::2", "port": "p0", "mac": "02:00:00:00:00:03"}},
    "neighbour_in_use": {"neighbour_delete": {"addr": "fe80::1"}},
    "list": [{"neighbour_add": {"addr": "fe80::1", "port": "p1", "mac": "02:00:00:00:00:04"}},
             {"route_delete": {"prefix": "2001:db8::/32"}},
             {"route_add": {"prefix": "2001:db8::/33", "via": "fe80::1"}},
             {"route_add": {"prefix": "2001:db8:8000::/33", "via": "fe80::1"}},
             {"route_list": {"limit": 2}}, {"neighbour_list": {"offset": 1}}],
    "list_too_long": [{"route_add": {"prefix": f"2001:db8:{i}::/48", "via": "fe80::1"}}
                      for i in range(3)],
}


def seeds(cases, n):
    """Yields seeds evenly over the list, so that every kind of case is included."""
    step = max(1, len(cases) // n)
    for case in cases[::step]:
        frames = [case.get("frame"), case.get("extra_frame"), case.get("plain")]
        hops = case.get("hops", [])
        frames.append(hops[-1].get("frame") if hops else None)
        for i, frame in enumerate(frames):
            if frame:
                slug = re.sub("[^a-z0-9]+", "-", case["name"].lower()).strip("-")
                yield f"{slug}-{case.get('layout', 'any')}-{i}", bytes.fromhex(frame)


def files_of(folder, ending):
    """Files at any depth as (name of folder and file, bytes)."""
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(ending):
                with open(os.path.join(where, name), "rb") as file:
                    whole = f"{os.path.basename(where)}-{name}"
                    yield whole.removesuffix(".json").removesuffix("-config"), file.read()


def compact(text):
    """Returns JSON without layout, with which a fuzzer finds more. Other text stays unchanged."""
    try:
        return json.dumps(json.loads(text), separators=(",", ":")).encode()
    except ValueError:
        return text


def configurations(root):
    """Writes the examples, and the golden cases that are refused for one reason each."""
    config = os.path.join(HERE, "..", "..", "config")
    for name, text in files_of(config, ".json"):
        if name.startswith("config-") and not name.startswith("config-bench"):
            target = "fuzz_controller_config" if "controller" in name else "fuzz_config"
            write(os.path.join(root, target), name, compact(text))
    for kind, target in (("config", "fuzz_config"), ("controller", "fuzz_controller_config")):
        for name, text in files_of(os.path.join(HERE, "..", "golden", kind), "config.json"):
            if len(text) < 2048:
                write(os.path.join(root, target), name, compact(text))


def state_lines():
    """Yields bodies of lines. With a '+' in front, the fuzzer adds each line's checksum."""
    rule = {"ns_id": 8, "src_ip": "2001:db8::1", "dst_ip": "2001:db8::2", "protocol": "udp",
            "trace_type": "0x7000E000", "mode": "count", "mode_setting": 100}
    changes = {"install": [{"int_request": rule}], "delete": [{"int_delete": {"ns_id": 5}}],
               "update": [{"int_update": {"ns_id": 5, "hop_enabled": False}}],
               "list": [[{"int_delete": {"ns_id": 5}}, {"int_request": rule}]],
               "journal": [{"int_request": rule}, {"int_delete": {"ns_id": 8}},
                           {"int_request": {**rule, "in_band": True}}],
               "refused": [{"int_delete": {"ns_id": 9}}, {"hello": {}}, 7, {}]}
    for name, lines in changes.items():
        yield name, "\n".join(json.dumps(line, separators=(",", ":")) for line in lines).encode()


def states(root):
    folder, heading = os.path.join(root, "fuzz_state"), b"hopsight-state 1\n"
    for name, lines in state_lines():
        write(folder, name, b"+" + lines)
        whole = heading + b"".join(b"%08x %s\n" % (zlib.crc32(line), line)
                                   for line in lines.split(b"\n"))
        write(folder, f"{name}_whole", whole)
        write(folder, f"{name}_torn", whole[:-3])
        write(folder, f"{name}_damaged", whole.replace(b"ns_id", b"ns_ib"))
    for name, text in {"empty": b"", "heading": heading, "other": b"hopsight-state 2\n"}.items():
        write(folder, name, text)


# A key pair that nobody uses, from CURVE's documentation (rfc.zeromq.org/spec/26).
PUBLIC = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
SECRET = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"


def key_files(root):
    folder = os.path.join(root, "fuzz_key_file")
    public, secret = f'public-key = "{PUBLIC}"\n', f'secret-key = "{SECRET}"\n'
    for name, text in {
            "pair": public + secret, "public": public, "secret": secret,
            "role": public + "role = read-only\n", "bad_role": public + "role = admin\n",
            "czmq": f"# of czmq\nmetadata\n    name = \"x\"\ncurve\n    {public}    {secret}",
            "other": public + secret.replace("D:", "E:"), "short": public.replace("hID", "hI"),
            "twice": public + public, "quotes": public.replace('"', "'"), "equals": "=\n = \n",
            "long": "# " + 4096 * "x"}.items():
        write(folder, name, text.encode())


def captures(root):
    folder = os.path.join(root, "fuzz_pcap")
    frame = bytes.fromhex("020000000002020000000001" "86dd") + bytes(50)

    def pcap(magic=0xa1b2c3d4, order="<", link=1, records=((0, 64, 64),)):
        text = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
        for seconds, kept, whole in records:
            text += struct.pack(order + "IIII", seconds, 1, kept, whole) + frame[:kept]
        return text

    def pcapng(options, seconds):
        section = struct.pack("<IIIHHqI", 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0, -1, 28)
        about = struct.pack("<HHI", 1, 0, 65535) + options
        text = section + struct.pack("<II", 1, 12 + len(about)) + about
        text += struct.pack("<I", 12 + len(about))
        for high in seconds:
            text += struct.pack("<IIIIIII", 6, 96, 0, high, 2, 64, 64) + frame
            text += struct.pack("<I", 96)
        return text

    resolution_s = struct.pack("<HHBxxxHH", 9, 1, 0, 0, 0)
    far_away = struct.pack("<HHqHH", 14, 8, (1 << 63) - 1, 0, 0)
    for name, text in {
            "micro": pcap(), "nano": pcap(magic=0xa1b23c4d), "big_endian": pcap(order=">"),
            "raw_ip": pcap(link=101), "none": pcap(records=()), "torn": pcap()[:-7],
            "cut": pcap(records=((0, 60, 64), (1, 64, 64), (0, 13, 13), (2, 64, 9000))),
            "back": pcap(records=((9, 64, 64), (3, 64, 64), (0xffffffff, 64, 64))),
            "huge": pcap(records=((0, 64, 0x7fffffff),)), "no": b"no capture",
            "ng": pcapng(b"", (1,)), "ng_seconds": pcapng(resolution_s, (0, 1, 0xffffffff)),
            "ng_far": pcapng(far_away, (0, 0xffffffff))}.items():
        write(folder, name, text)


def databases(root):
    """Answers (status, lines, header, body), and the same bytes as texts of a line."""
    folder = os.path.join(root, "fuzz_influx")

    def answer(status, header=b"", body=b"", lines=9):
        return bytes([status // 4, status % 4 + 4 * lines]) + header + b"\0" + body

    for name, text in {
            "written": answer(204), "none": answer(0, b"", b"Connection refused"),
            "absent": answer(404, b'database not found: "x"', b'{"error":"database not found: \\"x\\""}'),
            "busy": answer(503, b"", b"<html>"), "token": answer(401, b"", b'{"code":"unauthorized","message":"no"}'),
            "partial": answer(400, b"", b'{"error":"partial write: field type conflict dropped=4"}'),
            "more": answer(400, b"", b'{"error":"partial write: x dropped=99999999999999999999"}'),
            "unread": answer(400, b"partial write", b"partial write: unable to parse 'a'\nunable to parse 'b'"),
            "hostile": answer(500, b"\x1b[2J\r\n", b"\xff\xfe\n"),
            "line": b"my, mea=surement\0a,b c=d\0say \"a\\b\", c=d",
            "slashes": b"a\\\0b\\\\,\\\0c\\", "ends": b"a\nb\0\nc\0d\n"}.items():
        write(folder, name, text)


# Payloads of telemetry reports: examples of the specifications, and INTCollector's.
REPORTS = {
    "local_0_5": "0220000300000007075bcd1500000003000100020500001e075bcde7"
                 "0200000000020200000000010800",
    "drop_0_5": "0180000300000008075bcd15000000030001000205320000",
    "minimal_1_0": "140000430000000300000007075bcd15",
    "ports_queue_1_0": "163400430000000300000007075bcd15000100020500001e",
    "drop_1_0": "150101030000000300000008075bcd1505320000",
    "all_1_0": "1a5f81ffffffffff80000000fffffffefffe0001ffffffff00ffffff80000001aaff000000002710",
    "two_2_0": "20c0000700000003140e02205000000000000000000100020500001e4500002800010000400663cd"
               "0a0001010a0002029c400016000003e8000007d050182000d0bb0000100503804101000000000000"
               "000100020000004d05320000",
    "all_2_0": "2fffffffdeadbeef13140ef07f81abcdc000000100010002000000030400000500000000000000060"
               "0000000000000070000000800000009000000" "0a0b00000c0d330000cafe0000cafe0001",
    "tlv_2_0": "20000000000000010107000000010777cafecafe10020000010203040506070830000000",
    "ioam_2_0": "200000000000000120010000600000000501000060000000",
    "short_1_0": "1100004000000000000000005ad881320200000000020200000000010800",
    "one_is_0_5": "10210000000000005ad881320200000000020200000000010800",
}


def reports(root):
    for name, text in REPORTS.items():
        takes = {"short_1_0": 0x17, "one_is_0_5": 0x08}.get(name, 0x07)
        write(os.path.join(root, "fuzz_int_report"), name, bytes([takes]) + bytes.fromhex(text))


# The same with a packet that has INT, for collectors.
ETHER = "0200000000020200000000010800"
COLLECTED = {
    "int_0_5": "002000030000000700000001" + ETHER + "455c004d000100004006634c0a0001010a0002029c400016000003e8"
               "000007d050182000370b00000100080000021002900000000000000205000014000000010500000a0600160047",
    "int_1_0": "14000043000000030000000700000001" + ETHER + "455c004900010000400663500a0001010a0002029c400016"
               "000003e8000007d050182000520d00000100070010000206900000000000000205000014000000010500000a47",
    "int_2_1": "20c000070000000304140020455c004d000100004006634c0a0001010a0002029c400016000003e8000007d0501820"
               "003a020000100700002000020690000000000000000000000205000014000000010500000a474554202f000000",
    "generator_1_0": "11000040000000000000000" "05ad881320200000000020200000000010800450000880001000040116662"
                     "0a0000010a000002138813880074999901001b0000000803ff00000000000004000500030000019000050258"
                     "000002bc5ad9f940000503e80000000100000005000200030000000400050006000000075ad9f9410005000a"
                     "0000000100000006000200030000000400050006000000075ad9f9420005000a00000001",
}


def collected(root):
    """A byte of settings, then datagrams, each behind two bytes of length and twice."""
    for name, text in {**REPORTS, **COLLECTED}.items():
        datagram = bytes.fromhex(text)
        lenient = name in ("short_1_0", "one_is_0_5", "generator_1_0")
        one = struct.pack(">H", len(datagram)) + datagram
        write(os.path.join(root, "fuzz_collect"), name, bytes([lenient]) + one + one)
    write(os.path.join(root, "fuzz_collect"), "alike", bytes(1) + alike() * 2)


def alike():
    """One burst of reports 1.0 that differ in ports. The third is refused, because UDP ends behind IP."""
    burst = b""
    for sequence, (port, longer, more) in enumerate(((1, 0, 1), (2, 0, 1), (1, 9, 1), (1, 0, 0))):
        hops = struct.pack(">IHHIIIIIII", 1, 1, 7, 256 + sequence, 0x05000014, 4096, 4352, 0, 8192, 768)
        stack = bytes.fromhex("01000c0010000905ff000000") + hops
        packet = (bytes.fromhex(ETHER + "455c") + struct.pack(">H", 28 + len(stack)) +
                  bytes.fromhex("00004000401100000a0000010a000002") +
                  struct.pack(">HHHH", port, 2000, 8 + len(stack) + longer, 0) + stack)
        datagram = struct.pack(">IIII", 0x14000040, 9, sequence, 500) + packet
        burst += struct.pack(">H", more << 15 | len(datagram)) + datagram
    return burst


def monitors(root):
    """Writes reports in which one field goes to an extreme, or is changed by one, and comes back."""
    folder = os.path.join(root, "fuzz_qos")
    extremes = (0x3F, 0x7F, 0xBF, 0x3E, 0xFE, 0x1F, 0x5F, 0x9F, 0x0F, 0x01)
    steady, asking = bytes((0x12, 100)) * 6, bytes((0x21, 100))
    for field in range(17):
        at = 0x40 | field - 10 if field >= 10 else field
        text = b""
        for value in extremes:
            for adds in (0, 0x20):
                change = bytes((at | adds, value & 3, value))
                text += steady + bytes((0x15, 100)) + change + steady + asking
        write(folder, f"field_{field}", bytes((field & 7,)) + text)
    says = b"".join(bytes((0x15, 100, 0x4F, node, 0x48)) for node in range(7))  # what each node says of itself
    for field in range(8):
        text = says + b"".join(steady + bytes((0x15, 100, 0x48 | field, value & 3, value)) + steady + asking
                               for value in extremes)
        write(folder, f"local_{field}", bytes((0x10 | field & 3,)) + text)


def int_packets(root):
    """Writes packets of every ninth vector of INT, each with its profile."""
    names = {"version": ("2016-06", "0.5", "1.0", "2.1"), "mode": ("md", "mx"),
             "carrier": ("tcp_udp", "gre", "vxlan-gpe", "geneve"),
             "mark": ("dscp", "udp_port", "probe_marker")}
    with open(INT_VECTORS, encoding="ascii") as file:
        cases = json.load(file)
    for i, case in enumerate(cases[::9]):
        chosen = {key: values.index(case["settings"][key]) for key, values in names.items()}
        profile = chosen["version"] | chosen["carrier"] << 2 | chosen["mark"] << 4 \
            | chosen["mode"] << 6 | (0x10 if "gre_src" in case["settings"] else 0)
        bitmap = case["request"]["bitmap"]
        choice = bytes((profile, bitmap >> 8, bitmap & 255, case["request"]["ds_hop_words"],
                        i & 7 | 1, 3, 60 + i % 64))
        slug = re.sub("[^a-z0-9]+", "-", case["name"].lower()).strip("-")
        for kind, frame in (("plain", case["plain"]), ("source", case["source"]),
                            ("hop", case["hops"][-1]["frame"] if case["hops"] else None)):
            if frame:
                write(os.path.join(root, "fuzz_int"), f"{slug}-{kind}",
                      choice + bytes.fromhex(frame))


def labelled_packets(root):
    """Writes packets of every fifth vector of INT-label, and one datagram to a controller."""
    with open(LABEL_VECTORS, encoding="ascii") as file:
        cases = json.load(file)
    for i, case in enumerate(cases[::5]):
        choice = bytes((case["max_hops"], case["specific"], 50 + i % 128))
        slug = re.sub("[^a-z0-9]+", "-", case["name"].lower()).strip("-")
        for kind, text in (("plain", case["plain"]), ("hop", case["hops"][-1]["frame"]),
                           ("export", case["export"] if i % 4 == 0 else None)):
            if text:
                write(os.path.join(root, "fuzz_label"), f"{slug}-{kind}", choice + bytes.fromhex(text))


def probes(root):
    """Writes the packets of every seventh vector of probes."""
    with open(PROBE_VECTORS, encoding="ascii") as file:
        cases = json.load(file)
    for i, case in enumerate(cases[::7]):
        slug = re.sub("[^a-z0-9]+", "-", case["name"].lower()).strip("-")
        for kind, text in (("start", case["start"]), ("hop", case["hops"][0]["frame"] if case["hops"] else None),
                           ("feedback", case["feedback"]), ("recovery", case["recovery"])):
            if text:
                write(os.path.join(root, "fuzz_probe"), f"{slug}-{kind}", bytes((i, 40 + i)) + bytes.fromhex(text))


def write(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def main():
    root = sys.argv[1]
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(os.path.join(HERE, "corpus"), root)
    subprocess.run([sys.executable, REPORT_VECTORS, "--corpus", os.path.join(root, "fuzz_report_cbor")], check=True)
    with open(VECTORS, encoding="ascii") as file:
        vectors = json.load(file)
    for kind, n in PER_KIND.items():
        for i, (name, frame) in enumerate(seeds(vectors[kind], n)):
            write(os.path.join(root, "fuzz_packet"), name, bytes([60 + i % 64]) + frame)
            choice = bytes([0x70 ^ i << 4 & 0xf0, 0xe0 ^ i << 5 & 0xe0, i % 12, 0xe0, i << 5 & 0xe0,
                            i & 1, 1 + i * 7 % 255, i & 15])
            if kind in ("block", "take"):
                choice = bytes([0x70, 0xe0, i % 3, 0xe0, 0xe0, i & 7, 1 + i * 21 % 255, 16 | i & 3])
            write(os.path.join(root, "fuzz_flexint"), name, choice + frame)
    for name, message in ROUTES.items():
        write(os.path.join(root, "fuzz_api"), f"routes_{name}",
              json.dumps(message).encode("ascii"))
    configurations(root)
    states(root)
    key_files(root)
    captures(root)
    databases(root)
    monitors(root)
    reports(root)
    collected(root)
    int_packets(root)
    labelled_packets(root)
    probes(root)


if __name__ == "__main__":
    main()
