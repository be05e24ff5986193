// SPDX-License-Identifier: BSD-3-Clause
#include "api.h"

#include "api_envelope.h"
#include "api_plan.h"
#include "api_reply.h"
#include "api_requests.h"
#include "rule_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int no_memory(struct hs_error *err)
{
	hs_error_set(err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

// ---- handling ----

static int check_count(size_t n, const char *prefix, struct hs_error *err)
{
	if (n <= HS_API_MAX_VERBS)
		return 0;
	return hs_error_set(err, "too_large", prefix, "at most 10000 requests",
			"the list has %zu requests", n);
}

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
		int rc = hs_api_read_request(envelope->single, false, which, &again, &args, err);
		return rc ? rc : hs_api_plan_request(plan, envelope->single, &args, err);
	}
	int rc = hs_api_plan_list(plan, envelope->items, envelope->prefix, which, &failing_id, err);
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
		hs_api_prefix_item(err, envelope->prefix, failed);
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
		hs_api_prefix_item(err, envelope->prefix, i);
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
	char *reply = rc ? hs_api_refusal(envelope.id, &err)
			 : hs_api_answers_end(&answers, backend->generation(backend->context));
	hs_api_answers_fini(&answers);
	json_decref(root);
	return reply;
}

// ---- lists of a configuration or a state ----

int hs_api_run_list(const struct hs_api_backend *backend, json_t *requests, struct hs_error *err)
{
	struct hs_api_envelope envelope = {.items = requests, .prefix = ""};
	size_t failed = 0;

	if (hs_api_check_is_list(requests, err))
		return -EINVAL;
	// A file may be larger than a message, because it is the operator's own.
	struct hs_api_plan *plan = hs_api_plan_create(backend, json_array_size(requests));
	struct hs_api_answers answers = {0};
	int rc = plan ? 0 : no_memory(err);
	if (rc == 0)
		rc = hs_api_plan_list(plan, requests, "", HS_API_CHANGES, NULL, err);
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
		rc = hs_api_read_request(change, true, HS_API_CHANGES, &element, &args, err);
		if (rc == 0 && (!wanted || wanted(context, &args))) {
			rc = hs_api_plan_request(plan, change, &args, err);
			items[n_steps++] = i;
		}
		if (rc && listed)
			hs_api_prefix_item(err, "", i);
	}
	if (rc == 0) {
		rc = hs_api_plan_run(plan, &answers, &failed, err);
		if (rc && listed && failed < n_steps)
			hs_api_prefix_item(err, "", items[failed]);
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
		hs_api_prefix_item(&its, "", i);
		*err = its;
	}
	return rc;
}
