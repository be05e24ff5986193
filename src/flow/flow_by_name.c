// SPDX-License-Identifier: BSD-3-Clause
#include "flow_by_name.h"

#include "pages.h"

#include <errno.h>

#include <rte_common.h>

// Returns the number of places. If all rules are in, two of three namespaces drawn at random have
// one.
static uint32_t place_count(uint32_t capacity)
{
	return rte_align32pow2(capacity);
}

int hs_flow_by_name_init(struct hs_flow_by_name *map, uint32_t capacity)
{
	map->places = hs_pages_take("flow names", hs_flow_by_name_bytes(capacity));
	map->mask = place_count(capacity) - 1;
	return map->places ? 0 : -ENOMEM;
}

void hs_flow_by_name_fini(struct hs_flow_by_name *map)
{
	hs_pages_give((void *)map->places, ((size_t)map->mask + 1) * sizeof(*map->places));
}

uint64_t hs_flow_by_name_bytes(uint32_t capacity)
{
	return (uint64_t)place_count(capacity) * sizeof(uint32_t);
}

void hs_flow_by_name_enter(struct hs_flow_by_name *map, uint32_t ns_id, uint32_t slot)
{
	atomic_store_explicit(&map->places[hs_flow_by_name_place(map, ns_id)], slot + 1,
			memory_order_release);
}

void hs_flow_by_name_leave(struct hs_flow_by_name *map, uint32_t ns_id, uint32_t slot)
{
	_Atomic uint32_t *place = &map->places[hs_flow_by_name_place(map, ns_id)];

	if (atomic_load_explicit(place, memory_order_relaxed) == slot + 1)
		atomic_store_explicit(place, 0, memory_order_relaxed);
}
