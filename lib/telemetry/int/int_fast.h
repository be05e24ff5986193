// SPDX-License-Identifier: BSD-3-Clause
// The inlined codec of int.h for INT-MD of 2.1 after TCP or UDP, marked by DSCP, in untagged
// packets of IPv4 without options and of IPv6 without extension headers. Each function does what
// its namesake in int.h does to the same packet, and is tested against it.
//
// Source: P4.org INT dataplane specification v2.1 sections 4.6 and 5; RFC 1624.
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include "checksum_change.h"
#include "front.h"
#include "int.h"
#include "int_values_wire.h"
#include "ip_sum.h"
#include "packet_fast.h"

#define HS_INT_FAST_SHIM      4
#define HS_INT_FAST_FIXED     16   // shim and header
#define HS_INT_FAST_D	      0x08 // in the header's first byte
#define HS_INT_FAST_KNOWN     0xFF80
#define HS_INT_FAST_TWICE     0x0E00 // instructions of two words
#define HS_INT_FAST_MAX_BLOCK 48     // bytes of all known values

// Returns whether a profile is one for the functions below. This is constant for a profile.
static inline bool hs_int_fast_is(const struct hs_int_settings *settings)
{
	return settings->version == HS_INT_2_1 && settings->mode == HS_INT_MD &&
	       settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP;
}

// Returns whether a profile is the same with INT-MX. hs_int_parse_fast_mx parses its packets.
// Transit inserts nothing.
static inline bool hs_int_fast_is_mx(const struct hs_int_settings *settings)
{
	return settings->version == HS_INT_2_1 && settings->mode == HS_INT_MX &&
	       settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP;
}

// ---- common parts ----

static inline unsigned hs_int_fast_words(uint16_t bitmap)
{
	return (unsigned)(__builtin_popcount(bitmap) +
			  __builtin_popcount(bitmap & HS_INT_FAST_TWICE));
}

static inline uint8_t hs_int_fast_dscp(const uint8_t *ip, const struct hs_packet *packet)
{
	return packet->flags & HS_PACKET_IPV4 ? ip[1] >> 2 : hs_be16_load(ip) >> 6 & 0x3f;
}

static inline bool hs_int_fast_is_marked(const struct hs_int_settings *settings, uint8_t dscp)
{
	return !((dscp ^ settings->dscp) & settings->dscp_mask);
}

// One hop's values in wire format, for many packets with the same instructions and the same values.
struct hs_int_fast_block {
	uint32_t bitmap; // more than 16 bits: no packet asks for it
	uint32_t n;   // bytes: words of four; 0: there is more than HS_INT_FAST_KNOWN, or nothing
	uint16_t sum; // of the bytes
	_Alignas(16) uint8_t bytes[HS_INT_FAST_MAX_BLOCK];
};

static inline void hs_int_fast_block_make(struct hs_int_fast_block *block, uint16_t bitmap,
		const struct hs_int_values *values)
{
	block->bitmap = bitmap;
	block->n = 0;
	if (bitmap & ~HS_INT_FAST_KNOWN)
		return;
	block->n = (uint32_t)(hs_int_put_values(HS_INT_2_1, bitmap, block->bytes, values) -
			      block->bytes);
	block->sum = hs_ip_sum_even(block->bytes, block->n);
}

static inline void hs_int_fast_block_put(const struct hs_int_fast_block *block, uint8_t *to)
{
	const uint8_t *from = block->bytes, *end = from + block->n;
	uint64_t eight;
	uint32_t word;

	if (block->n >= 16) {
		hs_front_move_down(to, from, block->n);
		return;
	}
	for (; end - from >= 8; from += 8, to += 8) {
		memcpy(&eight, from, 8);
		memcpy(to, &eight, 8);
	}
	if (from < end) {
		memcpy(&word, from, 4);
		memcpy(to, &word, 4);
	}
}

