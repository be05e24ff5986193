// SPDX-License-Identifier: BSD-3-Clause
#include "bus.h"

#include "bus_gate.h"
#include "bus_line.h"
#include "bus_queue.h"
#include "bus_route.h"
#include "bus_socket.h"
#include "bus_zap.h"

#include <zmq.h>

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINGER_MS      100
#define MAX_PUBLISHERS 16 // one for local subscribers and one for each controller
#define TAKEN_AT_ONCE  16 // requests that move into rows before one is returned

struct hs_bus {
	void *context;
	struct hs_bus_gate *gate; // stands before the bound sockets
	struct hs_bus_queue *queue;
	struct hs_bus_line router;
	struct hs_bus_line publishers[MAX_PUBLISHERS];
	unsigned n_publishers;
	bool shared; // the first publisher is bound and shared by several subscribers
	bool guarded;
	struct hs_bus_zap zap;
	uint64_t key_changes;
	struct hs_bus_refusal refusal;
	struct hs_bus_counters counters; // without those of the lines
};

// ---- opening and closing ----

static int no_socket(int rc, struct hs_error *err)
{
	errno = -rc;
	return hs_bus_error(err, "internal", "", "ZeroMQ's sockets cannot be made");
}

static int open_router(struct hs_bus *bus, struct hs_error *err)
{
	int rc = hs_bus_line_open(&bus->router, bus->context, ZMQ_ROUTER, LINGER_MS);
	void *socket = bus->router.socket;

	// There is no limit, because a reply is never dropped. A client that leaves its replies
	// gets no further replies.
	rc = rc ? rc : hs_bus_socket_set(socket, ZMQ_SNDHWM, 0);
	// Without this option, a reply to a client that has gone is lost uncounted.
	rc = rc ? rc : hs_bus_socket_set(socket, ZMQ_ROUTER_MANDATORY, 1);
	return rc ? no_socket(rc, err) : 0;
}

static int open_publisher(struct hs_bus *bus, unsigned queue, struct hs_error *err)
{
	struct hs_bus_line *line = &bus->publishers[bus->n_publishers++];
	// PUB is used because XPUB queues every subscription for the application to read.
	int rc = hs_bus_line_open(line, bus->context, ZMQ_PUB, LINGER_MS);

	rc = rc ? rc
		: hs_bus_socket_set(line->socket, ZMQ_SNDHWM,
				  (int)(queue ? queue : HS_BUS_PUBLISH_QUEUE));
	rc = rc ? rc
		: hs_bus_socket_set(line->socket, ZMQ_RCVHWM, 0); // subscriptions: see bus_gate.h
	rc = rc ? rc : hs_bus_socket_set(line->socket, ZMQ_XPUB_NODROP, 1);
	return rc ? no_socket(rc, err) : 0;
}

static int bind_all(struct hs_bus *bus, enum hs_bus_gate_kind kind, const char *const *endpoints,
		unsigned n, const struct hs_bus_config *config, struct hs_error *err)
{
	bool requests = kind == HS_BUS_GATE_REQUESTS;
	const char *key = requests ? "bind" : "publish_bind";
	void *socket = requests ? bus->router.socket : bus->publishers[0].socket;
	int rc = config->keys ? hs_bus_zap_guard(socket, config->keys, err) : 0;

	for (unsigned i = 0; i < n && rc == 0; i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s[%u]", key, i);
		rc = hs_bus_check_endpoint(
				endpoints[i], config->insecure || config->keys, path, err);
		if (rc == 0)
			rc = hs_bus_gate_bind(bus->gate, socket, kind, endpoints[i], path, err);
	}
	return rc;
}

static int open_controller(struct hs_bus *bus, const struct hs_bus_config *config, unsigned i,
		struct hs_error *err)
{
	const struct hs_bus_keys *keys =
			config->keys && config->keys->server_file ? config->keys : NULL;
	const char *endpoint = config->publish_to[i];
	char path[64];

	snprintf(path, sizeof(path), "publish_to[%u]", i);
	int rc = hs_bus_check_endpoint(endpoint, config->insecure || keys, path, err);
	if (rc == 0)
		rc = open_publisher(bus, config->publish_queue, err);
	if (rc == 0)
		rc = hs_bus_line_dial(
				&bus->publishers[bus->n_publishers - 1], endpoint, path, keys, err);
	return rc;
}

