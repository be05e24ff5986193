// SPDX-License-Identifier: BSD-3-Clause
#include "api.h"

#include "api_plan.h"
#include "api_verbs.h"
#include "rule_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ID_BYTES 256

// A message taken apart. References are borrowed from the message.
struct envelope {
	json_t *id;
	json_t *items;	    // the list of a transaction; NULL: one request
	json_t *single;	    // that request
	const char *prefix; // path of `items`
	bool dry_run, has_generation;
	uint64_t if_generation;
};

// ---- from bytes to JSON ----

// Bytes are looked at before the parser is, so that it recurses no deeper than we allow.
static int check_depth(const char *text, size_t len, struct hs_error *err)
{
	size_t depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && (c == '}' || c == ']'))
			depth -= depth > 0;
		if (depth > HS_API_MAX_DEPTH)
			return hs_error_set(err, "too_deep", "", "at most 16 levels",
					"the message is nested deeper than %d levels at byte %zu",
					HS_API_MAX_DEPTH, i);
	}
	return 0;
}

static int explain(const json_error_t *at, struct hs_error *err)
{
	const char *code = "not_json", *expected = "a JSON object or list";

	switch (json_error_code(at)) {
	case json_error_duplicate_key:
		code = "duplicate_key";
		expected = "each key once";
		break;
	case json_error_numeric_overflow:
		code = "out_of_range";
		expected = "integers of 64 bits, finite numbers";
		break;
	case json_error_out_of_memory:
		code = "internal";
		expected = "";
		break;
	default:
		break;
	}
	return hs_error_set(err, code, "", expected, "line %d, column %d: %s", at->line, at->column,
			at->text);
}

static int parse(const char *message, size_t len, json_t **root, struct hs_error *err)
{
	json_error_t at;

	if (len > HS_API_MAX_BYTES)
		return hs_error_set(err, "too_large", "", "at most 1048576 bytes",
				"the message has %zu bytes", len);
	if (len == 0)
		return hs_error_set(err, "not_json", "", "a JSON object or list",
				"line 1, column 0: the message is empty or has more than one part");
	int rc = check_depth(message, len, err);
	if (rc)
		return rc;
	*root = json_loadb(message, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &at);
	return *root ? 0 : explain(&at, err);
}

// ---- envelope ----

static int read_id(json_t *value, struct envelope *envelope, struct hs_error *err)
{
	if (!json_is_integer(value) && !json_is_string(value))
		return hs_error_set(err, "wrong_type", "/id", "a string or an integer",
				"id is neither a string nor an integer");
	if (json_string_length(value) > MAX_ID_BYTES)
		return hs_error_set(err, "out_of_range", "/id", "at most 256 bytes",
				"id has %zu bytes", json_string_length(value));
	envelope->id = value;
	return 0;
}

static int read_dry_run(json_t *value, struct envelope *envelope, struct hs_error *err)
{
	if (!json_is_boolean(value))
		return hs_error_set(err, "wrong_type", "/dry_run", "true or false",
				"dry_run is not of type boolean");
	envelope->dry_run = json_is_true(value);
	return 0;
}

static int read_generation(json_t *value, struct envelope *envelope, struct hs_error *err)
{
	if (!json_is_integer(value))
		return hs_error_set(err, "wrong_type", "/if_generation", "an integer",
				"if_generation is not of type integer");
	if (json_integer_value(value) < 0)
		return hs_error_set(err, "out_of_range", "/if_generation", "0 or more",
				"if_generation: %lld is out of range",
				(long long)json_integer_value(value));
	envelope->has_generation = true;
	envelope->if_generation = (uint64_t)json_integer_value(value);
	return 0;
}

static int read_transaction(json_t *value, struct envelope *envelope, struct hs_error *err)
{
	if (!json_is_array(value))
		return hs_error_set(err, "wrong_type", "/transaction", "a list of requests",
				"transaction is not a list");
	envelope->items = value;
	envelope->prefix = "/transaction";
	return 0;
}

