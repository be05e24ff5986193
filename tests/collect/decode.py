# SPDX-License-Identifier: BSD-3-Clause
"""Reads telemetry reports and the packets in them, from the text of the specifications of P4.org. It
shares no code with the collector, so that the two can disagree.

Hops come out as dictionaries of the values that are available, the newest first, as on the wire.
"""

import collections

UNKNOWN = 0xFFFFFFFF
# header: version (0 to 2), hw_id, sequence, node, or None where no version could be read.
# reports: Report, or a word: why one is refused, or "skipped".
Datagram = collections.namedtuple("Datagram", "version hw_id sequence node reports")
Report = collections.namedtuple("Report", "node flags values packet")
# key: None where it has no flow. hops: None where it has no stack. partial: the stack is cut.
Packet = collections.namedtuple("Packet", "key hops partial")
Settings = collections.namedtuple("Settings", "version mark dscp mask port marker carrier",
                                  defaults=("tcp_udp",))
NO_PACKET = Packet(None, None, False)


class Refused(Exception):
    pass


def number(data, at, size):
    return int.from_bytes(data[at:at + size], "big")


def demand(condition, reason):
    if not condition:
        raise Refused(reason)


# ---- values ----

# Of INT: mask, bytes, names with bits. Of bits without a name nothing is kept.
_PORTS = (("ingress_port", 16), ("egress_port", 16))
_QUEUE = (("queue_id", 8), ("occupancy", 24))
_TIMES = {4: (("ingress_ns", 32), ("egress_ns", 32)), 8: (("ingress_ns", 64), ("egress_ns", 64))}


def _meaning(version, bit):
    """What an instruction bit of INT means: names with bits; the size is their sum."""
    size = 8 if version == "2.1" else 4
    if version == "2016-06":
        return ((("node_id", "ingress_port", "latency", "occupancy", "ingress_ns", "egress_port",
                  "congestion", "utilisation")[bit], 31),) if bit < 8 else None
    if bit == 6:
        return (("congestion_queue", 8), ("congestion", 24)) if version == "0.5" else (
            ("ingress_port_l2", 32), ("egress_port_l2", 32))
    if bit < 8:
        return ((("node_id", 32),), _PORTS, (("latency", 32),), _QUEUE, _TIMES[size][:1],
                _TIMES[size][1:], None, (("utilisation", 32),))[bit]
    if version == "0.5":
        return None
    return (("buffer_id", 8), ("buffer", 24)) if bit == 8 and version == "2.1" else (("", 32),)


def _report_meaning(bit):
    """The same of RepMdBits of 2.0."""
    if bit == 15:
        return (("drop_queue", 8), ("drop_reason", 8), ("", 16))
    return _meaning("2.1", bit) if bit else ()


_BITS_1_0 = (1, 2, 3, 5, 15, 7)  # RepMdBits of 1.0, as bits of 2.0


def split(meaning, word, keep_ones):
    """The values of one word, without those that are not available."""
    values, left = {}, sum(bits for _, bits in meaning)
    for name, bits in meaning:
        left -= bits
        value = word >> left & ((1 << bits) - 1)
        if name and (keep_ones or value != (1 << bits) - 1):
            values[name] = value
    return values


def latency_of(values):
    """What the node says, else egress time - ingress time where this is in the past."""
    if "latency" in values:
        return values["latency"]
    if "ingress_ns" not in values or "egress_ns" not in values:
        return None
    width = values.get("time_bits", 64)
    took = (values["egress_ns"] - values["ingress_ns"]) % (1 << width)
    return took if took < 1 << (width - 1) and took < UNKNOWN else None


# ---- reports ----


def _read_0_5(data):
    demand(len(data) >= 12, "short")
    word = number(data, 0, 4)
    kind, node, values, at = word >> 24 & 15, UNKNOWN, {"ingress_ns": number(data, 8, 4)}, 12
    reports = []
    if kind in (1, 2):
        if len(data) < (24, 28)[kind - 1]:
            return Datagram(0, word & 63, number(data, 4, 4), UNKNOWN, ["length"])
        node, at = number(data, 12, 4), (24, 28)[kind - 1]
        values.update(split(_PORTS, number(data, 16, 4), False))
        queue = number(data, 20, 4)
        if kind == 1:
            values.update(split((("drop_queue", 8), ("drop_reason", 8), ("", 16)), queue, True))
        else:
            values.update(split(_QUEUE, queue, queue != UNKNOWN))
            values.update(split((("egress_ns", 32),), number(data, 24, 4), False))
    flags = "".join(name for name, bit in zip("DQF", (23, 22, 21)) if word >> bit & 1)
    values["time_bits"] = 32
    reports = [Report(node, flags, values, ("ethernet", data[at:])) if kind <= 2 else "kind"]
    return Datagram(0, word & 63, number(data, 4, 4), node, reports)


