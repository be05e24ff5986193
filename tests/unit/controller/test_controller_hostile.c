// SPDX-License-Identifier: BSD-3-Clause
// What a publisher or a node sends that no node would send: dropped, counted, and without cost for
// others.
#include "controller_rig.h"

#include "rule_fields.h"

#include <stdlib.h>

static json_t *windows_of(unsigned ns_id)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"qos_get\": {\"ns_id\": %u}}", ns_id);
	return json_object_get(fake_ok(&fake, text), "qos");
}

static json_int_t counted(const char *name)
{
	json_t *monitor = json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "monitor");
	json_t *value = json_object_get(monitor, name);

	assert_non_null(value);
	return json_integer_value(value);
}

static void hear(const char *key, const char *members)
{
	static char text[4096];

	snprintf(text, sizeof(text),
			"{\"%s\": {\"seq\": 1, \"node_id\": 3, \"boot_id\": \"boot-3-0\"%s}}", key,
			members);
	hs_controller_message(fake.controller, fake.now_ns, "any", text, strlen(text));
}

static size_t passed_on(const char *topic)
{
	size_t i, n = 0;
	json_t *entry;

	json_array_foreach (fake.published, i, entry)
		n += strcmp(json_string_value(json_object_get(entry, "topic")), topic) == 0;
	return n;
}

static void a_message_longer_than_any_of_a_node_is_dropped_and_counted(void **state)
{
	static char text[70000];
	int n = snprintf(text, sizeof(text),
			"{\"qos_report\": {\"node_id\": 3, \"ns_id\": 7, \"window_ns\": "
			"1000000000, "
			"\"pad\": \"");

	(void)state;
	memset(text + n, 'x', sizeof(text) - (size_t)n);
	memcpy(text + sizeof(text) - 4, "\"}}", 4);
	hs_controller_message(fake.controller, fake.now_ns, "qos.7", text, strlen(text));
	assert_int_equal(counted("messages_too_large"), 1);
	assert_int_equal(counted("messages_bad"), 0);
	assert_int_equal(counted("windows"), 0);
}

static void a_window_of_another_shape_is_neither_kept_nor_passed_on(void **state)
{
	static const char *const wrong[] = {
			", \"throughput\": \"abc\", \"hops\": [1, \"x\"]",
			", \"e2e\": {\"throughput_bps\": \"abc\"}",
			", \"flags\": [[]]",
	};
	char text[512];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), ", \"ns_id\": 9, \"window_ns\": 1000000000%s",
				wrong[i]);
		hear("qos_report", text);
	}
	hear("qos_report", ", \"ns_id\": 9");
	hear("qos_report", ", \"window_ns\": 1000000000");
	assert_int_equal(counted("messages_bad"), 5);
	assert_int_equal(counted("flows"), 0);
	assert_int_equal(passed_on("qos.9"), 0);
}

static void what_a_window_has_beside_its_members_is_not_kept(void **state)
{
	(void)state;
	hear("qos_report", ", \"ns_id\": 9, \"window_ns\": 1000000000, \"throughput\": \"abc\"");
	assert_int_equal(passed_on("qos.9"), 1);
	json_t *window = json_array_get(windows_of(9), 0);
	assert_non_null(window);
	assert_null(json_object_get(window, "throughput"));
}

static void windows_that_exceed_the_memory_of_metrics_are_passed_on_and_not_kept(void **state)
{
	static char path[512];
	size_t used = 0;

	(void)state;
	fake.config.monitor_mib = 1;
	for (unsigned i = 0; i < 60; i++)
		used += (size_t)snprintf(
				path + used, sizeof(path) - used, "%s%u", i ? "," : "", 100000 + i);
	for (unsigned ns = 1; ns <= 4000; ns++) {
		char text[700];
		snprintf(text, sizeof(text),
				", \"ns_id\": %u, \"window_ns\": 1000000000, \"path\": [%s]", ns,
				path);
		hear("qos_report", text);
	}
	json_int_t not_kept = counted("windows_not_kept");
	assert_in_range(not_kept, 1000, 3000);
	assert_int_equal(counted("windows"), 4000);
	assert_int_equal(passed_on("qos.4000"), 1);
	assert_int_equal(json_array_size(windows_of(1)), 1);
	assert_int_equal(json_array_size(windows_of(4000)), 0);
	hear("qos_report", ", \"ns_id\": 1, \"window_ns\": 1000000000"); // shorter: makes room
	assert_int_equal(json_array_size(windows_of(1)), 1);
	assert_int_equal(counted("windows_not_kept"), not_kept);
}

