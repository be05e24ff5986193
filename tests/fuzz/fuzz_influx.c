// SPDX-License-Identifier: BSD-3-Clause
// Any answer of a database has a fate, clean words, and drops no more lines than there are. Any
// texts make one line of the line protocol, whose parts are found where they were put.
#include "fuzz.h"

#include "influx_answer.h"
#include "influx_line.h"

#include <stdbool.h>
#include <string.h>

#define TEXT_BYTES 512

// Takes a text up to a zero byte from the input.
static void take(const uint8_t **data, size_t *size, char text[TEXT_BYTES])
{
	size_t len = strnlen((const char *)*data, *size < TEXT_BYTES - 1 ? *size : TEXT_BYTES - 1);

	memcpy(text, *data, len);
	text[len] = '\0';
	len += len < *size;
	*data += len;
	*size -= len;
}

static void judge(const uint8_t *data, size_t size)
{
	char error[TEXT_BYTES], body[TEXT_BYTES];

	if (size < 2)
		return;
	struct influx_answer answer = {
			.status = data[0] * 4 + data[1] % 4, .error = error, .body = body};
	unsigned lines = data[1] / 4 + 1;
	data += 2;
	size -= 2;
	take(&data, &size, error);
	take(&data, &size, body);
	struct influx_verdict verdict = influx_judge(&answer, lines);
	HOLDS(verdict.dropped <= lines);
	HOLDS(verdict.fate != INFLUX_WRITTEN || verdict.dropped == 0 || verdict.words[0]);
	HOLDS(memchr(verdict.words, '\0', sizeof(verdict.words)));
	HOLDS(!strpbrk(verdict.words, "\n\r\x1b"));
}

// Passes over what stands before a byte that nothing escapes, as a database reads.
static const char *find(const char *at, const char *end, char wanted)
{
	bool quoted = false;

	for (; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		else if (*at == '"' && wanted == ' ')
			quoted = !quoted;
		else if (*at == wanted && !quoted)
			return at;
	}
	return NULL;
}

static void write_line(const uint8_t *data, size_t size)
{
	static char bytes[16 * TEXT_BYTES];
	char measurement[TEXT_BYTES], tag[TEXT_BYTES], text[TEXT_BYTES];
	struct hs_influx_line line;

	take(&data, &size, measurement);
	take(&data, &size, tag);
	take(&data, &size, text);
	if (!measurement[0] || strchr(measurement, '"') || strchr(tag, '"'))
		return; // quotes are bytes like others in names; find() does not know names
	hs_influx_line_begin(&line, bytes, sizeof(bytes), measurement);
	hs_influx_line_tag(&line, "tag", tag);
	hs_influx_line_text(&line, "text", text);
	hs_influx_line_int(&line, "number", 7);
	size_t len = hs_influx_line_end(&line, 42);
	const char *end = bytes + len;

	HOLDS(len > 0 && memchr(bytes, '\n', len) == end - 1);
	const char *fields = find(bytes, end, ' ');
	HOLDS(fields && strncmp(fields, " text=\"", 7) == 0);
	const char *comma = find(bytes, fields, ',');
	HOLDS(tag[0] ? comma && strncmp(comma, ",tag=", 5) == 0 : !comma);
	HOLDS(!comma || !find(comma + 1, fields, ','));
	const char *time = find(fields + 1, end, ' ');
	HOLDS(time && strncmp(time, " 42\n", 4) == 0 && time + 4 == end);
	HOLDS(memcmp(time - 11, "\",number=7i", 11) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	judge(data, size);
	write_line(data, size);
	return 0;
}
