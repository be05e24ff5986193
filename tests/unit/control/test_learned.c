// SPDX-License-Identifier: BSD-3-Clause
// Rules that packets bring: what is taken, what is refused and why.
#include "learned_rig.h"

// ---- taken ----

static void a_request_that_a_packet_brought_is_a_rule(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_rule rule = a_rule(7);
	rule.piggyback_report = true;
	rule.transmit_report = false;
	bring_rule(r, &rule);
	assert_memory_equal(hs_flow_table_rule(flows(r), slot_of(r, 7)), &rule, sizeof(rule));

	json_t *shown = state_of_rule(r, 7), *told = event(r, "request_received", 0);
	assert_string_equal(json_string_value(json_object_get(shown, "origin")), "in_band");
	json_t *list = ask(r, "{\"int_list\": {}}"), *ids = json_object_get(list, "in_band");
	assert_int_equal(json_array_size(ids), 1);
	assert_int_equal(json_integer_value(json_array_get(ids, 0)), 7);
	json_decref(list);
	assert_number(shown, "expires_ns", r->now_ns + 180 * SECOND);
	assert_null(json_object_get(shown, "request_sent")); // the packet itself takes it further
	assert_number(told, "ns_id", 7);
	assert_string_equal(json_string_value(json_object_get(told, "port")), "p0");
	assert_string_equal(json_string_value(json_object_get(told, "action")), "installed");
	assert_total(r, "requests_in_band_received", 1);
	assert_total(r, "requests_in_band_installed", 1);
	assert_total(r, "rules_in_band", 1);
	assert_total(r, "generation", 1);
	json_decref(shown);
	close_with_audit(r);
}

static void the_same_request_refreshes_and_resets_nothing(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	feed_plain(r, 7);
	uint32_t generation = hs_flow_table_generation(flows(r), slot_of(r, 7));
	step(r, 100 * SECOND);
	bring_rule(r, &rule);
	struct hs_flow_counters counters;
	hs_flow_table_counters(flows(r), slot_of(r, 7), &counters);
	assert_int_equal(counters.rx_packets, 1);
	assert_int_equal(hs_flow_table_generation(flows(r), slot_of(r, 7)), generation);
	assert_state(r, 7, "expires_ns", r->now_ns + 180 * SECOND);
	assert_total(r, "requests_in_band_refreshed", 1);
	assert_total(r, "generation", 1);
	assert_null(event(r, "request_received", 1));
	close_with_audit(r);
}

static void what_can_change_in_place_changes_in_place(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	feed_plain(r, 7);
	// What this node alone was told stays.
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"hop_enabled\": false, "
			   "\"extract_report\": true}}"));
	uint32_t generation = hs_flow_table_generation(flows(r), slot_of(r, 7));
	rule.mode = HS_MODE_PROBABILITY;
	rule.mode_setting = 12.5;
	rule.transmit_report = false;
	rule.piggyback_report = true;
	bring_rule(r, &rule);

	struct hs_flow_counters counters;
	hs_flow_table_counters(flows(r), slot_of(r, 7), &counters);
	assert_int_equal(counters.rx_packets, 1);
	assert_int_equal(hs_flow_table_generation(flows(r), slot_of(r, 7)), generation);
	rule.hop_enabled = false;
	rule.extract_report = true;
	assert_memory_equal(hs_flow_table_rule(flows(r), slot_of(r, 7)), &rule, sizeof(rule));
	assert_string_equal(json_string_value(json_object_get(
					    event(r, "request_received", 1), "action")),
			"updated");
	assert_total(r, "requests_in_band_installed", 2);
	close_with_audit(r);
}

