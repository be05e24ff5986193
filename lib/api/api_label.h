// SPDX-License-Identifier: BSD-3-Clause
// The ports of label_set: a list of {"id", "shift"}.
//
// Thread rule: any.
#pragma once

#include "schema.h"

#define HS_API_LABEL_PORTS 256
#define HS_API_LABEL_SHIFT 62 // the greatest

struct hs_api_label {
	uint32_t id; // of the port, on the wire
	uint32_t shift;
};

// "id" and "shift" of struct hs_api_label, in requests and replies.
extern const struct hs_schema_field hs_api_label_fields[];
// The shape of the field "ports" of label_set, and the function that checks the list and borrows it
// into the json_t * at `at`.
#define HS_API_LABELS_SHAPE                                                                        \
	"{'type': 'array', 'minItems': 1, 'maxItems': 256, 'items': {'type': 'object', "           \
	"'properties': {'id': {'type': 'integer', 'minimum': 1, 'maximum': 4294967295}, "          \
	"'shift': {'type': 'integer', 'minimum': 0, 'maximum': 62}}, "                             \
	"'required': ['id', 'shift'], 'additionalProperties': false}}"
int hs_api_read_labels(json_t *list, const char *path, void *at, struct hs_error *err);

// Returns entry i of a list that hs_api_read_labels accepted.
struct hs_api_label hs_api_label_at(const json_t *list, size_t i);
