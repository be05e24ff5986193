// SPDX-License-Identifier: BSD-3-Clause
// Takes reports into a flow. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Takes a report into the sum of its window (HS_QOS_CURRENT or HS_QOS_CLOSING). 0, -ENOMEM, or
// -EINVAL: longer than a wire carries; then nothing changed.
int hs_qos_absorb(struct hs_qos_flow *flow, const struct hs_report *report, enum hs_qos_sum_id id);

// Takes the reports into the current window's sum that were placed in the ring; returns how many
// were lost to a lack of memory.
unsigned hs_qos_absorb_placed(struct hs_qos_flow *flow);

// The current window becomes the closing one (which must be closed), a new one begins.
void hs_qos_absorb_rotate(struct hs_qos_flow *flow, int64_t tag);

// Brings all near that those placed will touch. Where flows take turns, all of it has left the
// cache since they were taken last.
void hs_qos_absorb_expect(struct hs_qos_flow *flow);
