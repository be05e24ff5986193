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

static size_t digits_of(json_int_t value)
{
	size_t n = value < 0 ? 2 : 1;

	while ((value /= 10) != 0)
		n++;
	return n;
}

// Estimates the length of the text. Printing only to count would take a third of the time of a
// page. The depth of our own values limits the recursion.
static size_t bytes_of(const json_t *json)
{
	const char *key;
	json_t *value;
	size_t i, bytes = 1; // two brackets, minus one comma

	switch (json_typeof(json)) {
	case JSON_OBJECT:
		json_object_foreach ((json_t *)json, key, value)
			bytes += strlen(key) + 4 + bytes_of(value);
		return bytes;
	case JSON_ARRAY:
		json_array_foreach (json, i, value)
			bytes += 1 + bytes_of(value);
		return bytes;
	case JSON_STRING:
		return json_string_length(json) + 2;
	case JSON_INTEGER:
		return digits_of(json_integer_value(json));
	case JSON_REAL:
		return 18;
	default:
		return 5;
	}
}

static bool fits(const struct hs_api_args *args, const json_t *page, const json_t *more,
		size_t *used)
{
	size_t bytes = more ? bytes_of(more) + 1 : 0;

	if (args->room && *used + bytes > args->room && json_array_size(page) > 0)
		return false;
	*used += bytes;
	return true;
}

bool hs_api_page_add(const struct hs_api_args *args, json_t *page, json_t *entry, size_t *used)
{
	bool added = fits(args, page, entry, used);

	if (added)
		json_array_append(page, entry);
	json_decref(entry);
	return added;
}

bool hs_api_page_extend(const struct hs_api_args *args, json_t *page, json_t *entries, size_t *used)
{
	bool added = json_array_size(entries) == 0 || fits(args, page, entries, used);

	if (added)
		json_array_extend(page, entries);
	json_decref(entries);
	return added;
}
