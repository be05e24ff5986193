// SPDX-License-Identifier: BSD-3-Clause
#include "fib_ranges.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_malloc.h>

#define SPLIT	   (UINT32_C(1) << 31)
#define FEW_GROUPS 8 // so many are searched as they are; more are cut into segments
#define CUTS	   4 // between segments, at most
typedef unsigned __int128 address;

// Groups whose first bits are the same. The segment is cut into slots of equal size, one or two for
// each group, so that few groups are left to search.
struct segment {
	uint64_t base;	    // the first group's upper half
	uint32_t index;	    // of its first slot
	uint32_t last_slot; // 0: only one
	uint8_t shift;	    // bits of an upper half that tell places in one slot apart
};

// Most prefixes have 64 bits or fewer, so ranges are searched by their upper halves first. Ranges
// that begin in one upper half are a group.
struct group {
	uint64_t top; // the upper half
	// The hop of the last range. Without SPLIT, the range is that of all addresses of the
	// group.
	uint32_t last_hop;
	uint32_t begin; // the first range
};

struct fib_ranges {
	uint32_t n, room, n_groups;
	uint32_t n_segments; // 0: too few groups
	uint32_t most;	     // groups among which a destination's is searched
	// Where each segment but the first begins. Behind the last one are cuts at the end of all
	// addresses, whose segments are copies of the last segment.
	uint64_t cuts[CUTS];
	struct segment segments[CUTS + 1];
	address *first;	      // of each range
	uint32_t *hops;	      // of each range
	struct group *groups; // one more at the end, of which only `begin` counts
	// The last group that begins at or before each slot's first place. The slots of all
	// segments follow each other. Behind each segment's slots is its last group.
	uint32_t *index;
};

static uint64_t ranges_of(uint32_t n_routes)
{
	return 2 * (uint64_t)n_routes + 1;
}

// Bytes of a range, with a group of its own and the group's slots: at most two, with the slot for
// the end of a segment.
#define RANGE_BYTES (sizeof(address) + sizeof(struct group) + 3 * sizeof(uint32_t))

uint64_t fib_ranges_bytes(uint32_t n_routes)
{
	return sizeof(struct fib_ranges) + 64 + ranges_of(n_routes) * RANGE_BYTES +
	       sizeof(struct group);
}

static void clear(struct fib_ranges *ranges)
{
	struct fib_ranges_maker maker;

	fib_ranges_begin(&maker, ranges);
	fib_ranges_finish(&maker);
}

int fib_ranges_create(uint32_t n_routes, struct fib_ranges **out)
{
	struct fib_ranges *ranges = rte_malloc("routes", fib_ranges_bytes(n_routes), 64);

	if (!ranges)
		return -ENOMEM;
	ranges->room = (uint32_t)ranges_of(n_routes);
	ranges->first = (address *)RTE_PTR_ALIGN(ranges + 1, 64);
	ranges->groups = (struct group *)(ranges->first + ranges->room);
	ranges->hops = (uint32_t *)(ranges->groups + ranges->room + 1);
	ranges->index = ranges->hops + ranges->room;
	clear(ranges);
	*out = ranges;
	return 0;
}

void fib_ranges_destroy(struct fib_ranges *ranges)
{
	rte_free(ranges);
}

// ---- making ----

static inline uint64_t read_half(const uint8_t *bytes)
{
	uint64_t half;

	memcpy(&half, bytes, sizeof(half));
	return rte_be_to_cpu_64(half);
}

static address read_address(const uint8_t bytes[16])
{
	return (address)read_half(bytes) << 64 | read_half(bytes + 8);
}

void fib_ranges_begin(struct fib_ranges_maker *maker, struct fib_ranges *ranges)
{
	ranges->n = 1;
	ranges->first[0] = 0;
	ranges->hops[0] = 0;
	maker->ranges = ranges;
	maker->n_nested = 1;
	maker->nested[0].last = ~(address)0;
	maker->nested[0].hop = 0;
}

// Begins a range: addresses from `first` on go to `hop`. A range that begins at the same place is
// replaced. Neighbours with the same hop are one range.
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

// Ends the innermost prefix: behind it, the prefix around it goes on.
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

