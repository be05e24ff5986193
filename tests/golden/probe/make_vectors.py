#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes vectors.json: probes from an encoder that shares no code with lib/telemetry.

Headers are scapy's, and so are all lengths and checksums: each packet is built anew, never changed.
The payload is built here by docs/wire-probe.md. Entries and values are random.

    make_vectors.py FILE          write the vectors
    make_vectors.py --check FILE  exit 1 if FILE differs
"""

import json
import random
import struct
import sys

try:
    from scapy.layers.inet import IP, UDP, IPOption_NOP
    from scapy.layers.l2 import Dot1Q, Ether
    from scapy.packet import Raw
except ImportError:
    print("skipped: scapy is not installed for this python", file=sys.stderr)
    sys.exit(77)

MACS = "02:00:00:00:00:01", "02:00:00:00:00:02"
numbers = random.Random(0x6917)


def payload(case, entries, hops):
    values = [value for hop in hops for value in hop["values"]]
    return (struct.pack(">HH", case["id"] << 1 | case["type"], len(entries)) +
            b"".join(bytes(entry) for entry in entries) +
            struct.pack(">H", len(hops)) +
            b"".join(struct.pack(">BBH", hop["node"], hop["depth"], len(hop["values"])) for hop in hops) +
            struct.pack(">H", len(values)) + b"".join(struct.pack(">I", value) for value in values))


def framed(case, dscp, data, back=False):
    udp = UDP(sport=case["sport"], dport=case["dport"])
    if not case["checksum"]:
        udp.chksum = 0
    ip = IP(src="10.0.0.100", dst="10.0.0.1", ttl=64, id=case["ip_id"], tos=dscp << 2 | case["ecn"],
            options=[IPOption_NOP()] * 4 * case["ip_options"])
    src, dst = MACS[::-1] if back else MACS
    ether = Ether(src=src, dst=dst)
    if case["vlan"]:
        ether = ether / Dot1Q(vlan=5)
    return bytes(ether / ip / udp / Raw(data)).hex()


def made(name, entries, **choices):
    case = {"id": 5, "type": 1, "dscp": 0x17, "feedback_dscp": 0x19, "recovery_dscp": 0x21, "sport": 40000,
            "dport": 7777, "ip_id": 1, "ecn": 0, "checksum": True, "ip_options": 0, "vlan": False, **choices}
    hops, steps = [], []
    start = framed(case, case["dscp"], payload(case, entries, hops))
    for i, (_, first, end) in enumerate(entries):
        hops.append({"node": numbers.randint(0, 255), "depth": numbers.randint(0, 255),
                     "values": [numbers.getrandbits(32) for _ in range(end - first)]})
        data = payload(case, entries[i + 1:], hops)
        steps.append({**hops[-1], "frame": framed(case, case["dscp"], data)})
    last = framed(case, case["recovery_dscp"], payload(case, [], hops))
    return {"name": name, **{key: case[key] for key in ("id", "type", "dscp", "feedback_dscp", "recovery_dscp")},
            "udp_port": case["dport"], "entries": entries, "start": start, "hops": steps,
            "recovery": last, "feedback": framed(case, case["feedback_dscp"], struct.pack(">H", case["id"] << 1 | case["type"]), True)}


def entry(most):
    first = numbers.randint(0, 255)
    return [numbers.randint(0, 255), first, min(255, first + numbers.randint(0, most))]


def cases():
    yield made("of the reference", [[2, 0, 4], [3, 0, 2], [1, 1, 2]])
    yield made("rule hits", [[2, 0, 4], [3, 0, 2], [1, 1, 2]], type=0)
    yield made("no entries", [])
    yield made("no values", [[1, 0, 0], [2, 7, 7]])
    yield made("a whole register", [[1, 0, 255]])
    yield made("40 hops", [[n & 255, n, n + 1] for n in range(40)])
    yield made("no checksum of UDP", [[1, 0, 2], [2, 0, 1]], checksum=False)
    yield made("a tag, options and ECN", [[1, 0, 2], [2, 0, 1]], vlan=True, ip_options=2, ecn=2)
    yield made("the greatest ID", [[1, 0, 1]], id=0x7fff)
    yield made("ID 0 of other code points", [[1, 0, 1]], id=0, dscp=1, feedback_dscp=63, recovery_dscp=2, dport=9)
    for i in range(60):
        yield made(f"random {i}", [entry(6) for _ in range(numbers.randint(1, 8))], id=numbers.getrandbits(15),
                   type=numbers.getrandbits(1), sport=numbers.getrandbits(16), ip_id=numbers.getrandbits(16),
                   ecn=numbers.getrandbits(2), checksum=numbers.random() < 0.8,
                   ip_options=numbers.randint(0, 3), vlan=numbers.random() < 0.2)


def main(argv):
    text = "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases()) + "\n]\n"
    path = argv[-1]
    if len(argv) == 3 and argv[1] == "--check":
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                print(f"{path} is not what make_vectors.py makes", file=sys.stderr)
                return 1
        return 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