// Corrects the length of IP, and the checksum of IPv4.
static inline void hs_int_fast_l3(uint8_t *ip, const struct hs_packet *packet, uint32_t growth)
{
	uint32_t l3_bytes = packet->l3_bytes + growth;

	if (!(packet->flags & HS_PACKET_IPV4)) {
		hs_be16_store(ip + HS_IPV6_PAYLOAD, (uint16_t)(l3_bytes - HS_IPV6_BYTES));
		return;
	}
	hs_be16_store(ip + HS_IPV4_TOTAL, (uint16_t)l3_bytes);
	hs_be16_store(ip + HS_IPV4_CHECKSUM,
			hs_checksum_changed(hs_be16_load(ip + HS_IPV4_CHECKSUM), growth));
}

// Writes the DSCP and the length, and corrects the checksum of IPv4.
static inline void hs_int_fast_ip(
		uint8_t *ip, const struct hs_packet *packet, uint32_t l3_bytes, uint8_t dscp)
{
	uint16_t first = hs_be16_load(ip);

	if (!(packet->flags & HS_PACKET_IPV4)) {
		hs_be16_store(ip, (uint16_t)((first & 0xf03f) | dscp << 6));
		hs_be16_store(ip + HS_IPV6_PAYLOAD, (uint16_t)(l3_bytes - HS_IPV6_BYTES));
		return;
	}
	uint16_t now = (uint16_t)((first & 0xff03) | dscp << 2);
	uint16_t total = hs_be16_load(ip + HS_IPV4_TOTAL);
	uint32_t change = hs_sum_change(first, now) + hs_sum_change(total, (uint16_t)l3_bytes);
	hs_be16_store(ip, now);
	hs_be16_store(ip + HS_IPV4_TOTAL, (uint16_t)l3_bytes);
	hs_be16_store(ip + HS_IPV4_CHECKSUM,
			hs_checksum_changed(hs_be16_load(ip + HS_IPV4_CHECKSUM), change));
}

// Corrects UDP's length and the checksum of TCP or UDP. The frame grew by `growth`, which is
// between -2^16 and 2^16. `grown` is the same in one's complement. The sum of the bytes that the
// checksum covers grew by `change`.
static inline void hs_int_fast_l4(
		uint8_t *l4, uint8_t proto, int growth, uint32_t grown, uint32_t change)
{
	if (proto == HS_IP_TCP) {
		uint16_t checksum = hs_be16_load(l4 + 16);
		hs_be16_store(l4 + 16, hs_checksum_changed(checksum, change + grown));
		return;
	}
	uint16_t checksum = hs_be16_load(l4 + 6);
	hs_be16_store(l4 + 4, (uint16_t)(hs_be16_load(l4 + 4) + growth));
	if (!checksum)
		return;
	checksum = hs_checksum_changed(checksum, change + 2 * grown);
	hs_be16_store(l4 + 6, checksum ? checksum : 0xffff);
}

// Returns where the payload of TCP or UDP begins, and sets *end to its end. Returns 0 if the header
// is malformed.
static inline size_t hs_int_fast_payload(
		const uint8_t *frame, const struct hs_packet *packet, size_t *end)
{
	const uint8_t *l4 = frame + packet->l4_off;
	size_t at = packet->l4_off;

	*end = packet->l3_off + (size_t)packet->l3_bytes;
	if (packet->l4_proto == HS_IP_UDP) {
		if (at + 8 > *end)
			return 0;
		size_t length = hs_be16_load(l4 + 4);
		if (length < 8 || at + length > *end)
			return 0;
		*end = at + length;
		return at + 8;
	}
	if (at + 20 > *end)
		return 0;
	size_t bytes = l4[12] >> 4 << 2;
	return bytes >= 20 && at + bytes <= *end ? at + bytes : 0;
}

// Returns whether IP has the form that this file takes, with TCP or UDP directly after it, and only
// these other flags. Then l4_off says that IP begins at HS_FAST_L3: behind a tag, it would be more.
static inline bool hs_int_fast_takes_headers(const struct hs_packet *packet, uint16_t flags)
{
	const uint16_t ipv6 = flags | HS_PACKET_FLOW | HS_PACKET_IPV6;
	const uint16_t ipv4 = flags | HS_PACKET_FLOW | HS_PACKET_IPV4;
	bool is_ipv6 = packet->flags == ipv6 && packet->l4_off == HS_FAST_L3 + HS_IPV6_BYTES;
	bool is_ipv4 = packet->flags == ipv4 && packet->l4_off == HS_FAST_L3 + HS_IPV4_BYTES;

	return (is_ipv6 || is_ipv4) &&
	       (packet->l4_proto == HS_IP_UDP || packet->l4_proto == HS_IP_TCP);
}

