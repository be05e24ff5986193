// SPDX-License-Identifier: BSD-3-Clause
#include "int_wire.h"

// Checks whether the header's words per hop match its instructions, and whether this node may fill
// them. Returns 0 or a refusal.
static int refusal_of_words(const struct hs_int_settings *settings, uint16_t bitmap,
		unsigned stated, bool domain)
{
	unsigned version = settings->version;
	unsigned words = hs_int_hop_words(version, bitmap);
	bool reserved = bitmap & (uint16_t)~hs_int_known(version);

	if (words > stated || (words < stated && !domain))
		return HS_INT_MISMATCH;
	bool fills = settings->fill_reserved && !hs_int_counts_hops(version);
	return (reserved || words < stated) && !fills ? HS_INT_RESERVED : 0;
}

static bool has_room(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet, unsigned words)
{
	const uint8_t *shim = frame + packet->trace_off - SHIM_BYTES;
	size_t most = packet->flags & HS_PACKET_IPV4 ? UINT16_MAX : HS_IPV6_MAX_BYTES;
	struct hs_l4 l4;

	if (packet->l3_bytes + 4u * words > most)
		return false;
	if (settings->carrier != HS_INT_GENEVE)
		return shim[hs_int_shim_length_at(settings->version)] + words <= MAX_SHIM_WORDS;
	if (!hs_l4_find(frame, packet, &l4))
		return false;
	return (shim[3] & GENEVE_OPT_LENGTH) + words <= GENEVE_OPT_WORDS &&
	       (frame[l4.off + UDP_BYTES] & 0x3f) + words <= GENEVE_MAX_WORDS;
}

int hs_int_transit_growth(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet)
{
	unsigned version = settings->version;
	const uint8_t *head = frame + packet->trace_off;

	if (!(packet->flags & HS_PACKET_TELEMETRY))
		return HS_INT_NO_CARRIER;
	if (!packet->trace_off || packet->trace_type & HS_INT_TRACE_MX)
		return HS_INT_NOT_ASKED;
	unsigned words = hs_int_stated_words(version, head);
	if (!words)
		return HS_INT_NOT_ASKED;
	bool full = hs_int_counts_hops(version) ? head[3] == head[2] : !head[3];
	if (full)
		return HS_INT_HOP_LIMIT;
	int refusal = refusal_of_words(settings, (uint16_t)(packet->trace_type >> 16), words,
			version == HS_INT_2_1 && packet->ns_id >> 16);
	if (refusal)
		return refusal;
	return has_room(settings, frame, packet, words) ? (int)(4 * words) : HS_INT_NO_ROOM;
}

static void raise_lengths(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_l4 *l4, size_t words)
{
	uint8_t *shim = frame + packet->trace_off - SHIM_BYTES;

	if (settings->carrier != HS_INT_GENEVE) {
		shim[hs_int_shim_length_at(settings->version)] += (uint8_t)words;
		return;
	}
	shim[3] = (uint8_t)(shim[3] + words);
	frame[l4->off + UDP_BYTES] = (uint8_t)(frame[l4->off + UDP_BYTES] + words);
}

void hs_int_transit_insert(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, size_t growth, const struct hs_int_values *values)
{
	unsigned version = settings->version;
	uint16_t bitmap = (uint16_t)(packet->trace_type >> 16);
	size_t end = packet->trace_off + hs_int_head_bytes(version);
	uint8_t *head = frame + packet->trace_off;
	struct hs_int_before before;
	struct hs_l4 l4;

	hs_l4_find(frame + growth, packet, &l4);
	hs_int_note_before(frame + growth, packet, &l4, end, &before);
	memmove(frame, frame + growth, end);
	bool bottom = version == HS_INT_2016_06 && !head[3];
	head[3] = (uint8_t)(hs_int_counts_hops(version) ? head[3] + 1 : head[3] - 1);
	raise_lengths(settings, frame, packet, &l4, growth / 4);
	uint8_t *last = hs_int_write_hop(version, bitmap, (unsigned)(growth / 4), frame + end,
					values) -
			4;
	if (bottom)
		*last |= 0x80;
	hs_int_correct_lengths(frame, packet, &l4, (int)growth, &before);
	uint32_t change = hs_int_l4_change(frame, &l4, end + growth, (int)growth, &before);
	bool complement = bitmap & hs_int_known(version) & 1;
	if (complement && l4.proto != IP_GRE && hs_int_checksum_at(frame, &l4))
		hs_be32_store(last, (uint16_t)~hs_ip_sum_fold(change)); // keeps the checksum right
	else
		hs_int_correct_checksum(frame, &l4, change);
}

bool hs_int_transit_refuse(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, int refusal)
{
	uint8_t *head = frame + packet->trace_off;
	uint16_t bit = refusal == HS_INT_HOP_LIMIT ? hs_int_bit_e[settings->version]
		       : refusal == HS_INT_MTU	   ? hs_int_bit_m[settings->version]
						   : 0;
	struct hs_l4 l4;

	if (!packet->trace_off || packet->trace_type & HS_INT_TRACE_MX)
		return false;
	uint16_t was = hs_be16_load(head);
	if ((was & bit) == bit || !hs_l4_find(frame, packet, &l4))
		return false;
	hs_be16_store(head, was | bit);
	hs_int_correct_checksum(frame, &l4, hs_sum_change(was, was | bit));
	return true;
}
