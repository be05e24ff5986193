// SPDX-License-Identifier: BSD-3-Clause
// The table of counters as replies. All return new references.
//
// Thread rule: owner (the control thread).
#pragma once

#include "metric.h"

#include <jansson.h>

struct hs_node;

extern const struct hs_schema_field hs_control_ports_fields[], hs_control_drops_fields[],
		hs_control_stats_fields[];
json_t *hs_control_ports(const struct hs_node *node);
json_t *hs_control_drops(const struct hs_node *node);
json_t *hs_control_stats(const struct hs_node *node, const struct hs_node_totals *totals);
