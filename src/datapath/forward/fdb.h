// SPDX-License-Identifier: BSD-3-Clause
// The bridge's forwarding database: which port a MAC address was last seen on. Bounded: four places
// for each hash value, the oldest is forgotten first. Shared VLAN learning (IEEE 802.1Q): one entry
// an address, whatever its tag.
//
// Thread rule: learn and find by any worker, lock-free; an entry is written only when it is new,
// has moved or is a second old, never for each packet.
#pragma once

#include <stdint.h>

struct hs_fdb;

#define HS_FDB_UNKNOWN UINT16_MAX

// Creates a database. `places` is rounded up to a power of two. Returns 0 or -ENOMEM.
int hs_fdb_create(uint32_t places, uint32_t age_s, struct hs_fdb **fdb);
void hs_fdb_destroy(struct hs_fdb *fdb);
uint64_t hs_fdb_bytes(uint32_t places);

void hs_fdb_learn(struct hs_fdb *fdb, const uint8_t mac[6], uint16_t port, int64_t now_ns);
uint16_t hs_fdb_find(const struct hs_fdb *fdb, const uint8_t mac[6], int64_t now_ns);
