// SPDX-License-Identifier: BSD-3-Clause
#include "control_kept.h"
#include "control_route.h"
#include "control_rule.h"

#include "in_band.h"
#include "rule_json.h"

#include <stdlib.h>

struct control_copy {
	size_t n_rules, n_routes, at;
	struct hs_in_band_lines in_band_at;
	struct hs_rule *rules;
	struct hs_route_entry *routes; // neighbours first
};

static bool is_kept_rule(const struct control_rules *rules, uint32_t slot)
{
	enum hs_rule_origin origin = hs_control_rule_origin(rules, slot);
	return origin == HS_ORIGIN_API || origin == HS_ORIGIN_STATE;
}

bool hs_control_is_config_route(const struct control_kept *kept, const struct hs_route_entry *route)
{
	return kept->config_routes &&
	       hs_route_book_find(kept->config_routes, route->prefix, route->depth);
}

static uint64_t count_rules(const struct control_kept *kept)
{
	uint32_t slot = HS_FLOW_NONE;
	uint64_t n = 0;

	while (hs_flow_table_next(kept->flows, &slot))
		n += is_kept_rule(kept->rules, slot);
	return n;
}

static uint64_t count_routes(const struct control_kept *kept)
{
	const struct hs_route_entry *route;
	uint64_t n = 0;

	if (!kept->routes->book)
		return 0;
	for (uint32_t i = 0; (route = hs_route_book_at(kept->routes->book, i)); i++)
		n += !hs_control_is_config_route(kept, route);
	return n;
}

uint64_t hs_control_count_kept(const struct control_kept *kept)
{
	return count_rules(kept) + count_routes(kept);
}

// ---- a copy ----

void hs_control_free_copy(struct control_copy *copy)
{
	if (!copy)
		return;
	free(copy->rules);
	free(copy->routes);
	free(copy);
}

static void copy_rules(const struct control_kept *kept, struct control_copy *copy)
{
	uint32_t slot = HS_FLOW_NONE;

	while (hs_flow_table_next(kept->flows, &slot))
		if (is_kept_rule(kept->rules, slot))
			copy->rules[copy->n_rules++] = *hs_flow_table_rule(kept->flows, slot);
}

static void copy_routes(const struct control_kept *kept, struct control_copy *copy, bool neighbours)
{
	const struct hs_route_entry *route;

	for (uint32_t i = 0; (route = hs_route_book_at(kept->routes->book, i)); i++)
		if ((route->kind == HS_ROUTE_NEIGHBOUR) == neighbours &&
				!hs_control_is_config_route(kept, route))
			copy->routes[copy->n_routes++] = *route;
}

struct control_copy *hs_control_copy_kept(const struct control_kept *kept)
{
	struct control_copy *copy = calloc(1, sizeof(*copy));
	uint32_t n_routes = kept->routes->book ? hs_route_book_count(kept->routes->book) : 0;

	if (!copy)
		return NULL;
	copy->rules = malloc((hs_flow_table_count(kept->flows) + 1) * sizeof(*copy->rules));
	copy->routes = malloc((n_routes + 1) * sizeof(*copy->routes));
	if (!copy->rules || !copy->routes) {
		hs_control_free_copy(copy);
		return NULL;
	}
	copy_rules(kept, copy);
	if (n_routes) {
		copy_routes(kept, copy, true);
		copy_routes(kept, copy, false);
	}
	return copy;
}

json_t *hs_control_next_kept(const struct control_kept *kept, struct control_copy *copy)
{
	size_t at = copy->at++;

	if (at < copy->n_routes)
		return hs_control_route_change(kept->routes, &copy->routes[at]);
	at -= copy->n_routes;
	if (at < copy->n_rules)
		return json_pack("{s:o}", "int_request", hs_rule_to_json(&copy->rules[at]));
	return hs_in_band_line(kept->in_band, &copy->in_band_at);
}
