// SPDX-License-Identifier: BSD-3-Clause
// Clocks that step while a flow is measured, and the jitter of reports that come very late, against
// the truth.
#include "qos_test.h"
#include "sim_run.h"

#define NODES_STEP (SANITIZED ? 3 : 1)
#define RATE_BPS   (562 * 8 * 1000ull) // of one packet each millisecond

static struct sim_config steady(unsigned n_nodes)
{
	struct sim_config config = sim_defaults(1);
	config.n_nodes = n_nodes;
	config.gap_ns = MS;
	config.duration_ns = 8 * SECOND;
	return config;
}

// The clock of a place (0: the source; n_nodes + 1: the sink) shows so much more from a packet on.
static void step_clock(struct sim_result *truth, unsigned place, uint64_t from, int64_t by_ns)
{
	for (size_t i = 0; i < truth->n_reports; i++) {
		struct hs_report *report = &truth->reports[i].report;
		if (truth->reports[i].number < from)
			continue;
		if (place == 0)
			report->telemetry.e2e.ts_ns += (uint64_t)by_ns;
		else if (place > truth->n_nodes)
			report->sink_ts_ns += by_ns;
		else
			hop_of(report, place - 1)->ts_ns += (uint64_t)by_ns;
	}
}

static void feed_to(struct run *run, bool tells_steps)
{
	struct hs_qos_config config = {
			.max_flows = 16, .on_window = catch_window, .user = &run->catcher};
	config.tells_steps = tells_steps;
	config.node_id = KEY.sink_node_id;
	assert_int_equal(hs_qos_create(&config, &run->qos), 0);
	for (size_t i = 0; i < run->truth.n_reports; i++)
		give(run->qos, &run->truth.reports[i].report);
	flush_all(run->qos);
}

static void feed(struct run *run)
{
	feed_to(run, false);
}

// Within the jitter of one sampled packet in ten: the rate of the span, or none at all.
static void check_rate(const struct hs_qos_hop *hop)
{
	if (!(hop->has & HS_QOS_HAS_THROUGHPUT))
		return;
	assert_true(hop->throughput_bps > RATE_BPS * 9 / 10);
	assert_true(hop->throughput_bps < RATE_BPS * 11 / 10);
}

static void check_windows(const struct run *run, bool sink)
{
	unsigned marked = 0;
	for (size_t i = 0; i < run->catcher.n; i++) {
		const struct caught *caught = &run->catcher.windows[i];
		const struct hs_qos_window *window = &caught->window;
		if (window->stale)
			continue;
		bool stepped = window->flags & HS_QOS_CLOCK_STEP;
		marked += stepped && window->window_ns == SECOND;
		assert_false(window->flags &
				~(uint32_t)(HS_QOS_CLOCK_STEP | HS_QOS_NEGATIVE_DELAY));
		assert_int_equal(stepped && window->clock.synchronised, false);
		check_rate(&window->e2e);
		for (unsigned j = 0; j < window->n_hops; j++)
			check_rate(&caught->hops[j]);
		assert_true(window->e2e.jitter_ns < MS && window->e2e.jitter_rfc3550_ns < MS);
		assert_int_equal(window->e2e.lost_packets, 0);
		if (stepped && sink)
			assert_false(window->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT);
		// Windows of the beginning and of the end are not full.
		bool whole = window->start_ns > run->config.start_ns && !stepped &&
			     window->reports >= 99 && window->window_ns == SECOND;
		if (whole)
			assert_true(llabs((int64_t)(window->e2e.window_throughput_bps - RATE_BPS)) <
					(int64_t)RATE_BPS / 20);
	}
	assert_true(marked >= 1 && marked <= 2);
}

static void a_step_of_any_clock_marks_its_window_and_nothing_is_computed_across_it(void **state)
{
	(void)state;
	static const int64_t steps_ns[] = {5 * SECOND, -5 * SECOND, 36 * SECOND, -36 * SECOND,
			3600 * SECOND, -3600 * SECOND, 800 * MS, -800 * MS};
	for (unsigned n_nodes = 0; n_nodes <= 3; n_nodes += NODES_STEP) {
		for (unsigned place = 0; place <= n_nodes + 1; place++) {
			for (unsigned i = 0; i < sizeof(steps_ns) / sizeof(steps_ns[0]); i++) {
				struct run run = {.config = steady(n_nodes)};
				sim_run(&run.config, &run.truth);
				step_clock(&run.truth, place, 4321, steps_ns[i]);
				feed(&run);
				check_windows(&run, place == n_nodes + 1);
				run_end(&run);
			}
		}
	}
}

