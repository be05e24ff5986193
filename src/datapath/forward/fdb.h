// SPDX-License-Identifier: BSD-3-Clause
// The bridge's forwarding database: which port a MAC address was last seen on. Bounded: four places
// for each hash value, the oldest is forgotten first. Shared VLAN learning (IEEE 802.1Q): one entry
// an address, whatever its tag.
//
// Times are seconds of a steady clock. A worker may look a moment before the time at which another
// worker has learnt.
//
// Thread rule: learn and find by any worker, lock-free; an entry is written only when it is new,
// has moved or is a second old, never for each packet.
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>

#define HS_FDB_UNKNOWN UINT16_MAX
#define HS_FDB_WAYS    4

// One atomic word holds address and port, so that no reader sees half an entry: address in the
// upper 48 bits, port in the lower 16. 0 is empty (no host has the address 0).
struct hs_fdb_bucket {
	_Alignas(64) _Atomic uint64_t words[HS_FDB_WAYS];
	_Atomic uint32_t seen_s[HS_FDB_WAYS];
};

struct hs_fdb {
	uint32_t bucket_mask;
	int32_t age_s;
	struct hs_fdb_bucket buckets[];
};

// Creates a database. `places` is rounded up to a power of two, from 4 to 2^24. An address that was
// not seen for more than `age_s` seconds is forgotten; with INT32_MAX or more, none is. The caller
// ends the database with hs_fdb_destroy when no worker uses it any more. Returns 0 or -ENOMEM.
int hs_fdb_create(uint32_t places, uint32_t age_s, struct hs_fdb **fdb);
void hs_fdb_destroy(struct hs_fdb *fdb);
// Returns the memory that a database of so many places takes, in bytes.
uint64_t hs_fdb_bytes(uint32_t places);

// The rest of hs_fdb_learn, for an entry that is new, has moved or is a second old. The bucket is
// that of the word's address.
void hs_fdb_write(struct hs_fdb_bucket *bucket, uint64_t word, uint32_t now_s);

// Returns the database's time at a time of a steady clock.
static inline uint32_t hs_fdb_seconds(int64_t steady_ns)
{
	return (uint32_t)(steady_ns / 1000000000);
}

// Returns an address as a word with port 0.
static inline uint64_t hs_fdb_address(const uint8_t mac[6])
{
	uint32_t upper;
	uint16_t lower;

	memcpy(&upper, mac, sizeof(upper));
	memcpy(&lower, mac + 4, sizeof(lower));
	return (uint64_t)rte_be_to_cpu_32(upper) << 32 | (uint64_t)rte_be_to_cpu_16(lower) << 16;
}

static inline uint32_t hs_fdb_place(const struct hs_fdb *fdb, uint64_t address)
{
	return (uint32_t)((address >> 16) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & fdb->bucket_mask;
}

// Notes that an address sent from a port, which is not HS_FDB_UNKNOWN. A group address and the
// address 0 are not learnt. Only the first way with the address counts: two workers that learn an
// address at the same time may have given it a second one.
static inline void hs_fdb_learn(
		struct hs_fdb *fdb, const uint8_t mac[6], uint16_t port, uint32_t now_s)
{
	uint64_t address = hs_fdb_address(mac);
	struct hs_fdb_bucket *bucket = &fdb->buckets[hs_fdb_place(fdb, address)];

	for (int way = 0; way < HS_FDB_WAYS; way++) {
		uint64_t word = atomic_load_explicit(&bucket->words[way], memory_order_relaxed);
		if ((word ^ address) > UINT16_MAX)
			continue;
		uint32_t seen_s = atomic_load_explicit(&bucket->seen_s[way], memory_order_relaxed);
		if (likely((uint16_t)word == port && seen_s == now_s))
			return;
		break;
	}
	hs_fdb_write(bucket, address | port, now_s);
}

// Returns the port of an address, or HS_FDB_UNKNOWN.
static inline uint16_t hs_fdb_find(const struct hs_fdb *fdb, const uint8_t mac[6], uint32_t now_s)
{
	uint64_t address = hs_fdb_address(mac);
	const struct hs_fdb_bucket *bucket = &fdb->buckets[hs_fdb_place(fdb, address)];

	for (int way = 0; way < HS_FDB_WAYS; way++) {
		uint64_t word = atomic_load_explicit(&bucket->words[way], memory_order_relaxed);
		if ((word ^ address) > UINT16_MAX || !word)
			continue;
		uint32_t seen_s = atomic_load_explicit(&bucket->seen_s[way], memory_order_relaxed);
		return (int32_t)(now_s - seen_s) > fdb->age_s ? HS_FDB_UNKNOWN : (uint16_t)word;
	}
	return HS_FDB_UNKNOWN;
}
