// SPDX-License-Identifier: BSD-3-Clause
#include "fib_cache.h"

#include "flow_table.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_malloc.h>
#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#define MAX_PLACES 4096 // a power of two
#define SET_BITS   10
#define WAYS	   4

// If many next hops of a burst replace another one's, more flows or destinations are active than
// there are places for them. If many cannot be kept, most prefixes are longer than 64 bits. In both
// cases, the next bursts search.
#define MANY	    8
#define REST_BURSTS 32

// An empty place has all bits set, which is the answer HS_FIB_NO_PORT.
#define EMPTY UINT64_MAX
struct place {
	uint64_t top; // upper half of the address, as in the packet
	struct hs_next_hop next;
};
static_assert(sizeof(struct place) == 16, "four in a cache line");

// The places of destinations with one hash.
struct set {
	uint64_t tops[WAYS];
	struct hs_next_hop next[WAYS];
};
static_assert(RTE_CACHE_LINE_SIZE % sizeof(struct set) == 0, "one line for a look-up");

struct hs_fib_cache {
	uint64_t generation;			// of the table of routes
	unsigned flows_rest, destinations_rest; // bursts to come that do not ask the places
	unsigned way;				// of the next destination that is kept
	uint32_t mask;				// number of places - 1
	struct set sets[1u << SET_BITS] __rte_cache_aligned;
	struct place places[];
};

static uint32_t place_count(uint32_t rules)
{
	return rte_align32pow2(RTE_MIN(RTE_MAX(rules, 1u), (uint32_t)MAX_PLACES));
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

// Forgets the next hops of another table of routes.
static inline void look_at_generation(struct hs_fib_cache *cache, const struct hs_fib *fib)
{
	uint64_t generation = hs_fib_generation(fib);

	if (likely(cache->generation == generation))
		return;
	memset(cache->sets, 0xff, sizeof(cache->sets));
	memset(cache->places, 0xff, (cache->mask + 1) * sizeof(cache->places[0]));
	cache->generation = generation;
	cache->flows_rest = cache->destinations_rest = 0;
}

// Counts a burst. Returns whether it does not ask the places.
static inline bool rests(unsigned *rest)
{
	bool resting = *rest;

	*rest -= resting;
	return resting;
}

// Collects the n destinations that missed, at least one.
static inline void gather(const uint8_t *const *dst, const uint8_t *missed, unsigned n,
		const uint8_t *asked[HS_FIB_LOOKUP_MAX])
{
	asked[0] = dst[missed[0]];
	for (unsigned k = 1; k < n; k++)
		asked[k] = dst[missed[k]];
}

// ---- by destination ----

static inline struct set *set_of(struct hs_fib_cache *cache, uint64_t top)
{
	return &cache->sets[rte_be_to_cpu_64(top) * UINT64_C(0x9e3779b97f4a7c15) >>
			    (64 - SET_BITS)];
}

// Returns bit i where place i of a set has this destination.
static inline unsigned ways_with(const struct set *set, uint64_t top)
{
#ifdef __SSE4_1__
	const __m128i *tops = (const __m128i *)set->tops, wanted = _mm_set1_epi64x((long long)top);
	__m128i first = _mm_cmpeq_epi64(_mm_load_si128(tops), wanted);
	__m128i second = _mm_cmpeq_epi64(_mm_load_si128(tops + 1), wanted);

	return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_packs_epi32(first, second)));
#else
	unsigned found = 0;

	for (unsigned way = 0; way < WAYS; way++)
		found |= (unsigned)(set->tops[way] == top) << way;
	return found;
#endif
}

// Keeps a next hop. Returns whether another destination loses its place.
static bool keep_destination(
		struct hs_fib_cache *cache, uint64_t top, const struct hs_next_hop *next)
{
	struct set *set = set_of(cache, top);
	unsigned found = ways_with(set, top);

	if (!found)
		found = ways_with(set, EMPTY);
	unsigned way = found ? (unsigned)__builtin_ctz(found) : cache->way++ % WAYS;
	set->tops[way] = top;
	set->next[way] = *next;
	return !found;
}

// Searches the n destinations that missed. Clears the bits of those whose next hop cannot be kept
// in *whole.
static void search_missed(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, const uint8_t *missed, unsigned n,
		struct hs_next_hop *next, uint64_t *whole)
{
	const uint8_t *asked[HS_FIB_LOOKUP_MAX];
	struct hs_next_hop found[HS_FIB_LOOKUP_MAX];
	unsigned n_vain = 0;

	gather(dst, missed, n, asked);
	uint64_t found_whole = hs_fib_lookup(fib, asked, n, found);
	for (unsigned k = 0; k < n; k++) {
		next[missed[k]] = found[k];
		if (found_whole >> k & 1) {
			n_vain += keep_destination(cache, top_of(asked[k]), &found[k]);
		} else {
			*whole &= ~(UINT64_C(1) << missed[k]);
			n_vain++;
		}
	}
	cache->destinations_rest = n_vain > MANY ? REST_BURSTS : 0;
}

// Does what hs_fib_lookup does.
static inline uint64_t look_up_destinations(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, unsigned n, struct hs_next_hop *next)
{
	uint8_t missed[HS_FIB_LOOKUP_MAX];
	uint64_t whole = UINT64_MAX;
	unsigned n_missed = 0;

	if (unlikely(rests(&cache->destinations_rest)))
		return hs_fib_lookup(fib, dst, n, next);
	for (unsigned i = 0; i < n; i++) {
		uint64_t top = top_of(dst[i]);
		const struct set *set = set_of(cache, top);
		unsigned found = ways_with(set, top);
		next[i] = set->next[(unsigned)__builtin_ctz(found | 1u << (WAYS - 1))];
		missed[n_missed] = (uint8_t)i;
		n_missed += !found;
	}
	if (unlikely(n_missed))
		search_missed(cache, fib, dst, missed, n_missed, next, &whole);
	return whole;
}

void hs_fib_cache_lookup_unmatched(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, unsigned n, struct hs_next_hop *next)
{
	look_at_generation(cache, fib);
	look_up_destinations(cache, fib, dst, n, next);
}

// ---- by rule ----

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
	bool taken = place->top != EMPTY && place->top != top;

	*place = (struct place){top, *next};
	return taken;
}

// Looks up the n destinations that missed.
static void look_up_missed(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, const uint32_t *slots, const uint8_t *missed, unsigned n,
		struct hs_next_hop *next)
{
	const uint8_t *asked[HS_FIB_LOOKUP_MAX];
	struct hs_next_hop found[HS_FIB_LOOKUP_MAX];
	unsigned n_taken = 0;

	gather(dst, missed, n, asked);
	uint64_t whole = look_up_destinations(cache, fib, asked, n, found);
	for (unsigned k = 0; k < n; k++) {
		uint32_t slot = slots[missed[k]];
		next[missed[k]] = found[k];
		if (slot != HS_FLOW_NONE && whole >> k & 1)
			n_taken += keep(place_of(cache, slot), top_of(asked[k]), &found[k]);
	}
	cache->flows_rest = n_taken > MANY ? REST_BURSTS : 0;
}

void hs_fib_cache_lookup(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, const uint32_t *slots, unsigned n,
		struct hs_next_hop *next)
{
	uint8_t missed[HS_FIB_LOOKUP_MAX];
	unsigned n_missed = 0;

	look_at_generation(cache, fib);
	if (unlikely(rests(&cache->flows_rest))) {
		look_up_destinations(cache, fib, dst, n, next);
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
