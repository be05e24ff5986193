// SPDX-License-Identifier: BSD-3-Clause
#include "influx_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void add(struct hs_influx_line *line, const char *bytes, size_t n)
{
	if (line->overflow || line->size - line->len < n) {
		line->overflow = true;
		return;
	}
	memcpy(line->text + line->len, bytes, n);
	line->len += n;
}

static void add_text(struct hs_influx_line *line, const char *text)
{
	add(line, text, strlen(text));
}

// Returns whether the byte would separate names and tags, so that it has to be escaped in them.
// Names of measurements have no '=' in this program.
static bool is_special(char byte, const char *special)
{
	return byte && strchr(special, byte);
}

// Returns whether the backslash before `after` stands for itself. A backslash does not in front of
// a byte that it would escape, in front of another backslash, and at the end, where it would escape
// the byte that follows the text.
static bool is_lone(const char *after, const char *special)
{
	return *after && *after != '\\' && *after != '\n' && !is_special(*after, special);
}

static void add_escaped(struct hs_influx_line *line, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\n')
			add(line, "\\n", 2);
		else if (*text == '\\')
			add(line, is_lone(text + 1, special) ? "\\" : "/", 1);
		else {
			if (is_special(*text, special))
				add(line, "\\", 1);
			add(line, text, 1);
		}
	}
}

static void add_key(struct hs_influx_line *line, const char *key)
{
	add_text(line, line->fields++ ? "," : " ");
	add_escaped(line, key, ", =");
	add(line, "=", 1);
}

void hs_influx_line_begin_as(
		struct hs_influx_line *line, char *text, size_t size, const char *measurement)
{
	*line = (struct hs_influx_line){.text = text, .size = size};
	add_text(line, measurement);
}

void hs_influx_line_begin(
		struct hs_influx_line *line, char *text, size_t size, const char *measurement)
{
	hs_influx_line_begin_as(line, text, size, "");
	add_escaped(line, measurement, ", ");
}

void hs_influx_line_tag(struct hs_influx_line *line, const char *key, const char *value)
{
	if (!value[0])
		return;
	add(line, ",", 1);
	add_escaped(line, key, ", =");
	add(line, "=", 1);
	add_escaped(line, value, ", =");
}

void hs_influx_line_tag_uint(struct hs_influx_line *line, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	hs_influx_line_tag(line, key, text);
}

void hs_influx_line_int(struct hs_influx_line *line, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64 "i", value);
	add_key(line, key);
	add_text(line, text);
}

void hs_influx_line_uint(struct hs_influx_line *line, const char *key, uint64_t value)
{
	if (value <= INT64_MAX)
		hs_influx_line_int(line, key, (int64_t)value);
}

void hs_influx_line_real(struct hs_influx_line *line, const char *key, double value)
{
	char text[32];

	if (!isfinite(value))
		return;
	snprintf(text, sizeof(text), "%.17g", value);
	add_key(line, key);
	add_text(line, text);
}

void hs_influx_line_bool(struct hs_influx_line *line, const char *key, bool value)
{
	add_key(line, key);
	add_text(line, value ? "true" : "false");
}

void hs_influx_line_text(struct hs_influx_line *line, const char *key, const char *value)
{
	add_key(line, key);
	add(line, "\"", 1);
	for (; *value; value++) {
		if (*value == '\n') {
			add(line, "\\n", 2);
			continue;
		}
		if (*value == '"' || *value == '\\')
			add(line, "\\", 1);
		add(line, value, 1);
	}
	add(line, "\"", 1);
}

size_t hs_influx_line_end(struct hs_influx_line *line, int64_t time_ns)
{
	char text[32];

	snprintf(text, sizeof(text), " %" PRId64 "\n", time_ns);
	add_text(line, text);
	return line->overflow || !line->fields ? 0 : line->len;
}
