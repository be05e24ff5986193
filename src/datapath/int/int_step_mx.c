// SPDX-License-Identifier: BSD-3-Clause
// The fast path of INT-MX. It has a file of its own, so that compilers still inline that of INT-MD.
#include "classify.h"
#include "int_export.h"
#include "int_fast.h"
#include "int_steps.h"
#include "rule.h"
#include "skeleton.h"

static inline bool parse_fast(const struct hs_profile *profile,
		struct hs_flexint_templates *templates, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)templates;
	return hs_int_parse_fast_mx(profile->settings, frame, len, frame_len, packet);
}

static void parse(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	hs_int_parse(profile->settings, frame, len, frame_len, packet);
}

void hs_int_classify_mx(struct hs_worker *worker, struct hs_burst *burst)
{
	hs_classify_as(worker, burst, parse_fast, parse);
}

static inline __attribute__((always_inline)) void fast_mx(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];
	bool off = slot != HS_FLOW_NONE &&
		   hs_flow_is_off(&worker->flows.own[slot], HS_RULE_TRACE_INT);

	if (unlikely(!(packet->flags & HS_PACKET_TELEMETRY) ||
			    hs_int_type_of(packet) != HS_INT_TYPE_MX))
		hs_int_transit(worker, burst, i, out);
	else if (worker->run && likely(!off))
		hs_int_export_in_run(worker, burst, i, out);
}

void hs_int_run_mx(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out)
{
	struct hs_int_export_run run;

	if (hs_int_export_open(worker, end - first, &run))
		worker->run = &run;
	hs_run_to_network(worker, burst, first, end, out, HS_IN_TRANSIT, fast_mx, NULL);
	if (worker->run)
		hs_export_close(worker);
	worker->run = NULL;
}
