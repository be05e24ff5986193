// SPDX-License-Identifier: BSD-3-Clause
// The monitor as an object: many flows, limits, memory, questions.
#include "qos_test.h"
#include "sim.h"

#include <errno.h>

static const uint16_t PATH[] = {1, 2};

static struct hs_report plain(uint64_t number)
{
	return plain_report(number, MS, 2, PATH);
}

static int report_of(struct hs_qos *qos, uint32_t ns_id, uint64_t number)
{
	const struct hs_qos_key key = {
			.ns_id = ns_id, .app_id = ns_id + 1, .generation = 1, .sink_node_id = 9};
	struct hs_report report = plain(number);
	return hs_qos_report(qos, &key, &report);
}

static void flows_beyond_the_limit_are_counted_and_refused(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	struct hs_qos_counters counters;
	for (uint32_t i = 1; i <= 16; i++)
		assert_int_equal(report_of(qos, i, 100), 0);
	assert_int_equal(report_of(qos, 17, 100), -ENOSPC);
	assert_int_equal(report_of(qos, 17, 200), -ENOSPC);
	assert_int_equal(report_of(qos, 16, 200), 0);
	hs_qos_counters(qos, &counters);
	assert_int_equal(counters.flows, 16);
	assert_int_equal(counters.unmonitored, 2);
	assert_int_equal(counters.reports, 17);
	assert_int_equal(hs_qos_remove(qos, 3), 0);
	assert_int_equal(report_of(qos, 17, 300), 0);
	monitor_free(qos, &catcher);
}

static void flows_come_and_go_without_disturbing_each_other(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	for (uint64_t round = 1; round < 400; round++) {
		for (uint32_t i = 0; i < 16; i++) {
			uint32_t ns_id = (uint32_t)(round / 20 + i) * 0x10001u;
			assert_int_equal(report_of(qos, ns_id, round * 10), 0);
		}
		if (round % 20 == 19) {
			uint32_t gone = (uint32_t)(round / 20) * 0x10001u;
			assert_int_equal(hs_qos_remove(qos, gone), 0);
			assert_int_equal(hs_qos_remove(qos, gone), -ENOENT);
			assert_null(hs_qos_latest(qos, gone, SECOND));
		}
	}
	for (uint32_t i = 0; i < 15; i++) {
		const struct hs_qos_window *run = hs_qos_latest(qos, (20 + i) * 0x10001u, 0);
		assert_non_null(run);
		assert_int_equal(run->app_id, (20 + i) * 0x10001u + 1);
		assert_int_equal(run->e2e.lost_packets, 0);
		assert_int_equal(run->reports, 20 * (15 - i));
	}
	monitor_free(qos, &catcher);
}

// A node keeps the newest reports only. What came before them in the window is not known.
static void a_window_on_request_begins_with_the_oldest_report_that_is_kept(void **state)
{
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);

	(void)state;
	for (uint64_t i = 1; i <= 100000; i++) {
		struct hs_report report = plain_report(i, MS / 10, 0, NULL);
		give(qos, &report);
	}
	const int64_t end_ns = T0 + 10 * SECOND;
	const uint64_t rate_bps = 562 * 8 * 10000ull;
	const struct hs_qos_window *window = hs_qos_slide(qos, 7, end_ns - 5 * SECOND, end_ns);
	assert_in_range(window->reports, 1000, 2000);
	assert_int_equal(window->end_ns, end_ns);
	assert_int_equal(window->end_ns - window->start_ns, (int64_t)window->reports * MS / 10);
	assert_int_equal(window->e2e.window_throughput_bps, rate_bps);
	int64_t start_ns = end_ns - 50 * MS;
	window = hs_qos_slide(qos, 7, start_ns, end_ns);
	assert_int_equal(window->start_ns, start_ns);
	assert_int_equal(window->e2e.window_throughput_bps, rate_bps);
	monitor_free(qos, &catcher);
}

static void removal_hands_out_what_is_open(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	assert_int_equal(report_of(qos, 7, 100), 0);
	assert_int_equal(report_of(qos, 7, 200), 0);
	assert_int_equal(catcher.n, 0);
	assert_int_equal(hs_qos_remove(qos, 7), 0);
	assert_int_equal(catcher.n, 3);
	assert_int_equal(caught_at(&catcher, SECOND, 0)->window.e2e.rx_packets, 100);
	assert_int_equal(caught_at(&catcher, 60 * SECOND, 0)->window.e2e.rx_packets, 100);
	monitor_free(qos, &catcher);
}

