// SPDX-License-Identifier: BSD-3-Clause
// Messages between nodes, controllers and command lines. Only this folder uses ZeroMQ.
//
// A node binds a ROUTER for requests. Its publisher connects to controllers and may also be bound
// for local listeners. No function waits unless a timeout is given. A message that cannot be sent
// is lost and counted. Thread rule: owner (the control thread opens, uses and closes; ZeroMQ's own
// thread inherits the affinity of the thread that opens).
#pragma once

#include "bus_client.h"
#include "bus_endpoint.h"
#include "bus_keys.h"

#include "error.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_bus;

#define HS_BUS_PUBLISH_QUEUE 1000

struct hs_bus_config {
	const char *const *bind; // endpoints that answer requests: "ipc:///run/...", "tcp://..."
	unsigned n_bind;
	const char *const *publish_to; // controllers that the publisher connects to
	unsigned n_publish_to;
	const char *const *publish_bind; // endpoints where local listeners may subscribe
	unsigned n_publish_bind;
	unsigned publish_queue; // messages held for each subscriber; 0: HS_BUS_PUBLISH_QUEUE
	bool insecure;		// allow what hs_bus_check_endpoint refuses without it
	// NULL: no encryption and no authentication. Otherwise bound sockets accept only the keys
	// of `allowed_dir`, and `publish_to` peers must prove that they own `server_file`.
	const struct hs_bus_keys *keys;
};

// One request. `body` is not terminated. It may be empty, also if a client sent several parts.
struct hs_bus_request {
	const char *body;
	size_t len;
	// The name of the client's key in allowed_dir, or "" without keys. Valid as long as the
	// body.
	const char *user;
	bool may_change; // false: the key is read-only
	// The way back to the client, opaque to the caller.
	struct hs_bus_route *route;
	struct hs_bus *bus;
};

struct hs_bus_counters {
	uint64_t requests;
	uint64_t requests_malformed; // dropped: they had no readable way back to the sender
	uint64_t requests_refused;   // dropped: the sender's key is no longer allowed
	uint64_t replies;
	uint64_t replies_lost; // the client had gone
	uint64_t published;    // sent to every subscriber that wanted it (or there was none)
	uint64_t publish_lost; // missed by a subscriber whose queue was full
	uint64_t connections;  // established since the start
	uint64_t disconnections;
	uint64_t handshakes_failed;
	uint64_t connections_refused; // refused: there was no place or no descriptor
	uint64_t connections_closed;  // closed: they cost more than a connection may
};

// Opens all sockets. Creates missing directories of ipc endpoints and replaces the socket file of a
// process that died. Refuses the socket of a living process (-EADDRINUSE) and any file that is no
// socket. ipc sockets get mode 0660. Returns 0, or a negative errno with *err (path "bind[0]",
// ...); nothing is left open then.
int hs_bus_open(const struct hs_bus_config *config, struct hs_bus **bus, struct hs_error *err);
// Sends what is queued for at most 100 ms, then closes. Accepts NULL.
void hs_bus_close(struct hs_bus *bus);

#define HS_BUS_POLL_FDS 16

// Waits for a request, for one of `fds` (at most HS_BUS_POLL_FDS, filled as by poll(2)), a signal
// or the timeout (-1: no timeout, 0: no wait). Returns whether a request waits. Call this at least
// once a second even without expecting anything: it accepts subscribers, answers a few handshakes
// at a time, and reads the directory of keys. It may return early.
bool hs_bus_poll(struct hs_bus *bus, int timeout_ms, struct pollfd *fds, unsigned n_fds);

// Takes the next request. Returns 0, or -EAGAIN if there is none. The caller replies to each
// request or drops it. Take at most a handful between two polls, so that a flood of requests leaves
// time for everything else.
int hs_bus_next_request(struct hs_bus *bus, struct hs_bus_request *request);
// Sends the reply and frees the request in any case. Returns 0, or a negative errno (the reply is
// counted as lost).
int hs_bus_reply(struct hs_bus *bus, struct hs_bus_request *request, const char *text);
void hs_bus_drop_request(struct hs_bus_request *request);

// Publishes two parts, topic and JSON. Returns 0, or -EAGAIN if a subscriber missed the message;
// the others got it. This is exact for each of `publish_to`. Listeners at `publish_bind` share a
// socket. For these, ZeroMQ reports only the moment when a queue fills, not what the listener
// misses until it reads again. The listener sees a gap in `seq`.
int hs_bus_publish(struct hs_bus *bus, const char *topic, const char *json);

void hs_bus_counters(const struct hs_bus *bus, struct hs_bus_counters *out);

// The last handshake that failed for a reason. Connections that end during the handshake, for
// example in a port scan, are only counted (handshakes_failed). Returns false if there was none.
struct hs_bus_refusal {
	uint64_t count;	     // failed handshakes since the start
	bool dialled;	     // true: one of `publish_to`; false: an incoming connection
	char peer[128];	     // endpoint or address, "" if unknown
	char public_key[41]; // key of an incoming peer that is not allowed, else ""
	char reason[96];
};
bool hs_bus_last_refusal(const struct hs_bus *bus, struct hs_bus_refusal *out);

// The last connection that was refused, or closed because it cost more than a connection may.
// Returns false if there was none.
struct hs_bus_turned_away {
	uint64_t count; // number since the start
	char peer[64];	// address or process, "" if unknown
	char reason[96];
};
bool hs_bus_last_turned_away(const struct hs_bus *bus, struct hs_bus_turned_away *out);

struct hs_bus_keys_state {
	size_t allowed;		 // current number of keys
	uint64_t changes;	 // changes of the keys and of the problem since the start
	struct hs_error problem; // the first thing in the directory that is wrong (bus_allowed.h)
};
void hs_bus_keys_state(const struct hs_bus *bus, struct hs_bus_keys_state *out);
