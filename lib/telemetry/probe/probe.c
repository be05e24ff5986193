// SPDX-License-Identifier: BSD-3-Clause
#include "probe.h"

#include "bytes.h"
#include "checksum_change.h"
#include "ip_header.h"
#include "ip_sum.h"

enum {
	MAC_BYTES = 6,
	TOS = 1,
	DSCP_BITS = 0xfc, // of the first word
	TTL_ONE = 0x100,  // in the word of TTL and protocol
	UDP_PORT = 2,
	UDP_LENGTH = 4,
	UDP_CHECKSUM = 6,
};

// ---- checksums ----

static uint16_t folded(uint32_t sum)
{
	sum = (sum >> 16) + (sum & UINT16_MAX);
	return (uint16_t)((sum >> 16) + (sum & UINT16_MAX));
}

static size_t header_bytes(const uint8_t *ip)
{
	return 4u * (ip[0] & 0xfu);
}

// Returns the sum of what UDP's checksum covers in the header of IP.
static uint32_t addresses_sum(const uint8_t *ip)
{
	return hs_ip_sum_even(ip + HS_IPV4_SRC, 8) + HS_IP_UDP;
}

// Returns the sum of what UDP's checksum covers in a probe and in its feedback alike: addresses,
// protocol, ports and request.
static uint32_t kept_sum(const uint8_t *ip, const uint8_t *udp)
{
	return addresses_sum(ip) + hs_be16_load(udp) + hs_be16_load(udp + UDP_PORT) +
	       hs_be16_load(udp + HS_PROBE_UDP_BYTES);
}

// Replaces a word of a header of IP that has a right checksum.
static void set_ip_word(uint8_t *ip, size_t at, uint16_t word)
{
	uint32_t change = hs_sum_change(hs_be16_load(ip + at), word);

	hs_be16_store(ip + at, word);
	hs_be16_store(ip + HS_IPV4_CHECKSUM,
			hs_checksum_changed(hs_be16_load(ip + HS_IPV4_CHECKSUM), change));
}

// Writes lengths and checksums of a packet with udp_bytes of UDP. The checksum of its header of IP
// is right before. `sum` is that of all that UDP's checksum covers, but for lengths. A packet
// without UDP's checksum gets none.
static void set_lengths(uint8_t *ip, uint8_t *udp, size_t udp_bytes, uint32_t sum)
{
	uint16_t checksum = (uint16_t)~folded(sum + 2 * (uint32_t)udp_bytes);

	set_ip_word(ip, HS_IPV4_TOTAL, (uint16_t)(header_bytes(ip) + udp_bytes));
	hs_be16_store(udp + UDP_LENGTH, (uint16_t)udp_bytes);
	if (hs_be16_load(udp + UDP_CHECKSUM))
		hs_be16_store(udp + UDP_CHECKSUM, checksum ? checksum : UINT16_MAX);
}

// ---- parsing ----

static bool sums_are_right(const uint8_t *ip, const uint8_t *udp, size_t bytes)
{
	if (hs_ip_sum_even(ip, header_bytes(ip)) != UINT16_MAX)
		return false;
	return !hs_be16_load(udp + UDP_CHECKSUM) ||
	       folded(addresses_sum(ip) + (uint32_t)bytes + hs_ip_sum(udp, bytes)) == UINT16_MAX;
}

static enum hs_probe_kind kind_of(const struct hs_probe_settings *settings, const uint8_t *ip)
{
	uint8_t dscp = ip[TOS] >> 2;

	if (dscp == settings->dscp)
		return HS_PROBE_COLLECTS;
	return dscp == settings->feedback_dscp ? HS_PROBE_FEEDBACK : HS_PROBE_RECOVERY;
}

static bool is_payload_whole(enum hs_probe_kind kind, const uint8_t *payload, size_t bytes)
{
	struct hs_probe_stack stack;

	if (kind == HS_PROBE_FEEDBACK)
		return bytes == HS_PROBE_REQUEST_BYTES;
	return hs_probe_stack_open(payload, bytes, &stack) == 0;
}

void hs_probe_parse_marked(const struct hs_probe_settings *settings, const uint8_t *frame,
		size_t len, struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off, *udp = frame + packet->l4_off;
	size_t end = packet->l3_off + (size_t)packet->l3_bytes;
	size_t bytes = end - packet->l4_off; // from UDP's header on

	packet->flags |= HS_PACKET_ANY_TELEMETRY;
	if (packet->flags & (HS_PACKET_FRAGMENT | HS_PACKET_MALFORMED) ||
			bytes < HS_PROBE_UDP_BYTES)
		return;
	if (end > len) {
		packet->flags |= HS_PACKET_SHORT;
		return;
	}
	enum hs_probe_kind kind = kind_of(settings, ip);
	const uint8_t *payload = udp + HS_PROBE_UDP_BYTES;
	if (hs_be16_load(udp + UDP_LENGTH) != bytes || !sums_are_right(ip, udp, bytes) ||
			!is_payload_whole(kind, payload, bytes - HS_PROBE_UDP_BYTES))
		return;
	packet->flags |= HS_PACKET_TELEMETRY;
	packet->trace_type = kind;
	packet->trace_off = (uint16_t)(packet->l4_off + HS_PROBE_UDP_BYTES);
}

