# SPDX-License-Identifier: BSD-3-Clause
"""Packets and what they mean, written by hand from the specifications. Each case: name, setting of the
dissector, frame, and the words of its fields in order."""

import struct

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

FLEXINT = "flexint:TRUE"
PREFERENCES = {
    "2016-06": "version:2016-06",
    "0.5": "version:0.5 mark:dscp",
    "0.5 by port": "version:0.5 mark:udp_port udp_port:5000",
    "1.0": "version:1.0 mark:dscp dscp:1 dscp_mask:1",
    "1.0 by marker": "version:1.0 mark:probe_marker probe_marker:AAAABBBBCCCCDDDD",
    "2.1": "version:2.1 mark:dscp report_ports:32766,4000-4002",
    "2.1 by port": "version:2.1 mark:udp_port udp_port:5000 source_words:2 report_lenient:TRUE",
    "2.1 by marker": "version:2.1 mark:probe_marker probe_marker:aaaabbbbccccdddd",
    "2.0": "version:2.1 gpe_protocol:128 geneve_class:291 geneve_type:5 report_1_is_0_5:TRUE flexint:FALSE",
}
CASES = []

_ETHER = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
_INNER = bytes(_ETHER / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=7, dport=8) / Raw(b"inner"))


def _case(name, setting, frame, expected):
    CASES.append((name, setting, bytes(frame), expected))


def _ip(text):
    """A vector that begins with the IP header."""
    packet = bytes.fromhex(text)
    return bytes(_ETHER)[:12] + (b"\x08\x00" if packet[0] >> 4 == 4 else b"\x86\xdd") + packet


def _udp(port, payload, v6=False):
    ip = IPv6(src="2001:db8::1", dst="2001:db8::2") if v6 else IP(src="192.0.2.1", dst="192.0.2.2")
    return _ETHER / ip / UDP(sport=4000, dport=port) / Raw(payload)


def _tunnel(port, vector, v6=False):
    return _udp(port, bytes.fromhex(vector) + _INNER, v6)


# ---- INT of June 2016 ----

_2016 = """int. carrier={} {} type=1 version_name=2016-06 version=0 replication=0 c=0 e=0
    instruction_count=2 max_hops=16 total_hops=3 bitmap=0x9000 hops=3
    bottom=0 node_id=3 bottom=0 queue_packets=30 bottom=0 node_id=2 bottom=0 queue_packets=20
    bottom=0 node_id=1 bottom=1 queue_packets=10
    carrier={} {} type=2 version_name=2016-06 version=0 replication=0 c=0 e=0
    instruction_count=1 max_hops=16 total_hops=3 bitmap=0x1000 hops=3
    bottom=0 queue_packets=11 bottom=0 queue_packets=12 bottom=1 queue_packets=13"""
_GENEVE_2016 = ("0f0065580001230000ab01080002100390000000000000030000001e0000000200000014"
                "000000018000000a00ab020500011003100000000000000b0000000c8000000d")
_GPE_2016 = ("0c00000500012300010009050002100390000000000000030000001e0000000200000014"
             "000000018000000a0200060300011003100000000000000b0000000c8000000d")
_case("2016-06 in Geneve", "2016-06", _tunnel(6081, _GENEVE_2016),
      _2016.format("geneve", "", "geneve", ""))
_case("2016-06 in VXLAN-GPE", "2016-06", _tunnel(4790, _GPE_2016), _2016.format(
    "vxlan-gpe", "shim.type=1 shim.length=9 shim.next_protocol=5",
    "vxlan-gpe", "shim.type=2 shim.length=6 shim.next_protocol=3"))
_case("2016-06 over IPv6", "2016-06", _tunnel(4790, _GPE_2016, v6=True), _2016.format(
    "vxlan-gpe", "shim.type=1 shim.length=9 shim.next_protocol=5",
    "vxlan-gpe", "shim.type=2 shim.length=6 shim.next_protocol=3"))
_case("2016-06 with all values, E, C, Rep", "2016-06", _tunnel(
    4790, "0c000005000123000100" "0b03" "3c08" "0101" "ff000000" "00000001" "00000002" "00000003"
    "7fffffff" "00000005" "00000006" "00000007" "80000008"),
      """int. carrier=vxlan-gpe shim.type=1 shim.length=11 shim.next_protocol=3 type=1
      version_name=2016-06 version=0 replication=3 c=1 e=1 instruction_count=8 max_hops=1
      total_hops=1 bitmap=0xff00 hops=1 bottom=0 node_id=1 bottom=0 ingress_port=2
      bottom=0 hop_latency_ns=3 bottom=0 not_available=queue_packets bottom=0 ingress_ns=5
      bottom=0 egress_port=6 bottom=0 queue_congestion=7 bottom=1 link_utilisation=8""")
