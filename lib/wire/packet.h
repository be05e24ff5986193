// SPDX-License-Identifier: BSD-3-Clause
// Parses the headers of one frame: Ethernet, VLAN tags, IPv4 with its options or IPv6 with its
// extension headers, ports, and the telemetry, which a family of lib/telemetry reads.
//
// Source: RFC 791 (IPv4), RFC 8200 (IPv6), IEEE 802.1Q.
// Thread rule: any; pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hs_packet_flag {
	HS_PACKET_IPV6 = 1 << 0,     // a whole IPv6 header is present
	HS_PACKET_FLOW = 1 << 1,     // l4_proto, src_port, dst_port are valid: rules may match
	HS_PACKET_FRAGMENT = 1 << 2, // one of several fragments (RFC 6946: not an atomic one)
	HS_PACKET_LATER = 1 << 3,    // not the first fragment: no ports, no rule matches, unchanged
	HS_PACKET_HBH = 1 << 4,	     // a Hop-by-Hop header, hbh_bytes long
	HS_PACKET_TELEMETRY = 1 << 5,	  // well-formed telemetry; flexint: 0x31 and 0x11
	HS_PACKET_REQUEST = 1 << 6,	  // at least one option 0x32
	HS_PACKET_REPORT = 1 << 7,	  // at least one option 0x33
	HS_PACKET_ANY_TELEMETRY = 1 << 8, // telemetry, well formed or not; flexint: any option
	HS_PACKET_MALFORMED = 1 << 9, // a length exceeds its enclosing one, too long a chain, ...
	HS_PACKET_SHORT = 1 << 10,    // the headers end beyond `len`, but not beyond `frame_len`
	HS_PACKET_MIXED = 1 << 11,    // telemetry where our nodes put none: strip repacks the rest
	HS_PACKET_HIDDEN = 1 << 12,   // headers that are not searched; telemetry may be there
	HS_PACKET_IPV4 = 1 << 13,     // an IPv4 header is present; with SHORT, it may be cut off
	HS_PACKET_DISCARD = 1 << 14,  // set by a sink: the packet is dropped on request
	HS_PACKET_PLAIN = 1 << 15, // only telemetry in the header, as our source writes it: 0x31,
				   // 0x11, then fewer than eight bytes of padding
	HS_PACKET_PUNT = HS_PACKET_REQUEST | HS_PACKET_REPORT, // an in-band request or report
};

// Offsets count from the first byte of the frame. Members that do not apply are 0.
struct hs_packet {
	uint16_t flags;
	uint16_t l3_off;	  // IP header; the Ethernet header and tags are [0, l3_off)
	uint16_t hbh_bytes;	  // whole Hop-by-Hop header, at l3_off + 40
	uint16_t trace_off;	  // the entries of hops; flexint: option type byte of 0x31
	uint16_t e2e_off;	  // the source's entry; flexint: option type byte of 0x11
	uint16_t telemetry_bytes; // bytes that the family's sink would remove
	uint16_t l4_off;
	uint16_t src_port; // host order; 0 for icmp
	uint16_t dst_port;
	uint8_t l4_proto;
	uint8_t vlan_tags;
	uint32_t l3_bytes; // of the whole IP packet, as its header states them; an MTU limits them
	uint32_t ns_id;	   // the rule that telemetry names
	uint32_t trace_type; // the fields that telemetry requests
};

// The functions of a family whose telemetry is in the Hop-by-Hop header. Other families find their
// telemetry after hs_packet_parse.
struct hs_packet_options {
	// Reads the options of a header that lies whole at packet->l3_off + 40 (l3_off and
	// hbh_bytes are set), and sets the members of struct hs_packet about telemetry. Returns
	// false if the options are malformed.
	bool (*parse)(const uint8_t *hbh, struct hs_packet *packet);
	// Returns whether any telemetry option begins in these bytes of a header that may be cut
	// off.
	bool (*are_there)(const uint8_t *hbh, size_t bytes);
	bool ipv6_alone; // the family has no telemetry in IPv4
};

// Parses frame[0, len). frame_len >= len is the length of the whole frame if `len` is only its
// first segment. Lengths in headers are compared with frame_len, and bytes are read below len. It
// never fails: a frame that is not understood has neither HS_PACKET_IPV4 nor HS_PACKET_IPV6, or has
// HS_PACKET_MALFORMED. `options` NULL: no option is telemetry.
void hs_packet_parse(const uint8_t *frame, size_t len, size_t frame_len,
		const struct hs_packet_options *options, struct hs_packet *packet);

// Reads the transport header of protocol `proto` at `at`, after telemetry that follows IPv4's
// header. Reads it as hs_packet_parse reads one that directly follows IP. For a packet that was
// parsed.
void hs_packet_parse_l4(const uint8_t *frame, size_t len, size_t at, uint8_t proto,
		struct hs_packet *packet);

// Returns the bytes of a packet as telemetry counts them (docs/metrics.md, [1]): Ethernet without
// FCS, tags and padding, and without the inserted telemetry.
static inline uint32_t hs_packet_counted_bytes(const struct hs_packet *packet)
{
	return 14u + packet->l3_bytes - packet->telemetry_bytes;
}
