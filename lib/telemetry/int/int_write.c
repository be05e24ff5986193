// SPDX-License-Identifier: BSD-3-Clause
// Writes shim, INT header and values, for the source and each hop.
#include "int_wire.h"

#include "int_values_wire.h"

unsigned hs_int_request_words(
		const struct hs_int_settings *settings, const struct hs_int_request *request)
{
	if (settings->mode != HS_INT_MD)
		return 0;
	unsigned words = hs_int_hop_words(settings->version, request->bitmap);
	return words + (settings->version == HS_INT_2_1 ? request->ds_hop_words : 0);
}

// Writes a hop's block. `version` is a constant.
static inline uint8_t *write_hop_as(enum hs_int_version version, uint16_t bitmap, unsigned words,
		uint8_t *at, const struct hs_int_values *values)
{
	bool complement = bitmap & hs_int_known(version) & 1;
	uint8_t *end = at + 4 * words;
	uint8_t *last = complement ? end - 4 : end;

	at = hs_int_put_values(version, bitmap & (uint16_t)~1, at, values);
	while (at < last) { // reserved and domain-specific instructions
		hs_be32_store(at, UINT32_MAX);
		at += 4;
	}
	if (complement)
		hs_be32_store(last, UINT32_MAX);
	return end;
}

uint8_t *hs_int_write_hop(unsigned version, uint16_t bitmap, unsigned words, uint8_t *at,
		const struct hs_int_values *values)
{
	switch (version) {
	case HS_INT_2016_06:
		return write_hop_as(HS_INT_2016_06, bitmap, words, at, values);
	case HS_INT_0_5:
		return write_hop_as(HS_INT_0_5, bitmap, words, at, values);
	case HS_INT_1_0:
		return write_hop_as(HS_INT_1_0, bitmap, words, at, values);
	default:
		return write_hop_as(HS_INT_2_1, bitmap, words, at, values);
	}
}

uint8_t hs_int_hop_limit(const struct hs_int_settings *settings,
		const struct hs_int_request *request, unsigned hop_words)
{
	size_t room = GENEVE_OPT_WORDS - hs_int_head_bytes(settings->version) / 4;
	size_t source = settings->version == HS_INT_2_1 ? request->source_words : 0;

	if (settings->carrier != HS_INT_GENEVE || !hop_words)
		return settings->max_hops;
	size_t fit = source < room ? (room - source) / hop_words : 0;
	return fit < settings->max_hops ? (uint8_t)fit : settings->max_hops;
}

// Writes a header before 1.0, which has the number of hops and their maximum.
static void write_counting_head(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *at, unsigned words, bool own)
{
	unsigned rep = request->replication & 3u;

	at[0] = (uint8_t)(rep << (settings->version == HS_INT_2016_06 ? 4 : 2));
	at[1] = (uint8_t)words;
	at[2] = hs_int_hop_limit(settings, request, words);
	at[3] = own;
	hs_be32_store(at + HEAD_BITMAP, (uint32_t)request->bitmap << 16);
}

// Writes a header since 1.0, which has the number of nodes that may still add values.
static void write_remaining_head(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *at, unsigned words, bool own)
{
	bool full = !own && !(request->flags & HS_INT_NO_OWN) && words;

	at[2] = (uint8_t)words;
	at[3] = (uint8_t)(hs_int_hop_limit(settings, request, words) - own);
	if (settings->version == HS_INT_1_0) {
		at[0] = (uint8_t)(0x10 | (request->replication & 3) << 2);
		at[1] = full ? 0x80 : 0;
		hs_be32_store(at + HEAD_BITMAP, (uint32_t)request->bitmap << 16);
		return;
	}
	at[0] = (uint8_t)(0x20 | (request->flags & HS_INT_FLAG_D ? 8 : 0) | (full ? 2 : 0));
	at[1] = 0;
}

static void write_domain(const struct hs_int_request *request, uint8_t *at)
{
	hs_be16_store(at + HEAD_BITMAP, request->bitmap);
	hs_be16_store(at + HEAD_DOMAIN, request->domain_id);
	hs_be16_store(at + HEAD_DS, request->ds_instruction);
	hs_be16_store(at + HEAD_DS_FLAGS, request->ds_flags);
}

// Writes source-only metadata after the source's values, before the Checksum Complement.
static uint8_t *write_source(
		const struct hs_int_request *request, uint8_t *at, bool before_complement)
{
	size_t bytes = 4u * request->source_words;

	if (before_complement) {
		memmove(at - 4 + bytes, at - 4, 4);
		memcpy(at - 4, request->source, bytes);
	} else {
		memcpy(at, request->source, bytes);
	}
	return at + bytes;
}

uint8_t *hs_int_write_head(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *at, const struct hs_int_values *own)
{
	unsigned words = hs_int_request_words(settings, request);
	uint8_t *head = at;

	at += hs_int_head_bytes(settings->version);
	if (settings->mode == HS_INT_MX) {
		hs_be32_store(head, 0x20000000u | (request->flags & HS_INT_FLAG_D ? 8u << 24 : 0));
		write_domain(request, head);
		return write_source(request, at, false);
	}
	if (hs_int_counts_hops(settings->version)) {
		write_counting_head(settings, request, head, words, own);
	} else {
		write_remaining_head(settings, request, head, words, own);
	}
	if (own) {
		at = hs_int_write_hop(settings->version, request->bitmap, words, at, own);
		if (settings->version == HS_INT_2016_06 && words)
			at[-4] |= 0x80; // the stack's bottom
	}
	if (settings->version != HS_INT_2_1)
		return at;
	write_domain(request, head);
	return own ? write_source(request, at, request->bitmap & 1) : at;
}

static unsigned type_of(const struct hs_int_settings *settings)
{
	return settings->mode == HS_INT_MX ? HS_INT_TYPE_MX : HS_INT_TYPE_MD;
}

void hs_int_write_shim(const struct hs_int_settings *settings, uint8_t *shim, size_t bytes,
		unsigned low_nibble, uint16_t last)
{
	if (settings->version == HS_INT_2_1) {
		shim[0] = (uint8_t)(type_of(settings) << 4 | low_nibble);
		shim[1] = (uint8_t)(bytes / 4);
		hs_be16_store(shim + 2, last);
		return;
	}
	shim[0] = HS_INT_TYPE_MD;
	shim[1] = (uint8_t)low_nibble;
	shim[2] = (uint8_t)(bytes / 4 + 1);
	shim[3] = (uint8_t)last;
}
