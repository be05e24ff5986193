// SPDX-License-Identifier: BSD-3-Clause
// Requests about routes and what the node's forwarding table then says.
#include "ctl.h"
#include "harness.h"

#include <jansson.h>
#include <stdio.h>

#define NOW INT64_C(1700000000000000000)

struct rig {
	struct test_node t; // its ports are not used
	struct hs_port *ports[2];
	struct hs_clock *clock;
	struct hs_ctl *ctl;
	char *reply;
};

static void rig_open(struct rig *r, enum hs_forwarding_mode forwarding, uint32_t routes)
{
	struct hs_node_config node = {.n_workers = 1,
			.rules = 16,
			.report_ring = 16,
			.forwarding = forwarding,
			.routes = routes};
	struct hs_ctl_config config = {.boot_id = "b007", .monitored_rules = 1};
	struct hs_ctl_output output = {0};
	struct hs_error err = {0};

	memset(r, 0, sizeof(*r));
	assert_int_equal(hs_clock_create_manual(NOW, &r->clock), 0);
	assert_int_equal(hs_node_create(&node, r->clock, NULL, &r->t.node, &err), 0);
	for (uint16_t p = 0; p < 2; p++) {
		struct hs_port_config port = {.rx_queues = 1};
		snprintf(port.name, sizeof(port.name), "p%u", p);
		assert_int_equal(hs_port_open_custom(test_port_rx, test_port_tx, &r->t.ports[p],
						 &port, p, 1, &r->ports[p]),
				0);
		assert_int_equal(hs_node_add_port(r->t.node, r->ports[p]), 0);
	}
	assert_int_equal(hs_ctl_create(&config, r->t.node, r->clock, &output, NOW, &r->ctl), 0);
}

static void rig_close(struct rig *r)
{
	free(r->reply);
	hs_ctl_destroy(r->ctl);
	hs_node_destroy(r->t.node);
	for (unsigned p = 0; p < 2; p++)
		hs_port_close(r->ports[p]);
	hs_clock_destroy(r->clock);
}

static const char *ask(struct rig *r, const char *request)
{
	free(r->reply);
	r->reply = hs_ctl_request(r->ctl, NOW, request, strlen(request));
	return r->reply;
}

static void expect(struct rig *r, const char *request, const char *said)
{
	if (!strstr(ask(r, request), said))
		fail_msg("%s\n  was answered\n%s\n  without\n%s", request, r->reply, said);
}

// Where the table sends 2001:db8:0:`net`::1; HS_FIB_NO_PORT: nowhere.
static struct hs_next_hop next_of(struct rig *r, uint8_t net)
{
	const uint8_t address[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, net, [15] = 1};
	const uint8_t *pointer = address;
	struct hs_next_hop next;

	hs_fib_lookup(hs_node_fib(r->t.node), &pointer, 1, &next);
	return next;
}

#define NEIGHBOUR(port, mac)                                                                       \
	"{\"neighbour_add\": {\"addr\": \"fe80::1\", \"port\": \"" port                            \
	"\", \"mac\": \"02:00:00:00:00:" mac "\"}}"
#define VIA(prefix) "{\"route_add\": {\"prefix\": \"" prefix "\", \"via\": \"fe80::1\"}}"
#define DIRECT(prefix, port)                                                                       \
	"{\"route_add\": {\"prefix\": \"" prefix "\", \"port\": \"" port                           \
	"\", \"next_hop_mac\": \"02:00:00:00:00:77\"}}"
#define DELETE(prefix) "{\"route_delete\": {\"prefix\": \"" prefix "\"}}"

static void routes_are_added_replaced_and_removed(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, HS_FORWARD_ROUTE, 64);
	expect(&r, DIRECT("2001:db8::/32", "p1"),
			"{\"ok\":{\"prefix\":\"2001:db8::/32\"},\"generation\":1}");
	assert_int_equal(next_of(&r, 1).port, 1);
	assert_int_equal(next_of(&r, 1).mac[5], 0x77);
	expect(&r, DIRECT("2001:db8::/32", "p0"), "\"generation\":2");
	assert_int_equal(next_of(&r, 1).port, 0);
	expect(&r, DELETE("2001:db8::/32"), "\"generation\":3");
	assert_int_equal(next_of(&r, 1).port, HS_FIB_NO_PORT);
	expect(&r, DELETE("2001:db8::/32"), "no_such_route");
	expect(&r, DIRECT("2001:db8::/32", "p2"), "\"path\":\"/route_add/port\"");
	rig_close(&r);
}

