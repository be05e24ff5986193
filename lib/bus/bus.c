// SPDX-License-Identifier: BSD-3-Clause
#include "bus.h"

#include "bus_socket.h"

#include <zmq.h>

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINGER_MS      100
#define MAX_PUBLISHERS 16 // one for local listeners, one for each controller
#define PUBLISH_QUEUE  1000
#define REPLY_QUEUE    1000
#define REQUEST_QUEUE  64 // times HS_BUS_MAX_MESSAGE is what one client can make us hold
#define MAX_ROUTE_PARTS                                                                            \
	8 // identity, a request id of REQ_CORRELATE, delimiter, and some for proxies
#define MAX_ROUTE_BYTES 1024

// The frames in front of a body: sent back before the reply.
struct hs_bus_route {
	unsigned n;
	zmq_msg_t parts[MAX_ROUTE_PARTS];
	zmq_msg_t body;
};

// A socket and what watches it.
struct line {
	void *socket;
	void *monitor;
	bool shared; // by several subscribers
};

struct hs_bus {
	void *context;
	struct line router;
	struct line publishers[MAX_PUBLISHERS];
	unsigned n_publishers;
	char **bound; // endpoints whose files go with us
	unsigned n_bound;
	struct hs_bus_counters counters;
};

// ---- opening and closing ----

static int open_line(struct hs_bus *bus, struct line *line, int type, unsigned queue)
{
	line->socket = zmq_socket(bus->context, type);
	if (!line->socket)
		return -errno;
	int rc = hs_bus_socket_tune(line->socket, LINGER_MS);
	rc = rc ? rc : hs_bus_socket_set(line->socket, ZMQ_SNDHWM, (int)queue);
	return rc ? rc : hs_bus_socket_watch(bus->context, line->socket, &line->monitor);
}

static int open_router(struct hs_bus *bus)
{
	int rc = open_line(bus, &bus->router, ZMQ_ROUTER, REPLY_QUEUE);
	// Without it, a reply to a client that has gone vanishes uncounted.
	rc = rc ? rc : hs_bus_socket_set(bus->router.socket, ZMQ_ROUTER_MANDATORY, 1);
	return rc ? rc : hs_bus_socket_set(bus->router.socket, ZMQ_RCVHWM, REQUEST_QUEUE);
}

static int open_publisher(struct hs_bus *bus, unsigned queue, bool shared, struct line **out)
{
	struct line *line = &bus->publishers[bus->n_publishers++];

	*out = line;
	line->shared = shared;
	// PUB, not XPUB: that one queues every subscription for an application to read.
	int rc = open_line(bus, line, ZMQ_PUB, queue);
	return rc ? rc : hs_bus_socket_set(line->socket, ZMQ_XPUB_NODROP, 1);
}

static int no_socket(int rc, struct hs_error *err)
{
	errno = -rc;
	return hs_bus_error(err, "internal", "", "ZeroMQ's sockets cannot be made");
}

static int bind_socket(struct hs_bus *bus, struct line *line, const char *endpoint,
		const char *path, struct hs_error *err)
{
	int rc = hs_bus_socket_bind(line->socket, endpoint, path, err);

	if (rc)
		return rc;
	bus->bound[bus->n_bound] = strdup(endpoint);
	bus->n_bound += bus->bound[bus->n_bound] != NULL;
	return 0;
}

static int bind_all(struct hs_bus *bus, struct line *line, const char *const *endpoints, unsigned n,
		const char *key, bool insecure, struct hs_error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s[%u]", key, i);
		rc = hs_bus_check_endpoint(endpoints[i], insecure, path, err);
		if (rc == 0)
			rc = bind_socket(bus, line, endpoints[i], path, err);
	}
	return rc;
}

// Local listeners share a socket; each controller has one of its own, so that one that does not
// read costs no other its reports.
static int open_publishers(
		struct hs_bus *bus, const struct hs_bus_config *config, struct hs_error *err)
{
	unsigned queue = config->publish_queue ? config->publish_queue : PUBLISH_QUEUE;
	struct line *line;
	int rc = 0;

