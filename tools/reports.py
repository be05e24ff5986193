#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sends telemetry reports to a collector over UDP, or writes them to a pcap file.

The reports are those that switches with INT would send: of version 0.5, 1.0 or 2.0, about flows that
take a path of some hops. Latencies, queues and utilisations stay the same, except that --events
values a second change by --change. So a collector has this many changes to find and no more.

examples:
  reports.py 127.0.0.1:32766                          10,000 reports of version 2.0 in one second
  reports.py [::1]:32766 --format 1.0 --flows 2000 --rate 50000 --count 0 --events 1000
  reports.py 127.0.0.1:32766 --kinds sink,drop,queue --coalesce 4
  reports.py 127.0.0.1:54321 --intercollector --format 0.5
  reports.py --pcap reports.pcap --hops 5 --fields latency,queue --count 1000
"""

import argparse
import itertools
import random
import socket
import struct
import sys
import time

import report_formats as formats

KINDS = ("sink", "postcard", "drop", "queue", "intermediate")
# Words for instructions of INT, as bits; the node id is always there.
FIELDS = {"ports": 0x4000, "latency": 0x2000, "queue": 0x1000, "ingress_time": 0x0800,
          "egress_time": 0x0400, "congestion": 0x0200, "ports_l2": 0x0200, "utilisation": 0x0100,
          "buffer": 0x0080}
NOT_IN = {"0.5": ("ports_l2", "buffer"), "1.0": ("congestion", "buffer"), "2.0": ("congestion",)}
INT_OF = {"0.5": "0.5", "1.0": "1.0", "2.0": "2.1"}
CHANGES = (("latency", "latency"), ("queue", "occupancy"), ("utilisation", "utilisation"))
PORT = 32766  # in a pcap file
PACKET_BYTES = 900  # of a packet's copy
HOP_NS = 1000


class Flow:
    def __init__(self, number, options, rng):
        n = options.hops
        host = f"{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        ends = (f"10.{host}", "198.51.100.1") if not options.ipv6 else (
            f"2001:db8::{number & 0xFFFF:x}:{number >> 16:x}", "2001:db8:ffff::1")
        self.tuple = (*ends, 17, 1024 + number % 60000, 5001)
        nodes = options.nodes or n
        self.hops = [{
            "node_id": 1 + (number + place) % nodes, "ingress_port": 1, "egress_port": 2 + number % 4,
            "latency": rng.randint(500, 600), "queue_id": number % 8, "occupancy": rng.randint(0, 15),
            "congestion_queue_id": number % 8, "congestion": rng.randint(0, 15),
            "ingress_port_l2": 1, "egress_port_l2": 2, "utilisation": 1000 + 7 * place,
            "buffer_id": 0, "buffer": 20} for place in range(n)]
        self.changed = False


class Reports:
    """Makes the datagrams, one after the other."""

    def __init__(self, options):
        self.options, self.rng = options, random.Random(options.seed)
        self.version = options.format
        self.int_version = INT_OF[self.version]
        self.bitmap = 0x8000
        for field in options.fields:
            self.bitmap |= FIELDS[field]
        self.flows = [Flow(number, options, self.rng) for number in range(options.flows)]
        # Queues and links belong to all flows that cross them: they change for all at once.
        self.shared = {}
        self.sequences, self.turn = {}, 0
        self.kinds = itertools.cycle(options.kinds)
        self.measure = next((name for field, name in CHANGES if field in options.fields), None)

    def change(self):
        """Changes one value of the next flow by more than a threshold, or back again."""
        flow = self.flows[self.turn % len(self.flows)]
        place = self.rng.randrange(len(flow.hops))
        step = -self.options.change if flow.changed else self.options.change
        if flow.changed:
            place = flow.place
        flow.changed, flow.place = not flow.changed, place
        flow.hops[place][self.measure] += step
        if self.measure != "latency":
            self.share(flow.hops[place])

    def share(self, hop):
        key = "queue_id" if self.measure == "occupancy" else "egress_port"
        self.shared[hop["node_id"], hop[key]] = hop[self.measure]

    def hops_of(self, flow, now_ns):
        """Returns the flow's hops with times, and with what other flows reported of the same queues and
        links."""
        key = "queue_id" if self.measure == "occupancy" else "egress_port"
        for hop in flow.hops:
            if self.shared:
                hop[self.measure] = self.shared.get((hop["node_id"], hop[key]), hop[self.measure])
            hop["ingress_ns"], now_ns = now_ns, now_ns + hop["latency"]
            hop["egress_ns"] = now_ns
            now_ns += HOP_NS
        return flow.hops

    def sequence(self, node):
        if self.version == "0.5":  # counts the datagrams of an address
            node = None
        number = self.sequences.get(node, 0)
        self.sequences[node] = number + 1
        return number

    def next(self, now_ns):
        """Returns the payload of a datagram, and how many reports are in it."""
        kind, flow = next(self.kinds), self.flows[self.turn % len(self.flows)]
        self.turn += 1
        hops = self.hops_of(flow, now_ns)
        place = {"sink": len(hops) - 1, "intermediate": len(hops) // 2}.get(
            kind, self.turn % len(hops))
        node = hops[place]["node_id"]
        if self.version != "2.0":
            make = self.report_0_5 if self.version == "0.5" else self.report_1_0
            return make(kind, flow, hops, place, node), 1
        reports = [self.report_2_0(kind, flow, hops, place)]
        # All reports of a datagram are of one node. It is at the same place of these paths.
        apart = self.options.nodes or self.options.hops
        for number in range(1, self.options.coalesce):
            flow = self.flows[(self.turn - 1 + number * apart) % len(self.flows)]
            more = self.hops_of(flow, now_ns)
            if more[place]["node_id"] == node:
                reports.append(self.report_2_0(kind, flow, more, place))
        return formats.group_2_0(node, 0, self.sequence(node), reports), len(reports)

    def packet(self, kind, flow, hops, place):
        inside = b""
        if kind in ("sink", "intermediate"):
            inside = formats.int_md(self.int_version, self.bitmap, hops[:place + 1], flow.tuple[2],
                                    flow.tuple[4])
        return formats.ethernet(formats.packet_of(flow.tuple, inside))[:PACKET_BYTES]

    @staticmethod
    def flags(kind):
        return {"drop": "DF", "queue": "QF"}.get(kind, "F")

    def own(self, kind, hop):
        return {**hop, "drop_queue_id": hop["queue_id"], "drop_reason": 51}

    def report_0_5(self, kind, flow, hops, place, node):
        header = {"sink": 0, "drop": 1}.get(kind, 2)
        return formats.report_0_5(0, self.sequence(node), hops[place]["ingress_ns"], self.flags(kind),
                                  self.packet(kind, flow, hops, place), header,
                                  self.own(kind, hops[place]))

    def report_1_0(self, kind, flow, hops, place, node):
        bits = {"sink": 0, "drop": 0x22, "queue": 0x28}.get(kind, 0x3D)
        return formats.report_1_0(node, 0, self.sequence(node), hops[place]["ingress_ns"],
                                  self.flags(kind), self.packet(kind, flow, hops, place), bits=bits,
                                  values=self.own(kind, hops[place]))

    def report_2_0(self, kind, flow, hops, place):
        bits = {"sink": 0, "intermediate": 0, "drop": 0x4801, "queue": 0x5800}.get(kind, 0x7F80)
        flags = self.flags(kind) + ("I" if kind == "intermediate" else "")
        return formats.report_2_0(flags, self.packet(kind, flow, hops, place), bits=bits,
                                  values=self.own(kind, hops[place]))


class InTCollector:
    """Makes the reports of INTCollector's own generator: hops 4, 5 and 6, the newest first."""

    def __init__(self, options):
        self.options, self.changed = options, False
        self.measure = "latency"

    def change(self):
        self.changed = not self.changed

    def next(self, now_ns):
        now_s = now_ns // 10**9 & 0xFFFFFFFF
        first = (4, 5, 3, 4, 5, 6, 700, now_s, 0x000503E8, 1000) if self.changed else (
            4, 5, 3, 400, 5, 600, 700, now_s, 0x000503E8, 1)
        hops = [first] + [(node, 2, 3, 4, 5, 6, 7, now_s + node - 4, 0x0005000A, 1) for node in (5, 6)]
        return formats.intercollector(self.options.format, hops, ingress_ns=now_s), 1


