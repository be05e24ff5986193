// SPDX-License-Identifier: BSD-3-Clause
// A worker: what one core needs to take bursts of packets from its receive queues through the
// stages to the transmit queues. Everything mutable in the data path hangs off it.
//
// Thread rule: owner lcore. Control reads counters through hs_worker_snapshot.
#pragma once

#include "flow_worker.h"
#include "packet.h"
#include "port_counters.h"
#include "port_types.h"
#include "profile.h"
#include "report.h"
#include "report_stream.h"
#include "rng.h"

#include <stdatomic.h>
#include <stdint.h>

#include <rte_mbuf.h>

struct hs_egress_worker;
struct hs_exporter;
struct hs_fdb;
struct hs_fib;
struct hs_fib_cache;
struct hs_flexint_templates;
struct hs_label_fragments;
struct hs_label_port;
struct hs_partial_worker;
struct hs_probe_worker;
struct hs_worker;
struct rte_ring;
struct rte_mempool;
struct hs_clock;

// Packets on their way to one port's transmit queue. `slot` and `bytes` are for taking a refused
// packet off its flow's transmit counters.
struct hs_tx_queue {
	uint16_t n;
	uint64_t frame_bytes; // of all of them
	struct rte_mbuf *mbufs[HS_BURST];
	uint32_t slots[HS_BURST];
	uint32_t bytes[HS_BURST];
};

// Share of the pool's buffers in use, in 1/10000, and when it was read.
struct hs_worker_buffer {
	int64_t read_ns;
	uint32_t share;
};

// Places that are reserved in a worker's ring of reports. If they reach the ring's end, the last
// n_wrapped of them are at its begin.
struct hs_report_places {
	struct hs_report_record *next, *end, *wrapped;
	unsigned n, n_wrapped;
	size_t ahead; // bytes from a place that is filled to one that is fetched meanwhile
	bool streams; // records are made in `staged` of the worker and written past the caches
};

// One burst on its way through the stages; entry i of every array is the same packet.
struct hs_burst {
	struct hs_port *in;
	const struct hs_profile *profile; // the profile that reads the burst
	int64_t now_ns;			  // read once, after receive: every packet's receive time
	int64_t stepped_ns;		  // the part of now_ns that steps of the clock added
	int64_t sent_ns;		  // hs_burst_sent_ns; 0: not read
	uint16_t n;
	uint16_t flags;	     // every packet's flags or-ed: a clean burst takes no fault branch
	uint16_t n_received; // 0 outside a burst
	bool unmatched;	     // no packet of it has a rule
	bool chained;	     // some packet is in several segments
	bool changeable;     // hs_room_is_changeable is true of every packet; false: not known
	uint32_t max_bytes;  // of the longest packet as it came in
	uint64_t bytes;	     // of the packets that were received
	struct rte_mbuf *mbufs[HS_BURST];
	struct hs_packet packets[HS_BURST];
	uint32_t slots[HS_BURST]; // rule, or HS_FLOW_NONE
	uint16_t out[HS_BURST];	  // port index, HS_OUT_FLOOD or HS_OUT_DROP + reason
};
#define HS_OUT_FLOOD 0x7fff
#define HS_OUT_DROP  0x8000

// Chooses out[i] for each packet of a burst.
typedef void (*hs_forward_fn)(struct hs_worker *worker, struct hs_burst *burst);

enum hs_forward_kind {
	HS_FORWARD_KIND_PATCH,
	HS_FORWARD_KIND_BRIDGE,
	HS_FORWARD_KIND_ROUTE,
};

