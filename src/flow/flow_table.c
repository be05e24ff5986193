// SPDX-License-Identifier: BSD-3-Clause
#include "flow_table.h"

#include "flow_table_parts.h"
#include "rule_field.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_hash.h>
#include <rte_rcu_qsbr.h>

static_assert(HS_U32_MAP_NONE == HS_FLOW_NONE, "no slot is no slot");

// ---- order of installation ----

static void order_append(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_entry *e = &t->entries[slot];
	e->order_prev = t->order_tail;
	e->order_next = HS_FLOW_NONE;
	if (t->order_tail == HS_FLOW_NONE)
		t->order_head = slot;
	else
		t->entries[t->order_tail].order_next = slot;
	t->order_tail = slot;
}

static void order_remove(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_entry *e = &t->entries[slot];
	if (e->order_prev == HS_FLOW_NONE)
		t->order_head = e->order_next;
	else
		t->entries[e->order_prev].order_next = e->order_next;
	if (e->order_next == HS_FLOW_NONE)
		t->order_tail = e->order_prev;
	else
		t->entries[e->order_next].order_prev = e->order_prev;
}

// ---- slots ----

void hs_flow_slot_free(struct hs_flow_table *t, uint32_t slot)
{
	uint32_t *head = &t->free_head[hs_flow_is_reverse(t, slot)];

	t->entries[slot].state = ENTRY_FREE;
	t->entries[slot].order_next = *head;
	*head = slot;
}

uint32_t hs_flow_slot_take(struct hs_flow_table *t, bool reverse)
{
	uint32_t *head = &t->free_head[reverse];

	// While capacity remains, a change never fails: at worst it waits for a burst to end.
	while (*head == HS_FLOW_NONE && t->dying_head != HS_FLOW_NONE) {
		uint64_t token = t->entries[t->dying_head].token;
		while (rte_rcu_qsbr_check(t->qsbr, token, false) != 1)
			sched_yield();
		hs_flow_table_reclaim(t);
	}
	uint32_t slot = *head;
	if (slot != HS_FLOW_NONE)
		*head = t->entries[slot].order_next;
	return slot;
}

// Frees the slot after a grace period. No new packet can find the slot any more.
static void slot_bury(struct hs_flow_table *t, uint32_t slot, int32_t position)
{
	struct hs_flow_entry *e = &t->entries[slot];
	e->state = ENTRY_DYING;
	e->position = position;
	e->token = rte_rcu_qsbr_start(t->qsbr);
	e->order_next = HS_FLOW_NONE;
	if (t->dying_tail == HS_FLOW_NONE)
		t->dying_head = slot;
	else
		t->entries[t->dying_tail].order_next = slot;
	t->dying_tail = slot;
}

void hs_flow_table_reclaim(struct hs_flow_table *t)
{
	hs_flow_fields_reclaim(&t->fields);
	hs_flow_masks_reclaim(&t->masks);
	while (t->dying_head != HS_FLOW_NONE) {
		uint32_t slot = t->dying_head;
		struct hs_flow_entry *e = &t->entries[slot];
		if (rte_rcu_qsbr_check(t->qsbr, e->token, false) != 1)
			return;
		t->dying_head = e->order_next;
		if (t->dying_head == HS_FLOW_NONE)
			t->dying_tail = HS_FLOW_NONE;
		if (e->position >= 0)
			rte_hash_free_key_with_position(t->hash, e->position);
		hs_flow_pending_free(&t->pending[slot]);
		hs_flow_slot_free(t, slot);
	}
}

// ---- publishing to workers ----

static uint64_t setting_of(const struct hs_rule *rule)
{
	switch (rule->mode) {
	case HS_MODE_COUNT:
		return (uint64_t)rule->mode_setting;
	case HS_MODE_FREQUENCY:
		return (uint64_t)(rule->mode_setting * 1e6 + 0.5);
	default:
		return (uint64_t)(rule->mode_setting / 100 * 4294967296.0 + 0.5);
	}
}

