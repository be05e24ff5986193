// SPDX-License-Identifier: BSD-3-Clause
// Plans of probes, against a model that sends each probe by its ports through the links of the
// graph.
#include "gpint_graphs.h"

#include "gpint_plan.h"
#include "no_memory.h"
#include "probe_stack.h"
#include "sanitized.h"
#include "variate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIMIT_S (SANITIZED ? 20 : 2) // of processor time

static struct test_graph graph;

static void plan_as(int (*how)(const struct hs_gpint_graph *, const struct hs_gpint_wish *,
				    struct hs_gpint_plan *, struct hs_error *),
		uint32_t paths, uint32_t mtu, uint64_t seed, struct hs_gpint_plan *plan)
{
	const struct hs_gpint_wish wish = {.paths = paths, .mtu = mtu, .seed = seed};
	struct hs_error err = {0};

	if (how(&graph.graph, &wish, plan, &err) < 0)
		fail_msg("%s: %s: %s", err.code, err.path, err.message);
}

// ---- the model ----

struct truth {
	uint32_t visits[HS_GPINT_SWITCHES];
	uint64_t hops;
	uint32_t longest, shortest, largest;
};

// Sends the probe of a path. A switch adds its entry and its values, and takes away the
// source-routing entry of 3 bytes.
static void send(const struct hs_gpint_path *path, uint32_t mtu, struct truth *truth)
{
	uint32_t bytes = 20 + 8 + 8 + 3 * path->n_hops, at = path->hops[0].at;
	static bool told[HS_GPINT_SWITCHES];

	memset(told, 0, sizeof(told));
	for (uint32_t i = 0; i < path->n_hops; i++) {
		const struct hs_gpint_hop *hop = &path->hops[i];
		assert_int_equal(hop->at, at);
		assert_int_equal(hop->first, 0);
		assert_int_equal(hop->end, told[at] ? 0 : graph.values[at]);
		told[at] = true;
		truth->visits[at]++;
		bytes += 4 + 4u * (hop->end - hop->first) - 3;
		assert_true(bytes <= mtu);
		if (i + 1 < path->n_hops)
			at = graph_behind(&graph, at, hop->next_port);
		else
			assert_int_equal(hop->next_port, 0);
	}
	assert_int_equal(bytes, path->bytes);
	truth->hops += path->n_hops;
	truth->longest = path->n_hops > truth->longest ? path->n_hops : truth->longest;
	truth->shortest = path->n_hops < truth->shortest ? path->n_hops : truth->shortest;
	truth->largest = bytes > truth->largest ? bytes : truth->largest;
}

// Each switch is visited, and what the plan says of itself is so.
static void assert_plan(const struct hs_gpint_plan *plan, uint32_t mtu)
{
	static struct truth truth;

	memset(&truth, 0, sizeof(truth));
	truth.shortest = UINT32_MAX;
	for (uint32_t p = 0; p < plan->n_paths; p++)
		send(&plan->paths[p], mtu, &truth);
	for (uint32_t at = 0; at < graph.graph.n_switches; at++)
		assert_true(truth.visits[at] > 0);
	assert_int_equal(plan->n_switches, graph.graph.n_switches);
	assert_int_equal(plan->covered, graph.graph.n_switches);
	assert_int_equal(plan->sum_hops, truth.hops);
	assert_int_equal(plan->overlap, truth.hops - graph.graph.n_switches);
	assert_int_equal(plan->max_hops, truth.longest);
	assert_int_equal(plan->min_hops, truth.shortest);
	assert_int_equal(plan->max_bytes, truth.largest);
}

static void assert_balanced(const struct hs_gpint_plan *plan)
{
	assert_true(4.0 * plan->max_hops * plan->n_paths <= 5.0 * (double)plan->sum_hops);
}

// ---- GPINT ----

