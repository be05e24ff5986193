// SPDX-License-Identifier: BSD-3-Clause
#include "u32_map.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 8

static uint32_t place_count(uint32_t capacity)
{
	uint32_t n = 2;

	while (n < 2 * (uint64_t)capacity && n < UINT32_C(1) << 31)
		n *= 2;
	return n;
}

int hs_u32_map_init(struct hs_u32_map *map, uint32_t capacity)
{
	uint32_t n = place_count(capacity);

	*map = (struct hs_u32_map){.places = calloc(n, sizeof(*map->places)), .mask = n - 1};
	return map->places ? 0 : -ENOMEM;
}

void hs_u32_map_fini(struct hs_u32_map *map)
{
	free(map->places);
	*map = (struct hs_u32_map){0};
}

uint64_t hs_u32_map_bytes(uint32_t capacity)
{
	return (uint64_t)place_count(capacity) * sizeof(struct hs_u32_place);
}

static void write_place(struct hs_u32_place *place, struct hs_u32_place value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	__atomic_store_n((uint64_t *)place, word, __ATOMIC_RELEASE);
}

static int grow(struct hs_u32_map *map)
{
	struct hs_u32_map grown;
	int rc = hs_u32_map_init(&grown, map->places ? map->mask + 1 : FIRST_CAPACITY);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; map->places && i <= map->mask; i++)
		if (map->places[i].value)
			hs_u32_map_add(&grown, map->places[i].key, map->places[i].value - 1);
	hs_u32_map_fini(map);
	*map = grown;
	return 0;
}

// Returns the place where the key has `value`, which is a value plus 1. If `value` is 0, returns
// the empty place for a new value.
static uint32_t place_of(const struct hs_u32_map *map, uint32_t key, uint32_t value)
{
	uint32_t at = hs_u32_map_home(map, key);

	while (map->places[at].value &&
			(map->places[at].key != key || map->places[at].value != value))
		at = (at + 1) & map->mask;
	return at;
}

int hs_u32_map_add(struct hs_u32_map *map, uint32_t key, uint32_t value)
{
	int rc = 2 * (uint64_t)map->count > map->mask || !map->places ? grow(map) : 0;

	if (rc < 0)
		return rc;
	write_place(&map->places[place_of(map, key, 0)], (struct hs_u32_place){key, value + 1});
	map->count++;
	return 0;
}

// Backward-shift deletion leaves no tombstones, so probes stay short.
void hs_u32_map_erase(struct hs_u32_map *map, uint32_t key, uint32_t value)
{
	struct hs_u32_place *places = map->places;
	uint32_t hole = place_of(map, key, value + 1);

	for (uint32_t at = (hole + 1) & map->mask; places[at].value; at = (at + 1) & map->mask) {
		uint32_t home = hs_u32_map_home(map, places[at].key);
		if (((at - home) & map->mask) < ((at - hole) & map->mask))
			continue;
		write_place(&places[hole], places[at]);
		hole = at;
	}
	write_place(&places[hole], (struct hs_u32_place){0});
	map->count--;
}

void hs_u32_map_replace(struct hs_u32_map *map, uint32_t key, uint32_t value, uint32_t with)
{
	write_place(&map->places[place_of(map, key, value + 1)],
			(struct hs_u32_place){key, with + 1});
}

uint32_t hs_u32_map_hash(const void *key, size_t len)
{
	const uint8_t *bytes = key;
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3); // FNV-1a
	return (uint32_t)(sum ^ sum >> 32);
}
