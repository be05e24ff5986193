// SPDX-License-Identifier: BSD-3-Clause
// What a monitor measures of probes and their answers, and the timeouts, attempts and paths that
// follow from it. Our addition: the paper sets t_f, r_a and k by hand.
//
// Source: RFC 6298 for the timeout: a smoothed round trip and four of its deviations.
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hs_gpint_measure {
	int64_t rtt_ns, rtt_var_ns;  // of the feedback of a first switch; 0: none came
	int64_t hop_ns;		     // of a probe that came back, for each switch
	double crossed, lost;	     // links that probes crossed; probes that links lost
	double answered, unanswered; // attempts at switches that are there
};

void hs_gpint_measure_rtt(struct hs_gpint_measure *measure, int64_t rtt_ns);
// Takes the time of a probe over n_hops switches that came back.
void hs_gpint_measure_path(struct hs_gpint_measure *measure, int64_t took_ns, uint32_t n_hops);
// Counts an attempt that was answered, after `unanswered` attempts that were not.
void hs_gpint_measure_answer(struct hs_gpint_measure *measure, uint32_t unanswered);
// Counts the links that the probes of a session crossed, and the probes that links lost. Older
// counts are halved.
void hs_gpint_measure_links(struct hs_gpint_measure *measure, uint32_t crossed, uint32_t lost);

// Returns the share of probes that a link loses.
double hs_gpint_measure_loss(const struct hs_gpint_measure *measure);

// Returns the time after which an answer over n_hops switches is late, or 0 if nothing was
// measured.
int64_t hs_gpint_measure_timeout_ns(const struct hs_gpint_measure *measure, uint32_t n_hops);
// Returns how many attempts to make, so that all of them fail at most once in 10^7 at a switch that
// is there. A switch may lose more than the mean: the share of failures is taken to be half-way
// between the mean and 1.
uint32_t hs_gpint_measure_attempts(const struct hs_gpint_measure *measure);
// Returns how many paths over n switches to plan, at least `least`, so that half of the probes come
// back without recovery.
uint32_t hs_gpint_measure_paths(
		const struct hs_gpint_measure *measure, uint32_t n_switches, uint32_t least);
