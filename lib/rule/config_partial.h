// SPDX-License-Identifier: BSD-3-Clause
// The part `telemetry.fields` of a node's configuration, and `fields` of a rule. It says which
// fields the node's entries have.
//
// Thread rule: any.
#pragma once

#include "partial_config.h"
#include "schema.h"

// The members packets, timestamp and bytes, for other tables.
extern const struct hs_schema_field hs_partial_fields[];

// Reads an object with one member for each of packets, timestamp and bytes into a struct
// hs_partial. Returns 0, or -EINVAL with *err.
int hs_config_read_partial(
		json_t *object, const char *path, struct hs_partial *partial, struct hs_error *err);
// Returns a new reference.
json_t *hs_config_print_partial(const struct hs_partial *partial);
