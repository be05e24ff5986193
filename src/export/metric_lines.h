// SPDX-License-Identifier: BSD-3-Clause
// The table of counters as lines for databases (docs/influx.md): hopsight_node, hopsight_clock,
// hopsight_port, hopsight_port_drops, hopsight_port_events, hopsight_worker, hopsight_rule. Fields
// have the keys of the API, and are integers where the API has integers.
//
// Thread rule: owner (the control thread).
#pragma once

#include "influx_text.h"
#include "metric.h"

#include <stdint.h>

// Adds all counters of a node except those of single rules.
void hs_metric_lines(struct hs_influx_text *text, const struct hs_node *node,
		const struct hs_node_totals *totals, int64_t time_ns);
// Adds the counters of one rule.
void hs_metric_lines_rule(
		struct hs_influx_text *text, struct hs_node *node, uint32_t slot, int64_t time_ns);
