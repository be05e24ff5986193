// SPDX-License-Identifier: BSD-3-Clause
// All addresses cut into ranges of one next hop, in order. The longest match of a prefix table is
// then a search for the last range that begins at or before an address. The ranges are made as a
// whole, and are made anew in the same memory only when no worker reads them any more.
//
// Thread rule: look-up by any; the rest control.
#pragma once

#include <stdint.h>

struct fib_ranges;

// The most prefixes that lie within each other: those of 0 to 128 bits, and the space outside of
// all.
#define FIB_MAX_NESTED 130

// The state of a table that is being made from routes; on the caller's stack.
struct fib_ranges_maker {
	struct fib_ranges *ranges;
	unsigned n_nested;
	struct {
		unsigned __int128 last;
		uint32_t hop;
	} nested[FIB_MAX_NESTED];
};

// Creates room for the ranges of n routes, without any route. Returns 0 or -ENOMEM.
int fib_ranges_create(uint32_t n_routes, struct fib_ranges **ranges);
void fib_ranges_destroy(struct fib_ranges *ranges);
uint64_t fib_ranges_bytes(uint32_t n_routes);

void fib_ranges_begin(struct fib_ranges_maker *maker, struct fib_ranges *ranges);
// Adds a route to `hop` (below 2^31). Routes come in order of prefix, then depth.
void fib_ranges_add(struct fib_ranges_maker *maker, const uint8_t prefix[16], uint8_t depth,
		uint32_t hop);
void fib_ranges_finish(struct fib_ranges_maker *maker);

#define FIB_RANGES_LOOKUP_MAX 64

// Finds the hops of n (at most FIB_RANGES_LOOKUP_MAX) destinations, 0 where there is no route.
// Returns bit i where all addresses with the first 64 bits of dst[i] have its hop.
uint64_t fib_ranges_lookup(const struct fib_ranges *ranges, const uint8_t *const *dst, unsigned n,
		uint32_t *hops);
