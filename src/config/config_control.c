// SPDX-License-Identifier: BSD-3-Clause
#include "config_control.h"

#include "config.h"
#include "config_keys.h"

#include <stdio.h>

static int read_endpoints(
		json_t *list, const char *path, struct hs_endpoints *out, struct hs_error *err)
{
	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list of endpoints", err);
	if (json_array_size(list) > HS_CONFIG_MAX_ENDPOINTS)
		return hs_error_set(err, "out_of_range", path, "at most 8 endpoints",
				"the list has %zu endpoints", json_array_size(list));
	out->n = 0;
	size_t i;
	json_t *item;
	json_array_foreach (list, i, item) {
		char at[64];
		snprintf(at, sizeof(at), "%s[%zu]", path, i);
		if (!json_is_string(item))
			return hs_schema_wrong_type(item, at, "an endpoint like ipc:///run/x", err);
		if (json_string_length(item) >= HS_ENDPOINT_MAX)
			return hs_error_set(err, "out_of_range", at, "at most 127 bytes",
					"the endpoint has %zu bytes", json_string_length(item));
		snprintf(out->text[out->n++], HS_ENDPOINT_MAX, "%s", json_string_value(item));
	}
	return 0;
}

static json_t *print_endpoints(const struct hs_endpoints *endpoints)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < endpoints->n; i++)
		json_array_append_new(list, json_string(endpoints->text[i]));
	return list;
}

static int read_bind(json_t *list, const char *path, void *into, struct hs_error *err)
{
	return read_endpoints(list, path, &((struct hs_config *)into)->bind, err);
}

static int read_publish_to(json_t *list, const char *path, void *into, struct hs_error *err)
{
	return read_endpoints(list, path, &((struct hs_config *)into)->publish_to, err);
}

static int read_publish_bind(json_t *list, const char *path, void *into, struct hs_error *err)
{
	return read_endpoints(list, path, &((struct hs_config *)into)->publish_bind, err);
}

static json_t *print_bind(const void *from)
{
	return print_endpoints(&((const struct hs_config *)from)->bind);
}

static json_t *print_publish_to(const void *from)
{
	return print_endpoints(&((const struct hs_config *)from)->publish_to);
}

static json_t *print_publish_bind(const void *from)
{
	return print_endpoints(&((const struct hs_config *)from)->publish_bind);
}

#define CONFIG(member) HS_SCHEMA_MEMBER(struct hs_config, member)
const struct hs_schema_field hs_config_control_fields[] = {
		{"bind", HS_SCHEMA_CUSTOM, .read = read_bind, .print = print_bind},
		{"publish_to", HS_SCHEMA_CUSTOM, .read = read_publish_to,
				.print = print_publish_to},
		{"publish_bind", HS_SCHEMA_CUSTOM, .read = read_publish_bind,
				.print = print_publish_bind},
		{"publish_queue", HS_SCHEMA_UINT, CONFIG(publish_queue), .min = 1, .max = 1000000},
		{"insecure", HS_SCHEMA_BOOL, CONFIG(insecure)},
		{"keys", HS_SCHEMA_CUSTOM, .read = hs_config_read_keys,
				.print = hs_config_print_keys},
		{NULL},
};
