// SPDX-License-Identifier: BSD-3-Clause
// How far packets overtake each other. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// How many packets may have overtaken others, or been overtaken, at the report of this number in
// the ring (or the next one): as the reports before it have differed in delay.
int64_t hs_qos_reorder_under_way(const struct hs_qos_flow *flow, uint64_t number);
