// SPDX-License-Identifier: BSD-3-Clause
// The QoS monitor: reports of flows in, metrics of windows out (docs/metrics.md).
//
// Source: 000_616928c59136b059.txt section III-F and algorithm 1, with the corrections that
// docs/metrics.md numbers.
// Thread rule: owner (the control thread). Time is an input; nothing here reads a clock.
#pragma once

#include "qos_window.h"
#include "report.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_QOS_WINDOWS 4    // lengths of windows, at most
#define HS_QOS_REPORTS 1000 // newest reports of a flow that are kept, in at most 320 KiB

struct hs_qos;

struct hs_qos_config {
	uint32_t max_flows; // memory.monitored_rules; reports of further flows are refused
	// 0 in any of these: the default. Lengths ascend, each a multiple of the one before; the
	// first 0 ends them; without any: 1 s, 10 s, 60 s.
	int64_t window_ns[HS_QOS_WINDOWS];
	int64_t lateness_ns;	    // a window closes this long after its end, at most its length
	int64_t stale_ns;	    // a silent flow's last values are repeated this long; 60 s
	uint64_t memory_bytes;	    // of all flows; 0: as much as they take
	uint32_t slack_packets;	    // how far packets may be out of order; 4096
	uint32_t flows_per_advance; // how many flows one hs_qos_advance looks at; 0: all
	// hs_qos_clock_step tells of each step of this node's clock: of flows whose sink it is, no
	// rise of a delay is taken for one.
	bool tells_steps;
	uint16_t node_id;
	bool plain; // no short cut for usual reports: what tests compare with
	// For each finished window, from within hs_qos_report, hs_qos_advance and hs_qos_remove.
	// The window is valid during the call only; the callback must not call the monitor. May be
	// NULL.
	void (*on_window)(void *user, const struct hs_qos_window *window);
	void *user;
};

// A flow is the rule that its reports belong to. `generation` changes when the same ns_id is
// installed with other fields (not when the same request is repeated): then all starts anew, as it
// does where another sink reports.
struct hs_qos_key {
	uint32_t ns_id;
	uint32_t app_id;
	uint32_t generation;
	uint32_t sink_node_id; // the last in every path
};

// What the node knows of its own clock.
struct hs_qos_clock {
	bool known;
	bool synchronised;
	int64_t error_ns, offset_ns;
	// As adjtimex(2) has them.
	int64_t kernel_offset_ns, esterror_ns, maxerror_ns;
	int status;
	uint64_t steps; // a growth marks the windows that are open as not synchronised
};

struct hs_qos_counters {
	uint32_t flows;		// monitored now
	uint64_t reports;	// taken
	uint64_t unmonitored;	// refused: max_flows reached
	uint64_t out_of_memory; // refused: no memory
	uint64_t late_reports;	// older, in source order, than one that had come before
	uint64_t epochs;	// restarts of source, transit or sink, and new generations
	uint64_t windows;	// handed out, the stale ones included
	uint64_t bytes;		// memory of all flows now
};

// 0, -EINVAL (windows that do not divide each other) or -ENOMEM. destroy accepts NULL and hands
// out nothing.
int hs_qos_create(const struct hs_qos_config *config, struct hs_qos **qos);
void hs_qos_destroy(struct hs_qos *qos);

// Takes a report into its flow, which its first report creates. 0; -ENOSPC: the monitor is full
// and the flow is counted but not monitored; -ENOMEM, or -EINVAL where the sink's stamp is of the
// year 2116 or later: nothing changed. Reports of an open window are only kept at first and taken
// together, before anything can tell: one that finds no memory then is counted as out_of_memory
// after all.
int hs_qos_report(struct hs_qos *qos, const struct hs_qos_key *key, const struct hs_report *report);

// Of a flow whose report comes soon: brings what it will touch first near the processor. To be
// called some thirty reports ahead, then some four ahead. Changes nothing.
void hs_qos_expect(const struct hs_qos *qos, uint32_t ns_id);
void hs_qos_expect_next(const struct hs_qos *qos, uint32_t ns_id);

// Closes the windows that ended lateness_ns ago or earlier: some 20 us for each flow with a hundred
// reports. Costs nothing between window ends. With flows_per_advance, call it again while
// hs_qos_next_ns is not later than now.
void hs_qos_advance(struct hs_qos *qos, int64_t now_ns);

// When hs_qos_advance has something to do next; INT64_MAX: nothing before the next report.
int64_t hs_qos_next_ns(const struct hs_qos *qos);

// The clock of this node, for windows that close from now on.
void hs_qos_set_clock(struct hs_qos *qos, const struct hs_qos_clock *clock);
// The clock of this node steps now: what is open of all flows is handed out, marked, and a new
// epoch begins, with windows of the new time.
void hs_qos_clock_step(struct hs_qos *qos);

// Sets flags (enum hs_qos_flag) in the windows that are open of a flow, and in those that repeat
// its last values while it is silent: what the caller knows and reports do not tell. Of a flow that
// is not monitored it does nothing.
void hs_qos_mark(struct hs_qos *qos, uint32_t ns_id, uint32_t flags);

// Hands out what is open and forgets the flow. -ENOENT: it is not monitored.
int hs_qos_remove(struct hs_qos *qos, uint32_t ns_id);
// Hands out what is open of all flows, which stay: before exit, at the end of a test.
void hs_qos_flush(struct hs_qos *qos);

// The newest finished window of this length; NULL: none yet, or silent for stale_ns (or not
// monitored), as of the latest hs_qos_advance. window_ns 0: the run so far, from the first report
// to the newest, open windows included. Valid until the next call on the monitor.
const struct hs_qos_window *hs_qos_latest(struct hs_qos *qos, uint32_t ns_id, int64_t window_ns);

// A window of any place and length, computed from the newest HS_QOS_REPORTS reports. NULL: no
// report in it, or out of memory. Valid until the next call on the monitor.
const struct hs_qos_window *hs_qos_slide(
		struct hs_qos *qos, uint32_t ns_id, int64_t start_ns, int64_t end_ns);

// Calls back for the newest n reports of a flow, oldest first; returns how many. The report is
// valid during the call.
unsigned hs_qos_reports(struct hs_qos *qos, uint32_t ns_id, unsigned n,
		void (*each)(void *user, const struct hs_report *report), void *user);

struct hs_qos_memory {
	uint64_t bytes, limit_bytes; // of all flows now, as of their last growth; 0: no limit
	uint64_t refused; // reports of flows that there was no memory for under the limit
	uint64_t evicted; // flows of many paths that made room for others
};
void hs_qos_memory(const struct hs_qos *qos, struct hs_qos_memory *memory);
// What one flow takes at most, whatever its reports are.
uint64_t hs_qos_most_bytes(void);

void hs_qos_counters(struct hs_qos *qos, struct hs_qos_counters *counters);
