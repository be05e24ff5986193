// SPDX-License-Identifier: BSD-3-Clause
// The lines of a state file: a checksum in front of each, read in order from a descriptor. For
// lib/state only.
// Thread rule: owner.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_STATE_CRC_BYTES 9 // eight digits and a space

// A change as a line with its end; the caller frees it. NULL when memory is out.
char *hs_state_line_make(const json_t *change, size_t *len);
// Does the line, without its end, have the checksum that it says?
bool hs_state_line_is_whole(const char *line, size_t len);

struct hs_state_reader {
	int fd;
	char *bytes;
	size_t room, at, end;
	uint64_t offset; // in the file, of the line that comes next
};

// 1: a line, without its end, valid until the next call. 0: the end of the file; *len bytes stand
// there that are no line. -E2BIG where a line is longer than HS_STATE_LINE_BYTES, or another
// negative errno.
int hs_state_reader_next(struct hs_state_reader *reader, const char **line, size_t *len);
void hs_state_reader_fini(struct hs_state_reader *reader);
