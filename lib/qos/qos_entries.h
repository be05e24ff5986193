// SPDX-License-Identifier: BSD-3-Clause
// Tells whether alternating paths are several paths, or one path of which some reports lack
// entries. If each path is a part of the longest, in the same order, entries are missing. A node
// may have had no room for its entry, for example. A route that bypasses a node looks the same,
// except for that node's counts.
//
// Source: docs/metrics.md, rule 10.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

#define HS_QOS_CALM_NS 10000000000ll // after this time on one path, alternation ends

// Begins an alternation between the edge's path and this one.
void hs_qos_entries_begin(
		struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int64_t now_ns);
// Notes a report that came by another path than the edge's, while paths alternate.
void hs_qos_entries_path(
		struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int64_t now_ns);
// Counts a report, while paths alternate.
void hs_qos_entries_count(struct hs_qos_flow *flow, const struct hs_report *report);

// Of a sum, and of no window: paths alternate. Links between nodes that are not on all of the paths
// have no counts.
#define HS_QOS_ALTERNATES (UINT32_C(1) << 30)

// Returns the flags of a sum in which paths alternate: this one, and which of two a window has.
uint32_t hs_qos_entries_flags(const struct hs_qos_flow *flow, int64_t now_ns);
// Corrects the flag of a shortest window that ends, or that is read before its end. The counts may
// show more now than at the reports.
void hs_qos_entries_judge(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
