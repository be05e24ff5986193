// SPDX-License-Identifier: BSD-3-Clause
#include "bus_route.h"

#include "bus_frames.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_ROUTE_BYTES 1024

void hs_bus_route_free(struct hs_bus_route *route)
{
	for (unsigned i = 0; i < route->n; i++)
		zmq_msg_close(&route->parts[i]);
	zmq_msg_close(&route->body);
	free(route);
}

// The message that is being received, and what it adds to the gate's weights.
struct reader {
	struct hs_bus_gate *gate;
	void *socket;
	bool keys;
	struct hs_bus_visit visit;
	uint64_t weight;
};

static bool receive_part(struct reader *reader, zmq_msg_t *part)
{
	if (zmq_msg_recv(part, reader->socket, ZMQ_DONTWAIT) < 0)
		return false;
	if (reader->weight == 0) // the routing id in front does not always identify the connection
		reader->visit = hs_bus_gate_visit(reader->gate, part);
	reader->weight += hs_bus_frame_weight(zmq_msg_size(part), reader->keys);
	return true;
}

static void skip_parts(struct reader *reader)
{
	zmq_msg_t part;
	int more = 1;

	zmq_msg_init(&part);
	while (more && receive_part(reader, &part))
		more = zmq_msg_more(&part);
	zmq_msg_close(&part);
}

// Reads identity and envelope. The envelope is what stands before the first empty part (REQ, with
// or without a request id, and proxies). A DEALER may send none; its one part is then the body.
// Returns 1 if *route is complete, with a body of one part or, for more parts, without a body.
// Returns 0 if no route can be read.
static int read_parts(struct reader *reader, struct hs_bus_route *route, bool more)
{
	size_t bytes = 0;

	while (more) {
		zmq_msg_t *part = &route->body;
		if (!receive_part(reader, part))
			return 0;
		more = zmq_msg_more(part);
		if (!more)
			return 1;
		bytes += zmq_msg_size(part);
		bool delimiter = zmq_msg_size(part) == 0;
		if (route->n == HS_BUS_MAX_ROUTE_PARTS || bytes > MAX_ROUTE_BYTES) {
			skip_parts(reader);
			return 0;
		}
		zmq_msg_init(&route->parts[route->n]);
		zmq_msg_move(&route->parts[route->n++], part);
		if (!delimiter)
			continue;
		if (!receive_part(reader, part))
			return 0;
		if (zmq_msg_more(part)) {
			skip_parts(reader);
			zmq_msg_close(part);
			zmq_msg_init(part);
		}
		return 1;
	}
	return 0;
}

// Drops the parts of a DEALER's message that has no delimiter: the message has a way back, but no
// single body.
static void fold_undelimited(struct hs_bus_route *route)
{
	if (route->n < 2 || zmq_msg_size(&route->parts[route->n - 1]) == 0)
		return;
	while (route->n > 1)
		zmq_msg_close(&route->parts[--route->n]);
	zmq_msg_close(&route->body);
	zmq_msg_init(&route->body);
}

static int receive(struct reader *reader, struct hs_bus_route *route)
{
	zmq_msg_init(&route->body);
	zmq_msg_init(&route->parts[0]);
	route->n = 1;
	if (zmq_msg_recv(&route->parts[0], reader->socket, ZMQ_DONTWAIT) < 0)
		return -EAGAIN;
	int complete = read_parts(reader, route, zmq_msg_more(&route->parts[0]));
	route->weight = reader->weight;
	route->visit = reader->visit;
	if (!complete)
		return -EBADMSG;
	fold_undelimited(route);
	return 0;
}

int hs_bus_route_receive(
		struct hs_bus_gate *gate, void *socket, bool keys, struct hs_bus_route **out)
{
	struct hs_bus_route *route = calloc(1, sizeof(*route));
	struct reader reader = {.gate = gate, .socket = socket, .keys = keys};

	if (!route)
		return -ENOMEM;
	int rc = receive(&reader, route);
	if (rc == 0) {
		*out = route;
		return 0;
	}
	if (rc == -EBADMSG)
		hs_bus_gate_taken(gate, route->visit, route->weight, false);
	hs_bus_route_free(route);
	return rc;
}

int hs_bus_route_send(struct hs_bus_gate *gate, struct hs_bus_route *route, void *socket,
		const char *text, size_t len)
{
	size_t bytes[HS_BUS_MAX_ROUTE_PARTS];
	int rc = 0;

	for (unsigned i = 0; i < route->n && rc >= 0; i++) {
		bytes[i] = zmq_msg_size(&route->parts[i]);
		rc = zmq_msg_send(&route->parts[i], socket, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	}
	if (rc >= 0)
		rc = zmq_send(socket, text, len, ZMQ_DONTWAIT);
	if (rc < 0)
		return -errno;
	for (unsigned i = 1; i < route->n; i++) // the first is the routing id
		hs_bus_gate_sent(gate, route->visit, bytes[i]);
	hs_bus_gate_sent(gate, route->visit, len);
	return 0;
}