def _read_1_0(data, lenient):
    demand(len(data) >= 16, "short")
    word = number(data, 0, 4)
    length, bits, inner = word >> 24 & 15, word >> 15 & 63, word >> 21 & 7
    node, values = number(data, 4, 4), {"ingress_ns": number(data, 12, 4), "time_bits": 32}
    head = (1, word & 63, number(data, 8, 4), node)
    if lenient:
        length = max(length, 4)
    for wrong, reason in ((inner > 2, "kind"), (length < 4, "length"), (4 * length > len(data), "length"),
                          (length != 4 + bits.bit_count(), "bits")):
        if wrong:
            return Datagram(*head, [reason])
    at = 16
    for place, bit in enumerate(_BITS_1_0):
        if bits >> (5 - place) & 1:
            meaning = (("egress_ns", 32),) if bit == 5 else _report_meaning(bit)
            values.update(split(meaning, number(data, at, 4), True))
            at += 4
    flags = "".join(name for name, bit in zip("DQF", (8, 7, 6)) if word >> bit & 1)
    return Datagram(*head, [Report(node, flags, values, (
        ("ethernet", "ipv4", "ipv6")[inner], data[4 * length:]))])


def _tlv(data):
    """The first packet among the parts of a report's contents."""
    at, found = 0, None
    while at < len(data):
        demand(at + 4 <= len(data), "length")
        end = at + 4 + 4 * data[at + 1]
        demand(end <= len(data), "length")
        kind = data[at] >> 4
        if kind in (1, 2, 3) and found is None:
            found = (("ethernet", "ipv4", "ipv6")[kind - 1], data[at + 4:end])
        at = end
    return found


def _contents(inner, data):
    demand(inner <= 5, "kind")
    if inner == 1:
        return _tlv(data)
    return (("ethernet", "ipv4", "ipv6")[inner - 3], data) if inner >= 3 else None


def _report_2_0(node, first, data):
    """data: of the report, behind its first word."""
    kind, inner, md = first >> 28, first >> 24 & 15, first >> 8 & 255
    if kind >= 2:
        return "skipped"
    values, at = {}, 0
    if kind == 0:
        demand(md == 0, "length")
    else:
        demand(len(data) >= 8 + 4 * md, "length")
        bits, at = number(data, 0, 2), 8
        meanings = [_report_meaning(bit) for bit in range(16) if bits >> (15 - bit) & 1]
        need = sum(width for meaning in meanings for _, width in meaning) // 8
        demand(8 + need <= len(data), "length")
        demand(need <= 4 * md, "length")
        for meaning in meanings:
            size = sum(width for _, width in meaning) // 8
            values.update(split(meaning, number(data, at, size), True))
            at += size
        at = 8 + 4 * md
    flags = "".join(name for name, bit in zip("DQFI", (7, 6, 5, 4)) if first >> bit & 1)
    return Report(node, flags, values, _contents(inner, data[at:]))


def _read_2_0(data):
    demand(len(data) >= 8, "short")
    word, node, at, reports = number(data, 0, 4), number(data, 4, 4), 8, []
    while at < len(data):
        if at + 4 > len(data):
            reports.append("length")
            break
        first = number(data, at, 4)
        length = first >> 16 & 255
        end = len(data) if length == 255 else at + 4 + 4 * length
        if end > len(data) or length == 255 and end < at + 4 + 4 * 255:
            reports.append("length")
            break
        try:
            reports.append(_report_2_0(node, first, data[at + 4:end]))
        except Refused as reason:
            reports.append(str(reason))
        at = end
    return Datagram(2, word >> 22 & 63, word & 0x3FFFFF, node, reports)


def datagram(data, taken, lenient=False):
    """taken: the versions, 0 to 2, that are. Raises Refused where the datagram cannot be read."""
    demand(data, "short")
    version = data[0] >> 4
    if lenient and version == 1 and 0 in taken and (1 not in taken or data[0] & 15 == 0):
        version = 0
    demand(version in taken, "version")
    if version == 1:
        return _read_1_0(data, lenient)
    return _read_2_0(data) if version else _read_0_5(data)


# ---- packets ----

