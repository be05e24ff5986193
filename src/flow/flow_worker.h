// SPDX-License-Identifier: BSD-3-Clause
// A rule as workers see it: the look-up, and each worker's own counters.
//
// Thread rule: control stores `config`, `fetched` and `changed` of struct hs_flow_worker, and its
// worker clears `changed`. Another worker sets `others`. The worker alone writes the rest, as long
// as workers can see the slot. Other threads read its counters with hs_flow_read. struct
// hs_flow_shared is shared.
#pragma once

#include "flow_by_name.h"
#include "flow_index.h"
#include "flow_mask.h"
#include "flow_pending.h"
#include "flow_slot.h"
#include "port_types.h"
#include "rng.h"
#include "rule.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

// ThreadSanitizer does not see the accesses of assembly.
#ifdef __has_feature
#define HS_FLOW_SEES_ATOMICS __has_feature(thread_sanitizer)
#else
#define HS_FLOW_SEES_ATOMICS __SANITIZE_THREAD__
#endif

struct hs_flow_table;
struct hs_u32_map;
struct rte_hash;

// The part of a live rule that may change, in one word, so that a worker never sees half a change:
// bits 0 to 47 setting (packets, nanoseconds, or 2^32 x probability), 48 to 54 mode, 55 whether
// pending options are ready (flow_pending.h), 56 to 63 flags.
#define HS_FLOW_CONFIG_MODE_SHIFT  48
#define HS_FLOW_CONFIG_FLAGS_SHIFT 56
#define HS_FLOW_CONFIG_SETTING	   ((UINT64_C(1) << 48) - 1)
#define HS_FLOW_PENDING		   0x80 // a bit in the mode's byte that the fast path does not handle
#define HS_FLOW_HOP_ENABLED	   1	// flags; with fields as the node is configured
#define HS_FLOW_EXTRACT		   2	// remove returning reports here
#define HS_FLOW_FIELDS		   4	// hop enabled, with fields of the rule's own
#define HS_FLOW_OFF		   8	// of method int or label, and hop not enabled
#define HS_FLOW_SEEN		   1	// bits of hs_flow_worker.seen
#define HS_FLOW_OWES		   2 // telemetry found no room beside reports and has the next turn
#define HS_FLOW_UNDRAWN		   4 // probability: chance has not decided on the packet that is due

// Three cache lines for each worker and rule (docs/decisions/0002). A packet that comes in, goes
// out and surely gets no telemetry touches only the first. Other workers read only the first two,
// and set `others`.
struct hs_flow_worker {
	uint64_t key[HS_FLOW_KEY_WORDS]; // does not change while workers can see the slot
	// Of packets that were counted at once as received and sent. tx_packets and tx_bytes take
	// back those that were not sent.
	uint64_t through_packets, through_bytes;
	uint8_t not_due;	 // count: the next packets, so many, surely get no telemetry
	_Atomic uint8_t changed; // control sets it after `config`; the worker clears it
	_Atomic uint8_t fetched; // offset of the further line that a look-up fetches; 0: none
	uint8_t seen;		 // HS_FLOW_SEEN and other bits; 0: the flow was not seen yet
	uint32_t spare_period;	 // in which a report last took a spare place; 0: none

	// Of the other packets. What is taken back is subtracted, so that tx may be below 0, modulo
	// 2^64. The sums with through_packets and through_bytes are right.
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t int_packets;
	_Atomic uint64_t config;
	int64_t last_ns; // frequency: when the last period was claimed (a copy of the shared time)
	uint32_t ns_id;
	uint32_t trace_type;

	uint64_t hop_entries, sink_packets, reports_made, reports_lost;
	int64_t last_int_ns; // receive time of the last packet given telemetry here; 0: none
	uint32_t no_room_mtu, no_room_headroom, no_room_option;
	uint16_t mtu_needed;
	_Atomic uint8_t others; // whether another worker, which sets it, has seen the flow
	uint32_t since; // count: packets since the last packet with telemetry, when not_due is 0
	uint32_t generation; // a copy of the shared one
} __rte_aligned(64);
static_assert(sizeof(struct hs_flow_worker) == 192, "memory of a rule: 192 bytes a worker");
static_assert(offsetof(struct hs_flow_worker, rx_packets) == 64, "one hot line");
static_assert(offsetof(struct hs_flow_worker, hop_entries) == 128, "the last line");

