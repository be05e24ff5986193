// SPDX-License-Identifier: BSD-3-Clause
// Endpoints in ZeroMQ's notation, and the files of ipc endpoints.
//
// Thread rule: any.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

// Checks whether this endpoint may be used. Known schemes are ipc and tcp. Without `insecure`, tcp
// is allowed to loopback only, and abstract ipc names are refused because no file permission
// protects them. Pass true where keys protect the endpoint. Returns 0, or -EINVAL with *err, whose
// path is `path`.
int hs_bus_check_endpoint(
		const char *endpoint, bool insecure, const char *path, struct hs_error *err);

// ---- for lib/bus only ----

// Reads a TCP port. "*" is read as 0, which stands for any free port. Returns false if the text is
// no port.
bool hs_bus_take_port(const char *text, uint16_t *port);

// Returns whether this endpoint has a file.
bool hs_bus_ipc_is_file(const char *endpoint);
// Checks whether somebody answers at the endpoint. Returns 0 or -errno.
int hs_bus_ipc_probe(const char *endpoint);

// Removes the file that a bind created, because ZeroMQ leaves it.
void hs_bus_ipc_remove(const char *endpoint);

// Creates the directory of an ipc endpoint and removes the socket file of a dead process.
int hs_bus_ipc_prepare(const char *endpoint, const char *path, struct hs_error *err);
