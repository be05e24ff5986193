// SPDX-License-Identifier: BSD-3-Clause
// A table of text for people. Columns are as wide as their widest cell; columns without a value are
// left out.
//
// Thread rule: owner. Text is UTF-8 without control characters.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct hs_text_table;

// Returns 0 or -ENOMEM. destroy accepts NULL.
int hs_text_table_create(struct hs_text_table **table);
void hs_text_table_destroy(struct hs_text_table *table);

// Adds a column; all columns come before the first cell. `right` aligns it to the right, for
// numbers.
void hs_text_table_column(struct hs_text_table *table, const char *header, bool right);
// Adds the next cell of the row, or the first cell of the next row. "" is an empty cell.
void hs_text_table_cell(struct hs_text_table *table, const char *text);

// Returns a line for the headers and one line for each row, or "" if the table has no value. The
// caller frees the text. Returns NULL if memory was out, now or at a cell.
char *hs_text_table_text(const struct hs_text_table *table);

// Returns the columns of a terminal that a text takes, which is the number of bytes that begin a
// character.
size_t hs_text_width(const char *text);
