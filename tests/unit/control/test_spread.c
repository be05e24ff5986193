// SPDX-License-Identifier: BSD-3-Clause
// Rules with `in_band` at their source: when the request stands before the workers.
#include "pending_rig.h"

#define MS INT64_C(1000000)

// {"int_request": ...} of `install` with ns_id 7; tests/unit/rule/make_cbor.py has its writer.
static const char request[] = "a16b696e745f72657175657374aa656e735f696407666170705f696403667372635f"
			      "69706b323030313a6462383a3a31666473745f69706b323030313a6462383a3a3268"
			      "7372635f706f727400686473745f706f727419138f6870726f746f636f6c63756470"
			      "6a74726163655f747970656a30783730303045303030646d6f646565636f756e746c"
			      "6d6f64655f73657474696e6701";

static void the_request_stands_at_once_and_telemetry_waits_for_it(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	uint8_t expected[256];
	size_t len = unhex(request, expected);
	install(r, 7, ", \"in_band\": true");

	struct hs_flow_pending *pending = pending_of(r, 7);
	assert_true(is_ready(pending));
	assert_true(pending->holds_telemetry);
	assert_int_equal(pending->n_bytes, len + 2);
	assert_int_equal(pending->bytes[0], 0x32);
	assert_int_equal(pending->bytes[1], len);
	assert_memory_equal(pending->bytes + 2, expected, len);
	assert_state(r, 7, "request_sent", 0);
	send_pending(r, pending);
	step(r, 10 * MS);
	assert_int_equal(atomic_load(&pending->state), HS_PENDING_EMPTY);
	assert_false(pending->holds_telemetry);
	rig_close(r);
}

static void a_rule_that_does_not_spread_has_no_request(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	install(r, 7, "");
	step(r, 10 * MS);
	assert_int_equal(atomic_load(&pending_of(r, 7)->state), HS_PENDING_EMPTY);
	json_t *shown = state_of_rule(r, 7);
	assert_null(json_object_get(shown, "request_sent"));
	assert_string_equal(json_string_value(json_object_get(shown, "origin")), "api");
	json_decref(shown);
	rig_close(r);
}

// Steps to a time after the start as the daemon does, every 10 ms; packets come all the time.
static unsigned run_until(struct rig *r, int64_t at_ns, int64_t *sent_ns, unsigned room)
{
	unsigned n = 0;
	while (r->now_ns < NOW + at_ns) {
		step(r, 10 * MS);
		struct hs_flow_pending *pending = pending_of(r, 7);
		if (!is_ready(pending))
			continue;
		assert_true(n < room);
		sent_ns[n++] = r->now_ns - NOW;
		send_pending(r, pending);
	}
	return n;
}

static void a_request_is_repeated_by_the_list_and_then_once_in_an_interval(void **state)
{
	// 10 ms after the start: the first packet; each repeat within 20 ms of its time.
	static const int64_t expected_ms[] = {
			10, 110, 310, 1010, 3010, 10010, 30010, 90010, 150010};
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	int64_t sent_ns[16];
	install(r, 7, ", \"in_band\": true");
	unsigned n = run_until(r, 200 * SECOND, sent_ns, 16);
	assert_int_equal(n, 9);
	for (unsigned i = 0; i < n; i++)
		assert_in_range(sent_ns[i] - expected_ms[i] * MS, 0, 20 * MS);
	step(r, 10 * MS);
	assert_state(r, 7, "request_sent", 9);
	assert_state(r, 7, "last_request_tx_ns", NOW + sent_ns[8]);
	assert_total(r, "requests_in_band_sent", 9);
	assert_false(pending_of(r, 7)->holds_telemetry);
	rig_close(r);
}

static void the_list_of_repeats_is_the_configurations(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band;
	int64_t sent_ns[16];
	hs_in_band_init(&in_band);
	in_band.n_repeats = 1;
	in_band.repeats_ns[0] = 2 * SECOND;
	in_band.interval_s = 5;
	struct rig *r = rig_open_with(SOURCE, 1500, 8, &in_band);
	install(r, 7, ", \"in_band\": true");
	assert_int_equal(run_until(r, 13 * SECOND, sent_ns, 16), 4);
	assert_in_range(sent_ns[1], 2010 * MS, 2030 * MS);
	assert_in_range(sent_ns[2], 7010 * MS, 7030 * MS);
	assert_in_range(sent_ns[3], 12010 * MS, 12030 * MS);
	rig_close(r);
}

