// SPDX-License-Identifier: BSD-3-Clause
// One connection: its bytes in both directions, and the limits of its cost.
#include "bus_gate_parts.h"

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
		[HS_BUS_GATE_REQUESTS] = {64 << 10, HS_BUS_MAX_MESSAGE + (64 << 10), 32 << 20},
		[HS_BUS_GATE_LISTENERS] = {16 << 10, 256 << 10, 2 << 20},
		[HS_BUS_GATE_FEEDS] = {64 << 10, HS_BUS_MAX_MESSAGE + (64 << 10), 64 << 20},
};

// ---- leaving ----

static void watch(struct hs_bus_gate *gate, unsigned place, enum side side, uint32_t events)
{
	struct guest *guest = &gate->guests[place];
	int fd = side == SIDE_CLIENT ? guest->client : guest->inner;
	uint32_t *watched = side == SIDE_CLIENT ? &guest->watched_client : &guest->watched_inner;
	struct epoll_event event = {.events = events,
			.data.u64 = hs_bus_gate_tag(gate->desks[place].serial, place, side)};

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
	struct guest *guest = &gate->guests[place];

	pthread_mutex_lock(&gate->lock);
	gate->desks[place].serial = 0;
	pthread_mutex_unlock(&gate->lock);
	hs_bus_gate_answered(guest);
	close(guest->client);
	if (guest->inner >= 0)
		close(guest->inner);
	empty(&guest->to_inner);
	empty(&guest->to_client);
	gate->pooled[guest->kind] -= guest->pooled;
	gate->n_waiting -= guest->waits;
	gate->n_ending -= guest->end_ms != 0;
	gate->n_learned--;
	*guest = (struct guest){.client = -1, .inner = -1};
}

static void send_away(struct hs_bus_gate *gate, unsigned place, const char *reason)
{
	hs_bus_gate_note_refusal(gate, true, gate->guests[place].peer, reason);
	hs_bus_gate_dismiss(gate, place);
}

// ---- credit ----

// Returns the most that the connection can hold behind the gate. Nobody takes heartbeats, but each
// is answered. Outgoing frames beside the parts that the owner sent are those answers.
static uint64_t held_by(const struct hs_bus_gate *gate, unsigned place)
{
	const struct guest *guest = &gate->guests[place];
	struct desk *desk = &gate->desks[place];
	uint64_t sent_small = atomic_load(&desk->sent_small), answers = 0;
	uint64_t taken = atomic_load(&desk->taken);

	if (guest->kind == HS_BUS_GATE_LISTENERS) {
		// The frames of a message have two parts; the second is larger than any heartbeat.
		uint64_t messages = guest->out.frames - guest->out.small;
		answers = guest->out.small > messages ? guest->out.small - messages : 0;
	} else if (guest->out.small > sent_small)
		answers = guest->out.small - sent_small;
	taken += answers * HS_BUS_FRAME_WEIGHT;
	return guest->in.weight > taken ? guest->in.weight - taken : 0;
}

static void reckon(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];
	uint64_t held = held_by(gate, place), base = bounds[guest->kind].base;
	uint64_t pooled = held > base ? held - base : 0;

	gate->pooled[guest->kind] += pooled - guest->pooled;
	guest->pooled = pooled;
}

// Other connections may have returned their share of the pool.
static void reckon_all(struct hs_bus_gate *gate)
{
	int64_t now_ms = hs_bus_now_ms();

	if (gate->reckoned_ms == now_ms)
		return;
	gate->reckoned_ms = now_ms;
	for (unsigned i = 0; i < HS_BUS_GATE_PLACES; i++)
		if (gate->guests[i].client >= 0)
			reckon(gate, i);
}

static bool has_credit(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];
	enum hs_bus_gate_kind kind = guest->kind;

	reckon(gate, place);
	if (guest->pooled == 0)
		return true;
	if (guest->pooled + bounds[kind].base >= bounds[kind].most)
		return false;
	if (gate->pooled[kind] > bounds[kind].pool)
		reckon_all(gate);
	return gate->pooled[kind] <= bounds[kind].pool;
}

static void wait_for_credit(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];

	if (guest->waits)
		return;
	guest->waits = true;
	gate->n_waiting++;
	guest->since_ms = hs_bus_now_ms();
	guest->since_taken = atomic_load(&gate->desks[place].taken);
	guest->since_drained = atomic_load(&gate->drained);
}

static bool may_read(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];
	struct desk *desk = &gate->desks[place];

	bool may = has_credit(gate, place);
	if (!may) {
		atomic_store(&desk->starved, true);
		may = has_credit(gate, place); // credit may have come just now
	}
	if (!may) {
		wait_for_credit(gate, place);
		return false;
	}
	gate->n_waiting -= guest->waits;
	guest->waits = false;
	return true;
}

