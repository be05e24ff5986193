// SPDX-License-Identifier: BSD-3-Clause
// Fragments of labelled packets that do not become a packet: they wait, within bounds, or do not
// fit together.
#define BUFFERS 1023
#include "fragment_stand.h"

// ---- what waits, and for how long ----

static void fragments_wait_for_a_time_and_end_without_any_packet(void **state)
{
	(void)state;
	struct stand *s = open_sink();
	unsigned n = use(1400, 504);

	assert_int_equal(n, 3);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), INT64_MAX);
	send_one(s, &fragments[0]);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), HS_LABEL_WAIT_NS + 1);
	advance(s, HS_LABEL_WAIT_NS);
	send_one(s, &fragments[2]);
	assert_int_equal(waiting(s, OUT), 2);
	send_one(s, &fragments[1]); // in time
	assert_plain_came(s);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), INT64_MAX);

	send_one(s, &fragments[0]);
	send_one(s, &fragments[1]);
	advance(s, HS_LABEL_WAIT_NS + 1);
	assert_int_equal(hs_node_worker_due_ns(s->t.node, 0), 0);
	test_node_run(&s->t);
	assert_int_equal(waiting(s, OUT), 0);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_EXPIRED), 2);
	send_one(s, &fragments[2]); // too late
	assert_nothing_came(s);
	let_expire(s);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_EXPIRED), 3);
	stand_close(s);
}

static void a_late_fragment_begins_another_packet(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	use(1400, 1000);
	send_one(s, &fragments[0]);
	advance(s, HS_LABEL_WAIT_NS + 1);
	send_one(s, &fragments[1]); // the same burst lets the first expire
	assert_nothing_came(s);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_EXPIRED), 1);
	send_one(s, &fragments[0]);
	assert_plain_came(s);
	stand_close(s);
}

static void what_waits_when_the_node_stops_is_counted_and_freed(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	use(1400, 504);
	send_one(s, &fragments[0]);
	send_one(s, &fragments[2]);
	hs_node_drop_queued(s->t.node);
	test_node_audit(&s->t);
	assert_int_equal(waiting(s, OUT), 0);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_PORT_DOWN), 2);
	send_one(s, &fragments[1]); // freed by the node's end
	stand_close(s);
}

static void fragments_wait_beside_packets_of_an_egress_queue(void **state)
{
	(void)state;
	stand_rate_bps = 8000000; // a byte in a microsecond
	stand_queue = 4;
	struct stand *s = open_sink();

	use(1400, 1000);
	send_one(s, &fragments[0]);
	assert_int_equal(waiting(s, OUT), 1);
	send_one(s, &fragments[1]);
	assert_int_equal(waiting(s, OUT), 1); // the packet
	assert_nothing_came(s);
	advance(s, 2 * MS);
	test_node_run(&s->t);
	assert_plain_came(s);
	stand_close(s);
}

// ---- bounds ----

static void set_id(struct fragment *fragment, unsigned id)
{
	hs_be16_store(fragment->bytes + IP + 4, (uint16_t)id);
	set_checksum(fragment->bytes + IP);
}

static void no_more_packets_wait_than_may_and_others_pass(void **state)
{
	(void)state;
	struct stand *s = open_sink();
	unsigned refused = 40;

	use(1400, 1000);
	for (unsigned i = 0; i < HS_LABEL_WAITING_PACKETS + refused; i++) {
		set_id(&fragments[0], 100 + i);
		send_one(s, &fragments[0]);
	}
	// Two buckets of a table may be full before the table is.
	assert_true(waiting(s, OUT) <= HS_LABEL_WAITING_PACKETS);
	assert_true(waiting(s, OUT) > HS_LABEL_WAITING_PACKETS * 9 / 10);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_NO_PLACE) + waiting(s, OUT),
			HS_LABEL_WAITING_PACKETS + refused);
	assert_int_equal(through(s, frame, len, out), plain_len); // not fragmented
	assert_memory_equal(out, plain, plain_len);
	let_expire(s);
	set_id(&fragments[0], 1);
	send_all(s, 2);
	assert_plain_came(s);
	stand_close(s);
}

static void no_more_buffers_wait_than_may(void **state)
{
	(void)state;
	struct stand *s = open_sink();
	unsigned n = use(1400, 208), sent = 0;

	assert_int_equal(n, 7);
	for (unsigned id = 0; id < 90; id++) {
		for (unsigned i = 0; i < n - 1; i++, sent++) {
			set_id(&fragments[i], 100 + id);
			feed(s, &fragments[i], 100); // two buffers
			test_node_run(&s->t);
		}
	}
	test_node_audit(&s->t);
	assert_int_equal(2 * waiting(s, OUT), HS_LABEL_WAITING_BUFFERS);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_NO_PLACE),
			sent - HS_LABEL_WAITING_BUFFERS / 2);
	assert_int_equal(rte_mempool_avail_count(s->pool), BUFFERS - HS_LABEL_WAITING_BUFFERS);
	let_expire(s);
	assert_int_equal(rte_mempool_avail_count(s->pool), BUFFERS);
	stand_close(s);
}

