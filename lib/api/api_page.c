// SPDX-License-Identifier: BSD-3-Clause
#include "api_page.h"

#include <string.h>

static size_t digits_of(json_int_t value)
{
	size_t n = value < 0 ? 2 : 1;

	while ((value /= 10) != 0)
		n++;
	return n;
}

// Estimates the length of the text. Printing only to count would take a third of the time of a
// page. The depth of our own values limits the recursion.
static size_t bytes_of(const json_t *json)
{
	const char *key;
	json_t *value;
	size_t i, bytes = 1; // two brackets, minus one comma

	switch (json_typeof(json)) {
	case JSON_OBJECT:
		json_object_foreach ((json_t *)json, key, value)
			bytes += strlen(key) + 4 + bytes_of(value);
		return bytes;
	case JSON_ARRAY:
		json_array_foreach (json, i, value)
			bytes += 1 + bytes_of(value);
		return bytes;
	case JSON_STRING:
		return json_string_length(json) + 2;
	case JSON_INTEGER:
		return digits_of(json_integer_value(json));
	case JSON_REAL:
		return 18;
	default:
		return 5;
	}
}

static bool fits(const struct hs_api_args *args, const json_t *page, const json_t *more,
		size_t *used)
{
	size_t bytes = more ? bytes_of(more) + 1 : 0;

	if (args->room && *used + bytes > args->room && json_array_size(page) > 0)
		return false;
	*used += bytes;
	return true;
}

bool hs_api_page_add(const struct hs_api_args *args, json_t *page, json_t *entry, size_t *used)
{
	bool added = fits(args, page, entry, used);

	if (added)
		json_array_append(page, entry);
	json_decref(entry);
	return added;
}

bool hs_api_page_extend(const struct hs_api_args *args, json_t *page, json_t *entries, size_t *used)
{
	bool added = json_array_size(entries) == 0 || fits(args, page, entries, used);

	if (added)
		json_array_extend(page, entries);
	json_decref(entries);
	return added;
}
