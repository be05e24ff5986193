// SPDX-License-Identifier: BSD-3-Clause
// Ports that label packets: S of each port (INT-label, Pro), and the counts of labels.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"
#include "schema.h"

struct hs_control;

extern const struct hs_schema_field hs_control_label_set_fields[], hs_control_label_fields[];

// The function for hs_api_backend.labels_now.
json_t *hs_control_labels_now(void *context, const json_t *labels, struct hs_error *err);
int hs_control_set_labels(struct hs_control *control, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
json_t *hs_control_labels(struct hs_control *control);
