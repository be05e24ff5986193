// SPDX-License-Identifier: BSD-3-Clause
// The table of verbs.
//
// Thread rule: any; the table is constant. hs_api_set_windows: before the first message.
#pragma once

#include "api_args.h"
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
	HS_API_CHANGES, // verbs whose change lasts: those that a file may have
	HS_API_QUERIES, // verbs that change nothing
};

bool hs_api_verb_is(enum hs_api_verb verb, enum hs_api_which which);
// Lists the names of verbs, comma-separated; truncated if they do not fit.
void hs_api_verb_list(char *text, size_t size, enum hs_api_which which);

// Fills the answer of a node that has no routes. Returns -EINVAL.
int hs_api_refuse_routes(struct hs_error *err);
// Fills the answer of a program that does not answer this verb. Returns -EINVAL.
int hs_api_refuse_verb(enum hs_api_verb verb, struct hs_error *err);

// Sets the lengths of windows that this process has (0 ends them). Call it before the first
// message; qos_get is checked against them. The default is 1, 10 and 60 s.
void hs_api_set_windows(const int64_t lengths_ns[HS_API_WINDOWS]);

const char *hs_api_verb_name(enum hs_api_verb verb);
