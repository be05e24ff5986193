// SPDX-License-Identifier: BSD-3-Clause
// May others have written this file, or put it there?
//
// Thread rule: any.
#pragma once

#include "error.h"

#include <sys/stat.h>

// 0 where the file or directory belongs to root or to us and its mode has none of the bits of
// `forbidden`; else -EINVAL with *err, "bad_permissions": `name` is the file's, `allowed` the mode
// that it should have ("mode 0755"), `risk` what others could do.
int hs_file_access_check(const struct stat *status, mode_t forbidden, const char *name,
		const char *path, const char *allowed, const char *risk, struct hs_error *err);

#define HS_FILE_WRITABLE (S_IWGRP | S_IWOTH)