	if (config->n_publish_to >= MAX_PUBLISHERS)
		return hs_error_set(err, "out_of_range", "publish_to", "at most 15 endpoints",
				"%u endpoints", config->n_publish_to);
	if (config->n_publish_bind) {
		rc = open_publisher(bus, queue, true, &line);
		if (rc)
			return no_socket(rc, err);
		rc = bind_all(bus, line, config->publish_bind, config->n_publish_bind,
				"publish_bind", config->insecure, err);
	}
	for (unsigned i = 0; i < config->n_publish_to && rc == 0; i++) {
		char path[64];
		snprintf(path, sizeof(path), "publish_to[%u]", i);
		rc = hs_bus_check_endpoint(config->publish_to[i], config->insecure, path, err);
		if (rc)
			return rc;
		rc = open_publisher(bus, queue, false, &line);
		if (rc)
			return no_socket(rc, err);
		rc = hs_bus_socket_connect(line->socket, config->publish_to[i], path, err);
	}
	return rc;
}

int hs_bus_open(const struct hs_bus_config *config, struct hs_bus **out, struct hs_error *err)
{
	struct hs_bus *bus = calloc(1, sizeof(*bus));

	if (!bus) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	bus->bound = calloc(config->n_bind + config->n_publish_bind + 1, sizeof(*bus->bound));
	bus->context = bus->bound ? zmq_ctx_new() : NULL;
	int rc = bus->context ? open_router(bus) : -errno;
	rc = rc ? no_socket(rc, err) : 0;
	if (rc == 0)
		rc = bind_all(bus, &bus->router, config->bind, config->n_bind, "bind",
				config->insecure, err);
	if (rc == 0)
		rc = open_publishers(bus, config, err);
	if (rc)
		hs_bus_close(bus);
	else
		*out = bus;
	return rc;
}

static void close_line(struct line *line)
{
	hs_bus_socket_unwatch(line->socket, line->monitor);
	if (line->socket)
		zmq_close(line->socket);
}

void hs_bus_close(struct hs_bus *bus)
{
	if (!bus)
		return;
	while (bus->n_bound > 0) {
		hs_bus_ipc_remove(bus->bound[--bus->n_bound]);
		free(bus->bound[bus->n_bound]);
	}
	free(bus->bound);
	close_line(&bus->router);
	for (unsigned i = 0; i < bus->n_publishers; i++)
		close_line(&bus->publishers[i]);
	while (bus->context && zmq_ctx_term(bus->context) && errno == EINTR)
		;
	free(bus);
}

// ---- waiting ----

static void count_event(void *context, const struct hs_bus_socket_event *event)
{
	struct hs_bus_counters *counters = context;

	switch (event->number) {
	case ZMQ_EVENT_ACCEPTED:
	case ZMQ_EVENT_CONNECTED:
		counters->connections++;
		break;
	case ZMQ_EVENT_DISCONNECTED:
		counters->disconnections++;
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
	case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
	case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
		counters->handshakes_failed++;
		break;
	default:
		break;
	}
}

// A publisher handles subscriptions, and what its peers have read, only in calls on it.
static void catch_up(const struct line *line)
{
	int events;
	size_t size = sizeof(events);
	zmq_getsockopt(line->socket, ZMQ_EVENTS, &events, &size);
}

static void let_subscribers_in(const struct hs_bus *bus)
{
	for (unsigned i = 0; i < bus->n_publishers; i++)
		catch_up(&bus->publishers[i]);
}

static short events_to_zmq(short events)
{
	return (short)((events & POLLIN ? ZMQ_POLLIN : 0) | (events & POLLOUT ? ZMQ_POLLOUT : 0) |
			(events & POLLPRI ? ZMQ_POLLPRI : 0));
}

static short events_from_zmq(short events)
{
	return (short)((events & ZMQ_POLLIN ? POLLIN : 0) | (events & ZMQ_POLLOUT ? POLLOUT : 0) |
			(events & ZMQ_POLLERR ? POLLERR : 0) |
			(events & ZMQ_POLLPRI ? POLLPRI : 0));
}

