#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the bytes that test_rule_cbor.c and test_rule_auth.c compare with: CBOR written here by hand
from RFC 8949, HMAC from Python's own library."""

import hashlib
import hmac
import struct


def head(major, value):
    for info, size, form in ((24, 1, ">B"), (25, 2, ">H"), (26, 4, ">I"), (27, 8, ">Q")):
        if value < 24:
            return bytes([major << 5 | value])
        if value < 1 << 8 * size:
            return bytes([major << 5 | info]) + struct.pack(form, value)
    raise ValueError(value)


def fraction(value):
    for initial, form in ((0xF9, ">e"), (0xFA, ">f"), (0xFB, ">d")):
        try:
            packed = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.unpack(form, packed)[0] == value:
            return bytes([initial]) + packed
    raise ValueError(value)


def encode(item):
    if isinstance(item, bool):
        return b"\xf5" if item else b"\xf4"
    if isinstance(item, int):
        return head(0, item)
    if isinstance(item, float):
        return fraction(item)
    if isinstance(item, bytes):
        return head(2, len(item)) + item
    if isinstance(item, str):
        return head(3, len(item)) + item.encode()
    return head(5, len(item)) + b"".join(encode(k) + encode(v) for k, v in item.items())


RULE = {"ns_id": 7, "app_id": 1, "src_ip": "2001:db8::1", "dst_ip": "2001:db8::2", "src_port": 0,
        "dst_port": 5001, "protocol": "udp", "trace_type": "0x7000E000", "mode": "count",
        "mode_setting": 100}
KEY = bytes(range(32))
COUNTER = 1700000000123456789


def main():
    print("plain", encode({"int_request": RULE}).hex())
    switches = RULE | {"transmit_report": False, "piggyback_report": True}
    print("switches", encode({"int_request": switches}).hex())
    for setting in (0.5, 33.25, 100 / 3, 0.1, 4194304.5, 16777216.5, 2.0 ** -24, 2.0 ** -25,
                    2047 / 1024, 2049 / 2048):
        print("setting", repr(setting), encode(setting).hex())
    counter = struct.pack(">Q", COUNTER)
    mac = hmac.new(KEY, counter + encode(RULE), hashlib.sha256).digest()[:8]
    print("auth", encode({"int_request": RULE, "auth": counter + mac}).hex())
    long = RULE | {"x": "y" * 60}
    print("auth, unknown key", encode({"auth": counter + hmac.new(
        KEY, counter + encode(long), hashlib.sha256).digest()[:8], "int_request": long}).hex())


main()
