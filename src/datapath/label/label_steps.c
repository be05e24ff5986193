// SPDX-License-Identifier: BSD-3-Clause
#include "label_steps.h"

#include "classify.h"
#include "label_fragments.h"
#include "label_run.h"

static void parse(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	hs_label_parse(hs_label_wire(profile), frame, len, frame_len, packet);
}

static void classify(struct hs_worker *worker, struct hs_burst *burst)
{
	// INT_TYPE is none of TCP, UDP and ICMP.
	hs_classify_as(worker, burst, hs_classify_bare, parse);
}

static uint16_t path_bytes(const struct hs_profile *profile, uint32_t trace_type)
{
	if (!profile->settings || !(trace_type & HS_RULE_TRACE_LABEL))
		return 0;
	return (uint16_t)(HS_LABEL_IPV6_BYTES +
			  HS_LABEL_ITEM_BYTES * hs_label_wire(profile)->max_hops);
}

const struct hs_family hs_label_steps = {
		.in_ipv4 = true,
		.classify = classify,
		.parse = parse,
		.path_bytes = path_bytes,
		.every_field = HS_RULE_TRACE_LABEL,
		.fast_source = hs_label_run_network,
		.fast_transit = hs_label_run_network,
		.fast_sink = hs_label_run_host,
		.is_due = hs_label_is_run_due,
		.join = hs_label_join,
		.sink = hs_label_sink,
		.strip = hs_label_strip_step,
};