// INT's nodes have no counts.
static void leave_stamps_only(struct sim_result *truth)
{
	for (size_t i = 0; i < truth->n_reports; i++) {
		struct hs_report *report = &truth->reports[i].report;
		report->telemetry.e2e.bitmap = HS_E2E_TIMESTAMP;
		for (unsigned k = 0; k < report->telemetry.n_hops; k++)
			report->telemetry.hops[k].bitmap = HS_HOP_TIMESTAMP;
	}
}

// The sink's own counts and clock tell the rate, whatever the source's clock does. A step forward
// may also be one of the sink's clock.
static void check_mean_rates(const struct run *run)
{
	unsigned marked = 0, whole = 0;
	for (size_t i = 0; i < run->catcher.n; i++) {
		const struct caught *caught = &run->catcher.windows[i];
		const struct hs_qos_window *window = &caught->window;
		if (window->window_ns == SECOND && window->flags & HS_QOS_CLOCK_STEP) {
			assert_false(window->clock.synchronised);
			marked++;
			if (!(window->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT))
				continue;
		}
		if (window->stale || window->window_ns != SECOND ||
				window->start_ns <= run->config.start_ns ||
				window->end_ns > run->config.start_ns + run->config.duration_ns)
			continue;
		assert_true(llabs((int64_t)(window->e2e.window_throughput_bps - RATE_BPS)) <
				(int64_t)RATE_BPS / 20);
		assert_true(window->e2e.jitter_ns < MS && window->e2e.jitter_rfc3550_ns < MS);
		whole++;
	}
	assert_in_range(whole, 6, 7);
	assert_in_range(marked, 1, 2);
}

static void a_source_without_counts_whose_clock_is_set_is_measured_on(void **state)
{
	(void)state;
	static const int64_t steps_ns[] = {-1200 * MS, -5 * SECOND, -3600 * SECOND, 5 * SECOND};
	static const uint32_t every[] = {1, 10, 30};
	for (unsigned n_nodes = 0; n_nodes <= 3; n_nodes += NODES_STEP) {
		for (unsigned i = 0; i < sizeof(steps_ns) / sizeof(steps_ns[0]); i++) {
			for (unsigned k = 0; k < sizeof(every) / sizeof(every[0]); k++) {
				struct run run = {.config = steady(n_nodes)};
				run.config.sample_every = every[k];
				sim_run(&run.config, &run.truth);
				step_clock(&run.truth, 0, 4321, steps_ns[i]);
				leave_stamps_only(&run.truth);
				feed(&run);
				check_mean_rates(&run);
				run_end(&run);
			}
		}
	}
}

// A queue in front of a place holds all that passes it, by what `held_ns` says of each packet.
static void hold(struct sim_result *truth, unsigned place,
		int64_t (*held_ns)(uint64_t number, int64_t most_ns), int64_t most_ns)
{
	for (size_t i = 0; i < truth->n_reports; i++) {
		struct hs_report *report = &truth->reports[i].report;
		int64_t ns = held_ns(truth->reports[i].number, most_ns);
		for (unsigned k = place; k <= truth->n_nodes; k++)
			hop_of(report, k - 1)->ts_ns += (uint64_t)ns;
		report->sink_ts_ns += ns;
	}
}

// One packet each millisecond: a queue that fills by two in three of them, is full, and drains.
static int64_t own_queue(uint64_t number, int64_t most_ns)
{
	int64_t filled = number > 3500 ? (int64_t)(number - 3500) * MS * 2 / 3 : 0;
	int64_t left = number > 9000 ? most_ns - (int64_t)(number - 9000) * MS / 3 : most_ns;
	return filled < left ? filled : left > 0 ? left : 0;
}

