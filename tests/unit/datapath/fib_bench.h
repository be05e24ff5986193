// SPDX-License-Identifier: BSD-3-Clause
// A table of routes, and routes and addresses as text.
#pragma once

#include "dpdk_env.h"
#include "fib.h"
#include "fib_cache.h"
#include "ip_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#define LARGE 262144

struct bench {
	struct rte_rcu_qsbr *qsbr;
	struct hs_fib *fib;
	struct hs_fib_cache *cache;
	struct hs_error err;
};

static inline void bench_open(struct bench *b, uint32_t capacity)
{
	memset(b, 0, sizeof(*b));
	b->qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), 64);
	assert_int_equal(rte_rcu_qsbr_init(b->qsbr, 1), 0);
	rte_rcu_qsbr_thread_register(b->qsbr, 0);
	struct hs_fib_config config = {.capacity = capacity, .qsbr = b->qsbr};
	assert_int_equal(hs_fib_create(&config, &b->fib), 0);
}

static inline void bench_close(struct bench *b)
{
	hs_fib_cache_destroy(b->cache);
	hs_fib_destroy(b->fib);
	rte_free(b->qsbr);
}

static inline void cut(uint8_t prefix[16], unsigned depth)
{
	for (unsigned bit = depth; bit < 128; bit++)
		prefix[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

static inline struct hs_fib_change change_of(
		const char *hex, uint8_t depth, uint16_t port, bool remove)
{
	struct hs_fib_change change = {.remove = remove};

	for (unsigned i = 0; hex[2 * i]; i++)
		sscanf(hex + 2 * i, "%2hhx", &change.route.prefix[i]);
	change.route.depth = depth;
	change.route.port = port;
	memset(change.route.next_hop_mac, port, 6);
	return change;
}

static inline int add(struct bench *b, const char *hex, uint8_t depth, uint16_t port)
{
	struct hs_fib_change change = change_of(hex, depth, port, false);
	return hs_fib_change(b->fib, &change, 1, &b->err);
}

static inline int take(struct bench *b, const char *hex, uint8_t depth)
{
	struct hs_fib_change change = change_of(hex, depth, 0, true);
	return hs_fib_change(b->fib, &change, 1, &b->err);
}

static inline struct hs_next_hop next_of(const struct bench *b, const uint8_t dst[16])
{
	struct hs_next_hop next;

	hs_fib_lookup(b->fib, &dst, 1, &next);
	return next;
}

static inline uint16_t port_of(const struct bench *b, const char *hex)
{
	struct hs_fib_change address = change_of(hex, 128, 0, false);
	return next_of(b, address.route.prefix).port;
}
