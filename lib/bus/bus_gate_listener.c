// SPDX-License-Identifier: BSD-3-Clause
// Accepts connections: places, descriptors, and the connection to the private endpoint of the
// owner's socket.
#include "bus_gate_listener.h"

#include "bus_gate_connection.h"
#include "bus_socket.h"

#include "socket_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_AT_ONCE	 16
#define PAUSE_MS	 20
#define INNER_SEND_BYTES (64 << 10)
// A machine that has gone is detected within so many seconds. One with a full queue is detected
// within USER_TIMEOUT_MS.
#define IDLE_S		5
#define PROBE_S		2
#define PROBES		3
#define USER_TIMEOUT_MS 15000

// ---- who the peer is ----

static uint64_t mix(const uint8_t *bytes, size_t n)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3); // FNV-1a
	return sum;
}

static void name_process(int fd, char peer[64], uint64_t *who)
{
	struct ucred credentials;
	socklen_t len = sizeof(credentials);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &len))
		return;
	*who = (uint64_t)credentials.pid;
	snprintf(peer, 64, "process %d of user %u", (int)credentials.pid, credentials.uid);
}

static void name_address(const struct sockaddr_storage *address, char peer[64], uint64_t *who)
{
	uint8_t bytes[16];

	hs_socket_address_read((const struct sockaddr *)address, bytes);
	hs_ip_address_write(bytes, peer);
	hs_ip_address_of_host(bytes);
	*who = mix(bytes, sizeof(bytes));
}

static void name_peer(int fd, const struct sockaddr_storage *address, struct connection *connection)
{
	if (address->ss_family == AF_INET || address->ss_family == AF_INET6)
		name_address(address, connection->peer, &connection->who);
	else
		name_process(fd, connection->peer, &connection->who);
}

static void tune_tcp(int fd)
{
	static const struct {
		int level, option, value;
	} options[] = {
			{IPPROTO_TCP, TCP_NODELAY, 1},
			{SOL_SOCKET, SO_KEEPALIVE, 1},
			{IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S},
			{IPPROTO_TCP, TCP_KEEPINTVL, PROBE_S},
			{IPPROTO_TCP, TCP_KEEPCNT, PROBES},
			{IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].option, &options[i].value,
				sizeof(options[i].value));
}

// ---- places ----

static unsigned count_of(const struct hs_bus_gate *gate, uint64_t who)
{
	unsigned n = 0;

	for (unsigned i = 0; i < HS_BUS_GATE_PLACES; i++)
		n += gate->connections[i].client >= 0 && gate->connections[i].who == who;
	return n;
}

// Returns an empty place, or -1. Places are used in turn, so that a place that became empty stays
// empty as long as other places are free.
static int free_place(struct hs_bus_gate *gate)
{
	for (unsigned i = 0; i < HS_BUS_GATE_PLACES; i++) {
		unsigned place = (gate->next_place + i) % HS_BUS_GATE_PLACES;
		if (gate->connections[place].client >= 0)
			continue;
		gate->next_place = (place + 1) % HS_BUS_GATE_PLACES;
		return (int)place;
	}
	return -1;
}

// Returns whether only the reserve of descriptors is left. The kernel assigns the lowest free
// number, so a high `fd` means that few descriptors are free.
static bool uses_the_reserve(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       (rlim_t)fd + HS_BUS_GATE_RESERVE + hs_bus_gate_unanswered() >= limit.rlim_cur;
}

static const char *reason_to_refuse(
		const struct hs_bus_gate *gate, const struct connection *connection, int fd)
{
	if (uses_the_reserve(fd))
		return "descriptors are short";
	if (gate->n_connections == HS_BUS_GATE_PLACES)
		return "1024 connections are open";
	if (count_of(gate, connection->who) >= HS_BUS_GATE_OF_ONE)
		return "512 connections of the same process or address are open";
	return NULL;
}

// ---- the connection to the private endpoint ----

