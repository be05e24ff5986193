// SPDX-License-Identifier: BSD-3-Clause
// The tables of a result for people. Each flow has a table with measured, true and configured
// values, hop by hop. A further table shows the effects of links. Lines have at most 100 columns if
// names have usual length.
//
// Thread rule: owner.
#pragma once

#include "run.h"

#include <jansson.h>
#include <stdio.h>

// Number of flows with a table of their own. The result contains all flows.
#define HS_LAB_TABLE_FLOWS 8

// Prints the tables of a result, which is that of hs_outcome_json. Returns 0 or -ENOMEM.
int hs_lab_table_print(FILE *to, const struct hs_scenario *scenario, const json_t *result);
