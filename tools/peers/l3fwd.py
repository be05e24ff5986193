# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's example l3fwd, longest prefix match, on the devices of hopsight-bench. It has one lcore, its main thread,
because a capture file gives its port one transmit queue. As shipped it asks for checksum offloads, which net_pcap does
not have: the program that is measured here must ask for none (main.c: port_conf.rxmode.offloads)."""

import ipaddress
import os
import shutil

from bench import measure
from peers import traffic


def write_routes(folder):
    ipv4, ipv6 = os.path.join(folder, "routes-ipv4"), os.path.join(folder, "routes-ipv6")
    with open(ipv4, "w", encoding="ascii") as f:
        f.write("R198.18.0.0/24 0\n")  # it wants one
    with open(ipv6, "w", encoding="ascii") as f:
        f.writelines(f"R{ipaddress.ip_address(traffic.prefix(i)).exploded}/48 1\n" for i in range(traffic.ROUTES))
    return [f"--rule_ipv4={ipv4}", f"--rule_ipv6={ipv6}"]


def ns(program, bench, source, huge):
    """Returns the nanoseconds of its core for each packet. `bench` is a measure.Bench, `source` the device of the
    frames."""
    process = measure.start([program, *measure.memory_words(huge), "--no-pci", f"--file-prefix={bench.prefix}",
                             "--lcores", f"0@{bench.worker}", "--vdev", source, "--vdev", "net_null0,no-rx=1", "--",
                             "-p", "0x3", "-P", "--config=(0,0,0)", "--lookup=lpm", "--parse-ptype",
                             *write_routes(bench.folder)])
    try:
        return measure.peer_ns(process, bench.prefix, bench.seconds, main=True)
    finally:
        measure.stop(process)
        shutil.rmtree(measure.runtime_folder(bench.prefix), ignore_errors=True)
