// SPDX-License-Identifier: BSD-3-Clause
// What the files of this folder share: the tables' entries, and a report as it was read.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect.h"
#include "collect_hash.h"
#include "collect_layout.h"
#include "collect_table.h"

#include "int.h"
#include "int_report_reader.h"

#include <endian.h>

#define HS_COLLECT_PUSHED     4 // kinds of entries
#define HS_COLLECT_BURST      32
#define HS_COLLECT_KEPT	      256 // bytes of a datagram that was refused
#define HS_COLLECT_SCRATCH    4096
#define HS_COLLECT_LIKE	      64 // bytes of a packet
#define HS_COLLECT_TIME_AT    12 // bytes before the ingress time in 1.0
#define HS_COLLECT_NEAR_HOPS  8
#define HS_COLLECT_WHOLE_PATH UINT32_MAX
#define HS_COLLECT_SECOND_NS  INT64_C(1000000000)
#define HS_COLLECT_HINT_BITS  14
#define HS_COLLECT_KEEP_S     11	// begun, ten whole: nothing but flows gives way meanwhile
#define HS_COLLECT_WINDOW     256	// sequence numbers that are told apart behind the last
#define HS_COLLECT_FAR	      (1 << 24) // ahead of the last: another beginning
#define HS_COLLECT_MAX_PLACES (HS_COLLECT_MAX_HOPS + 1)
#define HS_COLLECT_MAX_POINTS (2 + 4 * HS_COLLECT_MAX_PLACES)

// ---- entries ----

// So many values from `low` on are no event. All ones, which a hop has where it has no value, are
// never among them.
struct hs_collect_band {
	uint32_t low, width;
};

// Where a hop's values were last time: numbers of entries that may be another's by now, or of the
// one behind the last, which is nobody's.
struct hs_collect_hint {
	uint32_t queue, link;
};

struct hs_collect_hop_entry {
	uint32_t node_id;
	uint32_t latency;
	struct hs_collect_band band;
	struct hs_collect_hint at;
};

// What each report needs comes first: with six hops, four lines of the cache.
struct hs_collect_flow_entry {
	_Alignas(64) struct hs_collect_flow_key key;
	uint8_t n_hops;
	uint8_t timed_hops; // n_hops, if all of them have a latency; else 0
	bool has_latency;
	int64_t last_ns;
	uint64_t with_latency; // a bit for each hop, by place
	uint64_t reports;
	uint64_t latency;
	uint64_t latency_low, latency_span; // as a band
	int64_t event_ns;
	struct hs_collect_hop_entry near[HS_COLLECT_NEAR_HOPS];
	// What events need.
	uint32_t near_events[HS_COLLECT_NEAR_HOPS]; // latencies that were events
	uint64_t event_latency;
	int64_t first_ns;
};

// Of the flow of the same number; only flows with so many hops touch the memory.
struct hs_collect_far_hops {
	struct hs_collect_hop_entry hops[HS_COLLECT_MAX_HOPS - HS_COLLECT_NEAR_HOPS];
	uint32_t events[HS_COLLECT_MAX_HOPS - HS_COLLECT_NEAR_HOPS];
};

struct hs_collect_queue_entry {
	_Alignas(64) uint64_t key; // hs_collect_shared_key of node and queue
	struct hs_collect_band band;
	uint32_t occupancy, event_occupancy;
	uint32_t congestion, event_congestion;
	int64_t last_ns;
	uint64_t after_device_ns; // hs_collect_device_ns
	bool has_occupancy, has_congestion, has_q, congested;
};

struct hs_collect_link_entry {
	_Alignas(64) uint64_t key; // of node and port
	struct hs_collect_band band;
	uint32_t utilisation, event_utilisation;
	int64_t last_ns;
	uint64_t after_device_ns;
};

