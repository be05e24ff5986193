// SPDX-License-Identifier: BSD-3-Clause
#include "state_line.h"

#include "state_limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define READ_BYTES (1u << 16)

// Writes the checksum as text. Its digits are compared as text, so that each bit of a line counts.
static void checksum_text(const char *json, size_t len, char text[HS_STATE_CRC_BYTES + 1])
{
	unsigned long sum = crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)json, len);
	snprintf(text, HS_STATE_CRC_BYTES + 1, "%08lx ", sum);
}

char *hs_state_line_make(const json_t *change, size_t *len)
{
	char *json = json_dumps(change, JSON_COMPACT);
	size_t json_len = json ? strlen(json) : 0;
	char *line = json ? malloc(HS_STATE_CRC_BYTES + json_len + 1) : NULL;

	if (line) {
		checksum_text(json, json_len, line);
		memcpy(line + HS_STATE_CRC_BYTES, json, json_len);
		line[HS_STATE_CRC_BYTES + json_len] = '\n';
		*len = HS_STATE_CRC_BYTES + json_len + 1;
	}
	free(json);
	return line;
}

bool hs_state_line_is_whole(const char *line, size_t len)
{
	char text[HS_STATE_CRC_BYTES + 1];

	if (len < HS_STATE_CRC_BYTES)
		return false;
	checksum_text(line + HS_STATE_CRC_BYTES, len - HS_STATE_CRC_BYTES, text);
	return memcmp(line, text, HS_STATE_CRC_BYTES) == 0;
}

// Makes room behind the present bytes, and reads. Returns the number of bytes read, or a negative
// errno.
static ssize_t fill(struct hs_state_reader *reader)
{
	ssize_t n;

	if (reader->at)
		memmove(reader->bytes, reader->bytes + reader->at, reader->end - reader->at);
	reader->end -= reader->at;
	reader->at = 0;
	if (reader->room - reader->end < READ_BYTES) {
		size_t room = reader->room ? reader->room * 2 : 2 * READ_BYTES;
		char *more = realloc(reader->bytes, room);
		if (!more)
			return -ENOMEM;
		reader->bytes = more;
		reader->room = room;
	}
	do {
		n = read(reader->fd, reader->bytes + reader->end, reader->room - reader->end);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	reader->end += (size_t)n;
	return n;
}

int hs_state_reader_next(struct hs_state_reader *reader, const char **line, size_t *len)
{
	size_t looked = 0;

	for (;;) {
		size_t have = reader->end - reader->at;
		const char *start = have ? reader->bytes + reader->at : NULL;
		const char *stop = have ? memchr(start + looked, '\n', have - looked) : NULL;
		*line = start;
		*len = stop ? (size_t)(stop - start) : have;
		if (*len > HS_STATE_LINE_BYTES)
			return -E2BIG;
		if (stop) {
			reader->at += *len + 1;
			reader->offset += *len + 1;
			return 1;
		}
		looked = have;
		ssize_t n = fill(reader);
		if (n <= 0) {
			*line = reader->bytes;
			return (int)n;
		}
	}
}

void hs_state_reader_fini(struct hs_state_reader *reader)
{
	free(reader->bytes);
	*reader = (struct hs_state_reader){.fd = -1};
}
