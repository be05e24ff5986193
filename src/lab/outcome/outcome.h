// SPDX-License-Identifier: BSD-3-Clause
// The outcome of a run: for each window and hop the measured, the true and the configured values;
// mean absolute errors against truth and configuration; and whether expectations were met.
//
// Source: 000_616928c59136b059.txt section V (MAE); docs/metrics.md; docs/lab.md defines each
// number.
// Thread rule: owner; after the run.
#pragma once

#include "run.h"

#include <jansson.h>

// Returns the whole result (docs/lab.md) as a new reference, or NULL if memory is out. The same run
// gives the same bytes.
json_t *hs_outcome_json(const struct hs_run *run);

// Returns a number of the result by its path ("delay_ns.mae.truth"), or NAN. The number of a list
// is its length.
double hs_outcome_number(const json_t *object, const char *path);
