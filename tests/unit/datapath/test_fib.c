// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_env.h"
#include "fib.h"
#include "fib_cache.h"
#include "ip_address.h"
#include "rng.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
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

static void bench_open(struct bench *b, uint32_t capacity)
{
	memset(b, 0, sizeof(*b));
	b->qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), 64);
	assert_int_equal(rte_rcu_qsbr_init(b->qsbr, 1), 0);
	rte_rcu_qsbr_thread_register(b->qsbr, 0);
	struct hs_fib_config config = {.capacity = capacity, .qsbr = b->qsbr};
	assert_int_equal(hs_fib_create(&config, &b->fib), 0);
}

static void bench_close(struct bench *b)
{
	hs_fib_cache_destroy(b->cache);
	hs_fib_destroy(b->fib);
	rte_free(b->qsbr);
}

static void cut(uint8_t prefix[16], unsigned depth)
{
	for (unsigned bit = depth; bit < 128; bit++)
		prefix[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

static struct hs_fib_change change_of(const char *hex, uint8_t depth, uint16_t port, bool remove)
{
	struct hs_fib_change change = {.remove = remove};

	for (unsigned i = 0; hex[2 * i]; i++)
		sscanf(hex + 2 * i, "%2hhx", &change.route.prefix[i]);
	change.route.depth = depth;
	change.route.port = port;
	memset(change.route.next_hop_mac, port, 6);
	return change;
}

static int add(struct bench *b, const char *hex, uint8_t depth, uint16_t port)
{
	struct hs_fib_change change = change_of(hex, depth, port, false);
	return hs_fib_change(b->fib, &change, 1, &b->err);
}

static int take(struct bench *b, const char *hex, uint8_t depth)
{
	struct hs_fib_change change = change_of(hex, depth, 0, true);
	return hs_fib_change(b->fib, &change, 1, &b->err);
}

static struct hs_next_hop next_of(const struct bench *b, const uint8_t dst[16])
{
	struct hs_next_hop next;

	hs_fib_lookup(b->fib, &dst, 1, &next);
	return next;
}

static uint16_t port_of(const struct bench *b, const char *hex)
{
	struct hs_fib_change address = change_of(hex, 128, 0, false);
	return next_of(b, address.route.prefix).port;
}

// ---- oracle: every route is compared with every destination ----

#define MAX_MODEL 3000

struct model {
	unsigned n;
	struct hs_route routes[MAX_MODEL];
};

static bool is_ipv4(const struct hs_route *route)
{
	return route->depth >= 96 && hs_ip_address_is_ipv4(route->prefix);
}

static bool covers(const struct hs_route *route, const uint8_t dst[16])
{
	uint8_t masked[16];

	if (is_ipv4(route) != hs_ip_address_is_ipv4(dst))
		return false;
	memcpy(masked, dst, 16);
	cut(masked, route->depth);
	return memcmp(masked, route->prefix, 16) == 0;
}

static const struct hs_route *model_find(const struct model *model, const uint8_t dst[16])
{
	const struct hs_route *best = NULL;

	for (unsigned i = 0; i < model->n; i++) {
		if (covers(&model->routes[i], dst) &&
				(!best || model->routes[i].depth > best->depth))
			best = &model->routes[i];
	}
	return best;
}

static void model_apply(struct model *model, const struct hs_fib_change *change)
{
	unsigned i = 0;

	while (i < model->n && (model->routes[i].depth != change->route.depth ||
					       memcmp(model->routes[i].prefix, change->route.prefix,
							       16) != 0))
		i++;
	if (change->remove)
		model->routes[i] = model->routes[--model->n];
	else
		model->routes[i] = change->route;
	model->n += !change->remove && i == model->n;
}

static bool narrow; // all within a few subnets of 64 bits
static bool mixed;  // every other address is of IPv4

// Few values in each byte, so that prefixes lie within each other.
static void random_address(struct hs_rng *rng, uint8_t address[16])
{
	for (unsigned i = 0; i < 16; i++) {
		uint32_t r = hs_rng_u32(rng);
		address[i] = (uint8_t)(r % 5 < 3 ? (r >> 8) % 3 : r >> 16);
	}
	address[0] = (uint8_t)(0x20 + hs_rng_u32(rng) % 2);
	if (narrow)
		memset(address + 1, 0, 6);
	if (mixed && hs_rng_u32(rng) % 2)
		hs_ip_address_map((const uint8_t[]){address[4], address[5], address[6], address[7]},
				address);
}

static struct hs_fib_change random_change(struct hs_rng *rng, const struct model *model)
{
	static const uint8_t depths[] = {0, 1, 7, 8, 9, 20, 23, 24, 25, 31, 32, 40, 47, 48, 56, 63,
			64, 65, 96, 120, 127, 128};
	struct hs_fib_change change = {.remove = model->n > 20 && hs_rng_u32(rng) % 3 == 0};

	if (change.remove) {
		change.route = model->routes[hs_rng_u32(rng) % model->n];
		return change;
	}
	random_address(rng, change.route.prefix);
	change.route.depth = depths[hs_rng_u32(rng) % (sizeof(depths))];
	if (hs_ip_address_is_ipv4(change.route.prefix))
		change.route.depth = (uint8_t)(96 + change.route.depth % 33);
	cut(change.route.prefix, change.route.depth);
	change.route.port = (uint16_t)(hs_rng_u32(rng) % 32);
	for (unsigned i = 0; i < 6; i++)
		change.route.next_hop_mac[i] = (uint8_t)(hs_rng_u32(rng) % 4);
	return change;
}

// Of few flows, and of packets without a rule: places are taken in turn. The second time, most of
// them have what is asked for.
static void compare_kept(struct bench *b, const uint8_t *const *pointers, struct hs_rng *rng,
		unsigned n, const struct hs_next_hop *expected)
{
	struct hs_next_hop next[HS_FIB_LOOKUP_MAX];
	uint32_t slots[HS_FIB_LOOKUP_MAX];

	for (unsigned i = 0; i < n; i++)
		slots[i] = hs_rng_u32(rng) % 2 ? hs_rng_u32(rng) % 64 * 4095 : UINT32_MAX;
	for (unsigned turn = 0; turn < 2; turn++) {
		hs_fib_cache_lookup(b->cache, b->fib, pointers, slots, n, next);
		assert_memory_equal(next, expected, n * sizeof(next[0]));
	}
}

static void compare_lookups(
		struct bench *b, const struct model *model, struct hs_rng *rng, unsigned n)
{
	uint8_t addresses[HS_FIB_LOOKUP_MAX][16], keys[HS_FIB_LOOKUP_MAX][16];
	const uint8_t *pointers[HS_FIB_LOOKUP_MAX];
	struct hs_next_hop next[HS_FIB_LOOKUP_MAX];

	for (unsigned i = 0; i < n; i++) {
		random_address(rng, addresses[i]);
		if (i % 8 == 0) // anywhere
			memset(addresses[i], (int)hs_rng_u32(rng), 1 + hs_rng_u32(rng) % 15);
		if (model->n && i % 2) // close to a route
			memcpy(addresses[i], model->routes[hs_rng_u32(rng) % model->n].prefix,
					16 - hs_rng_u32(rng) % 8);
		if (addresses[i][0] == 0xff) // a group, which nobody looks up
			addresses[i][0] = 0xfe;
		pointers[i] = addresses[i];
		if (!hs_ip_address_is_ipv4(addresses[i]))
			continue;
		hs_fib_ipv4_key(addresses[i] + 12, keys[i]);
		pointers[i] = keys[i];
	}
	hs_fib_lookup(b->fib, pointers, n, next);
	compare_kept(b, pointers, rng, n, next);
	for (unsigned i = 0; i < n; i++) {
		const struct hs_route *route = model_find(model, addresses[i]);
		assert_int_equal(next[i].port, route ? route->port : HS_FIB_NO_PORT);
		if (route)
			assert_memory_equal(next[i].mac, route->next_hop_mac, 6);
	}
}

static void compare_lists(const struct bench *b, const struct model *model)
{
	struct hs_route route, last = {.depth = 0};

	assert_int_equal(hs_fib_count(b->fib), model->n);
	for (uint32_t i = 0; hs_fib_route(b->fib, i, &route); i++) {
		if (i)
			assert_true(is_ipv4(&last) == is_ipv4(&route)
							? memcmp(&last, &route, 17) < 0
							: is_ipv4(&route));
		last = route;
	}
	for (unsigned i = 0; i < model->n; i++) {
		const struct hs_route *want = &model->routes[i];
		assert_true(hs_fib_find(b->fib, want->prefix, want->depth, &route));
		assert_int_equal(route.port, want->port);
		assert_memory_equal(route.next_hop_mac, want->next_hop_mac, 6);
	}
	assert_false(hs_fib_route(b->fib, model->n, &route));
}

static void compare_with_oracle(uint32_t capacity, unsigned batches, unsigned batch)
{
	static struct model model;
	struct hs_fib_change changes[64];
	struct hs_rng rng;
	struct bench b;

	model.n = 0;
	hs_rng_init(&rng, capacity);
	bench_open(&b, capacity);
	assert_int_equal(hs_fib_cache_create(4096, &b.cache), 0);
	for (unsigned round = 0; round < batches; round++) {
		unsigned n = 1 + hs_rng_u32(&rng) % batch;
		for (unsigned i = 0; i < n; i++) {
			changes[i] = random_change(&rng, &model);
			model_apply(&model, &changes[i]);
		}
		assert_int_equal(hs_fib_change(b.fib, changes, n, &b.err), 0);
		for (unsigned k = 0; k < 4; k++)
			compare_lookups(&b, &model, &rng, HS_FIB_LOOKUP_MAX);
		if (round % 16 == 0)
			compare_lists(&b, &model);
	}
	compare_lists(&b, &model);
	bench_close(&b);
}

static void a_table_finds_what_the_oracle_finds(void **state)
{
	(void)state;
	compare_with_oracle(MAX_MODEL, 150, 40);
}

static void a_table_of_few_subnets_finds_what_the_oracle_finds(void **state)
{
	(void)state;
	narrow = true;
	compare_with_oracle(MAX_MODEL, 150, 40);
	narrow = false;
}

static void routes_of_both_versions_are_found_beside_each_other(void **state)
{
	(void)state;
	mixed = true;
	compare_with_oracle(MAX_MODEL, 150, 40);
	compare_with_oracle(256, 20, 8);
	mixed = false;
}

#define ALL_OF_IPV4 "00000000000000000000ffff00000000"

static uint16_t port_of_ipv4(const struct bench *b, uint8_t first)
{
	uint8_t key[16];

	hs_fib_ipv4_key((const uint8_t[]){first, 1, 2, 3}, key);
	return next_of(b, key).port;
}

static void no_version_takes_what_the_other_has(void **state)
{
	struct bench b;
	struct hs_route route;
	(void)state;
	bench_open(&b, 4);
	assert_int_equal(port_of_ipv4(&b, 10), HS_FIB_NO_PORT);
	assert_int_equal(add(&b, "", 0, 1), 0);
	assert_int_equal(add(&b, "ff", 8, 2), 0);
	assert_int_equal(port_of_ipv4(&b, 10), HS_FIB_NO_PORT);
	assert_int_equal(add(&b, ALL_OF_IPV4, 96, 3), 0);
	assert_int_equal(add(&b, "00000000000000000000ffff0a", 104, 4), 0);
	assert_int_equal(port_of_ipv4(&b, 9), 3);
	assert_int_equal(port_of_ipv4(&b, 10), 4);
	assert_int_equal(port_of_ipv4(&b, 11), 3);
	assert_int_equal(port_of(&b, "00000000000000000000ffff0a010203"), 1); // IPv6, mapped
	assert_int_equal(port_of(&b, "fffffffe"), 2);
	assert_true(hs_fib_route(b.fib, 3, &route));
	assert_true(hs_ip_address_is_ipv4(route.prefix) && route.depth == 104);
	assert_int_equal(take(&b, "", 0), 0);
	assert_int_equal(port_of_ipv4(&b, 9), 3);
	assert_int_equal(port_of(&b, "2001"), HS_FIB_NO_PORT);
	assert_int_equal(take(&b, ALL_OF_IPV4, 96), 0);
	assert_int_equal(port_of_ipv4(&b, 9), HS_FIB_NO_PORT);
	assert_int_equal(port_of_ipv4(&b, 10), 4);
	assert_int_equal(add(&b, "ffffffff", 32, 5), -EINVAL);
	assert_int_equal(add(&b, "ffffffff0a", 40, 5), -EINVAL);
	assert_string_equal(b.err.code, "bad_prefix");
	bench_close(&b);
}

// ---- rules of a change ----

static const uint32_t capacities[] = {3, LARGE};

static void the_default_route_takes_what_nothing_else_does(void **state)
{
	struct bench b;
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, capacities[k]);
		assert_int_equal(port_of(&b, "2001"), HS_FIB_NO_PORT);
		assert_int_equal(add(&b, "20010db8", 32, 1), 0);
		assert_int_equal(add(&b, "", 0, 2), 0);
		assert_int_equal(port_of(&b, "20010db8"), 1);
		assert_int_equal(port_of(&b, "fd00"), 2);
		assert_int_equal(take(&b, "20010db8", 32), 0);
		assert_int_equal(port_of(&b, "20010db8"), 2);
		assert_int_equal(take(&b, "", 0), 0);
		assert_int_equal(port_of(&b, "20010db8"), HS_FIB_NO_PORT);
		bench_close(&b);
	}
}

