// SPDX-License-Identifier: BSD-3-Clause
// Reports of INT, as a sink publishes them: what the controller makes of them is what the sink's
// own monitor makes of the same packets.
#include "controller_rig.h"

#include "int_format.h"
#include "qos.h"
#include "report_json.h"

#include <stdlib.h>

#define REPORTS 600

static uint32_t seq;

// ---- the sink ----

static size_t put(uint8_t *at, size_t n, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[n + i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return n + bytes;
}

// What the packet has at packet k: node id, hop latency, queue, receive time and utilisation of the
// nodes 9, 8 and of the source 70000, with the bits of a time that the version has.
static void fill(struct hs_report_record *record, enum hs_int_version version, unsigned k,
		int64_t sink_ns)
{
	static const uint32_t ids[] = {9, 8, 70000};
	bool later = version == HS_INT_2_1;
	unsigned wide = later ? 8 : 4;
	uint8_t *at = record->data;
	size_t n;

	*record = (struct hs_report_record){.family = hs_int_formats[version].number,
			.sink_ts_ns = sink_ns,
			.sink_rx_packets = k + 1,
			.sink_rx_bytes = 562 * (k + 1)};
	n = put(at, 0, later ? 0x20000604 : 0x10000504, 4);
	n = put(at, n, 0xB9000000, 4); // not the ports
	n = put(at, n, 0, later ? 4 : 0);
	for (unsigned i = 0; i < 3; i++) {
		bool silent = i == 1 && k % 4 == 0;
		n = put(at, n, ids[i], 4);
		n = put(at, n, silent ? UINT32_MAX : 1000 * (i + 1) + k, 4);
		n = put(at, n, silent ? UINT32_MAX : i << 24 | (k % (7 + i)), 4);
		n = put(at, n, (uint64_t)(sink_ns - (3000000 + k % (11 + i) * 1000) * (i + 1)),
				wide);
		n = put(at, n, 100 * i + k % 50, 4);
	}
	record->trace_len = (uint8_t)n;
	memcpy(at + n, &sink_ns, sizeof(sink_ns));
	record->e2e_len = sizeof(sink_ns);
}

static void publish(const char *text)
{
	hs_controller_message(fake.controller, fake.now_ns, "report", text, strlen(text));
}

static void write_report(const struct hs_report *report, char *text, size_t size)
{
	struct hs_report_origin origin = {.seq = ++seq, .node_id = 3, .boot_id = "boot-3-0"};

	assert_true(hs_report_text(report, 4, 3, &origin, text, size) > 0);
}

// ---- rules ----

static const char *int_rule(uint32_t ns_id)
{
	static char text[512];

	snprintf(text, sizeof(text),
			"{\"int_request\": {\"ns_id\": %u, \"method\": \"int\", \"src_ip\": "
			"\"192.0.2.1\", \"dst_ip\": \"192.0.2.2\", \"dst_port\": 7000, "
			"\"protocol\": \"udp\", \"instructions\": [\"node_id\", \"hop_latency\", "
			"\"queue\", \"ingress_timestamp\", \"link_utilisation\"], \"mode\": "
			"\"count\", \"mode_setting\": 1}}",
			ns_id);
	return text;
}

static json_int_t counted(const char *key)
{
	json_t *node = fake_ok(&fake, "{\"node_get\": {}}");

	return json_integer_value(json_object_get(json_object_get(node, "monitor"), key));
}

static json_t *window_of(const char *length)
{
	char ask[96];

	snprintf(ask, sizeof(ask), "{\"qos_get\": {\"ns_id\": 9, \"window\": \"%s\"}}", length);
	return json_array_get(json_object_get(fake_ok(&fake, ask), "qos"), 0);
}

// ---- the same windows ----

static void keep(void *user, const struct hs_qos_window *window)
{
	if (window->window_ns == SECOND && window->reports)
		json_array_append_new(user, hs_qos_window_json(window, NULL));
}

// The controller keeps windows as text, with 15 digits.
#define FORM (JSON_SORT_KEYS | JSON_REAL_PRECISION(15))

static void assert_same(const json_t *here, const json_t *sink)
{
	char *a = json_dumps(here, FORM), *b = json_dumps(sink, FORM);

	assert_string_equal(a, b);
	free(a);
	free(b);
}

static void run_version(enum hs_int_version version)
{
	const struct hs_qos_key key = {.ns_id = 9, .app_id = 4, .sink_node_id = 3};
	json_t *windows = json_array(), *of_sink = NULL, *one;
	struct hs_qos_config monitor = {.max_flows = 4, .on_window = keep, .user = windows};
	struct hs_report_record record;
	struct hs_report report;
	struct hs_qos *qos;
	char text[8192];
	size_t i;

	assert_int_equal(hs_qos_create(&monitor, &qos), 0);
	fake_ok(&fake, int_rule(9));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < REPORTS; k++) {
		fill(&record, version, k, fake.now_ns);
		assert_int_equal(hs_report_decode(&record, &hs_int_formats[version], &report), 0);
		report.telemetry.ns_id = 9;
		assert_int_equal(hs_qos_report(qos, &key, &report), 0);
		write_report(&report, text, sizeof(text));
		publish(text);
		fake_run(&fake, SECOND / 100);
	}
	json_t *run = hs_qos_window_json(hs_qos_latest(qos, 9, 0), NULL);
	assert_same(window_of("run"), json_object_get(run, "qos_report"));
	json_decref(run);
	assert_int_equal(hs_qos_remove(qos, 9), 0);
	json_t *here = window_of("1s");
	json_array_foreach (windows, i, one) {
		json_t *body = json_object_get(one, "qos_report");
		if (json_equal(json_object_get(body, "end_ns"), json_object_get(here, "end_ns")))
			of_sink = body;
	}
	assert_non_null(of_sink);
	assert_same(here, of_sink);
	json_t *hop = json_array_get(json_object_get(here, "hops"), 1);
	assert_int_equal(json_integer_value(json_object_get(hop, "from")), 8);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(here, "path"), 0)),
			70000);
	assert_int_equal(json_array_size(json_object_get(here, "hops")), 3);
	assert_non_null(json_object_get(hop, "hop_latency_ns"));
	assert_non_null(json_object_get(hop, "queue_packets"));
	assert_non_null(json_object_get(hop, "link_utilisation_ratio"));
	assert_null(json_object_get(hop, "loss_ratio"));
	assert_int_equal(counted("reports_of_unknown_format"), 0);
	hs_qos_destroy(qos);
	json_decref(windows);
}

