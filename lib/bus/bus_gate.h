// SPDX-License-Identifier: BSD-3-Clause
// Stands between those who connect and the sockets that ZeroMQ binds, because ZeroMQ bounds neither
// connections nor what one of them costs, and aborts where a peer dies while its queue is full.
//
// It accepts connections itself, and passes their bytes to and from a private endpoint of the
// socket behind it: as much as was credited. Credit is given back when the owner of the socket has
// taken a message. So ZeroMQ never has to stop reading, and what it holds of one connection is
// bounded, also of a message that never ends. For lib/bus only. docs/decisions/0010 has the
// reasons.
//
// Thread rule: owner, the thread that owns the sockets; the gate has a thread of its own, which
// inherits affinity and touches no socket of ZeroMQ.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Connections to one gate, and of them from one process or address.
#define HS_BUS_GATE_PLACES 1024
#define HS_BUS_GATE_OF_ONE 512
// Descriptors that are left to the rest of the process.
#define HS_BUS_GATE_RESERVE 48
// Replies that a client has not taken: beyond it, its requests wait.
#define HS_BUS_GATE_BACKLOG (128 << 10)

enum hs_bus_gate_kind {
	HS_BUS_GATE_REQUESTS,  // messages come, and replies go
	HS_BUS_GATE_LISTENERS, // subscriptions come and are never taken; messages go
	HS_BUS_GATE_FEEDS,     // messages come
	HS_BUS_GATE_KINDS,
};

struct hs_bus_gate;

// Which connection; all zero: none that is known.
struct hs_bus_visit {
	uint32_t place, serial;
};

struct hs_bus_gate_counters {
	uint64_t refused; // no place, or no descriptors
	uint64_t closed;  // cost more than a connection may
	uint64_t denied;  // handshakes that ZeroMQ refused because of a key
	char refused_peer[64], refused_reason[96]; // of the last one of the first two
	char denied_peer[64];
};

int hs_bus_gate_open(bool keys, struct hs_bus_gate **gate, struct hs_error *err);
// No more connections are accepted, and the files of endpoints are gone.
void hs_bus_gate_shut(struct hs_bus_gate *gate);
// To be called when the sockets behind it are closed. What they have sent goes out, for at most 100
// ms.
void hs_bus_gate_close(struct hs_bus_gate *gate);

// Lets those in who come to an endpoint. `socket` gets its private endpoint with the first. 0 or a
// negative errno with *err.
int hs_bus_gate_bind(struct hs_bus_gate *gate, void *socket, enum hs_bus_gate_kind kind,
		const char *endpoint, const char *path, struct hs_error *err);

// Behind the last bind: from now on those who come are let in.
int hs_bus_gate_start(struct hs_bus_gate *gate, struct hs_error *err);

// Ends all connections of a kind; those who may can come again at once.
void hs_bus_gate_cut(struct hs_bus_gate *gate, enum hs_bus_gate_kind kind);

// Readable when something that the owner waited for has happened: see hs_bus_gate_backlog.
int hs_bus_gate_fd(const struct hs_bus_gate *gate);
void hs_bus_gate_clear(struct hs_bus_gate *gate);

// Where a message (a zmq_msg_t) came from.
struct hs_bus_visit hs_bus_gate_visit(const struct hs_bus_gate *gate, void *message);

// A message was received that adds so much to the weights of a bus_frames.h; it is still kept.
void hs_bus_gate_parked(struct hs_bus_gate *gate, struct hs_bus_visit visit);
// It is kept no longer.
void hs_bus_gate_taken(
		struct hs_bus_gate *gate, struct hs_bus_visit visit, uint64_t weight, bool parked);
// Nothing more waits in the sockets.
void hs_bus_gate_drained(struct hs_bus_gate *gate);
// A part of `bytes` was sent.
void hs_bus_gate_sent(struct hs_bus_gate *gate, struct hs_bus_visit visit, size_t bytes);
// Does the client leave too much of what was sent to it? If so, the descriptor tells when that
// ends.
bool hs_bus_gate_choked(struct hs_bus_gate *gate, struct hs_bus_visit visit);

void hs_bus_gate_counters(struct hs_bus_gate *gate, struct hs_bus_gate_counters *out);
