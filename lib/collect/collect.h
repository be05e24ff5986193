// SPDX-License-Identifier: BSD-3-Clause
// What a collector knows: the last values that telemetry reports told of each flow, queue and link,
// and of each exporter how many of its reports are missing. A report that changes something makes
// an event; all others only refresh what is known.
//
// A flow is the 5-tuple of the reported packet, with its VLAN. A report with a stack of hops tells
// the whole path of a flow, unless a node on the way sent it (I). A report without a stack, and one
// with I, tells what one node saw: such a flow is kept for each reporter apart (`reporter`), so
// that it changes no path. Values of queues and links belong to nobody's flow: they are compared
// once, whoever brings them.
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

// When a value is an event: where it differs from the last one that was one by more than
// `absolute`, in the exporter's unit, or, if `relative` is not 0, by more than so many 1/10000 of
// that one.
struct hs_collect_threshold {
	bool off; // never
	uint64_t absolute;
	uint32_t relative;
};

// What may change.
enum hs_collect_measure {
	HS_COLLECT_FLOW_LATENCY, // the sum of the hops' latencies
	HS_COLLECT_HOP_LATENCY,
	HS_COLLECT_QUEUE_OCCUPANCY,
	HS_COLLECT_QUEUE_CONGESTION, // of INT 2016-06 and 0.5: a value of the queue
	HS_COLLECT_LINK_UTILISATION,
	HS_COLLECT_MEASURES,
};

// What a packet with INT looks like in reports of one format.
struct hs_collect_format {
	bool taken;
	struct hs_int_settings packet;
};

struct hs_collect_config {
	struct hs_collect_format formats[3]; // by enum hs_int_report_version
	// Takes what INTCollector's generator sends, which departs from the specifications
	// (docs/wire-int-report.md); strict reports of 0.5 and 1.0 are then read as this generator
	// means them. Their sequence numbers are not judged, because it writes none.
	bool intercollector;
	// Random: nobody who does not know it can choose keys that collide.
	uint64_t secret[4];
	uint32_t max_flows; // at least 1, as all numbers here
	uint32_t max_queues;
	uint32_t max_links;
	uint32_t max_exporters;
	uint32_t max_drops; // pairs of node and reason
	// hs_collect_exporter_bytes of memory that outlives the process, zeroed at first: what
	// sequence numbers told stays known. NULL: the collector has its own.
	void *exporter_memory;
	// A table that is full takes at most so many new keys a second of each kind: the entry that
	// was seen longest ago goes. Of queues, links, exporters and drops, none goes that was seen
	// in the last ten seconds. Other new keys are refused until the next second. Who was seen
	// is known to a second: an entry becomes the newest by its first report in each.
	uint32_t new_keys_per_s;
	struct hs_collect_threshold thresholds[HS_COLLECT_MEASURES];
	// Interval mode: instead of by thresholds, a value is an event where value / interval
	// differs. 0: threshold mode.
	uint64_t interval;
	// A report is an event if the last event of its flow is longer ago than this. 0: never.
	int64_t gap_ns;
	// Each known value is emitted once in this time, as an event: later values are compared
	// with it. 0: never.
	int64_t push_ns;
};

// Fills what a configuration without any key means: all three formats, the settings that the
// specification has for each, and the numbers of docs/collector.md.
void hs_collect_config_init(struct hs_collect_config *config);

// ---- what is known ----

struct hs_collect_flow_key { // compared byte by byte: no byte is without meaning
	uint8_t src[16];     // IPv4: the first four bytes, zeros behind
	uint8_t dst[16];
	uint16_t src_port; // 0 where the protocol has none
	uint16_t dst_port;
	uint16_t vlan; // id of the outermost tag, 0: none
	uint8_t protocol;
	uint8_t is_ipv4;
	uint32_t reporter; // node id where one node told of the flow; 0xffffffff: the whole path
};

struct hs_collect_hop {
	uint32_t node_id; // UINT32_MAX: it did not say
	uint32_t latency; // what the node says, else the difference of its two times
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
	uint64_t latency; // sum of those of the hops that have one
	unsigned n_hops;
	struct hs_collect_hop hops[HS_COLLECT_MAX_HOPS]; // the source first
};

struct hs_collect_queue {
	uint32_t node_id, queue_id; // queue_id UINT32_MAX: the node said none
	bool has_occupancy, has_congestion;
	bool congested; // Q of the last report of this node's own queue
	uint32_t occupancy, congestion;
	int64_t last_ns;
	uint64_t device_ns; // the egress time that came with it, 0: none
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
	bool has_node;	  // 0.5 may say none
	uint32_t node_id; // of the first report
	uint8_t hw_id;
	uint8_t listener; // which of the destinations got the reports
	uint8_t version;  // enum hs_int_report_version of the last
	uint32_t sequence;
	uint64_t datagrams;
	uint64_t reports;
	// A number that was skipped is missing until it comes: missing = skipped - late.
	uint64_t missing;
	uint64_t late;	     // came behind a later one
	uint64_t duplicates; // came twice
	// The number jumped so far, and went on from there, that the exporter began anew.
	uint64_t restarts;
	int64_t first_ns, last_ns;
};

