// SPDX-License-Identifier: BSD-3-Clause
// The forwarding information base maps IPv6 and IPv4 prefixes to a port and a next hop's MAC
// address. The longest match wins.
//
// Workers never see half a change: control makes a table that is not in use anew, then swaps the
// two and waits for a grace period (docs/decisions/0006-forwarding-table.md).
//
// Both versions are in one table. IPv4 addresses have the prefix ffff:ffff::/32, among the
// multicast addresses, to which no IPv6 packet is routed. They are in the upper half of a key,
// which a look-up compares first. No IPv6 route covers them.
//
// Thread rule: look-up by any worker that reports to `qsbr`; everything else control.
#pragma once

#include "error.h"
#include "next_hop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hs_fib;
struct rte_rcu_qsbr;

struct hs_fib_config {
	uint32_t capacity; // routes
	struct rte_rcu_qsbr *qsbr;
};

struct hs_route {
	uint8_t prefix[16]; // bits below `depth` are zero; IPv4 as in ip_address.h
	uint8_t depth;	    // 0 to 128; of IPv4, 96 to 128
	uint16_t port;
	uint8_t next_hop_mac[6];
};

struct hs_fib_change {
	bool remove; // else add, or replace the route of the same prefix
	struct hs_route route;
};

int hs_fib_create(const struct hs_fib_config *config, struct hs_fib **fib);
void hs_fib_destroy(struct hs_fib *fib);

// Applies all changes or none, in order: a later change of the same prefix wins. Returns -ENOSPC
// "table_full", -ENOENT "no_such_route", -EINVAL "bad_prefix" (a depth above 128, bits beyond it, a
// prefix in ffff:ffff::/32) or -ENOMEM "no_memory" with *err; then nothing changed. Waits for a
// grace period, so that a worker's round must not call it.
int hs_fib_change(struct hs_fib *fib, const struct hs_fib_change *changes, size_t n,
		struct hs_error *err);

uint32_t hs_fib_capacity(const struct hs_fib *fib);
// Reads the route of exactly this prefix. Returns false if there is none.
bool hs_fib_find(const struct hs_fib *fib, const uint8_t prefix[16], uint8_t depth,
		struct hs_route *route);

// Makes the key of an IPv4 destination for a look-up.
static inline void hs_fib_ipv4_key(const uint8_t ipv4[4], uint8_t key[16])
{
	memset(key, 0xff, 4);
	memcpy(key + 4, ipv4, 4);
	memset(key + 8, 0, 8);
}

// Returns the number of the table that is in use, 1 or more. The number grows with each change, and
// is read before a look-up whose results are kept.
uint64_t hs_fib_generation(const struct hs_fib *fib);

// The most destinations of one look-up.
#define HS_FIB_LOOKUP_MAX 64

// Looks up the routes of n (at most HS_FIB_LOOKUP_MAX) destinations. dst[i] points to the 16 bytes
// of an IPv6 address, or of hs_fib_ipv4_key. Returns bit i where all addresses with the first 64
// bits of dst[i] have its route.
uint64_t hs_fib_lookup(const struct hs_fib *fib, const uint8_t *const *dst, unsigned n,
		struct hs_next_hop *next);

// Returns the EAL memory of a table of this capacity. All of the memory is taken at once: changes
// need none.
uint64_t hs_fib_bytes(uint32_t capacity);