static void the_last_host_of_a_subnet_is_not_the_whole_of_it(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 64);
	assert_int_equal(add(&b, "20010db800000000ffffffffffffffff", 128, 1), 0);
	assert_int_equal(port_of(&b, "20010db8000000000000000000000001"), HS_FIB_NO_PORT);
	assert_int_equal(port_of(&b, "20010db800000000ffffffffffffffff"), 1);
	assert_int_equal(port_of(&b, "20010db8000000010000000000000000"), HS_FIB_NO_PORT);
	assert_int_equal(add(&b, "fffeffffffffffffffffffffffffffff", 128, 2), 0);
	assert_int_equal(port_of(&b, "fffeffffffffffff0000000000000000"), HS_FIB_NO_PORT);
	assert_int_equal(port_of(&b, "fffeffffffffffffffffffffffffffff"), 2);
	bench_close(&b);
}

static void a_batch_with_one_bad_change_changes_nothing(void **state)
{
	struct bench b;
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, capacities[k]);
		assert_int_equal(add(&b, "20010db8", 32, 1), 0);
		struct hs_fib_change changes[] = {
				change_of("20010db8", 32, 7, false),
				change_of("20010db9", 32, 3, false),
				change_of("20010dff", 32, 0, true),
		};
		assert_int_equal(hs_fib_change(b.fib, changes, 3, &b.err), -ENOENT);
		assert_string_equal(b.err.code, "no_such_route");
		assert_int_equal(hs_fib_count(b.fib), 1);
		assert_int_equal(port_of(&b, "20010db8"), 1);
		assert_int_equal(port_of(&b, "20010db9"), HS_FIB_NO_PORT);
		changes[2] = change_of("20010db801", 32, 3, false);
		assert_int_equal(hs_fib_change(b.fib, changes, 3, &b.err), -EINVAL);
		assert_string_equal(b.err.code, "bad_prefix");
		changes[2] = change_of("20010db8", 129, 3, false);
		assert_int_equal(hs_fib_change(b.fib, changes, 3, &b.err), -EINVAL);
		assert_int_equal(port_of(&b, "20010db8"), 1);
		bench_close(&b);
	}
}

