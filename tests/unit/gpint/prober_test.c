// SPDX-License-Identifier: BSD-3-Clause
// Recovery against a network that loses probes, feedback and copies.
#include "probe_network.h"

#include "no_memory.h"
#include "variate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

static const struct hs_gpint_prober_config paper = {.feedback_ns = 1500 * MS,
		.resolution_ns = 10 * MS,
		.attempts = 10,
		.concurrent = 12};
static const struct hs_gpint_prober_config tuned = {
		.feedback_ns = 400 * MS, .resolution_ns = 10 * MS, .attempts = 2, .concurrent = 12};
static const struct hs_gpint_prober_config ours = {.feedback_ns = 400 * MS,
		.resolution_ns = 10 * MS,
		.attempts = 2,
		.concurrent = 12,
		.adaptive = true};

static struct test_graph graph;
static struct network net;

static void plan_world(uint32_t n, uint64_t seed, struct hs_gpint_plan *plan)
{
	const struct hs_gpint_wish wish = {.paths = 3 * n / 10, .mtu = 2200, .seed = seed};
	struct hs_error err = {0};
	struct hs_rng rng;

	hs_rng_init(&rng, seed);
	graph_small_world(&graph, &rng, n, 4, 10);
	memset(graph.values, 2, n);
	assert_int_equal(hs_gpint_plan(&graph.graph, &wish, plan, &err), 0);
}

// A tree, over which paths visit switches again and again.
static void plan_tree(uint32_t n, uint64_t seed, struct hs_gpint_plan *plan)
{
	const struct hs_gpint_wish wish = {.paths = n / 10, .mtu = 1500, .seed = seed};
	struct hs_error err = {0};
	struct hs_rng rng;

	hs_rng_init(&rng, seed);
	graph_begin(&graph, n);
	graph_tree(&graph, &rng, n, 0);
	memset(graph.values, 2, n);
	assert_int_equal(hs_gpint_plan(&graph.graph, &wish, plan, &err), 0);
	assert_true(plan->overlap >= n / 10);
}

// ---- what a session must say ----

static enum hs_gpint_state state_of(uint32_t from, uint32_t to)
{
	size_t n;
	const struct hs_gpint_crossing *links = hs_gpint_prober_links(net.prober, &n);

	for (size_t i = 0; i < n; i++)
		if (links[i].from == from && links[i].to == to)
			return links[i].state;
	return HS_GPINT_UNKNOWN;
}

// Each switch that lives is covered and its values came; what is unavailable is dead, and each dead
// link of a path is unavailable.
static void assert_truth(const struct hs_gpint_plan *plan)
{
	const struct hs_gpint_session *session = hs_gpint_prober_session(net.prober);
	uint32_t unavailable = 0;

	assert_false(session->running);
	assert_false(session->failed);
	for (uint32_t at = 0; at < plan->n_switches; at++) {
		bool covered = hs_gpint_prober_switch(net.prober, at) == HS_GPINT_AVAILABLE;
		assert_int_equal(covered, net.delivered[at]);
		assert_true(covered || net.dead[at]);
	}
	for (uint32_t p = 0; p < plan->n_paths; p++)
		for (uint32_t i = 1; i < plan->paths[p].n_hops; i++) {
			uint32_t from = plan->paths[p].hops[i - 1].at;
			uint32_t to = plan->paths[p].hops[i].at;
			enum hs_gpint_state state = state_of(from, to);
			unavailable += state == HS_GPINT_UNAVAILABLE;
			assert_true(state != HS_GPINT_SUSPECT && state != HS_GPINT_UNKNOWN);
			if ((state == HS_GPINT_UNAVAILABLE) != network_is_dead(&net, from, to) &&
					net.dies_ns == INT64_MAX)
				fail_msg("link %u-%u: state %d, dead %d", from, to, state,
						network_is_dead(&net, from, to));
			if (state == HS_GPINT_UNAVAILABLE)
				assert_true(network_is_dead(&net, from, to));
		}
	assert_true(session->unavailable_links <= unavailable);
}

