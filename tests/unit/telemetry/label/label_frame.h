// SPDX-License-Identifier: BSD-3-Clause
// What the tests of lib/telemetry/label share: its operations with every growth checked and every
// buffer of exactly the size it claims.
#pragma once

#include "label_export.h"
#include "int_test.h"

static inline void label_parse(const struct hs_label_settings *settings, const struct frame *frame,
		struct hs_packet *packet)
{
	hs_label_parse(settings, frame->bytes, frame->len, frame->len, packet);
}

// Each replaces the frame's bytes by the changed ones. Returns the growth, or the refusal.
static inline int label_add(const struct hs_label_settings *settings, struct frame *frame,
		const struct hs_label_item *item, bool specific)
{
	struct hs_packet packet;

	label_parse(settings, frame, &packet);
	int growth = hs_label_growth(settings, frame->bytes, &packet);
	if (growth < 0)
		return growth;
	uint8_t *bytes = malloc(frame->len + (size_t)growth);
	assert_non_null(bytes);
	memset(bytes, 0xa5, (size_t)growth);
	memcpy(bytes + growth, frame->bytes, frame->len);
	hs_label_item_write(
			item, hs_label_insert(settings, bytes, &packet, (size_t)growth, specific));
	free(frame->bytes);
	*frame = (struct frame){bytes, frame->len + (size_t)growth};
	return growth;
}

static inline size_t label_strip(const struct hs_label_settings *settings, struct frame *frame)
{
	struct hs_packet packet;

	label_parse(settings, frame, &packet);
	size_t taken = hs_label_strip(frame->bytes, &packet);
	assert_int_equal(taken, packet.flags & HS_PACKET_TELEMETRY ? packet.telemetry_bytes : 0);
	struct frame rest = frame_of(frame->bytes + taken, frame->len - taken);
	frame_free(frame);
	*frame = rest;
	return taken;
}
