// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"

// 192.0.2.1 to 198.51.100.2 with a router alert, UDP 0x1234 to 5001.
#define IPV4                                                                                       \
	"0200000000020200000000010800"                                                             \
	"46000028000100004011000000000000c0000201c63364029404000012341389000c5e94cafe"

static void telemetry_from_a_host_is_stripped_and_never_believed(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);
	struct hs_decoded telemetry;
	(void)state;
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(event(f, 0, HS_EVENT_HOST_TELEMETRY_STRIPPED), 1);
	test_node_rule(&f->t, &rule); // with a rule, only our own word goes in
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	take_telemetry(f, 1, &telemetry);
	assert_int_equal(telemetry.e2e.tx_packets, 1);
	fixture_close(f);
}

static void telemetry_from_a_host_is_dropped_where_the_policy_says_so(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500,
			(struct hs_node_config){.id = 1, .host_side_policy = HS_HOST_DROP});
	(void)state;
	feed_hex(f, 0, WITH_TELEMETRY);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(drops(f, 0, HS_DROP_HOST_TELEMETRY), 1);
	fixture_close(f);
}

static void broken_telemetry_never_reaches_a_host(void **state)
{
	struct fixture *f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	uint8_t bytes[256], got[256];
	size_t len = unhex(WITH_TELEMETRY, bytes);
	(void)state;
	bytes[14 + 40 + 3] = 0xff; // option 0x31 longer than its header
	test_node_feed(&f->t, 0, bytes, len, 0);
	test_node_run(&f->t);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), 0);
	assert_int_equal(drops(f, 0, HS_DROP_UNSTRIPPABLE), 1);
	fixture_close(f);
}

// A request between two options of the host's: packing them anew needs as many bytes as before.
static void telemetry_is_taken_out_also_where_the_packet_keeps_its_length(void **state)
{
	struct fixture *f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	(void)state;
#define MIXED_IP                                                                                   \
	ETHERNET                                                                                   \
	"600000000020004020010db800000000000000000000000120010db8000000000000000000000002"         \
	"110105020000"
	feed_hex(f, 0,
			MIXED_IP "3202aabb"
				 "1e0401020304"
				 "1234138900105e94494e544441544121");
	test_node_run(&f->t);
	expect_hex(f, 1,
			MIXED_IP "01020000"
				 "1e0401020304"
				 "1234138900105e94494e544441544121");
	assert_int_equal(event(f, 0, HS_EVENT_STRIPPED), 1);
	fixture_close(f);
}

#define TAGGED_TELEMETRY(tags)                                                                     \
	"020000000002020000000001" tags                                                            \
	"86dd600000000030004020010db800000000000000000000000120010db8000000000000000000000002"     \
	"11033108000000077000e0001112700017979cfe362a0000000003e80007c060"                         \
	"1234138900105e94494e544441544121"

static void a_third_tag_hides_no_telemetry(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	uint8_t got[256];
	(void)state;
	feed_hex(f, 0, TAGGED_TELEMETRY("810000018100000291000003"));
	test_node_run(&f->t);
	assert_int_equal(event(f, 0, HS_EVENT_HOST_TELEMETRY_STRIPPED), 1);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), 14 + 12 + 40 + 16);
	fixture_close(f);
}

static void a_packet_cut_short_hides_no_telemetry(void **state)
{
	struct fixture *f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	uint8_t bytes[256];
	size_t len = unhex(WITH_TELEMETRY, bytes);
	(void)state;
	test_node_feed(&f->t, 0, bytes, len - 1, 0);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_UNSTRIPPABLE), 1);
	fixture_close(f);
}

// Headers over two buffers, and none free to join them in: what cannot be read may be anything.
static void what_a_host_sent_unreadable_does_not_enter(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	struct rte_mbuf *taken[255];
	uint8_t bytes[256];
	size_t len = unhex(WITH_TELEMETRY, bytes);
	(void)state;
	test_node_feed(&f->t, 0, bytes, len, 58);
	unsigned n = rte_mempool_avail_count(f->pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(f->pool, taken, n), 0);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_UNREADABLE), 1);
	rte_pktmbuf_free_bulk(taken, n);
	fixture_close(f);
}

// Nothing of ours is in IPv4 packets: what cannot be read of them is no reason to keep them out.
static void ipv4_that_cannot_be_joined_passes(void **state)
{
	static const uint8_t policies[] = {HS_HOST_STRIP, HS_HOST_DROP};
	static const size_t cuts[] = {14, 33, 36, 41};
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500,
				(struct hs_node_config){.id = 1, .host_side_policy = policies[k]});
		struct rte_mbuf *taken[255];
		uint8_t bytes[256];
		size_t len = unhex(IPV4, bytes);
		for (size_t c = 0; c < RTE_DIM(cuts); c++)
			test_node_feed(&f->t, 0, bytes, len, cuts[c]);
		unsigned n = rte_mempool_avail_count(f->pool);
		assert_int_equal(rte_pktmbuf_alloc_bulk(f->pool, taken, n), 0);
		test_node_run(&f->t);
		for (size_t c = 0; c < RTE_DIM(cuts); c++)
			expect_hex(f, 1, IPV4);
		rte_pktmbuf_free_bulk(taken, n);
		fixture_close(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(telemetry_from_a_host_is_stripped_and_never_believed),
			cmocka_unit_test(telemetry_from_a_host_is_dropped_where_the_policy_says_so),
			cmocka_unit_test(broken_telemetry_never_reaches_a_host),
			cmocka_unit_test(
					telemetry_is_taken_out_also_where_the_packet_keeps_its_length),
			cmocka_unit_test(a_third_tag_hides_no_telemetry),
			cmocka_unit_test(a_packet_cut_short_hides_no_telemetry),
			cmocka_unit_test(what_a_host_sent_unreadable_does_not_enter),
			cmocka_unit_test(ipv4_that_cannot_be_joined_passes),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("node against hosts", tests, NULL, NULL);
}
