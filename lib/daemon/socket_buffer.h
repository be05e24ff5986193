// SPDX-License-Identifier: BSD-3-Clause
// The kernel's receive buffer of a socket.
//
// Thread rule: any.
#pragma once

#include <stdint.h>

// Asks the kernel for a buffer of this size. The kernel gives less where net.core.rmem_max is
// smaller, except to a process with CAP_NET_ADMIN.
void hs_socket_buffer_set(int fd, uint32_t kib);

// Returns the size that the kernel gave.
uint32_t hs_socket_buffer_kib(int fd);

// Logs a warning if the kernel gave less to the socket that the configuration has at `path`.
void hs_socket_buffer_tell(const char *module, const char *path, uint32_t kib, uint32_t wanted_kib);
