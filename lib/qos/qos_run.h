// SPDX-License-Identifier: BSD-3-Clause
// Runs of reports between which every node counted alike: nothing was lost, nothing came twice or
// late, and no delay changed by much. Such reports are added up together where they lie, and leave
// what they would leave one by one. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Takes as many of the reports that are placed in the flow's ring as make such a run with its
// newest report, into the sum of the current window; returns how many. 0: the first one needs
// hs_qos_absorb.
unsigned hs_qos_run_absorb(struct hs_qos_flow *flow, struct hs_qos_sum *sum);
