// SPDX-License-Identifier: BSD-3-Clause
// What the fields of a trace type cannot tell, for who installs a rule with it (docs/metrics.md,
// "What a trace type does not tell").
//
// Thread rule: any.
#pragma once

#include "schema.h"

#include <jansson.h>
#include <stdint.h>

// Returns the `not_told` of an answer to a request that installs a rule: the metrics that stay
// away, or that are flagged after a restart or an outage. The list is empty if everything is told.
// New reference.
json_t *hs_qos_untold(uint32_t trace_type);
extern const struct hs_schema_field hs_qos_untold_fields[]; // of each item
