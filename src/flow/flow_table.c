// SPDX-License-Identifier: BSD-3-Clause
#include "flow_table.h"
#include "flow_state.h"
#include "ns_index.h"
#include "pages.h"

#include <errno.h>
#include <sched.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

enum entry_state {
	ENTRY_FREE,
	ENTRY_LIVE,    // in the hash: workers find it
	ENTRY_WAITING, // an older rule has the same 5-tuple
	ENTRY_DYING,   // out of the hash, a worker may still hold the slot
};

// What control keeps of a rule. Lists are of slots, HS_FLOW_NONE at their ends.
struct entry {
	struct hs_rule rule;
	uint64_t token;			 // dying: the grace period that must pass
	int32_t position;		 // live or dying: where the hash keeps the key
	uint32_t order_prev, order_next; // all installed rules in order of installation;
					 // order_next also links the free and the dying
	uint32_t tuple_prev, tuple_next; // ring of the rules with one 5-tuple, oldest first, and
					 // behind them its carrier
	uint32_t users;			 // of a carrier
	uint8_t state;			 // enum entry_state
	bool offered;			 // workers look at the slot's offer
};

static_assert(HS_NS_INDEX_NONE == HS_FLOW_NONE, "no slot is no slot");
static_assert(HS_FLOW_INDEX_NONE == HS_FLOW_NONE, "no slot is no slot");

struct hs_flow_table {
	struct hs_flow_table_config config;
	struct rte_hash *hash;
	struct entry *entries;
	struct hs_ns_index index;
	struct hs_flow_index places;
	struct hs_flow_shared *shared;
	struct hs_flow_worker *workers[32];
	struct hs_flow_others *others[32];
	struct hs_flow_offer *_Atomic *offers;
	uint32_t mask_users[4];
	// Read by every worker for each burst; the rest is control's, which writes it all the time.
	alignas(2 * RTE_CACHE_LINE_SIZE) _Atomic uint8_t masks;
	alignas(2 * RTE_CACHE_LINE_SIZE) uint32_t free_head[2]; // of rules, of carriers
	uint32_t dying_head, dying_tail;
	uint32_t order_head, order_tail;
	uint32_t count;
	uint64_t ages;
};

// ---- slots of rules, and behind them those of carriers ----

static uint32_t slots_of(uint32_t capacity)
{
	return capacity + RTE_MIN(capacity, capacity / 32 + 64);
}

static bool is_carrier(const struct hs_flow_table *t, uint32_t slot)
{
	return slot >= t->config.capacity;
}

// ---- keys and masks ----

static unsigned rule_mask(const struct hs_rule *rule)
{
	return (rule->src_port == 0 ? 1u : 0u) | (rule->dst_port == 0 ? 2u : 0u);
}

static void rule_key(const struct hs_rule *rule, struct hs_flow_key *key)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->src_ip, rule->src_ip, 16);
	memcpy(key->dst_ip, rule->dst_ip, 16);
	key->src_port = rule->src_port;
	key->dst_port = rule->dst_port;
	key->protocol = rule->protocol;
}

static void mask_take(struct hs_flow_table *t, unsigned mask)
{
	if (t->mask_users[mask]++ == 0)
		atomic_fetch_or_explicit(&t->masks, (uint8_t)(1u << mask), memory_order_release);
}

static void mask_release(struct hs_flow_table *t, unsigned mask)
{
	if (--t->mask_users[mask] == 0)
		atomic_fetch_and_explicit(&t->masks, (uint8_t) ~(1u << mask), memory_order_release);
}

// ---- order of installation ----

