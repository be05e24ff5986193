// SPDX-License-Identifier: BSD-3-Clause
// Random networks whose nodes restart and whose rules are installed again, at any time, with any
// telemetry: each number of each window is right, absent, or its window is flagged. And where
// nothing happened, none is.
//
// usage: qos_anew_test [FIRST-SEED SEEDS]
#include "qos_test.h"
#include "sim_run.h"

#include <stdio.h>

#define SEEDS (150 / SIM_STEP)

#define DOUBT (HS_QOS_EPOCH | HS_QOS_COUNTER_AMBIGUOUS | HS_QOS_RULES_DIFFER | HS_QOS_MULTIPATH)

static uint64_t one_seed;

static struct sim_config quiet_config(uint64_t seed, struct hs_rng *rng)
{
	static const int64_t gaps[] = {100 * US, 300 * US, MS, 3 * MS};
	static const uint16_t sparse[] = {1, 5, 10, 100, 500, 1000, 5000};
	struct sim_config config = sim_defaults(seed);
	config.n_nodes = below(rng, 5);
	config.start_ns += below(rng, 1000000000);
	config.gap_ns = gaps[below(rng, 4)];
	config.duration_ns = (2 + below(rng, 14)) * SECOND;
	config.max_bytes = config.min_bytes + (below(rng, 2) ? below(rng, 900) : 0);
	config.sample_every = below(rng, 3) ? sparse[below(rng, 7)] : 0;
	config.sample_ppm = 1000 + below(rng, 100000);
	if (below(rng, 3) == 0)
		config.e2e_bitmap = (uint16_t)(below(rng, 16) << 12);
	uint16_t bitmap = below(rng, 3) ? HS_HOP_KNOWN : (uint16_t)((1 + below(rng, 7)) << 13);
	for (unsigned i = 0; i < config.n_nodes; i++) {
		config.nodes[i].bitmap = bitmap;
		config.nodes[i].offset_ns = (int64_t)below(rng, 20000000) - 10000000;
		if (below(rng, 4) == 0) { // has had the rule for long
			config.nodes[i].first_packets = below(rng, 10000000);
			config.nodes[i].first_bytes = config.nodes[i].first_packets * 562;
		}
	}
	for (unsigned i = 0; i <= config.n_nodes; i++)
		config.links[i].delay_ns = below(rng, 20000000);
	return config;
}

static void disturb(struct sim_config *config, struct hs_rng *rng)
{
	int64_t duration_ms = config->duration_ns / MS;
	unsigned lossy = below(rng, 3), jitter = below(rng, 4);
	for (unsigned i = 0; i <= config->n_nodes; i++) {
		if (lossy && below(rng, 2))
			config->links[i].loss_ppm = below(rng, lossy == 1 ? 20000 : 200000);
		if (!jitter)
			config->links[i].jitter_ns = 1 + (int64_t)below(rng, 8) * MS;
	}
	for (unsigned i = 0; i < config->n_nodes; i++) {
		struct sim_node *node = &config->nodes[i];
		if (below(rng, 3))
			continue;
		node->reset_ns = (1 + (int64_t)below(rng, (uint32_t)duration_ms)) * MS;
		if (below(rng, 4) == 0)
			node->again_ns = node->reset_ns + (1 + (int64_t)below(rng, 3000)) * MS;
		if (below(rng, 3) == 0)
			node->down_ns = (int64_t)below(rng, 500) * MS;
		else if (below(rng, 3) == 0)
			node->blind_ns = (int64_t)below(rng, 500) * MS;
	}
	if (below(rng, 4) == 0)
		config->source_reset_ns = (1 + (int64_t)below(rng, (uint32_t)duration_ms)) * MS;
	if (config->source_reset_ns && below(rng, 3) == 0)
		config->source_again_ns =
				config->source_reset_ns + (1 + (int64_t)below(rng, 3000)) * MS;
	if (below(rng, 4) == 0) {
		struct sim_link *link = &config->links[below(rng, config->n_nodes + 1)];
		link->down_ns = (1 + (int64_t)below(rng, (uint32_t)duration_ms)) * MS;
		link->up_ns = link->down_ns + (int64_t)below(rng, 6000) * MS;
	}
}

// ---- the reference ----

// Without any field of the source the order is that of arrival.
static bool is_newer(const struct sim_report *report, const struct sim_report *newest)
{
	const uint16_t order = HS_E2E_TX_PACKETS | HS_E2E_INT_PACKETS | HS_E2E_TIMESTAMP;
	return !newest || report->number > newest->number ||
	       !(report->report.telemetry.e2e.bitmap & order);
}

