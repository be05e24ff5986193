// SPDX-License-Identifier: BSD-3-Clause
// Maps a number to an index in some array of the caller: open addressing, at most half full, grown
// by doubling. An empty map is small, so that each of many flows can have its own.
//
// Thread rule: owner. A zeroed struct is an empty map.
#pragma once

#include <stdint.h>

#define HS_INDEX_MAP_NONE UINT32_MAX

struct hs_index_map {
	struct hs_index_map_entry *entries;
	uint32_t slots; // a power of two, or 0
	uint32_t count;
};

void hs_index_map_fini(struct hs_index_map *map);

// Returns the index, or HS_INDEX_MAP_NONE.
uint32_t hs_index_map_find(const struct hs_index_map *map, uint64_t key);

// Adds a key that is not in the map. Returns 0, or -ENOMEM if nothing changed.
int hs_index_map_add(struct hs_index_map *map, uint64_t key, uint32_t index);
