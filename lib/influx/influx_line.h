// SPDX-License-Identifier: BSD-3-Clause
// One line of the line protocol: a measurement, tags, fields and a time. The caller writes tags in
// front of fields, and closes the line with a time.
//
// Source: InfluxDB 1.8, line protocol reference.
// Thread rule: any; the struct and the buffer belong to the caller.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_influx_line {
	char *text;
	size_t size, len;
	unsigned fields;
	bool overflow; // the line does not fit
};

// Begins a line. Escapes the commas and spaces of `measurement`. Names and tags cannot contain
// every byte: a newline becomes "\n" in two characters, and a backslash that would escape another
// byte becomes a slash.
void hs_influx_line_begin(
		struct hs_influx_line *line, char *text, size_t size, const char *measurement);
// Does the same with a name that is escaped already.
void hs_influx_line_begin_as(
		struct hs_influx_line *line, char *text, size_t size, const char *measurement);

// These functions write tags. An empty value is left out, because the protocol has no empty value.
void hs_influx_line_tag(struct hs_influx_line *line, const char *key, const char *value);
void hs_influx_line_tag_uint(struct hs_influx_line *line, const char *key, uint64_t value);

// These functions write fields. The protocol has no integers above INT64_MAX, no infinity and no
// NaN: such a value is left out.
void hs_influx_line_int(struct hs_influx_line *line, const char *key, int64_t value);
void hs_influx_line_uint(struct hs_influx_line *line, const char *key, uint64_t value);
void hs_influx_line_real(struct hs_influx_line *line, const char *key, double value);
void hs_influx_line_bool(struct hs_influx_line *line, const char *key, bool value);
void hs_influx_line_text(struct hs_influx_line *line, const char *key, const char *value);

// Closes the line with a time (ns since the Unix epoch) and a newline, without a zero byte. Returns
// the number of bytes, or 0 if the line has no field or does not fit.
size_t hs_influx_line_end(struct hs_influx_line *line, int64_t time_ns);
