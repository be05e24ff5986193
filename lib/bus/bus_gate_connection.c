// SPDX-License-Identifier: BSD-3-Clause
// One connection: its bytes in both directions, and the limits of its cost.
#include "bus_gate_connection.h"

#include "bus_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS_AT_ONCE 8
// The largest frame of a handshake. CURVE's longest frame carries a few properties.
#define HANDSHAKE_BYTES (8 << 10)
// A client that waits so long for credit, while the owner has nothing of it to take, sends a
// message without end.
#define PATIENCE_MS 2000
#define LAST_MS	    5000

// The amount that one connection may always hold, the most that it may hold, and the most that all
// connections may hold together beyond the first amount. Units are the weights of bus_frames.h.
static const struct {
	uint64_t base, most, pool;
} bounds[HS_BUS_GATE_KINDS] = {
		[HS_BUS_GATE_REQUESTS] = {64 << 10, HS_BUS_GATE_REQUEST_BYTES, 32 << 20},
		[HS_BUS_GATE_SUBSCRIBERS] = {16 << 10, HS_BUS_GATE_SUBSCRIPTION_BYTES, 2 << 20},
		[HS_BUS_GATE_FEEDS] = {64 << 10, HS_BUS_GATE_REQUEST_BYTES, 64 << 20},
};

// ---- ending ----

static void watch(struct hs_bus_gate *gate, unsigned place, enum side side, uint32_t events)
{
	struct connection *connection = &gate->connections[place];
	int fd = side == SIDE_CLIENT ? connection->client : connection->inner;
	uint32_t *watched = side == SIDE_CLIENT ? &connection->watched_client
						: &connection->watched_inner;
	struct epoll_event event = {.events = events,
			.data.u64 = hs_bus_gate_tag(gate->credits[place].serial, place, side)};

	// A descriptor whose other end has closed reports this permanently, whatever events are
	// requested.
	if (*watched == events)
		return;
	epoll_ctl(gate->epoll,
			*watched == 0 ? EPOLL_CTL_ADD
			: events == 0 ? EPOLL_CTL_DEL
				      : EPOLL_CTL_MOD,
			fd, &event);
	*watched = events;
}

static void empty(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

void hs_bus_gate_dismiss(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];

	pthread_mutex_lock(&gate->lock);
	gate->credits[place].serial = 0;
	pthread_mutex_unlock(&gate->lock);
	hs_bus_gate_answered(connection);
	close(connection->client);
	if (connection->inner >= 0)
		close(connection->inner);
	empty(&connection->to_inner);
	empty(&connection->to_client);
	gate->pooled[connection->kind] -= connection->pooled;
	gate->n_waiting -= connection->waits;
	gate->n_ending -= connection->end_ms != 0;
	gate->n_connections--;
	*connection = (struct connection){.client = -1, .inner = -1};
}

static void send_away(struct hs_bus_gate *gate, unsigned place, const char *reason)
{
	hs_bus_gate_note_refusal(gate, true, gate->connections[place].peer, reason);
	hs_bus_gate_dismiss(gate, place);
}

// ---- credit ----

// Returns the most that the connection can hold behind the gate. Nobody takes heartbeats, but each
// is answered. Outgoing frames beside the parts that the owner sent are those answers.
static uint64_t held_by(const struct hs_bus_gate *gate, unsigned place)
{
	const struct connection *connection = &gate->connections[place];
	struct credit *credit = &gate->credits[place];
	uint64_t sent_small = atomic_load(&credit->sent_small), answers = 0;
	uint64_t taken = atomic_load(&credit->taken);

	if (connection->kind == HS_BUS_GATE_SUBSCRIBERS) {
		// A message has two frames; the second is larger than any heartbeat.
		uint64_t messages = connection->out.frames - connection->out.small;
		answers = connection->out.small > messages ? connection->out.small - messages : 0;
	} else if (connection->out.small > sent_small)
		answers = connection->out.small - sent_small;
	taken += answers * HS_BUS_FRAME_WEIGHT;
	return connection->in.weight > taken ? connection->in.weight - taken : 0;
}

