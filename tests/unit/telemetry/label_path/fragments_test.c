// SPDX-License-Identifier: BSD-3-Clause
// Labelled packets that a router fragmented, at the node before a host: what becomes of them.
#define BUFFERS 1023
#include "flexint_steps.h"
#include "fragment_stand.h"
#include "rng.h"

#include <jansson.h>

static json_t *vectors;
static struct hs_rng rng;

static uint64_t copies(struct stand *s, unsigned port)
{
	struct hs_port_counters counters;

	hs_node_port_counters(s->t.node, (uint16_t)port, &counters);
	return counters.copies;
}

// ---- packets of the other encoder ----

static void shuffle(unsigned *order, unsigned n)
{
	for (unsigned i = n; i > 1; i--) {
		unsigned j = hs_rng_u32(&rng) % i, one = order[j];
		order[j] = order[i - 1];
		order[i - 1] = one;
	}
}

// Odd rounds: all of them in one burst, and some in two segments.
static void feed_in_order(struct stand *s, const unsigned *order, unsigned n, unsigned round)
{
	for (unsigned i = 0; i < n; i++) {
		const struct fragment *fragment = &fragments[order[i]];
		feed(s, fragment,
				round % 2 && hs_rng_u32(&rng) % 2
						? 1 + hs_rng_u32(&rng) % fragment->len
						: 0);
		if (round % 2 == 0)
			test_node_run(&s->t);
	}
	test_node_run(&s->t);
}

// `labelled`: by the port, too.
static void assert_told(struct stand *s, const json_t *object, bool labelled)
{
	uint8_t should[ROOM];
	size_t bytes = unhex(json_string_value(json_object_get(object, "export")), should);

	assert_int_equal(test_node_take(&s->t, MONITOR, out, ROOM),
			FRONT + bytes + (labelled ? HS_LABEL_ITEM_BYTES : 0)); // that of the port
	assert_memory_equal(out + FRONT, should, 13);
	bytes -= 16;
	assert_memory_equal(out + FRONT + 16 + (labelled ? HS_LABEL_ITEM_BYTES : 0), should + 16,
			bytes);
}

static void restore(const json_t *object, const json_t *list)
{
	unsigned n = (unsigned)json_array_size(list), order[FRAGMENTS];
	struct hs_label_settings wire = {.ip_protocol = (uint8_t)json_integer_value(
							 json_object_get(object, "ip_protocol")),
			.max_hops = (uint8_t)json_integer_value(
					json_object_get(object, "max_hops"))};
	struct stand *s = stand_open(SINK, wire, 3600 * 1000 * MS, 3600 * 1000 * MS);

	bool specific = json_is_true(json_object_get(object, "specific")); // each port labels
	plain_len = unhex(json_string_value(json_object_get(object, "plain")), plain);
	for (unsigned i = 0; i < n; i++) {
		order[i] = n - 1 - i;
		fragments[i].len = unhex(
				json_string_value(json_array_get(list, i)), fragments[i].bytes);
	}
	for (unsigned round = 0; round < 60; round++) {
		feed_in_order(s, order, n, round);
		assert_plain_came(s);
		assert_told(s, object, !round || specific);
		test_node_audit(&s->t);
		shuffle(order, n);
	}
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_REASSEMBLED), 60);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_STRIPPED), 60);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_JOINED), 60 * n);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_FRAGMENTS), 60 * n);
	assert_int_equal(copies(s, IN), 60);
	assert_int_equal(waiting(s, OUT), 0);
	stand_close(s);
}

static void fragments_in_any_order_become_what_the_host_sent(void **state)
{
	(void)state;
	const json_t *object, *list;
	unsigned found = 0;
	size_t i;

	for (unsigned general = 0; general < 2; general++) {
		if (general)
			setenv("HS_GENERAL_PATH", "1", 1);
		json_array_foreach (vectors, i, object) {
			list = json_object_get(object, "fragments");
			if (list)
				restore(object, list);
			found += list != NULL;
		}
		unsetenv("HS_GENERAL_PATH");
	}
	assert_int_equal(found, 14);
}

static void a_packet_over_buffers_goes_to_ports_that_take_no_chain(void **state)
{
	(void)state;
	for (unsigned chains = 0; chains < 2; chains++) {
		struct stand *s = open_sink();
		s->t.ports[OUT].port.tx_multi_seg = chains;
		send_all(s, use(1400, 1000));
		assert_int_equal(s->t.ports[OUT].out[0]->nb_segs, 1);
		assert_plain_came(s);
		stand_close(s);
	}
}

// ---- buffers ----

