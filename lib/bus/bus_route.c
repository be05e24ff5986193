// SPDX-License-Identifier: BSD-3-Clause
#include "bus_route.h"

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

static void skip_parts(void *socket)
{
	zmq_msg_t part;
	int more = 1;

	zmq_msg_init(&part);
	while (more && zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) >= 0)
		more = zmq_msg_more(&part);
	zmq_msg_close(&part);
}

// Takes identity and envelope. What stands before the first empty part is the envelope (REQ,
// with or without a request id, and proxies); a DEALER may send none, then its one part is the
// body. 1: *route is complete, a body of one part or (more parts) none; 0: no route can be read.
static int read_parts(void *socket, struct hs_bus_route *route, bool more)
{
	size_t bytes = 0;

	while (more) {
		zmq_msg_t *part = &route->body;
		if (zmq_msg_recv(part, socket, ZMQ_DONTWAIT) < 0)
			return 0;
		more = zmq_msg_more(part);
		if (!more)
			return 1;
		bytes += zmq_msg_size(part);
		bool delimiter = zmq_msg_size(part) == 0;
		if (route->n == HS_BUS_MAX_ROUTE_PARTS || bytes > MAX_ROUTE_BYTES) {
			skip_parts(socket);
			return 0;
		}
		zmq_msg_init(&route->parts[route->n]);
		zmq_msg_move(&route->parts[route->n++], part);
		if (!delimiter)
			continue;
		if (zmq_msg_recv(part, socket, ZMQ_DONTWAIT) < 0)
			return 0;
		if (zmq_msg_more(part)) {
			skip_parts(socket);
			zmq_msg_close(part);
			zmq_msg_init(part);
		}
		return 1;
	}
	return 0;
}

// A DEALER's message of several parts without a delimiter: there is a way back, but no one body.
static void fold_undelimited(struct hs_bus_route *route)
{
	if (route->n < 2 || zmq_msg_size(&route->parts[route->n - 1]) == 0)
		return;
	while (route->n > 1)
		zmq_msg_close(&route->parts[--route->n]);
	zmq_msg_close(&route->body);
	zmq_msg_init(&route->body);
}

static int receive(void *socket, struct hs_bus_route *route)
{
	zmq_msg_init(&route->body);
	zmq_msg_init(&route->parts[0]);
	route->n = 1;
	if (zmq_msg_recv(&route->parts[0], socket, ZMQ_DONTWAIT) < 0)
		return -EAGAIN;
	if (!read_parts(socket, route, zmq_msg_more(&route->parts[0])))
		return -EBADMSG;
	fold_undelimited(route);
	return 0;
}

int hs_bus_route_receive(void *socket, struct hs_bus_route **out)
{
	struct hs_bus_route *route = calloc(1, sizeof(*route));

	if (!route)
		return -ENOMEM;
	int rc = receive(socket, route);
	if (rc)
		hs_bus_route_free(route);
	else
		*out = route;
	return rc;
}

int hs_bus_route_send(struct hs_bus_route *route, void *socket, const char *text, size_t len)
{
	int rc = 0;

	for (unsigned i = 0; i < route->n && rc >= 0; i++)
		rc = zmq_msg_send(&route->parts[i], socket, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	if (rc >= 0)
		rc = zmq_send(socket, text, len, ZMQ_DONTWAIT);
	return rc < 0 ? -errno : 0;
}