static void nothing_is_sent_twice_where_nothing_is_lost(void **state)
{
	(void)state;
	struct hs_gpint_plan plan;

	plan_world(100, 1, &plan);
	network_init(&net, &graph, 1, &paper);
	for (unsigned i = 0; i < 3; i++) {
		network_session(&net, &plan);
		const struct hs_gpint_session *session = hs_gpint_prober_session(net.prober);
		assert_truth(&plan);
		assert_int_equal(session->covered, 100);
		assert_int_equal(session->sent, 30);
		assert_int_equal(session->recovery + session->checks + session->lost, 0);
		assert_int_equal(session->unavailable_links + session->congested_links, 0);
		assert_int_equal(session->strange, 0);
		assert_true(session->ended_ns - session->began_ns < 30 * MS);
	}
	assert_int_equal(net.most_at_once, 12);
	assert_int_equal(net.answers[HS_GPINT_RECOVERED], 0);
	network_fini(&net);
	hs_gpint_plan_fini(&plan);
}

struct sums {
	double sessions, recovery, checks, elapsed_ms, longest_ms, congested;
};

static void add_session(struct sums *sums)
{
	const struct hs_gpint_session *session = hs_gpint_prober_session(net.prober);
	double elapsed_ms = (double)(session->ended_ns - session->began_ns) / MS;

	sums->sessions++;
	sums->recovery += session->recovery;
	sums->checks += session->checks;
	sums->elapsed_ms += elapsed_ms;
	sums->longest_ms = elapsed_ms > sums->longest_ms ? elapsed_ms : sums->longest_ms;
	sums->congested += session->congested_links;
}

static void tell(const char *what, const struct sums *sums)
{
	print_message("%s: %.0f sessions, %.1f prober probes, %.1f checks, %.1f congested links, "
		      "%.0f ms, longest %.0f ms\n",
			what, sums->sessions, sums->recovery / sums->sessions,
			sums->checks / sums->sessions, sums->congested / sums->sessions,
			sums->elapsed_ms / sums->sessions, sums->longest_ms);
}

// Runs ten sessions over each of ten networks.
static void (*make_plan)(uint32_t n, uint64_t seed, struct hs_gpint_plan *plan) = plan_world;

static struct sums run(const char *what, const struct hs_gpint_prober_config *config, double loss,
		double monitor_loss, void (*harm)(uint64_t seed))
{
	struct sums sums = {0};

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct hs_gpint_plan plan;
		make_plan(100, seed, &plan);
		network_init(&net, &graph, seed, config);
		net.loss = loss;
		net.monitor_loss = monitor_loss;
		if (harm)
			harm(seed);
		for (unsigned i = 0; i < 10; i++) {
			network_session(&net, &plan);
			assert_truth(&plan);
			add_session(&sums);
			net.now_ns += 1000 * MS;
		}
		network_fini(&net);
		hs_gpint_plan_fini(&plan);
	}
	tell(what, &sums);
	return sums;
}

static void sessions_end_whole_at_5_and_20_percent_loss(void **state)
{
	(void)state;
	struct sums sums = run("5 %, r_a 10", &paper, 0.05, 0, NULL);

	assert_true(sums.recovery / sums.sessions <= 30);
	sums = run("5 %, adaptive", &ours, 0.05, 0, NULL);
	assert_true(sums.recovery / sums.sessions <= 30);
	sums = run("20 %, adaptive", &ours, 0.2, 0, NULL);
	assert_true(sums.recovery / sums.sessions <= 42);
	run("20 % to the monitor too, adaptive", &ours, 0.2, 0.2, NULL);
}

static void kill_switch(uint64_t seed)
{
	net.dead[seed * 7 % 100] = true;
}