// A time before any time of a clock, far enough from the limit that differences do not overflow.
#define HS_FLOW_NEVER_NS (INT64_MIN / 2)

// What the workers share of a rule. A worker touches it only at the first packet of the flow
// (workers), at a packet that may be due (last_ns) or matches rules of several masks (age), and
// when it sums up the other workers' counters (workers).
struct hs_flow_shared {
	_Atomic int64_t last_ns;  // frequency: when a worker last claimed the period
	_Atomic uint32_t workers; // bitmap of workers that have seen the flow
	_Atomic uint32_t generation;
	uint64_t age; // order of installation, for ties between wildcard masks
} __rte_aligned(32);
static_assert(sizeof(struct hs_flow_shared) == 32, "memory of a rule: 32 bytes for all workers");

// Telemetry of a rule in packets that another rule takes (docs/decisions/0003). Only the
// owner writes a worker's shadows. Control zeroes them while no worker sees the slot.
struct hs_flow_shadow {
	uint64_t packets;
	uint64_t rx_packets; // the rule's own count at the last of these packets
	uint32_t by;	     // namespace of the rule that took the last of these packets
};

// Sums of all packets.
struct hs_flow_sums {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, int_packets;
};

// Adds a worker's counters. Any thread.
void hs_flow_read(const struct hs_flow_worker *worker, struct hs_flow_sums *sums);

// The other workers' counts of a rule when a worker last read them. The other workers write these
// counters for each packet. If the counters were read for each packet, their cache lines would move
// between the cores all the time (two workers were slower than one). So they are read at most once
// a burst, and not again within HS_FLOW_OTHERS_NS. The counts are then no older than the packets in
// a worker's queue.
#define HS_FLOW_OTHERS	  HS_BURST // rules
#define HS_FLOW_OTHERS_NS 4000
static_assert((HS_FLOW_OTHERS & (HS_FLOW_OTHERS - 1)) == 0, "a slot's place by its last bits");
struct hs_flow_others {
	int64_t now_ns;	    // time of the burst
	struct hs_rng late; // for draws that hs_flow_due left to the claim
	struct hs_flow_others_place {
		int64_t read_ns;
		uint32_t slot;
		uint32_t generation; // 0: never read
		struct hs_flow_sums sums;
	} places[HS_FLOW_OTHERS];
};

// A worker's access to the table. The view is copied once; the arrays stay in place.
struct hs_flow_view {
	struct hs_flow_worker *own;		  // [slot]
	struct hs_flow_worker *const *workers;	  // [worker][slot]
	struct hs_flow_shared *shared;		  // [slot]
	struct hs_flow_others *others;		  // the worker's own
	struct hs_flow_pending *_Atomic *pending; // [slot], NULL if there was none yet
	struct hs_flow_shadow *shadows;		  // [slot], the worker's own
	const struct hs_u32_map *names;
	const struct rte_hash *hash;
	struct hs_flow_index index; // buckets NULL: every look-up uses the hash
	struct hs_flow_by_name by_name;
	struct hs_flow_masks *const _Atomic *masks; // the list in force
	unsigned worker;
	unsigned n_workers;
	uint32_t n_rules; // slots from here on are of reverse entries, which have no namespace
};
void hs_flow_table_view(struct hs_flow_table *table, unsigned worker, struct hs_flow_view *view);

// Returns the masks for one burst. The masks stay until the worker's next quiescent state.
static inline const struct hs_flow_masks *hs_flow_masks_of(const struct hs_flow_view *view)
{
	return atomic_load_explicit(view->masks, memory_order_acquire);
}

// The most packets of one look-up.
#define HS_FLOW_LOOKUP_MAX 64

