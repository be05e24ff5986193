// SPDX-License-Identifier: BSD-3-Clause
// Steps of clocks between two reports, as far as the stamps show them. Internal to this folder.
//
// Source: docs/metrics.md, rule 20.
// Thread rule: owner.
#pragma once

#include "qos_delays.h"

// Returns a node's bit in a mask: place 0 is the source, then the transit nodes in path order, then
// the sink.
static_assert(HS_TELEMETRY_MAX_HOPS + 2 <= 64, "a bit for each node");

static inline uint64_t hs_qos_clock_steps_bit(unsigned place)
{
	return 1ull << place;
}

// Notes the steps at a report in the flow, before the report is added. Marks the open window if the
// sink's clock stepped, because the step shortens or lengthens the window.
void hs_qos_clock_steps_note(struct hs_qos_flow *flow, const struct hs_report *report);

// Removes the spans by clocks that stepped from a step between reports. No span is computed across
// a step of its clock.
void hs_qos_clock_steps_cut(const struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_chain *chain, struct hs_qos_step *step);
// Marks the sum that the report is in, and begins the pairs of delays anew at this report.
void hs_qos_clock_steps_part(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan,
		const struct hs_qos_delays *delays);

// Keeps the least delay of each link. Call it before a window's sum is merged and cleared.
void hs_qos_clock_steps_keep_bases(struct hs_qos_flow *flow);
// Begins the least delays anew. Call it at the first report of a flow or of an epoch. `tag` is the
// last one whose window has delays from before.
void hs_qos_clock_steps_begin(
		struct hs_qos_flow *flow, const struct hs_qos_delays *delays, int64_t tag);
