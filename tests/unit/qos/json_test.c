// SPDX-License-Identifier: BSD-3-Clause
// The published form of a window, against a text written by hand.
#include "qos_test.h"

static struct hs_qos_window window_of(struct hs_qos_hop *hop, uint32_t *path)
{
	return (struct hs_qos_window){
			.ns_id = 7,
			.app_id = 1,
			.window_ns = SECOND,
			.start_ns = 5 * SECOND,
			.end_ns = 6 * SECOND,
			.reports = 100,
			.n_path = 2,
			.path = path,
			.n_hops = 1,
			.hops = hop,
			.flags = HS_QOS_RULES_DIFFER | HS_QOS_NEGATIVE_DELAY,
			.clock = {.known = true, .synchronised = true, .error_ns = 5},
			.unattributed_lost_packets = 3,
			.e2e = *hop,
	};
}

static struct hs_qos_hop full_hop(void)
{
	return (struct hs_qos_hop){
			.has = 0x1FFF & ~(uint32_t)HS_QOS_HAS_P999,
			.from = 0,
			.to = 9,
			.throughput_bps = 44960000,
			.window_throughput_bps = 44960001,
			.delay = {100, 10, -2, 11, 12, 0, 13},
			.jitter_ns = 14,
			.jitter_rfc3550_ns = 15,
			.lost_packets = 25,
			.shown_lost_packets = 20,
			.node_lost_packets = 1,
			.tx_packets = 80,
			.rx_packets = 55,
			.rx_bytes = 5620,
			.span_start_ns = 4,
			.span_end_ns = 5,
	};
}

