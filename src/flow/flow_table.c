// SPDX-License-Identifier: BSD-3-Clause
#include "flow_table_parts.h"

#include "ip_address.h"
#include "rule_field.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_hash.h>
#include <rte_rcu_qsbr.h>

static_assert(HS_U32_MAP_NONE == HS_FLOW_NONE, "no slot is no slot");
static_assert(HS_FLOW_INDEX_NONE == HS_FLOW_NONE, "no slot is no slot");

// ---- keys ----

void hs_flow_rule_key(const struct hs_rule *rule, struct hs_flow_key *key)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->src_ip, rule->src_ip, 16);
	memcpy(key->dst_ip, rule->dst_ip, 16);
	key->src_port = rule->src_port;
	key->dst_port = rule->dst_port;
	key->protocol = rule->protocol;
	key->traits = rule->dscp;
	key->src_host_bits = rule->src_host_bits;
	key->dst_host_bits = rule->dst_host_bits;
	if (!hs_ip_address_is_ipv4(rule->src_ip))
		return;
	key->traits |= HS_FLOW_IPV4;
	if (rule->protocol == IPPROTO_ICMPV6)
		key->protocol = IPPROTO_ICMP;
}

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
		while (rte_rcu_qsbr_check(t->config.qsbr, token, false) != 1)
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
	e->token = rte_rcu_qsbr_start(t->config.qsbr);
	e->order_next = HS_FLOW_NONE;
	if (t->dying_tail == HS_FLOW_NONE)
		t->dying_head = slot;
	else
		t->entries[t->dying_tail].order_next = slot;
	t->dying_tail = slot;
}

