// SPDX-License-Identifier: BSD-3-Clause
// What nodes publish, and what the controller shows of it.
#include "controller_rig.h"

#include <stdio.h>
#include <string.h>

static void gaps_in_what_a_node_publishes_are_counted(void **state)
{
	char text[256];

	(void)state;
	fake_run(&fake, SECOND);
	for (unsigned seq = 1; seq <= 10; seq++) {
		if (seq == 4 || seq == 5)
			continue;
		snprintf(text, sizeof(text),
				"{\"event\": {\"seq\": %u, \"node_id\": 1, \"boot_id\": "
				"\"boot-1-0\", "
				"\"kind\": \"port_up\", \"message\": \"up\"}}",
				seq);
		hs_controller_message(
				fake.controller, fake.now_ns, "event.port_up", text, strlen(text));
	}
	json_t *node = json_array_get(
			json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "nodes"), 0);
	assert_int_equal(json_integer_value(json_object_get(node, "publish_missed")), 2);
	assert_int_equal(json_integer_value(json_object_get(node, "published")), 8);
	assert_int_equal(fake_events(&fake, "port_up"), 8);
}

// A report of a rule of app_id 4 that the sink c (3) took out at `ts_ns`, the k-th, after
// `delay_ns` on its way.
static void publish_trip(uint32_t ns_id, unsigned k, int64_t ts_ns, int64_t delay_ns)
{
	char text[768];

	snprintf(text, sizeof(text),
			"{\"int_report\": {\"seq\": %u, \"node_id\": 3, \"boot_id\": \"boot-3-0\", "
			"\"ns_id\": %u, \"app_id\": 4, \"trace_type\": \"0x7000E000\", \"e2e\": "
			"{\"ts_ns\": %lld, \"tx_packets\": %u, \"tx_bytes\": %u}, \"sink\": "
			"{\"node_id\": 3, \"ts_ns\": %lld, \"rx_packets\": %u, \"rx_bytes\": %u}, "
			"\"hops\": []}}",
			k + 1, ns_id, (long long)(ts_ns - delay_ns), 10 * (k + 1), 5620 * (k + 1),
			(long long)ts_ns, 10 * (k + 1), 5620 * (k + 1));
	hs_controller_message(fake.controller, fake.now_ns, "report", text, strlen(text));
}

static void publish_report_of(unsigned k, int64_t ts_ns)
{
	publish_trip(9, k, ts_ns, 5000000);
}

static void publish_report(unsigned k)
{
	publish_report_of(k, fake.now_ns);
}

static void publish_window_of(unsigned ns_id, const char *window_ns)
{
	char text[256];

	snprintf(text, sizeof(text),
			"{\"qos_report\": {\"seq\": 1, \"node_id\": 3, \"boot_id\": \"boot-3-0\", "
			"\"ns_id\": %u, \"app_id\": 4, \"window_ns\": %s, \"reports\": 5}}",
			ns_id, window_ns);
	hs_controller_message(fake.controller, fake.now_ns, "qos", text, strlen(text));
}

static void publish_window(unsigned ns_id)
{
	publish_window_of(ns_id, "1000000000");
}

static json_t *window_of(const char *request)
{
	return json_array_get(json_object_get(fake_ok(&fake, request), "qos"), 0);
}

static int64_t member(const char *request, const char *key)
{
	return json_integer_value(json_object_get(window_of(request), key));
}

static unsigned published_of(const char *topic)
{
	unsigned n = 0;
	size_t i;
	json_t *entry;

	json_array_foreach (fake.published, i, entry)
		n += strcmp(json_string_value(json_object_get(entry, "topic")), topic) == 0;
	return n;
}

static void raw_reports_of_nodes_that_compute_nothing_become_metrics_here(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 400; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	json_t *e2e = json_object_get(window_of(ask), "e2e");
	assert_int_equal(json_integer_value(json_object_get(e2e, "throughput_bps")), 4496000);
	assert_int_equal(json_integer_value(
					 json_object_get(json_object_get(e2e, "delay_ns"), "mean")),
			5000000);
}

