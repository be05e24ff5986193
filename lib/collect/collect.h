// SPDX-License-Identifier: BSD-3-Clause
// A collector of telemetry reports. It keeps the last reported values of each flow, queue and link,
// and how many reports of each exporter are missing. A report that changes a value makes an event.
// All other reports only refresh the values.
//
// A flow is the 5-tuple of the reported packet, with its VLAN. A report with a stack of hops has
// the whole path of a flow, unless a node on the path sent the report (bit I). A report without a
// stack, or with I, has what one node saw. Such a flow has a separate entry for each reporter
// (`reporter`), so that it changes no path. Values of queues and links belong to no flow. They are
// compared with the last values, whichever flow's report has them.
//
// Sources: 003_65ee9e9a062ddd45.txt (INTCollector), sections III and IV; P4.org, Telemetry Report
// Format Specification v0.5, v1.0, v2.0.
// Thread rule: one thread at a time. Nothing reads a clock; nothing allocates after create.
#pragma once

#include "error.h"
#include "int_report.h"
#include "int_settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_COLLECT_MAX_HOPS	 64
#define HS_COLLECT_MAX_LISTENERS 16

// ---- configuration ----

// When a value is an event: it differs from the last value that was an event by more than
// `absolute`, in the exporter's unit. If `relative` is not 0, it must differ by more than so many
// 1/10000 of that last value instead.
struct hs_collect_threshold {
	bool off; // never
	uint64_t absolute;
	uint32_t relative;
};

// The values that have thresholds.
enum hs_collect_measure {
	HS_COLLECT_FLOW_LATENCY, // the sum of the hops' latencies
	HS_COLLECT_HOP_LATENCY,
	HS_COLLECT_QUEUE_OCCUPANCY,
	HS_COLLECT_QUEUE_CONGESTION, // of INT 2016-06 and 0.5: a value of the queue
	HS_COLLECT_LINK_UTILISATION,
	HS_COLLECT_MEASURES,
};

// The form of packets with INT in reports of one format.
struct hs_collect_format {
	bool taken;
	struct hs_int_settings packet;
};

struct hs_collect_config {
	struct hs_collect_format formats[3]; // by enum hs_int_report_version
	// Accepts the reports of INTCollector's generator, which depart from the specifications
	// (docs/wire-int-report.md). Then all reports of 0.5 and 1.0 are read in this generator's
	// format. Their sequence numbers are not checked, because the generator writes none.
	bool intercollector;
	// Random key of the hash. Without it, a sender cannot choose keys that collide.
	uint64_t secret[4];
	uint32_t max_flows; // these numbers are at least 1
	uint32_t max_queues;
	uint32_t max_links;
	uint32_t max_exporters;
	uint32_t max_drops; // pairs of node and reason
	// hs_collect_exporter_bytes of memory that outlives the process, zeroed at first. It keeps
	// the state of the exporters' sequence numbers. NULL: the collector allocates its own.
	void *exporter_memory;
	// Most new keys per second that a full table takes. Each table counts its own. A new key
	// replaces the entry that was seen longest ago. No queue, link, exporter or drop is
	// replaced that was seen in the last ten seconds. Other new keys are refused until the next
	// second. The order has a resolution of a second: an entry becomes the newest by its first
	// report in a second.
	uint32_t new_keys_per_s;
	struct hs_collect_threshold thresholds[HS_COLLECT_MEASURES];
	// Interval mode: a value is an event if value / interval differs. Thresholds are not used.
	// 0: threshold mode.
	uint64_t interval;
	// A report is an event if the last event of its flow is longer ago than this. 0: never.
	int64_t gap_ns;
	// Each known value is emitted once in this time, as an event. Later values are compared
	// with the emitted value. 0: never.
	int64_t push_ns;
};

// Fills in the defaults: all three formats with the settings of their specifications, and the
// numbers of docs/collector.md.
void hs_collect_config_init(struct hs_collect_config *config);

// ---- what is known ----

struct hs_collect_flow_key { // all bytes are compared: it has no padding
	uint8_t src[16];     // IPv4: the first four bytes, then zeros
	uint8_t dst[16];
	uint16_t src_port; // 0 if the protocol has no ports
	uint16_t dst_port;
	uint16_t vlan; // id of the outermost tag, 0: none
	uint8_t protocol;
	uint8_t is_ipv4;
	uint32_t reporter; // node id of the only reporting node; 0xffffffff: the whole path
};

