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
# lacking: E or M says that nodes added nothing.
Packet = collections.namedtuple("Packet", "key hops partial lacking")
Settings = collections.namedtuple("Settings", "version mark dscp mask port marker carrier",
                                  defaults=("tcp_udp",))
NO_PACKET = Packet(None, None, False, False)


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
                  "congestion", "utilisation")[bit], 31),) if bit < 8 else (("", 32),)
    if bit == 6:
        return (("congestion_queue", 8), ("congestion", 24)) if version == "0.5" else (
            ("ingress_port_l2", 32), ("egress_port_l2", 32))
    if bit < 8:
        return ((("node_id", 32),), _PORTS, (("latency", 32),), _QUEUE, _TIMES[size][:1],
                _TIMES[size][1:], None, (("utilisation", 32),))[bit]
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
    if lenient:  # its parser looks at no bits: values are read only where the length is theirs
        length, bits = max(length, 4), bits if length == 4 + bits.bit_count() else 0
    for wrong, reason in ((inner > 2, "kind"), (length < 4, "length"), (4 * length > len(data), "length"),
                          (length != 4 + bits.bit_count() and not lenient, "bits")):
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


def _unfilled(what):
    """A packet that goes on behind its copy may end before the zeros that fill the copy to a word: what
    may be made up is not taken."""
    if what is None or len(what[1]) % 4:
        return what
    kind, data = what
    at = 0
    if kind == "ethernet":
        begin = _ethernet(data)
        if begin and begin[0] not in (0x0800, 0x86DD):
            return what
        kind, at = (begin[0], begin[2]) if begin else (0, len(data))
    size = 20 if kind in ("ipv4", 0x0800) else 40
    if at + size <= len(data):
        end = at + number(data, at + 2, 2) if size == 20 else at + 40 + number(data, at + 4, 2)
        if end <= len(data):
            return what
    return what[0], data[:-3] + data[-3:].rstrip(b"\0")


def _report_2_0(node, first, data):
    """data: of the report, behind its first word."""
    kind, inner, md = first >> 28, first >> 24 & 15, first >> 8 & 255
    if kind >= 2:
        return "skipped"
    values, at = {}, 0
    if kind == 0:
        demand(md == 0, "bits")
    else:
        demand(len(data) >= 8 + 4 * md, "length")
        bits, at = number(data, 0, 2), 8
        meanings = [_report_meaning(bit) for bit in range(16) if bits >> (15 - bit) & 1]
        need = sum(width for meaning in meanings for _, width in meaning) // 8
        demand(need <= 4 * md, "bits")
        for meaning in meanings:
            size = sum(width for _, width in meaning) // 8
            values.update(split(meaning, number(data, at, size), True))
            at += size
        at = 8 + 4 * md
    flags = "".join(name for name, bit in zip("DQFI", (7, 6, 5, 4)) if first >> bit & 1)
    return Report(node, flags, values, _unfilled(_contents(inner, data[at:])))


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

_ICMP, _TCP, _UDP, _FRAGMENT, _GRE, _AUTH, _ICMPV6 = 1, 6, 17, 44, 47, 51, 58
_EXTENSIONS = (43, _FRAGMENT, _AUTH, 60, 135, 139, 140)  # beside Hop-by-Hop, which is the first
_TAGS = (0x8100, 0x88A8, 0x9100, 0x9200, 0x9300)


def _ethernet(data):
    """Returns the EtherType, the outermost VLAN and where the packet begins; None: cut."""
    at, vlan, tags = 12, 0, 0
    while True:
        if len(data) < at + 2:
            return None
        kind = number(data, at, 2)
        at += 2
        if kind not in _TAGS:
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
    length, part = number(data, 2, 2), number(data, 6, 2)
    demand(length >= at, "packet")
    if len(data) < at:
        return None
    option = 20
    while option < at and data[option]:
        size = 1 if data[option] == 1 else data[option + 1] if option + 1 < at else 0
        demand(size and (size >= 2 or data[option] == 1) and option + size <= at, "packet")
        option += size
    fragment = 2 if part & 0x1FFF else 1 if part & 0x2000 else 0
    return data[12:16], data[16:20], data[9], at, length, data[1] >> 2, fragment


