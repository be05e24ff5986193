// SPDX-License-Identifier: BSD-3-Clause
// What is counted of the connections.
#include "bus_gate_parts.h"

#include <stdio.h>

uint64_t hs_bus_gate_tag(uint32_t serial, unsigned place, enum side side)
{
	return (uint64_t)serial << 32 | place << 2 | side;
}

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
