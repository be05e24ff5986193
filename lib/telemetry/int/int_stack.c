// SPDX-License-Identifier: BSD-3-Clause
// The INT header and its stack, in any carrier.
#include "int_wire.h"

#include "int_values_wire.h"

#include <errno.h>

// ---- form ----

static bool is_version(unsigned version, const uint8_t *head)
{
	static const uint8_t masks[] = {0xc0, 0xf0, 0xf0, 0xf0};
	static const uint8_t values[] = {0, 0, 0x10, 0x20};

	return (head[0] & masks[version]) == values[version];
}

// Returns whether `words` of stack are whole hops, as far as the header shows.
static bool are_whole_hops(unsigned version, const uint8_t *head, size_t words)
{
	unsigned hop = hs_int_stated_words(version, head);

	if (hs_int_counts_hops(version)) {
		unsigned bits = (unsigned)__builtin_popcount(hs_be16_load(head + HEAD_BITMAP));
		return hop == bits && head[3] <= head[2] && words == (size_t)hop * head[3];
	}
	// Source-only metadata may have any length.
	if (version == HS_INT_2_1 && hs_be16_load(head + HEAD_DOMAIN) &&
			hs_be16_load(head + HEAD_DS))
		return true;
	return hop ? words % hop == 0 : words == 0;
}

bool hs_int_is_well_formed(unsigned version, unsigned type, const uint8_t *head, size_t bytes)
{
	size_t fixed = hs_int_head_bytes(version);

	if (type == HS_INT_TYPE_DESTINATION && !hs_int_counts_hops(version))
		return true; // has no format
	if (type == HS_INT_TYPE_MX && version == HS_INT_2_1)
		return bytes >= fixed && is_version(version, head);
	if (type != HS_INT_TYPE_MD && type != HS_INT_TYPE_DESTINATION)
		return false;
	return bytes >= fixed && is_version(version, head) &&
	       are_whole_hops(version, head, (bytes - fixed) / 4);
}

// Returns whether a hop has the length of its instructions, plus any words of a domain.
static bool has_hops_of_its_bitmap(unsigned version, const uint8_t *head)
{
	unsigned stated = hs_int_stated_words(version, head);
	unsigned words = hs_int_hop_words(version, hs_be16_load(head + HEAD_BITMAP));

	if (version == HS_INT_2_1 && hs_be16_load(head + HEAD_DOMAIN))
		return stated >= words;
	return stated == words && (version != HS_INT_2_1 || !hs_be16_load(head + HEAD_DS));
}

bool hs_int_is_plain(unsigned version, unsigned type, const uint8_t *head)
{
	// Reserved bits of the first four bytes, by version. In 2.1, bytes 6 and 7 are the domain
	// id.
	static const uint32_t reserved[] = {0x03e00000, 0x00e00000, 0x007fe000, 0x01ffe000};
	bool is_mx = type == HS_INT_TYPE_MX;

	if (hs_be32_load(head) & (is_mx ? 0x07ffffff : reserved[version]))
		return false;
	if (version != HS_INT_2_1 && hs_be16_load(head + 6))
		return false;
	return is_mx || has_hops_of_its_bitmap(version, head);
}

// ---- decoding ----

static uint8_t flags_of(unsigned version, const uint8_t *head)
{
	static const uint16_t c[] = {0x0800, 0x0200, 0x0200, 0}, d[] = {0, 0, 0, 0x0800};
	uint16_t bits = hs_be16_load(head);

	return (uint8_t)((bits & c[version] ? HS_INT_FLAG_C : 0) |
			 (bits & d[version] ? HS_INT_FLAG_D : 0) |
			 (bits & hs_int_bit_e[version] ? HS_INT_FLAG_E : 0) |
			 (bits & hs_int_bit_m[version] ? HS_INT_FLAG_M : 0));
}

// Returns the words of source-only metadata: the domain's words for the instructions, else the
// words that are no whole hop.
static size_t source_words_of(const struct hs_int_settings *settings, const uint8_t *head,
		size_t words, size_t hop)
{
	size_t n = 0;

	if (settings->version != HS_INT_2_1 || !hs_be16_load(head + HEAD_DOMAIN))
		return 0;
	uint16_t ds = hs_be16_load(head + HEAD_DS);
	if (hs_be16_load(head + HEAD_DOMAIN) == settings->domain_id) {
		for (size_t bit = 0; bit < 16; bit++)
			n += ds & 0x8000 >> bit ? settings->ds_source_words[bit] : 0;
	}
	return n ? n : hop ? words % hop : words;
}

