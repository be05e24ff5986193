// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports that control sends: how many at a time, what it counts and says of those that
// nobody took.
#include "control_rig.h"

#include "control_export.h"
#include "int_steps.h"

static struct {
	unsigned n, receivers[HS_MAX_EXPORTS];
	int answer;
} wire;

static int take(void *context, unsigned receiver, const uint8_t *datagram, size_t bytes)
{
	(void)context;
	assert_int_equal(datagram[0] >> 4, 2); // report 2.0
	assert_in_range(bytes, 20, 1500);
	if (wire.answer < 0)
		return wire.answer;
	wire.receivers[receiver]++;
	wire.n++;
	return 0;
}

// Each packet of a rule is reported to two receivers (INT-XD).
static void export_twice(struct hs_node_config *node, struct hs_control_output *output)
{
	static struct hs_int_settings settings;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mode = HS_INT_XD;
	for (unsigned p = 0; p < 2; p++) {
		node->profiles[p] = (struct hs_profile){
				.family = &hs_int_steps[HS_INT_2_1], .settings = &settings};
		node->exports[p] = (struct hs_export_config){.format = HS_INT_REPORT_2_0,
				.flows = true,
				.bytes = HS_EXPORT_BYTES,
				.port = HS_EXPORT_NO_PORT,
				.hw_id = (uint8_t)p,
				.to = {{[10] = 0xff, 0xff, 192, 0, 2, 9}, (uint16_t)(32766 + p)}};
	}
	node->n_exports = 2;
	output->send_export = take;
}

static void no_sender(struct hs_node_config *node, struct hs_control_output *output)
{
	export_twice(node, output);
	output->send_export = NULL;
}

// The node's own port 0 sends to the second receiver.
static void export_by_a_port_too(struct hs_node_config *node, struct hs_control_output *output)
{
	export_twice(node, output);
	node->exports[1].port = 0;
	memcpy(node->exports[1].from, (uint8_t[16]){[10] = 0xff, 0xff, 192, 0, 2, 1}, 16);
}

static struct rig *open_rig(
		void (*change)(struct hs_node_config *node, struct hs_control_output *output))
{
	memset(&wire, 0, sizeof(wire));
	rig_change = change;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	json_decref(ask(r, "{\"int_request\": {\"ns_id\": 7, \"src_ip\": \"2001:db8::1\", "
			   "\"dst_ip\": \"2001:db8::2\", \"dst_port\": 5007, \"protocol\": "
			   "\"udp\", \"method\": \"int\", \"instructions\": [\"node_id\"], "
			   "\"mode\": \"count\", \"mode_setting\": 1}}"));
	return r;
}

static void feed(struct rig *r, unsigned n)
{
	static uint8_t out[256];

	for (unsigned i = 0; i < n; i++) {
		feed_plain(r, 7);
		assert_int_not_equal(test_node_take(&r->t, 1, out, sizeof(out)), 0);
	}
}

static void assert_counts(struct rig *r, json_int_t handed, json_int_t sent, json_int_t refused,
		json_int_t unreachable, json_int_t other)
{
	json_t *t = totals(r);

	assert_number(t, "exports_handed", handed);
	assert_number(t, "exports_sent", sent);
	assert_number(t, "exports_lost_refused", refused);
	assert_number(t, "exports_lost_unreachable", unreachable);
	assert_number(t, "exports_lost_socket", other);
	json_decref(t);
	assert_audit_ok(r);
}

static void each_receiver_gets_each_report(void **state)
{
	struct rig *r = open_rig(export_twice);
	(void)state;

	feed(r, 5);
	assert_counts(r, 10, 0, 0, 0, 0); // they wait
	assert_int_equal(step(r, 1000), 10);
	assert_int_equal(wire.receivers[0], 5);
	assert_int_equal(wire.receivers[1], 5);
	assert_int_equal(step(r, 1000), 0);
	assert_counts(r, 10, 10, 0, 0, 0);
	rig_close(r);
}

static void what_nobody_takes_is_counted_by_name(void **state)
{
	static const struct {
		int error, refused, unreachable, other;
	} cases[] = {
			{ECONNREFUSED, 2, 0, 0},
			{ENETUNREACH, 0, 2, 0},
			{EHOSTUNREACH, 0, 2, 0},
			{ENETDOWN, 0, 2, 0},
			{EADDRNOTAVAIL, 0, 0, 2},
			{EPERM, 0, 0, 2},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *r = open_rig(export_twice);
		wire.answer = -cases[i].error;
		feed(r, 1);
		assert_int_equal(step(r, 1000), 2);
		assert_counts(r, 2, 0, cases[i].refused, cases[i].unreachable, cases[i].other);
		wire.answer = 0;
		feed(r, 1);
		assert_int_equal(step(r, 1000), 2);
		assert_counts(r, 4, 2, cases[i].refused, cases[i].unreachable, cases[i].other);
		rig_close(r);
	}
}

static void a_full_socket_lets_reports_wait(void **state)
{
	struct rig *r = open_rig(export_twice);
	(void)state;

	wire.answer = -EAGAIN;
	feed(r, 3);
	assert_int_equal(step(r, 1000), 0); // so that the daemon sleeps
	json_t *t = totals(r);
	assert_number(t, "exports_socket_full", 2);
	json_decref(t);
	assert_counts(r, 6, 0, 0, 0, 0);
	wire.answer = 0;
	assert_int_equal(step(r, 1000), 6);
	assert_counts(r, 6, 6, 0, 0, 0);
	rig_close(r);
}

