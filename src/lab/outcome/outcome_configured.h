// SPDX-License-Identifier: BSD-3-Clause
// What the configuration of traffic and links lets one expect of a hop: the reference of the
// paper's mean absolute error. NAN wherever it does not say.
//
// Source: 000_616928c59136b059.txt section V; docs/lab.md, "Configured".
// Thread rule: owner.
#pragma once

#include "outcome_flow.h"

struct hs_outcome_configured {
	double throughput_bps, delay_ns, jitter_ns, loss_ratio;
	// Standard deviation of one packet's delay, and of one packet's loss: what a mean of n of
	// them is off by is 0.798 times that over the root of n.
	double delay_sigma_ns, loss_sigma;
	// The same of jitter and of pairs, whose neighbours have a packet in common.
	double jitter_sigma_ns;
	// What is left of throughput_bps where telemetry takes its share of links that are full.
	double reachable_bps;
};

struct hs_outcome_path_step {
	const struct hs_link_config *config; // NULL: no such link
	bool shared;			     // other packets than the flow's were on it
	double telemetry_share;		     // of the bytes that it delivered
};

// The links of a report's way; kept from window to window, as is the last sum of uniforms.
struct hs_outcome_path {
	uint32_t n_stops;
	uint32_t nodes[HS_TRUTH_HOPS + 1];
	struct hs_outcome_path_step steps[HS_TRUTH_HOPS];
	size_t n_widths;
	double widths[HS_TRUTH_HOPS];
	double mean_of_widths, sigma_of_widths;
};

// Of the hop between two stops of a report, in the window whose reports are [low, high) of the
// flow's.
void hs_outcome_configured_of(const struct hs_outcome_flow *flow,
		const struct hs_truth_report *report, struct hs_outcome_stops stops, size_t low,
		size_t high, struct hs_outcome_path *path,
		struct hs_outcome_configured *configured);

// When the flow's configured throughput, and its other values, stop being what they were at the
// start of the run: true time, INT64_MAX: never.
int64_t hs_outcome_configured_until(const struct hs_run *run, uint32_t flow, bool throughput);

// Bytes of the traffic's frame as its host makes it; 0: they differ.
uint32_t hs_outcome_frame_bytes(const struct hs_scenario_traffic *traffic);

// E|sum over i of (X_i - Y_i)| with X_i, Y_i uniform in [-widths[i], widths[i]]: by convolution on
// a grid of 2^14 cells, right to one part in ten million.
// sigma: a mean over n pairs of packets, each but the last of a pair the first of the next, has
// sigma over the root of n as its standard deviation.
double hs_outcome_uniform_jitter(const double *widths, size_t n, double *sigma);
