#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes vectors.json: reports in CBOR (option 0x33), and bytes that are no report, with the code of
the error. The encoder follows RFC 8949 and docs/wire-flexint.md, and shares no code with lib/report
and lib/cbor.

    make_vectors.py FILE          write the vectors
    make_vectors.py --check FILE  exit 1 if FILE differs
    make_vectors.py --corpus DIR  write the fuzzer's seeds
"""

import json
import os
import random
import struct
import sys

E2E_FIELDS = ((0x8000, "int_packets", 32), (0x4000, "ts_ns", 63),
              (0x2000, "tx_packets", 32), (0x1000, "tx_bytes", 32))
HOP_FIELDS = ((0x8000, "tx_packets", 16), (0x8000, "rx_packets", 16), (0x4000, "ts_ns", 63),
              (0x2000, "tx_bytes", 32), (0x2000, "rx_bytes", 32))
TEN_FULL_HOPS = [0xE000] * 10
MOST_HOPS = [0x0000] * 61

random_numbers = random.Random(0x33)


def head(major, n):
    """Encodes a major type and its argument in the shortest form (RFC 8949 section 3)."""
    if n < 24:
        return bytes([major << 5 | n])
    for code, bits, pack in ((24, 8, "!B"), (25, 16, "!H"), (26, 32, "!I"), (27, 64, "!Q")):
        if n < 1 << bits:
            return bytes([major << 5 | code]) + struct.pack(pack, n)
    raise ValueError(n)


def wide(n):
    """Encodes the same number in its longest form."""
    return b"\x1b" + struct.pack("!Q", n)


def uint(n):
    return head(0, n)


def array(items):
    return head(4, len(items)) + b"".join(items)


def pairs(members):
    return head(5, len(members)) + b"".join(key + value for key, value in members)


def number(bits):
    """Draws from the whole range, with more values at the edges of an encoding than chance
    gives."""
    if random_numbers.random() < 0.4:
        edges = [v for v in (0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32) if v < 1 << bits]
        return random_numbers.choice(edges + [(1 << bits) - 1])
    return random_numbers.getrandbits(bits)


def values(fields, bitmap):
    return {key: number(bits) for bit, key, bits in fields if bitmap & bit}


def report(name, e2e, hops, trace_type=None):
    """Returns hops from source to sink."""
    return {
        "name": name, "ns_id": max(1, number(32)),
        "trace_type": trace_type if trace_type is not None else e2e << 16 | 0xE000,
        "e2e": values(E2E_FIELDS, e2e),
        "sink": {"ts_ns": number(63), "rx_packets": number(63), "rx_bytes": number(63)},
        "hops": [{"node_id": number(16), "bitmap": bitmap, **values(HOP_FIELDS, bitmap)}
                 for bitmap in hops],
        "app_id": number(32), "sink_node_id": number(16),
    }


def in_order(fields, bitmap, source):
    return [uint(source[key]) for bit, key, _ in fields if bitmap & bit]


def members_of(r):
    e2e = r["trace_type"] >> 16
    hops = [array([uint(hop["node_id"]), uint(hop["bitmap"]),
                   *in_order(HOP_FIELDS, hop["bitmap"], hop)]) for hop in r["hops"]]
    sink = [uint(r["sink"][key]) for key in ("ts_ns", "rx_packets", "rx_bytes")]
    return [(uint(0), uint(r["ns_id"])), (uint(1), uint(r["trace_type"])),
            (uint(2), array(in_order(E2E_FIELDS, e2e, r["e2e"]))), (uint(3), array(sink)),
            (uint(4), array(hops)), (uint(5), uint(r["app_id"])),
            (uint(6), uint(r["sink_node_id"]))]


def example():
    """Returns the example of docs/wire-flexint.md."""
    return {
        "name": "the example of the document", "ns_id": 7, "trace_type": 0x7000E000,
        "e2e": {"ts_ns": 1700000000000000000, "tx_packets": 1000, "tx_bytes": 508000},
        "sink": {"ts_ns": 1700000000017000000, "rx_packets": 998, "rx_bytes": 506984},
        "hops": [{"node_id": 1, "bitmap": 0xE000, "tx_packets": 1000, "rx_packets": 1000,
                  "ts_ns": 1700000000010000000, "tx_bytes": 508000, "rx_bytes": 508000},
                 {"node_id": 2, "bitmap": 0x8000, "tx_packets": 998, "rx_packets": 998}],
        "app_id": 1, "sink_node_id": 9,
    }


def written():
    """Returns reports that are written and read, byte for byte."""
    yield example()
    yield report("end to end alone", 0x7000, [])
    yield report("nothing but the sink", 0x0000, [], trace_type=0)
    yield report("the most hops", 0x7000, MOST_HOPS)
    yield report("ten hops of all fields", 0xF000, TEN_FULL_HOPS)
    yield report("bits that nobody knows yet", 0x7000, [0xE000], trace_type=0x7001E001)
    for e2e in range(0, 0x10000, 0x1000):
        yield report(f"e2e {e2e:04x}", e2e, [0xE000, 0x4000])
    for hop in range(0, 0x10000, 0x2000):
        yield report(f"hop {hop:04x}", 0x7000, [hop, 0xE000, hop])
    for i in range(20):
        hops = [random_numbers.randrange(8) << 13 for _ in range(random_numbers.randrange(12))]
        yield report(f"random {i}", random_numbers.randrange(16) << 12, hops)


def replaced(members, key, value):
    return pairs([(k, value if k == uint(key) else v) for k, v in members])


def read_only():
    """Returns the example in forms that our nodes do not write."""
    r = example()
    members = members_of(r)
    yield "keys in reverse", r, pairs(members[::-1])
    yield "integers in long form", r, pairs([(wide(i), wide(v) if i in (0, 1, 5, 6) else value)
                                             for i, ((_, value), v) in enumerate(zip(members, [
                                                 7, 0x7000E000, 0, 0, 0, 1, 9]))])
    yield "unknown keys", r, pairs(
        [(uint(99), array([uint(1), array([])])), (head(3, 1) + b"x", b"\xf6"),
         (b"\x20", b"\xfb" + struct.pack("!d", 0.1))] + members)
    paper = {**r, "app_id": 0, "sink_node_id": 0}
    yield "without what the paper does not have", paper, pairs(members[:5])


def refused():
    members = members_of(example())
    whole = pairs(members)
    yield "nothing", b"", "not_cbor"
    yield "no map", uint(7), "not_cbor"
    yield "a map of 2^64-1", b"\xbb" + b"\xff" * 8, "not_cbor"
    yield "an indefinite map", b"\xbf" + whole[1:] + b"\xff", "not_cbor"
    yield "bytes behind it", whole + b"\x00", "not_cbor"
    yield "two of them", whole + whole, "not_cbor"
    yield "an array of 2^64-1 hops", replaced(members, 4, b"\x9b" + b"\xff" * 8), "not_cbor"
    yield "nested too deep", pairs(members + [(uint(50), b"\x81" * 20 + b"\x00")]), "not_cbor"
    for key in range(5):
        without = [member for i, member in enumerate(members) if i != key]
        yield f"no key {key}", pairs(without), "missing_field"
        yield f"key {key} twice", pairs(members + [members[key]]), "duplicate_key"
    for key in range(7):
        yield f"text for key {key}", replaced(members, key, head(3, 1) + b"x"), "wrong_type"
    for key in (0, 1, 5, 6):
        yield f"key {key} negative", replaced(members, key, b"\x20"), "wrong_type"
        yield f"key {key} too large", replaced(members, key, uint(2**32)), "out_of_range"
    yield "namespace 0", replaced(members, 0, uint(0)), "out_of_range"
    yield "a sink of 17 bits", replaced(members, 6, uint(65536)), "out_of_range"
    yield "an e2e value too few", replaced(members, 2, array([uint(1)] * 2)), "out_of_range"
    yield "an e2e value too many", replaced(members, 2, array([uint(1)] * 4)), "out_of_range"
    yield "an e2e count of 33 bits", \
        replaced(members, 2, array([uint(1), uint(2**32), uint(1)])), "out_of_range"
    yield "an e2e value of text", \
        replaced(members, 2, array([uint(1), uint(1), head(3, 1) + b"x"])), "wrong_type"
    yield "two values of the sink", replaced(members, 3, array([uint(1)] * 2)), "out_of_range"
    yield "four values of the sink", replaced(members, 3, array([uint(1)] * 4)), "out_of_range"
    yield "a time beyond 63 bits", \
        replaced(members, 3, array([uint(2**63), uint(1), uint(1)])), "out_of_range"
    yield "62 hops", replaced(members, 4, array([array([uint(1), uint(0)])] * 62)), "out_of_range"
    for name, hop, code in (
            ("no array", uint(1), "wrong_type"),
            ("no bitmap", array([uint(1)]), "out_of_range"),
            ("an unknown bit", array([uint(1), uint(0x1000)]), "out_of_range"),
            ("an id of 17 bits", array([uint(65536), uint(0)]), "out_of_range"),
            ("too few values", array([uint(1), uint(0xE000)]), "out_of_range"),
            ("too many values", array([uint(1), uint(0), uint(1)]), "out_of_range"),
            ("far too many values", array([uint(1), uint(0)] + [uint(1)] * 10), "out_of_range"),
            ("a counter of 17 bits", array([uint(1), uint(0x8000), uint(65536), uint(0)]),
             "out_of_range"),
            ("a value of text", array([uint(1), uint(0x4000), head(3, 0)]), "wrong_type")):
        yield f"a hop with {name}", replaced(members, 4, array([hop])), code


def vectors():
    random_numbers.seed(0x33)
    return {
        "written": [{**r, "cbor": pairs(members_of(r)).hex()} for r in written()],
        "read": [{**r, "name": name, "cbor": cbor.hex()} for name, r, cbor in read_only()],
        "refused": [{"name": name, "cbor": cbor.hex(), "code": code}
                    for name, cbor, code in refused()],
    }


def text():
    lines = []
    for kind, cases in vectors().items():
        rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
        lines.append(f'"{kind}": [\n{rows}\n]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_corpus(folder):
    os.makedirs(folder, exist_ok=True)
    for kind, cases in vectors().items():
        for case in cases[:10] + cases[10::3]:
            name = f"{kind}-{case['name']}".replace(" ", "-").replace("^", "")
            with open(os.path.join(folder, name), "wb") as file:
                file.write(bytes.fromhex(case["cbor"]))


def main(argv):
    if len(argv) == 3 and argv[1] == "--check":
        with open(argv[2], encoding="ascii") as file:
            same = file.read() == text()
        if not same:
            print(f"{argv[2]} is not what make_vectors.py makes", file=sys.stderr)
        return 0 if same else 1
    if len(argv) == 3 and argv[1] == "--corpus":
        write_corpus(argv[2])
        return 0
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(argv[1], "w", encoding="ascii") as file:
        file.write(text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