static void each_of_1000_random_graphs_is_covered_by_balanced_probes_that_fit(void **state)
{
	(void)state;
	struct hs_rng rng;

	hs_rng_init(&rng, 16);
	for (unsigned i = 0; i < CASES(1000); i++) {
		struct hs_gpint_plan plan;
		graph_random(&graph, &rng, i % 10 ? 60 : 200, 8);
		uint32_t n = graph.graph.n_switches, k = 1 + (uint32_t)hs_variate_below(&rng, n);
		uint32_t mtu = 72 + (uint32_t)hs_variate_below(&rng, 2129); // 72 to 2200
		plan_as(hs_gpint_plan, k, mtu, i, &plan);
		assert_plan(&plan, mtu);
		assert_balanced(&plan);
		assert_true(plan.n_paths >= k);
		hs_gpint_plan_fini(&plan);
	}
}

// GPINT-2, -3 and -5 of the paper, with one value of each switch.
static void small_worlds_have_short_paths_that_hardly_overlap(void **state)
{
	(void)state;
	static const uint32_t tenths[] = {2, 3, 5};
	struct hs_rng rng;

	hs_rng_init(&rng, 1);
	for (uint32_t n = 10; n <= 100; n += 10)
		for (unsigned i = 0; i < 3; i++) {
			uint32_t k = n * tenths[i] / 10;
			struct hs_gpint_plan plan;
			graph_small_world(&graph, &rng, n, 4, 10);
			memset(graph.values, 1, n);
			plan_as(hs_gpint_plan, k, 2200, n, &plan);
			assert_plan(&plan, 2200);
			assert_balanced(&plan);
			assert_in_range(plan.n_paths, k, k + k / 20);
			assert_true(plan.max_hops <= (n + k - 1) / k + 1);
			assert_true(plan.overlap <= n / 10);
			hs_gpint_plan_fini(&plan);
		}
}

static void assert_thousand(const char *shape, uint32_t paths, uint64_t overlap)
{
	struct hs_gpint_plan plan;
	clock_t begin = clock();

	plan_as(hs_gpint_plan, paths, 2200, 7, &plan);
	double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	print_message("%s, %u paths: %.2f s, %u to %u hops, overlap %u, %u bytes\n", shape,
			plan.n_paths, seconds, plan.min_hops, plan.max_hops, (unsigned)plan.overlap,
			plan.max_bytes);
	assert_plan(&plan, 2200);
	assert_balanced(&plan);
	assert_true(plan.overlap <= overlap);
	assert_true(seconds <= LIMIT_S);
	hs_gpint_plan_fini(&plan);
}

static void a_thousand_switches_are_planned_in_two_seconds(void **state)
{
	(void)state;
	static const uint32_t paths[] = {1, 30, 200, 300, 500, 1000};
	struct hs_rng rng;

	hs_rng_init(&rng, 3);
	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i += SANITIZED ? 5 : 1) {
		graph_small_world(&graph, &rng, 1000, 6, 10);
		memset(graph.values, 4, 1000);
		assert_thousand("small world", paths[i], 20);
		graph_small_world(&graph, &rng, 1000, 20, 2);
		assert_thousand("dense small world", paths[i], 20);
		graph_begin(&graph, 1000);
		graph_tree(&graph, &rng, 20, 0);
		assert_thousand("tree", paths[i], 1500);
	}
}

static bool same(const struct hs_gpint_plan *a, const struct hs_gpint_plan *b)
{
	return a->sum_hops == b->sum_hops && a->n_paths == b->n_paths &&
	       memcmp(a->hops, b->hops, a->sum_hops * sizeof(*a->hops)) == 0;
}

