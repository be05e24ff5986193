// SPDX-License-Identifier: BSD-3-Clause
// One flow of the monitor: its newest reports, the links of its paths, and the sums of its open
// windows. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_config.h"
#include "qos_delta.h"
#include "qos_hist.h"
#include "qos_ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_QOS_LINE	    64	 // bytes of a cache line
#define HS_QOS_SEEN	    1024 // newest reports whose source order is remembered
#define HS_QOS_SEEN_FIRST   64	 // at first; HS_QOS_SEEN once a report comes later than so many
#define HS_QOS_SCARCE_LINKS 32	 // of all paths, where memory is scarce
#define HS_QOS_PATHS	    32	 // paths remembered to tell alternation from change
#define HS_QOS_FLOW_LINKS   192	 // links of all paths; the least recently used is replaced
#define HS_QOS_HELD_NS	    1000000000ll // no network holds a packet back for so long

// The sums: the open window, the window before it, the run so far, the longer windows. Tags number
// the shortest windows: tag t is (t - 1, t] times their length.
enum hs_qos_sum_id {
	HS_QOS_CURRENT,
	HS_QOS_CLOSING, // has ended, but late reports may still come
	HS_QOS_RUN,
	HS_QOS_TIER, // the second window length; then one for each longer length
	HS_QOS_SUMS = HS_QOS_TIER + HS_QOS_WINDOWS - 1
};

typedef __int128 hs_qos_wide;

// Members are ordered by cache line: of the first three lines, a report writes two and a half.
struct hs_qos_link_sum {
	hs_qos_wide delay_sum, jitter_sum;
	int64_t delay_min, delay_max;
	uint64_t delay_n, jitter_n;
	int64_t lost, node_lost, tx, rx, rx_bytes;
	int64_t lost_low;	     // the least value that `lost` has had, at most 0
	int64_t rate_bytes, span_ns; // of the steps that have both values
	int64_t span_start_ns, span_end_ns;
	uint32_t has;	  // enum hs_qos_has
	bool differs;	  // the rules at its ends differ, in some part of the window
	bool unpaired;	  // a late report's neighbours were not known
	bool renewed;	  // a node at its ends restarted: no carry
	bool has_arrived; // this, `arrived` and `rfc3550` are the link's, as of
	int64_t arrived;  // the window's end
	uint64_t rfc3550;
	uint64_t lack_loss, lack_rate; // reports without the fields
	struct hs_qos_hist hist;
};

// Local values of the node before a link: qos_local.h.
struct hs_qos_local_sum {
	hs_qos_wide latency_sum;
	uint64_t latency_n;
	uint32_t latency_min, latency_max;
	uint64_t queue_n, queue_sum;
	uint64_t utilisation_n, utilisation_sum;
	uint32_t queue_max, utilisation_max;
	struct hs_qos_hist latency; // around 0
};

struct hs_qos_sum {
	bool open;
	bool path_changed;
	bool clock_stepped;
	bool odd_length; // a step of the sink's clock or a cut changed it: it has no mean rate
	bool partial;	 // some of its reports have fields that others lack
	bool folded;	 // its delays go into the histograms of its links
	uint32_t flags;	 // enum hs_qos_flag
	int64_t tag;	 // of the shortest window; not used for longer ones
	uint64_t reports;
	int64_t first_ns, last_ns;	 // sink times of its reports
	struct hs_qos_link_sum *links;	 // [link_capacity]
	struct hs_qos_local_sum *locals; // [link_capacity]; NULL: the family has none
};

// The carry of rule 14 for one window length.
struct hs_qos_carry {
	int64_t packets; // below 0: a surplus
	uint32_t age;	 // windows since the last surplus
};

