// SPDX-License-Identifier: BSD-3-Clause
// Numbers and offsets of the headers below telemetry.
//
// Source: RFC 8200 sections 3 and 4, IEEE 802.1Q, RFC 4302 (AH), IANA protocol numbers.
#pragma once

#define HS_ETHER_BYTES	      14
#define HS_ETHER_TYPE	      12
#define HS_VLAN_BYTES	      4
#define HS_VLAN_MAX_TAGS      2 // of a packet that rules may match
#define HS_VLAN_LOOK_TAGS     8 // searched for telemetry, because devices may remove tags
#define HS_ETHERTYPE_IPV6     0x86dd
#define HS_ETHERTYPE_VLAN     0x8100
#define HS_ETHERTYPE_QINQ     0x88a8
#define HS_ETHERTYPE_OLD_QINQ 0x9100
#define HS_ETHERTYPE_9200     0x9200 // two further tag types from before 802.1ad
#define HS_ETHERTYPE_9300     0x9300
#define HS_ETHERNET_MAX_LEN   1500 // of IEEE 802.3: such a number is a length
#define HS_SNAP_BYTES	      8

#define HS_IPV6_BYTES	       40
#define HS_IPV6_PAYLOAD	       4
#define HS_IPV6_NEXT	       6
#define HS_IPV6_MAX_PAYLOAD    65535
#define HS_IPV6_MAX_EXTENSIONS 8

enum hs_ip_proto {
	HS_IP_HOP_BY_HOP = 0,
	HS_IP_TCP = 6,
	HS_IP_UDP = 17,
	HS_IP_ROUTING = 43,
	HS_IP_FRAGMENT = 44,
	HS_IP_AUTH = 51,
	HS_IP_ICMPV6 = 58,
	HS_IP_DESTINATION = 60,
	HS_IP_MOBILITY = 135,
	HS_IP_HIP = 139,
	HS_IP_SHIM6 = 140,
};
