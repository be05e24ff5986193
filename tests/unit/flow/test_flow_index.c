// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_env.h"
#include "flow_worker.h"
#include "flow_table.h"
#include "rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#define CAPACITY 1024
#define BUCKET	 5u	 // all rules of a test that is about one bucket
#define KEYS	 300000u // among so many random keys some ten pairs have one hash

static uint32_t hash_number(uint32_t n)
{
	return n << 16 | BUCKET;
}

static uint32_t find(const struct hs_flow_index *index, uint32_t hash)
{
	return hs_flow_index_find(hs_flow_index_bucket(index, hash), hash);
}

static struct hs_flow_index index_open(void)
{
	struct hs_flow_index index;

	assert_int_equal(hs_flow_index_init(&index, CAPACITY), 0);
	return index;
}

static void a_bucket_finds_as_many_rules_as_it_has_places(void **state)
{
	struct hs_flow_index index = index_open();

	(void)state;
	for (uint32_t n = 0; n < HS_FLOW_INDEX_PLACES; n++) {
		assert_int_equal(find(&index, hash_number(n)), HS_FLOW_NONE);
		hs_flow_index_insert(&index, hash_number(n), 100 + n);
	}
	for (uint32_t n = 0; n < HS_FLOW_INDEX_PLACES; n++)
		assert_int_equal(find(&index, hash_number(n)), 100 + n);
	assert_int_equal(find(&index, hash_number(99)), HS_FLOW_NONE);
	hs_flow_index_fini(&index);
}

static void a_bucket_that_overflowed_sends_strangers_to_the_hash_until_it_is_over(void **state)
{
	struct hs_flow_index index = index_open();
	uint32_t n = HS_FLOW_INDEX_PLACES;

	(void)state;
	for (uint32_t i = 0; i <= n; i++)
		hs_flow_index_insert(&index, hash_number(i), i);
	assert_int_equal(find(&index, hash_number(n)), HS_FLOW_INDEX_ASK);
	assert_int_equal(find(&index, hash_number(n + 1)), HS_FLOW_INDEX_ASK);
	assert_int_equal(find(&index, hash_number(2)), 2);

	hs_flow_index_erase(&index, hash_number(2), 2);
	assert_int_equal(find(&index, hash_number(2)), HS_FLOW_INDEX_ASK);
	hs_flow_index_erase(&index, hash_number(n), n);
	assert_int_equal(find(&index, hash_number(2)), HS_FLOW_NONE);
	assert_int_equal(find(&index, hash_number(3)), 3);
	hs_flow_index_insert(&index, hash_number(9), 9);
	assert_int_equal(find(&index, hash_number(9)), 9);
	hs_flow_index_fini(&index);
}

static void of_two_rules_with_one_hash_the_second_is_left_to_the_hash(void **state)
{
	struct hs_flow_index index = index_open();

	(void)state;
	hs_flow_index_insert(&index, hash_number(1), 11);
	hs_flow_index_insert(&index, hash_number(1), 12);
	assert_int_equal(find(&index, hash_number(1)), 11);
	hs_flow_index_erase(&index, hash_number(1), 11);
	assert_int_equal(find(&index, hash_number(1)), HS_FLOW_INDEX_ASK);
	hs_flow_index_erase(&index, hash_number(1), 12);
	assert_int_equal(find(&index, hash_number(1)), HS_FLOW_NONE);
	hs_flow_index_fini(&index);
}

static void a_rule_that_takes_over_is_found_in_the_place_of_the_other(void **state)
{
	struct hs_flow_index index = index_open();

	(void)state;
	hs_flow_index_insert(&index, 0, 4); // a hash of zero is as good as any
	hs_flow_index_replace(&index, 0, 4, 8);
	assert_int_equal(find(&index, 0), 8);
	assert_int_equal(find(&index, hash_number(0)), HS_FLOW_NONE);
	hs_flow_index_erase(&index, 0, 8);
	assert_int_equal(find(&index, 0), HS_FLOW_NONE);
	hs_flow_index_fini(&index);
}

static void vector_and_plain_code_match_the_same_places(void **state)
{
	struct hs_flow_bucket bucket __rte_cache_aligned;
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 3);
	for (int round = 0; round < 10000; round++) {
		memset(&bucket, 0, sizeof(bucket));
		for (unsigned i = 0; i < HS_FLOW_INDEX_PLACES; i++)
			atomic_store(&bucket.signatures[i], hs_rng_u32(&rng) & 3u << 30);
		atomic_store(&bucket.overflow, 1u << 30);
		for (uint32_t s = 0; s < 4; s++)
			assert_int_equal(hs_flow_index_match(&bucket, s << 30),
					hs_flow_index_match_plain(&bucket, s << 30));
	}
}

