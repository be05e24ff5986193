// SPDX-License-Identifier: BSD-3-Clause
// The table of verbs and the reading of their arguments. For lib/api only.
#pragma once

#include "api.h"

enum hs_api_kind {
	HS_API_NUMBER, // unsigned integer
	HS_API_WINDOW, // a word for a length of time
	HS_API_NAME,   // of a port
	HS_API_PREFIX, // and its depth
	HS_API_ADDRESS,
	HS_API_MAC,
};

// A field of a verb that is no rule; those of rules are in hs_rule_fields.
struct hs_api_field {
	const char *name;
	enum hs_api_kind kind;
	uint16_t offset, bytes; // in struct hs_api_args
	bool required;
	uint64_t min, max;
	const char *allowed, *fallback, *help;
};

enum hs_api_content {
	HS_API_FIELDS, // `fields`
	HS_API_RULE,   // a rule
	HS_API_UPDATE, // an update of a rule
};

struct hs_api_verb_row {
	const char *name, *help;
	bool changes;
	enum hs_api_content content;
	const struct hs_api_field *fields;
	size_t n_fields;
	bool light; // a small answer: many of them may stand beside changes
};

extern const struct hs_api_verb_row hs_api_verbs[HS_VERB_COUNT];

// The verb of a name, or -1.
int hs_api_verb_find(const char *name);

enum hs_api_which {
	HS_API_ALL,
	HS_API_CHANGES,
	HS_API_QUERIES, // those that change nothing
};

bool hs_api_verb_is(enum hs_api_verb verb, enum hs_api_which which);
// Their names, comma-separated; cut where it does not fit.
void hs_api_verb_list(char *text, size_t size, enum hs_api_which which);

// Reads the content of a verb. 0 or -EINVAL with *err (path relative to the content).
int hs_api_args_from_json(enum hs_api_verb verb, const json_t *content, struct hs_api_args *args,
		struct hs_error *err);