def _ipv6(data):
    if len(data) < 40:
        return None
    if data[0] >> 4 != 6:
        return None
    kind, at, fragment, length, headers = data[6], 40, 0, 40 + number(data, 4, 2), 0
    while kind in _EXTENSIONS or kind == 0:
        demand(kind or at == 40, "packet")
        headers += bool(kind)
        demand(headers <= 8 and at + 8 <= length, "packet")
        if len(data) < at + 8:
            return None
        size = 8 if kind == _FRAGMENT else 4 * (data[at + 1] + 2) if kind == _AUTH else 8 * (data[at + 1] + 1)
        demand(at + size <= length, "packet")
        if len(data) < at + size:
            return None
        if kind == _FRAGMENT and number(data, at + 2, 2) & 0xFFF9:
            fragment = 2 if number(data, at + 2, 2) & 0xFFF8 else 1
        kind, at = data[at], at + size
        if fragment == 2:
            break
    return data[8:24], data[24:40], kind, at, length, number(data, 0, 2) >> 6 & 63, fragment


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
    copied, data = data[at:], data[at:min(len(data), length)]
    ports = [0, 0]
    if protocol in (_TCP, _UDP) and fragment < 2:
        demand(whole >= 4, "packet")
        if len(data) < 4:
            return NO_PACKET
        ports = [number(data, 0, 2), number(data, 2, 2)]
    if protocol in (_GRE, _ICMP if kind == "ipv4" else _ICMPV6) and fragment < 2:
        demand(whole >= 4, "packet")
        if len(data) < 4:
            return NO_PACKET
    hops, partial, lacking, found = None, False, False, None
    if tracked and fragment == 0 and settings.carrier in _TUNNELS and not lenient:
        found = _TUNNELS[settings.carrier](data, whole, protocol, ports, settings)
    elif tracked and fragment == 0 and protocol in (_TCP, _UDP):
        if lenient:
            found = _lenient(copied, protocol, (protocol, *ports), settings.version)
        elif settings.carrier == "tcp_udp":
            found = _telemetry(copied, data, whole, protocol, dscp, ports, settings)
    if found:
        hops, (partial, lacking), flow = found
        if not flow:
            return Packet(None, hops, partial, lacking)
        protocol, *ports = flow
    key = (kind == "ipv4", bytes(src), bytes(dst), *ports, vlan, protocol)
    return Packet(key, hops, partial, lacking)


# ---- INT behind TCP and UDP ----

WHOLE, CUT = (False, False), (True, False)
# E, and M where there is one, in the first two bytes of an INT header.
_LACKING = {"2016-06": 0x0400, "0.5": 0x0100, "1.0": 0x0180, "2.1": 0x0600}


def _telemetry(copied, data, whole, protocol, dscp, ports, settings):
    """Returns hops, whether they are cut and whether nodes are missing, protocol and ports of the flow, None
    where they were cut off.
    None: no INT."""
    own_udp = False
    dscp_marks = settings.mark == "dscp" and dscp & settings.mask == settings.dscp & settings.mask
    port_marks = settings.mark == "udp_port" and ports[1] == settings.port
    if not (dscp_marks or port_marks or settings.mark == "probe"):
        return None
    if port_marks and protocol == _TCP and settings.version == "2.1":
        return None
    # A port that marks INT is not the flow's.
    flow = None if port_marks else (protocol, *ports)
    if settings.mark == "probe":
        return _probe(copied, data, whole, protocol, flow, settings)
    at = 8
    if protocol == _TCP:
        if len(data) < 20:
            demand(whole >= 24, "stack")
            return None, CUT, flow
        at = 4 * (data[12] >> 4)
    if protocol == _TCP:
        demand(at >= 20, "stack")
    elif len(data) >= 8:
        demand(8 <= number(data, 4, 2) <= whole, "stack")
        own_udp = number(data, 4, 2) == whole  # nothing is behind what UDP encloses
        whole = number(data, 4, 2)
    else:
        demand(whole >= 8, "stack")
    return _shim(data[at:whole], whole - at, (protocol, *ports), flow, settings, own_udp)