_ICMP, _TCP, _UDP, _FRAGMENT = 1, 6, 17, 44


def _ethernet(data):
    """Returns the EtherType, the outermost VLAN and where the packet begins; None: cut."""
    at, vlan, tags = 12, 0, 0
    while True:
        if len(data) < at + 2:
            return None
        kind = number(data, at, 2)
        at += 2
        if kind not in (0x8100, 0x88A8):
            return kind, vlan, at
        if len(data) < at + 2:
            return None
        if not tags:
            vlan = number(data, at, 2) & 0xFFF
        tags += 1
        at += 2


def _ipv4(data):
    """Returns addresses, protocol, where it begins, the packet's length, DSCP, fragment: 0 no, 1
    the first, 2 another. None: cut."""
    if len(data) < 20:
        return None
    if data[0] >> 4 != 4:
        return None
    demand(data[0] & 15 >= 5, "packet")
    at = 4 * (data[0] & 15)
    if len(data) < at:
        return None
    length, part = number(data, 2, 2), number(data, 6, 2)
    demand(length >= at, "packet")
    fragment = 2 if part & 0x1FFF else 1 if part & 0x2000 else 0
    return data[12:16], data[16:20], data[9], at, length, data[1] >> 2, fragment


def _ipv6(data):
    if len(data) < 40:
        return None
    if data[0] >> 4 != 6:
        return None
    kind, at, fragment = data[6], 40, 0
    while kind in (0, 43, 60, 51, _FRAGMENT):
        if len(data) < at + 8:
            demand(at + 8 <= 40 + number(data, 4, 2), "packet")
            return None
        size = 8 if kind == _FRAGMENT else 4 * (data[at + 1] + 2) if kind == 51 else 8 * (data[at + 1] + 1)
        if kind == _FRAGMENT and number(data, at + 2, 2) & 0xFFF9:
            fragment = 2 if number(data, at + 2, 2) & 0xFFF8 else 1
        kind, at = data[at], at + size
        if fragment == 2:
            break
    if len(data) < at:
        return None
    return data[8:24], data[24:40], kind, at, 40 + number(data, 4, 2), number(data, 0, 2) >> 6 & 63, fragment


def packet(what, tracked, settings, lenient=False):
    """what: kind and bytes. Raises Refused."""
    if what is None:
        return NO_PACKET
    kind, data = what
    vlan = 0
    if kind == "ethernet":
        begin = _ethernet(data)
        if begin is None or begin[0] not in (0x0800, 0x86DD):
            return NO_PACKET
        kind, vlan, data = {0x0800: "ipv4", 0x86DD: "ipv6"}[begin[0]], begin[1], data[begin[2]:]
    head = (_ipv4 if kind == "ipv4" else _ipv6)(data)
    if head is None:
        return NO_PACKET
    src, dst, protocol, at, length, dscp, fragment = head
    whole = length - at  # of the transport and all behind, uncut
    data = data[at:min(len(data), length)]
    ports = [0, 0]
    if protocol in (_TCP, _UDP) and fragment < 2:
        demand(whole >= 4, "packet")
        if len(data) < 4:
            return NO_PACKET
        ports = [number(data, 0, 2), number(data, 2, 2)]
    if protocol == _ICMP and kind == "ipv4" and fragment < 2:
        demand(whole >= 8, "packet")
        if len(data) < 4:
            return NO_PACKET
    hops, partial = None, False
    if tracked and fragment == 0 and protocol in (_TCP, _UDP):
        found = _telemetry(data, whole, protocol, dscp, ports, settings, lenient)
        if found:
            hops, partial, flow = found
            hops = hops or None if partial else hops  # not one hop is told
            if not flow:
                return Packet(None, hops, partial)
            protocol, ports[1] = flow
    key = (kind == "ipv4", bytes(src), bytes(dst), *ports, vlan, protocol)
    return Packet(key, hops, partial)


# ---- INT behind TCP and UDP ----


def _telemetry(data, whole, protocol, dscp, ports, settings, lenient):
    """Returns hops, whether they are cut, protocol and destination port of the flow. None: no INT."""
    dscp_marks = settings.mark == "dscp" and dscp & settings.mask == settings.dscp & settings.mask
    port_marks = settings.mark == "udp_port" and ports[1] == settings.port
    if not (lenient or dscp_marks or port_marks or settings.mark == "probe"):
        return None
    flow = (protocol, ports[1])
    at = 8
    if protocol == _TCP:
        if len(data) < 20:
            return (None, True, flow) if settings.mark != "probe" or lenient else None
        at = 4 * (data[12] >> 4)
    if settings.mark == "probe" and not lenient:
        if data[at:at + 8] != settings.marker.to_bytes(8, "big"):
            return None
        at += 8
    if protocol == _TCP:
        demand(at >= 20, "stack")
    elif len(data) >= 8:
        demand(8 <= number(data, 4, 2) <= whole, "stack")
        whole = number(data, 4, 2)
    return _shim(data[at:], whole - at, flow, settings, lenient)


