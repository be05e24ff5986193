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
// Makes the truth of all packets, which fixture_init does not.
void fixture_send(struct fixture *f);
// Sends one packet: by src and by sw1, received by dst. Call these in order of time.
void fixture_depart(struct fixture *f, uint64_t number, int64_t at_ns,
		struct hs_packet_truth *packet_truth);
void fixture_pass(struct fixture *f, struct hs_packet_truth *packet_truth, int64_t at_ns);
void fixture_arrive(struct fixture *f, struct hs_packet_truth *packet_truth, int64_t at_ns);
// Does all of this at the usual times. lost_on 0: the packet arrives.
void fixture_packet(struct fixture *f, uint64_t number, int lost_on);
void fixture_tell(struct fixture *f, struct told told);
#define TELL(f, to, first, last, n, ...)                                                           \
	fixture_tell(f, (struct told){.end = (to),                                                 \
					.a = (first),                                              \
					.b = (last),                                               \
					.reports = (n),                                            \
					##__VA_ARGS__})
// Returns the message of a window as a new reference, for changes. publish takes it over.
json_t *fixture_window(const struct fixture *f, struct told told);
void fixture_publish(struct fixture *f, json_t *window);
// Publishes the answer of dst about the whole run.
void fixture_tell_run(struct fixture *f, struct told told);
// Publishes the windows (1, 2] and (2, 3], exactly.
void fixture_tell_all(struct fixture *f);
void fixture_compute(struct fixture *f);
// Sends all packets, tells both windows, and computes the result.
void fixture_run(struct fixture *f);

// The means that the result has of a row (0, 1: hops, 2: end to end) over its complete windows;
// NAN: none.
struct fixture_mean {
	int n, n_truth, n_configured; // windows
	double measured, truth, configured, mae_truth, mae_configured, max_error, mean_error;
};
struct fixture_mean fixture_mean(const struct fixture *f, size_t row, enum hs_lab_metric_kind kind);
// Returns the numbers of one window.
struct fixture_point {
	double measured, truth, configured;
};
struct fixture_point fixture_point(
		const struct fixture *f, size_t row, size_t window, enum hs_lab_metric_kind kind);
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
