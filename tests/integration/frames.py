# SPDX-License-Identifier: BSD-3-Clause
"""Frames as bytes, and the telemetry that they carry. This is written from the format's
description, not from the switch's code, so that the two can disagree."""

import ipaddress
import random
import struct

UDP, TCP, ICMP6 = 17, 6, 58
HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION, NONE = 0, 43, 44, 60, 59

_E2E_FIELDS = ((0x8000, "int_packets", 4), (0x4000, "ts_ns", 8), (0x2000, "tx_packets", 4),
               (0x1000, "tx_bytes", 4))
_HOP_FIELDS = ((0x8000, "tx_packets", 2), (0x8000, "rx_packets", 2), (0x4000, "ts_ns", 8),
               (0x2000, "tx_bytes", 4), (0x2000, "rx_bytes", 4))


def address(text):
    return ipaddress.IPv6Address(text).packed


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


MAC_A, MAC_B = mac("02:00:00:00:00:0a"), mac("02:00:00:00:00:0b")


def checksum(source, destination, protocol, body):
    data = source + destination + struct.pack("!IxxxB", len(body), protocol) + body
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF or 0xFFFF


def udp(source, destination, sport, dport, payload):
    body = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload
    return body[:6] + struct.pack("!H", checksum(source, destination, UDP, body)) + payload


def tcp(sport, dport, payload):
    return struct.pack("!HHIIBBHHH", sport, dport, 1, 2, 5 << 4, 0x18, 512, 0, 0) + payload


def ipv6(source, destination, next_header, payload, hop_limit=64):
    return struct.pack("!IHBB", 6 << 28, len(payload), next_header, hop_limit) \
        + source + destination + payload


def ethernet(packet, destination=MAC_B, source=MAC_A, tags=(), ethertype=0x86DD):
    """tags: (TPID, VLAN id) pairs, outermost first."""
    words = b"".join(struct.pack("!HH", tpid, vlan) for tpid, vlan in tags)
    return destination + source + words + struct.pack("!H", ethertype) + packet


def udp_frame(source_ip, destination_ip, sport, dport, payload, **more):
    """`more` has Ethernet's values: source, destination, tags."""
    a, b = address(source_ip), address(destination_ip)
    return ethernet(ipv6(a, b, UDP, udp(a, b, sport, dport, payload)), **more)


