// SPDX-License-Identifier: BSD-3-Clause
#include "bus_gate.h"

#include "bus_endpoint.h"
#include "bus_gate_connection.h"
#include "bus_gate_listener.h"
#include "bus_gate_parts.h"
#include "bus_listen.h"
#include "bus_socket.h"

#include <zmq.h>

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 64
#define TICK_MS	       10
#define LAST_MS	       100
#define INNER_BACKLOG  1024

// ---- the private endpoint of the owner's socket ----

// Binds the private endpoint. ZeroMQ accepts only connections of this process there.
static int open_inner(struct hs_bus_gate *gate, void *socket, enum hs_bus_gate_kind kind,
		struct hs_error *err)
{
	socklen_t len;
	struct sockaddr_un name = hs_bus_inner_name(gate->name, kind, &len);
	char endpoint[128];
	int pid = (int)getpid();

	// The gate limits what is queued. ZeroMQ's own limit would stop ZeroMQ from reading, and
	// ZeroMQ aborts in that state when the peer dies.
	int rc = hs_bus_socket_set(socket, ZMQ_RCVHWM, 0);
	rc = rc ? rc : hs_bus_socket_set(socket, ZMQ_BACKLOG, INNER_BACKLOG);
	rc = rc ? rc : hs_bus_socket_set(socket, ZMQ_IPC_FILTER_PID, pid);
	snprintf(endpoint, sizeof(endpoint), "ipc://@%s", name.sun_path + 1);
	if (rc == 0 && zmq_bind(socket, endpoint))
		rc = -errno;
	if (rc == 0) {
		gate->sockets[kind] = socket;
		return 0;
	}
	errno = -rc;
	return hs_bus_error(err, "internal", "", "ZeroMQ's sockets cannot be bound");
}

// ---- the thread ----

static void wake(const struct hs_bus_gate *gate)
{
	eventfd_write(gate->wake, 1);
}

static void cut_connections(struct hs_bus_gate *gate)
{
	for (unsigned kind = 0; kind < HS_BUS_GATE_KINDS; kind++) {
		if (!atomic_exchange(&gate->cut[kind], false))
			continue;
		for (unsigned i = 0; i < HS_BUS_GATE_PLACES; i++)
			if (gate->connections[i].client >= 0 && gate->connections[i].kind == kind)
				hs_bus_gate_dismiss(gate, i);
	}
}

static void take_event(struct hs_bus_gate *gate, const struct epoll_event *event)
{
	enum side side = event->data.u64 & 3;
	unsigned place = (event->data.u64 & UINT32_MAX) >> 2;
	eventfd_t ignored;

	if (side == SIDE_WAKE) {
		eventfd_read(gate->wake, &ignored);
		cut_connections(gate);
		hs_bus_gate_look_at_waiting(gate, false);
	} else if (side == SIDE_LISTENER)
		hs_bus_gate_accept(gate, &gate->listeners[place]);
	else if (gate->credits[place].serial == event->data.u64 >> 32)
		hs_bus_gate_event(gate, place, side, event->events);
}

// Returns whether the thread ends: the owner asked for the end, and all connections are closed or
// the time is over.
static bool is_over(struct hs_bus_gate *gate)
{
	if (!atomic_load(&gate->end))
		return false;
	if (gate->end_ms == 0)
		gate->end_ms = hs_bus_now_ms() + LAST_MS;
	return gate->n_connections == 0 || hs_bus_now_ms() >= gate->end_ms;
}

static void *run(void *argument)
{
	struct hs_bus_gate *gate = argument;
	struct epoll_event events[EVENTS_AT_ONCE];

	while (!is_over(gate)) {
		bool tick = gate->n_waiting || gate->n_ending || gate->listeners_paused ||
			    atomic_load(&gate->end);
		int n = epoll_wait(gate->epoll, events, EVENTS_AT_ONCE, tick ? TICK_MS : -1);
		for (int i = 0; i < n; i++)
			take_event(gate, &events[i]);
		hs_bus_gate_look_after_listeners(gate);
		if (tick && hs_bus_now_ms() >= gate->looked_ms + TICK_MS) {
			gate->looked_ms = hs_bus_now_ms();
			hs_bus_gate_look_at_waiting(gate, true);
		}
	}
	return NULL;
}

