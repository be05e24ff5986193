// SPDX-License-Identifier: BSD-3-Clause
// Checks whether others may have written or placed a file.
//
// Thread rule: any.
#pragma once

#include "error.h"

#include <sys/stat.h>

// Returns 0 if the file or directory belongs to root or to this process's user and its mode has
// none of the bits of `forbidden`. Otherwise returns -EINVAL with *err, "bad_permissions". `name`
// is the file's name, `allowed` the mode that the file should have ("mode 0755"), and `risk` what
// others could do.
int hs_file_access_check(const struct stat *status, mode_t forbidden, const char *name,
		const char *path, const char *allowed, const char *risk, struct hs_error *err);

#define HS_FILE_WRITABLE (S_IWGRP | S_IWOTH)