static void later_changes_of_a_prefix_win_within_a_batch(void **state)
{
	struct bench b;
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, capacities[k]);
		struct hs_fib_change changes[] = {
				change_of("20010db8", 32, 1, false),
				change_of("20010db9", 32, 2, false),
				change_of("20010db8", 32, 0, true),
				change_of("20010db9", 32, 3, false),
		};
		assert_int_equal(hs_fib_change(b.fib, changes, 4, &b.err), 0);
		assert_int_equal(hs_fib_count(b.fib), 1);
		assert_int_equal(port_of(&b, "20010db8"), HS_FIB_NO_PORT);
		assert_int_equal(port_of(&b, "20010db9"), 3);
		struct hs_fib_change twice[] = {
				change_of("20010db9", 32, 0, true),
				change_of("20010db9", 32, 0, true),
		};
		assert_int_equal(hs_fib_change(b.fib, twice, 2, &b.err), -ENOENT);
		assert_int_equal(port_of(&b, "20010db9"), 3);
		struct hs_fib_change anew[] = {
				change_of("20010db9", 32, 0, true),
				change_of("20010db9", 32, 9, false),
		};
		assert_int_equal(hs_fib_change(b.fib, anew, 2, &b.err), 0);
		assert_int_equal(port_of(&b, "20010db9"), 9);
		bench_close(&b);
	}
}

