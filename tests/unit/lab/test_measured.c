// SPDX-License-Identifier: BSD-3-Clause
// How the lab reads published messages: real messages of the monitor and the report's writers, and
// one made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "flexint.h"
#include "measured.h"

#include "qos.h"
#include "report_json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
#define T0     (INT64_C(1700000040) * SECOND) // a multiple of a minute

static const struct hs_report_origin ORIGIN = {.seq = 5, .node_id = 9, .boot_id = "b-1"};

static struct hs_scenario_flow flows[] = {
		{.ns_id = 7, .app_id = 1, .traffic = 0, .reverse = false, .sink = 1},
		{.ns_id = 4294967295u, .app_id = 1, .traffic = 0, .reverse = true},
		{.ns_id = 3, .app_id = 2, .traffic = 1, .reverse = false},
		{.ns_id = 70, .app_id = 2, .traffic = 2, .reverse = true}, // other traffic
		{.ns_id = 71, .app_id = 3, .traffic = 1, .reverse = true}, // other application
		{.ns_id = 72, .app_id = 4, .traffic = HS_NO_INDEX, .reverse = false},
		{.ns_id = 73, .app_id = 4, .traffic = HS_NO_INDEX, .reverse = true},
		{.ns_id = 8, .app_id = 1, .traffic = 0, .reverse = false},
};

// Several nodes may have one id, if it is 0.
static struct hs_scenario_node two_nodes[] = {{.id = 9}, {.id = 9}};
static struct hs_scenario_host one_host;
static struct hs_scenario_traffic entries[3] = {{.kind = HS_TRAFFIC_PING}};

static const struct hs_scenario scenario = {
		.window_ns = SECOND,
		.n_flows = sizeof(flows) / sizeof(flows[0]),
		.flows = flows,
		.nodes = two_nodes,
		.n_nodes = sizeof(two_nodes) / sizeof(two_nodes[0]),
		.hosts = &one_host,
		.traffic = entries,
};

#define MEASURED(state) ((const struct hs_measured *)*(state))

static int setup(void **state)
{
	return hs_measured_create(&scenario, (struct hs_measured **)state);
}

static int teardown(void **state)
{
	hs_measured_destroy(*state);
	return 0;
}

// ---- real messages ----

// As src/control prints messages.
static void publish_window(void *user, const struct hs_qos_window *window)
{
	char topic[32];
	char *text;
	json_t *json = hs_qos_window_json(window, &ORIGIN);
	snprintf(topic, sizeof(topic), "qos.%" PRIu32, window->ns_id);
	assert_non_null(text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)));
	assert_int_equal(hs_measured_take(user, topic, text), 0);
	free(text);
	json_decref(json);
}

static struct hs_qos *monitor_of(struct hs_measured *measured)
{
	struct hs_qos *qos;
	const struct hs_qos_config config = {
			.max_flows = 16,
			.on_window = publish_window,
			.user = measured,
	};
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	return qos;
}

// Sends packet `number` of 562 bytes, one each millisecond, over nodes 1 and 2, a millisecond a
// link. One in ten is lost before the sink.
static struct hs_report report_of(uint64_t number)
{
	int64_t ts = T0 + (int64_t)number * MS;
	struct hs_report report = {
			.telemetry = {.family = &hs_flexint_family,
					.ns_id = 7,
					.trace_type = 0x7000E000,
					.e2e = {.bitmap = 0x7000,
							.ts_ns = (uint64_t)ts,
							.tx_packets = (uint32_t)number,
							.tx_bytes = (uint32_t)number * 562},
					.n_hops = 2},
			.sink_ts_ns = ts + 3 * MS,
			.sink_rx_packets = number - number / 10,
			.sink_rx_bytes = (number - number / 10) * 562,
	};
	for (uint16_t i = 0; i < 2; i++)
		report.telemetry.hops[1 - i] = (struct hs_hop){
				.node_id = i + 1,
				.bitmap = 0xE000,
				.tx_packets = (uint16_t)number,
				.rx_packets = (uint16_t)number,
				.ts_ns = (uint64_t)(ts + (i + 1) * MS),
				.tx_bytes = (uint32_t)number * 562,
				.rx_bytes = (uint32_t)number * 562,
		};
	return report;
}

