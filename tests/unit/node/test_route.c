// SPDX-License-Identifier: BSD-3-Clause
// A routing node where frames and counters alone do not show it: buffers that others hold, split
// headers, changes between bursts, ports without an address, several nodes in a row, and hundreds.
// What it drops and rewrites is in tests/golden/node.
#include "fixture.h"
#include "take_reports.h"

#include <time.h>

#include <rte_malloc.h>
#include <rte_memzone.h>

static const uint8_t OWN[4][6] = {{2, 0, 0, 0, 0, 0x02}, {2, 0, 0, 0, 1, 0x02}};
static const uint8_t NEXT[6] = {2, 0, 0, 0, 9, 9};

// 2001:db8::2, and what is around it.
static struct hs_fib_change route_to(uint8_t depth, uint16_t port, const uint8_t mac[6])
{
	struct hs_fib_change change = {.route = {.prefix = {0x20, 0x01, 0x0d, 0xb8},
						       .depth = depth,
						       .port = port}};

	if (depth == 128)
		change.route.prefix[15] = 2;
	memcpy(change.route.next_hop_mac, mac, 6);
	return change;
}

static void set_route(struct fixture *f, uint8_t depth, uint16_t port, const uint8_t mac[6])
{
	struct hs_fib_change change = route_to(depth, port, mac);
	assert_int_equal(hs_fib_change(hs_node_fib(f->t.node), &change, 1, NULL), 0);
}

static struct fixture *router_open(const enum hs_port_side *sides)
{
	struct hs_node_config config = {.id = 1, .forwarding = HS_FORWARD_ROUTE};
	struct fixture *f = fixture_open(sides, 2, 1500, config);

	for (unsigned p = 0; p < 2; p++)
		memcpy(f->t.ports[p].port.mac, OWN[p], 6);
	set_route(f, 32, 1, NEXT);
	return f;
}

// PLAIN as the router sends it.
static size_t routed(const uint8_t mac[6], uint8_t *bytes)
{
	size_t len = unhex(PLAIN, bytes);

	memcpy(bytes, mac, 6);
	memcpy(bytes + 6, OWN[1], 6);
	bytes[14 + 7]--;
	return len;
}

static void expect_routed(struct fixture *f, const uint8_t mac[6])
{
	uint8_t want[256], got[256];
	size_t len = routed(mac, want);

	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), len);
	assert_memory_equal(got, want, len);
}

static void a_packet_that_others_hold_is_copied_and_left_as_it_was(void **state)
{
	struct fixture *f = router_open(SOURCE_SIDES);
	uint8_t before[256];
	size_t len = unhex(PLAIN, before);
	(void)state;
	feed_hex(f, 0, PLAIN);
	struct rte_mbuf *held = f->t.ports[0].in[0];
	rte_mbuf_refcnt_update(held, 1);
	test_node_run(&f->t);
	expect_routed(f, NEXT);
	assert_memory_equal(rte_pktmbuf_mtod(held, const uint8_t *), before, len);
	assert_int_equal(rte_mbuf_refcnt_read(held), 1);
	rte_pktmbuf_free(held);
	fixture_close(f);
}

// The other packets of a burst do not hide that one may not be changed. A clone has one reference
// to itself, and its bytes are another buffer's.
static void the_last_packet_of_a_burst_is_copied_if_its_bytes_are_another_buffers(void **state)
{
	(void)state;
	for (unsigned cloned = 0; cloned < 2; cloned++) {
		struct fixture *f = router_open(SOURCE_SIDES);
		struct rte_mbuf **last = &f->t.ports[0].in[2], *held;
		uint8_t before[256];
		size_t len = unhex(PLAIN, before);
		for (unsigned i = 0; i < 3; i++)
			feed_hex(f, 0, PLAIN);
		held = *last;
		if (cloned)
			*last = rte_pktmbuf_clone(held, f->pool);
		else
			rte_mbuf_refcnt_update(held, 1);
		test_node_run(&f->t);
		for (unsigned i = 0; i < 3; i++)
			expect_routed(f, NEXT);
		assert_memory_equal(rte_pktmbuf_mtod(held, const uint8_t *), before, len);
		assert_int_equal(rte_mbuf_refcnt_read(held), 1);
		rte_pktmbuf_free(held);
		fixture_close(f);
	}
}

static void a_packet_that_others_hold_is_dropped_where_no_buffer_is_left(void **state)
{
	struct fixture *f = router_open(SOURCE_SIDES);
	struct rte_mbuf *all[254];
	uint8_t before[256];
	size_t len = unhex(PLAIN, before);
	(void)state;
	feed_hex(f, 0, PLAIN);
	struct rte_mbuf *held = f->t.ports[0].in[0];
	rte_mbuf_refcnt_update(held, 1);
	assert_int_equal(rte_pktmbuf_alloc_bulk(f->pool, all, 254), 0);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_NO_MBUF), 1);
	assert_memory_equal(rte_pktmbuf_mtod(held, const uint8_t *), before, len);
	rte_pktmbuf_free_bulk(all, 254);
	rte_pktmbuf_free(held);
	fixture_close(f);
}