static void a_full_table_refuses_one_route_more(void **state)
{
	struct bench b;
	char hex[9];
	(void)state;
	bench_open(&b, 3);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(hex, sizeof(hex), "200100%02x", i);
		assert_int_equal(add(&b, hex, 32, (uint16_t)i), 0);
	}
	assert_int_equal(add(&b, "30", 8, 1), -ENOSPC);
	assert_string_equal(b.err.code, "table_full");
	// All three replaced at once: old and new next hops exist together.
	struct hs_fib_change swap[] = {
			change_of("20010000", 32, 11, false),
			change_of("20010001", 32, 12, false),
			change_of("20010002", 32, 0, true),
			change_of("30", 8, 13, false),
	};
	assert_int_equal(hs_fib_change(b.fib, swap, 4, &b.err), 0);
	assert_int_equal(port_of(&b, "20010001"), 12);
	assert_int_equal(port_of(&b, "30"), 13);
	bench_close(&b);
}

static void next_hops_come_and_go_without_end(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 2);
	for (unsigned i = 1; i < 1000; i++) {
		struct hs_fib_change change = change_of("20010db8", 32, 1, false);
		memcpy(change.route.next_hop_mac, &i, sizeof(i));
		assert_int_equal(hs_fib_change(b.fib, &change, 1, &b.err), 0);
		struct hs_next_hop next = next_of(&b, change.route.prefix);
		assert_int_equal(next.port, 1);
		assert_memory_equal(next.mac, change.route.next_hop_mac, 6);
	}
	bench_close(&b);
}

