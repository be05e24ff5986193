// SPDX-License-Identifier: BSD-3-Clause
#include "text_table.h"

#include "clean_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2 // between columns

struct column {
	char *header;
	size_t width;
	bool right, used;
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

static void print_cell(FILE *to, const struct column *column, const char *text, bool first)
{
	int pad = (int)(column->width - hs_text_width(text));

	fprintf(to, "%*s", first ? 0 : GAP, "");
	if (column->right)
		fprintf(to, "%*s%s", pad, "", text);
	else
		fprintf(to, "%s%*s", text, pad, "");
}

// Prints a row by the cells of its columns, or the headers.
static void print_row(FILE *to, const struct hs_text_table *table, char *const *cells)
{
	bool first = true;

	for (size_t c = 0; c < table->n_columns; c++) {
		const struct column *column = &table->columns[c];
		if (!column->used)
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
