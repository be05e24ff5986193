// SPDX-License-Identifier: BSD-3-Clause
// The metrics of one flow over one window: what the monitor hands out (docs/metrics.md has the
// definition of each number).
//
// Source: 000_616928c59136b059.txt section III-F, with the corrections of docs/metrics.md.
// Thread rule: any; values.
#pragma once

#include "report_json.h"
#include "schema_table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// The values of a hop that could be computed. A value without its bit is unknown, not zero.
enum hs_qos_has {
	HS_QOS_HAS_THROUGHPUT = 1 << 0,	       // throughput_bps
	HS_QOS_HAS_WINDOW_THROUGHPUT = 1 << 1, // window_throughput_bps
	HS_QOS_HAS_DELAY = 1 << 2,	       // delay.mean, min, max
	HS_QOS_HAS_P50 = 1 << 3,
	HS_QOS_HAS_P99 = 1 << 4,  // 100 values or more
	HS_QOS_HAS_P999 = 1 << 5, // 1000 values or more; also pdv_ns
	HS_QOS_HAS_JITTER = 1 << 6,
	HS_QOS_HAS_JITTER_RFC3550 = 1 << 7,
	HS_QOS_HAS_LOSS = 1 << 8, // lost, shown_lost, tx_packets, rx_packets
	HS_QOS_HAS_NODE_LOSS = 1 << 9,
	HS_QOS_HAS_BYTES = 1 << 10,	 // rx_bytes
	HS_QOS_HAS_SPAN = 1 << 11,	 // span_start_ns, span_end_ns
	HS_QOS_HAS_RX_PACKETS = 1 << 12, // rx_packets (also where tx_packets is unknown)
	HS_QOS_HAS_REPORTS = 1 << 13,	 // loss_reports, delay_reports, throughput_reports
	HS_QOS_HAS_HOP_LATENCY = 1 << 14,
	HS_QOS_HAS_QUEUE = 1 << 15,	  // queue_packets
	HS_QOS_HAS_UTILISATION = 1 << 16, // link_utilisation_ratio
	HS_QOS_HAS_LATENCY_P50 = 1 << 17,
	HS_QOS_HAS_LATENCY_P99 = 1 << 18,
};

// Flags that explain the values of a window: the constant, the published word, the bit. EPOCH: a
// node restarted within the window, so that the window's span has a gap. COUNTS_MISSING: a node
// sent no counts although the rule asks for them. CLOCK_STEP: a clock stepped within the window; no
// span crosses the step. BYPASSED: packets bypassed a node of the path. ENTRIES_MISSING: some
// reports lack entries that others have, or the telemetry shows that nodes added none.
// NODES_UNKNOWN: a node sent no id, and the window has no path.
#define HS_QOS_FLAGS(X)                                                                            \
	X(MULTIPATH, multipath, 0)                                                                 \
	X(RULES_DIFFER, rules_differ, 1)                                                           \
	X(COUNTER_AMBIGUOUS, counter_ambiguous, 2)                                                 \
	X(NEGATIVE_DELAY, negative_delay, 3)                                                       \
	X(EPOCH, epoch, 4)                                                                         \
	X(COUNTS_MISSING, counts_missing, 5)                                                       \
	X(CLOCK_STEP, clock_step, 6)                                                               \
	X(BYPASSED, bypassed, 7)                                                                   \
	X(ENTRIES_MISSING, entries_missing, 8)                                                     \
	X(NODES_UNKNOWN, nodes_unknown, 9)

#define HS_QOS_FLAG_BIT(NAME, word, bit) HS_QOS_##NAME = 1 << bit,
enum hs_qos_flag {
	HS_QOS_FLAGS(HS_QOS_FLAG_BIT)
};
extern const struct hs_schema_word hs_qos_flag_words[]; // by bit
// In a window that was read: a flag that this version does not know.
#define HS_QOS_OTHER_FLAG (UINT32_C(1) << 31)