static void one_address_behind_many_ports_is_many_next_hops(void **state)
{
	struct bench b;
	char hex[9];
	(void)state;
	bench_open(&b, 32);
	for (uint16_t port = 0; port < 32; port++) {
		snprintf(hex, sizeof(hex), "200100%02x", port);
		struct hs_fib_change change = change_of(hex, 32, port, false);
		memset(change.route.next_hop_mac, 2, 6);
		assert_int_equal(hs_fib_change(b.fib, &change, 1, &b.err), 0);
	}
	for (uint16_t port = 0; port < 32; port++) {
		snprintf(hex, sizeof(hex), "200100%02x", port);
		assert_int_equal(port_of(&b, hex), port);
	}
	bench_close(&b);
}

static struct hs_fib_change host(uint32_t i)
{
	struct hs_fib_change change = {.route = {.depth = 128, .port = (uint16_t)(i % 32)}};
	uint8_t *prefix = change.route.prefix;

	prefix[0] = 0x20;
	for (unsigned k = 0; k < 3; k++) // subnets of 512 hosts
		prefix[7 - k] = (uint8_t)(i >> 9 >> 8 * k);
	prefix[14] = (uint8_t)(i >> 8 & 1);
	prefix[15] = (uint8_t)i;
	return change;
}

static void a_table_is_full_of_hosts_where_it_would_be_full_of_subnets(void **state)
{
	static struct hs_fib_change changes[LARGE];
	const uint8_t *pointers[32];
	struct hs_next_hop next[32];
	struct bench b;
	(void)state;
	bench_open(&b, LARGE);
	for (uint32_t i = 0; i < LARGE; i++)
		changes[i] = host(i);
	assert_int_equal(hs_fib_change(b.fib, changes, LARGE, &b.err), 0);
	for (uint32_t i = 0; i < LARGE; i += 32) {
		for (unsigned k = 0; k < 32; k++)
			pointers[k] = changes[i + k].route.prefix;
		hs_fib_lookup(b.fib, pointers, 32, next);
		for (unsigned k = 0; k < 32; k++)
			assert_int_equal(next[k].port, k);
	}
	changes[0] = host(LARGE);
	assert_int_equal(hs_fib_change(b.fib, changes, 1, &b.err), -ENOSPC);
	assert_int_equal(next_of(&b, changes[0].route.prefix).port, HS_FIB_NO_PORT);
	bench_close(&b);
}

