// SPDX-License-Identifier: BSD-3-Clause
// Reports that came back: what becomes of them at the other end.
#include "pending_rig.h"

#include "report_cbor.h"

#define MS INT64_C(1000000)

// ---- received ----

static struct hs_report a_report(uint32_t ns_id, unsigned hops)
{
	struct hs_report report = {
			.sink_ts_ns = NOW - 5 * MS, .sink_rx_packets = 990, .sink_rx_bytes = 99000};
	report.telemetry = (struct hs_decoded){.family = &hs_flexint_family,
			.ns_id = ns_id,
			.trace_type = 0x7000E000,
			.e2e = {.bitmap = 0x7000,
					.ts_ns = NOW - 50 * MS,
					.tx_packets = 1000,
					.tx_bytes = 100000},
			.n_hops = (uint16_t)hops};
	for (unsigned i = 0; i < hops; i++)
		report.telemetry.hops[i] = (struct hs_hop){.node_id = (uint16_t)(hops - i),
				.bitmap = 0xE000,
				.tx_packets = 999,
				.rx_packets = 999,
				.ts_ns = NOW - 10 * MS,
				.tx_bytes = 99900,
				.rx_bytes = 99900};
	return report;
}

static const struct hs_report_sender SENDER = {.app_id = 3, .sink_node_id = 44};

// Brings it, cut over as many options as it needs; returns how many.
static uint8_t bring_report(const struct hs_report *report, uint8_t part, uint8_t parts)
{
	uint8_t cbor[HS_REPORT_CBOR_BYTES];
	int len = hs_report_to_cbor(report, &SENDER, cbor, sizeof(cbor));
	uint8_t needed = (uint8_t)((len + 254) / 255);
	assert_true(len > 0);
	for (uint8_t i = 0; i < needed; i++)
		bring(HS_OPT_REPORT, (uint8_t)(part + i), parts ? parts : needed, 1, cbor + i * 255,
				(size_t)(i + 1 < needed ? 255 : len - i * 255));
	return needed;
}

static void a_report_that_came_back_is_published_and_monitored_like_any_other(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	install(r, 7, "");
	struct hs_report report = a_report(7, 4);
	bring_report(&report, 0, 0);
	step(r, MS);
	json_t *message = json_object_get(published(r, "report.7", 0), "int_report");
	assert_non_null(message);
	assert_number(message, "node_id", 9); // who published it
	assert_number(message, "app_id", 3);
	assert_number(json_object_get(message, "sink"), "node_id", 44);
	assert_number(json_object_get(message, "sink"), "rx_packets", 990);
	assert_int_equal(json_array_size(json_object_get(message, "hops")), 4);
	json_t *shown = state_of_rule(r, 7);
	assert_true(json_is_true(json_object_get(shown, "monitored")));
	json_decref(shown);
	step(r, 2 * SECOND);
	json_t *path = json_object_get(
			json_object_get(published(r, "qos.7", 0), "qos_report"), "path");
	assert_int_equal(json_array_size(path), 6);
	assert_int_equal(json_integer_value(json_array_get(path, 5)), 44);
	assert_total(r, "reports_piggyback_received", 1);
	assert_total(r, "reports_published", 0); // those are of this node's own
	close_with_audit(r);
}

static void a_report_of_a_time_that_cannot_be_does_not_stop_those_that_follow(void **state)
{
	(void)state;
	static const int64_t times[] = {
			0, 1, NOW + 3600 * SECOND, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};
	for (unsigned i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct rig *r = rig_open(SOURCE, 1500, 8);
		install(r, 7, "");
		for (unsigned k = 0; k < 50; k++) {
			struct hs_report report = a_report(7, 4);
			report.sink_ts_ns = r->now_ns - 5 * MS;
			report.telemetry.e2e.ts_ns = (uint64_t)r->now_ns - 50 * MS;
			report.telemetry.e2e.tx_packets = 1000 + k;
			if (k == 5)
				report.sink_ts_ns = times[i];
			bring_report(&report, 0, 0);
			step(r, 100 * MS);
		}
		step(r, SECOND);
		// Five seconds of reports, of which one was of another time.
		unsigned full = 0;
		for (unsigned w = 0; published(r, "qos.7", w); w++) {
			json_t *qos = json_object_get(published(r, "qos.7", w), "qos_report");
			full += json_integer_value(json_object_get(qos, "reports")) == 10;
		}
		if (full < 3)
			fail_msg("time %lld: %u of %u windows are full", (long long)times[i], full,
					count_published(r, "qos.7"));
		close_with_audit(r);
	}
}