static void give(struct hs_qos *qos, uint32_t ns_id, uint64_t from, uint64_t until)
{
	const struct hs_qos_key key = {
			.ns_id = ns_id, .app_id = 1, .generation = 1, .sink_node_id = 9};
	for (uint64_t number = from; number <= until; number += 5) {
		struct hs_report report = report_of(number);
		assert_int_equal(hs_qos_report(qos, &key, &report), 0);
	}
}

static void check_second_window(const struct hs_measured_window *window)
{
	assert_int_equal(window->flow, 0);
	assert_int_equal(window->node_id, 9);
	assert_int_equal(window->window_ns, SECOND);
	assert_int_equal(window->start_ns, T0 + SECOND);
	assert_int_equal(window->end_ns, T0 + 2 * SECOND);
	assert_int_equal(window->reports, 200);
	assert_false(window->stale || window->path_changed);
	assert_false(window->clock_known);
	assert_int_equal(window->flags, 0);
	assert_int_equal(window->n_hops, 3);
	for (unsigned i = 0; i < 3; i++) {
		static const uint16_t nodes[] = {0, 1, 2, 9};
		const json_t *hop = hs_measured_hop(window, i);
		assert_int_equal(hs_measured_ends(window, i).from, nodes[i]);
		assert_int_equal(hs_measured_ends(window, i).to, nodes[i + 1]);
		int64_t received = i == 2 ? 900 : 1000;
		assert_true(hs_measured_number(hop, HS_LAB_DELAY) == MS);
		assert_true(hs_measured_number(hop, HS_LAB_JITTER) == 0);
		assert_int_equal(hs_measured_integer(hop, "tx_packets"), 1000);
		assert_int_equal(hs_measured_integer(hop, "rx_packets"), received);
		assert_true(hs_measured_number(hop, HS_LAB_LOST_PACKETS) == 1000 - received);
		assert_true(hs_measured_number(hop, HS_LAB_LOSS) == (i == 2 ? 0.1 : 0));
		assert_true(hs_measured_number(hop, HS_LAB_RX_BYTES) == received * 562);
		assert_true(hs_measured_number(hop, HS_LAB_SPAN) == SECOND);
		assert_true(hs_measured_number(hop, HS_LAB_THROUGHPUT) == received * 562 * 8);
		assert_true(hs_measured_number(hop, HS_LAB_WINDOW_THROUGHPUT) ==
				received * 562 * 8);
	}
	assert_int_equal(hs_measured_ends(window, 3).to, 9);
	assert_true(hs_measured_number(hs_measured_hop(window, 3), HS_LAB_DELAY) == 3 * MS);
	assert_int_equal(hs_measured_integer(hs_measured_hop(window, 3), "lost_packets"), 100);
}

static void windows_of_the_monitor_are_read_with_every_number(void **state)
{
	struct hs_qos *qos = monitor_of(*state);
	give(qos, 7, 5, 3500);
	assert_int_equal(hs_qos_remove(qos, 7), 0);
	hs_qos_destroy(qos);
	// The fourth window was cut short. A 10 s and a 60 s window also arrived.
	assert_int_equal(MEASURED(state)->n_windows, 4);
	assert_int_equal(MEASURED(state)->windows[0].end_ns, T0 + SECOND);
	check_second_window(&MEASURED(state)->windows[1]);
	assert_int_equal(MEASURED(state)->windows[3].reports, 101);
}

static void a_silent_flow_has_stale_windows(void **state)
{
	struct hs_qos *qos = monitor_of(*state);
	const struct hs_qos_clock clock = {.known = true, .synchronised = true, .error_ns = 3};
	hs_qos_set_clock(qos, &clock);
	give(qos, 7, 5, 900);
	hs_qos_advance(qos, T0 + 3 * SECOND + SECOND / 2);
	hs_qos_destroy(qos);
	assert_int_equal(MEASURED(state)->n_windows, 3);
	assert_false(MEASURED(state)->windows[0].stale);
	assert_true(MEASURED(state)->windows[0].clock_known);
	assert_true(MEASURED(state)->windows[0].synchronised);
	assert_true(json_object_get(hs_measured_hop(&MEASURED(state)->windows[0], 0), "delay_ns"));
	const struct hs_measured_window *stale = &MEASURED(state)->windows[2];
	assert_true(stale->stale);
	assert_int_equal(stale->reports, 0);
	assert_int_equal(stale->start_ns, T0 + 2 * SECOND);
}

