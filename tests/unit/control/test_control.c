// SPDX-License-Identifier: BSD-3-Clause
#include "control_rig.h"
#include "take_reports.h"

// ---- reports ----

static void a_report_is_published_under_its_rule_with_who_and_which(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	feed_sampled(r, 7, 0x7000);
	feed_sampled(r, 7, 0x7000);
	assert_int_equal(step(r, 1000), 2);

	json_t *first = json_object_get(published(r, "report.7", 0), "int_report");
	json_t *second = json_object_get(published(r, "report.7", 1), "int_report");
	assert_number(first, "node_id", 9);
	assert_string_equal(json_string_value(json_object_get(first, "boot_id")), "b007");
	assert_number(first, "ns_id", 7);
	assert_number(first, "app_id", 3);
	assert_int_equal(number(second, "seq"), number(first, "seq") + 1);
	assert_number(json_object_get(second, "e2e"), "tx_packets", 2);
	assert_number(json_object_get(second, "sink"), "rx_packets", 2);

	json_t *t = totals(r);
	assert_number(t, "reports_made", 2);
	assert_number(t, "reports_taken", 2);
	assert_number(t, "reports_published", 2);
	json_decref(t);
	assert_audit_ok(r);
	rig_close(r);
}

static void a_rule_that_does_not_transmit_is_monitored_all_the_same(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, ", \"transmit_report\": false");
	feed_sampled(r, 7, 0x7000);
	step(r, 1000);
	assert_int_equal(count_published(r, "report.7"), 0);

	json_t *t = totals(r), *rule = ask(r, "{\"int_get\": {\"ns_id\": 7}}");
	assert_number(t, "reports_suppressed", 1);
	assert_number(t, "rules_monitored", 1);
	assert_true(json_is_true(json_object_get(json_object_get(rule, "state"), "monitored")));
	assert_number(json_object_get(rule, "counters"), "sink_packets", 1);
	json_decref(t);
	json_decref(rule);
	assert_audit_ok(r);
	rig_close(r);
}

static void a_rule_that_begins_to_transmit_does_so_with_the_next_report(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, ", \"transmit_report\": false");
	step(r, SECOND / 10);
	for (unsigned i = 0; i < 5; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, 1000);
	}
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"transmit_report\": true}}"));
	feed_sampled(r, 7, 0x7000);
	step(r, 1000);
	assert_int_equal(count_published(r, "report.7"), 1);
	json_t *t = totals(r);
	assert_number(t, "reports_suppressed", 5);
	assert_number(t, "reports_published", 1);
	json_decref(t);
	assert_audit_ok(r);
	rig_close(r);
}

static void a_report_that_cannot_be_decoded_is_counted_as_bad(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	feed_sampled(r, 7, 0x7800);
	step(r, 1000);
	json_t *t = totals(r);
	assert_number(t, "reports_taken", 1);
	assert_number(t, "reports_bad", 1);
	assert_number(t, "rules_monitored", 0);
	json_decref(t);
	assert_audit_ok(r);
	rig_close(r);
}

// Behind control's back, so that the report of the rule before still waits: the next rule has its
// slot.
static void replace_rule(struct rig *r, uint32_t ns_id, uint32_t by)
{
	struct hs_flow_table *flows = hs_node_flows(r->t.node);
	uint32_t slot = hs_flow_table_find(flows, ns_id);
	struct hs_rule rule = *hs_flow_table_rule(flows, slot);
	struct hs_error err;

	assert_int_equal(hs_flow_table_remove(flows, ns_id, &err), 0);
	test_node_run(&r->t);
	hs_flow_table_reclaim(flows);
	rule.ns_id = by;
	rule.app_id = 77;
	assert_int_equal(hs_flow_table_install(flows, &rule, NULL, &err), 0);
	assert_int_equal(hs_flow_table_find(flows, by), slot);
}

static void a_report_of_a_replaced_rule_is_not_taken_for_the_new_ones(void **state)
{
	static const uint32_t names[] = {7, 8}; // the same namespace again, and another
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct rig *r = rig_open(SINK, 1500, 8);
		install(r, 7, "");
		feed_sampled(r, 7, 0x7000);
		replace_rule(r, 7, names[i]);
		step(r, 1000);
		json_t *t = totals(r);
		assert_number(t, "reports_taken", 1);
		assert_number(t, "reports_stale", 1);
		assert_number(t, "reports_published", 0);
		assert_number(t, "rules_monitored", 0);
		assert_int_equal(count_published(r, "report.7"), 0);
		assert_int_equal(count_published(r, "report.8"), 0);
		json_decref(t);
		rig_close(r);
	}
}

