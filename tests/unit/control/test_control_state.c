// SPDX-License-Identifier: BSD-3-Clause
// What the API changes is there again in the next life of a node, and what the configuration asks
// for wins.
#include "control.h"
#include "harness.h"
#include "int_steps.h"

#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW   INT64_C(1790000000000000000)
#define RULES 4096

static char folder[64], file[96];
static enum hs_forwarding_mode forwarding = HS_FORWARD_ROUTE;
// Of the ports of the next life; NULL: they have method flexint.
static const struct hs_family *families[2] = {&hs_int_steps[HS_INT_2_1]};

// A life of the node.
struct life {
	struct test_node t; // its ports are not used
	struct hs_port *ports[2];
	struct hs_clock *clock;
	struct hs_control *control;
	int64_t now_ns;
	char *reply;
};

static void begin(struct life *l, const char *config)
{
	struct hs_node_config node = {.n_workers = 1,
			.rules = RULES,
			.report_ring = 16,
			.forwarding = forwarding,
			.routes = 64,
			.profiles = {{.family = families[0]}, {.family = families[1]}}};
	struct hs_control_config control = {.boot_id = "b007", .monitored_rules = 1};
	struct hs_control_output output = {0};
	struct hs_state_config state = {.file = file};
	struct hs_error err = {0};

	*l = (struct life){.now_ns = NOW};
	assert_int_equal(hs_clock_create_manual(NOW, &l->clock), 0);
	assert_int_equal(hs_node_create(&node, l->clock, NULL, &l->t.node, &err), 0);
	for (uint16_t p = 0; p < 2; p++) {
		struct hs_port_config port = {.rx_queues = 1};
		snprintf(port.name, sizeof(port.name), "p%u", p);
		assert_int_equal(hs_port_open_custom(test_port_rx, test_port_tx, &l->t.ports[p],
						 &port, p, 1, &l->ports[p]),
				0);
		assert_int_equal(hs_node_add_port(l->t.node, l->ports[p]), 0);
	}
	assert_int_equal(
			hs_control_create(&control, l->t.node, l->clock, &output, NOW, &l->control),
			0);
	json_t *requests = json_loads(config, 0, NULL);
	assert_non_null(requests);
	assert_int_equal(hs_control_install(l->control, NOW, requests, HS_ORIGIN_CONFIG, &err), 0);
	json_decref(requests);
	if (hs_control_open_state(l->control, NOW, &state, &err))
		fail_msg("%s %s", err.path, err.message);
}

static void end(struct life *l)
{
	free(l->reply);
	hs_control_destroy(l->control);
	hs_node_destroy(l->t.node);
	for (unsigned p = 0; p < 2; p++)
		hs_port_close(l->ports[p]);
	hs_clock_destroy(l->clock);
}

static const char *ask(struct life *l, const char *request)
{
	free(l->reply);
	l->reply = hs_control_request(l->control, l->now_ns, request, strlen(request), true);
	return l->reply;
}

static void expect(struct life *l, const char *request, const char *said)
{
	if (!strstr(ask(l, request), said))
		fail_msg("%s\n  was answered\n%s\n  without\n%s", request, l->reply, said);
}

// What a list says, without the generation and the rules that an earlier life kept, which are of
// one life.
static json_t *listed(struct life *l, const char *request)
{
	json_t *reply = json_loads(ask(l, request), 0, NULL);
	json_t *ok = json_incref(json_object_get(reply, "ok"));
	assert_non_null(ok);
	json_object_del(ok, "state");
	json_decref(reply);
	return ok;
}

static void end_and_begin(struct life *l, const char *config)
{
	static const char *const lists[] = {"{\"int_list\": {\"limit\": 10000}}",
			"{\"route_list\": {}}", "{\"neighbour_list\": {}}"};
	json_t *before[3];

	for (int i = 0; i < 3; i++)
		before[i] = listed(l, lists[i]);
	end(l);
	begin(l, config);
	for (int i = 0; i < 3; i++) {
		json_t *after = listed(l, lists[i]);
		if (!json_equal(before[i], after))
			fail_msg("before\n%s\nafter\n%s", json_dumps(before[i], 0),
					json_dumps(after, 0));
		json_decref(before[i]);
		json_decref(after);
	}
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/dev/shm/hs-control-state-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/node.state", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char pattern[96];
	glob_t found;
	(void)state;

	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	return rmdir(folder);
}

#define RULE(ns, more)                                                                             \
	"{\"int_request\": {\"ns_id\": " #ns ", \"src_ip\": \"2001:db8::1\", \"dst_ip\":"          \
	" \"2001:db8::2\", \"src_port\": " #ns ", \"protocol\": \"udp\", \"trace_type\":"          \
	" \"0x7000E000\", \"mode\": \"probability\", \"mode_setting\": 0.1" more "}}"
