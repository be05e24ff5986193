// SPDX-License-Identifier: BSD-3-Clause
// A table from hashes of keys to numbers of entries, with the order in which the entries were seen.
// The entries belong to the caller. The numbers 0 to n - 1 are in use.
//
// Thread rule: owner. Nothing allocates after init.
#pragma once

#include "u32_map.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_COLLECT_NONE UINT32_MAX

struct hs_collect_place {
	uint32_t older, newer; // HS_COLLECT_NONE: none
	uint32_t hash;
	uint32_t second; // when it became the newest
};

struct hs_collect_table {
	struct hs_u32_map map; // of the keys' hashes
	struct hs_collect_place *places;
	uint32_t capacity, n;
	uint32_t oldest, newest;
	uint32_t added; // keys added so far; while it does not change, no new key is there
	uint32_t taken; // new keys in this second, while the table is full
	uint32_t second;
	uint32_t per_second; // the most new keys in a second
	uint32_t keep_s;     // an entry that was seen in this time is not replaced
	uint64_t *known;     // counters
	uint64_t *evicted;
	uint64_t *refused;
};

// Initialises a zeroed table. Returns 0 or -ENOMEM. Call hs_collect_table_fini in each case.
int hs_collect_table_init(struct hs_collect_table *table, uint32_t capacity, uint32_t per_second);
void hs_collect_table_fini(struct hs_collect_table *table);
uint64_t hs_collect_table_bytes(uint32_t capacity);

// Returns whether a new key gets an entry. It gets none if the table is full, and took per_second
// new keys in this second or has no entry that may be replaced.
static inline bool hs_collect_table_has_room(const struct hs_collect_table *table, uint32_t second)
{
	uint32_t taken = table->second == second ? table->taken : 0;

	return table->n < table->capacity ||
	       (taken < table->per_second &&
			       second - table->places[table->oldest].second >= table->keep_s);
}

// Adds an entry for a key that is not in the table. Returns the entry's number, or HS_COLLECT_NONE:
// the table has no room.
uint32_t hs_collect_table_add(struct hs_collect_table *table, uint32_t hash, uint32_t second);

void hs_collect_table_renew(struct hs_collect_table *table, uint32_t entry, uint32_t second);

// Notes that the entry was seen.
static inline void hs_collect_table_touch(
		struct hs_collect_table *table, uint32_t entry, uint32_t second)
{
	if (table->places[entry].second != second)
		hs_collect_table_renew(table, entry, second);
}
