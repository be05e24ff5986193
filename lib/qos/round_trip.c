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

static int64_t round_trip(const struct hs_trip *up, const struct hs_trip *down)
{
	return (down->sink_ns - up->source_ns) - (down->source_ns - up->sink_ns);
}

// Rule 20: each way takes a part of the round trip, so they cannot differ by more than all of it.
static bool differ(const struct hs_trip *up, const struct hs_trip *down)
{
	int64_t difference = (up->sink_ns - up->source_ns) - (down->sink_ns - down->source_ns);
	int64_t whole = round_trip(up, down);
	return (difference < 0 ? -difference : difference) > whole;
}

static size_t pair(const struct hs_trip *up, size_t n_up, const struct hs_trip *down, size_t n_down,
		int64_t max_gap_ns, int64_t *values, bool *clocks_differ)
{
	size_t n = 0, next = 0;
	for (size_t i = 0; i < n_down; i++) {
		while (next < n_up && up[next].sink_ns <= down[i].source_ns)
			next++;
		if (!next || down[i].source_ns - up[next - 1].sink_ns > max_gap_ns)
			continue;
		values[n++] = round_trip(&up[next - 1], &down[i]);
		*clocks_differ |= differ(&up[next - 1], &down[i]);
	}
	return n;
}

static void summarise(int64_t *values, size_t n, struct hs_round_trip *result)
{
	__int128 sum = 0;
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
}

int hs_round_trip(struct hs_trip *up, size_t n_up, struct hs_trip *down, size_t n_down,
		int64_t max_gap_ns, struct hs_round_trip *result)
{
	*result = (struct hs_round_trip){0};
	if (!n_up || !n_down)
		return -ENODATA;
	int64_t *values = malloc(n_down * sizeof(*values));
	if (!values)
		return -ENOMEM;
	qsort(up, n_up, sizeof(*up), by_sink);
	qsort(down, n_down, sizeof(*down), by_source);
	size_t n = pair(up, n_up, down, n_down, max_gap_ns, values, &result->clocks_differ);
	if (n)
		summarise(values, n, result);
	free(values);
	return n ? 0 : -ENODATA;
}
