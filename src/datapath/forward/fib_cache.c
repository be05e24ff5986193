// SPDX-License-Identifier: BSD-3-Clause
#include "fib_cache.h"

#include "flow_table.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_malloc.h>

#define MAX_PLACES 4096 // a power of two

// If many flows of a burst find another flow's next hop, more flows are active than the cache has
// places, and the next bursts search.
#define MANY_TAKEN  8
#define REST_BURSTS 32

// An empty place has all bits set, which is the answer HS_FIB_NO_PORT.
#define EMPTY UINT64_MAX
struct place {
	uint64_t top; // upper half of the address, as in the packet
	struct hs_next_hop next;
};
static_assert(sizeof(struct place) == 16, "four in a cache line");

struct hs_fib_cache {
	uint64_t generation; // of the table of routes
	unsigned rest;	     // bursts to come that search without the cache
	uint32_t mask;	     // number of places - 1
	struct place places[] __rte_cache_aligned;
};

static uint32_t place_count(uint32_t rules)
{
	return rte_align32pow2(RTE_MIN(rules, (uint32_t)MAX_PLACES));
}

uint64_t hs_fib_cache_bytes(uint32_t rules)
{
	return sizeof(struct hs_fib_cache) + place_count(rules) * sizeof(struct place);
}

int hs_fib_cache_create(uint32_t rules, struct hs_fib_cache **out)
{
	struct hs_fib_cache *cache =
			rte_zmalloc("fib cache", hs_fib_cache_bytes(rules), RTE_CACHE_LINE_SIZE);

	if (!cache)
		return -ENOMEM;
	cache->mask = place_count(rules) - 1;
	*out = cache;
	return 0;
}

void hs_fib_cache_destroy(struct hs_fib_cache *cache)
{
	rte_free(cache);
}

static inline uint64_t top_of(const uint8_t *dst)
{
	uint64_t top;

	memcpy(&top, dst, sizeof(top));
	return top;
}

// Returns the place of a rule. A packet without a rule has a place, too, which may have its next
// hop by chance.
static inline struct place *place_of(struct hs_fib_cache *cache, uint32_t slot)
{
	return &cache->places[slot & cache->mask];
}

// Keeps a next hop. Returns whether the place had the next hop of another flow, or of another
// destination of the flow.
static inline bool keep(struct place *place, uint64_t top, const struct hs_next_hop *next)
{
	bool taken = place->top != EMPTY;

	*place = (struct place){top, *next};
	return taken;
}

// Looks up the n destinations that missed, at least one.
static void look_up_missed(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, const uint32_t *slots, const uint8_t *missed, unsigned n,
		struct hs_next_hop *next)
{
	const uint8_t *asked[HS_FIB_LOOKUP_MAX] = {dst[missed[0]]};
	struct hs_next_hop found[HS_FIB_LOOKUP_MAX];
	unsigned n_taken = 0;

	for (unsigned k = 1; k < n; k++)
		asked[k] = dst[missed[k]];
	uint64_t whole = hs_fib_lookup(fib, asked, n, found);
	for (unsigned k = 0; k < n; k++) {
		uint32_t slot = slots[missed[k]];
		next[missed[k]] = found[k];
		if (slot != HS_FLOW_NONE && whole >> k & 1)
			n_taken += keep(place_of(cache, slot), top_of(asked[k]), &found[k]);
	}
	cache->rest = n_taken > MANY_TAKEN ? REST_BURSTS : 0;
}

static bool is_idle(struct hs_fib_cache *cache, const struct hs_fib *fib)
{
	uint64_t generation = hs_fib_generation(fib);

	if (unlikely(cache->generation != generation)) {
		memset(cache->places, 0xff, (cache->mask + 1) * sizeof(cache->places[0]));
		cache->generation = generation;
		cache->rest = 0;
	}
	cache->rest -= cache->rest != 0;
	return cache->rest;
}

void hs_fib_cache_lookup(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, const uint32_t *slots, unsigned n,
		struct hs_next_hop *next)
{
	uint8_t missed[HS_FIB_LOOKUP_MAX];
	unsigned n_missed = 0;

	if (unlikely(is_idle(cache, fib))) {
		hs_fib_lookup(fib, dst, n, next);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		const struct place *place = place_of(cache, slots[i]);
		next[i] = place->next;
		missed[n_missed] = (uint8_t)i;
		n_missed += place->top != top_of(dst[i]);
	}
	if (unlikely(n_missed))
		look_up_missed(cache, fib, dst, slots, missed, n_missed, next);
}
