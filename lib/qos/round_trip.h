// SPDX-License-Identifier: BSD-3-Clause
// The round trip of two opposite flows of one app_id, which needs no clock synchronisation: (down
// sink - up source) - (down source - up sink). Each difference is on one clock.
//
// Source: docs/metrics.md, rule 19.
// Thread rule: any; pure functions.
#pragma once

#include "report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Receive times of one sampled packet at the two ends of its way.
struct hs_trip {
	int64_t source_ns; // clock of the node where the trip started
	int64_t sink_ns;   // clock of the node where the trip ended
};

#define HS_TRIPS 1000 // newest trips of a flow that are kept, in at most 16 KiB

// The newest trips of one flow, in no order. A zeroed struct has none.
struct hs_trips {
	struct hs_trip *items; // owned
	size_t n, room;
	uint64_t added;
};

struct hs_round_trip {
	uint64_t pairs;
	int64_t mean_ns, min_ns, p50_ns, max_ns;
	int64_t p99_ns;	    // if pairs >= 100
	bool clocks_differ; // one-way delays differ by more than the round trip
};

// Round trips of one or several pairs of flows. A zeroed struct has none.
struct hs_round_trips {
	int64_t *values; // owned
	size_t n;
	bool clocks_differ;
};

// Gets the trip of a report. Returns false if the source did not stamp the packet.
bool hs_trip_of(const struct hs_report *report, struct hs_trip *trip);

// Adds a trip. If there are HS_TRIPS, it replaces the oldest. Returns 0 or -ENOMEM.
int hs_trips_add(struct hs_trips *trips, const struct hs_trip *trip);
void hs_trips_fini(struct hs_trips *trips);

// Pairs each trip down with the newest trip up that reached the far end before the trip down
// started there, at most max_gap_ns before. Sorts both arrays. Returns 0, -ENOMEM, or -ENODATA:
// there is no pair.
int hs_round_trip(struct hs_trip *up, size_t n_up, struct hs_trip *down, size_t n_down,
		int64_t max_gap_ns, struct hs_round_trip *result);

// Do the same in parts. hs_round_trips_add adds the round trips of a pair of flows, and returns 0
// or -ENOMEM. hs_round_trips_result summarises all of them, and returns 0 or -ENODATA.
int hs_round_trips_add(struct hs_round_trips *trips, struct hs_trip *up, size_t n_up,
		struct hs_trip *down, size_t n_down, int64_t max_gap_ns);
int hs_round_trips_result(struct hs_round_trips *trips, struct hs_round_trip *result);
void hs_round_trips_fini(struct hs_round_trips *trips);
