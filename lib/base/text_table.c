// SPDX-License-Identifier: BSD-3-Clause
#include "text_table.h"

#include "clean_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP	   2 // between columns
#define LEAST_CUT  16
#define BEFORE_CUT 3 // columns of this rank and above go before texts are cut

struct column {
	char *header;
	size_t width; // of the widest text
	size_t most;  // texts that are wider are cut
	bool right, used;
	bool left_out; // to make lines fit
};

struct hs_text_table {
	struct column *columns;
	char **cells; // row by row
	size_t n_columns, n_cells, room;
	bool failed;
};

int hs_text_table_create(struct hs_text_table **table)
{
	*table = calloc(1, sizeof(**table));
	return *table ? 0 : -ENOMEM;
}

void hs_text_table_destroy(struct hs_text_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_columns; i++)
		free(table->columns[i].header);
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->columns);
	free(table->cells);
	free(table);
}

size_t hs_text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

void hs_text_table_column(struct hs_text_table *table, const char *header, bool right)
{
	struct column *columns =
			reallocarray(table->columns, table->n_columns + 1, sizeof(*columns));
	char *copy = hs_clean_dup(header);

	if (columns)
		table->columns = columns;
	if (!columns || !copy) {
		free(copy);
		table->failed = true;
		return;
	}
	columns[table->n_columns++] = (struct column){
			.header = copy,
			.width = hs_text_width(copy),
			.most = SIZE_MAX,
			.right = right,
	};
}

static bool make_room(struct hs_text_table *table)
{
	size_t room = table->room ? 2 * table->room : 64;
	char **cells;

	if (table->n_cells < table->room)
		return true;
	cells = reallocarray(table->cells, room, sizeof(*cells));
	if (!cells)
		return false;
	table->cells = cells;
	table->room = room;
	return true;
}

void hs_text_table_cell(struct hs_text_table *table, const char *text)
{
	char *copy;

	// Without columns, the table does not know where a cell belongs.
	if (table->failed || table->n_columns == 0)
		return;
	copy = hs_clean_dup(text);
	if (!copy || !make_room(table)) {
		free(copy);
		table->failed = true;
		return;
	}
	struct column *column = &table->columns[table->n_cells % table->n_columns];
	size_t width = hs_text_width(copy);
	column->used |= text[0] != '\0';
	if (width > column->width)
		column->width = width;
	table->cells[table->n_cells++] = copy;
}

// ---- making lines fit ----

static bool is_shown(const struct column *column)
{
	return column->used && !column->left_out;
}

static size_t shown_width(const struct column *column)
{
	return column->width < column->most ? column->width : column->most;
}

static size_t line_width(const struct hs_text_table *table)
{
	size_t width = 0;

	for (size_t c = 0; c < table->n_columns; c++)
		if (is_shown(&table->columns[c]))
			width += shown_width(&table->columns[c]) + (width ? GAP : 0);
	return width;
}

// Leaves out the column of the highest rank, which is `lowest` or more. Those that are cut go last,
// or as of rank 1 where the first column is cut too. The first column stays. Returns whether there
// was one.
static bool leave_out_one(struct hs_text_table *table, const uint8_t *ranks, int lowest)
{
	struct column *least = NULL;
	bool after_first = false;
	int highest = lowest, of_cut = ranks[0] == HS_TEXT_CUT ? 1 : -1;

	for (size_t c = 0; c < table->n_columns; c++) {
		int rank = ranks[c] == HS_TEXT_CUT ? of_cut : ranks[c];
		if (!is_shown(&table->columns[c]))
			continue;
		if (after_first && rank >= highest) {
			least = &table->columns[c];
			highest = rank;
		}
		after_first = true;
	}
	if (least)
		least->left_out = true;
	return least != NULL;
}

// Gives what is left of a line to the columns that are cut, from left to right.
static void spend(struct hs_text_table *table, size_t spare)
{
	for (size_t c = 0; c < table->n_columns; c++) {
		struct column *column = &table->columns[c];
		if (column->most >= column->width)
			continue;
		size_t more = column->width - column->most;
		more = more < spare ? more : spare;
		column->most += more;
		spare -= more;
	}
}

static char *names_left_out(const struct hs_text_table *table)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	bool first = true;

	for (size_t c = 0; to && c < table->n_columns; c++) {
		const struct column *column = &table->columns[c];
		if (!column->used || (!column->left_out && column->most >= column->width))
			continue;
		fprintf(to, "%s%s", first ? "" : ", ", column->header);
		first = false;
	}
	if (to && fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

char *hs_text_table_fit(struct hs_text_table *table, size_t width, const uint8_t *ranks)
{
	if (table->failed)
		return NULL;
	while (line_width(table) > width && leave_out_one(table, ranks, BEFORE_CUT))
		;
	if (line_width(table) > width)
		for (size_t c = 1; c < table->n_columns; c++)
			if (ranks[c] == HS_TEXT_CUT)
				table->columns[c].most = LEAST_CUT;
	while (line_width(table) > width && leave_out_one(table, ranks, 1))
		;
	if (line_width(table) > width && ranks[0] == HS_TEXT_CUT)
		table->columns[0].most = LEAST_CUT;
	while (line_width(table) > width && leave_out_one(table, ranks, -1))
		;
	size_t used = line_width(table);
	spend(table, used < width ? width - used : 0);
	return names_left_out(table);
}

// ---- text ----

// Returns the bytes of the first n characters.
static int bytes_of(const char *text, size_t n)
{
	const char *end = text;

	for (; *end; end++)
		if (((unsigned char)*end & 0xc0) != 0x80 && n-- == 0)
			break;
	return (int)(end - text);
}

static void print_cell(FILE *to, const struct column *column, const char *text, bool first)
{
	size_t shown = shown_width(column), width = hs_text_width(text);
	int pad = width < shown ? (int)(shown - width) : 0;

	fprintf(to, "%*s", first ? 0 : GAP, "");
	if (width > shown)
		fprintf(to, "%.*s…", bytes_of(text, shown - 1), text);
	else if (column->right)
		fprintf(to, "%*s%s", pad, "", text);
	else
		fprintf(to, "%s%*s", text, pad, "");
}

// Prints a row of cells, or the headers if `cells` is NULL.
static void print_row(FILE *to, const struct hs_text_table *table, char *const *cells)
{
	bool first = true;

	for (size_t c = 0; c < table->n_columns; c++) {
		const struct column *column = &table->columns[c];
		if (!is_shown(column))
			continue;
		print_cell(to, column, cells ? cells[c] : column->header, first);
		first = false;
	}
	if (!first)
		fputc('\n', to);
}

// Removes the spaces that alignment put after the last text of a line.
static void trim_lines(char *text)
{
	char *to = text;

	for (char *from = text; *from; from++) {
		while (*from == '\n' && to > text && to[-1] == ' ')
			to--;
		*to++ = *from;
	}
	*to = '\0';
}

char *hs_text_table_text(const struct hs_text_table *table)
{
	char *text = NULL;
	size_t size;
	FILE *to = table->failed ? NULL : open_memstream(&text, &size);

	if (!to)
		return NULL;
	print_row(to, table, NULL);
	for (size_t i = 0; i + table->n_columns <= table->n_cells && table->n_columns;
			i += table->n_columns)
		print_row(to, table, table->cells + i);
	if (fclose(to) != 0) {
		free(text);
		return NULL;
	}
	trim_lines(text);
	return text;
}
