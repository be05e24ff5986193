// SPDX-License-Identifier: BSD-3-Clause
#include "api.h"

#include "api_envelope.h"
#include "api_plan.h"
#include "api_reply.h"
#include "api_verbs.h"
#include "rule_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- from requests to a plan ----

static int check_which(enum hs_api_verb asked, enum hs_api_which which, struct hs_error *err)
{
	const struct hs_api_verb_row *verb = &hs_api_verbs[asked];
	char verbs[sizeof(err->expected)];

	if (hs_api_verb_is(asked, which))
		return 0;
	hs_api_verb_list(verbs, sizeof(verbs), which);
	if (verb->changes)
		return hs_error_set(err, "read_only", verb->name, verbs,
				"%s changes something, and this key is for reading only",
				verb->name);
	return hs_error_set(err, "unsupported", verb->name, verbs,
			"%s changes nothing, so it has no place here", verb->name);
}

static int read_verb(json_t *object, bool in_list, enum hs_api_which which,
		struct hs_api_envelope *envelope, int *verb, struct hs_error *err)
{
	if (!json_is_object(object))
		return hs_error_set(err, "bad_envelope", "", "an object with one verb",
				"the request is not an object");
	int rc = hs_api_object_read(object, in_list, envelope, verb, err);
	return rc ? rc : check_which((enum hs_api_verb) * verb, which, err);
}

// The content is read last, because distinct `fields` and owners are stored for good.
static int read_request(json_t *object, bool in_list, enum hs_api_which which,
		struct hs_api_envelope *envelope, struct hs_api_args *args, struct hs_error *err)
{
	int verb;
	int rc = read_verb(object, in_list, which, envelope, &verb, err);

	if (rc)
		return rc;
	rc = hs_api_args_from_json((enum hs_api_verb)verb,
			json_object_get(object, hs_api_verbs[verb].name), args, err);
	if (rc)
		hs_error_prefix(err, hs_api_verbs[verb].name);
	return rc;
}

// A rule without ns_id gets one, and so does its request, because requests are saved.
static int plan_one(struct hs_api_plan *plan, json_t *object, struct hs_api_args *args,
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

static void prefix_index(struct hs_error *err, const char *prefix, size_t index)
{
	char path[64];
	snprintf(path, sizeof(path), "%s[%zu]", prefix, index);
	hs_error_prefix(err, path);
}

// Reads and plans request i of a list. *failing_id (may be NULL) is the id of a refused request.
static int plan_item(struct hs_api_plan *plan, json_t *items, size_t i, const char *prefix,
		enum hs_api_which which, json_t **failing_id, struct hs_error *err)
{
	struct hs_api_envelope element = {.prefix = ""};
	struct hs_api_args args;
	json_t *item = json_array_get(items, i);
	int rc = read_request(item, true, which, &element, &args, err);

	if (rc == 0)
		rc = plan_one(plan, item, &args, err);
	if (rc)
		prefix_index(err, prefix, i);
	if (rc && failing_id)
		*failing_id = element.id;
	return rc;
}

static int plan_list(struct hs_api_plan *plan, json_t *items, const char *prefix,
		enum hs_api_which which, json_t **failing_id, struct hs_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < json_array_size(items) && rc == 0; i++)
		rc = plan_item(plan, items, i, prefix, which, failing_id, err);
	return rc;
}

static int check_count(size_t n, const char *prefix, struct hs_error *err)
{
	if (n <= HS_API_MAX_VERBS)
		return 0;
	return hs_error_set(err, "too_large", prefix, "at most 10000 requests",
			"the list has %zu requests", n);
}

