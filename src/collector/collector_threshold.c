// SPDX-License-Identifier: BSD-3-Clause
#include "collector_threshold.h"

#include "schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLOWED	     "a number from 0, a share like \"10%\" up to \"999.99%\", or \"off\""
#define HUNDREDTHS   100 // of a percent: the unit of a relative threshold is 1/10000
#define LONGEST_TEXT 7	 // "999.99%"

// Reads "10%" or "0.25%" into hundredths of a percent. Returns 0 if the text is no share.
static uint32_t read_share(const char *text)
{
	size_t len = strlen(text), whole = strspn(text, "0123456789");
	const char *rest = text + whole;
	uint32_t hundredths = 0;

	if (whole < 1 || whole > 3 || len > LONGEST_TEXT || text[len - 1] != '%')
		return 0;
	if (*rest == '.') {
		size_t digits = strspn(rest + 1, "0123456789");
		if (digits < 1 || digits > 2)
			return 0;
		hundredths = (uint32_t)atoi(rest + 1) * (digits == 1 ? 10 : 1);
		rest += 1 + digits;
	}
	return *rest == '%' && !rest[1] ? (uint32_t)atoi(text) * HUNDREDTHS + hundredths : 0;
}

int hs_collector_threshold_read(json_t *value, const char *path, void *into, struct hs_error *err)
{
	struct hs_collect_threshold *threshold = into;
	const char *text = json_string_value(value);

	if (!json_is_integer(value) && !text)
		return hs_schema_wrong_type(value, path, ALLOWED, err);
	*threshold = (struct hs_collect_threshold){.off = text && strcmp(text, "off") == 0};
	if (!text && json_integer_value(value) < 0)
		return hs_error_set(err, "out_of_range", path, ALLOWED, "%lld is below 0",
				(long long)json_integer_value(value));
	if (!text)
		threshold->absolute = (uint64_t)json_integer_value(value);
	else if (!threshold->off)
		threshold->relative = read_share(text);
	if (text && !threshold->off && !threshold->relative)
		return hs_error_set(
				err, "bad_value", path, ALLOWED, "\"%.32s\" is no threshold", text);
	return 0;
}

json_t *hs_collector_threshold_print(const void *from)
{
	const struct hs_collect_threshold *threshold = from;
	uint32_t share = threshold->relative;
	char text[24];

	if (threshold->off)
		return json_string("off");
	if (!share)
		return json_integer((json_int_t)threshold->absolute);
	snprintf(text, sizeof(text), share % HUNDREDTHS ? "%u.%02u%%" : "%u%%", share / HUNDREDTHS,
			share % HUNDREDTHS);
	return json_string(text);
}