// A link between two nodes that were neighbours on some path. Link 0 is end to end. A path may pass
// the same two nodes again (a loop, or nodes without an own id). Each visit is a separate link, so
// a report has at most one value for a link.
struct hs_qos_link {
	uint32_t from, to;
	uint8_t visit; // 0: the first on its path
	bool has_origin, has_ordered, has_arrived;
	int64_t origin;	  // of the histograms: the epoch's first delay
	int64_t ordered;  // delay of the newest in source order
	int64_t arrived;  // delay of the newest in arrival order
	uint64_t rfc3550; // smoothed jitter times 16
	struct hs_qos_carry carry[HS_QOS_WINDOWS];
	uint32_t negative; // shortest windows with negative loss in a row
	int64_t surplus;   // excess packets received in these windows
	bool differs;	   // the rules at its ends differ
	bool has_base;	   // base_ns: the least delay of the windows that ended, qos_clock_steps.h
	int64_t base_ns;
	uint64_t used; // the newest plan that needs it
	uint64_t born; // number of its first report; no older report is of this link
};

struct hs_qos_seen {
	int64_t order;
	uint64_t number;
};

// Counts of a path's nodes at the newest report with all entries, and sums over such reports since:
// qos_entries.h.
struct hs_qos_entry_counts {
	bool marked, has_source;
	uint32_t source, sink;
	uint32_t rx[HS_TELEMETRY_MAX_HOPS], tx[HS_TELEMETRY_MAX_HOPS];
	int32_t missing[HS_QOS_MAX_LINKS]; // packets on the way to each node, and to the sink
	int32_t sent;
	uint32_t whole, lacking; // reports with all entries, and others
};

// State while paths alternate.
struct hs_qos_entries {
	bool several; // some path is no part of the longest
	int64_t several_ns;
	uint16_t n;
	uint32_t source; // of the longest; HS_NODE_UNKNOWN: its reports do not say which node it is
	uint32_t nodes[HS_TELEMETRY_MAX_HOPS]; // of the longest
	struct hs_qos_entry_counts counts;
};

struct hs_qos_path {
	uint64_t hash;
	uint64_t edge; // number of the newest edge on it
	int64_t ts_ns;
};

// A finished window, with the memory that its pointers point to.
struct hs_qos_slot {
	struct hs_qos_window window;
	bool filled;
	uint32_t capacity; // hops
	uint32_t path[HS_TELEMETRY_MAX_HOPS + 2];
};

// All of a flow that a report touches which is only placed: one line of the cache. The monitor has
// these lines in an array, so that they stay in the cache when thousands of flows report in turn.
struct hs_qos_place {
	_Alignas(HS_QOS_LINE) uint8_t *at; // where the next report is placed
	uint32_t left;			   // reports that may be placed from `at` on
	uint16_t placed;		   // that the ring does not know of: hs_qos_gather
	bool offered;			   // the flow is offered: qos_offer.h
	int64_t after_ns, until_ns;	   // sink times of such reports
	int64_t tag;
	const struct hs_telemetry_family *family;
	uint32_t ns_id, generation, sink_id, slot_bytes; // of the flow and its ring
};
static_assert(sizeof(struct hs_qos_place) == HS_QOS_LINE, "one line");

struct hs_qos_flow {
	uint32_t ns_id, generation;
	uint32_t sink_id;
	bool expected;		    // set by hs_qos_absorb_expect
	uint32_t offer;		    // where the flow is offered: qos_offer.h
	_Atomic bool helped;	    // the thread that took the offer is done
	struct hs_qos_place *place; // NULL: no report is placed
	struct hs_qos_ring ring;

	uint32_t app_id;
	bool general; // hs_qos_config
	uint32_t slack;
	struct hs_qos_limits limits;
	int64_t pace_packets, pace_ns; // since the last rate was noted
	uint32_t lasting; // shortest windows in a row that are no chance: 3 s, at least 3 windows