static void repeats_that_no_packet_came_for_are_not_made_up_for(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	int64_t sent_ns[16];
	install(r, 7, ", \"in_band\": true");
	run_until(r, 10 * MS, sent_ns, 1);
	for (unsigned i = 0; i < 2000; i++)
		step(r, 10 * MS);
	// 20 s after the first: what stands is one request, the next one is that of 30 s.
	int64_t late_ns = r->now_ns - NOW;
	assert_int_equal(run_until(r, late_ns + 9 * SECOND, sent_ns, 1), 1);
	assert_int_equal(run_until(r, 30 * SECOND + 50 * MS, sent_ns, 1), 1);
	// And after silence beyond the interval it goes on from the packet that came.
	while (r->now_ns < NOW + 300 * SECOND)
		step(r, 100 * MS);
	assert_int_equal(run_until(r, 355 * SECOND, sent_ns, 2), 1);
	assert_int_equal(run_until(r, 361 * SECOND, sent_ns, 2), 1);
	rig_close(r);
}

static void a_change_of_what_travels_starts_the_list_anew(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	int64_t sent_ns[16];
	install(r, 7, ", \"in_band\": true");
	run_until(r, 40 * SECOND, sent_ns, 16);
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"mode\": \"count\", "
			   "\"mode_setting\": 23}}"));
	struct hs_flow_pending *pending = pending_of(r, 7);
	assert_true(is_ready(pending));
	assert_false(pending->holds_telemetry); // it has been flowing all the time
	assert_int_equal(pending->bytes[pending->n_bytes - 1], 23);
	int64_t from_ns = r->now_ns - NOW;
	assert_int_equal(run_until(r, from_ns + 4 * SECOND, sent_ns, 16), 5);
	assert_in_range(sent_ns[4] - sent_ns[0], 3000 * MS, 3020 * MS);
	rig_close(r);
}

static void a_switch_of_this_node_alone_repeats_nothing(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	int64_t sent_ns[16];
	install(r, 7, ", \"in_band\": true");
	run_until(r, 40 * SECOND, sent_ns, 16);
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"hop_enabled\": false, "
			   "\"extract_report\": true}}"));
	assert_int_equal(run_until(r, 80 * SECOND, sent_ns, 1), 0);
	rig_close(r);
}

static void a_change_while_a_packet_has_the_request_follows_it(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	install(r, 7, ", \"in_band\": true");
	struct hs_flow_pending *pending = pending_of(r, 7);
	atomic_store(&pending->state, HS_PENDING_TAKEN);
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"transmit_report\": false}}"));
	step(r, 10 * MS);
	assert_int_equal(atomic_load(&pending->state), HS_PENDING_TAKEN);
	assert_int_equal(pending->bytes[pending->n_bytes - 1], 1); // not touched: a worker reads it

	atomic_store(&pending->sent_ns, r->now_ns);
	atomic_store(&pending->state, HS_PENDING_SENT);
	step(r, 10 * MS);
	assert_true(is_ready(pending));
	assert_int_equal(pending->bytes[pending->n_bytes - 1], 0xf4); // transmit_report: false
	send_pending(r, pending);
	int64_t first_ns = r->now_ns - NOW, sent_ns[4];
	assert_int_equal(run_until(r, first_ns + 150 * MS, sent_ns, 4), 1);
	assert_in_range(sent_ns[0] - first_ns, 100 * MS, 120 * MS);
	rig_close(r);
}

static void an_event_tells_of_a_request_that_no_packet_has_room_for(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	install(r, 7, ", \"in_band\": true");
	// No packet at all is nobody's fault.
	step(r, 6 * SECOND);
	assert_null(event(r, "request_waiting", 0));
	atomic_store(&pending_of(r, 7)->refused, 40);
	step(r, 10 * MS);
	step(r, 10 * MS);
	json_t *told = event(r, "request_waiting", 0);
	assert_non_null(told);
	assert_number(told, "ns_id", 7);
	assert_number(told, "packets", 40);
	assert_number(told, "request_bytes", 151);
	assert_null(event(r, "request_waiting", 1));
	rig_close(r);
}