#define WATCH(ns, src, more)                                                                       \
	"{\"int_request\": {\"ns_id\": " #ns ", \"src_ip\": \"" src "\", \"dst_ip\":"              \
	" \"0.0.0.0/0\", \"protocol\": \"any\", \"method\": \"int\", \"instructions\":"            \
	" [\"node_id\"], \"mode\": \"count\", \"mode_setting\": 1" more "}}"
#define NEIGHBOUR(addr)                                                                            \
	"{\"neighbour_add\": {\"addr\": \"" addr "\", \"port\": \"p1\", \"mac\":"                  \
	" \"02:00:00:00:00:01\"}}"
#define VIA(prefix, addr) "{\"route_add\": {\"prefix\": \"" prefix "\", \"via\": \"" addr "\"}}"

// ---- tests ----

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

// Fills the table's masks but one; rule 8 has the /8.
static void install_fifteen(struct life *l)
{
	char request[400];

	for (unsigned n = 8; n < 23; n++) {
		snprintf(request, sizeof(request),
				"{\"int_request\": {\"ns_id\": %u, \"src_ip\": \"10.0.0.0/%u\", "
				"\"dst_ip\": \"0.0.0.0/0\", \"protocol\": \"any\", \"method\": "
				"\"int\","
				" \"instructions\": [\"node_id\"], \"mode\": \"count\", "
				"\"mode_setting\": 1}}",
				n, n);
		expect(l, request, "\"ok\"");
	}
}

static void rules_for_sets_of_flows_are_there_in_the_next_life(void **state)
{
	struct life l;
	(void)state;
	begin(&l, "[]");
	install_fifteen(&l);
	expect(&l, WATCH(1, "10.0.0.0/8", ", \"dscp\": 46"), "\"ok\"");
	expect(&l, WATCH(2, "10.0.0.0/8", ""), "\"shadowed_by\":8");
	expect(&l, WATCH(3, "10.0.0.0/30", ""), "\"too_many_masks\"");
	end_and_begin(&l, "[]");
	expect(&l, "{\"events\": {}}", "\"refused\":0");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"dscp\":46");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"src_ip\":\"10.0.0.0/8\"");
	expect(&l, WATCH(3, "10.0.0.0/30", ""), "\"too_many_masks\"");
	end(&l);
}

// A life whose ports have these families.
static void begin_with(
		struct life *l, const struct hs_family *first, const struct hs_family *second)
{
	families[0] = first;
	families[1] = second;
	begin(l, "[]");
	families[0] = &hs_int_steps[HS_INT_2_1];
	families[1] = NULL;
}

static void a_rule_of_int_needs_a_port_of_int(void **state)
{
	struct life l;
	(void)state;
	begin_with(&l, NULL, NULL);
	expect(&l, WATCH(1, "10.0.0.0/8", ""),
			"{\"code\":\"no_profile\",\"path\":\"int_request.method\"");
	expect(&l, "[" RULE(2, "") "," WATCH(1, "10.0.0.0/8", "") "]",
			"\"path\":\"[1].int_request.method\"");
	expect(&l, "{\"int_get\": {\"ns_id\": 2}}", "no_such_rule");
	end(&l);
}

#define ASK(ns, instructions)                                                                      \
	"{\"int_request\": {\"ns_id\": " #ns ", \"src_ip\": \"10.0.0.1\", \"dst_ip\":"             \
	" \"10.0.0.2\", \"protocol\": \"udp\", \"method\": \"int\", \"instructions\": "            \
	"[" instructions "], \"mode\": \"count\", \"mode_setting\": 1}}"

static void a_rule_of_int_asks_for_what_a_port_of_the_node_can_give(void **state)
{
	struct life l;
	(void)state;
	begin_with(&l, &hs_int_steps[HS_INT_2016_06], NULL);
	expect(&l, ASK(1, "\"node_id\", \"buffer\""),
			"{\"code\":\"unsupported\",\"path\":\"int_request.instructions\","
			"\"message\":"
			"\"instructions: INT 2016-06 has no buffer\",\"expected\":\"node_id, "
			"ports, ");
	expect(&l, ASK(1, "\"queue_congestion\""), "\"ok\"");
	end(&l);
	begin_with(&l, &hs_int_steps[HS_INT_1_0], &hs_int_steps[HS_INT_2_1]);
	expect(&l, ASK(2, "\"buffer\""), "\"ok\"");
	expect(&l, ASK(3, "\"queue_congestion\""), "INT 1.0, 2.1 has no queue_congestion");
	end(&l);
}

