// SPDX-License-Identifier: BSD-3-Clause
// Numbers and names of a run as people read them: ms, Mbit/s, %, thousands apart.
//
// Thread rule: any.
#pragma once

#include "lab_metric.h"

#include <stddef.h>
#include <stdint.h>

#define HS_LAB_WORD 96

struct hs_lab_unit {
	const char *title; // "Delay"
	const char *unit;  // "ms"; "" for counts
	double scale;	   // value * scale is in the unit
};

const struct hs_lab_unit *hs_lab_unit_of(enum hs_lab_metric_kind kind);
// Of what an expectation names ("mae.delay_ns.truth"): by the unit in its name.
const struct hs_lab_unit *hs_lab_unit_of_metric(const char *metric);

// "14,312,882"
void hs_lab_count(uint64_t count, char text[HS_LAB_WORD]);
// As many decimals as it has, six at most, thousands apart: "10,000.5", "0.000001", "-3"; "5e-07".
void hs_lab_number(double value, char text[HS_LAB_WORD]);

// Bytes of the first line of a text in lines of at most `width` characters, broken at a blank where
// there is one.
size_t hs_lab_first_line(const char *text, size_t width);
// At most `width` characters of it, "…" where something is missing.
void hs_lab_cut(const char *text, size_t width, char *cut, size_t size);
