// SPDX-License-Identifier: BSD-3-Clause
// What the tests of lib/telemetry/probe share: its operations on buffers of exactly the size that
// they claim.
#pragma once

#include "int_test.h"
#include "probe.h"

static const struct hs_probe_settings usual = {
		.dscp = HS_PROBE_DSCP,
		.feedback_dscp = HS_PROBE_FEEDBACK_DSCP,
		.recovery_dscp = HS_PROBE_RECOVERY_DSCP,
		.udp_port = HS_PROBE_UDP_PORT,
};

static inline void probe_parse(const struct hs_probe_settings *settings, const struct frame *frame,
		struct hs_packet *packet)
{
	hs_probe_parse(settings, frame->bytes, frame->len, frame->len, packet);
}

// Replaces the frame, which is a probe with an entry, by the one that a node sends on.
static inline void probe_add(const struct hs_probe_settings *settings, struct frame *frame,
		const struct hs_probe_hop *hop, const uint32_t *values)
{
	struct hs_packet packet;

	probe_parse(settings, frame, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	size_t len = packet.l3_off + packet.l3_bytes + hs_probe_stack_growth(hop->n_values);
	uint8_t *bytes = malloc(len);
	assert_non_null(bytes);
	memset(bytes, 0xa5, len);
	memcpy(bytes, frame->bytes, packet.l3_off + packet.l3_bytes);
	struct hs_probe_stack stack = hs_probe_stack_of(bytes, &packet);
	hs_probe_add(bytes, &packet, &stack, hop, values);
	assert_int_equal(packet.l3_off + packet.l3_bytes, len);
	free(frame->bytes);
	*frame = (struct frame){bytes, len};
}

static inline struct frame probe_feedback(
		const struct hs_probe_settings *settings, const struct frame *frame)
{
	struct hs_packet packet;

	probe_parse(settings, frame, &packet);
	struct frame feedback = {
			malloc(hs_probe_feedback_bytes(&packet)), hs_probe_feedback_bytes(&packet)};
	assert_non_null(feedback.bytes);
	assert_int_equal(hs_probe_feedback(settings, frame->bytes, &packet, feedback.bytes),
			feedback.len);
	return feedback;
}