static const struct sim_report *edge_at(const struct sim_result *truth, int64_t ts_ns)
{
	const struct sim_report *newest = NULL;
	for (size_t i = 0; i < truth->n_reports; i++) {
		const struct sim_report *report = &truth->reports[i];
		if (report->report.sink_ts_ns > ts_ns)
			break;
		if (is_newer(report, newest))
			newest = report;
	}
	return newest;
}

static void fail_at(const struct hs_qos_window *window, const struct hs_qos_hop *hop,
		const char *what, int64_t is, int64_t should_be)
{
	print_error("seed %llu: window of %lld ms to %lld ms, hop %u to %u: %s is %lld, should be "
		    "%lld\n",
			(unsigned long long)one_seed, (long long)(window->window_ns / MS),
			(long long)(window->end_ns / MS % 1000000), hop->from, hop->to, what,
			(long long)is, (long long)should_be);
	fail();
}

static void check_hop(const struct run *run, const struct hs_qos_window *window,
		const struct hs_qos_hop *hop, const struct sim_count *a, const struct sim_count *b,
		unsigned from, unsigned to)
{
	int64_t tx = (int64_t)(b[from].all_tx_packets - a[from].all_tx_packets);
	int64_t rx = (int64_t)(b[to].all_rx_packets - a[to].all_rx_packets);
	int64_t bytes = (int64_t)(b[to].all_rx_bytes - a[to].all_rx_bytes);
	if (hop->has & HS_QOS_HAS_RX_PACKETS && hop->rx_packets != rx)
		fail_at(window, hop, "rx_packets", hop->rx_packets, rx);
	if (hop->has & HS_QOS_HAS_BYTES && hop->rx_bytes != bytes)
		fail_at(window, hop, "rx_bytes", hop->rx_bytes, bytes);
	if (!(hop->has & HS_QOS_HAS_LOSS))
		return;
	if (hop->tx_packets != tx)
		fail_at(window, hop, "tx_packets", hop->tx_packets, tx);
	if (hop->lost_packets != tx - rx)
		fail_at(window, hop, "lost_packets", hop->lost_packets, tx - rx);
	bool in_order = true;
	for (unsigned i = 0; i <= run->config.n_nodes; i++)
		in_order &= !run->config.links[i].jitter_ns;
	if (in_order && (int64_t)hop->shown_lost_packets != tx - rx)
		fail_at(window, hop, "shown", (int64_t)hop->shown_lost_packets, tx - rx);
}

static bool never_negative(const struct hs_qos_hop *hop)
{
	return hop->tx_packets >= 0 && hop->rx_packets >= 0 && hop->rx_bytes >= 0;
}

// What no counts tell (docs/metrics.md, rule 10): one of the nodes counted anew between two reports
// of the window, its count has overtaken the old one, and no node behind it received more than
// that, but for what is overtaken in 50 ms.
static bool is_hidden_between(const struct run *run, const struct sim_count *a,
		const struct sim_count *b, unsigned node)
{
	unsigned n = run->truth.n_nodes;
	int64_t held = 8 + 50 * MS / run->config.gap_ns;
	int64_t counted = (int64_t)(b[node].tx_packets - a[node].tx_packets);
	int64_t passed = (int64_t)(b[node].all_tx_packets - a[node].all_tx_packets);
	for (unsigned i = node + 1; i <= n + 1 && counted > 0 && counted < passed; i++)
		if ((int64_t)(b[i].all_rx_packets - a[i].all_rx_packets) > counted + held)
			return false;
	return counted > 0 && counted < passed;
}

// Without stamps the first reports after a restart pass for late ones:
// the window ends with the newest before them.
static bool passes_for_late(const struct run *run, const struct hs_qos_window *window)
{
	const struct sim_config *config = &run->config;
	int64_t end_ns = window->end_ns - config->start_ns;
	const int64_t resets[] = {config->source_reset_ns, config->source_again_ns};
	for (unsigned i = 0; i < 2; i++)
		if (resets[i] && end_ns > resets[i] &&
				end_ns - window->window_ns < resets[i] + 2 * SECOND)
			return !(config->e2e_bitmap & HS_E2E_TIMESTAMP);
	return false;
}

// In a window, or in one shortly before it, whose surplus it pays for.
static bool is_hidden(const struct run *run, const struct hs_qos_window *window)
{
	const struct sim_result *truth = &run->truth;
	const struct sim_report *a = NULL;
	int64_t from_ns = window->start_ns - 5 * window->window_ns;
	for (size_t i = 0; i < truth->n_reports; i++) {
		const struct sim_report *b = &truth->reports[i];
		if (b->report.sink_ts_ns > window->end_ns)
			break;
		if (!is_newer(b, a))
			continue;
		for (unsigned node = 0;
				a && b->report.sink_ts_ns > from_ns && node <= truth->n_nodes;
				node++)
			if (is_hidden_between(run, a->counts, b->counts, node))
				return true;
		a = b;
	}
	return false;
}

