// SPDX-License-Identifier: BSD-3-Clause
// The rule table: rules in the form in which workers look them up, and each worker's own counters
// of a rule.
//
// Look-ups are lock-free (rte_hash with RCU). Only the control thread makes changes. A change costs
// the same at one rule and at a million, and loses no packet. Of overlapping rules, the most
// specific wins (rule_mask.h), and then the older. A rule that compares exactly the same as an
// older rule waits behind it and takes over when the older rule is removed.
//
// Beside rules there are reverse entries: hidden entries without a namespace. They match packets
// that are to carry pending options (flow_pending.h) where no rule matches these packets. Reverse
// entries are in no count and no list, take no place from the rules, and are never due. Any
// matching rule has priority over them.
//
// Thread rule: lookup and worker state by the owner lcore; everything else control.
#pragma once

#include "error.h"
#include "flow_slot.h"
#include "partial_config.h"
#include "rule.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_flow_pending;
struct hs_flow_table;
struct hs_rule_masks;
struct rte_rcu_qsbr;

struct hs_flow_table_config {
	const char *name;  // unique in the process, because DPDK objects are named after it
	uint32_t capacity; // number of rules
	unsigned n_workers;
	struct rte_rcu_qsbr *qsbr; // workers report quiescent states here
	struct hs_partial partial; // fields that the node's entries have
};

// The counters of one rule at this node, summed over workers. docs/metrics.md, [1] to [3], defines
// packets and bytes.
struct hs_flow_counters {
#define HS_FLOW_COUNTER(name, unit, text) uint64_t name;
#include "flow_counter.def"
#undef HS_FLOW_COUNTER
	uint32_t mtu_needed;	   // the largest MTU that would have been enough, 0 if all did fit
	int64_t last_int_ns;	   // receive time of the last packet given telemetry here; 0: none
	uint64_t shadowed_packets; // packets with this rule's telemetry that another rule took
	uint32_t shadowed_by;	   // namespace of the rule that took the last of them; 0: none
};

int hs_flow_table_create(const struct hs_flow_table_config *config, struct hs_flow_table **table);
void hs_flow_table_destroy(struct hs_flow_table *table);

// Installs a rule. Errors are "ns_in_use" (-EEXIST), "table_full" (-ENOSPC) and "too_many_masks"
// (-EINVAL), with *err filled and nothing changed. *shadowed_by is the ns_id of an older rule with
// the same 5-tuple, or 0.
int hs_flow_table_install(struct hs_flow_table *table, const struct hs_rule *rule,
		uint32_t *shadowed_by, struct hs_error *err);
// Removes a rule. The error is "no_such_rule" (-ENOENT).
int hs_flow_table_remove(struct hs_flow_table *table, uint32_t ns_id, struct hs_error *err);
// Updates the live rule. Workers see the change within a burst. Returns -ENOENT or -EINVAL with
// *err on failure.
int hs_flow_table_update(struct hs_flow_table *table, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err);

// Returns the rule's slot (index into every per-rule array, stable while installed), or
// HS_FLOW_NONE.
uint32_t hs_flow_table_find(const struct hs_flow_table *table, uint32_t ns_id);
// Returns the rule in a slot. The result is valid until the next install or remove.
const struct hs_rule *hs_flow_table_rule(const struct hs_flow_table *table, uint32_t slot);
// Returns a number that grows with each installation into the slot. The number distinguishes a
// replaced rule's reports from the new rule's.
uint32_t hs_flow_table_generation(const struct hs_flow_table *table, uint32_t slot);
// Returns the ns_id of the rule that takes packets of this one: the older rule with the same
// 5-tuple, or the rule that took packets with its telemetry. Returns 0 if there is none.
uint32_t hs_flow_table_shadowed_by(const struct hs_flow_table *table, uint32_t slot);
void hs_flow_table_counters(const struct hs_flow_table *table, uint32_t slot,
		struct hs_flow_counters *counters);
uint32_t hs_flow_table_count(const struct hs_flow_table *table);
// Returns the masks of the rules.
const struct hs_rule_masks *hs_flow_table_masks(const struct hs_flow_table *table);
uint32_t hs_flow_table_capacity(const struct hs_flow_table *table);
// Moves *cursor to the next slot in order of installation. *cursor is HS_FLOW_NONE at first.
// Returns false at the end.
bool hs_flow_table_next(const struct hs_flow_table *table, uint32_t *cursor);

// ---- pending options and reverse entries ----

// Returns the pending options for the next packet of a rule's or reverse entry's flow. The first
// call creates them empty. They are freed with the slot. Returns NULL if memory is out.
struct hs_flow_pending *hs_flow_table_pending(struct hs_flow_table *table, uint32_t slot);
// Does the same for reports; i is below HS_FLOW_LOADS.
struct hs_flow_pending *hs_flow_table_load(struct hs_flow_table *table, uint32_t slot, unsigned i);
// Sets whether workers look at the pending options. A rule with in_band starts with true: its
// telemetry waits until its request is ready and sent.
void hs_flow_table_pending_set(struct hs_flow_table *table, uint32_t slot, bool pending);

// Makes packets of the reversed 5-tuple of `forward` find a slot from now on. One reverse entry
// serves all callers with the same 5-tuple; each hs_flow_table_remove_reverse releases one use. The
// reverse entry stays while rules of its 5-tuple come and go. Returns 0 with the reverse entry's
// slot, or -ENOSPC if all reverse entries are in use or a new one cannot be published.
int hs_flow_table_add_reverse(
		struct hs_flow_table *table, const struct hs_rule *forward, uint32_t *slot);
void hs_flow_table_remove_reverse(struct hs_flow_table *table, uint32_t slot);
// Returns the slot that packets of exactly the reversed 5-tuple find now, whose pending options
// they would take: a rule's, a less specific rule's, otherwise a reverse entry's, or HS_FLOW_NONE.
// The result changes with the rules.
uint32_t hs_flow_table_reverse(const struct hs_flow_table *table, const struct hs_rule *forward);

// Frees slots whose grace period is over. Call this from time to time.
void hs_flow_table_reclaim(struct hs_flow_table *table);

// Returns the memory that a table of this capacity takes from DPDK, for the size of EAL's memory
// without huge pages.
uint64_t hs_flow_table_bytes(uint32_t capacity, unsigned n_workers);
