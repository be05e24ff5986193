// SPDX-License-Identifier: BSD-3-Clause
// Windows and delays as series for Prometheus.
#include "delay_buckets.h"
#include "qos_page.h"

#include "rng.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REPORTS 5000
#define SINK	9

static struct hs_prometheus *begin(void)
{
	return hs_prometheus_begin(&(const struct hs_prometheus_config){.max_series = 100000});
}

static char *end(struct hs_prometheus *page)
{
	size_t len = 0;
	char *text = hs_prometheus_end(page, &len);

	assert_non_null(text);
	return text;
}

// ---- windows ----

static char *page_of(const struct hs_qos_window *window)
{
	struct hs_prometheus *page = begin();

	hs_qos_page_path(page, window);
	hs_qos_page_hops(page, window);
	return end(page);
}

static void fill(struct hs_qos_hop *hop, uint32_t has)
{
	*hop = (struct hs_qos_hop){
			.has = has,
			.from = 1,
			.to = 2,
			.throughput_bps = 1000000004,
			.window_throughput_bps = 999,
			.delay = {7, -3, -50, 2, 30, 40, 1500000001},
			.pdv_ns = 90,
			.jitter_ns = 5,
			.jitter_rfc3550_ns = 6,
			.lost_packets = -2,
			.shown_lost_packets = 3,
			.node_lost_packets = 4,
			.tx_packets = 1000,
			.rx_packets = 997,
			.rx_bytes = 1 << 20,
			.hop_latency_ns = {10, 1, 9, 80, 100},
			.queue_packets = {1.5, 7},
			.link_utilisation_ratio = {0.25, 0.5},
	};
}

static void expect(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no line \"%s\" in\n%s", line, text);
}

static void a_window_is_shown_with_what_it_knows(void **state)
{
	(void)state;
	struct hs_qos_hop hops[2];
	struct hs_qos_window window = {.ns_id = 7,
			.window_ns = 10000000000,
			.end_ns = 1700000000500000000,
			.reports = 12,
			.flags = HS_QOS_EPOCH,
			.n_hops = 2,
			.hops = hops};

	fill(&window.e2e, UINT32_MAX);
	fill(&hops[0], UINT32_MAX);
	fill(&hops[1], HS_QOS_HAS_DELAY);
	hops[1].from = HS_NODE_UNKNOWN;
	char *text = page_of(&window);
#define PATH "{ns_id=\"7\",window=\"10s\"} "
#define HOP  "{ns_id=\"7\",hop=\"1\",from=\"1\",to=\"2\",window=\"10s\"} "
	expect(text, "\nhopsight_path_stale" PATH "0\n");
	expect(text, "\nhopsight_path_reports" PATH "12\n");
	expect(text, "\nhopsight_path_window_end_timestamp_seconds" PATH "1700000000.5\n");
	expect(text, "\nhopsight_path_flag{ns_id=\"7\",window=\"10s\",flag=\"epoch\"} 1\n");
	expect(text, "\n# TYPE hopsight_path_delay_window_seconds summary\n");
	expect(text, "{ns_id=\"7\",window=\"10s\",quantile=\"0.0\"} -0.00000005\n");
	expect(text, "{ns_id=\"7\",window=\"10s\",quantile=\"1.0\"} 1.500000001\n");
	expect(text, "\nhopsight_path_throughput_bytes_per_second" PATH "125000000.5\n");
	expect(text, "\nhopsight_path_loss_ratio" PATH "0.003\n");
	expect(text, "\nhopsight_path_lost_packets" PATH "-2\n");
	expect(text, "\nhopsight_hop_tx_packets" HOP "1000\n");
	expect(text, "\nhopsight_hop_queue_mean_packets" HOP "1.5\n");
	expect(text, "\nhopsight_hop_queue_max_packets" HOP "7\n");
	expect(text, "\nhopsight_hop_link_utilisation_max_ratio" HOP "0.5\n");
	expect(text, "hop=\"2\",from=\"unknown\",to=\"2\",window=\"10s\"} -0.000000003\n");
	assert_null(strstr(text, "path_queue"));
	assert_null(strstr(text, "tx_packets{ns_id=\"7\",hop=\"2\""));
	free(text);
}

