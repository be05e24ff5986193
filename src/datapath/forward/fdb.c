// SPDX-License-Identifier: BSD-3-Clause
#include "fdb.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#define WAYS 4

// One atomic word holds address and port, so that no reader sees half an entry: address in the
// upper 48 bits, port in the lower 16. 0 is empty (no host has the address 0).
struct place {
	_Atomic uint64_t word;
	_Atomic uint32_t seen_s;
};

struct hs_fdb {
	uint32_t bucket_mask;
	uint32_t age_s;
	struct place places[];
};

static uint64_t mac_bits(const uint8_t mac[6])
{
	uint64_t bits = 0;
	for (int i = 0; i < 6; i++)
		bits = bits << 8 | mac[i];
	return bits;
}

static struct place *bucket_of(const struct hs_fdb *fdb, uint64_t mac)
{
	uint32_t hash = (uint32_t)(mac * UINT64_C(0x9e3779b97f4a7c15) >> 40);
	return (struct place *)&fdb->places[(size_t)(hash & fdb->bucket_mask) * WAYS];
}

static uint32_t place_count(uint32_t places)
{
	uint32_t n = WAYS;
	while (n < places && n < UINT32_C(1) << 24)
		n *= 2;
	return n;
}

int hs_fdb_create(uint32_t places, uint32_t age_s, struct hs_fdb **fdb)
{
	uint32_t n = place_count(places);
	struct hs_fdb *f = rte_zmalloc("fdb", sizeof(*f) + n * sizeof(struct place), 64);
	if (!f)
		return -ENOMEM;
	f->bucket_mask = n / WAYS - 1;
	f->age_s = age_s;
	*fdb = f;
	return 0;
}

void hs_fdb_destroy(struct hs_fdb *fdb)
{
	rte_free(fdb);
}

uint64_t hs_fdb_bytes(uint32_t places)
{
	return sizeof(struct hs_fdb) + place_count(places) * sizeof(struct place);
}

static uint32_t seconds(int64_t ns)
{
	return (uint32_t)(ns / 1000000000);
}

// Returns the seconds since a place was seen. Workers read the clock one after the other, so that
// the place may have been seen later than now_s; the result is then 0.
static uint32_t age_of(const struct place *p, uint32_t now_s)
{
	int32_t age = (int32_t)(now_s - atomic_load_explicit(&p->seen_s, memory_order_relaxed));
	return age > 0 ? (uint32_t)age : 0;
}

static bool is_aged(const struct hs_fdb *fdb, const struct place *p, int64_t now_ns)
{
	return age_of(p, seconds(now_ns)) > fdb->age_s;
}

static void write_place(struct place *p, uint64_t word, uint32_t now_s)
{
	atomic_store_explicit(&p->seen_s, now_s, memory_order_relaxed);
	atomic_store_explicit(&p->word, word, memory_order_relaxed);
}

// Returns the place of this address, or an empty one, or the one seen longest ago.
static struct place *place_for(struct place *bucket, uint64_t mac, uint32_t now_s)
{
	struct place *victim = bucket;
	int64_t oldest = -1;

	for (int way = 0; way < WAYS; way++) {
		struct place *p = &bucket[way];
		uint64_t word = atomic_load_explicit(&p->word, memory_order_relaxed);
		if (word >> 16 == mac)
			return p;
		uint32_t age = word ? age_of(p, now_s) : UINT32_MAX;
		if (age > oldest) {
			oldest = age;
			victim = p;
		}
	}
	return victim;
}

void hs_fdb_learn(struct hs_fdb *fdb, const uint8_t mac[6], uint16_t port, int64_t now_ns)
{
	uint64_t bits = mac_bits(mac);
	uint64_t word = bits << 16 | port;
	uint32_t now_s = seconds(now_ns);

	if (mac[0] & 1 || !bits) // a group address is never a source
		return;
	struct place *p = place_for(bucket_of(fdb, bits), bits, now_s);
	if (atomic_load_explicit(&p->word, memory_order_relaxed) != word || age_of(p, now_s))
		write_place(p, word, now_s);
}

uint16_t hs_fdb_find(const struct hs_fdb *fdb, const uint8_t mac[6], int64_t now_ns)
{
	uint64_t bits = mac_bits(mac);
	const struct place *bucket = bucket_of(fdb, bits);

	if (mac[0] & 1)
		return HS_FDB_UNKNOWN;
	for (int way = 0; way < WAYS; way++) {
		uint64_t word = atomic_load_explicit(&bucket[way].word, memory_order_relaxed);
		if (word >> 16 == bits && word)
			return is_aged(fdb, &bucket[way], now_ns) ? HS_FDB_UNKNOWN : (uint16_t)word;
	}
	return HS_FDB_UNKNOWN;
}
