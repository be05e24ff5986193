// SPDX-License-Identifier: BSD-3-Clause
// INT-label at a controller: the database and coverage, S of silent and loud ports, what is lost,
// and what nobody should send.
#include "controller_rig.h"

#include "label_export.h"
#include "rng.h"

#include <stdlib.h>

#define MS	 INT64_C(1000000)
#define INTERVAL (100 * MS)

static const char label_config[] =
		"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
		" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"
		" {\"name\": \"c\", \"id\": 0, \"api\": \"ipc:///c\"},"
		" {\"name\": \"d\", \"id\": 0, \"api\": \"ipc:///d\"}],"
		" \"label\": {\"listen\": [\"127.0.0.1:32768\"], \"interval_ms\": 100, \"ports\": "
		"8,"
		"  \"series\": 4, \"age_ms\": 1000%s}}";
static const char slow[] = ", \"poll_ms\": 200";
static const char pro[] =
		", \"poll_ms\": 200, \"pro\": {\"k\": 2, \"interval_ms\": 50, \"repeat_ms\": 100, "
		"\"max_shift\": 3}";

static const char pro_soon[] = ", \"poll_ms\": 200, \"pro\": {\"k\": 0.2, \"interval_ms\": 100, "
			       "\"repeat_ms\": 100, \"max_shift\": 3}";

static void open_with(const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text), label_config, more);
	fake_open(&fake, text);
}

static int setup_base(void **state)
{
	(void)state;
	open_with(slow);
	return 0;
}

static int setup_fast(void **state)
{
	(void)state;
	open_with("");
	return 0;
}

static int setup_pro(void **state)
{
	(void)state;
	open_with(pro);
	return 0;
}

static int setup_soon(void **state)
{
	(void)state;
	open_with(pro_soon);
	return 0;
}

// Gives node `node` ports with ids 1 to n, each with traffic.
static void give_ports(unsigned node, unsigned n)
{
	fake.nodes[node].n_labels = n;
	for (unsigned i = 0; i < n; i++)
		fake.nodes[node].labels[i] = (struct fake_label){
				.id = i + 1, .pps = 1000, .labelled_ns = fake.now_ns};
}

// ---- sending ----

static void send_bytes(const uint8_t *payload, size_t len)
{
	hs_controller_label_take(fake.controller, fake.now_ns, payload, len, false);
}

static void send_items(const struct hs_label_item *items, uint8_t n)
{
	uint8_t bytes[8 * HS_LABEL_ITEM_BYTES], payload[HS_LABEL_EXPORT_MAX_BYTES];
	const struct hs_label_export export = {.proto = 17, .n_items = n, .items = bytes};

	for (unsigned i = 0; i < n; i++)
		hs_label_item_write(&items[i], bytes + i * HS_LABEL_ITEM_BYTES);
	hs_label_export_write(&export, payload);
	send_bytes(payload, hs_label_export_bytes(&export));
}

static void send_item(uint16_t node_id, uint8_t port, uint64_t egress_us)
{
	const struct hs_label_item item = {.node_id = node_id,
			.egress_port = port,
			.ingress_us = egress_us - 3,
			.egress_us = egress_us};

	send_items(&item, 1);
}

static void send_now(uint16_t node_id, uint8_t port)
{
	send_item(node_id, port, (uint64_t)fake.now_ns / 1000);
}

// ---- asking ----

static json_t *label_get(void)
{
	return fake_ok(&fake, "{\"label_get\": {}}");
}

static json_int_t of(const char *object, const char *key)
{
	json_t *value = json_object_get(json_object_get(label_get(), object), key);

	assert_non_null(value);
	return json_integer_value(value);
}

static json_t *port_json(json_int_t node_id, json_int_t id)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(label_get(), "ports"), i, row)
		if (json_integer_value(json_object_get(row, "node_id")) == node_id &&
				json_integer_value(json_object_get(row, "id")) == id)
			return row;
	return NULL;
}

static json_int_t of_port(json_int_t node_id, json_int_t id, const char *key)
{
	return json_integer_value(json_object_get(port_json(node_id, id), key));
}

static void run_to_interval(void)
{
	fake_run(&fake, INTERVAL - fake.now_ns % INTERVAL);
}

