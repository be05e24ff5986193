// SPDX-License-Identifier: BSD-3-Clause
#include "flow_state.h"

#include <string.h>

#include <rte_hash.h>

// The wildcard masks in the order of preference; between the two with one wildcard the older rule
// wins. Bit values are the bits of hs_flow_view.masks.
enum mask {
	MASK_EXACT,
	MASK_ANY_SRC,
	MASK_ANY_DST,
	MASK_ANY_BOTH,
	MASK_COUNT,
};

static void mask_key(const struct hs_flow_key *from, enum mask mask, struct hs_flow_key *to)
{
	*to = *from;
	if (mask == MASK_ANY_SRC || mask == MASK_ANY_BOTH)
		to->src_port = 0;
	if (mask == MASK_ANY_DST || mask == MASK_ANY_BOTH)
		to->dst_port = 0;
}

static void take_hits(const struct hs_flow_view *view, enum mask mask, unsigned n,
		const unsigned *at, uint64_t hits, void *const *data, uint32_t *slots)
{
	for (unsigned i = 0; i < n; i++) {
		if (!(hits >> i & 1))
			continue;
		uint32_t found = (uint32_t)(uintptr_t)data[i];
		uint32_t *slot = &slots[at[i]];
		bool tie = mask == MASK_ANY_DST && *slot != HS_FLOW_NONE;
		if (!tie || view->shared[found].age < view->shared[*slot].age)
			*slot = found;
	}
}

static void lookup_masked(const struct hs_flow_view *view, enum mask mask,
		const struct hs_flow_key *const *keys, unsigned n, const unsigned *at,
		uint32_t *slots)
{
	struct hs_flow_key masked[RTE_HASH_LOOKUP_BULK_MAX];
	const void *pointers[RTE_HASH_LOOKUP_BULK_MAX];
	hash_sig_t hashes[RTE_HASH_LOOKUP_BULK_MAX];
	void *data[RTE_HASH_LOOKUP_BULK_MAX];
	uint64_t hits = 0;

	for (unsigned i = 0; i < n; i++) {
		mask_key(keys[at[i]], mask, &masked[i]);
		pointers[i] = &masked[i];
		hashes[i] = hs_flow_key_hash(&masked[i]);
	}
	rte_hash_lookup_with_hash_bulk_data(view->hash, pointers, hashes, n, &hits, data);
	take_hits(view, mask, n, at, hits, data, slots);
}

// Which keys still look for a rule at this mask.
static unsigned unresolved(enum mask mask, const struct hs_flow_key *const *keys, unsigned n,
		const uint32_t *slots, const bool *exact, unsigned *at)
{
	unsigned left = 0;
	for (unsigned i = 0; i < n; i++) {
		bool open = slots[i] == HS_FLOW_NONE || (mask == MASK_ANY_DST && !exact[i]);
		if (keys[i] && open)
			at[left++] = i;
	}
	return left;
}

static void lookup_wildcards(const struct hs_flow_view *view, uint8_t masks,
		const struct hs_flow_key *const *keys, unsigned n, uint32_t *slots)
{
	bool exact[RTE_HASH_LOOKUP_BULK_MAX];
	unsigned at[RTE_HASH_LOOKUP_BULK_MAX];

	for (unsigned i = 0; i < n; i++)
		exact[i] = slots[i] != HS_FLOW_NONE;
	for (enum mask mask = MASK_ANY_SRC; mask < MASK_COUNT; mask++) {
		if (!(masks >> mask & 1))
			continue;
		unsigned left = unresolved(mask, keys, n, slots, exact, at);
		if (left)
			lookup_masked(view, mask, keys, left, at, slots);
	}
}

static void lookup_exact(const struct hs_flow_view *view, const struct hs_flow_key *const *keys,
		unsigned n, uint32_t *slots)
{
	const void *pointers[RTE_HASH_LOOKUP_BULK_MAX];
	hash_sig_t hashes[RTE_HASH_LOOKUP_BULK_MAX];
	void *data[RTE_HASH_LOOKUP_BULK_MAX];
	unsigned at[RTE_HASH_LOOKUP_BULK_MAX];
	uint64_t hits = 0;
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!keys[i])
			continue;
		pointers[left] = keys[i];
		hashes[left] = hs_flow_key_hash(keys[i]);
		at[left++] = i;
	}
	if (!left)
		return;
	rte_hash_lookup_with_hash_bulk_data(view->hash, pointers, hashes, left, &hits, data);
	for (unsigned i = 0; i < left; i++) {
		if (hits >> i & 1)
			slots[at[i]] = (uint32_t)(uintptr_t)data[i];
	}
}

