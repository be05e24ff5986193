// SPDX-License-Identifier: BSD-3-Clause
// Flows that take several paths at once, packet by packet, against the truth.
#include "qos_test.h"
#include "sim_run.h"

// Half of the packets take node 50 in the place of the second transit node.
static struct sim_config spray(uint64_t seed)
{
	struct sim_config config = sim_defaults(seed);
	config.n_nodes = 3;
	config.duration_ns = 5 * SECOND;
	config.other_id = 50;
	config.other_at = 1;
	config.other_every = 2;
	config.sample_every = 5;
	return config;
}

static bool end_of_both(uint16_t node)
{
	return node != 2 && node != 50;
}

// Loss between nodes that all packets pass is exact; of the others there is none.
static void check_hops(const struct run *run, const struct caught *caught, unsigned *judged)
{
	int64_t lost = 0;
	for (unsigned i = 0; i < caught->window.n_hops; i++) {
		const struct hs_qos_hop *hop = &caught->hops[i];
		if (!end_of_both(hop->from) || !end_of_both(hop->to)) {
			assert_false(hop->has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_RX_PACKETS));
			assert_false(hop->has & (HS_QOS_HAS_BYTES | HS_QOS_HAS_THROUGHPUT));
			continue;
		}
		if (!(hop->has & HS_QOS_HAS_LOSS))
			continue;
		lost += hop->lost_packets + hop->node_lost_packets;
		(*judged)++;
		if (!run->config.links[0].loss_ppm)
			assert_true(hop->shown_lost_packets <= 8); // late, not lost
	}
	assert_int_equal(lost + caught->window.unattributed_lost_packets,
			caught->window.e2e.lost_packets);
}

static void check_spray(struct run *run)
{
	unsigned judged = 0;
	run_start(run);
	for (size_t i = 0; i < run->catcher.n; i++) {
		const struct caught *caught = &run->catcher.windows[i];
		if (caught->window.stale)
			continue;
		assert_int_equal(caught->window.flags, HS_QOS_MULTIPATH);
		check_hops(run, caught, &judged);
	}
	assert_true(judged > 4);
	run_end(run);
}

// Every path was last seen as many reports ago as there are paths.
static void packets_that_take_paths_in_turn_are_sprayed(void **state)
{
	static const unsigned counts[] = {2, 8, 9, 16, 17, 32};

	(void)state;
	for (unsigned k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		for (uint64_t i = 1; i <= 4000; i++) {
			const uint16_t path[] = {1, (uint16_t)(100 + i % counts[k]), 2};
			struct hs_report report = plain_report(i, MS, 3, path);
			give(qos, &report);
		}
		flush_all(qos);
		const struct caught *caught = caught_at(&catcher, SECOND, 2);
		assert_int_equal(caught->window.flags, HS_QOS_MULTIPATH);
		const struct hs_qos_hop *hop = hop_between(caught, 1, 2);
		assert_non_null(hop);
		assert_true(hop->has & HS_QOS_HAS_LOSS);
		assert_int_equal(hop->lost_packets, 0);
		assert_int_equal(hop->rx_packets, 1000);
		monitor_free(qos, &catcher);
	}
}

static void a_slower_path_whose_reports_always_come_late_is_a_path(void **state)
{
	(void)state;
	static const int64_t slower_ns[] = {0, 300 * US, 5 * MS, 30 * MS, 90 * MS};
	for (unsigned i = 0; i < sizeof(slower_ns) / sizeof(slower_ns[0]); i++) {
		struct run run = {.config = spray(i + 1)};
		run.config.other_delay_ns = slower_ns[i];
		check_spray(&run);
	}
}

static void a_path_that_some_packets_take_by_chance_is_a_path(void **state)
{
	(void)state;
	for (uint64_t seed = 11; seed <= 14; seed++) {
		struct run run = {.config = spray(seed)};
		run.config.other_every = 0;
		run.config.other_ppm = 100000 * (uint32_t)(seed - 10);
		run.config.other_delay_ns = 20 * MS;
		run.config.links[0].loss_ppm = seed % 2 ? 0 : 20000;
		check_spray(&run);
	}
}

// The last packets by the slower path come after the first by the faster one: a change, once.
static void stragglers_of_a_path_that_was_left_are_no_second_path(void **state)
{
	(void)state;
	struct run run = {.config = spray(21)};
	run.config.other_every = 0;
	run.config.other_from_ns = 2500 * MS;
	run.config.other_delay_ns = -800 * US; // now the faster one
	run_start(&run);
	unsigned changed = 0;
	for (size_t i = 0; i < run.catcher.n; i++) {
		const struct hs_qos_window *window = &run.catcher.windows[i].window;
		assert_int_equal(window->flags, 0);
		changed += window->window_ns == SECOND && window->path_changed;
	}
	assert_int_equal(changed, 1);
	run_end(&run);
}

// Every sampled packet takes one path though packets alternate: nobody can know the other path, but
// half of the packets pass by the node of this one, and each window says so. Then it changes.
static void packets_that_pass_by_a_node_unseen_are_flagged_from_the_first_window(void **state)
{
	(void)state;
	struct run run = {.config = spray(41)};
	run.config.sample_every = 10; // all even: node 50
	run_start(&run);
	assert_true(run.catcher.n > 4);
	for (size_t i = 0; i < run.catcher.n; i++) {
		const struct hs_qos_window *window = &run.catcher.windows[i].window;
		if (window->e2e.tx_packets > 1000)
			assert_true(window->flags & HS_QOS_BYPASSED);
		assert_int_equal(window->e2e.lost_packets, 0);
	}
	run_end(&run);
}

// RFC 3550 appendix A.8 over the reports that had arrived by the end of the window.
static void smoothed_jitter_is_that_of_the_windows_end(void **state)
{
	(void)state;
	struct run run = {.config = sim_defaults(31)};
	run.config.duration_ns = 4 * SECOND;
	run.config.start_ns += 77 * MS;
	run.config.links[1].jitter_ns = 3 * MS;
	run_start(&run);
	for (size_t i = 0; i < run.catcher.n; i++) {
		const struct hs_qos_window *window = &run.catcher.windows[i].window;
		uint64_t j = 0;
		for (size_t k = 1; k < run.truth.n_reports; k++) {
			const struct sim_count *a = run.truth.reports[k - 1].counts;
			const struct sim_count *b = run.truth.reports[k].counts;
			unsigned to = run.truth.n_nodes + 1;
			if (b[to].ts_ns > window->end_ns)
				break;
			int64_t change = (b[to].ts_ns - b[0].ts_ns) - (a[to].ts_ns - a[0].ts_ns);
			j += (uint64_t)llabs(change) - ((j + 8) >> 4);
		}
		assert_int_equal(window->e2e.jitter_rfc3550_ns, j >> 4);
	}
	assert_true(run.catcher.n > 4);
	run_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(packets_that_take_paths_in_turn_are_sprayed),
			cmocka_unit_test(a_slower_path_whose_reports_always_come_late_is_a_path),
			cmocka_unit_test(a_path_that_some_packets_take_by_chance_is_a_path),
			cmocka_unit_test(stragglers_of_a_path_that_was_left_are_no_second_path),
			cmocka_unit_test(
					packets_that_pass_by_a_node_unseen_are_flagged_from_the_first_window),
			cmocka_unit_test(smoothed_jitter_is_that_of_the_windows_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
