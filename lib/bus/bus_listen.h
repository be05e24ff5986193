// SPDX-License-Identifier: BSD-3-Clause
// Our own listening sockets at endpoints in ZeroMQ's notation. For lib/bus only.
#pragma once

#include "error.h"

// Returns a descriptor that does not block, or a negative errno with *err. ipc files are prepared
// as hs_bus_open promises and have mode 0660 with any umask.
int hs_bus_listen(const char *endpoint, const char *path, struct hs_error *err);
