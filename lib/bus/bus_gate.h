// SPDX-License-Identifier: BSD-3-Clause
// The gate stands between clients and the sockets that ZeroMQ binds. ZeroMQ limits neither the
// number of connections nor the cost of one, and aborts if a peer dies while its queue is full.
//
// The gate accepts connections itself and passes their bytes to and from a private endpoint of the
// socket behind it, as far as the connection has credit. The owner of the socket returns credit
// when it has taken a message. So ZeroMQ never has to stop reading, and what it holds of one
// connection is limited, even for a message that never ends. For lib/bus only. docs/decisions/0010
// has the reasons.
//
// Thread rule: owner, the thread that owns the sockets. The gate has a thread of its own, which
// inherits affinity and touches no socket of ZeroMQ.
#pragma once

#include "bus_gate_limits.h"
#include "bus_visit.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_bus_gate;

int hs_bus_gate_open(bool keys, struct hs_bus_gate **gate, struct hs_error *err);
// Accepts no further connections and removes the files of endpoints.
void hs_bus_gate_shut(struct hs_bus_gate *gate);
// Call this after closing the sockets behind the gate. The gate sends what they have sent, for at
// most 100 ms.
void hs_bus_gate_close(struct hs_bus_gate *gate);

// Accepts connections at an endpoint. The first call for a `socket` binds its private endpoint.
// Returns 0, or a negative errno with *err.
int hs_bus_gate_bind(struct hs_bus_gate *gate, void *socket, enum hs_bus_gate_kind kind,
		const char *endpoint, const char *path, struct hs_error *err);

// Call this after the last bind. From now on the gate accepts connections.
int hs_bus_gate_start(struct hs_bus_gate *gate, struct hs_error *err);

// Closes all connections of a kind. Peers that are allowed can reconnect at once.
void hs_bus_gate_cut(struct hs_bus_gate *gate, enum hs_bus_gate_kind kind);

// Returns a descriptor that becomes readable when something has happened that the owner waited for
// (hs_bus_gate_choked). hs_bus_gate_clear makes it unreadable again.
int hs_bus_gate_fd(const struct hs_bus_gate *gate);
void hs_bus_gate_clear(struct hs_bus_gate *gate);

// Returns the connection that a message (a zmq_msg_t) came from.
struct hs_bus_visit hs_bus_gate_visit(const struct hs_bus_gate *gate, void *message);

// Tells the gate that a message was received and is still kept. The message adds this much to the
// weights of bus_frames.h.
void hs_bus_gate_parked(struct hs_bus_gate *gate, struct hs_bus_visit visit);
// Tells the gate that the message is no longer kept.
void hs_bus_gate_taken(
		struct hs_bus_gate *gate, struct hs_bus_visit visit, uint64_t weight, bool parked);
// Tells the gate that nothing more waits in the sockets.
void hs_bus_gate_drained(struct hs_bus_gate *gate);
// Tells the gate that a part of `bytes` was sent.
void hs_bus_gate_sent(struct hs_bus_gate *gate, struct hs_bus_visit visit, size_t bytes);
// Returns whether the client has not yet taken more than HS_BUS_GATE_BACKLOG of what was sent to
// it. If so, the descriptor becomes readable when the client has taken enough.
bool hs_bus_gate_choked(struct hs_bus_gate *gate, struct hs_bus_visit visit);

void hs_bus_gate_counters(struct hs_bus_gate *gate, struct hs_bus_gate_counters *out);