// Removes a rule at a time, and checks the windows that this cuts. What came in their span may have
// come before they began, so that they have no mean rate.
static void remove_at(struct hs_qos *qos, struct catcher *catcher, int64_t now_ns)
{
	size_t n = catcher->n;
	assert_int_equal(hs_qos_remove(qos, 7), 0);
	assert_int_equal(catcher->n - n, 3);
	for (; n < catcher->n; n++) {
		const struct hs_qos_window *window = &catcher->windows[n].window;
		assert_int_equal(window->end_ns, now_ns);
		assert_int_equal(window->start_ns, T0);
		assert_true(window->window_ns > now_ns - T0);
		assert_true(window->e2e.has & HS_QOS_HAS_THROUGHPUT);
		assert_false(window->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT);
	}
}

static void windows_of_a_rule_that_is_removed_end_then(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	report_of(qos, 7, 100);
	report_of(qos, 7, 200);
	remove_at(qos, &catcher, T0 + 203 * MS); // of the newest report
	report_of(qos, 7, 300);
	report_of(qos, 7, 400);
	hs_qos_tell_time(qos, T0 + 500 * MS);
	remove_at(qos, &catcher, T0 + 500 * MS);
	monitor_free(qos, &catcher);
}

// By the clock of a controller that meets a flow, the flow's reports come late by this much.
static void check_joined(int64_t late_ns)
{
	struct catcher catcher = {0};
	struct hs_qos_config config = {.max_flows = 1, .on_window = catch_window, .user = &catcher};
	struct hs_qos *qos;
	unsigned with = 0;
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	for (uint64_t i = 1500; i < 8000; i += 10) {
		struct hs_report report = plain(i);
		hs_qos_advance(qos, report.sink_ts_ns + late_ns);
		give(qos, &report);
	}
	for (size_t i = 0; i < catcher.n; i++) {
		const struct hs_qos_window *window = &catcher.windows[i].window;
		if (window->stale || !(window->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT))
			continue;
		assert_in_range(window->e2e.window_throughput_bps, 562 * 8 * 1000 * 98 / 100,
				562 * 8 * 1000 * 102 / 100);
		with++;
	}
	assert_true(with >= 2);
	monitor_free(qos, &catcher);
}

static void a_flow_that_is_met_late_has_no_mean_rate_of_a_part(void **state)
{
	(void)state;
	for (int64_t late_ns = 0; late_ns <= 2500 * MS; late_ns += 100 * MS)
		check_joined(late_ns);
}

// Without the source's count, nobody knows what a flow carried before its first report: the count
// of a sink begins anew with the sink and with its rule.
static void without_a_count_of_the_source_the_first_window_has_no_mean_rate(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	const uint64_t before = 1700; // packets at a millisecond each, before the sink began
	for (uint64_t i = before + 1; i < 4500; i += 10) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.bitmap &= (uint8_t)~HS_E2E_TX_PACKETS;
		report.sink_rx_packets -= before;
		report.sink_rx_bytes -= before * 562;
		give(qos, &report);
	}
	for (int second = 2; second <= 4; second++) {
		const struct caught *caught = caught_ending(&catcher, SECOND, T0 + second * SECOND);
		assert_non_null(caught);
		assert_true(caught->window.e2e.has & HS_QOS_HAS_THROUGHPUT);
		assert_int_equal(!!(caught->window.e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT),
				second > 2);
	}
	monitor_free(qos, &catcher);
}

struct seen {
	unsigned n;
	uint32_t first, last;
	bool ordered;
};

static void see(void *user, const struct hs_report *report)
{
	struct seen *seen = user;
	uint32_t number = report->telemetry.e2e.tx_packets;
	if (!seen->n++)
		seen->first = number;
	else if (number != seen->last + 1)
		seen->ordered = false;
	seen->last = number;
	assert_int_equal(report->telemetry.ns_id, 7);
	assert_int_equal(report->telemetry.n_hops, 2);
	assert_int_equal(report->telemetry.hops[0].node_id, 2);
	assert_int_equal(report->sink_rx_packets, number);
}

