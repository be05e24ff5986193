// SPDX-License-Identifier: BSD-3-Clause
// Paths that alternate: are they several, or is it one path of which some reports lack entries?
// Where each is a part of the longest, in its order, entries are missing: a node had no room for
// its own, say. A route past a node looks the same, but for the counts of that node.
//
// Source: docs/metrics.md, rule 10.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

#define HS_QOS_CALM_NS 10000000000ll // on one path: then paths alternate no more

// Paths begin to alternate: the edge's and this one.
void hs_qos_entries_begin(
		struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int64_t now_ns);
// While they alternate: a report came by another path than the edge's.
void hs_qos_entries_path(
		struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int64_t now_ns);
// While they alternate: any report.
void hs_qos_entries_count(struct hs_qos_flow *flow, const struct hs_report *report);

// The flag of a window in which paths alternate.
uint32_t hs_qos_entries_flag(const struct hs_qos_flow *flow, int64_t now_ns);
// Of a shortest window that ends, or is asked for before: by then counts may have told more.
void hs_qos_entries_judge(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
