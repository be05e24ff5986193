// SPDX-License-Identifier: BSD-3-Clause
#include "api_envelope.h"

#include "api_verbs.h"

#include <string.h>

// ---- before there is JSON ----

// The bytes are scanned before the parser sees them, so that the parser recurses only to our limit
// and creates no more values than a sensible message has. A refused message therefore costs others
// little time.
struct scan {
	size_t depth, values;
	size_t longest; // of a list or object
	size_t string;	// start of the string that contains `at`; 0: outside a string
	size_t elements[HS_API_MAX_DEPTH + 1];
};

static int scan_string(struct scan *scan, size_t at, char c, struct hs_error *err)
{
	if (c == '"') {
		scan->string = 0;
		return 0;
	}
	if (at - scan->string < HS_API_MAX_STRING)
		return 0;
	return hs_error_set(err, "too_large", "", "strings of at most 4096 bytes",
			"the string at byte %zu has more than %d bytes", scan->string - 1,
			HS_API_MAX_STRING);
}

static int scan_open(struct scan *scan, size_t at, struct hs_error *err)
{
	if (++scan->depth > HS_API_MAX_DEPTH)
		return hs_error_set(err, "too_deep", "", "at most 16 levels",
				"the message is nested deeper than %d levels at byte %zu",
				HS_API_MAX_DEPTH, at);
	scan->elements[scan->depth] = 1;
	return 0;
}

static int scan_comma(struct scan *scan, size_t at, struct hs_error *err)
{
	if (++scan->elements[scan->depth] > HS_API_MAX_VERBS)
		return hs_error_set(err, "too_large", "", "at most 10000 requests",
				"the list has more than %d requests at byte %zu", HS_API_MAX_VERBS,
				at);
	if (scan->elements[scan->depth] > scan->longest)
		scan->longest = scan->elements[scan->depth];
	if (++scan->values > HS_API_MAX_VALUES)
		return hs_error_set(err, "too_large", "", "at most 65536 values",
				"the message has more than %u values at byte %zu",
				HS_API_MAX_VALUES, at);
	return 0;
}

static int scan_byte(struct scan *scan, size_t at, char c, struct hs_error *err)
{
	switch (c) {
	case '"':
		scan->string = at + 1;
		return 0;
	case '{':
	case '[':
		return scan_open(scan, at, err);
	case '}':
	case ']':
		scan->depth -= scan->depth > 0;
		return 0;
	case ',':
		return scan_comma(scan, at, err);
	default:
		return 0;
	}
}

// Returns whether the text may name a verb that changes something. A verb that is written with
// escapes counts.
static bool may_change(const char *text, size_t len)
{
	if (memchr(text, '\\', len))
		return true;
	for (size_t i = 0; i < HS_VERB_COUNT; i++) {
		const char *name = hs_api_verbs[i].name;
		if (hs_api_verbs[i].changes && memmem(text, len, name, strlen(name)))
			return true;
	}
	return false;
}

// Refuses more than HS_API_MAX_QUESTIONS questions. So many never fit the budget of a list of
// questions, and reading all of them would take longer than the budget.
static int check_questions(size_t n, const char *text, size_t len, struct hs_error *err)
{
	if (n <= HS_API_MAX_QUESTIONS || may_change(text, len))
		return 0;
	return hs_error_set(err, "too_large", "",
			"at most 1000 requests where none of them changes anything",
			"the list has %zu requests", n);
}

static int check_size(const char *text, size_t len, struct hs_error *err)
{
	struct scan scan = {0};
	int rc = 0;

	for (size_t i = 0; i < len && rc == 0; i++) {
		if (!scan.string) {
			rc = scan_byte(&scan, i, text[i], err);
			continue;
		}
		rc = scan_string(&scan, i, text[i], err);
		i += text[i] == '\\';
	}
	return rc ? rc : check_questions(scan.longest, text, len, err);
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
	int rc = check_size(message, len, err);
	if (rc)
		return rc;
	*root = json_loadb(message, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &at);
	return *root ? 0 : explain(&at, err);
}

// ---- envelope ----