// ---- what does not fit together ----

static void assert_bad(struct stand *s, unsigned n)
{
	assert_nothing_came(s);
	let_expire(s);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_BAD), n);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_REASSEMBLED), 0);
	stand_close(s);
}

static void a_first_or_last_fragment_that_comes_twice_ends_its_packet(void **state)
{
	(void)state;
	for (unsigned twice = 0; twice < 3; twice += 2) {
		struct stand *s = open_sink();
		use(1400, 504);
		send_one(s, &fragments[twice]);
		send_one(s, &fragments[twice]);
		assert_bad(s, 2);
	}
}

static void a_fragment_between_that_comes_twice_ends_its_packet(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	use(1400, 504);
	send_one(s, &fragments[0]);
	send_one(s, &fragments[1]);
	send_one(s, &fragments[1]);
	send_one(s, &fragments[2]);
	assert_bad(s, 4);
}

// As long as the missing one, so that the sum of lengths is right.
static void a_fragment_in_place_of_a_missing_one_ends_its_packet(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	assert_int_equal(use(1400, 368), 4);
	send_one(s, &fragments[0]);
	send_one(s, &fragments[1]);
	send_one(s, &fragments[1]);
	send_one(s, &fragments[3]);
	assert_bad(s, 4);
}

static void fragments_that_overlap_end_their_packet(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	use(1400, 504);
	cut(frame, 0, 512, true, &fragments[0]);
	send_all(s, 3);
	assert_bad(s, 3);
	s = open_sink();
	use(1400, 504);
	cut(frame, 496, 1008, true, &fragments[1]);
	send_all(s, 3);
	assert_bad(s, 3);
}

static void a_packet_of_more_than_eight_fragments_is_not_put_together(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	assert_int_equal(use(1400, 168), 9);
	send_all(s, 9);
	assert_nothing_came(s);
	let_expire(s);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_BAD) +
					 test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_EXPIRED),
			9);
	assert_true(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_BAD) >= 8);
	stand_close(s);
}

// Fragments of 9,000 bytes that end 24 bytes behind what a length of 16 bits can say.
static void more_than_64_kib_is_refused(void **state)
{
	(void)state;
	static uint8_t big[ROOM];
	const size_t header = 20, part = 9000;
	struct stand *s = stand_open(SINK, usual(), 0, 0);

	make_labelled(8, frame, plain, &plain_len);
	memcpy(big, frame, IP + header + 2 + 32);
	for (size_t at = 0, n = 0; n < 8; at += part, n++) {
		size_t bytes = n < 7 ? part : 65560 - 7 * part;
		hs_be16_store(big + IP + 2, (uint16_t)(header + bytes));
		hs_be16_store(big + IP + 6, (uint16_t)(at / 8 + (n < 7 ? MORE : 0)));
		set_checksum(big + IP);
		test_node_feed(&s->t, IN, big, IP + header + bytes, 0);
		test_node_run(&s->t);
	}
	assert_bad(s, 8);
}

static void fragments_without_data_or_with_a_wrong_checksum_are_refused(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	use(1400, 1000);
	cut(frame, 1000, 1000, false, &fragments[1]);
	send_one(s, &fragments[1]);
	cut(frame, 0, 0, true, &fragments[1]);
	send_one(s, &fragments[1]);
	fragments[0].bytes[IP + 10] ^= 1;
	send_one(s, &fragments[0]);
	assert_int_equal(waiting(s, OUT), 0);
	assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_BAD_HEADER), 3);
	assert_bad(s, 0);
}

static void a_total_length_that_lies_waits_for_nothing(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	use(1400, 1000);
	hs_be16_store(fragments[0].bytes + IP + 2, (uint16_t)(fragments[0].len - IP + 1));
	set_checksum(fragments[0].bytes + IP);
	send_one(s, &fragments[0]);
	assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_UNSTRIPPABLE), 1);
	assert_bad(s, 0);
}

static void padding_behind_fragments_is_no_data(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	assert_int_equal(use(1400, 728), 2);
	for (unsigned i = 0; i < 2; i++)
		fragments[i].len += 7;
	send_all(s, 2);
	assert_plain_came(s);
	for (unsigned i = 0; i < 2; i++) // the padding lies in a segment of its own, and before it
		feed(s, &fragments[i], fragments[i].len - 3);
	test_node_run(&s->t);
	assert_nothing_came(s);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_BAD), 2);
	stand_close(s);
}

