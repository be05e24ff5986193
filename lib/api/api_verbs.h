// SPDX-License-Identifier: BSD-3-Clause
// The table of verbs and the reading of their arguments. For lib/api only.
#pragma once

#include "api.h"
#include "rule_field.h"

struct hs_api_verb_row {
	const char *name, *help;
	bool changes; // or sends packets through the network; not for read-only keys
	bool passing; // its changes are not saved and do not raise the generation
	const struct hs_schema_field *fields; // of struct hs_api_args, or of the rule of an
					      // int_request; not those of an int_update
	bool light; // the answer is small: many of them may stand beside changes
};

extern const struct hs_api_verb_row hs_api_verbs[HS_VERB_COUNT];

// Returns the fields of a verb. Those of int_request and int_update are written to `of_rule`.
const struct hs_schema_field *hs_api_verb_fields(
		enum hs_api_verb verb, struct hs_schema_field of_rule[HS_RULE_ROWS + 1]);

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
// Keeps all errors of the content of a verb.
void hs_api_args_errors(enum hs_api_verb verb, json_t *content, struct hs_errors *errors);
