// SPDX-License-Identifier: BSD-3-Clause
// The settings of an INT profile, and the request of a rule.
//
// Thread rule: any; values.
#pragma once

#include "int_values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hs_int_mode {
	HS_INT_MD, // instructions and values on the packet
	HS_INT_MX, // instructions only; each node reports (2.1)
	HS_INT_XD, // nothing on the packet, so this codec does nothing (2.1)
	HS_INT_N_MODES,
};

enum hs_int_carrier {
	HS_INT_TCP_UDP,
	HS_INT_GRE,
	HS_INT_VXLAN_GPE,
	HS_INT_GENEVE,
	HS_INT_N_CARRIERS,
};

// How a packet marks that INT follows its TCP or UDP header.
enum hs_int_mark {
	HS_INT_MARK_DSCP,
	HS_INT_MARK_UDP_PORT, // 0.5: TCP's too; 2.1: NPT 1 for UDP, NPT 2 for all else
	HS_INT_MARK_PROBE,
	HS_INT_N_MARKS,
};

// Type of an INT header, in shims and options.
enum hs_int_type {
	HS_INT_TYPE_MD = 1, // also called hop-by-hop
	HS_INT_TYPE_DESTINATION = 2,
	HS_INT_TYPE_MX = 3,
};

enum hs_int_flag {
	HS_INT_FLAG_C = 1 << 0, // a replica: the sink drops it (before 2.0)
	HS_INT_FLAG_D = 1 << 1, // the sink drops the packet (2.x)
	HS_INT_FLAG_E = 1 << 2, // a node met the hop limit
	HS_INT_FLAG_M = 1 << 3, // a node met an MTU (since 1.0)
	HS_INT_NO_OWN = 1 << 4, // of a request: the source adds no values, but not for lack of room
};

#define HS_INT_DEFAULT_GRE_PROTOCOL 0x88B5 // for local experiments; INT has no assigned number
#define HS_INT_VXLAN_PORT	    4789
#define HS_INT_GPE_PORT		    4790
#define HS_INT_GENEVE_PORT	    6081
#define HS_INT_DEFAULT_TTL	    64

// The settings of a profile, which are constant. hs_int_settings_init sets the values of the
// specification. hs_int_settings_wrong finds impossible values.
struct hs_int_settings {
	uint8_t version; // enum hs_int_version
	uint8_t mode;	 // enum hs_int_mode
	uint8_t carrier; // enum hs_int_carrier
	uint8_t mark;	 // enum hs_int_mark, of tcp_udp
	uint8_t dscp;	 // marks INT if the packet's DSCP has the same bits of dscp_mask
	uint8_t dscp_mask;
	uint8_t max_hops;   // nodes that may add values, the source included
	bool fill_reserved; // 1.0, 2.1: add all ones for unknown instructions, else nothing
	bool upgrade_vxlan; // vxlan-gpe: plain VXLAN carries INT too, as VXLAN-GPE: 2.1 says so by
			    // G; before, our own sign is 0x80 in the shim's reserved byte
	uint8_t gpe_protocol;  // 0x05; 1.0: 0x08; 2.0: 0x80; 2.1: 0x82
	uint8_t geneve_type;   // of hop-by-hop headers; + 1: destination, + 2: INT-MX
	uint8_t gre_ttl;       // of a tunnel that the source adds
	uint16_t udp_port;     // INT_TBD
	uint16_t gre_protocol; // TBD_INT
	uint16_t geneve_class; // 0x00AB; 2.1: 0x0103
	uint16_t domain_id;    // 2.1: of DS instructions; 0 is none
	uint64_t probe_marker; // as it is read in network order
	bool gre_ipv6;	       // the tunnel that the source adds
	bool gre_adds_tunnel;  // to packets that are not in GRE; addresses below
	uint8_t gre_src[16];   // IPv4: the first four bytes
	uint8_t gre_dst[16];
	uint8_t ds_source_words[16]; // 2.1: words that a DS instruction (bit 0 first) adds at the
				     // source only
};

#define HS_INT_MAX_SOURCE_WORDS 4

// The request of a rule.
struct hs_int_request {
	uint16_t bitmap;	 // bit 0 is 0x8000
	uint16_t domain_id;	 // 2.1
	uint16_t ds_instruction; // 2.1
	uint16_t ds_flags;	 // 2.1
	uint8_t flags;		 // HS_INT_FLAG_D, HS_INT_NO_OWN
	uint8_t replication;	 // before 2.0: 0 to 3
	uint8_t ds_hop_words;	 // 2.1 MD: words of all ones that DS instructions add at every hop
	uint8_t source_words;	 // 2.1: source-only metadata
	uint8_t source[4 * HS_INT_MAX_SOURCE_WORDS];
};

// Sets the values of a version's specification for a carrier. The mark is DSCP 0x17 with all six
// bits.
void hs_int_settings_init(struct hs_int_settings *settings, enum hs_int_version version,
		enum hs_int_carrier carrier);

// Returns the name of the first member (as in a profile) that is impossible with the members before
// it, and sets *allowed to the possible values. Returns NULL if all members are possible.
const char *hs_int_settings_wrong(const struct hs_int_settings *settings, const char **allowed);

const char *hs_int_mode_name(enum hs_int_mode mode);
const char *hs_int_carrier_name(enum hs_int_carrier carrier);