static void of_a_flow_that_ends_here_nobody_else_tells(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	for (unsigned i = 0; i < 50; i++) {
		struct hs_report forged = a_report(7, 4);
		forged.sink_ts_ns = r->now_ns;
		feed_sampled(r, 7, 0x7000);
		bring_report(&forged, 0, 0);
		step(r, 100 * MS);
	}
	step(r, SECOND);
	unsigned full = 0;
	for (unsigned w = 0; published(r, "qos.7", w); w++) {
		json_t *qos = json_object_get(published(r, "qos.7", w), "qos_report");
		full += json_integer_value(json_object_get(qos, "reports")) == 10;
	}
	assert_true(full >= 4);
	assert_total(r, "reports_piggyback_received", 50);
	assert_true(count_published(r, "report.7") == 100); // who lies is told of
	close_with_audit(r);
}

static void a_report_of_a_namespace_without_a_rule_is_published_only(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	struct hs_report report = a_report(7, 0);
	bring_report(&report, 0, 0);
	step(r, MS);
	assert_int_equal(count_published(r, "report.7"), 1);
	assert_total(r, "reports_piggyback_unmonitored", 1);
	assert_total(r, "rules_monitored", 0);
	close_with_audit(r);
}

static void a_long_report_is_put_together_from_its_options(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	struct hs_report report = a_report(7, 10);
	assert_int_equal(bring_report(&report, 0, 0), 2);
	step(r, MS);
	json_t *message = json_object_get(published(r, "report.7", 0), "int_report");
	assert_int_equal(json_array_size(json_object_get(message, "hops")), 10);
	assert_total(r, "reports_piggyback_bad", 0);
	close_with_audit(r);
}

static void short_and_long_reports_in_one_packet_come_apart(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	struct hs_report brief = a_report(7, 1), longer = a_report(8, 10);
	bring_report(&brief, 0, 4);
	bring_report(&longer, 1, 4);
	bring_report(&brief, 3, 4);
	step(r, MS);
	assert_int_equal(count_published(r, "report.7"), 2);
	assert_int_equal(count_published(r, "report.8"), 1);
	close_with_audit(r);
}

static void what_is_no_report_is_counted_and_hides_no_other(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	struct hs_report report = a_report(7, 1);
	bring(HS_OPT_REPORT, 0, 2, 1, (const uint8_t *)"\xff\xff", 2);
	bring_report(&report, 1, 2);
	step(r, MS);
	assert_int_equal(count_published(r, "report.7"), 1);
	assert_total(r, "reports_piggyback_bad", 1);
	close_with_audit(r);
}

// One report came in a packet of a flow without a rule.
static struct rig *open_with_a_report(unsigned taken, int publish_result)
{
	struct rig *r = rig_open(SOURCE, 1500, 8);
	struct hs_report report = a_report(7, 1);
	bring_report(&report, 0, 0);
	brought.list[0].taken = taken;
	r->publish_result = publish_result;
	step(r, MS);
	r->publish_result = 0;
	return r;
}

static void a_report_that_goes_on_is_not_taken_here(void **state)
{
	(void)state;
	struct rig *r = open_with_a_report(0, 0);
	assert_int_equal(count_published(r, "report.7"), 0);
	assert_total(r, "reports_piggyback_received", 0);
	close_with_audit(r);
}

static void a_subscriber_that_misses_one_is_counted(void **state)
{
	(void)state;
	struct rig *r = open_with_a_report(1, -EAGAIN);
	assert_total(r, "reports_piggyback_publish_lost", 1);
	close_with_audit(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_report_of_a_time_that_cannot_be_does_not_stop_those_that_follow),
			cmocka_unit_test(
					a_report_that_came_back_is_published_and_monitored_like_any_other),
			cmocka_unit_test(a_report_of_a_namespace_without_a_rule_is_published_only),
			cmocka_unit_test(of_a_flow_that_ends_here_nobody_else_tells),
			cmocka_unit_test(a_long_report_is_put_together_from_its_options),
			cmocka_unit_test(short_and_long_reports_in_one_packet_come_apart),
			cmocka_unit_test(what_is_no_report_is_counted_and_hides_no_other),
			cmocka_unit_test(a_report_that_goes_on_is_not_taken_here),
			cmocka_unit_test(a_subscriber_that_misses_one_is_counted),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