static const struct {
	const char *name;
	bool in_lists; // also in the elements of a transaction
	int (*read)(json_t *value, struct envelope *envelope, struct hs_error *err);
} members[] = {
		{"id", true, read_id},
		{"dry_run", false, read_dry_run},
		{"if_generation", false, read_generation},
		{"transaction", false, read_transaction},
};

// Reads the members beside the verb; *known says whether `key` is one.
static int read_member(const char *key, json_t *value, bool in_list, struct envelope *envelope,
		bool *known, struct hs_error *err)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (strcmp(members[i].name, key) != 0)
			continue;
		*known = true;
		if (!in_list || members[i].in_lists)
			return members[i].read(value, envelope, err);
		char path[64];
		snprintf(path, sizeof(path), "/%s", key);
		return hs_error_set(err, "unknown_field", path, "a verb and id",
				"%s belongs to the whole transaction, not to one of its requests",
				key);
	}
	*known = false;
	return 0;
}

static int refuse_key(const char *key, bool has_verb, struct hs_error *err)
{
	char path[100], verbs[sizeof(err->expected)];

	hs_rule_json_path(path, sizeof(path), key);
	if (has_verb)
		return hs_error_set(err, "unknown_field", path,
				"one verb, id, dry_run, if_generation", "%s is not known here",
				path + 1);
	hs_api_verb_list(verbs, sizeof(verbs), HS_API_ALL);
	return hs_error_set(err, "unknown_verb", path, verbs, "%s is not a verb", path + 1);
}

// Finds the one verb of an object. 0, or -EINVAL with *err. *verb is -1 for a transaction.
static int read_object(json_t *object, bool in_list, struct envelope *envelope, int *verb,
		struct hs_error *err)
{
	const char *key, *unknown = NULL;
	json_t *value;
	size_t verbs = 0;

	*verb = -1;
	// First: an error in any other member still answers to this id.
	if ((value = json_object_get(object, "id"))) {
		bool known;
		int rc = read_member("id", value, in_list, envelope, &known, err);
		if (rc)
			return rc;
	}
	json_object_foreach (object, key, value) {
		bool known;
		int found = hs_api_verb_find(key);
		if (found >= 0) {
			*verb = found;
			verbs++;
			continue;
		}
		int rc = read_member(key, value, in_list, envelope, &known, err);
		if (rc)
			return rc;
		if (!known)
			unknown = key;
	}
	if (unknown)
		return refuse_key(unknown, verbs > 0 || (envelope->items && !in_list), err);
	if (verbs + (envelope->items && !in_list ? 1 : 0) != 1)
		return hs_error_set(err, "bad_envelope", "", "exactly one verb",
				"the object has %zu verbs%s", verbs,
				envelope->items && !in_list ? " beside a transaction" : "");
	return 0;
}

static int read_envelope(json_t *root, struct envelope *envelope, struct hs_error *err)
{
	int verb;

	*envelope = (struct envelope){.prefix = ""};
	if (json_is_array(root)) {
		envelope->items = root;
		return 0;
	}
	if (!json_is_object(root))
		return hs_error_set(err, "bad_envelope", "", "an object with one verb, or a list",
				"the message is neither an object nor a list");
	int rc = read_object(root, false, envelope, &verb, err);
	if (rc == 0 && !envelope->items)
		envelope->single = root;
	return rc;
}

// ---- from requests to a plan ----

static int read_request(json_t *object, bool in_list, struct envelope *envelope,
		struct hs_api_args *args, struct hs_error *err)
{
	char path[64];
	int verb;

