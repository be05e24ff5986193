// SPDX-License-Identifier: BSD-3-Clause
// Types that the files of this folder share: the tables' entries, and a report as it was read.
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
#define HS_COLLECT_LACKING_NS (10 * HS_COLLECT_SECOND_NS) // no whole path, or no Q, for so long
#define HS_COLLECT_KEEP_S     11	// a begun second and ten whole: only flows are replaced
#define HS_COLLECT_WINDOW     256	// latest sequence numbers that are remembered
#define HS_COLLECT_AHEAD      (1 << 16) // a number farther ahead needs one that follows it
#define HS_COLLECT_FAR	      (1 << 24) // a number farther ahead is a restart
#define HS_COLLECT_MAX_PLACES (HS_COLLECT_MAX_HOPS + 1)
#define HS_COLLECT_MAX_POINTS (2 + 4 * HS_COLLECT_MAX_PLACES)

// ---- entries ----

// `width` values from `low` on that are no event. All ones, which stand for no value, are never in
// a band.
struct hs_collect_band {
	uint32_t low, width;
};

// Numbers of the entries that a hop's values had last time. An entry may belong to another key now.
// The number after the last entry stands for no entry.
struct hs_collect_hint {
	uint32_t queue, link;
};

struct hs_collect_hop_entry {
	uint32_t node; // the node's id in network order, so that bytes of a report need no
		       // conversion
	uint32_t latency;
	struct hs_collect_band band;
	struct hs_collect_hint at;
};

static inline uint32_t hs_collect_hop_node(const struct hs_collect_hop_entry *hop)
{
	return be32toh(hop->node);
}

// The members that each report needs are first: four cache lines with six hops.
struct hs_collect_flow_entry {
	_Alignas(64) struct hs_collect_flow_key key;
	uint8_t n_hops;
	uint8_t whole_hops; // n_hops, if the path is whole; else 0
	uint8_t timed_hops; // n_hops, if the path is whole and all hops have a latency; else 0
	bool has_latency;
	int64_t last_ns;
	uint64_t with_latency; // a bit for each hop, by place
	uint64_t reports;
	uint64_t latency;
	uint64_t latency_low, latency_span; // as a band
	int64_t event_ns;
	struct hs_collect_hop_entry near[HS_COLLECT_NEAR_HOPS];
	// Members that only events need.
	uint32_t near_events[HS_COLLECT_NEAR_HOPS]; // latencies that were events
	uint64_t event_latency;
	int64_t first_ns;
	// Members of flows whose path was whole when reports came that lack hops.
	uint64_t lacking_at; // number of the last such report
	int64_t lacking_ns;  // time of the first of those in a row
};

// Returns whether nodes on the path added nothing, so that they are not among the flow's hops.
static inline bool hs_collect_lacks_hops(const struct hs_collect_flow_entry *flow)
{
	return flow->whole_hops != flow->n_hops;
}

// The other hops of the flow with the same number. Only flows with more than HS_COLLECT_NEAR_HOPS
// hops touch this memory.
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
	int64_t congested_ns;	  // when bit Q said so last
	bool has_occupancy, has_congestion, has_q, congested;
	uint32_t second; // that of the entry's place
};

// Returns whether what bit Q said last may be told. A node says Q once when a queue becomes
// congested, and need not say when this ends. If the newest values of the queue came ten seconds
// later, nobody knows.
static inline bool hs_collect_knows_q(const struct hs_collect_queue_entry *queue)
{
	uint64_t since_ns = (uint64_t)(queue->last_ns - queue->congested_ns);

	return queue->has_q && (!queue->congested || since_ns < HS_COLLECT_LACKING_NS);
}

struct hs_collect_link_entry {
	_Alignas(64) uint64_t key; // of node and port
	struct hs_collect_band band;
	uint32_t utilisation, event_utilisation;
	int64_t last_ns;
	uint64_t after_device_ns;
	uint32_t second; // that of the entry's place
};

// Returns a key in network order, so that bytes of a report need no conversion.
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

// Returns a node's time, or 0 if the node sent none. Entries keep the time plus 1 ns. Reports have
// all ones if there is no time, so that adding 1 gives 0 without a branch.
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
	uint32_t node_id; // 0: not part of the key in 0.5
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
	uint32_t known;	    // remembered numbers, the last one included
	uint32_t candidate; // first number of a possible restart or of a jump
	uint32_t duplicate; // the last duplicate
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

