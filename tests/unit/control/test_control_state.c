// SPDX-License-Identifier: BSD-3-Clause
// What the API changes is there again in the next life of a node, and what the configuration asks
// for wins.
#include "state_rig.h"

static void what_the_api_changed_is_there_in_the_next_life(void **state)
{
	struct life l;
	(void)state;
	begin(&l, "[]");
	expect(&l, RULE(1, ""), "\"ok\"");
	expect(&l, RULE(2, ", \"extract_report\": true, \"transmit_report\": false"), "\"ok\"");
	expect(&l, RULE(3, ""), "\"ok\"");
	expect(&l,
			"[{\"int_delete\": {\"ns_id\": 3}}," RULE(4, "") "," NEIGHBOUR(
					"fe80::1") "," VIA("2001:db8:7::/48", "fe80::1") "]",
			"\"ok\"");
	expect(&l,
			"{\"int_update\": {\"ns_id\": 1, \"mode\": \"frequency\", "
			"\"mode_setting\": 2.5}}",
			"\"ok\"");
	expect(&l,
			"{\"route_add\": {\"prefix\": \"::/0\", \"port\": \"p0\", \"next_hop_mac\":"
			" \"02:00:00:00:00:09\"}}",
			"\"ok\"");
	end_and_begin(&l, "[]");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"origin\":\"state\"");
	expect(&l, "{\"int_get\": {\"ns_id\": 3}}", "no_such_rule");
	expect(&l, RULE(3, ""), "\"ok\"");
	expect(&l, "{\"int_get\": {\"ns_id\": 3}}", "\"origin\":\"api\"");
	expect(&l, "{\"route_delete\": {\"prefix\": \"::/0\"}}", "\"ok\"");
	expect(&l, "{\"events\": {}}", "\"kind\":\"state_loaded\"");
	end_and_begin(&l, "[]");
	end(&l);
}

static void owner_and_revision_are_there_in_the_next_life(void **state)
{
	struct life l;
	(void)state;
	begin(&l, "[]");
	expect(&l, RULE(1, ", \"owner\": \"lab\", \"revision\": 9007199254740991"), "\"ok\"");
	expect(&l, RULE(2, ", \"owner\": \"lab\", \"revision\": 4"), "\"ok\"");
	expect(&l, RULE(3, ", \"owner\": \"lab\""), "\"ok\"");
	expect(&l,
			"{\"int_update\": {\"ns_id\": 2, \"owner\": \"other\", \"revision\": 5, "
			"\"hop_enabled\": false}}",
			"\"owner\":\"other\",\"revision\":5");
	end_and_begin(&l, "[]");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}",
			"\"owner\":\"lab\",\"revision\":9007199254740991");
	expect(&l, "{\"int_get\": {\"ns_id\": 2}}", "\"owner\":\"other\",\"revision\":5");
	// A client that names nobody leaves a rule of nobody. A list that fails changes no owner.
	expect(&l, "{\"int_update\": {\"ns_id\": 3, \"hop_enabled\": false}}", "\"ok\"");
	assert_null(strstr(ask(&l, "{\"int_get\": {\"ns_id\": 3}}"), "owner"));
	expect(&l,
			"[{\"int_update\": {\"ns_id\": 1, \"hop_enabled\": false}},"
			" {\"int_delete\": {\"ns_id\": 77}}]",
			"no_such_rule");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"owner\":\"lab\"");
	for (unsigned i = 0; i < 3000; i++) { // enough for a snapshot
		expect(&l, "{\"int_update\": {\"ns_id\": 3, \"mode_setting\": 5}}", "\"ok\"");
		hs_control_step(l.control, l.now_ns);
	}
	end_and_begin(&l, "[]");
	expect(&l, "{\"int_get\": {\"ns_id\": 2}}", "\"owner\":\"other\",\"revision\":5");
	assert_null(strstr(ask(&l, "{\"int_get\": {\"ns_id\": 3}}"), "owner"));
	end(&l);
}

static void what_the_configuration_asks_for_wins(void **state)
{
	struct life l;
	(void)state;
	begin(&l, "[" RULE(1, "") "," NEIGHBOUR("fe80::1") "]");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"origin\":\"config\"");
	expect(&l, "{\"int_delete\": {\"ns_id\": 1}}", "\"ok\"");
	expect(&l, RULE(1, ", \"hop_enabled\": false"), "\"ok\"");
	// One of these is the configuration's; the other is there again.
	expect(&l, "[{\"int_update\": {\"ns_id\": 1, \"extract_report\": true}}," RULE(2, "") "]",
			"\"ok\"");
	expect(&l, "[{\"neighbour_delete\": {\"addr\": \"fe80::1\"}}," NEIGHBOUR("fe80::2") "]",
			"\"ok\"");
	end(&l);
	begin(&l, "[" RULE(1, "") "," NEIGHBOUR("fe80::1") "]");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"hop_enabled\":true");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"extract_report\":false");
	expect(&l, "{\"int_get\": {\"ns_id\": 2}}", "\"origin\":\"state\"");
	expect(&l, "{\"neighbour_list\": {}}", "fe80::1");
	expect(&l, "{\"neighbour_list\": {}}", "fe80::2");
	expect(&l, "{\"events\": {}}", "\"left_out\":4");
	end(&l);
	// The configuration has neither any longer: what the API had asked for is there, but for
	// what the node cannot do now.
	begin(&l, "[]");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"hop_enabled\":false");
	expect(&l, "{\"events\": {}}", "\"refused\":2");
	end(&l);
}

