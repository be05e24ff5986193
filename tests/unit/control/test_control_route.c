// SPDX-License-Identifier: BSD-3-Clause
// Requests about routes and what the node's forwarding table then says.
#include "control.h"
#include "harness.h"
#include "no_memory.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <stdio.h>

#define NOW INT64_C(1700000000000000000)

struct rig {
	struct test_node t; // its ports are not used
	struct hs_port *ports[2];
	struct hs_clock *clock;
	struct hs_control *control;
	char *reply;
};

static void rig_open(struct rig *r, enum hs_forwarding_mode forwarding, uint32_t routes)
{
	struct hs_node_config node = {.n_workers = 1,
			.rules = 16,
			.report_ring = 16,
			.forwarding = forwarding,
			.routes = routes};
	struct hs_control_config config = {.boot_id = "b007", .monitored_rules = 1};
	struct hs_control_output output = {0};
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
	assert_int_equal(hs_control_create(&config, r->t.node, r->clock, &output, NOW, &r->control),
			0);
}

static void rig_close(struct rig *r)
{
	free(r->reply);
	hs_control_destroy(r->control);
	hs_node_destroy(r->t.node);
	for (unsigned p = 0; p < 2; p++)
		hs_port_close(r->ports[p]);
	hs_clock_destroy(r->clock);
}

static const char *ask(struct rig *r, const char *request)
{
	free(r->reply);
	r->reply = hs_control_request(r->control, NOW, request, strlen(request), true);
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

// Returns how many of the routes of these tests the table has.
static unsigned count_routes(struct rig *r)
{
	static const char *const prefixes[] = {"::/0", "2001:db8::/32", "2001:db8::/33",
			"2001:db8::/34", "2002::/16", "fd00::/8", "fe80::1/128"};
	struct hs_route route;
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		uint8_t prefix[16];
		unsigned depth;
		char address[32];
		assert_int_equal(sscanf(prefixes[i], "%31[^/]/%u", address, &depth), 2);
		assert_int_equal(inet_pton(AF_INET6, address, prefix), 1);
		n += hs_fib_find(hs_node_fib(r->t.node), prefix, (uint8_t)depth, &route);
	}
	return n;
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
	expect(&r, DIRECT("2001:db8::/32", "p2"), "\"path\":\"route_add.port\"");
	rig_close(&r);
}

static void routes_follow_their_neighbour(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, HS_FORWARD_ROUTE, 64);
	expect(&r, VIA("2001:db8::/32"),
			"\"code\":\"no_such_neighbour\",\"path\":\"route_add.via\"");
	expect(&r, "[" NEIGHBOUR("p0", "05") "," VIA("2001:db8::/32") "]", "\"generation\":2");
	assert_int_equal(next_of(&r, 1).port, 0);
	assert_int_equal(next_of(&r, 1).mac[5], 5);
	expect(&r, NEIGHBOUR("p1", "06"), "\"addr\":\"fe80::1\"");
	assert_int_equal(next_of(&r, 1).port, 1);
	assert_int_equal(next_of(&r, 1).mac[5], 6);
	expect(&r, "{\"neighbour_delete\": {\"addr\": \"fe80::1\"}}", "\"code\":\"in_use\"");
	expect(&r, "[" DELETE("2001:db8::/32") ", {\"neighbour_delete\": {\"addr\": \"fe80::1\"}}]",
			"\"ok\"");
	assert_int_equal(count_routes(&r), 0);
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
			"\"path\":\"[1].route_delete.prefix\"");
	expect(&r, "[" NEIGHBOUR("p0", "05") "," VIA("::/0") "," DIRECT("2002::/16", "p0") "]",
			"\"code\":\"table_full\",\"path\":\"[2].route_add\"");
	// Room that an earlier request of the list makes is room.
	assert_int_equal(next_of(&r, 1).port, 1);
	expect(&r,
			"[" NEIGHBOUR("p0", "05") "," DELETE("2001:db8::/32") "," VIA(
					"::/0") "," DIRECT("2002::/16", "p0") "]",
			"\"ok\"");
	assert_int_equal(next_of(&r, 1).port, 0);
	assert_int_equal(count_routes(&r), 3);
	rig_close(&r);
}

