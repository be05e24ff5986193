// SPDX-License-Identifier: BSD-3-Clause
// What control tells of a rule whose packets another rule takes.
#include "control_rig.h"

// The flow of `ns_id` alone, as another namespace.
static void install_exact(struct rig *r, unsigned ns_id, unsigned of)
{
	char text[512];
	snprintf(text, sizeof(text),
			"{\"int_request\": {\"ns_id\": %u, \"app_id\": 3, \"src_ip\": "
			"\"2001:db8::1\", \"dst_ip\": \"2001:db8::2\", \"src_port\": 4660, "
			"\"dst_port\": %u, \"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", "
			"\"mode\": \"count\", \"mode_setting\": 1}}",
			ns_id, 5000 + of);
	json_decref(ask(r, text));
}

static bool has_flag(json_t *message, const char *name)
{
	json_t *flags = json_object_get(json_object_get(message, "qos_report"), "flags"), *flag;
	size_t i;
	json_array_foreach (flags, i, flag)
		if (strcmp(json_string_value(flag), name) == 0)
			return true;
	return false;
}

static void the_event_names_both_rules_and_comes_once_a_minute(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	install_exact(r, 8, 7);
	step(r, 0);
	feed_sampled(r, 7, 0x7000);
	step(r, SECOND);
	assert_int_equal(count_published(r, "event.rule_shadowed"), 1);
	json_t *event = json_object_get(published(r, "event.rule_shadowed", 0), "event");
	assert_number(event, "ns_id", 7);
	assert_number(event, "shadowed_by", 8);
	assert_number(event, "packets", 1);
	for (unsigned i = 0; i < 20; i++) {
		feed_sampled(r, 7, 0x7000);
		step(r, SECOND);
	}
	assert_int_equal(count_published(r, "event.rule_shadowed"), 1);
	step(r, 60 * SECOND);
	step(r, SECOND);
	assert_int_equal(count_published(r, "event.rule_shadowed"), 2);
	event = json_object_get(published(r, "event.rule_shadowed", 1), "event");
	assert_number(event, "packets", 20);
	rig_close(r);
}

static void the_rule_says_who_takes_its_packets(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	install_exact(r, 8, 7);
	feed_sampled(r, 7, 0x7000);
	json_t *reply = ask(r, "{\"int_get\": {\"ns_id\": 7}}");
	assert_number(json_object_get(reply, "state"), "shadowed_by", 8);
	assert_number(json_object_get(reply, "counters"), "shadowed_packets", 1);
	json_decref(reply);
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 8}}"));
	reply = ask(r, "{\"int_get\": {\"ns_id\": 7}}");
	assert_null(json_object_get(json_object_get(reply, "state"), "shadowed_by"));
	json_decref(reply);
	rig_close(r);
}

static void windows_in_which_another_rule_took_packets_are_marked(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	install(r, 7, "");
	for (unsigned i = 0; i < 15; i++) {
		if (i == 7)
			install_exact(r, 8, 7);
		if (i == 11)
			json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 8}}"));
		feed_sampled(r, 7, 0x7000);
		step(r, SECOND / 5);
		step(r, SECOND / 5);
	}
	step(r, SECOND);
	unsigned marked = 0, n = count_published(r, "qos.7");
	for (unsigned i = 0; i < n; i++) {
		json_t *body = json_object_get(published(r, "qos.7", i), "qos_report");
		int64_t begin = number(body, "start_ns") - NOW, end = number(body, "end_ns") - NOW;
		bool differ = has_flag(published(r, "qos.7", i), "rules_differ");
		// The exact rule took what came from 2.8 s on and before 4.4 s.
		bool touched = end > 28 * SECOND / 10 && begin < 44 * SECOND / 10;
		if (number(body, "window_ns") == SECOND && end <= 28 * SECOND / 10)
			assert_false(differ);
		if (number(body, "window_ns") == SECOND && touched && begin < 4 * SECOND)
			assert_true(differ);
		marked += differ;
	}
	assert_true(marked >= 1 && marked < n);
	rig_close(r);
}

int main(void)
{
	dpdk_env_init("64");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_event_names_both_rules_and_comes_once_a_minute),
			cmocka_unit_test(the_rule_says_who_takes_its_packets),
			cmocka_unit_test(windows_in_which_another_rule_took_packets_are_marked),
	};
	return cmocka_run_group_tests_name("control_shadow", tests, NULL, NULL);
}