struct hs_worker {
	// Control sets these members, which do not change while the worker runs.
	unsigned index;
	uint16_t node_id;
	bool drop_host_telemetry; // else strip
	bool general;		  // no fast path: what the fast path is tested against
	bool has_egress;	  // some port has an egress queue
	uint16_t n_ports;
	hs_forward_fn forward;
	enum hs_forward_kind forward_kind;
	struct hs_exporter *exporter; // NULL: no collector takes reports
	struct hs_port *ports[HS_MAX_PORTS];
	struct hs_profile profiles[HS_MAX_PORTS]; // hs_node_add_port says which a host port has
	uint16_t patch[HS_MAX_PORTS];		  // port index to port index
	struct hs_egress_worker *egress[HS_MAX_PORTS]; // NULL: the port has no queue
	struct hs_label_port *labels[HS_MAX_PORTS];    // NULL: the port does not label; shared
	struct hs_label_fragments *fragments;	       // NULL: no items end here
	struct hs_probe_worker *probe;		       // NULL: no port has probes
	struct hs_fdb *fdb;
	const struct hs_fib *fib;
	struct hs_fib_cache *fib_cache;		// the worker's own
	struct hs_flexint_templates *templates; // likewise
	struct hs_flow_view flows;
	struct rte_ring *reports; // of struct hs_report_record, this worker the only producer
	struct rte_ring *punts;	  // of struct hs_punt, likewise
	struct rte_mempool *pool; // for copies, and for headers without room
	struct hs_clock *clock;
	unsigned (*help)(void *context); // hs_node_set_help; NULL: the worker does not help
	void *help_context;

	// The worker's own.
	struct hs_partial_worker *partial; // NULL: entries have all fields that are asked for
	bool serves;			   // something may be due between bursts: hs_node_serve
	uint32_t kept;			   // one bit for each port that may keep packets
	uint32_t kept_lately;		   // ... that got packets to keep in this round
	struct hs_rng rng;
	_Atomic uint32_t sequence; // odd while a burst is under way: see hs_worker_snapshot
#define HS_WORKER_COUNTER(name, unit, text) uint64_t name;
#include "worker_counter.def"
#undef HS_WORKER_COUNTER
	struct hs_port_counters stats[HS_MAX_PORTS];
	struct hs_report_places report_places;
	struct hs_report_reader report_reader;
	struct hs_report_record staged __rte_cache_aligned;
	struct hs_worker_buffer buffer;
	void *run; // state of a family's fast path for the packets of one run
	struct hs_tx_queue tx[HS_MAX_PORTS];
	struct hs_burst burst;
	struct hs_burst beyond; // packets that cross a border to one port
} __rte_cache_aligned;

// Copies the stats of all ports as they stood between two bursts, so that they add up exactly.
// `stats` has room for worker->n_ports. Called by any thread.
void hs_worker_snapshot(const struct hs_worker *worker, struct hs_port_counters *stats);

// Returns whether something may be due at every round, even where no fragment waits.
static inline bool hs_worker_always_serves(const struct hs_worker *worker)
{
	return worker->has_egress || worker->probe || worker->help;
}

// ---- for the stages ----

// Begins a section that counts, which hs_worker_end ends. hs_worker_snapshot reads no values from
// within a section.
static inline void hs_worker_begin(struct hs_worker *worker)
{
	uint32_t s = atomic_load_explicit(&worker->sequence, memory_order_relaxed);
	atomic_store_explicit(&worker->sequence, s + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static inline void hs_worker_end(struct hs_worker *worker)
{
	uint32_t s = atomic_load_explicit(&worker->sequence, memory_order_relaxed);
	atomic_store_explicit(&worker->sequence, s + 1, memory_order_release);
}

static inline struct hs_port_counters *hs_port_stats_of(struct hs_worker *worker, uint16_t port)
{
	return &worker->stats[port];
}

static inline void hs_event(
		struct hs_worker *worker, const struct hs_burst *burst, enum hs_event_count event)
{
	hs_port_stats_of(worker, burst->in->index)->events[event]++;
}

// Returns when packets of the burst go to their ports: the clock's time, read once, when a family
// first asks.
int64_t hs_burst_read_sent_ns(const struct hs_worker *worker, struct hs_burst *burst);
static inline int64_t hs_burst_sent_ns(const struct hs_worker *worker, struct hs_burst *burst)
{
	return burst->sent_ns ? burst->sent_ns : hs_burst_read_sent_ns(worker, burst);
}

// Returns the time by which periods are measured: it goes on evenly where the clock steps.
static inline int64_t hs_burst_steady_ns(const struct hs_burst *burst)
{
	return burst->now_ns - burst->stepped_ns;
}
