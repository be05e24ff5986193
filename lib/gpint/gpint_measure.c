// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_measure.h"

#include "variate.h"

#define MAX_ATTEMPTS 200
#define FORGET	     1000 // answers after which the older ones count for half

void hs_gpint_measure_rtt(struct hs_gpint_measure *measure, int64_t rtt_ns)
{
	int64_t off_ns = rtt_ns - measure->rtt_ns;

	if (!measure->rtt_ns) {
		measure->rtt_ns = rtt_ns > 0 ? rtt_ns : 1;
		measure->rtt_var_ns = rtt_ns / 2;
		return;
	}
	measure->rtt_var_ns += ((off_ns < 0 ? -off_ns : off_ns) - measure->rtt_var_ns) / 4;
	measure->rtt_ns += off_ns / 8;
}

void hs_gpint_measure_path(struct hs_gpint_measure *measure, int64_t took_ns, uint32_t n_hops)
{
	int64_t hop_ns = took_ns / n_hops;

	measure->hop_ns += measure->hop_ns ? (hop_ns - measure->hop_ns) / 8 : hop_ns;
}

void hs_gpint_measure_answer(struct hs_gpint_measure *measure, uint32_t unanswered)
{
	measure->answered += 1;
	measure->unanswered += unanswered;
	if (measure->answered + measure->unanswered > FORGET) {
		measure->answered /= 2;
		measure->unanswered /= 2;
	}
}

void hs_gpint_measure_links(struct hs_gpint_measure *measure, uint32_t crossed, uint32_t lost)
{
	measure->crossed = measure->crossed / 2 + crossed;
	measure->lost = measure->lost / 2 + lost;
}

double hs_gpint_measure_loss(const struct hs_gpint_measure *measure)
{
	double all = measure->crossed + measure->lost;

	return all > 0 ? measure->lost / all : 0;
}

int64_t hs_gpint_measure_timeout_ns(const struct hs_gpint_measure *measure, uint32_t n_hops)
{
	if (!measure->rtt_ns)
		return 0;
	return measure->rtt_ns + 4 * measure->rtt_var_ns + 2 * n_hops * measure->hop_ns;
}

uint32_t hs_gpint_measure_attempts(const struct hs_gpint_measure *measure)
{
	double all = measure->answered + measure->unanswered;
	double share = all > 0 ? (1 + measure->unanswered / all) / 2 : 0.5;
	double attempts = hs_variate_log(1e-7) / hs_variate_log(share);

	return attempts < MAX_ATTEMPTS ? (uint32_t)attempts + 1 : MAX_ATTEMPTS;
}

uint32_t hs_gpint_measure_paths(
		const struct hs_gpint_measure *measure, uint32_t n_switches, uint32_t least)
{
	double loss = hs_gpint_measure_loss(measure), hops = n_switches;

	if (loss >= 0.5)
		return n_switches;
	if (loss > 0)
		hops = 1 + hs_variate_log(2) / -hs_variate_log(1 - loss);
	double paths = n_switches / hops;
	if (paths <= least)
		return least;
	return paths < n_switches ? (uint32_t)paths + 1 : n_switches;
}
