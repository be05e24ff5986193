# SPDX-License-Identifier: BSD-3-Clause
"""Random configurations of a collector, and random datagrams for it: reports of all formats with every
value, whole, cut and malformed, in and out of order, from more flows, queues and exporters than the
tables keep."""

import collections
import os
import random
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))

import report_formats as formats  # noqa: E402
from decode import Settings  # noqa: E402
from model import MEASURES, SECOND, TABLES, Config  # noqa: E402

Record = collections.namedtuple("Record", "time_ns listener address data")
Push = collections.namedtuple("Push", "time_ns budget")
BEGIN_NS = 1_700_000_000 * SECOND
PORT, MARKER = 5005, 0x0123456789ABCDEF
OWN = dict(zip((0x4000, 0x2000, 0x1000, 0x0800, 0x0400, 0x0200, 0x0100, 0x0080, 0x0001), range(9)))


TUNNELS = {"2016-06": ("vxlan_gpe", "geneve"), "0.5": ("vxlan_gpe", "geneve"), "1.0": ("vxlan_gpe", "geneve"),
           "2.1": ("gre", "vxlan_gpe", "geneve")}
GPE_PROTOCOLS = {"2016-06": 5, "0.5": 5, "1.0": 8, "2.1": 0x82}


def in_tunnel(rng):
    """Settings of INT in a tunnel, of any version."""
    version = rng.choice(tuple(TUNNELS))
    return Settings(version, "dscp", formats.DSCP, 0x3F, PORT, MARKER, rng.choice(TUNNELS[version]))


def settings(rng, version):
    mark = rng.choice(("dscp",) * 4 + ("udp_port", "probe"))
    if version == "1.0" and mark == "udp_port" or version == "0.5" and mark == "probe":
        mark = "dscp"
    mask = rng.choice((0x3F, 0x3F, 0x07))
    return Settings(version, mark, formats.DSCP & mask, mask, PORT, MARKER)


