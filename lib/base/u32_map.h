// SPDX-License-Identifier: BSD-3-Clause
// The project's hash table: maps 32-bit keys to 32-bit values, which are indices in an array of the
// caller. It uses open addressing with linear probing, at most half full, so that a look-up, an
// insertion and a removal cost the same at any number. A key may have several values: for keys that
// are longer than 32 bits, the key here is a hash (hs_u32_map_hash) and the caller compares.
//
// Thread rule: owner. Other threads may look up in a map that has room from the start and does not
// grow. A look-up while the owner erases another key may miss a key that is there, once.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HS_U32_MAP_NONE UINT32_MAX

struct hs_u32_place {
	_Alignas(8) uint32_t key;
	uint32_t value; // plus 1; 0: empty
};
static_assert(sizeof(struct hs_u32_place) == 8, "read and written as one word");

struct hs_u32_map { // zeroed: an empty map
	struct hs_u32_place *places;
	uint32_t mask; // number of places - 1
	uint32_t count;
};

// Makes room for `capacity` values. Returns 0 or -ENOMEM.
int hs_u32_map_init(struct hs_u32_map *map, uint32_t capacity);
void hs_u32_map_fini(struct hs_u32_map *map);
uint64_t hs_u32_map_bytes(uint32_t capacity);

// Adds a value, which is not HS_U32_MAP_NONE. The map grows if it has no room. Returns 0, or
// -ENOMEM if nothing changed.
int hs_u32_map_add(struct hs_u32_map *map, uint32_t key, uint32_t value);
// The value of the key must be present.
void hs_u32_map_erase(struct hs_u32_map *map, uint32_t key, uint32_t value);
void hs_u32_map_replace(struct hs_u32_map *map, uint32_t key, uint32_t value, uint32_t with);

uint32_t hs_u32_map_hash(const void *key, size_t len);

// Fibonacci hashing spreads keys that differ in the upper bits only.
static inline uint32_t hs_u32_map_home(const struct hs_u32_map *map, uint32_t key)
{
	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & map->mask;
}

// Returns the key's next value, or HS_U32_MAP_NONE. *probe is 0 for the first.
static inline uint32_t hs_u32_map_next(const struct hs_u32_map *map, uint32_t key, uint32_t *probe)
{
	for (uint32_t home = hs_u32_map_home(map, key); map->places;) {
		const struct hs_u32_place *at = &map->places[(home + (*probe)++) & map->mask];
		uint64_t word = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
		struct hs_u32_place place;

		memcpy(&place, &word, sizeof(place));
		if (!place.value)
			break;
		if (place.key == key)
			return place.value - 1;
	}
	return HS_U32_MAP_NONE;
}

// Returns the key's value, or HS_U32_MAP_NONE.
static inline uint32_t hs_u32_map_find(const struct hs_u32_map *map, uint32_t key)
{
	uint32_t probe = 0;
	return hs_u32_map_next(map, key, &probe);
}
