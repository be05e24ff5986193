// SPDX-License-Identifier: BSD-3-Clause
// Runs of reports between which every node counted the same packets: no packet was lost, duplicated
// or late, and no delay changed by much. Such reports are added up together in the ring. The result
// is the same as if they were added one by one. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Adds those of the first `most` placed reports that make such a run with the flow's newest report
// to the sum of the current window. Returns how many there are. If it returns 0, the first placed
// report must be added alone.
unsigned hs_qos_run_absorb(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint32_t most);
