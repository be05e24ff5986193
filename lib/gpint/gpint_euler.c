// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_euler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Switches with an odd number of links are paired in their order, and each pair gets an added link.
// All links then make a circuit. Without the added links, the circuit is divided into walks. The
// circuit is a list of switches; `added` says that the link to a switch of the list was added.
struct circuit {
	const struct hs_gpint_net *net;
	uint32_t *pair; // of a switch with an odd number of links; HS_GPINT_NONE
	bool *crossed;	// of each link
	uint32_t *next; // of each switch: the arc to look at next
	uint32_t *stack, *at;
	bool *stack_added, *added;
	size_t n;
};

static int init(struct circuit *circuit, const struct hs_gpint_net *net)
{
	size_t n = net->n, most = net->graph->n_links + n + 1;

	*circuit = (struct circuit){.net = net,
			.pair = calloc(n, sizeof(uint32_t)),
			.next = calloc(n, sizeof(uint32_t)),
			.crossed = calloc(most, sizeof(bool)),
			.stack = calloc(most, sizeof(uint32_t)),
			.at = calloc(most, sizeof(uint32_t)),
			.stack_added = calloc(most, sizeof(bool)),
			.added = calloc(most, sizeof(bool))};
	return circuit->pair && circuit->next && circuit->crossed && circuit->stack &&
					       circuit->at && circuit->stack_added && circuit->added
			       ? 0
			       : -ENOMEM;
}

static void fini(struct circuit *circuit)
{
	free(circuit->pair);
	free(circuit->next);
	free(circuit->crossed);
	free(circuit->stack);
	free(circuit->at);
	free(circuit->stack_added);
	free(circuit->added);
}

static void pair_switches(struct circuit *circuit)
{
	uint32_t waits = HS_GPINT_NONE;

	for (uint32_t at = 0; at < circuit->net->n; at++) {
		circuit->pair[at] = HS_GPINT_NONE;
		circuit->next[at] = circuit->net->begins[at];
		if (hs_gpint_net_degree(circuit->net, at) % 2 == 0)
			continue;
		if (waits != HS_GPINT_NONE) {
			circuit->pair[at] = waits;
			circuit->pair[waits] = at;
		}
		waits = waits == HS_GPINT_NONE ? at : HS_GPINT_NONE;
	}
}

// Takes a link that was not crossed, an added one first. Returns the switch at its other end, or
// HS_GPINT_NONE.
static uint32_t take_link(struct circuit *circuit, uint32_t at, bool *added)
{
	const struct hs_gpint_net *net = circuit->net;
	uint32_t other = circuit->pair[at];

	*added = other != HS_GPINT_NONE;
	if (*added) {
		circuit->pair[at] = circuit->pair[other] = HS_GPINT_NONE;
		return other;
	}
	for (uint32_t *a = &circuit->next[at]; *a < net->begins[at + 1]; (*a)++) {
		const struct hs_gpint_arc *arc = &net->arcs[*a];
		if (circuit->crossed[arc->link])
			continue;
		circuit->crossed[arc->link] = true;
		return arc->to;
	}
	return HS_GPINT_NONE;
}

// Finds the circuit by Hierholzer's algorithm: goes on while a link is left, and steps back to a
// switch with another one. The circuit is written backwards, which is a circuit, too.
static void go_round(struct circuit *circuit)
{
	size_t depth = 0;

	circuit->stack[depth++] = 0;
	while (depth) {
		bool added;
		uint32_t to = take_link(circuit, circuit->stack[depth - 1], &added);
		if (to != HS_GPINT_NONE) {
			circuit->stack_added[depth] = added;
			circuit->stack[depth++] = to;
			continue;
		}
		depth--;
		circuit->at[circuit->n] = circuit->stack[depth];
		// The link by which the stack came here is the next one of the circuit.
		circuit->added[++circuit->n] = circuit->stack_added[depth];
	}
}

// Lets a circuit with added links begin behind the first of them. Removes the last switch of the
// list, which is the first one again.
static void turn_round(struct circuit *circuit)
{
	size_t first = 1, n = circuit->n - 1;

	while (first < circuit->n && !circuit->added[first])
		first++;
	if (first >= circuit->n)
		return;
	circuit->added[0] = circuit->added[n];
	for (size_t i = 0; i < n; i++) {
		circuit->stack[i] = circuit->at[(first + i) % n];
		circuit->stack_added[i] = circuit->added[(first + i) % n];
	}
	memcpy(circuit->at, circuit->stack, n * sizeof(*circuit->at));
	memcpy(circuit->added, circuit->stack_added, n * sizeof(*circuit->added));
	circuit->n = n;
}

// Adds the switches as one walk, or as several walks if the probe of one would be too large.
static int add_walks(struct hs_gpint_walks *walks, const uint32_t *at, size_t n)
{
	size_t from = 0;
	int rc = 0;

	for (size_t i = 1; i <= n && rc == 0; i++) {
		size_t length = i - from + 1;
		if (i < n && hs_gpint_walks_bytes(walks, at + from, (uint32_t)length) <=
						walks->max_bytes)
			continue;
		rc = hs_gpint_walks_add(walks, at + from, (uint32_t)(i - from));
		from = i - 1;
		i -= i < n;
	}
	return rc;
}

int hs_gpint_cross_links(struct hs_gpint_walks *walks)
{
	struct circuit circuit;
	size_t from = 0;
	int rc = init(&circuit, walks->net);

	if (rc == 0) {
		pair_switches(&circuit);
		go_round(&circuit);
		turn_round(&circuit);
	}
	for (size_t i = 1; rc == 0 && i <= circuit.n; i++) {
		if (i < circuit.n && !circuit.added[i])
			continue;
		rc = add_walks(walks, circuit.at + from, i - from);
		from = i;
	}
	fini(&circuit);
	return rc;
}