// ---- parsing ----

// Returns whether `words` (at most 255) are whole hops of `hop` words (at most 31), without a
// division.
static inline bool hs_int_fast_are_whole_hops(unsigned words, unsigned hop)
{
#define R(n) (65536 + (n)-1) / (n)
	static const uint32_t reciprocals[] = {0, R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8),
			R(9), R(10), R(11), R(12), R(13), R(14), R(15), R(16), R(17), R(18), R(19),
			R(20), R(21), R(22), R(23), R(24), R(25), R(26), R(27), R(28), R(29), R(30),
			R(31)};
#undef R

	return (words * reciprocals[hop] >> 16) * hop == words;
}

static inline __attribute__((always_inline)) bool hs_int_fast_header(
		const uint8_t *frame, size_t len, struct hs_packet *packet)
{
	size_t end, at = hs_int_fast_payload(frame, packet, &end);

	if (!at || at + HS_INT_FAST_FIXED > end || end > len)
		return false;
	const uint8_t *shim = frame + at, *head = shim + HS_INT_FAST_SHIM;
	unsigned words = shim[1], stack = words - 3;
	if ((shim[0] & 0xfc) != HS_INT_TYPE_MD << 4 || words < 3 ||
			at + HS_INT_FAST_SHIM + 4 * words > end || head[0] >> 4 != 2 ||
			!hs_int_fast_are_whole_hops(stack, head[2] & 31))
		return false;
	packet->ns_id = hs_be32_load(head + 6);
	if (packet->ns_id >> 16 && (uint16_t)packet->ns_id) // source-only metadata may be there
		return false;
	packet->flags |= HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY;
	packet->e2e_off = (uint16_t)at;
	packet->trace_off = (uint16_t)(at + HS_INT_FAST_SHIM);
	packet->telemetry_bytes = (uint16_t)(HS_INT_FAST_SHIM + 4 * words);
	packet->trace_type = (uint32_t)hs_be16_load(head + 4) << 16 | stack;
	return true;
}

// Reads the header of INT-MX. The source's metadata after the header may have any length.
static inline bool hs_int_fast_header_mx(const uint8_t *frame, size_t len, struct hs_packet *packet)
{
	size_t end, at = hs_int_fast_payload(frame, packet, &end);

	if (!at || at + HS_INT_FAST_FIXED > end || end > len)
		return false;
	const uint8_t *shim = frame + at, *head = shim + HS_INT_FAST_SHIM;
	unsigned words = shim[1];
	if ((shim[0] & 0xfc) != HS_INT_TYPE_MX << 4 || words < 3 ||
			at + HS_INT_FAST_SHIM + 4 * words > end || head[0] >> 4 != 2)
		return false;
	packet->ns_id = hs_be32_load(head + 6);
	packet->flags |= HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY;
	packet->e2e_off = (uint16_t)at;
	packet->trace_off = (uint16_t)(at + HS_INT_FAST_SHIM);
	packet->telemetry_bytes = (uint16_t)(HS_INT_FAST_SHIM + 4 * words);
	packet->trace_type = (uint32_t)hs_be16_load(head + 4) << 16 | HS_INT_TRACE_MX | (words - 3);
	return true;
}

// Reads what follows the IP header of a packet of a profile with this mode, which is constant.
static inline __attribute__((always_inline)) bool hs_int_fast_behind_ip(enum hs_int_mode mode,
		const struct hs_int_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	// A first segment may end within TCP's options.
	if (len < frame_len && len < packet->l4_off + 60u)
		return false;
	uint8_t dscp = hs_int_fast_dscp(frame + HS_FAST_L3, packet);
	if (!hs_int_fast_is_marked(settings, dscp))
		return true;
	return (packet->l4_proto == HS_IP_UDP || packet->l4_proto == HS_IP_TCP) &&
	       (mode == HS_INT_MX ? hs_int_fast_header_mx(frame, len, packet)
				  : hs_int_fast_header(frame, len, packet));
}

