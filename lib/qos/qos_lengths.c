// SPDX-License-Identifier: BSD-3-Clause
#include "qos_lengths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MS	 INT64_C(1000000)
#define LEAST_MS 100 // as long as a window stays open after its end
#define MOST_MS	 600000
#define SHOWN_NS (10000 * MS)

static int read_length(const json_t *value, const char *path, int64_t before_ns, int64_t *ns,
		struct hs_error *err)
{
	json_int_t ms = json_integer_value(value);

	if (!json_is_integer(value))
		return hs_error_set(err, "wrong_type", path, "an integer from 100 to 600000",
				"a length of windows is an integer");
	if (ms < LEAST_MS || ms > MOST_MS)
		return hs_error_set(err, "out_of_range", path, "an integer from 100 to 600000",
				"%lld ms is no length of a window", (long long)ms);
	*ns = ms * MS;
	if (!before_ns || (*ns > before_ns && *ns % before_ns == 0))
		return 0;
	return hs_error_set(err, "bad_value", path,
			"lengths that ascend, each a multiple of the one before",
			"%lld is not above %lld and a multiple of it", (long long)ms,
			(long long)(before_ns / MS));
}

int hs_qos_lengths_read(json_t *list, const char *path, void *window_ns, struct hs_error *err)
{
	int64_t read[HS_QOS_WINDOWS] = {0};
	size_t n = json_array_size(list);

	if (!json_is_array(list))
		return hs_error_set(err, "wrong_type", path, "a list of milliseconds",
				"the lengths of windows are a list");
	if (n < 1 || n > HS_QOS_WINDOWS)
		return hs_error_set(err, "out_of_range", path, "one to four lengths",
				"the list has %zu lengths", n);
	for (size_t i = 0; i < n; i++) {
		char at[96];
		snprintf(at, sizeof(at), "%.80s[%zu]", path, i);
		int rc = read_length(
				json_array_get(list, i), at, i ? read[i - 1] : 0, &read[i], err);
		if (rc < 0)
			return rc;
	}
	memcpy(window_ns, read, sizeof(read));
	return 0;
}

json_t *hs_qos_lengths_print(const void *window_ns)
{
	const int64_t *lengths_ns = window_ns;
	json_t *list = json_array();

	for (unsigned i = 0; i < HS_QOS_WINDOWS && lengths_ns[i]; i++)
		json_array_append_new(list, json_integer(lengths_ns[i] / MS));
	return list;
}

int hs_qos_lengths_find(const int64_t window_ns[HS_QOS_WINDOWS], int64_t ns)
{
	for (int i = 0; i < HS_QOS_WINDOWS && window_ns[i]; i++)
		if (window_ns[i] == ns)
			return i;
	return -1;
}

int64_t hs_qos_lengths_shown(const int64_t window_ns[HS_QOS_WINDOWS])
{
	unsigned i = 0;

	while (i + 1 < HS_QOS_WINDOWS && window_ns[i] < SHOWN_NS && window_ns[i + 1])
		i++;
	return window_ns[i];
}