// A sink publishes the last windows of a rule when the rule is removed there.
static void a_new_rule_shows_no_windows_of_the_rule_before(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}";
	static const char other[] =
			"{\"int_request\": {\"ns_id\": 9, \"src_ip\": \"2001:db8::77\", "
			"\"dst_ip\": \"2001:db8::78\", \"protocol\": \"tcp\", \"mode\": "
			"\"count\", \"mode_setting\": 10, \"trace_type\": "
			"\"0x7000E000\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	publish_window(9);
	assert_int_equal(member(ask, "reports"), 5);
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 9}}");
	publish_window(9);
	fake_run(&fake, SECOND);
	publish_window(9);
	fake_ok(&fake, other);
	assert_null(window_of(ask));
	publish_window(9);
	assert_int_equal(member(ask, "reports"), 5);
}

static json_t *window_throughput(int64_t *reports)
{
	json_t *window = window_of("{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}");

	*reports = json_integer_value(json_object_get(window, "reports"));
	return json_object_get(json_object_get(window, "e2e"), "window_throughput_bps");
}

// What a flow carried in a window before the controller had its first report is not known.
static void a_flow_found_in_the_middle_of_a_window_has_no_window_throughput_in_it(void **state)
{
	int64_t reports;

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, 3 * SECOND / 2 - fake.now_ns % SECOND);
	for (unsigned k = 100; k < 300; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
		if (k == 165) { // the first window ended a tenth of a second ago, and is closed
			assert_null(window_throughput(&reports));
			assert_int_equal(reports, 51);
		}
	}
	assert_int_equal(json_integer_value(window_throughput(&reports)), 4496000);
	assert_int_equal(reports, 100);
}

static void an_application_is_shown_from_the_windows_of_its_flows(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"app_id\": 4}}";

	(void)state;
	assert_int_equal(json_array_size(json_object_get(fake_ok(&fake, ask), "applications")), 0);
	const char *rule = request(9, 10, NULL);
	char with_app[1024];
	const char *at = strstr(rule, "\"ns_id\"");
	snprintf(with_app, sizeof(with_app), "%.*s\"app_id\": 4, %s", (int)(at - rule), rule, at);
	fake_ok(&fake, with_app);
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 400; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	json_t *app = json_array_get(json_object_get(fake_ok(&fake, ask), "applications"), 0);
	json_t *flow = json_array_get(json_object_get(app, "flows"), 0);
	assert_int_equal(json_integer_value(json_object_get(app, "app_id")), 4);
	assert_int_equal(json_integer_value(json_object_get(flow, "ns_id")), 9);
	assert_non_null(json_object_get(flow, "from"));
	json_t *e2e = json_object_get(flow, "e2e");
	assert_int_equal(json_integer_value(json_object_get(e2e, "throughput_bps")), 4496000);
}