static void a_report_of_a_removed_rule_is_nobodys(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_error err;
	install(r, 7, "");
	feed_sampled(r, 7, 0x7000);
	assert_int_equal(hs_flow_table_remove(hs_node_flows(r->t.node), 7, &err), 0);
	step(r, 1000);
	json_t *t = totals(r);
	assert_number(t, "reports_stale", 1);
	assert_int_equal(count_published(r, "report.7"), 0);
	json_decref(t);
	assert_audit_ok(r);
	rig_close(r);
}

static void reports_that_came_before_a_delete_are_still_the_rules(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	feed_sampled(r, 7, 0x7000);
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 7}}"));
	assert_int_equal(count_published(r, "report.7"), 1);
	// Its open windows are handed out as well.
	assert_true(count_published(r, "qos.7") >= 1);
	json_t *t = totals(r);
	assert_number(t, "rules", 0);
	assert_number(t, "rules_monitored", 0);
	json_decref(t);
	rig_close(r);
}

static void what_a_subscriber_missed_is_counted_apart(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	r->publish_result = -EAGAIN;
	feed_sampled(r, 7, 0x7000);
	step(r, 1000);
	step(r, 2 * SECOND);
	json_t *t = totals(r);
	assert_number(t, "reports_published", 0);
	assert_number(t, "reports_publish_lost", 1);
	assert_true(number(t, "windows_publish_lost") >= 1);
	assert_number(t, "windows_published", 0);
	json_decref(t);
	assert_audit_ok(r);
	rig_close(r);
}

// ---- windows ----

static void a_window_is_published_once_it_is_over_and_can_be_asked_for(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	step(r, SECOND / 10);
	for (unsigned i = 0; i < 5; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, SECOND / 10);
	}
	assert_int_equal(count_published(r, "qos.7"), 0);
	step(r, SECOND);
	json_t *window = json_object_get(published(r, "qos.7", 0), "qos_report");
	assert_number(window, "node_id", 9);
	assert_number(window, "reports", 5);
	assert_number(window, "start_ns", NOW);
	assert_number(window, "end_ns", NOW + SECOND);

	json_t *reply = ask(r, "{\"qos_get\": {\"ns_id\": 7, \"window\": \"1s\"}}");
	json_t *asked = json_array_get(json_object_get(reply, "qos"), 0);
	assert_number(asked, "reports", 5);
	assert_null(json_object_get(asked, "boot_id"));
	json_decref(reply);
	reply = ask(r, "{\"qos_get\": {\"window\": \"run\"}}");
	assert_int_equal(json_array_size(json_object_get(reply, "qos")), 1);
	json_decref(reply);
	rig_close(r);
}

static void an_answer_counts_the_reports_that_came_before_the_question(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	feed_sampled(r, 7, 0x7000);
	feed_sampled(r, 7, 0x7000); // both still in the worker's ring
	json_t *reply = ask(r, "{\"qos_get\": {\"ns_id\": 7, \"window\": \"run\"}}");
	assert_number(json_array_get(json_object_get(reply, "qos"), 0), "reports", 2);
	json_decref(reply);
	rig_close(r);
}

static void a_window_of_any_place_and_length_can_be_asked_for(void **state)
{
	(void)state;
	char text[160];
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	for (unsigned i = 0; i < 10; i++) {
		step(r, SECOND / 10);
		feed_sampled(r, 7, 0x7000);
	}
	step(r, SECOND / 10);
	snprintf(text, sizeof(text),
			"{\"qos_get\": {\"ns_id\": 7, \"start_ns\": %lld, \"end_ns\": %lld}}",
			(long long)(NOW + SECOND / 4), (long long)(NOW + SECOND * 3 / 4));
	json_t *reply = ask(r, text);
	json_t *window = json_array_get(json_object_get(reply, "qos"), 0);
	assert_number(window, "start_ns", NOW + SECOND / 4);
	assert_number(window, "end_ns", NOW + SECOND * 3 / 4);
	assert_number(window, "reports", 5); // of 0.3 to 0.7 s
	json_decref(reply);
	rig_close(r);
}

