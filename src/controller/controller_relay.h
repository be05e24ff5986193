// SPDX-License-Identifier: BSD-3-Clause
// Questions that only the nodes can answer.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"
#include "schema.h"

// The most bytes that one question may collect. Nodes that answer later are named and must be asked
// directly.
#define CONTROLLER_GATHERED_BYTES (4u << 20)

extern const struct hs_schema_field controller_gathered_fields[];

// Asks all reachable nodes, or the one that args->node names. Their answers replace `answer`, which
// is part of `reply` (taken over). The whole reply goes to `token`.
void controller_relay(struct hs_controller *controller, void *token, json_t *reply, json_t *answer,
		enum hs_api_verb verb, const struct hs_api_args *args);
// Works as controller_shift_label does.
void controller_shift_relays(struct hs_controller *controller, int64_t ns);
void controller_relayed(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error);
void controller_step_relays(struct hs_controller *controller);
int64_t controller_relays_next_ns(const struct hs_controller *controller);
void controller_close_relays(struct hs_controller *controller);