static void buffers_that_others_hold_do_not_change(void **state)
{
	(void)state;
	struct stand *s = open_sink();
	struct rte_mbuf *held[2], *taken[BUFFERS];
	unsigned n = 0;

	use(1400, 728);
	for (unsigned i = 0; i < 2; i++) {
		feed(s, &fragments[i], 0);
		held[i] = s->t.ports[IN].in[s->t.ports[IN].n_in - 1];
		rte_mbuf_refcnt_update(held[i], 1);
	}
	test_node_run(&s->t);
	assert_plain_came(s);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rte_pktmbuf_pkt_len(held[i]), fragments[i].len);
		assert_memory_equal(rte_pktmbuf_mtod(held[i], uint8_t *), fragments[i].bytes,
				fragments[i].len);
	}
	rte_pktmbuf_free(held[1]);
	feed(s, &fragments[1], 0);
	rte_mbuf_refcnt_update(s->t.ports[IN].in[0], 1);
	while (test_node_take(&s->t, MONITOR, out, ROOM))
		;
	held[1] = s->t.ports[IN].in[0];
	while ((taken[n] = rte_pktmbuf_alloc(s->pool)))
		n++;
	test_node_run(&s->t);
	assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_NO_MBUF), 1);
	rte_pktmbuf_free_bulk(taken, n);
	rte_pktmbuf_free_bulk(held, 2);
	stand_close(s);
}

static void a_packet_without_a_buffer_is_dropped_whole(void **state)
{
	(void)state;
	struct stand *s = open_sink();
	struct rte_mbuf *taken[BUFFERS];
	unsigned n = 0;

	use(1400, 728);
	for (unsigned i = 0; i < 2; i++) {
		feed(s, &fragments[i], 0);
		struct rte_mbuf *m = s->t.ports[IN].in[i]; // no room behind the fragment
		memmove((uint8_t *)m->buf_addr + m->buf_len - fragments[i].len,
				rte_pktmbuf_mtod(m, uint8_t *), fragments[i].len);
		m->data_off = (uint16_t)(m->buf_len - fragments[i].len);
	}
	while ((taken[n] = rte_pktmbuf_alloc(s->pool)))
		n++;
	test_node_run(&s->t);
	assert_nothing_came(s);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_JOINED), 2);
	assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_NO_MBUF), 1);
	rte_pktmbuf_free_bulk(taken, n);
	stand_close(s);
}

static void a_mark_of_congestion_in_any_fragment_is_the_packets(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	use(1400, 504);
	for (unsigned i = 0; i < 3; i++) {
		fragments[i].bytes[IP + 1] |= i == 1 ? 3 : 2;
		set_checksum(fragments[i].bytes + IP);
	}
	plain[IP + 1] |= 3;
	set_checksum(plain + IP);
	send_all(s, 3);
	assert_plain_came(s);
	stand_close(s);
}

// RFC 3168 section 5.3: the mark must not be lost, and must not stand on a packet of which a
// fragment says that its sender does not know such marks.
static void a_mark_beside_a_fragment_that_takes_none_ends_its_packet(void **state)
{
	(void)state;
	struct stand *s = open_sink();

	for (unsigned marked = 0; marked < 3; marked++) {
		use(1400, 504);
		fragments[marked].bytes[IP + 1] |= 3;
		set_checksum(fragments[marked].bytes + IP);
		send_all(s, 3);
		assert_nothing_came(s);
		assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_BAD),
				3 * (marked + 1));
	}
	stand_close(s);
}

// ---- where packets go ----

static void a_node_in_transit_passes_fragments(void **state)
{
	(void)state;
	struct stand *s = stand_open(TRANSIT, usual(), 0, 0);
	unsigned n = use(1400, 504);

	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(through(s, fragments[i].bytes, fragments[i].len, out),
				fragments[i].len);
		assert_memory_equal(out, fragments[i].bytes, fragments[i].len);
	}
	stand_close(s);
}

static void fragments_of_hosts_are_not_put_together(void **state)
{
	(void)state;
	for (unsigned pass = 0; pass < 2; pass++) {
		stand_passes_malformed = pass;
		struct stand *s = stand_open(LOCAL, usual(), 0, 0);
		unsigned n = use(1400, 1000);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(through(s, fragments[i].bytes, fragments[i].len, out),
					pass ? fragments[i].len : 0);
		assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_HOST_TELEMETRY), pass ? 0 : n);
		assert_int_equal(waiting(s, OUT), 0);
		len = make_labelled(1400, frame, plain, &plain_len);
		n = cut_all(plain, plain_len, 1000, fragments); // of the host's own packet
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(through(s, fragments[i].bytes, fragments[i].len, out),
					fragments[i].len);
			assert_memory_equal(out, fragments[i].bytes, fragments[i].len);
		}
		stand_close(s);
	}
}

