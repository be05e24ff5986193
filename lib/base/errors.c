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

void hs_errors_prefix(struct hs_errors *errors, unsigned from, const char *prefix)
{
	for (unsigned i = from; i < errors->n && i < HS_ERRORS_MOST; i++)
		hs_error_prefix(&errors->list[i], prefix);
}

static bool is_in(const char *path, const char *member)
{
	size_t len = strlen(member);

	return !path[0] || (strncmp(path, member, len) == 0 && strchr(".[", path[len]));
}

bool hs_errors_touch(const struct hs_errors *errors, unsigned n, const char *const members[])
{
	for (unsigned i = 0; i < n && i < HS_ERRORS_MOST; i++)
		for (unsigned m = 0; members[m]; m++)
			if (is_in(errors->list[i].path, members[m]))
				return true;
	return n > HS_ERRORS_MOST;
}
