// SPDX-License-Identifier: BSD-3-Clause
// Topologies, patterns, changes of links, graphs.
#include "scenario_text.h"

#include <stdio.h>

// ---- topologies and patterns ----

static bool is_up(const void *up, uint32_t arc)
{
	return ((const bool *)up)[arc];
}

static const char fat_tree[] = "{'name': 'f', 'duration_s': 1, 'forwarding': 'shortest_path',"
			       " 'rules': 4096,"
			       " 'topology': {'kind': 'fat_tree', 'k': %u,"
			       "  'link': {'delay_ns': 10, 'reverse': {'delay_ns': 20}}},"
			       " 'traffic': [{'name': 'perm', 'rate_pps': 1,"
			       "  'pattern': {'kind': 'permutation', 'flows': %u}}],"
			       " 'requests': [{'node': '*', 'traffic': '*',"
			       "  'int_request': {'mode': 'count', 'mode_setting': 10}}]}";

static void parse_fat_tree(unsigned k, unsigned flows, uint64_t seed)
{
	const struct hs_scenario_override override = {.has_seed = true, .seed = seed};
	char text[1024];
	snprintf(text, sizeof(text), fat_tree, k, flows);
	parse_with(text, &override);
}

static void a_fat_tree_names_what_it_makes(void **state)
{
	(void)state;
	parse_fat_tree(4, 1, 1);

	assert_string_equal(s.nodes[0].name, "core-1");
	assert_string_equal(s.nodes[4].name, "agg-1-1");
	assert_string_equal(s.nodes[19].name, "edge-4-2");
	assert_string_equal(s.links[0].name, "core-1-agg-1-1");
	assert_string_equal(s.links[1].name, "core-2-agg-1-1");
	assert_int_equal(s.links[31].directions[0].delay_ns, 10);
	assert_int_equal(s.links[31].directions[1].delay_ns, 20);
	assert_host(15, "h-4-2-2", 19, "2001:db8:4:2::2", false);

	parse_fat_tree(20, 1, 1);
	assert_host(1999, "h-20-10-10", 499, "2001:db8:20:10::10", false);
}

// Counts the switches at each distance from a switch, by a search that the lab does not use. The
// lab finds the same distances.
static void count_distances(uint32_t from, uint32_t at[6])
{
	uint32_t *far = malloc(s.n_nodes * sizeof(*far)), *hops = malloc(s.n_nodes * sizeof(*hops));

	memset(far, 0xff, s.n_nodes * sizeof(*far));
	memset(at, 0, 6 * sizeof(*at));
	far[from] = 0;
	for (uint32_t i = 0; i < 5 * s.n_links; i++) {
		uint32_t step = i / (uint32_t)s.n_links;
		uint32_t a = s.links[i % s.n_links].from, b = s.links[i % s.n_links].to;
		if (far[a] == step && far[b] > step + 1)
			far[b] = step + 1;
		if (far[b] == step && far[a] > step + 1)
			far[a] = step + 1;
	}
	hs_scenario_distances(&s, NULL, NULL, from, hops);
	assert_memory_equal(far, hops, s.n_nodes * sizeof(*far));
	for (size_t i = 0; i < s.n_nodes; i++)
		at[far[i] < 5 ? far[i] : 5]++;
	free(far);
	free(hops);
}

// Of each switch with hosts: itself; its aggregation switches; core switches and the pod's other
// edge switches; the aggregation and the edge switches of the other pods.
static void assert_tree(uint32_t half, uint32_t pods)
{
	const uint32_t expected[6] = {
			1, half, half * half + half - 1, (pods - 1) * half, (pods - 1) * half, 0};
	uint32_t at[6], ends[500] = {0};

	assert_int_equal(s.n_nodes, half * half + 2 * pods * half);
	assert_int_equal(s.n_links, 2 * pods * half * half);
	assert_int_equal(s.n_hosts, pods * half * half);
	for (size_t i = 0; i < s.n_links; i++) {
		ends[s.links[i].from]++;
		ends[s.links[i].to]++;
	}
	for (uint32_t i = 0; i < s.n_nodes; i++) {
		uint32_t ports = s.nodes[i].n_links + s.nodes[i].n_hosts;
		assert_int_equal(ports, i < half * half ? pods : 2 * half);
		assert_int_equal(ends[i], s.nodes[i].n_links);
		assert_int_equal(s.nodes[i].id, i + 1);
	}
	for (size_t h = 0; h < s.n_hosts; h += half) {
		count_distances(s.hosts[h].at, at);
		assert_memory_equal(at, expected, sizeof(at));
	}
}