static void a_packet_is_flooded_when_it_is_whole(void **state)
{
	(void)state;
	stand_config.forwarding = HS_FORWARD_BRIDGE;
	struct stand *s = stand_open(TRANSIT, usual(), 0, 0);
	unsigned n = use(1400, 504);

	send_one(s, &fragments[0]);
	send_one(s, &fragments[1]);
	assert_int_equal(waiting(s, IN), 2);
	send_one(s, &fragments[2]);
	assert_plain_came(s);
	assert_int_equal(test_node_take(&s->t, MONITOR, out, ROOM), plain_len);
	assert_int_equal(test_node_take(&s->t, MONITOR, out, ROOM), FRONT + 48);
	assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_FRAGMENT_JOINED), n);
	stand_close(s);
}

static void a_packet_enters_a_network_of_another_family_whole(void **state)
{
	(void)state;
	struct stand *s = stand_open(TRANSIT, usual(), 50 * MS, 50 * MS);
	struct hs_node_config config = *hs_node_config(s->t.node);
	struct test_node node;

	config.profiles[OUT] = (struct hs_profile){.family = &hs_flexint_steps};
	test_node_open(&node, &config, TRANSIT, N_PORTS, 1500, s->pool, s->clock);
	unsigned n = use(1400, 504);
	for (unsigned i = 0; i < n; i++) {
		test_node_feed(&node, IN, fragments[i].bytes, fragments[i].len, 0);
		test_node_run(&node);
		test_node_audit(&node);
	}
	assert_int_equal(test_node_take(&node, OUT, out, ROOM), plain_len);
	assert_memory_equal(out, plain, plain_len);
	assert_int_equal(test_node_take(&node, MONITOR, out, ROOM), FRONT + 48);
	test_node_close(&node);
	stand_close(s);
}

static void a_rule_counts_the_whole_packet(void **state)
{
	(void)state;
	struct stand *s = open_sink();
	struct hs_rule rule = vector_rule(7);
	struct hs_flow_counters counters;
	unsigned n = use(1400, 504);

	rule.method = HS_RULE_LABEL;
	rule.trace_type = HS_RULE_TRACE_LABEL;
	rule.protocol = 17;
	rule.src_port = 1000;
	rule.dst_port = 2000;
	hs_ip_address_map(plain + IP + 12, rule.src_ip);
	hs_ip_address_map(plain + IP + 16, rule.dst_ip);
	test_node_rule(&s->t, &rule);
	send_all(s, n);
	assert_plain_came(s);
	test_node_counters(&s->t, 7, &counters);
	assert_int_equal(counters.rx_packets, 1);
	assert_int_equal(counters.tx_packets, 1);
	assert_int_equal(counters.tx_bytes, plain_len);
	assert_int_equal(counters.sink_packets, 1);
	stand_close(s);
}

static void packets_around_fragments_keep_their_order(void **state)
{
	(void)state;
	struct stand *s = open_sink();
	uint8_t other[ROOM];

	use(1400, 1000);
	size_t other_len = unhex(UDP4, other);
	test_node_feed(&s->t, IN, other, other_len, 0);
	feed(s, &fragments[0], 0);
	test_node_feed(&s->t, IN, other, other_len, 0);
	feed(s, &fragments[1], 0);
	test_node_feed(&s->t, IN, other, other_len, 0);
	test_node_run(&s->t);
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), other_len);
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), other_len);
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), plain_len);
	assert_memory_equal(out, plain, plain_len);
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), other_len);
	assert_memory_equal(out, other, other_len);
	assert_nothing_came(s);
	stand_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(fragments_in_any_order_become_what_the_host_sent),
			cmocka_unit_test(a_packet_over_buffers_goes_to_ports_that_take_no_chain),
			cmocka_unit_test(buffers_that_others_hold_do_not_change),
			cmocka_unit_test(a_packet_without_a_buffer_is_dropped_whole),
			cmocka_unit_test(a_mark_of_congestion_in_any_fragment_is_the_packets),
			cmocka_unit_test(a_mark_beside_a_fragment_that_takes_none_ends_its_packet),
			cmocka_unit_test(a_node_in_transit_passes_fragments),
			cmocka_unit_test(fragments_of_hosts_are_not_put_together),
			cmocka_unit_test(a_packet_is_flooded_when_it_is_whole),
			cmocka_unit_test(a_packet_enters_a_network_of_another_family_whole),
			cmocka_unit_test(a_rule_counts_the_whole_packet),
			cmocka_unit_test(packets_around_fragments_keep_their_order),
	};

	dpdk_env_init("128");
	hs_rng_init(&rng, 16);
	vectors = json_load_file(HS_GOLDEN, 0, NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(vectors);
	return failed;
}
