// SPDX-License-Identifier: BSD-3-Clause
// What the sockets of nodes and clients have in common. For lib/bus only.
#pragma once

#include "bus_keys.h"

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How much longer a message may be than the API takes, so that the API can say that it is too long:
// ZeroMQ answers a frame beyond its limit by closing the connection.
#define HS_BUS_MAX_MESSAGE (4 << 20)

// How long a client waits for a connection.
#define HS_BUS_CONNECT_MS 2000

// Options that every socket gets: heartbeats, time limits, reconnection. 0 or -errno.
int hs_bus_socket_tune(void *socket, int linger_ms);
int hs_bus_socket_set(void *socket, int option, int value);

// Binds or connects; ipc files are prepared as hs_bus_open promises. 0 or -errno with *err.
int hs_bus_socket_bind(void *socket, const char *endpoint, const char *path, struct hs_error *err);
int hs_bus_socket_connect(
		void *socket, const char *endpoint, const char *path, struct hs_error *err);

// Connects a client; waits until an ipc endpoint has accepted. -EHOSTUNREACH where nobody is there;
// for other schemes the first call will tell.
int hs_bus_socket_reach(void *context, void *socket, const char *endpoint, struct hs_error *err);

// Removes the file that a bind made (ZeroMQ leaves it).
void hs_bus_ipc_remove(const char *endpoint);

// Makes the directory of an ipc endpoint and takes away the socket file of a dead process.
int hs_bus_ipc_prepare(const char *endpoint, const char *path, struct hs_error *err);

// Fills *err for a failed ZeroMQ call and returns -errno.
int hs_bus_error(struct hs_error *err, const char *code, const char *path, const char *what);

// Watches what becomes of a socket's connections: *monitor is to be emptied now and then. 0 or
// -errno; hs_bus_socket_unwatch in any case, before the socket is closed (NULLs are allowed).
int hs_bus_socket_watch(void *context, void *socket, void **monitor);
void hs_bus_socket_unwatch(void *socket, void *monitor);

struct hs_bus_socket_event {
	uint16_t number; // ZMQ_EVENT_...
	uint32_t value;
	char endpoint[128]; // terminated; cut if longer
};

void hs_bus_socket_events(void *monitor,
		void (*note)(void *context, const struct hs_bus_socket_event *event),
		void *context);

// Makes the socket a client with these keys; NULL: leaves it in clear. 0 or a negative errno with
// *err, whose path is "secret" or "controller".
int hs_bus_keys_connect(void *socket, const struct hs_bus_keys *keys, struct hs_error *err);

// A copy of a message (a zmq_msg_t) as terminated text; the caller frees it. NULL: memory is out.
char *hs_bus_take_text(void *message, size_t *len);
