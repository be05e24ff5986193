#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A capture of IPv6 UDP for net_pcap's infinite_rx, one frame for each flow.

    bench_pcap.py FILE [--flows 4096] [--frame-bytes 128]
"""

import argparse

from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

HEAD_BYTES = 62
FIRST_PORT = 1024


def main():
    parser = argparse.ArgumentParser(description="a capture for net_pcap's infinite_rx")
    parser.add_argument("file")
    parser.add_argument("--flows", type=int, default=4096)
    parser.add_argument("--frame-bytes", type=int, default=128, help="without FCS")
    parser.add_argument("--src", default="2001:db8::1")
    parser.add_argument("--dst", default="2001:db8::2")
    parser.add_argument("--src-mac", default="02:00:00:00:00:01")
    parser.add_argument("--dst-mac", default="02:70:63:61:70:00", help="that of net_pcap0")
    parser.add_argument("--dst-port", type=int, default=5001)
    options = parser.parse_args()
    if options.frame_bytes < HEAD_BYTES or not 1 <= options.flows <= 65536 - FIRST_PORT:
        parser.error(f"at least {HEAD_BYTES} bytes, at most {65536 - FIRST_PORT} flows")
    payload = Raw(bytes(options.frame_bytes - HEAD_BYTES))
    wrpcap(options.file, [Ether(src=options.src_mac, dst=options.dst_mac) /
                          IPv6(src=options.src, dst=options.dst) /
                          UDP(sport=FIRST_PORT + i, dport=options.dst_port) / payload
                          for i in range(options.flows)])


if __name__ == "__main__":
    main()