static int read_id(json_t *value, const char *path, void *at, struct hs_error *err)
{
	struct hs_api_envelope *envelope = at;

	if (!json_is_integer(value) && !json_is_string(value))
		return hs_error_set(err, "wrong_type", path, "a string or an integer",
				"id is neither a string nor an integer");
	if (json_string_length(value) > HS_API_MAX_ID)
		return hs_error_set(err, "out_of_range", path, "at most 256 bytes",
				"id has %zu bytes", json_string_length(value));
	envelope->id = value;
	return 0;
}

static int read_dry_run(json_t *value, const char *path, void *at, struct hs_error *err)
{
	struct hs_api_envelope *envelope = at;

	if (!json_is_boolean(value))
		return hs_error_set(err, "wrong_type", path, "true or false",
				"dry_run is not of type boolean");
	envelope->dry_run = json_is_true(value);
	return 0;
}

static int read_generation(json_t *value, const char *path, void *at, struct hs_error *err)
{
	struct hs_api_envelope *envelope = at;

	if (!json_is_integer(value))
		return hs_error_set(err, "wrong_type", path, "an integer",
				"if_generation is not of type integer");
	if (json_integer_value(value) < 0)
		return hs_error_set(err, "out_of_range", path, "0 or more",
				"if_generation: %lld is out of range",
				(long long)json_integer_value(value));
	envelope->has_generation = true;
	envelope->if_generation = (uint64_t)json_integer_value(value);
	return 0;
}

static int read_transaction(json_t *value, const char *path, void *at, struct hs_error *err)
{
	struct hs_api_envelope *envelope = at;

	if (!json_is_array(value))
		return hs_error_set(err, "wrong_type", path, "a list of requests",
				"transaction is not a list");
	envelope->items = value;
	envelope->prefix = path;
	return 0;
}

#define MEMBER(key, how, shape_, text)                                                             \
	{                                                                                          \
		key, HS_SCHEMA_CUSTOM, .read = how, .shape = shape_, .help = text                  \
	}
const struct hs_schema_field hs_api_members[] = {
		MEMBER("id", read_id,
				"{'anyOf': [{'type': 'string', 'maxLength': 256}, "
				"{'type': 'integer'}]}",
				"the reply repeats it"),
		MEMBER("dry_run", read_dry_run, "{'type': 'boolean'}",
				"check everything and change nothing"),
		MEMBER("if_generation", read_generation, "{'type': 'integer', 'minimum': 0}",
				"refuse the request unless the rules are at this generation"),
		MEMBER("transaction", read_transaction,
				"{'type': 'array', 'maxItems': 10000, 'items': {'$ref': "
				"'#/$defs/item'}}",
				"requests that are done together"),
		{NULL},
};

// Reads a member beside the verb. *known says whether `key` names such a member. Only the first
// one, the id, may also stand in the elements of a transaction.
static int read_member(const char *key, json_t *value, bool in_list,
		struct hs_api_envelope *envelope, bool *known, struct hs_error *err)
{
	const struct hs_schema_field *member = hs_api_members;

	while (member->key && strcmp(member->key, key) != 0)
		member++;
	*known = member->key != NULL;
	if (!*known)
		return 0;
	if (!in_list || member == hs_api_members)
		return hs_schema_read_value(member, value, member->key, envelope, err);
	return hs_error_set(err, "unknown_field", key, "a verb and id",
			"%s belongs to the whole transaction, not to one of its requests", key);
}

static int refuse_key(const char *key, bool has_verb, struct hs_error *err)
{
	char path[100], verbs[sizeof(err->expected)];

	hs_schema_clean_key(path, sizeof(path), key);
	if (has_verb)
		return hs_error_set(err, "unknown_field", path,
				"one verb, id, dry_run, if_generation", "%s is not known here",
				path);
	hs_api_verb_list(verbs, sizeof(verbs), HS_API_ALL);
	return hs_error_set(err, "unknown_verb", path, verbs, "%s is not a verb", path);
}

int hs_api_object_read(json_t *object, bool in_list, struct hs_api_envelope *envelope, int *verb,
		struct hs_error *err)
{
	const char *key, *unknown = NULL;
	json_t *value;
	size_t verbs = 0;

	*verb = -1;
	// The id is read first, so that an error in any other member is still answered with this
	// id.
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