static void routes_are_loaded_together_and_the_bad_ones_are_refused_alone(void **state)
{
	struct life l;
	char text[128];
	(void)state;
	begin(&l, "[" NEIGHBOUR("fe80::1") "]");
	expect(&l, NEIGHBOUR("fe80::2"), "\"ok\"");
	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), VIA("2001:db8:%x::/48", "fe80::%d"), i + 1,
				i % 4 == 1 ? 1 : 2);
		expect(&l, text, "\"ok\"");
	}
	expect(&l, RULE(1, ""), "\"ok\"");
	expect(&l, "{\"route_delete\": {\"prefix\": \"2001:db8:1::/48\"}}", "\"ok\"");
	end_and_begin(&l, "[" NEIGHBOUR("fe80::1") "]");
	expect(&l, "{\"events\": {}}", "\"lines\":23,\"refused\":0,\"left_out\":0");
	end(&l);
	// Without a neighbour there is no way via it, and that is all.
	begin(&l, "[" NEIGHBOUR("fe80::2") "]");
	expect(&l, "{\"events\": {}}", "\"lines\":18,\"refused\":5,\"left_out\":1");
	expect(&l, "{\"route_list\": {}}", "\"count\":15"); // 20 without 5 and 1, a neighbour
	end(&l);
}

static void append_lines(const char *lines)
{
	FILE *f = fopen(file, "a");
	assert_non_null(f);
	fputs(lines, f);
	fclose(f);
}

#define OLD_RULE(ns_id, src_ip)                                                                    \
	"{\"int_request\":{\"ns_id\":" ns_id ",\"src_ip\":\"" src_ip                               \
	"\",\"dst_ip\":\"2001:db8::2\",\"protocol\":\"udp\",\"trace_type\":\"0x7000E000\","        \
	"\"mode\":"                                                                                \
	"\"count\",\"mode_setting\":5}}"

static void one_bad_line_is_refused_and_the_others_are_in_force(void **state)
{
	// Checksums by Python's zlib.crc32.
	static const char bad[] = "5c2f9cb7 {\"int_request\":{\"ns_id\":5,\"mode\":\"never\"}}\n"
				  "2843f7bc [5]\n";
	struct life l;
	(void)state;
	begin(&l, "[]");
	expect(&l, RULE(1, ""), "\"ok\"");
	end(&l);
	append_lines(bad);
	begin(&l, "[]");
	expect(&l, RULE(2, ""), "\"ok\"");
	end(&l);
	begin(&l, "[]");
	expect(&l, "{\"int_list\": {}}", "\"count\":2");
	expect(&l, "{\"events\": {}}", "\"lines\":2,\"refused\":2,\"left_out\":0");
	end(&l);
}

// A version before wrote the list. It let a source be multicast.
static void of_a_list_that_was_confirmed_only_what_is_refused_now_is_left_out(void **state)
{
	static const char list[] = "54a2a960 [" OLD_RULE("5", "2001:db8::1") "," OLD_RULE(
			"6", "ff02::1") "," OLD_RULE("7", "2001:db8::1") "]\n";
	struct life l;
	(void)state;
	begin(&l, "[" RULE(7, "") "]");
	end(&l);
	append_lines(list);
	begin(&l, "[" RULE(7, "") "]");
	expect(&l, "{\"int_list\": {}}", "\"count\":2");
	expect(&l, "{\"int_list\": {}}", "\"state\":[5]");
	expect(&l, "{\"int_get\": {\"ns_id\": 6}}", "no_such_rule");
	expect(&l, "{\"events\": {}}", "\"lines\":0,\"refused\":1,\"left_out\":1");
	end(&l);
}

// A setting of rule 7, which came in band and is not here.
#define SETTING_OF_7 "93b1fb80 {\"int_update\":{\"ns_id\":7,\"hop_enabled\":false}}\n"

static json_t *bytes_of_file(void)
{
	char bytes[4096];
	FILE *f = fopen(file, "r");
	assert_non_null(f);
	size_t n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return json_stringn(bytes, n);
}

