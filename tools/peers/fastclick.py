# SPDX-License-Identifier: BSD-3-Clause
"""FastClick on the devices of hopsight-bench, with one lcore, its main thread. Its only table of IPv6 routes,
LookupIP6Route, compares an address with each route in turn. Its elements give all packets of a port one next hop."""

import os
import re
import shutil

from bench import measure
from peers import traffic

ABOUT = {"mac": "FastClick, writes both MAC addresses", "one": "FastClick, router with one route for all",
         "route": "FastClick, router that searches 1,024 routes in turn"}


def routes(mode):
    """Returns a route for each prefix, or one for all prefixes."""
    return ["2001:db8::/32"] if mode == "one" else [f"{traffic.prefix(i)}/48" for i in range(traffic.ROUTES)]


def configuration(mode):
    """Returns the router of a mode in FastClick's language. The Ethernet header stays in front of the packet."""
    router = ["CheckIP6Header(OFFSET 14)", "GetIP6Address(38)",
              f"LookupIP6Route({', '.join(f'{route} 0' for route in routes(mode))})", "DecIP6HLIM"]
    return "DPDKInfo(NB_MBUF 16383);\n" + "\n-> ".join([
        "FromDPDKDevice(0)", *(router if mode != "mac" else []),
        f"EtherRewrite(02:00:00:00:01:00, {traffic.next_hop_mac(0)})", "ToDPDKDevice(1, BLOCKING true)"]) + ";\n"


def complaint(path):
    """Returns the first line that FastClick printed about what it does not know or take, or ""."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return next((f": {line.strip()}" for line in f if re.search("error|unknown|undeclared|unrecognized", line, re.I)), "")


def ns(program, bench, source, mode, huge):
    """Returns the nanoseconds of its core for each packet, as l3fwd.ns does."""
    path, log = os.path.join(bench.folder, "fastclick.click"), os.path.join(bench.folder, "fastclick.log")
    with open(path, "w", encoding="ascii") as f:
        f.write(configuration(mode))
    with open(log, "wb") as f:
        process = measure.start([program, "--dpdk", *measure.memory_words(huge), "--no-pci",
                                 f"--file-prefix={bench.prefix}", "--lcores", f"0@{bench.worker}", "--vdev", source,
                                 "--vdev", "net_null0,no-rx=1", "--", path], log=f)
    try:
        taken = measure.peer_ns(process, bench.prefix, bench.seconds, main=True)
        received = measure.port_packets(bench.prefix, 0, "ipackets") or 0
        sent = measure.port_packets(bench.prefix, 1, "opackets") or 0
        if not received or sent < 0.99 * received:
            raise measure.Failed(f"it sent {sent} of {received} packets")
        return taken
    except measure.Failed as error:
        raise measure.Failed(f"FastClick: {error}{complaint(log)}") from error
    finally:
        measure.stop(process)
        shutil.rmtree(measure.runtime_folder(bench.prefix), ignore_errors=True)