static void routes_follow_their_neighbour(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, HS_FORWARD_ROUTE, 64);
	expect(&r, VIA("2001:db8::/32"),
			"\"code\":\"no_such_neighbour\",\"path\":\"/route_add/via\"");
	expect(&r, "[" NEIGHBOUR("p0", "05") "," VIA("2001:db8::/32") "]", "\"generation\":2");
	assert_int_equal(next_of(&r, 1).port, 0);
	assert_int_equal(next_of(&r, 1).mac[5], 5);
	expect(&r, NEIGHBOUR("p1", "06"), "\"addr\":\"fe80::1\"");
	assert_int_equal(next_of(&r, 1).port, 1);
	assert_int_equal(next_of(&r, 1).mac[5], 6);
	expect(&r, "{\"neighbour_delete\": {\"addr\": \"fe80::1\"}}", "\"code\":\"in_use\"");
	expect(&r, "[" DELETE("2001:db8::/32") ", {\"neighbour_delete\": {\"addr\": \"fe80::1\"}}]",
			"\"ok\"");
	assert_int_equal(hs_fib_count(hs_node_fib(r.t.node)), 0);
	rig_close(&r);
}

static void lists_are_sorted_and_paged(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, HS_FORWARD_ROUTE, 64);
	expect(&r,
			"[" NEIGHBOUR("p0", "05") "," DIRECT("2001:db8:2::/48", "p1") "," VIA(
					"::/0") "," DIRECT("2001:db8:1::/48", "p1") "]",
			"\"ok\"");
	expect(&r, "{\"route_list\": {\"limit\": 2}}",
			"{\"routes\":[{\"prefix\":\"::/0\",\"port\":\"p0\",\"next_hop_mac\":"
			"\"02:00:00:00:00:05\",\"via\":\"fe80::1\"},{\"prefix\":\"2001:db8:1::/"
			"48\","
			"\"port\":\"p1\",\"next_hop_mac\":\"02:00:00:00:00:77\"}],\"count\":4,"
			"\"next\":2}");
	expect(&r, "{\"route_list\": {\"limit\": 2, \"offset\": 2}}",
			"{\"routes\":[{\"prefix\":\"2001:db8:2::/"
			"48\",\"port\":\"p1\",\"next_hop_mac\":"
			"\"02:00:00:00:00:77\"},{\"prefix\":\"fe80::1\",\"port\":\"p0\",\"next_hop_"
			"mac\":"
			"\"02:00:00:00:00:05\",\"neighbour\":true}],\"count\":4}");
	expect(&r, "{\"route_list\": {\"offset\": 9}}", "{\"routes\":[],\"count\":4}");
	expect(&r, "{\"neighbour_list\": {}}",
			"{\"neighbours\":[{\"addr\":\"fe80::1\",\"port\":\"p0\",\"mac\":"
			"\"02:00:00:00:00:05\",\"routes\":1}],\"count\":1}");
	expect(&r, "{\"neighbour_list\": {\"offset\": 1}}", "{\"neighbours\":[],\"count\":1}");
	expect(&r, "{\"node_get\": {}}", "\"routes\":4,\"routes_capacity\":64,\"neighbours\":1");
	expect(&r, "{\"node_get\": {}}", "\"forwarding\":\"route\"");
	expect(&r, "{\"hello\": {}}", "\"routes\":64");
	rig_close(&r);
}

