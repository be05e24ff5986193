// SPDX-License-Identifier: BSD-3-Clause
// Clocks that stepped between two reports, as far as their stamps show it. Internal to this folder.
//
// Source: docs/metrics.md, rule 20.
// Thread rule: owner.
#pragma once

#include "qos_delays.h"

// Bits of a mask of nodes: the source, the transit nodes in path order, the sink.
static_assert(HS_TELEMETRY_MAX_HOPS + 2 <= 64, "a bit for each node");

static inline uint64_t hs_qos_stamp_bit(unsigned place)
{
	return 1ull << place;
}

// Before a report is taken: notes its steps in the flow, and marks the window that is open, which a
// step of the sink's clock cuts short, or lengthens.
void hs_qos_stamp_note(struct hs_qos_flow *flow, const struct hs_report *report);

// Nothing is computed across a step: takes the spans that end at such a clock out of a step.
void hs_qos_stamp_cut(const struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_chain *chain, struct hs_qos_step *step);
// Marks the sum that the report is in, and lets pairs of delays begin anew with it.
void hs_qos_stamp_part(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan,
		const struct hs_qos_delays *delays);

// Call before a window's sum is merged and cleared: keeps the least delay of each link.
void hs_qos_stamp_keep_bases(struct hs_qos_flow *flow);
// At the first report of a flow or of an epoch, in the window of this tag.
void hs_qos_stamp_begin(struct hs_qos_flow *flow, const struct hs_qos_delays *delays, int64_t tag);
