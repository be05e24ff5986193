// SPDX-License-Identifier: BSD-3-Clause
#include "stream_pace.h"

#include "variate.h"

#include <rte_common.h>

#include <math.h>

typedef unsigned __int128 wide;

#define RATE_MIN 1e-9 // lower rates send nothing: one packet in 31 years

// Computes the first convergent of the rate's continued fraction that equals the same double.
static void fraction_of(double rate, wide *numerator, wide *denominator)
{
	int exponent;
	double mantissa = frexp(rate, &exponent);
	// Scenarios have rates of at most 1e9, so that 53 - exponent is between 23 and 82.
	wide a = (wide)ldexp(mantissa, 53), b = (wide)1 << (53 - exponent);
	wide p0 = 0, q0 = 1, p1 = 1, q1 = 0;

	while (b) {
		wide whole = a / b, rest = a % b;
		wide p = whole * p1 + p0, q = whole * q1 + q0;
		p0 = p1;
		q0 = q1;
		p1 = p;
		q1 = q;
		if ((double)p / (double)q == rate)
			break;
		a = b;
		b = rest;
	}
	*numerator = p1;
	*denominator = q1;
}

// Draws a number and makes it an integer at once, so that no compiler can fuse an addition into the
// draw. The unit is that of the mean: 1/1024 ns for the gaps of Poisson, ns for those of bursts.
static int64_t exponential(struct hs_stream_pace *pace, double mean)
{
	double drawn = hs_variate_exponential(&pace->rng, mean);
	return drawn < 0x1p62 ? (int64_t)drawn : INT64_MAX;
}

static int64_t later(int64_t at_ns, int64_t by_ns)
{
	int64_t sum;
	return __builtin_add_overflow(at_ns, by_ns, &sum) ? HS_STREAM_NEVER_NS : sum;
}

static void set_step(struct hs_stream_pace *pace, double rate)
{
	pace->step_parts = 0;
	if (!(rate >= RATE_MIN))
		return;
	wide numerator, denominator;
	fraction_of(rate, &numerator, &denominator);
	pace->step_ns = (int64_t)(denominator * 1000000000 / numerator);
	pace->step_part = (uint64_t)(denominator * 1000000000 % numerator);
	pace->step_parts = (uint64_t)numerator;
	pace->poisson_mean = 1024e9 / rate;
	pace->parts = 0;
}

static bool is_silent(const struct hs_stream_pace *pace)
{
	return pace->step_parts == 0 || pace->left == 0 ||
	       (pace->traffic->kind == HS_TRAFFIC_BURSTY && pace->traffic->burst_ns <= 0);
}

static void settle(struct hs_stream_pace *pace)
{
	if (is_silent(pace) || pace->next_ns >= pace->stop_ns)
		pace->next_ns = HS_STREAM_NEVER_NS;
}

// Adds by_ns + part / whole to the time of the next frame.
static void advance(struct hs_stream_pace *pace, int64_t by_ns, uint64_t part, uint64_t whole)
{
	pace->parts += part;
	bool carry = pace->parts >= whole;
	pace->parts -= carry ? whole : 0;
	pace->next_ns = later(pace->next_ns, by_ns + carry);
}

static void step_constant(struct hs_stream_pace *pace)
{
	advance(pace, pace->step_ns, pace->step_part, pace->step_parts);
}

static void step_poisson(struct hs_stream_pace *pace)
{
	int64_t gap = exponential(pace, pace->poisson_mean);
	advance(pace, gap / 1024, (uint64_t)gap % 1024, 1024);
}

static int64_t next_burst(const struct hs_stream_pace *pace)
{
	return RTE_MAX(pace->burst_due_ns, pace->burst_end_ns);
}

static int64_t burst_gap(struct hs_stream_pace *pace)
{
	return exponential(pace, (double)pace->traffic->mean_interval_ns);
}

static void enter_burst(struct hs_stream_pace *pace)
{
	pace->burst_end_ns = later(next_burst(pace), pace->traffic->burst_ns);
	pace->burst_due_ns = later(pace->burst_due_ns, burst_gap(pace));
	pace->parts = 0;
}

static void step_bursty(struct hs_stream_pace *pace)
{
	if (pace->next_ns >= pace->burst_end_ns)
		enter_burst(pace); // the frame that was sent is the burst's first
	step_constant(pace);
	if (pace->next_ns >= pace->burst_end_ns)
		pace->next_ns = next_burst(pace);
}

void hs_stream_pace_step(struct hs_stream_pace *pace)
{
	pace->left--;
	if (pace->traffic->kind == HS_TRAFFIC_POISSON)
		step_poisson(pace);
	else if (pace->traffic->kind == HS_TRAFFIC_BURSTY)
		step_bursty(pace);
	else
		step_constant(pace);
	settle(pace);
}

void hs_stream_pace_init(struct hs_stream_pace *pace, const struct hs_scenario_traffic *traffic,
		uint64_t seed, int64_t start_ns, int64_t stop_ns)
{
	*pace = (struct hs_stream_pace){
			.traffic = traffic,
			.stop_ns = stop_ns,
			.start_ns = start_ns,
			.left = traffic->packets ? traffic->packets : UINT64_MAX,
			.burst_end_ns = start_ns,
	};
	hs_rng_init(&pace->rng, seed);
	if (pace->traffic->kind == HS_TRAFFIC_BURSTY)
		pace->burst_due_ns = later(start_ns, burst_gap(pace));
	hs_stream_pace_set_rate(pace, start_ns, traffic->rate_pps);
}

void hs_stream_pace_set_rate(struct hs_stream_pace *pace, int64_t now_ns, double rate_pps)
{
	set_step(pace, rate_pps);
	pace->next_ns = RTE_MAX(now_ns, pace->start_ns);
	if (is_silent(pace)) {
		pace->next_ns = HS_STREAM_NEVER_NS;
		return;
	}
	if (pace->traffic->kind == HS_TRAFFIC_POISSON) {
		step_poisson(pace);
	} else if (pace->traffic->kind == HS_TRAFFIC_BURSTY) {
		while (next_burst(pace) < pace->next_ns)
			enter_burst(pace); // the rate was 0, so that the burst has sent no frame
		if (pace->next_ns >= pace->burst_end_ns)
			pace->next_ns = next_burst(pace);
	}
	settle(pace);
}