// ---- the table with its index ----

static struct hs_rule rule_of(uint32_t number)
{
	struct hs_rng rng;
	struct hs_rule rule;

	hs_rule_init(&rule);
	hs_rng_init(&rng, number);
	rule.ns_id = number + 1;
	for (int i = 0; i < 16; i++) {
		rule.src_ip[i] = (uint8_t)hs_rng_u32(&rng);
		rule.dst_ip[i] = (uint8_t)hs_rng_u32(&rng);
	}
	rule.src_port = rule.dst_port = 7;
	rule.protocol = 17;
	rule.trace_type = 0x7000E000;
	rule.mode_setting = 1;
	return rule;
}

static struct hs_flow_key key_of(const struct hs_rule *rule)
{
	struct hs_flow_key key = {.src_port = 7, .dst_port = 7, .protocol = 17};

	memcpy(key.src_ip, rule->src_ip, 16);
	memcpy(key.dst_ip, rule->dst_ip, 16);
	return key;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

// Two rules whose keys have the same hash.
static void find_collision(struct hs_rule *a, struct hs_rule *b)
{
	uint64_t *hashes = malloc(KEYS * sizeof(*hashes));
	unsigned i = 1;

	assert_non_null(hashes);
	for (uint32_t n = 0; n < KEYS; n++) {
		struct hs_rule rule = rule_of(n);
		struct hs_flow_key key = key_of(&rule);
		hashes[n] = (uint64_t)hs_flow_key_hash(&key) << 32 | n;
	}
	qsort(hashes, KEYS, sizeof(*hashes), by_value);
	while (i < KEYS && hashes[i] >> 32 != hashes[i - 1] >> 32)
		i++;
	assert_int_not_equal(i, KEYS);
	*a = rule_of((uint32_t)hashes[i - 1]);
	*b = rule_of((uint32_t)hashes[i]);
	free(hashes);
}

static uint32_t slot_of(const struct hs_flow_view *view, const struct hs_rule *rule)
{
	struct hs_flow_key key = key_of(rule);

	return hs_flow_lookup_one(view, &key);
}

static void keys_of_one_hash_are_told_apart(void **state)
{
	struct rte_rcu_qsbr *qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), 64);
	struct hs_flow_table_config config = {
			.name = "collision", .capacity = 64, .n_workers = 1, .qsbr = qsbr};
	struct hs_flow_table *table;
	struct hs_flow_view view;
	struct hs_rule a, b;
	struct hs_error err;

	(void)state;
	find_collision(&a, &b);
	rte_rcu_qsbr_init(qsbr, 1);
	assert_int_equal(hs_flow_table_create(&config, &table), 0);
	hs_flow_table_view(table, 0, &view);

	assert_int_equal(hs_flow_table_install(table, &a, NULL, &err), 0);
	assert_int_equal(slot_of(&view, &b), HS_FLOW_NONE);
	assert_int_equal(hs_flow_table_install(table, &b, NULL, &err), 0);
	assert_int_equal(slot_of(&view, &a), hs_flow_table_find(table, a.ns_id));
	assert_int_equal(slot_of(&view, &b), hs_flow_table_find(table, b.ns_id));
	assert_int_equal(hs_flow_table_remove(table, a.ns_id, &err), 0);
	assert_int_equal(slot_of(&view, &a), HS_FLOW_NONE);
	assert_int_equal(slot_of(&view, &b), hs_flow_table_find(table, b.ns_id));
	hs_flow_table_destroy(table);
	rte_free(qsbr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_bucket_finds_as_many_rules_as_it_has_places),
			cmocka_unit_test(
					a_bucket_that_overflowed_sends_strangers_to_the_hash_until_it_is_over),
			cmocka_unit_test(of_two_rules_with_one_hash_the_second_is_left_to_the_hash),
			cmocka_unit_test(a_rule_that_takes_over_is_found_in_the_place_of_the_other),
			cmocka_unit_test(vector_and_plain_code_match_the_same_places),
			cmocka_unit_test(keys_of_one_hash_are_told_apart),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests_name("flow index", tests, NULL, NULL);
}
