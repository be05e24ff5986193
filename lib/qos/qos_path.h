// SPDX-License-Identifier: BSD-3-Clause
// The links of a flow's paths. Compares a report's path with that of the report before: change,
// alternation, common nodes. Internal to this folder.
//
// Source: docs/metrics.md, rule 10.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

static inline bool hs_qos_path_same(const struct hs_decoded *a, const struct hs_decoded *b)
{
	if (a->n_hops != b->n_hops)
		return false;
	uint32_t differ = a->e2e.node_id ^ b->e2e.node_id;
	for (unsigned i = 0; i < a->n_hops; i++)
		differ |= a->hops[i].node_id ^ b->hops[i].node_id;
	return !differ;
}

// Finds the links of a path, from the source on. A link that is not known is 0.
void hs_qos_path_links(const struct hs_qos_flow *flow, const struct hs_decoded *telemetry,
		uint16_t links[HS_QOS_MAX_LINKS]);

// Finds or creates the links of a report's path. Returns 0 or -ENOMEM.
int hs_qos_path_plan(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan);

// Allocates the memory for the links of a planned report's chain, so that hs_qos_path_chain cannot
// fail. Returns 0 or -ENOMEM.
int hs_qos_path_reserve(struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_plan *plan);
// Notes the path of a report that becomes the newest, and finds the nodes that it has in common
// with the path before.
void hs_qos_path_chain(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan);
// Does the same for paths that are known to be equal.
void hs_qos_path_chain_same(const struct hs_report *report, struct hs_qos_plan *plan);
// Notes a late report by another path than the newest one's. Flags the sum that the report is in.
void hs_qos_path_late(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan);

// Returns whether packets bypassed nodes in a shortest window that ends. A hop received many more
// packets than the one before it sent, and about as many were missing on the links before. The
// packets took a path that no sampled packet took, or a rule is narrower at the nodes between.
bool hs_qos_path_bypassed(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum);
