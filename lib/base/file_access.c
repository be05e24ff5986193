// SPDX-License-Identifier: BSD-3-Clause
#include "file_access.h"

#include <unistd.h>

int hs_file_access_check(const struct stat *status, mode_t forbidden, const char *name,
		const char *path, const char *allowed, const char *risk, struct hs_error *err)
{
	if (status->st_mode & forbidden)
		return hs_error_set(err, "bad_permissions", path, allowed,
				"%.150s has mode %04o: %s", name, status->st_mode & 07777, risk);
	if (status->st_uid != 0 && status->st_uid != geteuid())
		return hs_error_set(err, "bad_permissions", path,
				S_ISDIR(status->st_mode) ? "a directory of root's or our own"
							 : "a file of root's or our own",
				"%.150s belongs to user %u", name, status->st_uid);
	return 0;
}
