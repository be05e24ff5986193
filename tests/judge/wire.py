# SPDX-License-Identifier: BSD-3-Clause
"""The telemetry of a Hop-by-Hop header, read by docs/wire-flexint.md alone."""

import collections

# bits: the fields that the node wrote; values: by name.
Entry = collections.namedtuple("Entry", "node bits values")
Telemetry = collections.namedtuple("Telemetry", "ns_id e2e hbh source hops")

MAIN, SOURCE = 0x31, 0x11
E2E_FIELDS = ((0x8000, 4, "int_packets"), (0x4000, 8, "ts_ns"), (0x2000, 4, "tx_packets"),
              (0x1000, 4, "tx_bytes"))
HOP_FIELDS = ((0x8000, 2, "tx_packets"), (0x8000, 2, "rx_packets"), (0x4000, 8, "ts_ns"),
              (0x2000, 4, "tx_bytes"), (0x2000, 4, "rx_bytes"))
PACKETS, STAMP, BYTES = 0x8000, 0x4000, 0x2000  # of a hop
SOURCE_PACKETS, SOURCE_STAMP, SOURCE_BYTES = 0x2000, 0x4000, 0x1000


def number(data, at, n):
    return int.from_bytes(data[at:at + n], "big")


def values_of(data, at, bits, fields):
    values = {}
    for bit, size, name in fields:
        if bits & bit:
            values[name] = number(data, at, size)
            at += size
    return values, at


def options_of(header):
    """Yields type and content of each option except padding; nothing after a truncation."""
    at, end = 2, min(len(header), 8 * (header[1] + 1))
    while at < end:
        if header[at] == 0:
            at += 1
            continue
        if at + 2 > end or at + 2 + header[at + 1] > end:
            return
        if header[at] != 1:
            yield header[at], header[at + 2:at + 2 + header[at + 1]]
        at += 2 + header[at + 1]


def telemetry_of(header):
    """Returns None if it carries no telemetry that a sink reports."""
    options = dict(options_of(header))
    main, source = options.get(MAIN), options.get(SOURCE)
    if main is None or source is None or len(main) < 8 or len(source) < 2:
        return None
    hops, at = [], 8
    while at + 4 <= len(main):
        bits = number(main, at + 2, 2)
        values, end = values_of(main, at + 4, bits, HOP_FIELDS)
        if end > len(main):
            return None
        hops.append(Entry(number(main, at, 2), bits, values))
        at = end
    bits = number(source, 0, 2)
    values, _ = values_of(source, 2, bits, E2E_FIELDS)
    return Telemetry(number(main, 0, 4), number(main, 4, 2), number(main, 6, 2),
                     Entry(0, bits, values), hops[::-1])