static void an_application_is_made_of_its_rules_that_have_reports(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	json_t *reply = ask(r, "{\"qos_get\": {\"app_id\": 3}}");
	assert_int_equal(json_array_size(json_object_get(reply, "applications")), 0);
	json_decref(reply);
	feed_sampled(r, 7, 0x7000);
	feed_sampled(r, 7, 0x7000); // in the worker's ring: no window is over
	reply = ask(r, "{\"qos_get\": {\"app_id\": 3}}");
	json_t *app = json_array_get(json_object_get(reply, "applications"), 0);
	json_t *flow = json_array_get(json_object_get(app, "flows"), 0);
	assert_number(app, "app_id", 3);
	assert_number(flow, "ns_id", 7);
	assert_number(flow, "reports", 2);
	assert_null(json_object_get(flow, "direction"));
	json_decref(reply);
	reply = ask(r, "{\"qos_get\": {\"app_id\": 3, \"window\": \"10s\"}}");
	app = json_array_get(json_object_get(reply, "applications"), 0);
	assert_null(json_object_get(json_array_get(json_object_get(app, "flows"), 0), "e2e"));
	json_decref(reply);
	reply = ask(r, "{\"qos_get\": {\"app_id\": 4}}");
	assert_int_equal(json_array_size(json_object_get(reply, "applications")), 0);
	json_decref(reply);
	rig_close(r);
}

static void flows_of_an_application_that_an_answer_leaves_out_are_counted(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	for (unsigned ns_id = 7; ns_id < 10; ns_id++) {
		install(r, ns_id, "");
		feed_sampled(r, ns_id, 0x7000);
	}
	for (unsigned limit = 1; limit <= 3; limit++) {
		char request[64];
		snprintf(request, sizeof(request), "{\"qos_get\": {\"app_id\": 3, \"limit\": %u}}",
				limit);
		json_t *reply = ask(r, request);
		json_t *app = json_array_get(json_object_get(reply, "applications"), 0);
		assert_int_equal(json_array_size(json_object_get(app, "flows")), limit);
		if (limit < 3)
			assert_number(app, "flows_left_out", 3 - limit);
		else
			assert_null(json_object_get(app, "flows_left_out"));
		json_decref(reply);
	}
	rig_close(r);
}

// A ring that is full whenever control looks at it: windows close all the same.
static void windows_close_while_reports_come_faster_than_they_are_taken(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	feed_sampled(r, 7, 0x7000);
	for (unsigned i = 0; i < 30; i++) {
		for (unsigned k = 0; k < 15; k++)
			feed_sampled(r, 7, 0x7000);
		step(r, SECOND / 10);
	}
	assert_true(count_published(r, "qos.7") >= 2);
	rig_close(r);
}

static void the_last_windows_are_published_at_the_end(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	feed_sampled(r, 7, 0x7000);
	while (hs_control_finish(r->control, r->now_ns))
		;
	assert_int_equal(count_published(r, "report.7"), 1);
	assert_true(count_published(r, "qos.7") >= 1);
	rig_close(r);
}

static void rules_over_the_limit_are_counted_but_not_monitored_and_said_once(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 1);
	install(r, 7, "");
	install(r, 8, "");
	step(r, 0);
	for (unsigned i = 0; i < 3; i++) {
		feed_sampled(r, 7, 0x7000);
		feed_sampled(r, 8, 0x7000);
		step(r, 2 * SECOND);
	}
	json_t *t = totals(r), *rule = ask(r, "{\"int_get\": {\"ns_id\": 8}}");
	assert_number(t, "rules_monitored", 1);
	assert_number(t, "rules_unmonitored", 1);
	assert_number(json_object_get(rule, "counters"), "rx_packets", 3);
	assert_true(json_is_true(
			json_object_get(json_object_get(rule, "state"), "monitor_refused")));
	assert_int_equal(count_published(r, "event.monitored_rules"), 1);
	json_t *event = json_object_get(published(r, "event.monitored_rules", 0), "event");
	assert_number(event, "limit", 1);
	json_decref(t);
	json_decref(rule);

	// Room that a deleted rule left is taken by the next report.
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 7}}"));
	feed_sampled(r, 8, 0x7000);
	step(r, 1000);
	t = totals(r);
	assert_number(t, "rules_monitored", 1);
	assert_number(t, "rules_unmonitored", 0);
	json_decref(t);
	assert_audit_ok(r);
	rig_close(r);
}

// ---- events ----

