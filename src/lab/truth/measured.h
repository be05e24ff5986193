// SPDX-License-Identifier: BSD-3-Clause
// What the nodes published, as a controller would have it: metrics of windows and raw reports, read
// from the very messages (topics "qos.<ns_id>", "report.<ns_id>", "event.<kind>").
//
// Thread rule: owner.
#pragma once

#include "lab_metric.h"
#include "round_trip.h"
#include "scenario.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A window as it was published: what is asked of it often, and the message for the rest.
struct hs_measured_window {
	uint32_t flow;
	uint16_t node_id; // who published it
	int64_t window_ns, start_ns, end_ns;
	int64_t reports;
	bool stale, path_changed;
	bool clock_known, synchronised;
	uint32_t flags; // by bit of hs_lab_flags
	uint32_t n_hops;
	json_t *body; // owned
};

// A hop, source to sink; with index n_hops: end to end.
const json_t *hs_measured_hop(const struct hs_measured_window *window, uint32_t index);
// The ids that a hop lies between; of end to end 0 and the sink.
uint16_t hs_measured_from(const struct hs_measured_window *window, uint32_t index);
uint16_t hs_measured_to(const struct hs_measured_window *window, uint32_t index);

// A number of a hop; NAN where it is not published. A delay is its mean.
double hs_measured_number(const json_t *hop, enum hs_lab_metric_kind kind);
// An integer of a hop, 0 where it is not published.
int64_t hs_measured_integer(const json_t *hop, const char *key);
bool hs_measured_has(const json_t *hop, const char *key);

struct hs_measured;

int hs_measured_create(const struct hs_scenario *scenario, struct hs_measured **measured);
void hs_measured_destroy(struct hs_measured *measured);

// What is added from now on to times of this node's clock, in windows and trips.
void hs_measured_set_ahead(struct hs_measured *measured, uint16_t node_id, int64_t ahead_ns);

// Takes a published message: what is no window or report of the scenario is passed over. Of reports
// only those that a round trip needs are read. 0, -EINVAL (no such message can come from a node: a
// bug), -ENOMEM.
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

// Trips of a flow's reports, in the order of arrival; only of pings and their replies.
size_t hs_measured_trips(
		const struct hs_measured *measured, uint32_t flow, const struct hs_trip **trips);