static void a_stale_window_has_no_numbers(void **state)
{
	(void)state;
	struct hs_qos_hop hop;
	struct hs_qos_window window = {.ns_id = 7,
			.window_ns = 1500000000,
			.stale = true,
			.n_hops = 1,
			.hops = &hop};

	fill(&window.e2e, UINT32_MAX);
	fill(&hop, UINT32_MAX);
	char *text = page_of(&window);
	expect(text, "\nhopsight_path_stale{ns_id=\"7\",window=\"1500ms\"} 1\n");
	assert_null(strstr(text, "_delay_"));
	free(text);
}

// What stands together in a published window.
static uint32_t possible(uint32_t has)
{
	if (!(has & HS_QOS_HAS_DELAY))
		has &= ~(uint32_t)(HS_QOS_HAS_P50 | HS_QOS_HAS_P99 | HS_QOS_HAS_P999);
	if (!(has & HS_QOS_HAS_HOP_LATENCY))
		has &= ~(uint32_t)(HS_QOS_HAS_LATENCY_P50 | HS_QOS_HAS_LATENCY_P99);
	return has & HS_QOS_HAS_LOSS ? has | HS_QOS_HAS_RX_PACKETS : has;
}

static void expect_same(const struct hs_qos_window *window)
{
	struct hs_qos_window read;
	json_t *message = hs_qos_window_json(window, NULL);
	json_t *content = json_object_get(message, "qos_report");

	assert_true(hs_qos_window_take(content));
	assert_int_equal(hs_qos_window_read(content, &read), 0);
	char *text = page_of(window), *again = page_of(&read);
	assert_string_equal(text, again);
	free(text);
	free(again);
	hs_qos_window_free(&read);
	json_decref(message);
}

// A controller has windows as text.
static void a_window_that_was_published_gives_the_same_page(void **state)
{
	(void)state;
	struct hs_rng rng;
	struct hs_qos_hop hops[4];
	uint32_t path[5] = {0, 1, 2, 3, 4};

	hs_rng_init(&rng, 3);
	for (unsigned round = 0; round < 300; round++) {
		struct hs_qos_window window = {.ns_id = 1 + round,
				.window_ns = 1000000000,
				.end_ns = 1700000000000000000,
				.reports = round,
				.n_hops = round % 5,
				.n_path = round % 5 + 1,
				.path = path,
				.hops = hops,
				.flags = hs_rng_u32(&rng) % (2 * HS_QOS_NODES_UNKNOWN)};
		fill(&window.e2e, possible(hs_rng_u32(&rng)));
		for (unsigned i = 0; i < 4; i++) {
			fill(&hops[i], possible(hs_rng_u32(&rng)));
			hops[i].from = i == 2 ? HS_NODE_UNKNOWN : i;
			hops[i].shown_lost_packets = hs_rng_u32(&rng) % 1001;
		}
		expect_same(&window);
	}
}

// ---- delays ----

static uint64_t value_of(const char *text, const char *series)
{
	const char *at = strstr(text, series);

	if (!at)
		fail_msg("no \"%s\" in\n%s", series, text);
	return strtoull(at + strlen(series), NULL, 10);
}

static struct hs_report report_of(int64_t first_ns, int64_t second_ns)
{
	struct hs_report report = {.sink_ts_ns = 1700000000000000000};

	report.telemetry.n_hops = 1;
	report.telemetry.e2e.node_id = 1;
	report.telemetry.e2e.bitmap = HS_E2E_TIMESTAMP;
	report.telemetry.hops[0] = (struct hs_hop){.node_id = 2, .bitmap = HS_HOP_TIMESTAMP};
	report.telemetry.hops[0].ts_ns = (uint64_t)(report.sink_ts_ns - second_ns);
	report.telemetry.e2e.ts_ns = report.telemetry.hops[0].ts_ns - (uint64_t)first_ns;
	return report;
}