static void a_refused_list_changes_nothing(void **state)
{
	static const char *const lists[] = {"[" RULE(7, "") ", {\"route_list\": {}}]",
			"[{\"int_delete\": {\"ns_id\": 1}}, {\"neighbour_list\": {}}]",
			("[{\"int_update\": {\"ns_id\": 1, \"hop_enabled\": false}}, "
			 "{\"route_list\": {}}]")};
	struct life l;
	(void)state;
	forwarding = HS_FORWARD_PATCH;
	begin(&l, "[" RULE(1, "") "]");
	end(&l);
	append_lines(SETTING_OF_7);
	begin(&l, "[" RULE(1, "") "]");
	char *rule = strdup(ask(&l, "{\"int_get\": {\"ns_id\": 1}}")); // with the generation
	json_t *before = bytes_of_file();
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		expect(&l, lists[i], "\"code\":\"unsupported\"");
		expect(&l, "{\"int_get\": {\"ns_id\": 1}}", rule);
		json_t *after = bytes_of_file();
		assert_true(json_equal(before, after));
		json_decref(after);
	}
	end(&l);
	begin(&l, "[" RULE(1, "") "]");
	expect(&l, "{\"int_get\": {\"ns_id\": 7}}", "no_such_rule");
	json_decref(before);
	free(rule);
	end(&l);
	forwarding = HS_FORWARD_ROUTE;
}

static void a_rule_of_this_node_drops_the_settings_and_each_line_is_in_force(void **state)
{
	struct life l;
	(void)state;
	begin(&l, "[]");
	end(&l);
	append_lines(SETTING_OF_7);
	begin(&l, "[]");
	expect(&l, "{\"node_get\": {}}", "\"state_lines\":1,");
	expect(&l, RULE(7, ""), "\"ok\"");
	expect(&l, "{\"node_get\": {}}", "\"state_lines\":2,");
	end_and_begin(&l, "[]");
	expect(&l, "{\"events\": {}}", "\"lines\":2,\"refused\":0");
	end(&l);
}

// In one list: an update of a rule that came in band, and a request for another.
static void a_list_may_change_a_rule_that_is_not_here_yet(void **state)
{
	static const char line[] =
			"380ff21a "
			"[{\"int_update\":{\"ns_id\":9,\"hop_enabled\":false}},{\"int_delete\":{"
			"\"ns_id\":5}},{\"int_request\":{\"ns_id\":6,\"src_ip\":\"::1\",\"dst_ip\":"
			"\"::2\",\"src_port\":6,\"protocol\":\"udp\",\"trace_type\":\"0x7000E000\","
			"\"mode\":\"count\",\"mode_setting\":1}},{\"int_update\":{\"ns_id\":6,"
			"\"hop_enabled\":false}},{\"int_delete\":{\"ns_id\":9}}]\n";
	// The update gave the last setting of rule 9 back.
	static const char given_back[] =
			"59c87322 "
			"[{\"int_update\":{\"ns_id\":9,\"transmit_report\":null}},{\"int_delete\":{"
			"\"ns_id\":9}},{\"int_request\":{\"ns_id\":8,\"src_ip\":\"::1\",\"dst_ip\":"
			"\"::2\",\"src_port\":8,\"protocol\":\"udp\",\"trace_type\":\"0x7000E000\","
			"\"mode\":\"count\",\"mode_setting\":1}}]\n";
	struct life l;
	(void)state;
	begin(&l, "[]");
	expect(&l, RULE(5, ""), "\"ok\"");
	end(&l);
	append_lines(line);
	append_lines(given_back);
	begin(&l, "[]");
	expect(&l, "{\"events\": {}}", "\"lines\":3,\"refused\":0");
	expect(&l, "{\"int_get\": {\"ns_id\": 5}}", "no_such_rule");
	expect(&l, "{\"int_get\": {\"ns_id\": 6}}", "\"hop_enabled\":false");
	expect(&l, "{\"int_get\": {\"ns_id\": 8}}", "\"origin\":\"state\"");
	end(&l);
}

int main(void)
{
	dpdk_env_init("1024");
	const struct CMUnitTest tests[] = {
			STATE_TEST(what_the_api_changed_is_there_in_the_next_life),
			STATE_TEST(owner_and_revision_are_there_in_the_next_life),
			STATE_TEST(what_the_configuration_asks_for_wins),
			STATE_TEST(routes_are_loaded_together_and_the_bad_ones_are_refused_alone),
			STATE_TEST(one_bad_line_is_refused_and_the_others_are_in_force),
			STATE_TEST(of_a_list_that_was_confirmed_only_what_is_refused_now_is_left_out),
			STATE_TEST(a_refused_list_changes_nothing),
			STATE_TEST(a_rule_of_this_node_drops_the_settings_and_each_line_is_in_force),
			STATE_TEST(a_list_may_change_a_rule_that_is_not_here_yet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
