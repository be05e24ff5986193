// SPDX-License-Identifier: BSD-3-Clause
// What the state keeps: the changes in force that the configuration does not ask for.
//
// Thread rule: owner (the control thread).
#pragma once

#include "route_book.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct control_routes;
struct control_rules;
struct hs_flow_table;
struct hs_in_band;

struct control_kept { // the pointers are borrowed, but config_routes is the state's own
	const struct hs_flow_table *flows;
	const struct control_rules *rules;
	const struct control_routes *routes;
	struct hs_in_band *in_band;
	struct hs_route_book *config_routes; // routes of the configuration; NULL: none
};

// Returns the number of changes of rules and routes.
uint64_t hs_control_count_kept(const struct control_kept *kept);
bool hs_control_is_config_route(
		const struct control_kept *kept, const struct hs_route_entry *route);

// A copy of all changes in force, which is made at once and written in portions. Returns NULL if
// memory is out. free accepts NULL.
struct control_copy;
struct control_copy *hs_control_copy_kept(const struct control_kept *kept);
void hs_control_free_copy(struct control_copy *copy);
// Returns the next change of the copy: a new reference, NULL at the end.
json_t *hs_control_next_kept(const struct control_kept *kept, struct control_copy *copy);
