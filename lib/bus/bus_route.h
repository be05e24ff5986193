// SPDX-License-Identifier: BSD-3-Clause
// A received request with the way back to its sender. For lib/bus only.
#pragma once

#include "bus_gate.h"
#include "bus_key_file.h"

#include <zmq.h>

// Identity, a request id of REQ_CORRELATE, delimiter, and some parts for proxies.
#define HS_BUS_MAX_ROUTE_PARTS 8

struct hs_bus_row;

// The frames in front of a body are sent back before the reply.
struct hs_bus_route {
	struct hs_bus_visit visit; // the connection of the sender
	uint64_t weight;	   // in units of hs_bus_frame_weight
	struct hs_bus_row *row;	   // belongs to the queue
	struct hs_bus_route *next;
	unsigned n;
	zmq_msg_t parts[HS_BUS_MAX_ROUTE_PARTS];
	zmq_msg_t body;
	char user[HS_BUS_KEY_NAME_MAX + 1];
};

// Takes the next request from a ROUTER. Returns 0, -EAGAIN, -ENOMEM, or -EBADMSG if the request had
// no readable way back and was dropped.
int hs_bus_route_receive(
		struct hs_bus_gate *gate, void *socket, bool keys, struct hs_bus_route **route);
// Returns 0 or -errno. The frames are consumed in any case.
int hs_bus_route_send(struct hs_bus_gate *gate, struct hs_bus_route *route, void *socket,
		const char *text, size_t len);
void hs_bus_route_free(struct hs_bus_route *route);