static void another_flow_under_the_same_namespace_replaces_the_rule(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	json_decref(ask(r, "{\"int_update\": {\"ns_id\": 7, \"hop_enabled\": false, "
			   "\"extract_report\": true}}"));
	// Each differs from the one before in one thing.
	struct hs_rule others[8];
	for (unsigned i = 0; i < 8; i++)
		others[i] = rule;
	for (unsigned i = 0; i < 7; i++)
		others[i].trace_type = 0x7000C000;
	for (unsigned i = 1; i < 7; i++)
		others[i].dst_port = 99;
	for (unsigned i = 2; i < 7; i++)
		others[i].src_port = 98;
	for (unsigned i = 3; i < 7; i++)
		others[i].src_ip[15] = 97;
	for (unsigned i = 4; i < 7; i++)
		others[i].dst_ip[15] = 96;
	for (unsigned i = 5; i < 7; i++)
		others[i].protocol = IPPROTO_TCP;
	others[6].app_id = 4;
	for (unsigned i = 0; i < 8; i++) {
		bring_rule(r, &others[i]);
		others[i].hop_enabled = false;
		others[i].extract_report = true;
		assert_memory_equal(hs_flow_table_rule(flows(r), slot_of(r, 7)), &others[i],
				sizeof(rule));
		assert_string_equal(json_string_value(json_object_get(
						    event(r, "request_received", 1 + i), "action")),
				"replaced");
	}
	assert_total(r, "rules", 1);
	assert_total(r, "rules_in_band", 1);
	close_with_audit(r);
}

static void unknown_keys_are_dropped_and_counted(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_rule rule = a_rule(7);
	uint8_t bytes[HS_RULE_CBOR_BYTES + 4];
	int len = hs_rule_to_cbor(&rule, bytes, HS_RULE_CBOR_BYTES, NULL);
	assert_int_equal(bytes[13], 0xaa);
	bytes[13] = 0xab; // a member more: "x": 1
	memcpy(bytes + len, "\x61x\x01", 3);
	bring(HS_OPT_REQUEST, 0, 1, 0, bytes, (size_t)len + 3);
	step(r, 1000);
	assert_true(is_installed(r, 7));
	assert_total(r, "requests_in_band_unknown_keys", 1);
	close_with_audit(r);
}

static void rules_of_several_requests_in_one_packet_are_all_taken(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	for (uint8_t i = 0; i < 3; i++) {
		struct hs_rule rule = a_rule(7 + i);
		uint8_t bytes[HS_RULE_CBOR_BYTES];
		int len = hs_rule_to_cbor(&rule, bytes, sizeof(bytes), NULL);
		bring(HS_OPT_REQUEST, i, 3, 1, bytes, (size_t)len)->taken = 0;
	}
	step(r, 1000);
	assert_total(r, "rules_in_band", 3);
	close_with_audit(r);
}

// ---- not over what this node was given ----

static void a_rule_that_the_api_set_stands_above_a_request(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	install(r, 7, "");
	struct hs_rule rule = a_rule(7);
	rule.mode_setting = 50;
	bring_rule(r, &rule);
	json_t *shown = rule_shown(r, 7);
	assert_number(shown, "mode_setting", 1);
	json_decref(shown);
	assert_total(r, "requests_in_band_refused", 1);
	assert_reason(r, "another rule");
	step(r, 1000 * SECOND);
	assert_true(is_installed(r, 7)); // and it does not expire
	close_with_audit(r);
}

static void a_request_for_what_this_node_has_anyway_is_no_refusal(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	install(r, 7, ", \"extract_report\": true");
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	assert_total(r, "requests_in_band_refreshed", 1);
	assert_total(r, "requests_in_band_refused", 0);
	assert_total(r, "rules_in_band", 0);
	assert_null(event(r, "request_refused", 0));
	close_with_audit(r);
}

static void an_int_request_takes_the_place_of_a_rule_that_came_in_band(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_rule rule = a_rule(7);
	for (uint32_t ns_id = 1; ns_id <= 64; ns_id++) {
		rule = a_rule(ns_id);
		bring_rule(r, &rule);
	}
	// The table is full, and room there is nevertheless.
	install(r, 7, ", \"transmit_report\": false");
	json_t *shown = state_of_rule(r, 7);
	assert_string_equal(json_string_value(json_object_get(shown, "origin")), "api");
	assert_null(json_object_get(shown, "expires_ns"));
	json_decref(shown);
	assert_total(r, "rules_in_band", 63);
	rule = a_rule(7);
	bring_rule(r, &rule);
	assert_total(r, "requests_in_band_refused", 1);
	close_with_audit(r);
}