// The codec writes the probe of a path, and adds what each switch adds.
static size_t codec_bytes(const struct hs_gpint_path *path)
{
	static uint8_t payload[4096];
	static const uint32_t values[HS_PROBE_VALUES];
	struct hs_probe_entry entries[64];
	struct hs_probe_stack stack;
	size_t bytes;

	assert_true(path->n_hops <= 64);
	for (uint32_t i = 0; i < path->n_hops; i++)
		entries[i] = (struct hs_probe_entry){.port = path->hops[i].next_port,
				.first = path->hops[i].first,
				.end = path->hops[i].end};
	bytes = hs_probe_stack_write(
			payload, 7, HS_PROBE_PORT_PACKETS, entries, (uint16_t)path->n_hops);
	for (uint32_t i = 0; i < path->n_hops; i++) {
		assert_int_equal(hs_probe_stack_open(payload, bytes, &stack), 0);
		struct hs_probe_entry entry = hs_probe_stack_entry(&stack, 0);
		const struct hs_probe_hop hop = {.n_values = entry.end - entry.first};
		hs_probe_stack_add(payload, &stack, &hop, values);
		bytes += hs_probe_stack_growth(hop.n_values);
	}
	assert_int_equal(hs_probe_stack_open(payload, bytes, &stack), 0);
	assert_int_equal(stack.n_entries, 0);
	return 20 + 8 + bytes;
}

static void planned_bytes_are_those_of_the_codec(void **state)
{
	(void)state;
	struct hs_gpint_plan plan;
	struct hs_rng rng;

	hs_rng_init(&rng, 5);
	graph_random(&graph, &rng, 60, 8);
	plan_as(hs_gpint_plan, 1 + graph.graph.n_switches / 10, 2200, 5, &plan);
	for (uint32_t p = 0; p < plan.n_paths; p++)
		assert_int_equal(plan.paths[p].bytes, codec_bytes(&plan.paths[p]));
	hs_gpint_plan_fini(&plan);
}

static void a_plan_is_the_seeds(void **state)
{
	(void)state;
	struct hs_gpint_plan first, again, other;
	struct hs_rng rng;

	hs_rng_init(&rng, 5);
	graph_small_world(&graph, &rng, 100, 4, 5);
	plan_as(hs_gpint_plan, 30, 1500, 5, &first);
	plan_as(hs_gpint_plan, 30, 1500, 5, &again);
	plan_as(hs_gpint_plan, 30, 1500, 6, &other);
	assert_true(same(&first, &again));
	assert_false(same(&first, &other));
	hs_gpint_plan_fini(&first);
	hs_gpint_plan_fini(&again);
	hs_gpint_plan_fini(&other);
}

// A star needs overlap: two leaves are neighbours only of its centre.
static void a_star_overlaps_in_its_centre_alone(void **state)
{
	(void)state;
	struct hs_gpint_plan plan;

	graph_begin(&graph, 10);
	for (uint32_t at = 1; at < 10; at++)
		graph_join(&graph, 0, at);
	plan_as(hs_gpint_plan, 3, 1500, 1, &plan);
	assert_plan(&plan, 1500);
	assert_int_equal(plan.n_paths, 3);
	assert_int_equal(plan.max_hops, 5); // three leaves, and the centre between them
	assert_int_equal(plan.overlap, 5);
	hs_gpint_plan_fini(&plan);
}

static void probes_that_are_too_large_become_more_probes(void **state)
{
	(void)state;
	struct hs_gpint_plan plan;

	graph_begin(&graph, 8);
	for (uint32_t at = 1; at < 8; at++)
		graph_join(&graph, at - 1, at);
	memset(graph.values, 5, 8);
	plan_as(hs_gpint_plan, 1, 36 + 8 * 24, 1, &plan);
	assert_int_equal(plan.n_paths, 1);
	assert_int_equal(plan.max_bytes, 228);
	hs_gpint_plan_fini(&plan);
	plan_as(hs_gpint_plan, 1, 227, 1, &plan);
	assert_plan(&plan, 227);
	assert_balanced(&plan);
	assert_true(plan.n_paths > 1);
	hs_gpint_plan_fini(&plan);
	plan_as(hs_gpint_plan, 1, 60, 1, &plan);
	assert_int_equal(plan.n_paths, 8);
	hs_gpint_plan_fini(&plan);
}