struct hs_collect_hop {
	uint32_t node_id; // UINT32_MAX: not sent
	uint32_t latency; // as the node sent it, else the difference of its two times
	bool has_latency;
};

// A copy of one entry.
struct hs_collect_flow {
	struct hs_collect_flow_key key;
	uint64_t reports;
	int64_t first_ns; // the collector's time
	int64_t last_ns;
	int64_t event_ns; // of the last event
	bool has_latency;
	uint64_t latency;     // sum of the known latencies of hops
	bool entries_missing; // nodes on the path added nothing: they are no hops, and no sum is
			      // known
	unsigned n_hops;
	struct hs_collect_hop hops[HS_COLLECT_MAX_HOPS]; // the source first
};

struct hs_collect_queue {
	uint32_t node_id, queue_id; // queue_id UINT32_MAX: not sent
	bool has_occupancy, has_congestion;
	bool was_congested; // once, by Q of a report that the node sent of its own queue; false
			    // where it said Q ten seconds before the newest value, and not since
	bool congested;	    // by Q of its last one
	uint32_t occupancy, congestion;
	int64_t last_ns;
	uint64_t device_ns; // the egress time of the same hop, 0: none
};

struct hs_collect_link {
	uint32_t node_id, port; // egress port
	uint32_t utilisation;
	int64_t last_ns;
	uint64_t device_ns;
};

struct hs_collect_drop {
	uint32_t node_id;
	uint8_t reason; // as the exporter numbers it
	uint64_t reports;
	int64_t first_ns, last_ns;
};

struct hs_collect_exporter {
	uint8_t address[16]; // IPv4: the first four bytes
	bool is_ipv4;
	bool has_node;	  // 0.5 may have no node id
	uint32_t node_id; // of the first report
	uint8_t hw_id;
	uint8_t listener; // which listener received the reports
	uint8_t version;  // enum hs_int_report_version of the last
	uint32_t sequence;
	uint64_t datagrams;
	uint64_t reports;
	// A skipped sequence number is missing until it comes: missing = skipped - late.
	uint64_t missing;
	uint64_t late;	     // came after a later number
	uint64_t duplicates; // came twice
	// The exporter restarted: the number jumped far and continued from there.
	uint64_t restarts;
	int64_t first_ns, last_ns;
};

// ---- events ----

enum hs_collect_point_kind {
	HS_COLLECT_POINT_FLOW,	     // value: latency; the path is the flow's
	HS_COLLECT_POINT_HOP,	     // id: the hop's place, 0 at the source; value: latency
	HS_COLLECT_POINT_OCCUPANCY,  // id: queue
	HS_COLLECT_POINT_CONGESTION, // id: queue; value: congestion, or 1/0 from Q
	HS_COLLECT_POINT_LINK,	     // id: egress port; value: utilisation
	// id: reason; value: reports so far. Each node and reason has at most one per second.
	HS_COLLECT_POINT_DROP,
	HS_COLLECT_POINT_KINDS,
};

enum hs_collect_cause {
	HS_COLLECT_NEW,	   // the key or value was not known
	HS_COLLECT_PATH,   // another node, or more or fewer nodes
	HS_COLLECT_CHANGE, // by more than the threshold
	HS_COLLECT_GAP,	   // no event for gap_ns
	HS_COLLECT_PUSH,   // once in push_ns
	HS_COLLECT_CAUSES,
};

struct hs_collect_point {
	uint8_t kind;  // enum hs_collect_point_kind
	uint8_t cause; // enum hs_collect_cause
	bool has_value;
	bool by_q; // congestion from bit Q
	uint32_t node_id;
	uint32_t id;
	uint64_t value;
	uint64_t before;    // the last value that was an event, if cause is CHANGE
	uint64_t device_ns; // of the node: egress time of a hop, ingress time of a report; 0: none
};

// All changes of one report, or one entry that is pushed. The collector owns the pointers' targets.
// They are valid until the callback returns.
struct hs_collect_event {
	int64_t time_ns;		    // the collector's
	int64_t told_ns;		    // when the newest report with the entry came
	const struct hs_collect_flow *flow; // NULL: no point is of a flow
	const struct hs_collect_point *points;
	unsigned n_points;
};

