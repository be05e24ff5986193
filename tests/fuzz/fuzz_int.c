// SPDX-License-Identifier: BSD-3-Clause
// Any frame under any profile of INT: parsed within its bytes; what a source puts in, strip takes
// out; what a transit adds changes nothing of the packet before; the inlined codec does what the
// general one does. The first bytes of the input choose the profile and what is asked for.
#include "fuzz.h"

#include "int_fast.h"

#include <string.h>

struct frame {
	uint8_t *bytes;
	size_t len;
};

struct choice {
	uint8_t profile;   // version, carrier, mark, mode: two bits each
	uint8_t bitmap[2]; // of a source's request
	uint8_t domain;	   // words of domain-specific instructions, and of the source's
	uint8_t flags;	   // 1 own values, 2 no reserved instructions, 4 few hops
	uint8_t n_hops;
	uint8_t cut; // where the first segment ends
};

static struct frame frame_of(const uint8_t *bytes, size_t len)
{
	struct frame frame = {.bytes = malloc(len ? len : 1), .len = len};
	HOLDS(frame.bytes);
	if (len)
		memcpy(frame.bytes, bytes, len);
	return frame;
}

static void grow(struct frame *frame, size_t growth)
{
	uint8_t *bytes = malloc(frame->len + growth);
	HOLDS(bytes);
	memset(bytes, 0xa5, growth);
	memcpy(bytes + growth, frame->bytes, frame->len);
	free(frame->bytes);
	frame->bytes = bytes;
	frame->len += growth;
}

