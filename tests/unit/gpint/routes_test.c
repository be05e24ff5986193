// SPDX-License-Identifier: BSD-3-Clause
// Next hops around links, against a model of nodes that do what they are told late, or of which
// the answers are lost: at no moment does a packet go round in a loop, and at the end every way is
// one of the cheapest.
#include "gpint_graphs.h"

#include "gpint_routes.h"

#include <string.h>

#define MOST	20 // nodes
#define REQUEST 8  // under way at a node, at most

struct device {
	uint32_t arc; // what it really does
	uint32_t requests[REQUEST];
	unsigned n_requests; // that it has not done so far
	bool answers;	     // all are done, and the answer to the last is under way
	bool waiting;	     // somebody waits for the answer
	uint32_t asked;
};

static struct test_graph graph;
static struct hs_gpint_route_link links[GRAPH_LINKS];
static struct hs_gpint_routes routes = {.links = links};
static struct hs_gpint_route of[MOST];
static struct device devices[MOST];
static uint32_t to;
static uint64_t told;

static void make(struct hs_rng *rng)
{
	uint64_t costs[MOST];

	graph_random(&graph, rng, MOST, 0);
	routes.n_nodes = graph.graph.n_switches;
	routes.n_links = graph.graph.n_links;
	memset(of, 0, sizeof(of));
	memset(devices, 0, sizeof(devices));
	for (size_t i = 0; i < routes.n_links; i++)
		links[i] = (struct hs_gpint_route_link){
				{graph.links[i].ends[0], graph.links[i].ends[1]},
				1 + hs_rng_u32(rng) % 3, HS_GPINT_USED};
	to = hs_rng_u32(rng) % routes.n_nodes;
	// What nodes have before is not known, but leads to the destination.
	hs_gpint_routes_find(&routes, to, of, costs);
	for (uint32_t i = 0; i < routes.n_nodes; i++) {
		devices[i].arc = of[i].next;
		of[i].now = HS_GPINT_NO_ARC;
	}
}

// ---- the truth ----

static uint32_t head(uint32_t arc)
{
	return links[arc / 2].ends[arc % 2 ? 0 : 1];
}

static void no_packet_goes_round(void)
{
	for (uint32_t i = 0; i < routes.n_nodes; i++) {
		uint32_t at = i, hops = 0;
		while (at != to && devices[at].arc != HS_GPINT_NO_ARC) {
			at = head(devices[at].arc);
			assert_true(++hops <= routes.n_nodes);
		}
	}
}

static uint64_t weight(const struct hs_gpint_route_link *link)
{
	return link->cost + (link->use == HS_GPINT_SPARE ? 1000 : 0);
}

// The cheapest ways by Floyd and Warshall.
static void find_distances(uint64_t distances[MOST][MOST])
{
	uint32_t n = routes.n_nodes;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			distances[a][b] = a == b ? 0 : UINT32_MAX;
	for (size_t i = 0; i < routes.n_links; i++) {
		uint32_t a = links[i].ends[0], b = links[i].ends[1];
		uint64_t w = weight(&links[i]);
		if (links[i].use != HS_GPINT_AVOIDED && w < distances[a][b])
			distances[a][b] = distances[b][a] = w;
	}
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				if (distances[a][k] + distances[k][b] < distances[a][b])
					distances[a][b] = distances[a][k] + distances[k][b];
}

static void each_way_is_the_cheapest(void)
{
	uint64_t distances[MOST][MOST], cost;

	find_distances(distances);
	for (uint32_t i = 0; i < routes.n_nodes; i++) {
		if (distances[i][to] >= UINT32_MAX) {
			assert_int_equal(of[i].next, HS_GPINT_NO_ARC);
			continue;
		}
		cost = 0;
		for (uint32_t at = i; at != to; at = head(devices[at].arc)) {
			const struct hs_gpint_route_link *link = &links[devices[at].arc / 2];
			assert_int_not_equal(link->use, HS_GPINT_AVOIDED);
			cost += weight(link);
		}
		assert_int_equal(cost, distances[i][to]);
	}
}

// ---- nodes ----

static void tell(uint32_t i)
{
	struct device *device = &devices[i];

	if (device->waiting || device->n_requests == REQUEST ||
			!hs_gpint_routes_is_due(&routes, to, of, i))
		return;
	assert_false(of[i].fixed);
	of[i].settled = false;
	of[i].now = HS_GPINT_NO_ARC;
	device->requests[device->n_requests++] = device->asked = of[i].next;
	device->waiting = true;
	device->answers = false;
	told++;
}

static void do_one(uint32_t i)
{
	struct device *device = &devices[i];

	if (!device->n_requests)
		return;
	device->arc = device->requests[0];
	memmove(device->requests, device->requests + 1,
			--device->n_requests * sizeof(device->requests[0]));
	device->answers = device->n_requests == 0;
	no_packet_goes_round();
}

static void answer(uint32_t i, bool lost)
{
	struct device *device = &devices[i];

	if (!device->waiting || (!lost && !device->answers))
		return;
	device->waiting = device->answers = false;
	if (lost)
		return;
	of[i].settled = true;
	of[i].now = device->asked;
}

// ---- what happens ----

