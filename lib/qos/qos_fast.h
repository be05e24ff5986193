// SPDX-License-Identifier: BSD-3-Clause
// A fast path for common reports: the next in source order, on the path of the report before, with
// every field, after a step in which no count wrapped unnoticed or began anew. Adds the same
// numbers as qos_step.c and qos_sum.h, in one pass and without scratch memory. Internal to this
// folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Returns whether a report is on the path of the flow's edge, both have all fields, and the flow's
// paths do not alternate.
bool hs_qos_fast_fits(const struct hs_qos_flow *flow, const struct hs_report *report);

// Adds the delays of a report that fits and is newer than the edge, and the step to it. Returns
// false, with nothing changed, if the step is not simple.
bool hs_qos_fast_absorb(
		struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct hs_report *report);