// ---- items ----

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

// ---- coverage ----

static void coverage_counts_each_interval_and_each_active_port(void **state)
{
	uint64_t intervals, whole = 0;
	double sum = 0;

	(void)state;
	give_ports(0, 3);
	fake.nodes[0].labels[2].pps = 0; // port 3 is idle
	fake_run(&fake, SECOND);
	run_to_interval();
	fake_run(&fake, 15 * MS);
	intervals = (uint64_t)of("coverage", "intervals");
	sum = json_real_value(json_object_get(json_object_get(label_get(), "coverage"), "mean")) *
	      (double)intervals;
	whole = (uint64_t)of("coverage", "whole");
	for (unsigned i = 0; i < 20; i++) {
		bool first = i % 2 == 0, second = i % 3 == 0;
		fake_run(&fake, INTERVAL / 2);
		if (first)
			send_now(1, 1);
		if (second)
			send_now(1, 2);
		run_to_interval();
		fake_run(&fake, 15 * MS); // a step is 12 ms
		assert_int_equal(of("coverage", "intervals"), ++intervals);
		assert_int_equal(of("coverage", "last_ports"), 2);
		assert_int_equal(of("coverage", "last_seen"), first + second);
		whole += first && second;
		sum += (first + second) / 2.0;
		assert_int_equal(of("coverage", "whole"), whole);
		double mean = json_real_value(
				json_object_get(json_object_get(label_get(), "coverage"), "mean"));
		assert_true(mean > sum / (double)intervals - 1e-9 &&
				mean < sum / (double)intervals + 1e-9);
		assert_int_equal(json_integer_value(json_object_get(label_get(), "ports_not_seen")),
				!first + !second);
	}
	assert_int_equal(of_port(1, 3, "missed"), 0);
}

static void a_port_counts_while_it_is_up_and_sends(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake_run(&fake, SECOND);
	assert_int_equal(of("coverage", "last_ports"), 2);
	fake.nodes[0].labels[0].pps = 0;
	fake_run(&fake, SECOND);
	assert_int_equal(of("coverage", "last_ports"), 1);
	fake.nodes[0].labels[0].pps = 1000;
	fake.nodes[0].labels[1].is_down = true;
	fake_run(&fake, SECOND);
	assert_int_equal(of("coverage", "last_ports"), 1);
	assert_true(json_is_true(json_object_get(port_json(1, 1), "active")));
	fake.nodes[0].labels[1] = (struct fake_label){.id = 2};
	for (unsigned i = 0; i < 5; i++) { // not one packet for each interval
		fake.nodes[0].labels[1].tx_packets++;
		fake_run(&fake, 400 * MS);
		assert_int_equal(of("coverage", "last_ports"), 1);
	}
	fake.nodes[0].n_labels = 0; // nothing labels any more
	uint64_t before = (uint64_t)of("coverage", "intervals");
	fake_run(&fake, 2 * SECOND);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 0);
	assert_true((uint64_t)of("coverage", "intervals") < before + 5);
	assert_int_equal(of("coverage", "last_ports"), 0); // and not what once was
	assert_int_equal(of("coverage", "last_seen"), 0);
	json_t *coverage = json_object_get(label_get(), "coverage");
	assert_null(json_object_get(coverage, "last"));
	assert_non_null(json_object_get(coverage, "mean"));
}

static void a_port_that_stops_counts_no_more_after_an_interval(void **state)
{
	(void)state;
	give_ports(0, 2);
	for (unsigned i = 0; i < 10; i++) {
		fake_run(&fake, SECOND);
		run_to_interval();
		assert_int_equal(of("coverage", "last_ports"), 2);
		fake.nodes[0].labels[0].pps = 0;
		fake_run(&fake, 2 * INTERVAL + 15 * MS);
		assert_int_equal(of("coverage", "last_ports"), 1);
		fake.nodes[0].labels[0].pps = 1000;
		fake_run(&fake, 2 * INTERVAL + 15 * MS);
		assert_int_equal(of("coverage", "last_ports"), 2);
	}
}