static void a_thousand_reports_are_kept_and_come_back_oldest_first(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	struct seen seen = {.ordered = true};
	for (uint64_t i = 1; i <= 5000; i++)
		assert_int_equal(report_of(qos, 7, i), 0);
	assert_int_equal(hs_qos_reports(qos, 7, 5000, see, &seen), 1000);
	assert_true(seen.ordered);
	assert_int_equal(seen.first, 4001);
	assert_int_equal(seen.last, 5000);
	seen = (struct seen){.ordered = true};
	assert_int_equal(hs_qos_reports(qos, 7, 3, see, &seen), 3);
	assert_int_equal(seen.first, 4998);
	assert_int_equal(hs_qos_reports(qos, 8, 3, see, &seen), 0);
	monitor_free(qos, &catcher);
}

static void the_newest_finished_window_of_each_length_can_be_asked_for(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	assert_null(hs_qos_latest(qos, 7, SECOND));
	for (uint64_t i = 100; i <= 12900; i += 100)
		assert_int_equal(report_of(qos, 7, i), 0);
	hs_qos_advance(qos, T0 + 13 * SECOND + 200 * MS);
	assert_int_equal(hs_qos_latest(qos, 7, SECOND)->end_ns, T0 + 13 * SECOND);
	assert_int_equal(hs_qos_latest(qos, 7, 10 * SECOND)->end_ns, T0 + 10 * SECOND);
	assert_null(hs_qos_latest(qos, 7, 60 * SECOND));
	assert_null(hs_qos_latest(qos, 7, 2 * SECOND));
	const struct hs_qos_window *run = hs_qos_latest(qos, 7, 0);
	assert_true(run->run);
	assert_int_equal(run->reports, 129);
	assert_int_equal(run->start_ns, T0 + 103 * MS);
	assert_int_equal(run->end_ns, T0 + 12903 * MS);
	assert_int_equal(run->window_ns, 12800 * MS);
	assert_int_equal(run->e2e.tx_packets, 12800);
	assert_int_equal(run->e2e.throughput_bps, 562 * 8 * 1000);
	assert_int_equal(run->e2e.window_throughput_bps, 562 * 8 * 1000);
	monitor_free(qos, &catcher);
}

static void asking_for_the_run_changes_no_window(void **state)
{
	(void)state;
	struct catcher with, without;
	struct hs_qos *asked = monitor_new(&with), *quiet = monitor_new(&without);
	struct sim_config config = sim_defaults(31);
	struct sim_result truth;
	config.links[1].jitter_ns = 3 * MS;
	config.sample_every = 3;
	config.duration_ns = 4 * SECOND;
	sim_run(&config, &truth);
	for (size_t i = 0; i < truth.n_reports; i++) {
		give(asked, &truth.reports[i].report);
		give(quiet, &truth.reports[i].report);
		if (i % 777 == 0)
			assert_int_equal(hs_qos_latest(asked, 7, 0)->reports, i + 1);
	}
	flush_all(asked);
	flush_all(quiet);
	assert_int_equal(with.n, without.n);
	for (size_t i = 0; i < with.n; i++)
		for (unsigned j = 0; j < with.windows[i].window.n_hops; j++)
			assert_memory_equal(&with.windows[i].hops[j], &without.windows[i].hops[j],
					sizeof(struct hs_qos_hop));
	sim_free(&truth);
	monitor_free(asked, &with);
	monitor_free(quiet, &without);
}