static uint64_t config_of(const struct hs_flow_entry *e)
{
	const struct hs_rule *rule = &e->rule;
	uint64_t mode = rule->mode | (e->pending ? HS_FLOW_PENDING : 0u);
	uint64_t hop = rule->fields ? HS_FLOW_FIELDS : HS_FLOW_HOP_ENABLED;
	uint64_t off = rule->trace_type & HS_RULE_TRACE_OTHERS ? HS_FLOW_OFF : 0;
	uint64_t flags = (rule->hop_enabled ? hop : off) |
			 (rule->extract_report ? HS_FLOW_EXTRACT : 0u);

	return setting_of(rule) | mode << HS_FLOW_CONFIG_MODE_SHIFT |
	       flags << HS_FLOW_CONFIG_FLAGS_SHIFT;
}

#define FEW_PACKETS 16

// Returns whether so many packets of the rule need `config` that it is fetched for each of them.
static bool needs_config(const struct hs_flow_entry *e)
{
	const struct hs_rule *rule = &e->rule;

	return rule->mode != HS_MODE_COUNT || rule->mode_setting < FEW_PACKETS || e->pending ||
	       rule->trace_type & HS_RULE_TRACE_LABEL;
}

// Publishes the mode, setting and switches of the entry to workers.
static void publish_config(struct hs_flow_table *t, uint32_t slot)
{
	uint64_t config = config_of(&t->entries[slot]);
	uint8_t fetched = needs_config(&t->entries[slot]) ? offsetof(struct hs_flow_worker, config)
							  : 0;

	for (unsigned w = 0; w < t->n_workers; w++) {
		struct hs_flow_worker *own = &t->workers[w][slot];
		atomic_store_explicit(&own->config, config, memory_order_relaxed);
		atomic_store_explicit(&own->fetched, fetched, memory_order_relaxed);
		atomic_store_explicit(&own->changed, 1, memory_order_release);
	}
}

void hs_flow_table_pending_set(struct hs_flow_table *t, uint32_t slot, bool pending)
{
	t->entries[slot].pending = pending;
	publish_config(t, slot);
}

// Returns the slot's new generation.
static uint32_t shared_prepare(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_shared *shared = &t->shared[slot];

	atomic_store_explicit(&shared->last_ns, HS_FLOW_NEVER_NS, memory_order_relaxed);
	atomic_store_explicit(&shared->workers, 0, memory_order_relaxed);
	shared->age = ++t->ages;
	return 1 + atomic_fetch_add_explicit(&shared->generation, 1, memory_order_relaxed);
}

static void slot_prepare(struct hs_flow_table *t, uint32_t slot)
{
	const struct hs_rule *rule = &t->entries[slot].rule;
	uint32_t generation = shared_prepare(t, slot);
	struct hs_flow_key key;

	hs_flow_key_of_rule(rule, &key);
	for (unsigned w = 0; w < t->n_workers; w++) {
		struct hs_flow_worker *own = &t->workers[w][slot];
		memset(own, 0, sizeof(*own));
		if (t->shadows[w][slot].packets)
			t->shadows[w][slot] = (struct hs_flow_shadow){0};
		memcpy(own->key, &key, sizeof(own->key));
		own->since = UINT32_MAX - 1; // the first packet is due
		own->last_ns = HS_FLOW_NEVER_NS;
		own->ns_id = rule->ns_id;
		own->trace_type = rule->trace_type;
		own->generation = generation;
	}
	publish_config(t, slot);
}

static int hash_add(struct hs_flow_table *t, const struct hs_flow_key *key, uint32_t slot)
{
	void *data = (void *)(uintptr_t)slot;
	int rc = rte_hash_add_key_with_hash_data(t->hash, key, hs_flow_key_hash(key), data);
	if (rc == -ENOSPC) {
		hs_flow_table_reclaim(t);
		rc = rte_hash_add_key_with_hash_data(t->hash, key, hs_flow_key_hash(key), data);
	}
	return rc;
}

// Notes that workers find the slot for its 5-tuple.
static void slot_is_live(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_entry *e = &t->entries[slot];

	e->state = ENTRY_LIVE;
	if (!hs_flow_is_reverse(t, slot))
		hs_flow_by_name_enter(&t->by_name, e->rule.ns_id, slot);
}