static void reckon(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];
	uint64_t held = held_by(gate, place), base = bounds[connection->kind].base;
	uint64_t pooled = held > base ? held - base : 0;

	gate->pooled[connection->kind] += pooled - connection->pooled;
	connection->pooled = pooled;
}

// Computes what each connection takes from the pool, because other connections may have returned
// their share.
static void reckon_all(struct hs_bus_gate *gate)
{
	int64_t now_ms = hs_bus_now_ms();

	if (gate->reckoned_ms == now_ms)
		return;
	gate->reckoned_ms = now_ms;
	for (unsigned i = 0; i < HS_BUS_GATE_PLACES; i++)
		if (gate->connections[i].client >= 0)
			reckon(gate, i);
}

static bool has_credit(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];
	enum hs_bus_gate_kind kind = connection->kind;

	reckon(gate, place);
	if (connection->pooled == 0)
		return true;
	if (connection->pooled + bounds[kind].base > bounds[kind].most)
		return false;
	if (gate->pooled[kind] > bounds[kind].pool)
		reckon_all(gate);
	return gate->pooled[kind] <= bounds[kind].pool;
}

static void wait_for_credit(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];

	if (connection->waits)
		return;
	connection->waits = true;
	gate->n_waiting++;
	connection->since_ms = hs_bus_now_ms();
	connection->since_taken = atomic_load(&gate->credits[place].taken);
	connection->since_drained = atomic_load(&gate->drained);
}

static bool may_read(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];
	struct credit *credit = &gate->credits[place];

	bool may = has_credit(gate, place);
	if (!may) {
		atomic_store(&credit->starved, true);
		may = has_credit(gate, place); // credit may have come just now
	}
	if (!may) {
		wait_for_credit(gate, place);
		return false;
	}
	gate->n_waiting -= connection->waits;
	connection->waits = false;
	return true;
}

// Returns whether the connection's message never ends: the owner looked twice, found nothing to
// take, and holds nothing of the connection.
static bool is_endless(const struct hs_bus_gate *gate, unsigned place)
{
	const struct connection *connection = &gate->connections[place];
	struct credit *credit = &gate->credits[place];

	return atomic_load(&credit->parked) == 0 &&
	       atomic_load(&gate->drained) >= connection->since_drained + 2 &&
	       hs_bus_now_ms() >= connection->since_ms + PATIENCE_MS;
}

static void look_at(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];
	struct credit *credit = &gate->credits[place];
	uint64_t taken = atomic_load(&credit->taken);

	if (taken != connection->since_taken || atomic_load(&credit->parked) > 0) {
		connection->since_taken = taken;
		connection->since_ms = hs_bus_now_ms();
		connection->since_drained = atomic_load(&gate->drained);
	}
	hs_bus_gate_go_on(gate, place);
	if (connection->client >= 0 && connection->waits && is_endless(gate, place))
		send_away(gate, place, "a message is larger than 4 MiB, or never ends");
}

void hs_bus_gate_look_at_waiting(struct hs_bus_gate *gate, bool all)
{
	for (unsigned i = 0; i < HS_BUS_GATE_PLACES; i++) {
		struct connection *connection = &gate->connections[i];
		if (connection->client < 0)
			continue;
		if (connection->end_ms && hs_bus_now_ms() >= connection->end_ms)
			hs_bus_gate_dismiss(gate, i);
		else if (connection->waits && (all || !atomic_load(&gate->credits[i].starved)))
			look_at(gate, i);
	}
}

// ---- from the client ----

static bool in_handshake(const struct hs_bus_gate *gate, const struct connection *connection)
{
	return connection->in.ended < gate->handshake || connection->out.ended < gate->handshake;
}

