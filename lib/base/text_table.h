// SPDX-License-Identifier: BSD-3-Clause
// A table of text for people: columns as wide as their widest cell, those without a value left out.
//
// Thread rule: owner. Text is UTF-8 and holds no control characters.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct hs_text_table;

// 0 or -ENOMEM. destroy accepts NULL.
int hs_text_table_create(struct hs_text_table **table);
void hs_text_table_destroy(struct hs_text_table *table);

// The next column; all of them come before the first cell. `right`: aligned there, for numbers.
void hs_text_table_column(struct hs_text_table *table, const char *header, bool right);
// The next cell of the row, or the first of the next row; "" for none.
void hs_text_table_cell(struct hs_text_table *table, const char *text);

// A line for the headers and one for each row, "" without any value; the caller frees it. NULL:
// memory was out, now or at a cell.
char *hs_text_table_text(const struct hs_text_table *table);

// Columns of a terminal that a text takes: the bytes that begin a character.
size_t hs_text_width(const char *text);