static void each_tree_is_as_wide_and_as_deep_as_its_definition(void **state)
{

	(void)state;
	for (unsigned k = 2; k <= 20; k += 2) {
		parse_fat_tree(k, 1, 1);
		assert_tree(k / 2, k);
	}
	parse("{'name': 'h', 'duration_s': 1, 'forwarding': 'shortest_path',"
	      " 'topology': {'kind': 'hula', 'addresses': 'ipv4',"
	      "  'node': {'rate_pps': 9, 'queue_packets': 7}, 'link': {'delay_ns': 10}}}");
	assert_tree(2, 2);
	assert_string_equal(s.nodes[0].name, "spine-1");
	assert_string_equal(s.nodes[4].name, "leaf-1-1");
	assert_string_equal(s.nodes[11].name, "tor-2-2");
	assert_string_equal(s.links[15].name, "leaf-2-2-tor-2-2");
	assert_host(7, "h-2-2-2", 11, "::ffff:10.2.2.2", false);
	assert_int_equal(s.nodes[11].rate_pps, 9);
	assert_int_equal(s.nodes[11].queue_packets, 7);
}

// ---- small worlds ----

static void parse_world(unsigned n, unsigned k, double beta, unsigned seed)
{
	char text[512];

	snprintf(text, sizeof(text),
			"{'name': 'w', 'duration_s': 1, 'forwarding': 'shortest_path', 'seed': %u,"
			" 'topology': {'kind': 'watts_strogatz', 'n': %u, 'k': %u, 'beta': %g,"
			"  'seed': %u, 'addresses': 'ipv4', 'link': {'delay_ns': 10}}}",
			seed * 3, n, k, beta, seed);
	parse(text);
}

// Counts the links that do not lead to one of the k nearest switches. No two links have the same
// ends.
static unsigned count_moved(unsigned k)
{
	unsigned moved = 0;

	for (size_t i = 0; i < s.n_links; i++) {
		uint32_t a = s.links[i].from, b = s.links[i].to, n = (uint32_t)s.n_nodes;
		uint32_t far = (b + n - a) % n;
		moved += far > k / 2 && n - far > k / 2;
		assert_int_not_equal(a, b);
		for (size_t other = 0; other < i; other++) {
			uint32_t c = s.links[other].from, d = s.links[other].to;
			assert_false((a == c && b == d) || (a == d && b == c));
		}
	}
	return moved;
}

static void assert_connected(void)
{
	uint32_t *hops = calloc(s.n_nodes, sizeof(*hops));

	hs_scenario_distances(&s, NULL, NULL, 0, hops);
	for (size_t i = 0; i < s.n_nodes; i++)
		assert_int_not_equal(hops[i], HS_FAR);
	free(hops);
}

static void a_small_world_is_a_ring_whose_links_move_with_probability_beta(void **state)
{
	(void)state;
	static const struct {
		unsigned n, k;
		double beta;
		unsigned least, most; // links that moved: five standard deviations
	} cases[] = {{10, 4, 0, 0, 0}, {100, 4, 0.1, 4, 36}, {1000, 6, 0.1, 210, 390},
			{1200, 2, 0.05, 20, 98}, {500, 2, 1, 1, 500}, {300, 20, 1, 2000, 3000},
			{3, 2, 0.5, 0, 0}, {1000, 4, 0.5, 850, 1110}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		parse_world(cases[c].n, cases[c].k, cases[c].beta, 7);
		assert_int_equal(s.n_nodes, cases[c].n);
		assert_int_equal(s.n_links, cases[c].n * cases[c].k / 2);
		assert_in_range(count_moved(cases[c].k), cases[c].least, cases[c].most);
		assert_connected();
		assert_int_equal(s.n_hosts, cases[c].n < 60 ? cases[c].n : 60);
		for (size_t h = 0; h < s.n_hosts; h++)
			assert_int_equal(s.nodes[s.hosts[h].at].n_hosts, 1);
		for (size_t i = 0; i < s.n_nodes; i++)
			assert_in_range(s.nodes[i].n_links, 1, 31);
	}
}

// Returns whether the links, hosts and traffic of two scenarios of one size have the same ends.
static bool same_ends(const struct hs_scenario *a, const struct hs_scenario *b)
{
	bool same = true;

	for (size_t i = 0; i < a->n_links; i++)
		same = same && a->links[i].from == b->links[i].from &&
		       a->links[i].to == b->links[i].to;
	for (size_t i = 0; i < a->n_hosts; i++)
		same = same && a->hosts[i].at == b->hosts[i].at;
	for (size_t i = 0; i < a->n_traffic; i++)
		same = same && a->traffic[i].from == b->traffic[i].from &&
		       a->traffic[i].to == b->traffic[i].to;
	return same;
}

