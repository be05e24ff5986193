// SPDX-License-Identifier: BSD-3-Clause
// What the sockets of nodes and clients have in common. For lib/bus only.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How much longer a message may be than the API takes, so that the API can say that it is too long:
// ZeroMQ answers a frame beyond its limit by closing the connection.
#define HS_BUS_MAX_MESSAGE (4 << 20)

// How long a client waits for a connection.
#define HS_BUS_CONNECT_MS 2000

// Options that every socket gets: signs of life over TCP, time limits, reconnection. 0 or -errno.
int hs_bus_socket_tune(void *socket, int linger_ms);
int hs_bus_socket_set(void *socket, int option, int value);

// Is there a file to this endpoint?
bool hs_bus_ipc_is_file(const char *endpoint);
// Does somebody answer at it? 0 or -errno.
int hs_bus_ipc_probe(const char *endpoint);

// Removes the file that a bind made (ZeroMQ leaves it).
void hs_bus_ipc_remove(const char *endpoint);

// Makes the directory of an ipc endpoint and takes away the socket file of a dead process.
int hs_bus_ipc_prepare(const char *endpoint, const char *path, struct hs_error *err);

// Fills *err for a failed ZeroMQ call and returns -errno.
int hs_bus_error(struct hs_error *err, const char *code, const char *path, const char *what);

int64_t hs_bus_now_ms(void);

// A copy of a message (a zmq_msg_t) as terminated text; the caller frees it. NULL: memory is out.
char *hs_bus_take_text(void *message, size_t *len);