static void a_deleted_rule_comes_back_with_its_next_request(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 7}}"));
	assert_total(r, "rules_in_band", 0);
	step(r, 400 * SECOND); // nothing of it is left to expire
	bring_rule(r, &rule);
	assert_true(is_installed(r, 7));
	close_with_audit(r);
}

// ---- refused ----

static void a_node_that_accepts_none_refuses_all(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band;
	hs_in_band_init(&in_band);
	in_band.accept = false;
	struct rig *r = rig_open_with(TRANSIT, 1500, 8, &in_band);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	assert_false(is_installed(r, 7));
	assert_total(r, "requests_in_band_refused", 1);
	assert_reason(r, "telemetry.in_band");
	close_with_audit(r);
}

static void a_port_that_is_not_named_brings_nothing(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band;
	hs_in_band_init(&in_band);
	in_band.ports = 1u << 1;
	struct rig *r = rig_open_with(TRANSIT, 1500, 8, &in_band);
	struct hs_rule rule = a_rule(7);
	bring_signed(r, &rule, 0, 0, 0);
	assert_false(is_installed(r, 7));
	bring_signed(r, &rule, 1, 0, 0);
	assert_true(is_installed(r, 7));
	assert_total(r, "requests_in_band_refused", 1);
	close_with_audit(r);
}

