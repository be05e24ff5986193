// SPDX-License-Identifier: BSD-3-Clause
// A queue of instants that grows as needed and takes no memory before its first use.
//
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hs_instants {
	int64_t *at_ns;
	uint32_t head, count;
	uint32_t mask; // capacity - 1; the capacity is a power of two; 0 without memory
};

void hs_instants_fini(struct hs_instants *instants);

// Doubles the room and keeps contents and order. Returns false if memory is out; nothing changes
// then.
bool hs_instants_grow(struct hs_instants *instants);

// Returns false if memory is out.
static inline bool hs_instants_push(struct hs_instants *instants, int64_t at_ns)
{
	if (instants->count > instants->mask || !instants->at_ns) {
		if (!hs_instants_grow(instants))
			return false;
	}
	instants->at_ns[(instants->head + instants->count++) & instants->mask] = at_ns;
	return true;
}

// Removes the instants at the front that are not after this time.
static inline void hs_instants_expire(struct hs_instants *instants, int64_t now_ns)
{
	while (instants->count && instants->at_ns[instants->head & instants->mask] <= now_ns) {
		instants->head++;
		instants->count--;
	}
}

// Removes the instants at the back that are after this time. Returns how many.
static inline uint32_t hs_instants_cut(struct hs_instants *instants, int64_t after_ns)
{
	uint32_t before = instants->count;
	while (instants->count &&
			instants->at_ns[(instants->head + instants->count - 1) & instants->mask] >
					after_ns)
		instants->count--;
	return before - instants->count;
}
