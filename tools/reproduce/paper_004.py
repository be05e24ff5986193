# SPDX-License-Identifier: BSD-3-Clause
"""Paper 004, the INT specification of June 2016: the examples of section 5.4, and what sections 5.2 and 5.3 demand of a
device, by packets that pass real nodes.

The packets and what is expected of them are written here from the specification. They share no code with the nodes.
docs/results/004.json keeps what came out. The document is made only from the numbers there.
"""

import os
import struct
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "integration")]

import frames  # noqa: E402
import netlab  # noqa: E402
from paper_page import keep, read_kept, table, tell  # noqa: E402
from workspace import Workspace  # noqa: E402

CARRIERS = {"geneve": 6081, "vxlan-gpe": 4790}
HOP_BY_HOP, DESTINATION = 1, 2
VNI, BURST, LIMIT_S = 0x123, 8, 30
SWITCH_ID, OCCUPANCY = 0x8000, 0x1000
EXAMPLE = SWITCH_ID | OCCUPANCY  # 1001 0000 0000 0000
EIGHT = 0xFF00
PIGGYBACKED = [(13,), (12,), (11,)]  # queue occupancies of the way back: of hops 3, 2 and 1
HOST_A, HOST_B = bytes((192, 0, 2, 1)), bytes((198, 51, 100, 1))
INNER = frames.ethernet(bytes(range(46)), ethertype=0x88B5)


# ---- packets as the specification has them ----


def metadata(bitmap, values, max_hops=16, rep=0, copy=0, exceeded=0):
    """An INT metadata header and its stack; `values` has one tuple for each hop, the newest first."""
    count = bin(bitmap).count("1")
    words = [value for hop in values for value in hop]
    if words:
        words[-1] |= 1 << 31  # bottom of stack
    return struct.pack("!HBBHH", rep << 12 | copy << 11 | exceeded << 10 | count, max_hops, len(values), bitmap, 0) \
        + b"".join(struct.pack("!I", word) for word in words)