// The values of one node. Values from `latency` on are valid only if `has` says so.
struct hs_collect_values {
	uint8_t has;
	bool q;
	uint32_t node_id; // UINT32_MAX: not sent
	uint64_t device_ns;
	uint32_t latency;
	uint32_t queue_id, occupancy;
	uint32_t congestion_id, congestion;
	uint32_t port, utilisation;
};

// Returns HS_COLLECT_HAS_Q if a report says whether its node's queue is congested, else 0.
static inline uint8_t hs_collect_tells_q(const struct hs_collect_values *values)
{
	bool tells = values->q || values->has & HS_COLLECT_HAS_OCCUPANCY;

	return tells && values->has & HS_COLLECT_HAS_OWN_QUEUE ? HS_COLLECT_HAS_Q : 0;
}

struct hs_collect_view {
	_Alignas(64) struct hs_collect_flow_key key;
	uint32_t hash;
	uint32_t flow;	// its probable entry, or HS_COLLECT_NONE
	uint32_t added; // c->flows.added at the look-up of `flow`
	bool has_flow;
	bool has_stack;	   // of INT-MD
	bool partial;	   // the copy ends before the stack does
	bool incomplete;   // by the INT header, nodes added nothing
	bool has_reporter; // own.node_id
	bool has_own;	   // own has values
	bool fast;	   // collect_fast_path.h may take it
	uint8_t form;	   // enum hs_collect_layout_form
	bool same;	   // equal to the view before except for hops, Q and reporter
	bool dropped;
	uint8_t reason;
	uint8_t n_hops; // whole ones
	uint8_t hop_bytes;
	const uint8_t *hops; // the newest first
	const struct hs_collect_layout *layout;
	const struct hs_collect_dialect *dialect;
	// The next `more` datagrams are equal to this one except for times and hops' values.
	const struct hs_collect_datagram *datagram;
	unsigned more;
	uint64_t device_ns;	      // ingress time
	struct hs_collect_values own; // of the reporter
};

// Bytes of a view whose reporter has no values.
#define HS_COLLECT_VIEW_BARE                                                                       \
	(offsetof(struct hs_collect_view, own) + offsetof(struct hs_collect_values, latency))

typedef uint64_t hs_collect_vector __attribute__((vector_size(16)));

static inline hs_collect_vector hs_collect_vector_at(const void *from, size_t at)
{
	hs_collect_vector vector;

	memcpy(&vector, (const uint8_t *)from + at, sizeof(vector));
	return vector;
}

static inline void hs_collect_clear_view(struct hs_collect_view *view)
{
	// Compilers make a slow loop of memset here, so they must not know that these are zeros.
	static const volatile hs_collect_vector zeros;
	const hs_collect_vector none = zeros;

#pragma GCC unroll 16
	for (size_t at = 0; at + sizeof(none) <= HS_COLLECT_VIEW_BARE; at += sizeof(none))
		memcpy((uint8_t *)view + at, &none, sizeof(none));
	memcpy((uint8_t *)view + HS_COLLECT_VIEW_BARE - sizeof(none), &none, sizeof(none));
}

// ---- a flow's reports that are no event ----

typedef uint32_t hs_collect_words __attribute__((vector_size(16)));

// Bounds of a hop's values: two vectors of four words.
struct hs_collect_bounds {
	_Alignas(64) hs_collect_words low[2];
	hs_collect_words span[2];
};

// Bounds of the values of one flow's hops, the newest hop first.
struct hs_collect_run {
	uint32_t flow;
	uint64_t changes; // the bounds are valid while c->changes has this value
	const struct hs_collect_layout *layout;
	uint8_t n_hops, hop_bytes;
	bool good;		    // sums do not wrap
	int at[2];		    // offsets of the two vectors from a hop's first byte
	unsigned latency_at;	    // which of the first four words
	uint64_t sum_low, sum_span; // band of the sum of latencies minus their bounds' `low`
	hs_collect_words mask[2];
	struct hs_collect_bounds hops[HS_COLLECT_NEAR_HOPS];
};

// ---- memory of the next datagrams ----