// A host whose switches have a t_f of their own keeps it; else t_f follows round trips.
static void t_f_stays_where_switches_have_one_of_their_own(void **state)
{
	struct hs_gpint_prober_config fixed = ours;
	struct hs_gpint_plan plan;

	(void)state;
	fixed.fixed_feedback = true;
	for (unsigned i = 0; i < 2; i++) {
		plan_world(100, 1, &plan);
		network_init(&net, &graph, 1, i ? &fixed : &ours);
		network_session(&net, &plan);
		network_session(&net, &plan);
		int64_t feedback_ns = hs_gpint_prober_session(net.prober)->feedback_ns;
		assert_true(i ? feedback_ns == fixed.feedback_ns : feedback_ns < ours.feedback_ns);
		network_fini(&net);
		hs_gpint_plan_fini(&plan);
	}
	run("20 %, adaptive, t_f stays", &fixed, 0.2, 0, NULL);
	run("a dead switch, 20 %, adaptive, t_f stays", &fixed, 0.2, 0, kill_switch);
}

static void t_f_is_that_of_switches_and_what_was_measured_where_it_is_known(void **state)
{
	struct hs_gpint_prober_config known = ours;
	struct hs_gpint_plan plan;

	(void)state;
	known.fixed_feedback = true;
	known.feedback_ns = 2000 * MS;
	known.switch_feedback_ns = 100 * MS;
	plan_world(100, 1, &plan);
	network_init(&net, &graph, 1, &known);
	for (unsigned i = 0; i < 3; i++) {
		net.loss = i == 2 ? 0.2 : 0;
		net.feedback_ns = known.switch_feedback_ns;
		network_session(&net, &plan);
		int64_t feedback_ns = hs_gpint_prober_session(net.prober)->feedback_ns;
		if (i == 0)
			assert_int_equal(feedback_ns, known.feedback_ns);
		else
			assert_in_range(feedback_ns, 101 * MS, 110 * MS);
		assert_truth(&plan);
	}
	network_fini(&net);
	hs_gpint_plan_fini(&plan);
}

static void cut_links(uint64_t seed)
{
	for (unsigned i = 0; i < 20; i++) {
		size_t link = (seed * 31 + i * 10) % graph.graph.n_links;
		net.cut[link][0] = net.cut[link][1] = true;
	}
}

static void cut_directions(uint64_t seed)
{
	for (unsigned i = 0; i < 40; i++)
		net.cut[(seed * 31 + i * 5) % graph.graph.n_links][i % 2] = true;
}

static void kill_later(uint64_t seed)
{
	net.dying = (uint32_t)(seed * 13 % 100);
	net.dies_ns = (int64_t)seed * MS / 2;
}

static void a_dead_switch_and_its_links_are_named_and_no_other(void **state)
{
	(void)state;
	run("a dead switch, paper", &paper, 0, 0, kill_switch);
	run("a dead switch, tuned", &tuned, 0, 0, kill_switch);
	run("a dead switch, 20 %, adaptive", &ours, 0.2, 0, kill_switch);
	run("a dead switch, 20 % to the monitor too", &ours, 0.2, 0.2, kill_switch);
}

static void dead_links_are_named_within_a_session_and_no_other(void **state)
{
	(void)state;
	run("20 cut links, paper", &paper, 0, 0, cut_links);
	run("20 cut links, 20 %, adaptive", &ours, 0.2, 0, cut_links);
	run("40 cut directions, paper", &paper, 0, 0, cut_directions);
	run("40 cut directions, 20 %, adaptive", &ours, 0.2, 0, cut_directions);
}

static void a_switch_that_dies_in_mid_session_fails_no_session(void **state)
{
	(void)state;
	run("a switch dies, paper", &paper, 0, 0, kill_later);
	run("a switch dies, 20 %, adaptive", &ours, 0.2, 0, kill_later);
}

static void paths_that_visit_switches_again_are_recovered_too(void **state)
{
	(void)state;
	make_plan = plan_tree;
	struct sums sums = run("trees", &paper, 0, 0, NULL);
	assert_true(sums.recovery + sums.checks + sums.congested == 0);
	run("trees, 20 %, adaptive", &ours, 0.2, 0, NULL);
	run("trees, a dead switch, 20 %", &ours, 0.2, 0, kill_switch);
	run("trees, 20 cut links", &paper, 0, 0, cut_links);
	run("trees, 20 cut links, 20 %", &ours, 0.2, 0, cut_links);
	make_plan = plan_world;
}

