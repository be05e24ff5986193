// SPDX-License-Identifier: BSD-3-Clause
// Lines one behind the other, in memory that grows.
//
// Thread rule: any; the struct belongs to the caller.
#pragma once

#include "influx_line.h"

#include <stddef.h>
#include <stdint.h>

#define HS_INFLUX_LINE_BYTES (16u << 10) // a longer line is left out

struct hs_influx_text {
	char *bytes;
	size_t size, len;
	unsigned lines;
	struct hs_influx_line line;
};

void hs_influx_text_fini(struct hs_influx_text *text);
// Empties it and keeps the memory.
void hs_influx_text_clear(struct hs_influx_text *text);
// Begins a line. Without memory, the line is written nowhere.
struct hs_influx_line *hs_influx_text_line(struct hs_influx_text *text, const char *measurement);
// Does the same with a name that is escaped already.
struct hs_influx_line *hs_influx_text_line_as(struct hs_influx_text *text, const char *measurement);
// The time of the next event behind `last_ns`: its own, or one later where both came together. A
// clock that was set back goes on from there.
int64_t hs_influx_text_next_ns(int64_t time_ns, int64_t last_ns);
// Closes it. A line without fields is left out.
void hs_influx_text_end(struct hs_influx_text *text, int64_t time_ns);
