#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the files that the lab's traffic is compared with: frames.json, with frames built by scapy,
and captures of scapy's frames to replay.

    make_frames.py FOLDER          write the files
    make_frames.py --check FOLDER  exit 1 if the files there differ
"""

import json
import os
import struct
import sys

try:
    from scapy.layers.inet import ICMP, IP, TCP, UDP
    from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
    from scapy.layers.l2 import Dot1Q, Ether
    from scapy.packet import Raw
except ImportError:
    print("skipped: scapy is not installed for this python", file=sys.stderr)
    sys.exit(77)

MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")  # own, of `from` and `to`
NEXT = ("02:00:00:00:00:11", "02:00:00:00:00:12")  # where their frames go
ADDRESSES = ("2001:db8:0:1::1", "2001:db8:0:2::1")
IPV4 = ("192.0.2.1", "192.0.2.2")
PORTS = (5000, 6000)


def pattern(length):
    return Raw(bytes(i & 0xff for i in range(length)))


def below(reply, ipv4=False):
    me, other = int(reply), int(not reply)
    if ipv4:
        ip = IP(src=IPV4[me], dst=IPV4[other], ttl=64, id=0, flags="DF")
    else:
        ip = IPv6(src=ADDRESSES[me], dst=ADDRESSES[other], hlim=64)
    return Ether(src=MACS[me], dst=NEXT[me]) / ip


def udp(payload, sport=PORTS[0], ipv4=False):
    return below(False, ipv4) / UDP(sport=sport, dport=PORTS[1]) / pattern(payload)


def tcp(payload, seq, ack, reply=False, ipv4=False):
    me, other = int(reply), int(not reply)
    return below(reply, ipv4) / TCP(sport=PORTS[me], dport=PORTS[other], seq=seq & 0xffffffff,
                              ack=ack & 0xffffffff, flags="PA" if payload else "A",
                              window=65535) / pattern(payload)


def echo(payload, seq, reply=False, ipv4=False):
    if ipv4:
        return (below(reply, True) / ICMP(type=0 if reply else 8, id=1, seq=seq & 0xffff) /
                pattern(payload))
    kind = ICMPv6EchoReply if reply else ICMPv6EchoRequest
    return below(reply) / kind(id=1, seq=seq & 0xffff, data=bytes(pattern(payload)))


def port_of_zero_checksum():
    """Finds a source port with which the sum of a UDP frame of 20 bytes is zero, which is sent as
    0xffff."""
    checksum = int.from_bytes(bytes(udp(20, 1))[60:62], "big")
    port = 1 + checksum  # makes up the difference
    assert bytes(udp(20, port))[60:62] == b"\xff\xff"
    return port


def case(name, kind, protocol, payload, number, frame, reply=False, src_port=PORTS[0]):
    return {"name": name, "kind": kind, "protocol": protocol, "payload": payload,
            "number": number, "reply": reply, "src_port": src_port, "hex": bytes(frame).hex()}


def cases():
    for payload in (0, 1, 500, 8938):
        yield case(f"udp {payload}", "constant", "udp", payload, 1, udp(payload))
    yield case("udp again", "poisson", "udp", 99, 3, udp(99))
    port = port_of_zero_checksum()
    yield case("udp with a checksum of zero", "constant", "udp", 20, 2, udp(20, port),
               src_port=port)
    for payload, number in ((0, 5), (1, 2), (500, 1), (500, 1000), (8926, 2)):
        yield case(f"tcp {payload} number {number}", "constant", "tcp", payload, number,
                   tcp(payload, 1 + (number - 1) * payload, 1))
    yield case("tcp beyond 32 bits", "constant", "tcp", 8926, 481177,
               tcp(8926, 1 + 481176 * 8926, 1))
    for payload, number in ((0, 1), (56, 7), (8938, 2), (3, 65535), (3, 65536), (3, 65537)):
        yield case(f"echo {payload} number {number}", "constant", "icmp", payload, number,
                   echo(payload, number))
    yield case("ping", "ping", "icmp", 56, 70000, echo(56, 70000))
    yield case("pong", "ping", "icmp", 56, 70000, echo(56, 70000, True), True)
    yield case("segment", "window", "tcp", 1440, 3, tcp(1440, 1 + 2 * 1440, 1))
    yield case("acknowledgement", "window", "tcp", 1440, 3, tcp(0, 1, 1 + 3 * 1440, True), True)
    for payload in (0, 1, 500, 8938):
        yield case(f"ipv4 udp {payload}", "constant", "udp", payload, 1, udp(payload, ipv4=True))
    yield case("ipv4 ping", "ping", "icmp", 57, 70000, echo(57, 70000, ipv4=True))
    yield case("ipv4 pong", "ping", "icmp", 57, 70000, echo(57, 70000, True, True), True)
    yield case("ipv4 segment", "window", "tcp", 1440, 3, tcp(1440, 1 + 2 * 1440, 1, ipv4=True))
    yield case("ipv4 acknowledgement", "window", "tcp", 1440, 3,
               tcp(0, 1, 1 + 3 * 1440, True, True), True)


def frames_json():
    rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in cases())
    return f"[\n{rows}\n]\n".encode("ascii")


# ---- captures ----

def capture(records, order="<", nano=True, link_type=1):
    """Writes a capture of (seconds, fraction, frame, length before truncation)."""
    magic = 0xa1b23c4d if nano else 0xa1b2c3d4
    made = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link_type)
    for seconds, fraction, frame, length in records:
        made += struct.pack(order + "IIII", seconds, fraction, len(frame), length) + frame
    return made


def stranger(payload, hop_limit=17):
    """Returns a frame of hosts that the lab does not have."""
    return bytes(Ether(src="00:11:22:33:44:55", dst="66:77:88:99:aa:bb") /
                 IPv6(src="2001:db8:9::1", dst="2001:db8:9::2", hlim=hop_limit, fl=0xabcde) /
                 UDP(sport=1, dport=2) / pattern(payload))


def tagged():
    return bytes(Ether(src="00:11:22:33:44:55", dst="66:77:88:99:aa:bb") / Dot1Q(vlan=7) /
                 IPv6(src="2001:db8:9::1", dst="2001:db8:9::2") / UDP(sport=1, dport=2) /
                 pattern(30))


def not_ip():
    return bytes(Ether(src="00:11:22:33:44:55", dst="66:77:88:99:aa:bb", type=0x88b5) /
                 pattern(46))


def whole(seconds, fraction, frame):
    return (seconds, fraction, frame, len(frame))


def captures():
    first = 1767225600
    records = [
        whole(first, 999999998, stranger(100)),
        whole(first + 1, 1, stranger(0)),
        (first + 1, 2, stranger(500)[:96], len(stranger(500))),  # truncated: skipped
        whole(first + 1, 500, tagged()),
        whole(first + 1, 400, not_ip()),  # captured late
        whole(first + 1, 600, stranger(9139)),  # one byte too long
        whole(first + 1, 700, stranger(9138)),
        whole(first + 3, 0, stranger(7)),
    ]
    yield "nano.pcap", capture(records)
    yield "micro-big-endian.pcap", capture(
        [whole(10, 999999, stranger(5)), whole(11, 1, stranger(6))], ">", False)
    yield "raw-ip.pcap", capture([whole(10, 0, stranger(5)[14:])], link_type=101)
    yield "empty.pcap", capture([])
    yield "ends-early.pcap", capture([whole(1, 0, stranger(5)), whole(2, 0, stranger(5))])[:-9]


def main(argv):
    check = len(argv) == 3 and argv[1] == "--check"
    if not check and len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    failed = 0
    for name, made in [("frames.json", frames_json()), *captures()]:
        path = os.path.join(argv[-1], name)
        if not check:
            with open(path, "wb") as file:
                file.write(made)
            continue
        with open(path, "rb") as file:
            same = file.read() == made
        if not same:
            print(f"{path} is not what make_frames.py makes", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv))
