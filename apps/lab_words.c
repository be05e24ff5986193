// SPDX-License-Identifier: BSD-3-Clause
#include "lab_words.h"

#include "text_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const struct hs_lab_unit *hs_lab_unit_of(const char *metric)
{
	static const struct hs_lab_unit units[] = {{"_bps", "Mbit/s", 1e-6}, {"_ratio", "%", 100},
			{"_ns", "ms", 1e-6}, {"", "", 1}};
	const struct hs_lab_unit *unit = units;

	while (!strstr(metric, unit->of))
		unit++;
	return unit;
}

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
