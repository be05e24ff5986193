// SPDX-License-Identifier: BSD-3-Clause
// The next hops that a worker's packets took last, so that most packets need no search. A packet of
// a rule has its rule's place. All other packets, and those whose rule's place has another
// destination, share 4,096 places by destination. A next hop stays until another one takes its
// place, or until the table of routes changes. Most prefixes have 64 bits or fewer, so that a place
// has the upper half of an address. Where longer prefixes tell addresses of one upper half apart,
// no next hop is kept.
//
// Thread rule: owner lcore; create and destroy by control.
#pragma once

#include "fib.h"

struct hs_fib_cache;

// Creates a cache with places by destination, and a place for each of so many rules, but no more
// than 4,096. Returns 0 or -ENOMEM. hs_fib_cache_destroy accepts NULL.
int hs_fib_cache_create(uint32_t rules, struct hs_fib_cache **cache);
void hs_fib_cache_destroy(struct hs_fib_cache *cache);
// Returns the EAL memory of a cache.
uint64_t hs_fib_cache_bytes(uint32_t rules);

// Do what hs_fib_lookup does, except for keys whose first 64 bits are ones, which no router may
// pass on. `n` is at most HS_FIB_LOOKUP_MAX. slots[i] is the packet's rule, or HS_FLOW_NONE; no
// packet of hs_fib_cache_lookup_unmatched has a rule.
void hs_fib_cache_lookup(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, const uint32_t *slots, unsigned n,
		struct hs_next_hop *next);
void hs_fib_cache_lookup_unmatched(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, unsigned n, struct hs_next_hop *next);