struct hs_qos_delay {
	uint64_t n; // values
	int64_t mean, min, p50, p99, p999, max;
};

// Metrics between two neighbours of the path, or end to end.
struct hs_qos_hop {
	uint32_t has;	   // enum hs_qos_has
	uint32_t from, to; // HS_NODE_UNKNOWN: not published
	uint64_t throughput_bps;
	uint64_t window_throughput_bps;
	struct hs_qos_delay delay;
	uint64_t pdv_ns;
	uint64_t jitter_ns;
	uint64_t jitter_rfc3550_ns;
	int64_t lost_packets;	     // signed: reordering and duplicates can make it negative
	uint64_t shown_lost_packets; // after the carry: the numerator of loss_ratio
	int64_t node_lost_packets;   // inside `to`, between its reception and its transmission
	int64_t tx_packets;	     // sent by `from`
	int64_t rx_packets;	     // received by `to`
	int64_t rx_bytes;	     // received by `to`
	uint64_t loss_reports;	     // reports with the fields of each metric, if some lack fields
	uint64_t delay_reports;
	uint64_t throughput_reports;
	int64_t span_start_ns; // clock of `to`
	int64_t span_end_ns;
	// Local values that the node `from` sent.
	struct {
		uint64_t mean, min, p50, p99, max;
	} hop_latency_ns;
	struct {
		double mean;
		uint32_t max;
	} queue_packets;
	struct {
		double mean, max;
	} link_utilisation_ratio;
};

struct hs_qos_window {
	uint32_t ns_id, app_id;
	int64_t window_ns;	  // length; of the run: end_ns - start_ns
	int64_t start_ns, end_ns; // (start, end] of the sink's clock
	bool run;		  // the whole run so far, not a window of a fixed length
	bool stale;		  // no report came: the numbers are those of age_ns ago
	bool path_changed;
	uint64_t reports;
	int64_t age_ns; // since the newest report, where stale
	uint32_t flags; // enum hs_qos_flag, HS_QOS_OTHER_FLAG
	struct {
		bool known;
		bool synchronised;
		int64_t error_ns;
		bool told; // the node knows its clock's state; the members below are set
		int64_t offset_ns, kernel_offset_ns, esterror_ns, maxerror_ns;
		int status;
	} clock;
	int64_t unattributed_lost_packets; // end-to-end loss that no hop could be charged with
	unsigned n_path, n_hops;
	uint32_t *path; // ids from source (0 if the format has no source id) to sink
	struct hs_qos_hop e2e;
	struct hs_qos_hop *hops; // source to sink
};

// Returns the loss_ratio of a hop: shown loss divided by packets sent, at most 1. Returns 0 if no
// packet was sent.
double hs_qos_loss_ratio(const struct hs_qos_hop *hop);

// Returns {"qos_report": {...}}, or NULL if out of memory. The caller owns it. An `origin` of NULL
// leaves out seq, node_id and boot_id, as in replies.
json_t *hs_qos_window_json(
		const struct hs_qos_window *window, const struct hs_report_origin *origin);
// The rows of the content of a qos_report, for code that prints its members in another form.
extern const struct hs_schema_field hs_qos_window_fields[];
// Returns the JSON Schema of a qos_report, as a new reference. $defs has its parts.
json_t *hs_qos_window_schema(void);

// Reads the content of a qos_report that hs_qos_window_take has accepted: path, hops, end to end,
// flags. Returns 0, -EINVAL or -ENOMEM. The caller frees *window in each case.
int hs_qos_window_read(json_t *content, struct hs_qos_window *window);
void hs_qos_window_free(struct hs_qos_window *window);

// Checks the content of a qos_report that another process sent. Returns whether the members that
// this version knows have the types and ranges above, and ns_id and window_ns are present. Removes
// other members, which a later version may add.
bool hs_qos_window_take(json_t *content);
