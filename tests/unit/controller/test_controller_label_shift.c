// SPDX-License-Identifier: BSD-3-Clause
// S at a controller: of silent and loud ports, where changes are lost, and what a person sets.
#include "label_rig.h"

#include "rng.h"

#include <stdlib.h>

static const char pro_soon[] = ", \"poll_ms\": 200, \"pro\": {\"k\": 0.2, \"interval_ms\": 100, "
			       "\"repeat_ms\": 100, \"max_shift\": 3}";

static int setup_soon(void **state)
{
	(void)state;
	open_with(pro_soon);
	return 0;
}

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

#define SOON(name) cmocka_unit_test_setup_teardown(name, setup_soon, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			PRO(silent_ports_get_a_greater_shift_and_loud_ones_a_smaller),
			SOON(a_port_may_be_silent_for_less_than_its_interval),
			PRO(changes_that_are_lost_are_told_again),
			PRO(a_node_that_restarts_is_told_all_again),
			PRO(a_controller_that_restarts_goes_on_from_the_shift_of_its_nodes),
			PRO(shift_makes_up_for_lost_datagrams),
			BASE(a_person_sets_the_shift_of_a_node_through_the_controller),
			PRO(the_control_loop_goes_on_from_what_a_person_set),
			PRO(an_item_names_a_port_by_the_low_bits_of_its_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