_case("2016-06 with the bottom in the wrong place", "2016-06", _tunnel(
    4790, "0c00000500012300" "01000503" "0001100280000000" "80000001" "00000002"),
      """int. carrier=vxlan-gpe shim.type=1 shim.length=5 shim.next_protocol=3 type=1
      version_name=2016-06 version=0 replication=0 c=0 e=0 instruction_count=1 max_hops=16
      total_hops=2 bitmap=0x8000 hops=2 malformed malformed bottom=1 node_id=1 bottom=0 node_id=2""")
_case("2016-06 has no INT in plain VXLAN", "2016-06", _tunnel(4790, _GPE_2016.replace("0c", "08", 1)),
      "")

# ---- 0.5 ----

_TCP_0_5 = ("455c004d000100004006634c0a0001010a0002029c400016000003e8000007d050182000370b0000"
            "0100080000021002900000000000000205000014000000010500000a06001600474554202f")
_WORDS_0_5 = """int. carrier=tcp_udp shim.type=1 shim.length=8 type=1 version_name=0.5 version=0
    replication=0 c=0 e=0 instruction_count=2 max_hops=16 total_hops=2 bitmap=0x9000 hops=2
    node_id=2 queue_id=5 queue_packets=20 node_id=1 queue_id=5 queue_packets=10
    shim.original_protocol=6 shim.original_port=22 shim.original_dscp=0"""
_case("int05-tcp", "0.5", _ip(_TCP_0_5), _WORDS_0_5)
_case("int05-tcp with a tag", "0.5", _ETHER / Dot1Q(vlan=5, type=0x0800) /
      Raw(bytes.fromhex(_TCP_0_5)), _WORDS_0_5)
_ALL_0_5 = """int. carrier=tcp_udp shim.type=1 shim.length=12 type=1 version_name=0.5 version=0
    replication=3 c=1 e=0 instruction_count=8 max_hops=1 total_hops=1 bitmap=0xff00 hops=1 node_id=1
    ingress_port=2 egress_port=3 hop_latency_ns=4 queue_id=5 queue_packets=6 ingress_ns=7
    not_available=egress_ns queue_id=9 not_available=queue_congestion link_utilisation=10
    shim.original_protocol=17 shim.original_port={} shim.original_dscp=46"""
_PAYLOAD_0_5 = bytes.fromhex(("01000c00" "0e080101ff000000" "000000010002000300000004" "05000006"
                              "00000007" "ffffffff" "09ffffff" "0000000a" "1100352e")) + b"data"
_case("0.5 with all values, over UDP and IPv6", "0.5",
      _ETHER / IPv6(src="2001:db8::1", dst="2001:db8::2", tc=0x5c) / UDP(sport=1, dport=53) /
      Raw(_PAYLOAD_0_5), _ALL_0_5.format(53))
_case("0.5 without the mark", "0.5", _udp(53, _PAYLOAD_0_5), "")
_case("0.5 with a stack that is not as long as its hops", "0.5",
      _ip(_TCP_0_5.replace("0002100290", "0002100190")),
      """int. carrier=tcp_udp shim.type=1 shim.length=8 type=1 version_name=0.5 version=0 replication=0
      c=0 e=0 instruction_count=2 max_hops=16 total_hops=1 bitmap=0x9000 malformed
      shim.original_protocol=6 shim.original_port=22 shim.original_dscp=0""")
_case("0.5 by UDP port", "0.5 by port", _udp(5000, _PAYLOAD_0_5), _ALL_0_5.format(53))
_case("0.5 by TCP port", "0.5 by port",
      _ETHER / IP(src="192.0.2.1", dst="192.0.2.2") / TCP(sport=1, dport=5000, options=[("NOP", 0)] * 4) /
      Raw(_PAYLOAD_0_5), _ALL_0_5.format(53))

# ---- 1.0 ----

_TWO_HOPS = "node_id=2 queue_id=5 queue_packets=20 node_id=1 queue_id=5 queue_packets=10"
_THREE_HOPS = "node_id=3 queue_id=5 queue_packets=30 " + _TWO_HOPS
_case("int10-tcp", "1.0", _ip(
    "455c004900010000400663500a0001010a0002029c400016000003e8000007d050182000520d0000"
    "0100070010000206900000000000000205000014000000010500000a474554202f"),
      f"""int. carrier=tcp_udp shim.type=1 shim.length=7 shim.original_dscp=0 type=1 version_name=1.0
      version=1 replication=0 c=0 e=0 m=0 hop_words=2 remaining_hops=6 bitmap=0x9000 hops=2 {_TWO_HOPS}""")
