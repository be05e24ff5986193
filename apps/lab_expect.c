// SPDX-License-Identifier: BSD-3-Clause
#include "lab_expect.h"

#include "lab_words.h"

#include <string.h>

static void scaled(const json_t *value, const struct hs_lab_unit *unit, char text[HS_LAB_WORD])
{
	hs_lab_number(json_number_value(value) * unit->scale, text);
}

static void limits_text(
		const json_t *expect, const struct hs_lab_unit *unit, char *text, size_t size)
{
	const json_t *value = json_object_get(expect, "value");
	const json_t *low = json_object_get(expect, value ? "tolerance" : "min");
	const json_t *high = json_object_get(expect, "max");
	const char *gap = unit->unit[0] ? " " : "";
	char a[HS_LAB_WORD], b[HS_LAB_WORD];

	scaled(value ? value : low ? low : high, unit, a);
	scaled(value ? low : high, unit, b);
	if (value)
		snprintf(text, size,
				low && json_number_value(low) != 0 ? "%s ± %s%s%s" : "%s%.0s%s%s",
				a, b, gap, unit->unit);
	else if (low && high)
		snprintf(text, size, "%s to %s%s%s", a, b, gap, unit->unit);
	else
		snprintf(text, size, "at %s %s%s%s", low ? "least" : "most", a, gap, unit->unit);
}

void hs_lab_expect_text(const json_t *expect, char text[HS_LAB_EXPECT_TEXT])
{
	static const char *const keys[] = {"hop", "flow", "node"};
	const char *metric = json_string_value(json_object_get(expect, "metric"));
	const char *reason = json_string_value(json_object_get(expect, "reason"));
	const json_t *measured = json_object_get(expect, "measured");
	const struct hs_lab_unit *unit = hs_lab_unit_of(metric);
	char number[HS_LAB_WORD], limits[3 * HS_LAB_WORD];
	int used = snprintf(text, HS_LAB_EXPECT_TEXT, "%s", metric);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *name = json_string_value(json_object_get(expect, keys[i]));
		if (name)
			used += snprintf(text + used, HS_LAB_EXPECT_TEXT - (size_t)used, ", %s",
					strcmp(name, "*") == 0 ? "worst hop" : name);
	}
	limits_text(expect, unit, limits, sizeof(limits));
	if (measured)
		scaled(measured, unit, number);
	snprintf(text + used, HS_LAB_EXPECT_TEXT - (size_t)used, ": %s%s%s (%s)",
			measured ? number
			: reason ? reason
				 : "nothing measured",
			measured && unit->unit[0] ? " " : "", measured ? unit->unit : "", limits);
}

void hs_lab_expect_print(FILE *to, const json_t *result, bool unmet_alone)
{
	const json_t *expects = json_object_get(result, "expect");
	char text[HS_LAB_EXPECT_TEXT];
	const json_t *expect;
	size_t i;

	json_array_foreach (expects, i, expect) {
		bool met = json_is_true(json_object_get(expect, "met"));
		if (met && unmet_alone)
			continue;
		hs_lab_expect_text(expect, text);
		fprintf(to, "  %s  %s\n", met ? "met    " : "NOT MET", text);
	}
}

size_t hs_lab_expect_unmet(const json_t *result)
{
	const json_t *expect;
	size_t unmet = 0, i;

	json_array_foreach (json_object_get(result, "expect"), i, expect)
		unmet += !json_is_true(json_object_get(expect, "met"));
	return unmet;
}

void hs_lab_expect_total(FILE *to, const json_t *result)
{
	size_t n = json_array_size(json_object_get(result, "expect"));

	if (n)
		fprintf(to, "%zu of %zu expectation%s met\n", n - hs_lab_expect_unmet(result), n,
				n == 1 ? "" : "s");
	else
		fprintf(to, "no expectations\n");
}