// ---- Euler ----

static uint32_t count_odd(void)
{
	uint32_t n = 0;

	for (uint32_t at = 0; at < graph.graph.n_switches; at++)
		n += graph.ports[at] % 2;
	return n;
}

// Marks the link that a port leads into.
static void cross(uint32_t at, uint8_t port, uint8_t *crossed)
{
	for (size_t i = 0; i < graph.graph.n_links; i++)
		for (unsigned end = 0; end < 2; end++)
			if (graph.links[i].ends[end] == at && graph.links[i].ports[end] == port)
				crossed[i]++;
}

static void assert_each_link_once(const struct hs_gpint_plan *plan)
{
	static uint8_t crossed[GRAPH_LINKS];

	memset(crossed, 0, sizeof(crossed));
	for (uint32_t p = 0; p < plan->n_paths; p++)
		for (uint32_t i = 0; i + 1 < plan->paths[p].n_hops; i++)
			cross(plan->paths[p].hops[i].at, plan->paths[p].hops[i].next_port, crossed);
	for (size_t i = 0; i < graph.graph.n_links; i++)
		assert_int_equal(crossed[i], 1);
	assert_int_equal(plan->covered_links, graph.graph.n_links);
}

static bool has_parallel_links(void)
{
	for (size_t i = 0; i < graph.graph.n_links; i++)
		for (size_t k = 0; k < i; k++) {
			const uint32_t *a = graph.links[i].ends, *b = graph.links[k].ends;
			if ((a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]))
				return true;
		}
	return false;
}

static void eulers_paths_cross_each_link_once_by_the_fewest_paths(void **state)
{
	(void)state;
	struct hs_rng rng;
	unsigned parallel = 0;

	hs_rng_init(&rng, 2);
	for (unsigned i = 0; i < CASES(300); i++) {
		struct hs_gpint_plan plan;
		uint32_t mtu = i % 2 ? 1u << 20 : 120;
		graph_random(&graph, &rng, 40, 8);
		plan_as(hs_gpint_euler, 0, mtu, 0, &plan);
		assert_plan(&plan, mtu);
		if (i % 2)
			assert_int_equal(plan.n_paths, count_odd() ? count_odd() / 2 : 1);
		assert_each_link_once(&plan);
		parallel += has_parallel_links();
		hs_gpint_plan_fini(&plan);
	}
	assert_in_range(parallel, CASES(20), CASES(280));
}

static void eulers_paths_are_longer_and_less_equal(void **state)
{
	(void)state;
	struct hs_gpint_plan gpint, euler;
	struct hs_rng rng;

	hs_rng_init(&rng, 9);
	graph_small_world(&graph, &rng, 100, 4, 10);
	memset(graph.values, 1, 100);
	plan_as(hs_gpint_plan, 30, 2200, 1, &gpint);
	plan_as(hs_gpint_euler, 30, 2200, 1, &euler);
	assert_true(euler.max_hops > 4 * gpint.max_hops);
	assert_true(euler.overlap > gpint.overlap);
	assert_true(4.0 * euler.max_hops * euler.n_paths > 5.0 * (double)euler.sum_hops);
	hs_gpint_plan_fini(&gpint);
	hs_gpint_plan_fini(&euler);
}

// ---- what is refused ----

static void refuse(const struct hs_gpint_wish *wish, bool euler, const char *code, const char *path,
		const char *says)
{
	struct hs_gpint_plan plan;
	struct hs_error err = {0};

	assert_int_equal((euler ? hs_gpint_euler : hs_gpint_plan)(&graph.graph, wish, &plan, &err),
			-EINVAL);
	assert_string_equal(err.code, code);
	assert_string_equal(err.path, path);
	if (!strstr(err.message, says))
		fail_msg("\"%s\" does not say \"%s\"", err.message, says);
	assert_null(plan.paths);
	hs_gpint_plan_fini(&plan);
}