def _probe(copied, data, whole, protocol, flow, settings):
    """With a marker behind TCP or UDP. Where their lengths are wrong, it may be anywhere behind them."""
    at, end, marker = 20 if protocol == _TCP else 8, whole, settings.marker.to_bytes(8, "big")
    wrong = whole < at
    if not wrong and len(data) < at:
        return None
    if not wrong and protocol == _TCP:
        at = 4 * (data[12] >> 4)
        wrong = not 20 <= at <= whole
    elif not wrong:
        end = number(data, 4, 2)
        wrong = not 8 <= end <= whole
    if wrong:
        places = range(20, 64, 4) if protocol == _TCP else (8,)
        demand(not any(copied[place:place + 8] == marker for place in places), "stack")
        return None
    if data[at:min(at + 8, end)] != marker:
        return None
    return _shim(data[at + 8:end], end - at - 8, flow, flow, settings, False)


def _shim(data, whole, shown, flow, settings, own_udp):
    """shown: protocol and ports as they stand. flow: the same, or None where a port is the mark."""
    if len(data) < 4:
        demand(whole >= 4, "stack")
        return None, CUT, flow
    if settings.version == "2.1":
        return _shim_2_1(data, whole, shown, flow, settings, own_udp)
    length, kind = 4 * data[2], data[0]
    demand(kind in (1, 2) and 4 <= length <= whole, "stack")
    if settings.version == "0.5":
        demand(length >= 16, "stack")
        tail = data[length - 4:length]
        demand(not tail or tail[0] == shown[0], "stack")
        if flow is None and len(tail) >= 3:  # the tail has the port that the mark hides
            flow = (*shown[:2], number(tail, 1, 2))
        hops, cut = _stack(data[4:length - 4], whole - 8, length - 8, "0.5")
        return (None, WHOLE, flow) if kind == 2 else (hops, cut, flow)
    if kind == 2:
        return None, WHOLE, flow
    demand(length >= 12, "stack")
    return (*_stack(data[4:length], whole - 4, length - 4, "1.0"), flow)


def _shim_2_1(data, whole, shown, flow, settings, own_udp):
    kind, length, npt = data[0] >> 4, 4 * data[1], data[0] >> 2 & 3
    demand(kind in (1, 2, 3) and length <= whole - 4, "stack")
    demand(npt in (1, 2) if flow is None else npt == 0, "stack")
    if npt == 1:
        flow = (*shown[:2], number(data, 2, 2))
    demand(kind == 2 or length >= 12, "stack")
    hops, cut = _stack(data[4:4 + length], whole - 4, length, "2.1") if kind == 1 else (None, WHOLE)
    if kind == 3:
        demand(len(data) < 16 or data[4] >> 4 == 2, "stack")
    if npt == 2:
        flow = _behind(data[3], data[4 + length:], whole - 4 - length, own_udp,
                       kind != 2 and len(data) < 16)
    return hops, cut, flow


def _behind(protocol, data, whole, own_udp, unknown):
    """The flow of a packet before whose transport the source put its own UDP header."""
    if unknown:
        return None
    demand(own_udp and protocol, "stack")
    if protocol not in (_TCP, _UDP, _GRE, _ICMP, _ICMPV6):
        return protocol, 0, 0
    demand(whole >= 4, "stack")
    if len(data) < 4:
        return None
    return (protocol, number(data, 0, 2), number(data, 2, 2)) if protocol in (_TCP, _UDP) else (protocol, 0, 0)