	// Edges: the newest report in source order, and the newest before the current window.
	bool has_edge, has_closing_edge;
	bool closing_moves; // late reports may move the closing edge
	bool new_time;	    // the sink's clock stepped since the edge
	uint64_t edges;
	int64_t edge_order, closing_order;
	uint64_t edge_number; // of the edge's report
	int64_t path_since;   // order of the first report in a row that came by the edge's path
	struct hs_report edge, closing_edge;
	struct hs_qos_step *last_step; // scratch of the monitor
	uint16_t n_path_links;
	uint16_t path_links[HS_QOS_MAX_LINKS]; // of the edge's path
	// All reports from this number on are of this path and have all fields, in narrow entries.
	uint64_t common_from;
	uint64_t plans;	     // made with links to be found
	uint32_t resets;     // transit resets in a row
	uint32_t stragglers; // reports in a row that look older than the epoch
	bool restarted;	     // the source restarted; its values at that report:
	uint32_t restart_tx_packets;
	uint64_t restart_ts_ns;
	int64_t restart_sink_ts_ns;
	uint32_t late_in_row; // reports older than the edge, each newer than
	int64_t late_order;   // the one before: the last of them
	// Packets that were sent and not received, so that they may still come late: of the last
	// `slack` packets sent, and of the packets before.
	int64_t missing, missing_before, missing_sent;
	int64_t deficit;	// sent and not received since the epoch began: lost, or on the way
	uint32_t disagreements; // steps in a row in which more arrived than was sent

	uint64_t stepped; // mask of clocks that stepped at this report: qos_clock_steps.h
	int64_t base_tag; // in windows after this tag no clock has stepped since
	bool sink_tells;  // hs_qos_config.tells_steps, if the sink is this node

	bool multipath;
	uint64_t multipath_edge; // when the path last changed
	int64_t multipath_ns;
	uint16_t n_common;
	uint32_t common[HS_TELEMETRY_MAX_HOPS]; // nodes that all alternating paths have
	struct hs_qos_path paths[HS_QOS_PATHS];
	struct hs_qos_entries entries;

	// A circular buffer of the newest reports, in source order.
	struct hs_qos_seen *seen; // [seen_capacity], a power of two
	uint32_t seen_head, n_seen, seen_capacity;
	uint64_t seen_from; // number of the first report that others may be paired with
	bool seen_lost;	    // some reports since are not remembered
	struct hs_qos_seen first_seen[HS_QOS_SEEN_FIRST];

	int64_t met_ns;		  // sink time of the first report
	uint64_t unknown_packets; // that the source had counted before it; UINT64_MAX without count

	uint64_t charged;     // bytes of the monitor's limit
	uint64_t built_bytes; // of histograms and finished windows, when a window last ended
	bool large;	      // takes more than a common flow
	bool scarce;	      // memory is scarce: fewer links are kept
	uint16_t plan_links;  // the most that the current plan may need at once

	uint64_t unfolded; // number of the first report whose delays are in no histogram
	uint16_t n_links;
	uint16_t link_capacity;
	uint8_t n_sums; // in use
	bool rules_differ;
	bool partial;		    // qos_partial.h
	struct hs_qos_marks *marks; // [link_capacity]; NULL: none yet
	struct hs_qos_link *links;
	struct hs_qos_sum sums[HS_QOS_SUMS];
	int64_t newest_ts_ns; // sink time
	uint64_t epochs, late_reports;

	int64_t stagger_ns; // hs_qos_config.stagger_ns, for this flow
	int64_t close_tag;  // of the next window to close
	int64_t close_at_ns;
	struct hs_qos_flow *next, *prev; // flows with windows to close
	bool active;
	struct hs_qos_slot latest[HS_QOS_WINDOWS];
};

// How a report relates to the reports before it, in source order.
enum hs_qos_relation {
	HS_QOS_FIRST,
	HS_QOS_NEWER,
	HS_QOS_LATE,	  // older in source order than one that came before
	HS_QOS_DUPLICATE, // as old as the newest
	HS_QOS_STRAGGLER, // of an epoch before
	HS_QOS_NEW_EPOCH, // the first of a new epoch
};