static void a_host_brings_nothing_even_where_all_ports_may(void **state)
{
	(void)state;
	struct rig *r = rig_open(SOURCE, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_signed(r, &rule, 0, 0, 0);
	assert_false(is_installed(r, 7));
	bring_signed(r, &rule, 9, 0, 0); // nor a port that there is not
	assert_false(is_installed(r, 7));
	assert_total(r, "requests_in_band_refused", 2);
	close_with_audit(r);
}

// Packets of its flow come by.
static void show_flow(struct rig *r, uint32_t ns_id)
{
	for (unsigned i = 0; i < 3; i++)
		feed_plain(r, ns_id);
}

static struct rig *rig_for(uint32_t max_rules, uint32_t new_rules_per_s)
{
	struct hs_in_band_settings in_band;
	hs_in_band_init(&in_band);
	in_band.max_rules = max_rules;
	in_band.new_rules_per_s = new_rules_per_s;
	return rig_open_with(TRANSIT, 1500, 8, &in_band);
}

static void bring_ns(struct rig *r, uint32_t ns_id)
{
	struct hs_rule rule = a_rule(ns_id);
	bring_rule(r, &rule);
}

static void no_more_rules_come_in_band_than_may(void **state)
{
	(void)state;
	struct rig *r = rig_for(2, 1000);
	for (uint32_t ns_id = 7; ns_id <= 8; ns_id++) {
		bring_ns(r, ns_id);
		show_flow(r, ns_id);
	}
	bring_ns(r, 9);
	assert_total(r, "rules", 2);
	assert_total(r, "requests_in_band_refused", 1);
	assert_reason(r, "as many");
	// Those that are there may change nevertheless.
	struct hs_rule rule = a_rule(7);
	rule.dst_port = 99;
	bring_rule(r, &rule);
	assert_total(r, "requests_in_band_installed", 3);
	close_with_audit(r);
}

static void a_rule_without_a_flow_makes_room_for_another(void **state)
{
	(void)state;
	struct rig *r = rig_for(4, 1000);
	for (uint32_t ns_id = 1; ns_id <= 4; ns_id++)
		bring_ns(r, ns_id);
	show_flow(r, 4);
	step(r, SECOND);
	// The newest that had its chance, then the others; never the one whose packets came.
	bring_ns(r, 5);
	assert_false(is_installed(r, 3));
	bring_ns(r, 6);
	assert_false(is_installed(r, 2));
	bring_ns(r, 7);
	assert_false(is_installed(r, 1));
	// Of the young ones that which had the longest chance.
	bring_ns(r, 8);
	assert_false(is_installed(r, 5));
	bring_ns(r, 9);
	assert_false(is_installed(r, 6));
	assert_true(is_installed(r, 4) && is_installed(r, 7) && is_installed(r, 8) &&
			is_installed(r, 9));
	assert_total(r, "rules_in_band", 4);
	assert_total(r, "requests_in_band_displaced", 5);
	json_t *told = event(r, "request_displaced", 0);
	assert_number(told, "rules", 1);
	assert_number(told, "ns_id", 3);
	close_with_audit(r);
}

static void repeats_of_a_request_prove_no_flow(void **state)
{
	(void)state;
	struct rig *r = rig_for(1, 1000);
	bring_ns(r, 1);
	for (unsigned i = 0; i < 20; i++) {
		feed_plain(r, 1); // the packet that brings it
		bring_ns(r, 1);
	}
	feed_plain(r, 1);
	feed_plain(r, 1);
	bring_ns(r, 2);
	assert_true(is_installed(r, 2));
	show_flow(r, 2);
	bring_ns(r, 3);
	assert_true(is_installed(r, 2));
	close_with_audit(r);
}

static void a_port_brings_so_many_new_rules_a_second_and_other_ports_theirs(void **state)
{
	(void)state;
	struct rig *r = rig_for(64, 10);
	for (uint32_t ns_id = 1; ns_id <= 20; ns_id++)
		bring_ns(r, ns_id);
	assert_total(r, "rules_in_band", 11);
	assert_total(r, "requests_in_band_limited", 9);
	assert_reason(r, "new_rules_per_s");
	bring_ns(r, 1); // a repeat is no new one
	assert_total(r, "requests_in_band_refreshed", 1);
	struct hs_rule rule = a_rule(30);
	bring_signed(r, &rule, 1, 0, 0);
	assert_true(is_installed(r, 30));
	step(r, SECOND / 2);
	for (uint32_t ns_id = 31; ns_id <= 50; ns_id++)
		bring_ns(r, ns_id);
	assert_total(r, "rules_in_band", 17);
	close_with_audit(r);
}

static void requests_that_replace_a_rule_are_limited_too(void **state)
{
	(void)state;
	struct rig *r = rig_for(64, 10);
	struct hs_rule rule = a_rule(1);
	for (unsigned i = 0; i < 50; i++) {
		rule.dst_port = (uint16_t)(99 + i % 2);
		bring_rule(r, &rule);
	}
	assert_total(r, "requests_in_band_installed", 11);
	// Those that the rule has already are repeats.
	assert_total(r, "requests_in_band_limited", 20);
	assert_total(r, "requests_in_band_refreshed", 19);
	assert_true(is_installed(r, 1));
	close_with_audit(r);
}

static void a_full_table_takes_no_rule_in_band(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	for (unsigned ns_id = 1; ns_id <= 64; ns_id++)
		install(r, ns_id, "");
	struct hs_rule rule = a_rule(100);
	bring_rule(r, &rule);
	assert_total(r, "requests_in_band_refused", 1);
	assert_reason(r, "64 rules");
	close_with_audit(r);
}

static void what_is_no_request_is_counted_as_bad(void **state)
{
	// No CBOR, another key, a mode of bytes that are no text, which the error quotes.
	static const char *const hexes[] = {"ff", "a16b696e745f72657175657375a0",
			"a16b696e745f72657175657374a1646d6f646563c3c30a"};
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	for (unsigned i = 0; i < 3; i++) {
		uint8_t bytes[64];
		size_t len = unhex(hexes[i], bytes);
		bring(HS_OPT_REQUEST, 0, 1, 0, bytes, len);
		step(r, 61 * SECOND);
	}
	assert_total(r, "requests_in_band_received", 3);
	assert_total(r, "requests_in_band_bad", 3);
	assert_reason(r, "indefinite");
	json_t *odd = event(r, "request_refused", 2);
	assert_non_null(odd);
	if (!strstr(json_string_value(json_object_get(odd, "reason")), "mode: \"???\""))
		fail_msg("%s", json_string_value(json_object_get(odd, "reason")));
	close_with_audit(r);
}

static void refusals_are_told_once_a_minute_with_their_number(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	for (unsigned i = 0; i < 10; i++) {
		bring(HS_OPT_REQUEST, 0, 1, 0, (const uint8_t *)"\xff", 1);
		step(r, SECOND);
	}
	assert_number(event(r, "request_refused", 0), "requests", 1);
	assert_null(event(r, "request_refused", 1));
	step(r, 60 * SECOND);
	bring(HS_OPT_REQUEST, 0, 1, 0, (const uint8_t *)"\xff", 1);
	step(r, SECOND);
	assert_number(event(r, "request_refused", 1), "requests", 10);
	close_with_audit(r);
}

static void requests_that_keep_changing_do_not_fill_the_events(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_rule rule = a_rule(7);
	for (unsigned i = 0; i < 200; i++) {
		rule.mode_setting = 2 + i;
		bring_rule(r, &rule); // a millisecond later
	}
	assert_total(r, "requests_in_band_installed", 200);
	assert_int_equal(count_published(r, "event.request_received"), 32);
	close_with_audit(r);
}

// ---- gone ----

static void a_rule_that_nobody_asks_for_again_expires(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band;
	hs_in_band_init(&in_band);
	in_band.interval_s = 10;
	in_band.missed_repeats = 2;
	struct rig *r = rig_open_with(TRANSIT, 1500, 8, &in_band);
	struct hs_rule seven = a_rule(7), eight = a_rule(8);
	bring_rule(r, &seven);
	bring_rule(r, &eight);
	step(r, 15 * SECOND);
	bring_rule(r, &seven);
	step(r, 6 * SECOND);
	assert_false(is_installed(r, 8));
	assert_true(is_installed(r, 7));
	json_t *told = event(r, "request_expired", 0);
	assert_number(told, "ns_id", 8);
	assert_in_range(number(told, "silent_ns"), 20 * SECOND, 22 * SECOND);
	step(r, 13 * SECOND);
	assert_true(is_installed(r, 7));
	step(r, 2 * SECOND);
	assert_false(is_installed(r, 7));
	assert_total(r, "requests_in_band_expired", 2);
	assert_total(r, "rules_in_band", 0);
	close_with_audit(r);
}

// ---- beside rules of the API ----

static void a_rule_of_the_api_comes_before_one_in_band_of_the_same_flow(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	rule.ns_id = 66;
	bring_rule(r, &rule);
	assert_true(is_installed(r, 66));
	install(r, 7, "");
	assert_state(r, 66, "shadowed_by", 7); // and is there all the same, to be deleted
	feed_plain(r, 7);
	struct hs_flow_counters counters;
	hs_flow_table_counters(flows(r), slot_of(r, 7), &counters);
	assert_int_equal(counters.rx_packets, 1);
	// Nor does its repeat take the flow away again.
	bring_rule(r, &rule);
	feed_plain(r, 7);
	hs_flow_table_counters(flows(r), slot_of(r, 7), &counters);
	assert_int_equal(counters.rx_packets, 2);
	close_with_audit(r);
}

static void rules_in_band_make_room_for_those_that_are_asked_for_here(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	for (unsigned i = 0; i < 70; i++) {
		struct hs_rule rule = a_rule(100 + i);
		bring_rule(r, &rule);
	}
	assert_total(r, "rules_in_band", 64); // all that there is
	install(r, 7, "");
	assert_total(r, "rules_in_band", 63);
	assert_false(is_installed(r, 100)); // the one that was asked for longest ago
	// In one transaction: of its own, of one in band and for one in its place.
	json_decref(ask(r, "[{\"int_delete\": {\"ns_id\": 110}}]"));
	assert_total(r, "rules_in_band", 62);
	for (unsigned i = 0; i < 63; i++)
		install(r, 200 + i, "");
	assert_total(r, "rules_in_band", 0);
	assert_total(r, "rules", 64);
	json_t *reply = ask_raw(r,
			"{\"int_request\": {\"ns_id\": 300, \"src_ip\": \"2001:db8::1\", "
			"\"dst_ip\": \"2001:db8::2\", \"protocol\": \"udp\", "
			"\"trace_type\": \"0x7000E000\", \"mode\": \"count\", "
			"\"mode_setting\": 1}}");
	assert_string_equal(
			json_string_value(json_object_get(json_object_get(reply, "error"), "code")),
			"table_full");
	json_decref(reply);
	close_with_audit(r);
}

static void what_rules_in_band_leave_free_is_counted_once(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	json_t *requests = json_array();
	for (unsigned i = 0; i < 64; i++) {
		struct hs_rule rule = a_rule(100 + i);
		bring_rule(r, &rule);
	}
	// One goes, one is replaced, and 64 more are one too many.
	json_array_append_new(requests, json_pack("{s:{s:i}}", "int_delete", "ns_id", 100));
	for (unsigned i = 0; i < 65; i++)
		json_array_append_new(requests,
				json_pack("{s:{s:i,s:s,s:s,s:i,s:s,s:s,s:s,s:i}}", "int_request",
						"ns_id", i ? 200 + i : 101, "src_ip", "2001:db8::1",
						"dst_ip", "2001:db8::2", "dst_port", 7000 + i,
						"protocol", "udp", "trace_type", "0x7000E000",
						"mode", "count", "mode_setting", 1));
	char *text = json_dumps(requests, 0);
	json_t *reply = ask_raw(r, text), *error = json_object_get(reply, "error");
	assert_string_equal(json_string_value(json_object_get(error, "code")), "table_full");
	json_decref(reply);
	free(text);
	assert_total(r, "rules_in_band", 64);
	json_array_remove(requests, 65);
	text = json_dumps(requests, 0);
	json_decref(ask(r, text));
	free(text);
	json_decref(requests);
	assert_total(r, "rules_in_band", 0);
	assert_total(r, "rules", 64);
	close_with_audit(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_request_that_a_packet_brought_is_a_rule),
			cmocka_unit_test(the_same_request_refreshes_and_resets_nothing),
			cmocka_unit_test(what_can_change_in_place_changes_in_place),
			cmocka_unit_test(another_flow_under_the_same_namespace_replaces_the_rule),
			cmocka_unit_test(unknown_keys_are_dropped_and_counted),
			cmocka_unit_test(rules_of_several_requests_in_one_packet_are_all_taken),
			cmocka_unit_test(a_rule_that_the_api_set_stands_above_a_request),
			cmocka_unit_test(a_request_for_what_this_node_has_anyway_is_no_refusal),
			cmocka_unit_test(
					an_int_request_takes_the_place_of_a_rule_that_came_in_band),
			cmocka_unit_test(a_deleted_rule_comes_back_with_its_next_request),
			cmocka_unit_test(a_node_that_accepts_none_refuses_all),
			cmocka_unit_test(a_port_that_is_not_named_brings_nothing),
			cmocka_unit_test(a_host_brings_nothing_even_where_all_ports_may),
			cmocka_unit_test(no_more_rules_come_in_band_than_may),
			cmocka_unit_test(a_rule_without_a_flow_makes_room_for_another),
			cmocka_unit_test(repeats_of_a_request_prove_no_flow),
			cmocka_unit_test(requests_that_replace_a_rule_are_limited_too),
			cmocka_unit_test(
					a_port_brings_so_many_new_rules_a_second_and_other_ports_theirs),
			cmocka_unit_test(a_full_table_takes_no_rule_in_band),
			cmocka_unit_test(what_is_no_request_is_counted_as_bad),
			cmocka_unit_test(refusals_are_told_once_a_minute_with_their_number),
			cmocka_unit_test(requests_that_keep_changing_do_not_fill_the_events),
			cmocka_unit_test(a_rule_that_nobody_asks_for_again_expires),
			cmocka_unit_test(
					a_rule_of_the_api_comes_before_one_in_band_of_the_same_flow),
			cmocka_unit_test(rules_in_band_make_room_for_those_that_are_asked_for_here),
			cmocka_unit_test(what_rules_in_band_leave_free_is_counted_once),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
