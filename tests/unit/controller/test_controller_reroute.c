// SPDX-License-Identifier: BSD-3-Clause
// Routes around bad links at a controller, over a ring of four nodes that answer probes and keep
// the routes that they are told. A packet of the test goes by these routes alone.
#include "controller_rig.h"

#include "ip_address.h"
#include "probe.h"

#define MS INT64_C(1000000)

// Port 1 of each node leads to the node before it, port 2 to the next one.
#define RING_OF(how, more)                                                                         \
	"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"                        \
	" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"                                    \
	" {\"name\": \"c\", \"id\": 3, \"api\": \"ipc:///c\"},"                                    \
	" {\"name\": \"d\", \"id\": 4, \"api\": \"ipc:///d\"}],"                                   \
	" \"probing\": {\"iface\": \"none\", \"first_node\": 1, \"address\": \"10.0.0.1\","        \
	"  \"period_ms\": 100, \"resolution_ms\": 1, \"attempts\": 3," how                         \
	"  \"nodes\": [{\"id\": 1}, {\"id\": 2}, {\"id\": 3}, {\"id\": 4}],"                       \
	"  \"links\": [{\"node\": 1, \"port\": 2, \"peer\": 2, \"peer_port\": 1},"                 \
	"   {\"node\": 2, \"port\": 2, \"peer\": 3, \"peer_port\": 1},"                            \
	"   {\"node\": 3, \"port\": 2, \"peer\": 4, \"peer_port\": 1},"                            \
	"   {\"node\": 4, \"port\": 2, \"peer\": 1, \"peer_port\": 1}]" more "}}"

#define RING(more) RING_OF("\"feedback_ms\": 8, \"adaptive\": false, \"plan\": \"euler\",", more)

static const char without[] = RING("");
static const char with[] = RING(", \"reroute\": {\"hold_ms\": 1000, \"max_hold_ms\": 60000,"
				" \"destinations\": [{\"prefix\": \"10.1.0.0/16\", \"node\": 1},"
				"  {\"prefix\": \"10.3.0.0/16\", \"node\": 3}]}");

// Two links between the same ports of two nodes. The second one is the first of the list.
static const char parallel[] =
		"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
		" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"}],"
		" \"probing\": {\"iface\": \"none\", \"first_node\": 1, \"address\": \"10.0.0.1\","
		"  \"period_ms\": 100, \"resolution_ms\": 1, \"attempts\": 3, \"feedback_ms\": 8,"
		"  \"adaptive\": false, \"plan\": \"euler\", \"nodes\": [{\"id\": 1}, {\"id\": 2}],"
		"  \"links\": [{\"node\": 1, \"port\": 2, \"peer\": 2, \"peer_port\": 2},"
		"   {\"node\": 1, \"port\": 1, \"peer\": 2, \"peer_port\": 1}],"
		"  \"reroute\": {\"hold_ms\": 1000, \"destinations\": ["
		"   {\"prefix\": \"10.1.0.0/16\", \"node\": 1},"
		"   {\"prefix\": \"10.3.0.0/16\", \"node\": 2}]}}}";

static const struct hs_probe_settings settings = {
		HS_PROBE_DSCP, HS_PROBE_FEEDBACK_DSCP, HS_PROBE_RECOVERY_DSCP, HS_PROBE_UDP_PORT};

static bool pair;    // two nodes with parallel links in place of the ring
static bool cut[4];  // the link behind port 2 of a node; of a pair: behind these ports
static bool slow[4]; // the same link: probes cross it, but feedback comes too late
static bool dead[4]; // the node passes nothing
static bool mute;    // no probe comes back
static unsigned loss_percent, rolled;
static unsigned loops;

// ---- the network of probes ----

static unsigned behind(unsigned node, unsigned port)
{
	return pair ? !node : (node + (port == 1 ? 3 : 1)) % 4;
}

// Of a link, by the port at one end.
static unsigned other_port(unsigned port)
{
	return pair ? port : 3 - port;
}

