# SPDX-License-Identifier: BSD-3-Clause
"""Reads telemetry reports 0.5, 1.0 and 2.0 in a UDP payload. This is written from the specifications of
P4.org, not from the switch's code, so that the two can disagree. A report that breaks a rule of its
specification raises ValueError."""

import collections
import struct

# values: what the reporter says of itself, by name. packet: the copy of the packet's beginning.
Report = collections.namedtuple("Report", "version hw_id sequence node_id d q f values packet")
_UNKNOWN_QUEUE = 0xFFFFFFFF


def _demand(condition, *said):
    if not condition:
        raise ValueError(" ".join(map(str, said)))


def _bits(word, first, count, width=32):
    return word >> (width - first - count) & ((1 << count) - 1)


def _queue(values, word, depth="queue_packets"):
    if word != _UNKNOWN_QUEUE:
        values["queue_id"], values[depth] = word >> 24, word & 0xFFFFFF


def _read_0_5(data):
    word, sequence, ingress = struct.unpack_from("!III", data)
    _demand(_bits(word, 0, 4) == 0 and _bits(word, 11, 15) == 0, "0.5: version, reserved bits", hex(word))
    values, node, at = {"ingress_ns": ingress}, None, 12
    kind = _bits(word, 4, 4)
    _demand(kind <= 2, "0.5: NProto", kind)
    if kind:
        node, values["ingress_port"], values["egress_port"], queue = struct.unpack_from("!IHHI", data, at)
        at += 12
    if kind == 1:
        values["drop_reason"] = _bits(queue, 8, 8)
        _demand(queue & 0xFFFF == 0, "0.5: pad of a drop")
    if kind == 2:
        _queue(values, queue)
        values["egress_ns"] = struct.unpack_from("!I", data, at)[0]
        at += 4
    return [Report("0.5", _bits(word, 26, 6), sequence, node, *(_bits(word, 8 + k, 1) for k in range(3)),
                   values, data[at:])]


def _read_1_0(data):
    word, node, sequence, ingress = struct.unpack_from("!IIII", data)
    _demand(_bits(word, 0, 4) == 1 and _bits(word, 8, 3) == 0 and _bits(word, 17, 6) == 0,
            "1.0: version, Ethernet, reserved bits", hex(word))
    have, at, values = _bits(word, 11, 6), 16, {"ingress_ns": ingress}
    _demand(_bits(word, 4, 4) == 4 + have.bit_count(), "1.0: length", hex(word))
    for bit in range(6):
        if not _bits(have, bit, 1, 6):
            continue
        value = struct.unpack_from("!I", data, at)[0]
        at += 4
        if bit == 0:
            values["ingress_port"], values["egress_port"] = value >> 16, value & 0xFFFF
        elif bit == 2:
            _queue(values, value)
        elif bit == 4:
            values["drop_reason"] = _bits(value, 8, 8)
            _demand(value & 0xFFFF == 0, "1.0: pad of a drop")
        else:
            values[{1: "hop_latency", 3: "egress_ns", 5: "utilisation"}[bit]] = value
    return [Report("1.0", _bits(word, 26, 6), sequence, node, *(_bits(word, 23 + k, 1) for k in range(3)),
                   values, data[at:])]


def _values_2_0(have, data, at):
    values = {}
    for bit in range(16):
        if not _bits(have, bit, 1, 16):
            continue
        _demand(1 <= bit <= 8 or bit == 15, "2.0: a reserved bit", hex(have))
        size = 8 if bit in (4, 5, 6) else 4
        value = int.from_bytes(data[at:at + size], "big")
        at += size
        if bit == 1:
            values["ingress_port"], values["egress_port"] = value >> 16, value & 0xFFFF
        elif bit in (3, 8):
            _queue(values, value, "queue_packets" if bit == 3 else "buffer_used")
        elif bit == 6:
            values["ingress_l2"], values["egress_l2"] = value >> 32, value & 0xFFFFFFFF
        elif bit == 15:
            values["drop_reason"] = _bits(value, 8, 8)
            _demand(value & 0xFFFF == 0, "2.0: pad of a drop")
        else:
            values[{2: "hop_latency", 4: "ingress_ns", 5: "egress_ns", 7: "utilisation"}[bit]] = value
    return values, at


def _read_2_0(data):
    word, node = struct.unpack_from("!II", data)
    at, found = 8, []
    _demand(_bits(word, 0, 4) == 2, "2.0: version", hex(word))
    while at < len(data):
        head, have, domain = struct.unpack_from("!IHH", data, at)
        length, md = _bits(head, 8, 8), _bits(head, 16, 8)
        end = at + 4 + 4 * length
        _demand(_bits(head, 0, 4) == 1 and _bits(head, 4, 4) == 3 and _bits(head, 27, 5) == 0,
                "2.0: INT, Ethernet, no intermediate, reserved bits", hex(head))
        _demand(domain == 0 and data[at + 8:at + 12] == bytes(4), "2.0: no domain")
        _demand(end <= len(data), "2.0: length", length)
        values, behind = _values_2_0(have, data, at + 12)
        _demand(behind == at + 12 + 4 * md, "2.0: length of values", md, hex(have))
        found.append(Report("2.0", _bits(word, 4, 6), _bits(word, 10, 22), node,
                            *(_bits(head, 24 + k, 1) for k in range(3)), values, data[behind:end]))
        at = end
    return found


def read(data):
    """The reports in a payload."""
    try:
        return {0: _read_0_5, 1: _read_1_0, 2: _read_2_0}[data[0] >> 4](data)
    except (KeyError, IndexError, struct.error) as error:
        raise ValueError(f"no report: {data[:40].hex()}") from error
