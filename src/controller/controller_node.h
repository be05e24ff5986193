// SPDX-License-Identifier: BSD-3-Clause
// A node: whether it can be reached, and the calls under way there.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"
#include "schema.h"

int controller_open_nodes(struct hs_controller *controller);
void controller_close_nodes(struct hs_controller *controller);
void controller_step_node(struct hs_controller *controller, struct controller_node *node);
int64_t controller_node_next_ns(
		const struct hs_controller *controller, const struct controller_node *node);
// Asks the node now, because something was heard of it.
void controller_look_at_node(struct hs_controller *controller, struct controller_node *node);
// Excludes a time from all time limits, because the clock was set by it or nothing ran during it.
void controller_shift_node(struct controller_node *node, int64_t ns);
// Sets whether the node refuses the controller's key. Repeated calls are allowed.
void controller_node_refuses(
		struct hs_controller *controller, struct controller_node *node, bool refuses);
// Finds who published a message. Returns false if the configuration has no such publisher. *found
// is NULL if it cannot be identified: end nodes without an id of their own are told apart by their
// boot id, and a new boot id must be asked for first.
bool controller_publisher(struct hs_controller *controller, const struct reply_origin *origin,
		struct controller_node **found);
// Counts what is missing between a node's messages: if nothing was lost, their numbers have no
// gaps.
void controller_follow(struct hs_controller *controller, struct controller_node *node,
		const struct reply_origin *origin);
extern const struct hs_schema_field controller_node_fields[];
json_t *controller_node_json(
		const struct hs_controller *controller, const struct controller_node *node);
// Handles a node's answer. NULL: it was no JSON, or had more values than any node sends.
void controller_answered(
		struct hs_controller *controller, struct controller_node *node, json_t *message);
