// SPDX-License-Identifier: BSD-3-Clause
// Numbers, names and tables for people: with ms, Mbit/s, %, and commas between thousands.
//
// Thread rule: owner.
#pragma once

#include "text_table.h"

#include <stdio.h>

#define HS_LAB_WORD 96

// Writes a value with as many decimals as it has, at most six, and with commas: "10,000.5",
// "0.000001", "-3". Writes very large and very small values like "5e-07".
void hs_lab_number(double value, char text[HS_LAB_WORD]);

// Returns the number of bytes in the first line of a text, with lines of at most `width`
// characters. Lines break at a blank if there is one.
size_t hs_lab_first_line(const char *text, size_t width);
// Writes at most `width` characters of the text, with "…" in place of what is left out.
void hs_lab_cut(const char *text, size_t width, char *cut, size_t size);

// ---- tables ----

// Begins a table. `aligned` has 'l' or 'r' for each column. Returns NULL if memory is out, which
// the functions below take, too.
struct hs_text_table *hs_lab_table_begin(const char *aligned, const char *const *headers);
__attribute__((format(printf, 2, 3))) void hs_lab_cell(
		struct hs_text_table *table, const char *format, ...);
// Adds a text as lines of the last column, in which lines have at most `width` characters. `column`
// is the index of this column.
void hs_lab_wrapped_cell(
		struct hs_text_table *table, unsigned column, const char *text, size_t width);
// Prints `before` and the table if the table has rows, and destroys it. Returns 0 or -ENOMEM.
int hs_lab_table_end(FILE *to, const char *before, struct hs_text_table *table);
