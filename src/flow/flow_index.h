// SPDX-License-Identifier: BSD-3-Clause
// Maps a key's hash to the slot of its rule, with one cache line for a look-up. The index stands in
// front of the rule table's rte_hash and answers for nearly all packets, above all for those
// without a rule.
//
// The index is exact in combination with checks. A hit is compared with the slot's key. A bucket
// that once had no place for a rule says so (`overflow`), and packets that find nothing in it use
// the rte_hash. Entries never move, so readers need only the order of two stores.
//
// Thread rule: find by any worker that reports quiescent states to the table; the rest control.
#pragma once

#include "flow_slot.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define HS_FLOW_INDEX_PLACES 7
#define HS_FLOW_INDEX_ASK    (UINT32_MAX - 1) // not here, but the bucket overflowed

struct hs_flow_bucket {
	_Atomic uint32_t signatures[HS_FLOW_INDEX_PLACES]; // 0: free
	_Atomic uint32_t overflow;			   // number of rules that found no place
	_Atomic uint32_t slots[HS_FLOW_INDEX_PLACES];
	uint32_t reserved;
};
static_assert(sizeof(struct hs_flow_bucket) == 64, "one cache line");

struct hs_flow_index {
	struct hs_flow_bucket *buckets;
	uint32_t mask;
};

// Returns 0 or -ENOMEM. hs_flow_index_fini accepts a zeroed index.
int hs_flow_index_init(struct hs_flow_index *index, uint32_t capacity);
void hs_flow_index_fini(struct hs_flow_index *index);
uint64_t hs_flow_index_bytes(uint32_t capacity);

// Inserts a slot. The caller has stored the slot's key, and the rule is in the rte_hash.
void hs_flow_index_insert(struct hs_flow_index *index, uint32_t hash, uint32_t slot);
void hs_flow_index_erase(struct hs_flow_index *index, uint32_t hash, uint32_t slot);
// Replaces the slot of a rule with the same key.
void hs_flow_index_replace(
		struct hs_flow_index *index, uint32_t hash, uint32_t slot, uint32_t with);

static inline struct hs_flow_bucket *hs_flow_index_bucket(
		const struct hs_flow_index *index, uint32_t hash)
{
	return &index->buckets[hash & index->mask];
}

static inline uint32_t hs_flow_index_signature(uint32_t hash)
{
	return hash | 1; // the lowest bit chooses the bucket
}

// Returns the places that hold this signature, bits 2i and 2i + 1 for place i. This version works
// on any machine, and tests compare the other version with it.
static inline unsigned hs_flow_index_match_plain(
		const struct hs_flow_bucket *bucket, uint32_t signature)
{
	unsigned match = 0;

	for (unsigned i = 0; i < HS_FLOW_INDEX_PLACES; i++) {
		uint32_t s = atomic_load_explicit(&bucket->signatures[i], memory_order_relaxed);
		match |= (s == signature ? 3u : 0u) << 2 * i;
	}
	return match;
}

#ifdef __SSE2__
// Does the same. Each of the eight words is read whole (Intel SDM volume 3, 9.1.1: aligned words
// are).
static inline unsigned hs_flow_index_match(const struct hs_flow_bucket *bucket, uint32_t signature)
{
	const __m128i *words = (const __m128i *)(const void *)bucket;
	__m128i wanted = _mm_set1_epi32((int)signature);
	__m128i low = _mm_cmpeq_epi32(_mm_load_si128(words), wanted);
	__m128i high = _mm_cmpeq_epi32(_mm_load_si128(words + 1), wanted);
	unsigned match = (unsigned)_mm_movemask_epi8(_mm_packs_epi32(low, high));

	return match & ((1u << 2 * HS_FLOW_INDEX_PLACES) - 1);
}
#else
static inline unsigned hs_flow_index_match(const struct hs_flow_bucket *bucket, uint32_t signature)
{
	return hs_flow_index_match_plain(bucket, signature);
}
#endif

// Returns a slot whose key has this hash (the key must be compared), HS_FLOW_NONE or
// HS_FLOW_INDEX_ASK.
static inline uint32_t hs_flow_index_find(const struct hs_flow_bucket *bucket, uint32_t hash)
{
	unsigned match = hs_flow_index_match(bucket, hs_flow_index_signature(hash));

	if (match) {
		atomic_thread_fence(memory_order_acquire);
		return atomic_load_explicit(&bucket->slots[(unsigned)__builtin_ctz(match) / 2],
				memory_order_relaxed);
	}
	bool ask = atomic_load_explicit(&bucket->overflow, memory_order_relaxed) != 0;
	return ask ? HS_FLOW_INDEX_ASK : HS_FLOW_NONE;
}