_WORDS_1_0 = f"""type=1 version_name=1.0 version=1 replication=0 c=0 e=0 m=0 hop_words=2 remaining_hops=5
    bitmap=0x9000 hops=3 {_THREE_HOPS}"""
_case("int10-vxlan-gpe", "1.0", _tunnel(
    4790, "0c00000800012300010009031000020590000000000000030500001e0000000205000014000000010500000a"),
      f"int. carrier=vxlan-gpe shim.type=1 shim.length=9 shim.next_protocol=3 {_WORDS_1_0}")
_case("int10-geneve", "1.0", _tunnel(
    6081, "090065580001230000ab01081000020590000000000000030500001e0000000205000014000000010500000a"),
      f"int. carrier=geneve {_WORDS_1_0}")
_case("int10-cc-after", "1.0", _ip(
    "455c004600010000401163480a0001010a0002029c4013890032bf3b0100090010000306900100000000000205000014"
    "0000f7d2000000010500000affffffff474554202f21"),
      """int. carrier=tcp_udp shim.type=1 shim.length=9 shim.original_dscp=0 type=1 version_name=1.0
      version=1 replication=0 c=0 e=0 m=0 hop_words=3 remaining_hops=6 bitmap=0x9001 hops=2
      node_id=2 queue_id=5 queue_packets=20 checksum_complement=0xf7d2
      node_id=1 queue_id=5 queue_packets=10 not_available=checksum_complement""")
_ALL_1_0 = bytes.fromhex("01000e28" "15800b00ff810000" "00000001" "00020003" "00000004" "05000006" "00000007"
                         "00000008" "000000090000000a" "0000000b" "ffffffff" "0000abcd")
_WORDS_ALL_1_0 = """int. carrier=tcp_udp shim.type=1 shim.length=14 shim.original_dscp=10 type=1
    version_name=1.0 version=1 replication=1 c=0 e=1 m=1 hop_words=11 remaining_hops=0 bitmap=0xff81
    hops=1 node_id=1 ingress_port=2 egress_port=3 hop_latency_ns=4 queue_id=5 queue_packets=6
    ingress_ns=7 egress_ns=8 ingress_port_l2=9 egress_port_l2=10 link_utilisation=11
    checksum_complement=0xabcd"""
_case("1.0 with all values and a reserved one, over IPv6", "1.0",
      _ETHER / IPv6(src="2001:db8::1", dst="2001:db8::2", tc=0x5c) / UDP(sport=1, dport=53) /
      Raw(_ALL_1_0), _WORDS_ALL_1_0)
_case("1.0 behind a marker", "1.0 by marker",
      _udp(53, bytes.fromhex("aaaabbbbccccdddd") + _ALL_1_0), _WORDS_ALL_1_0)
_case("1.0 behind another marker", "1.0 by marker",
      _udp(53, bytes.fromhex("aaaabbbbccccddde") + _ALL_1_0), "")
_case("1.0 with a stack that ends within a hop", "1.0", _ip(
    "455c004900010000400663500a0001010a0002029c400016000003e8000007d050182000520d0000"
    "0100060010000206900000000000000205000014000000010500000a474554202f"),
      """int. carrier=tcp_udp shim.type=1 shim.length=6 shim.original_dscp=0 type=1 version_name=1.0
      version=1 replication=0 c=0 e=0 m=0 hop_words=2 remaining_hops=6 bitmap=0x9000 malformed""")
_case("1.0 with a shim shorter than the header", "1.0", _ip(
    "455c004900010000400663500a0001010a0002029c400016000003e8000007d050182000520d0000"
    "0100020010000206900000000000000205000014000000010500000a474554202f"),
      """int. carrier=tcp_udp shim.type=1 shim.length=2 shim.original_dscp=0 type=1 version_name=1.0
      malformed""")
_case("1.0 with a shim longer than the packet", "1.0", _ip(
    "455c004900010000400663500a0001010a0002029c400016000003e8000007d050182000520d0000"
    "0100400010000206900000000000000205000014000000010500000a474554202f"),
      "int. carrier=tcp_udp shim.type=1 shim.length=64 shim.original_dscp=0 malformed")

# ---- 2.1 ----

_MD_2_1 = """type=1 version_name=2.1 version=2 d=0 e=0 m=0 hop_words=2 remaining_hops={} bitmap=0x9000
    domain_id=0 ds_instruction=0 ds_flags=0"""
