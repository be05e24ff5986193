// SPDX-License-Identifier: BSD-3-Clause
// Routes around bad links at a controller whose nodes restart, refuse, differ or cannot be reached.
#include "reroute_ring.h"
#include "sanitized.h"

static void a_node_that_restarts_is_told_its_routes_again(void **state)
{
	(void)state;
	cut[1] = true;
	run(SECOND);
	fake_restart(&fake, 1);
	assert_int_equal(hops(1, 2), 0);
	run(2 * SECOND);
	assert_int_equal(hops(1, 2), 4);
}

// The connection comes back before the controller counts the node as unreachable.
static void a_route_that_could_not_be_sent_is_sent_later(void **state)
{
	(void)state;
	fake.nodes[1].connected = false;
	cut[1] = true;
	run(SECOND);
	fake.nodes[1].connected = true;
	run(5 * SECOND);
	assert_int_equal(fake_events(&fake, "node_unreachable"), 0);
	assert_int_equal(hops(1, 2), 4);
}

static void assert_all_arrive(void)
{
	for (unsigned i = 0; i < 4; i++) {
		assert_true(hops(i, 0) > 0);
		assert_true(hops(i, 2) > 0);
	}
}

// Of the last event about ways to node 3.
static json_int_t of_ways(const char *key)
{
	const json_t *entry, *found = NULL;
	size_t i;

	json_array_foreach (fake.published, i, entry) {
		const json_t *event = json_object_get(json_object_get(entry, "message"), "event");
		const char *kind = json_string_value(json_object_get(event, "kind"));
		const char *prefix = json_string_value(json_object_get(event, "prefix"));
		if (kind && strcmp(kind, "reroute_ways") == 0 && strcmp(prefix, "10.3.0.0/16") == 0)
			found = event;
	}
	return json_integer_value(json_object_get(found, key));
}

static void a_node_without_a_way_gets_none_by_its_event(void **state)
{
	(void)state;
	assert_int_equal(of_ways("nodes"), 3);
	assert_int_equal(of_ways("nodes_without_way"), 0);
	cut[1] = cut[2] = true; // all links of node 3
	run(3 * SECOND);
	assert_int_equal(of_ways("nodes_without_way"), 3);
	assert_int_equal(of_ways("nodes"), 0);
	cut[1] = false;
	run(3 * SECOND);
	assert_int_equal(of_ways("nodes_without_way"), 0);
	assert_true(hops(1, 2) > 0);
}

// Virtual ports get new addresses at each start.
static void routes_follow_a_node_whose_ports_have_other_addresses(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		fake.nodes[i % 4].macs++;
		fake_restart(&fake, i % 4);
		run(2 * SECOND);
		assert_all_arrive();
	}
	fake.lost = 1;
	fake.lose_percent = 20;
	for (unsigned i = 0; i < 8; i++) {
		fake.nodes[i % 4].macs++;
		fake_restart(&fake, i % 4);
		run((20 + 100 * i) * MS); // while nodes are told of the change before
	}
	fake.lose_percent = 0;
	run(40 * SECOND);
	assert_all_arrive();
}

static void a_controller_that_restarts_leaves_routes_that_are_right(void **state)
{
	(void)state;
	cut[1] = true;
	run(SECOND);
	fake_reopen(&fake);
	for (unsigned i = 0; i < 1000; i++) {
		run(MS);
		assert_int_equal(hops(1, 2), 4);
	}
	assert_true(sessions() > 2);
	cut[1] = false;
	run(2 * SECOND);
	assert_int_equal(hops(1, 2), 2);
}

// What probe_routes says of a node's route.
static const char *route_state(json_int_t node_id, const char *prefix)
{
	json_t *routes = json_object_get(fake_ok(&fake, "{\"probe_routes\": {}}"), "routes");
	const json_t *route;
	size_t i;

	json_array_foreach (routes, i, route) {
		const char *to = json_string_value(json_object_get(route, "prefix"));
		if (json_integer_value(json_object_get(route, "node_id")) == node_id &&
				strcmp(to, prefix) == 0)
			return json_string_value(json_object_get(route, "state"));
	}
	return "";
}