// Parses a frame with the result of hs_int_parse. Returns false if hs_int_parse must parse it. For
// a profile for which hs_int_fast_is returns true. The code behind IP stands twice, because its
// offsets are constants for IPv6.
static inline __attribute__((always_inline)) bool hs_int_parse_fast_md(
		const struct hs_int_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	if (hs_packet_parse_fast(frame, len, frame_len, NULL, NULL, packet))
		return hs_int_fast_behind_ip(HS_INT_MD, settings, frame, len, frame_len, packet);
	return hs_packet_parse_fast_ipv4(frame, len, frame_len, packet) &&
	       hs_int_fast_behind_ip(HS_INT_MD, settings, frame, len, frame_len, packet);
}

// Does the same for a profile for which hs_int_fast_is_mx returns true.
static inline __attribute__((always_inline)) bool hs_int_parse_fast_mx(
		const struct hs_int_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	return (hs_packet_parse_fast(frame, len, frame_len, NULL, NULL, packet) ||
			       hs_packet_parse_fast_ipv4(frame, len, frame_len, packet)) &&
	       hs_int_fast_behind_ip(HS_INT_MX, settings, frame, len, frame_len, packet);
}

// ---- source ----

// Returns by how much a packet grows with the source's values, which is constant for a rule. 0:
// hs_int_source_growth must be called.
static inline size_t hs_int_fast_request_growth(
		const struct hs_int_settings *settings, const struct hs_int_request *request)
{
	unsigned words = hs_int_fast_words(request->bitmap);
	bool takes = !(request->bitmap & ~HS_INT_FAST_KNOWN) && words && settings->max_hops &&
		     !request->source_words && !request->ds_hop_words;

	return takes ? HS_INT_FAST_FIXED + 4u * words : 0;
}

// Returns whether hs_int_fast_source_insert may insert into this packet. If not,
// hs_int_source_growth must be called. The caller also checks an MTU, so that no length of 16 bits
// overflows.
static inline bool hs_int_fast_may_start(const uint8_t *frame, const struct hs_packet *packet)
{
	size_t end;

	if (!hs_int_fast_takes_headers(packet, 0) || !hs_int_fast_payload(frame, packet, &end))
		return false;
	const uint8_t *l4 = frame + packet->l4_off, *ip = frame + HS_FAST_L3;
	bool no_tcp = packet->l4_proto == HS_IP_TCP && hs_be16_load(l4 + 16) == 0xffff;
	bool no_ip = packet->flags & HS_PACKET_IPV4 &&
		     hs_be16_load(ip + HS_IPV4_CHECKSUM) == 0xffff;
	return !no_tcp && !no_ip;
}

// Inserts INT. `growth` is hs_int_fast_request_growth, and `own` has the request's bitmap.
static inline __attribute__((always_inline)) void hs_int_fast_source_insert(
		const struct hs_int_settings *settings, const struct hs_int_request *request,
		uint8_t *frame, const struct hs_packet *packet, size_t growth,
		const struct hs_int_fast_block *own)
{
	size_t end, at = hs_int_fast_payload(frame + growth, packet, &end);
	uint8_t *shim = frame + at, *ip = frame + HS_FAST_L3;

	hs_front_move_down(frame, frame + growth, at);
	uint8_t dscp = hs_int_fast_dscp(ip, packet);
	unsigned words = own->n / 4;
	uint32_t d = request->flags & HS_INT_FLAG_D ? (uint32_t)HS_INT_FAST_D << 24 : 0;
	uint32_t begin = HS_INT_TYPE_MD << 28 | (words + 3) << 16 | (uint32_t)dscp << 2;
	uint32_t head = 2u << 28 | d | words << 8 | (settings->max_hops - 1u);
	uint32_t asked = (uint32_t)request->bitmap << 16 | request->domain_id;
	uint32_t ds = (uint32_t)request->ds_instruction << 16 | request->ds_flags;
	uint64_t first = (uint64_t)begin << 32 | head, second = (uint64_t)asked << 32 | ds;
	hs_be64_store(shim, first);
	hs_be64_store(shim + 8, second);
	hs_int_fast_block_put(own, shim + HS_INT_FAST_FIXED);
	uint8_t keep = (uint8_t)(dscp & ~settings->dscp_mask);
	hs_int_fast_ip(ip, packet, packet->l3_bytes + (uint32_t)growth,
			keep | (settings->dscp & settings->dscp_mask));
	hs_int_fast_l4(frame + packet->l4_off, packet->l4_proto, (int)growth, (uint32_t)growth,
			(uint32_t)hs_ip_sum_fold(hs_ip_sum_add(first, second)) + own->sum);
}