static void a_sliding_window_equals_the_tumbling_one_of_the_same_place(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	struct sim_config config = sim_defaults(32);
	struct sim_result truth;
	config.sample_every = 100;
	config.links[1].loss_ppm = 20000;
	config.links[2].jitter_ns = 15 * MS; // now and then a sampled packet overtakes another
	config.duration_ns = 5 * SECOND;
	sim_run(&config, &truth);
	for (size_t i = 0; i < truth.n_reports; i++)
		give(qos, &truth.reports[i].report);
	int64_t end_ns = config.start_ns + 3 * SECOND;
	const struct caught *caught = caught_ending(&catcher, SECOND, end_ns);
	const struct hs_qos_window *slid = hs_qos_slide(qos, 7, end_ns - SECOND, end_ns);
	assert_non_null(slid);
	assert_int_equal(slid->reports, caught->window.reports);
	for (unsigned i = 0; i < slid->n_hops; i++) {
		assert_int_equal(slid->hops[i].lost_packets, caught->hops[i].lost_packets);
		assert_int_equal(slid->hops[i].rx_bytes, caught->hops[i].rx_bytes);
		assert_int_equal(slid->hops[i].delay.p50, caught->hops[i].delay.p50);
		assert_int_equal(slid->hops[i].jitter_ns, caught->hops[i].jitter_ns);
		assert_int_equal(slid->hops[i].span_start_ns, caught->hops[i].span_start_ns);
	}
	// Half a second later there is no tumbling window; twice half of it is the whole.
	int64_t lost = 0;
	for (unsigned i = 0; i < 10; i++) {
		slid = hs_qos_slide(qos, 7, end_ns - SECOND + i * 100 * MS,
				end_ns - SECOND + (i + 1) * 100 * MS);
		lost += slid->hops[1].lost_packets;
	}
	assert_int_equal(lost, caught->hops[1].lost_packets);
	assert_null(hs_qos_slide(qos, 7, end_ns + 10 * SECOND, end_ns + 20 * SECOND));
	assert_null(hs_qos_slide(qos, 7, end_ns, end_ns));
	sim_free(&truth);
	monitor_free(qos, &catcher);
}

static void memory_of_a_flow_is_bounded(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	struct hs_qos_counters counters;
	struct sim_config config = sim_defaults(33);
	struct sim_result truth;
	config.sample_every = 2;
	config.duration_ns = 12 * SECOND;
	for (unsigned i = 0; i <= 4; i++)
		config.links[i].jitter_ns = 20 * MS;
	sim_run(&config, &truth);
	for (size_t i = 0; i < truth.n_reports; i++)
		give(qos, &truth.reports[i].report);
	hs_qos_counters(qos, &counters);
	assert_true(truth.n_reports > 50000);
	assert_true(counters.bytes < 400 * 1024);
	sim_free(&truth);
	monitor_free(qos, &catcher);
}

static void hundreds_of_paths_take_bounded_memory(void **state)
{
	(void)state;
	const struct hs_qos_config config = {.max_flows = 1};
	struct hs_qos_counters counters;
	struct hs_qos *qos;
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	for (uint64_t i = 1; i <= 5000; i++) {
		uint16_t path[] = {1, (uint16_t)(10 + i / 10), 2};
		struct hs_report report = plain_report(i * 100, MS, 3, path);
		give(qos, &report);
	}
	hs_qos_counters(qos, &counters);
	assert_true(counters.bytes < 2 * 1024 * 1024);
	assert_int_equal(hs_qos_latest(qos, 7, 0)->e2e.lost_packets, 0);
	hs_qos_destroy(qos);
}

static void windows_that_do_not_divide_each_other_are_refused(void **state)
{
	(void)state;
	struct hs_qos *qos;
	struct hs_qos_config config = {.max_flows = 1, .window_ns = {3 * SECOND, 10 * SECOND}};
	assert_int_equal(hs_qos_create(&config, &qos), -EINVAL);
	config.window_ns[0] = 10 * SECOND;
	assert_int_equal(hs_qos_create(&config, &qos), -EINVAL);
	config.window_ns[0] = 100 * MS;
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	hs_qos_destroy(qos);
}

static void nothing_is_due_between_window_ends(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	assert_int_equal(hs_qos_next_ns(qos), INT64_MAX);
	assert_int_equal(report_of(qos, 7, 100), 0);
	assert_int_equal(hs_qos_next_ns(qos), T0 + 1100 * MS);
	hs_qos_advance(qos, T0 + 1200 * MS);
	assert_int_equal(hs_qos_next_ns(qos), T0 + 2100 * MS);
	monitor_free(qos, &catcher);
}

