// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_plan.h"

#include "gpint_euler.h"
#include "gpint_exchange.h"
#include "gpint_form.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// ---- checking a wish ----

static int check_paths(const struct hs_gpint_net *net, uint32_t n, struct hs_error *err)
{
	char bounds[24];

	if (n && n <= net->n)
		return 0;
	snprintf(bounds, sizeof(bounds), "1 to %u", net->n);
	return hs_error_set(
			err, "out_of_range", "paths", bounds, "%u paths over %u nodes", n, net->n);
}

static uint32_t bytes_of(const struct hs_gpint_net *net, uint32_t at)
{
	return HS_PROBE_HOP_BYTES + HS_PROBE_VALUE_BYTES * hs_gpint_net_values(net, at);
}

// Returns the bytes of the shortest probe that a switch needs. The shortest of Euler's paths
// crosses one link.
static uint32_t bytes_for(const struct hs_gpint_net *net, uint32_t at, bool by_links)
{
	uint32_t more = 0;

	for (uint32_t a = net->begins[at]; by_links && a < net->begins[at + 1]; a++)
		if (bytes_of(net, net->arcs[a].to) > more)
			more = bytes_of(net, net->arcs[a].to);
	return HS_GPINT_HEAD_BYTES + bytes_of(net, at) + more;
}

static int check_mtu(const struct hs_gpint_net *net, const struct hs_gpint_wish *wish,
		bool by_links, struct hs_error *err)
{
	uint32_t most = 0, needed = 0;
	char name[HS_GPINT_NAME], needs[48];

	for (uint32_t at = 0; at < net->n; at++) {
		uint32_t bytes = bytes_for(net, at, by_links) + wish->way_bytes;
		most = bytes > needed ? at : most;
		needed = bytes > needed ? bytes : needed;
	}
	if (needed <= wish->mtu)
		return 0;
	snprintf(needs, sizeof(needs), "%u or more", needed);
	return hs_error_set(err, "out_of_range", "mtu", needs,
			"%u bytes have no room for the values of node %s%s%s", wish->mtu,
			hs_gpint_net_name(net->graph, most, name),
			by_links && net->n > 1 ? " and a neighbour" : "",
			wish->way_bytes ? ", and for the ways" : "");
}

// ---- from walks to paths ----

static void measure(struct hs_gpint_plan *plan, const struct hs_gpint_path *path)
{
	if (!plan->min_hops || path->n_hops < plan->min_hops)
		plan->min_hops = path->n_hops;
	if (path->n_hops > plan->max_hops)
		plan->max_hops = path->n_hops;
	if (path->bytes > plan->max_bytes)
		plan->max_bytes = path->bytes;
	plan->sum_hops += path->n_hops;
}

// Returns the first of parallel links that no path crosses yet, else the one by the lowest port.
static const struct hs_gpint_arc *choose_arc(
		const struct hs_gpint_net *net, uint32_t from, uint32_t to, const bool *crossed)
{
	const struct hs_gpint_arc *lowest = hs_gpint_net_find(net, from, to);

	for (const struct hs_gpint_arc *arc = lowest;
			arc < net->arcs + net->begins[from + 1] && arc->to == to; arc++)
		if (!crossed[arc->link])
			return arc;
	return lowest;
}

static void write_path(struct hs_gpint_walks *walks, uint32_t w, struct hs_gpint_path *path,
		struct hs_gpint_hop *hops, bool *crossed)
{
	const struct hs_gpint_walk *walk = &walks->walks[w];

	*path = (struct hs_gpint_path){.n_hops = walk->n,
			.bytes = hs_gpint_walks_bytes(walks, walk->at, walk->n),
			.hops = hops};
	walks->round++;
	for (uint32_t i = 0; i < walk->n; i++) {
		uint32_t at = walk->at[i];
		bool first = walks->seen[at] != walks->round;
		const struct hs_gpint_arc *arc =
				i + 1 < walk->n ? choose_arc(walks->net, at, walk->at[i + 1],
								  crossed)
						: NULL;
		walks->seen[at] = walks->round;
		hops[i] = (struct hs_gpint_hop){.at = at,
				.next_port = arc ? arc->port : 0,
				.end = first ? (uint8_t)hs_gpint_net_values(walks->net, at) : 0};
		if (arc)
			crossed[arc->link] = true;
	}
}

