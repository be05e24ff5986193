// SPDX-License-Identifier: BSD-3-Clause
#include "api_answers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 1024
#define TAIL_BYTES  64 // reserved, so that the end fits even if memory is out

void hs_api_answers_fini(struct hs_api_answers *answers)
{
	free(answers->text);
	*answers = (struct hs_api_answers){0};
}

static int append(const char *bytes, size_t n, void *data)
{
	struct hs_api_answers *answers = data;

	if (!n)
		return 0;
	if (answers->size < answers->len + n + TAIL_BYTES) {
		size_t size = answers->size ? 2 * answers->size : FIRST_BYTES;
		while (size < answers->len + n + TAIL_BYTES)
			size *= 2;
		char *more = realloc(answers->text, size);
		if (!more)
			return -1;
		answers->text = more;
		answers->size = size;
	}
	memcpy(answers->text + answers->len, bytes, n);
	answers->len += n;
	return 0;
}

int hs_api_answers_add(struct hs_api_answers *answers, json_t *answer, bool changes)
{
	const size_t before = answers->len;
	int rc = answers->n ? append(",", 1, answers) : 0;

	if (rc == 0)
		rc = answer ? json_dump_callback(answer, append, answers, HS_API_DUMP)
			    : append("{}", 2, answers);
	json_decref(answer);
	if (rc) {
		answers->len = before;
		return -ENOMEM;
	}
	answers->n++;
	if (!changes)
		answers->asked_bytes += answers->len - before;
	return 0;
}

size_t hs_api_answers_room(const struct hs_api_answers *answers)
{
	return answers->asked_bytes < HS_API_MAX_REPLY ? HS_API_MAX_REPLY - answers->asked_bytes
						       : 1;
}

int hs_api_answers_begin(struct hs_api_answers *answers, bool single, json_t *id)
{
	int rc = id ? append("{\"id\":", 6, answers) : 0;

	if (id && rc == 0)
		rc = json_dump_callback(id, append, answers, HS_API_DUMP | JSON_ENCODE_ANY);
	rc = rc ? rc : append(id ? ",\"ok\":" : "{\"ok\":", 6, answers);
	answers->list = !single;
	rc = rc ? rc : append("[", answers->list, answers);
	return rc ? -ENOMEM : 0;
}

char *hs_api_answers_end(struct hs_api_answers *answers, uint64_t generation)
{
	char *text = answers->text;

	snprintf(text + answers->len, TAIL_BYTES, "%s,\"generation\":%llu}",
			answers->list ? "]" : "", (unsigned long long)generation);
	answers->text = NULL;
	return text;
}
