// SPDX-License-Identifier: BSD-3-Clause
// What a run of the lab is given and tells meanwhile, and the counters of its parts at the end, for
// code that computes with them.
//
// Thread rule: owner.
#pragma once

#include "lab_metric.h"
#include "label_truth.h"
#include "measured.h"
#include "queue_truth.h"
#include "scenario.h"
#include "stream.h"
#include "truth.h"

#include "link.h"
#include "metric.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hs_lab_progress {
	int64_t done_ns, duration_ns; // of the run
	uint64_t events, packets;
	double wall_s;
};

struct hs_lab_config {
	const struct hs_scenario *scenario;
	bool real;
	const volatile sig_atomic_t *stop; // not 0: end now, with the results so far; may be NULL
	FILE *packets;			   // a line for each packet on each link (CSV); may be NULL
	void (*progress)(void *context, const struct hs_lab_progress *progress); // some 10 a second
	// The lab calls this function with every message that a node publishes, unchanged, at its
	// true time. At the end, the lab calls this function with the sinks' metrics of the whole
	// run under the topic "run". May be NULL.
	void (*published)(void *context, int64_t now_ns, const char *topic, const char *json);
	void *context; // passed to both functions
};

// The results of a monitoring host's sessions. The results follow from what the host sent and
// received, and from which links and nodes were up. No counter of a node contributes.
//
// Source: 002_e7f573228cf2597b.txt section V.
struct hs_probing_counts {
	HS_PROBING_COUNTS(HS_LAB_COUNT_MEMBER)
	int64_t elapsed_sum_ns, elapsed_max_ns;
	int64_t collected_sum_ns, collected_max_ns; // time until all paths were done
	uint32_t min_hops, max_hops;		    // of paths
	double mean_hops;
	double busiest_pps; // packets per second, of all kinds, that came to the busiest switch
};

// What the engine knows at the end of a run.
struct hs_run {
	const struct hs_scenario *scenario;
	struct hs_truth *truth;
	struct hs_measured *measured;
	struct hs_stream **streams;	     // [n_traffic]
	struct hs_link_counters (*links)[2]; // [n_links][direction], of the whole run
	// The queues in nodes: [2 * link + direction], then [2 * n_links + host]. An entry without
	// a rate is no queue. NULL: there are no queues.
	struct hs_queue_truth *queues;
	struct hs_label_truth *label;		 // NULL: the scenario has none
	const struct hs_probing_counts *probing; // NULL: the same
	int64_t start_ns, end_ns;  // true time; end: of the traffic, before the network drains
	int64_t config_changed_ns; // first change of a link; INT64_MAX: none
	bool partial;		   // interrupted
	bool real;
	double wall_s;	     // 0 in virtual time, so that the same seed gives the same bytes
	uint64_t events;     // run by the loop
	uint64_t node_drops; // of all nodes, all reasons
	struct hs_node_totals *totals; // [n_nodes], summed over all lives of a node; or NULL
	uint64_t dropped_down;	       // frames that reached a node that was down
	json_t *audit; // [{node_id, ok, ...}] of nodes that failed; NULL: none; borrowed
};