static void telemetry_that_does_not_fit_is_an_event_that_names_rule_and_mtu(void **state)
{
	(void)state;
	// 56 bytes of IPv6 and 40 of telemetry.
	struct rig *r = rig_open(SOURCE, 95, 8);
	install(r, 7, "");
	install(r, 8, "");
	step(r, 0);
	feed_plain(r, 8);
	step(r, SECOND);
	assert_int_equal(count_published(r, "event.no_room_mtu"), 1);
	json_t *event = json_object_get(published(r, "event.no_room_mtu", 0), "event");
	assert_number(event, "ns_id", 8);
	assert_number(event, "mtu_needed_bytes", 96);
	assert_number(event, "packets", 1);

	// Repeated once a minute at most, with all that came since.
	for (unsigned i = 0; i < 20; i++) {
		feed_plain(r, 8);
		step(r, SECOND);
	}
	assert_int_equal(count_published(r, "event.no_room_mtu"), 1);
	step(r, 60 * SECOND);
	step(r, SECOND);
	assert_int_equal(count_published(r, "event.no_room_mtu"), 2);
	event = json_object_get(published(r, "event.no_room_mtu", 1), "event");
	assert_number(event, "packets", 20);
	step(r, 120 * SECOND);
	step(r, SECOND);
	assert_int_equal(count_published(r, "event.no_room_mtu"), 2);
	rig_close(r);
}

// A worker counts them in 32 bits.
static void packets_without_room_are_told_where_their_number_wraps(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 95, 8);
	struct hs_flow_view view;
	install(r, 8, "");
	hs_flow_table_view(hs_node_flows(r->t.node), 0, &view);
	view.own[hs_flow_table_find(hs_node_flows(r->t.node), 8)].no_room_mtu = UINT32_MAX - 5;
	feed_plain(r, 8);
	step(r, SECOND);
	assert_int_equal(count_published(r, "event.no_room_mtu"), 1);
	for (unsigned i = 0; i < 20; i++)
		feed_plain(r, 8);
	step(r, 61 * SECOND);
	step(r, SECOND);
	assert_int_equal(count_published(r, "event.no_room_mtu"), 2);
	assert_number(json_object_get(published(r, "event.no_room_mtu", 1), "event"), "packets",
			20);
	rig_close(r);
}

static void lost_reports_are_an_event_and_never_a_mistake_of_the_audit(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	for (unsigned i = 0; i < 20; i++)
		feed_sampled(r, 7, 0x7000);
	step(r, SECOND);
	json_t *event = json_object_get(published(r, "event.reports_lost", 0), "event");
	assert_number(event, "reports", 8); // 15 places, 4 spare, one of these taken
	assert_audit_ok(r);
	rig_close(r);
}

static void events_are_numbered_and_can_be_asked_for_from_any_number(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	hs_control_event(hs_control_events(r->control), "first", NULL, "number %d", 1);
	hs_control_event(hs_control_events(r->control), "second", json_pack("{s:i}", "port", 5),
			"number %d", 2);

	json_t *reply = ask(r, "{\"events\": {\"since\": 1}}");
	json_t *list = json_object_get(reply, "events");
	assert_int_equal(json_array_size(list), 1);
	json_t *event = json_array_get(list, 0);
	assert_number(event, "seq", 2);
	assert_number(event, "port", 5);
	assert_number(event, "ts_ns", NOW);
	assert_string_equal(json_string_value(json_object_get(event, "message")), "number 2");
	assert_number(reply, "next", 2);
	json_t *sent = json_object_get(published(r, "event.second", 0), "event");
	assert_number(sent, "event_seq", 2);
	json_decref(reply);
	rig_close(r);
}

// ---- audit ----

static void reports_that_vanish_fail_the_audit(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_report_record record;
	install(r, 7, "");
	for (unsigned i = 0; i < HS_BURST + 8; i++) {
		feed_sampled(r, 7, 0x7000);
		assert_int_equal(take_reports(r->t.node, &record, 1), 1);
	}
	json_t *audit = ask(r, "{\"audit\": {}}");
	assert_true(json_is_false(json_object_get(audit, "ok")));
	json_decref(audit);
	rig_close(r);
}