static void a_dry_run_or_a_refused_list_changes_nothing(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, HS_FORWARD_ROUTE, 3);
	expect(&r, DIRECT("2001:db8::/32", "p1"), "\"ok\"");
	expect(&r, "{\"transaction\": [" DIRECT("2001:db8::/32", "p0") "], \"dry_run\": true}",
			"\"dry_run\":true");
	expect(&r, "[" DIRECT("2001:db8::/32", "p0") "," DELETE("::/0") "]",
			"\"path\":\"/1/route_delete/prefix\"");
	expect(&r, "[" NEIGHBOUR("p0", "05") "," VIA("::/0") "," DIRECT("2002::/16", "p0") "]",
			"\"code\":\"table_full\",\"path\":\"/2/route_add\"");
	// Room that an earlier request of the list makes is room.
	assert_int_equal(next_of(&r, 1).port, 1);
	expect(&r,
			"[" NEIGHBOUR("p0", "05") "," DELETE("2001:db8::/32") "," VIA(
					"::/0") "," DIRECT("2002::/16", "p0") "]",
			"\"ok\"");
	assert_int_equal(next_of(&r, 1).port, 0);
	assert_int_equal(hs_fib_count(hs_node_fib(r.t.node)), 3);
	rig_close(&r);
}

// Long prefixes use up a large table before it has as many routes as it may: the only refusal that
// no check foresees.
static void what_the_table_refuses_is_taken_back_whole(void **state)
{
	static char list[1 << 20];
	struct rig r;
	int round = 0;
	(void)state;
	rig_open(&r, HS_FORWARD_ROUTE, HS_FIB_SMALL + 1);
	expect(&r, "[" NEIGHBOUR("p0", "05") "," VIA("2001:db8::/32") "]", "\"ok\"");
	do {
		size_t used = (size_t)snprintf(list, sizeof(list), "[" NEIGHBOUR("p1", "06"));
		for (int i = 0; i < 500; i++)
			used += (size_t)snprintf(list + used, sizeof(list) - used,
					"," DIRECT("2a%02x:%x:1:2:3:4:5:6", "p1"), round, i);
		snprintf(list + used, sizeof(list) - used, "," DELETE("2001:db8::/32") "]");
		uint32_t before = hs_fib_count(hs_node_fib(r.t.node));
		if (!strstr(ask(&r, list), "\"ok\"")) {
			assert_int_equal(hs_fib_count(hs_node_fib(r.t.node)), before);
			break;
		}
		expect(&r, "[" NEIGHBOUR("p0", "05") "," VIA("2001:db8::/32") "]", "\"ok\"");
	} while (++round < 99);
	assert_in_range(round, 1, 98);
	assert_non_null(strstr(r.reply, "\"code\":\"table_full\",\"path\":\"\""));
	assert_null(strstr(r.reply, "taken back"));
	assert_int_equal(next_of(&r, 1).port, 0);
	assert_int_equal(next_of(&r, 1).mac[5], 5);
	expect(&r, "{\"neighbour_list\": {}}", "02:00:00:00:00:05\",\"routes\":1");
	// It goes on from there.
	expect(&r, DELETE("2a00:0:1:2:3:4:5:6"), "\"ok\"");
	expect(&r, DIRECT("2001:db8::/32", "p1"), "\"ok\"");
	assert_int_equal(next_of(&r, 1).port, 1);
	rig_close(&r);
}

static void a_node_in_another_mode_refuses(void **state)
{
	static const char *const requests[] = {DIRECT("::/0", "p0"), DELETE("::/0"),
			NEIGHBOUR("p0", "05"), "{\"neighbour_delete\": {\"addr\": \"fe80::1\"}}",
			"{\"route_list\": {}}", "{\"neighbour_list\": {}}"};
	struct rig r;
	(void)state;
	rig_open(&r, HS_FORWARD_BRIDGE, 64);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		expect(&r, requests[i], "forwarding.mode is not route");
	expect(&r, "{\"node_get\": {}}", "\"routes\":0,\"routes_capacity\":0");
	rig_close(&r);
}

int main(void)
{
	dpdk_env_init("1024");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(routes_are_added_replaced_and_removed),
			cmocka_unit_test(routes_follow_their_neighbour),
			cmocka_unit_test(lists_are_sorted_and_paged),
			cmocka_unit_test(a_dry_run_or_a_refused_list_changes_nothing),
			cmocka_unit_test(what_the_table_refuses_is_taken_back_whole),
			cmocka_unit_test(a_node_in_another_mode_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
