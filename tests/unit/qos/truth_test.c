// SPDX-License-Identifier: BSD-3-Clause
// The monitor against the truth: random networks, packet by packet, every number of every window
// compared with one computed from 64-bit counts and from the list of lost packets.
#include "qos_test.h"
#include "sim_run.h"

#include <stdio.h>

#define EXACT 1000 // values up to which percentiles are exact

// ---- the reference: slow, and straight from the definitions ----

// The newest report, in source order, that had arrived by then.
static const struct sim_report *edge_at(const struct sim_result *truth, int64_t ts_ns)
{
	const struct sim_report *newest = NULL;
	for (size_t i = 0; i < truth->n_reports; i++) {
		const struct sim_report *report = &truth->reports[i];
		if (report->report.sink_ts_ns > ts_ns)
			break;
		if (!newest || report->number > newest->number)
			newest = report;
	}
	return newest;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
	const struct sim_report *x = *(const struct sim_report *const *)a;
	const struct sim_report *y = *(const struct sim_report *const *)b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x > y) - (x < y); // of duplicates the first to arrive
}

static int64_t delay_of(const struct sim_report *report, unsigned from, unsigned to)
{
	return report->counts[to].ts_ns - report->counts[from].ts_ns;
}

static void check_delays(const struct sim_result *truth, const struct hs_qos_window *window,
		const struct hs_qos_hop *hop, unsigned from, unsigned to)
{
	int64_t *values = calloc(truth->n_reports + 1, sizeof(*values));
	size_t n = 0;
	__int128 sum = 0;
	for (size_t i = 0; i < truth->n_reports; i++)
		if (within(&truth->reports[i], window))
			sum += values[n++] = delay_of(&truth->reports[i], from, to);
	qsort(values, n, sizeof(*values), by_value);
	assert_int_equal(hop->delay.n, n);
	if (n) {
		assert_int_equal(hop->delay.min, values[0]);
		assert_int_equal(hop->delay.max, values[n - 1]);
		assert_true(llabs(hop->delay.mean - (int64_t)(sum / (__int128)n)) <= 1);
		assert_true(hop->has & HS_QOS_HAS_P50);
		assert_int_equal(!!(hop->has & HS_QOS_HAS_P99), n >= 100);
		assert_int_equal(!!(hop->has & HS_QOS_HAS_P999), n >= 1000);
	}
	if (n && n <= EXACT) {
		assert_int_equal(hop->delay.p50, values[(n + 1) / 2 - 1]);
		if (n >= 100)
			assert_int_equal(hop->delay.p99, values[(99 * n + 99) / 100 - 1]);
	} else if (n) {
		int64_t origin = values[0], spread = values[n - 1] - origin;
		int64_t error = spread / 64 + 1;
		assert_true(llabs(hop->delay.p50 - values[(n + 1) / 2 - 1]) <= error);
		assert_true(llabs(hop->delay.p99 - values[(99 * n + 99) / 100 - 1]) <= error);
		assert_true(llabs(hop->delay.p999 - values[(999 * n + 999) / 1000 - 1]) <= error);
	}
	free(values);
}

static void check_jitter(const struct sim_result *truth, const struct hs_qos_window *window,
		const struct hs_qos_hop *hop, unsigned from, unsigned to)
{
	const struct sim_report **sorted = calloc(truth->n_reports + 1, sizeof(*sorted));
	size_t n = 0;
	int64_t pairs = 0;
	__int128 sum = 0;
	for (size_t i = 0; i < truth->n_reports; i++)
		sorted[i] = &truth->reports[i];
	qsort(sorted, truth->n_reports, sizeof(*sorted), by_number);
	for (size_t i = 0; i < truth->n_reports; i++)
		if (!n || sorted[i]->number != sorted[n - 1]->number)
			sorted[n++] = sorted[i];
	for (size_t i = 1; i < n; i++) {
		if (!within(sorted[i], window))
			continue;
		pairs++;
		sum += llabs(delay_of(sorted[i], from, to) - delay_of(sorted[i - 1], from, to));
	}
	assert_int_equal(!!(hop->has & HS_QOS_HAS_JITTER), pairs > 0);
	if (pairs)
		assert_true(llabs((int64_t)hop->jitter_ns - (int64_t)(sum / pairs)) <= 1);
	free(sorted);
}

// A window that begins before the first report has a mean rate only if few packets came before that
// report.
static bool has_mean_rate(const struct sim_result *truth, const struct hs_qos_window *window,
		const struct sim_report *a, const struct sim_report *b)
{
	int64_t before = (int64_t)a->counts[0].tx_packets - 1;
	int64_t sent = (int64_t)(b->counts[0].tx_packets - a->counts[0].tx_packets);
	return window->start_ns >= truth->reports[0].report.sink_ts_ns || before * 100 <= sent;
}

