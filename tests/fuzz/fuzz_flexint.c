// SPDX-License-Identifier: BSD-3-Clause
// For any frame that nodes would change: strip removes everything that they insert. The first eight
// bytes of the input choose what is inserted.
#include "fuzz.h"

#include "flexint.h"
#include "packet.h"

#include <string.h>

struct frame {
	uint8_t *bytes;
	size_t len;
};

struct choice {
	uint8_t e2e; // upper bits of each half of the trace type
	uint8_t hop;
	uint8_t n_hops;
	uint8_t hop_masks[2];
	uint8_t option;
	uint8_t option_len;
	uint8_t flags; // 1 aligned, 2 source, 4 option before the hops, 8 option behind them, 16 a
		       // block that is removed again
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

static void parse(const struct frame *frame, struct hs_packet *packet)
{
	hs_flexint_parse(frame->bytes, frame->len, frame->len, packet);
}

static void strip(struct frame *frame)
{
	struct hs_packet packet;
	parse(frame, &packet);
	size_t taken = hs_flexint_strip(frame->bytes, &packet);
	HOLDS(taken == packet.telemetry_bytes);
	struct frame rest = frame_of(frame->bytes + taken, frame->len - taken);
	free(frame->bytes);
	*frame = rest;
}

static bool has_option(const struct frame *frame, const struct hs_packet *packet, uint8_t type)
{
	const uint8_t *data;
	size_t len;
	size_t cursor = 0;
	return hs_flexint_option_next(frame->bytes, packet, type, &cursor, &data, &len);
}

static void add_source(struct frame *frame, const struct choice *choice)
{
	struct hs_packet packet;
	enum hs_flexint_layout layout = choice->flags & 1 ? HS_LAYOUT_ALIGNED : HS_LAYOUT_PAPER;
	uint32_t trace_type = (uint32_t)choice->e2e << 24 | (uint32_t)choice->hop << 8;
	struct hs_e2e e2e = {.bitmap = (uint16_t)(trace_type >> 16) & HS_E2E_KNOWN,
			.ts_ns = 0x0102030405060708,
			.tx_packets = 0x11121314,
			.tx_bytes = 0x21222324};
	parse(frame, &packet);
	size_t growth = hs_flexint_source_growth(&packet, trace_type, layout);
	if (!growth)
		return;
	bool alone = !has_option(frame, &packet, HS_OPT_TRACE) &&
		     !has_option(frame, &packet, HS_OPT_E2E);
	grow(frame, growth);
	hs_flexint_source_insert(frame->bytes, &packet, growth, 7, trace_type, layout, &e2e);
	struct hs_packet after;
	parse(frame, &after);
	HOLDS(!!(after.flags & HS_PACKET_TELEMETRY) == alone);
}

static bool decode(
		const struct frame *frame, const struct hs_packet *packet, struct hs_decoded *out)
{
	const uint8_t *trace = frame->bytes + packet->trace_off;
	const uint8_t *e2e = frame->bytes + packet->e2e_off;
	return packet->flags & HS_PACKET_TELEMETRY &&
	       !hs_flexint_decode(trace + 2, trace[1], e2e + 2, e2e[1], out);
}

static bool add_hop(struct frame *frame, uint16_t bitmap, uint16_t node_id)
{
	static struct hs_decoded before;
	static struct hs_decoded after;
	struct hs_packet packet;
	const struct hs_hop hop = {.node_id = node_id,
			.bitmap = bitmap,
			.tx_packets = 0x3132,
			.rx_packets = 0x4142,
			.ts_ns = 0x5152535455565758,
			.tx_bytes = 0x61626364,
			.rx_bytes = 0x71727374};
	parse(frame, &packet);
	int growth = hs_flexint_hop_growth(frame->bytes, &packet, bitmap);
	if (growth < 0)
		return false;
	HOLDS(growth % 8 == 0);
	bool was_readable = decode(frame, &packet, &before);
	grow(frame, (size_t)growth);
	hs_flexint_hop_insert(frame->bytes, &packet, (size_t)growth, &hop);
	struct hs_packet now;
	parse(frame, &now);
	// Padding is laid anew: whether telemetry is plain may change.
	HOLDS(!((now.flags ^ packet.flags) & ~HS_PACKET_PLAIN));
	HOLDS(now.hbh_bytes == packet.hbh_bytes + growth);
	HOLDS(decode(frame, &now, &after) == was_readable);
	if (was_readable) {
		HOLDS(after.n_hops == before.n_hops + 1);
		HOLDS(after.hops[0].node_id == node_id);
		HOLDS(after.hops[0].bitmap == (bitmap & HS_HOP_KNOWN));
		HOLDS(!memcmp(&after.hops[1], before.hops, before.n_hops * sizeof(hop)));
		HOLDS(!memcmp(&after.e2e, &before.e2e, sizeof(before.e2e)));
	}
	return true;
}

static void add_option(struct frame *frame, const struct choice *choice)
{
	uint8_t option[2 + 255], *data = option + 2;
	struct hs_packet packet;
	memset(option, HS_OPT_TRACE, sizeof(option)); // looks like options, but is data
	uint8_t type = choice->option & 1 ? HS_OPT_REQUEST : HS_OPT_REPORT;
	option[0] = type;
	option[1] = choice->option_len;
	size_t bytes = choice->option_len ? 2u + choice->option_len : 0;
	parse(frame, &packet);
	size_t growth = hs_flexint_block_growth(&packet, bytes);
	if (!growth)
		return;
	grow(frame, growth);
	hs_flexint_block_insert(frame->bytes, &packet, growth, option, bytes);
	struct hs_packet after;
	parse(frame, &after);
	const uint8_t *found = NULL;
	size_t len = 0;
	size_t cursor = 0;
	while (hs_flexint_option_next(frame->bytes, &after, type, &cursor, &found, &len))
		continue;
	HOLDS(len == choice->option_len && !memcmp(found, data, len));
}

// A block of options behind everything else is removed without a trace.
static void add_and_take_block(struct frame *frame, const struct choice *choice)
{
	uint8_t type = choice->option & 1 ? HS_OPT_REQUEST : HS_OPT_REPORT;
	uint8_t block[2040];
	size_t bytes = 0;
	struct hs_packet packet;
	parse(frame, &packet);
	if (has_option(frame, &packet, type))
		return;
	for (size_t i = 0; i < 1u + (choice->option & 7); i++) {
		block[bytes] = type;
		block[bytes + 1] = choice->option_len & 0xfc;
		memset(block + bytes + 2, type, choice->option_len & 0xfc);
		bytes += 2u + (choice->option_len & 0xfc);
		if (bytes > sizeof(block) - 257)
			break;
	}
	size_t growth = hs_flexint_block_growth(&packet, bytes);
	if (!growth)
		return;
	struct frame before = frame_of(frame->bytes, frame->len);
	grow(frame, growth);
	hs_flexint_block_insert(frame->bytes, &packet, growth, block, bytes);
	parse(frame, &packet);
	HOLDS(has_option(frame, &packet, type) && !(packet.flags & HS_PACKET_MALFORMED));
	HOLDS(hs_flexint_take_type(frame->bytes, &packet, type) == growth);
	memmove(frame->bytes, frame->bytes + growth, before.len);
	frame->len = before.len;
	HOLDS(!memcmp(frame->bytes, before.bytes, before.len));
	free(before.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choice choice;
	if (size < sizeof(choice))
		return 0;
	memcpy(&choice, data, sizeof(choice));
	struct frame frame = frame_of(data + sizeof(choice), size - sizeof(choice));
	struct frame bare = frame_of(frame.bytes, frame.len);
	strip(&bare);

	struct hs_packet packet;
	parse(&frame, &packet);
	// A chain with one header too many may become well-formed by losing one. Nodes leave it
	// unchanged.
	if (!(packet.flags & HS_PACKET_MALFORMED)) {
		if (choice.flags & 2)
			add_source(&frame, &choice);
		if (choice.flags & 4)
			add_option(&frame, &choice);
		for (uint16_t i = 0; i < (choice.n_hops & 63); i++) {
			uint16_t bitmap = (uint16_t)(choice.hop_masks[i & 1] << 8 | 0x1f);
			if (!add_hop(&frame, bitmap, i))
				break;
		}
		if (choice.flags & 8)
			add_option(&frame, &choice);
		if (choice.flags & 16)
			add_and_take_block(&frame, &choice);
		strip(&frame);
		HOLDS(frame.len == bare.len && !memcmp(frame.bytes, bare.bytes, bare.len));
	}
	free(frame.bytes);
	free(bare.bytes);
	return 0;
}
