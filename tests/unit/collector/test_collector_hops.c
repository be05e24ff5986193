// SPDX-License-Identifier: BSD-3-Clause
// The latencies of nodes, also of more nodes than there is room for.
#include "collector_hops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static struct hs_collector_hops hops;

static void tell(uint32_t node_id, uint64_t latency, int64_t now_ns)
{
	const struct hs_collect_point point = {.kind = HS_COLLECT_POINT_HOP,
			.has_value = true,
			.node_id = node_id,
			.value = latency};

	hs_collector_hops_note(&hops, &(struct hs_collect_event){.time_ns = now_ns,
						      .told_ns = now_ns,
						      .points = &point,
						      .n_points = 1});
}

static uint64_t latency_of(uint32_t node_id)
{
	uint32_t at = hs_u32_map_find(&hops.by_node, node_id);

	return at == HS_U32_MAP_NONE ? 0 : hops.of[at].latency;
}

static void invented_nodes_keep_no_place(void **state)
{
	(void)state;
	for (uint32_t node = 0; node < HS_COLLECTOR_NODES; node++)
		tell(node, node + 1, SECOND);
	tell(5000, 7, 2 * SECOND); // all are alive
	assert_int_equal(latency_of(5000), 0);
	assert_int_equal(hops.left_out, 1);
	for (unsigned i = 0; i < 2; i++)
		tell(9, 80 + i, 100 * SECOND);
	for (uint32_t node = 5000; node < 5100; node++)
		tell(node, 7, 101 * SECOND);
	assert_int_equal(latency_of(5050), 7);
	assert_int_equal(latency_of(9), 81); // is told of, and stays
	assert_int_equal(hops.n, HS_COLLECTOR_NODES);
	assert_int_equal(hops.by_node.count, HS_COLLECTOR_NODES);
	hs_collector_hops_fini(&hops);
}

// Flow and node are pushed with the time of the flow's last report.
static void a_push_replaces_no_newer_value(void **state)
{
	const struct hs_collect_point point = {.kind = HS_COLLECT_POINT_HOP,
			.cause = HS_COLLECT_PUSH,
			.has_value = true,
			.node_id = 3,
			.value = 50};
	const struct hs_collect_event event = {.time_ns = 210 * SECOND,
			.told_ns = 200 * SECOND,
			.points = &point,
			.n_points = 1};

	(void)state;
	memset(&hops, 0, sizeof(hops));
	hs_collector_hops_note(&hops, &event);
	assert_int_equal(latency_of(3), 50);
	assert_int_equal(hops.of[0].time_ns, 200 * SECOND);
	tell(3, 10, 205 * SECOND);
	hs_collector_hops_note(&hops, &event);
	assert_int_equal(latency_of(3), 10);
	tell(3, 11, 204 * SECOND); // the clock was set back
	assert_int_equal(latency_of(3), 11);
	hs_collector_hops_fini(&hops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(invented_nodes_keep_no_place),
			cmocka_unit_test(a_push_replaces_no_newer_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
