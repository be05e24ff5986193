// SPDX-License-Identifier: BSD-3-Clause
// What the nodes published, as a controller would have it: metrics of windows and raw reports, read
// from the very messages (topics "qos.<ns_id>", "report.<ns_id>", "event.<kind>").
//
// Thread rule: owner.
#pragma once

#include "round_trip.h"
#include "scenario.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hs_measured_has {
	HS_MEASURED_THROUGHPUT = 1 << 0,
	HS_MEASURED_WINDOW_THROUGHPUT = 1 << 1,
	HS_MEASURED_DELAY = 1 << 2,
	HS_MEASURED_P50 = 1 << 3,
	HS_MEASURED_P99 = 1 << 4,
	HS_MEASURED_JITTER = 1 << 5,
	HS_MEASURED_LOSS = 1 << 6,
	HS_MEASURED_NODE_LOSS = 1 << 7,
	HS_MEASURED_BYTES = 1 << 8,
	HS_MEASURED_SPAN = 1 << 9,
	HS_MEASURED_RX_PACKETS = 1 << 10, // also where LOSS is not known
};

struct hs_measured_hop {
	uint32_t has;
	uint16_t from, to; // node ids as published
	double throughput_bps, window_throughput_bps, loss_ratio;
	int64_t delay_mean_ns, delay_min_ns, delay_p50_ns, delay_p99_ns, delay_max_ns;
	int64_t jitter_ns;
	int64_t lost_packets, node_lost_packets, tx_packets, rx_packets, rx_bytes;
	int64_t span_start_ns, span_end_ns;
};

enum hs_measured_flag {
	HS_MEASURED_MULTIPATH = 1 << 0,
	HS_MEASURED_RULES_DIFFER = 1 << 1,
	HS_MEASURED_COUNTER_AMBIGUOUS = 1 << 2,
	HS_MEASURED_NEGATIVE_DELAY = 1 << 3,
	HS_MEASURED_EPOCH = 1 << 4,
	HS_MEASURED_COUNTS_MISSING = 1 << 5,
	HS_MEASURED_CLOCK_STEP = 1 << 6,
	HS_MEASURED_BYPASSED = 1 << 7,
	HS_MEASURED_ENTRIES_MISSING = 1 << 8,
	HS_MEASURED_OTHER = 1 << 9, // a flag that this table lacks
};

struct hs_measured_window {
	uint32_t flow;
	uint16_t node_id; // who published it
	int64_t window_ns, start_ns, end_ns;
	uint64_t reports;
	bool stale, path_changed;
	bool clock_known, synchronised;
	uint32_t flags;
	int64_t unattributed_lost_packets;
	uint32_t n_hops;
	struct hs_measured_hop *hops; // source to sink
	struct hs_measured_hop e2e;
};

struct hs_measured;

int hs_measured_create(const struct hs_scenario *scenario, struct hs_measured **measured);
void hs_measured_destroy(struct hs_measured *measured);

// What is added from now on to times of this node's clock, in windows and trips.
void hs_measured_set_ahead(struct hs_measured *measured, uint16_t node_id, int64_t ahead_ns);

// Takes a published message: what is no window, report or event of the scenario is counted only.
// Of reports only those that a round trip needs are read. 0, -EINVAL (no such message can come from
// a node: a bug), -ENOMEM.
int hs_measured_take(struct hs_measured *measured, const char *topic, const char *json);

// Windows of the scenario's window_ns, in the order of start, flow and node; the last one, cut
// short by the end of the run, too. A window that was published twice (its rule was taken out, or
// its node restarted, in the middle of it) is here as it came last.
size_t hs_measured_windows(const struct hs_measured *measured);
const struct hs_measured_window *hs_measured_window(
		const struct hs_measured *measured, size_t index);
// Of a flow over the whole run: an element of the reply of qos_get with "window": "run" (borrowed),
// if it was taken with hs_measured_take_run: 0, -EINVAL or -ENOMEM. The later of several. NULL:
// none. Its node_id is that of the end of its path.
int hs_measured_take_run(struct hs_measured *measured, json_t *qos_report);
const struct hs_measured_window *hs_measured_run(const struct hs_measured *measured, uint32_t flow);

// Trips of a flow's reports, in the order of arrival; only of flows that have a partner: the same
// app_id and entry of traffic, the other direction.
size_t hs_measured_trips(
		const struct hs_measured *measured, uint32_t flow, const struct hs_trip **trips);

struct hs_measured_counters {
	uint64_t windows, reports; // of the scenario's flows, windows of any length
	uint64_t events;
	uint64_t others; // taken, and no use for them
};
void hs_measured_counters(
		const struct hs_measured *measured, struct hs_measured_counters *counters);
