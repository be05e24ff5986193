// SPDX-License-Identifier: BSD-3-Clause
// The requests that a client may send.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"
#include "schema.h"

void controller_open_verbs(struct hs_controller *controller);
// Handles a client's message.
void controller_request(struct hs_controller *controller, void *token, const char *message,
		size_t len, bool may_change);
// As hs_controller_show and hs_controller_reply_fields.
json_t *controller_show(struct hs_controller *controller);
const struct hs_schema_field *controller_reply_fields(enum hs_api_verb verb);
