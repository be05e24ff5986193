// SPDX-License-Identifier: BSD-3-Clause
#include "api_label.h"

#include <stdio.h>
#include <string.h>

#define LABEL(...) HS_SCHEMA_ROW(struct hs_api_label, UINT, __VA_ARGS__, .required = true)
const struct hs_schema_field hs_api_label_fields[] = {
		LABEL(id, "the port's number in items", .min = 1, .max = UINT32_MAX,
				.expected = "1 to 4294967295"),
		LABEL(shift, "S: the port's interval is divided by two as often",
				.max = HS_API_LABEL_SHIFT, .expected = "0 to 62"),
		{NULL},
};

static int check_once(const json_t *list, size_t i, const char *path, struct hs_error *err)
{
	uint32_t id = hs_api_label_at(list, i).id;
	char at[64];

	for (size_t j = 0; j < i; j++) {
		if (hs_api_label_at(list, j).id != id)
			continue;
		snprintf(at, sizeof(at), "%s[%zu].id", path, i);
		return hs_error_set(err, "duplicate", at, "each port once",
				"%s: %u is in the list already", at, id);
	}
	return 0;
}

int hs_api_read_labels(json_t *list, const char *path, void *at, struct hs_error *err)
{
	static const char allowed[] = "a list of 1 to 256 objects with id and shift";
	size_t n = json_array_size(list);

	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, allowed, err);
	if (n < 1 || n > HS_API_LABEL_PORTS)
		return hs_error_set(err, "out_of_range", path, allowed, "%s: %zu ports", path, n);
	for (size_t i = 0; i < n; i++) {
		json_t *item = json_array_get(list, i);
		struct hs_api_label label;
		char place[64];
		snprintf(place, sizeof(place), "%s[%zu]", path, i);
		if (!json_is_object(item))
			return hs_schema_wrong_type(
					item, place, "an object with id and shift", err);
		int rc = hs_schema_read(hs_api_label_fields, item, place, &label, err);
		rc = rc ? rc : check_once(list, i, path, err);
		if (rc)
			return rc;
	}
	memcpy(at, &list, sizeof(list));
	return 0;
}

struct hs_api_label hs_api_label_at(const json_t *list, size_t i)
{
	const json_t *item = json_array_get(list, i);

	return (struct hs_api_label){
			.id = (uint32_t)json_integer_value(json_object_get(item, "id")),
			.shift = (uint32_t)json_integer_value(json_object_get(item, "shift"))};
}
