// SPDX-License-Identifier: BSD-3-Clause
// Types of the monitor's inputs and outputs other than windows: configuration, flows, clock,
// counters.
//
// Thread rule: any; values.
#pragma once

#include "qos_window.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_QOS_WINDOWS	4		     // lengths of windows, at most
#define HS_QOS_STALE_NS INT64_C(60000000000) // how long windows repeat a silent flow's last values
#define HS_QOS_REPORTS	1000 // newest reports of a flow that are kept, in at most 320 KiB

struct hs_qos_config {
	uint32_t max_flows; // memory.monitored_rules; reports of further flows are refused
	// In each of these members, 0 stands for the default. The lengths ascend, each a multiple
	// of the one before. The first 0 ends the lengths. The default is 1 s, 10 s, 60 s.
	int64_t window_ns[HS_QOS_WINDOWS];
	int64_t lateness_ns; // a window closes this long after its end, at most its length
	// The windows of each flow close so much later than those of the flow before, at most a
	// quarter of the shortest length later than those of the first flow. 0: all at once.
	int64_t stagger_ns;
	int64_t stale_ns;	    // a silent flow's last values are repeated this long
	uint64_t memory_bytes;	    // the most for all flows; 0: no limit
	uint32_t slack_packets;	    // how far packets may be out of order; default: 4096
	uint32_t flows_per_advance; // how many flows one hs_qos_advance looks at; 0: all
	// The caller calls hs_qos_clock_step at each step of this node's clock. Then a rise of a
	// delay is not taken for a step of this clock, in flows whose sink is this node.
	bool tells_steps;
	uint16_t node_id;
	bool help;    // other threads may call hs_qos_help
	bool general; // no fast path for common reports; tests compare with this
	// Called for each window that is handed out, from within hs_qos_report, hs_qos_advance,
	// hs_qos_remove and hs_qos_clock_step. The window is valid during the call
	// only; the callback must not call the monitor. May be NULL.
	void (*on_window)(void *user, const struct hs_qos_window *window);
	void *user;
};

// A flow is the rule that its reports belong to. `generation` changes when the same ns_id is
// installed with other fields, not when the same request is repeated. The flow's windows, counts
// and reports begin anew with another generation, or with another sink.
struct hs_qos_key {
	uint32_t ns_id;
	uint32_t app_id;
	uint32_t generation;
	uint32_t sink_node_id; // the last in every path
};

// State of the node's own clock.
struct hs_qos_clock {
	bool known;
	bool synchronised;
	int64_t error_ns, offset_ns;
	// From adjtimex(2).
	int64_t kernel_offset_ns, esterror_ns, maxerror_ns;
	int status;
	uint64_t steps; // an increase marks the open windows as not synchronised
};

struct hs_qos_counters {
	uint32_t flows;		// monitored now
	uint64_t reports;	// taken
	uint64_t unmonitored;	// refused: max_flows reached
	uint64_t out_of_memory; // refused: no memory
	uint64_t late_reports;	// older, in source order, than a report before them
	uint64_t epochs;	// restarts of source, transit or sink, and new generations
	uint64_t windows;	// handed out, the stale ones included
	uint64_t bytes;		// memory of all flows now
};

struct hs_qos_memory {
	uint64_t bytes, limit_bytes; // of all flows, as last charged; 0: no limit
	uint64_t refused;	     // reports of new flows that the limit has no room for
	uint64_t evicted;	     // flows that were removed to make room
};