static void check_window(const struct run *run, const struct caught *caught)
{
	const struct sim_result *truth = &run->truth;
	const struct hs_qos_window *window = &caught->window;
	const struct sim_report *a = edge_at(truth, window->start_ns);
	const struct sim_report *b = edge_at(truth, window->end_ns);
	if (window->stale || window->flags & DOUBT || is_hidden(run, window) ||
			passes_for_late(run, window))
		return;
	assert_true(never_negative(&window->e2e));
	for (unsigned i = 0; i < window->n_hops; i++)
		assert_true(never_negative(&caught->hops[i]));
	if (!a)
		a = edge_at(truth, truth->reports[0].report.sink_ts_ns);
	check_hop(run, window, &window->e2e, a->counts, b->counts, 0, truth->n_nodes + 1);
	if (window->path_changed || window->n_hops != truth->n_nodes + 1)
		return;
	for (unsigned i = 0; i <= truth->n_nodes; i++)
		check_hop(run, window, &caught->hops[i], a->counts, b->counts, i, i + 1);
}

static void check_run(const struct run *run)
{
	for (size_t i = 0; i < run->catcher.n; i++)
		check_window(run, &run->catcher.windows[i]);
}

static unsigned flagged(const struct run *run)
{
	unsigned n = 0;
	for (size_t i = 0; i < run->catcher.n; i++)
		n += (run->catcher.windows[i].window.flags & DOUBT) != 0;
	return n;
}

// ---- tests ----

static uint64_t first_seed = 1, n_seeds = SEEDS;

static void check_seed(size_t *windows, size_t *doubtful)
{
	struct hs_rng rng;
	hs_rng_init(&rng, one_seed * 31 + 7);
	struct run run = {.config = quiet_config(one_seed, &rng)};
	disturb(&run.config, &rng);
	run_start(&run);
	check_run(&run);
	*windows += run.catcher.n;
	*doubtful += flagged(&run);
	run_end(&run);
}

static void no_number_is_wrong_without_a_flag_whatever_counts_anew(void **state)
{
	(void)state;
	size_t windows = 0, doubtful = 0;
	for (one_seed = first_seed; one_seed < first_seed + n_seeds; one_seed++)
		check_seed(&windows, &doubtful);
	print_message("%zu windows, %zu flagged\n", windows, doubtful);
	assert_true(windows > 10 * n_seeds && doubtful < windows / 2);
}

// 906: the source and a transit node count anew between the same two reports.
// 3869, 5051: a count that went round its wrap exceeds those of both neighbours.
static void networks_that_were_wrong_once_are_right(void **state)
{
	(void)state;
	static const uint64_t seeds[] = {906, 3869, 5051};
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		size_t windows = 0, doubtful = 0;
		one_seed = seeds[i];
		check_seed(&windows, &doubtful);
		assert_true(doubtful > 0);
	}
}

static void nothing_is_flagged_where_nothing_happens(void **state)
{
	(void)state;
	for (one_seed = first_seed; one_seed < first_seed + (n_seeds + 2) / 3; one_seed++) {
		struct hs_rng rng;
		hs_rng_init(&rng, one_seed * 37 + 5);
		struct run run = {.config = quiet_config(one_seed, &rng)};
		bool jitter = below(&rng, 2);
		for (unsigned i = 0; i <= run.config.n_nodes; i++) {
			run.config.links[i].loss_ppm = below(&rng, 3) ? 0 : below(&rng, 100000);
			if (jitter)
				run.config.links[i].jitter_ns = 1 + (int64_t)below(&rng, 5) * MS;
		}
		run_start(&run);
		check_run(&run);
		if (flagged(&run))
			print_error("seed %llu: %u windows flagged\n", (unsigned long long)one_seed,
					flagged(&run));
		assert_int_equal(flagged(&run), 0);
		run_end(&run);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(no_number_is_wrong_without_a_flag_whatever_counts_anew),
			cmocka_unit_test(networks_that_were_wrong_once_are_right),
			cmocka_unit_test(nothing_is_flagged_where_nothing_happens),
	};
	if (argc > 2) {
		first_seed = strtoull(argv[1], NULL, 10);
		n_seeds = strtoull(argv[2], NULL, 10);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
