// SPDX-License-Identifier: BSD-3-Clause
#include "config_partial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MS_NS	      INT64_C(1000000)
#define MAX_AGE_MS    86400000
#define MAX_CHANGE    (UINT64_C(1) << 53) // the largest number that every JSON reader keeps
#define KEY_SUPPORTED "supported"
#define KEY_CHANCE    "probability_percent"
#define KEY_CHANGE    "min_change"
#define KEY_AGE	      "max_age_ms"

// One field in the form of the configuration.
struct written {
	bool supported;
	double probability_percent;
	uint64_t min_change, max_age_ms;
};

#define WRITTEN(member) HS_SCHEMA_MEMBER(struct written, member)
static const struct hs_schema_field written_fields[] = {
		{KEY_SUPPORTED, HS_SCHEMA_BOOL, WRITTEN(supported)},
		{KEY_CHANCE, HS_SCHEMA_REAL, WRITTEN(probability_percent), .least = 0, .most = 100},
		{KEY_CHANGE, HS_SCHEMA_UINT, WRITTEN(min_change), .min = 0, .max = MAX_CHANGE},
		{KEY_AGE, HS_SCHEMA_UINT, WRITTEN(max_age_ms), .min = 1, .max = MAX_AGE_MS},
		{NULL},
};

static int refuse(const char *path, const char *key, const char *expected, const char *why,
		struct hs_error *err)
{
	char at[96];

	snprintf(at, sizeof(at), "%s.%s", path, key);
	return hs_error_set(err, "conflict", at, expected, "%s", why);
}

static int read_field(json_t *object, const char *path, void *at, struct hs_error *err)
{
	struct hs_partial_field *field = at;
	struct written w = {.supported = true};

	if (hs_schema_read(written_fields, object, path, &w, err) < 0)
		return -EINVAL;
	bool chance = json_object_get(object, KEY_CHANCE);
	bool change = json_object_get(object, KEY_CHANGE), age = json_object_get(object, KEY_AGE);
	if (!w.supported && (chance || change || age))
		return refuse(path, KEY_SUPPORTED, "true, or no policy",
				"a field that is not supported has no policy", err);
	if (chance && (change || age))
		return refuse(path, KEY_CHANCE, "a probability or a threshold",
				"this field has a threshold already", err);
	memset(field, 0, sizeof(*field)); // rules are compared as bytes
	field->unsupported = !w.supported;
	if (chance) {
		field->policy = HS_PARTIAL_PROBABILITY;
		field->probability_percent = w.probability_percent;
	} else if (change || age) {
		field->policy = HS_PARTIAL_THRESHOLD;
		field->min_change = change ? w.min_change : UINT64_MAX;
		field->max_age_ns = age ? (int64_t)w.max_age_ms * MS_NS : INT64_MAX;
	}
	return 0;
}

static json_t *print_field(const void *from)
{
	const struct hs_partial_field *field = from;
	json_t *object = json_pack("{s:b}", KEY_SUPPORTED, !field->unsupported);

	if (field->policy == HS_PARTIAL_PROBABILITY)
		json_object_set_new(object, KEY_CHANCE, json_real(field->probability_percent));
	if (field->policy != HS_PARTIAL_THRESHOLD)
		return object;
	if (field->min_change != UINT64_MAX)
		json_object_set_new(
				object, KEY_CHANGE, json_integer((json_int_t)field->min_change));
	if (field->max_age_ns != INT64_MAX)
		json_object_set_new(object, KEY_AGE, json_integer(field->max_age_ns / MS_NS));
	return object;
}

#define PARTIAL(member)                                                                            \
	HS_SCHEMA_MEMBER(struct hs_partial, member), .read = read_field, .print = print_field,     \
						     .fields = written_fields
const struct hs_schema_field hs_partial_fields[] = {
		{"packets", HS_SCHEMA_CUSTOM, PARTIAL(packets)},
		{"timestamp", HS_SCHEMA_CUSTOM, PARTIAL(timestamp)},
		{"bytes", HS_SCHEMA_CUSTOM, PARTIAL(bytes)},
		{NULL},
};

int hs_config_read_partial(
		json_t *object, const char *path, struct hs_partial *partial, struct hs_error *err)
{
	return hs_schema_read(hs_partial_fields, object, path, partial, err);
}

json_t *hs_config_print_partial(const struct hs_partial *partial)
{
	return hs_schema_print(hs_partial_fields, partial);
}