// What a report will change, determined before anything changes.
struct hs_qos_plan {
	enum hs_qos_relation relation;
	int64_t order;
	bool same_path;
	bool partial;  // the step is taken in parts
	bool fast;     // hs_qos_fast_fits; then links and chain are those of the flow's edge
	bool doubtful; // newer, or the first of a new epoch
	unsigned n_path_links;
	uint16_t path_links[HS_QOS_MAX_LINKS];
	uint16_t chain_links[HS_QOS_MAX_LINKS];
	struct hs_qos_chain chain;
};

// Initialises a flow. The configuration is one that hs_qos_create has completed.
void hs_qos_flow_init(struct hs_qos_flow *flow, const struct hs_qos_key *key,
		const struct hs_qos_config *config, uint64_t packets_wrap,
		struct hs_qos_step *scratch);
void hs_qos_flow_fini(struct hs_qos_flow *flow);
// Frees the local values of a sum with this many links in use.
void hs_qos_flow_free_locals(struct hs_qos_sum *sum, unsigned n_links);

// Returns the open sum of the reports with this tag, or NULL: the window is closed.
struct hs_qos_sum *hs_qos_flow_sum(struct hs_qos_flow *flow, int64_t tag);

// Prefetches memory that is needed soon.
static inline void hs_qos_fetch(const void *from, size_t bytes)
{
	const char *at = from, *end = at + bytes;
	for (; end - at > 3 * HS_QOS_LINE; at += 4 * HS_QOS_LINE) {
		__builtin_prefetch(at, 1);
		__builtin_prefetch(at + HS_QOS_LINE, 1);
		__builtin_prefetch(at + 2 * HS_QOS_LINE, 1);
		__builtin_prefetch(at + 3 * HS_QOS_LINE, 1);
	}
	for (; at < end; at += HS_QOS_LINE)
		__builtin_prefetch(at, 1);
}

// Returns the delay end to end of a report that has the source's stamp. A peer's stamp may have any
// value, so the difference may wrap.
static inline int64_t hs_qos_flow_delay(const struct hs_report *report)
{
	return (int64_t)((uint64_t)report->sink_ts_ns - report->telemetry.e2e.ts_ns);
}

// Returns whether a report is from before the source's restart. Its count is above that of the
// first report after the restart, and its stamp is older.
static inline bool hs_qos_flow_is_of_life_before(
		const struct hs_qos_flow *flow, const struct hs_report *report)
{
	const struct hs_e2e *e2e = &report->telemetry.e2e;
	return flow->restarted && report->sink_ts_ns - flow->restart_sink_ts_ns < HS_QOS_HELD_NS &&
	       (int64_t)(e2e->ts_ns - flow->restart_ts_ns) < 0 &&
	       (int32_t)(e2e->tx_packets - flow->restart_tx_packets) > 0;
}

// Returns whether a source without counts shows that its clock was set back: no packet is overtaken
// by so much as the report's stamp is before that of the newest.
static inline bool hs_qos_flow_source_went_back(
		const struct hs_qos_flow *flow, const struct hs_report *report)
{
	const struct hs_e2e *edge = &flow->edge.telemetry.e2e, *e2e = &report->telemetry.e2e;
	const uint16_t order = HS_E2E_TX_PACKETS | HS_E2E_INT_PACKETS | HS_E2E_TIMESTAMP;
	return (edge->bitmap & e2e->bitmap & order) == HS_E2E_TIMESTAMP &&
	       (int64_t)(e2e->ts_ns - edge->ts_ns) < -HS_QOS_HELD_NS;
}

// Returns the id of node i of a path. The source is -1, and the sink is n_hops.
static inline uint32_t hs_qos_flow_node(
		const struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int i)
{
	if (i < 0)
		return telemetry->e2e.node_id;
	if (i == telemetry->n_hops)
		return flow->sink_id;
	return telemetry->hops[telemetry->n_hops - 1 - i].node_id;
}
