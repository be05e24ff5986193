// SPDX-License-Identifier: BSD-3-Clause
// Coverage of INT-label at a controller: which ports count, and in which intervals.
#include "label_rig.h"

static int setup_fast(void **state)
{
	(void)state;
	open_with("");
	return 0;
}

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

// Two packets at once are 7 in a second; active ports send 10 and more.
static void a_port_with_few_bursts_does_not_count_when_it_sends(void **state)
{
	(void)state;
	give_ports(0, 2);
	fake.nodes[0].labels[1].pps = 0;
	fake_run(&fake, 2 * SECOND);
	for (unsigned i = 0; i < 60; i++) {
		fake.nodes[0].labels[1].tx_packets += 2;
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

// NTP steps a clock by less than a second, too.
static void a_clock_that_is_set_by_little_makes_no_intervals(void **state)
{
	static const int64_t steps_ns[] = {900 * MS, -900 * MS, 130 * MS, 900 * MS, -900 * MS};

	(void)state;
	give_ports(0, 1);
	for (unsigned i = 0; i < 5; i++) {
		fake_run(&fake, SECOND);
		json_int_t before = of("coverage", "intervals");
		fake.now_ns += steps_ns[i];
		if (i >= 3) // a request comes between the step and the look at the clock
			fake_ask(&fake, "{\"hello\": {}}");
		hs_controller_clock_step(fake.controller, fake.now_ns, steps_ns[i]);
		for (unsigned k = 0; k < fake.n_messages; k++)
			fake.messages[(fake.head + k) % FAKE_MESSAGES].due_ns += steps_ns[i];
		fake_run(&fake, 200 * MS);
		assert_in_range(of("coverage", "intervals"), before + 1, before + 3);
	}
}

#define FAST(name) cmocka_unit_test_setup_teardown(name, setup_fast, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			BASE(coverage_counts_each_interval_and_each_active_port),
			BASE(a_port_counts_while_it_is_up_and_sends),
			FAST(a_port_that_stops_counts_no_more_after_an_interval),
			FAST(a_port_with_few_bursts_does_not_count_when_it_sends),
			FAST(a_port_that_sends_seldom_does_not_count_when_it_sends),
			BASE(ports_that_are_not_seen_are_told_of_once_a_minute),
			BASE(a_node_that_refuses_to_tell_its_ports_expects_nothing),
			BASE(a_node_of_another_id_says_nothing_of_the_ports_of_this_one),
			BASE(a_node_that_does_not_answer_expects_nothing),
			BASE(a_clock_that_is_set_makes_no_intervals),
			BASE(a_clock_that_is_set_by_little_makes_no_intervals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