static void a_queue_that_fills_and_drains_is_no_step(void **state)
{
	(void)state;
	static const uint32_t every[] = {10, 800, 1500, 3000};
	for (unsigned n_nodes = 0; n_nodes <= 3; n_nodes += NODES_STEP) {
		for (unsigned place = 1; place <= n_nodes + 1; place++) {
			for (unsigned i = 0; i < sizeof(every) / sizeof(every[0]); i++) {
				struct run run = {.config = steady(n_nodes)};
				run.config.duration_ns = 20 * SECOND;
				run.config.sample_every = every[i];
				sim_run(&run.config, &run.truth);
				hold(&run.truth, place, own_queue, 2 * SECOND);
				feed_to(&run, true);
				for (size_t k = 0; k < run.catcher.n; k++)
					assert_int_equal(run.catcher.windows[k].window.flags, 0);
				run_end(&run);
			}
		}
	}
}

// Reports further apart than the step: no stamp runs back.
static void a_step_between_reports_that_are_far_apart_is_seen(void **state)
{
	(void)state;
	static const int64_t steps_ns[] = {5 * SECOND, 900 * MS, -900 * MS};
	for (unsigned n_nodes = 0; n_nodes <= 3; n_nodes += NODES_STEP) {
		for (unsigned place = 0; place <= n_nodes + 1; place++) {
			for (unsigned i = 0; i < sizeof(steps_ns) / sizeof(steps_ns[0]); i++) {
				struct run run = {.config = steady(n_nodes)};
				run.config.duration_ns = 20 * SECOND;
				run.config.sample_every = 1500;
				sim_run(&run.config, &run.truth);
				step_clock(&run.truth, place, 8000, steps_ns[i]);
				feed(&run);
				check_windows(&run, place == n_nodes + 1);
				run_end(&run);
			}
		}
	}
}

static void jitter_alone_is_no_step(void **state)
{
	(void)state;
	static const int64_t jitter_ns[] = {0, 30 * MS, 200 * MS, 450 * MS};
	for (unsigned i = 0; i < sizeof(jitter_ns) / sizeof(jitter_ns[0]); i++) {
		struct run run = {.config = steady(2)};
		run.config.links[0].jitter_ns = run.config.links[2].jitter_ns = jitter_ns[i];
		sim_run(&run.config, &run.truth);
		feed(&run);
		for (size_t k = 0; k < run.catcher.n; k++)
			assert_int_equal(
					run.catcher.windows[k].window.flags & HS_QOS_CLOCK_STEP, 0);
		run_end(&run);
	}
}

// Packets that were on their way when the first report, or the last before a pause, came are
// received after it: no restart.
static void a_pause_with_deep_reordering_begins_no_epoch(void **state)
{
	(void)state;
	static const int64_t jitter_ns[] = {20 * MS, 90 * MS, 250 * MS};
	static const uint32_t every[] = {1, 10};
	for (uint64_t seed = 1; seed <= 24; seed += SIM_STEP) {
		struct run run = {.config = sim_defaults(seed)};
		run.config.n_nodes = 0;
		run.config.duration_ns = 4 * SECOND;
		run.config.on_ns = (int64_t)(100 + 150 * (seed % 4)) * MS;
		run.config.off_ns = (int64_t)(150 + 300 * (seed % 5)) * MS;
		run.config.sample_every = every[seed % 2];
		run.config.links[0].jitter_ns = jitter_ns[seed % 3];
		sim_run(&run.config, &run.truth);
		feed(&run);
		for (size_t i = 0; i < run.catcher.n; i++)
			assert_int_equal(run.catcher.windows[i].window.flags, 0);
		run_end(&run);
	}
}

