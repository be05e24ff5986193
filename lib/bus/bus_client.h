// SPDX-License-Identifier: BSD-3-Clause
// The peers of a node's sockets: clients, and subscribers of what the node publishes.
//
// Thread rule: owner (of each object; ZeroMQ's own threads inherit the affinity of the thread that
// opens).
#pragma once

#include "bus_keys.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- client ----

struct hs_bus_client;

// Returns 0, or a negative errno with *err; -EHOSTUNREACH if nobody answers at an ipc endpoint.
// `keys` uses secret_file and server_file; NULL: no encryption.
int hs_bus_client_open(const char *endpoint, const struct hs_bus_keys *keys,
		struct hs_bus_client **client, struct hs_error *err);
void hs_bus_client_close(struct hs_bus_client *client);

// Sends a request and waits for its reply (terminated; the caller frees it). Returns -EHOSTUNREACH
// if nobody is there, -EACCES if the node does not allow the key, -EPROTO if the node uses other
// keys or one side uses none, -ETIMEDOUT if no reply came in time. The client may be used again
// after each of these.
int hs_bus_client_call(struct hs_bus_client *client, const char *request, size_t len,
		int timeout_ms, char **reply, size_t *reply_len);

// ---- peer: a client that never waits, for a program that talks to many nodes ----

struct hs_bus_peer;

struct hs_bus_peer_state {
	bool connected;	      // true after the handshake
	bool refused;	      // the node answers, but does not allow our key
	uint64_t connections; // established since the start
	uint64_t handshakes_failed;
};

// Connects in the background and reconnects whenever the connection breaks. After a refused
// handshake, only the calls below reconnect, so call one of them now and then. All peers of a
// process share ZeroMQ's thread. `keys` as for a client. A reply of more than most_bytes (-1: any)
// breaks the connection. Returns 0, or a negative errno with *err.
int hs_bus_peer_open(const char *endpoint, const struct hs_bus_keys *keys, int64_t most_bytes,
		struct hs_bus_peer **peer, struct hs_error *err);
void hs_bus_peer_close(struct hs_bus_peer *peer);

// Returns 0, or -EAGAIN if the peer is not connected or its queue (1,000 requests) is full. A
// request that was sent when the connection broke may get no reply.
int hs_bus_peer_send(struct hs_bus_peer *peer, const char *text, size_t len);
// Takes the next reply (terminated; the caller frees it). Returns 0 or -EAGAIN. Replies come in the
// order of the requests. After a lost connection, only their `id` identifies them.
int hs_bus_peer_next(struct hs_bus_peer *peer, char **reply, size_t *len);
// Returns a descriptor that becomes readable once when something has happened. Then, and after each
// send, call hs_bus_peer_next until -EAGAIN. Use it with poll(2) and POLLIN; epoll(7) can combine
// many in one descriptor.
int hs_bus_peer_fd(const struct hs_bus_peer *peer);
void hs_bus_peer_state(struct hs_bus_peer *peer, struct hs_bus_peer_state *out);

// ---- subscriber ----

struct hs_bus_subscriber;

struct hs_bus_message {
	char topic[128]; // truncated if longer
	char *json;	 // terminated; the caller frees it
	size_t len;
};

// Subscribes to one topic prefix ("" for everything). With `bind`, publishers connect to the
// subscriber, as for a controller; the rules for ipc files are those of hs_bus_open. `keys` uses
// secret_file, and server_file or (with `bind`) allowed_dir; NULL: no encryption.
int hs_bus_subscriber_open(const char *endpoint, const char *topic, bool bind,
		const struct hs_bus_keys *keys, struct hs_bus_subscriber **subscriber,
		struct hs_error *err);
void hs_bus_subscriber_close(struct hs_bus_subscriber *subscriber);
// Returns 0, -EAGAIN after the timeout, or -EINTR on a signal.
int hs_bus_subscriber_next(struct hs_bus_subscriber *subscriber, int timeout_ms,
		struct hs_bus_message *message);
// Returns a descriptor like that of hs_bus_peer_fd. When it is readable, call
// hs_bus_subscriber_next until -EAGAIN.
int hs_bus_subscriber_fd(const struct hs_bus_subscriber *subscriber);
