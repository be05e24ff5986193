#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the seed corpora of the wire fuzzers from the golden vectors: make_corpus.py [FOLDER]."""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "golden", "wire", "vectors.json")
PER_KIND = {"insert": 24, "option": 6, "strip": 24, "grow": 16, "parse": 100}


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
            write(os.path.join(root, "fuzz_flexint"), name, choice + frame)


if __name__ == "__main__":
    main()
