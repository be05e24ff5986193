// SPDX-License-Identifier: BSD-3-Clause
// Connections to the gate, and the names of the gate's ends and of the private endpoints behind it.
// `gate` is the name of the gate. For lib/bus only.
//
// Thread rule: any.
#pragma once

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

// Identifies a connection; all zero: no known connection.
struct hs_bus_visit {
	uint32_t place, serial;
};

// Return the name of the gate's end of a connection to a private endpoint, and the name of the
// private endpoint itself, for a kind of connections.
struct sockaddr_un hs_bus_visit_name(uint64_t gate, struct hs_bus_visit visit, socklen_t *len);
struct sockaddr_un hs_bus_inner_name(uint64_t gate, unsigned kind, socklen_t *len);
// Returns the connection that a message (a zmq_msg_t) came from.
struct hs_bus_visit hs_bus_visit_of(uint64_t gate, void *message);
