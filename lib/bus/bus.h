// SPDX-License-Identifier: BSD-3-Clause
// Messages between nodes, controllers and command lines: the only place that knows ZeroMQ.
//
// A node binds a ROUTER for requests and a publisher that connects to controllers (and may be bound
// for local listeners). Nothing here waits unless a timeout is given; what cannot be sent is lost
// and counted.
// Thread rule: owner (the control thread opens, uses and closes; ZeroMQ's own thread inherits the
// affinity of the one that opens).
#pragma once

#include "bus_keys.h"

#include "error.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_bus;

struct hs_bus_config {
	const char *const *bind; // requests are answered here: "ipc:///run/...", "tcp://..."
	unsigned n_bind;
	const char *const *publish_to; // controllers that the publisher connects to
	unsigned n_publish_to;
	const char *const *publish_bind; // where local listeners may subscribe
	unsigned n_publish_bind;
	unsigned publish_queue; // messages held for each subscriber; 0: 1000
	bool insecure;		// allow what hs_bus_check_endpoint refuses without it
	// NULL: everything in clear, for anyone who can connect. Else what binds lets in only
	// `allowed_dir`, and `publish_to` must prove to own `server_file`.
	const struct hs_bus_keys *keys;
};

// One request. `body` is not terminated; it may be empty (also where a client sent several parts).
struct hs_bus_request {
	const char *body;
	size_t len;
	// Whose key it is (the name in allowed_dir); "" where no keys are used. Valid as the body
	// is.
	const char *user;
	bool may_change; // false: the key is for reading only
	// What leads back to the client, opaque to the caller.
	struct hs_bus_route *route;
};

struct hs_bus_counters {
	uint64_t requests;
	uint64_t requests_malformed; // dropped: no way back to the sender could be read
	uint64_t replies;
	uint64_t replies_lost; // the client had gone or did not read
	uint64_t published;    // reached every subscriber that wanted it (or there was none)
	uint64_t publish_lost; // a subscriber whose queue was full missed it
	uint64_t connections;  // made, since the start
	uint64_t disconnections;
	uint64_t handshakes_failed;
};

// May this endpoint be used? Known schemes are ipc and tcp. Without `insecure`: tcp to loopback
// only, and no abstract ipc name (no file permission guards it). 0 or -EINVAL with *err, whose path
// is `path`.
int hs_bus_check_endpoint(
		const char *endpoint, bool insecure, const char *path, struct hs_error *err);

// Opens all sockets. Creates missing directories of ipc endpoints, takes over the socket file of a
// process that died, refuses that of a living one (-EADDRINUSE) and any file that is no socket;
// ipc sockets get mode 0660. 0 or a negative errno with *err (path "bind[0]", ...), nothing is
// left.
int hs_bus_open(const struct hs_bus_config *config, struct hs_bus **bus, struct hs_error *err);
// Sends what is queued for at most 100 ms, then closes. NULL is allowed.
void hs_bus_close(struct hs_bus *bus);

#define HS_BUS_POLL_FDS 16

// Waits for a request, for one of `fds` (at most HS_BUS_POLL_FDS, filled as by poll(2)), a signal
// or the timeout (-1: for ever, 0: just looks). Returns whether a request waits. Call it also
// where nothing is awaited: it lets subscribers in.
bool hs_bus_poll(struct hs_bus *bus, int timeout_ms, struct pollfd *fds, unsigned n_fds);

// Takes the next request: 0, or -EAGAIN where there is none. Each must be replied to or dropped.
// At most a handful should be taken between two polls, so that a flood starves nothing.
int hs_bus_next_request(struct hs_bus *bus, struct hs_bus_request *request);
// Sends the reply and frees the request in any case. 0 or a negative errno (counted as lost).
int hs_bus_reply(struct hs_bus *bus, struct hs_bus_request *request, const char *text);
void hs_bus_drop_request(struct hs_bus_request *request);

// Publishes two parts, topic and JSON. 0, or -EAGAIN where a subscriber missed it; the others got
// it all the same. Exact for each of `publish_to`. Of the listeners at `publish_bind`, which share
// a socket, ZeroMQ reports only when one's queue fills, not what it misses until it reads again: it
// sees that by the gap in `seq`.
int hs_bus_publish(struct hs_bus *bus, const char *topic, const char *json);

void hs_bus_counters(const struct hs_bus *bus, struct hs_bus_counters *out);

// ---- client ----

struct hs_bus_client;

// 0 or a negative errno with *err; -EHOSTUNREACH where nobody answers at an ipc endpoint. `keys`:
// secret_file and server_file; NULL: in clear.
int hs_bus_client_open(const char *endpoint, const struct hs_bus_keys *keys,
		struct hs_bus_client **client, struct hs_error *err);
void hs_bus_client_close(struct hs_bus_client *client);

// Sends a request and waits for its reply (terminated; the caller frees it). -EHOSTUNREACH: nobody
// there; -ETIMEDOUT: no reply in time. The client may be used again after either.
int hs_bus_client_call(struct hs_bus_client *client, const char *request, size_t len,
		int timeout_ms, char **reply, size_t *reply_len);

// ---- peer: a client that never waits, for one that talks to many nodes ----

struct hs_bus_peer;

struct hs_bus_peer_state {
	bool connected;	      // handshake included
	uint64_t connections; // made, since the start
	uint64_t handshakes_failed;
};

// Connects in the background and again whenever the connection breaks. All peers of a process share
// ZeroMQ's thread. `keys` as for a client. 0 or a negative errno with *err.
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
