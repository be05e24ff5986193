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

static json_t *content_of(const char *text)
{
	json_t *content = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(content);
	return content;
}

static bool takes(const char *text)
{
	json_t *content = content_of(text);
	bool right = hs_qos_window_take(content);

	json_decref(content);
	return right;
}

static void what_is_published_can_be_taken_and_stays_as_it_is(void **state)
{
	(void)state;
	uint32_t path[] = {0, 9};
	struct hs_qos_hop hop = full_hop();
	hop.has = UINT32_MAX;
	struct hs_qos_window window = window_of(&hop, path);
	window.flags = (HS_QOS_ENTRIES_MISSING << 1) - 1;
	window.stale = window.clock.told = true;
	const struct hs_report_origin origin = {
			.seq = 4, .node_id = 9, .boot_id = "0123456789abcdef"};
	json_t *json = hs_qos_window_json(&window, &origin);
	json_t *content = json_object_get(json, "qos_report"), *copy = json_deep_copy(content);
	assert_true(hs_qos_window_take(content));
	assert_true(json_equal(content, copy));
	json_decref(copy);
	json_decref(json);
}

// A controller drops messages of more than 64 KiB.
static void the_longest_window_has_less_than_64_kib(void **state)
{
	(void)state;
	static uint32_t path[HS_TELEMETRY_MAX_HOPS + 2];
	static struct hs_qos_hop hops[HS_TELEMETRY_MAX_HOPS + 1];
	struct hs_qos_hop hop = {.has = UINT32_MAX,
			.from = UINT32_MAX,
			.to = UINT32_MAX,
			.throughput_bps = 400000000000,
			.window_throughput_bps = 400000000000,
			.delay = {1, -600 * SECOND, -600 * SECOND, -600 * SECOND, -600 * SECOND,
					-600 * SECOND, -600 * SECOND},
			.pdv_ns = 600 * (uint64_t)SECOND,
			.jitter_ns = 600 * (uint64_t)SECOND,
			.jitter_rfc3550_ns = 600 * (uint64_t)SECOND,
			.lost_packets = -(INT64_C(1) << 40),
			.shown_lost_packets = UINT64_C(123456789012),
			.node_lost_packets = -(INT64_C(1) << 40),
			.tx_packets = INT64_C(1) << 40,
			.rx_packets = INT64_C(1) << 40,
			.rx_bytes = INT64_C(1) << 50,
			.loss_reports = UINT64_C(1) << 40,
			.delay_reports = UINT64_C(1) << 40,
			.throughput_reports = UINT64_C(1) << 40,
			.span_start_ns = INT64_MAX,
			.span_end_ns = INT64_MAX};
	for (unsigned i = 0; i < HS_TELEMETRY_MAX_HOPS + 1; i++)
		hops[i] = hop;
	for (unsigned i = 0; i < HS_TELEMETRY_MAX_HOPS + 2; i++)
		path[i] = UINT32_MAX;
	struct hs_qos_window window = window_of(hops, path);
	window.n_path = HS_TELEMETRY_MAX_HOPS + 2;
	window.n_hops = HS_TELEMETRY_MAX_HOPS + 1;
	window.e2e = hop;
	json_t *json = hs_qos_window_json(&window, NULL);
	size_t bytes = json_dumpb(json, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(15));
	print_message("%zu bytes\n", bytes);
	assert_in_range(bytes, 40000, 64 << 10);
	assert_true(hs_qos_window_take(json_object_get(json, "qos_report")));
	json_decref(json);
}

