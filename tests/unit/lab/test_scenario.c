// SPDX-License-Identifier: BSD-3-Clause
#include "scenario.h"
#include "scenario_graph.h"

#include "flexint.h"
#include "rule_json.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define S INT64_C(1000000000)

// Single quotes for double ones.
static const char minimal[] =
		"{'name': 'm', 'duration_s': 10,"
		" 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
		" 'links': [{'from': 'a', 'to': 'b'}],"
		" 'traffic': [{'name': 'up', 'from': 'a', 'to': 'b', 'rate_pps': 100}],"
		" 'requests': [{'node': '*', 'traffic': 'up',"
		"               'int_request': {'mode': 'count', 'mode_setting': 10}}]}";

// Every key, and three nodes so that there is more than one of each.
static const char full[] =
		"{'name': 'full', 'source': 'a table', 'description': 'all keys',"
		" 'seed': 7, 'duration_s': 12.5, 'window': '10s', 'forwarding': 'shortest_path',"
		" 'closing_packet': true, 'keep_windows': false, 'mbufs': 2048, 'rules': 9,"
		" 'mtu': 9000, 'reroute_s': 0.25,"
		" 'nodes': ["
		"  {'id': 0, 'name': 'a', 'layout': 'paper',"
		"   'clock': {'offset_ns': -36000000000, 'drift_ppb': -15000,"
		"             'drift_sigma_ppb': 15001,"
		"             'sync': {'interval_s': 0.5, 'first_s': 0.125, 'error_ns': 150000,"
		"                      'frequency_error_ppb': 8000, 'correction': 'slew',"
		"                      'step_threshold_ns': 77}}},"
		"  {'id': 5, 'name': 'b'}, {'id': 0, 'name': 'c'}],"
		" 'links': ["
		"  {'from': 'a', 'to': 'b', 'name': 'first', 'rate_bps': 100000000,"
		"   'queue_packets': 2000, 'overhead_bytes': 24, 'delay_ns': 10000000,"
		"   'jitter_ns': 2000000, 'jitter_distribution': 'normal', 'in_order': true,"
		"   'loss_ratio': 0.01, 'telemetry_loss_ratio': 0.02, 'duplicate_ratio': 0.03,"
		"   'reorder_ratio': 0.04, 'bursts': {'p': 0.1, 'r': 0.5}, 'up': true,"
		"   'reverse': {'delay_ns': 5, 'bursts': {'p': 0.2, 'r': 0.25, 'loss_bad': 0.5,"
		"               'loss_good': 0.125}}},"
		"  {'from': 'b', 'to': 'c', 'delay_ns': 1},"
		"  {'from': 'c', 'to': 'b', 'delay_ns': 2}],"
		" 'hosts': [{'name': 'h', 'at': 'c', 'addr': '2001:db8::7'}],"
		" 'traffic': ["
		"  {'name': 'burst', 'type': 'bursty', 'from': 'a', 'to': 'h', 'rate_pps': 10000.5,"
		"   'payload_bytes': 900, 'start_s': 1.5, 'stop_s': 9, 'packets': 77,"
		"   'burst_s': 0.5, 'mean_interval_s': 1.25, 'src_port': 11, 'dst_port': 12},"
		"  {'name': 'ping', 'type': 'ping', 'from': 'h', 'to': 'a', 'rate_pps': 100,"
		"   'reply_delay_ns': 33},"
		"  {'name': 'tcp', 'type': 'window', 'from': 'b', 'to': 'h',"
		"   'window_packets': 44, 'window_fixed': true}],"
		" 'requests': ["
		"  {'node': 'b', 'traffic': 'burst',"
		"   'int_request': {'ns_id': 100, 'mode': 'count', 'mode_setting': 10}},"
		"  {'node': '*', 'traffic': 'ping', 'reverse': true,"
		"   'int_request': {'app_id': 3, 'trace_type': '0x2000E000', 'mode': 'frequency',"
		"                   'mode_setting': 2.5}}],"
		" 'events': ["
		"  {'at_s': 1, 'every_s': 0.5, 'until_s': 4, 'link': 'first',"
		"   'direction': 'reverse', 'set': {'up': false}},"
		"  {'at_s': 2, 'node': 'b', 'restart': true, 'down_s': 0.25},"
		"  {'at_s': 3, 'node': '*', 'request': {'traffic': 'tcp',"
		"   'int_request': {'ns_id': 50, 'mode': 'count', 'mode_setting': 1}}},"
		"  {'at_s': 9.5, 'traffic': 'ping', 'set': {'rate_pps': 7.5}}],"
		" 'expect': ["
		"  {'metric': 'delay_ns', 'hop': 'first', 'flow': 'ping/reply', 'value': -5,"
		"   'tolerance': 0.5},"
		"  {'metric': 'reports', 'min': 1, 'max': 2.5}]}";

