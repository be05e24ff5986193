// SPDX-License-Identifier: BSD-3-Clause
#include "fdb.h"

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>

#include <rte_common.h>
#include <rte_malloc.h>

#define GROUP (UINT64_C(1) << 56) // the bit of a group address, in a word

static uint32_t bucket_count(uint32_t places)
{
	uint32_t n = 1;
	while (n * HS_FDB_WAYS < places && n < UINT32_C(1) << 22)
		n *= 2;
	return n;
}

uint64_t hs_fdb_bytes(uint32_t places)
{
	return sizeof(struct hs_fdb) + bucket_count(places) * sizeof(struct hs_fdb_bucket);
}

int hs_fdb_create(uint32_t places, uint32_t age_s, struct hs_fdb **fdb)
{
	struct hs_fdb *f = rte_zmalloc("fdb", hs_fdb_bytes(places), alignof(struct hs_fdb));
	if (!f)
		return -ENOMEM;
	f->bucket_mask = bucket_count(places) - 1;
	f->age_s = (int32_t)RTE_MIN(age_s, (uint32_t)INT32_MAX);
	*fdb = f;
	return 0;
}

void hs_fdb_destroy(struct hs_fdb *fdb)
{
	rte_free(fdb);
}

// Returns the seconds since the address of a way was seen: less than 0 if another worker has seen
// the address after this worker read its clock.
static int32_t seconds_since(const struct hs_fdb_bucket *bucket, int way, uint32_t now_s)
{
	return (int32_t)(now_s - atomic_load_explicit(&bucket->seen_s[way], memory_order_relaxed));
}

// Returns the way of this address, or an empty one, or the one seen longest ago.
static int way_for(const struct hs_fdb_bucket *bucket, uint64_t address, uint32_t now_s)
{
	int64_t oldest = INT64_MIN;
	int victim = 0;

	for (int way = 0; way < HS_FDB_WAYS; way++) {
		uint64_t word = atomic_load_explicit(&bucket->words[way], memory_order_relaxed);
		if (word >> 16 == address >> 16)
			return way;
		int64_t age = word ? seconds_since(bucket, way, now_s) : INT64_MAX;
		if (age > oldest) {
			oldest = age;
			victim = way;
		}
	}
	return victim;
}

void hs_fdb_write(struct hs_fdb_bucket *bucket, uint64_t word, uint32_t now_s)
{
	uint64_t address = word & ~(uint64_t)UINT16_MAX;

	if (address & GROUP || !address)
		return;
	int way = way_for(bucket, address, now_s);
	bool same = atomic_load_explicit(&bucket->words[way], memory_order_relaxed) == word;
	if (same && seconds_since(bucket, way, now_s) <= 0)
		return;
	atomic_store_explicit(&bucket->seen_s[way], now_s, memory_order_relaxed);
	atomic_store_explicit(&bucket->words[way], word, memory_order_relaxed);
}
