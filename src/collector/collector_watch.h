// SPDX-License-Identifier: BSD-3-Clause
// Publishes what the collector lost or refused as events, at once and then at most once a minute.
//
// Thread rule: the control thread.
#pragma once

#include "collector_parts.h"

struct hs_collector_watch { // zeroed at first
	struct hs_event_limit refused, socket_lost, points_lost, missing, full, lines_lost;
	int64_t look_ns;
	uint64_t refused_said[HS_COLLECT_REFUSALS]; // counts of the last event
};

// Looks ten times a second. `steady_ns` is the time of the monotonic clock.
void hs_collector_watch_look(struct hs_collector_watch *watch, struct hs_collector *collector,
		int64_t steady_ns);
