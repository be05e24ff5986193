// SPDX-License-Identifier: BSD-3-Clause
#include "api_requests.h"

#include "api_read.h"

#include <stdio.h>

static int check_which(enum hs_api_verb asked, enum hs_api_which which, struct hs_error *err)
{
	const struct hs_api_verb_row *verb = &hs_api_verbs[asked];
	char verbs[sizeof(err->expected)];

	if (hs_api_verb_is(asked, which))
		return 0;
	hs_api_verb_list(verbs, sizeof(verbs), which);
	if (which == HS_API_CHANGES && verb->passing)
		return hs_error_set(err, "unsupported", verb->name, verbs,
				"%s is for a running process: what it changes ends with the "
				"process",
				verb->name);
	if (verb->changes)
		return hs_error_set(err, "read_only", verb->name, verbs,
				"%s changes something, and this key is for reading only",
				verb->name);
	return hs_error_set(err, "unsupported", verb->name, verbs,
			"%s changes nothing, so it has no place here", verb->name);
}

int hs_api_read_verb(json_t *object, bool in_list, enum hs_api_which which,
		struct hs_api_envelope *envelope, int *verb, struct hs_error *err)
{
	if (!json_is_object(object))
		return hs_error_set(err, "bad_envelope", "", "an object with one verb",
				"the request is not an object");
	int rc = hs_api_object_read(object, in_list, envelope, verb, err);
	return rc ? rc : check_which((enum hs_api_verb) * verb, which, err);
}

// The content is read last, because distinct `fields` and owners are stored for good.
int hs_api_read_request(json_t *object, bool in_list, enum hs_api_which which,
		struct hs_api_envelope *envelope, struct hs_api_args *args, struct hs_error *err)
{
	int verb;
	int rc = hs_api_read_verb(object, in_list, which, envelope, &verb, err);

	if (rc)
		return rc;
	rc = hs_api_args_from_json((enum hs_api_verb)verb,
			json_object_get(object, hs_api_verbs[verb].name), args, err);
	if (rc)
		hs_error_prefix(err, hs_api_verbs[verb].name);
	return rc;
}

int hs_api_plan_request(struct hs_api_plan *plan, json_t *object, struct hs_api_args *args,
		struct hs_error *err)
{
	if (args->verb == HS_VERB_INT_REQUEST && args->ns_id == 0) {
		hs_api_plan_choose_ns(plan, args);
		json_object_set_new(json_object_get(object, hs_api_verbs[args->verb].name), "ns_id",
				json_integer(args->ns_id));
	}
	int rc = hs_api_plan_add(plan, args, err);

	if (rc)
		hs_error_prefix(err, hs_api_verbs[args->verb].name);
	return rc;
}

void hs_api_prefix_item(struct hs_error *err, const char *prefix, size_t index)
{
	char path[64];
	snprintf(path, sizeof(path), "%s[%zu]", prefix, index);
	hs_error_prefix(err, path);
}

int hs_api_plan_item(struct hs_api_plan *plan, json_t *items, size_t i, const char *prefix,
		enum hs_api_which which, json_t **failing_id, struct hs_error *err)
{
	struct hs_api_envelope element = {.prefix = ""};
	struct hs_api_args args;
	json_t *item = json_array_get(items, i);
	int rc = hs_api_read_request(item, true, which, &element, &args, err);

	if (rc == 0)
		rc = hs_api_plan_request(plan, item, &args, err);
	if (rc)
		hs_api_prefix_item(err, prefix, i);
	if (rc && failing_id)
		*failing_id = element.id;
	return rc;
}

int hs_api_plan_list(struct hs_api_plan *plan, json_t *items, const char *prefix,
		enum hs_api_which which, json_t **failing_id, struct hs_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < json_array_size(items) && rc == 0; i++)
		rc = hs_api_plan_item(plan, items, i, prefix, which, failing_id, err);
	return rc;
}

int hs_api_check_is_list(const json_t *requests, struct hs_error *err)
{
	if (json_is_array(requests))
		return 0;
	return hs_error_set(
			err, "wrong_type", "", "a list of requests", "the requests are not a list");
}
