// SPDX-License-Identifier: BSD-3-Clause
// The replies about the whole node: hello and node_get. Both return new references.
//
// Thread rule: owner (the control thread).
#pragma once

#include "schema.h"

#include <jansson.h>

struct hs_control_config;
struct hs_node;
struct hs_node_totals;

extern const struct hs_schema_field hs_control_node_fields[];
json_t *hs_control_hello(const struct hs_control_config *config, struct hs_node *node);
json_t *hs_control_node(const struct hs_control_config *config, struct hs_node *node,
		const struct hs_node_totals *totals);