static void a_port_that_sends_seldom_does_not_count_when_it_sends(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake.nodes[0].labels[1].pps = 0;
	fake_run(&fake, 2 * SECOND);
	for (unsigned i = 0; i < 20; i++) {
		fake.nodes[0].labels[1].tx_packets++;
		for (unsigned k = 0; k < 3; k++) {
			fake_run(&fake, INTERVAL);
			assert_int_equal(of("coverage", "last_ports"), 1);
		}
	}
}

static void ports_that_are_not_seen_are_told_of_once_a_minute(void **state)
{
	(void)state;
	give_ports(0, 2);
	for (unsigned i = 0; i < 40; i++) {
		send_now(1, 2);
		fake_run(&fake, 50 * MS);
	}
	assert_int_equal(fake_events(&fake, "ports_not_seen"), 1);
	json_t *rows = json_object_get(label_get(), "not_seen");
	assert_int_equal(json_array_size(rows), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 0), "id")), 1);
	fake_run(&fake, 50 * SECOND);
	assert_int_equal(fake_events(&fake, "ports_not_seen"), 1);
	fake_run(&fake, 12 * SECOND);
	assert_int_equal(fake_events(&fake, "ports_not_seen"), 2);
	assert_true(of_port(1, 1, "missed") > 600); // silent, and expected still
	assert_true(of("counters", "not_seen") > 1200);
}

// It answers, and says nothing of its ports any more: what it said before grows old.
static void a_node_that_refuses_to_tell_its_ports_expects_nothing(void **state)
{
	static const char *const verbs[] = {NULL, "label_get", "ports_get"};

	(void)state;
	give_ports(0, 2);
	for (unsigned i = 0; i < 3; i++) {
		fake_run(&fake, 4 * SECOND);
		assert_int_equal(of("coverage", "last_ports"), 2);
		fake.nodes[0].refusal = "{\"code\": \"read_only\", \"message\": \"no\"}";
		fake.nodes[0].refused = verbs[i];
		fake_run(&fake, 3 * SECOND);
		assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 0);
		json_int_t not_seen = of("counters", "not_seen");
		fake_run(&fake, 3 * SECOND);
		assert_int_equal(of("counters", "not_seen"), not_seen);
		fake.nodes[0].refusal = NULL;
	}
}

static void a_node_of_another_id_says_nothing_of_the_ports_of_this_one(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake.nodes[0].id = 9;
	fake_run(&fake, 2 * SECOND);
	assert_int_equal(fake.nodes[0].n_requests[HS_VERB_LABEL_GET], 0);
	assert_int_equal(of("coverage", "intervals"), 0);
	fake.nodes[0].id = 1;
	fake_restart(&fake, 0);
	fake_run(&fake, 2 * SECOND);
	assert_int_equal(of("coverage", "last_ports"), 2);
	fake.nodes[0].id = 9;
	fake_restart(&fake, 0);
	fake_run(&fake, 2 * SECOND);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 0);
}

static void a_node_that_does_not_answer_expects_nothing(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake_run(&fake, SECOND);
	fake.nodes[0].connected = false;
	fake_run(&fake, 6 * SECOND);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 0);
	send_now(1, 1); // it forwards all the same
	assert_non_null(port_json(1, 1));
	fake.nodes[0].connected = true;
	fake_run(&fake, 4 * SECOND);
	assert_int_equal(of("coverage", "last_ports"), 2);
}

static void a_clock_that_is_set_makes_no_intervals(void **state)
{
	(void)state;
	give_ports(0, 1);
	fake_run(&fake, SECOND);
	json_int_t before = of("coverage", "intervals");
	fake.now_ns += 3600 * SECOND;
	fake_run(&fake, 100 * MS);
	assert_true(of("coverage", "intervals") <= before + 2);
	fake.now_ns -= 7200 * SECOND;
	fake_run(&fake, SECOND);
	assert_in_range(of("coverage", "intervals"), before + 10, before + 13);
}

// ---- S ----

