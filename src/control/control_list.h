// SPDX-License-Identifier: BSD-3-Clause
// The list of all rules, in pages.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"

#include <jansson.h>
#include <stdint.h>

struct control_rules;
struct hs_flow_table;

// Where the last requested page of rules ended. Zeroed at first.
struct control_list {
	uint64_t offset, changes; // the number of changes of rules at that time
	uint32_t slot;
};

// Returns the page that int_list asks for: a new reference.
json_t *hs_control_list_rules(struct control_list *last, const struct control_rules *rules,
		const struct hs_flow_table *flows, const struct hs_api_args *args);
