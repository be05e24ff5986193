// SPDX-License-Identifier: BSD-3-Clause
// The bridge's forwarding database: whose place a new address takes, how long an address is known,
// and which addresses are never learnt.
#include "dpdk_env.h"
#include "fdb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// The caller destroys the database.
static struct hs_fdb *opened(uint32_t places, uint32_t age_s)
{
	struct hs_fdb *fdb;

	assert_int_equal(hs_fdb_create(places, age_s, &fdb), 0);
	return fdb;
}

static void mac_of(uint8_t number, uint8_t mac[6])
{
	const uint8_t bytes[] = {2, 0, 0, 0, 0, number};

	memcpy(mac, bytes, sizeof(bytes));
}

static void learn(struct hs_fdb *fdb, uint8_t number, uint16_t port, uint32_t now_s)
{
	uint8_t mac[6];

	mac_of(number, mac);
	hs_fdb_learn(fdb, mac, port, now_s);
}

static uint16_t port_of(struct hs_fdb *fdb, uint8_t number, uint32_t now_s)
{
	uint8_t mac[6];

	mac_of(number, mac);
	return hs_fdb_find(fdb, mac, now_s);
}

// Two workers read the clock one after the other: the later one may look first.
static void an_address_learnt_a_moment_from_now_is_known(void **state)
{
	struct hs_fdb *fdb = opened(64, 300);
	(void)state;
	learn(fdb, 9, 3, 101);
	assert_int_equal(port_of(fdb, 9, 100), 3);
	hs_fdb_destroy(fdb);
}

// A database of four places has one bucket, which all addresses share.
static void the_address_seen_longest_ago_gives_its_place_to_a_fifth(void **state)
{
	struct hs_fdb *fdb = opened(4, 300);
	(void)state;
	for (uint8_t number = 1; number <= 4; number++)
		learn(fdb, number, number, 100 + number);
	learn(fdb, 1, 1, 105);
	learn(fdb, 5, 5, 106);
	assert_int_equal(port_of(fdb, 1, 106), 1);
	assert_int_equal(port_of(fdb, 2, 106), HS_FDB_UNKNOWN);
	for (uint8_t number = 3; number <= 5; number++)
		assert_int_equal(port_of(fdb, number, 106), number);
	hs_fdb_destroy(fdb);
}

static void an_address_that_moved_has_one_place(void **state)
{
	struct hs_fdb *fdb = opened(4, 300);
	(void)state;
	for (uint8_t number = 1; number <= 4; number++)
		learn(fdb, number, number, 100);
	learn(fdb, 3, 9, 100);
	assert_int_equal(port_of(fdb, 3, 100), 9);
	assert_int_equal(port_of(fdb, 1, 100), 1);
	assert_int_equal(port_of(fdb, 2, 100), 2);
	assert_int_equal(port_of(fdb, 4, 100), 4);
	hs_fdb_destroy(fdb);
}

// Two workers that learn an address at the same time may give it two places. Packets go to the port
// that it was seen on last.
static void an_address_with_two_places_is_where_it_spoke_last(void **state)
{
	struct hs_fdb *fdb = opened(4, 300);
	(void)state;
	learn(fdb, 1, 1, 100);
	atomic_store(&fdb->buckets[0].words[1], atomic_load(&fdb->buckets[0].words[0]) + 1);
	atomic_store(&fdb->buckets[0].seen_s[1], 100);
	learn(fdb, 1, 2, 100);
	assert_int_equal(port_of(fdb, 1, 100), 2);
	learn(fdb, 1, 1, 100);
	assert_int_equal(port_of(fdb, 1, 100), 1);
	hs_fdb_destroy(fdb);
}

// The age counts from the second of the last packet, not of the first, up to and with the limit.
static void an_address_is_known_as_long_as_it_speaks(void **state)
{
	struct hs_fdb *fdb = opened(64, 10);
	(void)state;
	learn(fdb, 1, 3, 100);
	learn(fdb, 1, 3, 109);
	learn(fdb, 1, 3, 108); // a worker that read its clock before the other one
	assert_int_equal(port_of(fdb, 1, 119), 3);
	assert_int_equal(port_of(fdb, 1, 120), HS_FDB_UNKNOWN);
	learn(fdb, 1, 3, 120);
	assert_int_equal(port_of(fdb, 1, 120), 3);
	hs_fdb_destroy(fdb);
}