// Ports label after T / 2^S, 50 ms / 2^S here, and `lost` percent of the datagrams are lost.
static void label_and_lose(int64_t ns, unsigned percent, struct hs_rng *rng)
{
	for (int64_t end_ns = fake.now_ns + ns; fake.now_ns < end_ns;) {
		for (unsigned node = 0; node < 2; node++) {
			for (unsigned i = 0; i < fake.nodes[node].n_labels; i++) {
				struct fake_label *label = &fake.nodes[node].labels[i];
				if (fake.now_ns - label->labelled_ns <= 50 * MS >> label->shift)
					continue;
				label->labelled_ns = fake.now_ns;
				if (hs_rng_u32(rng) % 100 >= percent)
					send_now(fake.nodes[node].id, (uint8_t)label->id);
			}
		}
		fake_run(&fake, MS);
	}
}

static void silent_ports_get_a_greater_shift_and_loud_ones_a_smaller(void **state)
{
	(void)state;
	give_ports(0, 3);
	fake_run(&fake, SECOND);
	struct fake_label *labels = fake.nodes[0].labels;
	// 100 ms of silence for each step up, to max_shift
	assert_int_equal(labels[0].shift, 3);
	assert_int_equal(labels[2].shift, 3);
	assert_int_equal(of_port(1, 1, "shift"), 3);
	assert_true(json_is_true(json_object_get(port_json(1, 1), "confirmed")));
	for (unsigned i = 0; i < 50; i++) {
		send_now(1, 1);
		send_now(1, 2);
		fake_run(&fake, 20 * MS);
	}
	assert_int_equal(labels[0].shift, 0);
	assert_int_equal(labels[1].shift, 0);
	assert_int_equal(labels[2].shift, 3);
	// Three steps up and three down of all ports together, and no more.
	assert_in_range(fake.nodes[0].n_requests[HS_VERB_LABEL_SET], 6, 9);
	assert_int_equal(of("counters", "sets"), fake.nodes[0].n_requests[HS_VERB_LABEL_SET]);
	assert_int_equal(of("counters", "sets_lost"), 0);
}

// k = 0.2: S goes up where nothing came for a fifth of T.
static void a_port_may_be_silent_for_less_than_its_interval(void **state)
{
	(void)state;
	give_ports(0, 1);
	for (unsigned i = 0; i < 100; i++) {
		send_now(1, 1);
		fake_run(&fake, 10 * MS);
	}
	const struct fake_label *label = &fake.nodes[0].labels[0];
	assert_int_equal(label->shift, 0);
	send_now(1, 1);
	for (uint8_t shift = 1; shift <= 3; shift++) {
		int64_t from_ns = fake.now_ns;
		while (label->shift < shift && fake.now_ns < from_ns + SECOND)
			fake_run(&fake, MS);
		assert_int_equal(label->shift, shift);
		// k x T, a step of 2.5 ms, and a millisecond to the node.
		assert_in_range(fake.now_ns - from_ns, shift == 1 ? 20 * MS : 18 * MS, 25 * MS);
	}
	send_now(1, 1);
	fake_run(&fake, 25 * MS);
	assert_int_equal(label->shift, 2);
}

static void changes_that_are_lost_are_told_again(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake_run(&fake, 300 * MS);
	fake.nodes[0].deaf = true;
	fake_run(&fake, 2 * SECOND); // not so long that the node is given up
	unsigned before = fake.nodes[0].n_requests[HS_VERB_LABEL_SET];
	assert_true(of("counters", "sets") > before + 10);
	assert_false(json_is_true(json_object_get(port_json(1, 1), "confirmed")));
	fake.nodes[0].deaf = false;
	fake_run(&fake, SECOND);
	assert_int_equal(fake.nodes[0].labels[0].shift, 3);
	assert_true(json_is_true(json_object_get(port_json(1, 1), "confirmed")));
	// Half of all messages are lost, either way.
	fake.lose_percent = 50;
	for (unsigned i = 0; i < 500; i++) {
		send_now(1, 1);
		fake_run(&fake, 20 * MS);
	}
	fake.lose_percent = 0;
	for (unsigned i = 0; i < 50; i++) {
		send_now(1, 1);
		fake_run(&fake, 20 * MS);
	}
	assert_int_equal(fake.nodes[0].labels[0].shift, 0);
	assert_int_equal(fake.nodes[0].labels[1].shift, 3);
	assert_true(of("counters", "sets_lost") > 0);
}

