// SPDX-License-Identifier: BSD-3-Clause
// Routes around bad links at a controller.
#include "reroute_ring.h"

static const char without[] = RING("");

static void without_the_key_no_route_is_set(void **state)
{
	(void)state;
	teardown(NULL);
	open_ring(without);
	run(SECOND);
	cut[1] = true;
	run(SECOND);
	assert_true(sessions() > 5);
	assert_int_equal(told(), 0);
	assert_int_equal(fake.nodes[1].n_requests[HS_VERB_PORTS_GET], 0);
	assert_int_equal(fake_events(&fake, "reroute_ways"), 0);
	assert_string_equal(fake_error(&fake, "{\"probe_routes\": {}}"), "unsupported");
}

static void routes_are_set_when_links_are_known_and_not_before(void **state)
{
	(void)state;
	teardown(NULL);
	open_ring(with);
	run_sessions(1);
	assert_int_equal(told(), 0);
	run_sessions(1);
	assert_int_equal(told(), 6);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(hops(i, 0), i == 2 ? 3 : i ? 2 : 1);
		assert_int_equal(hops(i, 2), i == 0 ? 3 : i == 2 ? 1 : 2);
	}
	assert_int_equal(of("probe_routes", "known"), 6);
	run(SECOND);
	assert_int_equal(told(), 6);
}

static void routes_leave_a_link_after_two_bad_sessions(void **state)
{
	(void)state;
	cut[1] = true;	 // 2-3
	run_sessions(1); // it may have begun before
	unsigned before = told();
	json_int_t bad = sessions();
	for (unsigned i = 0; i < 10 && !fake_events(&fake, "probe_link_unavailable"); i++)
		run_sessions(1);
	assert_int_equal(fake_events(&fake, "probe_link_unavailable"), 1);
	bad = sessions();
	assert_int_equal(told(), before);
	assert_int_equal(hops(1, 2), 0);
	run_sessions(1);
	assert_int_equal(sessions(), bad + 1);
	assert_int_equal(hops(1, 2), 4); // 2-1-4-3
	assert_int_equal(hops(0, 2), 3);
	assert_int_equal(hops(2, 0), 3);
	assert_int_equal(fake_events(&fake, "reroute_link_avoided"), 1);
	assert_string_equal(use_of(2), "avoided");
	unsigned around = told();
	run(SECOND);
	assert_int_equal(told(), around);
}

static void routes_leave_a_congested_link_after_two_sessions_unless_it_is_the_only_way(void **state)
{
	(void)state;
	slow[1] = true; // 2-3
	run_sessions(1);
	assert_string_equal(use_of(2), "used");
	assert_int_equal(hops(1, 2), 2);
	run_sessions(1);
	assert_string_equal(use_of(2), "spare");
	assert_int_equal(hops(1, 2), 4); // 2-1-4-3
	assert_int_equal(fake_events(&fake, "reroute_link_avoided"), 1);
	assert_int_equal(fake_events(&fake, "probe_link_unavailable"), 0);
	cut[0] = true; // 1-2
	run(SECOND);
	assert_string_equal(use_of(2), "spare");
	assert_int_equal(hops(1, 2), 2);
	assert_int_equal(hops(1, 0), 4); // 2-3-4-1
}

static void each_link_is_gone_around_though_it_was_the_way_to_the_monitor(void **state)
{
	(void)state;
	for (unsigned link = 0; link < 4; link++) {
		cut[link] = true;
		run(2 * SECOND);
		assert_int_equal(fake_events(&fake, "probe_node_unavailable"), 0);
		assert_int_equal(fake_events(&fake, "reroute_link_avoided"), link + 1);
		for (unsigned i = 0; i < 4; i++) {
			assert_true(hops(i, 0) > 0);
			assert_true(hops(i, 2) > 0);
		}
		cut[link] = false;
		run(2 * SECOND);
		assert_int_equal(fake_events(&fake, "reroute_link_used"), link + 1);
	}
}

static void of_parallel_links_each_is_gone_around_by_the_other(void **state)
{
	(void)state;
	teardown(NULL);
	open_ring(parallel);
	run_sessions(2);
	for (unsigned link = 0; link < 2; link++) {
		assert_int_equal(hops(0, 1), 2);
		assert_int_equal(hops(1, 0), 2);
		cut[link] = true;
		run(2 * SECOND);
		assert_int_equal(hops(0, 1), 2);
		assert_int_equal(hops(1, 0), 2);
		assert_string_equal(use_of(link ? 0 : 2), "avoided");
		assert_string_equal(use_of(link ? 2 : 0), "used");
		assert_int_equal(fake_events(&fake, "reroute_link_avoided"), link + 1);
		assert_int_equal(fake_events(&fake, "probe_link_unavailable"), link + 1);
		cut[link] = false;
		run(2 * SECOND);
		assert_int_equal(fake_events(&fake, "reroute_link_used"), link + 1);
	}
	assert_int_equal(fake_events(&fake, "probe_node_unavailable"), 0);
}

static void routes_come_back_after_the_hold_and_not_before(void **state)
{
	(void)state;
	cut[1] = true;
	run(SECOND);
	assert_int_equal(hops(1, 2), 4);
	cut[1] = false;
	run(900 * MS);
	assert_int_equal(hops(1, 2), 4);
	run(500 * MS);
	assert_int_equal(hops(1, 2), 2);
	assert_int_equal(fake_events(&fake, "reroute_link_used"), 1);
}

static void a_link_up_and_down_in_turn_changes_few_routes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		cut[1] = i % 2 == 0;
		run(i % 2 == 0 ? 500 * MS : 1500 * MS);
	}
	// It was down 30 times. Its hold is 1 s, then 2 s, which is longer than it is up.
	assert_in_range(fake_events(&fake, "reroute_link_avoided"), 1, 2);
	assert_int_equal(of("probe_routes", "changes"),
			fake_events(&fake, "reroute_link_avoided") +
					fake_events(&fake, "reroute_link_used"));
}

static void a_dead_node_is_gone_around(void **state)
{
	(void)state;
	dead[3] = true;
	run(SECOND);
	assert_int_equal(hops(0, 2), 3); // by 2
	assert_int_equal(hops(2, 0), 3);
	dead[3] = false;
	dead[1] = true;
	run(4 * SECOND);
	assert_int_equal(hops(0, 2), 3); // by 4
	assert_int_equal(hops(2, 0), 3);
}

static void a_session_without_answers_changes_nothing(void **state)
{
	unsigned before = told();

	(void)state;
	mute = true;
	run(2 * SECOND);
	mute = false;
	run(SECOND);
	assert_true(fake_events(&fake, "probe_node_unavailable") >= 4);
	assert_int_equal(told(), before);
	assert_int_equal(fake_events(&fake, "reroute_link_avoided"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(without_the_key_no_route_is_set),
			TEST(routes_are_set_when_links_are_known_and_not_before),
			ON_RING(routes_leave_a_link_after_two_bad_sessions),
			ON_RING(routes_leave_a_congested_link_after_two_sessions_unless_it_is_the_only_way),
			ON_RING(each_link_is_gone_around_though_it_was_the_way_to_the_monitor),
			TEST(of_parallel_links_each_is_gone_around_by_the_other),
			ON_RING(routes_come_back_after_the_hold_and_not_before),
			ON_RING(a_link_up_and_down_in_turn_changes_few_routes),
			ON_RING(a_dead_node_is_gone_around),
			ON_RING(a_session_without_answers_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