static void an_empty_place_is_taken_before_one_of_the_same_age(void **state)
{
	struct hs_fdb *fdb = opened(4, 300);
	(void)state;
	for (uint8_t number = 1; number <= 4; number++)
		learn(fdb, number, number, 0);
	for (uint8_t number = 1; number <= 4; number++)
		assert_int_equal(port_of(fdb, number, 0), number);
	hs_fdb_destroy(fdb);
}

static void a_database_that_forgets_nothing_knows_an_address_for_ever(void **state)
{
	static const uint32_t ages_s[] = {INT32_MAX, UINT32_MAX};
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct hs_fdb *fdb = opened(4, ages_s[k]);
		learn(fdb, 1, 3, 100);
		assert_int_equal(port_of(fdb, 1, 100), 3);
		assert_int_equal(port_of(fdb, 1, UINT32_C(100) + INT32_MAX), 3);
		hs_fdb_destroy(fdb);
	}
}

static void the_age_goes_on_where_the_seconds_begin_again(void **state)
{
	struct hs_fdb *fdb = opened(4, 10);
	(void)state;
	learn(fdb, 1, 3, UINT32_MAX - 2);
	assert_int_equal(port_of(fdb, 1, 7), 3);
	assert_int_equal(port_of(fdb, 1, 8), HS_FDB_UNKNOWN);
	learn(fdb, 1, 4, 8);
	assert_int_equal(port_of(fdb, 1, 18), 4);
	hs_fdb_destroy(fdb);
}

// In its first seconds, a clock's time is less than the age, and an empty place looks young.
static void no_group_and_no_empty_address_is_learnt(void **state)
{
	static const uint8_t group[] = {3, 0, 0, 0, 0, 1}, none[6];
	struct hs_fdb *fdb = opened(4, 300);
	(void)state;
	for (uint32_t now_s = 0; now_s < 2; now_s++) {
		hs_fdb_learn(fdb, group, 1, now_s);
		hs_fdb_learn(fdb, none, 0, now_s);
		hs_fdb_learn(fdb, none, 1, now_s);
		assert_int_equal(hs_fdb_find(fdb, group, now_s), HS_FDB_UNKNOWN);
		assert_int_equal(hs_fdb_find(fdb, none, now_s), HS_FDB_UNKNOWN);
	}
	hs_fdb_destroy(fdb);
}

// Two addresses that differ in one bit are two, whichever bit it is.
static void each_bit_of_an_address_counts(void **state)
{
	static const uint8_t mac[] = {2, 0, 0, 0, 0, 9};
	struct hs_fdb *fdb = opened(4, 300);
	(void)state;
	hs_fdb_learn(fdb, mac, 3, 100);
	assert_int_equal(hs_fdb_find(fdb, mac, 100), 3);
	for (int bit = 0; bit < 48; bit++) {
		uint8_t other[6];
		memcpy(other, mac, sizeof(other));
		other[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(hs_fdb_find(fdb, other, 100), HS_FDB_UNKNOWN);
	}
	hs_fdb_destroy(fdb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_address_learnt_a_moment_from_now_is_known),
			cmocka_unit_test(the_address_seen_longest_ago_gives_its_place_to_a_fifth),
			cmocka_unit_test(an_address_that_moved_has_one_place),
			cmocka_unit_test(an_address_with_two_places_is_where_it_spoke_last),
			cmocka_unit_test(an_address_is_known_as_long_as_it_speaks),
			cmocka_unit_test(an_empty_place_is_taken_before_one_of_the_same_age),
			cmocka_unit_test(a_database_that_forgets_nothing_knows_an_address_for_ever),
			cmocka_unit_test(the_age_goes_on_where_the_seconds_begin_again),
			cmocka_unit_test(no_group_and_no_empty_address_is_learnt),
			cmocka_unit_test(each_bit_of_an_address_counts),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
