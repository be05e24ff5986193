// SPDX-License-Identifier: BSD-3-Clause
// An input of a fuzzer as a file, for code that reads files by name.
#pragma once

#include "fuzz.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Creates a file of mode 0600 in memory that holds the bytes, and puts its name into `name`. Close
// the returned descriptor.
static inline int fuzz_file(const uint8_t *data, size_t size, char name[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	HOLDS(fd >= 0 && fchmod(fd, 0600) == 0);
	HOLDS(size == 0 || write(fd, data, size) == (ssize_t)size);
	HOLDS(lseek(fd, 0, SEEK_SET) == 0);
	snprintf(name, 64, "/proc/self/fd/%d", fd);
	return fd;
}