static bool passes(unsigned node, unsigned port)
{
	unsigned link = pair ? port - 1 : port == 1 ? behind(node, 1) : node;

	return !cut[link] && !dead[behind(node, port)];
}

static bool is_slow(unsigned node, unsigned port)
{
	return slow[port == 1 ? behind(node, 1) : node];
}

static bool is_lost(void)
{
	rolled = rolled * 1664525 + 1013904223;
	return (rolled >> 16) % 100 < loss_percent;
}

static void give(const struct fake_frame *frame)
{
	if (!mute)
		hs_controller_probe_take(fake.controller, fake.now_ns, frame->bytes, frame->len);
}

static void give_feedback(const struct fake_frame *frame, const struct hs_packet *packet)
{
	struct fake_frame feedback;

	feedback.len = hs_probe_feedback(&settings, frame->bytes, packet, feedback.bytes);
	give(&feedback);
}

// What a node sends to the monitor leaves by these ports, whatever happens.
static bool leads_back(unsigned at)
{
	static const unsigned monitor_port[4] = {0, 1, 1, 2};

	for (; at != 0; at = behind(at, monitor_port[at]))
		if (!passes(at, monitor_port[at]))
			return false;
	return true;
}

// A copy of a probe that goes on.
static void give_copy(struct fake_frame frame, const struct hs_packet *packet)
{
	hs_probe_mark_recovery(&settings, frame.bytes, packet->l3_off);
	give(&frame);
}

// Sends a probe from node to node. It comes back at its end, or as a copy of the node that lost it.
static void send_probe(struct fake_frame frame)
{
	struct hs_packet packet;
	unsigned at = 0;

	if (dead[0])
		return;
	hs_probe_parse(&settings, frame.bytes, frame.len, frame.len, &packet);
	give_feedback(&frame, &packet);
	for (;;) {
		struct hs_probe_stack stack = hs_probe_stack_of(frame.bytes, &packet);
		struct hs_probe_entry entry = hs_probe_stack_entry(&stack, 0);
		const struct hs_probe_hop hop = {.node = (uint8_t)(at + 1)};
		bool last = stack.n_entries == 1;
		hs_probe_add(frame.bytes, &packet, &stack, &hop, NULL);
		frame.len += hs_probe_stack_growth(0);
		bool lost = !last && (!passes(at, entry.port) || is_lost());
		if (lost)
			hs_probe_mark_recovery(&settings, frame.bytes, packet.l3_off);
		if (last || lost)
			break;
		if (is_slow(at, entry.port) && leads_back(at))
			give_copy(frame, &packet);
		at = behind(at, entry.port);
	}
	if (leads_back(at))
		give(&frame);
}

// ---- the network of packets ----

static const struct hs_route_entry *route_at(unsigned node, unsigned to)
{
	uint8_t prefix[16];

	hs_ip_address_read(to == 0 ? "10.1.0.0" : "10.3.0.0", prefix);
	return hs_route_book_find(fake.nodes[node].routes, prefix, 112);
}

// Returns the nodes that a packet passes on its way to a node, or 0: it is lost.
static unsigned hops(unsigned from, unsigned to)
{
	unsigned at = from, n = 1;

	for (; at != to; n++) {
		const struct hs_route_entry *route = route_at(at, to);
		if (n > 4) {
			loops++;
			return 0;
		}
		if (!route || !passes(at, route->port))
			return 0;
		at = behind(at, route->port);
		if (route->mac[3] != fake.nodes[at].macs)
			return 0; // nobody has this address any more
		// The MAC address is that of the port at the other end.
		assert_int_equal(route->mac[4], at + 1);
		assert_int_equal(route->mac[5], other_port(route->port));
	}
	return n;
}