static void items_that_lie_in_a_whole_packet_end_as_in_any_other(void **state)
{
	(void)state;
	for (unsigned pass = 0; pass < 2; pass++) {
		stand_passes_malformed = pass;
		struct stand *s = open_sink();
		len = make_labelled(1400, frame, plain, &plain_len);
		frame[IP + 21] = 4;	 // INT_num
		frame[IP + 22 + 20] = 1; // a byte without a field
		cut_all(frame, len, 1000, fragments);
		send_all(s, 2);
		assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), pass ? len : 0);
		if (pass)
			assert_memory_equal(out + IP + 20, frame + IP + 20, len - IP - 20);
		assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_UNSTRIPPABLE), !pass);
		assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_BAD_TELEMETRY_PASSED), pass);
		stand_close(s);
	}
}

static void tag(struct fragment *fragment, uint8_t vlan)
{
	const uint8_t bytes[] = {0x81, 0, 0, vlan};

	memmove(fragment->bytes + 16, fragment->bytes + 12, fragment->len - 12);
	memcpy(fragment->bytes + 12, bytes, sizeof(bytes));
	fragment->len += sizeof(bytes);
}

static void fragments_of_two_vlans_are_not_put_together(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	use(1400, 1000);
	tag(&fragments[0], 5);
	tag(&fragments[1], 6);
	send_all(s, 2);
	assert_nothing_came(s);
	let_expire(s);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_EXPIRED), 2);
	stand_close(s);
}

// Networks in two VLANs may have the same private addresses.
static void packets_of_two_vlans_with_one_identification_become_whole(void **state)
{
	(void)state;
	static const uint8_t vlans[] = {0, 5, 6};
	struct stand *s = open_sink();

	assert_int_equal(use(1400, 1000), 2);
	const struct fragment first = fragments[0], second = fragments[1];
	for (unsigned i = 0; i < 6; i++) {
		fragments[i] = i < 3 ? first : second;
		if (vlans[i % 3])
			tag(&fragments[i], vlans[i % 3]);
		send_one(s, &fragments[i]);
	}
	for (unsigned i = 0; i < 3; i++) {
		size_t tags = vlans[i] ? 4 : 0;
		assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), plain_len + tags);
		assert_memory_equal(out + 14 + tags, plain + 14, plain_len - 14);
		assert_true(!tags || out[15] == vlans[i]);
	}
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_REASSEMBLED), 3);
	stand_close(s);
}

// The first is flooded. Then the node learns where the host is.
static void fragments_that_leave_by_two_ports_are_not_put_together(void **state)
{
	(void)state;
	stand_config.forwarding = HS_FORWARD_BRIDGE;
	struct stand *s = open_sink();

	use(1400, 728);
	send_one(s, &fragments[0]);
	assert_int_equal(waiting(s, IN), 1);
	memcpy(out, plain, plain_len);
	memcpy(out, plain + 6, 6);
	memcpy(out + 6, plain, 6);
	test_node_feed(&s->t, OUT, out, plain_len, 0);
	test_node_run(&s->t);
	send_one(s, &fragments[1]);
	assert_int_equal(waiting(s, IN), 0);
	assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_FRAGMENT_BAD), 1);
	assert_bad(s, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(fragments_wait_for_a_time_and_end_without_any_packet),
			cmocka_unit_test(a_late_fragment_begins_another_packet),
			cmocka_unit_test(what_waits_when_the_node_stops_is_counted_and_freed),
			cmocka_unit_test(fragments_wait_beside_packets_of_an_egress_queue),
			cmocka_unit_test(no_more_packets_wait_than_may_and_others_pass),
			cmocka_unit_test(no_more_buffers_wait_than_may),
			cmocka_unit_test(a_first_or_last_fragment_that_comes_twice_ends_its_packet),
			cmocka_unit_test(a_fragment_between_that_comes_twice_ends_its_packet),
			cmocka_unit_test(a_fragment_in_place_of_a_missing_one_ends_its_packet),
			cmocka_unit_test(fragments_that_overlap_end_their_packet),
			cmocka_unit_test(a_packet_of_more_than_eight_fragments_is_not_put_together),
			cmocka_unit_test(more_than_64_kib_is_refused),
			cmocka_unit_test(
					fragments_without_data_or_with_a_wrong_checksum_are_refused),
			cmocka_unit_test(a_total_length_that_lies_waits_for_nothing),
			cmocka_unit_test(padding_behind_fragments_is_no_data),
			cmocka_unit_test(items_that_lie_in_a_whole_packet_end_as_in_any_other),
			cmocka_unit_test(fragments_of_two_vlans_are_not_put_together),
			cmocka_unit_test(packets_of_two_vlans_with_one_identification_become_whole),
			cmocka_unit_test(fragments_that_leave_by_two_ports_are_not_put_together),
	};

	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
