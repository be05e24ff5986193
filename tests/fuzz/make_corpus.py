#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the seed corpora of the wire fuzzers from the golden vectors, and those of the API's that are
no golden cases: make_corpus.py [FOLDER]."""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "golden", "wire", "vectors.json")
PER_KIND = {"insert": 24, "option": 6, "strip": 24, "grow": 16, "parse": 100, "block": 4, "take": 12}


# What changes routes and is taken; the golden cases' node does not route.
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
    """Evenly over the list, so that every sort of case is there."""
    step = max(1, len(cases) // n)
    for case in cases[::step]:
        frames = [case.get("frame"), case.get("extra_frame"), case.get("plain")]
        hops = case.get("hops", [])
        frames.append(hops[-1].get("frame") if hops else None)
        for i, frame in enumerate(frames):
            if frame:
                slug = re.sub("[^a-z0-9]+", "-", case["name"].lower()).strip("-")
                yield f"{slug}-{case.get('layout', 'any')}-{i}", bytes.fromhex(frame)


def write(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "corpus")
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


if __name__ == "__main__":
    main()