static void ways_go_around_a_node_that_refuses_its_route(void **state)
{
	(void)state;
	teardown(NULL);
	open_ring(with);
	run_sessions(1); // and what its ports are called
	fake.nodes[3].refusal = "{\"code\": \"table_full\", \"message\": \"no room\"}";
	run_sessions(1);
	unsigned refused = fake_events(&fake, "reroute_refused");
	assert_in_range(refused, 1, 2);	 // of two destinations
	assert_int_equal(hops(0, 2), 3); // by 2, because 4 has no route
	assert_int_equal(hops(3, 2), 0);
	assert_string_equal(route_state(4, "10.3.0.0/16"), "refused");
	cut[1] = true;
	run(SECOND);
	assert_int_equal(hops(0, 2), 0); // no other way
	run(61 * SECOND);		 // it is tried again, and not told again
	assert_int_equal(fake_events(&fake, "reroute_refused"), refused);
	fake.nodes[3].refusal = NULL;
	run(61 * SECOND);
	assert_int_equal(hops(0, 2), 3);
}

static void a_node_that_did_not_tell_its_ports_is_asked_again(void **state)
{
	(void)state;
	teardown(NULL);
	open_ring(with);
	fake.nodes[3].refusal = "{\"code\": \"busy\", \"message\": \"not now\"}";
	run(3 * SECOND);
	assert_int_equal(hops(1, 2), 2);
	assert_int_equal(hops(3, 2), 0);
	for (unsigned i = 4; i < 8; i++)
		assert_string_equal(use_of(i), "avoided");
	assert_string_equal(use_of(0), "used");
	fake.nodes[3].refusal = NULL;
	run(61 * SECOND);
	assert_int_equal(hops(3, 2), 2);
	for (unsigned i = 0; i < 8; i++)
		assert_string_equal(use_of(i), "used");
}

// The configuration says port 2; the node has none.
static void a_port_that_its_node_does_not_have_is_no_ones_way(void **state)
{
	(void)state;
	teardown(NULL);
	open_ring(with);
	fake.nodes[1].n_ports = 1;
	run(3 * SECOND);
	assert_string_equal(use_of(2), "avoided");
	assert_string_equal(use_of(3), "avoided");
	assert_int_equal(hops(1, 2), 4); // by 1 and 4
	assert_int_equal(hops(0, 2), 3);
}

static void a_port_that_is_gone_after_a_restart_is_no_ones_way(void **state)
{
	(void)state;
	fake.nodes[1].n_ports = 1;
	fake_restart(&fake, 1);
	run(2 * SECOND);
	assert_string_equal(use_of(2), "avoided");
	assert_int_equal(hops(1, 2), 4);
	fake.nodes[1].n_ports = 2;
	fake_restart(&fake, 1);
	run(2 * SECOND);
	assert_string_equal(use_of(2), "used");
	assert_int_equal(hops(1, 2), 2);
}

static void a_restart_with_ports_of_other_names_is_no_refusal(void **state)
{
	(void)state;
	fake.nodes[1].port_prefix = 'q';
	fake_restart(&fake, 1);
	run(2 * SECOND);
	assert_int_equal(hops(1, 2), 2);
	assert_int_equal(fake_events(&fake, "reroute_refused"), 0);
}

// The endpoints of two nodes are swapped: each would get the routes of the other.
static void a_node_of_another_id_is_told_no_route(void **state)
{
	(void)state;
	teardown(NULL);
	open_ring(with);
	fake.nodes[1].id = 3;
	fake.nodes[2].id = 2;
	run(3 * SECOND);
	assert_int_equal(fake_events(&fake, "node_id_differs"), 2);
	assert_true(told() > 0);
	assert_int_equal(fake.nodes[1].n_requests[HS_VERB_ROUTE_ADD], 0);
	assert_int_equal(fake.nodes[2].n_requests[HS_VERB_ROUTE_ADD], 0);
	fake.nodes[1].id = 2;
	fake.nodes[2].id = 3;
	fake_restart(&fake, 1);
	fake_restart(&fake, 2);
	run(3 * SECOND);
	assert_int_equal(hops(1, 2), 2);
	assert_int_equal(hops(1, 0), 2);
}

static void a_node_that_cannot_be_reached_keeps_its_route_and_ways_heed_it(void **state)
{
	(void)state;
	fake.nodes[3].connected = false; // its probes go on
	run(5 * SECOND);
	unsigned before = told();
	assert_int_equal(fake_events(&fake, "node_unreachable"), 1);
	cut[1] = true;
	run(SECOND);
	assert_int_equal(hops(1, 2), 4); // over 4, which leads to 3 as before
	assert_true(told() > before);
	assert_string_equal(route_state(4, "10.3.0.0/16"), "set");
	cut[2] = true; // 3-4: it cannot be told of another way
	run(SECOND);
	assert_string_equal(route_state(4, "10.3.0.0/16"), "unreachable");
	assert_int_equal(hops(3, 0), 2);
	assert_int_equal(hops(3, 2), 0);
}

