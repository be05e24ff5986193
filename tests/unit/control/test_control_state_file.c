// SPDX-License-Identifier: BSD-3-Clause
// The file that keeps what the API changes: it cannot be written, it grows long, it is damaged.
#include "state_rig.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

int main(void)
{
	dpdk_env_init("1024");
	const struct CMUnitTest tests[] = {
			STATE_TEST(a_change_that_cannot_be_saved_is_refused_and_changes_nothing),
			STATE_TEST(a_long_journal_is_folded_while_changes_go_on),
			STATE_TEST(rules_that_came_in_band_are_not_folded),
			STATE_TEST(a_damaged_file_is_set_aside_and_the_node_starts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