static void a_node_that_restarts_is_told_all_again(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake_run(&fake, SECOND);
	assert_int_equal(fake.nodes[0].labels[1].shift, 3);
	fake_restart(&fake, 0);
	assert_int_equal(fake.nodes[0].labels[1].shift, 0);
	fake_run(&fake, SECOND);
	assert_int_equal(fake.nodes[0].labels[1].shift, 3);
	// Somebody else sets it at the node itself.
	fake_at_node(&fake, 0, "{\"label_set\": {\"ports\": [{\"id\": 2, \"shift\": 9}]}}");
	fake_run(&fake, SECOND);
	assert_int_equal(fake.nodes[0].labels[1].shift, 3);
}

static void a_controller_that_restarts_goes_on_from_the_shift_of_its_nodes(void **state)
{
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 4);
	give_ports(0, 2);
	fake_run(&fake, SECOND);
	unsigned before = fake.nodes[0].n_requests[HS_VERB_LABEL_SET];
	fake_reopen(&fake);
	fake_run(&fake, 270 * MS); // two polls, and shorter than k x T after them
	assert_int_equal(fake.nodes[0].labels[1].shift, 3);
	assert_int_equal(fake.nodes[0].n_requests[HS_VERB_LABEL_SET], before);
	for (unsigned i = 0; i < 2; i++)
		fake.nodes[0].labels[i].shift = 0;
	label_and_lose(3 * SECOND, 0, &rng);
	fake_reopen(&fake);
	run_to_interval();
	label_and_lose(2 * INTERVAL + 13 * MS, 0, &rng);
	assert_int_equal(of("coverage", "last_seen"), 2); // recovers within two intervals
	assert_int_equal(of("coverage", "last_ports"), 2);
}

// What Fig. 13 of the paper is about: S makes up for what is lost.
static void shift_makes_up_for_lost_datagrams(void **state)
{
	double mean[2];
	struct hs_rng rng;

	(void)state;
	for (unsigned with_pro = 0; with_pro < 2; with_pro++) {
		fake_close(&fake);
		open_with(with_pro ? pro : "");
		hs_rng_init(&rng, 7);
		give_ports(0, 4);
		give_ports(1, 4);
		label_and_lose(40 * SECOND, 60, &rng);
		mean[with_pro] = json_real_value(
				json_object_get(json_object_get(label_get(), "coverage"), "mean"));
	}
	assert_true(mean[0] < 0.75);
	assert_true(mean[1] > mean[0] + 0.05);
}

static void a_person_sets_the_shift_of_a_node_through_the_controller(void **state)
{
	(void)state;
	give_ports(0, 2);
	give_ports(1, 2);
	fake_run(&fake, 10 * MS);
	json_t *ok = fake_ok(&fake, "{\"label_set\": {\"node\": \"b\", \"ports\": [{\"id\": 2, "
				    "\"shift\": 5}]}}");
	json_t *ports = json_object_get(
			json_object_get(json_object_get(ok, "nodes"), "b"), "ports");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(ports, 0), "shift")), 5);
	assert_int_equal(json_object_size(json_object_get(ok, "nodes")), 1);
	assert_null(json_object_get(ok, "unreachable"));
	assert_int_equal(fake.nodes[1].labels[1].shift, 5);
	assert_int_equal(fake.nodes[0].n_requests[HS_VERB_LABEL_SET], 0);
	ok = fake_ok(&fake, "{\"label_set\": {\"node\": \"b\", \"ports\": [{\"id\": 9, "
			    "\"shift\": 5}]}}");
	assert_string_equal(json_string_value(json_object_get(
					    json_object_get(json_object_get(ok, "errors"), "b"),
					    "code")),
			"unknown_port");
	assert_string_equal(fake_error(&fake, "{\"label_set\": {\"ports\": [{\"id\": 2, \"shift\": "
					      "5}]}}"),
			"missing_field");
	assert_string_equal(fake_error(&fake, "{\"label_set\": {\"node\": \"e\", \"ports\": "
					      "[{\"id\": 2, \"shift\": 5}]}}"),
			"bad_value");
	assert_string_equal(fake_error(&fake, "{\"label_set\": {\"node\": \"a\", \"ports\": []}}"),
			"out_of_range");
	assert_string_equal(fake_error(&fake, "{\"label_set\": {\"node\": \"a\", \"ports\": "
					      "[{\"id\": 2, \"shift\": 63}]}}"),
			"out_of_range");
	assert_int_equal(json_array_size(fake.saved), 0); // nothing of it is kept
	static const char to_node[] = "{\"label_set\": {\"node\": \"a\", \"ports\": [{\"id\": 1, "
				      "\"shift\": 1}]}}";
	char *answer = hs_api_handle(&fake.nodes[0].backend, to_node, strlen(to_node), true);
	assert_non_null(strstr(answer, "unknown_field"));
	free(answer);
}

