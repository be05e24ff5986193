// SPDX-License-Identifier: BSD-3-Clause
// What the fields of a trace type cannot tell, for who installs a rule with it (docs/metrics.md,
// "What a trace type does not tell").
//
// Thread rule: any.
#pragma once

#include <jansson.h>
#include <stdint.h>

// Sets `not_told` in the answer to a request that installs a rule: a list of {"metric", "of",
// "needs", "text"}: metrics that stay away, or that are flagged after a restart or an outage.
// `needs` are the bits that are missing. Where everything is told, or memory is out, nothing is
// set.
void hs_qos_put_untold(json_t *answer, uint32_t trace_type);
