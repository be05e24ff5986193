// SPDX-License-Identifier: BSD-3-Clause
// Messages of the control thread: events of the tables, and events of the collector itself. They go
// into the log of events and to subscribers.
//
// Thread rule: the control thread.
#pragma once

#include "collector_parts.h"

// Takes events from the ring: at most `most`, and none after about `limit_ns` of processor time.
// Returns how many it took.
unsigned hs_collector_take_events(struct hs_collector *collector, unsigned most, int64_t limit_ns);

// Publishes an event of the collector, which is the `owner`.
hs_event_fn hs_collector_event;

// Returns the JSON Schema of a message of the topic hop.<node_id>. New reference.
json_t *hs_collector_hop_schema(void);
