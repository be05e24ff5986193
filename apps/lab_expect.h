// SPDX-License-Identifier: BSD-3-Clause
// Expectations as text: met or not, with the measured and the allowed value.
//
// Thread rule: any.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define HS_LAB_EXPECT_TEXT 640

// Writes a member of the result's list "expect": "delay_ns, src-sw1: 10 ms (10 ± 0.000001 ms)".
void hs_lab_expect_text(const json_t *expect, char text[HS_LAB_EXPECT_TEXT]);

// Prints a line for each expectation, or only for those that were not met.
void hs_lab_expect_print(FILE *to, const json_t *result, bool unmet_alone);
// Returns how many expectations were not met.
size_t hs_lab_expect_unmet(const json_t *result);
// Prints "12 of 13 expectations met".
void hs_lab_expect_total(FILE *to, const json_t *result);
