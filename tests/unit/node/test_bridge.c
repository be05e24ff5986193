// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"

#define FROM_A_TO_B "02000000000b02000000000a"
#define FROM_B_TO_A "02000000000a02000000000b"
#define REST                                                                                       \
	"86dd600000000010114020010db800000000000000000000000120010db80000000000000000"             \
	"000000021234138900105e94494e544441544121"

static void a_bridge_floods_the_unknown_and_learns(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	uint8_t got[256];
	(void)state;
	feed_hex(f, 0, FROM_A_TO_B REST);
	test_node_run(&f->t);
	for (unsigned p = 1; p < 4; p++)
		expect_hex(f, p, FROM_A_TO_B REST);
	assert_int_equal(event(f, 0, HS_EVENT_FLOODED), 1);
	feed_hex(f, 2, FROM_B_TO_A REST);
	test_node_run(&f->t);
	feed_hex(f, 0, FROM_A_TO_B REST);
	test_node_run(&f->t);
	expect_hex(f, 0, FROM_B_TO_A REST);
	expect_hex(f, 2, FROM_A_TO_B REST);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), 0);
	assert_int_equal(test_node_take(&f->t, 3, got, sizeof(got)), 0);
	fixture_close(f);
}

static void a_bridge_forgets_what_has_not_spoken(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){
					.id = 1, .forwarding = HS_FORWARD_BRIDGE, .mac_age_s = 10});
	(void)state;
	feed_hex(f, 2, FROM_B_TO_A REST);
	test_node_run(&f->t);
	hs_clock_set(f->clock, NOW + INT64_C(12000000000));
	feed_hex(f, 0, FROM_A_TO_B REST);
	test_node_run(&f->t);
	assert_int_equal(event(f, 0, HS_EVENT_FLOODED), 1);
	fixture_close(f);
}

static void a_bridge_drops_what_is_already_where_it_belongs(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	(void)state;
	feed_hex(f, 0, FROM_B_TO_A REST);
	test_node_run(&f->t);
	feed_hex(f, 0, FROM_A_TO_B REST);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_SAME_PORT), 1);
	fixture_close(f);
}

static void a_flooded_packet_counts_once_and_carries_no_telemetry(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, PLAIN);
	feed_hex(f, 2, WITH_TELEMETRY);
	test_node_run(&f->t);
	for (unsigned p = 1; p < 4; p++)
		expect_hex(f, p, PLAIN);
	assert_int_equal(counters(f, 7).rx_packets, 2);
	assert_int_equal(counters(f, 7).tx_packets, 2);
	expect_hex(f, 1, PLAIN);
	expect_hex(f, 3, PLAIN);
	fixture_close(f);
}

static void a_refused_packet_of_a_two_port_bridge_is_not_counted_as_sent(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	test_node_rule(&f->t, &rule);
	f->t.ports[1].accepts = 0;
	feed_hex(f, 0, PLAIN); // floods to the only other port
	test_node_run(&f->t);
	assert_int_equal(drops(f, 1, HS_DROP_TX_FULL), 1);
	assert_int_equal(counters(f, 7).rx_packets, 1);
	assert_int_equal(counters(f, 7).tx_packets, 0);
	fixture_close(f);
}

// Two workers read the clock one after the other: the later one may look first.
static void an_address_learnt_a_moment_from_now_is_known(void **state)
{
	static const uint8_t mac[] = {2, 0, 0, 0, 0, 9};
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(64, 300, &fdb), 0);
	hs_fdb_learn(fdb, mac, 3, 101);
	assert_int_equal(hs_fdb_find(fdb, mac, 100), 3);
	hs_fdb_destroy(fdb);
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

// A database of four places has one bucket, which all addresses share.
static void the_address_seen_longest_ago_gives_its_place_to_a_fifth(void **state)
{
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(4, 300, &fdb), 0);
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
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(4, 300, &fdb), 0);
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
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(4, 300, &fdb), 0);
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
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(64, 10, &fdb), 0);
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
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(4, 300, &fdb), 0);
	for (uint8_t number = 1; number <= 4; number++)
		learn(fdb, number, number, 0);
	for (uint8_t number = 1; number <= 4; number++)
		assert_int_equal(port_of(fdb, number, 0), number);
	hs_fdb_destroy(fdb);
}

static void a_database_that_forgets_nothing_knows_an_address_for_ever(void **state)
{
	static const uint32_t ages_s[] = {INT32_MAX, UINT32_MAX};
	struct hs_fdb *fdb;
	(void)state;
	for (int k = 0; k < 2; k++) {
		assert_int_equal(hs_fdb_create(4, ages_s[k], &fdb), 0);
		learn(fdb, 1, 3, 100);
		assert_int_equal(port_of(fdb, 1, 100), 3);
		assert_int_equal(port_of(fdb, 1, UINT32_C(100) + INT32_MAX), 3);
		hs_fdb_destroy(fdb);
	}
}

static void the_age_goes_on_where_the_seconds_begin_again(void **state)
{
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(4, 10, &fdb), 0);
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
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(4, 300, &fdb), 0);
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
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(4, 300, &fdb), 0);
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
			cmocka_unit_test(a_bridge_floods_the_unknown_and_learns),
			cmocka_unit_test(a_bridge_forgets_what_has_not_spoken),
			cmocka_unit_test(a_bridge_drops_what_is_already_where_it_belongs),
			cmocka_unit_test(a_flooded_packet_counts_once_and_carries_no_telemetry),
			cmocka_unit_test(
					a_refused_packet_of_a_two_port_bridge_is_not_counted_as_sent),
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
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("bridge", tests, NULL, NULL);
}
