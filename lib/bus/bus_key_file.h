// SPDX-License-Identifier: BSD-3-Clause
// One file with a key. For lib/bus only.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

#define HS_BUS_KEY_TEXT	    41 // 32 bytes as Z85 (rfc.zeromq.org/spec/32), terminated
#define HS_BUS_KEY_NAME_MAX 63

struct hs_bus_key {
	char public_key[HS_BUS_KEY_TEXT];
	char secret_key[HS_BUS_KEY_TEXT]; // "" unless requested; wipe it after use
	bool may_change;		  // role = "read-write"
};

// Returns whether this is a valid name for a key: 1 to 63 letters, digits, '_', '-', '.', without a
// leading '.'.
bool hs_bus_key_name_ok(const char *name, size_t len);

// Reads a file. With `secret`, the file must hold both keys, the keys must belong together, and
// only its owner and group may read it. Otherwise the public key suffices, and no others may write
// the file. Returns 0, or a negative errno with *err, whose path is `path` and whose message has
// the file's name.
int hs_bus_key_read(const char *file, bool secret, const char *path, struct hs_bus_key *key,
		struct hs_error *err);
