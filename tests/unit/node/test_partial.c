// SPDX-License-Identifier: BSD-3-Clause
// Entries of transit nodes that lack fields, or leave them out of some packets.
#include "fixture.h"
#include "rule_fields.h"

// Source of the reference's padded example, before and after a hop that has no byte counters
// (flex-padded).
#define ADDRESSES   "20010db800000000000000000000000120010db8000000000000000000000002"
#define UDP_INTDATA "1234138900105e94494e544441544121"
#define PADDED_SOURCE                                                                              \
	ETHERNET "600000000028003f" ADDRESSES "1102310800000007400060"                             \
		 "00110a400017979cfe362a0000" UDP_INTDATA
#define PADDED_HOP                                                                                 \
	ETHERNET "600000000038003f" ADDRESSES "11043114000000074000600000014000"                   \
		 "17979cfe36c29680110a400017979cfe362a000001020000" UDP_INTDATA

static struct fixture *open_transit(const struct hs_partial *partial)
{
	struct fixture *f = fixture_open(TRANSIT_SIDES, 2, 1500,
			(struct hs_node_config){.id = 1, .partial = *partial});
	struct hs_rule rule = vector_rule(7);
	test_node_rule(&f->t, &rule);
	return f;
}

static struct hs_partial_field threshold(uint64_t min_change, int64_t max_age_ns)
{
	return (struct hs_partial_field){.policy = HS_PARTIAL_THRESHOLD,
			.min_change = min_change,
			.max_age_ns = max_age_ns};
}

// One more packet of the flow; the fields that the node's entry has.
static unsigned next_bitmap(struct fixture *f)
{
	struct hs_decoded told;

	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	take_telemetry(f, 1, &told);
	assert_int_equal(told.n_hops, 1);
	assert_int_equal(told.hops[0].node_id, 1);
	return told.hops[0].bitmap;
}

// For each packet one letter: x with the field, . without.
static void expect_field(struct fixture *f, unsigned bit, const char *letters)
{
	for (const char *at = letters; *at; at++) {
		bool is_there = next_bitmap(f) & bit;
		if (is_there != (*at == 'x'))
			fail_msg("packet %d of %s", (int)(at - letters), letters);
	}
}

static void pass_after(struct fixture *f, int64_t ns)
{
	hs_clock_set(f->clock, hs_clock_now(f->clock) + ns);
}

static void a_node_without_byte_counters_writes_the_padded_example(void **state)
{
	const struct hs_partial partial = {.bytes.unsupported = true};
	struct fixture *f = fixture_open(TRANSIT_SIDES, 2, 1500,
			(struct hs_node_config){.id = 1, .partial = partial});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	rule.trace_type = 0x40006000;
	test_node_rule(&f->t, &rule);
	pass_after(f, 10000000);
	feed_hex(f, 0, PADDED_SOURCE);
	test_node_run(&f->t);
	expect_hex(f, 1, PADDED_HOP);
	fixture_close(f);
}

static void an_entry_without_any_field_still_names_the_node(void **state)
{
	const struct hs_partial partial = {.packets.unsupported = true,
			.timestamp.unsupported = true,
			.bytes.unsupported = true};
	struct fixture *f = open_transit(&partial);
	(void)state;
	assert_int_equal(next_bitmap(f), 0);
	assert_int_equal(counters(f, 7).hop_entries, 1);
	fixture_close(f);
}

static void without_a_policy_all_that_is_asked_for_is_added(void **state)
{
	const struct hs_partial partial = {0};
	struct fixture *f = open_transit(&partial);
	(void)state;
	assert_int_equal(next_bitmap(f), 0xE000);
	assert_int_equal(next_bitmap(f), 0xE000);
	fixture_close(f);
}

static void a_probability_adds_a_field_to_its_share_of_packets(void **state)
{
	const struct hs_partial partial = {
			.packets = {.policy = HS_PARTIAL_PROBABILITY, .probability_percent = 0},
			.timestamp = {.policy = HS_PARTIAL_PROBABILITY, .probability_percent = 100},
			.bytes = {.policy = HS_PARTIAL_PROBABILITY, .probability_percent = 30},
	};
	struct fixture *f = open_transit(&partial);
	unsigned with_bytes = 0;
	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		unsigned bitmap = next_bitmap(f);
		assert_int_equal(bitmap & 0xC000, 0x4000);
		with_bytes += (bitmap & 0x2000) != 0;
	}
	assert_in_range(with_bytes, 900 - 120, 900 + 120); // nearly five standard deviations
	fixture_close(f);
}