// Finds the slots of n (at most HS_FLOW_LOOKUP_MAX) packets: HS_FLOW_NONE where no rule matches. A
// reverse entry's slot is found only if no rule matches. Packets need their DSCP if masks->dscp is
// set; without it, they match no rule that names one. There is one look-up for all whole keys, and
// one for each other mask, until a rule is found. named[i] is the result of hs_flow_by_name_find
// for the namespace in packet i, or HS_FLOW_NONE, and changes no slot. `named` NULL: no packet
// names a rule. Returns whether any packet has a slot.
bool hs_flow_lookup(const struct hs_flow_view *view, const struct hs_flow_masks *masks,
		const struct hs_flow_tuple *tuples, const uint32_t *named, unsigned n,
		uint32_t *slots);

static inline uint32_t hs_flow_lookup_one(
		const struct hs_flow_view *view, const struct hs_flow_key *key)
{
	struct hs_flow_tuple tuple = hs_flow_key_tuple(key);
	uint32_t slot;

	hs_flow_lookup(view, hs_flow_masks_of(view), &tuple, NULL, 1, &slot);
	return slot;
}

// Adds to a counter. Each counter has one writer, so that relaxed order is enough. Compilers make
// three instructions of a relaxed load and store.
static inline void hs_flow_add(uint64_t *counter, uint64_t n)
{
#if defined(__x86_64__) && !HS_FLOW_SEES_ATOMICS
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(n) : "cc");
#else
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
#endif
}

// Subtracts from a counter. A reader that sees it sees all that was added before (hs_flow_read).
static inline void hs_flow_sub(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter - n, __ATOMIC_RELEASE);
}

static inline void hs_flow_set_ns(int64_t *at, int64_t ns)
{
	__atomic_store_n(at, ns, __ATOMIC_RELAXED);
}