_MD_TCP = ("455c004d000100004006634c0a0001010a0002029c400016000003e8000007d0501820003a020000"
           "100700002000020690000000000000000000000205000014000000010500000a474554202f")
_WORDS_MD_TCP = f"""int. carrier=tcp_udp shim.type=1 shim.npt=0 shim.length=7 shim.original_dscp=0
    {_MD_2_1.format(6)} hops=2 {_TWO_HOPS}"""
_case("int21-md-tcp-npt0", "2.1", _ip(_MD_TCP), _WORDS_MD_TCP)
_case("int21-mx-tcp-npt0", "2.1", _ip(
    "455c003d000100004006635c0a0001010a0002029c400016000003e8000007d050182000263d0000"
    "30030000200000009000000000000000474554202f"),
      """int. carrier=tcp_udp shim.type=3 shim.npt=0 shim.length=3 shim.original_dscp=0 type=3
      version_name=2.1 version=2 d=0 bitmap=0x9000 domain_id=0 ds_instruction=0 ds_flags=0""")
_case("int21-md-gre", "2.1", _ip(
    "4500006000010000402f666b0a0000010a000003000088b5180708002000020690000000000000000000000205000014"
    "000000010500000a4500002800010000400663cd0a0001010a0002029c400016000003e8000007d050182000d0bb0000"),
      f"""int. carrier=gre shim.type=1 shim.g=1 shim.length=7 shim.next_protocol=0x0800
      {_MD_2_1.format(6)} hops=2 {_TWO_HOPS}""")
_case("GRE with checksum, key and sequence", "2.1",
      _ETHER / IPv6(src="2001:db8::1", dst="2001:db8::2", nh=47) / Raw(bytes.fromhex(
          "b00088b5" "00000000" "00000001" "00000002" "10050800" "200002069000000000000000"
          "0000000205000014") + _INNER[14:]),
      f"""int. carrier=gre shim.type=1 shim.g=0 shim.length=5 shim.next_protocol=0x0800
      {_MD_2_1.format(6)} hops=1 node_id=2 queue_id=5 queue_packets=20""")
_case("int21-md-vxlan-gpe", "2.1", _tunnel(
    4790, "0c0000820001230010090003200002059000000000000000000000030500001e"
    "0000000205000014000000010500000a"),
      f"""int. carrier=vxlan-gpe shim.type=1 shim.length=9 shim.g=0 shim.next_protocol=3
      {_MD_2_1.format(5)} hops=3 {_THREE_HOPS}""")
_case("int21-md-geneve", "2.1", _tunnel(
    6081, "0a0065580001230001030109200002059000000000000000000000030500001e"
    "0000000205000014000000010500000a"), f"int. carrier=geneve {_MD_2_1.format(5)} hops=3 {_THREE_HOPS}")
_case("2.1 with all values, a reserved one and the domain's", "2.1",
      _ETHER / IPv6(src="2001:db8::1", dst="2001:db8::2", tc=0x5c) / UDP(sport=1, dport=53) /
      Raw(bytes.fromhex("101200b8" "2e000f03ffc1abcd40008000" "00000001" "00020003" "00000004" "05000006"
                        "0000000000000007" "ffffffffffffffff" "0000000800000009" "0000000a" "0b00000c"
                        "ffffffff" "cafecafe" "0000f00d") + b"data"),
      """int. carrier=tcp_udp shim.type=1 shim.npt=0 shim.length=18 shim.original_dscp=46 type=1
      version_name=2.1 version=2 d=1 e=1 m=1 hop_words=15 remaining_hops=3 bitmap=0xffc1
      domain_id=0xabcd ds_instruction=0x4000 ds_flags=0x8000 hops=1 node_id=1 ingress_port=2
      egress_port=3 hop_latency_ns=4 queue_id=5 queue_packets=6 ingress_ns=7 not_available=egress_ns
      ingress_port_l2=8 egress_port_l2=9 link_utilisation=10 buffer_id=11 buffer_used=12
      domain=cafecafe checksum_complement=0xf00d""")
_case("2.1 without values yet", "2.1", _ip(
    "455c003d000100004006635c0a0001010a0002029c400016000003e8000007d050182000263d0000"
    "10030000200002069000000000000000474554202f"),
      f"""int. carrier=tcp_udp shim.type=1 shim.npt=0 shim.length=3 shim.original_dscp=0
      {_MD_2_1.format(6)} hops=0""")