// Local subscribers share a socket. Each controller has its own socket, so that a controller that
// does not read costs the others no report.
static int open_publishers(
		struct hs_bus *bus, const struct hs_bus_config *config, struct hs_error *err)
{
	int rc = 0;

	if (config->n_publish_to >= MAX_PUBLISHERS)
		return hs_error_set(err, "out_of_range", "publish_to", "at most 15 endpoints",
				"%u endpoints", config->n_publish_to);
	if (config->n_publish_bind) {
		bus->shared = true;
		rc = open_publisher(bus, config->publish_queue, err);
		if (rc == 0)
			rc = bind_all(bus, HS_BUS_GATE_SUBSCRIBERS, config->publish_bind,
					config->n_publish_bind, config, err);
	}
	for (unsigned i = 0; i < config->n_publish_to && rc == 0; i++)
		rc = open_controller(bus, config, i, err);
	return rc;
}

static int use_keys(struct hs_bus *bus, const struct hs_bus_config *config, struct hs_error *err)
{
	int rc = hs_bus_check_keys(config->keys, config->n_publish_to > 0, config->insecure, err);

	if (rc == 0)
		rc = hs_bus_zap_open(bus->context, config->keys->allowed_dir, &bus->zap, err);
	bus->guarded = rc == 0;
	if (rc)
		hs_error_prefix(err, "keys");
	return rc;
}