static void open_remaining(const struct hs_int_settings *settings, const uint8_t *head,
		size_t words, struct hs_int_stack *out)
{
	size_t source = source_words_of(settings, head, words, out->hop_words);
	bool complement = out->bitmap & 1;

	out->source_words = (uint8_t)source;
	out->max_hops = head[3];
	if (source <= words && out->hop_words)
		out->n_hops = (uint8_t)((words - source) / out->hop_words);
	out->source = out->hops + 4u * out->hop_words * out->n_hops;
	if (source && complement && out->n_hops)
		out->source -= 4;
}

static int open_md(const struct hs_int_settings *settings, const uint8_t *head, size_t words,
		struct hs_int_stack *out)
{
	unsigned version = settings->version;

	out->hop_words = (uint8_t)hs_int_stated_words(version, head);
	if (hs_int_counts_hops(version)) {
		out->max_hops = head[2];
		out->n_hops = head[3];
		out->replication = head[0] >> (version == HS_INT_2016_06 ? 4 : 2) & 3;
		return 0;
	}
	if (version == HS_INT_1_0)
		out->replication = head[0] >> 2 & 3;
	open_remaining(settings, head, words, out);
	size_t told = (size_t)out->hop_words * out->n_hops + out->source_words;
	return told == words ? 0 : -EBADMSG;
}

int hs_int_stack_open(const struct hs_int_settings *settings, enum hs_int_type type,
		const uint8_t *header, size_t len, struct hs_int_stack *out)
{
	unsigned version = settings->version;
	size_t fixed = hs_int_head_bytes(version);

	if (len < fixed || len % 4 || len > fixed + 4 * MAX_SHIM_WORDS ||
			!hs_int_is_well_formed(version, type, header, len) ||
			(type == HS_INT_TYPE_DESTINATION && !hs_int_counts_hops(version)))
		return -EBADMSG;
	*out = (struct hs_int_stack){.version = (uint8_t)version,
			.type = (uint8_t)type,
			.flags = flags_of(version, header),
			.bitmap = hs_be16_load(header + HEAD_BITMAP),
			.hops = header + fixed};
	if (version == HS_INT_2_1) {
		out->domain_id = hs_be16_load(header + HEAD_DOMAIN);
		out->ds_instruction = hs_be16_load(header + HEAD_DS);
		out->ds_flags = hs_be16_load(header + HEAD_DS_FLAGS);
	}
	size_t words = (len - fixed) / 4;
	if (type != HS_INT_TYPE_MX)
		return open_md(settings, header, words, out);
	out->flags &= HS_INT_FLAG_D;
	out->source_words = (uint8_t)words;
	out->source = out->hops;
	return 0;
}

// Decodes the values of one hop, in `len` bytes. Returns 0, or -EBADMSG: the bitmap's values are
// longer.
static int decode_hop(enum hs_int_version version, uint16_t bitmap, const uint8_t *bytes,
		size_t len, struct hs_int_values *out)
{
	bool complement = bitmap & hs_int_known(version) & 1;
	uint16_t front = bitmap & (uint16_t) ~(complement ? 1 : 0);

	*out = (struct hs_int_values){0};
	if (4u * hs_int_hop_words(version, bitmap) > len)
		return -EBADMSG;
	switch (version) {
	case HS_INT_2016_06:
		hs_int_get_values(HS_INT_2016_06, front, bytes, out);
		break;
	case HS_INT_0_5:
		hs_int_get_values(HS_INT_0_5, front, bytes, out);
		break;
	case HS_INT_1_0:
		hs_int_get_values(HS_INT_1_0, front, bytes, out);
		break;
	default:
		hs_int_get_values(HS_INT_2_1, front, bytes, out);
		break;
	}
	if (complement)
		hs_int_get_values(version, 1, bytes + len - 4, out);
	return 0;
}

// Returns whether the bottom bit is set in the last value of the last hop, and in no other value.
static bool has_its_bottom(const uint8_t *bytes, size_t words, bool last)
{
	for (size_t i = 0; i < words; i++) {
		if (bytes[4 * i] >> 7 != (last && i == words - 1))
			return false;
	}
	return true;
}

int hs_int_stack_hop(const struct hs_int_stack *stack, size_t i, struct hs_int_values *out)
{
	size_t len = 4u * stack->hop_words;
	const uint8_t *bytes = stack->hops + i * len;
	bool last = i + 1u == stack->n_hops;

	if (stack->version == HS_INT_2016_06 && !has_its_bottom(bytes, stack->hop_words, last))
		return -EBADMSG;
	if (last && stack->source_words) // source-only metadata is before the source's last word
		len += 4u * stack->source_words * (stack->bitmap & 1u);
	return decode_hop(stack->version, stack->bitmap, bytes, len, out);
}

// Returns the time of receipt, as in all families, or the time of sending if there is no other.
static uint64_t time_of(const struct hs_int_values *values)
{
	return values->has & HS_INT_HAS_INGRESS_NS ? values->ingress_ns : values->egress_ns;
}

