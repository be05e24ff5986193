// SPDX-License-Identifier: BSD-3-Clause
// Feedback, copies and recovery packets of one node, in virtual time.
#include "probe_stand.h"

// Sends the probe through the node, and takes what the node sends.
static void pass(struct stand *s)
{
	feed_made(s, IN, 0x17, PROBE);
	assert_sent_made(s, OUT, 0x17, FILLED("00000001"));
	assert_sent_made(s, IN, 0x19, REQUEST);
	assert_silent(s);
}

static void feedback_ends_the_copy(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	pass(s);
	feed_made(s, OUT, 0x19, REQUEST);
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_CONFIRMED), 1);
	assert_int_equal(hs_node_probes_held(s->t.node), 0);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), INT64_MAX);
	feed_made(s, OUT, 0x19, REQUEST);
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_STRAY), 1);
	advance(s, 1000 * MS);
	assert_silent(s);
	stand_close(s);
}

static void without_feedback_a_recovery_packet_goes_to_the_monitor_in_time(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	pass(s);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), 400 * MS);
	advance(s, 400 * MS - 1);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), 1);
	assert_silent(s);
	advance(s, 1);
	assert_sent_made(s, MONITOR, 0x21, FILLED("00000001"));
	assert_silent(s);
	assert_int_equal(event_at(s, OUT, HS_EVENT_PROBE_RECOVERED), 1);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), INT64_MAX);
	feed_made(s, OUT, 0x19, REQUEST); // too late
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_STRAY), 1);
	advance(s, 1000 * MS);
	assert_silent(s);
	stand_close(s);
}

static void the_recovery_packet_may_go_as_the_node_forwards_others(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.monitor_port = 0;
	struct stand *s = stand_open(&profile);

	feed_made(s, IN, 0x17, PROBE);
	advance(s, 400 * MS);
	assert_bytes_counted(s);
	assert_sent_made(s, OUT, 0x17, FILLED("00000001"));
	assert_sent_made(s, IN, 0x19, REQUEST);
	assert_sent_made(s, IN, 0x21, FILLED("00000001")); // the partner of OUT
	assert_silent(s);
	stand_close(s);
}

// The node forwards the probe as it forwards others, and does not know which node gives feedback.
static void a_probe_that_goes_by_no_port_of_its_own_is_not_held_and_counted(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	uint8_t frame[2048];
	profile.monitor_port = 0;
	struct stand *s = stand_open(&profile);

	feed_made(s, IN, 0x17, "000b 0002 000001 030002 0000 0000");
	assert_int_not_equal(test_node_take(&s->t, OUT, frame, sizeof(frame)), 0);
	assert_sent_made(s, IN, 0x19, REQUEST);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_NOT_HELD), 1);
	assert_int_equal(hs_node_probes_held(s->t.node), 0);
	advance(s, 1000 * MS);
	assert_silent(s);
	stand_close(s);
}

static void feedback_of_others_ends_nothing(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	pass(s);
	feed_made(s, IN, 0x19, REQUEST);
	feed_made(s, MONITOR, 0x19, REQUEST);
	feed_made(s, OUT, 0x19, "000d");
	feed_made(s, HOST, 0x19, REQUEST);
	assert_int_equal(drop_at(s, HOST, HS_DROP_HOST_TELEMETRY), 1);
	assert_int_equal(hs_node_probes_held(s->t.node), 1);
	feed_made(s, OUT, 0x19, "000a"); // the same ID: the type is no part of it
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_CONFIRMED), 1);
	stand_close(s);
}

// A probe of its own, which OUT sends on.
static void pass_number(struct stand *s, unsigned id, unsigned n_entries)
{
	char payload[256];
	int at = snprintf(payload, sizeof(payload), "%04x%04x", 2 * id, n_entries);

	for (unsigned i = 0; i < n_entries; i++)
		at += snprintf(payload + at, sizeof(payload) - (size_t)at, "020000");
	snprintf(payload + at, sizeof(payload) - (size_t)at, "00000000");
	feed_made(s, IN, 0x17, payload);
}

static unsigned taken(struct stand *s, unsigned port)
{
	uint8_t bytes[PROBE_ROOM];
	unsigned n = 0;

	while (test_node_take(&s->t, port, bytes, sizeof(bytes)))
		n++;
	return n;
}

static void as_many_copies_are_held_as_may_be_and_probes_go_on(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.held = 3;
	struct stand *s = stand_open(&profile);

	for (unsigned id = 1; id <= 5; id++)
		pass_number(s, id, 2);
	assert_bytes_counted(s);
	assert_int_equal(taken(s, OUT), 5);
	assert_int_equal(taken(s, IN), 5);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_NOT_HELD), 2);
	feed_made(s, OUT, 0x19, "0004"); // ID 2
	pass_number(s, 6, 2);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_NOT_HELD), 2);
	pass_number(s, 7, 2);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_NOT_HELD), 3);
	advance(s, 400 * MS);
	assert_int_equal(taken(s, MONITOR), 3);
	stand_close(s);
}

