// SPDX-License-Identifier: BSD-3-Clause
// Rules of method int, and rules for sets of flows, in this life of a node and in the next one.
#include "state_rig.h"

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

int main(void)
{
	dpdk_env_init("1024");
	const struct CMUnitTest tests[] = {
			STATE_TEST(rules_for_sets_of_flows_are_there_in_the_next_life),
			STATE_TEST(a_list_is_refused_whole_where_it_would_need_a_seventeenth_mask),
			STATE_TEST(a_rule_of_int_needs_a_port_of_int),
			STATE_TEST(a_rule_of_int_asks_for_what_a_port_of_the_node_can_give),
			STATE_TEST(a_rule_of_int_does_not_come_back_where_its_ports_are_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