	if (!json_is_object(object))
		return hs_error_set(err, "bad_envelope", "", "an object with one verb",
				"the request is not an object");
	int rc = read_object(object, in_list, envelope, &verb, err);
	if (rc)
		return rc;
	rc = hs_api_args_from_json((enum hs_api_verb)verb,
			json_object_get(object, hs_api_verbs[verb].name), args, err);
	snprintf(path, sizeof(path), "/%s", hs_api_verbs[verb].name);
	if (rc)
		hs_error_prefix(err, path);
	return rc;
}

static int plan_one(struct hs_api_plan *plan, const struct hs_api_args *args, struct hs_error *err)
{
	char path[64];
	int rc = hs_api_plan_add(plan, args, err);

	snprintf(path, sizeof(path), "/%s", hs_api_verbs[args->verb].name);
	if (rc)
		hs_error_prefix(err, path);
	return rc;
}

static void prefix_index(struct hs_error *err, const char *prefix, size_t index)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/%zu", prefix, index);
	hs_error_prefix(err, path);
}

static int check_which(
		const struct hs_api_args *args, enum hs_api_which which, struct hs_error *err)
{
	const struct hs_api_verb_row *verb = &hs_api_verbs[args->verb];
	char verbs[sizeof(err->expected)], path[64];

	if (hs_api_verb_is(args->verb, which))
		return 0;
	hs_api_verb_list(verbs, sizeof(verbs), which);
	snprintf(path, sizeof(path), "/%s", verb->name);
	if (verb->changes)
		return hs_error_set(err, "read_only", path, verbs,
				"%s changes something, and this key is for reading only",
				verb->name);
	return hs_error_set(err, "unsupported", path, verbs,
			"%s changes nothing, so it has no place here", verb->name);
}

// Reads and plays all requests of a list; *failing_id (may be NULL) is the id of one refused.
static int plan_list(struct hs_api_plan *plan, json_t *items, const char *prefix,
		enum hs_api_which which, json_t **failing_id, struct hs_error *err)
{
	for (size_t i = 0; i < json_array_size(items); i++) {
		struct envelope element = {.prefix = ""};
		struct hs_api_args args;
		int rc = read_request(json_array_get(items, i), true, &element, &args, err);
		if (rc == 0)
			rc = check_which(&args, which, err);
		if (rc == 0)
			rc = plan_one(plan, &args, err);
		if (rc) {
			prefix_index(err, prefix, i);
			if (failing_id)
				*failing_id = element.id;
			return rc;
		}
	}
	return 0;
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

static int check_generation(const struct hs_api_backend *backend, const struct envelope *envelope,
		struct hs_error *err)
{
	uint64_t now = backend->generation(backend->context);
	char expected[32];

	if (!envelope->has_generation || envelope->if_generation == now)
		return 0;
	snprintf(expected, sizeof(expected), "%llu", (unsigned long long)now);
	return hs_error_set(err, "stale_generation", "/if_generation", expected,
			"if_generation: %llu, but the rules are at generation %llu",
			(unsigned long long)envelope->if_generation, (unsigned long long)now);
}

static int make_plan(struct hs_api_plan *plan, struct envelope *envelope, enum hs_api_which which,
		struct hs_error *err)
{
	struct envelope again = {.prefix = ""};
	struct hs_api_args args;
	json_t *failing_id = NULL;

	if (envelope->single) {
		int rc = read_request(envelope->single, false, &again, &args, err);
		rc = rc ? rc : check_which(&args, which, err);
		return rc ? rc : plan_one(plan, &args, err);
	}
	int rc = plan_list(plan, envelope->items, envelope->prefix, which, &failing_id, err);
	if (rc && failing_id && !envelope->id)
		envelope->id = failing_id;
	return rc;
}

// The name of the verb of a request that was read without error before.
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

static void place_failure(const struct envelope *envelope, size_t failed, struct hs_error *err)
{
	json_t *request = envelope->single ? envelope->single
					   : json_array_get(envelope->items, failed);
	char path[64];

	if (!request) {
		snprintf(err->path, sizeof(err->path), "%s", envelope->prefix);
		return;
	}
	snprintf(path, sizeof(path), "/%s", verb_of(request));
	hs_error_prefix(err, path);
	if (!envelope->single)
		prefix_index(err, envelope->prefix, failed);
}

static int execute(const struct hs_api_backend *backend, struct envelope *envelope,
		enum hs_api_which which, json_t *results, struct hs_error *err)
{
	size_t n = envelope->single ? 1 : json_array_size(envelope->items);
	size_t failed = 0;
	int rc = check_count(n, envelope->prefix, err);