int hs_bus_gate_start(struct hs_bus_gate *gate, struct hs_error *err)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = -pthread_create(&gate->thread, NULL, run, gate);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	gate->running = rc == 0;
	if (gate->running)
		pthread_setname_np(gate->thread, "ZMQgate");
	errno = -rc;
	return rc ? hs_bus_error(err, "internal", "", "a thread cannot be started") : 0;
}

// ---- opening and closing ----

static int watch(struct hs_bus_gate *gate, int fd, uint64_t tag)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag};

	return epoll_ctl(gate->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_all(struct hs_bus_gate *gate)
{
	gate->connections = calloc(HS_BUS_GATE_PLACES, sizeof(*gate->connections));
	gate->credits = calloc(HS_BUS_GATE_PLACES, sizeof(*gate->credits));
	gate->epoll = epoll_create1(EPOLL_CLOEXEC);
	gate->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	gate->tell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!gate->connections || !gate->credits)
		return -ENOMEM;
	for (unsigned i = 0; i < HS_BUS_GATE_PLACES; i++)
		gate->connections[i].client = gate->connections[i].inner = -1;
	if (gate->epoll < 0 || gate->wake < 0 || gate->tell < 0 ||
			getrandom(&gate->name, sizeof(gate->name), 0) != sizeof(gate->name))
		return -errno;
	return watch(gate, gate->wake, hs_bus_gate_tag(0, 0, SIDE_WAKE));
}

int hs_bus_gate_open(bool keys, struct hs_bus_gate **out, struct hs_error *err)
{
	struct hs_bus_gate *gate = calloc(1, sizeof(*gate));

	if (!gate) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	gate->keys = keys;
	gate->handshake = keys ? 2 : 1;
	gate->epoll = gate->wake = gate->tell = -1;
	pthread_mutex_init(&gate->lock, NULL);
	int rc = open_all(gate);
	if (rc == 0) {
		*out = gate;
		return 0;
	}
	hs_bus_gate_close(gate);
	errno = -rc;
	return hs_bus_error(err, "internal", "", "connections cannot be watched");
}

void hs_bus_gate_shut(struct hs_bus_gate *gate)
{
	if (!gate || gate->shut)
		return;
	gate->shut = true;
	for (unsigned i = 0; i < gate->n_listeners; i++)
		hs_bus_ipc_remove(gate->listeners[i].endpoint);
	atomic_store(&gate->shutting, true);
	wake(gate);
}

static void close_descriptor(int fd)
{
	if (fd >= 0)
		close(fd);
}

void hs_bus_gate_close(struct hs_bus_gate *gate)
{
	if (!gate)
		return;
	if (gate->running) {
		hs_bus_gate_shut(gate);
		atomic_store(&gate->end, true);
		wake(gate);
		pthread_join(gate->thread, NULL);
	}
	for (unsigned i = 0; gate->connections && i < HS_BUS_GATE_PLACES; i++)
		if (gate->connections[i].client >= 0)
			hs_bus_gate_dismiss(gate, i);
	for (unsigned i = 0; i < gate->n_listeners; i++) {
		close_descriptor(gate->listeners[i].fd);
		free(gate->listeners[i].endpoint);
	}
	close_descriptor(gate->epoll);
	close_descriptor(gate->wake);
	close_descriptor(gate->tell);
	pthread_mutex_destroy(&gate->lock);
	free(gate->connections);
	free(gate->credits);
	free(gate);
}

int hs_bus_gate_bind(struct hs_bus_gate *gate, void *socket, enum hs_bus_gate_kind kind,
		const char *endpoint, const char *path, struct hs_error *err)
{
	struct listener *listener = &gate->listeners[gate->n_listeners];

	if (gate->n_listeners == MAX_LISTENERS)
		return hs_error_set(
				err, "out_of_range", path, "at most 16 endpoints", "%s", endpoint);
	if (gate->sockets[kind] != socket) {
		int rc = open_inner(gate, socket, kind, err);
		if (rc)
			return rc;
	}
	char *copy = strdup(endpoint);
	int fd = copy ? hs_bus_listen(endpoint, path, err) : -ENOMEM;
	if (fd < 0) {
		free(copy);
		return fd;
	}
	*listener = (struct listener){.fd = fd, .kind = kind, .endpoint = copy};
	int rc = watch(gate, fd, hs_bus_gate_tag(0, gate->n_listeners, SIDE_LISTENER));
	gate->n_listeners++;
	errno = -rc;
	return rc ? hs_bus_error(err, "internal", path, endpoint) : 0;
}

