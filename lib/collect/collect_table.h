// SPDX-License-Identifier: BSD-3-Clause
// Which of so many entries has which key, and in which order they were seen. The entries belong to
// the caller, who knows them by their numbers: 0 to n - 1 are in use.
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
	uint32_t added; // keys so far: where it is as before, who was not there is not there
	uint32_t taken; // new keys in this second since it is full
	uint32_t second;
	uint32_t per_second; // most of them
	uint32_t keep_s;     // an entry that was seen in so many seconds goes for no new key
	uint64_t *known;     // counters
	uint64_t *evicted;
	uint64_t *refused;
};

// 0 or -ENOMEM. Zeroed before; fini takes it in any case.
int hs_collect_table_init(struct hs_collect_table *table, uint32_t capacity, uint32_t per_second);
void hs_collect_table_fini(struct hs_collect_table *table);
uint64_t hs_collect_table_bytes(uint32_t capacity);

// Makes room for a key that is not there. Returns the entry's number, or HS_COLLECT_NONE where the
// table is full, and took enough new keys in this second or has no entry that may go.
uint32_t hs_collect_table_add(struct hs_collect_table *table, uint32_t hash, uint32_t second);

void hs_collect_table_renew(struct hs_collect_table *table, uint32_t entry, uint32_t second);

// The entry was seen.
static inline void hs_collect_table_touch(
		struct hs_collect_table *table, uint32_t entry, uint32_t second)
{
	if (table->places[entry].second != second)
		hs_collect_table_renew(table, entry, second);
}