static void windows_are_in_the_order_of_start_and_flow_however_they_come(void **state)
{
	static const uint32_t order[] = {70, 7, 4294967295u, 3};
	for (unsigned i = 0; i < 4; i++) {
		struct hs_qos *qos = monitor_of(*state);
		give(qos, order[i], 5, 19900 - 100 * i);
		assert_int_equal(hs_qos_remove(qos, order[i]), 0);
		hs_qos_destroy(qos);
	}
	size_t n = MEASURED(state)->n_windows;
	assert_int_equal(n, 4 * 20);
	for (size_t i = 0; i < n; i++) {
		const struct hs_measured_window *window = &MEASURED(state)->windows[i];
		assert_int_equal(window->flow, i % 4);
		assert_int_equal(window->window_ns, SECOND);
		assert_int_equal(window->start_ns, T0 + (int64_t)(i / 4) * SECOND);
	}
}

static void of_a_window_that_came_twice_the_later_is_kept(void **state)
{
	struct hs_qos *qos = monitor_of(*state);
	give(qos, 7, 5, 300);
	assert_int_equal(hs_qos_remove(qos, 7), 0);
	give(qos, 7, 500, 600);
	assert_int_equal(hs_qos_remove(qos, 7), 0);
	hs_qos_destroy(qos);
	assert_int_equal(MEASURED(state)->n_windows, 1);
	assert_int_equal(MEASURED(state)->windows[0].reports, 21);
}

static void the_run_is_taken_from_a_reply(void **state)
{
	struct hs_qos *qos = monitor_of(*state);
	give(qos, 7, 10, 2500);
	give(qos, 99, 10, 20);
	json_t *json = hs_qos_window_json(hs_qos_latest(qos, 7, 0), NULL);
	json_t *body = json_object_get(json, "qos_report");
	json_t *other = hs_qos_window_json(hs_qos_latest(qos, 99, 0), NULL);
	assert_null(MEASURED(state)->flows[0].run.body);
	assert_int_equal(hs_measured_take_run(*state, json), -EINVAL);
	for (unsigned twice = 0; twice < 2; twice++)
		assert_int_equal(hs_measured_take_run(*state, body), 0);
	assert_int_equal(hs_measured_take_run(*state, json_object_get(other, "qos_report")), 0);
	const struct hs_measured_window *run = &MEASURED(state)->flows[0].run;
	assert_int_equal(run->node_id, 9);
	assert_int_equal(run->reports, 499);
	assert_int_equal(run->start_ns, T0 + 13 * MS);
	assert_int_equal(run->end_ns, T0 + 2503 * MS);
	assert_int_equal(hs_measured_integer(hs_measured_hop(run, run->n_hops), "lost_packets"),
			249);
	assert_null(MEASURED(state)->flows[1].run.body);
	json_decref(json);
	json_decref(other);
	hs_qos_destroy(qos);
}

static int take_report(
		struct hs_measured *measured, uint32_t ns_id, uint64_t number, uint16_t e2e_bitmap)
{
	static char text[HS_REPORT_TEXT_BYTES];
	char topic[32];
	struct hs_report report = report_of(number);
	report.telemetry.ns_id = ns_id;
	report.telemetry.e2e.bitmap = e2e_bitmap;
	assert_true(hs_report_text(&report, 1, 9, &ORIGIN, text, sizeof(text)) > 0);
	snprintf(topic, sizeof(topic), "report.%" PRIu32, ns_id);
	return hs_measured_take(measured, topic, text);
}

