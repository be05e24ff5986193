// SPDX-License-Identifier: BSD-3-Clause
// Passwords and tokens: one line in a file that nobody else may read.
//
// Thread rule: any.
#pragma once

#include "error.h"

#define INFLUX_SECRET_BYTES 1024

// Reads the first line of the file without the spaces around it. Returns 0, or a negative errno
// with *err ("not_readable", "bad_permissions", "bad_file"), which does not repeat the secret.
int influx_secret_read(const char *file, const char *path, char secret[INFLUX_SECRET_BYTES],
		struct hs_error *err);
