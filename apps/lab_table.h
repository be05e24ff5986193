// SPDX-License-Identifier: BSD-3-Clause
// A result for people, which is that of hs_outcome_json: its tables, and its expectations. Each
// flow has a table with measured, true and configured values, hop by hop. A further table shows the
// effects of links. Lines have at most 100 columns if names have usual length.
//
// Thread rule: owner.
#pragma once

#include "run.h"

#include <jansson.h>
#include <stdio.h>

// Prints the tables of a result. Returns 0 or -ENOMEM.
int hs_lab_table_print(FILE *to, const struct hs_scenario *scenario, const json_t *result);

// Prints a line for each expectation, or only for those that were not met:
// "  met      delay_ns, src-sw1: 10 ms (10 ± 0.000001 ms)". Returns how many were not met.
size_t hs_lab_expect_print(FILE *to, const json_t *result, bool unmet_alone);
// Prints "12 of 13 expectations met".
void hs_lab_expect_total(FILE *to, const json_t *result, size_t unmet);
