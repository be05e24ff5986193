// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_draft.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- errors ----

int hs_draft_prefix(const struct hs_draft *draft)
{
	hs_error_prefix(draft->err, draft->item.path);
	return -EINVAL;
}

int hs_draft_refuse(const struct hs_draft *draft, const char *key, const char *code,
		const char *expected, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	hs_error_vset(draft->err, code, key ? key : "", expected, format, args);
	va_end(args);
	return hs_draft_prefix(draft);
}

int hs_draft_refuse_missing(const struct hs_draft *draft, const char *key, const char *expected)
{
	return hs_draft_refuse(draft, key, "missing_field", expected, "there is no \"%s\"", key);
}

// ---- memory ----

int hs_draft_no_memory(const struct hs_draft *draft)
{
	hs_error_set(draft->err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

void *hs_draft_room(struct hs_draft *draft, size_t n, size_t size)
{
	free(draft->room);
	draft->room = calloc(n ? n : 1, size);
	if (!draft->room)
		hs_draft_no_memory(draft);
	return draft->room;
}

// ---- names ----

int hs_draft_add_name(struct hs_draft *draft, const char *kind, const char *name, size_t index)
{
	json_t *names = json_object_get(draft->names, kind);

	if (hs_schema_check_name(name, "name", draft->err) < 0)
		return hs_draft_prefix(draft);
	if (json_object_get(names, name))
		return hs_draft_refuse(draft, "name", "duplicate", "a name of its own",
				"another %s is called \"%s\" too", kind, name);
	if (json_object_set_new(names, name, json_integer((json_int_t)index)) < 0)
		return hs_draft_no_memory(draft);
	return 0;
}

uint32_t hs_draft_find_name(const struct hs_draft *draft, const char *kind, const char *name)
{
	const json_t *index = json_object_get(json_object_get(draft->names, kind), name);
	return index ? (uint32_t)json_integer_value(index) : HS_NO_INDEX;
}

// Items without a name may have any: links get theirs, and a name may be the error. A topology and
// a pattern of traffic make many names.
bool hs_draft_may_be(struct hs_draft *draft, const char *list, const char *name)
{
	const json_t *items = json_object_get(draft->root, list);
	bool head = !draft->limit_ns; // has an error, perhaps the list's key
	bool made = json_object_get(draft->root, "topology") || (head && !items) ||
		    hs_errors_touch_one(draft->errors, list);
	json_t *item;
	size_t i;

	if (!draft->broken && !draft->errors->n)
		return false;
	json_array_foreach (items, i, item) {
		const char *own = json_string_value(json_object_get(item, "name"));
		made |= !own || strcmp(own, name) == 0 || json_object_get(item, "pattern");
	}
	draft->broken |= made;
	return made;
}

#define NAMES_OF(kind, LIST, ARTICLE, WHAT)                                                        \
	static uint32_t find_##kind(const void *draft, const char *name)                           \
	{                                                                                          \
		uint32_t index = hs_draft_find_name(draft, WHAT, name);                            \
		bool may_be = index == HS_NO_INDEX && hs_draft_may_be((void *)draft, LIST, name);  \
		return may_be ? 0 : index;                                                         \
	}                                                                                          \
	const struct hs_schema_names hs_draft_##kind##_names = {                                   \
			"unknown_name", WHAT, ARTICLE WHAT, find_##kind, NULL}
NAMES_OF(node, "nodes", "the name of a ", HS_NAME_NODE);
NAMES_OF(link, "links", "the name of a ", HS_NAME_LINK);
NAMES_OF(host, "hosts", "the name of a ", HS_NAME_HOST);
NAMES_OF(traffic, "traffic", "the name of an ", HS_NAME_TRAFFIC);
const struct hs_schema_word hs_draft_all_nodes[] = {{"*", HS_NO_INDEX}, {NULL, 0}};

// ---- checks that several lists share ----

const struct hs_schema_style hs_draft_open = {.open = true};

bool hs_draft_has(const struct hs_draft *draft, const char *key)
{
	return json_object_get(draft->item.value, key);
}

int hs_draft_check_kinds(const struct hs_draft *draft, const struct hs_schema_field *fields,
		unsigned kind, const char *what)
{
	const struct hs_schema_field *field;

	for (field = fields; field->key; field++)
		if (field->kinds && !(field->kinds & 1u << kind) && hs_draft_has(draft, field->key))
			return hs_draft_refuse(draft, field->key, "conflict", field->help,
					"%s has no \"%s\"", what, field->key);
	for (field = fields; field->key; field++)
		if (field->needed & 1u << kind && !hs_draft_has(draft, field->key))
			return hs_draft_refuse_missing(draft, field->key, field->expected);
	return 0;
}

int hs_draft_check_period(const struct hs_draft *draft, const char *begin, int64_t begin_ns,
		const char *end, int64_t end_ns, const char *message)
{
	const char *late = begin_ns > draft->limit_ns ? begin
			   : end_ns > draft->limit_ns ? end
						      : NULL;
	char bounds[32];

	if (late)
		return hs_draft_refuse(draft, late, "out_of_range", "within the duration",
				"%.12g s is beyond the duration of %.12g s",
				(double)(late == begin ? begin_ns : end_ns) / 1e9,
				(double)draft->limit_ns / 1e9);
	if (end_ns == HS_DRAFT_NEVER || end_ns >= begin_ns)
		return 0;
	snprintf(bounds, sizeof(bounds), "not before %s", begin);
	return hs_draft_refuse(draft, end, "out_of_range", bounds, "%s", message);
}
