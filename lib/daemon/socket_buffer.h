// SPDX-License-Identifier: BSD-3-Clause
// What the kernel holds of a socket that receives.
//
// Thread rule: any.
#pragma once

#include <stdint.h>

// Asks for so much. The kernel gives less where net.core.rmem_max is smaller, except to a process
// with CAP_NET_ADMIN.
void hs_socket_buffer_set(int fd, uint32_t kib);

// Returns what the kernel gave.
uint32_t hs_socket_buffer_kib(int fd);

// Logs a warning if the kernel gave less to the socket that the configuration has at `path`.
void hs_socket_buffer_tell(const char *module, const char *path, uint32_t kib, uint32_t wanted_kib);
