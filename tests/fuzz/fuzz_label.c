// SPDX-License-Identifier: BSD-3-Clause
// Any frame: parsed within its bytes; what a node adds, strip takes out; an item more changes
// nothing of the packet before; its export can be read. Any bytes as an export and as a frame of
// the prototype. The first bytes of the input choose MAX_hop, a specific flow, and a segment's end.
#include "fuzz.h"

#include "label_export.h"

#include <string.h>

struct frame {
	uint8_t *bytes;
	size_t len;
};

struct choice {
	uint8_t max_hops;
	uint8_t specific;
	uint8_t cut;
};

static const struct hs_label_item item = {
		.node_id = 0x1234, .ingress_us = 5, .egress_us = 6, .queue_us = 1};

static struct frame frame_of(const uint8_t *bytes, size_t len, size_t front)
{
	struct frame frame = {malloc(front + len + !(front + len)), front + len};

	HOLDS(frame.bytes);
	memset(frame.bytes, 0xa5, front);
	if (len)
		memcpy(frame.bytes + front, bytes, len);
	return frame;
}

static void parse(const struct hs_label_settings *settings, const struct frame *frame,
		struct hs_packet *packet)
{
	hs_label_parse(settings, frame->bytes, frame->len, frame->len, packet);
	HOLDS(!(packet->flags & HS_PACKET_SHORT));
	bool well = packet->flags & HS_PACKET_TELEMETRY;
	HOLDS(packet->flags & HS_PACKET_ANY_TELEMETRY || !well);
	HOLDS(!packet->telemetry_bytes == !well && !packet->trace_off == !well);
	HOLDS(!(packet->flags & HS_PACKET_FLOW) || packet->l4_off + 4u <= frame->len);
	HOLDS(!well || packet->telemetry_bytes + packet->l3_off <= frame->len);
}

static void a_segment_tells_the_same(const struct hs_label_settings *settings,
		const struct frame *frame, size_t cut, const struct hs_packet *whole)
{
	struct frame segment = frame_of(frame->bytes, cut < frame->len ? cut : frame->len, 0);
	struct hs_packet packet;

	hs_label_parse(settings, segment.bytes, segment.len, frame->len, &packet);
	if (packet.flags & HS_PACKET_SHORT)
		HOLDS(!(packet.flags & HS_PACKET_TELEMETRY));
	else
		HOLDS(!memcmp(&packet, whole, sizeof(packet)));
	free(segment.bytes);
}

static struct frame stripped(const struct hs_label_settings *settings, const struct frame *frame)
{
	struct frame copy = frame_of(frame->bytes, frame->len, 0);
	struct hs_packet packet;

	parse(settings, &copy, &packet);
	size_t taken = hs_label_strip(copy.bytes, &packet);
	HOLDS(taken == packet.telemetry_bytes);
	struct frame rest = frame_of(copy.bytes + taken, copy.len - taken, 0);
	free(copy.bytes);
	return rest;
}

static void an_export_is_read_back(const struct hs_label_settings *settings,
		const struct frame *frame, const struct hs_packet *packet)
{
	struct hs_label_export export, back;

	hs_label_export_of(settings, frame->bytes, packet, &export);
	struct frame payload = frame_of(NULL, 0, hs_label_export_bytes(&export));
	hs_label_export_write(&export, payload.bytes);
	HOLDS(!hs_label_export_read(payload.bytes, payload.len, &back));
	HOLDS(back.n_items == export.n_items && back.specific == export.specific);
	HOLDS(!memcmp(back.items, export.items, (size_t)HS_LABEL_ITEM_BYTES * back.n_items));
	free(payload.bytes);
}

static void takes_an_item(const struct hs_label_settings *settings, const struct frame *frame,
		const struct hs_packet *packet, bool specific)
{
	int growth = hs_label_growth(settings, frame->bytes, packet);
	struct hs_packet grown;

	if (growth < 0)
		return;
	struct frame copy = frame_of(frame->bytes, frame->len, (size_t)growth);
	hs_label_item_write(&item,
			hs_label_insert(settings, copy.bytes, packet, (size_t)growth, specific));
	parse(settings, &copy, &grown);
	HOLDS(grown.flags & HS_PACKET_TELEMETRY);
	struct hs_label_stack stack = hs_label_stack_of(settings, copy.bytes, &grown);
	struct hs_label_item newest;
	hs_label_item_read(stack.items, &newest);
	HOLDS(!memcmp(&newest, &item, sizeof(item)));
	struct frame before = stripped(settings, frame), after = stripped(settings, &copy);
	HOLDS(before.len == after.len && !memcmp(before.bytes, after.bytes, before.len));
	free(before.bytes);
	free(after.bytes);
	free(copy.bytes);
}

static void reads_any_bytes(const uint8_t *data, size_t size)
{
	struct hs_label_export export;
	struct hs_label_stack stack;

	if (!hs_label_export_read(data, size, &export))
		HOLDS(hs_label_export_bytes(&export) == size);
	if (!hs_label_prototype_open(data, size, &stack))
		HOLDS(stack.items + (size_t)HS_LABEL_ITEM_BYTES * stack.n_items <= data + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choice choice;
	struct hs_packet packet;

	if (size < sizeof(choice) || size > 4096)
		return 0;
	memcpy(&choice, data, sizeof(choice));
	struct hs_label_settings settings = {
			HS_LABEL_IP_PROTOCOL, choice.max_hops ? choice.max_hops : 1};
	struct frame frame = frame_of(data + sizeof(choice), size - sizeof(choice), 0);
	reads_any_bytes(frame.bytes, frame.len);
	parse(&settings, &frame, &packet);
	a_segment_tells_the_same(&settings, &frame, choice.cut, &packet);
	if (packet.flags & HS_PACKET_TELEMETRY)
		an_export_is_read_back(&settings, &frame, &packet);
	takes_an_item(&settings, &frame, &packet,
			choice.specific & 1 && settings.max_hops <= HS_LABEL_SPECIFIC_HOPS);
	free(frame.bytes);
	return 0;
}