// The half of each buffer's lines that is prefetched in one of two steps.
struct hs_collect_asks {
	const uint8_t *const *buffer, *const *end;
	size_t head, from, to;
};

// Prefetches into the second level of the cache. The first level can have fewer reads outstanding,
// and is needed for other data.
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
	bool plain_1_0; // 1.0 is taken in the specification's form
	bool general;	// no fast path; tests compare with this
	struct hs_collect_counters counters;

	struct hs_collect_table flows, queues, links, drops, exporters;
	struct hs_collect_flow_entry *flow;
	struct hs_collect_far_hops *far;
	struct hs_collect_queue_entry *queue;
	struct hs_collect_link_entry *link;
	struct hs_collect_drop_entry *drop;
	struct hs_collect_exporter_entry *exporter;
	size_t flow_bytes, far_bytes, queue_bytes, link_bytes; // of pages
	struct hs_collect_exporter_entry *last_exporter;       // NULL: it is not kept

	int64_t now_ns;
	uint32_t second;
	uint32_t set_back_s; // how far the clock was set back in all
	int64_t second_ns;   // when the clock's second began
	unsigned n_points;
	unsigned n_views;
	uint64_t changes; // counts changes that may change a bound
	struct hs_collect_asks asks[2];

	int64_t push_began;		    // of this period
	uint32_t pushed[HS_COLLECT_PUSHED]; // entries pushed in it: flows, queues, links, drops
	bool push_runs;

	struct {
		uint8_t bytes[HS_COLLECT_KEPT];
		size_t len, whole_len;
		bool any;
	} first_refused[HS_COLLECT_REFUSALS];

	// For collect_fast_datagram.c: the last datagram, if later datagrams of this burst may be
	// like it; else NULL.
	const struct hs_collect_datagram *last;
	struct {
		_Alignas(64) uint8_t packet[HS_COLLECT_LIKE];
		struct hs_collect_view view;
		uint32_t word; // the report's first
	} like;
	// For reports whose flow is not kept: the entries of the values of each place.
	struct hs_collect_hint strangers[HS_COLLECT_MAX_HOPS];
	// For the same reports: the entries by a hash of node, queue and port.
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

// Completes the view of a report that was read: its key, and which fast paths may take it.
static inline void hs_collect_close_view(
		const struct hs_collect *c, struct hs_collect_view *view, bool intermediate)
{
	bool is_whole = view->has_stack && !intermediate && !view->dropped;

	if (!is_whole && !view->has_reporter)
		view->has_flow = false;
	if (!view->has_flow)
		return;
	view->key.reporter = is_whole ? HS_COLLECT_WHOLE_PATH : view->own.node_id;
	view->hash = hs_collect_hash_flow(&c->secret, &view->key);
	if (!view->has_stack) {
		view->fast = !c->general && !view->own.has && !view->dropped;
		view->form = HS_COLLECT_LAYOUT_REPORTER;
		return;
	}
	view->fast = !c->general && view->n_hops && view->n_hops <= HS_COLLECT_NEAR_HOPS &&
		     !view->has_own && !view->dropped && !view->partial && !view->incomplete &&
		     view->layout->fast;
	// There is no specialised code for hops that are longer than their layout.
	bool is_plain = view->n_hops && view->hop_bytes == 4 * view->layout->words;
	view->form = is_plain ? view->layout->form : HS_COLLECT_LAYOUT_ANY;
}

// Returns how many bytes of a packet's copy surely belong to the packet. 2.0 fills the copy with
// zeros.
size_t hs_collect_without_fill(uint8_t inner, const uint8_t *packet, size_t bytes);

// Reads flow and stack of the report's packet. Returns -1, or why the report is refused.
int hs_collect_read_packet(struct hs_collect *c, enum hs_int_report_version version, uint8_t inner,
		bool tracked, const uint8_t *packet, size_t bytes, struct hs_collect_view *view);

// Restores the exporters that an earlier process left in exporter_memory. Returns 0 or -ENOMEM.
int hs_collect_restore_exporters(struct hs_collect *c);

// Returns whether a number directly follows the last one, with no possible restart noted.
static inline bool hs_collect_is_next(const struct hs_collect_exporter_entry *e, uint32_t sequence)
{
	return sequence == e->sequence + 1 && !(e->has_candidate | e->in_a_row);
}