static void check_throughput(const struct hs_qos_window *window, const struct hs_qos_hop *hop,
		const struct sim_count *a, const struct sim_count *b, bool mean_rate)
{
	__int128 bits = (__int128)(b->rx_bytes - a->rx_bytes) * 8 * SECOND;
	assert_int_equal(hop->rx_bytes, b->rx_bytes - a->rx_bytes);
	assert_int_equal(hop->span_start_ns, a->ts_ns);
	assert_int_equal(hop->span_end_ns, b->ts_ns);
	if (b->ts_ns > a->ts_ns)
		assert_int_equal(hop->throughput_bps, (uint64_t)(bits / (b->ts_ns - a->ts_ns)));
	assert_int_equal(!!(hop->has & HS_QOS_HAS_WINDOW_THROUGHPUT), mean_rate);
	if (mean_rate)
		assert_int_equal(hop->window_throughput_bps, (uint64_t)(bits / window->window_ns));
}

static void check_hop(const struct sim_result *truth, const struct hs_qos_window *window,
		const struct hs_qos_hop *hop, unsigned from, unsigned to,
		const struct sim_report *a, const struct sim_report *b)
{
	check_delays(truth, window, hop, from, to);
	check_jitter(truth, window, hop, from, to);
	if (!a || a == b) {
		assert_false(hop->has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_THROUGHPUT));
		return;
	}
	int64_t tx = (int64_t)(b->counts[from].tx_packets - a->counts[from].tx_packets);
	int64_t rx = (int64_t)(b->counts[to].rx_packets - a->counts[to].rx_packets);
	assert_true(hop->has & HS_QOS_HAS_LOSS);
	assert_int_equal(hop->tx_packets, tx);
	assert_int_equal(hop->rx_packets, rx);
	assert_int_equal(hop->lost_packets, tx - rx);
	check_throughput(window, hop, &a->counts[to], &b->counts[to],
			has_mean_rate(truth, window, a, b));
}

// Without reordering and duplicates the counts must name the very packets that were lost.
static void check_fates(const struct sim_result *truth, const struct caught *caught,
		const struct sim_report *a, const struct sim_report *b)
{
	for (unsigned i = 0; i <= truth->n_nodes; i++) {
		uint64_t lost = sim_lost_on_link(truth, i, a->number, b->number);
		assert_int_equal(caught->hops[i].lost_packets, lost);
		assert_int_equal(caught->hops[i].shown_lost_packets, lost);
	}
	for (unsigned i = 0; i < truth->n_nodes; i++)
		assert_int_equal(caught->hops[i].node_lost_packets,
				sim_lost_in_node(truth, i, a->number, b->number));
}

static void check_window(const struct sim_result *truth, const struct caught *caught, bool fifo)
{
	const struct hs_qos_window *window = &caught->window;
	const struct sim_report *a = edge_at(truth, window->start_ns);
	const struct sim_report *b = edge_at(truth, window->end_ns);
	size_t reports = 0;
	for (size_t i = 0; i < truth->n_reports; i++)
		reports += within(&truth->reports[i], window);
	assert_int_equal(window->reports, reports);
	assert_int_equal(window->stale, !reports);
	if (window->stale)
		return;
	if (!a && truth->n_reports)
		a = edge_at(truth, truth->reports[0].report.sink_ts_ns); // begins with the run
	assert_int_equal(window->flags & (HS_QOS_COUNTER_AMBIGUOUS | HS_QOS_EPOCH |
							 HS_QOS_MULTIPATH | HS_QOS_RULES_DIFFER),
			0);
	assert_int_equal(window->n_hops, truth->n_nodes + 1);
	check_hop(truth, window, &window->e2e, 0, truth->n_nodes + 1, a, b);
	for (unsigned i = 0; i <= truth->n_nodes; i++)
		check_hop(truth, window, &caught->hops[i], i, i + 1, a, b);
	if (a == b)
		return;
	for (unsigned i = 0; i < truth->n_nodes; i++)
		assert_int_equal(caught->hops[i].node_lost_packets,
				(int64_t)(b->counts[i + 1].rx_packets -
						a->counts[i + 1].rx_packets) -
						(int64_t)(b->counts[i + 1].tx_packets -
								a->counts[i + 1].tx_packets));
	assert_int_equal(window->unattributed_lost_packets, 0);
	if (fifo)
		check_fates(truth, caught, a, b);
}