static void a_window_of_another_shape_is_not_taken(void **state)
{
	static const char *const wrong[] = {
			"[]",
			"{}",
			"{\"ns_id\": 7}",
			"{\"window_ns\": 1000}",
			"{\"ns_id\": 0, \"window_ns\": 1}",
			"{\"ns_id\": 4294967303, \"window_ns\": 1}",
			"{\"ns_id\": \"7\", \"window_ns\": 1}",
			"{\"ns_id\": 7, \"window_ns\": 1.5}",
			"{\"ns_id\": 7, \"window_ns\": -1}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"app_id\": -1}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"seq\": \"x\"}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"boot_id\": 5}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"boot_id\": \"a\\u001b[2J\"}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"reports\": null}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"stale\": 1}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"path\": [1, \"x\"]}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"path\": {}}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"hops\": [1, \"x\"]}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"hops\": {}}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"hops\": [{\"from\": \"x\"}]}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"hops\": [{\"lost_packets\": \"x\"}]}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"e2e\": []}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"e2e\": {\"throughput_bps\": \"abc\"}}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"e2e\": {\"loss_ratio\": \"abc\"}}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"e2e\": {\"delay_ns\": 5}}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"e2e\": {\"delay_ns\": {\"mean\": []}}}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"flags\": [{}]}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"flags\": [\"A B\"]}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"flags\": \"epoch\"}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"clock\": true}",
			"{\"ns_id\": 7, \"window_ns\": 1, \"clock\": {\"status\": \"ok\"}}",
	};

	(void)state;
	assert_true(takes("{\"ns_id\": 7, \"window_ns\": 1}"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (takes(wrong[i]))
			fail_msg("%s was taken", wrong[i]);
}

static void a_list_longer_than_any_path_is_not_taken(void **state)
{
	(void)state;
	static const char *const lists[] = {"hops", "path", "flags"};
	for (unsigned i = 0; i < 3; i++) {
		json_t *content = content_of("{\"ns_id\": 7, \"window_ns\": 1}"),
		       *list = json_array();
		for (unsigned k = 0; k < 64; k++)
			json_array_append_new(list, i == 0   ? json_object()
						    : i == 1 ? json_integer(1)
							     : json_string("epoch"));
		json_object_set_new(content, lists[i], list);
		assert_false(hs_qos_window_take(content));
		json_decref(content);
	}
}

static void members_that_nobody_knows_are_left_behind(void **state)
{
	(void)state;
	json_t *content = content_of("{\"ns_id\": 7, \"window_ns\": 1, \"throughput\": \"abc\", "
				     "\"e2e\": {\"rx_bytes\": 5, \"pad\": \"xxxx\", \"delay_ns\": "
				     "{\"mean\": 1, \"mode\": []}}, \"clock\": {\"tai\": 37}}");
	json_t *left = content_of("{\"ns_id\": 7, \"window_ns\": 1, \"e2e\": {\"rx_bytes\": 5, "
				  "\"delay_ns\": {\"mean\": 1}}, \"clock\": {}}");
	assert_true(hs_qos_window_take(content));
	assert_true(json_equal(content, left));
	json_decref(content);
	json_decref(left);
}

static void what_nodes_say_is_there_where_they_said_it(void **state)
{
	(void)state;
	uint32_t path[] = {0, 9};
	struct hs_qos_hop hop = {.to = 9,
			.has = HS_QOS_HAS_HOP_LATENCY | HS_QOS_HAS_QUEUE | HS_QOS_HAS_UTILISATION |
			       HS_QOS_HAS_LATENCY_P50,
			.hop_latency_ns = {.mean = 2, .min = 1, .p50 = 2, .p99 = 3, .max = 3},
			.queue_packets = {.mean = 0.5, .max = 4},
			.link_utilisation_ratio = {.mean = 0.25, .max = 1}};
	static const char *const keys[] = {
			"hop_latency_ns", "queue_packets", "link_utilisation_ratio"};
	static const char *const values[] = {"{\"mean\":2,\"min\":1,\"p50\":2,\"max\":3}",
			"{\"mean\":0.5,\"max\":4}", "{\"mean\":0.25,\"max\":1.0}"};
	for (unsigned i = 0; i < 4; i++) {
		struct hs_qos_window window = window_of(&hop, path);
		window.e2e = (struct hs_qos_hop){0};
		json_t *json = hs_qos_window_json(&window, NULL);
		json_t *content = json_object_get(json, "qos_report");
		assert_true(hs_qos_window_take(content));
		json_t *one = json_array_get(json_object_get(content, "hops"), 0);
		for (unsigned k = 0; k < 3; k++) {
			char *text = json_dumps(json_object_get(one, keys[k]), JSON_COMPACT);
			assert_true(!text == (i == k + 1));
			if (text)
				assert_string_equal(text, values[k]);
			free(text);
		}
		assert_null(json_object_get(one, "loss_ratio"));
		assert_null(json_object_get(json_object_get(content, "e2e"), "hop_latency_ns"));
		json_decref(json);
		hop.has = (HS_QOS_HAS_HOP_LATENCY | HS_QOS_HAS_QUEUE | HS_QOS_HAS_UTILISATION |
					  HS_QOS_HAS_LATENCY_P50) &
			  ~((uint32_t)HS_QOS_HAS_HOP_LATENCY << i);
	}
}

// Packets are sprayed over 40 nodes: the flow has 82 links.
static void a_window_of_many_paths_can_be_taken(void **state)
{
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);

	(void)state;
	for (uint16_t i = 1; i <= 800; i++) {
		const uint16_t path[] = {1, (uint16_t)(100 + i % 40), 2};
		struct hs_report report = plain_report(i, MS, 3, path);
		give(qos, &report);
	}
	flush_all(qos);
	const struct caught *caught = caught_at(&catcher, SECOND, 0);
	struct hs_qos_window window = caught->window;
	window.hops = (struct hs_qos_hop *)caught->hops;
	window.path = (uint32_t *)caught->path;
	assert_int_equal(window.n_hops, 62);
	json_t *json = hs_qos_window_json(&window, NULL);
	assert_true(hs_qos_window_take(json_object_get(json, "qos_report")));
	json_decref(json);
	monitor_free(qos, &catcher);
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
			cmocka_unit_test(what_is_published_can_be_taken_and_stays_as_it_is),
			cmocka_unit_test(the_longest_window_has_less_than_64_kib),
			cmocka_unit_test(a_window_of_another_shape_is_not_taken),
			cmocka_unit_test(a_list_longer_than_any_path_is_not_taken),
			cmocka_unit_test(members_that_nobody_knows_are_left_behind),
			cmocka_unit_test(a_window_of_many_paths_can_be_taken),
			cmocka_unit_test(what_nodes_say_is_there_where_they_said_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
