// SPDX-License-Identifier: BSD-3-Clause
// The table of verbs and the reading of their arguments. For lib/api only.
#pragma once

#include "api.h"

enum hs_api_kind {
	HS_API_NUMBER, // unsigned integer
	HS_API_WINDOW, // a word for a duration
	HS_API_NAME,   // name of a port
	HS_API_PREFIX, // a prefix and its depth
	HS_API_ADDRESS,
	HS_API_MAC,
};

// A field of a verb that is not a field of a rule; hs_rule_fields has those of rules.
struct hs_api_field {
	const char *name;
	enum hs_api_kind kind;
	uint16_t offset, bytes; // place and size in struct hs_api_args
	bool required;
	uint64_t min, max;
	const char *allowed, *fallback, *help;
};

enum hs_api_content {
	HS_API_FIELDS, // the verb takes `fields`
	HS_API_RULE,   // the verb takes a rule
	HS_API_UPDATE, // the verb takes an update of a rule
};

struct hs_api_verb_row {
	const char *name, *help;
	bool changes;
	enum hs_api_content content;
	const struct hs_api_field *fields;
	size_t n_fields;
	bool light; // the answer is small: many of them may stand beside changes
};

extern const struct hs_api_verb_row hs_api_verbs[HS_VERB_COUNT];

// Returns the verb of a name, or -1.
int hs_api_verb_find(const char *name);

enum hs_api_which {
	HS_API_ALL,
	HS_API_CHANGES,
	HS_API_QUERIES, // verbs that change nothing
};

bool hs_api_verb_is(enum hs_api_verb verb, enum hs_api_which which);
// Lists the names of verbs, comma-separated; truncated if they do not fit.
void hs_api_verb_list(char *text, size_t size, enum hs_api_which which);

// Reads the content of a verb. Returns 0, or -EINVAL with *err (path relative to the content).
int hs_api_args_from_json(enum hs_api_verb verb, const json_t *content, struct hs_api_args *args,
		struct hs_error *err);