// The sinks compute the windows, so that the monitor here is given no reports.
static void an_application_has_a_round_trip_where_its_sinks_publish_windows(void **state)
{
	static const char *const rules[] = {
			"{\"int_request\": {\"ns_id\": 1, \"app_id\": 4, \"src_ip\": "
			"\"2001:db8::1\", "
			"\"dst_ip\": \"2001:db8::2\", \"protocol\": \"udp\", \"mode\": \"count\", "
			"\"mode_setting\": 10, \"trace_type\": \"0x7000E000\"}}",
			"{\"int_request\": {\"ns_id\": 2, \"app_id\": 4, \"src_ip\": "
			"\"2001:db8::2\", "
			"\"dst_ip\": \"2001:db8::1\", \"protocol\": \"udp\", \"mode\": \"count\", "
			"\"mode_setting\": 10, \"trace_type\": \"0x7000E000\"}}"};

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		fake_ok(&fake, rules[i]);
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 1500; k++) {
		if (k % 100 == 0) {
			publish_window(1);
			publish_window(2);
		}
		publish_trip(1, k, fake.now_ns, 5000000);
		publish_trip(2, k, fake.now_ns, 3000000);
		fake_run(&fake, SECOND / 100);
	}
	json_t *apps = json_object_get(
			fake_ok(&fake, "{\"qos_get\": {\"app_id\": 4, \"window\": \"1s\"}}"),
			"applications");
	json_t *app = json_array_get(apps, 0), *trip = json_object_get(app, "round_trip_ns");
	assert_int_equal(json_integer_value(json_object_get(trip, "mean")), 8000000);
	assert_int_equal(json_integer_value(json_object_get(trip, "max")), 8000000);
	assert_in_range(json_integer_value(json_object_get(app, "round_trip_pairs")), 98, 100);
}

// The sink publishes windows of a rule that is removed here and not yet at all nodes.
static void an_application_has_no_flow_of_a_removed_rule(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"app_id\": 4}}";
	char text[600];

	(void)state;
	snprintf(text, sizeof(text), "%s", request(9, 10, NULL));
	snprintf(strstr(text, "}}"), 30, ", \"app_id\": 4}}");
	fake_ok(&fake, text);
	fake_run(&fake, SECOND);
	publish_window(9);
	assert_int_equal(json_array_size(json_object_get(fake_ok(&fake, ask), "applications")), 1);
	fake.nodes[0].connected = false;
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 9}}");
	publish_window(9);
	assert_int_equal(json_array_size(json_object_get(fake_ok(&fake, ask), "applications")), 0);
}

static void a_report_of_a_time_to_come_does_not_silence_its_flow(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	publish_report(0);
	publish_report_of(1, fake.now_ns + 3600 * SECOND); // of a sink whose clock is ahead
	for (unsigned k = 2; k < 400; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	assert_true(json_integer_value(json_object_get(window_of(ask), "reports")) >= 90);
	json_t *monitor = json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "monitor");
	assert_int_equal(json_integer_value(json_object_get(monitor, "reports_ahead")), 1);
}

static void windows_go_on_where_the_clock_is_set_back(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 200; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	fake.now_ns -= 3600 * SECOND; // and so are those of the nodes, whose stamps follow
	for (unsigned k = 0; k < fake.n_messages; k++)
		fake.messages[(fake.head + k) % FAKE_MESSAGES].due_ns -= 3600 * SECOND;
	for (unsigned k = 200; k < 500; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	json_t *window = window_of(ask);
	assert_true(json_integer_value(json_object_get(window, "reports")) >= 90);
	assert_in_range(json_integer_value(json_object_get(window, "end_ns")),
			fake.now_ns - 2 * SECOND, fake.now_ns + SECOND);
	// The flow was heard of five seconds ago, so that its sink is known to publish nothing.
	assert_true(published_of("qos.9") > 0);
}

static size_t windows_of(unsigned ns_id)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"qos_get\": {\"ns_id\": %u}}", ns_id);
	return json_array_size(json_object_get(fake_ok(&fake, text), "qos"));
}

static void metrics_and_counters_of_a_rule_of_others_can_be_asked_for(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	fake_at_node(&fake, 2, request(500, 100, NULL));
	publish_window(500);
	assert_int_equal(windows_of(500), 1);
	json_t *nodes = json_object_get(fake_ok(&fake, "{\"int_get\": {\"ns_id\": 500}}"), "nodes");
	assert_int_equal(json_object_size(nodes), 1);
	assert_non_null(json_object_get(json_object_get(nodes, "c"), "rule"));
	assert_string_equal(fake_error(&fake, "{\"qos_get\": {\"ns_id\": 501}}"), "no_such_rule");
	assert_string_equal(
			fake_error(&fake, "{\"int_delete\": {\"ns_id\": 500}}"), "no_such_rule");
}