// ---- step by step ----

static const struct hs_gpint_hop line_hops[] = {{.at = 0, .next_port = 1, .end = 2},
		{.at = 1, .next_port = 2, .end = 2}, {.at = 2, .next_port = 2, .end = 2},
		{.at = 1, .next_port = 3}, {.at = 3, .end = 2}};
static struct hs_gpint_path line_path = {.n_hops = 5, .bytes = 100, .hops = line_hops};
static const struct hs_gpint_plan line = {
		.n_paths = 1, .n_switches = 4, .paths = &line_path, .max_hops = 5};

static struct {
	uint16_t ids[64];
	uint32_t n[64];
	struct hs_gpint_hop hops[64][5];
	unsigned count;
} sent;

static void note(void *context, uint16_t id, const struct hs_gpint_hop *hops, uint32_t n)
{
	(void)context;
	sent.ids[sent.count % 64] = id;
	sent.n[sent.count % 64] = n;
	memcpy(sent.hops[sent.count % 64], hops, n * sizeof(*hops));
	sent.count++;
}

static struct hs_gpint_prober *begin_line(const struct hs_gpint_prober_config *config)
{
	struct hs_gpint_prober *prober;

	memset(&sent, 0, sizeof(sent));
	assert_int_equal(hs_gpint_prober_create(config, &prober), 0);
	assert_int_equal(hs_gpint_prober_begin(prober, 0, &line), 0);
	assert_true(hs_gpint_prober_step(prober, 0, note, NULL));
	assert_int_equal(sent.count, 1);
	assert_int_equal(sent.n[0], 5);
	return prober;
}

static enum hs_gpint_state link_state(const struct hs_gpint_prober *prober, size_t i)
{
	size_t n;
	const struct hs_gpint_crossing *links = hs_gpint_prober_links(prober, &n);

	assert_true(i < n);
	return links[i].state;
}

static void a_copy_lets_the_rest_go_on_and_a_late_probe_says_congested(void **state)
{
	(void)state;
	struct hs_gpint_prober *prober = begin_line(&paper);

	// Switches 0 and 1 answer; the link from 1 to 2 is suspect.
	hs_gpint_prober_take(prober, MS, HS_GPINT_FEEDBACK, sent.ids[0], 0);
	hs_gpint_prober_take(prober, 1501 * MS, HS_GPINT_RECOVERED, sent.ids[0], 2);
	assert_true(hs_gpint_prober_step(prober, 1501 * MS, note, NULL));
	assert_int_equal(sent.count, 3);
	assert_int_equal(sent.n[1], 3);
	assert_int_equal(sent.hops[1][0].at, 2);
	assert_int_not_equal(sent.ids[1], sent.ids[0]);
	// Switch 1 brings its values again, because its first hop is not on the way any more.
	assert_int_equal(sent.hops[1][1].end, 2);
	assert_int_equal(sent.n[2], 2);
	assert_int_equal(sent.hops[2][0].at, 1);
	assert_int_equal(sent.hops[2][0].next_port, 2);
	assert_int_equal(sent.hops[2][0].end + sent.hops[2][1].end, 0);
	// The first probe comes after all.
	hs_gpint_prober_take(prober, 1502 * MS, HS_GPINT_DONE, sent.ids[0], 5);
	assert_false(hs_gpint_prober_step(prober, 1502 * MS, note, NULL));
	assert_int_equal(sent.count, 3);
	assert_int_equal(link_state(prober, 0), HS_GPINT_AVAILABLE);
	assert_int_equal(link_state(prober, 1), HS_GPINT_CONGESTED);
	const struct hs_gpint_session *session = hs_gpint_prober_session(prober);
	assert_false(session->failed);
	assert_int_equal(session->covered, 4);
	assert_int_equal(session->congested_links, 1);
	assert_int_equal(session->recovery, 1);
	assert_int_equal(session->checks, 1);
	assert_int_equal(hs_gpint_prober_next_ns(prober), INT64_MAX);
	hs_gpint_prober_destroy(prober);
}

