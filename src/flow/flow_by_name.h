// SPDX-License-Identifier: BSD-3-Clause
// Maps a namespace to the slot of its rule, if packets of the rule's key find this rule. Telemetry
// in a packet names its rule, so that a look-up compares one key and needs no hash.
//
// The map is exact in combination with a check: a worker compares the packet with the slot's key.
// Keys are unique among the rules that packets find, so that an equal key is the one that the hash
// would find. If two namespaces have one place, the later rule gets it, and packets of the other
// use the hash.
//
// Thread rule: find by any worker that reports quiescent states to the table; the rest control.
#pragma once

#include "flow_slot.h"

#include <stdatomic.h>
#include <stdint.h>

struct hs_flow_by_name {
	_Atomic uint32_t *places; // slot + 1; 0: none
	uint32_t mask;		  // number of places - 1
};

// Returns 0 or -ENOMEM. hs_flow_by_name_fini accepts a zeroed map.
int hs_flow_by_name_init(struct hs_flow_by_name *map, uint32_t capacity);
void hs_flow_by_name_fini(struct hs_flow_by_name *map);
uint64_t hs_flow_by_name_bytes(uint32_t capacity);

// Makes packets find the slot from now on. The slot's key must be stored.
void hs_flow_by_name_enter(struct hs_flow_by_name *map, uint32_t ns_id, uint32_t slot);
// Removes a slot that packets do not find any more, or will not find soon.
void hs_flow_by_name_leave(struct hs_flow_by_name *map, uint32_t ns_id, uint32_t slot);

// Returns the place of a namespace. Namespaces that follow each other have places of their own.
static inline uint32_t hs_flow_by_name_place(const struct hs_flow_by_name *map, uint32_t ns_id)
{
	return (ns_id ^ ns_id >> 16) & map->mask;
}

// Returns a slot whose key must be compared, or HS_FLOW_NONE.
static inline uint32_t hs_flow_by_name_find(const struct hs_flow_by_name *map, uint32_t ns_id)
{
	return atomic_load_explicit(&map->places[hs_flow_by_name_place(map, ns_id)],
			       memory_order_acquire) -
	       1;
}