static void run(int64_t ns)
{
	for (int64_t end_ns = fake.now_ns + ns; fake.now_ns < end_ns;) {
		fake.n_frames = 0;
		fake_run(&fake, MS);
		for (unsigned i = 0; i < fake.n_frames && i < FAKE_FRAMES; i++)
			send_probe(fake.frames[i]);
		for (unsigned i = 0; i < (pair ? 2 : 4); i++) {
			hops(i, 0);
			hops(i, pair ? 1 : 2);
		}
	}
}

static json_int_t of(const char *verb, const char *key)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"%s\": {}}", verb);
	return json_integer_value(json_object_get(fake_ok(&fake, text), key));
}

static json_int_t sessions(void)
{
	json_t *status = fake_ok(&fake, "{\"probe_status\": {}}");

	return json_integer_value(json_object_get(json_object_get(status, "counters"), "sessions"));
}

static void run_sessions(unsigned n)
{
	json_int_t end = sessions() + n;
	int64_t limit_ns = fake.now_ns + 300 * SECOND;

	while (sessions() < end) {
		run(MS);
		assert_true(fake.now_ns < limit_ns);
	}
	run(20 * MS); // nodes are told
}

static unsigned told(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += fake.nodes[i].n_requests[HS_VERB_ROUTE_ADD];
	return n;
}

static const char *use_of(unsigned at)
{
	json_t *links = json_object_get(fake_ok(&fake, "{\"probe_links\": {}}"), "links");

	return json_string_value(json_object_get(json_array_get(links, at), "use"));
}

static void open_ring(const char *text)
{
	fake_open(&fake, text);
	memset(cut, 0, sizeof(cut));
	memset(slow, 0, sizeof(slow));
	memset(dead, 0, sizeof(dead));
	mute = false;
	pair = text == parallel;
	loss_percent = rolled = 0;
	loops = 0;
	for (unsigned i = 0; i < 4; i++)
		fake_route(&fake, i);
}

static int setup_ring(void **state)
{
	(void)state;
	open_ring(with);
	run_sessions(2);
	assert_int_equal(hops(1, 2), 2);
	return 0;
}

static int teardown_ring(void **state)
{
	assert_int_equal(loops, 0);
	return teardown(state);
}

// ---- tests ----

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
	cut[2] = true; // 3-4: it cannot be told of another way
	run(SECOND);
	assert_int_equal(hops(3, 0), 2);
	assert_int_equal(hops(3, 2), 0);
}

static void messages_that_are_lost_make_no_loop(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 8; seed++) {
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
	static const char unknown[] = RING_OF("\"feedback_ms\": 400, \"plan\": \"euler\",", "");
	static const char known[] = RING_OF(
			"\"feedback_ms\": 400, \"plan\": \"euler\", \"node_timeout_ms\": 5,", "");

	(void)state;
	teardown(NULL);
	json_int_t long_ns = elapsed_ns(unknown);
	teardown(NULL);
	json_int_t short_ns = elapsed_ns(known);
	assert_true(long_ns > 10 * SECOND);
	assert_true(short_ns < SECOND);
}

#define ON_RING(name) cmocka_unit_test_setup_teardown(name, setup_ring, teardown_ring)

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
			ON_RING(a_node_that_restarts_is_told_its_routes_again),
			ON_RING(a_node_without_a_way_gets_none_by_its_event),
			ON_RING(routes_follow_a_node_whose_ports_have_other_addresses),
			ON_RING(a_controller_that_restarts_leaves_routes_that_are_right),
			TEST(ways_go_around_a_node_that_refuses_its_route),
			TEST(a_node_that_did_not_tell_its_ports_is_asked_again),
			TEST(a_port_that_its_node_does_not_have_is_no_ones_way),
			TEST(a_node_of_another_id_is_told_no_route),
			ON_RING(a_node_that_cannot_be_reached_keeps_its_route_and_ways_heed_it),
			ON_RING(messages_that_are_lost_make_no_loop),
			TEST(paths_become_more_where_links_lose_probes_and_fewer_again),
			TEST(t_f_follows_the_timeout_of_nodes_where_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
