// SPDX-License-Identifier: BSD-3-Clause
// Keys of the message sockets (CURVE, rfc.zeromq.org/spec/26), which are files. docs/security.md
// tells their format: that of czmq's and pyzmq's certificates, with a role.
//
// Thread rule: any.
#pragma once

#include "error.h"

#include <stdbool.h>

// Names of files, borrowed; NULL: none.
struct hs_bus_keys {
	const char *secret_file; // our own pair: NAME.secret, for its owner's eyes only
	const char *allowed_dir; // of what binds: NAME.pub of each that may connect
	const char *server_file; // of what connects: the NAME.pub of the other side
};

// Reads all that are given as hs_bus_open would. 0 or a negative errno with *err, whose path is
// "secret", "allowed" or "controller", as in a configuration's control.keys.
int hs_bus_keys_check(const struct hs_bus_keys *keys, struct hs_error *err);

// Makes a pair: NAME.secret (mode 0600) and NAME.pub in a directory that exists. 0 or a negative
// errno with *err; -EEXIST where one of the two is there. What was begun is taken away again.
int hs_bus_keys_make(const char *dir, const char *name, bool read_only, struct hs_error *err);
