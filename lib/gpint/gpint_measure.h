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
// A probe over so many switches came back.
void hs_gpint_measure_path(struct hs_gpint_measure *measure, int64_t took_ns, uint32_t n_hops);
// An attempt had an answer, after so many that had none.
void hs_gpint_measure_answer(struct hs_gpint_measure *measure, uint32_t unanswered);
// A session ends: its probes crossed and lost so many links. What is older counts for half.
void hs_gpint_measure_links(struct hs_gpint_measure *measure, uint32_t crossed, uint32_t lost);

// Returns the share of probes that a link loses.
double hs_gpint_measure_loss(const struct hs_gpint_measure *measure);

// Returns the time after which an answer that takes so many hops is late; 0: nothing is known.
int64_t hs_gpint_measure_timeout_ns(const struct hs_gpint_measure *measure, uint32_t n_hops);
// Returns so many attempts that all of them fail once in 10^7 at a switch that is there. A switch
// may lose more than the mean: the share of failures is taken to be half-way between the mean
// and 1.
uint32_t hs_gpint_measure_attempts(const struct hs_gpint_measure *measure);
// Returns so many paths over n switches, at least `least`, that a probe comes back without recovery
// half of the times.
uint32_t hs_gpint_measure_paths(
		const struct hs_gpint_measure *measure, uint32_t n_switches, uint32_t least);
