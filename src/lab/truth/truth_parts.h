// SPDX-License-Identifier: BSD-3-Clause
// What the ground truth holds: written by truth.c, read by truth_read.c. Internal to these.
//
// Thread rule: owner.
#pragma once

#include "index_map.h"
#include "truth.h"

// Of a flow at a node it came by.
struct hs_truth_counts {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint32_t life;
};

struct hs_truth_kept {
	uint64_t number;
	bool copy;
	uint32_t n_stops;
	size_t first_stop; // in the flow's stops
};

// What was known at the sink, from one arrival to the next.
struct hs_truth_state {
	uint64_t number;
	int64_t ns, shown_ns; // of the latest arrival
	uint64_t sink_rx_packets, sink_rx_bytes;
	uint32_t n_stops;
};

// The state at all boundaries from the one behind the edge before up to last_shown_ns.
struct hs_truth_kept_edge {
	int64_t last_shown_ns;
	int64_t passed_ns, passed_shown_ns; // of the arrival that ended the state
	struct hs_truth_state state;
	size_t first_stop;
};

struct hs_truth_sighting {
	int64_t shown_ns;
	uint64_t number;
	uint32_t node;
	size_t report;
};

struct hs_truth_flow {
	struct hs_index_map node_map; // node -> nodes[]
	struct hs_index_map hop_map;  // from, to -> hops[]
	struct hs_truth_counts *nodes;
	struct hs_truth_hop *hops;
	struct hs_truth_kept *reports;
	struct hs_truth_kept_edge *edges;
	struct hs_truth_stop *stops;	     // of reports and edges
	struct hs_truth_sighting *sightings; // sorted; made when first asked for
	size_t n_nodes, nodes_capacity;
	size_t n_hops, hops_capacity;
	size_t n_reports, reports_capacity;
	size_t n_edges, edges_capacity;
	size_t n_stops, stops_capacity;
	size_t n_sightings, sighted_reports;
	bool arrived;
	int64_t first_edge_ns, next_edge_ns; // shown
	struct hs_truth_state state;
	struct hs_truth_stop newest[HS_TRUTH_HOPS + 1]; // state.n_stops of them
};

struct hs_truth {
	struct hs_truth_flow *flows;
	uint32_t n_flows, n_nodes;
	int64_t window_ns;
	int status;
};