_case("2.1 with the header of another version", "2.1", _ip(_MD_TCP.replace("20000206", "10000206")),
      """int. carrier=tcp_udp shim.type=1 shim.npt=0 shim.length=7 shim.original_dscp=0 type=1
      version_name=2.1 version=1 d=0 e=0 m=0 hop_words=2 remaining_hops=6 bitmap=0x9000 domain_id=0
      ds_instruction=0 ds_flags=0 malformed""")
_case("2.1 with too few words a hop", "2.1", _ip(_MD_TCP.replace("20000206", "20000106")),
      """int. carrier=tcp_udp shim.type=1 shim.npt=0 shim.length=7 shim.original_dscp=0 type=1
      version_name=2.1 version=2 d=0 e=0 m=0 hop_words=1 remaining_hops=6 bitmap=0x9000 domain_id=0
      ds_instruction=0 ds_flags=0 malformed""")
_case("2.1 by port where DSCP marks", "2.1", _ip(_MD_TCP.replace("10070000", "14070016")),
      f"""int. carrier=tcp_udp shim.type=1 shim.npt=1 shim.length=7 malformed
      {_MD_2_1.format(6)} hops=2 {_TWO_HOPS}""")
_case("int21-md-udp-npt1", "2.1 by port", _ip(
    "4500004100010000401163a90a0001010a0002029c401388002d8b7f140712b52000020690000000000000000000000205"
    "000014000000010500000a474554202f"),
      f"""int. carrier=tcp_udp shim.type=1 shim.npt=1 shim.length=7 shim.original_port=4789
      {_MD_2_1.format(6)} hops=2 {_TWO_HOPS}""")
_case("int21-md-npt2", "2.1 by port", _ip(
    "4500005500010000401163950a0001010a000202c0de1388004100001807000620000206900000000000000000000002"
    "05000014000000010500000a9c400016000003e8000007d05018200006510000474554202f"),
      f"""int. carrier=tcp_udp shim.type=1 shim.npt=2 shim.length=7 shim.original_protocol=6
      {_MD_2_1.format(6)} hops=2 {_TWO_HOPS}""")
_case("int21-mx-source-inserted", "2.1 by port", _udp(5000, bytes.fromhex(
    "38050006200000009000abcdc00000000000000f12345678") + bytes(20)),
      """int. carrier=tcp_udp shim.type=3 shim.npt=2 shim.length=5 shim.original_protocol=6 type=3
      version_name=2.1 version=2 d=0 bitmap=0x9000 domain_id=0xabcd ds_instruction=0xc000 ds_flags=0
      domain=0000000f12345678""")
_case("int21-md-source-only", "2.1 by port", _tunnel(
    6081, "0900655800012300" "01030108"
    "200001058000545380004000000000020000000100000009a61af6b1647d0000"),
      """int. carrier=geneve type=1 version_name=2.1 version=2 d=0 e=0 m=0 hop_words=1 remaining_hops=5
      bitmap=0x8000 domain_id=0x5453 ds_instruction=0x8000 ds_flags=0x4000 hops=3 node_id=2 node_id=1
      node_id=9 source_only=a61af6b1647d0000""")
_case("2.0 in VXLAN-GPE", "2.0", _tunnel(
    4790, "0c0000800001230010090003200002059000000000000000000000030500001e"
    "0000000205000014000000010500000a"),
      f"""int. carrier=vxlan-gpe shim.type=1 shim.length=9 shim.g=0 shim.next_protocol=3
      {_MD_2_1.format(5)} hops=3 {_THREE_HOPS}""")
_case("MX in Geneve of another class and type, behind another option", "2.0", _tunnel(
    6081, "0600655800012300" "0fff010100000001" "01230703" "200000009000000000000000"),
      """int. carrier=geneve type=3 version_name=2.1 version=2 d=0 bitmap=0x9000 domain_id=0
      ds_instruction=0 ds_flags=0""")
_case("an option of INT beyond Geneve's options", "2.1", _tunnel(
    6081, "0300655800012300" "01030103" "200000009000000000000000"), "int. carrier=geneve malformed")

# ---- reports ----

_LOCAL_0_5 = bytes.fromhex("0220000300000007075bcd1500000003000100020500001e075bcde7"
                           "0200000000020200000000010800")
_WORDS_LOCAL = """report. version_name=0.5 version=0 next=2 dropped=0 congested=0 tracked=1 hw_id=3
    sequence=7 ingress_ns=123456789 node_id=3 ingress_port=1 egress_port=2 queue_id=5 queue_packets=30
    egress_ns=123456999"""
_case("tr05-switch-local", "2.1", _udp(32766, _LOCAL_0_5), _WORDS_LOCAL)
_case("tr05-switch-local to a port of a range, over IPv6", "2.1", _udp(4001, _LOCAL_0_5, v6=True),
      _WORDS_LOCAL)