static void a_small_world_names_what_it_makes(void **state)
{
	(void)state;
	parse_world(100, 4, 0.2, 5);
	assert_string_equal(s.nodes[99].name, "s-100");
	assert_int_equal(s.nodes[99].id, 100);
	assert_string_equal(s.hosts[59].name, "h-60");
	assert_address(s.hosts[59].addr, "::ffff:10.0.0.61");
	assert_int_equal(s.links[0].directions[1].delay_ns, 10);
}

static void a_small_world_is_its_own_seeds_and_a_permutation_the_scenarios(void **state)
{
	(void)state;
	struct hs_scenario of[6] = {0};

	for (unsigned i = 0; i < 6; i++) {
		unsigned seed = i % 3 < 2 ? 5 : 6;
		if (i < 3)
			parse_world(100, 4, 0.2, seed);
		else
			parse_fat_tree(4, 16, seed);
		of[i] = s;
		s = (struct hs_scenario){0};
	}
	for (unsigned i = 0; i < 6; i += 3) {
		assert_true(same_ends(&of[i], &of[i + 1]));
		assert_false(same_ends(&of[i], &of[i + 2]));
	}
	for (unsigned i = 0; i < 6; i++)
		hs_scenario_fini(&of[i]);
}

static void a_small_world_spreads_more_hosts_than_switches(void **state)
{
	(void)state;
	unsigned twice = 0;

	parse("{'name': 'w', 'duration_s': 1, 'forwarding': 'shortest_path', 'topology': {'kind': "
	      "'watts_strogatz', 'n': 8, 'k': 4, 'beta': 0.1, 'hosts': 19}}");
	assert_int_equal(s.n_hosts, 19);
	for (size_t i = 0; i < s.n_nodes; i++) {
		assert_in_range(s.nodes[i].n_hosts, 2, 3);
		twice += s.nodes[i].n_hosts == 2;
	}
	assert_int_equal(twice, 5);
}

static void a_permutation_lets_each_host_send_to_another_and_get_from_one(void **state)
{
	(void)state;
	unsigned sends[16] = {0}, gets[16] = {0};
	parse_fat_tree(4, 32, 5);

	assert_int_equal(s.n_traffic, 32);
	assert_string_equal(s.traffic[0].name, "perm-1");
	assert_string_equal(s.traffic[31].name, "perm-32");
	for (size_t i = 0; i < s.n_traffic; i++) {
		assert_true(s.traffic[i].from != s.traffic[i].to);
		sends[s.traffic[i].from]++;
		gets[s.traffic[i].to]++;
		if (i == 15 || i == 31)
			for (size_t h = 0; h < 16; h++)
				assert_true(sends[h] == (i + 1) / 16 && gets[h] == (i + 1) / 16);
	}
}

static void thousands_of_requests_are_read(void **state)
{
	(void)state;
	parse_fat_tree(20, 2000, 1);
	assert_int_equal(s.n_requests, 2000);
	assert_int_equal(s.n_flows, 2000);
	for (uint32_t i = 0; i < s.n_flows; i++)
		assert_flow(i, i + 1, i, false);
}

static void two_hosts_of_a_permutation_send_to_each_other(void **state)
{
	(void)state;
	parse_fat_tree(2, 2, 1);
	assert_int_equal(s.traffic[0].from, s.traffic[1].to);
	assert_int_equal(s.traffic[0].to, s.traffic[1].from);
	assert_true(s.traffic[0].from != s.traffic[0].to);
}

// ---- changes of links ----

static void a_change_of_a_link_leaves_what_it_does_not_name(void **state)
{
	(void)state;
	struct hs_link_config config = {
			.delay_ns = 5, .queue_packets = 10, .bursts = {0.1, 0.2, 0.3, 0.4}};
	struct hs_error err = {0};
	json_t *set = json_pack("{s:b, s:f}", "up", 0, "loss_ratio", 0.5);

	assert_int_equal(hs_scenario_set_link(set, "", &config, &err), 0);
	assert_true(config.down && config.loss_ratio == 0.5);
	assert_int_equal(config.delay_ns, 5);
	assert_true(config.bursts.loss_good == 0.4);
	json_decref(set);
}