static void a_session_tells_when_all_paths_were_done(void **state)
{
	(void)state;
	struct hs_gpint_prober *prober = begin_line(&paper);
	const struct hs_gpint_session *session = hs_gpint_prober_session(prober);

	hs_gpint_prober_take(prober, MS, HS_GPINT_FEEDBACK, sent.ids[0], 0);
	hs_gpint_prober_take(prober, 1501 * MS, HS_GPINT_RECOVERED, sent.ids[0], 2);
	assert_true(hs_gpint_prober_step(prober, 1501 * MS, note, NULL));
	assert_int_equal(session->collected_ns, 0);
	// The rest of the path comes, then the probe over the suspect link.
	hs_gpint_prober_take(prober, 1502 * MS, HS_GPINT_DONE, sent.ids[1], 3);
	assert_true(hs_gpint_prober_step(prober, 1502 * MS, note, NULL));
	assert_int_equal(session->collected_ns, 1502 * MS);
	hs_gpint_prober_take(prober, 1504 * MS, HS_GPINT_DONE, sent.ids[2], 2);
	assert_false(hs_gpint_prober_step(prober, 1504 * MS, note, NULL));
	assert_int_equal(session->collected_ns, 1502 * MS);
	assert_int_equal(session->ended_ns, 1504 * MS);
	hs_gpint_prober_destroy(prober);
}

// Returns the time at which something was sent.
static int64_t wait_for_probe(struct hs_gpint_prober *prober)
{
	unsigned count = sent.count;
	int64_t now_ns = 0;

	while (sent.count == count) {
		now_ns = hs_gpint_prober_next_ns(prober);
		assert_true(hs_gpint_prober_step(prober, now_ns, note, NULL));
	}
	return now_ns;
}