static void a_threshold_adds_a_counter_that_moved_by_more(void **state)
{
	struct hs_partial partial = {.packets = threshold(3, INT64_MAX)};
	struct fixture *f = open_transit(&partial);
	(void)state;
	expect_field(f, HS_HOP_PACKETS, "x...x...x");
	assert_int_equal(next_bitmap(f), 0x6000);
	feed_hex(f, 0, PLAIN); // counts, though it carries nothing
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	expect_hex(f, 1, PLAIN);
	expect_field(f, HS_HOP_PACKETS, "x...x");
	fixture_close(f);

	partial = (struct hs_partial){.bytes = threshold(2 * 70, INT64_MAX)};
	f = open_transit(&partial);
	expect_field(f, HS_HOP_BYTES, "x..x..x"); // 70 bytes each
	fixture_close(f);
}

static void a_value_that_stands_still_is_added_again_when_it_is_old(void **state)
{
	const struct hs_partial partial = {.packets = threshold(UINT64_MAX, 1000000)};
	struct fixture *f = open_transit(&partial);
	(void)state;
	expect_field(f, HS_HOP_PACKETS, "x..");
	pass_after(f, 999999);
	expect_field(f, HS_HOP_PACKETS, ".");
	pass_after(f, 1);
	expect_field(f, HS_HOP_PACKETS, "x.");
	pass_after(f, -5000000); // a clock set back makes nothing old
	expect_field(f, HS_HOP_PACKETS, ".");
	fixture_close(f);
}

static void a_timestamp_moves_with_time(void **state)
{
	const struct hs_partial partial = {.timestamp = threshold(500, INT64_MAX)};
	struct fixture *f = open_transit(&partial);
	(void)state;
	expect_field(f, HS_HOP_TIMESTAMP, "x.");
	pass_after(f, 500);
	expect_field(f, HS_HOP_TIMESTAMP, ".");
	pass_after(f, 1);
	expect_field(f, HS_HOP_TIMESTAMP, "x.");
	pass_after(f, -500);
	expect_field(f, HS_HOP_TIMESTAMP, ".");
	pass_after(f, -1);
	expect_field(f, HS_HOP_TIMESTAMP, "x.");
	fixture_close(f);
}

static void fields_have_policies_of_their_own(void **state)
{
	const struct hs_partial partial = {
			.packets = threshold(1, INT64_MAX),
			.timestamp.unsupported = true,
			.bytes = threshold(2 * 70, INT64_MAX),
	};
	static const unsigned expected[] = {0xA000, 0, 0x8000, 0x2000, 0x8000, 0, 0xA000};
	struct fixture *f = open_transit(&partial);
	(void)state;
	for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(next_bitmap(f), expected[i]);
	fixture_close(f);
}

static void what_did_not_fit_counts_as_not_added(void **state)
{
	const struct hs_partial partial = {.packets = threshold(100, INT64_MAX)};
	struct fixture *f = open_transit(&partial);
	(void)state;
	f->t.ports[1].port.mtu = 88 + 23; // the packet, and not quite the entry
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_TELEMETRY);
	f->t.ports[1].port.mtu = 1500;
	expect_field(f, HS_HOP_PACKETS, "x.");
	fixture_close(f);
}

static void fields_that_are_not_asked_for_are_left_out_and_not_counted_as_added(void **state)
{
	const struct hs_partial partial = {.packets = threshold(100, INT64_MAX)};
	struct fixture *f = open_transit(&partial);
	uint8_t frame[256];
	struct hs_decoded told;
	(void)state;
	size_t len = unhex(WITH_TELEMETRY, frame);
	frame[14 + 40 + 10] = 0x60; // the hops' half of the trace type: no packets
	test_node_feed(&f->t, 0, frame, len, 0);
	test_node_run(&f->t);
	take_telemetry(f, 1, &told);
	assert_int_equal(told.hops[0].bitmap, 0x6000);
	expect_field(f, HS_HOP_PACKETS, "x.");
	fixture_close(f);
}

static void a_new_rule_in_the_place_of_an_old_one_starts_with_all_fields(void **state)
{
	const struct hs_partial partial = {.packets = threshold(100, INT64_MAX)};
	struct fixture *f = open_transit(&partial);
	struct hs_error err;
	(void)state;
	uint32_t slot = hs_flow_table_find(hs_node_flows(f->t.node), 7);
	for (;;) {
		expect_field(f, HS_HOP_PACKETS, "x.");
		assert_int_equal(hs_flow_table_remove(hs_node_flows(f->t.node), 7, &err), 0);
		hs_flow_table_reclaim(hs_node_flows(f->t.node));
		struct hs_rule rule = vector_rule(7);
		test_node_rule(&f->t, &rule);
		if (hs_flow_table_find(hs_node_flows(f->t.node), 7) == slot)
			break;
	}
	expect_field(f, HS_HOP_PACKETS, "x.");
	fixture_close(f);
}