static bool is_same(const struct frame *a, const struct frame *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static bool choose(const struct choice *choice, struct hs_int_settings *settings)
{
	const char *allowed;
	uint8_t profile = choice->profile;

	hs_int_settings_init(settings, (enum hs_int_version)(profile & 3),
			(enum hs_int_carrier)(profile >> 2 & 3));
	settings->mark = profile >> 4 & 3;
	settings->mode = profile >> 6 & 1;
	settings->udp_port = 5000;
	settings->probe_marker = 0xaaaabbbbccccdddd;
	settings->gre_adds_tunnel = profile & 0x10;
	settings->gre_ipv6 = profile & 0x20;
	settings->gre_src[0] = settings->gre_dst[0] = 0x20;
	settings->max_hops = choice->flags & 4 ? 2 : 9;
	settings->fill_reserved &= !(choice->flags & 2);
	settings->domain_id = 7;
	settings->ds_source_words[0] = choice->domain >> 4 & 3;
	return !hs_int_settings_wrong(settings, &allowed);
}

// Parses as a worker does: other profiles have no fast parser.
static bool parse_fast(const struct hs_int_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	if (hs_int_fast_is(settings))
		return hs_int_parse_fast_md(settings, frame, len, frame_len, packet);
	return hs_int_fast_is_mx(settings) &&
	       hs_int_parse_fast_mx(settings, frame, len, frame_len, packet);
}

static void parse(const struct hs_int_settings *settings, const struct frame *frame,
		struct hs_packet *packet)
{
	struct hs_packet fast;

	hs_int_parse(settings, frame->bytes, frame->len, frame->len, packet);
	HOLDS(!(packet->flags & HS_PACKET_SHORT));
	if (parse_fast(settings, frame->bytes, frame->len, frame->len, &fast))
		HOLDS(!memcmp(&fast, packet, sizeof(fast)));
}

static void within_the_frame(const struct frame *frame, const struct hs_packet *packet)
{
	bool any = packet->flags & HS_PACKET_ANY_TELEMETRY;
	bool well = packet->flags & HS_PACKET_TELEMETRY;

	HOLDS(any || !well);
	HOLDS(!packet->telemetry_bytes == !well && !packet->e2e_off == !well);
	HOLDS(!(packet->flags & HS_PACKET_FLOW) || packet->l4_off + 4u <= frame->len);
	if (!well)
		return;
	HOLDS(packet->telemetry_bytes <= packet->l3_bytes);
	HOLDS(packet->e2e_off + 4u <= frame->len);
	HOLDS(packet->trace_off + 8u + 4 * (packet->trace_type & 0xff) <= frame->len);
}

static void a_segment_tells_the_same(const struct hs_int_settings *settings,
		const struct frame *frame, size_t cut, const struct hs_packet *whole)
{
	struct frame segment = frame_of(frame->bytes, cut < frame->len ? cut : frame->len);
	struct hs_packet packet, fast;

	hs_int_parse(settings, segment.bytes, segment.len, frame->len, &packet);
	HOLDS(packet.flags & HS_PACKET_SHORT || !memcmp(&packet, whole, sizeof(packet)));
	HOLDS(!(packet.flags & HS_PACKET_SHORT) || !(packet.flags & HS_PACKET_FLOW));
	if (parse_fast(settings, segment.bytes, segment.len, frame->len, &fast))
		HOLDS(!memcmp(&fast, &packet, sizeof(fast)));
	free(segment.bytes);
}

static struct frame stripped(const struct hs_int_settings *settings, const struct frame *frame)
{
	struct frame copy = frame_of(frame->bytes, frame->len);
	struct frame fast = frame_of(frame->bytes, frame->len);
	struct hs_packet packet, after;

	parse(settings, &copy, &packet);
	size_t taken = hs_int_strip(settings, copy.bytes, &packet);
	HOLDS(taken == packet.telemetry_bytes);
	struct frame rest = frame_of(copy.bytes + taken, copy.len - taken);
	if (hs_int_fast_is(settings) && hs_int_fast_may_strip(settings, fast.bytes, &packet)) {
		HOLDS(hs_int_fast_strip(fast.bytes, &packet) == taken);
		HOLDS(!memcmp(fast.bytes + taken, rest.bytes, rest.len));
		parse(settings, &rest, &after);
		HOLDS(!memcmp(&packet, &after, sizeof(after)));
	}
	free(copy.bytes);
	free(fast.bytes);
	return rest;
}

static const struct hs_int_values all_values = {.has = 0x3fff,
		.node_id = 0x01020304,
		.ingress_port = 7,
		.egress_port = UINT32_MAX,
		.queue_packets = UINT32_MAX,
		.hop_latency_ns = UINT64_MAX,
		.ingress_ns = UINT64_MAX,
		.egress_ns = 0x1112131415161718};

static void decode(const struct hs_int_settings *settings, const struct frame *frame,
		const struct hs_packet *packet)
{
	size_t head = settings->version == HS_INT_2_1 ? 12 : 8;
	bool is_mx = packet->trace_type & 0x8000;
	size_t len = head + 4 * (packet->trace_type & 0xff);
	struct frame copy;
	struct hs_int_stack stack;
	struct hs_int_values values;
	struct hs_decoded told;

	if (!packet->trace_off)
		return;
	copy = frame_of(frame->bytes + packet->trace_off, len);
	if (!hs_int_stack_open(settings, is_mx ? HS_INT_TYPE_MX : HS_INT_TYPE_MD, copy.bytes, len,
			    &stack)) {
		size_t words = (size_t)stack.hop_words * stack.n_hops + stack.source_words;
		HOLDS(words == (packet->trace_type & 0xff));
		for (size_t i = 0; i < stack.n_hops; i++)
			hs_int_stack_hop(&stack, i, &values);
	}
	if (!is_mx && !hs_int_decode(settings, copy.bytes, len, &told))
		HOLDS(told.n_hops <= HS_TELEMETRY_MAX_HOPS);
	free(copy.bytes);
}

// Adds one hop by both codecs. False where none may be added.
static bool add_hop(const struct hs_int_settings *settings, struct frame *frame)
{
	struct frame fast = frame_of(frame->bytes, frame->len);
	struct hs_packet packet, now;
	struct hs_int_fast_block block;

	parse(settings, frame, &packet);
	hs_int_fast_block_make(&block, (uint16_t)(packet.trace_type >> 16), &all_values);
	bool may_add = hs_int_fast_is(settings) && packet.l3_bytes + block.n <= UINT16_MAX &&
		       hs_int_fast_may_add(frame->bytes, &packet, &block);
	int growth = hs_int_transit_growth(settings, frame->bytes, &packet);
	HOLDS(growth != 0 && growth % 4 * (growth > 0) == 0);
	HOLDS(!may_add || block.n == (size_t)growth);
	if (growth > 0) {
		grow(frame, (size_t)growth);
		hs_int_transit_insert(settings, frame->bytes, &packet, (size_t)growth, &all_values);
		parse(settings, frame, &now);
		HOLDS(now.flags == packet.flags && now.l4_proto == packet.l4_proto);
		HOLDS(now.src_port == packet.src_port && now.dst_port == packet.dst_port);
		HOLDS(now.telemetry_bytes == packet.telemetry_bytes + growth);
		HOLDS(hs_packet_counted_bytes(&now) == hs_packet_counted_bytes(&packet));
	} else if (packet.flags & HS_PACKET_TELEMETRY) {
		hs_int_transit_refuse(settings, frame->bytes, &packet, growth);
		hs_int_transit_refuse(settings, frame->bytes, &packet, HS_INT_MTU);
		parse(settings, frame, &now);
		HOLDS(!memcmp(&now, &packet, sizeof(now)));
	}
	if (may_add) {
		grow(&fast, block.n);
		hs_int_fast_transit_insert(fast.bytes, &packet, &block);
		HOLDS(is_same(&fast, frame));
	}
	free(fast.bytes);
	return growth > 0;
}

static void passes_transit(
		const struct hs_int_settings *settings, const struct frame *frame, unsigned n_hops)
{
	struct frame copy = frame_of(frame->bytes, frame->len);
	struct frame before = stripped(settings, frame);

	while (n_hops-- && add_hop(settings, &copy))
		continue;
	struct frame after = stripped(settings, &copy);
	HOLDS(is_same(&before, &after));
	free(copy.bytes);
	free(before.bytes);
	free(after.bytes);
}

static void starts(const struct hs_int_settings *settings, const struct choice *choice,
		const struct frame *host)
{
	struct hs_int_request request = {
			.bitmap = (uint16_t)(choice->bitmap[0] << 8 | choice->bitmap[1]),
			.domain_id = choice->domain ? 7 : 0,
			.ds_instruction = choice->domain ? 0x8000 : 0,
			.ds_hop_words = choice->domain & 3,
			.source_words = choice->domain >> 4 & 3,
			.source = "source"};
	bool own = choice->flags & 1;
	struct frame frame = frame_of(host->bytes, host->len);
	struct hs_packet packet, now;

	parse(settings, host, &packet);
	int growth = hs_int_source_growth(settings, &request, host->bytes, &packet, own);
	if (growth > 0) {
		grow(&frame, (size_t)growth);
		hs_int_source_insert(settings, &request, frame.bytes, &packet, (size_t)growth,
				own ? &all_values : NULL);
		parse(settings, &frame, &now);
		HOLDS(now.flags & HS_PACKET_TELEMETRY && now.telemetry_bytes == growth);
		decode(settings, &frame, &now);
		passes_transit(settings, &frame, choice->n_hops & 15);
		struct frame rest = stripped(settings, &frame);
		HOLDS(is_same(&rest, host));
		free(rest.bytes);
	}
	size_t fast_growth = hs_int_fast_request_growth(settings, &request);
	if (hs_int_fast_is(settings) && own && fast_growth &&
			packet.l3_bytes + fast_growth <= UINT16_MAX &&
			hs_int_fast_may_start(host->bytes, &packet)) {
		HOLDS(fast_growth == (size_t)growth);
		struct frame fast = frame_of(host->bytes, host->len);
		grow(&fast, fast_growth);
		struct hs_int_fast_block block;
		hs_int_fast_block_make(&block, request.bitmap, &all_values);
		hs_int_fast_source_insert(
				settings, &request, fast.bytes, &packet, fast_growth, &block);
		HOLDS(is_same(&fast, &frame));
		free(fast.bytes);
	}
	free(frame.bytes);
}

static void clears_the_mark(const struct hs_int_settings *settings, struct frame *frame)
{
	struct hs_packet packet, now;

	parse(settings, frame, &packet);
	if (!hs_int_clear_mark(settings, frame->bytes, &packet))
		return;
	parse(settings, frame, &now);
	HOLDS(packet.flags & HS_PACKET_ANY_TELEMETRY && !(now.flags & HS_PACKET_ANY_TELEMETRY));
	HOLDS(now.l3_bytes == packet.l3_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_int_settings settings;
	struct choice choice;
	struct hs_packet packet;

	if (size < sizeof(choice))
		return 0;
	memcpy(&choice, data, sizeof(choice));
	if (!choose(&choice, &settings))
		return 0;
	struct frame frame = frame_of(data + sizeof(choice), size - sizeof(choice));
	parse(&settings, &frame, &packet);
	within_the_frame(&frame, &packet);
	a_segment_tells_the_same(&settings, &frame, choice.cut, &packet);
	if (packet.flags & HS_PACKET_TELEMETRY) {
		decode(&settings, &frame, &packet);
		passes_transit(&settings, &frame, choice.n_hops & 15);
		struct frame rest = stripped(&settings, &frame);
		HOLDS(rest.len + packet.telemetry_bytes == frame.len);
		free(rest.bytes);
	} else {
		HOLDS(hs_int_strip(&settings, frame.bytes, &packet) == 0);
		starts(&settings, &choice, &frame);
	}
	if (packet.l3_off)
		clears_the_mark(&settings, &frame);
	free(frame.bytes);
	return 0;
}