// Of few sampled packets, each is overtaken by many that are not. By how many, two reports before
// it must tell.
static void a_pause_with_sparse_samples_begins_no_epoch(void **state)
{
	(void)state;
	static const int64_t jitter_ns[] = {0, 20 * MS, 90 * MS, 250 * MS};
	static const int64_t off_ns[] = {200 * MS, 700 * MS, 3 * SECOND, 8 * SECOND, 30 * SECOND};
	static const uint32_t every[] = {1, 30, 100, 300, 1000};
	for (uint64_t seed = 1; seed <= 60; seed += SIM_STEP) {
		struct run run = {.config = sim_defaults(seed)};
		uint32_t apart = every[seed % 5];
		run.config.n_nodes = seed % 2 ? 0 : 1;
		run.config.on_ns = (int64_t)(300 + 200 * (seed % 3)) * MS;
		run.config.off_ns = off_ns[seed / 5 % 5];
		run.config.duration_ns = 3 * (run.config.on_ns + run.config.off_ns);
		run.config.sample_every = seed % 3 ? apart : 0;
		run.config.sample_ppm = 1000000 / apart;
		run.config.links[0].jitter_ns = jitter_ns[seed / 7 % 4];
		run.config.nodes[0].leave_out_ppm = seed % 4 ? 0 : 300000;
		sim_run(&run.config, &run.truth);
		feed(&run);
		uint64_t reports = 0;
		for (size_t i = 0; i < run.catcher.n; i++) {
			const struct hs_qos_window *window = &run.catcher.windows[i].window;
			if (window->window_ns != SECOND || !window->reports)
				continue;
			if (reports >= 2 && window->flags & HS_QOS_EPOCH)
				fail_msg("seed %llu begins an epoch after %llu reports",
						(unsigned long long)seed,
						(unsigned long long)reports);
			reports += window->reports;
		}
		run_end(&run);
	}
}

// ---- jitter of reports that come late ----

struct sampled {
	uint64_t number;
	int64_t delay_ns;
};

static int by_number(const void *a, const void *b)
{
	const struct sampled *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

// Over the run, all pairs of neighbours that came within the bound of the windows.
static double true_jitter(const struct sim_result *truth)
{
	struct sampled *sorted = calloc(truth->n_reports, sizeof(*sorted));
	double sum = 0;
	for (size_t i = 0; i < truth->n_reports; i++) {
		const struct sim_report *report = &truth->reports[i];
		sorted[i].number = report->number;
		sorted[i].delay_ns =
				report->counts[truth->n_nodes + 1].ts_ns - report->counts[0].ts_ns;
	}
	qsort(sorted, truth->n_reports, sizeof(*sorted), by_number);
	for (size_t i = 1; i < truth->n_reports; i++)
		sum += (double)llabs(sorted[i].delay_ns - sorted[i - 1].delay_ns);
	free(sorted);
	return sum / (double)(truth->n_reports - 1);
}

static void jitter_is_right_or_absent_however_late_reports_come(void **state)
{
	(void)state;
	static const int64_t jitter_ns[] = {1 * MS, 5 * MS, 20 * MS, 60 * MS, 95 * MS};
	unsigned present = 0;
	for (unsigned gap = 1; gap <= 16; gap *= 4) {
		for (unsigned i = 0; i < sizeof(jitter_ns) / sizeof(jitter_ns[0]); i++) {
			struct run run = {.config = sim_defaults(gap + i)};
			run.config.n_nodes = 1;
			run.config.gap_ns = 100 * US / gap;
			run.config.duration_ns = (gap > 4 ? 400 : 1500) * MS;
			run.config.sample_every = 1 + (gap > 4);
			run.config.links[1].jitter_ns = jitter_ns[i];
			sim_run(&run.config, &run.truth);
			feed(&run);
			const struct hs_qos_window *whole = hs_qos_latest(run.qos, 7, 0);
			double truth = true_jitter(&run.truth);
			if (whole->e2e.has & HS_QOS_HAS_JITTER) {
				present++;
				assert_true(whole->e2e.jitter_ns > truth * 0.99);
				assert_true(whole->e2e.jitter_ns < truth * 1.01);
			}
			run_end(&run);
		}
	}
	assert_true(present >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_step_of_any_clock_marks_its_window_and_nothing_is_computed_across_it),
			cmocka_unit_test(a_source_without_counts_whose_clock_is_set_is_measured_on),
			cmocka_unit_test(a_queue_that_fills_and_drains_is_no_step),
			cmocka_unit_test(a_step_between_reports_that_are_far_apart_is_seen),
			cmocka_unit_test(a_pause_with_deep_reordering_begins_no_epoch),
			cmocka_unit_test(a_pause_with_sparse_samples_begins_no_epoch),
			cmocka_unit_test(jitter_alone_is_no_step),
			cmocka_unit_test(jitter_is_right_or_absent_however_late_reports_come),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
