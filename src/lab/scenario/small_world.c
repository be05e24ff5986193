// SPDX-License-Identifier: BSD-3-Clause
#include "small_world.h"

#include "variate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define DRAWS 100 // after which a link stays where it is

struct draft {
	const struct hs_small_world *world;
	struct hs_rng rng;
	uint32_t *near;	  // world->most places for each node
	uint32_t *degree; // places that are taken
	uint32_t *queue, *seen, round;
};

static int init(struct draft *draft, const struct hs_small_world *world)
{
	*draft = (struct draft){.world = world,
			.near = calloc((size_t)world->n * world->most, sizeof(uint32_t)),
			.degree = calloc(world->n, sizeof(uint32_t)),
			.queue = calloc(world->n, sizeof(uint32_t)),
			.seen = calloc(world->n, sizeof(uint32_t))};
	hs_rng_init(&draft->rng, world->seed);
	return draft->near && draft->degree && draft->queue && draft->seen ? 0 : -ENOMEM;
}

static void fini(struct draft *draft)
{
	free(draft->near);
	free(draft->degree);
	free(draft->queue);
	free(draft->seen);
}

static uint32_t *near_of(const struct draft *draft, uint32_t node)
{
	return &draft->near[(size_t)node * draft->world->most];
}

static bool are_near(const struct draft *draft, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < draft->degree[a]; i++)
		if (near_of(draft, a)[i] == b)
			return true;
	return false;
}

static void join(struct draft *draft, uint32_t a, uint32_t b)
{
	near_of(draft, a)[draft->degree[a]++] = b;
	near_of(draft, b)[draft->degree[b]++] = a;
}

static void forget(struct draft *draft, uint32_t node, uint32_t other)
{
	uint32_t i = 0;

	while (near_of(draft, node)[i] != other)
		i++;
	near_of(draft, node)[i] = near_of(draft, node)[--draft->degree[node]];
}

static void part(struct draft *draft, uint32_t a, uint32_t b)
{
	forget(draft, a, b);
	forget(draft, b, a);
}

static bool leads_to(struct draft *draft, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	draft->round++;
	draft->queue[n++] = from;
	draft->seen[from] = draft->round;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < draft->degree[draft->queue[i]]; k++) {
			uint32_t next = near_of(draft, draft->queue[i])[k];
			if (next == to)
				return true;
			if (draft->seen[next] == draft->round)
				continue;
			draft->seen[next] = draft->round;
			draft->queue[n++] = next;
		}
	return false;
}

// Lets a link lead elsewhere, unless the network falls apart.
static void move(struct draft *draft, uint32_t link[2])
{
	uint32_t node = link[0], was = link[1];

	for (unsigned i = 0; i < DRAWS; i++) {
		uint32_t to = (uint32_t)hs_variate_below(&draft->rng, draft->world->n);
		if (to == node || draft->degree[to] == draft->world->most ||
				are_near(draft, node, to))
			continue;
		part(draft, node, was);
		join(draft, node, to);
		link[1] = to;
		if (leads_to(draft, node, was))
			return;
		part(draft, node, to);
		join(draft, node, was);
		link[1] = was;
		return;
	}
}

int hs_small_world_make(const struct hs_small_world *world, uint32_t (*links)[2])
{
	uint32_t n = world->n * (world->k / 2);
	struct draft draft;
	int rc = init(&draft, world);

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		links[i][0] = i % world->n;
		links[i][1] = (i + i / world->n + 1) % world->n;
		join(&draft, links[i][0], links[i][1]);
	}
	for (uint32_t i = 0; i < n && rc == 0; i++)
		if (hs_variate_chance(&draft.rng, world->beta))
			move(&draft, links[i]);
	fini(&draft);
	return rc;
}
