// SPDX-License-Identifier: BSD-3-Clause
// An event as a record of a ring: all points of one report in one piece.
//
// Thread rule: put by the ring's writer, take and drop by its reader.
#pragma once

#include "collect.h"
#include "collector_ring.h"

#include <stdbool.h>

// Returns false if the ring has no room: nothing of the event is in it then.
bool hs_collector_record_put(struct hs_collector_ring *ring, const struct hs_collect_event *event);
// Fills the oldest event. What it points to stays until it is dropped; of the flow's hops, only
// those of n_hops are there. Returns false if there is none.
bool hs_collector_record_take(struct hs_collector_ring *ring, struct hs_collect_event *event);
void hs_collector_record_drop(struct hs_collector_ring *ring);

// How many points wait that were put before this end of the ring. By the reader.
uint64_t hs_collector_record_waiting(const struct hs_collector_ring *ring, uint64_t end);