static void the_audit_shows_the_numbers_of_each_equation(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	feed_plain(r, 1);
	r->t.ports[1].accepts = 0;
	feed_plain(r, 1);
	json_t *audit = ask(r, "{\"audit\": {}}"), *equation;
	size_t i, seen = 0;
	assert_true(json_is_true(json_object_get(audit, "ok")));
	json_array_foreach (json_object_get(audit, "equations"), i, equation) {
		const char *name = json_string_value(json_object_get(equation, "name"));
		const char *port = json_string_value(json_object_get(equation, "port"));
		if (strcmp(name, "port_out") != 0 || strcmp(port, "p1") != 0)
			continue;
		seen++;
		assert_number(equation, "left", 2);
		assert_number(json_object_get(equation, "terms"), "tx_packets", 1);
		assert_number(json_object_get(equation, "terms"), "drops", 1);
	}
	assert_int_equal(seen, 1);
	json_decref(audit);
	json_t *drops = ask(r, "{\"drops_get\": {}}");
	json_t *drop = json_array_get(json_object_get(drops, "drops"), 0);
	assert_int_equal(json_array_size(json_object_get(drops, "drops")), 1);
	assert_string_equal(json_string_value(json_object_get(drop, "reason")), "tx_full");
	assert_string_equal(json_string_value(json_object_get(drop, "port")), "p1");
	assert_number(drop, "packets", 1);
	json_t *ports = json_object_get(drops, "ports");
	assert_true(json_array_size(ports) > 1);
	assert_number(json_array_get(ports, 0), "rx_errors", 0);
	assert_number(json_array_get(ports, 0), "rx_missed", 0);
	json_decref(drops);
	rig_close(r);
}

// ---- requests ----

static void pages_of_the_list_hold_every_rule_once_in_order(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	for (unsigned ns = 1; ns <= 10; ns++)
		install(r, ns, "");
	unsigned expected = 1, pages = 0;
	json_int_t offset = 0;
	for (bool more = true; more; pages++) {
		char text[80];
		snprintf(text, sizeof(text), "{\"int_list\": {\"offset\": %d, \"limit\": 4}}",
				(int)offset);
		json_t *reply = ask(r, text), *rule;
		size_t i;
		json_array_foreach (json_object_get(reply, "rules"), i, rule)
			assert_number(rule, "ns_id", expected++);
		more = json_object_get(reply, "next") != NULL;
		if (more)
			offset = number(reply, "next");
		json_decref(reply);
	}
	assert_int_equal(expected, 11);
	assert_int_equal(pages, 3);
	json_t *beyond = ask(r, "{\"int_list\": {\"offset\": 10}}");
	assert_int_equal(json_array_size(json_object_get(beyond, "rules")), 0);
	assert_null(json_object_get(beyond, "next"));
	json_decref(beyond);
	rig_close(r);
}

static void every_change_raises_the_generation_and_only_changes_do(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"hop_enabled\": false}}"));
	json_t *reply = ask_raw(r, "{\"int_list\": {}}");
	assert_number(reply, "generation", 2);
	json_decref(reply);
	reply = ask_raw(r, "{\"int_delete\": {\"ns_id\": 8}}");
	assert_non_null(json_object_get(reply, "error"));
	json_decref(reply);
	reply = ask_raw(r, "{\"int_delete\": {\"ns_id\": 7}}");
	assert_number(reply, "generation", 3);
	json_decref(reply);
	rig_close(r);
}

static void a_rule_with_the_tuple_of_an_older_one_says_by_whom_it_is_shadowed(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	json_t *reply = ask(r, "{\"int_request\": {\"ns_id\": 8, \"app_id\": 3, \"src_ip\": "
			       "\"2001:db8::1\", "
			       "\"dst_ip\": \"2001:db8::2\", \"src_port\": 0, \"dst_port\": 5007, "
			       "\"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", \"mode\": "
			       "\"count\", "
			       "\"mode_setting\": 1}}");
	assert_number(reply, "shadowed_by", 7);
	json_decref(reply);
	reply = ask(r, "{\"int_get\": {\"ns_id\": 8}}");
	assert_number(json_object_get(reply, "state"), "shadowed_by", 7);
	json_decref(reply);
	rig_close(r);
}

static void ports_and_stats_tell_the_same_numbers(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	feed_plain(r, 1);
	json_t *ports = ask(r, "{\"ports_get\": {}}"), *stats = ask(r, "{\"stats_get\": {}}");
	json_t *port = json_array_get(json_object_get(ports, "ports"), 0), *stat;
	size_t i, seen = 0;

	assert_number(port, "rx_packets", 1);
	assert_number(port, "mtu", 1500);
	assert_string_equal(json_string_value(json_object_get(port, "side")), "network");
	assert_true(json_is_true(json_object_get(port, "usable")));
	assert_number(json_object_get(port, "drops"), "tx_full", 0);
	json_array_foreach (json_object_get(stats, "stats"), i, stat) {
		const char *name = json_string_value(json_object_get(stat, "name"));
		const char *of = json_string_value(json_object_get(stat, "port"));
		if (strcmp(name, "hopsight_port_rx_packets_total") != 0)
			continue;
		assert_number(stat, "value", strcmp(of, "p0") == 0 ? 1 : 0);
		seen++;
	}
	assert_int_equal(seen, 2);
	json_decref(ports);
	json_decref(stats);
	rig_close(r);
}

