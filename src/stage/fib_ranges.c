// SPDX-License-Identifier: BSD-3-Clause
#include "fib_ranges.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_malloc.h>

#define MAX_LOOKUP 32
typedef unsigned __int128 address;

struct fib_ranges {
	uint32_t n, room;
	uint32_t *hops; // of the range that begins at first[i]
	address first[];
};

static uint32_t ranges_of(uint32_t n_routes)
{
	return 2 * n_routes + 1;
}

uint64_t fib_ranges_bytes(uint32_t n_routes)
{
	return sizeof(struct fib_ranges) +
	       ranges_of(n_routes) * (sizeof(address) + (uint64_t)sizeof(uint32_t));
}

int fib_ranges_begin(struct fib_ranges_maker *maker, uint32_t n_routes)
{
	struct fib_ranges *ranges = rte_malloc("routes", fib_ranges_bytes(n_routes), 64);

	if (!ranges)
		return -ENOMEM;
	ranges->room = ranges_of(n_routes);
	ranges->hops = (uint32_t *)&ranges->first[ranges->room];
	ranges->n = 1;
	ranges->first[0] = 0;
	ranges->hops[0] = 0;
	maker->ranges = ranges;
	maker->n_nested = 1;
	maker->nested[0].last = ~(address)0;
	maker->nested[0].hop = 0;
	return 0;
}

void fib_ranges_destroy(struct fib_ranges *ranges)
{
	rte_free(ranges);
}

static address read_address(const uint8_t bytes[16])
{
	uint64_t high, low;

	memcpy(&high, bytes, sizeof(high));
	memcpy(&low, bytes + 8, sizeof(low));
	return (address)rte_be_to_cpu_64(high) << 64 | rte_be_to_cpu_64(low);
}

// From `first` on, addresses go to `hop`. What begins at the same place is replaced; neighbours
// with the same hop are one range.
static void begin(struct fib_ranges *ranges, address first, uint32_t hop)
{
	if (ranges->first[ranges->n - 1] == first)
		ranges->n--;
	if (ranges->n && ranges->hops[ranges->n - 1] == hop)
		return;
	assert(ranges->n < ranges->room);
	ranges->first[ranges->n] = first;
	ranges->hops[ranges->n++] = hop;
}

// Ends the innermost prefix: behind it, the one around it goes on.
static void end_nested(struct fib_ranges_maker *maker)
{
	address last = maker->nested[--maker->n_nested].last;

	if (~last)
		begin(maker->ranges, last + 1, maker->nested[maker->n_nested - 1].hop);
}

void fib_ranges_add(struct fib_ranges_maker *maker, const uint8_t prefix[16], uint8_t depth,
		uint32_t hop)
{
	address first = read_address(prefix);
	address last = depth == 128 ? first : first | ~(address)0 >> depth;

	while (maker->nested[maker->n_nested - 1].last < first)
		end_nested(maker);
	maker->nested[maker->n_nested].last = last;
	maker->nested[maker->n_nested++].hop = hop;
	begin(maker->ranges, first, hop);
}

struct fib_ranges *fib_ranges_finish(struct fib_ranges_maker *maker)
{
	while (maker->n_nested > 1)
		end_nested(maker);
	return maker->ranges;
}

// All destinations take each step together, so that their waits for memory overlap.
void fib_ranges_lookup(const struct fib_ranges *ranges, const uint8_t *const *dst, unsigned n,
		uint32_t *hops)
{
	address addresses[MAX_LOOKUP];
	uint32_t at[MAX_LOOKUP];

	for (unsigned i = 0; i < n; i++) {
		addresses[i] = read_address(dst[i]);
		at[i] = 0;
	}
	for (uint32_t left = ranges->n, half; left > 1; left -= half) {
		half = left / 2;
		for (unsigned i = 0; i < n; i++)
			at[i] += addresses[i] >= ranges->first[at[i] + half] ? half : 0;
	}
	for (unsigned i = 0; i < n; i++)
		hops[i] = ranges->hops[at[i]];
}