// Notes that the next `n` numbers came.
static inline void hs_collect_go_on(struct hs_collect_exporter_entry *e, uint32_t n)
{
	uint32_t sequence = e->sequence;

	if (e->known <= HS_COLLECT_WINDOW) {
		uint32_t most = HS_COLLECT_WINDOW + 1 - e->known;
		e->known += n < most ? n : most;
	}
	e->sequence += n;
	while (n) {
		uint32_t at = sequence % 64, some = n < 64 - at ? n : 64 - at;
		e->seen[sequence % HS_COLLECT_WINDOW / 64] |= UINT64_MAX >> (64 - some) << at;
		sequence += some;
		n -= some;
	}
}

// Notes a datagram of an exporter with this number. Returns the exporter's entry, or NULL: it is
// not kept.
struct hs_collect_exporter_entry *hs_collect_note_exporter(struct hs_collect *c,
		const struct hs_collect_exporter_key *key, enum hs_int_report_version version,
		uint32_t sequence);

// Applies the reports that were read to the tables, and emits the events.
void hs_collect_apply_views(struct hs_collect *c);

void hs_collect_copy_flow(const struct hs_collect *c, uint32_t number, struct hs_collect_flow *out);

// Prefetches the place in the map where collect_apply.c looks a flow up.
static inline void hs_collect_prefetch_map(const struct hs_collect *c, uint32_t hash)
{
	const struct hs_u32_map *map = &c->flows.map;

	__builtin_prefetch(&map->places[hs_u32_map_home(map, hash)]);
}

// Keeps the view c->views[c->n_views], which is complete.
static inline void hs_collect_keep_view(struct hs_collect *c, const struct hs_collect_view *view)
{
	c->counters.reports_read++;
	c->counters.reports_partial += view->partial;
	c->counters.reports_incomplete += view->incomplete;
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

// told_ns: when the newest report with the points' entry came.
void hs_collect_emit_points(struct hs_collect *c, const struct hs_collect_point *points, unsigned n,
		const struct hs_collect_flow *flow, int64_t told_ns);

static inline struct hs_collect_hop_entry *hs_collect_hop_at(
		const struct hs_collect *c, uint32_t flow, unsigned place)
{
	if (place < HS_COLLECT_NEAR_HOPS)
		return &c->flow[flow].near[place];
	return &c->far[flow].hops[place - HS_COLLECT_NEAR_HOPS];
}

// Returns the hop's last latency that was an event.
static inline uint32_t *hs_collect_hop_event_at(
		const struct hs_collect *c, uint32_t flow, unsigned place)
{
	if (place < HS_COLLECT_NEAR_HOPS)
		return &c->flow[flow].near_events[place];
	return &c->far[flow].events[place - HS_COLLECT_NEAR_HOPS];
}

// Returns whether an entry that was seen at this time has its place in the order of this second
// already.
static inline bool hs_collect_is_placed(const struct hs_collect *c, int64_t last_ns)
{
	return (uint64_t)(last_ns - c->second_ns) < (uint64_t)HS_COLLECT_SECOND_NS;
}

// ---- the flow of a key ----

static inline bool hs_collect_is_flow(
		const struct hs_collect *c, uint32_t number, const struct hs_collect_flow_key *key)
{
	const struct hs_collect_flow_key *known = &c->flow[number].key;
	const size_t last = sizeof(*key) - sizeof(hs_collect_vector);

	if (number == HS_COLLECT_NONE)
		return false;
	_Static_assert(sizeof(*key) == 44, "no padding, and three vectors have all of it");
	hs_collect_vector differs =
			(hs_collect_vector_at(known, 0) ^ hs_collect_vector_at(key, 0)) |
			(hs_collect_vector_at(known, 16) ^ hs_collect_vector_at(key, 16)) |
			(hs_collect_vector_at(known, last) ^ hs_collect_vector_at(key, last));
	return !(differs[0] | differs[1]);
}

static inline uint32_t hs_collect_flow_number(
		const struct hs_collect *c, const struct hs_collect_flow_key *key, uint32_t hash)
{
	uint32_t probe = 0, number;

	do {
		number = hs_u32_map_next(&c->flows.map, hash, &probe);
	} while (number != HS_COLLECT_NONE && !hs_collect_is_flow(c, number, key));
	return number;
}