// IDs 2, 5 and 8 begin at the last of three places; two of them go round the table.
static void feedback_finds_copies_whose_ids_begin_at_one_place(void **state)
{
	(void)state;
	static const char *const feedback[] = {"0010", "0004", "000a"}; // IDs 8, 2, 5
	struct hs_probe_profile profile = usual_profile;
	profile.held = 3;
	struct stand *s = stand_open(&profile);

	for (unsigned id = 2; id <= 8; id += 3)
		pass_number(s, id, 2);
	assert_int_equal(hs_node_probes_held(s->t.node), 3);
	for (unsigned i = 0; i < 3; i++) {
		feed_made(s, OUT, 0x19, feedback[i]);
		assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_CONFIRMED), i + 1);
		feed_made(s, OUT, 0x19, feedback[i]);
		assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_STRAY), i + 1);
	}
	assert_int_equal(hs_node_probes_held(s->t.node), 0);
	advance(s, 1000 * MS);
	assert_int_equal(taken(s, MONITOR), 0);
	stand_close(s);
}

// FILLED has 59 bytes of IP.
static void a_recovery_packet_that_exceeds_the_mtu_to_the_monitor_is_counted(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct stand *s = stand_open(&usual_profile);
		pass(s);
		s->t.ports[MONITOR].port.mtu = (uint16_t)(59 - i);
		advance(s, 400 * MS);
		assert_int_equal(taken(s, MONITOR), !i);
		assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_TOO_LONG), i);
		assert_int_equal(event_at(s, OUT, HS_EVENT_PROBE_RECOVERED), 1);
		stand_close(s);
	}
}

// More of them than a transmit queue takes at once.
static void copies_that_come_due_together_may_go_as_the_node_forwards_others(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.monitor_port = 0;
	struct stand *s = stand_open(&profile);

	for (unsigned id = 1; id <= 64; id++) {
		pass_number(s, id, 2);
		assert_int_equal(taken(s, OUT) + taken(s, IN), 2);
	}
	advance(s, 400 * MS);
	assert_int_equal(event_at(s, OUT, HS_EVENT_PROBE_RECOVERED), 64);
	assert_int_equal(taken(s, IN), 64); // the partner of OUT
	assert_silent(s);
	stand_close(s);
}

static void copies_come_due_one_after_the_other(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	for (unsigned id = 1; id <= 5; id++) {
		pass_number(s, id, 2);
		advance(s, 10 * MS);
	}
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), 350 * MS);
	advance(s, 350 * MS);
	assert_int_equal(taken(s, MONITOR), 1);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), 10 * MS);
	feed_made(s, OUT, 0x19, "0004"); // ID 2
	for (unsigned i = 0; i < 4; i++)
		advance(s, 10 * MS);
	assert_int_equal(taken(s, MONITOR), 3);
	stand_close(s);
}

static void a_node_without_recovery_answers_and_holds_nothing(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.recovery = false;
	struct stand *s = stand_open(&profile);

	feed_made(s, IN, 0x17, PROBE);
	assert_sent_made(s, OUT, 0x17, FILLED("00000001"));
	assert_silent(s);
	advance(s, 1000 * MS);
	assert_silent(s);
	stand_close(s);
}

static void the_same_probe_again_gets_values_and_nothing_else(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	pass(s);
	feed_made(s, IN, 0x17, PROBE);
	assert_sent_made(s, OUT, 0x17, FILLED("00000002"));
	assert_silent(s);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_REPEATED), 1);
	assert_int_equal(hs_node_probes_held(s->t.node), 1);
	feed_made(s, OUT, 0x19, REQUEST);
	advance(s, 1600 * MS);
	feed_made(s, IN, 0x17, PROBE);
	assert_sent_made(s, OUT, 0x17, FILLED_AFTER("00000003", "00000001"));
	assert_sent_made(s, IN, 0x19, REQUEST); // forgotten by now
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_REPEATED), 1);
	stand_close(s);
}

// The path visits this node with each entry.
static void a_path_that_loops_ends_with_its_entries(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes bytes;
	unsigned rounds = 0;

	pass_number(s, 9, 20);
	while ((bytes.len = test_node_take(&s->t, OUT, bytes.at, sizeof(bytes.at)))) {
		feed_made(s, OUT, 0x19, "0012");
		feed(s, IN, &bytes);
		rounds++;
	}
	assert_int_equal(rounds, 20);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_FILLED), 20);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_LOOPED), 19);
	assert_int_equal(taken(s, IN), 20);
	assert_int_equal(taken(s, MONITOR), 1); // the last time, it has no entries
	assert_int_equal(hs_node_probes_held(s->t.node), 0);
	stand_close(s);
}

