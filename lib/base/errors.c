// SPDX-License-Identifier: BSD-3-Clause
#include "errors.h"

#include <errno.h>
#include <string.h>

int hs_errors_keep(struct hs_errors *errors, const struct hs_error *err)
{
	if (errors->n < HS_ERRORS_MOST)
		errors->list[errors->n] = *err;
	errors->n++;
	return -EINVAL;
}

int hs_errors_add(struct hs_errors *errors, const char *code, const char *path,
		const char *expected, const char *format, ...)
{
	struct hs_error err;
	va_list args;

	va_start(args, format);
	hs_error_vset(&err, code, path, expected, format, args);
	va_end(args);
	return hs_errors_keep(errors, &err);
}

void hs_errors_prefix(struct hs_errors *errors, unsigned from, const char *prefix)
{
	for (unsigned i = from; i < errors->n && i < HS_ERRORS_MOST; i++)
		hs_error_prefix(&errors->list[i], prefix);
}

// Returns whether a path is the outer path, or leads on from it. Each path leads on from "", and
// "[]" is any index.
static bool is_in(const char *path, const char *outer)
{
	if (!*outer)
		return true;
	while (*outer && *path == *outer) {
		bool index = *path == '[';
		path++;
		outer++;
		if (index && (*path == ']' || *outer == ']')) {
			path += strcspn(path, "]");
			outer += strcspn(outer, "]");
		}
	}
	return !*outer && strchr(".[", *path);
}

bool hs_errors_touch(const struct hs_errors *errors, unsigned n, const char *const members[])
{
	for (unsigned i = 0; i < n && i < HS_ERRORS_MOST; i++)
		for (unsigned m = 0; members[m]; m++)
			if (is_in(errors->list[i].path, members[m]) ||
					is_in(members[m], errors->list[i].path))
				return true;
	return n > HS_ERRORS_MOST;
}

bool hs_errors_touch_one(const struct hs_errors *errors, const char *member)
{
	return hs_errors_touch(errors, errors->n, (const char *const[]){member, NULL});
}
