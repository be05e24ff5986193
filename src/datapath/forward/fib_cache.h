// SPDX-License-Identifier: BSD-3-Clause
// The next hops that a worker's flows took last: the packets of a rule find theirs without a
// search. It stays until the table of routes changes. Most prefixes have 64 bits or fewer, so that
// a place has the upper half of an address; where longer prefixes tell addresses of one upper half
// apart, nothing is kept.
//
// Thread rule: owner lcore; create and destroy by control.
#pragma once

#include "fib.h"

struct hs_fib_cache;

// A place for each of so many rules, but no more than 4,096. 0 or -ENOMEM. destroy accepts NULL.
int hs_fib_cache_create(uint32_t rules, struct hs_fib_cache **cache);
void hs_fib_cache_destroy(struct hs_fib_cache *cache);
// EAL memory that it takes.
uint64_t hs_fib_cache_bytes(uint32_t rules);

// What hs_fib_lookup gives, but for the address of a key that has 64 ones in front: there is none
// that a router may pass on. slots[i] is the packet's rule, or HS_FLOW_NONE. `n` is at most
// HS_FIB_LOOKUP_MAX.
void hs_fib_cache_lookup(struct hs_fib_cache *cache, const struct hs_fib *fib,
		const uint8_t *const *dst, const uint32_t *slots, unsigned n,
		struct hs_next_hop *next);
