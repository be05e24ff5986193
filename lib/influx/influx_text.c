// SPDX-License-Identifier: BSD-3-Clause
#include "influx_text.h"

#include <stdlib.h>

#define SET_BACK_NS INT64_C(1000000000) // more than events of one moment take

void hs_influx_text_fini(struct hs_influx_text *text)
{
	free(text->bytes);
	*text = (struct hs_influx_text){0};
}

void hs_influx_text_clear(struct hs_influx_text *text)
{
	text->len = 0;
	text->lines = 0;
}

static size_t room_for_line(struct hs_influx_text *text)
{
	size_t size = 2 * (text->len + HS_INFLUX_LINE_BYTES);

	if (text->size - text->len >= HS_INFLUX_LINE_BYTES)
		return HS_INFLUX_LINE_BYTES;
	char *bytes = realloc(text->bytes, size);
	if (!bytes)
		return text->size - text->len;
	text->bytes = bytes;
	text->size = size;
	return HS_INFLUX_LINE_BYTES;
}

static char *begin(struct hs_influx_text *text, size_t *room)
{
	*room = room_for_line(text);
	return *room ? text->bytes + text->len : NULL;
}

struct hs_influx_line *hs_influx_text_line(struct hs_influx_text *text, const char *measurement)
{
	size_t room;
	char *at = begin(text, &room);

	hs_influx_line_begin(&text->line, at, room, measurement);
	return &text->line;
}

struct hs_influx_line *hs_influx_text_line_as(struct hs_influx_text *text, const char *measurement)
{
	size_t room;
	char *at = begin(text, &room);

	hs_influx_line_begin_as(&text->line, at, room, measurement);
	return &text->line;
}

int64_t hs_influx_text_next_ns(int64_t time_ns, int64_t last_ns)
{
	return time_ns > last_ns || last_ns - time_ns > SET_BACK_NS ? time_ns : last_ns + 1;
}

void hs_influx_text_end(struct hs_influx_text *text, int64_t time_ns)
{
	size_t len = hs_influx_line_end(&text->line, time_ns);

	text->len += len;
	text->lines += len > 0;
}