static void headers_in_many_segments_are_routed(void **state)
{
	(void)state;
	for (size_t first = 1; first < 70; first += 4) {
		struct fixture *f = router_open(SOURCE_SIDES);
		uint8_t bytes[256];
		size_t len = unhex(PLAIN, bytes);
		test_node_feed(&f->t, 0, bytes, len, first);
		test_node_run(&f->t);
		expect_routed(f, NEXT);
		fixture_close(f);
	}
}

static void headers_that_cannot_be_joined_are_dropped(void **state)
{
	struct fixture *f = router_open(TRANSIT_SIDES);
	struct rte_mbuf *all[253];
	uint8_t bytes[256];
	size_t len = unhex(PLAIN, bytes);
	(void)state;
	test_node_feed(&f->t, 0, bytes, len, 20);
	assert_int_equal(rte_pktmbuf_alloc_bulk(f->pool, all, 253), 0);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_UNREADABLE), 1);
	rte_pktmbuf_free_bulk(all, 253);
	fixture_close(f);
}

static void a_port_without_an_address_takes_packets_for_any(void **state)
{
	struct fixture *f = router_open(SOURCE_SIDES);
	(void)state;
	memset(f->t.ports[0].port.mac, 0, 6);
	feed_hex(f, 0, PLAIN);
	memcpy(f->t.ports[0].port.mac, NEXT, 6);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_OTHER_MAC), 1);
	memset(f->t.ports[0].port.mac, 0, 6);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_routed(f, NEXT);
	fixture_close(f);
}

static void changed_routes_hold_from_the_next_burst_on(void **state)
{
	static const uint8_t other[6] = {2, 0, 0, 0, 7, 7};
	struct fixture *f = router_open(SOURCE_SIDES);
	struct hs_fib_change away[] = {route_to(128, 1, other), route_to(32, 1, other)};
	(void)state;
	set_route(f, 128, 1, other);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_routed(f, other);
	away[0].remove = true;
	assert_int_equal(hs_fib_change(hs_node_fib(f->t.node), away, 1, NULL), 0);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_routed(f, NEXT);
	away[1].remove = true;
	assert_int_equal(hs_fib_change(hs_node_fib(f->t.node), &away[1], 1, NULL), 0);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_NO_ROUTE), 1);
	fixture_close(f);
}

static void a_route_to_a_port_that_is_not_there_is_none(void **state)
{
	struct fixture *f = router_open(SOURCE_SIDES);
	(void)state;
	set_route(f, 128, 2, NEXT);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_NO_ROUTE), 1);
	fixture_close(f);
}

static void only_a_router_has_a_forwarding_table(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	(void)state;
	assert_null(hs_node_fib(f->t.node));
	fixture_close(f);
	f = router_open(SOURCE_SIDES);
	assert_int_equal(hs_fib_capacity(hs_node_fib(f->t.node)), 1024);
	fixture_close(f);
}

// ---- three routers in a row ----

static size_t pass_on(struct fixture *from, struct fixture *to, uint8_t *bytes, size_t room)
{
	size_t len = test_node_take(&from->t, 1, bytes, room);

	assert_int_not_equal(len, 0);
	test_node_feed(&to->t, 0, bytes, len, 0);
	test_node_run(&to->t);
	return len;
}

static void telemetry_crosses_routers_like_any_other_node(void **state)
{
	const enum hs_port_side *sides[] = {SOURCE_SIDES, TRANSIT_SIDES, SINK_SIDES};
	struct fixture *nodes[3];
	struct hs_rule rule = vector_rule(7);
	struct hs_report_record record;
	struct hs_report report;
	uint8_t bytes[2048], want[256];
	(void)state;
	for (unsigned n = 0; n < 3; n++) {
		nodes[n] = router_open(sides[n]);
		test_node_rule(&nodes[n]->t, &rule);
		set_route(nodes[n], 128, 1, OWN[0]);
	}
	for (unsigned i = 0; i < 10; i++) {
		feed_hex(nodes[0], 0, PLAIN);
		test_node_run(&nodes[0]->t);
		pass_on(nodes[0], nodes[1], bytes, sizeof(bytes));
		pass_on(nodes[1], nodes[2], bytes, sizeof(bytes));
		size_t len = unhex(PLAIN, want);
		memcpy(want, OWN[0], 6);
		memcpy(want + 6, OWN[1], 6);
		want[14 + 7] -= 3; // telemetry does not cover the hop limit; nothing else changed
		assert_int_equal(test_node_take(&nodes[2]->t, 1, bytes, sizeof(bytes)), len);
		assert_memory_equal(bytes, want, len);
		assert_int_equal(take_reports(nodes[2]->t.node, &record, 1), 1);
		assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), 0);
		assert_int_equal(report.telemetry.n_hops, 1);
		assert_int_equal(report.telemetry.e2e.tx_packets, i + 1);
	}
	for (unsigned n = 0; n < 3; n++) {
		assert_int_equal(counters(nodes[n], 7).tx_packets, 10);
		fixture_close(nodes[n]);
	}
}