// Parses a packet that is longer than its frame. A device that pads short frames may complete it.
static void parse_cut(const struct hs_probe_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;

	if (!packet->l3_off || ip[HS_IPV4_PROTOCOL] != HS_IP_UDP ||
			hs_be16_load(ip + HS_IPV4_FRAGMENT) & HS_IPV4_OFFSET ||
			!hs_probe_has_dscp(settings, frame, packet))
		return;
	size_t port = packet->l3_off + header_bytes(ip) + UDP_PORT, end = port + 2;
	if (end > len && end <= frame_len)
		packet->flags |= HS_PACKET_SHORT;
	else if (end > frame_len || hs_be16_load(frame + port) == settings->udp_port)
		packet->flags |= HS_PACKET_ANY_TELEMETRY;
}

void hs_probe_parse(const struct hs_probe_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	hs_packet_parse(frame, len, frame_len, NULL, packet);
	if (packet->l3_off)
		packet->flags &= (uint16_t)~HS_PACKET_HIDDEN;
	if (hs_probe_is_marked(settings, frame, packet))
		hs_probe_parse_marked(settings, frame, len, packet);
	else if (packet->flags & HS_PACKET_MALFORMED)
		parse_cut(settings, frame, len, frame_len, packet);
}

// ---- writing ----

static uint16_t swapped(uint32_t sum)
{
	return __builtin_bswap16(folded(sum));
}

static uint32_t hop_sum(const struct hs_probe_hop *hop, const uint32_t *values)
{
	uint32_t sum = ((uint32_t)hop->node << 8) + hop->depth + hop->n_values;

	for (unsigned i = 0; i < hop->n_values; i++)
		sum += (values[i] >> 16) + (values[i] & UINT16_MAX);
	return sum;
}

// Returns the sum for set_lengths of a probe that grew, before it grows. The bytes that only move
// are not read: a right checksum says what their sum is. An entry is three bytes and a hop four, so
// that each byte that moves is the other one of a word afterwards, which swaps the bytes of the sum
// (RFC 1071 section 2). The hop, #DLV and #MEA are behind the other entries.
static uint32_t grown_sum(const uint8_t *ip, const uint8_t *udp, const struct hs_probe_stack *stack,
		const struct hs_probe_hop *hop, const uint32_t *values)
{
	const uint8_t *entry = stack->entries;
	uint32_t kept = kept_sum(ip, udp), added = 1u + hop->n_values + hop_sum(hop, values);
	uint32_t not_moved = kept + 2u * hs_be16_load(udp + UDP_LENGTH) +
			     hs_be16_load(udp + UDP_CHECKSUM) + stack->n_entries +
			     hs_be16_load(entry) + ((uint32_t)entry[2] << 8);

	return kept + stack->n_entries - 1u + swapped((uint16_t)~folded(not_moved)) +
	       (stack->n_entries % 2 ? added : swapped(added));
}

void hs_probe_add(uint8_t *frame, struct hs_packet *packet, const struct hs_probe_stack *stack,
		const struct hs_probe_hop *hop, const uint32_t *values)
{
	uint8_t *ip = frame + packet->l3_off, *udp = frame + packet->l4_off;
	uint32_t sum = grown_sum(ip, udp, stack, hop, values);

	hs_probe_stack_add(frame + packet->trace_off, stack, hop, values);
	packet->l3_bytes += (uint32_t)hs_probe_stack_growth(hop->n_values);
	set_lengths(ip, udp, packet->l3_off + (size_t)packet->l3_bytes - packet->l4_off, sum);
}

static void set_dscp(uint8_t *ip, uint8_t dscp)
{
	set_ip_word(ip, 0, (uint16_t)((hs_be16_load(ip) & ~DSCP_BITS) | dscp << 2));
}

size_t hs_probe_feedback(const struct hs_probe_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet, uint8_t *out)
{
	size_t bytes = hs_probe_feedback_bytes(packet);
	uint8_t *ip = out + packet->l3_off, *udp = out + packet->l4_off;

	memcpy(out, frame, bytes);
	memcpy(out, frame + MAC_BYTES, MAC_BYTES);
	memcpy(out + MAC_BYTES, frame, MAC_BYTES);
	set_dscp(ip, settings->feedback_dscp);
	set_lengths(ip, udp, HS_PROBE_UDP_BYTES + HS_PROBE_REQUEST_BYTES, kept_sum(ip, udp));
	return bytes;
}

bool hs_probe_age(uint8_t *frame, const struct hs_packet *packet)
{
	uint8_t *ip = frame + packet->l3_off;

	if (ip[HS_IPV4_TTL] <= 1)
		return false;
	set_ip_word(ip, HS_IPV4_TTL, (uint16_t)(hs_be16_load(ip + HS_IPV4_TTL) - TTL_ONE));
	return true;
}

void hs_probe_mark_recovery(const struct hs_probe_settings *settings, uint8_t *frame, size_t l3_off)
{
	set_dscp(frame + l3_off, settings->recovery_dscp);
}