def _shim(data, whole, flow, settings, lenient):
    if len(data) < 4:
        demand(whole >= 4, "stack")
        return None, True, flow
    if settings.version == "2.1":
        return _shim_2_1(data, whole, flow, settings)
    length, kind = 4 * data[2], data[0]
    if lenient:
        return (*_stack(data[4:], whole - 4, length - 8 if settings.version == "0.5" else length - 4,
                        settings.version, lenient), flow)
    demand(kind in (1, 2) and length <= whole, "stack")
    if kind == 2:
        return None
    if settings.version == "0.5":
        demand(length >= 16, "stack")
        tail = data[length - 4:length]
        demand(len(tail) < 4 or tail[0] == flow[0], "stack")
        if settings.mark == "udp_port" and len(data) >= 10:  # the tail has the port that the mark hides
            flow = (tail[0], number(tail, 1, 2)) if len(tail) == 4 else None
        return (*_stack(data[4:length - 4], whole - 8, length - 8, "0.5", lenient), flow)
    demand(length >= 12, "stack")
    return (*_stack(data[4:length], whole - 4, length - 4, "1.0", lenient), flow)


def _shim_2_1(data, whole, flow, settings):
    kind, length = data[0] >> 4, 4 * data[1]
    demand(kind in (1, 2, 3) and length <= whole - 4, "stack")
    if settings.mark == "udp_port":
        npt = data[0] >> 2 & 3
        demand(npt == 1, "stack")
        if len(data) >= 8:
            flow = (flow[0], number(data, 2, 2))
    if kind == 1:
        demand(length >= 12, "stack")
        return (*_stack(data[4:4 + length], whole - 4, length, "2.1", False), flow)
    return None


def _stack(data, whole, length, version, lenient):
    """data: from the INT header on, as much as there is. length: of header and stack. Returns hops
    and whether they are cut."""
    head = 12 if version == "2.1" else 8
    if len(data) < head:
        return [], True
    words, bitmap = number(data, 0, 2) & 31 if version == "0.5" else data[2] & 31, number(data, 4, 2)
    demand(data[0] >> 4 == {"0.5": 0, "1.0": 1, "2.1": 2}[version] or lenient, "stack")
    meanings = [(bit, _meaning(version, bit)) for bit in range(16) if bitmap >> (15 - bit) & 1]
    narrow = lenient and words == bitmap.bit_count()
    need = bitmap.bit_count()
    if version != "0.5" and not narrow:
        need = sum(sum(bits for _, bits in m) for _, m in meanings) // 32
    stack = 4 * words * data[3] if version == "0.5" and lenient else length - head
    demand(0 <= stack <= whole - head and (stack % (4 * words) == 0 if words else not stack), "stack")
    n = stack // (4 * words) if words else 0
    if version == "0.5":
        demand(lenient or n == data[3] <= data[2] and (words or not data[3]), "stack")
    demand(n <= 64, "hops")
    if stack and len(data) < head + 4 * words:  # of the bitmap, too, not all may be there
        return [], True
    if stack:
        demand(words == need or version != "0.5" and words > need, "stack")
        demand(version != "0.5" or bitmap & 0xFF == 0, "stack")
    hops = []
    for place in range(n):
        at = head + 4 * words * place
        if at + 4 * words > len(data):
            return hops, True
        hops.append(_hop(data, at, version, meanings, narrow, lenient))
    return hops, False


def _hop(data, at, version, meanings, narrow, lenient):
    values = {"time_bits": 64 if version == "2.1" else 32}
    for bit, meaning in meanings:
        size = sum(width for _, width in meaning) // 8
        if narrow and bit == 6 and version != "0.5":
            size, meaning = 4, (("", 32),)
        if lenient and bit == 3:
            meaning = (("queue_id", 16), ("occupancy", 16))
        if lenient and bit == 6 and version == "0.5":
            meaning = (("congestion_queue", 16), ("congestion", 16))
        values.update(split(meaning, number(data, at, size), False))
        at += size
    return values
