// SPDX-License-Identifier: BSD-3-Clause
// The rule table: rules as workers look them up, and each worker's own counters of a rule.
//
// Look-ups are lock-free (rte_hash with RCU); changes are made by the control thread alone, cost
// the same at one rule and at a million, and lose no packet. Of overlapping rules the most specific
// wins (fewer wildcard ports), ties go to the older; a rule with the very 5-tuple of an older one
// waits behind it and takes over when that one is removed.
//
// Beside rules there are carriers: hidden entries, without a namespace, for packets that are to
// carry offers (flow_offer.h) where no rule matches them. They are in no count and no list, take no
// place from the rules, are never due, and any rule that matches goes before them.
//
// Thread rule: lookup and worker state by the owner lcore; everything else control.
#pragma once

#include "error.h"
#include "partial_config.h"
#include "rule.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_flow_offer;
struct hs_flow_table;
struct rte_rcu_qsbr;

#define HS_FLOW_NONE UINT32_MAX

struct hs_flow_table_config {
	const char *name;  // unique in the process: DPDK objects are named after it
	uint32_t capacity; // rules
	unsigned n_workers;
	struct rte_rcu_qsbr *qsbr; // workers report quiescent states here
	uint64_t seed;
	struct hs_partial partial; // fields that the node's entries have
};

// Counters of one rule at this node, summed over workers. Packets and bytes by METRICS 1 to 3.
struct hs_flow_counters {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t int_packets;					// telemetry inserted at the source
	uint64_t hop_entries;					// entries inserted in transit
	uint64_t sink_packets;					// telemetry taken out
	uint64_t reports_made, reports_lost;			// handed to the ring, ring full
	uint64_t no_room_mtu, no_room_headroom, no_room_option; // telemetry that did not fit
	uint32_t mtu_needed;	   // the largest MTU that would have fitted, 0 if all did
	int64_t last_int_ns;	   // receive time of the last packet given telemetry here; 0: none
	uint64_t shadowed_packets; // with this rule's telemetry, which another rule took
	uint32_t shadowed_by;	   // namespace of the rule that took the last of them; 0: none
};

int hs_flow_table_create(const struct hs_flow_table_config *config, struct hs_flow_table **table);
void hs_flow_table_destroy(struct hs_flow_table *table);

// Errors: "ns_in_use" (-EEXIST), "table_full" (-ENOSPC), with *err filled and nothing changed.
// *shadowed_by is the ns_id of an older rule with the same 5-tuple, or 0.
int hs_flow_table_install(struct hs_flow_table *table, const struct hs_rule *rule,
		uint32_t *shadowed_by, struct hs_error *err);
// "no_such_rule" (-ENOENT).
int hs_flow_table_remove(struct hs_flow_table *table, uint32_t ns_id, struct hs_error *err);
// Applies to the live rule; workers see it within a burst. -ENOENT or -EINVAL with *err.
int hs_flow_table_update(struct hs_flow_table *table, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err);

// The rule's slot (index into every per-rule array, stable while installed), or HS_FLOW_NONE.
uint32_t hs_flow_table_find(const struct hs_flow_table *table, uint32_t ns_id);
// Valid until the next install or remove.
const struct hs_rule *hs_flow_table_rule(const struct hs_flow_table *table, uint32_t slot);
// Grows with each installation into the slot: tells a replaced rule's reports from the new one's.
uint32_t hs_flow_table_generation(const struct hs_flow_table *table, uint32_t slot);
// The ns_id of the rule that takes packets of this one: the older rule with the same 5-tuple that
// it waits behind, or the one that took packets with its telemetry; or 0.
uint32_t hs_flow_table_shadowed_by(const struct hs_flow_table *table, uint32_t slot);
void hs_flow_table_counters(const struct hs_flow_table *table, uint32_t slot,
		struct hs_flow_counters *counters);
uint32_t hs_flow_table_count(const struct hs_flow_table *table);
uint32_t hs_flow_table_capacity(const struct hs_flow_table *table);
// Iterates over slots in order of installation: *cursor is HS_FLOW_NONE at first; false at the end.
bool hs_flow_table_next(const struct hs_flow_table *table, uint32_t *cursor);

// ---- offers and carriers ----

// What the next packet of a rule's or carrier's flow is to carry: made empty by the first call,
// freed with the slot. NULL: no memory.
struct hs_flow_offer *hs_flow_table_offer(struct hs_flow_table *table, uint32_t slot);
// The same for reports, i below HS_FLOW_LOADS.
struct hs_flow_offer *hs_flow_table_load(struct hs_flow_table *table, uint32_t slot, unsigned i);
// Says whether workers look at them. A rule with in_band starts with true: it waits for its offer,
// and its telemetry with it.
void hs_flow_table_offer_set(struct hs_flow_table *table, uint32_t slot, bool offered);

// Packets of the reversed 5-tuple of `forward` are to find a slot from now on. One carrier serves
// all who ask for the same; each remove takes one back. It stays while rules of its 5-tuple come
// and go. 0 with the carrier's slot, or -ENOSPC: all carriers are in use.
int hs_flow_table_add_carrier(
		struct hs_flow_table *table, const struct hs_rule *forward, uint32_t *slot);
void hs_flow_table_remove_carrier(struct hs_flow_table *table, uint32_t slot);
// The slot that packets of exactly the reversed 5-tuple find now, whose offer they would take: a
// rule's, a less specific rule's, or else a carrier's, HS_FLOW_NONE. Changes with the rules.
uint32_t hs_flow_table_reverse(const struct hs_flow_table *table, const struct hs_rule *forward);

// Frees slots whose grace period is over; call now and then.
void hs_flow_table_reclaim(struct hs_flow_table *table);

// Memory that a table of this capacity takes of DPDK's, for EAL's sizing where it has no huge
// pages.
uint64_t hs_flow_table_bytes(uint32_t capacity, unsigned n_workers);
// What it takes of the process's memory beside that: control's own part, and what is large
// (pages.h).
uint64_t hs_flow_table_heap_bytes(uint32_t capacity, unsigned n_workers);
