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
// Removes all lines and keeps the memory.
void hs_influx_text_clear(struct hs_influx_text *text);
// Begins a line. Without memory, the line is written nowhere.
struct hs_influx_line *hs_influx_text_line(struct hs_influx_text *text, const char *measurement);
// Does the same with a name that is escaped already.
struct hs_influx_line *hs_influx_text_line_as(struct hs_influx_text *text, const char *measurement);
// Returns the time of the event after that of `last_ns`: its own time, or last_ns + 1 if its own
// time is not later. An event that is more than a second earlier keeps its own time, because the
// clock was set back.
int64_t hs_influx_text_next_ns(int64_t time_ns, int64_t last_ns);
// Closes the line. A line without fields is left out.
void hs_influx_text_end(struct hs_influx_text *text, int64_t time_ns);