_case("a report to another port", "2.1", _udp(4003, _LOCAL_0_5), "")
_case("tr05-drop", "2.1", _udp(32766, bytes.fromhex("0180000300000008075bcd15000000030001000205320000")),
      """report. version_name=0.5 version=0 next=1 dropped=1 congested=0 tracked=0 hw_id=3 sequence=8
      ingress_ns=123456789 node_id=3 ingress_port=1 egress_port=2 drop_queue_id=5 drop_reason=50""")
_case("0.5 with a reserved NProto", "2.1", _udp(32766, b"\3" + _LOCAL_0_5[1:]),
      """report. version_name=0.5 version=0 next=3 dropped=0 congested=0 tracked=1 hw_id=3 sequence=7
      ingress_ns=123456789 malformed""")
_case("tr10-minimal", "2.1", _udp(32766, bytes.fromhex("140000430000000300000007075bcd15")),
      """report. version_name=1.0 version=1 length=4 next=0 md_bits=0 dropped=0 congested=0 tracked=1
      hw_id=3 node_id=3 sequence=7 ingress_ns=123456789""")
_case("tr10-ports-queue", "2.1", _udp(32766, bytes.fromhex(
    "163400430000000300000007075bcd15000100020500001e")),
      """report. version_name=1.0 version=1 length=6 next=1 md_bits=0x28 dropped=0 congested=0 tracked=1
      hw_id=3 node_id=3 sequence=7 ingress_ns=123456789 ingress_port=1 egress_port=2 queue_id=5
      queue_packets=30""")
_case("tr10-drop", "2.1", _udp(32766, bytes.fromhex("150101030000000300000008075bcd1505320000")),
      """report. version_name=1.0 version=1 length=5 next=0 md_bits=2 dropped=1 congested=0 tracked=0
      hw_id=3 node_id=3 sequence=8 ingress_ns=123456789 drop_queue_id=5 drop_reason=50""")
_case("1.0 whose length is not that of its bits", "2.1", _udp(32766, bytes.fromhex(
    "153400430000000300000007075bcd1500010002")),
      """report. version_name=1.0 version=1 length=5 next=1 md_bits=0x28 dropped=0 congested=0 tracked=1
      hw_id=3 node_id=3 sequence=7 ingress_ns=123456789 mismatch""")
_case("1.0 with a length below its header", "2.1", _udp(32766, bytes.fromhex(
    "130000430000000300000007075bcd15")),
      """report. version_name=1.0 version=1 length=3 next=0 md_bits=0 dropped=0 congested=0 tracked=1
      hw_id=3 node_id=3 sequence=7 ingress_ns=123456789 malformed""")
_case("1.0 cut off", "2.1", _udp(32766, bytes.fromhex("140000430000000300000007")),
      "report. version_name=1.0 malformed")
_HEAD_1_0 = """report. version_name=1.0 version=1 length=4 next=1 md_bits=0 dropped=0 congested=0
    tracked={} hw_id=3 node_id=3 sequence=7 ingress_ns=123456789 packet. src=10.0.1.1 dst=10.0.2.2
    protocol=6 src_port=40000 dst_port=22"""
_case("INT in the copy, which ends in the stack", "2.1", _udp(32766, bytes.fromhex(
    "142000430000000300000007075bcd15" + _MD_TCP[:2 * 66])),
      _HEAD_1_0.format(1) + _WORDS_MD_TCP.replace(
          " node_id=1 queue_id=5 queue_packets=10", " cut").replace("int.", " int."))
_case("no INT in the copy where F is 0", "2.1", _udp(32766, bytes.fromhex(
    "142000030000000300000007075bcd15" + _MD_TCP)), _HEAD_1_0.format(0))
_TR20 = ("20c0000700000003140e02205000000000000000000100020500001e4500002800010000400663cd0a0001010a000202"
         "9c400016000003e8000007d050182000d0bb0000100503804101000000000000000100020000004d05320000")
_case("tr20-two-coalesced", "2.1", _udp(32766, bytes.fromhex(_TR20)),
      """report. version_name=2.0 version=2 hw_id=3 sequence=7 node_id=3
      type=1 next=4 length=14 md_length=2 dropped=0 congested=0 tracked=1 intermediate=0 inner=4
      md_bits=0x5000 domain_id=0 domain_bits=0 domain_status=0 ingress_port=1 egress_port=2 queue_id=5
      queue_packets=30 packet. src=10.0.1.1 dst=10.0.2.2 protocol=6 src_port=40000 dst_port=22
      report. type=1 next=0 length=5 md_length=3 dropped=1 congested=0 tracked=0 intermediate=0 inner=0
      md_bits=0x4101 domain_id=0 domain_bits=0 domain_status=0 ingress_port=1 egress_port=2
      link_utilisation=77 drop_queue_id=5 drop_reason=50""")