static int connect_inner(const struct hs_bus_gate *gate, const struct connection *connection,
		struct hs_bus_visit visit)
{
	socklen_t len, own_len;
	struct sockaddr_un own = hs_bus_visit_name(gate->name, visit, &own_len);
	struct sockaddr_un name = hs_bus_inner_name(gate->name, connection->kind, &len);
	int bytes = INNER_SEND_BYTES,
	    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	if (bind(fd, (struct sockaddr *)&own, own_len) ||
			connect(fd, (struct sockaddr *)&name, len)) {
		int error = errno;
		close(fd);
		return -error;
	}
	return fd;
}

static void seat(struct hs_bus_gate *gate, unsigned place, uint32_t serial)
{
	struct credit *credit = &gate->credits[place];

	pthread_mutex_lock(&gate->lock);
	credit->serial = serial;
	atomic_store(&credit->taken, 0);
	atomic_store(&credit->parked, 0);
	atomic_store(&credit->sent, 0);
	atomic_store(&credit->sent_small, 0);
	atomic_store(&credit->passed, 0);
	atomic_store(&credit->starved, false);
	atomic_store(&credit->choked, false);
	pthread_mutex_unlock(&gate->lock);
	gate->n_connections++;
}

static bool let_in(struct hs_bus_gate *gate, const struct listener *listener, int fd,
		const struct sockaddr_storage *address)
{
	struct connection connection = {.kind = listener->kind, .client = fd, .inner = -1};

	name_peer(fd, address, &connection);
	const char *reason = reason_to_refuse(gate, &connection, fd);
	int place = reason ? -1 : free_place(gate);
	if (place >= 0) {
		gate->serial += gate->serial == UINT32_MAX ? 2 : 1;
		connection.inner = connect_inner(gate, &connection,
				(struct hs_bus_visit){(uint32_t)place, gate->serial});
		reason = connection.inner < 0 ? "no connection to the socket behind the gate"
					      : NULL;
	}
	if (reason) {
		hs_bus_gate_note_refusal(gate, false, connection.peer, reason);
		close(fd);
		return false;
	}
	if (address->ss_family == AF_INET || address->ss_family == AF_INET6)
		tune_tcp(fd);
	hs_bus_gate_await_answer(&connection);
	hs_bus_frames_init(&connection.in, gate->keys);
	hs_bus_frames_init(&connection.out, gate->keys);
	gate->connections[place] = connection;
	seat(gate, (unsigned)place, gate->serial);
	hs_bus_gate_go_on(gate, (unsigned)place);
	return true;
}

// ---- listeners ----

static void hold_listeners(struct hs_bus_gate *gate, bool open)
{
	for (unsigned i = 0; i < gate->n_listeners; i++) {
		struct epoll_event event = {.events = open ? EPOLLIN : 0,
				.data.u64 = hs_bus_gate_tag(0, i, SIDE_LISTENER)};
		if (gate->listeners[i].fd >= 0)
			epoll_ctl(gate->epoll, EPOLL_CTL_MOD, gate->listeners[i].fd, &event);
	}
	gate->listeners_paused = !open;
}

// Clients in the kernel's queue wait a little, so that refusing them costs little.
static void pause_listeners(struct hs_bus_gate *gate)
{
	hold_listeners(gate, false);
	gate->listeners_open_ms = hs_bus_now_ms() + PAUSE_MS;
}

void hs_bus_gate_accept(struct hs_bus_gate *gate, struct listener *listener)
{
	bool refused = false;

	for (unsigned i = 0; i < ACCEPT_AT_ONCE && listener->fd >= 0; i++) {
		struct sockaddr_storage address = {0};
		socklen_t len = sizeof(address);
		int fd = accept4(listener->fd, (struct sockaddr *)&address, &len,
				SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			refused |= !let_in(gate, listener, fd, &address);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			hs_bus_gate_note_refusal(gate, false, "", "descriptors are short");
			refused = true;
		}
		break;
	}
	if (refused)
		pause_listeners(gate);
}

void hs_bus_gate_look_after_listeners(struct hs_bus_gate *gate)
{
	if (atomic_exchange(&gate->shutting, false)) {
		for (unsigned i = 0; i < gate->n_listeners; i++) {
			close(gate->listeners[i].fd);
			gate->listeners[i].fd = -1;
		}
		gate->listeners_paused = false;
	}
	if (gate->listeners_paused && hs_bus_now_ms() >= gate->listeners_open_ms)
		hold_listeners(gate, true);
}
