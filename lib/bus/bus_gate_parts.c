// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the gate share: the names of connections, and what is counted of them.
#include "bus_gate_parts.h"

#include <zmq.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// ---- names ----

uint64_t hs_bus_gate_tag(uint32_t serial, unsigned place, enum side side)
{
	return (uint64_t)serial << 32 | place << 2 | side;
}

struct sockaddr_un hs_bus_gate_inner_name(
		const struct hs_bus_gate *gate, enum hs_bus_gate_kind kind, socklen_t *len)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "hopsight-gate-%016llx-%d",
			(unsigned long long)gate->name, (int)kind);

	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return name;
}

#define CONNECTION_HEAD "hopsight-connection-"
#define NAME_DIGITS	16
#define VISIT_DIGITS	16

struct sockaddr_un hs_bus_gate_connection_name(
		const struct hs_bus_gate *gate, struct hs_bus_visit visit, socklen_t *len)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
			CONNECTION_HEAD "%016llx-%08x%08x", (unsigned long long)gate->name,
			visit.place, visit.serial);

	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return name;
}

static uint64_t read_digits(const char *text, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value = value << 4 |
			(uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
	return value;
}

// The name of the gate's end of the private connection contains the place and the serial number.
// ZeroMQ knows the descriptor of its own end. The peer of that descriptor is the gate's end as long
// as both are open.
struct hs_bus_visit hs_bus_gate_visit(const struct hs_bus_gate *gate, void *message)
{
	struct sockaddr_un name;
	socklen_t len = sizeof(name);
	size_t head = strlen(CONNECTION_HEAD);
	const char *text = name.sun_path + 1;
	int fd = zmq_msg_get(message, ZMQ_SRCFD);

	if (fd < 0 || getpeername(fd, (struct sockaddr *)&name, &len) ||
			len != offsetof(struct sockaddr_un, sun_path) + 1 + head + NAME_DIGITS + 1 +
							VISIT_DIGITS ||
			memcmp(text, CONNECTION_HEAD, head) != 0 ||
			read_digits(text + head, NAME_DIGITS) != gate->name)
		return (struct hs_bus_visit){0};
	uint64_t visit = read_digits(text + head + NAME_DIGITS + 1, VISIT_DIGITS);
	return (struct hs_bus_visit){.place = (uint32_t)(visit >> 32), .serial = (uint32_t)visit};
}

// ---- counts ----

void hs_bus_gate_note_refusal(
		struct hs_bus_gate *gate, bool closed, const char *peer, const char *reason)
{
	struct hs_bus_gate_counters *counters = &gate->counters;

	pthread_mutex_lock(&gate->lock);
	counters->closed += closed;
	counters->refused += !closed;
	snprintf(counters->refused_peer, sizeof(counters->refused_peer), "%s", peer);
	snprintf(counters->refused_reason, sizeof(counters->refused_reason), "%s", reason);
	pthread_mutex_unlock(&gate->lock);
}

// Connections behind all gates of the process that ZeroMQ has yet to accept. ZeroMQ needs one more
// descriptor for each of them, and ends the process if it finds none.
static atomic_uint unanswered;

unsigned hs_bus_gate_unanswered(void)
{
	return atomic_load(&unanswered);
}

void hs_bus_gate_await_answer(struct connection *connection)
{
	connection->unanswered = true;
	atomic_fetch_add(&unanswered, 1);
}

void hs_bus_gate_answered(struct connection *connection)
{
	if (connection->unanswered)
		atomic_fetch_sub(&unanswered, 1);
	connection->unanswered = false;
}
