// SPDX-License-Identifier: BSD-3-Clause
// From what a window added up to the numbers that it hands out. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_columns.h"
#include "qos_flow.h"

void hs_qos_slot_fini(struct hs_qos_slot *slot);

// Fills the slot from a sum. `tier` is the index of the window length, or -1 where nothing is
// carried from window to window. `since`: what has come after the sum's end, NULL: nothing.
// `path_of` is the newest report. 0 or -ENOMEM.
int hs_qos_build(struct hs_qos_flow *flow, const struct hs_qos_sum *sum,
		const struct hs_qos_sum *since, int tier, struct hs_qos_columns *columns,
		const struct hs_report *path_of, int64_t start_ns, int64_t end_ns,
		struct hs_qos_slot *slot);

// Rule 10: what a shortest window says of links that not all alternating paths have is void.
void hs_qos_drop_uncommon(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
// Rule 15, once for each shortest window, before it is built.
void hs_qos_judge_rules(struct hs_qos_flow *flow, struct hs_qos_sum *sum);