// ---- many in one process ----

#define ROUTERS 500
#define ROUTES	200

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void count_zone(const struct rte_memzone *zone, void *n)
{
	(void)zone;
	++*(unsigned *)n;
}

static unsigned memzones(void)
{
	unsigned n = 0;

	rte_memzone_walk(count_zone, &n);
	return n;
}

static uint64_t eal_bytes(void)
{
	struct rte_malloc_socket_stats stats;

	rte_malloc_get_socket_stats(0, &stats);
	return stats.heap_allocsz_bytes;
}

static struct hs_node *small_node(
		enum hs_forwarding_mode forwarding, struct hs_clock *clock, unsigned number)
{
	struct hs_node_config config = {.id = (uint16_t)number,
			.n_workers = 1,
			.rules = 16,
			.report_ring = 16,
			.forwarding = forwarding,
			.routes = 256};
	struct hs_error err = {0};
	struct hs_node *node;

	if (hs_node_create(&config, clock, NULL, &node, &err) != 0)
		fail_msg("node %u: %s", number, err.message);
	return node;
}

static void fill_routes(struct hs_node *node, unsigned number)
{
	struct hs_fib_change changes[ROUTES] = {0};

	for (unsigned i = 0; i < ROUTES; i++) {
		changes[i] = route_to(64, (uint16_t)((i + number) % 4), NEXT);
		changes[i].route.prefix[6] = (uint8_t)i;
	}
	assert_int_equal(hs_fib_change(hs_node_fib(node), changes, ROUTES, NULL), 0);
}

static void five_hundred_routers_with_routes_live_in_one_process(void **state)
{
	static struct hs_node *nodes[ROUTERS];
	struct hs_clock *clock;
	struct timespec start;
	unsigned zones = memzones();
	uint64_t bytes = eal_bytes();
	(void)state;
	assert_int_equal(hs_clock_create_manual(NOW, &clock), 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned n = 0; n < ROUTERS; n++) {
		nodes[n] = small_node(HS_FORWARD_ROUTE, clock, n);
		fill_routes(nodes[n], n);
	}
	double filled = seconds_since(&start);
	for (unsigned n = 0; n < ROUTERS; n++)
		fill_routes(nodes[n], n + 1);
	print_message("%u routers of %u routes: %.2f s, %.2f s to change all; a node takes "
		      "%.1f memzones, %lu bytes\n",
			ROUTERS, ROUTES, filled, seconds_since(&start) - filled,
			(double)(memzones() - zones) / ROUTERS, (eal_bytes() - bytes) / ROUTERS);
	assert_true(memzones() - zones <= 5 * ROUTERS);
	for (unsigned n = 0; n < ROUTERS; n++)
		hs_node_destroy(nodes[n]);
	assert_int_equal(memzones(), zones);
	assert_int_equal(eal_bytes(), bytes);
	hs_clock_destroy(clock);
}

static void a_thousand_nodes_live_in_one_process(void **state)
{
	static struct hs_node *nodes[1000];
	struct hs_clock *clock;
	unsigned zones = memzones();
	(void)state;
	assert_int_equal(hs_clock_create_manual(NOW, &clock), 0);
	for (unsigned n = 0; n < 1000; n++)
		nodes[n] = small_node(HS_FORWARD_PATCH, clock, n);
	assert_true(memzones() - zones <= 2000);
	for (unsigned n = 0; n < 1000; n++)
		hs_node_destroy(nodes[n]);
	assert_int_equal(memzones(), zones);
	hs_clock_destroy(clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_packet_that_others_hold_is_copied_and_left_as_it_was),
			cmocka_unit_test(
					a_packet_that_others_hold_is_dropped_where_no_buffer_is_left),
			cmocka_unit_test(
					the_last_packet_of_a_burst_is_copied_if_its_bytes_are_another_buffers),
			cmocka_unit_test(headers_in_many_segments_are_routed),
			cmocka_unit_test(headers_that_cannot_be_joined_are_dropped),
			cmocka_unit_test(a_port_without_an_address_takes_packets_for_any),
			cmocka_unit_test(changed_routes_hold_from_the_next_burst_on),
			cmocka_unit_test(a_route_to_a_port_that_is_not_there_is_none),
			cmocka_unit_test(only_a_router_has_a_forwarding_table),
			cmocka_unit_test(telemetry_crosses_routers_like_any_other_node),
			cmocka_unit_test(five_hundred_routers_with_routes_live_in_one_process),
			cmocka_unit_test(a_thousand_nodes_live_in_one_process),
	};
	dpdk_env_init("1024");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