// ---- of one rule ----

static void tell_rule(struct fixture *f, const struct hs_partial *partial)
{
	struct hs_rule_update update = {.rows = HS_RULE_BIT(FIELDS)};
	struct hs_error err;

	update.to.fields = partial ? hs_rule_fields_number(partial) : 0;
	assert_int_equal(hs_flow_table_update(hs_node_flows(f->t.node), 7, &update, &err), 0);
}

static void a_rule_has_fields_of_its_own_from_one_packet_to_the_next(void **state)
{
	const struct hs_partial every = {0};
	const struct hs_partial some = {.packets = threshold(2, INT64_MAX)};
	const struct hs_partial none = {.packets.unsupported = true,
			.timestamp.unsupported = true,
			.bytes.unsupported = true};
	struct fixture *f = open_transit(&every);
	(void)state;
	expect_field(f, HS_HOP_PACKETS, "xxx");
	tell_rule(f, &some);
	expect_field(f, HS_HOP_PACKETS, "x..x..x");
	expect_field(f, HS_HOP_BYTES, "xxx");
	tell_rule(f, &none);
	assert_int_equal(next_bitmap(f), 0);
	tell_rule(f, NULL);
	expect_field(f, HS_HOP_PACKETS, "xxx");
	fixture_close(f);
}

static void fields_of_a_rule_stand_in_place_of_the_nodes(void **state)
{
	const struct hs_partial node = {
			.packets = threshold(100, INT64_MAX), .bytes.unsupported = true};
	const struct hs_partial every = {0};
	struct fixture *f = open_transit(&node);
	(void)state;
	expect_field(f, HS_HOP_PACKETS, "x..");
	tell_rule(f, &every);
	expect_field(f, HS_HOP_PACKETS, "xxx");
	expect_field(f, HS_HOP_BYTES, "..."); // what the node has not got no rule gives it
	tell_rule(f, NULL);
	expect_field(f, HS_HOP_PACKETS, ".");
	fixture_close(f);
}

static void a_rule_with_fields_adds_nothing_where_its_hop_is_not_enabled(void **state)
{
	const struct hs_partial every = {0}, some = {.bytes.unsupported = true};
	struct fixture *f = open_transit(&every);
	struct hs_rule_update update = {.rows = HS_RULE_BIT(HOP_ENABLED)};
	struct hs_decoded told;
	struct hs_error err;
	(void)state;
	tell_rule(f, &some);
	assert_int_equal(hs_flow_table_update(hs_node_flows(f->t.node), 7, &update, &err), 0);
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	take_telemetry(f, 1, &told);
	assert_int_equal(told.n_hops, 0);
	update.to.hop_enabled = true;
	assert_int_equal(hs_flow_table_update(hs_node_flows(f->t.node), 7, &update, &err), 0);
	expect_field(f, HS_HOP_BYTES, ".");
	fixture_close(f);
}

int main(void)
{
	dpdk_env_init("64");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_node_without_byte_counters_writes_the_padded_example),
			cmocka_unit_test(an_entry_without_any_field_still_names_the_node),
			cmocka_unit_test(without_a_policy_all_that_is_asked_for_is_added),
			cmocka_unit_test(a_probability_adds_a_field_to_its_share_of_packets),
			cmocka_unit_test(a_threshold_adds_a_counter_that_moved_by_more),
			cmocka_unit_test(a_value_that_stands_still_is_added_again_when_it_is_old),
			cmocka_unit_test(a_timestamp_moves_with_time),
			cmocka_unit_test(fields_have_policies_of_their_own),
			cmocka_unit_test(what_did_not_fit_counts_as_not_added),
			cmocka_unit_test(
					fields_that_are_not_asked_for_are_left_out_and_not_counted_as_added),
			cmocka_unit_test(a_rule_has_fields_of_its_own_from_one_packet_to_the_next),
			cmocka_unit_test(fields_of_a_rule_stand_in_place_of_the_nodes),
			cmocka_unit_test(
					a_rule_with_fields_adds_nothing_where_its_hop_is_not_enabled),
			cmocka_unit_test(
					a_new_rule_in_the_place_of_an_old_one_starts_with_all_fields),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