// ---- memory that is out ----

static struct {
	int left; // allocations that succeed; -1: no end
	bool for_good, failed;
} memory = {.left = -1};

static bool memory_is_out(void)
{
	if (memory.left > 0)
		memory.left--;
	if (memory.left)
		return false;
	memory.failed = true;
	if (!memory.for_good)
		memory.left = -1;
	return true;
}

// Allocation n fails, and those behind it, too, where it is for good. False: there are fewer.
static bool ask_with(struct rig *r, const char *request, int n, bool for_good)
{
	memory.left = n;
	memory.for_good = for_good;
	memory.failed = false;
	ask(r, request);
	memory.left = -1;
	return memory.failed;
}

static void change_without_memory(bool for_good)
{
	static const char list[] = "[" NEIGHBOUR("p1", "06") "," DIRECT("::/0", "p1") "," DELETE(
			"2001:db8::/32") "," VIA("2001:db8::/33") "," VIA("2001:db8::/34") "]";
	struct rig r;
	int n = 1;

	rig_open(&r, HS_FORWARD_ROUTE, 64);
	expect(&r, "[" NEIGHBOUR("p0", "05") "," VIA("2001:db8::/32") "]", "\"ok\"");
	for (; ask_with(&r, list, n, for_good); n++) {
		if (r.reply && strstr(r.reply, "\"ok\""))
			fail_msg("allocation %d failed, and the answer is %s", n, r.reply);
		assert_int_equal(next_of(&r, 1).port, 0);
		assert_int_equal(next_of(&r, 1).mac[5], 5);
		assert_int_equal(count_routes(&r), 2);
		expect(&r, "{\"neighbour_list\": {}}", "02:00:00:00:00:05\",\"routes\":1");
		expect(&r, "{\"route_list\": {}}", "\"count\":2");
		// Nor does it come later, with another change.
		expect(&r, DIRECT("fd00::/8", "p1"), "\"ok\"");
		assert_int_equal(next_of(&r, 1).port, 0);
		expect(&r, DELETE("fd00::/8"), "\"ok\"");
		assert_int_equal(count_routes(&r), 2);
	}
	assert_non_null(strstr(r.reply, "\"ok\""));
	assert_in_range(n, 5, 200);
	assert_int_equal(next_of(&r, 1).mac[5], 6);
	assert_int_equal(count_routes(&r), 4);
	rig_close(&r);
}

static void what_memory_does_not_allow_changes_nothing(void **state)
{
	(void)state;
	change_without_memory(false);
	change_without_memory(true);
}

static void a_list_is_whole_or_refused(void **state)
{
	static const char *const lists[] = {"{\"route_list\": {}}", "{\"neighbour_list\": {}}"};
	struct rig r;
	(void)state;
	rig_open(&r, HS_FORWARD_ROUTE, 64);
	expect(&r, "[" NEIGHBOUR("p0", "05") "," VIA("2001:db8::/32") "]", "\"ok\"");
	for (unsigned k = 0; k < 2; k++) {
		for (int n = 1; ask_with(&r, lists[k], n, false); n++) {
			if (r.reply && strstr(r.reply, "\"ok\""))
				assert_non_null(strstr(r.reply, "fe80::1"));
			// What was sorted is sorted anew each time.
			expect(&r, DIRECT("fd00::/8", "p1"), "\"ok\"");
			expect(&r, DELETE("fd00::/8"), "\"ok\"");
		}
		assert_non_null(strstr(r.reply, "fe80::1"));
	}
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
			cmocka_unit_test(what_memory_does_not_allow_changes_nothing),
			cmocka_unit_test(a_list_is_whole_or_refused),
			cmocka_unit_test(a_node_in_another_mode_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
