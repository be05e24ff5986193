// SPDX-License-Identifier: BSD-3-Clause
#include "duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS   INT64_C(1000000)
#define MOST (INT64_C(36000000) * 1000 * MS)

static const struct {
	const char *text;
	int64_t ns;
} units[] = {{"ms", MS}, {"s", 1000 * MS}, {"m", 60000 * MS}, {"h", 3600000 * MS}};

int hs_duration_read(const char *text, int64_t *ns)
{
	char *unit;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	long long number = strtoll(text, &unit, 10);
	if (errno || number <= 0)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].text) != 0)
			continue;
		if (number > MOST / units[i].ns)
			return -EINVAL;
		*ns = number * units[i].ns;
		return 0;
	}
	return -EINVAL;
}

void hs_duration_write(int64_t ns, char text[HS_DURATION_BYTES])
{
	if (ns % (1000 * MS) == 0)
		snprintf(text, HS_DURATION_BYTES, "%" PRId64 "s", ns / (1000 * MS));
	else if (ns % MS == 0)
		snprintf(text, HS_DURATION_BYTES, "%" PRId64 "ms", ns / MS);
	else
		snprintf(text, HS_DURATION_BYTES, "%" PRId64 "ns", ns);
}

size_t hs_duration_list(
		const int64_t *ns, size_t most, const char *before_last, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < most && ns[i] && used < size; i++) {
		bool last = i + 1 == most || !ns[i + 1];
		const char *before = i == 0 ? "" : last ? before_last : ", ";
		char length[HS_DURATION_BYTES];
		hs_duration_write(ns[i], length);
		used += (size_t)snprintf(text + used, size - used, "%s%s", before, length);
	}
	return used;
}