void hs_bus_gate_cut(struct hs_bus_gate *gate, enum hs_bus_gate_kind kind)
{
	atomic_store(&gate->cut[kind], true);
	wake(gate);
}

// ---- what the owner tells and asks ----

int hs_bus_gate_fd(const struct hs_bus_gate *gate)
{
	return gate->tell;
}

void hs_bus_gate_clear(struct hs_bus_gate *gate)
{
	eventfd_t ignored;

	eventfd_read(gate->tell, &ignored);
}

// Locks the gate if the visit is still connected. Otherwise returns NULL without a lock.
static struct credit *credit_of(struct hs_bus_gate *gate, struct hs_bus_visit visit)
{
	if (visit.serial == 0 || visit.place >= HS_BUS_GATE_PLACES)
		return NULL;
	pthread_mutex_lock(&gate->lock);
	if (gate->credits[visit.place].serial == visit.serial)
		return &gate->credits[visit.place];
	pthread_mutex_unlock(&gate->lock);
	return NULL;
}

void hs_bus_gate_parked(struct hs_bus_gate *gate, struct hs_bus_visit visit)
{
	struct credit *credit = credit_of(gate, visit);

	if (!credit)
		return;
	atomic_fetch_add(&credit->parked, 1);
	pthread_mutex_unlock(&gate->lock);
}

void hs_bus_gate_taken(
		struct hs_bus_gate *gate, struct hs_bus_visit visit, uint64_t weight, bool parked)
{
	struct credit *credit = credit_of(gate, visit);

	if (!credit)
		return;
	if (parked)
		atomic_fetch_sub(&credit->parked, 1);
	atomic_fetch_add(&credit->taken, weight);
	bool starved = atomic_exchange(&credit->starved, false);
	pthread_mutex_unlock(&gate->lock);
	if (starved)
		wake(gate);
}

struct hs_bus_visit hs_bus_gate_visit(const struct hs_bus_gate *gate, void *message)
{
	return hs_bus_visit_of(gate->name, message);
}

void hs_bus_gate_drained(struct hs_bus_gate *gate)
{
	atomic_fetch_add(&gate->drained, 1);
}

void hs_bus_gate_sent(struct hs_bus_gate *gate, struct hs_bus_visit visit, size_t bytes)
{
	struct credit *credit = credit_of(gate, visit);

	if (!credit)
		return;
	if (bytes > HS_BUS_SMALL_BYTES)
		atomic_fetch_add(&credit->sent, hs_bus_frame_weight(bytes, gate->keys));
	else
		atomic_fetch_add(&credit->sent_small, 1);
	pthread_mutex_unlock(&gate->lock);
}

static bool is_behind(const struct credit *credit)
{
	uint64_t sent = atomic_load(&credit->sent), passed = atomic_load(&credit->passed);

	return sent > passed && sent - passed > HS_BUS_GATE_BACKLOG;
}

bool hs_bus_gate_choked(struct hs_bus_gate *gate, struct hs_bus_visit visit)
{
	struct credit *credit = credit_of(gate, visit);

	if (!credit)
		return false;
	bool choked = is_behind(credit);
	if (choked) {
		atomic_store(&credit->choked, true);
		choked = is_behind(credit); // the gate may have sent the rest just now
	}
	pthread_mutex_unlock(&gate->lock);
	return choked;
}

void hs_bus_gate_counters(struct hs_bus_gate *gate, struct hs_bus_gate_counters *out)
{
	pthread_mutex_lock(&gate->lock);
	*out = gate->counters;
	pthread_mutex_unlock(&gate->lock);
}