static void make_groups(struct fib_ranges *ranges)
{
	struct group *group = ranges->groups;

	*group = (struct group){.last_hop = ranges->hops[0]};
	for (uint32_t i = 1; i < ranges->n; i++) {
		uint64_t top = (uint64_t)(ranges->first[i] >> 64);
		bool again = group->top == top;
		if (!again)
			*++group = (struct group){.top = top, .begin = i};
		bool split = again || (uint64_t)ranges->first[i];
		group->last_hop = ranges->hops[i] | (split ? SPLIT : 0);
	}
	ranges->n_groups = (uint32_t)(group + 1 - ranges->groups);
	group[1].begin = ranges->n;
}

// Returns in how many of its first bits a group is like the group before it.
static unsigned alike(const struct fib_ranges *ranges, uint32_t group)
{
	return (unsigned)__builtin_clzll(ranges->groups[group].top ^ ranges->groups[group - 1].top);
}

// Returns how many first bits the groups of each segment share, as many as make no more than CUTS.
static unsigned segment_bits(const struct fib_ranges *ranges)
{
	uint32_t n_alike[64] = {0}; // groups that are like the group before them in so many bits
	uint32_t n_cuts = 0;
	unsigned bits = 0;

	for (uint32_t i = 1; i < ranges->n_groups; i++)
		n_alike[alike(ranges, i)]++;
	while (bits < 64 && n_cuts + n_alike[bits] <= CUTS)
		n_cuts += n_alike[bits++];
	return bits;
}

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

// Fills the slots of a segment. Returns the most groups among which a destination of one slot is
// searched. A group is the last one for the slots from its own start on, up to the next group's. No
// branch depends on a place, because no processor could predict it.
static uint32_t fill_slots(const struct group *groups, uint32_t first, uint32_t last,
		const struct segment *segment, uint32_t *index)
{
	uint64_t within = (UINT64_C(1) << segment->shift) - 1, slot = UINT64_MAX;
	uint32_t n = segment->last_slot + 2, from = first, most = 1, newest = first;

	memset(index, 0, n * sizeof(*index));
	for (uint32_t group = first; group <= last; group++) {
		uint64_t offset = groups[group].top - segment->base;
		uint64_t before = slot;
		bool inside = offset & within;
		slot = offset >> segment->shift;
		index[slot + inside] = group;
		from = slot == before ? from : group - inside;
		most = RTE_MAX(most, group - from + 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		newest = RTE_MAX(newest, index[i]);
		index[i] = newest;
	}
	return most;
}

static struct segment segment_over(const struct group *groups, uint32_t first, uint32_t last)
{
	uint64_t base = groups[first].top, span = groups[last].top - base;
	unsigned slot_bits = bits_of(last - first);
	unsigned shift = bits_of(span) > slot_bits ? bits_of(span) - slot_bits : 0;

	return (struct segment){.base = base,
			.last_slot = (uint32_t)(span >> shift),
			.shift = (uint8_t)shift};
}

// Returns the last group of the segment that begins at `first`, whose groups are alike in so many
// bits.
static uint32_t segment_last(const struct fib_ranges *ranges, uint32_t first, unsigned bits)
{
	while (first + 1 < ranges->n_groups && alike(ranges, first + 1) >= bits)
		first++;
	return first;
}

// Makes the segment of groups `first` to `last`, with slots from ranges->index[at] on. Returns the
// end of its slots.
static uint32_t make_segment(struct fib_ranges *ranges, uint32_t first, uint32_t last, uint32_t at)
{
	struct segment *segment = &ranges->segments[ranges->n_segments];

	*segment = segment_over(ranges->groups, first, last);
	segment->index = at;
	uint32_t most = fill_slots(ranges->groups, first, last, segment, &ranges->index[at]);
	ranges->most = RTE_MAX(ranges->most, most);
	if (ranges->n_segments)
		ranges->cuts[ranges->n_segments - 1] = segment->base;
	ranges->n_segments++;
	return at + segment->last_slot + 2;
}

static void make_segments(struct fib_ranges *ranges)
{
	ranges->n_segments = 0;
	ranges->most = ranges->n_groups;
	if (ranges->n_groups <= FEW_GROUPS)
		return;
	ranges->most = 1;
	unsigned bits = segment_bits(ranges);
	for (uint32_t first = 0, last, at = 0; first < ranges->n_groups; first = last + 1) {
		last = segment_last(ranges, first, bits);
		at = make_segment(ranges, first, last, at);
	}
	uint32_t last = ranges->n_segments - 1;
	for (uint32_t i = last; i < CUTS; i++) {
		ranges->cuts[i] = UINT64_MAX;
		ranges->segments[i + 1] = ranges->segments[last];
	}
}

void fib_ranges_finish(struct fib_ranges_maker *maker)
{
	while (maker->n_nested > 1)
		end_nested(maker);
	make_groups(maker->ranges);
	make_segments(maker->ranges);
}

// ---- looking up ----

// In all searches destinations take each step together, so that their waits for memory overlap.

static inline const struct segment *segment_of(const struct fib_ranges *ranges, uint64_t top)
{
	const uint64_t *cuts = ranges->cuts;

	return &ranges->segments[(top >= cuts[0]) + (top >= cuts[1]) + (top >= cuts[2]) +
				 (top >= cuts[3])];
}

// Finds the first group of each destination's slot.
static inline void find_slots(const struct fib_ranges *ranges, const uint8_t *const *dst,
		unsigned n, uint64_t *tops, uint32_t *group)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t top = tops[i] = read_half(dst[i]);
		const struct segment *segment = segment_of(ranges, top);
		uint64_t slot = (top - segment->base) >> segment->shift;
		slot = slot < segment->last_slot ? slot : segment->last_slot;
		group[i] = ranges->index[segment->index + slot];
	}
}