// The bytes of a key are in network order: those of a report need not be turned.
static inline uint64_t hs_collect_shared_key(uint32_t node_id, uint32_t id)
{
	return htobe64((uint64_t)node_id << 32 | id);
}

static inline uint32_t hs_collect_key_node(uint64_t key)
{
	return (uint32_t)(be64toh(key) >> 32);
}

static inline uint32_t hs_collect_key_id(uint64_t key)
{
	return (uint32_t)be64toh(key);
}

// Entries keep the node's time plus 1 ns. 0: the node told none. Reports say this by all ones, to
// which 1 is added without a branch.
static inline uint64_t hs_collect_device_ns(uint64_t after_device_ns)
{
	return after_device_ns ? after_device_ns - 1 : 0;
}

static inline uint64_t hs_collect_after_device_ns(uint64_t device_ns)
{
	return device_ns ? device_ns + 1 : 0;
}

struct hs_collect_drop_entry {
	uint32_t node_id;
	uint8_t reason;
	uint64_t reports, event_reports;
	int64_t first_ns, last_ns, event_ns;
};

struct hs_collect_exporter_key { // 24 bytes without a hole
	uint8_t address[16];
	uint32_t node_id; // 0: the version has it in no key
	uint8_t is_ipv4;
	uint8_t hw_id;
	uint8_t listener;
	uint8_t has_node;
};

struct hs_collect_exporter_entry {
	struct hs_collect_exporter_key key;
	bool has_node;
	uint8_t version;
	uint32_t node_id;
	uint32_t sequence;
	uint32_t known;	    // numbers behind the last, itself included, since the beginning
	uint32_t candidate; // of another beginning
	uint32_t duplicate; // the last one
	uint8_t in_a_row;   // duplicates, each one more than the one before
	bool has_candidate;
	uint64_t seen[HS_COLLECT_WINDOW / 64]; // of those behind the last, by number modulo the
					       // window
	uint64_t datagrams, reports, missing, late, duplicates, restarts;
	int64_t first_ns, last_ns;
};

// ---- a report as it was read ----

enum hs_collect_has {
	HS_COLLECT_HAS_LATENCY = 1 << 0,
	HS_COLLECT_HAS_OCCUPANCY = 1 << 1,
	HS_COLLECT_HAS_CONGESTION = 1 << 2,
	HS_COLLECT_HAS_UTILISATION = 1 << 3,
	HS_COLLECT_HAS_Q = 1 << 4,	   // the report says whether the queue is congested
	HS_COLLECT_HAS_OWN_QUEUE = 1 << 5, // queue_id is known
	HS_COLLECT_HAS_PORT = 1 << 6,
};

// The values of one node. Those behind `latency` are there by `has` alone.
struct hs_collect_values {
	uint8_t has;
	bool q;
	uint32_t node_id; // UINT32_MAX: it did not say
	uint64_t device_ns;
	uint32_t latency;
	uint32_t queue_id, occupancy;
	uint32_t congestion_id, congestion;
	uint32_t port, utilisation;
};

// Whether a report says of its node's queue that it is congested or not, as a bit of `has`.
static inline uint8_t hs_collect_tells_q(const struct hs_collect_values *values)
{
	bool tells = values->q || values->has & HS_COLLECT_HAS_OCCUPANCY;

	return tells && values->has & HS_COLLECT_HAS_OWN_QUEUE ? HS_COLLECT_HAS_Q : 0;
}

