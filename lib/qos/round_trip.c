// SPDX-License-Identifier: BSD-3-Clause
#include "round_trip.h"

#include <errno.h>
#include <stdlib.h>

bool hs_trip_of(const struct hs_report *report, struct hs_trip *trip)
{
	trip->source_ns = (int64_t)report->telemetry.e2e.ts_ns;
	trip->sink_ns = report->sink_ts_ns;
	return report->telemetry.e2e.bitmap & HS_E2E_TIMESTAMP;
}

int hs_trips_add(struct hs_trips *trips, const struct hs_trip *trip)
{
	if (trips->n == trips->room && trips->n < HS_TRIPS) {
		size_t room = trips->room ? 2 * trips->room : 64;
		room = room < HS_TRIPS ? room : HS_TRIPS;
		struct hs_trip *items = realloc(trips->items, room * sizeof(*items));
		if (!items)
			return -ENOMEM;
		trips->items = items;
		trips->room = room;
	}
	trips->items[trips->added++ % HS_TRIPS] = *trip;
	trips->n += trips->n < HS_TRIPS;
	return 0;
}

void hs_trips_fini(struct hs_trips *trips)
{
	free(trips->items);
	*trips = (struct hs_trips){0};
}

static int by_source(const void *a, const void *b)
{
	int64_t x = ((const struct hs_trip *)a)->source_ns;
	int64_t y = ((const struct hs_trip *)b)->source_ns;
	return (x > y) - (x < y);
}

static int by_sink(const void *a, const void *b)
{
	int64_t x = ((const struct hs_trip *)a)->sink_ns;
	int64_t y = ((const struct hs_trip *)b)->sink_ns;
	return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

// A round trip that is longer, or negative, has a step of a clock between its two ends.
#define STEP_NS INT64_C(10000000000)

// A peer's stamp may have any value. This type holds the difference of any two stamps.
typedef __int128 wide;

static wide round_trip(const struct hs_trip *up, const struct hs_trip *down)
{
	return ((wide)down->sink_ns - up->source_ns) - ((wide)down->source_ns - up->sink_ns);
}

// Returns whether clocks differ (rule 20). Each way takes a part of the round trip, so the two ways
// cannot differ by more than the whole.
static bool differ(const struct hs_trip *up, const struct hs_trip *down)
{
	wide difference = ((wide)up->sink_ns - up->source_ns) -
			  ((wide)down->sink_ns - down->source_ns);
	wide whole = round_trip(up, down);
	return (difference < 0 ? -difference : difference) > whole;
}

int hs_round_trips_add(struct hs_round_trips *trips, struct hs_trip *up, size_t n_up,
		struct hs_trip *down, size_t n_down, int64_t max_gap_ns)
{
	size_t next = 0;
	if (!n_up || !n_down)
		return 0;
	int64_t *values = realloc(trips->values, (trips->n + n_down) * sizeof(*values));
	if (!values)
		return -ENOMEM;
	trips->values = values;
	qsort(up, n_up, sizeof(*up), by_sink);
	qsort(down, n_down, sizeof(*down), by_source);
	for (size_t i = 0; i < n_down; i++) {
		while (next < n_up && up[next].sink_ns <= down[i].source_ns)
			next++;
		if (!next || (wide)down[i].source_ns - up[next - 1].sink_ns > max_gap_ns)
			continue;
		trips->clocks_differ |= differ(&up[next - 1], &down[i]);
		wide whole_ns = round_trip(&up[next - 1], &down[i]);
		if (whole_ns >= 0 && whole_ns <= STEP_NS)
			values[trips->n++] = (int64_t)whole_ns;
	}
	return 0;
}

int hs_round_trips_result(struct hs_round_trips *trips, struct hs_round_trip *result)
{
	int64_t *values = trips->values;
	size_t n = trips->n;
	__int128 sum = 0;
	*result = (struct hs_round_trip){0};
	if (!n)
		return -ENODATA;
	qsort(values, n, sizeof(*values), by_value);
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	result->pairs = n;
	result->mean_ns = (int64_t)(sum / (__int128)n);
	result->min_ns = values[0];
	result->max_ns = values[n - 1];
	result->p50_ns = values[(n + 1) / 2 - 1];
	if (n >= 100)
		result->p99_ns = values[(n * 99 + 99) / 100 - 1];
	result->clocks_differ = trips->clocks_differ;
	return 0;
}

void hs_round_trips_fini(struct hs_round_trips *trips)
{
	free(trips->values);
	*trips = (struct hs_round_trips){0};
}

int hs_round_trip(struct hs_trip *up, size_t n_up, struct hs_trip *down, size_t n_down,
		int64_t max_gap_ns, struct hs_round_trip *result)
{
	struct hs_round_trips trips = {0};
	*result = (struct hs_round_trip){0};
	int rc = hs_round_trips_add(&trips, up, n_up, down, n_down, max_gap_ns);
	if (!rc)
		rc = hs_round_trips_result(&trips, result);
	hs_round_trips_fini(&trips);
	return rc;
}