static int settle(struct hs_gpint_walks *walks, struct hs_gpint_plan *plan)
{
	const struct hs_gpint_net *net = walks->net;
	bool *crossed = calloc(net->graph->n_links + 1, sizeof(*crossed));
	size_t n_hops = 0;

	for (uint32_t w = 0; w < walks->n; w++)
		n_hops += walks->walks[w].n;
	*plan = (struct hs_gpint_plan){.n_paths = walks->n,
			.n_switches = net->n,
			.paths = calloc(walks->n, sizeof(*plan->paths)),
			.hops = calloc(n_hops, sizeof(*plan->hops))};
	if (!plan->paths || !plan->hops || !crossed) {
		hs_gpint_plan_fini(plan);
		free(crossed);
		return -ENOMEM;
	}
	for (uint32_t w = 0; w < walks->n; w++) {
		write_path(walks, w, &plan->paths[w], plan->hops + plan->sum_hops, crossed);
		measure(plan, &plan->paths[w]);
	}
	for (uint32_t at = 0; at < net->n; at++)
		plan->covered += walks->visits[at] > 0;
	for (size_t i = 0; i < net->graph->n_links; i++)
		plan->covered_links += crossed[i];
	plan->overlap = plan->sum_hops - plan->covered;
	free(crossed);
	return 0;
}

// ---- plans ----

static int plan_balanced(struct hs_gpint_walks *walks, const struct hs_gpint_wish *wish,
		struct hs_error *err)
{
	struct hs_rng rng;

	if (check_paths(walks->net, wish->paths, err) < 0 ||
			check_mtu(walks->net, wish, false, err) < 0)
		return -EINVAL;
	hs_rng_init(&rng, wish->seed);
	return hs_gpint_form(walks, wish->paths, &rng)
			       ?: hs_gpint_exchange(walks, &rng)
			       ?: hs_gpint_balance(walks);
}

static int plan_euler(struct hs_gpint_walks *walks, const struct hs_gpint_wish *wish,
		struct hs_error *err)
{
	return check_mtu(walks->net, wish, true, err) ?: hs_gpint_cross_links(walks);
}

static int make(int (*how)(struct hs_gpint_walks *, const struct hs_gpint_wish *,
				struct hs_error *),
		const struct hs_gpint_graph *graph, const struct hs_gpint_wish *wish,
		struct hs_gpint_plan *plan, struct hs_error *err)
{
	struct hs_gpint_net net;
	struct hs_gpint_walks walks = {0};
	int rc = hs_gpint_net_init(&net, graph, err);

	*plan = (struct hs_gpint_plan){0};
	if (rc == 0)
		rc = hs_gpint_walks_init(&walks, &net, wish->mtu - wish->way_bytes)
				     ?: how(&walks, wish, err)
				     ?: settle(&walks, plan);
	hs_gpint_walks_fini(&walks);
	hs_gpint_net_fini(&net);
	return rc;
}

int hs_gpint_plan(const struct hs_gpint_graph *graph, const struct hs_gpint_wish *wish,
		struct hs_gpint_plan *plan, struct hs_error *err)
{
	return make(plan_balanced, graph, wish, plan, err);
}

int hs_gpint_euler(const struct hs_gpint_graph *graph, const struct hs_gpint_wish *wish,
		struct hs_gpint_plan *plan, struct hs_error *err)
{
	return make(plan_euler, graph, wish, plan, err);
}

void hs_gpint_plan_fini(struct hs_gpint_plan *plan)
{
	free(plan->paths);
	free(plan->hops);
	*plan = (struct hs_gpint_plan){0};
}
