// SPDX-License-Identifier: BSD-3-Clause
// The round trip of two opposite flows of one app_id, right without any clock synchronisation:
// (down sink - up source) - (down source - up sink), each difference on one clock.
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
	int64_t source_ns; // clock of where it started
	int64_t sink_ns;   // clock of where it ended
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
	int64_t p99_ns;	    // where pairs >= 100
	bool clocks_differ; // one-way delays differ by more than the round trip
};

// Round trips of one or several pairs of flows. A zeroed struct has none.
struct hs_round_trips {
	int64_t *values; // owned
	size_t n;
	bool clocks_differ;
};

// The trip of a report; false where the source did not stamp it.
bool hs_trip_of(const struct hs_report *report, struct hs_trip *trip);

// Adds a trip, in the oldest one's place where there are HS_TRIPS. 0 or -ENOMEM.
int hs_trips_add(struct hs_trips *trips, const struct hs_trip *trip);
void hs_trips_fini(struct hs_trips *trips);

// Pairs each trip down with the newest trip up that had reached the far end when it left there, at
// most max_gap_ns before. Sorts both arrays. 0, or -ENODATA where nothing pairs.
int hs_round_trip(struct hs_trip *up, size_t n_up, struct hs_trip *down, size_t n_down,
		int64_t max_gap_ns, struct hs_round_trip *result);

// The same in parts: adds those of a pair of flows (0 or -ENOMEM), and says what all of them are
// (0 or -ENODATA).
int hs_round_trips_add(struct hs_round_trips *trips, struct hs_trip *up, size_t n_up,
		struct hs_trip *down, size_t n_down, int64_t max_gap_ns);
int hs_round_trips_result(struct hs_round_trips *trips, struct hs_round_trip *result);
void hs_round_trips_fini(struct hs_round_trips *trips);
