// SPDX-License-Identifier: BSD-3-Clause
// The tables of a result for people: per flow what was measured beside truth and configuration,
// hop by hop, then what the links did. At most 100 columns wide with names of usual length.
//
// Thread rule: owner.
#pragma once

#include "run.h"

#include <jansson.h>
#include <stdio.h>

// Flows that are shown one by one; of more, the result alone has them all.
#define HS_LAB_TABLE_FLOWS 8

// result: of hs_outcome_json. 0 or -ENOMEM.
int hs_lab_table_print(FILE *to, const struct hs_scenario *scenario, const json_t *result);