void hs_flow_table_reclaim(struct hs_flow_table *t)
{
	hs_flow_fields_reclaim(t);
	hs_flow_masks_reclaim(t);
	while (t->dying_head != HS_FLOW_NONE) {
		uint32_t slot = t->dying_head;
		struct hs_flow_entry *e = &t->entries[slot];
		if (rte_rcu_qsbr_check(t->config.qsbr, e->token, false) != 1)
			return;
		t->dying_head = e->order_next;
		if (t->dying_head == HS_FLOW_NONE)
			t->dying_tail = HS_FLOW_NONE;
		if (e->position >= 0)
			rte_hash_free_key_with_position(t->hash, e->position);
		hs_flow_pending_free(t, slot);
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

// Publishes the mode, setting and switches of the entry to workers.
static void publish_config(struct hs_flow_table *t, uint32_t slot)
{
	uint64_t config = config_of(&t->entries[slot]);

	for (unsigned w = 0; w < t->config.n_workers; w++)
		atomic_store_explicit(&t->workers[w][slot].config, config, memory_order_relaxed);
}

void hs_flow_table_pending_set(struct hs_flow_table *t, uint32_t slot, bool pending)
{
	t->entries[slot].pending = pending;
	publish_config(t, slot);
}

static void workers_prepare(struct hs_flow_table *t, uint32_t slot)
{
	const struct hs_rule *rule = &t->entries[slot].rule;

	for (unsigned w = 0; w < t->config.n_workers; w++) {
		struct hs_flow_worker *own = &t->workers[w][slot];
		memset(own, 0, sizeof(*own));
		if (t->shadows[w][slot].packets)
			t->shadows[w][slot] = (struct hs_flow_shadow){0};
		own->since = UINT32_MAX - 1; // the first packet is due
		own->last_ns = HS_FLOW_NEVER_NS;
		own->ns_id = rule->ns_id;
		own->trace_type = rule->trace_type;
	}
	publish_config(t, slot);
}

static void shared_prepare(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_shared *shared = &t->shared[slot];
	struct hs_flow_key key;

	hs_flow_rule_key(&t->entries[slot].rule, &key);
	memcpy(shared->key, &key, sizeof(shared->key));
	atomic_store_explicit(&shared->last_ns, HS_FLOW_NEVER_NS, memory_order_relaxed);
	atomic_store_explicit(&shared->workers, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&shared->generation, 1, memory_order_relaxed);
	shared->age = ++t->ages;
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

	hs_flow_rule_key(&e->rule, &key);
	int rc = hs_flow_masks_take(t, hs_rule_mask(&e->rule));
	if (rc)
		return rc;
	rc = hash_add(t, &key, slot);
	if (rc) {
		hs_flow_masks_release(t, hs_rule_mask(&e->rule));
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

	hs_flow_rule_key(rule, &key);
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

	hs_flow_rule_key(&t->entries[to].rule, &key);
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

	workers_prepare(t, slot);
	shared_prepare(t, slot);
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

static int table_full(const struct hs_flow_table *t, struct hs_error *err)
{
	hs_error_set(err, "table_full", "", "memory.rules in the configuration",
			"all %u rules are in use", t->config.capacity);
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
		rc = hs_flow_fields_set(t, slot, rule->fields);
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
	hs_flow_rule_key(&e->rule, &key);
	hs_flow_index_erase(&t->places, hs_flow_key_hash(&key), slot);
	rte_hash_del_key_with_hash(t->hash, &key, hs_flow_key_hash(&key));
	hs_flow_masks_release(t, hs_rule_mask(&e->rule));
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
		rc = hs_flow_fields_set(t, slot, changed.fields);
	if (rc)
		return rc;
	t->entries[slot].rule = changed;
	publish_config(t, slot);
	return 0;
}

// ---- reading ----

uint32_t hs_flow_table_find(const struct hs_flow_table *t, uint32_t ns_id)
{
	return hs_u32_map_find(&t->index, ns_id);
}

const struct hs_rule *hs_flow_table_rule(const struct hs_flow_table *t, uint32_t slot)
{
	if (slot >= t->config.capacity)
		return NULL;
	uint8_t state = t->entries[slot].state;
	return state == ENTRY_LIVE || state == ENTRY_WAITING ? &t->entries[slot].rule : NULL;
}

uint32_t hs_flow_table_generation(const struct hs_flow_table *t, uint32_t slot)
{
	return atomic_load_explicit(&t->shared[slot].generation, memory_order_relaxed);
}

// Returns the ns_id of the installed rule that last took packets with this rule's telemetry, or 0.
static uint32_t took_packets_of(const struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_counters counters;

	hs_flow_table_counters(t, slot, &counters);
	return hs_flow_table_find(t, counters.shadowed_by) == HS_FLOW_NONE ? 0
									   : counters.shadowed_by;
}

uint32_t hs_flow_table_shadowed_by(const struct hs_flow_table *t, uint32_t slot)
{
	if (t->entries[slot].state != ENTRY_WAITING)
		return took_packets_of(t, slot);
	uint32_t at = slot;
	while (t->entries[at].state == ENTRY_WAITING)
		at = t->entries[at].tuple_prev;
	return t->entries[at].rule.ns_id;
}

static void add_worker(struct hs_flow_counters *sum, const struct hs_flow_worker *w)
{
#define HS_FLOW_COUNTER(name, unit, text) sum->name += __atomic_load_n(&w->name, __ATOMIC_RELAXED);
#include "flow_counter.def"
#undef HS_FLOW_COUNTER
	uint32_t mtu_needed = __atomic_load_n(&w->mtu_needed, __ATOMIC_RELAXED);
	sum->mtu_needed = RTE_MAX(sum->mtu_needed, mtu_needed);
	int64_t last_int_ns = __atomic_load_n(&w->last_int_ns, __ATOMIC_RELAXED);
	sum->last_int_ns = RTE_MAX(sum->last_int_ns, last_int_ns);
}

static void add_shadow(struct hs_flow_counters *sum, const struct hs_flow_shadow *shadow)
{
	uint64_t packets = __atomic_load_n(&shadow->packets, __ATOMIC_RELAXED);

	sum->shadowed_packets += packets;
	if (packets)
		sum->shadowed_by = __atomic_load_n(&shadow->by, __ATOMIC_RELAXED);
}

void hs_flow_table_counters(
		const struct hs_flow_table *t, uint32_t slot, struct hs_flow_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	for (unsigned w = 0; w < t->config.n_workers; w++) {
		add_worker(counters, &t->workers[w][slot]);
		add_shadow(counters, &t->shadows[w][slot]);
	}
}

uint32_t hs_flow_table_count(const struct hs_flow_table *t)
{
	return t->count;
}

const struct hs_rule_masks *hs_flow_table_masks(const struct hs_flow_table *t)
{
	return &t->rule_masks;
}

uint32_t hs_flow_table_capacity(const struct hs_flow_table *t)
{
	return t->config.capacity;
}

bool hs_flow_table_next(const struct hs_flow_table *t, uint32_t *cursor)
{
	uint32_t next = *cursor == HS_FLOW_NONE ? t->order_head : t->entries[*cursor].order_next;
	if (next == HS_FLOW_NONE)
		return false;
	*cursor = next;
	return true;
}