def carried(carrier, blocks):
    """A Geneve or a VXLAN GPE header, and blocks of INT behind it: pairs of a type and its metadata."""
    if carrier == "geneve":
        options = b"".join(struct.pack("!HBB", 0x00AB, kind, len(data) // 4) + data for kind, data in blocks)
        return struct.pack("!BBHI", len(options) // 4, 0, 0x6558, VNI << 8) + options
    following = [5] * (len(blocks) - 1) + [3]  # 5: INT, 3: Ethernet
    shims = b"".join(struct.pack("!BBBB", kind, 0, len(data) // 4 + 1, after) + data
                     for (kind, data), after in zip(blocks, following))
    return struct.pack("!BBHI", 0x0C, 0, 5 if blocks else 3, VNI << 8) + shims


def ipv4_checksum(header):
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(carrier, blocks, ident=0):
    """A frame of a tunnel between the two hosts. UDP has no checksum."""
    payload = carried(carrier, blocks) + INNER
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), ident, 0, 64, frames.UDP, 0, HOST_A, HOST_B)
    ip = ip[:10] + struct.pack("!H", ipv4_checksum(ip)) + ip[12:]
    return frames.ethernet(ip + struct.pack("!HHHH", 50001, CARRIERS[carrier], 8 + len(payload), 0) + payload,
                           ethertype=0x0800)


# ---- what is sent, and what must leave the last switch ----


def example(hops):
    """The blocks of section 5.4. The second one is what Host1 gives back to Host2."""
    return [(HOP_BY_HOP, metadata(EXAMPLE, hops)), (DESTINATION, metadata(OCCUPANCY, PIGGYBACKED))]


def ids(hops, max_hops=16, **bits):
    return [(HOP_BY_HOP, metadata(SWITCH_ID, [(hop,) for hop in hops], max_hops, **bits))]


def demands(carrier):
    """What the specification demands of a device: section, words, the blocks that are sent, and those that must leave
    three switches with the ids 1, 2 and 3."""
    most = {"geneve": 29, "vxlan-gpe": 252}[carrier]  # words of a stack, by the length field of the carrier
    many = list(range(most - 1))
    unknown = [(HOP_BY_HOP, metadata(SWITCH_ID | 0x0080, []))]
    back = [(DESTINATION, metadata(OCCUPANCY, PIGGYBACKED))]
    return [
        ("5.3.3", "A device puts its values in front of those of the devices before it. BOS stays with the last value.",
         ids([9]), ids([3, 2, 1, 9])),
        ("5.3.3", "At Max Hop Count, a device adds nothing and sets E.", ids([], 2), ids([2, 1], 2, exceeded=1)),
        ("5.3.3", "A device adds all values that are asked for or none. Here, the length of the carrier has room for "
                  "one more value.", ids(many, 255), ids([1, *many], 255)),
        ("5.3.3", "A reserved instruction has no value that is known, so that a device adds nothing.", unknown, unknown),
        ("5.3.3", "A device that makes no copies leaves Rep and C as they are.", ids([], rep=3, copy=1), ids([3, 2, 1], rep=3, copy=1)),
        ("4.1", "A device does not change a destination header.", back, back),
        ("5.2", "A packet without INT stays as it is.", [], []),
    ]


# ---- runs ----


def node_of(space, number, files, sides, queue, requests):
    """A node with two ports for each carrier. files: the carrier, the file of its packets, the file of what leaves."""
    ports = []
    for carrier, before, after in files:
        for name, side, way in (("in", sides[0], {"rx": before}), ("out", sides[1], {"tx": after, **queue})):
            port = netlab.pcap(f"{carrier}-{name}", len(ports), side, way.get("rx"), way.get("tx"), mtu=1500)
            ports.append({**port, **({"profile": carrier} if side == "network" else {}),
                          **{key: value for key, value in way.items() if key not in ("rx", "tx")}})
    profiles = {carrier: {"method": "int", "version": "2016-06", "carrier": carrier} for carrier in CARRIERS}
    return netlab.Node(space, number, ports, profiles=profiles, requests=requests)


def passed(node, files, n):
    """Starts a node, waits until it has sent n packets for each carrier, and returns what it sent."""
    node.start()
    end = time.monotonic() + LIMIT_S
    while any(port["tx_packets"] < n for port in node.call("ports_get")["ports"] if port["name"].endswith("-out")):
        if time.monotonic() > end:
            raise RuntimeError(f"node {node.name} does not send {n} packets: {node.call('stats')['ports']}")
        time.sleep(0.02)
    node.stop()
    return {carrier: list(frames.read_pcap(after)) for carrier, _, after in files}


def chain(space, sent, nodes):
    """Packets through nodes one after another. nodes: a number, the sides of its ports, and more of node_of. Returns what
    leaves each node."""
    out, before = [], {}
    for carrier, some in sent.items():
        before[carrier] = space.path(f"{carrier}-host.pcap")
        frames.write_pcap(before[carrier], some)
    for number, *more in nodes:
        files = [(carrier, before[carrier], space.path(f"{carrier}-{number}.pcap")) for carrier in CARRIERS]
        out.append(passed(node_of(space, number, files, *more), files, len(some)))
        before = {carrier: after for carrier, _, after in files}
    return out


def in_workspace(sent, nodes):
    with tempfile.TemporaryDirectory(prefix="hs-int-") as folder:
        space = Workspace(folder)
        try:
            return chain(space, sent, nodes)
        finally:
            space.close()


def rules():
    return [{"int_request": {
        "ns_id": i + 1, "app_id": 1, "src_ip": "192.0.2.1", "dst_ip": "198.51.100.1", "src_port": 0, "dst_port": port,
        "protocol": "udp", "method": "int", "instructions": ["node_id", "queue"], "mode": "count", "mode_setting": 1}}
        for i, port in enumerate(CARRIERS.values())]


def measure():
    """Lets the packets pass real nodes. The frames that left are hexadecimal text. All packets of a file come in one burst,
    and a switch's port sends slowly: the packet with the number n finds n packets in the queue."""
    switches = [(n, ("network", "network"), {"rate_bps": 1_000_000, "queue_packets": 64}, []) for n in (1, 2, 3)]
    sent = {carrier: [packet(carrier, example([]), n) for n in range(BURST)] +
            [packet(carrier, before) for _, _, before, _ in demands(carrier)] for carrier in CARRIERS}
    last = in_workspace(sent, switches)[-1]
    plain = {carrier: [packet(carrier, [])] for carrier in CARRIERS}
    wire, back = in_workspace(plain, [(1, ("host", "network"), {}, rules()), (2, ("network", "host"), {}, rules())])
    return {carrier: {"example": last[carrier][BURST - 1].hex(), "demands": [f.hex() for f in last[carrier][BURST:]],
                      "source": wire[carrier][0].hex(), "sink": back[carrier][0].hex()} for carrier in CARRIERS}


# ---- the document ----

WORDS = {
    "geneve": ["Ver, OptLen=15, O, C, Rsvd., Protocol Type", "Virtual Network Identifier, Reserved",
               "Option Class=0x00AB, Type=1, R, Len=8"],
    "vxlan-gpe": ["flags, Reserved, NextProto=0x5", "VXLAN Network Identifier, Reserved",
                  "Type=1, Reserved, Length=9, NextProto=0x5"],
}
SECOND = {"geneve": "Option Class=0x00AB, Type=2, R, Len=5", "vxlan-gpe": "Type=2, Reserved, Length=6, NextProto=0x3"}
STACK = ["Ver, Rep, C, E, R, InsCnt=2, MaxHopCnt=16, TotalHopCnt=3", "1001 0000 0000 0000, Reserved",
         *(f"{bottom}, {what} of hop{hop} (sw{hop})" for hop in (3, 2, 1)
           for what, bottom in (("sw id", 0), ("queue occupancy", int(hop == 1))))]
PIGGYBACK = ["Ver, Rep, C, E, R, InsCnt=1, MaxHopCnt=16, TotalHopCnt=3", "0001 0000 0000 0000, Reserved",
             *(f"{int(hop == 1)}, queue occupancy of hop{hop} (sw{4 - hop})" for hop in (3, 2, 1))]
TITLES = {"geneve": "Geneve", "vxlan-gpe": "VXLAN GPE"}


def expected(carrier):
    """What must be in the numbers, by the specification alone."""
    seen = BURST - 1
    return {"example": packet(carrier, example([(3, seen), (2, seen), (1, seen)]), seen).hex(),
            "demands": [packet(carrier, after).hex() for _, _, _, after in demands(carrier)],
            "source": packet(carrier, [(HOP_BY_HOP, metadata(EXAMPLE, [(1, 0x7FFFFFFF)], 8))]).hex(),
            "sink": packet(carrier, []).hex()}


def wrong_in(numbers):
    """Yields what differs from the specification."""
    for carrier in CARRIERS:
        for name, want in expected(carrier).items():
            if numbers[carrier][name] != want:
                yield f"{carrier} {name}: {numbers[carrier][name]} and not {want}"


def words_of(frame):
    """The words behind the UDP header of a frame in hexadecimal, without the inner frame."""
    data = bytes.fromhex(frame)[42:-len(INNER)].hex()
    return [data[i:i + 8] for i in range(0, len(data), 8)]


def example_table(carrier, numbers):
    labels = [*WORDS[carrier], *STACK, SECOND[carrier], *PIGGYBACK]
    return table(["the specification's word", "at Host2"], *zip(labels, words_of(numbers[carrier]["example"]), strict=True))


def short(words):
    return " ".join(words if len(words) <= 14 else [*words[:8], "…", words[-1]])


def demand_tables(numbers):
    for carrier, title in TITLES.items():
        rows = [[section, text, short(words_of(packet(carrier, before).hex())), short(words_of(left))] for
                (section, text, before, _), left in zip(demands(carrier), numbers[carrier]["demands"], strict=True)]
        plain = short(words_of(packet(carrier, []).hex()))
        wire = short(words_of(numbers[carrier]["source"]))
        rows.append(["5.3.3", "A source writes the header and its own values. A value that it does not have is 0x7FFFFFFF; "
                     "BOS is beside it.", plain, wire])
        rows.append(["2", "A sink takes INT out.", wire, short(words_of(numbers[carrier]["sink"]))])
        yield f"### {title}\n\n" + table(["section", "demand", "sent", "left"], *rows)


TEXT = """# INT of June 2016 (paper 004)

`./reproduce.sh 004` makes this page. Each packet passes real nodes (`hopsightd`), whose ports read and write capture files. The
script writes the packets, and what must come out, from the specification alone. All that came out is what must come out, byte for
byte, with the lengths and checksums of the headers before.

## The examples of section 5.4

Host1 sends {burst} packets at once. Three nodes with the ids 1, 2 and 3 add their id and the depth of their queue. The table has the
last packet, which finds {seen} packets in each queue. The unit of the depth is the packet. Host1 has put the second header in, and the
nodes do not change it.

### Geneve

{geneve}
### VXLAN GPE

{gpe}
## What a device must do

*sent* and *left* are the words from the tunnel's header to the encapsulated frame. Three nodes are on the way, but one node in the last
two lines.

{demands}"""


def document(numbers):
    return TEXT.format(burst=BURST, seen=BURST - 1, geneve=example_table("geneve", numbers),
                       gpe=example_table("vxlan-gpe", numbers), demands="\n".join(demand_tables(numbers)))


def draw(_numbers, _folder):
    """The page has no figures."""


def write(_live):
    numbers = measure()
    for wrong in wrong_in(numbers):
        print(f"004: {wrong}", file=sys.stderr)
        return 1
    keep("004", numbers, document)
    return 0


def check():
    """A fresh run gives what is committed, which is what the specification says."""
    numbers, stale = read_kept("004", document)
    return tell("004", {
        "004.md is made of 004.json": stale,
        "each packet is as the specification has it": "; ".join(wrong_in(numbers)),
        "packets through real nodes are those": "; ".join(wrong_in(measure())),
    })
