// SPDX-License-Identifier: BSD-3-Clause
#include "collect_table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

// Requests huge pages, if the machine has them. They only make look-ups faster.
static void ask_huge(void *at, uint64_t bytes)
{
	uintptr_t page = 4096, begin = ((uintptr_t)at + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)at + bytes) & ~(page - 1);

	if (end > begin)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

int hs_collect_table_init(struct hs_collect_table *table, uint32_t capacity, uint32_t per_second)
{
	table->capacity = capacity;
	table->per_second = per_second;
	table->oldest = table->newest = HS_COLLECT_NONE;
	table->places = calloc(capacity, sizeof(*table->places));
	if (!table->places)
		return -ENOMEM;
	ask_huge(table->places, (uint64_t)capacity * sizeof(*table->places));
	int rc = hs_u32_map_init(&table->map, capacity);
	if (!rc)
		ask_huge(table->map.places, hs_u32_map_bytes(capacity));
	return rc;
}

void hs_collect_table_fini(struct hs_collect_table *table)
{
	hs_u32_map_fini(&table->map);
	free(table->places);
}

uint64_t hs_collect_table_bytes(uint32_t capacity)
{
	return hs_u32_map_bytes(capacity) + (uint64_t)capacity * sizeof(struct hs_collect_place);
}

static void unlink_entry(struct hs_collect_table *table, uint32_t entry)
{
	struct hs_collect_place *place = &table->places[entry];

	if (place->older == HS_COLLECT_NONE)
		table->oldest = place->newer;
	else
		table->places[place->older].newer = place->newer;
	if (place->newer == HS_COLLECT_NONE)
		table->newest = place->older;
	else
		table->places[place->newer].older = place->older;
}

static void link_newest(struct hs_collect_table *table, uint32_t entry, uint32_t second)
{
	struct hs_collect_place *place = &table->places[entry];

	place->second = second;
	place->older = table->newest;
	place->newer = HS_COLLECT_NONE;
	if (table->newest == HS_COLLECT_NONE)
		table->oldest = entry;
	else
		table->places[table->newest].newer = entry;
	table->newest = entry;
}

void hs_collect_table_renew(struct hs_collect_table *table, uint32_t entry, uint32_t second)
{
	unlink_entry(table, entry);
	link_newest(table, entry, second);
}

static void begin_second(struct hs_collect_table *table, uint32_t second)
{
	if (table->second == second)
		return;
	table->second = second;
	table->taken = 0;
}

uint32_t hs_collect_table_add(struct hs_collect_table *table, uint32_t hash, uint32_t second)
{
	uint32_t entry = table->n;

	if (table->n < table->capacity) {
		table->n++;
		++*table->known;
	} else if (hs_collect_table_has_room(table, second)) {
		begin_second(table, second);
		entry = table->oldest;
		table->taken++;
		++*table->evicted;
		unlink_entry(table, entry);
		hs_u32_map_erase(&table->map, table->places[entry].hash, entry);
	} else {
		++*table->refused;
		return HS_COLLECT_NONE;
	}
	table->added++;
	table->places[entry].hash = hash;
	hs_u32_map_add(&table->map, hash, entry); // has room for all
	link_newest(table, entry, second);
	return entry;
}