static void change_links(struct hs_rng *rng)
{
	static const uint8_t uses[] = {
			HS_GPINT_USED, HS_GPINT_USED, HS_GPINT_SPARE, HS_GPINT_AVOIDED};
	uint64_t costs[MOST];

	for (size_t i = 0; i < routes.n_links; i++)
		if (hs_rng_u32(rng) % 4 == 0)
			links[i].use = uses[hs_rng_u32(rng) % 4];
	hs_gpint_routes_find(&routes, to, of, costs);
}

static void set_fixed(uint32_t i, bool fixed)
{
	uint64_t costs[MOST];

	of[i].fixed = fixed;
	hs_gpint_routes_find(&routes, to, of, costs);
}

static void happen(struct hs_rng *rng)
{
	uint32_t i = hs_rng_u32(rng) % routes.n_nodes, what = hs_rng_u32(rng) % 100;

	if (what < 40)
		tell(i);
	else if (what < 70)
		do_one(i);
	else if (what < 92)
		answer(i, false);
	else if (what < 95)
		answer(i, true);
	else if (what < 98)
		set_fixed(i, hs_rng_u32(rng) % 8 == 0);
	else
		change_links(rng);
}

static void come_to_rest(void)
{
	for (uint32_t i = 0; i < routes.n_nodes; i++)
		set_fixed(i, false);
	for (uint32_t round = 0; round < 4 * MOST; round++)
		for (uint32_t i = 0; i < routes.n_nodes; i++) {
			while (devices[i].n_requests)
				do_one(i);
			answer(i, false);
			answer(i, true);
			tell(i);
		}
}

static void no_packet_goes_round_while_routes_change(void **state)
{
	struct hs_rng rng;

	(void)state;
	told = 0;
	for (unsigned seed = 0; seed < 1000; seed++) {
		hs_rng_init(&rng, seed);
		make(&rng);
		change_links(&rng);
		for (unsigned i = 0; i < 2000; i++)
			happen(&rng);
		come_to_rest();
		each_way_is_the_cheapest();
	}
	assert_true(told > 20000);
}

// A ring of four: 0-1-2-3-0.
static void make_ring(void)
{
	memset(of, 0, sizeof(of));
	routes.n_nodes = routes.n_links = 4;
	for (uint32_t i = 0; i < 4; i++) {
		links[i] = (struct hs_gpint_route_link){{i, (i + 1) % 4}, 1, HS_GPINT_USED};
		of[i].now = HS_GPINT_NO_ARC;
	}
	to = 2;
}

static void find(void)
{
	uint64_t costs[4];

	hs_gpint_routes_find(&routes, to, of, costs);
}

static void settle(uint32_t i)
{
	of[i].now = of[i].next;
	of[i].settled = true;
}

static void a_ring_is_told_from_the_destination_on(void **state)
{
	(void)state;
	make_ring();
	find();
	assert_int_equal(of[1].next, 2); // link 1, forth
	assert_int_equal(of[3].next, 5); // link 2, back
	assert_int_equal(of[0].next, 0); // equal: the first
	assert_true(hs_gpint_routes_is_due(&routes, to, of, 1));
	assert_false(hs_gpint_routes_is_due(&routes, to, of, 0)); // behind 1
	assert_false(hs_gpint_routes_is_due(&routes, to, of, 2));
	settle(1);
	assert_false(hs_gpint_routes_is_due(&routes, to, of, 1));
	assert_true(hs_gpint_routes_is_due(&routes, to, of, 0));
	settle(0);
	settle(3);
	links[1].use = HS_GPINT_AVOIDED;
	find();
	assert_int_equal(of[0].next, 7); // link 3, back
	assert_int_equal(of[1].next, 1);
	assert_false(hs_gpint_routes_is_due(&routes, to, of, 1)); // 0 still sends to it
	settle(0);
	assert_true(hs_gpint_routes_is_due(&routes, to, of, 1));
	settle(1);
	links[1].use = HS_GPINT_USED;
	find();
	assert_int_equal(of[1].next, 2);
	assert_int_equal(of[0].next, 7); // no cheaper way than the one that it has
}

static void a_spare_link_is_taken_where_no_other_way_leads(void **state)
{
	(void)state;
	make_ring();
	links[1].use = HS_GPINT_SPARE;
	find();
	assert_int_equal(of[1].next, 1);
	links[3].use = HS_GPINT_AVOIDED;
	find();
	assert_int_equal(of[1].next, 2);
	links[1].use = HS_GPINT_AVOIDED;
	find();
	assert_int_equal(of[1].next, HS_GPINT_NO_ARC);
	assert_int_equal(of[0].next, HS_GPINT_NO_ARC);
	assert_int_equal(of[3].next, 5);
	assert_false(hs_gpint_routes_is_due(&routes, to, of, 1));
}

static void ways_lead_past_a_node_that_cannot_be_told(void **state)
{
	(void)state;
	make_ring();
	of[3].fixed = true; // and what it has is not known
	links[1].use = HS_GPINT_AVOIDED;
	find();
	assert_int_equal(of[0].next, HS_GPINT_NO_ARC);
	of[3].now = 5;
	of[3].settled = true;
	find();
	assert_int_equal(of[0].next, 7);
	of[3].now = 6; // link 3, forth: to node 0
	find();
	assert_int_equal(of[0].next, HS_GPINT_NO_ARC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_ring_is_told_from_the_destination_on),
			cmocka_unit_test(a_spare_link_is_taken_where_no_other_way_leads),
			cmocka_unit_test(ways_lead_past_a_node_that_cannot_be_told),
			cmocka_unit_test(no_packet_goes_round_while_routes_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