bool hs_bus_poll(struct hs_bus *bus, int timeout_ms, struct pollfd *fds, unsigned n_fds)
{
	zmq_pollitem_t items[1 + HS_BUS_POLL_FDS] = {
			{.socket = bus->router.socket, .events = ZMQ_POLLIN}};

	assert(n_fds <= HS_BUS_POLL_FDS);
	for (unsigned i = 0; i < n_fds; i++)
		items[1 + i] = (zmq_pollitem_t){
				.fd = fds[i].fd, .events = events_to_zmq(fds[i].events)};

	let_subscribers_in(bus);
	int rc = zmq_poll(items, (int)(1 + n_fds), timeout_ms);
	let_subscribers_in(bus);

	for (unsigned i = 0; i < n_fds; i++)
		fds[i].revents = rc > 0 ? events_from_zmq(items[1 + i].revents) : 0;
	hs_bus_socket_events(bus->router.monitor, count_event, &bus->counters);
	for (unsigned i = 0; i < bus->n_publishers; i++)
		hs_bus_socket_events(bus->publishers[i].monitor, count_event, &bus->counters);
	return rc > 0 && items[0].revents & ZMQ_POLLIN;
}

// ---- requests ----

static void free_route(struct hs_bus_route *route)
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
		if (route->n == MAX_ROUTE_PARTS || bytes > MAX_ROUTE_BYTES) {
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

static int receive(struct hs_bus *bus, struct hs_bus_route *route)
{
	zmq_msg_init(&route->body);
	zmq_msg_init(&route->parts[0]);
	route->n = 1;
	if (zmq_msg_recv(&route->parts[0], bus->router.socket, ZMQ_DONTWAIT) < 0)
		return -EAGAIN;
	if (!read_parts(bus->router.socket, route, zmq_msg_more(&route->parts[0])))
		return -EBADMSG;
	fold_undelimited(route);
	return 0;
}

int hs_bus_next_request(struct hs_bus *bus, struct hs_bus_request *request)
{
	int rc;

	do {
		struct hs_bus_route *route = calloc(1, sizeof(*route));
		if (!route)
			return -ENOMEM;
		rc = receive(bus, route);
		if (rc == 0) {
			bus->counters.requests++;
			request->route = route;
			request->body = zmq_msg_data(&route->body);
			request->len = zmq_msg_size(&route->body);
			request->user = "";
			request->may_change = true;
			return 0;
		}
		free_route(route);
		if (rc == -EBADMSG)
			bus->counters.requests_malformed++;
	} while (rc == -EBADMSG);
	return rc;
}

int hs_bus_reply(struct hs_bus *bus, struct hs_bus_request *request, const char *text)
{
	struct hs_bus_route *route = request->route;
	int rc = 0;

	for (unsigned i = 0; i < route->n && rc >= 0; i++)
		rc = zmq_msg_send(&route->parts[i], bus->router.socket, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	if (rc >= 0)
		rc = zmq_send(bus->router.socket, text, strlen(text), ZMQ_DONTWAIT);
	rc = rc < 0 ? -errno : 0;
	if (rc)
		bus->counters.replies_lost++;
	else
		bus->counters.replies++;
	hs_bus_drop_request(request);
	return rc;
}

void hs_bus_drop_request(struct hs_bus_request *request)
{
	if (request->route)
		free_route(request->route);
	*request = (struct hs_bus_request){0};
}

// ---- publishing ----

static int send_parts(void *publisher, const char *topic, const char *json)
{
	if (zmq_send(publisher, topic, strlen(topic), ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0)
		return -errno;
	return zmq_send(publisher, json, strlen(json), ZMQ_DONTWAIT) < 0 ? -errno : 0;
}

static bool publish_on(const struct line *line, const char *topic, const char *json)
{
	if (send_parts(line->socket, topic, json) == 0)
		return true;
	// The queue may only seem full: sending looks at most once a millisecond at what was read.
	catch_up(line);
	if (send_parts(line->socket, topic, json) == 0)
		return true;
	if (!line->shared)
		return false;
	// Nobody got it, because one subscriber's queue is full: give it to the others.
	hs_bus_socket_set(line->socket, ZMQ_XPUB_NODROP, 0);
	send_parts(line->socket, topic, json);
	hs_bus_socket_set(line->socket, ZMQ_XPUB_NODROP, 1);
	return false;
}

int hs_bus_publish(struct hs_bus *bus, const char *topic, const char *json)
{
	bool all = true;

	for (unsigned i = 0; i < bus->n_publishers; i++)
		all &= publish_on(&bus->publishers[i], topic, json);
	if (all)
		bus->counters.published++;
	else
		bus->counters.publish_lost++;
	return all ? 0 : -EAGAIN;
}

void hs_bus_counters(const struct hs_bus *bus, struct hs_bus_counters *out)
{
	*out = bus->counters;
}
