// SPDX-License-Identifier: BSD-3-Clause
// The headers of one frame, found once: Ethernet, up to two VLAN tags, IPv4 with its options or
// IPv6 with its extension headers, ports, and the telemetry in it, of which its family says what it
// is (lib/telemetry).
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
	HS_PACKET_TELEMETRY = 1 << 5,	  // options 0x31 and 0x11, both well formed
	HS_PACKET_REQUEST = 1 << 6,	  // at least one option 0x32
	HS_PACKET_REPORT = 1 << 7,	  // at least one option 0x33
	HS_PACKET_ANY_TELEMETRY = 1 << 8, // any of 0x31 0x11 0x32 0x33, well formed or not
	HS_PACKET_MALFORMED = 1 << 9, // a length exceeds what encloses it, a chain too long, ...
	HS_PACKET_SHORT = 1 << 10,    // the headers go on beyond `len` but not beyond `frame_len`
	HS_PACKET_MIXED = 1 << 11,    // telemetry where our nodes put none: strip repacks the rest
	HS_PACKET_HIDDEN = 1 << 12,   // headers that are not searched; telemetry may be there
	HS_PACKET_IPV4 = 1 << 13,     // an IPv4 header is present; with SHORT, it may be cut off
	HS_PACKET_DISCARD = 1 << 14,  // a sink says: the packet ends here, as its telemetry asks
	HS_PACKET_PLAIN = 1 << 15,    // telemetry alone in its header, as our source lays it: 0x31,
				      // 0x11, fewer than eight bytes of padding behind
	HS_PACKET_PUNT = HS_PACKET_REQUEST | HS_PACKET_REPORT, // either of the in-band ways
};

// Offsets count from the first byte of the frame. Members that do not apply are 0.
struct hs_packet {
	uint16_t flags;
	uint16_t l3_off;    // IP header; the Ethernet header and tags are [0, l3_off)
	uint16_t hbh_bytes; // whole Hop-by-Hop header, at l3_off + 40
	uint16_t trace_off; // where the entries of hops are; flexint: option type byte of 0x31
	uint16_t e2e_off;   // where the source's entry is; flexint: option type byte of 0x11
	uint16_t telemetry_bytes; // what the family's sink would take out of the frame
	uint16_t l4_off;
	uint16_t src_port; // host order; 0 for icmp
	uint16_t dst_port;
	uint8_t l4_proto;
	uint8_t vlan_tags;
	uint32_t l3_bytes; // of the whole IP packet, as its header states them; an MTU limits them
	uint32_t ns_id;	   // the rule that telemetry names
	uint32_t trace_type; // which fields it asks for
};

// What a family whose telemetry is in the Hop-by-Hop header reads there. Other families find theirs
// in a packet that was parsed.
struct hs_packet_options {
	// Reads the options of a header that lies whole at packet->l3_off + 40 (l3_off and
	// hbh_bytes are set) and sets all that struct hs_packet says about telemetry. False where
	// the options are broken.
	bool (*parse)(const uint8_t *hbh, struct hs_packet *packet);
	// Whether any telemetry option begins in these bytes of a header that may be cut off.
	bool (*are_there)(const uint8_t *hbh, size_t bytes);
	bool ipv6_alone; // IPv4 has no telemetry to look for
};

// Parses frame[0, len). frame_len >= len is the length of the whole frame when `len` is only its
// first segment: lengths in headers are compared with frame_len, bytes are read below len. Never
// fails: what is not understood is a frame without HS_PACKET_IPV4 and HS_PACKET_IPV6, or with
// HS_PACKET_MALFORMED.
// `options` NULL: no option is telemetry.
void hs_packet_parse(const uint8_t *frame, size_t len, size_t frame_len,
		const struct hs_packet_options *options, struct hs_packet *packet);

// Reads the transport header of protocol `proto` at `at`, to which telemetry leads, as
// hs_packet_parse reads the one to which IP's headers lead. For a packet that was parsed.
void hs_packet_parse_l4(const uint8_t *frame, size_t len, size_t at, uint8_t proto,
		struct hs_packet *packet);

// Gives what hs_packet_parse gives where it returns true: untagged IPv4 without options, no
// fragment, with TCP, UDP or ICMP. It is not inlined beside the fast path of IPv6, which would pay
// for it.
bool hs_packet_parse_fast_ipv4(
		const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet);

// Returns the bytes of a packet as telemetry counts them (docs/metrics.md, [1]): Ethernet without
// FCS, tags and padding, without what telemetry inserted.
static inline uint32_t hs_packet_counted_bytes(const struct hs_packet *packet)
{
	return 14u + packet->l3_bytes - packet->telemetry_bytes;
}