static inline void hs_flow_add32(uint32_t *counter, uint32_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

// Handles the first packet of a flow at a worker. From now on, sums include this worker.
void hs_flow_mark_seen(const struct hs_flow_view *view, uint32_t slot);

static inline void hs_flow_count_rx(const struct hs_flow_view *view, uint32_t slot, uint32_t bytes)
{
	struct hs_flow_worker *own = &view->own[slot];
	if (unlikely(!own->seen))
		hs_flow_mark_seen(view, slot);
	hs_flow_add(&own->rx_packets, 1);
	hs_flow_add(&own->rx_bytes, bytes);
}

static inline void hs_flow_count_tx(const struct hs_flow_view *view, uint32_t slot, uint32_t bytes)
{
	struct hs_flow_worker *own = &view->own[slot];
	hs_flow_add(&own->tx_packets, 1);
	hs_flow_add(&own->tx_bytes, bytes);
}

// Counts a packet that comes in and goes out.
static inline void hs_flow_count_through(const struct hs_flow_view *view,
		struct hs_flow_worker *own, uint32_t slot, uint32_t bytes)
{
	if (unlikely(!own->seen))
		hs_flow_mark_seen(view, slot);
	hs_flow_add(&own->through_packets, 1);
	hs_flow_add(&own->through_bytes, bytes);
}

// Subtracts a packet that was counted as sent and is not sent. Packets that a port refused are the
// last of a burst, so that earlier stamps stay right. No stamp at a host has the packets sent.
static inline void hs_flow_uncount_tx(
		const struct hs_flow_view *view, uint32_t slot, uint32_t bytes)
{
	struct hs_flow_worker *own = &view->own[slot];
	hs_flow_sub(&own->tx_packets, 1);
	hs_flow_sub(&own->tx_bytes, bytes);
}

// Sets the time of the burst: until the next call, sums show the other workers' counts of about
// this time.
static inline void hs_flow_begin_burst(const struct hs_flow_view *view, int64_t now_ns)
{
	view->others->now_ns = now_ns;
}

// Returns the sums of the other workers that have seen the flow.
const struct hs_flow_sums *hs_flow_sum_others(const struct hs_flow_view *view, uint32_t slot);

// Returns the counters over all workers that have seen the flow, with the worker's own present
// part.
static inline void hs_flow_sum(
		const struct hs_flow_view *view, uint32_t slot, struct hs_flow_sums *sums)
{
	const struct hs_flow_worker *own = &view->own[slot];

	sums->rx_packets = own->through_packets + own->rx_packets;
	sums->rx_bytes = own->through_bytes + own->rx_bytes;
	sums->tx_packets = own->through_packets + own->tx_packets;
	sums->tx_bytes = own->through_bytes + own->tx_bytes;
	sums->int_packets = own->int_packets;
	if (likely(!atomic_load_explicit(&own->others, memory_order_relaxed)))
		return;
	const struct hs_flow_sums *others = hs_flow_sum_others(view, slot);
	sums->rx_packets += others->rx_packets;
	sums->rx_bytes += others->rx_bytes;
	sums->tx_packets += others->tx_packets;
	sums->tx_bytes += others->tx_bytes;
	sums->int_packets += others->int_packets;
}

// Does the same for what was received. Each counter is read by itself: a wide load of counters that
// were just added to would wait until these stores, and all before them, have reached the cache.
static inline void hs_flow_sum_rx(
		const struct hs_flow_view *view, uint32_t slot, uint64_t *packets, uint64_t *bytes)
{
	const struct hs_flow_worker *own = &view->own[slot];

	*packets = __atomic_load_n(&own->through_packets, __ATOMIC_RELAXED) +
		   __atomic_load_n(&own->rx_packets, __ATOMIC_RELAXED);
	*bytes = __atomic_load_n(&own->through_bytes, __ATOMIC_RELAXED) +
		 __atomic_load_n(&own->rx_bytes, __ATOMIC_RELAXED);
	if (likely(!atomic_load_explicit(&own->others, memory_order_relaxed)))
		return;
	const struct hs_flow_sums *others = hs_flow_sum_others(view, slot);
	*packets += others->rx_packets;
	*bytes += others->rx_bytes;
}

static inline uint8_t hs_flow_config_flags(uint64_t config)
{
	return (uint8_t)(config >> HS_FLOW_CONFIG_FLAGS_SHIFT);
}

// Returns whether the slot is the rule of this namespace. Returns false for a reverse entry's slot.
static inline bool hs_flow_is_of(const struct hs_flow_view *view, uint32_t slot, uint32_t ns_id)
{
	return slot < view->n_rules && view->own[slot].ns_id == ns_id;
}

// Returns the slot of the rule of this namespace, whether the rule takes packets or waits behind
// another. Returns HS_FLOW_NONE if there is none.
uint32_t hs_flow_named(const struct hs_flow_view *view, uint32_t ns_id);
// Returns whether some packets match both rules. Both slots must be of rules.
bool hs_flow_overlap(const struct hs_flow_view *view, uint32_t a, uint32_t b);

static inline bool hs_flow_hop_enabled(const struct hs_flow_worker *own)
{
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);
	return hs_flow_config_flags(config) & HS_FLOW_HOP_ENABLED;
}

// Returns whether the rule is of a method and says that this node adds nothing to its packets.
// `method` is HS_RULE_TRACE_INT or HS_RULE_TRACE_LABEL.
static inline bool hs_flow_is_off(const struct hs_flow_worker *own, uint32_t method)
{
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);
	return hs_flow_config_flags(config) & HS_FLOW_OFF && own->trace_type & method;
}

static inline bool hs_flow_has_fields(const struct hs_flow_worker *own)
{
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);
	return hs_flow_config_flags(config) & HS_FLOW_FIELDS;
}

// Returns the mode, whether or not pending options are ready.
static inline uint8_t hs_flow_config_mode(uint64_t config)
{
	return (uint8_t)(config >> HS_FLOW_CONFIG_MODE_SHIFT) & (uint8_t)~HS_FLOW_PENDING;
}

static inline bool hs_flow_is_pending(const struct hs_flow_worker *own)
{
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);
	return config >> HS_FLOW_CONFIG_MODE_SHIFT & HS_FLOW_PENDING;
}

static inline bool hs_flow_extracts(const struct hs_flow_worker *own)
{
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);
	return hs_flow_config_flags(config) & HS_FLOW_EXTRACT;
}
