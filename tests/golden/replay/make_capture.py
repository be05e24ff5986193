#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes pcap-replay.pcap, which config/lab/pcap-replay.json replays: two flows of odd sizes at odd
times, built by scapy.

    make_capture.py FOLDER          write the file
    make_capture.py --check FOLDER  exit 1 if the file there differs
"""

import os
import struct
import sys

try:
    from scapy.layers.inet import UDP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.l2 import Ether
    from scapy.packet import Raw
except ImportError:
    print("skipped: scapy is not installed for this python", file=sys.stderr)
    sys.exit(77)

NAME = "pcap-replay.pcap"
FRAMES = 500
FIRST_S = 1767225600
MEAN_GAP_NS = 18000000
PORTS = ((5000, 6000), (5001, 6001))


def draws(seed=1):
    """Yields numbers of 31 bits, the same on every machine (Lehmer)."""
    while True:
        seed = seed * 48271 % 0x7fffffff
        yield seed


def frame(ports, payload):
    return bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") /
                 IPv6(src="2001:db8:0:1::1", dst="2001:db8:0:3::1", hlim=64) /
                 UDP(sport=ports[0], dport=ports[1]) /
                 Raw(bytes(i & 0xff for i in range(payload))))


def capture():
    drawn = draws()
    made = struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1)
    at_ns = 0
    for _ in range(FRAMES):
        payload = next(drawn) % 111  # one of seven packets is larger, one of 50 is full
        if next(drawn) % 50 == 0:
            payload = 1380
        elif next(drawn) % 7 == 0:
            payload += 277
        bytes_ = frame(PORTS[next(drawn) % 3 == 0], payload)
        made += struct.pack("<IIII", FIRST_S + at_ns // 10**9, at_ns % 10**9, len(bytes_),
                            len(bytes_)) + bytes_
        at_ns += next(drawn) % (2 * MEAN_GAP_NS)
    return made


def main(argv):
    check = len(argv) == 3 and argv[1] == "--check"
    if not check and len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = os.path.join(argv[-1], NAME)
    if not check:
        with open(path, "wb") as file:
            file.write(capture())
        return 0
    with open(path, "rb") as file:
        same = file.read() == capture()
    if not same:
        print(f"{path} is not what make_capture.py makes", file=sys.stderr)
    return not same


if __name__ == "__main__":
    sys.exit(main(sys.argv))
