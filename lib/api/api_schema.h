// SPDX-License-Identifier: BSD-3-Clause
// JSON Schema (draft 2020-12) of what a client may send.
//
// Thread rule: any.
#pragma once

#include "api_reply.h"

#include <jansson.h>

// "$defs" has each verb's content, "request" (one of them in its envelope), "item" (of a list),
// "change" (an item with a verb that changes something), "rule" (as replies show it) and
// "transaction". Returns a new reference, without "$schema".
json_t *hs_api_schema(void);

enum hs_api_program {
	HS_API_NODE,
	HS_API_CONTROLLER,
	HS_API_COLLECTOR,
	HS_API_PROGRAMS,
};

// Returns the JSON Schema of replies, from the tables that print them: a new reference. The
// function of a kind of program returns the table of a verb's reply, or NULL if the program does
// not answer the verb. For a reply that a controller gathers from its nodes, the function returns
// the table that it also returns for HS_VERB_AUDIT.
typedef const struct hs_schema_field *hs_api_reply_fields(enum hs_api_verb verb);
json_t *hs_api_reply_schema(hs_api_reply_fields *const programs[HS_API_PROGRAMS]);