struct hs_collect_view {
	_Alignas(64) struct hs_collect_flow_key key;
	uint32_t hash;
	uint32_t flow;	// where it may be, or HS_COLLECT_NONE
	uint32_t added; // to the table by then
	bool has_flow;
	bool has_stack;	   // of INT-MD
	bool partial;	   // the copy ends before the stack does
	bool has_reporter; // own.node_id
	bool has_own;	   // own has values
	bool quick;	   // collect_quick.h may take it
	uint8_t form;	   // enum hs_collect_layout_form
	bool same;	   // like the view before, but for its hops, Q and reporter
	bool dropped;
	uint8_t reason;
	uint8_t n_hops; // whole ones
	uint8_t hop_bytes;
	const uint8_t *hops; // the newest first
	const struct hs_collect_layout *layout;
	const struct hs_collect_dialect *dialect;
	// `more` datagrams behind this one say the same, but for times and hops' values.
	const struct hs_collect_datagram *datagram;
	unsigned more;
	uint64_t device_ns;	      // ingress time
	struct hs_collect_values own; // of the reporter
};

// Bytes of a view whose reporter has no values.
#define HS_COLLECT_VIEW_BARE                                                                       \
	(offsetof(struct hs_collect_view, own) + offsetof(struct hs_collect_values, latency))

static inline void hs_collect_clear_view(struct hs_collect_view *view)
{
	static const struct hs_collect_view none;

	memcpy(view, &none, HS_COLLECT_VIEW_BARE); // not memset, for which some compilers loop
}

// ---- a flow's reports that are no event ----

typedef uint32_t hs_collect_words __attribute__((vector_size(16)));

// What a hop may say: twice four words.
struct hs_collect_bounds {
	_Alignas(64) hs_collect_words low[2];
	hs_collect_words span[2];
};

// What the hops of one flow may say by its path, the newest first.
struct hs_collect_run {
	uint32_t flow;
	uint64_t changes; // it holds as long as this number
	const struct hs_collect_layout *layout;
	uint8_t n_hops, hop_bytes;
	bool good;		    // sums do not wrap
	int at[2];		    // of the two times four words, from a hop's first byte
	unsigned latency_at;	    // which of the first four words
	uint64_t sum_low, sum_span; // band of the sum of latencies above their least ones
	hs_collect_words mask[2];
	struct hs_collect_bounds hops[HS_COLLECT_NEAR_HOPS];
};

// ---- memory of the next datagrams ----

// What is asked for of each buffer, in one of two steps: half of its lines.
struct hs_collect_asks {
	const uint8_t *const *buffer, *const *end;
	size_t head, from, to;
};

// Into the second level of the cache: the first takes less at a time, and is needed meanwhile.
static inline void hs_collect_ask(struct hs_collect_asks *asks)
{
	if (__builtin_expect(asks->buffer == asks->end, 1))
		return;
	const uint8_t *buffer = *asks->buffer++;
	__builtin_prefetch(buffer + asks->head, 0, 2);
	for (size_t at = asks->from; at < asks->to; at += 64)
		__builtin_prefetch(buffer + at, 0, 2);
}

// ---- the collector ----

struct hs_collect {
	struct hs_collect_config config;
	hs_collect_emit *emit;
	void *context;
	struct hs_collect_secret secret;
	struct hs_collect_dialect dialects[3]; // by enum hs_int_report_version
	uint16_t takes;
	bool plain_1_0; // the format is taken as the specification has it
	bool general;	// no fast path: tests compare both
	struct hs_collect_counters counters;

	struct hs_collect_table flows, queues, links, drops, exporters;
	struct hs_collect_flow_entry *flow;
	struct hs_collect_far_hops *far;
	struct hs_collect_queue_entry *queue;
	struct hs_collect_link_entry *link;
	struct hs_collect_drop_entry *drop;
	struct hs_collect_exporter_entry *exporter;
	size_t flow_bytes, far_bytes, queue_bytes, link_bytes; // of pages
	uint32_t last_exporter;

	int64_t now_ns;
	uint32_t second;
	uint32_t set_back_s; // how far the clock was, so far
	int64_t second_ns;   // when the clock's second began
	unsigned n_points;
	unsigned n_views;
	uint64_t changes; // whatever may have changed a bound
	struct hs_collect_asks asks[2];

	int64_t push_began;		    // of this period
	uint32_t pushed[HS_COLLECT_PUSHED]; // entries in it: flows, queues, links, drops
	bool push_runs;