// Finds the last group that begins at or before each destination. Groups that begin behind a
// destination's slot are compared in vain, so that nothing needs to know where the slot ends.
static void find_groups(const struct fib_ranges *ranges, const uint8_t *const *dst, unsigned n,
		uint32_t *group)
{
	const uint32_t last = ranges->n_groups - 1;
	uint64_t tops[FIB_RANGES_LOOKUP_MAX];

	if (!ranges->n_segments) {
		for (unsigned i = 0; i < n; i++) {
			tops[i] = read_half(dst[i]);
			group[i] = 0;
		}
	} else {
		find_slots(ranges, dst, n, tops, group);
	}
	for (uint32_t left = ranges->most, half; left > 1; left -= half) {
		half = left / 2;
		for (unsigned i = 0; i < n; i++) {
			uint32_t next = RTE_MIN(group[i] + half, last);
			group[i] = tops[i] >= ranges->groups[next].top ? next : group[i];
		}
	}
}

// Searches the destinations in split groups by whole addresses, from the range on that goes on into
// the group. The group's last range has the destinations behind it. Returns the bits of all others.
static __attribute__((noinline)) uint64_t find_within(const struct fib_ranges *ranges,
		const uint8_t *const *dst, unsigned n, const uint32_t *group, uint32_t *hops)
{
	uint32_t at[FIB_RANGES_LOOKUP_MAX], left[FIB_RANGES_LOOKUP_MAX], most = 0;
	uint8_t which[FIB_RANGES_LOOKUP_MAX];
	address addresses[FIB_RANGES_LOOKUP_MAX];
	uint64_t whole = UINT64_MAX;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!(hops[i] & SPLIT))
			continue;
		if (read_half(dst[i]) != ranges->groups[group[i]].top) { // behind the group
			hops[i] &= ~SPLIT;
			continue;
		}
		whole &= ~(UINT64_C(1) << i);
		which[k] = (uint8_t)i;
		addresses[k] = read_address(dst[i]);
		at[k] = ranges->groups[group[i]].begin - (group[i] ? 1 : 0);
		left[k] = ranges->groups[group[i] + 1].begin - at[k];
		most = left[k] > most ? left[k] : most;
		k++;
	}
	for (; most > 1; most -= most / 2) {
		for (unsigned i = 0; i < k; i++) {
			uint32_t half = left[i] / 2;
			at[i] += addresses[i] >= ranges->first[at[i] + half] ? half : 0;
			left[i] -= half;
		}
	}
	for (unsigned i = 0; i < k; i++)
		hops[which[i]] = ranges->hops[at[i]];
	return whole;
}

uint64_t fib_ranges_lookup(const struct fib_ranges *ranges, const uint8_t *const *dst, unsigned n,
		uint32_t *hops)
{
	uint32_t group[FIB_RANGES_LOOKUP_MAX], split = 0;

	if (unlikely(!n))
		return 0;
	find_groups(ranges, dst, n, group);
	for (unsigned i = 0; i < n; i++)
		split |= hops[i] = ranges->groups[group[i]].last_hop;
	return likely(!(split & SPLIT)) ? UINT64_MAX : find_within(ranges, dst, n, group, hops);
}