// Spans tile: what the windows of a length say adds up to what the run says, and that to the truth.
static void check_tiling(struct run *run, int64_t length_ns)
{
	const struct hs_qos_window *whole = hs_qos_latest(run->qos, 7, 0);
	int64_t lost[SIM_MAX_NODES + 1] = {0}, bytes = 0;
	uint64_t reports = 0;
	for (size_t i = 0; i < run->catcher.n; i++) {
		const struct caught *caught = &run->catcher.windows[i];
		if (caught->window.window_ns != length_ns || caught->window.stale)
			continue;
		reports += caught->window.reports;
		bytes += caught->window.e2e.rx_bytes;
		for (unsigned j = 0; j < caught->window.n_hops; j++)
			lost[j] += caught->hops[j].lost_packets;
	}
	assert_non_null(whole);
	assert_true(whole->run);
	assert_int_equal(whole->reports, reports);
	assert_int_equal(whole->reports, run->truth.n_reports);
	assert_int_equal(whole->e2e.rx_bytes, bytes);
	for (unsigned j = 0; j < whole->n_hops; j++)
		assert_int_equal(whole->hops[j].lost_packets, lost[j]);
}

static void check_run(struct run *run, bool fifo)
{
	size_t windows = 0;
	run_start(run);
	for (size_t i = 0; i < run->catcher.n; i++) {
		check_window(&run->truth, &run->catcher.windows[i], fifo);
		windows += !run->catcher.windows[i].window.stale;
	}
	assert_int_equal(windows > 0, run->truth.n_reports > 0);
	if (!windows) {
		run_end(run);
		return;
	}
	static const int64_t usual[HS_QOS_WINDOWS] = {SECOND, 10 * SECOND, 60 * SECOND};
	const int64_t *lengths = run->window_ns ? run->window_ns : usual;
	for (unsigned i = 0; i < HS_QOS_WINDOWS && lengths[i]; i++)
		check_tiling(run, lengths[i]);
	const struct hs_qos_window *whole = hs_qos_latest(run->qos, 7, 0);
	struct caught caught = {.window = *whole};
	memcpy(caught.hops, whole->hops, whole->n_hops * sizeof(whole->hops[0]));
	caught.window.start_ns--; // the first report belongs to the run
	check_delays(&run->truth, &caught.window, &whole->e2e, 0, run->truth.n_nodes + 1);
	check_jitter(&run->truth, &caught.window, &whole->e2e, 0, run->truth.n_nodes + 1);
	run_end(run);
}

// ---- random networks ----

static struct sim_config random_config(uint64_t seed)
{
	struct hs_rng rng;
	struct sim_config config = sim_defaults(seed);
	hs_rng_init(&rng, seed * 77);
	config.n_nodes = below(&rng, 6);
	config.start_ns += below(&rng, 1000000000);
	config.duration_ns = (1 + below(&rng, 15)) * SECOND;
	config.gap_ns = 50000 + below(&rng, 400000);
	config.max_bytes = config.min_bytes + below(&rng, 900);
	config.sample_every = below(&rng, 2) ? 1 + below(&rng, 400) : 0;
	config.sample_ppm = 1000 + below(&rng, 100000);
	config.report_loss_ppm = below(&rng, 2) ? 500000 : 0;
	config.source_packets = below(&rng, 2) ? 0xFFFFFFFFu - below(&rng, 30000) : 0;
	config.source_bytes = below(&rng, 2) ? 0xFFFFFFFFu - below(&rng, 9000000) : 0;
	config.source_offset_ns = (int64_t)below(&rng, 20000000) - 10000000;
	if (below(&rng, 3) == 0) {
		config.on_ns = 300 * MS;
		config.off_ns = (int64_t)below(&rng, 3000) * MS;
	}
	for (unsigned i = 0; i <= config.n_nodes; i++) {
		config.links[i].delay_ns = below(&rng, 20000000);
		config.links[i].loss_ppm = below(&rng, 3) ? below(&rng, 200000) : 0;
		config.links[i].telemetry_loss_ppm = below(&rng, 4) ? 0 : 500000;
	}
	for (unsigned i = 0; i < config.n_nodes; i++) {
		config.nodes[i].loss_ppm = below(&rng, 3) ? 0 : below(&rng, 100000);
		config.nodes[i].first_packets = below(&rng, 65536);
		config.nodes[i].first_bytes = 0xFFFFFFFFu - below(&rng, 5000000);
		config.nodes[i].offset_ns = (int64_t)below(&rng, 20000000) - 10000000;
	}
	return config;
}

static void every_number_is_exact_on_random_paths_that_keep_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed += SIM_STEP) {
		struct run run = {.config = random_config(seed)};
		check_run(&run, true);
	}
}

static void every_number_is_exact_where_jitter_reorders_packets(void **state)
{
	(void)state;
	for (uint64_t seed = 101; seed <= 140; seed += SIM_STEP) {
		struct run run = {.config = random_config(seed)};
		for (unsigned i = 0; i <= run.config.n_nodes; i++)
			run.config.links[i].jitter_ns = 1 + (int64_t)(seed % 7) * MS;
		check_run(&run, false);
	}
}

