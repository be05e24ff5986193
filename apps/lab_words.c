// SPDX-License-Identifier: BSD-3-Clause
#include "lab_words.h"

#include "text_table.h"

#include <inttypes.h>
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

// Puts a comma before every third digit of the whole part, from its end.
static void group(const char *digits, size_t whole, char text[HS_LAB_WORD])
{
	size_t n = 0;

	for (size_t i = 0; digits[i] && n + 2 < HS_LAB_WORD; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			text[n++] = ',';
		text[n++] = digits[i];
	}
	text[n] = '\0';
}

void hs_lab_count(uint64_t count, char text[HS_LAB_WORD])
{
	char digits[32];

	group(digits, (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), text);
}

void hs_lab_number(double value, char text[HS_LAB_WORD])
{
	char digits[HS_LAB_WORD];

	// The value is no number, or too large or too small for plain digits.
	if (!(fabs(value) < 1e15) || (value != 0 && fabs(value) < 0.5e-6)) {
		snprintf(text, HS_LAB_WORD, "%.2g", value);
		return;
	}
	char *end = digits + snprintf(digits, sizeof(digits), "%.6f", fabs(value));
	while (end[-1] == '0')
		end--;
	end[end[-1] == '.' ? -1 : 0] = '\0';
	bool negative = value < 0 && strcmp(digits, "0") != 0;
	text[0] = '-';
	group(digits, strcspn(digits, "."), text + negative);
}

void hs_lab_cut(const char *text, size_t width, char *cut, size_t size)
{
	static const char more[] = "…";
	size_t n = 0, seen = 0;

	if (hs_text_width(text) <= width) {
		snprintf(cut, size, "%s", text);
		return;
	}
	// Counts the bytes of width - 1 whole characters, as far as they fit beside the sign.
	for (size_t i = 0; seen < width && i + sizeof(more) <= size; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80) {
			n = i;
			seen++;
		}
	}
	snprintf(cut, size, "%.*s%s", (int)n, text, more);
}

size_t hs_lab_first_line(const char *text, size_t width)
{
	size_t n = 0, blank = 0, seen = 0;

	for (; text[n]; n++) {
		seen += ((unsigned char)text[n] & 0xc0) != 0x80;
		if (text[n] == ' ')
			blank = n;
		if (seen > width)
			return blank ? blank : n;
	}
	return n;
}