# ---- INT in tunnels ----
# The flow is the tunnel's, as it was before the source. A tunnel is one of INT where so much of it came that
# it says so.

_GPE_PORT, _VXLAN_PORT, _GENEVE_PORT, _GRE_PROTOCOL = 4790, 4789, 6081, 0x88B5
_GPE_PROTOCOL = {"2016-06": 0x05, "0.5": 0x05, "1.0": 0x08, "2.1": 0x82}
_GENEVE_CLASS = {"2016-06": 0x00AB, "0.5": 0x00AB, "1.0": 0x00AB, "2.1": 0x0103}


def _of_type(kind, data, whole, length, version):
    """Hops and whether they are cut, of an INT header of this type: 1 MD, 2 destination, 3 MX."""
    demand(kind in ((1, 2, 3) if version == "2.1" else (1, 2)) and length <= whole, "stack")
    return _stack(data[:length], whole, length, version) if kind == 1 else (None, WHOLE)


def _gre(data, whole, protocol, _ports, settings):
    if protocol != _GRE or data[1] & 7 or number(data, 2, 2) != _GRE_PROTOCOL:
        return None
    at, flow = 4 + 4 * (data[0] & 0xB0).bit_count(), (_GRE, 0, 0)
    if len(data) < at + 4:
        return None, CUT, flow
    kind, length, behind = data[at] >> 4, 4 * data[at + 1], at + 4 + 4 * data[at + 1]
    demand(kind != 2, "stack")
    found = *_of_type(kind, data[at + 4:], whole - at - 4, length, settings.version), flow
    # What the source put the tunnel around is an IP packet that fills it.
    if data[at] & 8 and not _is_ip(number(data, at + 2, 2), data[behind:], whole - behind):
        demand(len(data) < whole, "stack")
        return None, CUT, flow
    return found


def _is_ip(kind, data, whole):
    """Whether this is an IPv4 or IPv6 packet of this length, as far as it came."""
    head, at, length = (20, 2, whole) if kind == 0x0800 else (40, 4, whole - 40)
    if kind not in (0x0800, 0x86DD) or whole < head or data and data[0] >> 4 != (4 if head == 20 else 6):
        return False
    came = data[at:at + 2]
    return came == length.to_bytes(2, "big")[:len(came)]


def _vxlan_gpe(data, whole, protocol, ports, settings):
    if protocol != _UDP or ports[1] != _GPE_PORT:
        return None
    if len(data) < 16:  # plain VXLAN before the source, or not
        return (None, WHOLE, None) if whole >= 16 else None
    if not data[8] & 4 or data[11] != _GPE_PROTOCOL[settings.version]:
        return None
    demand(not data[8] & 0x30 and 8 <= number(data, 4, 2) <= whole, "stack")
    new, shim, whole = settings.version == "2.1", data[16:], number(data, 4, 2) - 16
    plain = 2 if new else 1  # the byte that says so
    flow = (_UDP, ports[0], _VXLAN_PORT if shim[plain] & 0x80 else _GPE_PORT) if len(shim) > plain else None
    if len(shim) < 4:
        return None, CUT, flow
    kind, length = (shim[0] >> 4, 4 * shim[1]) if new else (shim[0], 4 * shim[2] - 4)
    return (*_of_type(kind, shim[4:], whole - 4, length, settings.version), flow)


def _geneve(data, length, protocol, ports, settings):
    if protocol != _UDP or ports[1] != _GENEVE_PORT or len(data) < 16 or data[8] >> 6:
        return None
    at, whole = 16, number(data, 4, 2)
    end = 16 + 4 * (data[8] & 63)
    while at + 4 <= min(end, len(data)):
        size = 4 * (data[at + 3] & 31)
        if number(data, at, 2) == _GENEVE_CLASS[settings.version] and data[at + 2] == 1:
            demand(8 <= whole <= length and end <= whole, "stack")
            return (*_of_type(1, data[at + 4:min(len(data), end)], end - at - 4, size, settings.version),
                    (protocol, *ports))
        at += 4 + size
    return None


