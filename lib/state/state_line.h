// SPDX-License-Identifier: BSD-3-Clause
// The lines of a state file. Each line has a checksum in front. Lines are read in order from a
// descriptor. For lib/state only. Thread rule: owner.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_STATE_CRC_BYTES 9 // eight digits and a space

// Writes a change as a line with its end. The caller frees it. Returns NULL if memory is out.
char *hs_state_line_make(const json_t *change, size_t *len);
// Returns whether the line, without its end, has the checksum that it states.
bool hs_state_line_is_whole(const char *line, size_t len);

struct hs_state_reader {
	int fd;
	char *bytes;
	size_t room, at, end;
	uint64_t offset; // position of the next line in the file
};

// Returns 1 for a line without its end, valid until the next call. Returns 0 at the end of the
// file; *len is the number of bytes there that are no line. Returns -E2BIG if a line is longer than
// HS_STATE_LINE_BYTES, or another negative errno.
int hs_state_reader_next(struct hs_state_reader *reader, const char **line, size_t *len);
void hs_state_reader_fini(struct hs_state_reader *reader);
