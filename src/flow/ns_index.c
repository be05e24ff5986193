// SPDX-License-Identifier: BSD-3-Clause
#include "ns_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

static uint32_t place_count(uint32_t capacity)
{
	return rte_align32pow2(capacity * 2 + 2);
}

int hs_ns_index_init(struct hs_ns_index *index, uint32_t capacity)
{
	uint32_t n = place_count(capacity);

	index->places = calloc(n, sizeof(*index->places));
	index->mask = n - 1;
	return index->places ? 0 : -ENOMEM;
}

void hs_ns_index_fini(struct hs_ns_index *index)
{
	free(index->places);
}

uint64_t hs_ns_index_bytes(uint32_t capacity)
{
	return (uint64_t)place_count(capacity) * sizeof(struct hs_ns_place);
}

static uint32_t home_of(const struct hs_ns_index *index, uint32_t ns_id)
{
	return (uint32_t)((ns_id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & index->mask;
}

static struct hs_ns_place read_place(const struct hs_ns_place *place)
{
	struct hs_ns_place copy;
	uint64_t word = __atomic_load_n((const uint64_t *)place, __ATOMIC_ACQUIRE);

	memcpy(&copy, &word, sizeof(copy));
	return copy;
}

static void write_place(struct hs_ns_place *place, struct hs_ns_place value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	__atomic_store_n((uint64_t *)place, word, __ATOMIC_RELEASE);
}

static uint32_t place_of(const struct hs_ns_index *index, uint32_t ns_id)
{
	uint32_t at = home_of(index, ns_id);
	while (index->places[at].ns_id && index->places[at].ns_id != ns_id)
		at = (at + 1) & index->mask;
	return at;
}

uint32_t hs_ns_index_find(const struct hs_ns_index *index, uint32_t ns_id)
{
	for (uint32_t at = home_of(index, ns_id); ns_id; at = (at + 1) & index->mask) {
		struct hs_ns_place place = read_place(&index->places[at]);
		if (place.ns_id == ns_id)
			return place.slot;
		if (!place.ns_id)
			break;
	}
	return HS_NS_INDEX_NONE;
}

void hs_ns_index_insert(struct hs_ns_index *index, uint32_t ns_id, uint32_t slot)
{
	write_place(&index->places[place_of(index, ns_id)],
			(struct hs_ns_place){.ns_id = ns_id, .slot = slot});
}

// Backward-shift deletion leaves no tombstones, so probes stay short.
void hs_ns_index_erase(struct hs_ns_index *index, uint32_t ns_id)
{
	struct hs_ns_place *places = index->places;
	uint32_t hole = place_of(index, ns_id);

	for (uint32_t at = (hole + 1) & index->mask; places[at].ns_id;
			at = (at + 1) & index->mask) {
		uint32_t home = home_of(index, places[at].ns_id);
		if (((at - home) & index->mask) < ((at - hole) & index->mask))
			continue;
		write_place(&places[hole], places[at]);
		hole = at;
	}
	write_place(&places[hole], (struct hs_ns_place){0});
}
