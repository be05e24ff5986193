// SPDX-License-Identifier: BSD-3-Clause
// Steps for nodes that leave fields out of some entries. Then each count of a link has its own
// span, between the newest reports that have the count at the nodes that it needs. Internal to this
// folder.
//
// A flow is partial from a report whose entries differ in their bitmaps from those of the report
// before it, to the next that is whole.
//
// Source: docs/metrics.md, rule 22.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// The counts that have their own span.
enum hs_qos_count {
	HS_QOS_COUNT_LOSS,  // packets at both ends
	HS_QOS_COUNT_NODE,  // packets at the far end
	HS_QOS_COUNT_BYTES, // bytes at the far end
	HS_QOS_COUNT_SPAN,  // the far end's stamp
	HS_QOS_COUNT_RATE,  // bytes and stamp
	HS_QOS_COUNTS
};

// The fields of the newest report with the count that the next step needs.
struct hs_qos_mark {
	bool valid;
	uint32_t resets; // steps in a row with a restart of a node
	struct hs_e2e e2e;
	struct hs_hop from, to; // not used for the source and the sink
	int64_t sink_ts_ns;
	uint64_t sink_rx_packets, sink_rx_bytes;
};

struct hs_qos_marks {
	uint64_t used; // flow->edges after the last step in parts over this link; another number
		       // now: the marks are stale
	struct hs_qos_mark marks[HS_QOS_COUNTS];
};

// Allocates the memory for a step in parts to the report, if there may be one. Returns 0 or
// -ENOMEM.
int hs_qos_partial_reserve(
		struct hs_qos_flow *flow, const struct hs_report *report, bool same_path);

// Decides whether the step to a newer report is taken in parts.
void hs_qos_partial_plan(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan);

// Adds the step from flow->edge to the sum, except for the step end to end.
void hs_qos_partial_step(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan);

// Counts the links on which a report lacks fields.
void hs_qos_partial_count(
		struct hs_qos_sum *sum, const struct hs_report *report, const uint16_t *path_links);