static void messages_that_are_lost_make_no_loop(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= (SANITIZED ? 1 : 8); seed++) {
		fake.lost = seed;
		fake.lose_percent = 20;
		for (unsigned i = 0; i < 4; i++) {
			cut[i] = true;
			run(2 * SECOND);
			cut[i] = false;
			run(3 * SECOND);
		}
		fake.lose_percent = 0;
		run(40 * SECOND);
		for (unsigned i = 0; i < 4; i++) {
			assert_true(hops(i, 0) > 0);
			assert_true(hops(i, 2) > 0);
		}
	}
}

static json_int_t of_status(const char *object, const char *key)
{
	json_t *status = fake_ok(&fake, "{\"probe_status\": {}}");

	return json_integer_value(json_object_get(json_object_get(status, object), key));
}

static void assert_that_links_without_probes_are_unknown(void)
{
	json_t *links = json_object_get(fake_ok(&fake, "{\"probe_links\": {}}"), "links"), *link;
	unsigned known = 0;
	size_t i;

	json_array_foreach (links, i, link) {
		bool unknown = strcmp(json_string_value(json_object_get(link, "state")),
					       "unknown") == 0;
		assert_true(unknown || json_is_true(json_object_get(link, "planned")));
		known += !unknown;
	}
	assert_in_range(known, 1, 3);
}

static void paths_become_more_where_links_lose_probes_and_fewer_again(void **state)
{
	static const char text[] = RING_OF("\"feedback_ms\": 8, \"max_paths\": 3,", "");

	(void)state;
	teardown(NULL);
	open_ring(text);
	run_sessions(3);
	assert_int_equal(of_status("plan", "paths"), 1);
	assert_that_links_without_probes_are_unknown();
	loss_percent = 40;
	run_sessions(10);
	assert_in_range(of_status("plan", "paths"), 2, 3);
	assert_that_links_without_probes_are_unknown();
	assert_int_equal(of_status("counters", "failed"), 0);
	loss_percent = 0;
	run_sessions(20);
	assert_int_equal(of_status("plan", "paths"), 1);
	assert_int_equal(of_status("session", "nodes_covered"), 4);
}

// Returns how long a session with a cut link takes.
static json_int_t elapsed_ns(const char *text)
{
	open_ring(text);
	run_sessions(2);
	cut[1] = true;
	run_sessions(3);
	assert_int_equal(of_status("session", "links_unavailable"), 1);
	assert_int_equal(of_status("counters", "failed"), 0);
	return of_status("session", "elapsed_ns");
}

static void t_f_follows_the_timeout_of_nodes_where_it_is_known(void **state)
{
	static const char unknown[] = RING_OF("\"feedback_ms\": 100, \"plan\": \"euler\",", "");
	static const char known[] = RING_OF(
			"\"feedback_ms\": 100, \"plan\": \"euler\", \"node_timeout_ms\": 5,", "");

	(void)state;
	teardown(NULL);
	json_int_t long_ns = elapsed_ns(unknown);
	teardown(NULL);
	json_int_t short_ns = elapsed_ns(known);
	assert_true(long_ns > 5 * SECOND / 2);
	assert_true(short_ns < SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			ON_RING(a_node_that_restarts_is_told_its_routes_again),
			ON_RING(a_route_that_could_not_be_sent_is_sent_later),
			ON_RING(a_node_without_a_way_gets_none_by_its_event),
			ON_RING(routes_follow_a_node_whose_ports_have_other_addresses),
			ON_RING(a_controller_that_restarts_leaves_routes_that_are_right),
			TEST(ways_go_around_a_node_that_refuses_its_route),
			TEST(a_node_that_did_not_tell_its_ports_is_asked_again),
			TEST(a_port_that_its_node_does_not_have_is_no_ones_way),
			ON_RING(a_port_that_is_gone_after_a_restart_is_no_ones_way),
			ON_RING(a_restart_with_ports_of_other_names_is_no_refusal),
			TEST(a_node_of_another_id_is_told_no_route),
			ON_RING(a_node_that_cannot_be_reached_keeps_its_route_and_ways_heed_it),
			ON_RING(messages_that_are_lost_make_no_loop),
			TEST(paths_become_more_where_links_lose_probes_and_fewer_again),
			TEST(t_f_follows_the_timeout_of_nodes_where_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
