// SPDX-License-Identifier: BSD-3-Clause
// An event as a record of a ring: all points of one report in one piece.
//
// Thread rule: put by the ring's writer, take and drop by its reader.
#pragma once

#include "collect.h"
#include "collector_ring.h"

#include <stdbool.h>

// Puts an event into the ring. Returns false if the ring has no room: the ring then has no part of
// the event.
bool hs_collector_record_put(struct hs_collector_ring *ring, const struct hs_collect_event *event);
// Reads the oldest event. Its flow and points stay until the event is dropped; of the flow's hops,
// only the first n_hops are there. Returns false if there is no event.
bool hs_collector_record_take(struct hs_collector_ring *ring, struct hs_collect_event *event);
void hs_collector_record_drop(struct hs_collector_ring *ring);

// Returns how many points wait that were put before this end of the ring. Called by the reader.
uint64_t hs_collector_record_waiting(const struct hs_collector_ring *ring, uint64_t end);