	struct {
		uint8_t bytes[HS_COLLECT_KEPT];
		size_t len, whole_len;
		bool any;
	} first_refused[HS_COLLECT_REFUSALS];

	// Of collect_plain.c: the last datagram, if others of this burst may be like it; else NULL.
	const struct hs_collect_datagram *last;
	struct {
		_Alignas(64) uint8_t packet[HS_COLLECT_LIKE];
		struct hs_collect_view view;
		uint32_t word; // the report's first
	} like;
	// Of reports whose flow is not kept: where the values of each place were last time.
	struct hs_collect_hint strangers[HS_COLLECT_MAX_HOPS];
	// Of theirs, too: by a hash of node, queue and port.
	struct hs_collect_hint hints[1 << HS_COLLECT_HINT_BITS];
	struct hs_collect_point points[HS_COLLECT_MAX_POINTS];
	struct hs_collect_view views[HS_COLLECT_BURST];
	struct hs_collect_run run;
	struct hs_collect_flow told; // for events
	uint8_t scratch[HS_COLLECT_SCRATCH];
};

static inline uint32_t hs_collect_hash_flow(
		const struct hs_collect_secret *secret, const struct hs_collect_flow_key *key)
{
	const uint8_t *at = (const uint8_t *)key;

	return hs_collect_hash_6(secret, hs_collect_word(at), hs_collect_word(at + 8),
			hs_collect_word(at + 16), hs_collect_word(at + 24),
			hs_collect_word(at + 32), key->reporter);
}

// What is left once a report was read: its key, and which paths may take it.
static inline void hs_collect_close_view(
		const struct hs_collect *c, struct hs_collect_view *view, bool intermediate)
{
	bool is_whole = view->has_stack && !intermediate;

	if (!is_whole && !view->has_reporter)
		view->has_flow = false;
	if (!view->has_flow)
		return;
	view->key.reporter = is_whole ? HS_COLLECT_WHOLE_PATH : view->own.node_id;
	view->hash = hs_collect_hash_flow(&c->secret, &view->key);
	view->quick = !c->general && view->n_hops && view->n_hops <= HS_COLLECT_NEAR_HOPS &&
		      !view->has_own && !view->dropped && !view->partial && view->layout->quick;
	// Longer hops than a layout's are of no form that code is made for.
	bool is_plain = view->n_hops && view->hop_bytes == 4 * view->layout->words;
	view->form = is_plain ? view->layout->form : HS_COLLECT_LAYOUT_ANY;
}

// How much of the copy of a packet is the packet's for certain: 2.0 fills it with zeros.
size_t hs_collect_without_fill(uint8_t inner, const uint8_t *packet, size_t bytes);

// What the report's packet says of flow and stack. Returns -1, or why it is refused.
int hs_collect_read_packet(struct hs_collect *c, enum hs_int_report_version version, uint8_t inner,
		bool tracked, const uint8_t *packet, size_t bytes, struct hs_collect_view *view);

// Makes the exporters known that an earlier process left in the memory.
void hs_collect_restore_exporters(struct hs_collect *c);

// Whether the number is the one that nearly always comes.
static inline bool hs_collect_is_next(const struct hs_collect_exporter_entry *e, uint32_t sequence)
{
	return sequence == e->sequence + 1 && !e->has_candidate && !e->in_a_row;
}

// The next `n` numbers came.
static inline void hs_collect_go_on(struct hs_collect_exporter_entry *e, uint32_t n)
{
	uint32_t sequence = e->sequence, most = HS_COLLECT_WINDOW + 1 - e->known;

	e->known += n < most ? n : most;
	e->sequence += n;
	while (n) {
		uint32_t at = sequence % 64, some = n < 64 - at ? n : 64 - at;
		e->seen[sequence % HS_COLLECT_WINDOW / 64] |= UINT64_MAX >> (64 - some) << at;
		sequence += some;
		n -= some;
	}
}

