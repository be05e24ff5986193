// SPDX-License-Identifier: BSD-3-Clause
// The declarations that the parts of the rule table share: flow_table.c (rules), flow_table_read.c
// (what is asked of rules), flow_reverse.c (reverse entries), flow_table_make.c (allocation and
// size). For src/flow only.
//
// Thread rule: control.
#pragma once

#include "flow_fields.h"
#include "flow_worker.h"

#include "rule.h"
#include "rule_mask.h"
#include "u32_map.h"

#include <rte_common.h>

enum entry_state {
	ENTRY_FREE,
	ENTRY_LIVE,    // in the hash: workers find the slot
	ENTRY_WAITING, // an older rule has the same 5-tuple
	ENTRY_DYING,   // out of the hash, a worker may still hold the slot
};

// Control's data of a rule. Lists contain slots, with HS_FLOW_NONE at their ends.
struct hs_flow_entry {
	struct hs_rule rule;
	union {
		uint64_t token; // dying: the grace period that must pass
		// Live or waiting: ring of the rules with one 5-tuple, oldest first, and behind
		// these rules their reverse entry.
		struct {
			uint32_t tuple_prev, tuple_next;
		};
	};
	int32_t position; // live or dying: where the hash keeps the key
	union {
		uint32_t order_prev; // all installed rules in order of installation
		uint32_t users;	     // number of users of a live reverse entry
	};
	uint32_t order_next; // also links the free and the dying slots
	uint8_t state;	     // enum entry_state
	bool pending;	     // workers look at the slot's pending options
};

struct hs_flow_table {
	uint32_t capacity; // number of rules
	unsigned n_workers;
	struct rte_rcu_qsbr *qsbr;
	struct rte_hash *hash;
	struct hs_flow_entry *entries;
	struct hs_u32_map index;
	struct hs_flow_index places;
	struct hs_flow_by_name by_name; // of the rules that are live
	struct hs_flow_shared *shared;
	struct hs_flow_worker *workers[32];
	struct hs_flow_others *others[32];
	struct hs_flow_shadow *shadows[32];
	struct hs_flow_pending *_Atomic *pending;
	struct hs_flow_field_store fields;
	struct hs_rule_masks rule_masks; // of the rules
	struct hs_flow_mask_set masks;	 // of the keys that workers find
	uint32_t free_head[2];		 // of rules, of reverse entries
	uint32_t dying_head, dying_tail;
	uint32_t order_head, order_tail;
	uint32_t count;
	uint64_t ages;
};

// Returns the number of slots of rules and of reverse entries, which follow them.
static inline uint32_t hs_flow_slots(uint32_t capacity)
{
	return capacity + RTE_MIN(capacity, capacity / 32 + 64);
}

static inline bool hs_flow_is_reverse(const struct hs_flow_table *t, uint32_t slot)
{
	return slot >= t->capacity;
}

// Returns the slot that has exactly this 5-tuple now, or HS_FLOW_NONE.
uint32_t hs_flow_find_tuple(struct hs_flow_table *t, const struct hs_rule *rule);

// Takes a free slot, and waits for grace periods while some are under way. Returns HS_FLOW_NONE if
// all are in use.
uint32_t hs_flow_slot_take(struct hs_flow_table *t, bool reverse);
void hs_flow_slot_free(struct hs_flow_table *t, uint32_t slot);
// Publishes a taken slot whose entry has its rule. *shadowed_by as in hs_flow_table_install.
// Returns 0, or a negative errno with nothing changed.
int hs_flow_slot_enter(struct hs_flow_table *t, uint32_t slot, uint32_t *shadowed_by);
// Unpublishes the slot. It is free again after the grace period.
void hs_flow_slot_leave(struct hs_flow_table *t, uint32_t slot);