// ---- look-ups beside changes ----

struct reader {
	struct bench *bench;
	atomic_bool stop;
	_Atomic uint64_t lookups;
	uint64_t misses;
};

static bool is_right(const struct hs_next_hop *next)
{
	for (unsigned i = 1; i < 6; i++) {
		if (next->mac[i] != next->mac[0])
			return false;
	}
	return next->port == next->mac[0];
}

static void *look_up_all_the_time(void *arg)
{
	struct reader *reader = arg;
	const uint8_t address[16] = {0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4};
	const uint8_t *pointers[32];
	struct hs_next_hop next[32];

	for (unsigned i = 0; i < 32; i++)
		pointers[i] = address;
	rte_rcu_qsbr_thread_online(reader->bench->qsbr, 0);
	while (!atomic_load(&reader->stop)) {
		hs_fib_lookup(reader->bench->fib, pointers, 32, next);
		for (unsigned i = 0; i < 32; i++)
			reader->misses += !is_right(&next[i]);
		reader->lookups += 32;
		rte_rcu_qsbr_quiescent(reader->bench->qsbr, 0);
	}
	rte_rcu_qsbr_thread_offline(reader->bench->qsbr, 0);
	return NULL;
}

static void no_look_up_misses_while_a_table_changes(void **state)
{
	struct bench b;
	pthread_t thread;
	(void)state;
	bench_open(&b, 1024);
	assert_int_equal(add(&b, "20010db8", 32, 1), 0);
	struct reader reader = {.bench = &b};
	assert_int_equal(pthread_create(&thread, NULL, look_up_all_the_time, &reader), 0);
	for (uint16_t round = 0; round < 300 || !atomic_load(&reader.lookups); round++) {
		uint8_t depth = (uint8_t)(33 + round % 32);
		struct hs_fib_change changes[] = {
				change_of("20010db8", 32, round % 31, false),
				change_of("20010db801020304", 64, (round + 7) % 31, false),
				change_of("20010db900000000", depth, 4, false),
		};
		assert_int_equal(hs_fib_change(b.fib, changes, 3, &b.err), 0);
		assert_int_equal(take(&b, "20010db801020304", 64), 0);
		assert_int_equal(take(&b, "20010db9", depth), 0);
	}
	atomic_store(&reader.stop, true);
	pthread_join(thread, NULL);
	assert_true(reader.lookups > 0);
	assert_int_equal(reader.misses, 0);
	bench_close(&b);
}

