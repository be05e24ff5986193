// SPDX-License-Identifier: BSD-3-Clause
#include "schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096
#define MAX_BYTES   (64u << 20)

struct text {
	char *bytes;
	size_t len, room;
};

static int not_readable(int error, struct hs_error *err)
{
	hs_error_set(err, "not_readable", "", "", "%s", strerror(error));
	return -error;
}

static int make_room(struct text *text, struct hs_error *err)
{
	size_t room = text->room ? text->room * 2 : FIRST_BYTES;

	if (text->len < text->room)
		return 0;
	if (room > MAX_BYTES)
		return hs_error_set(
				err, "too_large", "", "at most 64 MiB", "the file is too large");
	char *more = realloc(text->bytes, room);
	if (!more) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	text->bytes = more;
	text->room = room;
	return 0;
}

static int read_all(FILE *file, struct text *text, struct hs_error *err)
{
	int rc = 0;

	while (rc == 0 && !feof(file)) {
		rc = make_room(text, err);
		if (rc == 0)
			text->len += fread(
					text->bytes + text->len, 1, text->room - text->len, file);
		if (rc == 0 && ferror(file))
			rc = not_readable(errno, err);
	}
	return rc;
}

int hs_schema_load_file(const char *name, json_t **root, struct hs_error *err)
{
	FILE *file = fopen(name, "re");
	struct text text = {0};
	json_error_t syntax;

	if (!file)
		return not_readable(errno, err);
	int rc = read_all(file, &text, err);
	fclose(file);
	if (rc == 0) {
		*root = json_loadb(text.bytes, text.len, JSON_REJECT_DUPLICATES, &syntax);
		rc = *root ? 0 : hs_schema_syntax_error(&syntax, err);
	}
	free(text.bytes);
	return rc;
}
