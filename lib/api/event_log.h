// SPDX-License-Identifier: BSD-3-Clause
// The newest events of a node, numbered from 1: a bounded ring from which a client asks for what
// came after the last it knows, and is told how many it missed.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"

#include <jansson.h>
#include <stdint.h>

#define HS_EVENT_LOG_EVENTS 1024

struct hs_event_log {
	uint64_t last;			     // number of the newest; 0: none yet
	json_t *events[HS_EVENT_LOG_EVENTS]; // number n is at n modulo the size
};

void hs_event_log_init(struct hs_event_log *log);
void hs_event_log_fini(struct hs_event_log *log);

// Takes over an event (an object) and gives it its "seq", which is returned; 0: no memory.
uint64_t hs_event_log_add(struct hs_event_log *log, json_t *event);

// {"events": [...], "lost": n, "next": n}: those numbered above args->since, oldest first; lost
// ones are those of them that the ring no longer has; next is the `since` of the next question, and
// "more": true says that it has an answer already, for which this one had no room. A number from
// before a restart (above the newest) is taken as 0. New reference.
json_t *hs_event_log_since(const struct hs_event_log *log, const struct hs_api_args *args);
