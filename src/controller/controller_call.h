// SPDX-License-Identifier: BSD-3-Clause
// Calls to nodes, and what is published.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"

// Sends {"id": ..., verb: content} if there is room and a connection. Takes ownership of content.
// Returns 0 or -EAGAIN.
int controller_call(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, const char *verb, json_t *content);

// Counts an answer that could not be read, and logs the member that was wrong: at once, then at
// most once a minute.
void controller_bad_reply(struct hs_controller *controller, struct controller_node *node,
		const char *verb, const struct hs_error *err);

// Adds seq and boot_id to the content, publishes the message and releases it. Returns 0 or -EAGAIN.
int controller_publish(struct hs_controller *controller, const char *topic, const char *key,
		json_t *content);
