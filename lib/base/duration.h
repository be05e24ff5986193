// SPDX-License-Identifier: BSD-3-Clause
// Durations as people write them: 250ms, 10s, 1m, 2h.
//
// Thread rule: any.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HS_DURATION_BYTES 24 // of a text, with its terminator

// Reads a whole number above 0 with ms, s, m or h. Returns 0, or -EINVAL for anything else and for
// more than 10,000 hours.
int hs_duration_read(const char *text, int64_t *ns);

// Writes the duration in the shortest of s, ms and ns that is exact: 1s, 60s, 1500ms.
void hs_duration_write(int64_t ns, char text[HS_DURATION_BYTES]);
// Lists at most `most` durations; a duration of 0 ends them. Writes "1s, 10s or 60s" if
// `before_last` is " or ". Returns the length of the text. Returns `size` or more if the text is
// cut.
size_t hs_duration_list(
		const int64_t *ns, size_t most, const char *before_last, char *text, size_t size);
