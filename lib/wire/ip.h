// SPDX-License-Identifier: BSD-3-Clause
// Numbers and offsets of the headers below telemetry.
//
// Source: RFC 791 section 3.1, RFC 8200 sections 3 and 4, IEEE 802.1Q, RFC 4302 (AH), IANA protocol
// numbers.
#pragma once

#define HS_ETHER_BYTES	      14
#define HS_ETHER_TYPE	      12
#define HS_VLAN_BYTES	      4
#define HS_VLAN_MAX_TAGS      2 // of a packet that rules may match
#define HS_VLAN_LOOK_TAGS     8 // searched for telemetry, because devices may remove tags
#define HS_ETHERTYPE_IPV4     0x0800
#define HS_ETHERTYPE_IPV6     0x86dd
#define HS_ETHERTYPE_VLAN     0x8100
#define HS_ETHERTYPE_QINQ     0x88a8
#define HS_ETHERTYPE_OLD_QINQ 0x9100
#define HS_ETHERTYPE_9200     0x9200 // two further tag types from before 802.1ad
#define HS_ETHERTYPE_9300     0x9300
#define HS_ETHERNET_MAX_LEN   1500 // of IEEE 802.3: a type up to this is a length
#define HS_SNAP_BYTES	      8

#define HS_IPV4_BYTES	     20 // without options
#define HS_IPV4_TOTAL	     2
#define HS_IPV4_ID	     4
#define HS_IPV4_FRAGMENT     6
#define HS_IPV4_TTL	     8
#define HS_IPV4_PROTOCOL     9
#define HS_IPV4_CHECKSUM     10
#define HS_IPV4_SRC	     12	    // the destination follows
#define HS_IPV4_OFFSET	     0x1fff // of a fragment, in units of eight bytes
#define HS_IPV4_MORE	     0x2000 // fragments follow
#define HS_IPV4_OPTIONS_END  0
#define HS_IPV4_NO_OPERATION 1

#define HS_IPV6_BYTES	       40
#define HS_IPV6_PAYLOAD	       4
#define HS_IPV6_NEXT	       6
#define HS_IPV6_HOPS	       7
#define HS_IPV6_SRC	       8
#define HS_IPV6_MAX_BYTES      (HS_IPV6_BYTES + 65535)
#define HS_IPV6_MAX_EXTENSIONS 8

enum hs_ip_proto {
	HS_IP_HOP_BY_HOP = 0,
	HS_IP_ICMP = 1,
	HS_IP_TCP = 6,
	HS_IP_UDP = 17,
	HS_IP_ROUTING = 43,
	HS_IP_FRAGMENT = 44,
	HS_IP_GRE = 47,
	HS_IP_AUTH = 51,
	HS_IP_ICMPV6 = 58,
	HS_IP_DESTINATION = 60,
	HS_IP_MOBILITY = 135,
	HS_IP_HIP = 139,
	HS_IP_SHIM6 = 140,
};
