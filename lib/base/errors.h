// SPDX-License-Identifier: BSD-3-Clause
// The errors of one file, so that a user mends all of them before the next try.
//
// Thread rule: any; the struct belongs to the caller. Begin with zeros.
#pragma once

#include "error.h"

#include <stdbool.h>

#define HS_ERRORS_MOST 16

struct hs_errors {
	unsigned n; // how many there were; the list has the first HS_ERRORS_MOST
	struct hs_error list[HS_ERRORS_MOST];
};

// Keeps a copy of *err. Returns -EINVAL.
int hs_errors_keep(struct hs_errors *errors, const struct hs_error *err);

// Adds an error, as hs_error_set. Returns -EINVAL.
int hs_errors_add(struct hs_errors *errors, const char *code, const char *path,
		const char *expected, const char *format, ...)
		__attribute__((format(printf, 5, 6)));

// Prepends a parent to the paths of the errors from number `from` on (hs_error_prefix).
void hs_errors_prefix(struct hs_errors *errors, unsigned from, const char *prefix);

// Returns whether one of the first `n` errors is in one of these members of the file's object
// ("workers", "ports[3].name", "ports[].name" for any index), or of what has the member: what the
// members mean together cannot be checked then. NULL ends the list.
bool hs_errors_touch(const struct hs_errors *errors, unsigned n, const char *const members[]);

// Does the same for all errors and one member.
bool hs_errors_touch_one(const struct hs_errors *errors, const char *member);