static void windows_of_int_2_1_are_those_of_the_sink(void **state)
{
	(void)state;
	run_version(HS_INT_2_1);
}

static void windows_of_int_1_0_are_those_of_the_sink(void **state)
{
	(void)state;
	run_version(HS_INT_1_0);
}

// ---- what cannot be told ----

static void replace(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from);

	assert_non_null(at);
	memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
	memcpy(at, to, strlen(to));
}

static void a_report_of_an_unknown_format_makes_no_metrics_and_says_so(void **state)
{
	static const char *const changes[][2] = {{"\"method\":\"int\",\"version\":\"2.1\",", ""},
			{"\"2.1\"", "\"3.7\""}, {"\"method\":\"int\"", "\"method\":\"ioam\""}};
	struct hs_report_record record;
	struct hs_report report;
	char text[8192];

	(void)state;
	fake_ok(&fake, int_rule(9));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 3; k++) {
		fill(&record, HS_INT_2_1, k, fake.now_ns);
		hs_report_decode(&record, &hs_int_formats[HS_INT_2_1], &report);
		report.telemetry.ns_id = 9;
		write_report(&report, text, sizeof(text));
		replace(text, changes[k][0], changes[k][1]);
		publish(text);
		fake_run(&fake, SECOND);
		assert_int_equal(counted("reports_of_unknown_format"), k + 1);
		assert_null(window_of("1s"));
		assert_null(window_of("run"));
	}
	assert_int_equal(counted("reports"), 0);
	assert_int_equal(fake_events(&fake, "report_not_read"), 1); // once
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(windows_of_int_2_1_are_those_of_the_sink),
			TEST(windows_of_int_1_0_are_those_of_the_sink),
			TEST(a_report_of_an_unknown_format_makes_no_metrics_and_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