static void check_json(const struct hs_qos_window *window, const struct hs_report_origin *origin,
		const char *expected_text)
{
	json_t *expected = json_loads(expected_text, JSON_REJECT_DUPLICATES, NULL);
	json_t *json = hs_qos_window_json(window, origin);
	assert_non_null(expected);
	assert_non_null(json);
	char *got = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	char *want = json_dumps(expected, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(got, want);
	free(got);
	free(want);
	json_decref(json);
	json_decref(expected);
}

static void a_window_is_published_with_all_its_keys(void **state)
{
	(void)state;
	uint32_t path[] = {0, 9};
	struct hs_qos_hop hop = full_hop();
	struct hs_qos_window window = window_of(&hop, path);
	const struct hs_report_origin origin = {.seq = 4, .node_id = 9, .boot_id = "b-1"};
	check_json(&window, &origin,
			"{\"qos_report\": {\"seq\": 4, \"node_id\": 9, \"boot_id\": \"b-1\","
			"\"ns_id\": 7, \"app_id\": 1, \"window_ns\": 1000000000,"
			"\"start_ns\": 5000000000, \"end_ns\": 6000000000, \"reports\": 100,"
			"\"stale\": false, \"path\": [0, 9], \"path_changed\": false,"
			"\"hops\": [{\"from\": 0, \"to\": 9, \"throughput_bps\": 44960000,"
			"\"window_throughput_bps\": 44960001, \"delay_ns\": {\"mean\": 10,"
			"\"min\": -2, \"p50\": 11, \"p99\": 12, \"max\": 13}, \"jitter_ns\": 14,"
			"\"jitter_rfc3550_ns\": 15, \"loss_ratio\": 0.25, \"lost_packets\": 25,"
			"\"node_lost_packets\": 1, \"tx_packets\": 80, \"rx_packets\": 55,"
			"\"rx_bytes\": 5620, \"span_start_ns\": 4, \"span_end_ns\": 5}],"
			"\"e2e\": {\"throughput_bps\": 44960000, \"window_throughput_bps\": "
			"44960001, \"delay_ns\": {\"mean\": 10, \"min\": -2, \"p50\": 11,"
			"\"p99\": 12, \"max\": 13}, \"jitter_ns\": 14, \"jitter_rfc3550_ns\": 15,"
			"\"loss_ratio\": 0.25, \"lost_packets\": 25, \"tx_packets\": 80,"
			"\"rx_packets\": 55, \"rx_bytes\": 5620, \"span_start_ns\": 4,"
			"\"span_end_ns\": 5, \"unattributed_lost_packets\": 3},"
			"\"flags\": [\"rules_differ\", \"negative_delay\"],"
			"\"clock\": {\"synchronised\": true, \"error_ns\": 5}}}");
}

static void what_is_not_known_is_left_out(void **state)
{
	(void)state;
	uint32_t path[] = {0, 9};
	struct hs_qos_hop hop = {.from = 0, .to = 9};
	struct hs_qos_window window = window_of(&hop, path);
	window.clock.known = false;
	window.flags = 0;
	window.reports = 0;
	window.stale = true;
	window.age_ns = 77;
	window.path_changed = true;
	check_json(&window, NULL,
			"{\"qos_report\": {\"ns_id\": 7, \"app_id\": 1, \"window_ns\": 1000000000,"
			"\"start_ns\": 5000000000, \"end_ns\": 6000000000, \"reports\": 0,"
			"\"stale\": true, \"age_ns\": 77, \"path\": [0, 9], \"path_changed\": true,"
			"\"hops\": [{\"from\": 0, \"to\": 9}], \"e2e\": {}, \"flags\": [],"
			"\"clock\": {}}}");
}

static void pdv_comes_with_the_thousandth_value(void **state)
{
	(void)state;
	uint32_t path[] = {0, 9};
	struct hs_qos_hop hop = {
			.has = HS_QOS_HAS_DELAY | HS_QOS_HAS_P999,
			.to = 9,
			.delay = {.p999 = 40, .min = 30, .max = 41, .mean = 33},
			.pdv_ns = 10,
	};
	struct hs_qos_window window = window_of(&hop, path);
	json_t *json = hs_qos_window_json(&window, NULL);
	json_t *e2e = json_object_get(json_object_get(json, "qos_report"), "e2e");
	assert_int_equal(json_integer_value(json_object_get(e2e, "pdv_ns")), 10);
	assert_int_equal(json_integer_value(
					 json_object_get(json_object_get(e2e, "delay_ns"), "p999")),
			40);
	json_decref(json);
}

static void hops_tell_how_many_reports_had_each_field_where_some_lack_it(void **state)
{
	(void)state;
	uint32_t path[] = {0, 9};
	struct hs_qos_hop hop = {
			.has = HS_QOS_HAS_REPORTS,
			.to = 9,
			.loss_reports = 4,
			.delay_reports = 5,
			.throughput_reports = 6,
	};
	struct hs_qos_window window = window_of(&hop, path);
	json_t *json = hs_qos_window_json(&window, NULL);
	json_t *body = json_object_get(json, "qos_report");
	json_t *expected = json_pack("{s:i, s:i, s:i, s:i, s:i}", "from", 0, "to", 9,
			"loss_reports", 4, "delay_reports", 5, "throughput_reports", 6);
	assert_true(json_equal(json_array_get(json_object_get(body, "hops"), 0), expected));
	assert_int_equal(json_object_size(json_object_get(body, "e2e")), 0);
	json_decref(expected);
	json_decref(json);
}

static void the_loss_ratio_is_between_0_and_1(void **state)
{
	(void)state;
	struct hs_qos_hop hop = {.shown_lost_packets = 5, .tx_packets = 0};
	assert_true(hs_qos_loss_ratio(&hop) == 0);
	hop.tx_packets = 4;
	assert_true(hs_qos_loss_ratio(&hop) == 1);
	hop.tx_packets = 20;
	assert_true(hs_qos_loss_ratio(&hop) == 0.25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_window_is_published_with_all_its_keys),
			cmocka_unit_test(what_is_not_known_is_left_out),
			cmocka_unit_test(pdv_comes_with_the_thousandth_value),
			cmocka_unit_test(
					hops_tell_how_many_reports_had_each_field_where_some_lack_it),
			cmocka_unit_test(the_loss_ratio_is_between_0_and_1),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
