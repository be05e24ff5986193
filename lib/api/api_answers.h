// SPDX-License-Identifier: BSD-3-Clause
// The answers of one reply, kept as text. An answer costs only its bytes, and the total is known at
// any time. For lib/api only.
#pragma once

#include "api_args.h"

struct hs_api_answers {
	char *text; // the reply so far; not terminated
	size_t len, size;
	size_t n;
	size_t asked_bytes; // bytes of the answers to requests that change nothing
	bool list;
};

void hs_api_answers_fini(struct hs_api_answers *answers);

// Appends an answer and releases it. NULL stands for an empty object. Returns 0 or -ENOMEM.
int hs_api_answers_add(struct hs_api_answers *answers, json_t *answer, bool changes);

// Returns how many bytes the next answer may have. It is never 0, because a page has at least one
// entry.
size_t hs_api_answers_room(const struct hs_api_answers *answers);

// Begins the reply around the answers: a list, or one answer if `single`. Returns 0 or -ENOMEM.
int hs_api_answers_begin(struct hs_api_answers *answers, bool single, json_t *id);
// Ends the reply. The caller frees it. It allocates nothing, so it cannot fail.
char *hs_api_answers_end(struct hs_api_answers *answers, uint64_t generation);