static void trips_are_kept_of_pings_and_their_replies(void **state)
{
	for (unsigned i = 0; i < scenario.n_flows; i++)
		for (uint64_t number = 300; number > 0; number--)
			assert_int_equal(take_report(*state, flows[i].ns_id, number, 0x7000), 0);
	assert_int_equal(take_report(*state, 7, 1000, 0x3000), 0); // without a stamp
	for (uint32_t i = 0; i < scenario.n_flows; i++) {
		bool paired = i < 2 || i == 7;
		const struct hs_trip *trips = MEASURED(state)->flows[i].trips;
		size_t n = MEASURED(state)->flows[i].n_trips;
		assert_int_equal(n, paired ? 300 : 0);
		for (size_t j = 0; j < n; j++) {
			assert_int_equal(trips[j].source_ns, T0 + (300 - (int64_t)j) * MS);
			assert_int_equal(trips[j].sink_ns, trips[j].source_ns + 3 * MS);
		}
	}
}

static void reports_that_nobody_needs_are_not_even_read(void **state)
{
	assert_int_equal(hs_measured_take(*state, "report.3", "not JSON"), 0);
	assert_int_equal(hs_measured_take(*state, "report.99", "not JSON"), 0);
	assert_int_equal(hs_measured_take(*state, "qos.99", "not JSON"), 0);
	assert_int_equal(hs_measured_take(*state, "weather.7", "not JSON"), 0);
}

// ---- a message made by hand ----

#define E2E_NUMBERS                                                                                \
	"\"throughput_bps\": 44960000, \"delay_ns\": {\"mean\": -4, \"min\": -5, \"p50\": -4,"     \
	"\"p99\": -3, \"max\": -2}, \"jitter_ns\": 6, \"loss_ratio\": 0.25, \"lost_packets\": -7," \
	"\"tx_packets\": 10000, \"rx_packets\": 9998"

static const char BY_HAND[] =
		"{\"qos_report\": {\"seq\": 1, \"node_id\": 9, \"boot_id\": \"b\", \"ns_id\": 7,"
		"\"app_id\": 1, \"window_ns\": 1000000000, \"start_ns\": 2000000000,"
		"\"end_ns\": 3000000000, \"reports\": 100, \"stale\": false,"
		"\"path\": [0, 9], \"path_changed\": true,"
		"\"hops\": [{\"from\": 0, \"to\": 9, \"window_throughput_bps\": 44960000,"
		"\"node_lost_packets\": 3, \"rx_bytes\": 5620000, \"span_start_ns\": 10,"
		"\"span_end_ns\": 20}],"
		"\"e2e\": {" E2E_NUMBERS ", \"unattributed_lost_packets\": -8},"
		"\"flags\": [\"multipath\", \"rules_differ\", \"counter_ambiguous\","
		"\"negative_delay\", \"epoch\", \"entries_missing\"],"
		"\"clock\": {\"synchronised\": false, \"error_ns\": 0}, \"news\": {}}}";

static void a_window_written_by_hand_is_read_as_it_says(void **state)
{
	((struct hs_measured *)*state)->ahead_ns[0] = 10000; // of the source
	((struct hs_measured *)*state)->ahead_ns[1] = 100;
	assert_int_equal(hs_measured_take(*state, "qos.7", BY_HAND), 0);
	assert_int_equal(MEASURED(state)->n_windows, 1);
	const struct hs_measured_window *window = &MEASURED(state)->windows[0];
	assert_int_equal(window->start_ns, 2 * SECOND + 100);
	assert_int_equal(window->reports, 100);
	assert_true(window->path_changed && window->clock_known && !window->synchronised);
	assert_int_equal(window->flags, 0x11f);
	assert_int_equal(window->n_hops, 1);
	const json_t *hop = hs_measured_hop(window, 0), *e2e = hs_measured_hop(window, 1);
	assert_int_equal(hs_measured_ends(window, 0).to, 9);
	assert_true(hs_measured_number(hop, HS_LAB_WINDOW_THROUGHPUT) == 44960000);
	assert_true(isnan(hs_measured_number(hop, HS_LAB_DELAY)));
	assert_true(isnan(hs_measured_number(hop, HS_LAB_LOSS)));
	assert_int_equal(hs_measured_integer(hop, "node_lost_packets"), 3);
	assert_int_equal(hs_measured_integer(hop, "span_start_ns"), 110);
	assert_int_equal(hs_measured_integer(hop, "span_end_ns"), 120);
	assert_true(isnan(hs_measured_number(e2e, HS_LAB_SPAN)));
	assert_true(hs_measured_number(e2e, HS_LAB_DELAY) == -4);
	assert_true(hs_measured_number(e2e, HS_LAB_LOST_PACKETS) == -7);
	assert_int_equal(hs_measured_integer(e2e, "unattributed_lost_packets"), -8);
}