// ---- transit ----

// Returns whether hs_int_fast_transit_insert may add this block, whose bitmap is the one that the
// packet requests (the upper half of its trace_type). If not, hs_int_transit_growth must be called.
// The caller also checks an MTU, so that no length of 16 bits overflows.
static inline bool hs_int_fast_may_add(const uint8_t *frame, const struct hs_packet *packet,
		const struct hs_int_fast_block *block)
{
	const uint8_t *head = frame + packet->trace_off;
	unsigned words = block->n / 4;

	return words && packet->trace_off && !(packet->trace_type & HS_INT_TRACE_MX) &&
	       hs_int_fast_takes_headers(packet, HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY) &&
	       (head[2] & 31) == words && head[3] && head[-3] + words <= UINT8_MAX;
}

// Adds a hop. The packet grows by the block's bytes.
static inline __attribute__((always_inline)) void hs_int_fast_transit_insert(uint8_t *frame,
		const struct hs_packet *packet, const struct hs_int_fast_block *block)
{
	uint8_t *head = frame + packet->trace_off;
	uint32_t growth = block->n, words = growth / 4;

	hs_front_move_down(frame, frame + growth, packet->trace_off + 12u);
	head[-3] = (uint8_t)(head[-3] + words);
	head[3]--;
	hs_int_fast_block_put(block, head + 12);
	hs_int_fast_l3(frame + HS_FAST_L3, packet, growth);
	// The shim's length grew by the words, and the remaining count fell by one.
	hs_int_fast_l4(frame + packet->l4_off, packet->l4_proto, (int)growth, growth,
			block->sum + words + 0xfffe);
}

// ---- sink ----

// Returns whether hs_int_fast_strip may remove this packet's telemetry. If not, hs_int_strip must
// be called.
static inline bool hs_int_fast_may_strip(const struct hs_int_settings *settings,
		const uint8_t *frame, const struct hs_packet *packet)
{
	return hs_int_fast_takes_headers(packet, HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY) &&
	       !hs_int_fast_is_marked(settings, frame[packet->e2e_off + 3] >> 2);
}

// Returns whether the sink must drop the packet, which hs_int_fast_may_strip takes and whose
// trace_off is not 0.
static inline bool hs_int_fast_is_discarded(const uint8_t *frame, const struct hs_packet *packet)
{
	return frame[packet->trace_off] & HS_INT_FAST_D;
}

// Removes the telemetry, and sets *packet as hs_int_parse would for the rest, which begins at frame
// + result.
static inline __attribute__((always_inline)) size_t hs_int_fast_strip(
		uint8_t *frame, struct hs_packet *packet)
{
	size_t taken = packet->telemetry_bytes, at = packet->e2e_off;
	uint8_t dscp = frame[at + 3] >> 2;
	uint16_t removed = hs_ip_sum_even(frame + at, taken);
	uint8_t *rest = frame + taken;

	hs_front_move_up(rest, frame, at);
	packet->l3_bytes -= (uint32_t)taken;
	packet->flags &= (uint16_t) ~(HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY);
	packet->telemetry_bytes = packet->trace_off = packet->e2e_off = 0;
	packet->trace_type = packet->ns_id = 0;
	hs_int_fast_ip(rest + HS_FAST_L3, packet, packet->l3_bytes, dscp);
	hs_int_fast_l4(rest + packet->l4_off, packet->l4_proto, -(int)taken,
			0xffff - (uint32_t)taken, (uint16_t)~removed);
	return taken;
}
