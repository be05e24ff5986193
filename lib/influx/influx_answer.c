// SPDX-License-Identifier: BSD-3-Clause
#include "influx_answer.h"

#include "clean_text.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTIAL	    "partial write"
#define NOT_A_POINT "unable to parse"

static bool is_success(long status)
{
	return status >= 200 && status < 300;
}

// Returns what becomes of a batch. INFLUX_BUSY: the same request may succeed later.
static enum influx_fate fate_of(long status)
{
	if (status == 0)
		return INFLUX_UNREACHABLE;
	if (is_success(status))
		return INFLUX_WRITTEN;
	return status >= 500 || status == 429 || status == 408 ? INFLUX_BUSY : INFLUX_REFUSED;
}

// Copies the server's words. InfluxDB 1.x has them in a header and as "error" in the body, InfluxDB
// 2 as "message". Others write text. A body that was cut is text, too.
static void say(const struct influx_answer *answer, char *words, size_t size)
{
	json_t *body = json_loads(answer->body, 0, NULL);
	const char *error = json_string_value(json_object_get(body, "error"));
	const char *message = json_string_value(json_object_get(body, "message"));
	const char *text = answer->error[0] ? answer->error
			   : message	    ? message
			   : error	    ? error
					    : answer->body;

	hs_clean_copy(text, words, size);
	json_decref(body);
}

// Returns how many lines the server says that it left out. The server counts in "dropped=" the
// lines that did not fit its types and ages, and names each line that it could not read.
static unsigned left_out(const char *text)
{
	unsigned long told = 0, unread = 0;
	const char *at = strstr(text, "dropped=");

	if (at)
		told = strtoul(at + strlen("dropped="), NULL, 10);
	for (at = text; (at = strstr(at, NOT_A_POINT)); at += strlen(NOT_A_POINT))
		unread++;
	return (unsigned)(told > unread ? told : unread);
}

struct influx_verdict influx_judge(const struct influx_answer *answer, unsigned lines)
{
	struct influx_verdict verdict = {.fate = fate_of(answer->status)};
	char words[INFLUX_WORDS_BYTES - 16];

	if (verdict.fate == INFLUX_WRITTEN)
		return verdict;
	say(answer, words, sizeof(words));
	if (verdict.fate == INFLUX_UNREACHABLE) {
		snprintf(verdict.words, sizeof(verdict.words), "%s", words);
		return verdict;
	}
	snprintf(verdict.words, sizeof(verdict.words), words[0] ? "HTTP %ld: %s" : "HTTP %ld%s",
			answer->status, words);
	const char *text = answer->body[0] ? answer->body : answer->error;
	if (verdict.fate != INFLUX_REFUSED || !strstr(text, PARTIAL))
		return verdict;
	unsigned dropped = left_out(text);
	verdict.fate = INFLUX_WRITTEN;
	verdict.dropped = dropped < 1 ? 1 : dropped < lines ? dropped : lines;
	return verdict;
}