// Counts the bytes that may pass. Returns false if the connection had to end. Nothing passes
// beyond the handshake before the other side has also ended it, because ZeroMQ would have to stop
// reading.
static bool count_in(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];
	struct buffer *buffer = &connection->to_inner;
	bool shaking = in_handshake(gate, connection);

	buffer->ready += hs_bus_frames_feed(&connection->in, buffer->bytes + buffer->ready,
			buffer->len - buffer->ready, shaking ? gate->handshake : UINT64_MAX);
	if (connection->in.old) {
		hs_bus_gate_dismiss(gate, place); // ZeroMQ counts a failed handshake
		return false;
	}
	if (shaking && connection->in.frames > 0 && connection->in.content > HANDSHAKE_BYTES) {
		send_away(gate, place, "a handshake is too long");
		return false;
	}
	if (shaking && connection->in.ended == gate->handshake)
		connection->in.weight = connection->in.small = 0; // messages begin here
	if (connection->kind == HS_BUS_GATE_SUBSCRIBERS && !has_credit(gate, place)) {
		send_away(gate, place, "too many subscriptions");
		return false;
	}
	return true;
}

// Returns true if everything that was ready has been passed.
static bool pass_in(struct connection *connection)
{
	struct buffer *buffer = &connection->to_inner;

	while (buffer->gone < buffer->ready) {
		ssize_t n = send(connection->inner, buffer->bytes + buffer->gone,
				buffer->ready - buffer->gone, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			connection->inner_ended |= errno != EAGAIN;
			return false;
		}
		buffer->gone += (size_t)n;
	}
	if (buffer->gone == buffer->len)
		empty(buffer);
	return true;
}

static bool read_client(struct connection *connection)
{
	struct buffer *buffer = &connection->to_inner;
	uint8_t bytes[CHUNK_BYTES];
	ssize_t n = recv(connection->client, bytes, sizeof(bytes), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	uint8_t *copy = n > 0 ? malloc((size_t)n) : NULL;
	if (!copy) {
		connection->client_ended = connection->client_gone = true;
		return false;
	}
	memcpy(copy, bytes, (size_t)n);
	*buffer = (struct buffer){.bytes = copy, .len = (size_t)n};
	return true;
}

// Returns false if the connection has ended.
static bool pump_in(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];

	for (unsigned i = 0; i < ROUNDS_AT_ONCE && !connection->inner_ended; i++) {
		if (!connection->to_inner.bytes &&
				(connection->client_ended || !may_read(gate, place) ||
						!read_client(connection)))
			return true;
		if (!count_in(gate, place))
			return false;
		// Bytes behind the handshake wait until the other side has also ended it.
		if (!pass_in(connection) ||
				(connection->to_inner.bytes && in_handshake(gate, connection)))
			return true;
	}
	return true;
}

// ---- to the client ----

static void note_denial(struct hs_bus_gate *gate, const struct connection *connection)
{
	static const uint8_t error[HS_BUS_LEAD_BYTES] = "\x05"
							"ERROR";

	if (memcmp(connection->out.lead, error, sizeof(error)) != 0)
		return;
	pthread_mutex_lock(&gate->lock);
	gate->counters.denied++;
	memcpy(gate->counters.denied_peer, connection->peer, sizeof(connection->peer));
	pthread_mutex_unlock(&gate->lock);
}

static void count_out(struct hs_bus_gate *gate, unsigned place, const uint8_t *bytes, size_t len)
{
	struct connection *connection = &gate->connections[place];
	struct hs_bus_frames *out = &connection->out;
	size_t at = 0;

	while (out->ended < gate->handshake && at < len) {
		uint64_t ended = out->ended;
		at += hs_bus_frames_feed(out, bytes + at, len - at, ended + 1);
		if (out->ended == ended)
			return;
		note_denial(gate, connection);
		if (out->ended == gate->handshake)
			out->weight = out->small = out->frames = 0;
	}
	hs_bus_frames_feed(out, bytes + at, len - at, UINT64_MAX);
}

// Tells the owner how much has been passed. The owner's sums contain parts of messages and no
// heartbeats.
static void tell_passed(struct hs_bus_gate *gate, unsigned place)
{
	const struct connection *connection = &gate->connections[place];
	struct credit *credit = &gate->credits[place];
	uint64_t passed = connection->out.weight - connection->out.small * HS_BUS_FRAME_WEIGHT;

	atomic_store(&credit->passed, passed);
	if (atomic_load(&credit->choked) &&
			atomic_load(&credit->sent) <= passed + HS_BUS_GATE_BACKLOG / 2 &&
			atomic_exchange(&credit->choked, false))
		eventfd_write(gate->tell, 1);
}

