// SPDX-License-Identifier: BSD-3-Clause
// Configurations with errors, in files of their own.
#pragma once

#include "errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_OF_TEST "/tmp/hopsight-config-XXXXXX"

// Makes a file with this text, in which ' stands for ". Its name replaces `file`, FILE_OF_TEST.
static inline void make_file(char *file, const char *text)
{
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	for (; *text; text++)
		assert_int_equal(write(fd, *text == '\'' ? "\"" : text, 1), 1);
	close(fd);
}

// `paths` ends with NULL; their order is that of the errors.
static inline void assert_paths(const struct hs_errors *errors, const char *const paths[])
{
	unsigned n = 0;

	for (; paths[n]; n++) {
		if (n >= errors->n || strcmp(errors->list[n].path, paths[n]) != 0)
			fail_msg("error %u is at %s in place of %s", n,
					n < errors->n ? errors->list[n].path : "no place",
					paths[n]);
	}
	if (errors->n > n)
		fail_msg("%s: %s", errors->list[n].path, errors->list[n].message);
}
