// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"
#include "schema.h"

struct hs_control;

int hs_control_open_routes(struct hs_control *control);
extern const struct hs_schema_field hs_control_route_fields[], hs_control_neighbour_fields[],
		hs_control_routes_fields[], hs_control_neighbours_fields[];
int hs_control_change_routes(struct hs_control *control, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
int hs_control_list_routes(struct hs_control *control, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
// Returns the request that creates a route or neighbour again: a new reference.
json_t *hs_control_route_change(
		const struct hs_control *control, const struct hs_route_entry *entry);