static void a_change_of_a_link_that_is_wrong_changes_nothing(void **state)
{
	(void)state;
	struct hs_link_config config = {.delay_ns = 5, .queue_packets = 10}, before = config;
	struct hs_error err = {0};
	json_t *set = json_pack(
			"{s:i, s:i, s:i}", "delay_ns", 7, "rate_bps", 100, "queue_packets", 0);

	assert_true(hs_scenario_set_link(set, "events[3].set", &config, &err) < 0);
	assert_string_equal(err.path, "events[3].set.queue_packets");
	assert_memory_equal(&config, &before, sizeof(config));
	assert_true(hs_scenario_set_link(set, "", &config, &err) < 0);
	assert_string_equal(err.path, "queue_packets");
	json_decref(set);
}

// ---- graphs ----

#define LINK(a, b)                                                                                 \
	{                                                                                          \
		.from = (a), .to = (b)                                                             \
	}

static void distances_follow_the_ways_that_are_up(void **state)
{
	(void)state;
	struct hs_scenario_link links[] = {LINK(0, 1), LINK(1, 2), LINK(2, 3), LINK(3, 0)};
	const struct hs_scenario scenario = {.n_nodes = 5, .n_links = 4, .links = links};
	bool up[] = {true, true, true, true, true, true, true, true};
	uint32_t hops[5];

	hs_scenario_distances(&scenario, is_up, up, 0, hops);
	assert_int_equal(hops[0], 0);
	assert_int_equal(hops[1], 1);
	assert_int_equal(hops[2], 2);
	assert_int_equal(hops[3], 1);
	assert_int_equal(hops[4], HS_FAR);

	up[6] = false; // from 3 to 0
	hs_scenario_distances(&scenario, is_up, up, 0, hops);
	assert_int_equal(hops[3], 3);
	hs_scenario_distances(&scenario, is_up, up, 3, hops);
	assert_int_equal(hops[0], 1);
}

// A chain whose links are listed in no order of the path.
static void distances_do_not_depend_on_the_order_of_the_links(void **state)
{
	(void)state;
	enum {
		NODES = 101
	};
	struct hs_scenario_link links[NODES - 1];
	const struct hs_scenario scenario = {
			.n_nodes = NODES, .n_links = NODES - 1, .links = links};
	uint32_t hops[NODES];

	for (uint32_t i = 0; i < NODES - 1; i++) {
		uint32_t at = i * 37 % (NODES - 1);
		links[i] = at % 2 ? (struct hs_scenario_link)LINK(at, at + 1)
				  : (struct hs_scenario_link)LINK(at + 1, at);
	}
	for (uint32_t to = 0; to < NODES; to += 20) {
		hs_scenario_distances(&scenario, NULL, NULL, to, hops);
		for (uint32_t node = 0; node < NODES; node++)
			assert_int_equal(hops[node], node < to ? to - node : node - to);
	}
}

static void the_link_that_closes_a_cycle_is_named(void **state)
{
	(void)state;
#define BRIDGES                                                                                    \
	"{'name': 'c', 'duration_s': 1, 'forwarding': 'bridge', 'nodes':"                          \
	" [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}, {'id': 3, 'name': 'c'},"                \
	"  {'id': 4, 'name': 'd'}], 'links': [{'from':'a','to':'b'},"
#define TREE BRIDGES "{'from':'c','to':'d'},{'from':'b','to':'c'}"
	struct hs_error err = {0};

	parse(TREE "]}");
	assert_string_equal(refused_at(TREE ",{'from':'d','to':'a'},{'from':'a','to':'c'}]}", &err),
			"links[3]");
	assert_string_equal(err.code, "cycle");
	assert_string_equal(
			refused_at(BRIDGES "{'from':'b','to':'a','name':'x'}]}", &err), "links[1]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(each_tree_is_as_wide_and_as_deep_as_its_definition),
			TEST(a_fat_tree_names_what_it_makes),
			TEST(a_small_world_is_a_ring_whose_links_move_with_probability_beta),
			TEST(a_small_world_names_what_it_makes),
			TEST(a_small_world_is_its_own_seeds_and_a_permutation_the_scenarios),
			TEST(a_small_world_spreads_more_hosts_than_switches),
			TEST(a_permutation_lets_each_host_send_to_another_and_get_from_one),
			TEST(thousands_of_requests_are_read),
			TEST(two_hosts_of_a_permutation_send_to_each_other),
			TEST(a_change_of_a_link_leaves_what_it_does_not_name),
			TEST(a_change_of_a_link_that_is_wrong_changes_nothing),
			TEST(distances_follow_the_ways_that_are_up),
			TEST(distances_do_not_depend_on_the_order_of_the_links),
			TEST(the_link_that_closes_a_cycle_is_named),
	};
	return cmocka_run_group_tests_name("lab-scenario-network", tests, NULL, NULL);
}
