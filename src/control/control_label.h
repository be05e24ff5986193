// SPDX-License-Identifier: BSD-3-Clause
// Ports that label packets: S of each port (INT-label, Pro), and the counts of labels.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"
#include "schema.h"

struct hs_node;

extern const struct hs_schema_field hs_control_label_set_fields[], hs_control_label_fields[];

// Does what hs_api_backend.labels_now has to do.
json_t *hs_control_labels_now(
		const struct hs_node *node, const json_t *labels, struct hs_error *err);
// Sets S of ports that hs_control_labels_now has found. Returns the reply.
json_t *hs_control_set_labels(struct hs_node *node, const json_t *labels, struct hs_error *err);
json_t *hs_control_labels(const struct hs_node *node);
