// SPDX-License-Identifier: BSD-3-Clause
// The answers of one reply, kept as text: what has been answered costs its bytes and no more, and
// how much there is of it is known at any time. For lib/api only.
#pragma once

#include "api.h"

struct hs_api_answers {
	char *text; // the reply so far; not terminated
	size_t len, size;
	size_t n;
	size_t asked_bytes; // of those to requests that change nothing
	bool list;
};

void hs_api_answers_fini(struct hs_api_answers *answers);

// Appends an answer and gives it back; NULL stands for an empty object. 0 or -ENOMEM.
int hs_api_answers_add(struct hs_api_answers *answers, json_t *answer, bool changes);

// How many bytes the next answer may have, never 0: a page has one entry at least.
size_t hs_api_answers_room(const struct hs_api_answers *answers);

// The reply around them: a list of them, or the only one where `single`. 0 or -ENOMEM.
int hs_api_answers_begin(struct hs_api_answers *answers, bool single, json_t *id);
// The caller frees it. Takes no memory: it cannot fail.
char *hs_api_answers_end(struct hs_api_answers *answers, uint64_t generation);
