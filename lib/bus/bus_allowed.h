// SPDX-License-Identifier: BSD-3-Clause
// The directory of keys that may connect, as it is now. For lib/bus only.
#pragma once

#include "bus_key_file.h"

#include <stddef.h>
#include <stdint.h>

#define HS_BUS_MAX_ALLOWED 4096

struct hs_bus_allowed_key {
	char public_key[HS_BUS_KEY_TEXT];
	char name[HS_BUS_KEY_NAME_MAX + 1];
	bool may_change;
};

struct hs_bus_allowed {
	char *dir;
	uint64_t print; // of names, times and sizes
	bool settled;	// nothing changed so lately that a change could hide behind the same time
	size_t n;
	struct hs_bus_allowed_key *keys; // sorted by public_key
	struct hs_error problem;	 // a file that is wrong and allows nobody
};

// Reads a directory; all of it must be right. 0 or a negative errno with *err, whose path is
// `path`.
int hs_bus_allowed_open(const char *dir, const char *path, struct hs_bus_allowed *allowed,
		struct hs_error *err);
void hs_bus_allowed_close(struct hs_bus_allowed *allowed);

// Looks whether the directory has changed, and reads it again. Returns whether the list or the
// problem is another one now; *fewer: whether a key is gone. Where descriptors or memory are out,
// all stays as it was.
bool hs_bus_allowed_refresh(struct hs_bus_allowed *allowed, bool *fewer);

// NULL: not allowed.
const struct hs_bus_allowed_key *hs_bus_allowed_find(
		const struct hs_bus_allowed *allowed, const char *public_key);
