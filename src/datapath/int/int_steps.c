// SPDX-License-Identifier: BSD-3-Clause
#include "int_steps.h"

#include "classify.h"
#include "int_ask.h"
#include "int_export.h"
#include "int_fast.h"
#include "int_format.h"

static void parse(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	hs_int_parse(profile->settings, frame, len, frame_len, packet);
}

static inline bool parse_fast(const struct hs_profile *profile,
		struct hs_flexint_templates *templates, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)templates;
	return hs_int_parse_fast_md(profile->settings, frame, len, frame_len, packet);
}

static uint8_t dscp(const struct hs_profile *profile, const uint8_t *frame,
		const struct hs_packet *packet)
{
	return hs_int_host_dscp(profile->settings, frame, packet);
}

// Classifies INT-MD. Not inlined, so that the compiler keeps its values in registers.
static __attribute__((noinline)) void classify_md(struct hs_worker *worker, struct hs_burst *burst)
{
	hs_classify_as(worker, burst, parse_fast, parse);
}

static void classify(struct hs_worker *worker, struct hs_burst *burst)
{
	const struct hs_int_settings *settings = burst->profile->settings;

	if (likely(hs_int_fast_is(settings)))
		classify_md(worker, burst);
	else if (hs_int_fast_is_mx(settings))
		hs_int_classify_mx(worker, burst);
	else
		hs_classify_general(worker, burst);
}

static void run_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	if (unlikely(hs_int_fast_is_mx(burst->profile->settings)) &&
			hs_int_export_may_run(worker, out))
		hs_int_run_mx(worker, burst, first, end, out);
	else
		hs_int_run_transit(worker, burst, first, end, out);
}

static uint16_t path_bytes(const struct hs_profile *profile, uint32_t trace_type)
{
	const struct hs_int_settings *settings = profile->settings;
	struct hs_int_request request = {0};

	if (settings && trace_type & HS_RULE_TRACE_INT)
		request.bitmap = hs_int_ask(settings->version, trace_type, NULL);
	return request.bitmap ? (uint16_t)hs_int_most_path_growth(settings, &request) : 0;
}

#define FAMILY(version)                                                                            \
	{                                                                                          \
		.format = &hs_int_formats[version], .in_ipv4 = true, .classify = classify,         \
		.parse = parse, .dscp = dscp, .path_bytes = path_bytes,                            \
		.every_field = HS_RULE_TRACE_INT | UINT16_MAX, .fast_source = hs_int_run_source,   \
		.fast_transit = run_transit, .fast_sink = hs_int_run_sink,                         \
		.source = hs_int_source, .transit = hs_int_transit, .sink = hs_int_sink,           \
		.strip = hs_int_strip_step, .watch = hs_int_watch                                  \
	}
const struct hs_family hs_int_steps[HS_INT_N_VERSIONS] = {
		[HS_INT_2016_06] = FAMILY(HS_INT_2016_06),
		[HS_INT_0_5] = FAMILY(HS_INT_0_5),
		[HS_INT_1_0] = FAMILY(HS_INT_1_0),
		[HS_INT_2_1] = FAMILY(HS_INT_2_1),
};