// ---- events ----

enum hs_collect_point_kind {
	HS_COLLECT_POINT_FLOW,	     // value: latency; the path is the flow's
	HS_COLLECT_POINT_HOP,	     // id: the hop's place, 0 at the source; value: latency
	HS_COLLECT_POINT_OCCUPANCY,  // id: queue
	HS_COLLECT_POINT_CONGESTION, // id: queue; value: congestion, or 1/0 where only Q says it
	HS_COLLECT_POINT_LINK,	     // id: egress port; value: utilisation
	// id: reason; value: reports so far. At most one a second of a node and reason.
	HS_COLLECT_POINT_DROP,
	HS_COLLECT_POINT_KINDS,
};

enum hs_collect_cause {
	HS_COLLECT_NEW,	   // the key was not known
	HS_COLLECT_PATH,   // another node, more or fewer of them
	HS_COLLECT_CHANGE, // by more than the threshold
	HS_COLLECT_GAP,	   // no event for gap_ns
	HS_COLLECT_PUSH,   // once in push_ns
	HS_COLLECT_CAUSES,
};

struct hs_collect_point {
	uint8_t kind;  // enum hs_collect_point_kind
	uint8_t cause; // enum hs_collect_cause
	bool has_value;
	bool by_q; // congestion that Q tells
	uint32_t node_id;
	uint32_t id;
	uint64_t value;
	uint64_t before;    // the last value that was an event, where cause is CHANGE
	uint64_t device_ns; // of the node: egress time of a hop, ingress time of a report; 0: none
};

// All that one report changed, or one entry that is pushed. What it points to is the collector's
// until the callback returns.
struct hs_collect_event {
	int64_t time_ns;		    // the collector's
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
// Of the memory that create takes.
uint64_t hs_collect_bytes(const struct hs_collect_config *config);
// Of exporter_memory; what an earlier process of another version wrote has another number.
uint64_t hs_collect_exporter_bytes(const struct hs_collect_config *config);

// The payload of one UDP datagram, and where it came from.
struct hs_collect_datagram {
	const uint8_t *bytes;
	uint32_t len;
	bool is_ipv4;
	uint8_t listener;
	uint8_t address[16]; // of the exporter; IPv4: the first four bytes, zeros behind
};

// Buffers that the call behind the next one may read, and where in each: its first line, and
// `bytes` from `skip` on.
struct hs_collect_ahead {
	void *const *buffers;
	unsigned n;
	size_t skip, bytes;
};

// The next call of hs_collect_take asks for these lines of memory, some with each datagram: so the
// core waits for them and works at a time. Addresses that nothing is at do no harm.
void hs_collect_ahead(struct hs_collect *collect, const struct hs_collect_ahead *ahead);

// Reads datagrams that came at the same time. Each report in them counts as read, or as refused
// for one reason.
void hs_collect_take(struct hs_collect *collect, const struct hs_collect_datagram *datagrams,
		unsigned n, int64_t now_ns);

// Emits what is due to be pushed, at most `budget` entries. Returns when to call again: now_ns
// where more is due.
int64_t hs_collect_push(struct hs_collect *collect, int64_t now_ns, unsigned budget);

// ---- counters ----

// Why a datagram or a report was refused.
enum hs_collect_refusal {
#define HS_COLLECT_REFUSAL(NAME, name, text) HS_COLLECT_REFUSED_##NAME,
#include "collect_counter.def"
	HS_COLLECT_REFUSALS,
};

// 64-bit words only.
struct hs_collect_counters {
#define HS_COLLECT_COUNTER(name, text) uint64_t name;
#include "collect_counter.def"
	uint64_t refused[HS_COLLECT_REFUSALS];
	uint64_t events[HS_COLLECT_POINT_KINDS][HS_COLLECT_CAUSES]; // points
	uint64_t suppressed[HS_COLLECT_POINT_KINDS];		    // values that were no event
};

// May be read by another thread: each word is written by one thread only.
const struct hs_collect_counters *hs_collect_counters(const struct hs_collect *collect);

// The first datagram that was refused for a reason, or NULL. *len: how much of it was kept.
const uint8_t *hs_collect_first_refused(const struct hs_collect *collect,
		enum hs_collect_refusal reason, size_t *len, size_t *whole_len);

// ---- reading the tables ----

// Each copies up to n entries from *cursor on (0: the first) and moves *cursor. Returns how many;
// 0: the end. An entry that stays while others come and go is returned once.
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
// The entry of one flow. False: it is not known.
bool hs_collect_find_flow(const struct hs_collect *collect, const struct hs_collect_flow_key *key,
		struct hs_collect_flow *out);