static void an_event_without_a_sensible_kind_is_not_passed_on(void **state)
{
	static const char *const kinds[] = {"", "two words", "a\\nb", "\\u001b[2J",
			"k123456789012345678901234567890123456789012345678901234567890123"};
	char text[256];

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), ", \"kind\": \"%s\", \"message\": \"m\"", kinds[i]);
		hear("event", text);
	}
	hear("event", ", \"kind\": 5, \"message\": \"m\"");
	hear("event", ", \"kind\": \"link_down\"");
	assert_int_equal(counted("messages_bad"), 7);
	hear("event", ", \"kind\": "
		      "\"k12345678901234567890123456789012345678901234567890123456789012\", "
		      "\"message\": \"m\"");
	assert_int_equal(counted("messages_bad"), 7);
	assert_int_equal(passed_on("event."
				   "k1234567890123456789012345678901234567890123456789012345678901"
				   "2"),
			1);
}

static json_int_t replies_bad(unsigned node)
{
	json_t *nodes = json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "nodes");
	return json_integer_value(json_object_get(json_array_get(nodes, node), "replies_bad"));
}

static const char rule[] = "{\"int_request\": {\"ns_id\": 7, \"src_ip\": \"2001:db8::1\", "
			   "\"dst_ip\": \"2001:db8::2\", \"protocol\": \"udp\", \"trace_type\": "
			   "\"0x7000E000\", \"mode\": \"count\", \"mode_setting\": 10}}";

static void a_page_with_more_than_was_asked_for_is_refused_and_asked_for_again(void **state)
{
	(void)state;
	fake_ok(&fake, rule);
	fake_run(&fake, SECOND);
	fake.nodes[0].n_in_band = 250; // as many as the page may have
	fake_restart(&fake, 0);
	fake_run(&fake, 3 * SECOND);
	assert_string_equal(fake_state(&fake, 7, "a"), "present");
	assert_int_equal(replies_bad(0), 0);
	fake.nodes[0].n_in_band = 251;
	fake_restart(&fake, 0);
	fake_run(&fake, 3 * SECOND);
	assert_string_equal(fake_state(&fake, 7, "a"), "unknown");
	assert_in_range(replies_bad(0), 2, 4);
	assert_int_equal(replies_bad(1), 0);
	fake.nodes[0].n_in_band = 0;
	fake_run(&fake, 2 * SECOND);
	assert_string_equal(fake_state(&fake, 7, "a"), "present");
}

static void a_reply_of_more_values_than_any_node_sends_is_not_parsed(void **state)
{
	static char text[150000] = "{\"id\": 1, \"ok\": {\"rules\": [";
	size_t used = strlen(text);

	(void)state;
	for (unsigned i = 0; i < 70000; i++, used += 2)
		memcpy(text + used, i ? ",1" : " 1", 2);
	memcpy(text + used, "]}}", 4);
	hs_controller_reply(fake.controller, fake.now_ns, 0, text, strlen(text));
	hs_controller_reply(fake.controller, fake.now_ns, 0, "{\"id\"", 5); // not JSON
	assert_int_equal(replies_bad(0), 2);
}

static void a_boot_id_longer_than_any_of_a_node_is_no_restart_at_each_hello(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	strcpy(fake.nodes[0].boot_id, "01234567890123456789012"); // the longest
	fake_run(&fake, 5 * SECOND);
	assert_int_equal(fake_events(&fake, "node_restarted"), 1);
	assert_int_equal(replies_bad(0), 0);
	strcpy(fake.nodes[0].boot_id, "two words");
	fake_run(&fake, 5 * SECOND);
	assert_int_equal(fake_events(&fake, "node_restarted"), 1);
	assert_true(replies_bad(0) > 5);
}

static void numbers_that_leap_count_as_missed_and_never_below_zero(void **state)
{
	static const char *const seqs[] = {"1", "9223372036854775807", "1", "9223372036854775807",
			"-5", "1", "9223372036854775807"};

	(void)state;
	for (unsigned i = 0; i < 7; i++) {
		char text[160];
		snprintf(text, sizeof(text),
				"{\"event\": {\"seq\": %s, \"node_id\": 3, \"boot_id\": \"b\", "
				"\"kind\": \"told\", \"message\": \"m\"}}",
				seqs[i]);
		hs_controller_message(fake.controller, fake.now_ns, "any", text, strlen(text));
	}
	assert_true(counted("messages_missed") == INT64_MAX);
}

static const json_t *last_event(const char *kind)
{
	json_t *events = json_object_get(fake_ok(&fake, "{\"events\": {}}"), "events"), *event,
	       *found = NULL;
	size_t i;

	json_array_foreach (events, i, event)
		if (strcmp(json_string_value(json_object_get(event, "kind")), kind) == 0)
			found = event;
	return found;
}

static void a_long_message_of_an_event_is_cut_between_characters(void **state)
{
	(void)state;
	for (unsigned shift = 0; shift < 4; shift++) {
		char members[2000] = ", \"kind\": \"told\", \"message\": \"1234";
		members[strlen(members) - 4 + shift] = '\0';
		for (unsigned i = 0; i < 200; i++)
			strcat(members, "\xf0\x9f\x91\xa9");
		strcat(members, "\"");
		hear("event", members);
		assert_int_equal(fake_events(&fake, "told"), shift + 1);
		size_t bytes = json_string_length(json_object_get(last_event("told"), "message"));
		assert_in_range(bytes, 316, 319);
	}
}