// Publishes a prepared slot as the one that workers find for its 5-tuple.
static int slot_publish(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_entry *e = &t->entries[slot];
	struct hs_flow_key key;

	hs_flow_key_of_rule(&e->rule, &key);
	int rc = hs_flow_masks_take(&t->masks, hs_rule_mask(&e->rule));
	if (rc)
		return rc;
	rc = hash_add(t, &key, slot);
	if (rc) {
		hs_flow_masks_release(&t->masks, hs_rule_mask(&e->rule));
		return rc;
	}
	e->position = rte_hash_lookup_with_hash(t->hash, &key, hs_flow_key_hash(&key));
	slot_is_live(t, slot);
	hs_flow_index_insert(&t->places, hs_flow_key_hash(&key), slot);
	return 0;
}

// ---- install, remove, update ----

uint32_t hs_flow_find_tuple(struct hs_flow_table *t, const struct hs_rule *rule)
{
	struct hs_flow_key key;
	void *data;

	hs_flow_key_of_rule(rule, &key);
	if (rte_hash_lookup_with_hash_data(t->hash, &key, hs_flow_key_hash(&key), &data) < 0)
		return HS_FLOW_NONE;
	return (uint32_t)(uintptr_t)data;
}

static void tuple_join(struct hs_flow_table *t, uint32_t before, uint32_t slot)
{
	struct hs_flow_entry *next = &t->entries[before];
	struct hs_flow_entry *e = &t->entries[slot];

	e->tuple_prev = next->tuple_prev;
	e->tuple_next = before;
	t->entries[next->tuple_prev].tuple_next = slot;
	next->tuple_prev = slot;
}

// Another rule of the same 5-tuple takes over. Overwriting the key's data is one atomic store, so
// every packet finds one of the two rules. The position in the hash moves with the data. Until hash
// and index are updated, each names a complete slot, and either answer is valid at that moment.
static void hand_over(struct hs_flow_table *t, uint32_t from, uint32_t to)
{
	struct hs_flow_key key;

	hs_flow_key_of_rule(&t->entries[to].rule, &key);
	rte_hash_add_key_with_hash_data(
			t->hash, &key, hs_flow_key_hash(&key), (void *)(uintptr_t)to);
	hs_flow_index_replace(&t->places, hs_flow_key_hash(&key), from, to);
	t->entries[to].position = t->entries[from].position;
	slot_is_live(t, to);
}

int hs_flow_slot_enter(struct hs_flow_table *t, uint32_t slot, uint32_t *shadowed_by)
{
	struct hs_flow_entry *e = &t->entries[slot];
	uint32_t oldest = hs_flow_find_tuple(t, &e->rule);

	slot_prepare(t, slot);
	e->position = -1;
	e->tuple_prev = e->tuple_next = slot;
	*shadowed_by = 0;
	if (oldest == HS_FLOW_NONE)
		return slot_publish(t, slot);

	if (hs_flow_is_reverse(t, oldest)) {
		tuple_join(t, oldest, slot);
		hand_over(t, oldest, slot);
		t->entries[oldest].state = ENTRY_WAITING;
		return 0;
	}
	uint32_t last = t->entries[oldest].tuple_prev;
	tuple_join(t, hs_flow_is_reverse(t, last) ? last : oldest, slot);
	e->state = ENTRY_WAITING;
	*shadowed_by = t->entries[oldest].rule.ns_id;
	return 0;
}

uint32_t hs_flow_table_find(const struct hs_flow_table *t, uint32_t ns_id)
{
	return hs_u32_map_find(&t->index, ns_id);
}

struct hs_flow_pending *hs_flow_table_pending(struct hs_flow_table *t, uint32_t slot)
{
	return hs_flow_pending_at(&t->pending[slot], t->entries[slot].rule.in_band);
}

struct hs_flow_pending *hs_flow_table_load(struct hs_flow_table *t, uint32_t slot, unsigned i)
{
	struct hs_flow_pending *pending = hs_flow_table_pending(t, slot);

	return pending ? hs_flow_pending_load(pending, i) : NULL;
}

// Sets the fields that workers find in place of the node's: a number of rule_fields.h, 0 for none.
// Returns 0, or -ENOMEM with nothing changed.
static int set_fields(struct hs_flow_table *t, uint32_t slot, uint32_t number)
{
	struct hs_flow_fields *fields = number ? hs_flow_fields_make(&t->fields, number) : NULL;
	struct hs_flow_pending *pending = t->pending[slot];

	if (number && fields)
		pending = hs_flow_table_pending(t, slot);
	if (number && (!fields || !pending)) {
		free(fields);
		return -ENOMEM;
	}
	if (pending)
		hs_flow_fields_replace(&t->fields, &pending->fields, fields);
	return 0;
}

