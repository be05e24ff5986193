// SPDX-License-Identifier: BSD-3-Clause
// The replies about the whole node: hello and node_get. Both return new references.
//
// Thread rule: owner (the control thread).
#pragma once

#include "schema.h"

#include <jansson.h>

struct hs_control;

extern const struct hs_schema_field hs_control_node_fields[];
json_t *hs_control_node(struct hs_control *control);
json_t *hs_control_hello(struct hs_control *control);