static void a_request_that_has_not_waited_for_five_seconds_is_not_told(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	install(r, 7, ", \"in_band\": true");
	atomic_store(&pending_of(r, 7)->refused, 40);
	for (unsigned i = 0; i < 499; i++)
		step(r, 10 * MS);
	assert_null(event(r, "request_waiting", 0));
	step(r, 10 * MS);
	assert_non_null(event(r, "request_waiting", 0));
	rig_close(r);
}

static struct hs_in_band_settings with_key(void)
{
	struct hs_in_band_settings in_band;
	hs_in_band_init(&in_band);
	in_band.has_key = true;
	memset(in_band.key.bytes, 0x5a, sizeof(in_band.key.bytes));
	return in_band;
}

static void a_request_is_signed_with_the_time_and_signed_anew_while_it_waits(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band = with_key();
	struct rig *r = rig_open_with(SOURCE, 1500, 8, &in_band);
	uint64_t counter = 0;
	install(r, 7, ", \"in_band\": true");
	struct hs_flow_pending *pending = pending_of(r, 7);
	assert_int_equal(hs_rule_auth_verify(&in_band.key, pending->bytes + 2, pending->bytes[1],
					 &counter, NULL),
			0);
	assert_int_equal(counter, NOW);
	atomic_store(&pending->refused, 3);
	while (r->now_ns < NOW + 100 * SECOND)
		step(r, 100 * MS);
	assert_true(is_ready(pending));
	assert_int_equal(hs_rule_auth_verify(&in_band.key, pending->bytes + 2, pending->bytes[1],
					 &counter, NULL),
			0);
	assert_in_range(counter, NOW + 65 * SECOND, NOW + 100 * SECOND);
	rig_close(r);
}

static void packets_without_room_are_counted_over_all_signatures(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band = with_key();
	in_band.max_age_s = 8; // signed anew after two seconds
	struct rig *r = rig_open_with(SOURCE, 1500, 8, &in_band);
	install(r, 7, ", \"in_band\": true");
	atomic_store(&pending_of(r, 7)->refused, 3);
	while (r->now_ns < NOW + 3 * SECOND)
		step(r, 10 * MS);
	assert_int_equal(atomic_load(&pending_of(r, 7)->refused), 0);
	atomic_store(&pending_of(r, 7)->refused, 4);
	while (r->now_ns < NOW + 6 * SECOND)
		step(r, 10 * MS);
	assert_number(event(r, "request_waiting", 0), "packets", 7);
	rig_close(r);
}

static void signatures_grow_although_the_clock_stands(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band = with_key();
	struct rig *r = rig_open_with(SOURCE, 1500, 8, &in_band);
	uint64_t counter = 0;
	install(r, 7, ", \"in_band\": true");
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"transmit_report\": false}}"));
	struct hs_flow_pending *pending = pending_of(r, 7);
	hs_rule_auth_verify(&in_band.key, pending->bytes + 2, pending->bytes[1], &counter, NULL);
	assert_int_equal(counter, NOW + 1);
	rig_close(r);
}

static void a_request_that_fits_only_unsigned_is_refused_where_there_is_a_key(void **state)
{
	static const char text[] =
			"{\"int_request\": {\"ns_id\": 4294967295, \"app_id\": 4294967295, "
			"\"src_ip\": \"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\", \"dst_ip\": "
			"\"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\", \"src_port\": 65535, "
			"\"dst_port\": 65535, \"protocol\": \"udp\", \"trace_type\": "
			"\"0x7000E000\", \"mode\": \"frequency\", \"mode_setting\": 86400000, "
			"\"transmit_report\": false, \"in_band\": true}}";
	(void)state;
	struct hs_in_band_settings in_band = with_key();
	struct rig *r = rig_open_with(SOURCE, 1500, 8, &in_band);
	json_t *reply = ask_raw(r, text), *error = json_object_get(reply, "error");
	assert_string_equal(json_string_value(json_object_get(error, "code")), "too_large");
	assert_string_equal(
			json_string_value(json_object_get(error, "path")), "int_request.in_band");
	assert_total(r, "rules", 0);
	json_decref(reply);
	rig_close(r);
	r = rig_open(SOURCE, 1500, 8);
	json_decref(ask(r, text));
	rig_close(r);
}

