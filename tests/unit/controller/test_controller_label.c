// SPDX-License-Identifier: BSD-3-Clause
// INT-label at a controller: its database, and what nobody should send.
#include "label_rig.h"

#include "rng.h"

#include <stdlib.h>

static void a_port_shows_its_latest_item_and_refuses_older_ones(void **state)
{
	const struct hs_label_item item = {.node_id = 1,
			.ingress_port = 7,
			.egress_port = 2,
			.ingress_us = 1000,
			.egress_us = 1450,
			.enqueue_packets = 12,
			.dequeue_packets = 4,
			.queue_us = 400};
	struct hs_label_item two[2] = {item, item};

	(void)state;
	give_ports(0, 3);
	fake_run(&fake, SECOND);
	two[0].egress_us = 1500; // the newest is first
	two[0].egress_port = 3;
	send_items(two, 2);
	fake_run(&fake, 5 * MS);
	json_t *row = port_json(1, 2);
	assert_string_equal(json_string_value(json_object_get(row, "node")), "a");
	assert_string_equal(json_string_value(json_object_get(row, "name")), "p2");
	assert_int_equal(json_integer_value(json_object_get(row, "age_ns")), 5 * MS);
	assert_int_equal(json_integer_value(json_object_get(row, "ingress_port")), 7);
	assert_int_equal(json_integer_value(json_object_get(row, "latency_ns")), 450000);
	assert_int_equal(json_integer_value(json_object_get(row, "enqueue_packets")), 12);
	assert_int_equal(json_integer_value(json_object_get(row, "dequeue_packets")), 4);
	assert_int_equal(json_integer_value(json_object_get(row, "queue_ns")), 400000);
	assert_int_equal(json_integer_value(json_object_get(row, "shift")), 0);
	assert_null(json_object_get(row, "confirmed")); // nobody writes S
	assert_int_equal(of_port(1, 3, "latency_ns"), 500000);
	send_item(1, 2, 1450);
	send_item(1, 2, 1449);
	assert_int_equal(of("taken", "older"), 2);
	assert_int_equal(of_port(1, 2, "items"), 1);
	send_item(1, 2, 1451);
	assert_int_equal(of_port(1, 2, "items"), 2);
	assert_int_equal(of("counters", "datagrams"), 4);
	two[0].egress_port = 2;
	two[0].egress_us = 1600;
	two[0].ingress_us = 1601; // the node's clock was set back between
	send_items(two, 1);
	assert_int_equal(of_port(1, 2, "items"), 3);
	assert_null(json_object_get(port_json(1, 2), "latency_ns"));
	assert_int_equal(fake.nodes[0].n_requests[HS_VERB_LABEL_SET], 0);
}

static void the_first_page_has_the_deepest_queues_in_order(void **state)
{
	(void)state;
	give_ports(0, 5);
	fake_run(&fake, SECOND);
	for (uint8_t port = 1; port <= 5; port++) {
		const struct hs_label_item item = {.node_id = 1,
				.egress_port = port,
				.egress_us = 9,
				.enqueue_packets = port * 7u % 5};
		send_items(&item, 1);
	}
	static const json_int_t order[] = {2, 4, 1, 3}; // 14, 28, 7, 21, 35 modulo 5
	json_t *hottest = json_object_get(label_get(), "hottest");
	assert_int_equal(json_array_size(hottest), 4); // one queue was empty
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(json_integer_value(
						 json_object_get(json_array_get(hottest, i), "id")),
				order[i]);
}

static void items_of_nodes_and_ports_that_nobody_has_are_counted_and_not_kept(void **state)
{
	(void)state;
	give_ports(0, 2);
	send_now(1, 9); // the node has not told its ports yet
	fake_run(&fake, SECOND);
	send_now(1, 3);
	send_now(7, 1);
	send_now(0, 1); // two nodes have this id
	assert_int_equal(of("counters", "unknown_port"), 1);
	assert_int_equal(of("counters", "unknown_node"), 2);
	assert_non_null(port_json(1, 9));
	assert_null(port_json(1, 3));
	fake_run(&fake, SECOND);
	assert_null(port_json(1, 9)); // old
	assert_int_equal(of("taken", "forgotten"), 1);
	assert_int_equal(fake.nodes[2].n_requests[HS_VERB_LABEL_GET], 0);
}