// A datagram of an exporter came with this number.
struct hs_collect_exporter_entry *hs_collect_note_exporter(struct hs_collect *c,
		const struct hs_collect_exporter_key *key, enum hs_int_report_version version,
		uint32_t sequence);

// Takes the reports that were read into the tables, and tells what they changed.
void hs_collect_apply_views(struct hs_collect *c);

void hs_collect_copy_flow(const struct hs_collect *c, uint32_t number, struct hs_collect_flow *out);

// collect_apply.c reads it for each flow.
static inline void hs_collect_prefetch_map(const struct hs_collect *c, uint32_t hash)
{
	const struct hs_u32_map *map = &c->flows.map;

	__builtin_prefetch(&map->places[hs_u32_map_home(map, hash)]);
}

// The view that was filled, c->views[c->n_views], is whole.
static inline void hs_collect_keep_view(struct hs_collect *c, const struct hs_collect_view *view)
{
	c->counters.reports_read++;
	c->counters.reports_partial += view->partial;
	c->counters.reports_without_flow += !view->has_flow;
	hs_collect_prefetch_map(c, view->hash);
	if (++c->n_views == HS_COLLECT_BURST)
		hs_collect_apply_views(c);
}

// ---- events ----

static inline void hs_collect_add_point(struct hs_collect *c, const struct hs_collect_point *point)
{
	c->points[c->n_points++] = *point;
}

void hs_collect_emit_points(struct hs_collect *c, const struct hs_collect_point *points, unsigned n,
		const struct hs_collect_flow *flow);

static inline struct hs_collect_hop_entry *hs_collect_hop_at(
		const struct hs_collect *c, uint32_t flow, unsigned place)
{
	if (place < HS_COLLECT_NEAR_HOPS)
		return &c->flow[flow].near[place];
	return &c->far[flow].hops[place - HS_COLLECT_NEAR_HOPS];
}

// The hop's latency that was an event last.
static inline uint32_t *hs_collect_hop_event_at(
		const struct hs_collect *c, uint32_t flow, unsigned place)
{
	if (place < HS_COLLECT_NEAR_HOPS)
		return &c->flow[flow].near_events[place];
	return &c->far[flow].events[place - HS_COLLECT_NEAR_HOPS];
}

// Whether an entry that was seen at this time has its place in the order of this second.
static inline bool hs_collect_is_placed(const struct hs_collect *c, int64_t last_ns)
{
	return (uint64_t)(last_ns - c->second_ns) < (uint64_t)HS_COLLECT_SECOND_NS;
}

// ---- the flow of a key ----

static inline bool hs_collect_is_flow(
		const struct hs_collect *c, uint32_t number, const struct hs_collect_flow_key *key)
{
	const uint8_t *known = (const uint8_t *)&c->flow[number].key, *asked = (const uint8_t *)key;

	if (number == HS_COLLECT_NONE)
		return false;
	uint64_t differs = (hs_collect_word(known) ^ hs_collect_word(asked)) |
			   (hs_collect_word(known + 8) ^ hs_collect_word(asked + 8)) |
			   (hs_collect_word(known + 16) ^ hs_collect_word(asked + 16)) |
			   (hs_collect_word(known + 24) ^ hs_collect_word(asked + 24)) |
			   (hs_collect_word(known + 32) ^ hs_collect_word(asked + 32));
	return !differs && c->flow[number].key.reporter == key->reporter;
}

static inline uint32_t hs_collect_flow_at(
		const struct hs_collect *c, const struct hs_collect_flow_key *key, uint32_t hash)
{
	uint32_t probe = 0, number;

	do {
		number = hs_u32_map_next(&c->flows.map, hash, &probe);
	} while (number != HS_COLLECT_NONE && !hs_collect_is_flow(c, number, key));
	return number;
}
