// SPDX-License-Identifier: BSD-3-Clause
// How far packets overtake each other. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Computes the step from report a to report b as hs_qos_step does. If the step shows a restart,
// computes it again, with the packets that reordering may explain at the newest report of the ring.
// If only reordering explains the step, the step gets HS_QOS_STEP_DOUBTFUL.
void hs_qos_reorder_step(const struct hs_qos_flow *flow, const struct hs_report *a,
		const struct hs_report *b, const struct hs_qos_chain *chain,
		struct hs_qos_step *step);

// Returns how many packets reordering may account for at the report of this number in the ring (or
// the next one), from the delays of the reports before it. `packets` came in `elapsed_ns` of the
// sink's clock. Returns 0 unless the flow paused.
int64_t hs_qos_reorder_under_way(const struct hs_qos_flow *flow, uint64_t number, int64_t packets,
		int64_t elapsed_ns);
