// SPDX-License-Identifier: BSD-3-Clause
// Keys of the message sockets (ZeroMQ's CURVE, rfc.zeromq.org/spec/26): files, and who is allowed.
// docs/security.md tells the format.
//
// Thread rule: any.
#pragma once

#include "error.h"

// Names of files, borrowed; NULL: none.
struct hs_bus_keys {
	const char *secret_file; // our own pair: NAME.secret, for its owner's eyes only
	const char *allowed_dir; // of what binds: *.pub of those that may connect
	const char *server_file; // of what connects: the NAME.pub of the other side
};