static char *quoted(const char *text)
{
	char *copy = strdup(text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return copy;
}

static void parse_with(const char *text, const struct hs_scenario_override *override,
		struct hs_scenario *scenario)
{
	struct hs_error err = {0};
	char *json = quoted(text);
	int rc = hs_scenario_parse(json, strlen(json), "", override, scenario, &err);
	free(json);
	if (rc < 0)
		fail_msg("%s: %s: %s", err.code, err.path, err.message);
}

static void parse(const char *text, struct hs_scenario *scenario)
{
	parse_with(text, NULL, scenario);
}

static void assert_address(const uint8_t addr[16], const char *text)
{
	char shown[INET6_ADDRSTRLEN];
	inet_ntop(AF_INET6, addr, shown, sizeof(shown));
	assert_string_equal(shown, text);
}

static void rule_of(json_t *request, struct hs_rule *rule)
{
	struct hs_error err = {0};
	assert_int_equal(hs_rule_from_json(json_object_get(request, "int_request"), rule, &err), 0);
}

// ---- one test for each folder of bad input ----

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static void refuses_as_its_folder_says(void **state)
{
	const char *name = *state;
	char path[512];
	struct hs_scenario scenario;
	struct hs_error err = {0};

	snprintf(path, sizeof(path), "%s/%s/expected.json", GOLDEN_DIR, name);
	json_t *expected = json_load_file(path, 0, NULL);
	assert_non_null(expected);
	snprintf(path, sizeof(path), "%s/%s/scenario.json", GOLDEN_DIR, name);
	assert_true(hs_scenario_load(path, NULL, &scenario, &err) < 0);

	assert_string_equal(err.code, text_of(expected, "code"));
	assert_string_equal(err.path, text_of(expected, "path"));
	if (!strstr(err.message, text_of(expected, "says")))
		fail_msg("\"%s\" does not say \"%s\"", err.message, text_of(expected, "says"));
	if (json_object_get(expected, "expected"))
		assert_string_equal(err.expected, text_of(expected, "expected"));
	json_decref(expected);
}

// ---- good input ----

static void absent_keys_have_their_documented_defaults(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(minimal, &s);

	assert_string_equal(s.source, "");
	assert_int_equal(s.seed, 1);
	assert_int_equal(s.duration_ns, 10 * S);
	assert_int_equal(s.window_ns, S);
	assert_int_equal(s.forwarding, HS_LAB_PATCH);
	assert_false(s.closing_packet);
	assert_true(s.keep_windows);
	assert_int_equal(s.mbufs, 65536);
	assert_int_equal(s.rules, 64);
	assert_int_equal(s.mtu, 1500);
	assert_int_equal(s.reroute_ns, 0);
	assert_int_equal(s.nodes[0].layout, HS_LAYOUT_ALIGNED);
	assert_int_equal(s.nodes[0].clock.offset_ns, 0);
	assert_int_equal(s.nodes[0].clock.sync.interval_ns, 0);
	const struct hs_link_config plain = {.queue_packets = 1000};
	assert_string_equal(s.links[0].name, "a-b");
	assert_memory_equal(&s.links[0].ways[0], &plain, sizeof(plain));
	assert_memory_equal(&s.links[0].ways[1], &plain, sizeof(plain));
	assert_int_equal(s.n_events, 0);
	assert_int_equal(s.n_expects, 0);
	hs_scenario_fini(&s);
}

static void traffic_has_its_defaults_by_its_place(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse("{'name': 'm', 'duration_s': 10,"
	      " 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
	      " 'links': [{'from': 'a', 'to': 'b'}],"
	      " 'traffic': [{'name': 'x', 'from': 'a', 'to': 'b', 'rate_pps': 0},"
	      "  {'name': 'y', 'type': 'bursty', 'from': 'b', 'to': 'a', 'rate_pps': 1}]}",
			&s);

	const struct hs_scenario_traffic *x = &s.traffic[0], *y = &s.traffic[1];
	assert_int_equal(x->kind, HS_TRAFFIC_CONSTANT);
	assert_int_equal(x->protocol, IPPROTO_UDP);
	assert_int_equal(x->src_port, 5000);
	assert_int_equal(x->dst_port, 6000);
	assert_int_equal(x->payload_bytes, 500);
	assert_int_equal(x->start_ns, 0);
	assert_int_equal(x->stop_ns, 10 * S);
	assert_int_equal(x->packets, 0);
	assert_int_equal(y->src_port, 5001);
	assert_int_equal(y->dst_port, 6001);
	assert_int_equal(y->burst_ns, 2 * S);
	assert_int_equal(y->mean_interval_ns, 5 * S);
	assert_int_equal(y->from, x->to);
	assert_int_equal(y->to, x->from);
	hs_scenario_fini(&s);
}

static void every_key_of_the_head_and_of_nodes_is_read(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	assert_string_equal(s.name, "full");
	assert_string_equal(s.source, "a table");
	assert_string_equal(s.description, "all keys");
	assert_int_equal(s.seed, 7);
	assert_int_equal(s.duration_ns, 25 * S / 2);
	assert_int_equal(s.window_ns, 10 * S);
	assert_int_equal(s.forwarding, HS_LAB_SHORTEST_PATH);
	assert_true(s.closing_packet);
	assert_false(s.keep_windows);
	assert_int_equal(s.mbufs, 2048);
	assert_int_equal(s.rules, 9);
	assert_int_equal(s.mtu, 9000);
	assert_int_equal(s.reroute_ns, S / 4);

	assert_int_equal(s.n_nodes, 3);
	const struct hs_scenario_node *a = &s.nodes[0];
	assert_int_equal(a->id, 0);
	assert_string_equal(a->name, "a");
	assert_int_equal(a->layout, HS_LAYOUT_PAPER);
	assert_int_equal(a->clock.offset_ns, -36 * S);
	assert_int_equal(a->clock.drift_ppb, -15000);
	assert_int_equal(a->clock.drift_sigma_ppb, 15001);
	assert_int_equal(a->clock.sync.interval_ns, S / 2);
	assert_int_equal(a->clock.sync.first_ns, S / 8);
	assert_int_equal(a->clock.sync.error_ns, 150000);
	assert_int_equal(a->clock.sync.frequency_error_ppb, 8000);
	assert_true(a->clock.sync.slew);
	assert_int_equal(a->clock.sync.step_threshold_ns, 77);
	assert_int_equal(s.nodes[1].id, 5);
	hs_scenario_fini(&s);
}

static void every_key_of_a_link_is_read(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	assert_int_equal(s.n_links, 2);
	const struct hs_scenario_link *link = &s.links[0];
	const struct hs_link_config *way = &link->ways[0];
	assert_string_equal(link->name, "first");
	assert_int_equal(link->from, 0);
	assert_int_equal(link->to, 1);
	assert_false(way->down);
	assert_int_equal(way->rate_bps, 100000000);
	assert_int_equal(way->queue_packets, 2000);
	assert_int_equal(way->overhead_bytes, 24);
	assert_int_equal(way->delay_ns, 10000000);
	assert_int_equal(way->jitter_ns, 2000000);
	assert_int_equal(way->distribution, HS_LINK_NORMAL);
	assert_true(way->in_order);
	assert_true(way->loss_ratio == 0.01);
	assert_true(way->telemetry_loss_ratio == 0.02);
	assert_true(way->duplicate_ratio == 0.03);
	assert_true(way->reorder_ratio == 0.04);
	assert_true(way->bursts.p == 0.1 && way->bursts.r == 0.5);
	assert_true(way->bursts.loss_bad == 1 && way->bursts.loss_good == 0);
	hs_scenario_fini(&s);
}

static void reverse_changes_what_it_names_and_nothing_else(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	const struct hs_link_config *way = &s.links[0].ways[1];
	assert_int_equal(way->delay_ns, 5);
	assert_int_equal(way->rate_bps, 100000000);
	assert_true(way->loss_ratio == 0.01);
	assert_true(way->bursts.p == 0.2 && way->bursts.r == 0.25);
	assert_true(way->bursts.loss_bad == 0.5 && way->bursts.loss_good == 0.125);
	hs_scenario_fini(&s);
}

static void an_entry_the_other_way_round_is_the_other_direction(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	assert_string_equal(s.links[1].name, "b-c");
	assert_int_equal(s.links[1].ways[0].delay_ns, 1);
	assert_int_equal(s.links[1].ways[1].delay_ns, 2);
	hs_scenario_fini(&s);
}

static void links_with_names_stand_beside_each_other(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse("{'name': 'm', 'duration_s': 1, 'forwarding': 'shortest_path',"
	      " 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
	      " 'links': [{'from': 'a', 'to': 'b', 'name': 'x', 'delay_ns': 1},"
	      "           {'from': 'a', 'to': 'b', 'name': 'y', 'delay_ns': 2},"
	      "           {'from': 'b', 'to': 'a', 'delay_ns': 3},"
	      "           {'from': 'b', 'to': 'a', 'delay_ns': 4},"
	      "           {'from': 'b', 'to': 'a', 'name': 'z', 'delay_ns': 5}]}",
			&s);
	assert_int_equal(s.n_links, 3);
	assert_int_equal(s.links[0].ways[1].delay_ns, 3);
	assert_int_equal(s.links[1].ways[1].delay_ns, 4);
	assert_int_equal(s.links[2].ways[0].delay_ns, 5);
	assert_int_equal(s.links[2].from, 1);
	hs_scenario_fini(&s);
}

static void traffic_that_names_a_node_makes_one_host_there(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	assert_int_equal(s.n_hosts, 3);
	assert_string_equal(s.hosts[0].name, "h");
	assert_int_equal(s.hosts[0].at, 2);
	assert_address(s.hosts[0].addr, "2001:db8::7");
	assert_false(s.hosts[0].implicit);
	assert_string_equal(s.hosts[1].name, "a");
	assert_int_equal(s.hosts[1].at, 0);
	assert_address(s.hosts[1].addr, "2001:db8:0:1::1");
	assert_true(s.hosts[1].implicit);
	assert_address(s.hosts[2].addr, "2001:db8:0:2::1");
	assert_int_equal(s.traffic[0].from, 1);
	assert_int_equal(s.traffic[1].to, 1);
	hs_scenario_fini(&s);
}

static void every_key_of_traffic_is_read(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	assert_int_equal(s.n_traffic, 3);
	const struct hs_scenario_traffic *t = &s.traffic[0];
	assert_string_equal(t->name, "burst");
	assert_int_equal(t->kind, HS_TRAFFIC_BURSTY);
	assert_int_equal(t->from, 1);
	assert_int_equal(t->to, 0);
	assert_true(t->rate_pps == 10000.5);
	assert_int_equal(t->payload_bytes, 900);
	assert_int_equal(t->start_ns, 3 * S / 2);
	assert_int_equal(t->stop_ns, 9 * S);
	assert_int_equal(t->packets, 77);
	assert_int_equal(t->burst_ns, S / 2);
	assert_int_equal(t->mean_interval_ns, 5 * S / 4);
	assert_int_equal(t->src_port, 11);
	assert_int_equal(t->dst_port, 12);

	assert_int_equal(s.traffic[1].kind, HS_TRAFFIC_PING);
	assert_int_equal(s.traffic[1].protocol, IPPROTO_ICMPV6);
	assert_int_equal(s.traffic[1].src_port, 0);
	assert_int_equal(s.traffic[1].dst_port, 0);
	assert_int_equal(s.traffic[1].reply_delay_ns, 33);
	assert_int_equal(s.traffic[2].kind, HS_TRAFFIC_WINDOW);
	assert_int_equal(s.traffic[2].protocol, IPPROTO_TCP);
	assert_int_equal(s.traffic[2].window_packets, 44);
	assert_true(s.traffic[2].window_fixed);
	hs_scenario_fini(&s);
}

static void traffic_fills_in_what_a_request_leaves_out(void **state)
{
	(void)state;
	struct hs_scenario s;
	struct hs_rule rule;
	parse(full, &s);

	assert_int_equal(s.n_requests, 2);
	assert_int_equal(s.requests[0].node, 1);
	rule_of(s.requests[0].request, &rule);
	assert_int_equal(rule.ns_id, 100);
	assert_int_equal(rule.app_id, 1);
	assert_address(rule.src_ip, "2001:db8:0:1::1");
	assert_address(rule.dst_ip, "2001:db8::7");
	assert_int_equal(rule.src_port, 11);
	assert_int_equal(rule.dst_port, 12);
	assert_int_equal(rule.protocol, IPPROTO_UDP);
	assert_int_equal(rule.trace_type, 0x7000E000);
	hs_scenario_fini(&s);
}

static void a_request_for_replies_has_the_ends_exchanged(void **state)
{
	(void)state;
	struct hs_scenario s;
	struct hs_rule rule;
	parse(full, &s);

	assert_int_equal(s.requests[1].node, HS_NO_INDEX);
	rule_of(s.requests[1].request, &rule);
	assert_int_equal(rule.ns_id, 2);
	assert_int_equal(rule.app_id, 3);
	assert_address(rule.src_ip, "2001:db8:0:1::1");
	assert_address(rule.dst_ip, "2001:db8::7");
	assert_int_equal(rule.protocol, IPPROTO_ICMPV6);
	assert_int_equal(rule.trace_type, 0x2000E000);
	// What the file says is not changed by filling in.
	rule_of(s.events[2].request, &rule);
	assert_int_equal(rule.src_port, 5002);
	assert_int_equal(rule.dst_port, 6002);
	hs_scenario_fini(&s);
}

static void ports_are_exchanged_for_replies_too(void **state)
{
	(void)state;
	struct hs_scenario s;
	struct hs_rule rule;
	parse("{'name': 'm', 'duration_s': 1,"
	      " 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
	      " 'links': [{'from': 'a', 'to': 'b'}],"
	      " 'traffic': [{'name': 'x', 'type': 'window', 'from': 'a', 'to': 'b'}],"
	      " 'requests': [{'node': 'a', 'traffic': 'x', 'reverse': true,"
	      "  'int_request': {'mode': 'count', 'mode_setting': 1}}]}",
			&s);
	rule_of(s.requests[0].request, &rule);
	assert_int_equal(rule.src_port, 6000);
	assert_int_equal(rule.dst_port, 5000);
	assert_int_equal(s.flows[0].traffic, 0);
	assert_true(s.flows[0].reverse);
	hs_scenario_fini(&s);
}

static void each_namespace_is_a_flow_with_its_traffic(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	assert_int_equal(s.n_flows, 3);
	assert_int_equal(s.flows[0].ns_id, 100);
	assert_int_equal(s.flows[0].app_id, 1);
	assert_int_equal(s.flows[0].traffic, 0);
	assert_false(s.flows[0].reverse);
	assert_int_equal(s.flows[1].ns_id, 2);
	assert_int_equal(s.flows[1].app_id, 3);
	assert_int_equal(s.flows[1].traffic, 1);
	assert_true(s.flows[1].reverse);
	assert_int_equal(s.flows[2].ns_id, 50);
	assert_int_equal(s.flows[2].traffic, 2);
	hs_scenario_fini(&s);
}

static void a_rule_for_any_port_finds_its_traffic_by_the_rest(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse("{'name': 'm', 'duration_s': 1, 'forwarding': 'bridge',"
	      " 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
	      " 'links': [{'from': 'a', 'to': 'b'}],"
	      " 'traffic': ["
	      "  {'name': 'x', 'protocol': 'tcp', 'from': 'a', 'to': 'b', 'rate_pps': 1},"
	      "  {'name': 'y', 'from': 'a', 'to': 'b', 'rate_pps': 1}],"
	      " 'requests': ["
	      "  {'node': 'a', 'int_request': {'ns_id': 1, 'mode': 'count', 'mode_setting': 1,"
	      "   'src_ip': '2001:db8:0:1::1', 'dst_ip': '2001:db8:0:2::1',"
	      "   'protocol': 'udp', 'trace_type': '0x2000E000', 'dst_port': 6001}},"
	      "  {'node': 'a', 'int_request': {'ns_id': 2, 'mode': 'count', 'mode_setting': 1,"
	      "   'src_ip': '2001:db8:0:2::1', 'dst_ip': '2001:db8:0:1::1',"
	      "   'protocol': 'tcp', 'trace_type': '0x2000E000'}},"
	      "  {'node': 'b', 'int_request': {'ns_id': 2, 'mode': 'count', 'mode_setting': 9,"
	      "   'src_ip': '2001:db8:0:2::1', 'dst_ip': '2001:db8:0:1::1',"
	      "   'protocol': 'tcp', 'trace_type': '0x2000E000'}},"
	      "  {'node': 'a', 'int_request': {'ns_id': 3, 'mode': 'count', 'mode_setting': 1,"
	      "   'src_ip': '2001:db8:0:1::1', 'dst_ip': '2001:db8:0:2::1',"
	      "   'protocol': 'udp', 'trace_type': '0x2000E000', 'dst_port': 6000}}]}",
			&s);
	assert_int_equal(s.n_flows, 3);
	assert_int_equal(s.flows[0].traffic, 1);
	assert_false(s.flows[0].reverse);
	assert_int_equal(s.flows[1].traffic, 0);
	assert_true(s.flows[1].reverse);
	assert_int_equal(s.flows[2].traffic, HS_NO_INDEX);
	hs_scenario_fini(&s);
}

static void a_request_for_all_traffic_is_one_for_each_entry(void **state)
{
	(void)state;
	struct hs_scenario s;
	struct hs_rule rule;
	parse("{'name': 'm', 'duration_s': 1,"
	      " 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
	      " 'links': [{'from': 'a', 'to': 'b'}],"
	      " 'traffic': [{'name': 'x', 'type': 'ping', 'from': 'a', 'to': 'b', 'rate_pps': 1},"
	      "             {'name': 'y', 'type': 'ping', 'from': 'b', 'to': 'a', 'rate_pps': 1}],"
	      " 'requests': [{'node': '*', 'traffic': '*',"
	      "  'int_request': {'mode': 'count', 'mode_setting': 1}}]}",
			&s);
	assert_int_equal(s.n_requests, 2);
	rule_of(s.requests[1].request, &rule);
	assert_int_equal(rule.ns_id, 2);
	// The second ping looks like the replies of the first, and is not taken for them.
	assert_int_equal(s.flows[1].traffic, 1);
	assert_false(s.flows[1].reverse);
	hs_scenario_fini(&s);
}

static void every_key_of_events_is_read(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	assert_int_equal(s.n_events, 4);
	const struct hs_scenario_event *e = s.events;
	assert_int_equal(e[0].kind, HS_LAB_EVENT_LINK);
	assert_int_equal(e[0].at_ns, S);
	assert_int_equal(e[0].every_ns, S / 2);
	assert_int_equal(e[0].until_ns, 4 * S);
	assert_int_equal(e[0].link, 0);
	assert_false(e[0].way_changes[0]);
	assert_true(e[0].way_changes[1]);
	assert_true(json_is_false(json_object_get(e[0].set, "up")));
	assert_int_equal(e[1].kind, HS_LAB_EVENT_RESTART);
	assert_int_equal(e[1].node, 1);
	assert_int_equal(e[1].down_ns, S / 4);
	assert_int_equal(e[1].every_ns, 0);
	assert_int_equal(e[2].kind, HS_LAB_EVENT_REQUEST);
	assert_int_equal(e[2].node, HS_NO_INDEX);
	assert_non_null(json_object_get(e[2].request, "int_request"));
	assert_null(json_object_get(e[2].request, "traffic"));
	assert_int_equal(e[3].kind, HS_LAB_EVENT_TRAFFIC);
	assert_int_equal(e[3].traffic, 1);
	assert_true(e[3].rate_pps == 7.5);
	hs_scenario_fini(&s);
}

static void every_key_of_expectations_is_read(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse(full, &s);

	assert_int_equal(s.n_expects, 2);
	const struct hs_scenario_expect *x = s.expects;
	assert_string_equal(x[0].metric, "delay_ns");
	assert_string_equal(x[0].hop, "first");
	assert_int_equal(x[0].flow, 1);
	assert_true(x[0].has_value && !x[0].has_min && !x[0].has_max);
	assert_true(x[0].value == -5 && x[0].tolerance == 0.5);
	assert_string_equal(x[1].hop, "");
	assert_int_equal(x[1].flow, HS_NO_INDEX);
	assert_true(!x[1].has_value && x[1].has_min && x[1].has_max);
	assert_true(x[1].min == 1 && x[1].max == 2.5);
	hs_scenario_fini(&s);
}

static void an_event_may_install_again_what_a_restart_forgot(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse("{'name': 'm', 'duration_s': 10,"
	      " 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
	      " 'links': [{'from': 'a', 'to': 'b'}],"
	      " 'traffic': [{'name': 'x', 'from': 'a', 'to': 'b', 'rate_pps': 1}],"
	      " 'requests': [{'node': 'a', 'traffic': 'x',"
	      "  'int_request': {'mode': 'count', 'mode_setting': 1}}],"
	      " 'events': ["
	      "  {'at_s': 3, 'node': 'b', 'request': {'traffic': 'x',"
	      "   'int_request': {'mode': 'count', 'mode_setting': 1}}},"
	      "  {'at_s': 2, 'node': 'b', 'restart': true},"
	      "  {'at_s': 1, 'node': 'b', 'request': {'traffic': 'x',"
	      "   'int_request': {'mode': 'count', 'mode_setting': 1}}}]}",
			&s);
	assert_int_equal(s.n_flows, 1);
	hs_scenario_fini(&s);
}

// ---- topologies and patterns ----

static const char fat_tree[] = "{'name': 'f', 'duration_s': 1, 'forwarding': 'shortest_path',"
			       " 'rules': 4096,"
			       " 'topology': {'kind': 'fat_tree', 'k': %u,"
			       "  'link': {'delay_ns': 10, 'reverse': {'delay_ns': 20}}},"
			       " 'traffic': [{'name': 'perm', 'rate_pps': 1,"
			       "  'pattern': {'kind': 'permutation', 'flows': %u}}],"
			       " 'requests': [{'node': '*', 'traffic': '*',"
			       "  'int_request': {'mode': 'count', 'mode_setting': 10}}]}";

static void parse_fat_tree(unsigned k, unsigned flows, uint64_t seed, struct hs_scenario *scenario)
{
	const struct hs_scenario_override override = {.has_seed = true, .seed = seed};
	char text[1024];
	snprintf(text, sizeof(text), fat_tree, k, flows);
	parse_with(text, &override, scenario);
}

static void assert_distances(const struct hs_scenario *s, unsigned k)
{
	uint32_t(*ends)[2] = calloc(s->n_links, sizeof(*ends));
	uint32_t *hops = calloc(s->n_nodes, sizeof(*hops));
	struct hs_graph *graph;
	size_t at_four = 0;

	for (size_t i = 0; i < s->n_links; i++) {
		ends[i][0] = s->links[i].from;
		ends[i][1] = s->links[i].to;
	}
	assert_int_equal(hs_graph_create((uint32_t)s->n_nodes, (uint32_t)s->n_links,
					 (const uint32_t(*)[2])ends, &graph),
			0);
	hs_graph_distances(graph, s->hosts[0].at, hops);
	for (size_t i = 0; i < s->n_nodes; i++) {
		assert_in_range(hops[i], 0, 4);
		at_four += hops[i] == 4;
	}
	// The edge switches of all other pods.
	assert_int_equal(at_four, (k - 1) * k / 2);
	hs_graph_destroy(graph);
	free(ends);
	free(hops);
}

static void a_fat_tree_has_its_switches_links_and_hosts(void **state)
{
	(void)state;
	static const struct {
		unsigned k;
		size_t nodes, links, hosts;
	} cases[] = {{2, 5, 4, 2}, {4, 20, 32, 16}, {20, 500, 4000, 2000}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct hs_scenario s;
		unsigned ports[500] = {0};
		parse_fat_tree(cases[c].k, 1, 1, &s);
		assert_int_equal(s.n_nodes, cases[c].nodes);
		assert_int_equal(s.n_links, cases[c].links);
		assert_int_equal(s.n_hosts, cases[c].hosts);
		for (size_t i = 0; i < s.n_links; i++) {
			ports[s.links[i].from]++;
			ports[s.links[i].to]++;
		}
		for (size_t i = 0; i < s.n_hosts; i++)
			ports[s.hosts[i].at]++;
		for (size_t i = 0; i < s.n_nodes; i++) {
			assert_int_equal(ports[i], cases[c].k);
			assert_int_equal(s.nodes[i].id, i + 1);
		}
		assert_distances(&s, cases[c].k);
		hs_scenario_fini(&s);
	}
}

static void a_fat_tree_names_what_it_makes(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse_fat_tree(4, 1, 1, &s);

	assert_string_equal(s.nodes[0].name, "core-1");
	assert_string_equal(s.nodes[4].name, "agg-1-1");
	assert_string_equal(s.nodes[19].name, "edge-4-2");
	assert_string_equal(s.links[0].name, "core-1-agg-1-1");
	assert_string_equal(s.links[1].name, "core-2-agg-1-1");
	assert_int_equal(s.links[31].ways[0].delay_ns, 10);
	assert_int_equal(s.links[31].ways[1].delay_ns, 20);
	assert_string_equal(s.hosts[15].name, "h-4-2-2");
	assert_string_equal(s.nodes[s.hosts[15].at].name, "edge-4-2");
	assert_address(s.hosts[15].addr, "2001:db8:4:2::2");
	hs_scenario_fini(&s);

	parse_fat_tree(20, 1, 1, &s);
	assert_string_equal(s.hosts[1999].name, "h-20-10-10");
	assert_address(s.hosts[1999].addr, "2001:db8:20:10::10");
	hs_scenario_fini(&s);
}

static void a_permutation_lets_each_host_send_to_another_and_get_from_one(void **state)
{
	(void)state;
	struct hs_scenario s;
	unsigned sends[16] = {0}, gets[16] = {0};
	parse_fat_tree(4, 32, 5, &s);

	assert_int_equal(s.n_traffic, 32);
	assert_string_equal(s.traffic[0].name, "perm-1");
	assert_string_equal(s.traffic[31].name, "perm-32");
	for (size_t i = 0; i < s.n_traffic; i++) {
		assert_true(s.traffic[i].from != s.traffic[i].to);
		sends[s.traffic[i].from]++;
		gets[s.traffic[i].to]++;
		if (i == 15 || i == 31)
			for (size_t h = 0; h < 16; h++)
				assert_true(sends[h] == (i + 1) / 16 && gets[h] == (i + 1) / 16);
	}
	hs_scenario_fini(&s);
}

static bool same_pairs(const struct hs_scenario *a, const struct hs_scenario *b)
{
	for (size_t i = 0; i < a->n_traffic; i++)
		if (a->traffic[i].from != b->traffic[i].from ||
				a->traffic[i].to != b->traffic[i].to)
			return false;
	return true;
}

static void a_permutation_is_the_seeds(void **state)
{
	(void)state;
	struct hs_scenario first, again, other;
	parse_fat_tree(4, 16, 5, &first);
	parse_fat_tree(4, 16, 5, &again);
	parse_fat_tree(4, 16, 6, &other);
	assert_true(same_pairs(&first, &again));
	assert_false(same_pairs(&first, &other));
	hs_scenario_fini(&first);
	hs_scenario_fini(&again);
	hs_scenario_fini(&other);
}

static void thousands_of_requests_are_read(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse_fat_tree(20, 2000, 1, &s);
	assert_int_equal(s.n_requests, 2000);
	assert_int_equal(s.n_flows, 2000);
	for (uint32_t i = 0; i < s.n_flows; i++) {
		assert_int_equal(s.flows[i].ns_id, i + 1);
		assert_int_equal(s.flows[i].traffic, i);
	}
	hs_scenario_fini(&s);
}

// ---- what the command line says ----

static void a_shorter_duration_cuts_traffic_and_events(void **state)
{
	(void)state;
	const struct hs_scenario_override override = {.duration_ns = 5 * S / 2};
	struct hs_scenario s;
	parse_with(full, &override, &s);

	assert_int_equal(s.duration_ns, 5 * S / 2);
	assert_int_equal(s.seed, 7);
	assert_int_equal(s.traffic[0].start_ns, 3 * S / 2);
	assert_int_equal(s.traffic[0].stop_ns, 5 * S / 2);
	assert_int_equal(s.traffic[1].stop_ns, 5 * S / 2);
	assert_int_equal(s.n_events, 2);
	assert_int_equal(s.events[0].until_ns, 5 * S / 2);
	assert_int_equal(s.events[1].kind, HS_LAB_EVENT_RESTART);
	// The one whose request was cut.
	assert_int_equal(s.n_flows, 2);
	hs_scenario_fini(&s);
}

static void traffic_that_would_start_later_never_does(void **state)
{
	(void)state;
	const struct hs_scenario_override override = {.duration_ns = S};
	struct hs_scenario s;
	parse_with(full, &override, &s);
	assert_int_equal(s.traffic[0].start_ns, S);
	assert_int_equal(s.traffic[0].stop_ns, S);
	assert_int_equal(s.n_events, 1);
	hs_scenario_fini(&s);
}

static void a_longer_duration_goes_on_where_no_end_is_said(void **state)
{
	(void)state;
	const struct hs_scenario_override override = {
			.duration_ns = 100 * S, .has_seed = true, .seed = 0};
	struct hs_scenario s;
	parse_with(full, &override, &s);
	assert_int_equal(s.duration_ns, 100 * S);
	assert_int_equal(s.seed, 0);
	assert_int_equal(s.traffic[0].stop_ns, 9 * S);
	assert_int_equal(s.traffic[1].stop_ns, 100 * S);
	assert_int_equal(s.n_events, 4);
	hs_scenario_fini(&s);
}

static void replies_that_a_request_names_are_no_traffic_the_other_way(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse("{'name': 'm', 'duration_s': 1,"
	      " 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
	      " 'links': [{'from': 'a', 'to': 'b'}],"
	      " 'traffic': [{'name': 'x', 'type': 'ping', 'from': 'a', 'to': 'b', 'rate_pps': 1},"
	      "             {'name': 'y', 'type': 'ping', 'from': 'b', 'to': 'a', 'rate_pps': 1}],"
	      " 'requests': [{'node': '*', 'traffic': 'x', 'reverse': true,"
	      "  'int_request': {'mode': 'count', 'mode_setting': 1}}]}",
			&s);
	assert_int_equal(s.flows[0].traffic, 0);
	assert_true(s.flows[0].reverse);
	hs_scenario_fini(&s);
}

static void the_address_of_a_node_is_its_place_in_hexadecimal(void **state)
{
	(void)state;
	struct hs_scenario s;
	struct hs_error err = {0};
	json_t *nodes = json_array(), *links = json_array();
	for (int i = 1; i <= 300; i++) {
		char name[8], next[8];
		snprintf(name, sizeof(name), "n%d", i);
		snprintf(next, sizeof(next), "n%d", i + 1);
		json_array_append_new(nodes, json_pack("{s:i, s:s}", "id", i, "name", name));
		if (i < 300)
			json_array_append_new(
					links, json_pack("{s:s, s:s}", "from", name, "to", next));
	}
	json_t *root = json_pack("{s:s, s:i, s:o, s:o, s:[{s:s, s:s, s:s, s:i}]}", "name", "m",
			"duration_s", 1, "nodes", nodes, "links", links, "traffic", "name", "x",
			"from", "n1", "to", "n300", "rate_pps", 1);
	char *text = json_dumps(root, 0);
	assert_int_equal(hs_scenario_parse(text, strlen(text), "", NULL, &s, &err), 0);
	assert_address(s.hosts[0].addr, "2001:db8:0:1::1");
	assert_address(s.hosts[1].addr, "2001:db8:0:12c::1");
	free(text);
	json_decref(root);
	hs_scenario_fini(&s);
}

static void two_hosts_of_a_permutation_send_to_each_other(void **state)
{
	(void)state;
	struct hs_scenario s;
	parse_fat_tree(2, 2, 1, &s);
	assert_int_equal(s.traffic[0].from, s.traffic[1].to);
	assert_int_equal(s.traffic[0].to, s.traffic[1].from);
	assert_true(s.traffic[0].from != s.traffic[0].to);
	hs_scenario_fini(&s);
}

static void a_longer_duration_gives_room_to_later_events(void **state)
{
	(void)state;
	static const char text[] =
			"{'name': 'm', 'duration_s': 1,"
			" 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
			" 'links': [{'from': 'a', 'to': 'b'}],"
			" 'traffic': [{'name': 'x', 'from': 'a', 'to': 'b', 'rate_pps': 1}],"
			" 'events': [{'at_s': 5, 'link': 'a-b', 'set': {'up': false}}]}";
	const struct hs_scenario_override override = {.duration_ns = 10 * S};
	struct hs_scenario s;
	struct hs_error err = {0};
	parse_with(text, &override, &s);
	assert_int_equal(s.n_events, 1);
	assert_int_equal(s.events[0].until_ns, 5 * S);
	hs_scenario_fini(&s);

	char *json = quoted(text);
	assert_true(hs_scenario_parse(json, strlen(json), "", NULL, &s, &err) < 0);
	assert_string_equal(err.path, "events[0].at_s");
	free(json);
}

// ---- files ----

static void a_file_of_traffic_is_looked_for_beside_the_scenario(void **state)
{
	(void)state;
	static const char text[] =
			"{'name': 'm', 'duration_s': 1,"
			" 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
			" 'links': [{'from': 'a', 'to': 'b'}],"
			" 'traffic': [{'name': 'x', 'type': 'pcap', 'from': 'a', 'to': 'b',"
			"              'file': 'frames.pcap'}]}";
	char folder[] = "/tmp/hs-scenario-XXXXXX", pcap[64], file[64];
	struct hs_scenario s;
	struct hs_error err = {0};

	assert_non_null(mkdtemp(folder));
	snprintf(pcap, sizeof(pcap), "%s/frames.pcap", folder);
	snprintf(file, sizeof(file), "%s/x.json", folder);
	fclose(fopen(pcap, "w"));
	FILE *out = fopen(file, "w");
	char *json = quoted(text);
	fputs(json, out);
	fclose(out);
	free(json);
	int rc = hs_scenario_load(file, NULL, &s, &err);
	unlink(pcap);
	unlink(file);
	rmdir(folder);

	assert_int_equal(rc, 0);
	assert_string_equal(s.folder, folder);
	assert_string_equal(s.traffic[0].file, "frames.pcap");
	assert_int_equal(s.traffic[0].kind, HS_TRAFFIC_PCAP);
	hs_scenario_fini(&s);
}

static void a_scenario_that_is_not_there_is_an_error_with_its_reason(void **state)
{
	(void)state;
	struct hs_scenario s;
	struct hs_error err = {0};
	assert_int_equal(hs_scenario_load("/nonexistent/x.json", NULL, &s, &err), -ENOENT);
	assert_string_equal(err.code, "not_readable");
	assert_non_null(strstr(err.message, "No such file"));
	assert_int_equal(hs_scenario_peek("/nonexistent/x.json", &s, &err), -ENOENT);
}

static void a_peek_reads_the_title_whatever_else_is_wrong(void **state)
{
	(void)state;
	struct hs_scenario s;
	struct hs_error err = {0};
	assert_int_equal(hs_scenario_peek(GOLDEN_DIR "/no-nodes-are-refused/scenario.json", &s,
					 &err),
			0);
	assert_string_equal(s.name, "t");
	assert_string_equal(s.description, "");
	assert_int_equal(s.n_nodes, 0);
	hs_scenario_fini(&s);

	assert_true(hs_scenario_peek(GOLDEN_DIR "/scenario-without-name-is-refused/scenario.json",
				    &s, &err) < 0);
	assert_string_equal(err.path, "name");
	assert_true(hs_scenario_peek(GOLDEN_DIR "/list-at-the-top-is-refused/scenario.json", &s,
				    &err) < 0);
	assert_string_equal(err.code, "wrong_type");
}

static void every_truncation_of_a_good_scenario_is_refused(void **state)
{
	(void)state;
	char *json = quoted(full);
	for (size_t len = 0; len < strlen(json); len++) {
		struct hs_scenario s;
		struct hs_error err = {0};
		assert_true(hs_scenario_parse(json, len, "", NULL, &s, &err) < 0);
		assert_string_equal(err.code, "not_json");
	}
	free(json);
}

// Every place of the text in turn holds something else: most of what is wrong is found late, when
// much has been made already.
static void no_broken_scenario_leaks_or_crashes(void **state)
{
	(void)state;
	char *json = quoted(full);
	size_t refused = 0, len = strlen(json);
	for (size_t i = 0; i < len; i++) {
		char before = json[i];
		for (const char *c = "9x\"-"; *c; c++) {
			struct hs_scenario s;
			struct hs_error err = {0};
			json[i] = *c;
			if (hs_scenario_parse(json, len, "", NULL, &s, &err) == 0) {
				hs_scenario_fini(&s);
				continue;
			}
			refused++;
			assert_true(err.code[0] && err.message[0]);
		}
		json[i] = before;
	}
	assert_true(refused > len);
	free(json);
}

// ---- changes of links ----

static void a_change_of_a_link_leaves_what_it_does_not_name(void **state)
{
	(void)state;
	struct hs_link_config config = {
			.delay_ns = 5, .queue_packets = 10, .bursts = {0.1, 0.2, 0.3, 0.4}};
	struct hs_error err = {0};
	json_t *set = json_pack("{s:b, s:f}", "up", 0, "loss_ratio", 0.5);

	assert_int_equal(hs_scenario_set_link(set, "", &config, &err), 0);
	assert_true(config.down && config.loss_ratio == 0.5);
	assert_int_equal(config.delay_ns, 5);
	assert_true(config.bursts.loss_good == 0.4);
	json_decref(set);
}

static void a_change_of_a_link_that_is_wrong_changes_nothing(void **state)
{
	(void)state;
	struct hs_link_config config = {.delay_ns = 5, .queue_packets = 10}, before = config;
	struct hs_error err = {0};
	json_t *set = json_pack(
			"{s:i, s:i, s:i}", "delay_ns", 7, "rate_bps", 100, "queue_packets", 0);

	assert_true(hs_scenario_set_link(set, "events[3].set", &config, &err) < 0);
	assert_string_equal(err.path, "events[3].set.queue_packets");
	assert_memory_equal(&config, &before, sizeof(config));
	assert_true(hs_scenario_set_link(set, "", &config, &err) < 0);
	assert_string_equal(err.path, "queue_packets");
	json_decref(set);
}

// ---- graphs ----

static void distances_follow_the_ways_that_are_up(void **state)
{
	(void)state;
	static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
	struct hs_graph *graph;
	uint32_t hops[5];

	assert_int_equal(hs_graph_create(5, 4, ends, &graph), 0);
	hs_graph_distances(graph, 0, hops);
	assert_int_equal(hops[0], 0);
	assert_int_equal(hops[1], 1);
	assert_int_equal(hops[2], 2);
	assert_int_equal(hops[3], 1);
	assert_int_equal(hops[4], HS_GRAPH_FAR);

	hs_graph_set_up(graph, 3, 0, false); // from 3 to 0
	hs_graph_distances(graph, 0, hops);
	assert_int_equal(hops[3], 3);
	hs_graph_distances(graph, 3, hops);
	assert_int_equal(hops[0], 1);
	hs_graph_set_up(graph, 3, 0, true);
	hs_graph_distances(graph, 0, hops);
	assert_int_equal(hops[3], 1);
	hs_graph_destroy(graph);
}

static void the_cable_that_closes_a_cycle_is_found(void **state)
{
	(void)state;
	static const uint32_t ring[][2] = {{0, 1}, {2, 3}, {1, 2}, {3, 0}, {0, 2}};
	static const uint32_t twice[][2] = {{0, 1}, {1, 0}};
	struct hs_graph *graph;
	uint32_t cable;

	assert_int_equal(hs_graph_create(4, 5, ring, &graph), 0);
	assert_int_equal(hs_graph_cycle(graph, &cable), 0);
	assert_int_equal(cable, 3);
	hs_graph_destroy(graph);
	assert_int_equal(hs_graph_create(4, 3, ring, &graph), 0);
	assert_int_equal(hs_graph_cycle(graph, &cable), 0);
	assert_int_equal(cable, HS_GRAPH_FAR);
	hs_graph_destroy(graph);
	assert_int_equal(hs_graph_create(2, 2, twice, &graph), 0);
	assert_int_equal(hs_graph_cycle(graph, &cable), 0);
	assert_int_equal(cable, 1);
	hs_graph_destroy(graph);
	hs_graph_destroy(NULL);
}

static const struct CMUnitTest fixed[] = {
		cmocka_unit_test(absent_keys_have_their_documented_defaults),
		cmocka_unit_test(traffic_has_its_defaults_by_its_place),
		cmocka_unit_test(every_key_of_the_head_and_of_nodes_is_read),
		cmocka_unit_test(every_key_of_a_link_is_read),
		cmocka_unit_test(reverse_changes_what_it_names_and_nothing_else),
		cmocka_unit_test(an_entry_the_other_way_round_is_the_other_direction),
		cmocka_unit_test(links_with_names_stand_beside_each_other),
		cmocka_unit_test(traffic_that_names_a_node_makes_one_host_there),
		cmocka_unit_test(every_key_of_traffic_is_read),
		cmocka_unit_test(traffic_fills_in_what_a_request_leaves_out),
		cmocka_unit_test(a_request_for_replies_has_the_ends_exchanged),
		cmocka_unit_test(ports_are_exchanged_for_replies_too),
		cmocka_unit_test(each_namespace_is_a_flow_with_its_traffic),
		cmocka_unit_test(a_rule_for_any_port_finds_its_traffic_by_the_rest),
		cmocka_unit_test(a_request_for_all_traffic_is_one_for_each_entry),
		cmocka_unit_test(every_key_of_events_is_read),
		cmocka_unit_test(every_key_of_expectations_is_read),
		cmocka_unit_test(an_event_may_install_again_what_a_restart_forgot),
		cmocka_unit_test(a_fat_tree_has_its_switches_links_and_hosts),
		cmocka_unit_test(a_fat_tree_names_what_it_makes),
		cmocka_unit_test(a_permutation_lets_each_host_send_to_another_and_get_from_one),
		cmocka_unit_test(a_permutation_is_the_seeds),
		cmocka_unit_test(thousands_of_requests_are_read),
		cmocka_unit_test(a_shorter_duration_cuts_traffic_and_events),
		cmocka_unit_test(traffic_that_would_start_later_never_does),
		cmocka_unit_test(a_longer_duration_goes_on_where_no_end_is_said),
		cmocka_unit_test(replies_that_a_request_names_are_no_traffic_the_other_way),
		cmocka_unit_test(the_address_of_a_node_is_its_place_in_hexadecimal),
		cmocka_unit_test(two_hosts_of_a_permutation_send_to_each_other),
		cmocka_unit_test(a_longer_duration_gives_room_to_later_events),
		cmocka_unit_test(a_file_of_traffic_is_looked_for_beside_the_scenario),
		cmocka_unit_test(a_scenario_that_is_not_there_is_an_error_with_its_reason),
		cmocka_unit_test(a_peek_reads_the_title_whatever_else_is_wrong),
		cmocka_unit_test(every_truncation_of_a_good_scenario_is_refused),
		cmocka_unit_test(no_broken_scenario_leaks_or_crashes),
		cmocka_unit_test(a_change_of_a_link_leaves_what_it_does_not_name),
		cmocka_unit_test(a_change_of_a_link_that_is_wrong_changes_nothing),
		cmocka_unit_test(distances_follow_the_ways_that_are_up),
		cmocka_unit_test(the_cable_that_closes_a_cycle_is_found),
};
#define N_FIXED (sizeof(fixed) / sizeof(fixed[0]))

int main(void)
{
	static struct CMUnitTest tests[N_FIXED + 512];
	struct dirent **names;
	int n = scandir(GOLDEN_DIR, &names, NULL, alphasort);
	size_t n_tests = N_FIXED;

	memcpy(tests, fixed, sizeof(fixed));
	for (int i = 0; i < n && n_tests < sizeof(tests) / sizeof(tests[0]); i++) {
		if (names[i]->d_name[0] == '.')
			continue;
		tests[n_tests++] = (struct CMUnitTest){
				.name = names[i]->d_name,
				.test_func = refuses_as_its_folder_says,
				.initial_state = names[i]->d_name,
		};
	}
	if (n_tests == N_FIXED) {
		fprintf(stderr, "no golden files in %s\n", GOLDEN_DIR);
		return 1;
	}
	int failed = _cmocka_run_group_tests("lab-scenario", tests, n_tests, NULL, NULL);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return failed;
}