static void pages_tell_each_port_once_in_order(void **state)
{
	json_int_t seen[8];
	unsigned n = 0;
	char request[64];
	json_t *next = NULL, *row;
	size_t i;

	(void)state;
	give_ports(0, 4);
	give_ports(1, 4);
	fake_run(&fake, SECOND);
	do {
		json_int_t offset = json_integer_value(next);
		snprintf(request, sizeof(request),
				"{\"label_get\": {\"limit\": 3, \"offset\": %lld}}",
				(long long)offset);
		json_t *ok = fake_ok(&fake, request);
		assert_true((json_object_get(ok, "ports_not_seen") != NULL) == !offset);
		json_array_foreach (json_object_get(ok, "ports"), i, row) {
			assert_true(n < 8);
			seen[n++] = json_integer_value(json_object_get(row, "node_id")) * 10 +
				    json_integer_value(json_object_get(row, "id"));
		}
		next = json_object_get(ok, "next");
	} while (next);
	static const json_int_t all[] = {11, 12, 13, 14, 21, 22, 23, 24};
	assert_int_equal(n, 8);
	assert_memory_equal(seen, all, sizeof(all));
}

static void a_question_for_one_port_has_its_last_values(void **state)
{
	(void)state;
	give_ports(0, 2);
	give_ports(1, 2);
	fake_run(&fake, SECOND);
	for (uint64_t us = 100; us < 106; us++) { // series: 4
		send_item(1, 2, us);
		fake_run(&fake, MS);
	}
	json_t *rows = json_object_get(
			fake_ok(&fake, "{\"label_get\": {\"node\": \"a\", \"id\": 2}}"), "ports");
	assert_int_equal(json_array_size(rows), 1);
	json_t *series = json_object_get(json_array_get(rows, 0), "series");
	assert_int_equal(json_array_size(series), 4);
	for (size_t i = 0; i < 4; i++) {
		json_t *value = json_array_get(series, i);
		assert_in_range(json_integer_value(json_object_get(value, "age_ns")),
				(json_int_t)(i + 1) * MS, (json_int_t)(i + 2) * MS);
		assert_int_equal(json_integer_value(json_object_get(value, "latency_ns")), 3000);
	}
	json_t *ok = fake_ok(&fake, "{\"label_get\": {\"node\": \"b\", \"limit\": 1}}");
	json_t *row = json_array_get(json_object_get(ok, "ports"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "node")), "b");
	assert_null(json_object_get(row, "series"));
	assert_int_equal(json_integer_value(json_object_get(ok, "next")), 2 << 8 | 2);
	rows = json_object_get(
			fake_ok(&fake, "{\"label_get\": {\"node\": \"b\", \"offset\": 514}}"),
			"ports");
	assert_int_equal(json_array_size(rows), 1);
	assert_int_equal(json_array_size(json_object_get(
					 fake_ok(&fake, "{\"label_get\": {\"node\": \"a\", \"id\": "
							"7}}"),
					 "ports")),
			0);
	// Another id of the same low 8 bits is another port.
	assert_int_equal(json_array_size(json_object_get(
					 fake_ok(&fake, "{\"label_get\": {\"node\": \"a\", \"id\": "
							"258}}"),
					 "ports")),
			0);
	assert_string_equal(fake_error(&fake, "{\"label_get\": {\"id\": 2}}"), "missing_field");
	assert_string_equal(fake_error(&fake, "{\"label_get\": {\"node\": \"e\"}}"), "bad_value");
}

// ---- what nobody should send ----

static void malformed_datagrams_are_counted_by_reason(void **state)
{
	uint8_t bytes[2 * HS_LABEL_EXPORT_MAX_BYTES] = {0};

	(void)state;
	send_bytes(bytes, 0);
	send_bytes(bytes, 15);
	bytes[13] = 200; // items that are not there
	send_bytes(bytes, 16 + HS_LABEL_ITEM_BYTES);
	assert_int_equal(of("counters", "bad_length"), 3);
	bytes[13] = 0;
	send_bytes(bytes, 16);
	assert_int_equal(of("counters", "empty"), 1);
	bytes[15] = 1;
	send_bytes(bytes, 16);
	bytes[15] = 0;
	bytes[14] = 0x40; // IPv6, in a datagram of IPv4
	send_bytes(bytes, 16);
	bytes[14] = 0x01;
	send_bytes(bytes, 16);
	assert_int_equal(of("counters", "bad_flags"), 3);
	hs_controller_label_take(fake.controller, fake.now_ns, bytes, sizeof(bytes), true);
	assert_int_equal(of("counters", "too_long"), 1);
	hs_controller_label_lost(fake.controller, 17);
	assert_int_equal(of("counters", "lost"), 17);
	assert_int_equal(of("counters", "datagrams"), 8);
}

static json_int_t all_of(const char *object, const char *const *keys, size_t n)
{
	json_int_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += of(object, keys[i]);
	return sum;
}