def config(rng, lenient=False, tunnels=False):
    """Small tables, so that entries have to go; or tables that keep everything."""
    small = rng.random() < 0.6
    sizes = {name: rng.randint(1, 40) if small else 100_000 for name in TABLES}
    thresholds = {name: rng.choice((None, (0, 0), (20, 0), (50, 0), (1000, 0), (0, 1000), (0, 5000)))
                  for name in MEASURES}
    versions = ("0.5", "1.0", "2.1")
    if rng.random() < 0.2:
        versions = [rng.choice(versions) for _ in range(3)]
    taken = [None if rng.random() < 0.1 else settings(rng, version) for version in versions]
    if not any(taken):
        taken[0] = settings(rng, versions[0])
    if tunnels:
        taken = [in_tunnel(rng) for _ in range(3)]
    if lenient:
        taken = [Settings("0.5", "dscp", formats.DSCP, 0x3F, 0, 0),
                 Settings("1.0", "dscp", formats.DSCP, 0x3F, 0, 0), rng.choice((None, taken[2]))]
        taken[:2] = rng.choice((taken[:2], taken[:2], [taken[0], None], [None, taken[1]]))
    return Config(taken, lenient, sizes, rng.choice((1, 5, 1000)), thresholds,
                  rng.choice((0, 0, 0, 64)), rng.choice((0, SECOND // 2, 3 * SECOND)),
                  rng.choice((0, 0, SECOND // 4, 2 * SECOND)))


class World:
    """Flows with their paths, and exporters with their sequence numbers."""

    def __init__(self, rng, of, changed):
        self.rng, self.config, self.changed = rng, of, changed
        self.now = BEGIN_NS
        self.n_flows = rng.choice((1, 5, 40, 300))
        self.nodes = [rng.choice((rng.randint(1, 12), rng.getrandbits(32) - 1)) for _ in range(12)]
        self.flows = [self.flow() for _ in range(self.n_flows)]
        self.sequences, self.held = {}, []
        self.versions = [v for v in range(3) if of.settings[v]]

    def flow(self):
        rng = self.rng
        protocol = rng.choice((6, 6, 17, 17, 17, 1, 132))
        host, port = rng.randint(1, 5), rng.randint(1, 3)
        if rng.random() < 0.4:
            ends = f"2001:db8::{host}", "2001:db8:1::9"
        else:
            ends = f"10.0.0.{host}", "10.1.0.9"
        path = rng.sample(self.nodes, rng.randint(0, 6))
        return [(*ends, protocol, 1000 + port, 80), path, rng.choice(((), (), (7,), (7, 9), (0,)))]

    # ---- values ----

    def hop(self, node):
        rng = self.rng
        ingress = rng.choice((rng.getrandbits(30), 0xFFFFFF00, rng.getrandbits(62)))
        values = {
            "node_id": node, "ingress_port": rng.randint(0, 3), "egress_port": rng.randint(0, 3),
            "latency": rng.choice((100, 100, 120, 145, 151, 1200, rng.getrandbits(20), 0, 0xFFFFFFFE)),
            "queue_id": rng.randint(0, 2), "occupancy": rng.choice((10, 10, 35, 70, rng.getrandbits(24))),
            "congestion_queue_id": rng.randint(0, 2), "congestion": rng.choice((10, 70, 3000)),
            "ingress_ns": ingress, "egress_ns": ingress + rng.choice((0, 100, 120, 160, -5)),
            "ingress_port_l2": 7, "egress_port_l2": 8, "utilisation": rng.choice((10, 15, 70, 5000)),
            "buffer_id": 1, "buffer": 2, "complement": rng.getrandbits(16),
            "drop_queue_id": 1, "drop_reason": rng.choice((0, 10, 51, 255)),
        }
        for name in list(values):
            if rng.random() < 0.03:
                del values[name]
        return values

    def bitmap(self, version):
        rng = self.rng
        bits = rng.choice((0xFF00, 0xF800, 0x8000, 0xB000, 0xA000, 0x3000, rng.getrandbits(8) << 8))
        if version in ("1.0", "2.1") and rng.random() < 0.3:
            bits |= rng.getrandbits(8)
        return bits

    # ---- packets ----

    def mark(self, flow, version, data, at):
        """Says in the INT header at `at` now and then, and of some flows for seconds, that nodes added nothing."""
        some = zlib.crc32(repr(flow).encode()) % 7 == 0 and self.now // (15 * SECOND) % 2
        if len(data) < at + 2 or not (some or self.rng.random() < 0.03):
            return data
        bits = {"2016-06": (0x0400,), "0.5": (0x0100,), "1.0": (0x0100, 0x0080), "2.1": (0x0400, 0x0200)}[version]
        word = int.from_bytes(data[at:at + 2], "big") | self.rng.choice(bits)
        return data[:at] + word.to_bytes(2, "big") + data[at + 2:]

    def inside(self, flow, path, of):
        """INT behind the transport header, and the port that shows."""
        rng, shown = self.rng, flow
        bitmap = self.bitmap(of.version)
        hops = [self.hop(node) for node in path]
        if rng.random() < 0.02:
            hops = [self.hop(rng.choice(self.nodes)) for _ in range(rng.choice((7, 30, 62, 63, 64, 65, 70)))]
            bitmap = rng.choice((0x8000, 0xA000)) if len(hops) < 60 else 0x8000
        data = self.mark(flow, of.version, formats.int_md(of.version, bitmap, hops, flow[2], flow[4]), 4)
        if of.mark == "probe":
            data = struct.pack("!Q", of.marker) + data
        elif of.mark == "udp_port":
            shown = (*flow[:4], of.port)
            if of.version == "2.1":
                data = bytes([data[0] | 4, data[1]]) + struct.pack("!H", flow[4]) + data[4:]
        return data, shown

    def tunnel(self, flow, path, of):
        """The bytes of an IP packet with INT in a tunnel, around another packet."""
        rng, version, bitmap = self.rng, of.version, self.bitmap(of.version)
        hops = [self.hop(node) for node in path]
        within = formats.packet_of(("172.16.0.1", "172.16.0.2", 17, 1111, 2222), b"", bytes(rng.randint(8, 28)))
        words = formats.words_of(formats.INSTRUCTIONS[version], bitmap)
        if of.carrier == "geneve":  # an option has 31 words at most
            hops = hops[:(28 if version == "2.1" else 29) // words if words else 0]
        stack = formats.int_2016_stack(bitmap, hops) if version == "2016-06" else b"".join(
            formats.values_of(formats.INSTRUCTIONS[version], bitmap, hop) for hop in reversed(hops))
        body = self.mark(flow, version, formats.int_head(version, bitmap, len(hops)) + stack, 0)
        make = {"gre": self.gre, "vxlan_gpe": self.vxlan_gpe, "geneve": self.geneve}[of.carrier]
        return make(flow, version, body if rng.random() < 0.95 else b"", within)

    def gre(self, flow, version, body, within):
        """A tunnel that was there, or one that the source put around its packet."""
        rng, flags, adds = self.rng, self.rng.choice((0, 0, 0x20, 0xB0)), self.rng.random() < 0.4
        shim = struct.pack("!BBH", 0x10 | 8 * adds, len(body) // 4, 0x0800)
        data = struct.pack("!BBH", flags, 0, 0x88B5 if body else 0x0800) + bytes(4 * flags.bit_count())
        data += (shim + body if body else b"") + within
        del version
        return formats.ip(flow[0], flow[1], 47, data, rng.choice((0, formats.DSCP)))

    def vxlan_gpe(self, flow, version, body, within):
        """VXLAN-GPE, or plain VXLAN that the source made VXLAN-GPE."""
        rng, plain, words = self.rng, 0x80 * (self.rng.random() < 0.4), len(body) // 4
        if not body:
            head, port = (b"\x08\0\0\0", 4789) if plain else (b"\x0c\0\0\x03", 4790)
        else:
            head, port = bytes((0x0C, 0, 0, GPE_PROTOCOLS[version])), 4790
            body = bytes((0x10, words, plain, 3) if version == "2.1" else (1, plain, words + 1, 3)) + body
        data = head + b"\0\1\x23\0" + body + formats.ethernet(within)
        return formats.ip(flow[0], flow[1], 17, formats.udp(flow[3], port, data), rng.choice((0, formats.DSCP)))

    def geneve(self, flow, version, body, within):
        """With other options before and behind that of INT."""
        rng, others = self.rng, (b"", bytes.fromhex("0102800111223344"), bytes.fromhex("01020001aabbccdd01050100"))
        if body:
            body = struct.pack("!HBB", 0x0103 if version == "2.1" else 0x00AB, 1, len(body) // 4) + body
        text = rng.choice(others) + body + rng.choice(others)
        data = struct.pack("!BBHI", len(text) // 4, 0, 0x6558, 0x12300) + text + formats.ethernet(within)
        return formats.ip(flow[0], flow[1], 17, formats.udp(flow[3], 6081, data), rng.choice((0, formats.DSCP)))

    def packet(self, flow, path, of, tracked):
        """The bytes of an IP packet."""
        rng, inside = self.rng, b""
        if of.carrier != "tcp_udp" and rng.random() < 0.9:
            return self.tunnel(flow, path, of)
        udp_only = of.mark == "udp_port" and of.version == "2.1"
        if tracked and flow[2] in ((17,) if udp_only else (6, 17)) and rng.random() < 0.9:
            inside, flow = self.inside(flow, path, of)
        marked = of.mark == "dscp" or rng.random() < 0.5
        body = formats.packet_of(flow, inside, bytes(rng.randint(8, 28)), marked)
        if inside and flow[2] == 6 and rng.random() < 0.3:
            body = self.with_options(flow, inside, marked)
        if rng.random() < 0.03:
            body = self.odd(body)
        if of.carrier == "tcp_udp" and rng.random() < 0.03:
            body = self.misshapen(body, of)
        return body

    def misshapen(self, body, of):
        """A mark where none belongs, and lengths that disagree; the checksum of IPv4 is not mended."""
        rng, body, is_ipv4 = self.rng, bytearray(body), body[0] >> 4 == 4
        for what in rng.sample(range(4), rng.randint(1, 2)):
            at = 4 * (body[0] & 15) if is_ipv4 else 40
            place = at + 4 * rng.randrange(18)
            if what == 0:
                body[place:place + 8] = rng.choice((struct.pack("!Q", of.marker), struct.pack("!HH", 1, of.port)))
            elif what == 1 and len(body) > at + 12:
                body[at + 12] = rng.randrange(16) << 4  # of TCP; else a byte of INT
            elif what == 2:
                length = at * is_ipv4 + rng.choice((4, 8, 11, 12, 20, 23, 24, 40, rng.randrange(100)))
                struct.pack_into("!H", body, 2 if is_ipv4 else 4, length)
            elif what == 3 and is_ipv4 and body[0] == 0x45:
                words = rng.randint(1, 5)
                body[0] += words
                body[2:4] = struct.pack("!H", struct.unpack("!H", body[2:4])[0] + 4 * words)
                body[20:20] = rng.choice((b"\x01", b"\0")) * 4 * words
        return bytes(body)

    def with_options(self, flow, inside, marked):
        segment = formats.tcp(flow[3], flow[4], inside + b"data", bytes(4 * self.rng.randint(1, 10)))
        return formats.ip(flow[0], flow[1], 6, segment, formats.DSCP if marked else 0)

    def odd(self, body):
        """A fragment, IPv4 options, an extension header of IPv6."""
        rng = self.rng
        if body[0] >> 4 == 4:
            if rng.random() < 0.5:
                return body[:6] + struct.pack("!H", rng.choice((0x2000, 0x2010, 0x0010, 0x4000))) + body[8:]
            length = struct.unpack("!H", body[2:4])[0] + 8
            return b"\x47" + body[1:2] + struct.pack("!H", length) + body[4:20] + bytes(8) + body[20:]
        kind = rng.choice((0, 43, 60, 44, 51))
        extra = struct.pack("!BBHI", body[6], 0, rng.choice((0, 1, 8, 9)) if kind == 44 else 0, 5)
        extra += bytes(4 * (extra[1] + 2) - 8) if kind == 51 else b""
        length = struct.unpack("!H", body[4:6])[0] + len(extra)
        return body[:4] + struct.pack("!HB", length, kind) + body[7:40] + extra + body[40:]

    def copy(self, flow, of, tracked):
        """Returns what a report contains of a packet: its kind and bytes."""
        rng = self.rng
        fields, path, vlans = flow
        if rng.random() < 0.02:
            flow[1] = path = rng.sample(self.nodes, rng.randint(0, 7))
        body = self.packet(fields, path, of, tracked)
        kind = formats.IPV6 if body[0] >> 4 == 6 else formats.IPV4
        if rng.random() < 0.5:
            kind, body = formats.ETHERNET, formats.ethernet(body, vlans)
            if rng.random() < 0.02:
                body = body[:12] + b"\x08\x06" + body[14:]
        if rng.random() < 0.1:
            body = body[:rng.randint(0, len(body))]
        return kind, body

    # ---- reports ----

    def reporter(self, flow):
        """The sink, where the path has one, or any other node."""
        path = flow[1]
        return path[-1] if path and self.rng.random() < 0.7 else self.rng.choice(self.nodes)

    def flags(self):
        rng = self.rng
        return "".join(f for f, p in (("D", 0.1), ("Q", 0.15), ("F", 0.85)) if rng.random() < p)

    def report_0_5(self, hw_id, sequence, flow, node):
        rng, flags = self.rng, self.flags()
        kind, body = self.copy(flow, self.config.settings[0], "F" in flags)
        if kind != formats.ETHERNET:
            body = formats.ethernet(body, flow[2]) if len(body) > 20 else body
        return formats.report_0_5(hw_id, sequence, rng.getrandbits(32), flags, body,
                                  rng.choice((0, 0, 1, 2, 2, 2)),
                                  {**self.hop(node), "node_id": node})

    def report_1_0(self, hw_id, sequence, flow, node):
        rng, flags = self.rng, self.flags()
        kind, body = self.copy(flow, self.config.settings[1], "F" in flags)
        bits = rng.choice((0, 0, 0x28, 0x30, rng.getrandbits(6)))
        return formats.report_1_0(node, hw_id, sequence, rng.getrandbits(32), flags, body, kind, bits,
                                  self.whole(node))

    def whole(self, node):
        """Reports leave out a value that is not there, so all that they have is there."""
        while True:
            values = self.hop(node)
            if len(values) == 18:
                return values

    def report_2_0(self, flow, node):
        rng, flags = self.rng, self.flags() + ("I" if self.rng.random() < 0.1 else "")
        kind, body = self.copy(flow, self.config.settings[2], "F" in flags)
        chance = rng.random()
        if chance < 0.1:
            kind, body = formats.NONE, b""
        elif chance < 0.15:
            body += bytes(-len(body) % 4)
            part = struct.pack("!BBH", (kind - 2) << 4, len(body) // 4, 0) + body
            kind, body = formats.TLV, struct.pack("!BBHI", 0, 1, 7, 5) + part if chance < 0.12 else part
        bits = rng.choice((None, 0, 0x7C00, 0x5000, 0x2101, rng.getrandbits(16) & 0x7FFF))
        words = rng.randbytes(4 * rng.choice((0, 0, 1, 3)))
        domain = (5, 0x8000, 0) if words else (0, 0, 0)
        if len(body) > 900:
            body = body[:900]
        return formats.report_2_0(flags, body, kind, bits, self.whole(node), domain, words)

    def sequence(self, key, width):
        """Mostly the next number."""
        rng = self.rng
        now = self.sequences.get(key, rng.choice((0, 5, (1 << width) - 3, rng.getrandbits(width))))
        chance = rng.random()
        if chance < 0.05:
            now += rng.choice((1, 2, 50, 255, 256, 257, 5000))
        elif chance < 0.055:
            now += rng.choice((1 << (width - 1), rng.getrandbits(width), -1000, -2))
        self.sequences[key] = (now + 1) % (1 << width)
        return now % (1 << width)

    def datagram(self):
        rng = self.rng
        flow = rng.choice(self.flows)
        node, hw_id = self.reporter(flow), rng.choice((0, 0, 1, 63))
        version = rng.choice(self.versions) if rng.random() < 0.98 and self.versions else rng.randint(0, 2)
        address = self.address(node)
        listener = rng.choice((0, 0, 0, 1))
        if not self.config.settings[version]:
            return Record(self.now, listener, address, bytes([version << 4]) + rng.randbytes(40))
        key = (address, listener, hw_id, node if version else None)
        sequence = self.sequence(key, 22 if version == 2 else 32)
        if self.config.lenient and version < 2 and rng.random() < 0.5:
            data = self.of_intercollector(("0.5", "1.0")[version], flow)
        elif version == 2:
            reports = [self.report_2_0(flow if i == 0 else rng.choice(self.flows), node)
                       for i in range(rng.choice((1, 1, 1, 2, 5)))]
            data = formats.group_2_0(node, hw_id, sequence, reports)
        else:
            data = (self.report_0_5, self.report_1_0)[version](hw_id, sequence, flow, node)
        return Record(self.now, listener, address, data)

    def of_intercollector(self, version, flow):
        """What its generator sends; the newest hop is the first. Some of it is cut."""
        rng, names = self.rng, ("node_id", "ingress_port", "egress_port", "latency", "queue_id", "occupancy",
                                "ingress_ns", "egress_ns", "", "utilisation")
        fields = (*flow[0][:2], rng.choice((6, 17, 17)), *flow[0][3:])
        hops = [[values.get(name, rng.choice((0, -1))) for name in names]
                for values in map(self.hop, reversed(flow[1]))]
        widths = (32, 16, 16, 32, 16, 16, 32, 32, 32, 32)
        data = formats.intercollector(version, [[value & (1 << width) - 1 for value, width in zip(hop, widths)]
                                                for hop in hops], fields, rng.getrandbits(32))
        return data if rng.random() < 0.9 else data[:rng.randint(0, len(data))]

    def address(self, node):
        if node % 3 == 0:
            return False, b"\xfd" + bytes(11) + struct.pack("!I", node & 3)
        return True, struct.pack("!I", 0xC0000200 | node & 3) + bytes(12)

    def broken(self, record):
        """A datagram that is cut at any byte, or random."""
        rng, data = self.rng, record.data
        return record._replace(data=data[:rng.randint(0, len(data))] if rng.random() < 0.8 else
                               rng.randbytes(rng.randint(0, 80)))

    def with_other_bytes(self, record):
        rng, data = self.rng, bytearray(record.data)
        for _ in range(rng.choice((1, 1, 3)) if data else 0):
            data[rng.randrange(min(len(data), 120))] = rng.choice((0, 255, rng.randint(0, 255)))
        return record._replace(data=bytes(data))

    def records(self, n):
        """Yields n records in the order of their times."""
        rng = self.rng
        for _ in range(n):
            self.now += rng.choice((0, 0, 0, 1000, 100_000, rng.randint(0, SECOND // 20)))
            if rng.random() < 0.006:
                self.now += rng.choice((1, 15)) * rng.randint(0, SECOND)
            record = self.datagram()
            if rng.random() < 0.02:
                record = self.broken(record)
            elif rng.random() < self.changed:
                record = self.with_other_bytes(record)
            chance = rng.random()
            if chance < 0.03:
                self.held.append(record)
            if self.held and rng.random() < 0.03:
                record = self.held.pop(rng.randrange(len(self.held)))
            if self.config.push_ns and rng.random() < 0.2:
                yield Push(self.now, rng.choice((100_000, 100_000, 500)))
            yield record._replace(time_ns=self.now)


def of_seed(seed, n, lenient=False, changed=0.0, tunnels=False):
    """changed: the part of the datagrams in which some bytes are others."""
    rng = random.Random(seed)
    chosen = config(rng, lenient, tunnels)
    return chosen, list(World(rng, chosen, changed).records(n))
