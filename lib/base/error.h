// SPDX-License-Identifier: BSD-3-Clause
// An error that a user can cause: which field, what was wrong with it, and what was allowed.
//
// Thread rule: any; the struct belongs to the caller.
#pragma once

#include <stdarg.h>
#include <stdbool.h>

struct hs_error {
	char code[32];	     // a stable word for scripts: "out_of_range", "unknown_field", ...
	char path[160];	     // the place: "ports[3].mtu", "[2].int_request.src_ip"
	char message[256];   // text for people, with the bad value; cut between characters
	char expected[1024]; // what was allowed; may be empty
};

// Fills *err (which may be NULL) and returns -EINVAL, so that a validator can say
// `return hs_error_set(err, "out_of_range", path, "1 to 65535", "node id is %d", id)`.
int hs_error_set(struct hs_error *err, const char *code, const char *path, const char *expected,
		const char *format, ...) __attribute__((format(printf, 5, 6)));
// Does the same with a list of arguments.
int hs_error_vset(struct hs_error *err, const char *code, const char *path, const char *expected,
		const char *format, va_list args) __attribute__((format(printf, 5, 0)));

// Prepends a parent to the path of an error that a nested validator filled: "ports[3]" to "mtu",
// "requests" to "[2].int_request".
void hs_error_prefix(struct hs_error *err, const char *prefix);

// Writes the error as one line: "path: message (allowed: expected)". Returns text.
#define HS_ERROR_TEXT 1504
char *hs_error_text(const struct hs_error *err, char text[HS_ERROR_TEXT]);

static inline bool hs_error_is_set(const struct hs_error *err)
{
	return err->code[0] != '\0';
}
