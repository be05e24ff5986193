// SPDX-License-Identifier: BSD-3-Clause
// Numbers and names of a run for people: with ms, Mbit/s, %, and commas between thousands.
//
// Thread rule: any.
#pragma once

#include <stddef.h>

#define HS_LAB_WORD 96

struct hs_lab_unit {
	const char *of;	  // the part of a metric's name that shows the unit: "_ns"
	const char *unit; // "ms"; "" for counts
	double scale;	  // value * scale is in the unit
};

// Returns the unit in which a metric is shown, by the unit in its name ("mae.delay_ns.truth").
const struct hs_lab_unit *hs_lab_unit_of(const char *metric);

// Writes a value with as many decimals as it has, at most six, and with commas: "10,000.5",
// "0.000001", "-3". Writes very large and very small values like "5e-07".
void hs_lab_number(double value, char text[HS_LAB_WORD]);

// Returns the number of bytes in the first line of a text, with lines of at most `width`
// characters. Lines break at a blank if there is one.
size_t hs_lab_first_line(const char *text, size_t width);
// Writes at most `width` characters of the text, with "…" in place of what is left out.
void hs_lab_cut(const char *text, size_t width, char *cut, size_t size);
