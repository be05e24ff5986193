// SPDX-License-Identifier: BSD-3-Clause
#include "probe_steps.h"

#include "classify.h"
#include "skeleton.h"

static const struct hs_probe_settings *wire_of(const struct hs_profile *profile)
{
	return &((const struct hs_probe_profile *)profile->settings)->wire;
}

static void parse(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	hs_probe_parse(wire_of(profile), frame, len, frame_len, packet);
}

// Parses IPv4. Not inlined, because the fast path of IPv6 would pay for it.
static __attribute__((noinline)) bool parse_ipv4(const struct hs_profile *profile,
		const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet)
{
	if (!hs_packet_parse_fast_ipv4(frame, len, frame_len, packet))
		return false;
	if (unlikely(hs_probe_is_marked(wire_of(profile), frame, packet)))
		hs_probe_parse_marked(wire_of(profile), frame, len, packet);
	return true;
}

static inline bool parse_fast(const struct hs_profile *profile,
		struct hs_flexint_templates *templates, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)templates;
	return hs_packet_parse_fast(frame, len, frame_len, NULL, NULL, packet) ||
	       parse_ipv4(profile, frame, len, frame_len, packet);
}

static void classify(struct hs_worker *worker, struct hs_burst *burst)
{
	hs_classify_as(worker, burst, parse_fast, parse);
	if (unlikely(burst->flags & HS_PACKET_ANY_TELEMETRY) &&
			burst->in->side == HS_SIDE_NETWORK && burst == &worker->burst)
		hs_probe_take(worker, burst);
}

const struct hs_family hs_probe_steps = {
		.in_ipv4 = true,
		.classify = classify,
		.parse = parse,
		.source = hs_no_step, // packets of probes are those of no rule
		.transit = hs_no_step,
		.sink = hs_no_sink,
		.strip = hs_no_strip,
};