def options_header(next_header, options):
    """Returns a Hop-by-Hop or Destination Options header around option bytes, padded with PadN."""
    rest = -(2 + len(options)) % 8
    pad = b"" if rest == 0 else b"\0" if rest == 1 else bytes([1, rest - 2]) + bytes(rest - 2)
    body = options + pad
    return bytes([next_header, (2 + len(body)) // 8 - 1]) + body


def telemetry_options(ns_id, trace_type, hops=(), e2e=b""):
    """Returns options 0x31 and 0x11; hops are entries as bytes."""
    entries = b"".join(hops)
    trace = struct.pack("!II", ns_id, trace_type) + entries
    return bytes([0x31, len(trace)]) + trace \
        + bytes([0x11, 2 + len(e2e)]) + struct.pack("!H", trace_type >> 16) + e2e


def _values(bitmap, fields, data):
    values = {}
    for bit, name, size in fields:
        if bitmap & bit:
            values[name], data = int.from_bytes(data[:size], "big"), data[size:]
    return values, data


def _trace(data):
    ns_id, trace_type = struct.unpack("!II", data[:8])
    rest, hops = data[8:], []
    while rest:
        node_id, bitmap = struct.unpack("!HH", rest[:4])
        values, rest = _values(bitmap, _HOP_FIELDS, rest[4:])
        hops.append({"node_id": node_id, "bitmap": bitmap, **values})
    return ns_id, trace_type, hops[::-1]


def telemetry_of(frame):
    """Decodes options 0x31 and 0x11 of a frame, hops from the source on. Returns None without
    0x31."""
    at = 12
    while struct.unpack_from("!H", frame, at)[0] in (0x8100, 0x88A8):
        at += 4
    if struct.unpack_from("!H", frame, at)[0] != 0x86DD or len(frame) < at + 44:
        return None
    at += 2
    if frame[at + 6] != HOP_BY_HOP:
        return None
    header = frame[at + 40:at + 40 + 8 * (frame[at + 41] + 1)]
    found, i = {}, 2
    while i < len(header):
        if header[i] == 0:
            i += 1
            continue
        size = header[i + 1]
        data = header[i + 2:i + 2 + size]
        if header[i] == 0x31:
            found["ns_id"], found["trace_type"], found["hops"] = _trace(data)
            found["offset"] = i
        elif header[i] == 0x11:
            bitmap = struct.unpack("!H", data[:2])[0]
            found["e2e"] = _values(bitmap, _E2E_FIELDS, data[2:])[0]
        i += 2 + size
    return found if "ns_id" in found else None


def write_pcap(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, frame in enumerate(frames):
            f.write(struct.pack("<IIII", 1700000000, i % 1000000, len(frame), len(frame)))
            f.write(frame)


def read_pcap(path):
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(data):
        captured = struct.unpack_from(order + "I", data, at + 8)[0]
        yield data[at + 16:at + 16 + captured]
        at += 16 + captured


class Shapes:
    """Reproducible frames of every shape. .expected says whether a rule can match each one."""

    SIZES = (64, 65, 127, 128, 255, 256, 512, 576, 1024, 1280, 1500, 1514, 2048, 4000, 9000)
    TAGS = ((), (), (), ((0x8100, 5),), ((0x88A8, 7), (0x8100, 100)))

    def __init__(self, seed, flows):
        self.random = random.Random(seed)
        self.flows = flows  # (source, destination, protocol, sport, dport) of the rules
        self.noise = self.random.randbytes(1 << 16)
        self.makers = [(self.plain, 40), (self.own_options, 8), (self.extensions, 10),
                       (self.first_fragment, 5), (self.later_fragment, 5), (self.atomic, 4),
                       (self.unmatched, 8), (self.ipv4, 5), (self.garbage, 5),
                       (self.broken_lengths, 5), (self.oversized_options, 3), (self.no_next, 2)]

    def frames(self, n):
        makers, weights = zip(*self.makers)
        for maker in self.random.choices(makers, weights, k=n):
            packet, matches, ethertype = maker()
            tags = self.random.choice(self.TAGS)
            frame = ethernet(packet, tags=tags, ethertype=ethertype)
            yield frame + bytes(max(0, 60 - len(frame))), matches

    def payload(self, used):
        size = self.random.choice(self.SIZES) if self.random.random() < 0.7 \
            else self.random.randint(64, 1500)
        size = max(0, min(size, 9000) - used)
        at = self.random.randrange(len(self.noise) - 9000)
        return self.noise[at:at + size]

    def upper(self, protocol, sport, dport, payload):
        """A transport header with an arbitrary checksum, which the switch must not touch."""
        if protocol == UDP:
            return struct.pack("!HHHH", sport, dport, 8 + len(payload), 0xBEEF) + payload
        if protocol == TCP:
            return tcp(sport, dport, payload)
        return bytes([128, 0, 0xBE, 0xEF, 0, 1, 0, 2]) + payload

    def flow(self):
        source, destination, protocol, sport, dport = self.random.choice(self.flows)
        return (address(source), address(destination), protocol,
                sport or self.random.randint(1024, 65535), dport or self.random.randint(1, 1023))

    def plain(self):
        source, destination, protocol, sport, dport = self.flow()
        body = self.upper(protocol, sport, dport, self.payload(60))
        return ipv6(source, destination, protocol, body), True, 0x86DD

    def own_options(self):
        """A frame whose host added a Hop-by-Hop header (router alert, unknown options to be
        skipped)."""
        source, destination, protocol, sport, dport = self.flow()
        options = self.random.choice([
            b"\x05\x02\0\0", b"\x1e\x03abc", b"\0\0\x1e\x01z", b"\x01\x08" + bytes(8),
            b"\x05\x02\0\0\x1e\x10" + bytes(range(16))])
        body = self.upper(protocol, sport, dport, self.payload(100))
        return ipv6(source, destination, HOP_BY_HOP,
                    options_header(protocol, options) + body), True, 0x86DD

    def extensions(self):
        source, destination, protocol, sport, dport = self.flow()
        body = self.upper(protocol, sport, dport, self.payload(140))
        following = protocol
        for kind in self.random.choice([(DESTINATION,), (ROUTING,),
                                        (DESTINATION, ROUTING, DESTINATION)]):
            if kind == DESTINATION:
                body = options_header(following, b"\x1e\x05hello") + body
            else:
                body = bytes([following, 2, 4, 0, 0, 0, 0, 0]) + source + body
            following = kind
        return ipv6(source, destination, following, body), True, 0x86DD

    def _fragment(self, offset, more, first):
        source, destination, protocol, sport, dport = self.flow()
        inner = self.upper(protocol, sport, dport, self.payload(100)) if first else self.payload(60)
        inner = inner[:len(inner) // 8 * 8] if more else inner
        header = struct.pack("!BBHI", protocol, 0, offset << 3 | more, self.random.getrandbits(32))
        # Half a TCP header may or may not name a flow; no document promises either.
        matches = first if len(inner) >= 20 else None if first else False
        return ipv6(source, destination, FRAGMENT, header + inner), matches, 0x86DD

    def first_fragment(self):
        return self._fragment(0, 1, True)

    def later_fragment(self):
        return self._fragment(self.random.randint(1, 8000), self.random.randint(0, 1), False)

    def atomic(self):
        return self._fragment(0, 0, True)

    def unmatched(self):
        source, destination, protocol, sport, dport = self.flow()
        body = self.upper(protocol, sport, dport, self.payload(60))
        return ipv6(destination, source, protocol, body), False, 0x86DD

    def ipv4(self):
        body = self.payload(40)
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 1, 0, 64, UDP, 0, b"\n\0\0\1",
                           b"\n\0\0\2")
        return head + body, False, 0x0800

    def garbage(self):
        at = self.random.randrange(len(self.noise) - 9000)
        kind = self.random.choice([0x86DD, 0x0806, 0x88CC, 0x9999, 0x8847])
        # Under IPv6's own type, the first half-byte has another value, so that no rule can match.
        body = self.noise[at:at + self.random.randint(46, 1500)]
        return bytes([body[0] & 0x0F | 0x50]) + body[1:], False, kind

    def broken_lengths(self):
        """Headers that exceed what encloses them."""
        source, destination, protocol, sport, dport = self.flow()
        body = self.upper(protocol, sport, dport, self.payload(60))
        whole = ipv6(source, destination, protocol, body)
        kind = self.random.randrange(4)
        if kind == 0:  # states more than is there
            return whole[:4] + struct.pack("!H", len(body) + 5000) + whole[6:], False, 0x86DD
        if kind == 1:  # an options header that is longer than the packet
            head = bytes([protocol, 255]) + bytes(22)
            return ipv6(source, destination, HOP_BY_HOP, head), False, 0x86DD
        if kind == 2:  # an option that is longer than its header
            head = bytes([protocol, 0, 0x1E, 200, 0, 0, 0, 0])
            return ipv6(source, destination, HOP_BY_HOP, head + body), None, 0x86DD
        return whole[:self.random.randint(1, 39)], False, 0x86DD  # ends within the IPv6 header

    def oversized_options(self):
        """A Hop-by-Hop header so long that telemetry does not fit behind the host's options."""
        source, destination, protocol, sport, dport = self.flow()
        options = b"".join(b"\x1e\xfe" + bytes(254) for _ in range(7)) + b"\x1e\xf4" + bytes(244)
        body = self.upper(protocol, sport, dport, b"x")
        return ipv6(source, destination, HOP_BY_HOP,
                    options_header(protocol, options) + body), None, 0x86DD

    def no_next(self):
        source, destination, _, _, _ = self.flow()
        return ipv6(source, destination, NONE, self.payload(60)), False, 0x86DD
