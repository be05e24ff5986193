// SPDX-License-Identifier: BSD-3-Clause
// A small run, made by hand: src -(10 ms)- sw1 -(20 ms)- dst, ten packets of 562 bytes a second for
// four seconds, every fifth with telemetry. Packet 13 is lost on the first link, 17 and 22 on the
// second.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "outcome.h"

#include <math.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
#define T0     INT64_C(1767225600000000000)

struct fixture {
	struct hs_scenario scenario;
	struct hs_scenario_node nodes[3];
	struct hs_scenario_link links[2];
	struct hs_scenario_host hosts[2];
	struct hs_scenario_traffic traffic[1];
	struct hs_scenario_flow flows[2];
	struct hs_scenario_expect expects[1];
	struct hs_link_counters counters[2][2];
	struct hs_stream *streams[1];
	struct hs_node_totals totals[8];
	struct hs_run run;
	json_t *result;
	int64_t sink_ahead_ns; // of dst's clock
	uint32_t telemetry_bytes;
};

// The window that dst publishes: it ends `end` seconds after the start, and its span runs from
// packet a to packet b. Its numbers are exact, except for what is added.
struct told {
	int end, a, b;
	int reports;
	int lost[2];	  // of the hops
	int64_t delay_ns; // added to the delay of the second hop
	int64_t span_ns;  // added to the end of its span
	bool stale;
	const char *flag; // may be NULL
};

void fixture_init(struct fixture *f);
void fixture_fini(struct fixture *f);
// The same for cmocka: *state is a separate fixture for each test.
int fixture_setup(void **state);
int fixture_teardown(void **state);

// What is unusual about a packet. A usual one takes 10 ms over the first link and 20 ms over the
// second.
struct fate {
	uint64_t number;
	int lost_on;	// 1, 2: the link; 3: sw1 drops it
	int way_ms;	// from src to dst
	int copy_ms;	// the same of a copy, which the second link made
	bool restarted; // sw1, before this packet
};

// Makes the truth of these packets, which fixture_init does not. One without a number ends the
// fates.
void fixture_send_some(struct fixture *f, uint64_t first, uint64_t last, const struct fate *fates);
#define SEND(f, ...) fixture_send_some(f, 1, 40, (const struct fate[]){__VA_ARGS__, {0}})
// Does this with all packets, of which 13, 17 and 22 are lost.
void fixture_send(struct fixture *f);
void fixture_tell(struct fixture *f, struct told told);
#define TELL(f, to, first, last, n, ...)                                                           \
	fixture_tell(f, (struct told){.end = (to),                                                 \
					.a = (first),                                              \
					.b = (last),                                               \
					.reports = (n),                                            \
					##__VA_ARGS__})
// Publishes the answer of dst about the whole run.
void fixture_tell_run(struct fixture *f, struct told told);
// Publishes the windows (1, 2] and (2, 3], exactly.
void fixture_tell_all(struct fixture *f);
void fixture_compute(struct fixture *f);
// Sends all packets, tells both windows, and computes the result.
void fixture_run(struct fixture *f);

// Checks the values of a window's side ("truth"): of the two hops, and from end to end. NAN: none.
void fixture_check(const struct fixture *f, size_t window, const char *side,
		enum hs_lab_metric_kind kind, double first, double second, double e2e);
// Returns in how many complete windows a row (0, 1: hops, 2: end to end) has the value.
int fixture_windows(const struct fixture *f, size_t row, enum hs_lab_metric_kind kind,
		const char *side);
// Returns a number of a row by its path ("mae.truth"), or NAN.
double fixture_row(const struct fixture *f, size_t row, enum hs_lab_metric_kind kind,
		const char *path);
// Returns a value in an element of one of the result's lists, by its path ("e2e.truth.delay_ns").
const json_t *fixture_at(const struct fixture *f, const char *list, size_t index, const char *path);
json_int_t fixture_integer(
		const struct fixture *f, const char *list, size_t index, const char *path);
const char *fixture_text(const struct fixture *f, const char *list, size_t index, const char *key);

// Computes the result with only this expectation, and returns how it was judged.
struct fixture_verdict {
	double value;
	bool met;
	const char *reason; // valid until the next call
};
struct fixture_verdict fixture_judge(struct fixture *f, struct hs_scenario_expect expect);

// NAN is near nothing. cmocka's assert_float_equal accepts it.
static inline void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.17g is not %.17g", value, expected);
}
