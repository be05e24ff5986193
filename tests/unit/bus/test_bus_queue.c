// SPDX-License-Identifier: BSD-3-Clause
// The queue of requests beside a model of it, while clients come, go and connect anew. Many ids
// have equal hashes.
#include "bus_queue.h"
#include "rng.h"
#include "u32_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLIENTS 60
#define WAITING 400 // requests of one client

struct client {
	unsigned n, under_way;
	uint32_t place;		   // of its last known connection
	uint64_t waiting[WAITING]; // oldest first
	struct hs_bus_row *row;	   // of the last request that was handed on
};

static struct {
	struct client clients[CLIENTS];
	unsigned n_turns, turns[CLIENTS]; // clients with requests; the first has the next turn
	bool choked[2 * CLIENTS];	  // each client has two connections in turn
} model;

uint32_t __wrap_hs_u32_map_hash(const void *key, size_t len);
uint32_t __wrap_hs_u32_map_hash(const void *key, size_t len)
{
	return len + *(const uint8_t *)key % 4;
}

void __wrap_hs_bus_gate_parked(struct hs_bus_gate *gate, struct hs_bus_visit visit);
void __wrap_hs_bus_gate_parked(struct hs_bus_gate *gate, struct hs_bus_visit visit)
{
	(void)gate, (void)visit;
}

void __wrap_hs_bus_gate_taken(
		struct hs_bus_gate *gate, struct hs_bus_visit visit, uint64_t weight, bool parked);
void __wrap_hs_bus_gate_taken(
		struct hs_bus_gate *gate, struct hs_bus_visit visit, uint64_t weight, bool parked)
{
	(void)gate, (void)visit, (void)weight, (void)parked;
}

bool __wrap_hs_bus_gate_choked(struct hs_bus_gate *gate, struct hs_bus_visit visit);
bool __wrap_hs_bus_gate_choked(struct hs_bus_gate *gate, struct hs_bus_visit visit)
{
	(void)gate;
	return model.choked[visit.place];
}

static bool is_idle(const struct client *client)
{
	return client->n == 0 && client->under_way == 0;
}

// Puts a request of a connection, or, with `known` false, of one that the gate does not know. Only
// the first request of a client without others needs a known one here.
static void put(struct hs_bus_queue *queue, uint32_t c, uint32_t place, bool known, uint64_t number)
{
	struct client *client = &model.clients[c];
	struct hs_bus_route *route = calloc(1, sizeof(*route));

	if (client->n == WAITING) {
		free(route);
		return;
	}
	assert_non_null(route);
	route->n = 1;
	zmq_msg_init_size(&route->parts[0], 1 + c % 3);
	memset(zmq_msg_data(&route->parts[0]), (int)c / 3, 1 + c % 3);
	zmq_msg_init(&route->body);
	if (known || is_idle(client)) {
		client->place = place;
		route->visit = (struct hs_bus_visit){.place = place, .serial = 1};
	}
	route->weight = number;
	assert_true(hs_bus_queue_put(queue, route));
	if (!client->n)
		model.turns[model.n_turns++] = c;
	client->waiting[client->n++] = number;
}

static uint32_t turn(void)
{
	uint32_t c = model.turns[0];

	memmove(&model.turns[0], &model.turns[1], --model.n_turns * sizeof(model.turns[0]));
	return c;
}

// Returns the number of the request whose turn it is, and its client, or 0. Clients that wait go to
// the end.
static uint64_t next_of_model(struct client **of)
{
	for (unsigned left = model.n_turns; left > 0; left--) {
		uint32_t c = turn();
		struct client *client = *of = &model.clients[c];
		bool still = client->under_way == HS_BUS_UNDER_WAY || model.choked[client->place];
		uint64_t number = client->waiting[0];
		if (!still) {
			client->under_way++;
			memmove(&client->waiting[0], &client->waiting[1],
					--client->n * sizeof(client->waiting[0]));
		}
		if (client->n)
			model.turns[model.n_turns++] = c;
		if (!still)
			return number;
	}
	return 0;
}

static void take(struct hs_bus_queue *queue)
{
	bool ready = hs_bus_queue_is_ready(queue);
	struct hs_bus_route *route = hs_bus_queue_next(queue);
	struct client *client;
	uint64_t number = next_of_model(&client);

	assert_int_equal(ready, number != 0);
	assert_int_equal(route ? route->weight : 0, number);
	if (!route)
		return;
	client->row = route->row;
	hs_bus_route_free(route);
}

static void finish(struct hs_bus_queue *queue, uint32_t c)
{
	if (!model.clients[c].under_way)
		return;
	hs_bus_queue_done(queue, model.clients[c].row);
	model.clients[c].under_way--;
}

static void clients_take_turns_while_others_come_and_go(void **state)
{
	struct hs_bus_queue *queue = hs_bus_queue_create(NULL);
	uint64_t number = 0;
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 1);
	assert_non_null(queue);
	for (unsigned i = 0; i < 200000; i++) {
		// Now few clients have much, now many have little; now little is answered, now all.
		unsigned few = i >> 13 & 1 ? 2 : CLIENTS, answered = i >> 14 & 1 ? 12 : 16;
		uint32_t c = hs_rng_u32(&rng) % few, what = hs_rng_u32(&rng) % 16;
		uint32_t place = c + (hs_rng_u32(&rng) % 2) * CLIENTS;
		if (what < 5)
			put(queue, c, place, what > 0, ++number);
		else if (what < 10)
			take(queue);
		else if (what == 10)
			model.choked[place] = !model.choked[place];
		else if (what < answered)
			finish(queue, c);
	}
	hs_bus_queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(clients_take_turns_while_others_come_and_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