static int no_memory(struct hs_error *err)
{
	hs_error_set(err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

// ---- handling ----

static int check_generation(const struct hs_api_backend *backend,
		const struct hs_api_envelope *envelope, struct hs_error *err)
{
	uint64_t now = backend->generation(backend->context);
	char expected[32];

	if (!envelope->has_generation || envelope->if_generation == now)
		return 0;
	snprintf(expected, sizeof(expected), "%llu", (unsigned long long)now);
	return hs_error_set(err, "stale_generation", "if_generation", expected,
			"if_generation: %llu, but the rules are at generation %llu",
			(unsigned long long)envelope->if_generation, (unsigned long long)now);
}

static int make_plan(struct hs_api_plan *plan, struct hs_api_envelope *envelope,
		enum hs_api_which which, struct hs_error *err)
{
	struct hs_api_envelope again = {.prefix = ""};
	struct hs_api_args args;
	json_t *failing_id = NULL;

	if (envelope->single) {
		int rc = read_request(envelope->single, false, which, &again, &args, err);
		return rc ? rc : plan_one(plan, envelope->single, &args, err);
	}
	int rc = plan_list(plan, envelope->items, envelope->prefix, which, &failing_id, err);
	if (rc && failing_id && !envelope->id)
		envelope->id = failing_id;
	return rc;
}

// Returns the name of the verb of a request that was read without error before.
static const char *verb_of(json_t *object)
{
	const char *key;
	json_t *value;
	json_object_foreach (object, key, value) {
		if (hs_api_verb_find(key) >= 0)
			return key;
	}
	return "";
}

static void place_failure(
		const struct hs_api_envelope *envelope, size_t failed, struct hs_error *err)
{
	json_t *request = envelope->single ? envelope->single
					   : json_array_get(envelope->items, failed);

	if (!request) {
		snprintf(err->path, sizeof(err->path), "%s", envelope->prefix);
		return;
	}
	hs_error_prefix(err, verb_of(request));
	if (!envelope->single)
		prefix_index(err, envelope->prefix, failed);
}

// Returns the changes of the plan as the client asked for them: one request, or a list. Returns
// NULL if there are none.
static json_t *changes_of(const struct hs_api_plan *plan, const struct hs_api_envelope *envelope)
{
	json_t *changes = envelope->single ? NULL : json_array();
	size_t n = envelope->single ? 1 : json_array_size(envelope->items);

	for (size_t i = 0; i < n; i++) {
		const char *verb = hs_api_plan_saves(plan, i);
		json_t *request = envelope->single ? envelope->single
						   : json_array_get(envelope->items, i);
		if (!verb)
			continue;
		json_t *change = json_pack("{s:O}", verb, json_object_get(request, verb));
		if (envelope->single)
			return change;
		json_array_append_new(changes, change);
	}
	if (json_array_size(changes) > 0)
		return changes;
	json_decref(changes);
	return NULL;
}

static int save_and_run(const struct hs_api_backend *backend, struct hs_api_plan *plan,
		const struct hs_api_envelope *envelope, struct hs_rule_fields_mark mark,
		struct hs_api_answers *answers, struct hs_error *err)
{
	json_t *changes = backend->save ? changes_of(plan, envelope) : NULL;
	size_t failed = 0;
	int rc = changes ? backend->save(backend->context, changes, err) : 0;

	if (rc)
		hs_rule_fields_release(mark);
	if (rc == 0) {
		rc = hs_api_plan_run(plan, answers, &failed, err);
		if (rc)
			place_failure(envelope, failed, err);
		if (rc && changes)
			backend->unsave(backend->context);
	}
	json_decref(changes);
	return rc;
}

static int plan_and_run(const struct hs_api_backend *backend, struct hs_api_envelope *envelope,
		enum hs_api_which which, struct hs_api_answers *answers, struct hs_error *err)
{
	size_t n = envelope->single ? 1 : json_array_size(envelope->items);
	struct hs_api_plan *plan = hs_api_plan_create(backend, n);

	if (!plan)
		return no_memory(err);
	struct hs_rule_fields_mark mark = hs_rule_fields_mark();
	int rc = make_plan(plan, envelope, which, err);
	if (rc || envelope->dry_run)
		hs_rule_fields_release(mark);
	if (rc == 0 && envelope->dry_run) {
		for (size_t i = 0; i < n; i++)
			hs_api_answers_add(answers, json_pack("{s:b}", "dry_run", 1), true);
	} else if (rc == 0) {
		rc = save_and_run(backend, plan, envelope, mark, answers, err);
	}
	hs_api_plan_destroy(plan);
	return rc;
}

// ---- lists of questions ----

static bool only_asks(json_t *items)
{
	size_t i;
	json_t *item;

	json_array_foreach (items, i, item) {
		struct hs_api_envelope element = {.prefix = ""};
		struct hs_error ignored;
		int verb;
		if (!json_is_object(item) ||
				hs_api_object_read(item, true, &element, &verb, &ignored) ||
				verb < 0 || hs_api_verbs[verb].changes)
			return false;
	}
	return true;
}

static int64_t spent_ns(const struct hs_api_backend *backend)
{
	return backend->spent_ns ? backend->spent_ns() : 0;
}

static int check_budget(const struct hs_api_backend *backend, const struct hs_api_answers *answers,
		int64_t begin_ns, struct hs_error *err)
{
	int64_t ns = spent_ns(backend) - begin_ns;

	if (answers->asked_bytes < HS_API_MAX_REPLY && ns < HS_API_MAX_REPLY_NS)
		return 0;
	return hs_error_set(err, "too_large", "",
			"fewer requests in a list, or lists in pages: a smaller limit, then next "
			"as "
			"offset",
			"the answers before this one have %zu bytes and took %lld us: a reply ends "
			"at %u bytes or %lld us",
			answers->asked_bytes, (long long)(ns / 1000), HS_API_MAX_REPLY,
			(long long)(HS_API_MAX_REPLY_NS / 1000));
}

// Answers each request of a list that changes nothing as soon as the request is read. A list that
// asks for too much is therefore refused as soon as it has used its budget.
static int answer_list(const struct hs_api_backend *backend, struct hs_api_envelope *envelope,
		struct hs_api_answers *answers, struct hs_error *err)
{
	int64_t begin_ns = spent_ns(backend);
	size_t i;
	json_t *item;

	json_array_foreach (envelope->items, i, item) {
		struct hs_api_envelope one = {.prefix = "", .dry_run = envelope->dry_run};
		struct hs_error before;
		int verb, rc = check_budget(backend, answers, begin_ns, err);
		hs_api_object_read(item, true, &one, &verb, &before);
		one.single = item;
		rc = rc ? rc : plan_and_run(backend, &one, HS_API_ALL, answers, err);
		if (rc == 0)
			continue;
		prefix_index(err, envelope->prefix, i);
		if (!envelope->id)
			envelope->id = one.id;
		return rc;
	}
	return 0;
}

static int execute(const struct hs_api_backend *backend, struct hs_api_envelope *envelope,
		enum hs_api_which which, struct hs_api_answers *answers, struct hs_error *err)
{
	int rc = check_count(json_array_size(envelope->items), envelope->prefix, err);

	// This check comes first, because an old view of the rules explains all further refusals.
	rc = rc ? rc : check_generation(backend, envelope, err);
	if (rc)
		return rc;
	if (envelope->items && only_asks(envelope->items))
		return answer_list(backend, envelope, answers, err);
	return plan_and_run(backend, envelope, which, answers, err);
}

// ---- replies ----

// Texts may contain bytes of a peer that were cut in the middle of a character.
static json_t *text_to_json(const char *text)
{
	json_t *json = json_string(text);
	char clean[512];
	size_t i;

	if (json)
		return json;
	for (i = 0; text[i] && i < sizeof(clean) - 1; i++)
		clean[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	clean[i] = '\0';
	return json_string(clean);
}

static json_t *print_text(const void *text)
{
	return text_to_json(text);
}

struct refusal {
	json_t *id;
	const struct hs_error *error;
};

#define ERROR(...)                                                                                 \
	HS_SCHEMA_ROW(struct hs_error, CUSTOM, __VA_ARGS__, .print = print_text,                   \
			.shape = "{'type': 'string'}")
static const struct hs_schema_field error_fields[] = {
		ERROR(code, "a word for programs"),
		ERROR(path, "where in the request"),
		ERROR(message, "what is wrong, in words"),
		ERROR(expected, "what is allowed", .optional = true),
		{NULL},
};
static bool has_id(const void *from)
{
	return ((const struct refusal *)from)->id;
}

#define REFUSAL(...) HS_SCHEMA_ROW(struct refusal, __VA_ARGS__)
const struct hs_schema_field hs_api_refusal_fields[] = {
		REFUSAL(JSON, id, "as in the request", .given = has_id,
				.shape = "{'type': ['string', 'integer']}"),
		REFUSAL(OBJECT, error, "why the request was refused", .behind = true,
				.fields = error_fields),
		{NULL},
};

static char *refusal(json_t *id, const struct hs_error *err)
{
	json_t *reply = hs_schema_print(hs_api_refusal_fields, &(struct refusal){id, err});
	char *text = json_dumps(reply, HS_API_DUMP);
	json_decref(reply);
	return text;
}

char *hs_api_handle(const struct hs_api_backend *backend, const char *message, size_t len,
		bool may_change)
{
	struct hs_api_envelope envelope = {.prefix = ""};
	struct hs_api_answers answers = {0};
	struct hs_error err = {0};
	json_t *root = NULL;

	int rc = hs_api_message_parse(message, len, &root, &err);
	if (rc == 0)
		rc = hs_api_envelope_read(root, &envelope, &err);
	if (rc == 0 && hs_api_answers_begin(&answers, envelope.single != NULL, envelope.id))
		rc = no_memory(&err);
	if (rc == 0)
		rc = execute(backend, &envelope, may_change ? HS_API_ALL : HS_API_QUERIES, &answers,
				&err);
	char *reply = rc ? refusal(envelope.id, &err)
			 : hs_api_answers_end(&answers, backend->generation(backend->context));
	hs_api_answers_fini(&answers);
	json_decref(root);
	return reply;
}

// ---- configuration files ----

void hs_api_look_at_request(json_t *item, struct hs_errors *errors)
{
	struct hs_api_envelope element = {.prefix = ""};
	struct hs_error err;
	unsigned before = errors->n;
	int verb;

	if (read_verb(item, true, HS_API_CHANGES, &element, &verb, &err) < 0) {
		hs_errors_keep(errors, &err);
		return;
	}
	const char *name = hs_api_verbs[verb].name;
	hs_api_args_errors((enum hs_api_verb)verb, json_object_get(item, name), errors);
	hs_errors_prefix(errors, before, name);
}

static int check_list(const json_t *requests, struct hs_error *err)
{
	if (json_is_array(requests))
		return 0;
	return hs_error_set(
			err, "wrong_type", "", "a list of requests", "the requests are not a list");
}

// Returns whether an earlier error may have caused this one: what was refused is missing later.
static bool may_follow(const struct hs_error *err, const struct hs_errors *errors)
{
	return errors->n && strncmp(err->code, "no_such_", strlen("no_such_")) == 0;
}

int hs_api_plan_all(
		const struct hs_api_backend *backend, json_t *requests, struct hs_errors *errors)
{
	struct hs_api_plan *plan = hs_api_plan_create(backend, json_array_size(requests));
	struct hs_error err = {0};
	unsigned before = errors->n;
	int rc = plan ? check_list(requests, &err) : no_memory(&err);

	if (rc)
		hs_errors_keep(errors, &err);
	for (size_t i = 0; rc == 0 && i < json_array_size(requests); i++) {
		if (plan_item(plan, requests, i, "", HS_API_CHANGES, NULL, &err) == 0 ||
				may_follow(&err, errors))
			continue;
		hs_errors_keep(errors, &err);
		if (strcmp(err.code, "table_full") == 0)
			break; // all further rules would get the same error
	}
	hs_api_plan_destroy(plan);
	return errors->n > before ? -EINVAL : 0;
}

int hs_api_run_list(const struct hs_api_backend *backend, json_t *requests, struct hs_error *err)
{
	struct hs_api_envelope envelope = {.items = requests, .prefix = ""};
	size_t failed = 0;

	if (check_list(requests, err))
		return -EINVAL;
	// A file may be larger than a message, because it is the operator's own.
	struct hs_api_plan *plan = hs_api_plan_create(backend, json_array_size(requests));
	struct hs_api_answers answers = {0};
	int rc = plan ? 0 : no_memory(err);
	if (rc == 0)
		rc = plan_list(plan, requests, "", HS_API_CHANGES, NULL, err);
	if (rc == 0) {
		rc = hs_api_plan_run(plan, &answers, &failed, err);
		if (rc)
			place_failure(&envelope, failed, err);
	}
	hs_api_plan_destroy(plan);
	hs_api_answers_fini(&answers);
	return rc;
}

int hs_api_replay(const struct hs_api_backend *backend, json_t *changes,
		bool (*wanted)(void *context, const struct hs_api_args *args), void *context,
		struct hs_error *err)
{
	struct hs_api_envelope element = {.prefix = ""};
	struct hs_api_args args;
	bool listed = json_is_array(changes);
	size_t n = listed ? json_array_size(changes) : 1, failed = 0, n_steps = 0;
	struct hs_api_plan *plan = hs_api_plan_create(backend, n);
	size_t *items = calloc(n ? n : 1, sizeof(*items)); // index of each step's item
	struct hs_api_answers answers = {0};
	int rc = plan && items ? 0 : no_memory(err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		json_t *change = listed ? json_array_get(changes, i) : changes;
		if (listed && json_is_null(change))
			continue;
		rc = read_request(change, true, HS_API_CHANGES, &element, &args, err);
		if (rc == 0 && (!wanted || wanted(context, &args))) {
			rc = plan_one(plan, change, &args, err);
			items[n_steps++] = i;
		}
		if (rc && listed)
			prefix_index(err, "", i);
	}
	if (rc == 0) {
		rc = hs_api_plan_run(plan, &answers, &failed, err);
		if (rc && listed && failed < n_steps)
			prefix_index(err, "", items[failed]);
	}
	free(items);
	hs_api_plan_destroy(plan);
	hs_api_answers_fini(&answers);
	return rc;
}

int hs_api_replay_kept(const struct hs_api_backend *backend, json_t *changes,
		bool (*wanted)(void *context, const struct hs_api_args *args), void *context,
		struct hs_error *err)
{
	int rc = hs_api_replay(backend, changes, wanted, context, err);
	size_t n = rc < 0 ? json_array_size(changes) : 0;

	for (size_t i = 0; i < n; i++) {
		json_t *change = json_array_get(changes, i);
		struct hs_error its = {0};
		if (json_is_null(change))
			continue;
		if (hs_api_replay(backend, change, wanted, context, &its) == 0) {
			rc = 0;
			continue;
		}
		prefix_index(&its, "", i);
		*err = its;
	}
	return rc;
}
