// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the gate share. For lib/bus/bus_gate*.c only.
#pragma once

#include "bus_frames.h"
#include "bus_gate_limits.h"
#include "bus_visit.h"

#include <pthread.h>
#include <stdatomic.h>

#define MAX_LISTENERS 16
#define CHUNK_BYTES   (16 << 10) // read from a client at once
#define OUT_BYTES     (64 << 10) // read from ZeroMQ's socket at once

// What the owner of the sockets and the gate tell each other about a connection. `serial` and the
// owner's members change under the gate's lock, so that nothing is credited to a later connection
// of the same place.
struct credit {
	uint32_t serial; // 0: the place is empty
	atomic_uint_fast64_t taken, parked;
	atomic_uint_fast64_t sent, sent_small;
	atomic_uint_fast64_t passed; // written by the gate: passed bytes of `sent`
	atomic_bool starved;	     // the gate waits for `taken`
	atomic_bool choked;	     // the owner waits for `passed`
};

struct buffer {
	uint8_t *bytes; // NULL while the buffer is empty
	size_t len;	// bytes in the buffer
	size_t ready;	// of these, bytes that may be passed
	size_t gone;	// of these, bytes that have been passed
};

struct connection {
	enum hs_bus_gate_kind kind;
	int client, inner; // -1: the place is empty
	uint32_t watched_client, watched_inner;
	struct hs_bus_frames in, out;
	struct buffer to_inner, to_client;
	bool client_ended; // nothing more can be read from it
	bool client_gone;  // nothing can be sent to it
	bool inner_ended;
	bool unanswered; // ZeroMQ has not accepted it yet
	bool waits;	 // waits for credit
	int64_t since_ms;
	uint64_t since_taken, since_drained;
	int64_t end_ms;	 // 0, or when the connection is closed even if its client has not taken all
	uint64_t pooled; // taken from the kind's pool
	uint64_t who;	 // process or address
	char peer[64];
};

struct listener {
	int fd;
	enum hs_bus_gate_kind kind;
	char *endpoint;
};

struct hs_bus_gate {
	bool keys, running, shut;
	unsigned handshake; // frames of each side's handshake
	pthread_t thread;
	pthread_mutex_t lock;
	int epoll, wake, tell;
	uint64_t name;
	void *sockets[HS_BUS_GATE_KINDS]; // belong to the owner
	struct listener listeners[MAX_LISTENERS];
	unsigned n_listeners;
	atomic_bool end, shutting, cut[HS_BUS_GATE_KINDS];
	atomic_uint_fast64_t drained;
	struct hs_bus_gate_counters counters; // protected by the lock
	// Only the gate's thread uses the following members, except `credits`.
	struct connection *connections;
	struct credit *credits;
	unsigned n_connections, n_waiting, n_ending, next_place;
	uint32_t serial;
	uint64_t pooled[HS_BUS_GATE_KINDS];
	int64_t reckoned_ms, looked_ms, listeners_open_ms, end_ms;
	bool listeners_paused;
};

// The descriptors of a connection in events of epoll(7).
enum side {
	SIDE_CLIENT,
	SIDE_INNER,
	SIDE_LISTENER,
	SIDE_WAKE
};
uint64_t hs_bus_gate_tag(uint32_t serial, unsigned place, enum side side);

void hs_bus_gate_note_refusal(
		struct hs_bus_gate *gate, bool closed, const char *peer, const char *reason);
// Notes that ZeroMQ has yet to accept the connection; notes that ZeroMQ has accepted it; returns
// the number of connections, of all gates of the process, that ZeroMQ has yet to accept.
void hs_bus_gate_await_answer(struct connection *connection);
void hs_bus_gate_answered(struct connection *connection);
unsigned hs_bus_gate_unanswered(void);