// The connection's message never ends: the owner looked twice, found nothing to take, and holds
// nothing of it.
static bool is_endless(const struct hs_bus_gate *gate, unsigned place)
{
	const struct guest *guest = &gate->guests[place];
	struct desk *desk = &gate->desks[place];

	return atomic_load(&desk->parked) == 0 &&
	       atomic_load(&gate->drained) >= guest->since_drained + 2 &&
	       hs_bus_now_ms() >= guest->since_ms + PATIENCE_MS;
}

static void look_at(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];
	struct desk *desk = &gate->desks[place];
	uint64_t taken = atomic_load(&desk->taken);

	if (taken != guest->since_taken || atomic_load(&desk->parked) > 0) {
		guest->since_taken = taken;
		guest->since_ms = hs_bus_now_ms();
		guest->since_drained = atomic_load(&gate->drained);
	}
	hs_bus_gate_go_on(gate, place);
	if (guest->client >= 0 && guest->waits && is_endless(gate, place))
		send_away(gate, place, "a message is larger than 4 MiB, or never ends");
}

void hs_bus_gate_look_at_waiting(struct hs_bus_gate *gate, bool all)
{
	for (unsigned i = 0; i < HS_BUS_GATE_PLACES; i++) {
		struct guest *guest = &gate->guests[i];
		if (guest->client < 0)
			continue;
		if (guest->end_ms && hs_bus_now_ms() >= guest->end_ms)
			hs_bus_gate_dismiss(gate, i);
		else if (guest->waits && (all || !atomic_load(&gate->desks[i].starved)))
			look_at(gate, i);
	}
}

// ---- from the client ----

static bool in_handshake(const struct hs_bus_gate *gate, const struct guest *guest)
{
	return guest->in.ended < gate->handshake || guest->out.ended < gate->handshake;
}

// Counts the bytes that may pass. Returns false if the guest had to leave. Nothing passes beyond
// the handshake before the other side has also ended it, because ZeroMQ would have to stop reading.
static bool count_in(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];
	struct buffer *buffer = &guest->to_inner;
	bool shaking = in_handshake(gate, guest);

	buffer->ready += hs_bus_frames_feed(&guest->in, buffer->bytes + buffer->ready,
			buffer->len - buffer->ready, shaking ? gate->handshake : UINT64_MAX);
	if (guest->in.old) {
		hs_bus_gate_dismiss(gate, place); // ZeroMQ counts a failed handshake
		return false;
	}
	if (shaking && guest->in.frames > 0 && guest->in.content > HANDSHAKE_BYTES) {
		send_away(gate, place, "a handshake is too long");
		return false;
	}
	if (shaking && guest->in.ended == gate->handshake)
		guest->in.weight = guest->in.small = 0; // messages begin here
	if (guest->kind == HS_BUS_GATE_LISTENERS && !has_credit(gate, place)) {
		send_away(gate, place, "too many subscriptions");
		return false;
	}
	return true;
}

// Returns true if everything that was ready has been passed.
static bool pass_in(struct guest *guest)
{
	struct buffer *buffer = &guest->to_inner;

	while (buffer->gone < buffer->ready) {
		ssize_t n = send(guest->inner, buffer->bytes + buffer->gone,
				buffer->ready - buffer->gone, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			guest->inner_ended |= errno != EAGAIN;
			return false;
		}
		buffer->gone += (size_t)n;
	}
	if (buffer->gone == buffer->len)
		empty(buffer);
	return true;
}

static bool read_client(struct guest *guest)
{
	struct buffer *buffer = &guest->to_inner;
	uint8_t bytes[CHUNK_BYTES];
	ssize_t n = recv(guest->client, bytes, sizeof(bytes), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	uint8_t *copy = n > 0 ? malloc((size_t)n) : NULL;
	if (!copy) {
		guest->client_ended = guest->client_gone = true;
		return false;
	}
	memcpy(copy, bytes, (size_t)n);
	*buffer = (struct buffer){.bytes = copy, .len = (size_t)n};
	return true;
}

// Returns false if the guest has left.
static bool pump_in(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];

	for (unsigned i = 0; i < ROUNDS_AT_ONCE && !guest->inner_ended; i++) {
		if (!guest->to_inner.bytes && (guest->client_ended || !may_read(gate, place) ||
							      !read_client(guest)))
			return true;
		if (!count_in(gate, place))
			return false;
		// Bytes behind the handshake wait until the other side has also ended it.
		if (!pass_in(guest) || (guest->to_inner.bytes && in_handshake(gate, guest)))
			return true;
	}
	return true;
}

// ---- to the client ----

static void note_denial(struct hs_bus_gate *gate, const struct guest *guest)
{
	static const uint8_t error[HS_BUS_LEAD_BYTES] = "\x05"
							"ERROR";

	if (memcmp(guest->out.lead, error, sizeof(error)) != 0)
		return;
	pthread_mutex_lock(&gate->lock);
	gate->counters.denied++;
	memcpy(gate->counters.denied_peer, guest->peer, sizeof(guest->peer));
	pthread_mutex_unlock(&gate->lock);
}