static uint32_t id_of(const struct hs_int_values *values)
{
	return values->has & HS_INT_HAS_NODE_ID ? values->node_id : HS_NODE_UNKNOWN;
}

// Sets a latency that the node did not send, from the node's two times. They are from one clock.
static void derive_latency(enum hs_int_version version, const struct hs_int_values *values,
		struct hs_hop_local *local)
{
	const uint32_t both = HS_INT_HAS_INGRESS_NS | HS_INT_HAS_EGRESS_NS;
	unsigned bits = hs_int_time_bits(version);
	uint64_t most = bits > 32 ? UINT32_MAX : UINT32_MAX >> (33 - bits); // beyond: time ran back
	uint64_t latency = (values->egress_ns - values->ingress_ns) & UINT64_MAX >> (64 - bits);

	if (local->has & HS_LOCAL_HOP_LATENCY || (values->has & both) != both || latency > most)
		return;
	local->hop_latency_ns = (uint32_t)latency;
	local->has |= HS_LOCAL_HOP_LATENCY;
}

static struct hs_hop_local local_of(enum hs_int_version version, const struct hs_int_values *values)
{
	struct hs_hop_local local = {.ingress_port = values->ingress_port,
			.egress_port = values->egress_port,
			.hop_latency_ns = (uint32_t)values->hop_latency_ns,
			.queue_id = (uint8_t)values->queue_id,
			.queue_packets = values->queue_packets,
			.queue_congestion = values->queue_congestion,
			.link_utilisation = values->link_utilisation,
			.buffer_used = values->buffer_used};
	static const struct {
		uint32_t of;
		uint16_t has;
	} bits[] = {{HS_INT_HAS_INGRESS_PORT, HS_LOCAL_INGRESS_PORT},
			{HS_INT_HAS_EGRESS_PORT, HS_LOCAL_EGRESS_PORT},
			{HS_INT_HAS_HOP_LATENCY, HS_LOCAL_HOP_LATENCY},
			{HS_INT_HAS_QUEUE_ID, HS_LOCAL_QUEUE_ID},
			{HS_INT_HAS_QUEUE_PACKETS, HS_LOCAL_QUEUE_PACKETS},
			{HS_INT_HAS_CONGESTION, HS_LOCAL_QUEUE_CONGESTION},
			{HS_INT_HAS_UTILISATION, HS_LOCAL_LINK_UTILISATION},
			{HS_INT_HAS_BUFFER_USED, HS_LOCAL_BUFFER_USED}};

	for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		local.has |= values->has & bits[i].of ? bits[i].has : 0;
	derive_latency(version, values, &local);
	return local;
}

int hs_int_decode(const struct hs_int_settings *settings, const uint8_t *header, size_t len,
		struct hs_decoded *out)
{
	const uint32_t timed = HS_INT_HAS_EGRESS_NS | HS_INT_HAS_INGRESS_NS;
	struct hs_int_stack stack;
	struct hs_int_values values;
	int rc = hs_int_stack_open(settings, HS_INT_TYPE_MD, header, len, &stack);

	if (rc)
		return rc;
	// With M, some node's MTU was too small. This may be the source; then the bottom hop is
	// another node.
	bool has_source = !(stack.flags & HS_INT_FLAG_M);
	if (stack.n_hops > HS_TELEMETRY_MAX_HOPS + has_source)
		return -E2BIG;
	out->nodes_missing = stack.flags & (HS_INT_FLAG_E | HS_INT_FLAG_M);
	out->ns_id = (uint32_t)stack.domain_id << 16 | stack.ds_instruction;
	out->trace_type = (uint32_t)stack.bitmap << 16;
	out->e2e = (struct hs_e2e){.node_id = HS_NODE_UNKNOWN};
	out->n_hops = 0;
	for (size_t i = 0; i < stack.n_hops; i++) {
		rc = hs_int_stack_hop(&stack, i, &values);
		if (rc)
			return rc;
		out->locals[i] = local_of(settings->version, &values);
		if (has_source && i + 1u == stack.n_hops) {
			out->e2e.bitmap = values.has & timed ? HS_E2E_TIMESTAMP : 0;
			out->e2e.ts_ns = time_of(&values);
			out->e2e.node_id = id_of(&values);
			break;
		}
		out->hops[out->n_hops++] = (struct hs_hop){.node_id = id_of(&values),
				.bitmap = values.has & timed ? HS_HOP_TIMESTAMP : 0,
				.ts_ns = time_of(&values)};
	}
	if (!has_source || !stack.n_hops)
		out->locals[out->n_hops] = (struct hs_hop_local){0};
	return 0;
}