struct holder {
	struct bench *bench;
	atomic_bool holds, changing, released;
};

// Holds what it may have looked up for a while after a change has begun.
static void *hold(void *arg)
{
	struct holder *holder = arg;

	rte_rcu_qsbr_thread_online(holder->bench->qsbr, 0);
	atomic_store(&holder->holds, true);
	while (!atomic_load(&holder->changing))
		sched_yield();
	for (unsigned i = 0; i < 10000; i++)
		sched_yield();
	atomic_store(&holder->released, true);
	rte_rcu_qsbr_thread_offline(holder->bench->qsbr, 0);
	return NULL;
}

static void a_change_waits_for_workers_that_may_hold_the_old_table(void **state)
{
	struct bench b;
	pthread_t thread;
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, capacities[k]);
		struct holder holder = {.bench = &b};
		assert_int_equal(pthread_create(&thread, NULL, hold, &holder), 0);
		while (!atomic_load(&holder.holds))
			sched_yield();
		atomic_store(&holder.changing, true);
		assert_int_equal(add(&b, "20010db8", 32, 1), 0);
		assert_true(atomic_load(&holder.released));
		pthread_join(thread, NULL);
		bench_close(&b);
	}
}

// ---- memory ----

static uint64_t allocated(void)
{
	struct rte_malloc_socket_stats stats;

	rte_malloc_get_socket_stats(0, &stats);
	return stats.heap_allocsz_bytes;
}

static void a_table_takes_the_memory_that_it_states_and_changes_take_none(void **state)
{
	static const uint32_t sizes[] = {1, 1024, LARGE};
	struct bench b;
	(void)state;
	for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct hs_fib_change *changes = calloc(sizes[k], sizeof(*changes));
		uint64_t before = allocated();
		bench_open(&b, sizes[k]);
		uint64_t used = allocated() - before;
		for (uint32_t i = 0; i < sizes[k]; i++) {
			char hex[9];
			snprintf(hex, sizeof(hex), "20%06x", i * 3);
			changes[i] = change_of(hex, 48, (uint16_t)(i % 32), false);
		}
		assert_int_equal(hs_fib_change(b.fib, changes, sizes[k], &b.err), 0);
		assert_int_equal(allocated() - before, used);
		assert_true(used <= hs_fib_bytes(sizes[k]) + 2048); // the test's own
		assert_true(hs_fib_bytes(sizes[k]) <= used);
		bench_close(&b);
		assert_int_equal(allocated(), before);
		free(changes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_table_finds_what_the_oracle_finds),
			cmocka_unit_test(a_table_of_few_subnets_finds_what_the_oracle_finds),
			cmocka_unit_test(routes_of_both_versions_are_found_beside_each_other),
			cmocka_unit_test(no_version_takes_what_the_other_has),
			cmocka_unit_test(the_default_route_takes_what_nothing_else_does),
			cmocka_unit_test(the_last_host_of_a_subnet_is_not_the_whole_of_it),
			cmocka_unit_test(a_batch_with_one_bad_change_changes_nothing),
			cmocka_unit_test(later_changes_of_a_prefix_win_within_a_batch),
			cmocka_unit_test(a_full_table_refuses_one_route_more),
			cmocka_unit_test(next_hops_come_and_go_without_end),
			cmocka_unit_test(one_address_behind_many_ports_is_many_next_hops),
			cmocka_unit_test(
					a_table_is_full_of_hosts_where_it_would_be_full_of_subnets),
			cmocka_unit_test(no_look_up_misses_while_a_table_changes),
			cmocka_unit_test(a_change_waits_for_workers_that_may_hold_the_old_table),
			cmocka_unit_test(
					a_table_takes_the_memory_that_it_states_and_changes_take_none),
	};
	dpdk_env_init("1024");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
