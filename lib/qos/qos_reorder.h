// SPDX-License-Identifier: BSD-3-Clause
// How far packets overtake each other. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// How many packets may have overtaken others at a report, or been overtaken, where delays differ.
int64_t hs_qos_reorder_under_way(const struct hs_qos_flow *flow, const struct hs_report *report);
