// SPDX-License-Identifier: BSD-3-Clause
// The nodes' published messages, as a controller would have them: metrics of windows and raw
// reports, read from the messages themselves (topics "qos.<ns_id>" and "report.<ns_id>").
//
// Thread rule: owner.
#pragma once

#include "lab_metric.h"
#include "qos_window.h"
#include "round_trip.h"
#include "scenario.h"
#include "u32_map.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A window as it was published: the values that are needed often, and the message for the rest.
struct hs_measured_window {
	uint32_t flow;
	uint16_t node_id; // the publisher
	int64_t window_ns, start_ns, end_ns;
	uint64_t reports;
	bool stale, path_changed;
	bool clock_known, synchronised;
	uint32_t flags; // enum hs_qos_flag, HS_QOS_OTHER_FLAG
	uint32_t n_hops;
	json_t *body; // owned
};

// The ids of the nodes that a hop lies between; from end to end 0 and the sink.
struct hs_measured_ends {
	bool e2e;
	uint16_t from, to;
};

// Return the published values of a hop, and its ends. Hops are in order from source to sink. The
// index n_hops stands for end to end.
const json_t *hs_measured_hop(const struct hs_measured_window *window, uint32_t index);
struct hs_measured_ends hs_measured_ends(const struct hs_measured_window *window, uint32_t index);

// Returns a number of a hop, or NAN if it was not published. For a delay with percentiles, this is
// the mean. Truth and configured values have the same names.
double hs_measured_number(const json_t *hop, enum hs_lab_metric_kind kind);
// Returns an integer of a hop, or 0 if it was not published.
int64_t hs_measured_integer(const json_t *hop, const char *key);

struct hs_measured_flow {
	struct hs_trip *trips; // of its reports, in the order of arrival; only for pings and their
			       // replies
	size_t n_trips;
	// The metrics over the whole run: an element of the reply of qos_get with "window": "run".
	// Without a body if it was not taken. node_id is that of the end of the path.
	struct hs_measured_window run;
};

struct hs_measured {
	const struct hs_scenario *scenario;
	// Those of length window_ns, in the order of start, flow and node, including a last window
	// that the end of the run cut short. If a window was published twice (its rule was removed,
	// or its node restarted, within it), the last version is kept.
	struct hs_measured_window *windows;
	size_t n_windows;
	struct hs_u32_map by_ns_id; // -> flows[]
	// [index of a node]: what is added to times of the node's clock in windows and trips, from
	// now on.
	int64_t ahead_ns[UINT16_MAX + 1];
	struct hs_measured_flow flows[];
};

// Makes an empty result. The scenario must outlive it. Returns 0 or -ENOMEM. destroy accepts NULL.
int hs_measured_create(const struct hs_scenario *scenario, struct hs_measured **measured);
void hs_measured_destroy(struct hs_measured *measured);

// Takes a published message. Messages that are no window or report of the scenario are ignored.
// Only reports that a round trip needs are read. Returns 0, -ENOMEM, or -EINVAL (no node publishes
// such a message: a bug).
int hs_measured_take(struct hs_measured *measured, const char *topic, const char *json);

// Takes a flow's metrics over the whole run (borrowed). The last one is kept. Returns 0 or -EINVAL.
int hs_measured_take_run(struct hs_measured *measured, json_t *qos_report);