static void a_loss_is_said_at_once_and_then_once_a_minute(void **state)
{
	struct rig *r = open_rig(export_twice);
	(void)state;

	wire.answer = -ECONNREFUSED;
	for (unsigned s = 0; s < 90; s++) {
		feed(r, 1);
		step(r, SECOND);
	}
	assert_int_equal(count_published(r, "event.exports_lost"), 4); // of two receivers
	json_t *event = json_object_get(published(r, "event.exports_lost", 0), "event");
	assert_number(event, "reports", 1);
	assert_string_equal(json_string_value(json_object_get(event, "to")), "192.0.2.9:32766");
	assert_string_equal(
			json_string_value(json_object_get(event, "reason")), "Connection refused");
	event = json_object_get(published(r, "event.exports_lost", 3), "event");
	assert_number(event, "reports", 60);
	assert_string_equal(json_string_value(json_object_get(event, "to")), "192.0.2.9:32767");
	rig_close(r);
}

static void a_full_ring_is_said_without_a_receiver(void **state)
{
	(void)state;
	rig_buffers = 4095;
	struct rig *r = open_rig(export_twice);
	rig_buffers = 255;

	wire.answer = -EAGAIN;
	feed(r, HS_EXPORT_RING + 4);
	step(r, SECOND);
	assert_int_equal(count_published(r, "event.exports_lost"), 1);
	json_t *event = json_object_get(published(r, "event.exports_lost", 0), "event");
	assert_number(event, "reports", 2 * 5); // a ring of 1024 holds 1023
	assert_null(json_object_get(event, "to"));
	json_t *t = totals(r);
	assert_number(t, "exports_lost_ring_full", 2 * 5);
	json_decref(t);
	assert_counts(r, 2 * (HS_EXPORT_RING - 1), 0, 0, 0, 0);
	rig_close(r);
}

static void ten_milliseconds_carry_so_many_reports_and_no_more(void **state)
{
	struct rig *r = open_rig(export_twice);
	unsigned limit = HS_EXPORTS_PER_S / 100;
	(void)state;

	step(r, SECOND);
	for (unsigned i = 0; i < limit / 40 + 2; i++) {
		feed(r, 20);
		step(r, 1);
	}
	assert_int_equal(wire.n, limit);
	assert_int_equal(wire.receivers[0], limit / 2);
	assert_audit_ok(r);
	step(r, 10000000);
	step(r, 1);
	assert_int_equal(wire.n, limit + 80);
	r->now_ns -= SECOND; // the clock is set back
	feed(r, 1);
	assert_int_equal(step(r, 0), 2);
	rig_close(r);
}

static void a_step_leaves_time_for_requests(void **state)
{
	struct rig *r = open_rig(export_twice);
	(void)state;

	feed(r, 100);
	assert_int_equal(step(r, 1), 64);
	assert_int_equal(step(r, 1), 64);
	assert_int_equal(step(r, 1), 64);
	assert_int_equal(step(r, 1), 8);
	feed(r, 100);
	assert_int_equal(hs_control_finish(r->control, r->now_ns), 0); // without a limit
	assert_int_equal(wire.n, 400);
	rig_close(r);
}

static void without_a_sender_all_are_lost(void **state)
{
	struct rig *r = open_rig(no_sender);
	(void)state;

	feed(r, 3);
	assert_int_equal(step(r, SECOND), 6);
	assert_counts(r, 6, 0, 0, 0, 6);
	rig_close(r);
}

static void reports_that_vanish_fail_the_audit(void **state)
{
	struct rig *r = open_rig(export_twice);
	(void)state;

	for (unsigned i = 0; i < 3; i++) { // more than may be on their way
		feed(r, 100);
		hs_node_send_exports(r->t.node, 0, 100, take, NULL);
		hs_node_send_exports(r->t.node, 1, 100, take, NULL);
	}
	json_t *audit = ask(r, "{\"audit\": {}}");
	assert_true(json_is_false(json_object_get(audit, "ok")));
	json_decref(audit);
	rig_close(r);
}

static void what_a_port_sends_is_not_in_the_audit_of_sockets(void **state)
{
	static uint8_t out[1500];
	struct rig *r = open_rig(export_by_a_port_too);
	(void)state;

	for (unsigned i = 0; i < 100; i++) { // more than may be on their way
		feed(r, 1);
		assert_int_not_equal(test_node_take(&r->t, 0, out, sizeof(out)), 0);
		step(r, 1000);
	}
	assert_int_equal(wire.n, 100);
	assert_counts(r, 100, 200, 0, 0, 0);
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_receiver_gets_each_report),
			cmocka_unit_test(what_nobody_takes_is_counted_by_name),
			cmocka_unit_test(a_full_socket_lets_reports_wait),
			cmocka_unit_test(a_loss_is_said_at_once_and_then_once_a_minute),
			cmocka_unit_test(a_full_ring_is_said_without_a_receiver),
			cmocka_unit_test(ten_milliseconds_carry_so_many_reports_and_no_more),
			cmocka_unit_test(a_step_leaves_time_for_requests),
			cmocka_unit_test(without_a_sender_all_are_lost),
			cmocka_unit_test(reports_that_vanish_fail_the_audit),
			cmocka_unit_test(what_a_port_sends_is_not_in_the_audit_of_sockets),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