// Two links lead from switch 0 to switch 1. The one by port 2 loses what is sent.
static void of_parallel_links_the_one_that_loses_probes_is_named(void **state)
{
	static const struct hs_gpint_hop hops[] = {{.at = 0, .next_port = 1},
			{.at = 1, .next_port = 9}, {.at = 0, .next_port = 2}, {.at = 1}};
	static struct hs_gpint_path path = {.n_hops = 4, .bytes = 100, .hops = hops};
	static const struct hs_gpint_plan plan = {
			.n_paths = 1, .n_switches = 2, .paths = &path, .max_hops = 4};
	struct hs_gpint_prober *prober;
	int64_t now_ns = 0;
	size_t n;

	(void)state;
	memset(&sent, 0, sizeof(sent));
	assert_int_equal(hs_gpint_prober_create(&tuned, &prober), 0);
	assert_int_equal(hs_gpint_prober_begin(prober, 0, &plan), 0);
	for (unsigned told = 0; hs_gpint_prober_step(prober, now_ns, note, NULL);) {
		for (; told < sent.count; told++) {
			const struct hs_gpint_hop *of = sent.hops[told];
			uint32_t came = sent.n[told];
			for (uint32_t i = 0; i + 1 < sent.n[told] && came == sent.n[told]; i++)
				came = of[i].next_port == 2 ? i + 1 : came;
			hs_gpint_prober_take(prober, now_ns,
					came == sent.n[told] ? HS_GPINT_DONE : HS_GPINT_RECOVERED,
					sent.ids[told], came);
		}
		now_ns += 10 * MS;
		assert_true(now_ns < 60000 * MS);
	}
	const struct hs_gpint_crossing *links = hs_gpint_prober_links(prober, &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(links[i].state,
				links[i].port == 2 ? HS_GPINT_UNAVAILABLE : HS_GPINT_AVAILABLE);
	assert_int_equal(hs_gpint_prober_session(prober)->covered, 2);
	assert_int_equal(hs_gpint_prober_session(prober)->unavailable_links, 1);
	assert_int_equal(hs_gpint_prober_session(prober)->congested_links, 0);
	hs_gpint_prober_destroy(prober);
}

static void a_first_switch_without_feedback_is_tried_r_a_times_more(void **state)
{
	(void)state;
	struct hs_gpint_prober *prober = begin_line(&tuned);

	assert_int_equal(wait_for_probe(prober), 400 * MS);
	assert_int_equal(wait_for_probe(prober), 800 * MS);
	assert_int_equal(sent.n[2], 5);
	assert_int_equal(hs_gpint_prober_switch(prober, 0), HS_GPINT_UNKNOWN);
	assert_int_equal(wait_for_probe(prober), 1200 * MS);
	assert_int_equal(hs_gpint_prober_switch(prober, 0), HS_GPINT_UNAVAILABLE);
	assert_int_equal(sent.n[3], 4);
	hs_gpint_prober_take(prober, 1201 * MS, HS_GPINT_DONE, sent.ids[3], 4);
	assert_false(hs_gpint_prober_step(prober, 1201 * MS, note, NULL));
	assert_int_equal(hs_gpint_prober_session(prober)->unavailable, 1);
	assert_int_equal(hs_gpint_prober_session(prober)->unavailable_links, 1);
	assert_false(hs_gpint_prober_session(prober)->failed);
	hs_gpint_prober_destroy(prober);
}

// Its probes are lost behind it, and so are the copies.
static void only_feedback(bool copy)
{
	struct hs_gpint_prober *prober = begin_line(&tuned);
	int64_t now_ns = 0;

	for (unsigned i = 0; i < 2; i++) {
		hs_gpint_prober_take(prober, now_ns, HS_GPINT_FEEDBACK, sent.ids[i], 0);
		now_ns = wait_for_probe(prober);
		assert_int_equal(now_ns, (i + 1) * 800 * MS);
	}
	assert_int_equal(sent.n[2], 1);
	assert_int_equal(sent.hops[2][0].next_port, 0);
	hs_gpint_prober_take(prober, now_ns, HS_GPINT_DONE, sent.ids[2], 1);
	assert_true(hs_gpint_prober_step(prober, now_ns, note, NULL));
	assert_int_equal(sent.n[3], 4); // from switch 1 on
	assert_int_equal(sent.n[4], 2); // over the link that no probe crossed
	// Nothing says that a probe was lost there, unless a copy of the next one comes back.
	if (copy)
		hs_gpint_prober_take(prober, now_ns, HS_GPINT_RECOVERED, sent.ids[4], 1);
	if (copy)
		now_ns = wait_for_probe(prober);
	hs_gpint_prober_take(prober, now_ns, HS_GPINT_DONE, sent.ids[copy ? 5 : 4], 2);
	assert_int_equal(link_state(prober, 0), copy ? HS_GPINT_CONGESTED : HS_GPINT_AVAILABLE);
	hs_gpint_prober_destroy(prober);
}

static void a_switch_that_only_gives_feedback_gets_probes_of_its_own(void **state)
{
	(void)state;
	only_feedback(false);
}

static void a_copy_of_a_probe_of_one_link_says_congested(void **state)
{
	(void)state;
	only_feedback(true);
}

static void answers_that_cannot_be_change_nothing(void **state)
{
	(void)state;
	struct hs_gpint_prober *prober = begin_line(&paper);
	struct hs_rng rng;
	uint32_t n;

	hs_rng_init(&rng, 1);
	for (unsigned i = 0; i < 10000; i++) {
		uint16_t id = (uint16_t)hs_rng_u32(&rng);
		uint32_t hops = (uint32_t)hs_variate_below(&rng, 8);
		if (id % 32768 == sent.ids[0])
			continue;
		hs_gpint_prober_take(prober, MS, i % 3, id, hops);
		assert_null(hs_gpint_prober_attempt_hops(prober, id, &n));
	}
	hs_gpint_prober_take(prober, MS, HS_GPINT_DONE, sent.ids[0], 4);
	hs_gpint_prober_take(prober, MS, HS_GPINT_DONE, sent.ids[0], 6);
	hs_gpint_prober_take(prober, MS, HS_GPINT_FEEDBACK, sent.ids[0], 1);
	hs_gpint_prober_take(prober, MS, HS_GPINT_RECOVERED, sent.ids[0], 0);
	hs_gpint_prober_take(prober, MS, HS_GPINT_RECOVERED, sent.ids[0], 5);
	assert_int_equal(hs_gpint_prober_session(prober)->strange, 10005);
	for (uint32_t at = 0; at < 4; at++)
		assert_int_equal(hs_gpint_prober_switch(prober, at), HS_GPINT_UNKNOWN);
	assert_ptr_equal(hs_gpint_prober_attempt_hops(prober, sent.ids[0], &n), line_hops);
	assert_int_equal(n, 5);
	hs_gpint_prober_take(prober, MS, HS_GPINT_DONE, sent.ids[0], 5);
	assert_false(hs_gpint_prober_step(prober, MS, note, NULL));
	// An answer after the end changes nothing either.
	hs_gpint_prober_take(prober, MS, HS_GPINT_RECOVERED, sent.ids[0], 1);
	assert_int_equal(hs_gpint_prober_session(prober)->congested_links, 0);
	hs_gpint_prober_destroy(prober);
}

static void request_ids_go_round_and_old_ones_mean_nothing(void **state)
{
	(void)state;
	struct hs_gpint_prober *prober = begin_line(&paper);
	uint16_t last = sent.ids[0];

	for (unsigned i = 1; i < 70000; i++) {
		assert_int_equal(hs_gpint_prober_begin(prober, i, &line), 0);
		hs_gpint_prober_step(prober, i, note, NULL);
		uint16_t id = sent.ids[(sent.count - 1) % 64];
		assert_int_equal(id, (last + 1) % 32768);
		hs_gpint_prober_take(prober, i, HS_GPINT_DONE, last, 5);
		assert_int_equal(hs_gpint_prober_session(prober)->strange, 1);
		last = id;
	}
	hs_gpint_prober_destroy(prober);
}

// ---- what is measured ----

static void t_f_attempts_and_paths_follow_what_was_measured(void **state)
{
	(void)state;
	struct hs_gpint_measure measure = {0};

	assert_int_equal(hs_gpint_measure_timeout_ns(&measure, 3), 0);
	assert_int_equal(hs_gpint_measure_attempts(&measure), 24); // half of 10^7 by 0.5^n
	assert_int_equal(hs_gpint_measure_paths(&measure, 100, 30), 30);
	hs_gpint_measure_rtt(&measure, 8 * MS);
	assert_int_equal(hs_gpint_measure_timeout_ns(&measure, 0), 24 * MS);
	hs_gpint_measure_rtt(&measure, 16 * MS); // 9 ms; 4 + (8 - 4) / 4 = 5 ms
	assert_int_equal(hs_gpint_measure_timeout_ns(&measure, 0), 29 * MS);
	hs_gpint_measure_path(&measure, 12 * MS, 3);
	assert_int_equal(hs_gpint_measure_timeout_ns(&measure, 2), 45 * MS);
	// Half of the attempts fail: a switch may fail three of four.
	hs_gpint_measure_answer(&measure, 1);
	assert_int_equal(hs_gpint_measure_attempts(&measure), 57);
	// 0.8^3.1 = 0.5: a path of 4.1 switches.
	hs_gpint_measure_links(&measure, 80, 20);
	assert_true(hs_gpint_measure_loss(&measure) == 0.2);
	assert_int_equal(hs_gpint_measure_paths(&measure, 100, 10), 25);
	assert_int_equal(hs_gpint_measure_paths(&measure, 100, 30), 30);
	hs_gpint_measure_links(&measure, 0, 1000);
	assert_int_equal(hs_gpint_measure_paths(&measure, 100, 10), 100);
}

static void t_f_falls_to_what_the_network_needs_and_never_rises(void **state)
{
	(void)state;
	struct hs_gpint_plan plan;

	plan_world(50, 1, &plan);
	network_init(&net, &graph, 1, &ours);
	network_session(&net, &plan);
	assert_int_equal(net.feedback_ns, 400 * MS);
	net.loss = 0.2;
	network_session(&net, &plan);
	assert_in_range(net.feedback_ns, MS, 5 * MS);
	assert_truth(&plan);
	double loss = hs_gpint_measure_loss(hs_gpint_prober_measure(net.prober));
	assert_true(loss > 0.1 && loss < 0.4);
	network_fini(&net);
	hs_gpint_plan_fini(&plan);
}

// ---- memory ----

static long allocations_left = -1; // negative: no limit

static bool memory_is_out(void)
{
	return !(allocations_left < 0 || allocations_left-- > 0 || (allocations_left = 0));
}

static void without_memory_a_session_waits_and_nothing_is_lost(void **state)
{
	(void)state;
	struct hs_gpint_prober *prober;

	allocations_left = 0;
	assert_int_equal(hs_gpint_prober_create(&paper, &prober), -ENOMEM);
	allocations_left = -1;
	assert_int_equal(hs_gpint_prober_create(&paper, &prober), 0);
	for (long left = 0; left < 20; left++) {
		memset(&sent, 0, sizeof(sent));
		allocations_left = left;
		int rc = hs_gpint_prober_begin(prober, 0, &line);
		if (rc == 0)
			assert_true(hs_gpint_prober_step(prober, 0, note, NULL));
		if (sent.count)
			hs_gpint_prober_take(prober, MS, HS_GPINT_RECOVERED, sent.ids[0], 2);
		allocations_left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		if (rc < 0)
			continue;
		for (unsigned i = 0; i < sent.count || i == 0; i++) {
			hs_gpint_prober_step(prober, MS, note, NULL);
			hs_gpint_prober_take(prober, MS, HS_GPINT_DONE, sent.ids[i], sent.n[i]);
		}
		assert_false(hs_gpint_prober_step(prober, MS, note, NULL));
		assert_false(hs_gpint_prober_session(prober)->failed);
	}
	hs_gpint_prober_destroy(prober);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(nothing_is_sent_twice_where_nothing_is_lost),
			cmocka_unit_test(sessions_end_whole_at_5_and_20_percent_loss),
			cmocka_unit_test(a_dead_switch_and_its_links_are_named_and_no_other),
			cmocka_unit_test(t_f_stays_where_switches_have_one_of_their_own),
			cmocka_unit_test(
					t_f_is_that_of_switches_and_what_was_measured_where_it_is_known),
			cmocka_unit_test(dead_links_are_named_within_a_session_and_no_other),
			cmocka_unit_test(a_switch_that_dies_in_mid_session_fails_no_session),
			cmocka_unit_test(paths_that_visit_switches_again_are_recovered_too),
			cmocka_unit_test(
					a_copy_lets_the_rest_go_on_and_a_late_probe_says_congested),
			cmocka_unit_test(a_session_tells_when_all_paths_were_done),
			cmocka_unit_test(of_parallel_links_the_one_that_loses_probes_is_named),
			cmocka_unit_test(a_first_switch_without_feedback_is_tried_r_a_times_more),
			cmocka_unit_test(a_switch_that_only_gives_feedback_gets_probes_of_its_own),
			cmocka_unit_test(a_copy_of_a_probe_of_one_link_says_congested),
			cmocka_unit_test(answers_that_cannot_be_change_nothing),
			cmocka_unit_test(request_ids_go_round_and_old_ones_mean_nothing),
			cmocka_unit_test(t_f_attempts_and_paths_follow_what_was_measured),
			cmocka_unit_test(t_f_falls_to_what_the_network_needs_and_never_rises),
			cmocka_unit_test(without_memory_a_session_waits_and_nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