// BY_HAND with a part of the text replaced.
static int take_changed(struct hs_measured *measured, const char *from, const char *to)
{
	char text[2048];
	const char *at = strstr(BY_HAND, from);
	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - BY_HAND), BY_HAND, to,
			at + strlen(from));
	return hs_measured_take(measured, "qos.7", text);
}

static void windows_of_two_sinks_are_in_the_order_of_their_ids(void **state)
{
	static const uint16_t ids[] = {8, 9, 200};
	assert_int_equal(hs_measured_take(*state, "qos.7", BY_HAND), 0);
	assert_int_equal(take_changed(*state, "\"node_id\": 9", "\"node_id\": 200"), 0);
	assert_int_equal(take_changed(*state, "\"node_id\": 9", "\"node_id\": 8"), 0);
	assert_int_equal(take_changed(*state, "\"node_id\": 9", "\"node_id\": 200"), 0);
	assert_int_equal(MEASURED(state)->n_windows, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(MEASURED(state)->windows[i].node_id, ids[i]);
}

static void a_window_of_another_shape_is_refused(void **state)
{
	static const char *const changes[][2] = {
			{"\"qos_report\"", "\"int_report\""},
			{"{\"qos_report\"", "[{\"qos_report\""},
			{"\"ns_id\": 7", "\"ns_id\": 8"},
			{"\"window_ns\": 1000000000", "\"window_ns\": 1000000000.0"},
			{"\"window_ns\": 1000000000,", ""},
			{"\"end_ns\": 3000000000,", ""},
			{"\"reports\": 100,", ""},
			{"\"stale\": false,", ""},
			{"\"path\": [0, 9]", "\"path\": [9]"},
			{"\"hops\"", "\"legs\""},
			{"\"e2e\"", "\"end_to_end\""},
			{"\"news\": {}", "\"stale\": false"}, // the same key twice
			{"}}}", "}}"},
	};
	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (take_changed(*state, changes[i][0], changes[i][1]) != -EINVAL)
			fail_msg("not refused: %s -> %s", changes[i][0], changes[i][1]);
	assert_int_equal(MEASURED(state)->n_windows, 0);
	assert_int_equal(take_changed(*state, "\"epoch\"", "\"flood\""), 0);
	assert_true(MEASURED(state)->windows[0].flags & HS_QOS_OTHER_FLAG);
}

static void a_report_of_another_shape_is_refused(void **state)
{
	static const char *const reports[] = {
			"{}",
			"7",
			"{\"int_report\": {\"ns_id\": 8, \"sink\": {\"ts_ns\": 2}}}",
			"{\"int_report\": {\"ns_id\": 7, \"e2e\": {\"ts_ns\": 1}}}",
	};
	for (unsigned i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
		assert_int_equal(hs_measured_take(*state, "report.7", reports[i]), -EINVAL);
	assert_int_equal(MEASURED(state)->flows[0].n_trips, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(windows_of_the_monitor_are_read_with_every_number),
			TEST(a_silent_flow_has_stale_windows),
			TEST(windows_are_in_the_order_of_start_and_flow_however_they_come),
			TEST(of_a_window_that_came_twice_the_later_is_kept),
			TEST(the_run_is_taken_from_a_reply),
			TEST(trips_are_kept_of_pings_and_their_replies),
			TEST(reports_that_nobody_needs_are_not_even_read),
			TEST(a_window_written_by_hand_is_read_as_it_says),
			TEST(windows_of_two_sinks_are_in_the_order_of_their_ids),
			TEST(a_window_of_another_shape_is_refused),
			TEST(a_report_of_another_shape_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