_case("2.0 with all values and a domain's", "2.1", _udp(32766, bytes.fromhex(
    "2fffffffdeadbeef" "1310" "0ef0" "7f81abcdc0000001" "00010002" "00000003" "04000005" "0000000000000006"
    "0000000000000007" "0000000800000009" "0000000a" "0b00000c" "0d330000" "cafe0000cafe0001")),
      """report. version_name=2.0 version=2 hw_id=63 sequence=0x3fffff node_id=0xdeadbeef
      type=1 next=3 length=16 md_length=14 dropped=1 congested=1 tracked=1 intermediate=1 inner=3
      md_bits=0x7f81 domain_id=0xabcd domain_bits=0xc000 domain_status=1 ingress_port=1 egress_port=2
      hop_latency_ns=3 queue_id=4 queue_packets=5 ingress_ns=6 egress_ns=7 ingress_port_l2=8
      egress_port_l2=9 link_utilisation=10 buffer_id=11 buffer_used=12 drop_queue_id=13 drop_reason=51
      domain=cafe0000cafe0001""")
_case("2.0 with parts, IOAM, and a report that contradicts itself", "2.1", _udp(32766, bytes.fromhex(
    "2000000000000001" "01030000" "00010777cafecafe" "30000000" "20010000cafe0000"
    "10030000" "4000000000000000" "00010002" "00000000")),
      """report. version_name=2.0 version=2 hw_id=0 sequence=0 node_id=1
      type=0 next=1 length=3 md_length=0 dropped=0 congested=0 tracked=0 intermediate=0 inner=1
      contents=cafecafe
      type=2 next=0 length=1 md_length=0 dropped=0 congested=0 tracked=0 intermediate=0 inner=0
      contents=cafe0000
      type=1 next=0 length=3 md_length=0 dropped=0 congested=0 tracked=0 intermediate=0 inner=0
      md_bits=0x4000 domain_id=0 domain_bits=0 domain_status=0 malformed
      type=0 next=0 length=0 md_length=0 dropped=0 congested=0 tracked=0 intermediate=0 inner=0""")
_case("2.0 with a length beyond the datagram", "2.1", _udp(32766, bytes.fromhex(
    "2000000000000001" "05020000" "60000000")),
      """report. version_name=2.0 version=2 hw_id=0 sequence=0 node_id=1 type=0 next=5 length=2
      md_length=0 dropped=0 congested=0 tracked=0 intermediate=0 malformed""")
_case("a report of no version", "2.1", _udp(32766, bytes.fromhex("90000000")), "malformed")
_case("a length of INTCollector", "2.1 by port", _udp(32766, bytes.fromhex(
    "1100004000000000000000005ad88132" + _INNER.hex())),
      """report. version_name=1.0 version=1 length=1 next=0 md_bits=0 dropped=0 congested=0 tracked=1
      hw_id=0 node_id=0 sequence=0 ingress_ns=1524138290
      packet. src=10.0.0.1 dst=10.0.0.2 protocol=17 src_port=7 dst_port=8""")
_case("0.5 with INTCollector's version number", "2.0", _udp(32766, bytes.fromhex(
    "10210000000000005ad88132" + _INNER.hex())),
      """report. version_name=0.5 version=1 next=0 dropped=0 congested=0 tracked=1 hw_id=0 sequence=0
      ingress_ns=1524138290 packet. src=10.0.0.1 dst=10.0.0.2 protocol=17 src_port=7 dst_port=8""")

# ---- Flexible INT ----

_FLEX_HOP2 = (
    "600000000060003e20010db800000000000000000000000120010db8000000000000000000000002"
    "11093138000000077000e0000002e00003e603e617979cfe370ee1c00007bc680007bc68"
    "0001e00003e803e817979cfe36c296800007c0600007c0601112700017979cfe362a0000000003e80007c060"
    "1234138900105e94494e544441544121")
_WORDS_HOP2 = """flexint. ns_id=7 trace_type=0x7000e000
    hop.node_id=2 hop.bitmap=0xe000 hop.tx_packets=998 hop.rx_packets=998 hop.ts_ns=1700000000015000000
    hop.tx_bytes=506984 hop.rx_bytes=506984
    hop.node_id=1 hop.bitmap=0xe000 hop.tx_packets=1000 hop.rx_packets=1000 hop.ts_ns=1700000000010000000
    hop.tx_bytes=508000 hop.rx_bytes=508000
    e2e.bitmap=0x7000 e2e.ts_ns=1700000000000000000 e2e.tx_packets=1000 e2e.tx_bytes=508000"""
