// SPDX-License-Identifier: BSD-3-Clause
#include "api_envelope.h"

#include "api_verbs.h"
#include "rule_json.h"

#include <stdio.h>
#include <string.h>

#define MAX_ID_BYTES 256

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

int hs_api_message_parse(const char *message, size_t len, json_t **root, struct hs_error *err)
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

static int read_id(json_t *value, struct hs_api_envelope *envelope, struct hs_error *err)
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

static int read_dry_run(json_t *value, struct hs_api_envelope *envelope, struct hs_error *err)
{
	if (!json_is_boolean(value))
		return hs_error_set(err, "wrong_type", "/dry_run", "true or false",
				"dry_run is not of type boolean");
	envelope->dry_run = json_is_true(value);
	return 0;
}

static int read_generation(json_t *value, struct hs_api_envelope *envelope, struct hs_error *err)
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

static int read_transaction(json_t *value, struct hs_api_envelope *envelope, struct hs_error *err)
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
	int (*read)(json_t *value, struct hs_api_envelope *envelope, struct hs_error *err);
} members[] = {
		{"id", true, read_id},
		{"dry_run", false, read_dry_run},
		{"if_generation", false, read_generation},
		{"transaction", false, read_transaction},
};

// Reads the members beside the verb; *known says whether `key` is one.
static int read_member(const char *key, json_t *value, bool in_list,
		struct hs_api_envelope *envelope, bool *known, struct hs_error *err)
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

int hs_api_object_read(json_t *object, bool in_list, struct hs_api_envelope *envelope, int *verb,
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

int hs_api_envelope_read(json_t *root, struct hs_api_envelope *envelope, struct hs_error *err)
{
	int verb;

	*envelope = (struct hs_api_envelope){.prefix = ""};
	if (json_is_array(root)) {
		envelope->items = root;
		return 0;
	}
	if (!json_is_object(root))
		return hs_error_set(err, "bad_envelope", "", "an object with one verb, or a list",
				"the message is neither an object nor a list");
	int rc = hs_api_object_read(root, false, envelope, &verb, err);
	if (rc == 0 && !envelope->items)
		envelope->single = root;
	return rc;
}