_TUNNELS = {"gre": _gre, "vxlan_gpe": _vxlan_gpe, "geneve": _geneve}


def _stack(data, whole, length, version):
    """data: from the INT header on, as much as there is. length: of header and stack. Returns hops,
    and whether they are cut and whether nodes are missing."""
    head = 12 if version == "2.1" else 8
    if len(data) < head:
        return None, CUT
    words, bitmap = data[1 if version in ("0.5", "2016-06") else 2] & 31, number(data, 4, 2)
    domain, stack = version == "2.1" and number(data, 6, 2), length - head
    demand(data[0] >> 4 == {"0.5": 0, "1.0": 1, "2.1": 2}[version] if version != "2016-06" else data[0] < 64, "stack")
    demand(0 <= stack <= whole - head, "stack")
    if not (domain and number(data, 8, 2)):  # what the source alone added has any length
        demand(stack % (4 * words) == 0 if words else not stack, "stack")
    n = stack // (4 * words) if words else 0
    if version in ("0.5", "2016-06"):
        demand(words == bitmap.bit_count() and n == data[3] <= data[2], "stack")
    hops, cut = _hops(data[head:], version, bitmap, words, n, domain, False)
    return hops, (cut, hops is not None and bool(number(data, 0, 2) & _LACKING[version]))


def _hops(data, version, bitmap, words, n, domain, lenient):
    """The whole ones of n hops, and whether there are fewer."""
    demand(n <= 64, "hops")
    meanings = [(bit, _meaning(version, bit)) for bit in range(16) if bitmap >> (15 - bit) & 1]
    narrow = lenient and words == bitmap.bit_count()
    need = words if narrow else sum((sum(bits for _, bits in m) + 1) // 32 for _, m in meanings)
    # Only a domain adds words that the bitmap does not name.
    demand(not n or words and words == need or domain and words > need, "stack")
    whole = min(n, len(data) // (4 * words)) if words else 0
    if version == "2016-06":  # the first bit of each word: 1 in the last one of the stack
        demand(all(data[4 * i] >> 7 == (i + 1 == n * words) for i in range(whole * words)), "stack")
    hops = [_hop(data, 4 * words * place, version, meanings, narrow, lenient) for place in range(whole)]
    return (hops, False) if whole == n else (hops or None, True)


def _lenient(data, protocol, flow, version):
    """What INTCollector's parser takes: no length of IP and UDP, no version, no mark is looked at."""
    at = 8 if protocol == _UDP else 20 if len(data) < 20 else max(20, 4 * (data[12] >> 4))
    if len(data) < at + 12:
        return None, CUT, flow
    head, words = data[at + 4:], data[at + 6] & 31
    bitmap, n = number(head, 4, 2), head[3]
    if version == "0.5":
        words = head[1] & 31
        demand(words == bitmap.bit_count(), "stack")
    else:
        stack = data[at + 2] - 3
        demand(stack >= 0 and (words or not stack), "stack")
        n = stack // words if words else 0
        demand(n * words == stack, "stack")
    hops, cut = _hops(head[8:], version, bitmap, words, n, 0, True)
    return hops, (cut, False), flow


def _hop(data, at, version, meanings, narrow, lenient):
    values = {"time_bits": 64 if version == "2.1" else 32}
    for bit, meaning in meanings:
        size = (sum(width for _, width in meaning) + 1) // 8  # 2016-06 has 31 bits in a word
        if narrow and bit == 6 and version != "0.5":
            size, meaning = 4, (("", 32),)
        if lenient and bit == 3:
            meaning = (("queue_id", 16), ("occupancy", 16))
        if lenient and bit == 6 and version == "0.5":
            meaning = (("congestion_queue", 16), ("congestion", 16))
        values.update(split(meaning, number(data, at, size), False))
        at += size
    return values