static json_t *refused_by_a(const char *code, size_t message_bytes)
{
	static char text[20000];
	size_t used = (size_t)snprintf(text, sizeof(text),
			"{\"code\": \"%s\", \"path\": \"/x\", \"message\": \"", code);

	memset(text + used, 'm', message_bytes);
	memcpy(text + used + message_bytes, "\"}", 3);
	fake.nodes[0].refusal = text;
	json_t *ok = fake_ok(&fake, "{\"audit\": {}}");
	return json_object_get(json_object_get(ok, "errors"), "a");
}

static void of_a_nodes_error_the_code_and_the_start_of_the_message_remain(void **state)
{
	char code[100] = "k12345678901234567890123456789012345678901234567890123456789012";

	(void)state;
	fake_run(&fake, SECOND);
	json_t *error = refused_by_a(code, 5000);
	assert_string_equal(json_string_value(json_object_get(error, "code")), code);
	assert_int_equal(json_string_length(json_object_get(error, "message")), 255);
	assert_int_equal(json_object_size(error), 2);
	error = refused_by_a(strcat(code, "x"), 3);
	assert_string_equal(json_string_value(json_object_get(error, "code")), "refused");
	assert_string_equal(json_string_value(json_object_get(error, "message")), "mmm");
	error = refused_by_a("a\\u0007b", 0);
	assert_string_equal(json_string_value(json_object_get(error, "code")), "refused");
}

static void a_refusal_is_told_with_the_nodes_name_words_and_what_it_allows(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	fake.nodes[0].refusal = "{\"code\": \"unsupported\", \"path\": "
				"\"int_request.instructions\", \"message\":"
				" \"instructions: INT 1.0 has no buffer\", \"expected\": "
				"\"node_id, ports\"}";
	fake_ok(&fake, rule);
	fake_run(&fake, SECOND);
	assert_string_equal(fake_state(&fake, 7, "a"), "unsupported");
	const json_t *event = last_event("rule_refused");
	assert_string_equal(json_string_value(json_object_get(event, "node")), "a");
	assert_string_equal(json_string_value(json_object_get(event, "message")),
			"node \"a\" refused ns_id 7: instructions: INT 1.0 has no buffer "
			"(allowed: node_id, ports)");
}

static void a_code_that_is_no_word_is_no_state_of_a_rule(void **state)
{
	static char text[9000] = "{\"code\": \"";

	(void)state;
	fake_run(&fake, SECOND);
	memset(text + 10, 'k', 8000);
	memcpy(text + 8010, "\"}", 3);
	fake.nodes[0].refusal = text;
	fake_ok(&fake, rule);
	fake_run(&fake, SECOND);
	assert_string_equal(fake_state(&fake, 7, "a"), "refused");
	assert_string_equal(json_string_value(json_object_get(last_event("rule_refused"), "code")),
			"refused");
	fake.nodes[0].refusal = "{\"code\": \"table_full\"}";
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 7, \"mode_setting\": 5}}");
	fake_run(&fake, SECOND);
	assert_string_equal(fake_state(&fake, 7, "a"), "table_full");
}

// A node that lists rules by ever new owners uses up no names of the controller.
static void owners_that_a_node_lists_are_not_kept(void **state)
{
	(void)state;
	for (uint32_t ns_id = 1; ns_id <= 20; ns_id++)
		fake_ok(&fake, request(ns_id, 100, NULL));
	fake_run(&fake, SECOND);
	uint32_t owners = hs_rule_fields_mark().owners;
	fake.nodes[0].invents_owners = true;
	fake_at_node(&fake, 0, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 7}}");
	fake_run(&fake, 300 * SECOND);
	assert_true(fake.nodes[0].n_invented >= 20);
	assert_int_equal(hs_rule_fields_mark().owners, owners);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_message_longer_than_any_of_a_node_is_dropped_and_counted),
			TEST(a_window_of_another_shape_is_neither_kept_nor_passed_on),
			TEST(what_a_window_has_beside_its_members_is_not_kept),
			TEST(windows_that_exceed_the_memory_of_metrics_are_passed_on_and_not_kept),
			TEST(an_event_without_a_sensible_kind_is_not_passed_on),
			TEST(a_page_with_more_than_was_asked_for_is_refused_and_asked_for_again),
			TEST(a_long_message_of_an_event_is_cut_between_characters),
			TEST(of_a_nodes_error_the_code_and_the_start_of_the_message_remain),
			TEST(a_refusal_is_told_with_the_nodes_name_words_and_what_it_allows),
			TEST(a_code_that_is_no_word_is_no_state_of_a_rule),
			TEST(a_boot_id_longer_than_any_of_a_node_is_no_restart_at_each_hello),
			TEST(numbers_that_leap_count_as_missed_and_never_below_zero),
			TEST(a_reply_of_more_values_than_any_node_sends_is_not_parsed),
			TEST(owners_that_a_node_lists_are_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