static void random_datagrams_are_counted_and_cost_no_port_its_place(void **state)
{
	static const char *const refused[] = {"bad_length", "bad_flags", "empty"};
	static const char *const taken[] = {"new", "newer", "older", "no_room"};
	static const char *const unknown[] = {"unknown_node", "unknown_port"};
	json_int_t items = 0, whole = 0;
	struct hs_rng rng;

	(void)state;
	give_ports(0, 4);
	give_ports(1, 4);
	fake_run(&fake, SECOND);
	hs_rng_init(&rng, 99);
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t kind = hs_rng_u32(&rng) % 4;
		size_t n = hs_rng_u32(&rng) % 4, len = kind ? 16 + 32 * n : hs_rng_u32(&rng) % 200;
		uint8_t *bytes = malloc(len + !len); // its end is guarded
		for (size_t at = 0; at < len; at++)
			bytes[at] = (uint8_t)hs_rng_u32(&rng);
		if (kind > 1)
			bytes[13] = (uint8_t)n;
		if (kind > 2) { // well formed, of a node that is there
			bytes[14] = bytes[15] = 0;
			for (size_t at = 16; at < len; at += 32)
				bytes[at] = (uint8_t)(1 + at % 3), bytes[at + 3] = 0;
			items += (json_int_t)n;
			whole += n > 0;
		}
		send_bytes(bytes, len);
		free(bytes);
		if (i % 1000 == 0)
			fake_run(&fake, MS);
	}
	assert_int_equal(of("counters", "datagrams"), 100000);
	json_int_t bad = all_of("counters", refused, 3);
	assert_in_range(bad, 100000 - whole - 200, 100000 - whole);
	assert_true(all_of("taken", taken, 4) + all_of("counters", unknown, 2) >= items);
	assert_int_equal(of("taken", "no_room"), 0);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 8);
}

static void replies_of_a_node_that_make_no_sense_are_counted(void **state)
{
	static const char *const replies[] = {
			"{\"id\": %u, \"ok\": {\"ports\": 7}}",
			"{\"id\": %u, \"ok\": {\"ports\": [7]}}",
			"{\"id\": %u, \"ok\": {\"ports\": [{\"id\": 256, \"name\": \"p\"}]}}",
			"{\"id\": %u, \"ok\": {\"ports\": [{\"id\": -1, \"name\": \"p\"}]}}",
			"{\"id\": %u, \"ok\": {\"ports\": [{\"id\": 1, \"shift\": 63, \"name\": "
			"\"p\"}]}}",
			"{\"id\": %u, \"ok\": {\"ports\": [{\"id\": 1, \"name\": \"a name of more "
			"than 31 bytes is none\"}]}}",
	};
	char text[256];

	(void)state;
	fake_run(&fake, 300 * MS);
	fake.nodes[0].mute = true;
	// Each id that the controller may have used is answered with something else.
	for (unsigned round = 0; round < 40; round++) {
		fake_run(&fake, 50 * MS);
		for (unsigned id = 1; id < 400; id++) {
			snprintf(text, sizeof(text), replies[(id + round) % 6], id);
			hs_controller_reply(fake.controller, fake.now_ns, 0, text, strlen(text));
		}
	}
	assert_true(of_node(0, "replies_bad") > 10);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 0);
	fake.nodes[0].mute = false;
	give_ports(0, 1);
	fake_run(&fake, 2 * SECOND);
	assert_int_equal(of_port(1, 1, "shift"), 3);
}

static void a_controller_without_label_says_so(void **state)
{
	(void)state;
	assert_string_equal(fake_error(&fake, "{\"label_get\": {}}"), "unsupported");
	fake_run(&fake, SECOND);
	assert_int_equal(fake.nodes[0].n_requests[HS_VERB_LABEL_GET], 0);
	give_ports(0, 1);
	fake_ok(&fake, "{\"label_set\": {\"node\": \"a\", \"ports\": [{\"id\": 1, \"shift\": "
		       "2}]}}");
	assert_int_equal(fake.nodes[0].labels[0].shift, 2);
	hs_controller_label_take(fake.controller, fake.now_ns, (const uint8_t *)"", 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			BASE(a_port_shows_its_latest_item_and_refuses_older_ones),
			BASE(the_first_page_has_the_deepest_queues_in_order),
			BASE(items_of_nodes_and_ports_that_nobody_has_are_counted_and_not_kept),
			BASE(pages_tell_each_port_once_in_order),
			BASE(a_question_for_one_port_has_its_last_values),
			BASE(malformed_datagrams_are_counted_by_reason),
			PRO(random_datagrams_are_counted_and_cost_no_port_its_place),
			PRO(replies_of_a_node_that_make_no_sense_are_counted),
			TEST(a_controller_without_label_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
