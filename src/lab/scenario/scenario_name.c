// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hs_scenario_no_memory(struct hs_error *err)
{
	hs_error_set(err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

void *hs_scenario_room(size_t n, size_t size, struct hs_error *err)
{
	void *room = calloc(n ? n : 1, size);
	if (!room)
		hs_scenario_no_memory(err);
	return room;
}

int hs_scenario_list(json_t *list, const char *path, size_t max, size_t *n, struct hs_error *err)
{
	char bounds[48];

	*n = 0;
	if (!list)
		return 0;
	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list", err);
	*n = json_array_size(list);
	snprintf(bounds, sizeof(bounds), "at most %zu", max);
	if (*n > max)
		return hs_error_set(err, "out_of_range", path, bounds, "the list has %zu", *n);
	return 0;
}

int hs_scenario_each(struct hs_scenario_draft *draft, json_t *list, const char *path,
		hs_scenario_item *read, struct hs_error *err)
{
	json_t *item;
	size_t i;
	int rc = 0;

	json_array_foreach (list, i, item) {
		char at[48];
		snprintf(at, sizeof(at), "%s[%zu]", path, i);
		rc = read(draft, item, i, at, err);
		if (rc < 0)
			break;
	}
	return rc;
}

int hs_scenario_names_init(struct hs_scenario_names *names, const char *what)
{
	*names = (struct hs_scenario_names){json_object(), what};
	return names->index ? 0 : -ENOMEM;
}

void hs_scenario_names_fini(struct hs_scenario_names *names)
{
	json_decref(names->index);
}

int hs_scenario_names_add(struct hs_scenario_names *names, const char *name, size_t index,
		const char *path, struct hs_error *err)
{
	if (hs_schema_check_name(name, path, err) < 0)
		return -EINVAL;
	if (json_object_get(names->index, name))
		return hs_error_set(err, "duplicate", path, "a name of its own",
				"another %s is called \"%s\" too", names->what, name);
	if (json_object_set_new(names->index, name, json_integer((json_int_t)index)) < 0)
		return hs_scenario_no_memory(err);
	return 0;
}

uint32_t hs_scenario_names_find(const struct hs_scenario_names *names, const char *name)
{
	const json_t *index = json_object_get(names->index, name);
	return index ? (uint32_t)json_integer_value(index) : HS_NO_INDEX;
}

#define FIND(list)                                                                                 \
	static uint32_t find_##list(const void *root, const char *name)                            \
	{                                                                                          \
		const struct hs_scenario_draft *const *draft = root;                               \
		return hs_scenario_names_find(&(*draft)->list##_names, name);                      \
	}
FIND(node)
FIND(link)
FIND(traffic)
const struct hs_schema_names hs_scenario_node_names = {
		"unknown_name", "node", "the name of a node", find_node, NULL};
const struct hs_schema_names hs_scenario_link_names = {
		"unknown_name", "link", "the name of a link", find_link, NULL};
const struct hs_schema_names hs_scenario_traffic_names = {"unknown_name", "entry of traffic",
		"the name of an entry of traffic", find_traffic, NULL};
const struct hs_schema_word hs_scenario_all_words[] = {{"*", HS_SCENARIO_ALL}, {NULL, 0}};

const char *hs_scenario_at(char at[HS_SCENARIO_AT], const char *path, const char *key)
{
	snprintf(at, HS_SCENARIO_AT, "%s.%s", path, key);
	return at;
}

int hs_scenario_check_keys(const struct hs_scenario_key *keys, json_t *object, unsigned kind,
		const char *path, const char *what, struct hs_error *err)
{
	for (; keys->key; keys++) {
		if (!json_object_get(object, keys->key) || keys->kinds & 1u << kind)
			continue;
		return hs_error_set(err, "conflict", AT(path, keys->key), keys->expected,
				"%s has no \"%s\"", what, keys->key);
	}
	return 0;
}

int hs_scenario_refuse_missing(
		const char *path, const char *key, const char *expected, struct hs_error *err)
{
	return hs_error_set(
			err, "missing_field", AT(path, key), expected, "there is no \"%s\"", key);
}