static void the_control_loop_goes_on_from_what_a_person_set(void **state)
{
	(void)state;
	give_ports(0, 1);
	for (unsigned i = 0; i < 50; i++) {
		send_now(1, 1);
		fake_run(&fake, 20 * MS);
	}
	fake_ok(&fake, "{\"label_set\": {\"node\": \"a\", \"ports\": [{\"id\": 1, \"shift\": "
		       "6}]}}");
	send_now(1, 1);
	fake_run(&fake, 50 * MS);
	assert_int_equal(fake.nodes[0].labels[0].shift, 6);
	for (unsigned i = 0; i < 50; i++) {
		send_now(1, 1);
		fake_run(&fake, 20 * MS);
	}
	assert_int_equal(fake.nodes[0].labels[0].shift, 0);
}

static void an_item_names_a_port_by_the_low_bits_of_its_id(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake.nodes[0].labels[0].id = 300;
	fake.nodes[0].labels[1].id = 0xffffff2c; // the same low bits: it cannot be told apart
	fake_run(&fake, SECOND);
	send_now(1, 300 & 0xff);
	json_t *rows = json_object_get(label_get(), "ports");
	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "name")),
			"p300");
	assert_int_equal(of_port(1, 300, "items"), 1);
	assert_int_equal(fake.nodes[0].labels[0].shift, 3);
	assert_int_equal(fake.nodes[0].labels[1].shift, 0);
	assert_int_equal(of("counters", "sets_refused"), 0);
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

// ---- frames of the prototype ----

// As the prototype's switches write it, to the receiving host.
static const char received[] = "\0\0\0\2\2\2\0\0\0\1\1\1\7\1\0\1"
			       "\x04\x01\x02\0\0\0\0\x0f\x42\xbb\0\0\0\x0f\x44\x08\0\x0f\x43\x08"
			       "\0\0\0\7\0\0\0\xd2\0\0\0\6wwww";
#define RECEIVED_BYTES (sizeof(received) - 1)

static void send_frame(uint8_t device, uint8_t port, uint8_t reserved)
{
	uint8_t frame[RECEIVED_BYTES];

	memcpy(frame, received, sizeof(frame));
	frame[16] = device;
	frame[18] = port;
	frame[19] = reserved;
	hs_controller_label_frame(fake.controller, fake.now_ns, frame, sizeof(frame));
}

static void devices_of_the_prototype_are_shown_and_told_nothing(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake_run(&fake, SECOND);
	json_int_t sets = of("counters", "sets");
	send_frame(4, 2, 0);
	send_frame(9, 1, 7); // a byte that the prototype reserves
	send_frame(1, 2, 0); // of a node that has the port
	send_frame(1, 9, 0); // and has not
	send_frame(0, 1, 0); // two nodes have this id
	json_t *row = port_json(4, 2);
	assert_non_null(row);
	assert_string_equal(json_string_value(json_object_get(row, "node")), "");
	assert_null(json_object_get(row, "shift"));
	assert_int_equal(of_port(4, 2, "latency_ns"), 333000);
	assert_int_equal(of_port(4, 2, "ingress_port"), 1);
	assert_int_equal(of_port(4, 2, "enqueue_packets"), 7);
	assert_int_equal(of_port(4, 2, "dequeue_packets"), 6);
	assert_int_equal(of_port(4, 2, "queue_ns"), 210000);
	assert_int_equal(of_port(9, 1, "items"), 1);
	assert_int_equal(of_port(1, 2, "items"), 1);
	assert_int_equal(of("counters", "unknown_port"), 1);
	assert_int_equal(of("counters", "unknown_node"), 1);
	send_now(9, 2); // a datagram brings no device
	assert_int_equal(of("counters", "unknown_node"), 2);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 4);
	fake_run(&fake, 900 * MS);
	assert_int_equal(of("counters", "sets"), sets + 2); // of the port that was heard
	assert_true(json_is_true(json_object_get(port_json(4, 2), "active")));
	fake_run(&fake, 200 * MS);
	assert_null(port_json(4, 2)); // old
	assert_int_equal(of("taken", "forgotten"), 2);
}