static void wrong_input_is_refused_by_name(void **state)
{
	(void)state;
	static const char *const names[] = {"oslo", "rome", "bonn", "bern"};
	const struct hs_gpint_wish good = {.paths = 2, .mtu = 1500}, none = {.mtu = 1500},
				   many = {.paths = 5, .mtu = 1500}, small = {2, 59, 0};

	graph_begin(&graph, 4);
	graph.graph.names = names;
	graph_join(&graph, 0, 1);
	graph_join(&graph, 2, 3);
	refuse(&good, false, "unreachable", "switches", "from node oslo to node bonn");
	refuse(&good, true, "unreachable", "switches", "from node oslo to node bonn");
	graph_join(&graph, 1, 2);
	refuse(&none, false, "out_of_range", "paths", "0 paths over 4 nodes");
	refuse(&many, false, "out_of_range", "paths", "5 paths over 4 nodes");
	graph.values[3] = 5;
	refuse(&small, false, "out_of_range", "mtu",
			"59 bytes have no room for the values of node bern");
	graph.values[3] = 4;
	refuse(&small, true, "out_of_range", "mtu", "node bonn and a neighbour");
	graph.links[1].ports[0] = 0;
	refuse(&good, false, "out_of_range", "links[1]", "at port 0");
	graph.links[1].ports[0] = 1;
	graph.links[1].ends[1] = 4;
	refuse(&good, false, "out_of_range", "links[1]", "no node 4");
	graph.links[1].ends[1] = 2;
	refuse(&good, false, "bad_value", "links[1]", "from node bonn to itself");
	graph.graph.n_switches = 0;
	refuse(&good, false, "out_of_range", "switches", "0 nodes");
	graph.graph.n_switches = HS_GPINT_SWITCHES + 1;
	refuse(&good, false, "out_of_range", "switches", "32768 nodes");
}

// ---- memory ----

static long allocations_left = -1; // negative: no limit

static bool memory_is_out(void)
{
	return !(allocations_left < 0 || allocations_left-- > 0 || (allocations_left = 0));
}

static void a_plan_without_memory_leaves_nothing_behind(void **state)
{
	(void)state;
	const struct hs_gpint_wish wish = {.paths = 6, .mtu = 1500};
	struct hs_rng rng;

	hs_rng_init(&rng, 4);
	graph_small_world(&graph, &rng, 20, 4, 4);
	for (unsigned how = 0; how < 2; how++) {
		int rc = -ENOMEM;
		for (long left = 0; rc < 0; left++) {
			struct hs_gpint_plan plan;
			allocations_left = left;
			rc = (how ? hs_gpint_euler : hs_gpint_plan)(
					&graph.graph, &wish, &plan, NULL);
			allocations_left = -1;
			assert_true(rc == 0 || rc == -ENOMEM);
			assert_true((rc == 0) == (plan.paths != NULL));
			hs_gpint_plan_fini(&plan);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					each_of_1000_random_graphs_is_covered_by_balanced_probes_that_fit),
			cmocka_unit_test(small_worlds_have_short_paths_that_hardly_overlap),
			cmocka_unit_test(a_thousand_switches_are_planned_in_two_seconds),
			cmocka_unit_test(planned_bytes_are_those_of_the_codec),
			cmocka_unit_test(a_plan_is_the_seeds),
			cmocka_unit_test(a_star_overlaps_in_its_centre_alone),
			cmocka_unit_test(probes_that_are_too_large_become_more_probes),
			cmocka_unit_test(eulers_paths_cross_each_link_once_by_the_fewest_paths),
			cmocka_unit_test(eulers_paths_are_longer_and_less_equal),
			cmocka_unit_test(wrong_input_is_refused_by_name),
			cmocka_unit_test(a_plan_without_memory_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
