// SPDX-License-Identifier: BSD-3-Clause
// The other side of a node's sockets: clients, and subscribers of what it publishes.
//
// Thread rule: owner (of each object; ZeroMQ's own threads inherit the affinity of the one that
// opens).
#pragma once

#include "bus_keys.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- client ----

struct hs_bus_client;

// 0 or a negative errno with *err; -EHOSTUNREACH where nobody answers at an ipc endpoint. `keys`:
// secret_file and server_file; NULL: in clear.
int hs_bus_client_open(const char *endpoint, const struct hs_bus_keys *keys,
		struct hs_bus_client **client, struct hs_error *err);
void hs_bus_client_close(struct hs_bus_client *client);

// Sends a request and waits for its reply (terminated; the caller frees it). -EHOSTUNREACH: nobody
// there; -EACCES: the node does not allow the key; -EPROTO: it uses other keys, or one side uses
// none; -ETIMEDOUT: no reply in time. The client may be used again after each.
int hs_bus_client_call(struct hs_bus_client *client, const char *request, size_t len,
		int timeout_ms, char **reply, size_t *reply_len);

// ---- peer: a client that never waits, for one that talks to many nodes ----

struct hs_bus_peer;

struct hs_bus_peer_state {
	bool connected;	      // handshake included
	bool refused;	      // it answers, but does not allow our key
	uint64_t connections; // made, since the start
	uint64_t handshakes_failed;
};

// Connects in the background and again whenever the connection breaks; after a handshake that was
// refused, the calls below do, so one of them must be made now and then. All peers of a process
// share ZeroMQ's thread. `keys` as for a client. 0 or a negative errno with *err.
int hs_bus_peer_open(const char *endpoint, const struct hs_bus_keys *keys,
		struct hs_bus_peer **peer, struct hs_error *err);
void hs_bus_peer_close(struct hs_bus_peer *peer);

// 0, or -EAGAIN: not connected, or its queue (1,000 requests) is full. What was sent when the
// connection broke may get no reply.
int hs_bus_peer_send(struct hs_bus_peer *peer, const char *text, size_t len);
// Takes the next reply (terminated; the caller frees it): 0 or -EAGAIN. Replies come in the order
// of the requests; after a lost connection only their `id` tells which one it is.
int hs_bus_peer_next(struct hs_bus_peer *peer, char **reply, size_t *len);
// Becomes readable when something has happened, once: then, and after each send, call
// hs_bus_peer_next until -EAGAIN. For poll(2) with POLLIN; many fit into one descriptor of
// epoll(7).
int hs_bus_peer_fd(const struct hs_bus_peer *peer);
void hs_bus_peer_state(struct hs_bus_peer *peer, struct hs_bus_peer_state *out);

// ---- subscriber ----

struct hs_bus_subscriber;

struct hs_bus_message {
	char topic[128]; // cut if longer
	char *json;	 // terminated; the caller frees it
	size_t len;
};

// Subscribes to one topic prefix ("" for everything). `bind` makes it the side that publishers
// connect to, as a controller does; the rules for ipc files are those of hs_bus_open. `keys`:
// secret_file, and server_file or (with `bind`) allowed_dir; NULL: in clear.
int hs_bus_subscriber_open(const char *endpoint, const char *topic, bool bind,
		const struct hs_bus_keys *keys, struct hs_bus_subscriber **subscriber,
		struct hs_error *err);
void hs_bus_subscriber_close(struct hs_bus_subscriber *subscriber);
// 0, -EAGAIN after the timeout, -EINTR on a signal.
int hs_bus_subscriber_next(struct hs_bus_subscriber *subscriber, int timeout_ms,
		struct hs_bus_message *message);
// As hs_bus_peer_fd: when it is readable, call hs_bus_subscriber_next until -EAGAIN.
int hs_bus_subscriber_fd(const struct hs_bus_subscriber *subscriber);
