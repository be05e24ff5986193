// SPDX-License-Identifier: BSD-3-Clause
// Source order: what a report is to those before it, and the jitter of those that come late.
// Internal to this folder.
//
// Source: docs/metrics.md, rules 7, 10 and 18.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// *ahead: how much newer than the newest, in the unit of the best count there is. *doubtful is set
// where it may as well be the first of a new epoch.
enum hs_qos_relation hs_qos_order_relate(struct hs_qos_flow *flow, const struct hs_report *report,
		int64_t *ahead, bool *doubtful);

// Of the first report of an epoch: what was sent before it may come behind it.
void hs_qos_order_begin(struct hs_qos_flow *flow, const struct hs_report *report);

// Notes how many packets the step to the newest report left missing: they may still come late.
void hs_qos_order_note_step(struct hs_qos_flow *flow, const struct hs_qos_delta *e2e);

// The source counts anew from this report on.
void hs_qos_order_restart(struct hs_qos_flow *flow, const struct hs_report *report);

// Remembers the report of this number in the ring as the newest.
void hs_qos_order_newest(struct hs_qos_flow *flow, int64_t order, uint64_t number);
// The newest `n` of the ring, at most HS_QOS_RING_AHEAD, which came behind `before` and lost
// nothing.
void hs_qos_order_newest_run(struct hs_qos_flow *flow, const struct hs_packed *before,
		const struct hs_packed *const *reports, unsigned n);

// The reports before the last of the ring are no neighbours of those that come.
void hs_qos_order_forget(struct hs_qos_flow *flow);

// Puts the last report of the ring, which is late, between its neighbours.
void hs_qos_order_late(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_qos_plan *plan, unsigned n, const uint16_t *links,
		const int64_t *delays);