	// First, because a stale view of the rules explains whatever else would be refused.
	if (rc == 0)
		rc = check_generation(backend, envelope, err);
	if (rc)
		return rc;
	struct hs_api_plan *plan = hs_api_plan_create(backend, n);
	if (!plan)
		return no_memory(err);
	rc = make_plan(plan, envelope, which, err);
	if (rc == 0 && envelope->dry_run) {
		for (size_t i = 0; i < n; i++)
			json_array_append_new(results, json_pack("{s:b}", "dry_run", 1));
	} else if (rc == 0) {
		rc = hs_api_plan_run(plan, results, &failed, err);
		if (rc)
			place_failure(envelope, failed, err);
	}
	hs_api_plan_destroy(plan);
	return rc;
}

// Texts may hold bytes of a peer that were cut in the middle of a character.
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

static json_t *error_to_json(const struct hs_error *err)
{
	json_t *error = json_object();
	json_object_set_new(error, "code", text_to_json(err->code));
	json_object_set_new(error, "path", text_to_json(err->path));
	json_object_set_new(error, "message", text_to_json(err->message));
	if (err->expected[0])
		json_object_set_new(error, "expected", text_to_json(err->expected));
	return error;
}

static char *dump(json_t *reply)
{
	// 15 digits: what a decimal of that many digits was is printed again, 0.1 as 0.1.
	char *text = json_dumps(reply, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(reply);
	return text;
}

char *hs_api_handle(const struct hs_api_backend *backend, const char *message, size_t len,
		bool may_change)
{
	struct envelope envelope = {.prefix = ""};
	struct hs_error err = {0};
	json_t *root = NULL, *results = json_array(), *reply = json_object();

	int rc = parse(message, len, &root, &err);
	if (rc == 0)
		rc = read_envelope(root, &envelope, &err);
	if (rc == 0)
		rc = execute(backend, &envelope, may_change ? HS_API_ALL : HS_API_QUERIES, results,
				&err);

	if (envelope.id)
		json_object_set(reply, "id", envelope.id);
	if (rc) {
		json_object_set_new(reply, "error", error_to_json(&err));
	} else {
		json_object_set(reply, "ok",
				envelope.single ? json_array_get(results, 0) : results);
		json_object_set_new(reply, "generation",
				json_integer((json_int_t)backend->generation(backend->context)));
	}
	json_decref(results);
	json_decref(root);
	return dump(reply);
}

// ---- configuration files ----

int hs_api_run_list(const struct hs_api_backend *backend, json_t *requests, struct hs_error *err)
{
	struct envelope envelope = {.items = requests, .prefix = ""};
	size_t failed = 0;

	if (!json_is_array(requests))
		return hs_error_set(err, "wrong_type", "", "a list of requests",
				"the requests are not a list");
	// A file may hold more than a message: it is the operator's own.
	struct hs_api_plan *plan = hs_api_plan_create(backend, json_array_size(requests));
	json_t *results = json_array();
	int rc = plan && results ? 0 : no_memory(err);
	if (rc == 0)
		rc = plan_list(plan, requests, "", HS_API_CHANGES, NULL, err);
	if (rc == 0) {
		rc = hs_api_plan_run(plan, results, &failed, err);
		if (rc)
			place_failure(&envelope, failed, err);
	}
	hs_api_plan_destroy(plan);
	json_decref(results);
	return rc;
}
