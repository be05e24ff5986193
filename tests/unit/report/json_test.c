// SPDX-License-Identifier: BSD-3-Clause
// The raw report as JSON: against a text written by hand, and against what jansson writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "flexint.h"
#include "report_json.h"
#include "rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_report_origin ORIGIN = {.seq = 1, .node_id = 9, .boot_id = "b-1"};

static struct hs_report example(void)
{
	struct hs_report report = {
			.sink_ts_ns = 1700000000000000005,
			.sink_rx_packets = 998,
			.sink_rx_bytes = 560876,
	};
	report.telemetry.ns_id = 7;
	report.telemetry.trace_type = 0x7000E000;
	report.telemetry.e2e = (struct hs_e2e){0x7000, 12, 1700000000000000001, 1000, 562000};
	report.telemetry.n_hops = 2;
	report.telemetry.hops[0] = (struct hs_hop){2, 0x4000, 55, 55, 44, 55, 55};
	report.telemetry.hops[1] = (struct hs_hop){1, 0xE000, 1000, 1001, 33, 4, 5};
	return report;
}

static void a_report_is_published_with_its_hops_from_source_to_sink(void **state)
{
	(void)state;
	struct hs_report report = example();
	char text[1024];
	int len = hs_report_text(&report, 3, 9, &ORIGIN, text, sizeof(text));
	assert_true(len > 0);
	json_t *json = json_loadb(text, (size_t)len, JSON_REJECT_DUPLICATES, NULL);
	json_t *expected = json_loads("{\"int_report\": {\"seq\": 1, \"node_id\": 9, \"boot_id\": "
				      "\"b-1\", \"ns_id\": 7, \"app_id\": 3,"
				      "\"trace_type\": \"0x7000E000\","
				      "\"e2e\": {\"ts_ns\": 1700000000000000001,"
				      "\"tx_packets\": 1000, \"tx_bytes\": 562000},"
				      "\"sink\": {\"node_id\": 9, \"ts_ns\": 1700000000000000005,"
				      "\"rx_packets\": 998, \"rx_bytes\": 560876},"
				      "\"hops\": [{\"node_id\": 1, \"trace_type\": \"0xE000\","
				      "\"ts_ns\": 33, \"tx_packets\": 1000, \"rx_packets\": 1001,"
				      "\"tx_bytes\": 4, \"rx_bytes\": 5},"
				      "{\"node_id\": 2, \"trace_type\": \"0x4000\", \"ts_ns\": 44}"
				      "]}}",
			0, NULL);
	assert_non_null(expected);
	assert_true(json_equal(json, expected));
	json_decref(json);
	json_decref(expected);
}

