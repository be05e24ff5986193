// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"
#include "route_book.h"
#include "schema.h"

struct hs_node;
struct hs_node_totals;

struct control_routes { // zeroed at first
	struct hs_node *node;
	struct hs_route_book *book; // NULL: the node does not route
	uint64_t changes;	    // number of additions and deletions
};

// Borrows the node. Returns 0 or -ENOMEM.
int hs_control_open_routes(struct control_routes *routes, struct hs_node *node);
void hs_control_close_routes(struct control_routes *routes);
// Applies the book's changes. They stay in the book on failure, because their reversal follows
// there.
int hs_control_commit_routes(struct control_routes *routes, struct hs_error *err);
// Sets the totals of routes. Adds the changes to `generation`, as the rules do.
void hs_control_route_totals(const struct control_routes *routes, struct hs_node_totals *totals);

extern const struct hs_schema_field hs_control_route_fields[], hs_control_neighbour_fields[],
		hs_control_routes_fields[], hs_control_neighbours_fields[];
int hs_control_change_routes(struct control_routes *routes, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
int hs_control_list_routes(const struct control_routes *routes, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
// Returns the request that creates a route or neighbour again: a new reference.
json_t *hs_control_route_change(
		const struct control_routes *routes, const struct hs_route_entry *entry);
