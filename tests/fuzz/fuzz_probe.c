// SPDX-License-Identifier: BSD-3-Clause
// Any frame: parsed within its bytes; a well-formed probe takes a hop and stays one, with the hops
// that it had; its feedback and its recovery packet are well formed. The first bytes of the input
// choose how many values a node adds, and a segment's end.
#include "fuzz.h"

#include "probe.h"

#include <string.h>

static const struct hs_probe_settings settings = {
		.dscp = HS_PROBE_DSCP,
		.feedback_dscp = HS_PROBE_FEEDBACK_DSCP,
		.recovery_dscp = HS_PROBE_RECOVERY_DSCP,
		.udp_port = HS_PROBE_UDP_PORT,
};

static uint8_t *copy_of(const uint8_t *bytes, size_t len, size_t room)
{
	uint8_t *copy = calloc(1, room + !room);

	HOLDS(copy);
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

static void parse(const uint8_t *frame, size_t len, struct hs_packet *packet)
{
	hs_probe_parse(&settings, frame, len, len, packet);
	bool well = packet->flags & HS_PACKET_TELEMETRY;
	HOLDS(!(packet->flags & HS_PACKET_SHORT));
	HOLDS(!(packet->flags & HS_PACKET_HIDDEN) || !packet->l3_off); // tags, or SNAP
	HOLDS(packet->flags & HS_PACKET_ANY_TELEMETRY || !well);
	HOLDS(!packet->trace_type == !well && !packet->trace_off == !well);
	HOLDS(!packet->telemetry_bytes);
	HOLDS(!well || packet->l3_off + packet->l3_bytes <= len);
}

static void a_segment_tells_the_same(
		const uint8_t *frame, size_t len, size_t cut, const struct hs_packet *whole)
{
	size_t n = cut < len ? cut : len;
	uint8_t *segment = copy_of(frame, n, n);
	struct hs_packet packet;

	hs_probe_parse(&settings, segment, n, len, &packet);
	if (packet.flags & HS_PACKET_SHORT)
		HOLDS(!(packet.flags & HS_PACKET_TELEMETRY));
	else
		HOLDS(packet.flags == whole->flags && packet.trace_off == whole->trace_off);
	free(segment);
}

static void is_kind(const uint8_t *frame, size_t len, enum hs_probe_kind kind, uint16_t id)
{
	struct hs_packet packet;

	parse(frame, len, &packet);
	HOLDS(packet.trace_type == kind && hs_probe_id(frame, &packet) == id);
}

static void is_answered(const uint8_t *frame, const struct hs_packet *packet)
{
	size_t len = hs_probe_feedback_bytes(packet);
	uint8_t *feedback = copy_of(NULL, 0, len);

	HOLDS(hs_probe_feedback(&settings, frame, packet, feedback) == len);
	is_kind(feedback, len, HS_PROBE_FEEDBACK, hs_probe_id(frame, packet));
	free(feedback);
}

static void takes_a_hop(const uint8_t *frame, const struct hs_packet *packet, uint8_t n_values)
{
	static const uint32_t values[HS_PROBE_VALUES] = {0x01020304};
	const struct hs_probe_hop hop = {.node = 7, .depth = 8, .n_values = n_values};
	struct hs_probe_stack stack = hs_probe_stack_of(frame, packet), grown;
	size_t len = packet->l3_off + packet->l3_bytes, more = hs_probe_stack_growth(n_values);
	struct hs_packet after = *packet;
	const uint8_t *at;

	if (!stack.n_entries || packet->l3_bytes + more > UINT16_MAX)
		return;
	uint8_t *copy = copy_of(frame, len, len + more);
	struct hs_probe_stack in_copy = hs_probe_stack_of(copy, packet);
	hs_probe_add(copy, &after, &in_copy, &hop, values);
	is_kind(copy, len + more, HS_PROBE_COLLECTS, stack.id);
	grown = hs_probe_stack_of(copy, &after);
	HOLDS(grown.n_entries == stack.n_entries - 1 && grown.n_hops == stack.n_hops + 1);
	HOLDS(!memcmp(grown.hops, stack.hops, (size_t)HS_PROBE_HOP_BYTES * stack.n_hops));
	HOLDS(!memcmp(grown.values, stack.values, (size_t)HS_PROBE_VALUE_BYTES * stack.n_values));
	struct hs_probe_hop back = hs_probe_stack_hop(&grown, stack.n_hops, &at);
	HOLDS(back.node == 7 && back.depth == 8 && back.n_values == n_values);
	hs_probe_mark_recovery(&settings, copy, packet->l3_off);
	is_kind(copy, len + more, HS_PROBE_RECOVERY, stack.id);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_packet packet;

	if (size < 2 || size > 4096)
		return 0;
	size_t len = size - 2;
	uint8_t *frame = copy_of(data + 2, len, len);
	parse(frame, len, &packet);
	a_segment_tells_the_same(frame, len, data[1], &packet);
	if (packet.trace_type == HS_PROBE_COLLECTS) {
		is_answered(frame, &packet);
		takes_a_hop(frame, &packet, data[0]);
	}
	free(frame);
	return 0;
}