# ---- where they go ----


class Socket:
    def __init__(self, destination):
        host, port = destination
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.connect((host, port))
        self.refused = 0

    def send(self, payload, _now_ns):
        try:
            self.socket.send(payload)
        except ConnectionRefusedError:  # of an earlier datagram: no process listens there
            self.refused += 1

    def close(self):
        self.socket.close()
        if self.refused:
            print(f"reports.py: nobody listened there {self.refused} times", file=sys.stderr)


class Pcap:
    """A file of Ethernet frames, as a reporter would send them to a collector's port."""

    def __init__(self, path, ipv6):
        self.file = open(path, "wb")  # pylint: disable=consider-using-with
        self.ends = ("2001:db8:1::1", "2001:db8:1::2") if ipv6 else ("192.0.2.1", "192.0.2.2")
        self.file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))

    def send(self, payload, now_ns):
        segment = formats.udp(5000, PORT, payload)
        if ":" in self.ends[1]:
            segment = segment[:6] + self.checksum(segment) + segment[8:]
        frame = formats.ethernet(formats.ip(*self.ends, 17, segment))
        self.file.write(struct.pack("<IIII", now_ns // 10**9, now_ns % 10**9, len(frame), len(frame)))
        self.file.write(frame)

    def checksum(self, segment):
        """Returns the UDP checksum, which UDP over IPv6 always has."""
        src, dst = (socket.inet_pton(socket.AF_INET6, end) for end in self.ends)
        data = src + dst + struct.pack("!II", len(segment), 17) + segment
        return struct.pack("!H", formats.checksum(data + bytes(len(data) % 2)) or 0xFFFF)

    def close(self):
        self.file.close()


# ---- in time ----


class Pace:
    """The times at which reports are due, in seconds from the beginning."""

    def __init__(self, options):
        self.rate, self.wait, self.begin = options.rate, not options.pcap, time.monotonic()

    def at(self, sent):
        """Waits until the report number `sent` is due. Returns the seconds since the beginning."""
        if not self.rate:
            return time.monotonic() - self.begin
        due = sent / self.rate
        if self.wait:
            left = due - (time.monotonic() - self.begin)
            if left > 0.001:
                time.sleep(left)
        return due


def run(options, reports, to):
    """Sends reports, and prints how many there were. Returns the number of reports."""
    begin_ns, pace = time.time_ns(), Pace(options)
    sent = datagrams = changes = 0
    shown = 1.0
    try:
        while not options.count or sent < options.count:
            at = pace.at(sent)
            while options.events and changes < int(at * options.events):
                reports.change()
                changes += 1
            payload, n = reports.next(begin_ns + int(at * 10**9))
            to.send(payload, begin_ns + int(at * 10**9))
            sent, datagrams = sent + n, datagrams + 1
            if at >= shown and not options.quiet:
                print(f"\r{sent} reports in {at:.0f} s", end="", file=sys.stderr, flush=True)
                shown = at + 1
    except KeyboardInterrupt:
        pass
    took = time.monotonic() - pace.begin
    if not options.quiet:
        print(f"\r{sent} reports in {datagrams} datagrams, {changes} changed values, {took:.2f} s",
              file=sys.stderr)
    return sent


# ---- command line ----


def destination_of(text):
    host, colon, port = text.rpartition(":")
    host = host.strip("[]")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"{text}: not ADDRESS:PORT, as 127.0.0.1:32766 or [::1]:32766")
    return host, int(port)


def list_of(allowed):
    def words(text):
        chosen = text.split(",")
        for word in chosen:
            if word not in allowed:
                raise argparse.ArgumentTypeError(f"{word}: not one of {', '.join(allowed)}")
        return chosen
    return words


def number_from(least, most=2**32):
    def number(text):
        if not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: not a number from {least} to {most}")
        return int(text)
    return number


def parser_of():
    parser = argparse.ArgumentParser(prog="reports.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("destination", nargs="?", type=destination_of, metavar="ADDRESS:PORT",
        help="of the collector; IPv6 in brackets")
    add("--pcap", metavar="FILE", help="write frames to this file instead of sending them")
    add("--format", choices=("0.5", "1.0", "2.0"), default="2.0",
        help="version of the reports; the packets in them carry INT 0.5, 1.0 or 2.1 (default 2.0)")
    add("--kinds", type=list_of(KINDS), default=["sink"], metavar="KIND,...",
        help="in turn: sink (the whole path), postcard (one node's values), drop, queue (congested), "
             "intermediate (2.0 only: a stack from halfway) (default sink)")
    add("--flows", type=number_from(1, 2**24), default=1, metavar="N", help="default 1")
    add("--hops", type=number_from(1, 64), default=3, metavar="N", help="of each path (default 3)")
    add("--nodes", type=number_from(1), metavar="N",
        help="that the paths share (default: as many as hops)")
    add("--fields", type=list_of(FIELDS), metavar="FIELD,...",
        help=f"what each hop tells: {', '.join(FIELDS)} (default: all that the format has)")
    add("--count", type=number_from(0), default=10000, metavar="N", help="reports; 0: until Ctrl-C")
    add("--rate", type=number_from(0), default=10000, metavar="N",
        help="reports a second; 0: as fast as possible")
    add("--events", type=number_from(0), default=0, metavar="N",
        help="values that change in a second: latencies, else queues, else utilisations (default 0)")
    add("--change", type=number_from(1, 2**20), default=2000, metavar="N",
        help="by how much they change (default 2000)")
    add("--coalesce", type=number_from(1, 16), default=1, metavar="N",
        help="2.0 only: reports in one datagram (default 1)")
    add("--ipv6", action="store_true", help="the flows, and the reports in a file, are of IPv6")
    add("--seed", type=int, default=1, help="another one makes other values (default 1)")
    add("--intercollector", action="store_true",
        help="what INTCollector's generator sends, of 0.5 or 1.0, with its departures")
    add("--quiet", action="store_true", help="show no progress")
    return parser


def check(parser, options):
    """Refuses options that do not go together, and sets the default of --fields."""
    if bool(options.destination) == bool(options.pcap):
        parser.error("give either ADDRESS:PORT or --pcap FILE")
    if options.pcap and not options.rate:
        parser.error("--rate 0: a file needs a rate, because it says when each frame comes")
    if options.pcap and not options.count:
        parser.error("--count 0: a file must end")
    for name in options.fields or ():
        if name in NOT_IN[options.format]:
            parser.error(f"--fields: {options.format} has no {name}")
    if options.fields is None:
        options.fields = [name for name in FIELDS if name not in NOT_IN[options.format]]
    if options.intercollector and options.format == "2.0":
        parser.error("--intercollector: its generator has --format 0.5 and 1.0 only")
    if "intermediate" in options.kinds and options.format != "2.0":
        parser.error("--kinds: only 2.0 has intermediate reports")
    if options.coalesce > 1 and options.format != "2.0":
        parser.error("--coalesce: only 2.0 has several reports in a datagram")
    if options.events and not {"latency", "queue", "utilisation"} & set(options.fields):
        parser.error("--events: none of the chosen fields has a value that changes")
    one_flow = Reports(argparse.Namespace(**{**vars(options), "flows": 1}))
    try:
        for _ in options.kinds:
            one_flow.next(0)
    except struct.error:
        parser.error("--hops: the values of so many hops are more than the length of INT can say; "
                     "choose fewer hops or --fields")


def main():
    parser = parser_of()
    options = parser.parse_args()
    check(parser, options)
    reports = InTCollector(options) if options.intercollector else Reports(options)
    try:
        to = Pcap(options.pcap, options.ipv6) if options.pcap else Socket(options.destination)
        try:
            run(options, reports, to)
        finally:
            to.close()
    except OSError as error:
        where = options.pcap or ":".join(map(str, options.destination))
        print(f"reports.py: {where}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