void hs_flow_lookup_burst(const struct hs_flow_view *view, const struct hs_flow_key *const *keys,
		unsigned n, uint32_t *slots)
{
	uint8_t masks = atomic_load_explicit(view->masks, memory_order_acquire);

	for (unsigned i = 0; i < n; i++)
		slots[i] = HS_FLOW_NONE;
	if (masks & 1 << MASK_EXACT)
		lookup_exact(view, keys, n, slots);
	if (masks & ~(1 << MASK_EXACT))
		lookup_wildcards(view, masks, keys, n, slots);
}

void hs_flow_mark_seen(const struct hs_flow_view *view, uint32_t slot)
{
	atomic_fetch_or_explicit(&view->shared[slot].workers, UINT32_C(1) << view->worker,
			memory_order_relaxed);
	view->own[slot].seen = 1;
}

static void read_others(const struct hs_flow_view *view, uint32_t slot, struct hs_flow_sums *sums)
{
	uint32_t workers = atomic_load_explicit(&view->shared[slot].workers, memory_order_relaxed);

	memset(sums, 0, sizeof(*sums));
	workers &= ~(UINT32_C(1) << view->worker);
	for (; workers; workers &= workers - 1) {
		const struct hs_flow_worker *w = &view->workers[__builtin_ctz(workers)][slot];
		sums->rx_packets += __atomic_load_n(&w->rx_packets, __ATOMIC_RELAXED);
		sums->rx_bytes += __atomic_load_n(&w->rx_bytes, __ATOMIC_RELAXED);
		sums->tx_packets += __atomic_load_n(&w->tx_packets, __ATOMIC_RELAXED);
		sums->tx_bytes += __atomic_load_n(&w->tx_bytes, __ATOMIC_RELAXED);
		sums->int_packets += __atomic_load_n(&w->int_packets, __ATOMIC_RELAXED);
	}
}

const struct hs_flow_sums *hs_flow_sum_others(const struct hs_flow_view *view, uint32_t slot)
{
	struct hs_flow_others *others = view->others;
	struct hs_flow_others_place *place = &others->places[slot % HS_FLOW_OTHERS];

	uint32_t generation =
			atomic_load_explicit(&view->shared[slot].generation, memory_order_relaxed);
	// Unsigned: a clock that was set back makes it old.
	uint64_t age_ns = (uint64_t)(others->now_ns - place->read_ns);

	if (place->slot != slot || place->generation != generation || age_ns >= HS_FLOW_OTHERS_NS) {
		read_others(view, slot, &place->sums);
		place->read_ns = others->now_ns;
		place->slot = slot;
		place->generation = generation;
	}
	return &place->sums;
}

void hs_flow_postpone(struct hs_flow_worker *own)
{
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);

	if ((uint8_t)(config >> HS_FLOW_CONFIG_MODE_SHIFT) == HS_MODE_COUNT)
		own->since = (uint32_t)((config & HS_FLOW_CONFIG_SETTING) - 1);
}

static bool claim_period(
		const struct hs_flow_view *view, uint32_t slot, int64_t now_ns, int64_t interval_ns)
{
	struct hs_flow_worker *own = &view->own[slot];
	_Atomic int64_t *shared = &view->shared[slot].last_ns;
	int64_t last_ns = atomic_load_explicit(shared, memory_order_relaxed);

	if (now_ns - last_ns >= interval_ns &&
			atomic_compare_exchange_strong_explicit(shared, &last_ns, now_ns,
					memory_order_relaxed, memory_order_relaxed)) {
		own->last_ns = now_ns;
		return true;
	}
	own->last_ns = last_ns;
	return false;
}

bool hs_flow_claim(const struct hs_flow_view *view, uint32_t slot, int64_t now_ns)
{
	struct hs_flow_worker *own = &view->own[slot];
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);

	switch ((uint8_t)(config >> HS_FLOW_CONFIG_MODE_SHIFT)) {
	case HS_MODE_COUNT:
		own->since = 0;
		return true;
	case HS_MODE_FREQUENCY:
		return claim_period(view, slot, now_ns, (int64_t)(config & HS_FLOW_CONFIG_SETTING));
	default:
		return true;
	}
}
