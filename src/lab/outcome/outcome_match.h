// SPDX-License-Identifier: BSD-3-Clause
// Which of the numbers that a window published are not what they should be: all of them, not only
// those that rows have means of, and those that were left out as well.
//
// Not compared: window_throughput_bps, which is of the span's tile and not of the window, and
// loss_ratio, which under reordering is a judgement (rule 14).
//
// Source: docs/metrics.md, rules 8, 11, 16 to 18.
// Thread rule: any; nothing is changed.
#pragma once

#include "outcome_flow.h"
#include "outcome_truth.h"

#include <stdbool.h>
#include <stdint.h>

// Names of the numbers, by bit of a mask; NULL beyond the last.
const char *hs_outcome_match_name(unsigned number);

// Mask of what differs in one hop of a window. published: enum hs_measured_has of the row's other
// windows: what they have and the truth knows, this one must have.
uint32_t hs_outcome_match(const struct hs_outcome_flow *flow,
		const struct hs_measured_window *window, struct hs_outcome_ends ends,
		uint32_t published, const struct hs_measured_hop *hop,
		const struct hs_outcome_truth *truth);

// Is a percentile of so many delays right? Rule 17: it is exact of what is kept whole, and beyond
// that within 1/64 of its distance from the first delay of the epoch.
bool hs_outcome_match_percentile(uint64_t delays, int64_t measured, int64_t truth, int64_t origin);

// Do the hops of a window lead from the source to the sink, along the way of its last packet?
bool hs_outcome_match_way(
		const struct hs_outcome_flow *flow, const struct hs_measured_window *window);

// Windows that have reports and that nobody published. `windows`: those of the flow, in order.
uint64_t hs_outcome_match_gaps(const struct hs_outcome_flow *flow,
		const struct hs_measured_window *const *windows, size_t n_windows);