static void a_rule_that_went_is_not_repeated(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	int64_t sent_ns[16];
	install(r, 7, ", \"in_band\": true");
	install(r, 8, ", \"in_band\": true");
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 8}}"));
	assert_true(run_until(r, 2 * SECOND, sent_ns, 16) == 4);
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 7}}"));
	for (unsigned i = 0; i < 100; i++)
		step(r, 10 * MS);
	assert_total(r, "requests_in_band_sent", 4);
	rig_close(r);
}

static void more_rules_than_one_look_takes_are_all_repeated(void **state)
{
	(void)state;
	const unsigned n = 2500;
	rig_rules = 4096;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	rig_rules = 64;
	for (unsigned ns_id = 1; ns_id <= n; ns_id++)
		install(r, ns_id, ", \"in_band\": true");
	for (unsigned ns_id = 1; ns_id <= n; ns_id++)
		send_pending(r, pending_of(r, ns_id));
	for (unsigned i = 0; i < 15; i++) {
		step(r, 10 * MS);
		for (unsigned more = 0; hs_control_next_ns(r->control) <= r->now_ns; more++) {
			assert_true(more < 4);
			step(r, 0);
		}
	}
	for (unsigned ns_id = 1; ns_id <= n; ns_id++)
		assert_true(is_ready(pending_of(r, ns_id)));
	assert_total(r, "requests_in_band_sent", n);
	assert_in_range(hs_control_next_ns(r->control) - r->now_ns, 1, 10 * MS);
	rig_close(r);
}

static void control_asks_for_its_next_step_when_a_repeat_is_due(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	install(r, 7, ", \"in_band\": true");
	assert_true(hs_control_next_ns(r->control) <= r->now_ns);
	step(r, 0);
	// It stands: a packet may take it at any time.
	assert_in_range(hs_control_next_ns(r->control) - r->now_ns, 1, 10 * MS);
	send_pending(r, pending_of(r, 7));
	step(r, 5 * MS);
	step(r, 5 * MS);
	int64_t repeat_ns = NOW + 100 * MS;
	assert_true(hs_control_next_ns(r->control) <= repeat_ns);
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_request_stands_at_once_and_telemetry_waits_for_it),
			cmocka_unit_test(a_rule_that_does_not_spread_has_no_request),
			cmocka_unit_test(
					a_request_is_repeated_by_the_list_and_then_once_in_an_interval),
			cmocka_unit_test(the_list_of_repeats_is_the_configurations),
			cmocka_unit_test(repeats_that_no_packet_came_for_are_not_made_up_for),
			cmocka_unit_test(a_change_of_what_travels_starts_the_list_anew),
			cmocka_unit_test(a_switch_of_this_node_alone_repeats_nothing),
			cmocka_unit_test(a_change_while_a_packet_has_the_request_follows_it),
			cmocka_unit_test(an_event_tells_of_a_request_that_no_packet_has_room_for),
			cmocka_unit_test(
					a_request_that_has_not_waited_for_five_seconds_is_not_told),
			cmocka_unit_test(
					a_request_is_signed_with_the_time_and_signed_anew_while_it_waits),
			cmocka_unit_test(packets_without_room_are_counted_over_all_signatures),
			cmocka_unit_test(signatures_grow_although_the_clock_stands),
			cmocka_unit_test(
					a_request_that_fits_only_unsigned_is_refused_where_there_is_a_key),
			cmocka_unit_test(a_rule_that_went_is_not_repeated),
			cmocka_unit_test(more_rules_than_one_look_takes_are_all_repeated),
			cmocka_unit_test(control_asks_for_its_next_step_when_a_repeat_is_due),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
