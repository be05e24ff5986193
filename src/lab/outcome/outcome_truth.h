// SPDX-License-Identifier: BSD-3-Clause
// What really happened on one hop in one window: to the very packets that were sampled, and over
// the very span that the window states.
//
// Source: docs/metrics.md, rules 7, 8, 11, 16 to 18; the rounding is that of lib/qos, so that equal
// is equal.
// Thread rule: owner.
#pragma once

#include "outcome_flow.h"

struct hs_outcome_truth {
	uint64_t delays; // sampled packets; 0: no delay is known
	int64_t delay_mean_ns, delay_min_ns, delay_p50_ns, delay_p99_ns, delay_max_ns;
	uint64_t pairs; // 0: no jitter is known
	int64_t jitter_ns;

	bool has_counts; // of the span that is stated
	int64_t tx_packets, rx_packets, lost_packets, rx_bytes;
	int64_t span_true_ns; // by true time, at `to`
	bool has_node_loss;
	int64_t node_lost_packets;
	double throughput_bps;
	double loss_ratio; // filled by hs_outcome_points

	bool has_span; // what the window should state, by the clock of `to`
	int64_t span_start_ns, span_end_ns;
	bool mismatch; // and does not

	bool has_window;
	double window_throughput_bps;
	bool has_gap; // the larger of the gaps between reports at the window's ends: bytes in it
	double gap_throughput_bps; // as if all in the window
};

// Room for the delays of a window; values grows as needed.
struct hs_outcome_room {
	int64_t *values;
	size_t capacity;
};

// Of a window that is not stale. 0 or -ENOMEM.
int hs_outcome_truth_of(const struct hs_outcome_flow *flow, const struct hs_measured_window *window,
		const struct hs_measured_hop *hop, struct hs_outcome_ends ends,
		struct hs_outcome_room *room, struct hs_outcome_truth *truth);