static void metrics_that_nobody_wants_give_way_to_wanted_ones(void **state)
{
	(void)state;
	fake.config.monitored_rules = 3;
	fake_ok(&fake, request(1, 100, NULL));
	fake_ok(&fake, request(2, 100, NULL));
	publish_window(500);
	publish_window(501);
	publish_window(502);
	publish_window(503); // no room, and none is made for it
	assert_string_equal(fake_error(&fake, "{\"qos_get\": {\"ns_id\": 503}}"), "no_such_rule");
	for (unsigned ns_id = 500; ns_id < 503; ns_id++)
		assert_int_equal(windows_of(ns_id), 1);
	publish_window(500); // heard of last
	publish_window(1);
	publish_window(2);
	assert_int_equal(windows_of(1), 1);
	assert_int_equal(windows_of(2), 1);
	assert_int_equal(windows_of(500), 1);
	assert_string_equal(fake_error(&fake, "{\"qos_get\": {\"ns_id\": 503}}"), "no_such_rule");
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 2}}");
	publish_window(501);
	assert_int_equal(windows_of(501), 1);
}

static void metrics_of_a_node_that_computes_them_are_taken_over(void **state)
{
	static const char published[] =
			"{\"qos_report\": {\"seq\": 1, \"node_id\": 3, \"boot_id\": \"boot-3-0\", "
			"\"ns_id\": 9, \"app_id\": 4, \"window_ns\": 1000000000, \"reports\": 77}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 400; k++) {
		if (k % 100 == 0)
			hs_controller_message(fake.controller, fake.now_ns, "qos.9", published,
					strlen(published));
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	json_t *window = window_of("{\"qos_get\": {\"ns_id\": 9}}");
	assert_int_equal(json_integer_value(json_object_get(window, "reports")), 77);
	// Published once for each, none of our own.
	assert_int_equal(published_of("qos.9"), 4);
}

// The controller closes a window as soon as the sink does, and the message of the sink is on its
// way.
static void a_window_that_the_sink_publishes_too_is_published_once(void **state)
{
	unsigned n = 0;

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, 3 * SECOND / 2 - fake.now_ns % SECOND);
	for (unsigned k = 0; k < 300; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
		if (k % 100 == 80) { // three tenths of a second after the window's end
			publish_window(9);
			n++;
		}
	}
	assert_int_equal(published_of("qos.9"), n);
	assert_int_equal(member("{\"qos_get\": {\"ns_id\": 9}}", "reports"), 5);
}

// The sink publishes nothing while the flow is silent for more than a minute.
static void a_flow_that_goes_on_after_a_pause_has_each_window_once(void **state)
{
	unsigned n = 0;

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, 3 * SECOND / 2 - fake.now_ns % SECOND);
	publish_window(9);
	fake_run(&fake, 70 * SECOND);
	unsigned before = published_of("qos.9");
	for (unsigned k = 0; k < 300; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
		if (k % 100 == 80) {
			publish_window(9);
			n++;
		}
	}
	assert_int_equal(published_of("qos.9"), before + n);
}

// The controller computes the windows since the sink stopped, also after pauses.
static void a_sink_that_stopped_is_not_waited_for_after_each_pause(void **state)
{
	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, 3 * SECOND / 2 - fake.now_ns % SECOND);
	publish_report(0);
	publish_window(9);
	for (unsigned pause = 0; pause < 3; pause++) {
		fake_run(&fake, 70 * SECOND);
		unsigned before = published_of("qos.9");
		for (unsigned k = 1; k <= 200; k++) {
			publish_report(pause * 1000 + k);
			fake_run(&fake, SECOND / 100);
		}
		// The first time, the sink could go on.
		assert_true(pause == 0 || published_of("qos.9") >= before + 1);
	}
}

