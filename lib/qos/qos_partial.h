// SPDX-License-Identifier: BSD-3-Clause
// Nodes that leave fields out of some of their entries: each count of a link then has a span of its
// own, between the newest reports that have it at the nodes concerned. Internal to this folder.
//
// A flow is partial from a report whose entries differ in their bitmaps from those of the report
// before it, to the next that is whole.
//
// Source: docs/metrics.md, rule 22.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// What has a span of its own.
enum hs_qos_count {
	HS_QOS_COUNT_LOSS,  // packets at both ends
	HS_QOS_COUNT_NODE,  // packets at the far end
	HS_QOS_COUNT_BYTES, // bytes at the far end
	HS_QOS_COUNT_SPAN,  // the far end's stamp
	HS_QOS_COUNT_RATE,  // both
	HS_QOS_COUNTS
};

// The newest report that has the count: as much of it as the next step from there needs.
struct hs_qos_mark {
	bool valid;
	uint32_t resets; // steps in a row that a restart of a node made void
	struct hs_e2e e2e;
	struct hs_hop from, to; // unless they are the source and the sink
	int64_t sink_ts_ns;
	uint64_t sink_rx_packets, sink_rx_bytes;
};

struct hs_qos_marks {
	uint64_t used; // flow->edges after the last step in parts over this link; another number
		       // now: the marks are stale
	struct hs_qos_mark marks[HS_QOS_COUNTS];
};

// Takes the memory for a step to the report in parts, if there may be one. 0 or -ENOMEM.
int hs_qos_partial_reserve(
		struct hs_qos_flow *flow, const struct hs_report *report, bool same_path);

// Decides whether the step to a report that is newer is to be taken in parts.
void hs_qos_partial_plan(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan);

// Takes the step, end to end apart, into the sum: flow->edge is the report before.
void hs_qos_partial_step(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan);

// Counts what a report lacks.
void hs_qos_partial_count(
		struct hs_qos_sum *sum, const struct hs_report *report, const uint16_t *path_links);