// Returns true if everything has been sent.
static bool pass_out(struct connection *connection, const uint8_t *bytes, size_t len)
{
	struct buffer *buffer = &connection->to_client;
	size_t gone = 0;

	while (gone < len && !connection->client_gone) {
		ssize_t n = send(connection->client, bytes + gone, len - gone, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		connection->client_gone |= n < 0;
		gone += n > 0 ? (size_t)n : 0;
	}
	if (gone == len || connection->client_gone) {
		empty(buffer);
		return true;
	}
	if (buffer->bytes) {
		buffer->gone += gone;
		return false;
	}
	uint8_t *rest = malloc(len - gone);
	if (!rest) {
		connection->client_gone = true;
		return true;
	}
	memcpy(rest, bytes + gone, len - gone);
	*buffer = (struct buffer){.bytes = rest, .len = len - gone};
	return false;
}

static void pump_out(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];
	struct buffer *buffer = &connection->to_client;
	uint8_t bytes[OUT_BYTES];

	for (unsigned i = 0; i < ROUNDS_AT_ONCE; i++) {
		if (buffer->bytes && !pass_out(connection, buffer->bytes + buffer->gone,
						     buffer->len - buffer->gone))
			return;
		if (connection->inner_ended)
			return;
		ssize_t n = recv(connection->inner, bytes, sizeof(bytes), 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		connection->inner_ended |= n <= 0;
		if (n <= 0)
			return;
		hs_bus_gate_answered(connection);
		count_out(gate, place, bytes, (size_t)n);
		tell_passed(gate, place);
		if (!pass_out(connection, bytes, (size_t)n))
			return;
	}
}

// ---- both directions ----

// Returns whether the connection can be removed. A connection that ended before ZeroMQ accepted it
// stays until ZeroMQ accepts it, because its descriptor is still in use.
static bool is_done(const struct connection *connection)
{
	if (connection->unanswered && !connection->inner_ended)
		return false;
	if (connection->inner_ended)
		return !connection->to_client.bytes || connection->client_gone;
	return connection->client_ended && !connection->to_inner.bytes;
}

static void watch_both(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];
	bool reads = !connection->client_ended && !connection->waits && !connection->to_inner.bytes;
	bool writes = connection->to_client.bytes && !connection->client_gone;
	bool takes = !connection->inner_ended && !connection->to_client.bytes;
	bool held_back = connection->to_inner.gone == connection->to_inner.ready &&
			 in_handshake(gate, connection);
	bool gives = connection->to_inner.bytes && !held_back && !connection->inner_ended;

	watch(gate, place, SIDE_CLIENT,
			(uint32_t)((reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0)));
	watch(gate, place, SIDE_INNER, (uint32_t)((takes ? EPOLLIN : 0) | (gives ? EPOLLOUT : 0)));
}

void hs_bus_gate_go_on(struct hs_bus_gate *gate, unsigned place)
{
	struct connection *connection = &gate->connections[place];

	pump_out(gate, place); // this comes first: it may end the handshake
	if (!pump_in(gate, place))
		return;
	if (is_done(connection)) {
		hs_bus_gate_dismiss(gate, place);
		return;
	}
	if (connection->inner_ended && connection->end_ms == 0) {
		connection->end_ms = hs_bus_now_ms() + LAST_MS;
		gate->n_ending++;
		gate->n_waiting -= connection->waits;
		connection->waits = false;
	}
	watch_both(gate, place);
}

void hs_bus_gate_event(struct hs_bus_gate *gate, unsigned place, enum side side, uint32_t events)
{
	struct connection *connection = &gate->connections[place];

	// The other end is closed, so that nothing more can be sent there. What came before is
	// still read.
	if (side == SIDE_CLIENT && events & (EPOLLERR | EPOLLHUP))
		connection->client_gone = true;
	hs_bus_gate_go_on(gate, place);
}
