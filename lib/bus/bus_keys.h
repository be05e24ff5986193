// SPDX-License-Identifier: BSD-3-Clause
// Keys of the message sockets (CURVE, rfc.zeromq.org/spec/26) are files. docs/security.md explains
// their format, which is that of czmq's and pyzmq's certificates with a role.
//
// Thread rule: any.
#pragma once

#include "error.h"

#include <stdbool.h>

// Names of files, borrowed; each may be NULL.
struct hs_bus_keys {
	const char *secret_file; // our own pair: NAME.secret, which only its owner may read
	const char *allowed_dir; // for bound sockets: the NAME.pub of each peer that may connect
	const char *server_file; // for connecting sockets: the NAME.pub of the other side
};

// Reads all given files as hs_bus_open would. Returns 0, or a negative errno with *err, whose path
// is "secret", "allowed" or "controller", as in a configuration's control.keys.
int hs_bus_keys_check(const struct hs_bus_keys *keys, struct hs_error *err);

// Checks that the keys are complete for a node (publishes_to: the node has `publish_to`) and that
// each file is right. Returns 0, or a negative errno with *err, whose path is "secret", "allowed"
// or "controller".
int hs_bus_check_keys(const struct hs_bus_keys *keys, bool publishes_to, bool insecure,
		struct hs_error *err);

// Creates a pair: NAME.secret (mode 0600) and NAME.pub in an existing directory. Returns 0, or a
// negative errno with *err; -EEXIST if one of the two exists. On failure, removes what it began.
int hs_bus_keys_make(const char *dir, const char *name, bool read_only, struct hs_error *err);
