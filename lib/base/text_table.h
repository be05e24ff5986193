// SPDX-License-Identifier: BSD-3-Clause
// A table of text for people. Columns are as wide as their widest cell; columns without a value are
// left out.
//
// Thread rule: owner. Text is UTF-8 without control characters.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_text_table;

// Returns 0 or -ENOMEM. destroy accepts NULL.
int hs_text_table_create(struct hs_text_table **table);
void hs_text_table_destroy(struct hs_text_table *table);

// Adds a column; all columns come before the first cell. `right` aligns it to the right, for
// numbers.
void hs_text_table_column(struct hs_text_table *table, const char *header, bool right);
// Adds the next cell of the row, or the first cell of the next row. "" is an empty cell.
void hs_text_table_cell(struct hs_text_table *table, const char *text);

#define HS_TEXT_CUT UINT8_MAX // the rank of a column that is cut in place of being left out

// Makes lines fit a terminal of `width` columns. Leaves out columns of the table, those of the
// highest rank first and of one rank the last one, until a line fits. The first column stays. When
// those of rank 3 and above are left out, cuts texts of columns of rank HS_TEXT_CUT, if need be to
// 16 characters, and leaves these columns out last. A first column of this rank is cut when only
// columns of rank 0 are left beside it. `ranks` has a rank for each column. Call it after the last
// cell. Returns the headers of the columns that were left out or cut, with ", " between them, or
// "". The caller frees the text. Returns NULL if memory was out.
char *hs_text_table_fit(struct hs_text_table *table, size_t width, const uint8_t *ranks);

// Returns a line for the headers and one line for each row, or "" if the table has no value. The
// caller frees the text. Returns NULL if memory was out, now or at a cell.
char *hs_text_table_text(const struct hs_text_table *table);

// Returns the columns of a terminal that a text takes, which is the number of bytes that begin a
// character.
size_t hs_text_width(const char *text);
