// SPDX-License-Identifier: BSD-3-Clause
#include "flow_index.h"

#include "pages.h"

#include <errno.h>

#include <rte_common.h>

// Returns the number of buckets. If all rules are in, 1.5 to 3 of seven places are taken on
// average, and two to 120 of ten thousand buckets overflow. A rule without a place costs its
// packets several consecutive cache misses.
static uint32_t bucket_count(uint32_t capacity)
{
	return rte_align32pow2(capacity / 3 + 1);
}

int hs_flow_index_init(struct hs_flow_index *index, uint32_t capacity)
{
	uint32_t n = bucket_count(capacity);

	index->buckets = hs_pages_take("flow index", (size_t)n * sizeof(*index->buckets));
	index->mask = n - 1;
	return index->buckets ? 0 : -ENOMEM;
}

void hs_flow_index_fini(struct hs_flow_index *index)
{
	hs_pages_give(index->buckets, ((size_t)index->mask + 1) * sizeof(*index->buckets));
}

uint64_t hs_flow_index_bytes(uint32_t capacity)
{
	return (uint64_t)bucket_count(capacity) * sizeof(struct hs_flow_bucket);
}

static uint32_t signature_at(const struct hs_flow_bucket *bucket, unsigned i)
{
	return atomic_load_explicit(&bucket->signatures[i], memory_order_relaxed);
}

// Returns the slot's place, or HS_FLOW_INDEX_PLACES if the slot is one of the overflow.
static unsigned place_of(const struct hs_flow_bucket *bucket, uint32_t hash, uint32_t slot)
{
	for (unsigned i = 0; i < HS_FLOW_INDEX_PLACES; i++) {
		if (signature_at(bucket, i) == hs_flow_index_signature(hash) &&
				bucket->slots[i] == slot)
			return i;
	}
	return HS_FLOW_INDEX_PLACES;
}

static bool holds(const struct hs_flow_bucket *bucket, uint32_t signature)
{
	for (unsigned i = 0; i < HS_FLOW_INDEX_PLACES; i++) {
		if (signature_at(bucket, i) == signature)
			return true;
	}
	return false;
}

// Inserts a slot. Two keys with one hash never share a bucket, because a look-up of the second
// would find the place of the first.
void hs_flow_index_insert(struct hs_flow_index *index, uint32_t hash, uint32_t slot)
{
	struct hs_flow_bucket *bucket = hs_flow_index_bucket(index, hash);
	uint32_t signature = hs_flow_index_signature(hash);

	bool shared = holds(bucket, signature);

	for (unsigned i = 0; i < HS_FLOW_INDEX_PLACES && !shared; i++) {
		if (signature_at(bucket, i))
			continue;
		atomic_store_explicit(&bucket->slots[i], slot, memory_order_relaxed);
		atomic_store_explicit(&bucket->signatures[i], signature, memory_order_release);
		return;
	}
	atomic_fetch_add_explicit(&bucket->overflow, 1, memory_order_release);
}

void hs_flow_index_erase(struct hs_flow_index *index, uint32_t hash, uint32_t slot)
{
	struct hs_flow_bucket *bucket = hs_flow_index_bucket(index, hash);
	unsigned at = place_of(bucket, hash, slot);

	if (at < HS_FLOW_INDEX_PLACES)
		atomic_store_explicit(&bucket->signatures[at], 0, memory_order_release);
	else
		atomic_fetch_sub_explicit(&bucket->overflow, 1, memory_order_release);
}

void hs_flow_index_replace(struct hs_flow_index *index, uint32_t hash, uint32_t slot, uint32_t with)
{
	struct hs_flow_bucket *bucket = hs_flow_index_bucket(index, hash);
	unsigned at = place_of(bucket, hash, slot);

	if (at < HS_FLOW_INDEX_PLACES)
		atomic_store_explicit(&bucket->slots[at], with, memory_order_release);
}