static void a_copy_outlives_what_the_port_does_with_the_packet(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	feed_made(s, IN, 0x17, PROBE);
	struct rte_mbuf *sent = s->t.ports[OUT].out[0];
	memset(rte_pktmbuf_mtod(sent, uint8_t *), 0xee, rte_pktmbuf_data_len(sent));
	advance(s, 400 * MS);
	assert_sent_made(s, MONITOR, 0x21, FILLED("00000001"));
	stand_close(s);
}

static void a_port_that_is_down_loses_the_packet_and_the_monitor_hears_of_it(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	s->t.ports[OUT].port.usable = false;
	feed_made(s, IN, 0x17, PROBE);
	assert_int_equal(drop_at(s, OUT, HS_DROP_PORT_DOWN), 1);
	assert_sent_made(s, IN, 0x19, REQUEST);
	advance(s, 400 * MS);
	assert_sent_made(s, MONITOR, 0x21, FILLED("00000001"));
	stand_close(s);
}

static void without_buffers_probes_go_on(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes bytes = probe_made(0x17, PROBE, false);
	struct rte_mbuf *all[BUFFERS];

	test_node_feed(&s->t, IN, bytes.at, bytes.len, 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(s->pool, all, BUFFERS - 1), 0);
	test_node_run(&s->t);
	rte_pktmbuf_free_bulk(all, BUFFERS - 1);
	assert_sent_made(s, OUT, 0x17, FILLED("00000001"));
	assert_silent(s);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_UNANSWERED), 1);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_NOT_HELD), 1);
	stand_close(s);
}

// Beside the copies, there are buffers for one burst, as where memory.mbufs are all in use.
// Whatever comes of probes then, each other packet goes on.
static void copies_cost_no_other_packet(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes other = probe_made(0x05, PROBE, false);
	struct rte_mbuf *rest[BUFFERS - 64 - HS_BURST];

	assert_int_equal(rte_pktmbuf_alloc_bulk(s->pool, rest, RTE_DIM(rest)), 0);
	for (unsigned id = 1; id <= 100; id++) {
		pass_number(s, id, 2);
		assert_int_equal(taken(s, OUT) + taken(s, IN), 2);
	}
	assert_int_equal(hs_node_probes_held(s->t.node), 64);
	assert_int_equal(rte_mempool_avail_count(s->pool), HS_BURST);
	for (unsigned round = 0; round < 1000; round++) {
		for (unsigned i = 0; i < HS_BURST - 1; i++)
			test_node_feed(&s->t, IN, other.at, other.len, 0);
		pass_number(s, 200 + round, 2);
		assert_int_equal(taken(s, OUT), HS_BURST);
		assert_int_equal(taken(s, IN), 0); // no buffer was left for feedback
		assert_int_equal(rte_mempool_avail_count(s->pool), HS_BURST);
	}
	advance(s, 400 * MS);
	assert_int_equal(taken(s, MONITOR), 64);
	rte_pktmbuf_free_bulk(rest, RTE_DIM(rest));
	stand_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(feedback_ends_the_copy),
			cmocka_unit_test(
					without_feedback_a_recovery_packet_goes_to_the_monitor_in_time),
			cmocka_unit_test(the_recovery_packet_may_go_as_the_node_forwards_others),
			cmocka_unit_test(
					a_probe_that_goes_by_no_port_of_its_own_is_not_held_and_counted),
			cmocka_unit_test(feedback_of_others_ends_nothing),
			cmocka_unit_test(as_many_copies_are_held_as_may_be_and_probes_go_on),
			cmocka_unit_test(feedback_finds_copies_whose_ids_begin_at_one_place),
			cmocka_unit_test(
					a_recovery_packet_that_exceeds_the_mtu_to_the_monitor_is_counted),
			cmocka_unit_test(
					copies_that_come_due_together_may_go_as_the_node_forwards_others),
			cmocka_unit_test(copies_come_due_one_after_the_other),
			cmocka_unit_test(a_node_without_recovery_answers_and_holds_nothing),
			cmocka_unit_test(the_same_probe_again_gets_values_and_nothing_else),
			cmocka_unit_test(a_path_that_loops_ends_with_its_entries),
			cmocka_unit_test(a_copy_outlives_what_the_port_does_with_the_packet),
			cmocka_unit_test(
					a_port_that_is_down_loses_the_packet_and_the_monitor_hears_of_it),
			cmocka_unit_test(without_buffers_probes_go_on),
			cmocka_unit_test(copies_cost_no_other_packet),
	};

	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
