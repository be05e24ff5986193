// SPDX-License-Identifier: BSD-3-Clause
// Messages between nodes, controllers and command lines: the only place that knows ZeroMQ.
//
// A node binds a ROUTER for requests and a publisher that connects to controllers (and may be bound
// for local listeners). Nothing here waits unless a timeout is given; what cannot be sent is lost
// and counted.
// Thread rule: owner (the control thread opens, uses and closes; ZeroMQ's own thread inherits the
// affinity of the one that opens).
#pragma once

#include "bus_client.h"
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
	struct hs_bus *bus;
};

struct hs_bus_counters {
	uint64_t requests;
	uint64_t requests_malformed; // dropped: no way back to the sender could be read
	uint64_t requests_refused;   // dropped: the sender's key is allowed no longer
	uint64_t replies;
	uint64_t replies_lost; // the client had gone
	uint64_t published;    // reached every subscriber that wanted it (or there was none)
	uint64_t publish_lost; // a subscriber whose queue was full missed it
	uint64_t connections;  // made, since the start
	uint64_t disconnections;
	uint64_t handshakes_failed;
	uint64_t connections_refused; // there was no place or no descriptor for them
	uint64_t connections_closed;  // they cost more than a connection may
};

// May this endpoint be used? Known schemes are ipc and tcp. Without `insecure`: tcp to loopback
// only, and no abstract ipc name (no file permission guards it); where keys do, pass true. 0 or
// -EINVAL with *err, whose path is `path`.
int hs_bus_check_endpoint(
		const char *endpoint, bool insecure, const char *path, struct hs_error *err);

// Are they complete for a node (publishes_to: it has `publish_to`), and is each file right? 0 or a
// negative errno with *err, whose path is "secret", "allowed" or "controller".
int hs_bus_check_keys(const struct hs_bus_keys *keys, bool publishes_to, bool insecure,
		struct hs_error *err);

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
// where nothing is awaited, at least once a second: it lets subscribers in, answers handshakes (a
// handful at a time), and looks at the directory of keys. It may return early.
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

// The last handshake that failed for a reason. Connections that end in the middle of it, those of a
// scan for ports say, are only counted (handshakes_failed). False: there was none.
struct hs_bus_refusal {
	uint64_t count;	     // of such, since the start
	bool dialled;	     // one of `publish_to`; else somebody who came
	char peer[128];	     // endpoint or address, "" where it is not known
	char public_key[41]; // of who came with one that is not allowed, else ""
	char reason[96];
};
bool hs_bus_last_refusal(const struct hs_bus *bus, struct hs_bus_refusal *out);

// The last connection that was turned away: refused, or closed because it cost more than one may.
// False: there was none.
struct hs_bus_turned_away {
	uint64_t count; // since the start
	char peer[64];	// address or process, "" where it is not known
	char reason[96];
};
bool hs_bus_last_turned_away(const struct hs_bus *bus, struct hs_bus_turned_away *out);

struct hs_bus_keys_state {
	size_t allowed;		 // keys, now
	uint64_t changes;	 // of them and of the problem, since the start
	struct hs_error problem; // a file of it that is wrong and allows nobody
};
void hs_bus_keys_state(const struct hs_bus *bus, struct hs_bus_keys_state *out);
