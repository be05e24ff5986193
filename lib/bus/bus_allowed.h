// SPDX-License-Identifier: BSD-3-Clause
// The current directory of keys that may connect. For lib/bus only.
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
	uint64_t print; // hash of names, times and sizes
	bool settled; // nothing changed so recently that a further change could have the same time
	size_t n;
	struct hs_bus_allowed_key *keys; // sorted by public_key
	// The first thing that is wrong: a file, whose key is not allowed; two files with the same
	// key, which stays allowed; or the directory itself, and then no key is allowed.
	struct hs_error problem;
};

// Reads a directory. The directory and each file of a key must be right. Returns 0, or a negative
// errno with *err, whose path is `path`.
int hs_bus_allowed_open(const char *dir, const char *path, struct hs_bus_allowed *allowed,
		struct hs_error *err);
void hs_bus_allowed_close(struct hs_bus_allowed *allowed);

// Reads the directory again if it has changed. Returns whether the list or the problem has changed;
// *fewer says whether a key was removed. Changes nothing if descriptors or memory are out.
bool hs_bus_allowed_refresh(struct hs_bus_allowed *allowed, bool *fewer);

// Returns NULL if the key is not allowed.
const struct hs_bus_allowed_key *hs_bus_allowed_find(
		const struct hs_bus_allowed *allowed, const char *public_key);
