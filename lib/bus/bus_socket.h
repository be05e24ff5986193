// SPDX-License-Identifier: BSD-3-Clause
// Common functions for the sockets of nodes and clients. For lib/bus only.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A message may be longer here than the API accepts, so that the API can report that it is too
// long: ZeroMQ answers a frame beyond its limit by closing the connection.
#define HS_BUS_MAX_MESSAGE (4 << 20)

// How long a client waits for a connection.
#define HS_BUS_CONNECT_MS 2000

// Sets the options of every socket: TCP keepalive, time limits, reconnection. Returns 0 or -errno.
int hs_bus_socket_tune(void *socket, int linger_ms);
int hs_bus_socket_set(void *socket, int option, int value);

// Fills *err for a failed ZeroMQ call and returns -errno.
int hs_bus_error(struct hs_error *err, const char *code, const char *path, const char *what);

int64_t hs_bus_now_ms(void);

// Copies a message (a zmq_msg_t) to terminated text, which the caller frees. Returns NULL if memory
// is out.
char *hs_bus_take_text(void *message, size_t *len);
