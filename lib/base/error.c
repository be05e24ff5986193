// SPDX-License-Identifier: BSD-3-Clause
#include "error.h"

#include "clean_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int hs_error_vset(struct hs_error *err, const char *code, const char *path, const char *expected,
		const char *format, va_list args)
{
	if (!err)
		return -EINVAL;
	vsnprintf(err->message, sizeof(err->message), format, args);
	snprintf(err->code, sizeof(err->code), "%s", code);
	snprintf(err->path, sizeof(err->path), "%s", path);
	snprintf(err->expected, sizeof(err->expected), "%s", expected ? expected : "");
	hs_clean_mend(err->message);
	hs_clean_mend(err->path);
	hs_clean_mend(err->expected);
	return -EINVAL;
}

int hs_error_set(struct hs_error *err, const char *code, const char *path, const char *expected,
		const char *format, ...)
{
	va_list args;

	va_start(args, format);
	hs_error_vset(err, code, path, expected, format, args);
	va_end(args);
	return -EINVAL;
}

void hs_error_prefix(struct hs_error *err, const char *prefix)
{
	char path[sizeof(err->path)];
	if (!err)
		return;
	bool member = prefix[0] && err->path[0] && err->path[0] != '[';
	snprintf(path, sizeof(path), "%s%.*s", member ? "." : "", (int)sizeof(path) - 2, err->path);
	// A path that is too long loses its tail, because the front names the field.
	size_t used = (size_t)snprintf(err->path, sizeof(err->path), "%s", prefix);
	if (used < sizeof(err->path))
		snprintf(err->path + used, sizeof(err->path) - used, "%s", path);
	hs_clean_mend(err->path);
}

char *hs_error_text(const struct hs_error *err, char text[HS_ERROR_TEXT])
{
	char whole[HS_ERROR_TEXT];

	snprintf(whole, sizeof(whole), "%s%s%s%s%s%s", err->path, err->path[0] ? ": " : "",
			err->message, err->expected[0] ? " (allowed: " : "", err->expected,
			err->expected[0] ? ")" : "");
	// The error may contain foreign text. It is still one line.
	hs_clean_copy(whole, text, HS_ERROR_TEXT);
	return text;
}