static int open_gate(struct hs_bus *bus, struct hs_error *err)
{
	int rc = hs_bus_gate_open(bus->guarded, &bus->gate, err);

	if (rc)
		return rc;
	bus->queue = hs_bus_queue_create(bus->gate);
	if (bus->queue)
		return 0;
	hs_error_set(err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

int hs_bus_open(const struct hs_bus_config *config, struct hs_bus **out, struct hs_error *err)
{
	struct hs_bus *bus = calloc(1, sizeof(*bus));

	if (!bus) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	bus->context = zmq_ctx_new();
	int rc = bus->context ? 0 : no_socket(-errno, err);
	if (rc == 0 && config->keys)
		rc = use_keys(bus, config, err);
	if (rc == 0)
		rc = open_gate(bus, err);
	if (rc == 0)
		rc = open_router(bus, err);
	if (rc == 0)
		rc = bind_all(bus, HS_BUS_GATE_REQUESTS, config->bind, config->n_bind, config, err);
	if (rc == 0)
		rc = open_publishers(bus, config, err);
	if (rc == 0)
		rc = hs_bus_gate_start(bus->gate, err);
	if (rc)
		hs_bus_close(bus);
	else
		*out = bus;
	return rc;
}

void hs_bus_close(struct hs_bus *bus)
{
	if (!bus)
		return;
	hs_bus_gate_shut(bus->gate);
	hs_bus_queue_destroy(bus->queue);
	hs_bus_line_close(&bus->router);
	for (unsigned i = 0; i < bus->n_publishers; i++)
		hs_bus_line_close(&bus->publishers[i]);
	if (bus->guarded)
		hs_bus_zap_close(&bus->zap);
	while (bus->context && zmq_ctx_term(bus->context) && errno == EINTR)
		;
	hs_bus_gate_close(bus->gate);
	free(bus);
}

// ---- keys ----

static void look_at_keys(struct hs_bus *bus)
{
	enum hs_bus_zap_news news = hs_bus_zap_look(&bus->zap);

	bus->key_changes += news != HS_BUS_ZAP_SAME;
	// Requests of a removed key are not taken. Subscribers send no requests, so that all of
	// them have to reconnect.
	if (news == HS_BUS_ZAP_FEWER && bus->shared)
		hs_bus_gate_cut(bus->gate, HS_BUS_GATE_SUBSCRIBERS);
}

void hs_bus_keys_state(const struct hs_bus *bus, struct hs_bus_keys_state *out)
{
	*out = (struct hs_bus_keys_state){
			.allowed = bus->zap.allowed.n,
			.changes = bus->key_changes,
			.problem = bus->zap.allowed.problem,
	};
}

static const char *reason_of(enum hs_bus_failure failure, bool dialled)
{
	switch (failure) {
	case HS_BUS_REFUSED:
		return dialled ? "it does not allow our key" : "its key is not allowed";
	case HS_BUS_MISMATCH:
		return "one side uses keys and the other does not";
	case HS_BUS_WRONG_KEY:
		return "it takes us for another: its public key of ours is wrong";
	default:
		return "it ended the handshake: perhaps its key is another";
	}
}

// The handler knows more about a refused client than the events of the socket do.
static void note_failure(struct hs_bus *bus, const struct hs_bus_line *line, uint64_t before)
{
	struct hs_bus_refusal *last = &bus->refusal;
	bool dialled = line->dialled != NULL;

	if (line->with_reason == before)
		return;
	*last = (struct hs_bus_refusal){
			.count = last->count + line->with_reason - before,
			.dialled = dialled,
	};
	snprintf(last->reason, sizeof(last->reason), "%s", reason_of(line->failure, dialled));
	if (dialled)
		snprintf(last->peer, sizeof(last->peer), "%s", line->dialled);
	else if (line->failure == HS_BUS_REFUSED && bus->guarded)
		memcpy(last->public_key, bus->zap.public_key, sizeof(last->public_key));
}

bool hs_bus_last_refusal(const struct hs_bus *bus, struct hs_bus_refusal *out)
{
	struct hs_bus_gate_counters gate;

	*out = bus->refusal;
	hs_bus_gate_counters(bus->gate, &gate);
	if (out->public_key[0]) // the gate knows the address of the client
		snprintf(out->peer, sizeof(out->peer), "%s", gate.denied_peer);
	return bus->refusal.count > 0;
}

bool hs_bus_last_turned_away(const struct hs_bus *bus, struct hs_bus_turned_away *out)
{
	struct hs_bus_gate_counters gate;

	hs_bus_gate_counters(bus->gate, &gate);
	*out = (struct hs_bus_turned_away){.count = gate.refused + gate.closed};
	memcpy(out->peer, gate.refused_peer, sizeof(out->peer));
	memcpy(out->reason, gate.refused_reason, sizeof(out->reason));
	return out->count > 0;
}

// ---- waiting ----

static void look_at_line(struct hs_bus *bus, struct hs_bus_line *line)
{
	uint64_t before = line->with_reason;

	hs_bus_line_look(line);
	note_failure(bus, line, before);
}

static void look_after_lines(struct hs_bus *bus)
{
	look_at_line(bus, &bus->router);
	for (unsigned i = 0; i < bus->n_publishers; i++)
		look_at_line(bus, &bus->publishers[i]);
}

// A publisher handles subscriptions, and frees what its peers have read, only in calls on it.
static void catch_up(const struct hs_bus_line *line)
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
	zmq_pollitem_t items[3 + HS_BUS_POLL_FDS] = {
			{.socket = bus->router.socket, .events = ZMQ_POLLIN},
			{.fd = hs_bus_gate_fd(bus->gate), .events = ZMQ_POLLIN}};
	unsigned first = bus->guarded ? 3 : 2; // index into fds

	assert(n_fds <= HS_BUS_POLL_FDS);
	if (bus->guarded)
		items[2] = (zmq_pollitem_t){.socket = bus->zap.socket, .events = ZMQ_POLLIN};
	for (unsigned i = 0; i < n_fds; i++)
		items[first + i] = (zmq_pollitem_t){
				.fd = fds[i].fd, .events = events_to_zmq(fds[i].events)};

	let_subscribers_in(bus);
	bool ready = hs_bus_queue_is_ready(bus->queue);
	int rc = zmq_poll(items, (int)(first + n_fds), ready ? 0 : timeout_ms);
	let_subscribers_in(bus);

	for (unsigned i = 0; i < n_fds; i++)
		fds[i].revents = rc > 0 ? events_from_zmq(items[first + i].revents) : 0;
	if (rc > 0 && items[1].revents)
		hs_bus_gate_clear(bus->gate);
	if (bus->guarded) {
		look_at_keys(bus);
		hs_bus_zap_serve(&bus->zap);
	}
	look_after_lines(bus);
	return ready || (rc > 0 && (items[0].revents | items[1].revents) & ZMQ_POLLIN);
}

// ---- requests ----

// Finds the request's user. Returns false if the key is no longer allowed.
static bool name_user(const struct hs_bus *bus, struct hs_bus_request *request)
{
	request->user = "";
	request->may_change = true;
	if (!bus->guarded)
		return true;
	const struct hs_bus_allowed_key *key = hs_bus_zap_user(&bus->zap, &request->route->body);
	if (!key)
		return false;
	snprintf(request->route->user, sizeof(request->route->user), "%s", key->name);
	request->user = request->route->user;
	request->may_change = key->may_change;
	return true;
}

// Moves requests from the socket into rows.
static int take_requests(struct hs_bus *bus)
{
	struct hs_bus_route *route;

	for (unsigned i = 0; i < TAKEN_AT_ONCE; i++) {
		int rc = hs_bus_route_receive(bus->gate, bus->router.socket, bus->guarded, &route);
		if (rc == -EAGAIN)
			hs_bus_gate_drained(bus->gate);
		bus->counters.requests_malformed += rc == -EBADMSG;
		if (rc == 0 && !hs_bus_queue_put(bus->queue, route)) {
			hs_bus_gate_taken(bus->gate, route->visit, route->weight, false);
			hs_bus_route_free(route);
			rc = -ENOMEM;
		}
		if (rc && rc != -EBADMSG)
			return rc;
	}
	return 0;
}

static void let_go(struct hs_bus *bus, struct hs_bus_route *route)
{
	hs_bus_queue_done(bus->queue, route->row);
	hs_bus_route_free(route);
}

int hs_bus_next_request(struct hs_bus *bus, struct hs_bus_request *request)
{
	int rc = take_requests(bus);

	while ((request->route = hs_bus_queue_next(bus->queue))) {
		if (name_user(bus, request)) {
			bus->counters.requests++;
			request->body = zmq_msg_data(&request->route->body);
			request->len = zmq_msg_size(&request->route->body);
			request->bus = bus;
			return 0;
		}
		bus->counters.requests_refused++;
		let_go(bus, request->route);
	}
	return rc ? rc : -EAGAIN;
}

int hs_bus_reply(struct hs_bus *bus, struct hs_bus_request *request, const char *text)
{
	int rc = hs_bus_route_send(
			bus->gate, request->route, bus->router.socket, text, strlen(text));

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
		let_go(request->bus, request->route);
	*request = (struct hs_bus_request){0};
}

// ---- publishing ----

static int send_parts(void *publisher, const char *topic, const char *json)
{
	if (zmq_send(publisher, topic, strlen(topic), ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0)
		return -errno;
	return zmq_send(publisher, json, strlen(json), ZMQ_DONTWAIT) < 0 ? -errno : 0;
}

static bool publish_on(
		const struct hs_bus_line *line, bool shared, const char *topic, const char *json)
{
	if (send_parts(line->socket, topic, json) == 0)
		return true;
	// The queue may only seem full, because sending checks at most once a millisecond what was
	// read.
	catch_up(line);
	if (send_parts(line->socket, topic, json) == 0)
		return true;
	if (!shared)
		return false;
	// No subscriber got the message, because the queue of one is full: send it to the others.
	hs_bus_socket_set(line->socket, ZMQ_XPUB_NODROP, 0);
	send_parts(line->socket, topic, json);
	hs_bus_socket_set(line->socket, ZMQ_XPUB_NODROP, 1);
	return false;
}

int hs_bus_publish(struct hs_bus *bus, const char *topic, const char *json)
{
	bool all = true;

	for (unsigned i = 0; i < bus->n_publishers; i++)
		all &= publish_on(&bus->publishers[i], bus->shared && i == 0, topic, json);
	if (all)
		bus->counters.published++;
	else
		bus->counters.publish_lost++;
	return all ? 0 : -EAGAIN;
}

static void add_line(const struct hs_bus_line *line, struct hs_bus_counters *out)
{
	out->connections += line->connections;
	out->disconnections += line->disconnections;
	out->handshakes_failed += line->handshakes_failed;
}

void hs_bus_counters(const struct hs_bus *bus, struct hs_bus_counters *out)
{
	struct hs_bus_gate_counters gate;

	hs_bus_gate_counters(bus->gate, &gate);
	*out = bus->counters;
	out->connections_refused = gate.refused;
	out->connections_closed = gate.closed;
	add_line(&bus->router, out);
	for (unsigned i = 0; i < bus->n_publishers; i++)
		add_line(&bus->publishers[i], out);
}