static void random_frames_are_counted_and_fill_no_more_than_there_is_room(void **state)
{
	static const char *const keys[] = {"frames_short", "frames_foreign", "frames_empty"};
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 7);
	for (unsigned i = 0; i < 100000; i++) {
		size_t len = hs_rng_u32(&rng) % (RECEIVED_BYTES + 1);
		uint8_t *frame = malloc(len + !len); // its end is guarded
		memcpy(frame, received, len);
		for (unsigned n = hs_rng_u32(&rng) % 4; len && n > 0; n--)
			frame[hs_rng_u32(&rng) % len] = (uint8_t)hs_rng_u32(&rng);
		hs_controller_label_frame(fake.controller, fake.now_ns, frame, len);
		free(frame);
	}
	assert_int_equal(of("counters", "frames"), 100000);
	json_int_t bad = 0;
	for (size_t i = 0; i < 3; i++) {
		assert_true(of("counters", keys[i]) > 0);
		bad += of("counters", keys[i]);
	}
	assert_true(of("taken", "no_room") > 0 && bad < 100000);
	assert_int_equal(json_array_size(json_object_get(label_get(), "ports")), 8);
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

#define BASE(name) cmocka_unit_test_setup_teardown(name, setup_base, teardown)
#define FAST(name) cmocka_unit_test_setup_teardown(name, setup_fast, teardown)
#define SOON(name) cmocka_unit_test_setup_teardown(name, setup_soon, teardown)
#define PRO(name)  cmocka_unit_test_setup_teardown(name, setup_pro, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			BASE(a_port_shows_its_latest_item_and_refuses_older_ones),
			BASE(the_first_page_has_the_deepest_queues_in_order),
			BASE(items_of_nodes_and_ports_that_nobody_has_are_counted_and_not_kept),
			BASE(pages_tell_each_port_once_in_order),
			BASE(a_question_for_one_port_has_its_last_values),
			BASE(coverage_counts_each_interval_and_each_active_port),
			BASE(a_port_counts_while_it_is_up_and_sends),
			FAST(a_port_that_stops_counts_no_more_after_an_interval),
			FAST(a_port_that_sends_seldom_does_not_count_when_it_sends),
			BASE(ports_that_are_not_seen_are_told_of_once_a_minute),
			BASE(a_node_that_refuses_to_tell_its_ports_expects_nothing),
			BASE(a_node_of_another_id_says_nothing_of_the_ports_of_this_one),
			BASE(a_node_that_does_not_answer_expects_nothing),
			BASE(a_clock_that_is_set_makes_no_intervals),
			PRO(silent_ports_get_a_greater_shift_and_loud_ones_a_smaller),
			SOON(a_port_may_be_silent_for_less_than_its_interval),
			PRO(changes_that_are_lost_are_told_again),
			PRO(a_node_that_restarts_is_told_all_again),
			PRO(a_controller_that_restarts_goes_on_from_the_shift_of_its_nodes),
			PRO(shift_makes_up_for_lost_datagrams),
			BASE(a_person_sets_the_shift_of_a_node_through_the_controller),
			PRO(the_control_loop_goes_on_from_what_a_person_set),
			PRO(an_item_names_a_port_by_the_low_bits_of_its_id),
			BASE(malformed_datagrams_are_counted_by_reason),
			PRO(random_datagrams_are_counted_and_cost_no_port_its_place),
			PRO(devices_of_the_prototype_are_shown_and_told_nothing),
			BASE(random_frames_are_counted_and_fill_no_more_than_there_is_room),
			PRO(replies_of_a_node_that_make_no_sense_are_counted),
			TEST(a_controller_without_label_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