static int table_full(const struct hs_flow_table *t, struct hs_error *err)
{
	hs_error_set(err, "table_full", "", "memory.rules in the configuration",
			"all %u rules are in use", t->capacity);
	return -ENOSPC;
}

int hs_flow_table_install(struct hs_flow_table *t, const struct hs_rule *rule,
		uint32_t *shadowed_by, struct hs_error *err)
{
	uint32_t shadow;

	if (hs_flow_table_find(t, rule->ns_id) != HS_FLOW_NONE) {
		hs_error_set(err, "ns_in_use", "ns_id", "a namespace without a rule",
				"namespace %u has a rule already", rule->ns_id);
		return -EEXIST;
	}
	uint32_t slot = hs_flow_slot_take(t, false);
	if (slot == HS_FLOW_NONE)
		return table_full(t, err);

	t->entries[slot].rule = *rule;
	t->entries[slot].pending = rule->in_band;
	int rc = hs_rule_masks_add(&t->rule_masks, hs_rule_mask(rule), err);
	if (!rc) {
		rc = set_fields(t, slot, rule->fields);
		if (!rc && hs_flow_slot_enter(t, slot, &shadow))
			rc = table_full(t, err);
		if (rc)
			hs_rule_masks_remove(&t->rule_masks, hs_rule_mask(rule));
	}
	if (rc) {
		hs_flow_slot_free(t, slot);
		return rc;
	}
	hs_u32_map_add(&t->index, rule->ns_id, slot);
	order_append(t, slot);
	t->count++;
	if (shadowed_by)
		*shadowed_by = shadow;
	return 0;
}

static int32_t unpublish(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_entry *e = &t->entries[slot];
	struct hs_flow_key key;

	if (!hs_flow_is_reverse(t, slot))
		hs_flow_by_name_leave(&t->by_name, e->rule.ns_id, slot);
	if (e->tuple_next != slot) {
		hand_over(t, slot, e->tuple_next);
		return -1;
	}
	hs_flow_key_of_rule(&e->rule, &key);
	hs_flow_index_erase(&t->places, hs_flow_key_hash(&key), slot);
	rte_hash_del_key_with_hash(t->hash, &key, hs_flow_key_hash(&key));
	hs_flow_masks_release(&t->masks, hs_rule_mask(&e->rule));
	return e->position;
}

void hs_flow_slot_leave(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_entry *e = &t->entries[slot];
	int32_t position = e->state == ENTRY_LIVE ? unpublish(t, slot) : -1;

	t->entries[e->tuple_prev].tuple_next = e->tuple_next;
	t->entries[e->tuple_next].tuple_prev = e->tuple_prev;
	slot_bury(t, slot, position);
}

int hs_flow_table_remove(struct hs_flow_table *t, uint32_t ns_id, struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(t, ns_id);

	if (slot == HS_FLOW_NONE) {
		hs_error_set(err, "no_such_rule", "ns_id", "a namespace that has a rule",
				"namespace %u has no rule", ns_id);
		return -ENOENT;
	}
	hs_u32_map_erase(&t->index, ns_id, slot);
	hs_rule_masks_remove(&t->rule_masks, hs_rule_mask(&t->entries[slot].rule));
	order_remove(t, slot);
	hs_flow_slot_leave(t, slot);
	t->count--;
	return 0;
}

int hs_flow_table_update(struct hs_flow_table *t, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(t, ns_id);

	if (slot == HS_FLOW_NONE) {
		hs_error_set(err, "no_such_rule", "ns_id", "a namespace that has a rule",
				"namespace %u has no rule", ns_id);
		return -ENOENT;
	}
	struct hs_rule changed = t->entries[slot].rule;
	int rc = hs_rule_apply(&changed, update, err);
	if (rc == 0 && update->rows & HS_RULE_BIT(FIELDS))
		rc = set_fields(t, slot, changed.fields);
	if (rc)
		return rc;
	t->entries[slot].rule = changed;
	publish_config(t, slot);
	return 0;
}
