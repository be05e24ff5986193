// SPDX-License-Identifier: BSD-3-Clause
// Expectations in words: met or not, with what was measured and what was allowed.
//
// Thread rule: any.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define HS_LAB_EXPECT_TEXT 640

// A member of the result's list "expect": "delay_ns, src-sw1: 10 ms (10 ± 0.000001 ms)".
void hs_lab_expect_text(const json_t *expect, char text[HS_LAB_EXPECT_TEXT]);

// A line for each, or for those that were not met.
void hs_lab_expect_print(FILE *to, const json_t *result, bool unmet_alone);
// "12 of 13 expectations met"
void hs_lab_expect_total(FILE *to, const json_t *result);