static void closing_can_be_spread_over_several_calls(void **state)
{
	(void)state;
	struct catcher catcher = {0};
	const struct hs_qos_config config = {
			.max_flows = 16,
			.flows_per_advance = 3,
			.on_window = catch_window,
			.user = &catcher,
	};
	const int64_t now_ns = T0 + 1200 * MS;
	struct hs_qos *qos;
	unsigned calls = 0;
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	for (uint32_t i = 1; i <= 10; i++)
		assert_int_equal(report_of(qos, i, 100), 0);
	while (hs_qos_next_ns(qos) <= now_ns) {
		size_t before = catcher.n;
		hs_qos_advance(qos, now_ns);
		assert_true(catcher.n <= before + 3);
		if (++calls == 2) { // one comes and two go meanwhile, one of them the next in turn
			assert_int_equal(report_of(qos, 11, 100), 0);
			assert_int_equal(hs_qos_remove(qos, 4), 0);
			assert_int_equal(hs_qos_remove(qos, 9), 0);
		}
		assert_true(calls < 10);
	}
	assert_true(calls > 3);
	for (uint32_t i = 1; i <= 11; i++)
		assert_int_equal(hs_qos_latest(qos, i, SECOND) == NULL, i == 4 || i == 9);
	assert_int_equal(hs_qos_next_ns(qos), T0 + 2100 * MS);
	monitor_free(qos, &catcher);
}

// Nothing but the sink's own part can be trusted; sanitizers watch.
static void reports_of_nonsense_do_no_harm(void **state)
{
	(void)state;
	const struct hs_qos_config config = {.max_flows = 4};
	struct hs_qos_counters counters;
	struct hs_qos *qos;
	struct hs_rng rng;
	hs_rng_init(&rng, 99);
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	for (uint64_t i = 1; i <= 60000; i++) {
		struct hs_report report = {0};
		struct hs_decoded *telemetry = &report.telemetry;
		unsigned wild = hs_rng_u32(&rng) % 8;
		telemetry->family = &hs_flexint_family;
		telemetry->e2e = (struct hs_e2e){(uint16_t)(hs_rng_u32(&rng) & 0xF000),
				hs_rng_u32(&rng), hs_rng_u64(&rng) >> (8 * wild), hs_rng_u32(&rng),
				hs_rng_u32(&rng)};
		telemetry->n_hops = (uint16_t)(hs_rng_u32(&rng) % 6);
		for (unsigned j = 0; j < telemetry->n_hops; j++)
			telemetry->hops[j] = (struct hs_hop){(uint16_t)(hs_rng_u32(&rng) % 5),
					(uint16_t)(hs_rng_u32(&rng) & HS_HOP_KNOWN),
					(uint16_t)hs_rng_u32(&rng), (uint16_t)hs_rng_u32(&rng),
					hs_rng_u64(&rng) >> (8 * wild), hs_rng_u32(&rng),
					hs_rng_u32(&rng)};
		report.sink_ts_ns = T0 + (int64_t)i * MS - (int64_t)(hs_rng_u32(&rng) % 50) * MS;
		report.sink_rx_packets = i * 100;
		report.sink_rx_bytes = i * 56200;
		const struct hs_qos_key key = {1 + (uint32_t)i % 3, 1, 1 + (uint32_t)i / 20000, 9};
		assert_int_equal(hs_qos_report(qos, &key, &report), 0);
		if (i % 1000)
			continue;
		const struct hs_qos_window *run = hs_qos_latest(qos, key.ns_id, 0);
		json_t *json = hs_qos_window_json(run, NULL);
		assert_non_null(json);
		json_decref(json);
		hs_qos_slide(qos, key.ns_id, report.sink_ts_ns - SECOND, report.sink_ts_ns);
	}
	flush_all(qos);
	hs_qos_counters(qos, &counters);
	assert_int_equal(counters.reports, 60000);
	hs_qos_destroy(qos);
}

