// SPDX-License-Identifier: BSD-3-Clause
// Source order: how a report relates to the reports before it, and the jitter of late reports.
// Internal to this folder.
//
// Source: docs/metrics.md, rules 7, 10 and 18.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Relates a report to the reports before it. *ahead is how much newer than the newest it is, in the
// unit of the best count there is. Sets *doubtful if the report may also be the first of a new
// epoch.
enum hs_qos_relation hs_qos_order_relate(struct hs_qos_flow *flow, const struct hs_report *report,
		int64_t *ahead, bool *doubtful);

// Notes the first report of an epoch. Packets that were sent before it may come after it.
void hs_qos_order_begin(struct hs_qos_flow *flow, const struct hs_report *report);

// Notes how many packets are missing after the step to the newest report. They may still come late.
void hs_qos_order_note_step(struct hs_qos_flow *flow, const struct hs_qos_delta *e2e);

// Notes that the source counts anew from this report on.
void hs_qos_order_restart(struct hs_qos_flow *flow, const struct hs_report *report);

// Remembers the report of this number in the ring as the newest.
void hs_qos_order_newest(struct hs_qos_flow *flow, int64_t order, uint64_t number);
// Remembers the newest `n` reports of the ring, at most HS_QOS_RING_AHEAD. They came after
// `before`, and no packet between them was lost.
void hs_qos_order_newest_run(struct hs_qos_flow *flow, const struct hs_packed *before,
		const struct hs_packed *const *reports, unsigned n);

// Forgets all reports before the last of the ring, so that they are no neighbours of later ones.
void hs_qos_order_forget(struct hs_qos_flow *flow);

// Puts the last report of the ring, which is late, between its neighbours.
void hs_qos_order_late(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_qos_plan *plan, unsigned n, const uint16_t *links,
		const int64_t *delays);