static void check_text(const struct hs_report *report, uint32_t app_id,
		const struct hs_report_origin *origin)
{
	static char text[HS_REPORT_TEXT_BYTES];
	int len = hs_report_text(report, app_id, 9, origin, text, sizeof(text));
	assert_int_equal(len, strlen(text));
	json_t *parsed = json_loadb(text, (size_t)len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(parsed);
	char *dumped = json_dumps(parsed, JSON_COMPACT);
	assert_string_equal(text, dumped);
	free(dumped);
	json_decref(parsed);
}

static void any_report_is_compact_json(void **state)
{
	(void)state;
	struct hs_rng rng;
	hs_rng_init(&rng, 12);
	for (unsigned round = 0; round < 500; round++) {
		struct hs_report report = {
				.sink_ts_ns = (int64_t)hs_rng_u64(&rng),
				.sink_rx_packets = hs_rng_u64(&rng),
				.sink_rx_bytes = hs_rng_u64(&rng),
		};
		struct hs_decoded *telemetry = &report.telemetry;
		struct hs_report_origin origin = {hs_rng_u64(&rng), 9, "0123-abcd"};
		telemetry->ns_id = hs_rng_u32(&rng);
		telemetry->trace_type = hs_rng_u32(&rng);
		telemetry->e2e = (struct hs_e2e){(uint16_t)hs_rng_u32(&rng), hs_rng_u32(&rng),
				hs_rng_u64(&rng), hs_rng_u32(&rng), hs_rng_u32(&rng)};
		telemetry->n_hops = (uint16_t)(hs_rng_u32(&rng) % (HS_FLEXINT_MAX_HOPS + 1));
		for (unsigned i = 0; i < telemetry->n_hops; i++)
			telemetry->hops[i] = (struct hs_hop){(uint16_t)hs_rng_u32(&rng),
					(uint16_t)hs_rng_u32(&rng), (uint16_t)hs_rng_u32(&rng),
					(uint16_t)hs_rng_u32(&rng), hs_rng_u64(&rng),
					hs_rng_u32(&rng), hs_rng_u32(&rng)};
		check_text(&report, hs_rng_u32(&rng), round % 2 ? &origin : NULL);
	}
}

static const struct hs_telemetry_family local_family = {.name = "local", .has_locals = true};

static void what_a_node_says_of_itself_is_published_where_it_is_known(void **state)
{
	(void)state;
	struct hs_report report = {0};
	struct hs_decoded *telemetry = &report.telemetry;
	char text[1024];
	telemetry->family = &local_family;
	telemetry->n_hops = 1;
	telemetry->e2e.node_id = 6;
	telemetry->hops[0].node_id = 2;
	telemetry->locals[0] = (struct hs_hop_local){.has = 0xFF,
			.queue_id = 1,
			.ingress_port = 2,
			.egress_port = 3,
			.hop_latency_ns = 4,
			.queue_packets = 5,
			.queue_congestion = 6,
			.link_utilisation = 7,
			.buffer_used = 8};
	telemetry->locals[1] = telemetry->locals[0];
	telemetry->locals[1].has = HS_LOCAL_HOP_LATENCY | HS_LOCAL_QUEUE_PACKETS;
	telemetry->locals[1].queue_packets = 0;
	assert_true(hs_report_text(&report, 1, 9, NULL, text, sizeof(text)) > 0);
	assert_non_null(strstr(
			text, "\"e2e\":{\"node_id\":6,\"hop_latency_ns\":4,\"queue_packets\":0}"));
	assert_non_null(strstr(text, "\"hops\":[{\"node_id\":2,\"trace_type\":\"0x0000\","
				     "\"ingress_port\":2,\"egress_port\":3,\"hop_latency_ns\":4,"
				     "\"queue_id\":1,\"queue_packets\":5,\"queue_congestion\":6,"
				     "\"link_utilisation\":7,\"buffer_used\":8}]"));
	telemetry->family = &hs_flexint_family;
	assert_true(hs_report_text(&report, 1, 9, NULL, text, sizeof(text)) > 0);
	assert_null(strstr(text, "queue"));
}

static void the_longest_report_fits_the_stated_size(void **state)
{
	(void)state;
	static char text[HS_REPORT_TEXT_BYTES];
	struct hs_report_origin origin = {
			UINT64_MAX, 65535, "ffffffff-ffff-ffff-ffff-ffffffffffff"};
	struct hs_report report;
	memset(&report, 0xFF, sizeof(report));
	report.sink_ts_ns = INT64_MAX;
	report.telemetry.family = &local_family;
	report.telemetry.n_hops = HS_TELEMETRY_MAX_HOPS;
	assert_true(hs_report_text(&report, UINT32_MAX, 65535, &origin, text, sizeof(text)) > 0);
}

static void a_buffer_that_is_too_small_is_never_overrun(void **state)
{
	(void)state;
	struct hs_report report = example();
	char text[1024];
	int len = hs_report_text(&report, 3, 9, &ORIGIN, text, sizeof(text));
	assert_true(len > 0);
	for (size_t size = 0; size <= (size_t)len; size++) {
		memset(text, 'x', sizeof(text));
		assert_int_equal(hs_report_text(&report, 3, 9, &ORIGIN, text, size), -ENOSPC);
		assert_int_equal(text[size], 'x');
	}
	assert_int_equal(hs_report_text(&report, 3, 9, &ORIGIN, text, (size_t)len + 1), len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_report_is_published_with_its_hops_from_source_to_sink),
			cmocka_unit_test(any_report_is_compact_json),
			cmocka_unit_test(what_a_node_says_of_itself_is_published_where_it_is_known),
			cmocka_unit_test(the_longest_report_fits_the_stated_size),
			cmocka_unit_test(a_buffer_that_is_too_small_is_never_overrun),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
