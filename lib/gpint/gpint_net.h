// SPDX-License-Identifier: BSD-3-Clause
// A graph with the neighbours of each switch in order, and ways between switches. For lib/gpint.
//
// Thread rule: owner; look-ups: any.
#pragma once

#include "error.h"
#include "gpint_graph.h"

#include <stdbool.h>

#define HS_GPINT_NONE UINT32_MAX

struct hs_gpint_arc {
	uint32_t to;
	uint32_t link;
	uint8_t port;
};

struct hs_gpint_net {
	const struct hs_gpint_graph *graph;
	uint32_t n;
	uint32_t *begins;	   // where the arcs of each switch begin; n + 1
	struct hs_gpint_arc *arcs; // of each switch in the order of their ends, then of ports
};

// Returns 0, -ENOMEM, or -EINVAL with *err if a link does not lead to another switch, or if no way
// leads from some switch to some other. Call fini in any case.
int hs_gpint_net_init(
		struct hs_gpint_net *net, const struct hs_gpint_graph *graph, struct hs_error *err);
void hs_gpint_net_fini(struct hs_gpint_net *net);

static inline uint32_t hs_gpint_net_degree(const struct hs_gpint_net *net, uint32_t at)
{
	return net->begins[at + 1] - net->begins[at];
}

// Returns the arc by the lowest port, or NULL.
const struct hs_gpint_arc *hs_gpint_net_find(
		const struct hs_gpint_net *net, uint32_t from, uint32_t to);

// Computes shortest ways from `from` to each switch: the switch before each switch on its way
// (`from` is before itself), and the hops. Both are HS_GPINT_NONE where no way leads. Each array,
// `queue` too, has room for all switches.
void hs_gpint_net_ways(const struct hs_gpint_net *net, uint32_t from, uint32_t *before,
		uint32_t *hops, uint32_t *queue);

// Returns the values that a switch adds.
static inline uint32_t hs_gpint_net_values(const struct hs_gpint_net *net, uint32_t at)
{
	return net->graph->values ? net->graph->values[at] : 0;
}

// Writes the name of a switch for an error. Returns text.
#define HS_GPINT_NAME 80
const char *hs_gpint_net_name(
		const struct hs_gpint_graph *graph, uint32_t at, char text[HS_GPINT_NAME]);