static void order_append(struct hs_flow_table *t, uint32_t slot)
{
	struct entry *e = &t->entries[slot];
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
	struct entry *e = &t->entries[slot];
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

static void slot_free(struct hs_flow_table *t, uint32_t slot)
{
	uint32_t *head = &t->free_head[is_carrier(t, slot)];

	t->entries[slot].state = ENTRY_FREE;
	t->entries[slot].order_next = *head;
	*head = slot;
}

static uint32_t slot_take(struct hs_flow_table *t, bool carrier)
{
	uint32_t *head = &t->free_head[carrier];

	// While capacity remains a change never fails: at worst it waits for a burst to end.
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

// Called when no worker can see the slot any more.
static void slot_bury(struct hs_flow_table *t, uint32_t slot, int32_t position)
{
	struct entry *e = &t->entries[slot];
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
	while (t->dying_head != HS_FLOW_NONE) {
		uint32_t slot = t->dying_head;
		struct entry *e = &t->entries[slot];
		if (rte_rcu_qsbr_check(t->config.qsbr, e->token, false) != 1)
			return;
		t->dying_head = e->order_next;
		if (t->dying_head == HS_FLOW_NONE)
			t->dying_tail = HS_FLOW_NONE;
		if (e->position >= 0)
			rte_hash_free_key_with_position(t->hash, e->position);
		free(atomic_exchange_explicit(&t->offers[slot], NULL, memory_order_relaxed));
		slot_free(t, slot);
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

static uint64_t config_of(const struct entry *e)
{
	const struct hs_rule *rule = &e->rule;
	uint64_t mode = rule->mode | (e->offered ? HS_FLOW_OFFERED : 0u);
	uint64_t flags = (rule->hop_enabled ? HS_FLOW_HOP_ENABLED : 0u) |
			 (rule->extract_report ? HS_FLOW_EXTRACT : 0u);

	return setting_of(rule) | mode << HS_FLOW_CONFIG_MODE_SHIFT |
	       flags << HS_FLOW_CONFIG_FLAGS_SHIFT;
}

static void config_publish(struct hs_flow_table *t, uint32_t slot)
{
	uint64_t config = config_of(&t->entries[slot]);

	for (unsigned w = 0; w < t->config.n_workers; w++)
		atomic_store_explicit(&t->workers[w][slot].config, config, memory_order_relaxed);
}

static void workers_prepare(struct hs_flow_table *t, uint32_t slot)
{
	const struct hs_rule *rule = &t->entries[slot].rule;

	for (unsigned w = 0; w < t->config.n_workers; w++) {
		struct hs_flow_worker *own = &t->workers[w][slot];
		memset(own, 0, sizeof(*own));
		own->since = UINT32_MAX - 1; // the first packet is due
		own->last_ns = HS_FLOW_NEVER_NS;
		own->ns_id = rule->ns_id;
		own->trace_type = rule->trace_type;
	}
	config_publish(t, slot);
}

static void shared_prepare(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_shared *shared = &t->shared[slot];
	struct hs_flow_key key;

	rule_key(&t->entries[slot].rule, &key);
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

// Makes a prepared slot the one that workers find for its 5-tuple.
static int slot_publish(struct hs_flow_table *t, uint32_t slot)
{
	struct entry *e = &t->entries[slot];
	struct hs_flow_key key;

	rule_key(&e->rule, &key);
	int rc = hash_add(t, &key, slot);
	if (rc)
		return rc;
	e->position = rte_hash_lookup_with_hash(t->hash, &key, hs_flow_key_hash(&key));
	e->state = ENTRY_LIVE;
	hs_flow_index_insert(&t->places, hs_flow_key_hash(&key), slot);
	mask_take(t, rule_mask(&e->rule));
	return 0;
}

// ---- install, remove, update ----

static uint32_t find_same_tuple(struct hs_flow_table *t, const struct hs_rule *rule)
{
	struct hs_flow_key key;
	void *data;

	rule_key(rule, &key);
	if (rte_hash_lookup_with_hash_data(t->hash, &key, hs_flow_key_hash(&key), &data) < 0)
		return HS_FLOW_NONE;
	return (uint32_t)(uintptr_t)data;
}

static void tuple_join(struct hs_flow_table *t, uint32_t before, uint32_t slot)
{
	struct entry *next = &t->entries[before];
	struct entry *e = &t->entries[slot];

	e->tuple_prev = next->tuple_prev;
	e->tuple_next = before;
	t->entries[next->tuple_prev].tuple_next = slot;
	next->tuple_prev = slot;
}

// Another of the same 5-tuple takes over: overwriting the key's data is one atomic store, so no
// packet in between finds nothing. The position in the hash goes with it. While only one of hash
// and index says so, both are whole: which of them counts is as good as its moment.
static void hand_over(struct hs_flow_table *t, uint32_t from, uint32_t to)
{
	struct hs_flow_key key;

	rule_key(&t->entries[to].rule, &key);
	rte_hash_add_key_with_hash_data(
			t->hash, &key, hs_flow_key_hash(&key), (void *)(uintptr_t)to);
	hs_flow_index_replace(&t->places, hs_flow_key_hash(&key), from, to);
	t->entries[to].position = t->entries[from].position;
	t->entries[to].state = ENTRY_LIVE;
}

static int slot_enter(struct hs_flow_table *t, uint32_t slot, uint32_t *shadowed_by)
{
	struct entry *e = &t->entries[slot];
	uint32_t oldest = find_same_tuple(t, &e->rule);

	workers_prepare(t, slot);
	shared_prepare(t, slot);
	e->position = -1;
	e->tuple_prev = e->tuple_next = slot;
	*shadowed_by = 0;
	if (oldest == HS_FLOW_NONE)
		return slot_publish(t, slot);

	if (is_carrier(t, oldest)) {
		tuple_join(t, oldest, slot);
		hand_over(t, oldest, slot);
		t->entries[oldest].state = ENTRY_WAITING;
		return 0;
	}
	uint32_t last = t->entries[oldest].tuple_prev;
	tuple_join(t, is_carrier(t, last) ? last : oldest, slot);
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
		hs_error_set(err, "ns_in_use", "/ns_id", "a namespace without a rule",
				"namespace %u has a rule already", rule->ns_id);
		return -EEXIST;
	}
	uint32_t slot = slot_take(t, false);
	if (slot == HS_FLOW_NONE)
		return table_full(t, err);

	t->entries[slot].rule = *rule;
	t->entries[slot].offered = rule->in_band;
	if (slot_enter(t, slot, &shadow)) {
		slot_free(t, slot);
		return table_full(t, err);
	}
	hs_ns_index_insert(&t->index, rule->ns_id, slot);
	order_append(t, slot);
	t->count++;
	if (shadowed_by)
		*shadowed_by = shadow;
	return 0;
}

static int32_t unpublish(struct hs_flow_table *t, uint32_t slot)
{
	struct entry *e = &t->entries[slot];
	struct hs_flow_key key;

	if (e->tuple_next != slot) {
		hand_over(t, slot, e->tuple_next);
		return -1;
	}
	rule_key(&e->rule, &key);
	hs_flow_index_erase(&t->places, hs_flow_key_hash(&key), slot);
	rte_hash_del_key_with_hash(t->hash, &key, hs_flow_key_hash(&key));
	mask_release(t, rule_mask(&e->rule));
	return e->position;
}

static void slot_leave(struct hs_flow_table *t, uint32_t slot)
{
	struct entry *e = &t->entries[slot];
	int32_t position = e->state == ENTRY_LIVE ? unpublish(t, slot) : -1;

	t->entries[e->tuple_prev].tuple_next = e->tuple_next;
	t->entries[e->tuple_next].tuple_prev = e->tuple_prev;
	slot_bury(t, slot, position);
}

int hs_flow_table_remove(struct hs_flow_table *t, uint32_t ns_id, struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(t, ns_id);

	if (slot == HS_FLOW_NONE) {
		hs_error_set(err, "no_such_rule", "/ns_id", "a namespace that has a rule",
				"namespace %u has no rule", ns_id);
		return -ENOENT;
	}
	hs_ns_index_erase(&t->index, ns_id);
	order_remove(t, slot);
	slot_leave(t, slot);
	t->count--;
	return 0;
}

int hs_flow_table_update(struct hs_flow_table *t, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(t, ns_id);

	if (slot == HS_FLOW_NONE) {
		hs_error_set(err, "no_such_rule", "/ns_id", "a namespace that has a rule",
				"namespace %u has no rule", ns_id);
		return -ENOENT;
	}
	int rc = hs_rule_apply(&t->entries[slot].rule, update, err);
	if (rc)
		return rc;
	config_publish(t, slot);
	return 0;
}

// ---- offers and carriers ----

struct hs_flow_offer *hs_flow_table_offer(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_offer *offer = atomic_load_explicit(&t->offers[slot], memory_order_relaxed);

	if (offer)
		return offer;
	offer = calloc(1, sizeof(*offer));
	if (offer)
		offer->holds_telemetry = t->entries[slot].rule.in_band;
	atomic_store_explicit(&t->offers[slot], offer, memory_order_release);
	return offer;
}

void hs_flow_table_offer_set(struct hs_flow_table *t, uint32_t slot, bool offered)
{
	t->entries[slot].offered = offered;
	config_publish(t, slot);
}

// The 5-tuple of what goes back: a rule that is never due and adds nothing.
static void reverse_of(const struct hs_rule *forward, struct hs_rule *reverse)
{
	*reverse = (struct hs_rule){
			.src_port = forward->dst_port,
			.dst_port = forward->src_port,
			.protocol = forward->protocol,
			.mode = HS_MODE_PROBABILITY,
	};
	memcpy(reverse->src_ip, forward->dst_ip, 16);
	memcpy(reverse->dst_ip, forward->src_ip, 16);
}

static uint32_t find_carrier(struct hs_flow_table *t, const struct hs_rule *reverse)
{
	uint32_t oldest = find_same_tuple(t, reverse);
	uint32_t last = oldest == HS_FLOW_NONE ? oldest : t->entries[oldest].tuple_prev;

	return is_carrier(t, last) ? last : HS_FLOW_NONE;
}

int hs_flow_table_add_carrier(
		struct hs_flow_table *t, const struct hs_rule *forward, uint32_t *slot)
{
	struct hs_rule reverse;
	uint32_t shadow;

	reverse_of(forward, &reverse);
	*slot = find_carrier(t, &reverse);
	if (*slot != HS_FLOW_NONE) {
		t->entries[*slot].users++;
		return 0;
	}
	*slot = slot_take(t, true);
	if (*slot == HS_FLOW_NONE)
		return -ENOSPC;
	struct entry *e = &t->entries[*slot];
	e->rule = reverse;
	e->offered = false;
	e->users = 1;
	if (slot_enter(t, *slot, &shadow)) {
		slot_free(t, *slot);
		return -ENOSPC;
	}
	return 0;
}

void hs_flow_table_remove_carrier(struct hs_flow_table *t, uint32_t slot)
{
	if (--t->entries[slot].users == 0)
		slot_leave(t, slot);
}

// As workers find it.
uint32_t hs_flow_table_reverse(const struct hs_flow_table *t, const struct hs_rule *forward)
{
	struct hs_flow_view view = {
			.own = t->workers[0],
			.shared = t->shared,
			.hash = t->hash,
			.index = t->places,
			.masks = &t->masks,
			.n_rules = t->config.capacity,
	};
	struct hs_rule reverse;
	struct hs_flow_key key;
	const struct hs_flow_key *keys[] = {&key};
	uint32_t slot;

	reverse_of(forward, &reverse);
	rule_key(&reverse, &key);
	hs_flow_lookup_burst(&view, keys, 1, &slot);
	return slot;
}

// ---- reading ----

uint32_t hs_flow_table_find(const struct hs_flow_table *t, uint32_t ns_id)
{
	return hs_ns_index_find(&t->index, ns_id);
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

uint32_t hs_flow_table_shadowed_by(const struct hs_flow_table *t, uint32_t slot)
{
	if (t->entries[slot].state != ENTRY_WAITING)
		return 0;
	uint32_t at = slot;
	while (t->entries[at].state == ENTRY_WAITING)
		at = t->entries[at].tuple_prev;
	return t->entries[at].rule.ns_id;
}

static void add_worker(struct hs_flow_counters *sum, const struct hs_flow_worker *w)
{
	sum->rx_packets += __atomic_load_n(&w->rx_packets, __ATOMIC_RELAXED);
	sum->rx_bytes += __atomic_load_n(&w->rx_bytes, __ATOMIC_RELAXED);
	sum->tx_packets += __atomic_load_n(&w->tx_packets, __ATOMIC_RELAXED);
	sum->tx_bytes += __atomic_load_n(&w->tx_bytes, __ATOMIC_RELAXED);
	sum->int_packets += __atomic_load_n(&w->int_packets, __ATOMIC_RELAXED);
	sum->hop_entries += __atomic_load_n(&w->hop_entries, __ATOMIC_RELAXED);
	sum->sink_packets += __atomic_load_n(&w->sink_packets, __ATOMIC_RELAXED);
	sum->reports_made += __atomic_load_n(&w->reports_made, __ATOMIC_RELAXED);
	sum->reports_lost += __atomic_load_n(&w->reports_lost, __ATOMIC_RELAXED);
	sum->no_room_mtu += __atomic_load_n(&w->no_room_mtu, __ATOMIC_RELAXED);
	sum->no_room_headroom += __atomic_load_n(&w->no_room_headroom, __ATOMIC_RELAXED);
	sum->no_room_option += __atomic_load_n(&w->no_room_option, __ATOMIC_RELAXED);
	uint32_t mtu_needed = __atomic_load_n(&w->mtu_needed, __ATOMIC_RELAXED);
	sum->mtu_needed = RTE_MAX(sum->mtu_needed, mtu_needed);
	int64_t last_int_ns = __atomic_load_n(&w->last_int_ns, __ATOMIC_RELAXED);
	sum->last_int_ns = RTE_MAX(sum->last_int_ns, last_int_ns);
}

void hs_flow_table_counters(
		const struct hs_flow_table *t, uint32_t slot, struct hs_flow_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	for (unsigned w = 0; w < t->config.n_workers; w++)
		add_worker(counters, &t->workers[w][slot]);
}

uint32_t hs_flow_table_count(const struct hs_flow_table *t)
{
	return t->count;
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

void hs_flow_table_view(struct hs_flow_table *t, unsigned worker, struct hs_flow_view *view)
{
	view->own = t->workers[worker];
	view->workers = t->workers;
	view->shared = t->shared;
	view->others = t->others[worker];
	view->offers = t->offers;
	view->hash = t->hash;
	view->index = t->places;
	view->masks = &t->masks;
	view->worker = worker;
	view->n_workers = t->config.n_workers;
	view->n_rules = t->config.capacity;
}

// ---- making and freeing ----

// 1/16 larger than the capacity: filled to the brim, a cuckoo hash refuses 1 change in 200.
static uint32_t hash_entries(uint32_t capacity)
{
	return capacity + capacity / 16 + 64;
}

static int make_hash(struct hs_flow_table *t)
{
	char name[RTE_HASH_NAMESIZE];
	snprintf(name, sizeof(name), "hs_%s", t->config.name);
	struct rte_hash_parameters parameters = {
			.name = name,
			.entries = hash_entries(slots_of(t->config.capacity)),
			.key_len = sizeof(struct hs_flow_key),
			.hash_func = rte_hash_crc,
			.socket_id = SOCKET_ID_ANY,
			.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF |
				      RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};
	t->hash = rte_hash_create(&parameters);
	return t->hash ? 0 : -rte_errno;
}

static size_t shared_bytes(uint32_t capacity)
{
	return capacity * sizeof(struct hs_flow_shared);
}

static size_t worker_bytes(uint32_t capacity)
{
	return capacity * sizeof(struct hs_flow_worker);
}

static int make_arrays(struct hs_flow_table *t)
{
	uint32_t capacity = slots_of(t->config.capacity);

	t->entries = calloc(capacity, sizeof(*t->entries));
	t->offers = calloc(capacity, sizeof(*t->offers));
	t->shared = hs_pages_take("flow shared", shared_bytes(capacity));
	if (!t->entries || !t->offers || !t->shared || hs_ns_index_init(&t->index, capacity) ||
			hs_flow_index_init(&t->places, capacity))
		return -ENOMEM;
	for (unsigned w = 0; w < t->config.n_workers; w++) {
		t->workers[w] = hs_pages_take("flow worker", worker_bytes(capacity));
		t->others[w] = rte_zmalloc(
				"flow others", sizeof(*t->others[w]), RTE_CACHE_LINE_SIZE);
		if (!t->workers[w] || !t->others[w])
			return -ENOMEM;
	}
	return 0;
}

static void link_slots(struct hs_flow_table *t)
{
	t->free_head[0] = t->free_head[1] = HS_FLOW_NONE;
	t->order_head = t->order_tail = HS_FLOW_NONE;
	t->dying_head = t->dying_tail = HS_FLOW_NONE;
	for (uint32_t slot = slots_of(t->config.capacity); slot-- > 0;)
		slot_free(t, slot);
}

int hs_flow_table_create(const struct hs_flow_table_config *config, struct hs_flow_table **table)
{
	if (!config->capacity || !config->n_workers || config->n_workers > 32)
		return -EINVAL;
	struct hs_flow_table *t = aligned_alloc(alignof(struct hs_flow_table), sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct hs_flow_table){.config = *config};
	int rc = make_hash(t);
	if (!rc)
		rc = make_arrays(t);
	if (rc) {
		hs_flow_table_destroy(t);
		return rc;
	}
	link_slots(t);
	*table = t;
	return 0;
}

void hs_flow_table_destroy(struct hs_flow_table *t)
{
	if (!t)
		return;
	uint32_t slots = slots_of(t->config.capacity);
	for (unsigned w = 0; w < t->config.n_workers; w++) {
		hs_pages_give(t->workers[w], worker_bytes(slots));
		rte_free(t->others[w]);
	}
	hs_pages_give(t->shared, shared_bytes(slots));
	for (uint32_t slot = 0; t->offers && slot < slots; slot++)
		free(t->offers[slot]);
	free(t->offers);
	hs_ns_index_fini(&t->index);
	hs_flow_index_fini(&t->places);
	free(t->entries);
	rte_hash_free(t->hash);
	free(t);
}

// rte_hash's parts: keys (64 bytes each with their data), two sets of 64-byte buckets for eight,
// rings of free key slots and free extension buckets, a change counter.
static uint64_t hash_bytes(uint32_t entries)
{
	uint64_t slots = rte_align32pow2(entries + 1);
	uint64_t buckets = slots / 8;

	return (uint64_t)entries * 64 + buckets * 2 * 64 + slots * sizeof(uint32_t) +
	       buckets * 2 * sizeof(uint32_t);
}

uint64_t hs_flow_table_bytes(uint32_t capacity, unsigned n_workers)
{
	uint32_t slots = slots_of(capacity);
	uint64_t arrays = hs_pages_dpdk_bytes(shared_bytes(slots)) +
			  n_workers * hs_pages_dpdk_bytes(worker_bytes(slots)) +
			  hs_pages_dpdk_bytes(hs_flow_index_bytes(slots));
	uint64_t hash = hash_bytes(hash_entries(slots));

	return hash + hash / 16 + arrays + (1u << 20);
}

static size_t mapped_bytes(size_t bytes)
{
	return bytes - hs_pages_dpdk_bytes(bytes);
}

uint64_t hs_flow_table_heap_bytes(uint32_t capacity, unsigned n_workers)
{
	uint32_t slots = slots_of(capacity);
	uint64_t arrays = mapped_bytes(shared_bytes(slots)) +
			  n_workers * mapped_bytes(worker_bytes(slots)) +
			  mapped_bytes(hs_flow_index_bytes(slots));

	return arrays + (uint64_t)slots * (sizeof(struct entry) + sizeof(struct hs_flow_offer *)) +
	       hs_ns_index_bytes(slots);
}