// The first window of the sink ends seven seconds after the controller met the flow.
static void long_windows_that_the_sink_publishes_too_are_published_once(void **state)
{
	static const char windows[] = ", \"controller\": {\"windows_ms\": [10000, 60000]}}";
	char text[sizeof(config) + sizeof(windows)];
	unsigned n = 0;

	(void)state;
	snprintf(text, sizeof(text), "%.*s%s", (int)strlen(config) - 1, config, windows);
	fake_close(&fake);
	fake_open(&fake, text);
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, 13 * SECOND - fake.now_ns % (10 * SECOND));
	for (unsigned k = 0; k < 280; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 10);
		if (k % 100 == 73) { // four tenths of a second after the window's end
			publish_window_of(9, "10000000000");
			n++;
		}
	}
	assert_int_equal(n, 3);
	assert_int_equal(published_of("qos.9"), n);
}

static void the_first_windows_of_a_flow_are_kept_and_not_published(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, 3 * SECOND / 2 - fake.now_ns % SECOND);
	for (unsigned k = 0; k < 500; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
		if (k == 280) {
			assert_int_equal(member(ask, "reports"), 100);
			assert_int_equal(published_of("qos.9"), 0);
		}
	}
	assert_int_equal(published_of("qos.9"), 2); // those that ended after 3 s
}

static void windows_of_lengths_that_the_sink_does_not_publish_go(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"10s\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 1200; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	assert_true(member(ask, "reports") > 0);
	publish_window(9);
	assert_null(window_of(ask));
	assert_int_equal(windows_of(9), 1);
}

// The sink has the whole of the windows that are open here, so that ours would be a part of it that
// is shown as the whole, up to a minute before its end.
static void what_is_open_here_is_left_to_the_sink_that_computes_metrics(void **state)
{
	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, 3 * SECOND / 2 - fake.now_ns % SECOND);
	for (unsigned k = 0; k < 30; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	publish_window(9);
	assert_int_equal(windows_of(9), 1);
	assert_int_equal(member("{\"qos_get\": {\"ns_id\": 9}}", "reports"), 5);
	assert_int_equal(published_of("qos.9"), 1);
}

static void say_window(int64_t end_ns, int64_t age_ns)
{
	char text[512], age[64] = "";

	if (age_ns)
		snprintf(age, sizeof(age), ", \"age_ns\": %lld", (long long)age_ns);
	snprintf(text, sizeof(text),
			"{\"qos_report\": {\"seq\": 1, \"node_id\": 3, \"boot_id\": \"boot-3-0\", "
			"\"ns_id\": 500, \"app_id\": 4, \"window_ns\": 1000000000, \"start_ns\": "
			"%lld, \"end_ns\": %lld, \"reports\": %d, \"stale\": %s%s}}",
			(long long)(end_ns - SECOND), (long long)end_ns, age_ns ? 0 : 5,
			age_ns ? "true" : "false", age);
	hs_controller_message(fake.controller, fake.now_ns, "qos", text, strlen(text));
}

static void run_seconds(unsigned n)
{
	for (unsigned i = 0; i < 10 * n; i++)
		fake_run(&fake, SECOND / 10);
}

// The sink has died, or nothing reaches the controller.
static void a_window_that_no_other_follows_becomes_stale_and_goes(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 500}}";

	(void)state;
	fake_run(&fake, SECOND);
	int64_t end_ns = fake.now_ns;
	say_window(end_ns, 0);
	run_seconds(3); // one that is late is no reason
	assert_int_equal(member(ask, "reports"), 5);
	assert_true(json_is_false(json_object_get(window_of(ask), "stale")));
	assert_null(json_object_get(window_of(ask), "age_ns"));
	run_seconds(2);
	assert_int_equal(member(ask, "reports"), 0);
	assert_true(json_is_true(json_object_get(window_of(ask), "stale")));
	assert_int_equal(member(ask, "age_ns"), 2 * SECOND);
	assert_int_equal(member(ask, "end_ns"), end_ns + 2 * SECOND);
	assert_int_equal(member(ask, "start_ns"), end_ns + SECOND);
	run_seconds(58); // a sink repeats its last values for a minute
	assert_int_equal(member(ask, "age_ns"), 60 * SECOND);
	run_seconds(1);
	assert_null(window_of(ask));
	say_window(fake.now_ns, 0);
	assert_int_equal(member(ask, "reports"), 5);
}

