// SPDX-License-Identifier: BSD-3-Clause
// A text as a file, for code that reads files by name.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

// Creates a file in memory that holds the text, and puts its name into `name`. Close the returned
// descriptor.
static inline int text_file(const char *text, size_t len, char name[64])
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	snprintf(name, 64, "/proc/self/fd/%d", fd);
	return fd;
}