static void each_delay_is_in_the_bucket_that_it_belongs_to(void **state)
{
	(void)state;
	struct hs_delay_buckets buckets = {0};
	struct hs_rng rng;
	uint64_t within_1ms = 0, within_20us = 0, first_hop = 0;
	int64_t sum_ns = 0;

	hs_rng_init(&rng, 5);
	for (unsigned i = 0; i < REPORTS; i++) {
		// Some are exactly a bound, or just above it, or negative.
		int64_t first_ns = (int64_t)(hs_rng_u64(&rng) % 3000000) - 1000;
		int64_t second_ns = i % 3 ? (int64_t)(i % 7) : 1000000 - first_ns + (i % 2);
		const struct hs_report report = report_of(first_ns, second_ns);
		hs_delay_buckets_add(&buckets, &report, SINK, 1690000000000000000);
		within_1ms += first_ns + second_ns <= 1000000;
		within_20us += first_ns + second_ns <= 20000;
		first_hop += first_ns <= 1000000;
		sum_ns += first_ns + second_ns;
	}
	struct hs_prometheus *page = begin();
	hs_delay_buckets_page_path(page, &buckets, 7);
	hs_delay_buckets_page_hops(page, &buckets, 7);
	char *text = end(page);
#define OF_PATH(le) "hopsight_path_delay_seconds_bucket{ns_id=\"7\",le=\"" le "\"} "
	assert_int_equal(value_of(text, OF_PATH("0.001")), within_1ms);
	assert_int_equal(value_of(text, OF_PATH("2e-05")), within_20us);
	assert_int_equal(value_of(text, OF_PATH("+Inf")), REPORTS);
	assert_int_equal(
			value_of(text, "hopsight_path_delay_seconds_count{ns_id=\"7\"} "), REPORTS);
	assert_int_equal(value_of(text, "hopsight_hop_delay_seconds_bucket{ns_id=\"7\",hop=\"1\","
					"from=\"1\",to=\"2\",le=\"0.001\"} "),
			first_hop);
	assert_int_equal(value_of(text, "hopsight_hop_delay_seconds_count{ns_id=\"7\",hop=\"2\","
					"from=\"2\",to=\"9\"} "),
			REPORTS);
	char sum[80];
	snprintf(sum, sizeof(sum), "hopsight_path_delay_seconds_sum{ns_id=\"7\"} %" PRId64 ".%09d",
			sum_ns / 1000000000, (int)(sum_ns % 1000000000));
	while (sum[strlen(sum) - 1] == '0')
		sum[strlen(sum) - 1] = '\0';
	expect(text, sum);
	free(text);
	hs_delay_buckets_fini(&buckets);
}

static void a_bound_is_in_its_bucket_and_what_is_above_it_is_not(void **state)
{
	(void)state;
	static const int64_t tenths[] = {1, 2, 5};
	struct hs_delay_buckets buckets = {0};
	unsigned n = 0;

	for (int64_t decade = 1000; decade <= 1000000000; decade *= 10) {
		for (unsigned i = 0; i < (decade == 1000000000 ? 1 : 3); i++) {
			for (int64_t off = -1; off <= 1; off++) {
				const struct hs_report report =
						report_of(tenths[i] * decade + off, 0);
				hs_delay_buckets_add(&buckets, &report, SINK, 1);
			}
		}
	}
	struct hs_prometheus *page = begin();
	hs_delay_buckets_page_path(page, &buckets, 7);
	char *text = end(page), *at = text;
	for (; (at = strstr(at, "_bucket{")); n++) {
		at = strstr(at, "} ") + 2;
		if (n < HS_DELAY_BOUNDS)
			assert_int_equal(strtoull(at, NULL, 10), 3 * n + 2);
	}
	assert_int_equal(n, HS_DELAY_BOUNDS + 1);
	free(text);
	hs_delay_buckets_fini(&buckets);
}

static void paths_without_end_are_bounded(void **state)
{
	(void)state;
	struct hs_delay_buckets buckets = {0};

	for (uint32_t i = 0; i < 10000; i++) {
		struct hs_report report = report_of(INT64_MAX / 2, 1);
		report.telemetry.hops[0].node_id = i;
		hs_delay_buckets_add(&buckets, &report, SINK, 1);
	}
	assert_in_range(buckets.n, 100, 128);
	struct hs_prometheus *page = begin();
	hs_delay_buckets_page_path(page, &buckets, 7);
	char *text = end(page);
	assert_int_equal(value_of(text, "hopsight_path_delay_seconds_count{ns_id=\"7\"} "), 10000);
	expect(text, "hopsight_path_delay_seconds_sum{ns_id=\"7\"} 9223372036.854775807\n");
	free(text);
	hs_delay_buckets_fini(&buckets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_window_is_shown_with_what_it_knows),
			cmocka_unit_test(a_stale_window_has_no_numbers),
			cmocka_unit_test(a_window_that_was_published_gives_the_same_page),
			cmocka_unit_test(each_delay_is_in_the_bucket_that_it_belongs_to),
			cmocka_unit_test(a_bound_is_in_its_bucket_and_what_is_above_it_is_not),
			cmocka_unit_test(paths_without_end_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
