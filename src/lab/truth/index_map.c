// SPDX-License-Identifier: BSD-3-Clause
#include "index_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 16

struct hs_index_map_entry {
	uint64_t key;
	uint32_t index;
	bool used;
};

void hs_index_map_fini(struct hs_index_map *map)
{
	free(map->entries);
	memset(map, 0, sizeof(*map));
}

// Returns the slot of the key, or the free slot for it.
static struct hs_index_map_entry *seek(const struct hs_index_map *map, uint64_t key)
{
	uint32_t mask = map->slots - 1;
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & mask;
	while (map->entries[i].used && map->entries[i].key != key)
		i = (i + 1) & mask;
	return &map->entries[i];
}

uint32_t hs_index_map_find(const struct hs_index_map *map, uint64_t key)
{
	if (!map->slots)
		return HS_INDEX_MAP_NONE;
	const struct hs_index_map_entry *entry = seek(map, key);
	return entry->used ? entry->index : HS_INDEX_MAP_NONE;
}

static int grow(struct hs_index_map *map)
{
	struct hs_index_map grown = {.slots = map->slots ? 2 * map->slots : FIRST_SLOTS};
	grown.entries = calloc(grown.slots, sizeof(*grown.entries));
	if (!grown.entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->slots; i++)
		if (map->entries[i].used)
			*seek(&grown, map->entries[i].key) = map->entries[i];
	grown.count = map->count;
	free(map->entries);
	*map = grown;
	return 0;
}

int hs_index_map_add(struct hs_index_map *map, uint64_t key, uint32_t index)
{
	if (2 * map->count >= map->slots) {
		int rc = grow(map);
		if (rc < 0)
			return rc;
	}
	*seek(map, key) = (struct hs_index_map_entry){.key = key, .index = index, .used = true};
	map->count++;
	return 0;
}
