// SPDX-License-Identifier: BSD-3-Clause
// INT: In-band Network Telemetry of June 2016 and of P4.org (0.5, 1.0, 2.0, 2.1) in IPv4 and IPv6
// packets: after a TCP or UDP header, in GRE, in VXLAN-GPE, in Geneve. The packet itself says what
// each node must add, so transit and sink need no rule.
//
// Functions that grow a frame: `frame` points to `growth` free bytes, then the old frame follows.
// Only headers move, never the payload. Functions that shrink a frame: the front moves towards the
// payload, and the frame begins at frame + result. Both correct the lengths and checksums of the
// enclosing headers: IPv4 total length and header checksum, IPv6 payload length, UDP length, the
// checksums of TCP, UDP and GRE (incrementally, so that a wrong one stays wrong), the lengths of
// Geneve and of the shim.
//
// Source: 004_2771db4e6b3fe8ac.txt; P4.org INT dataplane specification v0.5, v1.0, v2.0, v2.1.
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include "int_fields.h"
#include "int_settings.h"
#include "packet.h"
#include "telemetry_model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Why nothing is added. Functions that return a growth return one of these instead.
enum hs_int_refusal {
	HS_INT_NO_CARRIER = -1, // the packet is not of a kind that carries INT by these settings
	HS_INT_MARKED = -2,	// for a source: the packet claims INT already
	HS_INT_NO_ROOM = -3,	// a length field would overflow
	HS_INT_NOT_ASKED = -4,	// no values are requested: INT-MX, destination headers only
	HS_INT_HOP_LIMIT = -5,	// the hop limit is reached: set E
	HS_INT_RESERVED = -6,	// an instruction without meaning, which is not filled
	HS_INT_MISMATCH = -7,	// instructions and the length of a hop disagree
	HS_INT_MTU = -8,	// never returned: the caller's own reason, which sets M
};

// Parses a frame. Members of hs_packet about telemetry:
//   HS_PACKET_ANY_TELEMETRY  the packet claims INT, well formed or not: by the mark, or by the
//                            tunnel's protocol number or option class
//   HS_PACKET_TELEMETRY      and is well formed: it can be stripped
//   e2e_off          the first shim; Geneve: the first option of INT
//   trace_off        the header that transit reads (INT-MD or INT-MX); 0: destination headers only
//   telemetry_bytes  the bytes that hs_int_strip removes
//   trace_type       bitmap << 16 | HS_INT_TRACE_MX for INT-MX | words after the header
//   ns_id            domain-specific id << 16 | domain-specific instruction
//   l4_off, l4_proto, src_port, dst_port  of the packet before the source, so that a rule matches
//                            both. In a GRE tunnel that the source added, they are those of the
//                            tunnel: strip and parse again.
void hs_int_parse(const struct hs_int_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet);

#define HS_INT_TRACE_MX	   0x8000u
#define HS_INT_TRACE_WORDS 0xffu

static inline enum hs_int_type hs_int_type_of(const struct hs_packet *packet)
{
	return packet->trace_type & HS_INT_TRACE_MX ? HS_INT_TYPE_MX : HS_INT_TYPE_MD;
}

// Returns the bytes of the INT header without shim: 8 before 2.0, 12 since 2.0.
static inline size_t hs_int_head_bytes(unsigned version)
{
	return version == HS_INT_2_1 ? 12 : 8;
}

// Returns the bytes of the INT header and its stack, which begin at packet->trace_off.
// hs_int_stack_open reads these bytes.
static inline size_t hs_int_stack_bytes(unsigned version, const struct hs_packet *packet)
{
	return hs_int_head_bytes(version) + 4 * (packet->trace_type & HS_INT_TRACE_WORDS);
}

// Returns the DSCP that the packet had before the source. The mark may have replaced it.
uint8_t hs_int_host_dscp(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet);

// Returns whether a packet with HS_PACKET_TELEMETRY and a DSCP mark almost certainly has INT: each
// reserved field of shim and header is 0, and the instructions match the length of a hop. Random
// data of a host has the form of INT once in some hundred packets, and passes this check once in
// 2^30. Other marks and carriers need no check: returns true.
bool hs_int_is_certain(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet);

// ---- source ----