static void a_rule_of_int_does_not_come_back_where_its_ports_are_gone(void **state)
{
	struct life l;
	(void)state;
	begin(&l, "[]");
	expect(&l, WATCH(1, "10.0.0.0/8", ""), "\"ok\"");
	expect(&l, RULE(2, ""), "\"ok\"");
	end(&l);
	begin_with(&l, NULL, NULL);
	expect(&l, "{\"events\": {}}", "\"refused\":1");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "no_such_rule");
	expect(&l, "{\"int_get\": {\"ns_id\": 2}}", "\"ok\"");
	end(&l);
}

static void a_list_is_refused_whole_where_it_would_need_a_seventeenth_mask(void **state)
{
	struct life l;
	(void)state;
	begin(&l, "[]");
	install_fifteen(&l);
	expect(&l, "[" WATCH(1, "10.0.0.0/28", "") "," WATCH(2, "10.0.0.0/29", "") "]",
			"\"path\":\"[1].int_request\"");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "no_such_rule");
	expect(&l,
			"[" WATCH(1, "10.0.0.0/28", "") ",{\"int_delete\": {\"ns_id\": 8}}," WATCH(
					2, "10.0.0.0/29", "") "]",
			"\"ok\"");
	expect(&l,
			"{\"int_request\": {\"ns_id\": 5, \"src_ip\": \"::2\", \"dst_ip\": "
			"\"::1\", "
			"\"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", \"mode\": "
			"\"count\","
			" \"mode_setting\": 1}, \"dry_run\": true}",
			"IPv4 /28 to /0; ");
	expect(&l, "[{\"int_delete\": {\"ns_id\": 2}}," RULE(5, "") "]", "\"ok\"");
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

