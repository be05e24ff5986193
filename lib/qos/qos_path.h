// SPDX-License-Identifier: BSD-3-Clause
// The links that a flow was seen on, and what a report's path means for the step from the report
// before it: change, alternation, the nodes in common. Internal to this folder.
//
// Source: docs/metrics.md, rule 10.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

#define HS_QOS_ALTERNATES (HS_QOS_MULTIPATH | HS_QOS_ENTRIES_MISSING)

static inline bool hs_qos_path_same(const struct hs_decoded *a, const struct hs_decoded *b)
{
	if (a->n_hops != b->n_hops)
		return false;
	uint32_t differ = a->e2e.node_id ^ b->e2e.node_id;
	for (unsigned i = 0; i < a->n_hops; i++)
		differ |= a->hops[i].node_id ^ b->hops[i].node_id;
	return !differ;
}

// The links of a path, from the source on; 0 for those that are not known.
void hs_qos_path_links(const struct hs_qos_flow *flow, const struct hs_decoded *telemetry,
		uint16_t links[HS_QOS_MAX_LINKS]);

// Finds (and creates) the links of a report's path. 0 or -ENOMEM.
int hs_qos_path_plan(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan);

// Takes the memory for the links of a planned report's chain, which cannot fail then. 0 or -ENOMEM.
int hs_qos_path_reserve(struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_plan *plan);
// Of a report that becomes the newest: notes its path, and finds what it has in common with the
// one before.
void hs_qos_path_chain(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan);
// The same where the paths are known to be equal.
void hs_qos_path_chain_same(const struct hs_report *report, struct hs_qos_plan *plan);
// Of a late report by another path than the newest one's: notes its path in the sum that it is in.
void hs_qos_path_late(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan);

// Of a shortest window that ends: a hop received many more than the one before it sent, and as many
// were missing on the way there. They passed by, on a path that no sampled packet took, or a rule
// is narrower at the nodes between.
bool hs_qos_path_bypassed(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum);