static void every_number_is_exact_in_windows_of_other_lengths(void **state)
{
	(void)state;
	static const int64_t lengths[][HS_QOS_WINDOWS] = {{100 * MS}, {100 * MS, 200 * MS, SECOND},
			{250 * MS, SECOND, 2 * SECOND, 600 * SECOND}, {300 * MS, 3 * SECOND}};
	for (uint64_t seed = 161; seed <= 180; seed++) {
		struct run run = {.config = random_config(seed), .window_ns = lengths[seed % 4]};
		if (run.config.duration_ns > 5 * SECOND)
			run.config.duration_ns = 5 * SECOND;
		bool fifo = seed % 2;
		for (unsigned i = 0; !fifo && i <= run.config.n_nodes; i++)
			run.config.links[i].jitter_ns = 1 + (int64_t)(seed % 7) * MS;
		check_run(&run, fifo);
	}
}

static void every_number_is_exact_where_packets_are_duplicated(void **state)
{
	(void)state;
	for (uint64_t seed = 201; seed <= 220; seed += SIM_STEP) {
		struct run run = {.config = random_config(seed)};
		// Few enough that they do not look like rules that differ.
		run.config.links[0].duplicate_ppm = 500;
		run.config.links[0].loss_ppm = 20000;
		run.config.links[0].jitter_ns = MS;
		check_run(&run, false);
	}
}

// More than 1000 reports in a window: histograms, and a ring that goes round within a window.
static void many_reports_a_window_are_all_in_the_numbers(void **state)
{
	(void)state;
	for (uint64_t seed = 301; seed <= 304; seed++) {
		struct run run = {.config = sim_defaults(seed)};
		run.config.sample_every = 1 + seed % 3;
		run.config.duration_ns = 3 * SECOND;
		run.config.n_nodes = 2;
		run.config.links[1].jitter_ns = 300 * US;
		run.config.links[1].loss_ppm = 3000;
		check_run(&run, false);
	}
}

static void loss_is_attributed_when_counters_wrap_several_times_between_reports(void **state)
{
	(void)state;
	for (uint64_t seed = 401; seed <= 404; seed++) {
		struct run run = {.config = sim_defaults(seed)};
		run.config.gap_ns = 2000; // half a million a second
		run.config.duration_ns = 3 * SECOND;
		run.config.sample_every = 200000;
		run.config.n_nodes = 3;
		run.config.links[0].loss_ppm = 100000 * (uint32_t)(seed - 400);
		run.config.links[2].loss_ppm = 450000;
		run.config.nodes[1].loss_ppm = 5000;
		run.config.nodes[1].first_packets = 65000;
		// Sampled packets are lost as others are: several spans in a row are missing.
		check_run(&run, true);
	}
}

static void false_loss_over_a_run_stays_far_below_that_of_clipping(void **state)
{
	(void)state;
	struct run run = {.config = sim_defaults(501)};
	run.config.duration_ns = 60 * SECOND;
	run.config.links[1].jitter_ns = 5 * MS;
	run.config.n_nodes = 2;
	run_start(&run);
	int64_t shown = 0, clipped = 0;
	for (size_t i = 0; i < run.catcher.n; i++) {
		const struct caught *caught = &run.catcher.windows[i];
		if (caught->window.window_ns != SECOND)
			continue;
		shown += (int64_t)caught->hops[1].shown_lost_packets;
		clipped += caught->hops[1].lost_packets > 0 ? caught->hops[1].lost_packets : 0;
	}
	assert_true(clipped > 250); // what shows that the test tests something
	assert_true(shown < 30);
	run_end(&run);
}

static void loss_is_counted_not_inferred_from_missing_telemetry(void **state)
{
	(void)state;
	struct run run = {.config = sim_defaults(601)};
	run.config.report_loss_ppm = 900000;
	run.config.links[2].loss_ppm = 0;
	run_start(&run);
	for (size_t i = 0; i < run.catcher.n; i++) {
		const struct caught *caught = &run.catcher.windows[i];
		if (!(caught->window.e2e.has & HS_QOS_HAS_LOSS))
			continue;
		assert_int_equal(caught->window.e2e.lost_packets, 0);
	}
	assert_true(run.truth.n_reports < 2000);
	run_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_number_is_exact_on_random_paths_that_keep_order),
			cmocka_unit_test(every_number_is_exact_where_jitter_reorders_packets),
			cmocka_unit_test(every_number_is_exact_in_windows_of_other_lengths),
			cmocka_unit_test(every_number_is_exact_where_packets_are_duplicated),
			cmocka_unit_test(many_reports_a_window_are_all_in_the_numbers),
			cmocka_unit_test(
					loss_is_attributed_when_counters_wrap_several_times_between_reports),
			cmocka_unit_test(false_loss_over_a_run_stays_far_below_that_of_clipping),
			cmocka_unit_test(loss_is_counted_not_inferred_from_missing_telemetry),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
