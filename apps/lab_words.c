// SPDX-License-Identifier: BSD-3-Clause
#include "lab_words.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void hs_lab_number(double value, char text[HS_LAB_WORD])
{
	char digits[HS_LAB_WORD];
	size_t n = 0;

	// The value is no number, or too large or too small for plain digits.
	if (!(fabs(value) < 1e15) || (value != 0 && fabs(value) < 0.5e-6)) {
		snprintf(text, HS_LAB_WORD, "%.2g", value);
		return;
	}
	char *end = digits + snprintf(digits, sizeof(digits), "%.6f", fabs(value));
	while (end[-1] == '0')
		end--;
	end[end[-1] == '.' ? -1 : 0] = '\0';
	size_t whole = strcspn(digits, ".");
	if (value < 0 && strcmp(digits, "0") != 0)
		text[n++] = '-';
	for (size_t i = 0; digits[i]; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			text[n++] = ',';
		text[n++] = digits[i];
	}
	text[n] = '\0';
}

// Returns the number of bytes in whole characters that begin a text: at most `width` characters
// and `size` bytes.
static size_t beginning(const char *text, size_t width, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i <= size; i++) {
		if (((unsigned char)text[i] & 0xc0) == 0x80)
			continue;
		n = i;
		if (!text[i] || !width--)
			break;
	}
	return n;
}

void hs_lab_cut(const char *text, size_t width, char *cut, size_t size)
{
	static const char more[] = "…";

	if (hs_text_width(text) <= width)
		snprintf(cut, size, "%s", text);
	else
		snprintf(cut, size, "%.*s%s", (int)beginning(text, width - 1, size - sizeof(more)),
				text, more);
}

size_t hs_lab_first_line(const char *text, size_t width)
{
	size_t n = beginning(text, width, strlen(text)), blank = n;

	while (text[n] && blank && text[blank] != ' ')
		blank--;
	return blank ? blank : n;
}

// ---- tables ----

struct hs_text_table *hs_lab_table_begin(const char *aligned, const char *const *headers)
{
	struct hs_text_table *table;

	if (hs_text_table_create(&table) < 0)
		return NULL;
	for (; *aligned; aligned++)
		hs_text_table_column(table, *headers++, *aligned == 'r');
	return table;
}

void hs_lab_cell(struct hs_text_table *table, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (table)
		hs_text_table_cell(table, text);
}

void hs_lab_wrapped_cell(
		struct hs_text_table *table, unsigned column, const char *text, size_t width)
{
	for (bool first = true; first || *text; first = false) {
		size_t n = hs_lab_first_line(text, width);
		for (unsigned i = 0; i < column && !first; i++)
			hs_lab_cell(table, "%s", "");
		hs_lab_cell(table, "%.*s", (int)n, text);
		text += n + (text[n] == ' ');
	}
}

int hs_lab_table_end(FILE *to, const char *before, struct hs_text_table *table)
{
	char *text = table ? hs_text_table_text(table) : NULL;
	int rc = text ? 0 : -ENOMEM;

	if (text && text[0])
		fprintf(to, "%s%s", before, text);
	free(text);
	hs_text_table_destroy(table);
	return rc;
}
