// SPDX-License-Identifier: BSD-3-Clause
// The metrics that the fields of a trace type cannot give, for a client that installs a rule with
// this trace type (docs/metrics.md, "What a trace type does not tell").
//
// Thread rule: any.
#pragma once

#include "schema.h"

#include <jansson.h>
#include <stdint.h>

// Returns the `not_told` of an answer to a request that installs a rule, as a new reference: the
// metrics that are missing, or that are flagged after a restart or an outage. The list is empty if
// no metric is missing.
json_t *hs_qos_untold(uint32_t trace_type);
extern const struct hs_schema_field hs_qos_untold_fields[]; // of each item