static void a_change_that_cannot_be_saved_is_refused_and_changes_nothing(void **state)
{
	struct life l;
	struct rlimit limit;
	struct stat about;
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	begin(&l, "[]");
	expect(&l, RULE(1, ""), "\"ok\"");
	assert_int_equal(stat(file, &about), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	struct rlimit none = {.rlim_cur = (rlim_t)about.st_size, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	char *before = strdup(ask(&l, "{\"int_get\": {\"ns_id\": 1}}"));
	expect(&l, RULE(2, ""), "\"code\":\"not_saved\"");
	expect(&l, "{\"int_delete\": {\"ns_id\": 1}}", "\"code\":\"not_saved\"");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", before); // the generation is in it
	expect(&l, "{\"stats_get\": {}}", "hopsight_state_errors_total");
	l.now_ns += 2000000000;
	hs_control_step(l.control, l.now_ns);
	expect(&l, "{\"events\": {}}", "\"kind\":\"state_error\"");
	expect(&l, "{\"node_get\": {}}", "\"state_errors\":2");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	expect(&l, RULE(2, ""), "\"ok\"");
	free(before);
	end_and_begin(&l, "[]");
	end(&l);
}

static void step_until_folded(struct life *l)
{
	struct stat before, after;
	assert_int_equal(stat(file, &before), 0);
	for (int i = 0; i < 10000000; i++) {
		hs_control_step(l->control, l->now_ns);
		assert_int_equal(stat(file, &after), 0);
		if (after.st_ino != before.st_ino)
			return;
		sched_yield();
	}
	fail_msg("the journal of %ld bytes was not folded", (long)before.st_size);
}

static void a_long_journal_is_folded_while_changes_go_on(void **state)
{
	struct life l;
	char text[512];
	(void)state;
	begin(&l, "[" RULE(4001, "") "," NEIGHBOUR("fe80::9") "]");
	expect(&l, NEIGHBOUR("fe80::1"), "\"ok\"");
	expect(&l, VIA("2001:db8:7::/48", "fe80::1"), "\"ok\"");
	expect(&l,
			"{\"route_add\": {\"prefix\": \"::/0\", \"port\": \"p0\", \"next_hop_mac\":"
			" \"02:00:00:00:00:09\"}}",
			"\"ok\"");
	for (int i = 1; i <= 1200; i++) {
		snprintf(text, sizeof(text),
				"{\"int_request\": {\"ns_id\": %d, \"src_ip\": \"::1\", "
				"\"dst_ip\": \"::2\","
				"\"src_port\": %d, \"protocol\": \"udp\", \"trace_type\": "
				"\"0x7000E000\","
				"\"mode\": \"count\", \"mode_setting\": 7}}",
				i, i);
		expect(&l, text, "\"ok\"");
	}
	// All of it is in force, so there is nothing to fold.
	hs_control_step(l.control, l.now_ns);
	assert_true(hs_control_next_ns(l.control) > l.now_ns);
	for (int i = 0; i < 2400; i++) {
		snprintf(text, sizeof(text),
				"{\"int_update\": {\"ns_id\": %d, \"mode\": \"count\","
				"\"mode_setting\": %d}}",
				1 + i % 1200, 10 + i);
		expect(&l, text, "\"ok\"");
	}
	for (int i = 1; i <= 3; i++)
		hs_control_step(l.control, l.now_ns); // has begun, and is under way
	assert_true(hs_control_next_ns(l.control) <= l.now_ns);
	expect(&l, "{\"int_delete\": {\"ns_id\": 1}}", "\"ok\"");
	expect(&l, "{\"int_delete\": {\"ns_id\": 1200}}", "\"ok\"");
	expect(&l, "{\"int_update\": {\"ns_id\": 700, \"mode\": \"count\", \"mode_setting\": 9}}",
			"\"ok\"");
	step_until_folded(&l);
	expect(&l, "{\"int_delete\": {\"ns_id\": 2}}", "\"ok\"");
	// 1,200 rules, a neighbour, two routes, and four changes since it began.
	expect(&l, "{\"node_get\": {}}", "\"state_lines\":1207");
	end_and_begin(&l, "[" RULE(4001, "") "," NEIGHBOUR("fe80::9") "]");
	expect(&l, "{\"events\": {}}", "\"left_out\":0");
	end(&l);
}

static void rules_that_came_in_band_are_not_folded(void **state)
{
	struct life l;
	struct hs_error err;
	char text[128];
	(void)state;
	begin(&l, "[]");
	json_t *learned = json_loads("[" RULE(4002, "") "]", 0, NULL);
	assert_int_equal(hs_control_install(l.control, NOW, learned, HS_ORIGIN_IN_BAND, &err), 0);
	json_decref(learned);
	expect(&l, RULE(1, ""), "\"ok\"");
	for (int i = 0; i < 1100; i++) {
		snprintf(text, sizeof(text),
				"{\"int_update\": {\"ns_id\": 1, \"mode\": \"count\","
				"\"mode_setting\": %d}}",
				1 + i);
		expect(&l, text, "\"ok\"");
	}
	step_until_folded(&l);
	expect(&l, "{\"node_get\": {}}", "\"state_lines\":1,");
	end(&l);
	begin(&l, "[]");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"mode_setting\":1100");
	expect(&l, "{\"int_get\": {\"ns_id\": 4002}}", "no_such_rule");
	end(&l);
}

static void a_damaged_file_is_set_aside_and_the_node_starts(void **state)
{
	struct life l;
	(void)state;
	begin(&l, "[]");
	expect(&l, RULE(1, ""), "\"ok\"");
	expect(&l, RULE(2, ""), "\"ok\"");
	end(&l);
	int fd = open(file, O_RDWR);
	struct stat about;
	assert_int_equal(fstat(fd, &about), 0);
	assert_int_equal(pwrite(fd, "#", 1, about.st_size - 9), 1);
	close(fd);
	begin(&l, "[]");
	expect(&l, "{\"int_get\": {\"ns_id\": 1}}", "\"ok\"");
	expect(&l, "{\"int_get\": {\"ns_id\": 2}}", "no_such_rule");
	expect(&l, "{\"events\": {}}", "\"kind\":\"state_set_aside\"");
	expect(&l, "{\"events\": {}}", "node.state.damaged-20260921T");
	expect(&l, "{\"events\": {}}", "line 3: the checksum is wrong");
	expect(&l, RULE(2, ""), "\"ok\"");
	end_and_begin(&l, "[]");
	end(&l);
}

#define STATE_TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	dpdk_env_init("1024");
	const struct CMUnitTest tests[] = {
			STATE_TEST(what_the_api_changed_is_there_in_the_next_life),
			STATE_TEST(rules_for_sets_of_flows_are_there_in_the_next_life),
			STATE_TEST(a_list_is_refused_whole_where_it_would_need_a_seventeenth_mask),
			STATE_TEST(a_rule_of_int_needs_a_port_of_int),
			STATE_TEST(a_rule_of_int_asks_for_what_a_port_of_the_node_can_give),
			STATE_TEST(a_rule_of_int_does_not_come_back_where_its_ports_are_gone),
			STATE_TEST(owner_and_revision_are_there_in_the_next_life),
			STATE_TEST(what_the_configuration_asks_for_wins),
			STATE_TEST(routes_are_loaded_together_and_the_bad_ones_are_refused_alone),
			STATE_TEST(one_bad_line_is_refused_and_the_others_are_in_force),
			STATE_TEST(of_a_list_that_was_confirmed_only_what_is_refused_now_is_left_out),
			STATE_TEST(a_refused_list_changes_nothing),
			STATE_TEST(a_rule_of_this_node_drops_the_settings_and_each_line_is_in_force),
			STATE_TEST(a_list_may_change_a_rule_that_is_not_here_yet),
			STATE_TEST(a_change_that_cannot_be_saved_is_refused_and_changes_nothing),
			STATE_TEST(a_long_journal_is_folded_while_changes_go_on),
			STATE_TEST(rules_that_came_in_band_are_not_folded),
			STATE_TEST(a_damaged_file_is_set_aside_and_the_node_starts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