// Returns by how much a frame grows when a source starts INT on it, with its own values (`own`) or
// with the fixed headers only. Returns an enum hs_int_refusal if the source cannot.
int hs_int_source_growth(const struct hs_int_settings *settings,
		const struct hs_int_request *request, const uint8_t *frame,
		const struct hs_packet *packet, bool own);

// Returns by how much a packet grows at most on its path, if as many nodes add values as may, the
// source included. Returns 0 if no node adds anything.
size_t hs_int_most_path_growth(
		const struct hs_int_settings *settings, const struct hs_int_request *request);

// Inserts INT. With an `own` of NULL, inserts the headers only; then M is set, if the version has
// it, unless the request has HS_INT_NO_OWN.
void hs_int_source_insert(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *frame,
		const struct hs_packet *packet, size_t growth, const struct hs_int_values *own);

// ---- transit ----

// Returns by how much a frame with HS_PACKET_TELEMETRY grows when a node adds the requested values.
// Returns an enum hs_int_refusal if the node may not.
int hs_int_transit_growth(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet);

void hs_int_transit_insert(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, size_t growth, const struct hs_int_values *values);

// Writes into the packet why nothing was added, if the version has a bit for it: E for
// HS_INT_HOP_LIMIT, M for HS_INT_MTU. Returns whether the packet changed.
bool hs_int_transit_refuse(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, int refusal);

// ---- sink ----

// Removes all INT and the carrier that the source added, and restores the fields that the source
// changed. Returns by how much the frame shrank, which is packet->telemetry_bytes. Returns 0, with
// no byte changed, if the packet has no HS_PACKET_TELEMETRY.
size_t hs_int_strip(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet);

// Returns whether the sink must drop the packet after extraction: D (2.x), or a replica's C (before
// 2.0).
bool hs_int_is_discarded(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet);

// Clears the mark of a packet, whatever follows it. Returns false, with no byte changed, if the
// packet has no DSCP mark.
bool hs_int_clear_mark(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet);

// ---- decoding ----

// One INT header and its stack, in place.
struct hs_int_stack {
	uint8_t version; // enum hs_int_version
	uint8_t type;	 // enum hs_int_type
	uint8_t flags;	 // enum hs_int_flag
	uint8_t replication;
	uint8_t hop_words; // 0 for INT-MX
	uint8_t max_hops;  // 2016-06, 0.5: of the whole path; else: nodes that may still add
	uint8_t n_hops;
	uint8_t source_words; // source-only metadata, or what the source of INT-MX inserted
	uint16_t bitmap;
	uint16_t domain_id;
	uint16_t ds_instruction;
	uint16_t ds_flags;
	const uint8_t *hops;   // the newest first; the last is the source's
	const uint8_t *source; // source_words
};

// Bits E and M, as in enum hs_int_flag, of the first two bytes of a header, by version.
static const uint16_t hs_int_bit_e[] = {0x0400, 0x0100, 0x0100, 0x0400};
static const uint16_t hs_int_bit_m[] = {0, 0, 0x0080, 0x0200};

// Reads `len` bytes, which begin at the INT header (packet->trace_off) and end with its stack.
// Returns 0 or -EBADMSG.
int hs_int_stack_open(const struct hs_int_settings *settings, enum hs_int_type type,
		const uint8_t *header, size_t len, struct hs_int_stack *out);

// Reads the values of hop `i` (< n_hops; 0 is nearest the sink). Returns 0 or -EBADMSG. (In
// 2016-06, the bit of the stack's bottom may be set in a wrong place, or missing.)
int hs_int_stack_hop(const struct hs_int_stack *stack, size_t i, struct hs_int_values *out);

// Decodes a whole stack of INT-MD. The bottom hop is the source: its time is in e2e, and hops[] has
// the nodes after it. locals[] has all nodes. A time is that of receipt, else of sending, with the
// low bits that the wire has. With M, some node added nothing. This may be the source, so then e2e
// has no value and hops[] has all hops. A node without an id has HS_NODE_UNKNOWN. The latency is
// the node's own value, else the difference of its two times. Sets all members except `family`.
// Returns 0, -EBADMSG, or -E2BIG: more hops than HS_TELEMETRY_MAX_HOPS.
int hs_int_decode(const struct hs_int_settings *settings, const uint8_t *header, size_t len,
		struct hs_decoded *out);
