// SPDX-License-Identifier: BSD-3-Clause
// The table of counters as a page for Prometheus.
//
// Thread rule: control.
#pragma once

#include "metric.h"
#include "prometheus.h"

// Adds every metric of the node, then those of its rules, which take at most half of the room that
// is left.
void hs_metric_page(struct hs_prometheus *page, struct hs_node *node,
		const struct hs_node_totals *totals);
