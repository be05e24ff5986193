// SPDX-License-Identifier: BSD-3-Clause
// A table beside an oracle, in which every route is compared with every destination.
#include "fib_bench.h"
#include "rng.h"

#include <errno.h>

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

// Returns the number of the route of exactly this prefix, or n.
static unsigned model_index(const struct model *model, const struct hs_route *of)
{
	unsigned i = 0;

	while (i < model->n && (model->routes[i].depth != of->depth ||
					       memcmp(model->routes[i].prefix, of->prefix, 16)))
		i++;
	return i;
}

static void model_apply(struct model *model, const struct hs_fib_change *change)
{
	unsigned i = model_index(model, &change->route);

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
		hs_fib_cache_lookup_unmatched(b->cache, b->fib, pointers, n, next);
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

static void compare_routes(const struct bench *b, const struct model *model, struct hs_rng *rng)
{
	static const struct model none;
	struct hs_route route;

	for (unsigned i = 0; i < model->n; i++) {
		const struct hs_route *want = &model->routes[i];
		assert_true(hs_fib_find(b->fib, want->prefix, want->depth, &route));
		assert_int_equal(route.port, want->port);
		assert_memory_equal(route.next_hop_mac, want->next_hop_mac, 6);
	}
	for (unsigned i = 0; i < 200; i++) {
		struct hs_route other = random_change(rng, &none).route;
		assert_int_equal(hs_fib_find(b->fib, other.prefix, other.depth, &route),
				model_index(model, &other) < model->n);
	}
}

static void compare_with_oracle(uint32_t capacity, unsigned batches, unsigned batch)
{
	static struct model model;
	struct hs_fib_change changes[64];
	struct hs_route route;
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
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(hs_fib_find(b.fib, changes[i].route.prefix,
							 changes[i].route.depth, &route),
					model_index(&model, &changes[i].route) < model.n);
		for (unsigned k = 0; k < 4; k++)
			compare_lookups(&b, &model, &rng, HS_FIB_LOOKUP_MAX);
		if (round % 16 == 0)
			compare_routes(&b, &model, &rng);
	}
	compare_routes(&b, &model, &rng);
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

// ---- kept next hops ----

#define REGIONS	 32
#define SUBNETS	 65536
#define SETTLING 40 // bursts, more than those that rest

// Makes a table of 32 routes to ports from `first` on. A table has another number after each call.
static void add_regions(struct bench *b, uint16_t first)
{
	struct hs_fib_change changes[REGIONS];
	char hex[17];

	for (unsigned region = 0; region < REGIONS; region++) {
		snprintf(hex, sizeof(hex), "20010db80000%04x", region * (SUBNETS / REGIONS));
		changes[region] = change_of(hex, 53, (uint16_t)(first + region), false);
	}
	assert_int_equal(hs_fib_change(b->fib, changes, REGIONS, &b->err), 0);
}

// Asks for destinations from `first` on, and expects the hops of a table whose routes lead to ports
// from `port` on. Destination i is in another region than its neighbours.
static void expect_regions(const struct bench *b, const struct hs_fib *fib, bool matched,
		unsigned first, uint16_t port)
{
	uint8_t addresses[HS_FIB_LOOKUP_MAX][16] = {0};
	const uint8_t *pointers[HS_FIB_LOOKUP_MAX];
	struct hs_next_hop next[HS_FIB_LOOKUP_MAX];
	uint32_t slots[HS_FIB_LOOKUP_MAX], subnets[HS_FIB_LOOKUP_MAX];

	for (unsigned j = 0; j < HS_FIB_LOOKUP_MAX; j++) {
		uint32_t subnet = subnets[j] = (first + j) * 40503u % SUBNETS;
		const uint8_t top[8] = {
				0x20, 1, 0x0d, 0xb8, 0, 0, (uint8_t)(subnet >> 8), (uint8_t)subnet};
		memcpy(addresses[j], top, sizeof(top));
		pointers[j] = addresses[j];
		slots[j] = first + j;
	}
	if (matched)
		hs_fib_cache_lookup(b->cache, fib, pointers, slots, HS_FIB_LOOKUP_MAX, next);
	else
		hs_fib_cache_lookup_unmatched(b->cache, fib, pointers, HS_FIB_LOOKUP_MAX, next);
	for (unsigned j = 0; j < HS_FIB_LOOKUP_MAX; j++)
		assert_int_equal(next[j].port, port + subnets[j] / (SUBNETS / REGIONS));
}

// More destinations than there are places come first: they take each other's places, and bursts
// rest. Then, each of few destinations has a place: its next hop is the kept one, also if the table
// with the same number is another one. A table with another number has its own next hops.
static void next_hops_are_kept_until_the_table_changes(void **state)
{
	(void)state;
	for (unsigned matched = 0; matched < 2; matched++) {
		struct bench b, other;
		bench_open(&b, REGIONS);
		bench_open(&other, REGIONS);
		assert_int_equal(hs_fib_cache_create(4096, &b.cache), 0);
		add_regions(&b, 0);
		add_regions(&other, 100);
		for (unsigned i = 0; i < 16384; i += HS_FIB_LOOKUP_MAX)
			expect_regions(&b, b.fib, matched, i, 0);
		for (unsigned burst = 0; burst < SETTLING; burst++)
			expect_regions(&b, b.fib, matched, 7, 0);
		expect_regions(&b, other.fib, matched, 7, 0);
		add_regions(&other, 200);
		expect_regions(&b, other.fib, matched, 7, 200);
		bench_close(&b);
		bench_close(&other);
	}
}

// One host's route tells the addresses of one upper half apart, and no others.
static void only_the_subnet_of_a_longer_prefix_is_not_whole(void **state)
{
	static const char *const hex[] = {"20010db8000200000000000000000008", "20010db80002",
			"20010db80002000000000000000000ff", "20010db800020001", "20010db800010000",
			"fd00", "2001"};
	const uint8_t *pointers[sizeof(hex) / sizeof(hex[0])];
	struct hs_fib_change addresses[sizeof(hex) / sizeof(hex[0])];
	struct hs_next_hop next[sizeof(hex) / sizeof(hex[0])];
	struct bench b;

	(void)state;
	bench_open(&b, 2);
	assert_int_equal(add(&b, "", 0, 1), 0);
	assert_int_equal(add(&b, hex[0], 128, 2), 0);
	for (unsigned i = 0; i < sizeof(hex) / sizeof(hex[0]); i++) {
		addresses[i] = change_of(hex[i], 128, 0, false);
		pointers[i] = addresses[i].route.prefix;
	}
	uint64_t whole = hs_fib_lookup(b.fib, pointers, sizeof(hex) / sizeof(hex[0]), next);
	assert_int_equal(whole & 0x7f, 0x78);
	for (unsigned i = 0; i < sizeof(hex) / sizeof(hex[0]); i++)
		assert_int_equal(next[i].port, i == 0 ? 2 : 1);
	bench_close(&b);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_table_finds_what_the_oracle_finds),
			cmocka_unit_test(a_table_of_few_subnets_finds_what_the_oracle_finds),
			cmocka_unit_test(routes_of_both_versions_are_found_beside_each_other),
			cmocka_unit_test(next_hops_are_kept_until_the_table_changes),
			cmocka_unit_test(only_the_subnet_of_a_longer_prefix_is_not_whole),
			cmocka_unit_test(no_version_takes_what_the_other_has),
	};
	dpdk_env_init("1024");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