static void a_stale_window_that_no_other_follows_grows_older(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 500, \"window\": \"1s\"}}";

	(void)state;
	fake_run(&fake, SECOND);
	say_window(fake.now_ns, 50 * SECOND);
	run_seconds(8);
	assert_int_equal(member(ask, "age_ns"), 55 * SECOND);
	run_seconds(6);
	assert_null(window_of(ask));
}

static void a_clock_that_is_set_makes_no_window_stale(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 500}}";

	(void)state;
	fake_run(&fake, SECOND);
	say_window(fake.now_ns, 0);
	fake.now_ns += 3600 * SECOND;
	run_seconds(1);
	assert_int_equal(member(ask, "reports"), 5);
	fake.now_ns -= 7200 * SECOND;
	run_seconds(6);
	assert_int_equal(member(ask, "reports"), 0);
}

// Otherwise the metrics that are computed from raw reports would be silent for years.
static void windows_of_an_impossible_length_silence_nothing(void **state)
{
	static const char *const lengths[] = {
			"0", "-1", "86400000000001", "1000000000000000000", "9000000000000000000"};

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	for (unsigned i = 0; i < 5; i++)
		publish_window_of(9, lengths[i]);
	fake_run(&fake, 4 * SECOND);
	for (unsigned k = 0; k < 400; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	assert_non_null(window_of("{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}"));
	json_t *monitor = json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "monitor");
	assert_int_equal(json_integer_value(json_object_get(monitor, "messages_bad")), 5);
	publish_window_of(9, "86400000000000");
	monitor = json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "monitor");
	assert_int_equal(json_integer_value(json_object_get(monitor, "messages_bad")), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(windows_go_on_where_the_clock_is_set_back),
			TEST(raw_reports_of_nodes_that_compute_nothing_become_metrics_here),
			TEST(a_flow_found_in_the_middle_of_a_window_has_no_window_throughput_in_it),
			TEST(an_application_is_shown_from_the_windows_of_its_flows),
			TEST(an_application_has_a_round_trip_where_its_sinks_publish_windows),
			TEST(an_application_has_no_flow_of_a_removed_rule),
			TEST(a_report_of_a_time_to_come_does_not_silence_its_flow),
			TEST(metrics_and_counters_of_a_rule_of_others_can_be_asked_for),
			TEST(metrics_that_nobody_wants_give_way_to_wanted_ones),
			TEST(a_new_rule_shows_no_windows_of_the_rule_before),
			TEST(metrics_of_a_node_that_computes_them_are_taken_over),
			TEST(a_window_that_the_sink_publishes_too_is_published_once),
			TEST(a_flow_that_goes_on_after_a_pause_has_each_window_once),
			TEST(a_sink_that_stopped_is_not_waited_for_after_each_pause),
			TEST(long_windows_that_the_sink_publishes_too_are_published_once),
			TEST(the_first_windows_of_a_flow_are_kept_and_not_published),
			TEST(windows_of_lengths_that_the_sink_does_not_publish_go),
			TEST(what_is_open_here_is_left_to_the_sink_that_computes_metrics),
			TEST(windows_of_an_impossible_length_silence_nothing),
			TEST(a_window_that_no_other_follows_becomes_stale_and_goes),
			TEST(a_stale_window_that_no_other_follows_grows_older),
			TEST(a_clock_that_is_set_makes_no_window_stale),
			TEST(gaps_in_what_a_node_publishes_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
