// SPDX-License-Identifier: BSD-3-Clause
// Computes a window's metrics from its sums. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_columns.h"
#include "qos_flow.h"

void hs_qos_slot_fini(struct hs_qos_slot *slot);

// Fills the slot from a sum. `tier` is the index of the window length, or -1 if nothing is carried
// from window to window. `since` is the sum of the reports after the end of `sum`, or NULL: none.
// `path_of` is the newest report of the window. Returns 0 or -ENOMEM.
int hs_qos_compute_metrics(struct hs_qos_flow *flow, const struct hs_qos_sum *sum,
		const struct hs_qos_sum *since, int tier, struct hs_qos_columns *columns,
		const struct hs_report *path_of, int64_t start_ns, int64_t end_ns,
		struct hs_qos_slot *slot);

// Removes a shortest window's counts of links that not all alternating paths have (rule 10).
void hs_qos_drop_uncommon(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
// Judges whether the rules of two nodes differ (rule 15). Call it once for each shortest window,
// before the window is built.
void hs_qos_judge_rules(struct hs_qos_flow *flow, struct hs_qos_sum *sum);