static void a_list_of_requests_is_installed_whole_or_not_at_all(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_error err = {0};
	json_t *list = json_loads(
			"[{\"int_request\": {\"ns_id\": 1, \"app_id\": 3, \"src_ip\": "
			"\"2001:db8::1\", "
			"\"dst_ip\": \"2001:db8::2\", \"src_port\": 0, \"dst_port\": 5007, "
			"\"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", \"mode\": "
			"\"count\", "
			"\"mode_setting\": 1}}, {\"int_delete\": {\"ns_id\": 5}}]",
			0, NULL);
	assert_true(hs_control_install(r->control, NOW, list, HS_ORIGIN_CONFIG, &err) < 0);
	assert_string_equal(err.code, "no_such_rule");
	assert_int_equal(hs_flow_table_count(hs_node_flows(r->t.node)), 0);
	json_array_remove(list, 1);
	assert_int_equal(hs_control_install(r->control, NOW, list, HS_ORIGIN_CONFIG, &err), 0);
	assert_int_equal(hs_flow_table_count(hs_node_flows(r->t.node)), 1);
	json_decref(list);
	rig_close(r);
}

static void the_next_step_is_due_when_a_window_or_a_look_around_is(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	step(r, 0);
	assert_true(hs_control_next_ns(r->control) > r->now_ns);
	assert_true(hs_control_next_ns(r->control) <= r->now_ns + SECOND);
	rig_close(r);
}

int main(void)
{
	dpdk_env_init("64");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_report_is_published_under_its_rule_with_who_and_which),
			cmocka_unit_test(a_rule_that_does_not_transmit_is_monitored_all_the_same),
			cmocka_unit_test(
					a_rule_that_begins_to_transmit_does_so_with_the_next_report),
			cmocka_unit_test(a_report_that_cannot_be_decoded_is_counted_as_bad),
			cmocka_unit_test(a_report_of_a_replaced_rule_is_not_taken_for_the_new_ones),
			cmocka_unit_test(a_report_of_a_removed_rule_is_nobodys),
			cmocka_unit_test(reports_that_came_before_a_delete_are_still_the_rules),
			cmocka_unit_test(what_a_subscriber_missed_is_counted_apart),
			cmocka_unit_test(
					a_window_is_published_once_it_is_over_and_can_be_asked_for),
			cmocka_unit_test(
					an_answer_counts_the_reports_that_came_before_the_question),
			cmocka_unit_test(a_window_of_any_place_and_length_can_be_asked_for),
			cmocka_unit_test(an_application_is_made_of_its_rules_that_have_reports),
			cmocka_unit_test(
					flows_of_an_application_that_an_answer_leaves_out_are_counted),
			cmocka_unit_test(
					windows_close_while_reports_come_faster_than_they_are_taken),
			cmocka_unit_test(the_last_windows_are_published_at_the_end),
			cmocka_unit_test(
					rules_over_the_limit_are_counted_but_not_monitored_and_said_once),
			cmocka_unit_test(
					telemetry_that_does_not_fit_is_an_event_that_names_rule_and_mtu),
			cmocka_unit_test(packets_without_room_are_told_where_their_number_wraps),
			cmocka_unit_test(
					lost_reports_are_an_event_and_never_a_mistake_of_the_audit),
			cmocka_unit_test(events_are_numbered_and_can_be_asked_for_from_any_number),
			cmocka_unit_test(reports_that_vanish_fail_the_audit),
			cmocka_unit_test(the_audit_shows_the_numbers_of_each_equation),
			cmocka_unit_test(pages_of_the_list_hold_every_rule_once_in_order),
			cmocka_unit_test(every_change_raises_the_generation_and_only_changes_do),
			cmocka_unit_test(
					a_rule_with_the_tuple_of_an_older_one_says_by_whom_it_is_shadowed),
			cmocka_unit_test(ports_and_stats_tell_the_same_numbers),
			cmocka_unit_test(a_list_of_requests_is_installed_whole_or_not_at_all),
			cmocka_unit_test(the_next_step_is_due_when_a_window_or_a_look_around_is),
	};
	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
