// SPDX-License-Identifier: BSD-3-Clause
// The outcome of a run: for each window and hop what telemetry measured, what the links really did
// and what was configured; mean absolute errors of both kinds; expectations met or not.
//
// Source: 000_616928c59136b059.txt section V (MAE); docs/metrics.md; docs/lab.md defines each
// number.
// Thread rule: owner; after the run.
#pragma once

#include "run.h"

#include <jansson.h>
#include <stddef.h>

// The whole result (docs/lab.md). New reference; NULL: out of memory. The same run gives the same
// bytes.
json_t *hs_outcome_json(const struct hs_run *run);

// How many of a result's expectations were not met.
size_t hs_outcome_unmet(const json_t *result);
