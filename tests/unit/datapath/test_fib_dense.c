// SPDX-License-Identifier: BSD-3-Clause
// Routes side by side, in one place or in several: each ends where the next one begins, and every
// address is looked up that lies at such an end, and the last one of all.
#include "dpdk_env.h"
#include "fib.h"
#include "ip_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#define MANY	 1024
#define FEW	 40
#define LAST_ALL MANY // the port of IPv4's last addresses, which end the table

static struct rte_rcu_qsbr *qsbr;

// Route i is that of number `first` + `step` * i in its block; a block has its own first bytes.
struct layout {
	unsigned routes, blocks, step, first;
	uint8_t depth; // 33 to 64
};

static uint64_t top_of(const struct layout *layout, unsigned i)
{
	uint64_t block = 0x2000 + i % layout->blocks * 0x0301u;
	uint64_t number = layout->first + (uint64_t)layout->step * (i / layout->blocks);

	return block << 48 | number << (64 - layout->depth);
}

static void write_half(uint8_t *to, uint64_t half)
{
	for (unsigned i = 8; i > 0; i--, half >>= 8)
		to[i - 1] = (uint8_t)half;
}

static uint16_t port_of(const struct hs_fib *fib, uint64_t top, uint64_t low)
{
	uint8_t address[16];
	const uint8_t *dst = address;
	struct hs_next_hop next;

	write_half(address, top);
	write_half(address + 8, low);
	hs_fib_lookup(fib, &dst, 1, &next);
	return next.port;
}

static struct hs_fib *made(const struct layout *layout)
{
	struct hs_fib_config config = {.capacity = MANY + 1, .qsbr = qsbr};
	struct hs_fib_change *changes = calloc(MANY + 1, sizeof(*changes));
	struct hs_fib *fib;
	struct hs_error err;

	assert_int_equal(hs_fib_create(&config, &fib), 0);
	for (unsigned i = 0; i < layout->routes; i++) {
		struct hs_route *route = &changes[i].route;
		write_half(route->prefix, top_of(layout, i));
		route->depth = layout->depth;
		route->port = (uint16_t)i;
	}
	struct hs_route *end = &changes[layout->routes].route;
	hs_ip_address_map((const uint8_t[]){255, 0, 0, 0}, end->prefix);
	end->depth = 96 + 8;
	end->port = LAST_ALL;
	assert_int_equal(hs_fib_change(fib, changes, layout->routes + 1, &err), 0);
	free(changes);
	return fib;
}

static void check(const struct layout *layout)
{
	struct hs_fib *fib = made(layout);
	uint64_t size = UINT64_C(1) << (64 - layout->depth);
	bool between = layout->step > 1; // no route is there

	for (unsigned i = 0; i < layout->routes; i++) {
		uint64_t top = top_of(layout, i);
		bool first = i < layout->blocks, last = i + layout->blocks >= layout->routes;
		uint16_t before = (uint16_t)(i - layout->blocks);
		uint16_t after = (uint16_t)(i + layout->blocks);
		assert_int_equal(port_of(fib, top, 0), i);
		assert_int_equal(port_of(fib, top + size - 1, UINT64_MAX), i);
		assert_int_equal(port_of(fib, top - 1, UINT64_MAX),
				first || between ? HS_FIB_NO_PORT : before);
		assert_int_equal(port_of(fib, top + size, 0),
				last || between ? HS_FIB_NO_PORT : after);
	}
	assert_int_equal(port_of(fib, 0, 0), HS_FIB_NO_PORT);
	assert_int_equal(port_of(fib, UINT64_MAX, 0), LAST_ALL);
	assert_int_equal(port_of(fib, UINT64_MAX, UINT64_MAX), LAST_ALL);
	hs_fib_destroy(fib);
}

static void each_route_ends_where_the_next_one_begins(void **state)
{
	(void)state;
	for (unsigned blocks = 1; blocks <= 32; blocks *= 2) {
		for (unsigned step = 1; step <= 7; step += 2) {
			check(&(struct layout){MANY, blocks, step, 0, 48});
			check(&(struct layout){MANY, blocks, step, 5, 47});
			check(&(struct layout){MANY, blocks, step, 3, 64});
		}
	}
}

// A table of few routes is searched in other ways than a large one: as it is, or in segments, each
// of which may have one route.
static void each_of_few_routes_ends_where_the_next_one_begins(void **state)
{
	(void)state;
	for (unsigned routes = 1; routes <= FEW; routes++) {
		for (unsigned blocks = 1; blocks <= routes; blocks++) {
			check(&(struct layout){routes, blocks, 1, 0, 48});
			check(&(struct layout){routes, blocks, 7, 5, 47});
			check(&(struct layout){routes, blocks, 1, 3, 64});
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_route_ends_where_the_next_one_begins),
			cmocka_unit_test(each_of_few_routes_ends_where_the_next_one_begins),
	};

	dpdk_env_init("256");
	qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), 64);
	assert_non_null(qsbr);
	rte_rcu_qsbr_init(qsbr, 1);
	rte_rcu_qsbr_thread_register(qsbr, 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_free(qsbr);
	return failed;
}
