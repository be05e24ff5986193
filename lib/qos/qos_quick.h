// SPDX-License-Identifier: BSD-3-Clause
// A short cut for the report that nearly all are: the next in source order, on the path of the one
// before it, with every field, after a step in which no count wrapped or began anew. What it adds
// up is what qos_step.c and qos_sum.h add up, in one pass and without scratch. Internal to this
// folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// On the path of the flow's edge, all fields in both, one path at a time.
bool hs_qos_quick_fits(const struct hs_qos_flow *flow, const struct hs_report *report);

// Adds the delays of a report that fits and is newer than the edge, and the step to it. False, with
// nothing changed, where the step is not that simple.
bool hs_qos_quick_absorb(
		struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct hs_report *report);