_case("flex-hop2", "2.1", _ip(_FLEX_HOP2), _WORDS_HOP2)
_case("flex-kernel-safe-hop2", "1.0", _ip(
    "600000000068003e20010db800000000000000000000000120010db8000000000000000000000002110a01003138"
    "000000077000e0000002e00003e603e617979cfe370ee1c00007bc680007bc680001e00003e803e817979cfe36c29680"
    "0007c0600007c0601112700017979cfe362a0000000003e80007c0600104000000001234138900105e94494e54444154"
    "4121"), _WORDS_HOP2)
_case("flex-padded", "2.1", _ip(
    "600000000038003f20010db800000000000000000000000120010db8000000000000000000000002"
    "1104311400000007400060000001400017979cfe36c29680110a400017979cfe362a000001020000"
    "1234138900105e94494e544441544121"),
      """flexint. ns_id=7 trace_type=0x40006000 hop.node_id=1 hop.bitmap=0x4000
      hop.ts_ns=1700000000010000000 e2e.bitmap=0x4000 e2e.ts_ns=1700000000000000000""")
_case("options 0x31 and 0x11 are IOAM's by preference", "2.0", _ip(_FLEX_HOP2), "")
_case("an entry with an unknown value", "2.1", _ip(_FLEX_HOP2.replace("0002e000", "0002f000")),
      """flexint. ns_id=7 trace_type=0x7000e000 hop.node_id=2 hop.bitmap=0xf000 malformed
      e2e.bitmap=0x7000 e2e.ts_ns=1700000000000000000 e2e.tx_packets=1000 e2e.tx_bytes=508000""")
_case("an entry beyond its option", "2.1", _ip(_FLEX_HOP2.replace("1109313800", "1109311c00")),
      """flexint. ns_id=7 trace_type=0x7000e000 hop.node_id=2 hop.bitmap=0xe000 malformed malformed""")
_CBOR = ("a16b696e745f72657175657374aa656e735f696407666170705f696401667372635f69706b323030313a6462383a3a31"
         "666473745f69706b323030313a6462383a3a32687372635f706f727400686473745f706f72741913896870726f746f63"
         "6f6c637564706a74726163655f747970656a30783730303045303030646d6f646565636f756e746c6d6f64655f736574"
         "74696e671864")
_case("flex-request", "2.1", _ETHER / IPv6(src="2001:db8::1", dst="2001:db8::2", nh=0) /
      Raw(bytes.fromhex("11133296" + _CBOR + "010400000000") + bytes(UDP(sport=1, dport=2))),
      f"flexint. request={_CBOR}")
_case("a returning report in two options", "2.1",
      _ETHER / IPv6(src="2001:db8::1", dst="2001:db8::2", nh=0) /
      Raw(bytes.fromhex("1101" "3302a200" "33040701183c" "01020000") + bytes(UDP(sport=1, dport=2))),
      "flexint. report=a200 report=0701183c")
_case("an option of Flexible INT beyond its header", "2.1",
      _ETHER / IPv6(src="2001:db8::1", dst="2001:db8::2", nh=0) /
      Raw(bytes.fromhex("1100330701020304") + bytes(UDP(sport=1, dport=2))), "malformed")
_COPY = """report. version_name=2.0 version=2 hw_id=0 sequence=0 node_id=1 type=0 next=5 length=34 md_length=0
    dropped=0 congested=0 tracked={} intermediate=0 inner=5 packet. src=2001:db8::1 dst=2001:db8::2 {}
    packet. protocol=17 src_port=4660 dst_port=5001"""
_case("Flexible INT in the copy", "2.1", _udp(32766, bytes.fromhex(
    "2000000000000001" "05220020" + _FLEX_HOP2)), _COPY.format(1, _WORDS_HOP2))
_case("Flexible INT in the copy where F is 0", "2.1", _udp(32766, bytes.fromhex(
    "2000000000000001" "05220000" + _FLEX_HOP2)), _COPY.format(0, ""))
_case("Flexible INT in the copy, which ends in an entry", "2.1", _udp(32766, bytes.fromhex(
    "2000000000000001" "05120020" + _FLEX_HOP2[:144])),
      _COPY.split("src_port")[0].format(1, _WORDS_HOP2.split("hop.rx_bytes")[0] + " cut").replace(
          "length=34", "length=18"))
