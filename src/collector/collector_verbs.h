// SPDX-License-Identifier: BSD-3-Clause
// The requests that a client may send to a collector.
//
// Thread rule: the control thread.
#pragma once

#include "collector_parts.h"

void hs_collector_open_verbs(struct hs_collector *collector);
// Handles one message. Returns the reply, which the caller frees, or NULL if memory is out.
char *hs_collector_request(
		struct hs_collector *collector, const char *message, size_t len, bool may_change);

// Returns the fields of a reply, or NULL if a collector has no such verb.
const struct hs_schema_field *hs_collector_reply_fields(enum hs_api_verb verb);
