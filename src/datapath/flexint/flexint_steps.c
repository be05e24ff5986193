// SPDX-License-Identifier: BSD-3-Clause
#include "flexint_steps.h"
#include "classify.h"
#include "flexint.h"
#include "flexint_parse_fast.h"

static void parse(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)profile; // flexint is read alike everywhere
	hs_flexint_parse(frame, len, frame_len, packet);
}

static inline bool parse_fast(const struct hs_profile *profile,
		struct hs_flexint_templates *templates, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)profile;
	return hs_flexint_parse_fast(templates, frame, len, frame_len, packet);
}

static void classify(struct hs_worker *worker, struct hs_burst *burst)
{
	hs_classify_as(worker, burst, parse_fast, parse);
}

// Takes telemetry out without a report: copies of a flooded packet would come out at several sinks,
// each with a report of the same packet. Requests and reports for control are handed up here, once.
static bool strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours)
{
	if (ours && burst->packets[i].flags & HS_PACKET_PUNT)
		hs_flexint_punt_sink(worker, burst, i);
	return hs_flexint_strip_step(worker, burst, i);
}

static uint16_t path_bytes(const struct hs_profile *profile, uint32_t trace_type)
{
	if (trace_type & HS_RULE_TRACE_OTHERS) // a rule of another family
		return 0;
	return (uint16_t)hs_flexint_path_growth(trace_type, profile->layout, profile->max_hops);
}

const struct hs_family hs_flexint_steps = {
		.format = &hs_flexint_family,
		.names_rules = true,
		.classify = classify,
		.parse = parse,
		.path_bytes = path_bytes,
		.every_field = (uint32_t)HS_E2E_KNOWN << 16 | HS_HOP_KNOWN,
		.fast_source = hs_flexint_run_source,
		.fast_transit = hs_flexint_run_transit,
		.fast_sink = hs_flexint_run_sink,
		.source = hs_flexint_source,
		.transit = hs_flexint_transit,
		.sink = hs_flexint_sink,
		.strip = strip,
};