typedef void hs_collect_emit(void *context, const struct hs_collect_event *event);

// ---- the collector ----

struct hs_collect;

// Returns 0, -EINVAL with *err, or -ENOMEM. The caller owns *collect; destroy accepts NULL.
int hs_collect_create(const struct hs_collect_config *config, hs_collect_emit *emit, void *context,
		struct hs_collect **collect, struct hs_error *err);
void hs_collect_destroy(struct hs_collect *collect);
// Returns the bytes that hs_collect_create allocates.
uint64_t hs_collect_bytes(const struct hs_collect_config *config);
// Returns the bytes of exporter_memory. Memory of another version of the program has another size.
uint64_t hs_collect_exporter_bytes(const struct hs_collect_config *config);

// The payload and the source of one UDP datagram.
struct hs_collect_datagram {
	const uint8_t *bytes;
	uint32_t len;
	bool is_ipv4;
	uint8_t listener;
	uint8_t address[16]; // of the exporter; IPv4: the first four bytes, then zeros
};

// Buffers that the call after the next one may read. Of each buffer, its first cache line and
// `bytes` from `skip` on are needed.
struct hs_collect_ahead {
	void *const *buffers;
	unsigned n;
	size_t skip, bytes;
};

// Makes the next call of hs_collect_take prefetch these cache lines, some with each datagram, so
// that the core works while memory is read. Invalid addresses do no harm.
void hs_collect_ahead(struct hs_collect *collect, const struct hs_collect_ahead *ahead);

// Reads datagrams that came at the same time. Each report in them is counted as read, as skipped,
// or as refused for one reason.
void hs_collect_take(struct hs_collect *collect, const struct hs_collect_datagram *datagrams,
		unsigned n, int64_t now_ns);

// Emits the entries that are due to be pushed, at most `budget`. Returns when to call again: now_ns
// if more entries are due.
int64_t hs_collect_push(struct hs_collect *collect, int64_t now_ns, unsigned budget);

// ---- counters ----

// Why a datagram or a report was refused.
enum hs_collect_refusal {
#define HS_COLLECT_REFUSAL(NAME, name, text) HS_COLLECT_REFUSED_##NAME,
#include "collect_counter.def"
	HS_COLLECT_REFUSALS,
};

// Has 64-bit words only.
struct hs_collect_counters {
#define HS_COLLECT_COUNTER(name, text) uint64_t name;
#include "collect_counter.def"
	uint64_t refused[HS_COLLECT_REFUSALS];
	uint64_t events[HS_COLLECT_POINT_KINDS][HS_COLLECT_CAUSES]; // points
	uint64_t suppressed[HS_COLLECT_POINT_KINDS];		    // values that were no event
};

// Returns the counters. Another thread may read them: only one thread writes each word.
const struct hs_collect_counters *hs_collect_counters(const struct hs_collect *collect);

// Returns the first datagram that was refused for a reason, or NULL. *len is how many bytes of it
// were kept, and *whole_len is its length.
const uint8_t *hs_collect_first_refused(const struct hs_collect *collect,
		enum hs_collect_refusal reason, size_t *len, size_t *whole_len);

// ---- reading the tables ----

// Each copies up to n entries from *cursor on (0: the first) and advances *cursor. Returns how
// many; 0: the end. An entry that stays in the table while others come and go is returned once.
unsigned hs_collect_flows(const struct hs_collect *collect, uint64_t *cursor,
		struct hs_collect_flow *out, unsigned n);
unsigned hs_collect_queues(const struct hs_collect *collect, uint64_t *cursor,
		struct hs_collect_queue *out, unsigned n);
unsigned hs_collect_links(const struct hs_collect *collect, uint64_t *cursor,
		struct hs_collect_link *out, unsigned n);
unsigned hs_collect_drops(const struct hs_collect *collect, uint64_t *cursor,
		struct hs_collect_drop *out, unsigned n);
unsigned hs_collect_exporters(const struct hs_collect *collect, uint64_t *cursor,
		struct hs_collect_exporter *out, unsigned n);
