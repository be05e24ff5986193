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

// Adds a packet to the run of packets that ask for the same.
static inline __attribute__((always_inline)) void add(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, struct hs_port *out,
		struct hs_int_export_run *run)
{
	uint16_t asked = (uint16_t)(burst->packets[i].trace_type >> 16);

	if (unlikely(run->asked != asked)) {
		hs_int_export_run(worker, burst, out, run);
		run->n = 0;
		run->asked = asked;
	}
	if (!run->n)
		run->first = i;
	run->packets[run->n++] = burst->mbufs[i];
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
		add(worker, burst, i, out, worker->run);
}

void hs_int_run_mx(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out)
{
	struct hs_int_export_run run;

	run.n = run.asked = 0;
	worker->run = hs_int_export_wants_run(worker) ? &run : NULL;
	hs_run_to_network(worker, burst, first, end, out, HS_IN_TRANSIT, fast_mx, NULL);
	// The packets are in the port's queue now and are not sent before the burst's end.
	hs_int_export_run(worker, burst, out, &run);
	worker->run = NULL;
}