static void count_out(struct hs_bus_gate *gate, unsigned place, const uint8_t *bytes, size_t len)
{
	struct guest *guest = &gate->guests[place];
	struct hs_bus_frames *out = &guest->out;
	size_t at = 0;

	while (out->ended < gate->handshake && at < len) {
		uint64_t ended = out->ended;
		at += hs_bus_frames_feed(out, bytes + at, len - at, ended + 1);
		if (out->ended == ended)
			return;
		note_denial(gate, guest);
		if (out->ended == gate->handshake)
			out->weight = out->small = out->frames = 0;
	}
	hs_bus_frames_feed(out, bytes + at, len - at, UINT64_MAX);
}

// The owner's sums contain parts of messages and no heartbeats.
static void tell_passed(struct hs_bus_gate *gate, unsigned place)
{
	const struct guest *guest = &gate->guests[place];
	struct desk *desk = &gate->desks[place];
	uint64_t passed = guest->out.weight - guest->out.small * HS_BUS_FRAME_WEIGHT;

	atomic_store(&desk->passed, passed);
	if (atomic_load(&desk->choked) &&
			atomic_load(&desk->sent) <= passed + HS_BUS_GATE_BACKLOG / 2 &&
			atomic_exchange(&desk->choked, false))
		eventfd_write(gate->tell, 1);
}

// Returns true if everything has been sent.
static bool pass_out(struct guest *guest, const uint8_t *bytes, size_t len)
{
	struct buffer *buffer = &guest->to_client;
	size_t gone = 0;

	while (gone < len && !guest->client_gone) {
		ssize_t n = send(guest->client, bytes + gone, len - gone, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		guest->client_gone |= n < 0;
		gone += n > 0 ? (size_t)n : 0;
	}
	if (gone == len || guest->client_gone) {
		empty(buffer);
		return true;
	}
	if (buffer->bytes) {
		buffer->gone += gone;
		return false;
	}
	uint8_t *rest = malloc(len - gone);
	if (!rest) {
		guest->client_gone = true;
		return true;
	}
	memcpy(rest, bytes + gone, len - gone);
	*buffer = (struct buffer){.bytes = rest, .len = len - gone};
	return false;
}

static void pump_out(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];
	struct buffer *buffer = &guest->to_client;
	uint8_t bytes[OUT_BYTES];

	for (unsigned i = 0; i < ROUNDS_AT_ONCE; i++) {
		if (buffer->bytes && !pass_out(guest, buffer->bytes + buffer->gone,
						     buffer->len - buffer->gone))
			return;
		if (guest->inner_ended)
			return;
		ssize_t n = recv(guest->inner, bytes, sizeof(bytes), 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		guest->inner_ended |= n <= 0;
		if (n <= 0)
			return;
		hs_bus_gate_answered(guest);
		count_out(gate, place, bytes, (size_t)n);
		tell_passed(gate, place);
		if (!pass_out(guest, bytes, (size_t)n))
			return;
	}
}

// ---- both ----

// A guest that left before ZeroMQ accepted its connection stays until then, because its descriptor
// is still in use.
static bool is_done(const struct guest *guest)
{
	if (guest->unanswered && !guest->inner_ended)
		return false;
	if (guest->inner_ended)
		return !guest->to_client.bytes || guest->client_gone;
	return guest->client_ended && !guest->to_inner.bytes;
}

static void watch_both(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];
	bool reads = !guest->client_ended && !guest->waits && !guest->to_inner.bytes;
	bool writes = guest->to_client.bytes && !guest->client_gone;
	bool takes = !guest->inner_ended && !guest->to_client.bytes;
	bool held_back = guest->to_inner.gone == guest->to_inner.ready && in_handshake(gate, guest);
	bool gives = guest->to_inner.bytes && !held_back && !guest->inner_ended;

	watch(gate, place, SIDE_CLIENT,
			(uint32_t)((reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0)));
	watch(gate, place, SIDE_INNER, (uint32_t)((takes ? EPOLLIN : 0) | (gives ? EPOLLOUT : 0)));
}

void hs_bus_gate_go_on(struct hs_bus_gate *gate, unsigned place)
{
	struct guest *guest = &gate->guests[place];

	pump_out(gate, place); // this comes first: it may end the handshake
	if (!pump_in(gate, place))
		return;
	if (is_done(guest)) {
		hs_bus_gate_dismiss(gate, place);
		return;
	}
	if (guest->inner_ended && guest->end_ms == 0) {
		guest->end_ms = hs_bus_now_ms() + LAST_MS;
		gate->n_ending++;
		gate->n_waiting -= guest->waits;
		guest->waits = false;
	}
	watch_both(gate, place);
}

void hs_bus_gate_event(struct hs_bus_gate *gate, unsigned place, enum side side, uint32_t events)
{
	struct guest *guest = &gate->guests[place];

	// The other end is closed, so that nothing more can be sent there. What came before is
	// still read.
	if (side == SIDE_CLIENT && events & (EPOLLERR | EPOLLHUP))
		guest->client_gone = true;
	hs_bus_gate_go_on(gate, place);
}
