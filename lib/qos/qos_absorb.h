// SPDX-License-Identifier: BSD-3-Clause
// Adds reports to a flow. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Adds a report to the sum of its window (HS_QOS_CURRENT or HS_QOS_CLOSING). Returns 0, -ENOMEM, or
// -EINVAL: the report has more entries than a packet carries. After an error nothing has changed.
int hs_qos_absorb(struct hs_qos_flow *flow, const struct hs_report *report, enum hs_qos_sum_id id);

// Adds the reports that were placed in the ring to the sums of their windows: the current window,
// and the next one, which the first of its reports begins. hs_qos_absorb_ahead
// returns false when there is no memory for the first of those that are left. hs_qos_absorb_placed
// drops such reports, and returns how many.
bool hs_qos_absorb_ahead(struct hs_qos_flow *flow);
unsigned hs_qos_absorb_placed(struct hs_qos_flow *flow);

// Begins a current window where there is none.
void hs_qos_absorb_open(struct hs_qos_flow *flow, int64_t tag);

// Makes the current window the closing one, and begins a new current window. The closing window
// before must be closed.
void hs_qos_absorb_rotate(struct hs_qos_flow *flow, int64_t tag);

// Prefetches the memory that the placed reports will touch. With many flows, this memory has left
// the cache since the flow's last reports.
void hs_qos_absorb_expect(struct hs_qos_flow *flow);