// A family whose hops have ids and counts of 32 bits, and no bytes to tell multiples by.
static void ids_and_counts_are_as_wide_as_their_family_says(void **state)
{
	(void)state;
	static const struct hs_telemetry_family wide = {.name = "wide",
			.hop_known = HS_HOP_PACKETS | HS_HOP_TIMESTAMP,
			.packet_bits = 32,
			.max_node_id = UINT32_MAX};
	static const uint16_t nodes[] = {1, 2};
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	for (uint64_t i = 0; i <= 60; i++) {
		struct hs_report report = plain_report(4294000000u + i * 100000, 1000, 2, nodes);
		report.telemetry.family = &wide;
		report.telemetry.trace_type = 0x6000C000;
		report.telemetry.e2e.bitmap = HS_E2E_TIMESTAMP | HS_E2E_TX_PACKETS;
		for (unsigned k = 0; k < 2; k++) {
			struct hs_hop *hop = hop_of(&report, k);
			hop->node_id = 0xC0A80000u + k;
			hop->bitmap = wide.hop_known;
			hop->rx_packets = hop->tx_packets = report.telemetry.e2e.tx_packets -
							    (uint32_t)(k ? i * 90000 : 0);
		}
		report.sink_rx_packets = 1000000 + i * 10000;
		report.sink_rx_bytes = report.sink_rx_packets * 562;
		give(qos, &report);
	}
	const struct hs_qos_window *run = hs_qos_latest(qos, 7, 0);
	assert_non_null(run);
	assert_int_equal(run->n_hops, 3);
	assert_int_equal(run->path[1], 0xC0A80000u);
	assert_int_equal(run->hops[1].from, 0xC0A80000u);
	assert_int_equal(run->hops[1].to, 0xC0A80001u);
	assert_int_equal(run->hops[0].lost_packets, 0);
	assert_int_equal(run->hops[1].lost_packets, 60 * 90000);
	assert_int_equal(run->hops[2].lost_packets, 0);
	assert_int_equal(run->e2e.lost_packets, 60 * 90000);
	monitor_free(qos, &catcher);
}

// At a border, a rule's packets may come by a port of another family from one packet to the next.
static void reports_of_another_family_begin_anew(void **state)
{
	(void)state;
	static const struct hs_telemetry_family wide = {.name = "wide",
			.hop_known = HS_HOP_MEASURED,
			.packet_bits = 32,
			.max_node_id = UINT32_MAX};
	static const uint16_t nodes[] = {1, 2};
	struct hs_qos_counters counters;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	for (uint64_t i = 0; i <= 60; i++) {
		struct hs_report report = plain_report(100000 + i * 1000, 1000, 2, nodes);
		if (i >= 30) {
			report.telemetry.family = &wide;
			for (unsigned k = 0; k < 2; k++)
				hop_of(&report, k)->rx_packets = hop_of(&report, k)->tx_packets =
						report.telemetry.e2e.tx_packets + 5000000;
		}
		give(qos, &report);
	}
	const struct hs_qos_window *run = hs_qos_latest(qos, 7, 0);
	assert_non_null(run);
	assert_int_equal(run->reports, 31);
	assert_int_equal(run->e2e.lost_packets, 0);
	for (unsigned k = 0; k < run->n_hops; k++)
		assert_int_equal(run->hops[k].lost_packets, 0);
	hs_qos_counters(qos, &counters);
	assert_int_equal(counters.epochs, 1);
	monitor_free(qos, &catcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(reports_of_another_family_begin_anew),
			cmocka_unit_test(ids_and_counts_are_as_wide_as_their_family_says),
			cmocka_unit_test(flows_beyond_the_limit_are_counted_and_refused),
			cmocka_unit_test(flows_come_and_go_without_disturbing_each_other),
			cmocka_unit_test(
					a_window_on_request_begins_with_the_oldest_report_that_is_kept),
			cmocka_unit_test(removal_hands_out_what_is_open),
			cmocka_unit_test(windows_of_a_rule_that_is_removed_end_then),
			cmocka_unit_test(a_flow_that_is_met_late_has_no_mean_rate_of_a_part),
			cmocka_unit_test(
					without_a_count_of_the_source_the_first_window_has_no_mean_rate),
			cmocka_unit_test(a_thousand_reports_are_kept_and_come_back_oldest_first),
			cmocka_unit_test(
					the_newest_finished_window_of_each_length_can_be_asked_for),
			cmocka_unit_test(asking_for_the_run_changes_no_window),
			cmocka_unit_test(
					a_sliding_window_equals_the_tumbling_one_of_the_same_place),
			cmocka_unit_test(memory_of_a_flow_is_bounded),
			cmocka_unit_test(hundreds_of_paths_take_bounded_memory),
			cmocka_unit_test(windows_that_do_not_divide_each_other_are_refused),
			cmocka_unit_test(nothing_is_due_between_window_ends),
			cmocka_unit_test(closing_can_be_spread_over_several_calls),
			cmocka_unit_test(reports_of_nonsense_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
