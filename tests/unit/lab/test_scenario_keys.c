// SPDX-License-Identifier: BSD-3-Clause
// The effect of each key of a valid scenario.
#include "scenario_text.h"

#include "flexint.h"

#include <math.h>
#include <netinet/in.h>

#define EACH "'mode': 'count', 'mode_setting': 1"
#define PINGS                                                                                      \
	" 'traffic': [{'name': 'x', 'type': 'ping', 'from': 'a', 'to': 'b', 'rate_pps': 1},"       \
	"             {'name': 'y', 'type': 'ping', 'from': 'b', 'to': 'a', 'rate_pps': 1}],"

static const char minimal[] =
		"{'name': 'm', 'duration_s': 10," TWO_NODES
		" 'traffic': [{'name': 'up', 'from': 'a', 'to': 'b', 'rate_pps': 100}],"
		" 'requests': [{'node': '*', 'traffic': 'up',"
		"               'int_request': {'mode': 'count', 'mode_setting': 10}}]}";

static void absent_keys_have_their_documented_defaults(void **state)
{
	(void)state;
	parse(minimal);

	assert_string_equal(s.source, "");
	assert_int_equal(s.seed, 1);
	assert_int_equal(s.duration_ns, 10 * S);
	assert_int_equal(s.window_ns, S);
	assert_int_equal(s.forwarding, HS_LAB_PATCH);
	assert_false(s.closing_packet);
	assert_false(s.opening_packet);
	assert_true(s.keep_windows);
	assert_int_equal(s.mbufs, 65536);
	assert_int_equal(s.rules, 64);
	assert_int_equal(s.mtu, 1500);
	assert_int_equal(s.reroute_ns, 0);
	assert_int_equal(s.in_band.n_repeats, 6);
	assert_int_equal(s.in_band.interval_s, 60);
	assert_true(s.in_band.accept);
	assert_int_equal(s.nodes[0].layout, HS_LAYOUT_ALIGNED);
	assert_int_equal(s.nodes[0].clock.offset_ns, 0);
	assert_int_equal(s.nodes[0].clock.sync.interval_ns, 0);
	const struct hs_link_config plain = {.queue_packets = 1000};
	assert_string_equal(s.links[0].name, "a-b");
	assert_memory_equal(&s.links[0].directions[0], &plain, sizeof(plain));
	assert_memory_equal(&s.links[0].directions[1], &plain, sizeof(plain));
	assert_int_equal(s.n_events, 0);
	assert_int_equal(s.n_expects, 0);
}

#define RATES                                                                                      \
	" 'nodes': [{'id': 1, 'name': 'a', 'rate_pps': 7},"                                        \
	"  {'id': 2, 'name': 'b', 'rate_pps': 8, 'queue_packets': 9}]}"

static void a_controller_of_labels_has_its_keys_and_defaults(void **state)
{
	(void)state;
	parse(minimal);
	assert_false(s.label.given);
	assert_int_equal(s.nodes[0].rate_pps, 0);

	parse("{'name': 'm', 'duration_s': 10, 'forwarding': 'shortest_path', 'label': {}," RATES);
	assert_true(s.label.given);
	assert_int_equal(s.label.interval_ns, S / 10);
	assert_int_equal(s.label.delay_ns, S / 1000);
	assert_true(s.label.loss_ratio == 0);
	assert_int_equal(s.label.pro_step_ns, 0);
	assert_int_equal(s.nodes[0].rate_pps, 7);
	assert_int_equal(s.nodes[0].queue_packets, 64);
	assert_int_equal(s.nodes[1].queue_packets, 9);

	parse("{'name': 'm', 'duration_s': 10, 'forwarding': 'shortest_path',"
	      " 'label': {'interval_s': 2, 'delay_ns': 3, 'loss_ratio': 0.5,"
	      "  'pro': {'patience_s': 4, 'loss_ratio': 0.25}}," RATES);
	assert_int_equal(s.label.interval_ns, 2 * S);
	assert_int_equal(s.label.delay_ns, 3);
	assert_true(s.label.loss_ratio == 0.5);
	assert_true(s.label.pro_loss_ratio == 0.25);
	assert_int_equal(s.label.pro.patience_ns, 4 * S);
	assert_int_equal(s.label.pro.repeat_ns, S / 10);
	assert_int_equal(s.label.pro.max_shift, 6);
	assert_int_equal(s.label.pro_step_ns, S / 100);
}

static void traffic_has_its_defaults_by_its_place(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 10," TWO_NODES
	      " 'traffic': [{'name': 'x', 'from': 'a', 'to': 'b', 'rate_pps': 0},"
	      "  {'name': 'y', 'type': 'bursty', 'from': 'b', 'to': 'a', 'rate_pps': 1}]}");

	const struct hs_scenario_traffic *x = &s.traffic[0], *y = &s.traffic[1];
	assert_int_equal(x->kind, HS_TRAFFIC_CONSTANT);
	assert_int_equal(x->protocol, IPPROTO_UDP);
	assert_ports(x, 5000, 6000);
	assert_int_equal(x->payload_bytes, 500);
	assert_int_equal(x->start_ns, 0);
	assert_int_equal(x->stop_ns, 10 * S);
	assert_int_equal(x->packets, 0);
	assert_ports(y, 5001, 6001);
	assert_int_equal(y->burst_ns, 2 * S);
	assert_int_equal(y->mean_interval_ns, 5 * S);
	assert_int_equal(y->from, x->to);
	assert_int_equal(y->to, x->from);
}

static void every_key_of_the_head_and_of_nodes_is_read(void **state)
{
	(void)state;
	assert_string_equal(s.name, "full");
	assert_string_equal(s.source, "a table");
	assert_string_equal(s.description, "all keys");
	assert_int_equal(s.seed, 7);
	assert_int_equal(s.duration_ns, 25 * S / 2);
	assert_int_equal(s.window_ns, 10 * S);
	assert_int_equal(s.forwarding, HS_LAB_SHORTEST_PATH);
	assert_true(s.closing_packet);
	assert_true(s.opening_packet);
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
	const struct hs_partial *partial = &s.nodes[1].partial;
	assert_int_equal(partial->packets.policy, HS_PARTIAL_PROBABILITY);
	assert_true(partial->packets.probability_percent == 12.5);
	assert_int_equal(partial->timestamp.policy, HS_PARTIAL_THRESHOLD);
	assert_int_equal(partial->timestamp.max_age_ns, S / 50);
	assert_true(partial->bytes.unsupported);
	assert_int_equal(a->partial.packets.policy, HS_PARTIAL_ALWAYS);
}

static void every_key_of_a_link_is_read(void **state)
{
	(void)state;
	assert_int_equal(s.n_links, 2);
	const struct hs_scenario_link *link = &s.links[0];
	const struct hs_link_config *direction = &link->directions[0];
	assert_string_equal(link->name, "first");
	assert_int_equal(link->from, 0);
	assert_int_equal(link->to, 1);
	assert_false(direction->down);
	assert_int_equal(direction->rate_bps, 100000000);
	assert_int_equal(direction->queue_packets, 2000);
	assert_int_equal(direction->overhead_bytes, 24);
	assert_int_equal(direction->delay_ns, 10000000);
	assert_int_equal(direction->jitter_ns, 2000000);
	assert_int_equal(direction->distribution, HS_LINK_NORMAL);
	assert_true(direction->in_order);
	assert_true(direction->loss_ratio == 0.01);
	assert_true(direction->telemetry_loss_ratio == 0.02);
	assert_true(direction->duplicate_ratio == 0.03);
	assert_true(direction->reorder_ratio == 0.04);
	assert_true(direction->bursts.p == 0.1 && direction->bursts.r == 0.5);
	assert_true(direction->bursts.loss_bad == 1 && direction->bursts.loss_good == 0);
}

static void reverse_or_an_entry_the_other_way_round_changes_what_it_names(void **state)
{
	(void)state;
	const struct hs_link_config *direction = &s.links[0].directions[1];
	assert_int_equal(direction->delay_ns, 5);
	assert_int_equal(direction->rate_bps, 100000000);
	assert_true(direction->loss_ratio == 0.01);
	assert_true(direction->bursts.p == 0.2 && direction->bursts.r == 0.25);
	assert_true(direction->bursts.loss_bad == 0.5 && direction->bursts.loss_good == 0.125);
	// The second entry between b and c has no name, and the ends exchanged.
	assert_string_equal(s.links[1].name, "b-c");
	assert_int_equal(s.links[1].directions[0].delay_ns, 1);
	assert_int_equal(s.links[1].directions[1].delay_ns, 2);
}

static void links_with_names_stand_beside_each_other(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 1, 'forwarding': 'shortest_path',"
	      " 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"
	      " 'links': [{'from': 'a', 'to': 'b', 'name': 'x', 'delay_ns': 1},"
	      "           {'from': 'a', 'to': 'b', 'name': 'y', 'delay_ns': 2},"
	      "           {'from': 'b', 'to': 'a', 'delay_ns': 3},"
	      "           {'from': 'b', 'to': 'a', 'delay_ns': 4},"
	      "           {'from': 'b', 'to': 'a', 'name': 'z', 'delay_ns': 5}]}");
	assert_int_equal(s.n_links, 3);
	assert_int_equal(s.links[0].directions[1].delay_ns, 3);
	assert_int_equal(s.links[1].directions[1].delay_ns, 4);
	assert_int_equal(s.links[2].directions[0].delay_ns, 5);
	assert_int_equal(s.links[2].from, 1);
}

static void traffic_that_names_a_node_makes_one_host_there(void **state)
{
	(void)state;
	assert_int_equal(s.n_hosts, 3);
	assert_host(0, "h", 2, "2001:db8::7", false);
	assert_host(1, "a", 0, "2001:db8:0:1::1", true);
	assert_host(2, "b", 1, "2001:db8:0:2::1", true);
	assert_int_equal(s.traffic[0].from, 1);
	assert_int_equal(s.traffic[1].to, 1);
}

static void every_key_of_traffic_is_read(void **state)
{
	(void)state;
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
	assert_ports(t, 11, 12);

	assert_int_equal(s.traffic[1].kind, HS_TRAFFIC_PING);
	assert_int_equal(s.traffic[1].protocol, IPPROTO_ICMPV6);
	assert_ports(&s.traffic[1], 0, 0);
	assert_int_equal(s.traffic[1].reply_delay_ns, 33);
	assert_int_equal(s.traffic[2].kind, HS_TRAFFIC_WINDOW);
	assert_int_equal(s.traffic[2].protocol, IPPROTO_TCP);
	assert_int_equal(s.traffic[2].window_packets, 44);
	assert_true(s.traffic[2].window_fixed);
}

static void traffic_fills_in_what_a_request_leaves_out(void **state)
{
	(void)state;
	assert_int_equal(s.n_requests, 2);
	assert_int_equal(s.requests[0].node, 1);
	const struct hs_rule rule = rule_of(s.requests[0].request);
	assert_int_equal(rule.ns_id, 100);
	assert_int_equal(rule.app_id, 1);
	assert_address(rule.src_ip, "2001:db8:0:1::1");
	assert_address(rule.dst_ip, "2001:db8::7");
	assert_ports(&rule, 11, 12);
	assert_int_equal(rule.protocol, IPPROTO_UDP);
	assert_int_equal(rule.trace_type, 0x7000E000);
}

static void a_request_for_replies_has_the_ends_exchanged(void **state)
{
	(void)state;
	assert_int_equal(s.requests[1].node, HS_NO_INDEX);
	const struct hs_rule rule = rule_of(s.requests[1].request);
	assert_int_equal(rule.ns_id, 2);
	assert_int_equal(rule.app_id, 3);
	assert_address(rule.src_ip, "2001:db8:0:1::1");
	assert_address(rule.dst_ip, "2001:db8::7");
	assert_int_equal(rule.protocol, IPPROTO_ICMPV6);
	assert_int_equal(rule.trace_type, 0x2000E000);
	// Completing a request does not change the file's JSON.
	const struct hs_rule later = rule_of(s.events[2].request);
	assert_ports(&later, 5002, 6002);
}

static void ports_are_exchanged_for_replies_too(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 1," TWO_NODES
	      " 'traffic': [{'name': 'x', 'type': 'window', 'from': 'a', 'to': 'b'}],"
	      " 'requests': [{'node': 'a', 'traffic': 'x', 'reverse': true,"
	      "  'int_request': {" EACH "}}]}");
	const struct hs_rule rule = rule_of(s.requests[0].request);
	assert_ports(&rule, 6000, 5000);
	assert_flow(0, 1, 0, true);
}

static void each_namespace_is_a_flow_with_its_traffic(void **state)
{
	(void)state;
	assert_int_equal(s.n_flows, 3);
	assert_flow(0, 100, 0, false);
	assert_flow(1, 2, 1, true);
	assert_flow(2, 50, 2, false);
	assert_int_equal(s.flows[0].app_id, 1);
	assert_int_equal(s.flows[1].app_id, 3);
}

static void a_rule_for_any_port_finds_its_traffic_by_the_rest(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 1, 'forwarding': 'bridge'," TWO_NODES " 'traffic': ["
	      "  {'name': 'x', 'protocol': 'tcp', 'from': 'a', 'to': 'b', 'rate_pps': 1},"
	      "  {'name': 'y', 'from': 'a', 'to': 'b', 'rate_pps': 1}],"
	      " 'requests': ["
	      "  {'node': 'a', 'int_request': {'ns_id': 1, " EACH ","
	      "   'src_ip': '2001:db8:0:1::1', 'dst_ip': '2001:db8:0:2::1',"
	      "   'protocol': 'udp', 'trace_type': '0x2000E000', 'dst_port': 6001}},"
	      "  {'node': 'a', 'int_request': {'ns_id': 2, " EACH ","
	      "   'src_ip': '2001:db8:0:2::1', 'dst_ip': '2001:db8:0:1::1',"
	      "   'protocol': 'tcp', 'trace_type': '0x2000E000'}},"
	      "  {'node': 'b', 'int_request': {'ns_id': 2, 'mode': 'count', 'mode_setting': 9,"
	      "   'src_ip': '2001:db8:0:2::1', 'dst_ip': '2001:db8:0:1::1',"
	      "   'protocol': 'tcp', 'trace_type': '0x2000E000'}},"
	      "  {'node': 'a', 'int_request': {'ns_id': 3, " EACH ","
	      "   'src_ip': '2001:db8:0:1::1', 'dst_ip': '2001:db8:0:2::1',"
	      "   'protocol': 'udp', 'trace_type': '0x2000E000', 'dst_port': 6000}}]}");
	assert_int_equal(s.n_flows, 3);
	assert_flow(0, 1, 1, false);
	assert_flow(1, 2, 0, true);
	assert_flow(2, 3, HS_NO_INDEX, false);
}

static void a_request_for_all_traffic_is_one_for_each_entry(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 1," TWO_NODES PINGS
	      " 'requests': [{'node': '*', 'traffic': '*',"
	      "  'int_request': {" EACH "}}]}");
	assert_int_equal(s.n_requests, 2);
	const struct hs_rule rule = rule_of(s.requests[1].request);
	assert_int_equal(rule.ns_id, 2);
	// The second ping looks like the replies of the first, but must not be taken for them.
	assert_flow(1, 2, 1, false);
}

static void every_key_of_events_is_read(void **state)
{
	(void)state;
	assert_int_equal(s.n_events, 4);
	const struct hs_scenario_event *e = s.events;
	assert_int_equal(e[0].kind, HS_LAB_EVENT_LINK);
	assert_int_equal(e[0].at_ns, S);
	assert_int_equal(e[0].every_ns, S / 2);
	assert_int_equal(e[0].until_ns, 4 * S);
	assert_int_equal(e[0].link, 0);
	assert_int_equal(e[0].directions, 2);
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
}

static void every_key_of_expectations_is_read(void **state)
{
	(void)state;
	assert_int_equal(s.n_expects, 2);
	const struct hs_scenario_expect *x = s.expects;
	assert_string_equal(x[0].metric, "delay_ns");
	assert_string_equal(x[0].hop, "first");
	assert_int_equal(x[0].flow, 1);
	assert_true(isnan(x[0].min) && isnan(x[0].max));
	assert_true(x[0].value == -5 && x[0].tolerance == 0.5);
	assert_string_equal(x[1].hop, "");
	assert_int_equal(x[1].flow, HS_NO_INDEX);
	assert_true(isnan(x[1].value));
	assert_true(x[1].min == 1 && x[1].max == 2.5);
}

static void telemetry_is_that_of_a_nodes_configuration(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 10,"
	      " 'telemetry': {'request_interval_s': 9, 'request_schedule_s': [0.5, 4],"
	      "  'in_band': {'accept': false, 'max_rules': 5, 'missed_repeats': 2}}," TWO_NODES
	      " 'traffic': [{'name': 'x', 'from': 'a', 'to': 'b', 'rate_pps': 1}],"
	      " 'expect': [{'metric': 'nodes.signals_lost', 'node': 'b', 'max': 0},"
	      "  {'metric': 'nodes.signals_lost', 'max': 0}]}");
	assert_int_equal(s.in_band.interval_s, 9);
	assert_int_equal(s.in_band.n_repeats, 2);
	assert_int_equal(s.in_band.repeats_ns[0], S / 2);
	assert_int_equal(s.in_band.repeats_ns[1], 4 * S);
	assert_false(s.in_band.accept);
	assert_int_equal(s.in_band.max_rules, 5);
	assert_int_equal(s.in_band.missed_repeats, 2);
	assert_int_equal(s.expects[0].node, 1);
	assert_int_equal(s.expects[1].node, HS_NO_INDEX);
}

static void an_event_may_install_again_what_a_restart_forgot(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 10," TWO_NODES
	      " 'traffic': [{'name': 'x', 'from': 'a', 'to': 'b', 'rate_pps': 1}],"
	      " 'requests': [{'node': 'a', 'traffic': 'x',"
	      "  'int_request': {" EACH "}}],"
	      " 'events': ["
	      "  {'at_s': 3, 'node': 'b', 'request': {'traffic': 'x',"
	      "   'int_request': {" EACH "}}},"
	      "  {'at_s': 2, 'node': 'b', 'restart': true},"
	      "  {'at_s': 1, 'node': 'b', 'request': {'traffic': 'x',"
	      "   'int_request': {" EACH "}}}]}");
	assert_int_equal(s.n_flows, 1);
}

static void replies_that_a_request_names_are_no_traffic_the_other_way(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 1," TWO_NODES PINGS
	      " 'requests': [{'node': '*', 'traffic': 'x', 'reverse': true,"
	      "  'int_request': {" EACH "}}]}");
	assert_flow(0, 1, 0, true);
}

static void the_address_of_a_node_is_its_place_in_hexadecimal(void **state)
{
	(void)state;
	parse("{'name': 'm', 'duration_s': 1, 'forwarding': 'shortest_path',"
	      " 'topology': {'kind': 'watts_strogatz', 'n': 300, 'k': 2, 'beta': 0, 'hosts': 0},"
	      " 'traffic': [{'name': 'x', 'from': 's-1', 'to': 's-300', 'rate_pps': 1}]}");
	assert_host(0, "s-1", 0, "2001:db8:0:1::1", true);
	assert_host(1, "s-300", 299, "2001:db8:0:12c::1", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(absent_keys_have_their_documented_defaults),
			TEST(a_controller_of_labels_has_its_keys_and_defaults),
			TEST(traffic_has_its_defaults_by_its_place),
			TEST(every_key_of_the_head_and_of_nodes_is_read),
			TEST(every_key_of_a_link_is_read),
			TEST(reverse_or_an_entry_the_other_way_round_changes_what_it_names),
			TEST(links_with_names_stand_beside_each_other),
			TEST(traffic_that_names_a_node_makes_one_host_there),
			TEST(every_key_of_traffic_is_read),
			TEST(traffic_fills_in_what_a_request_leaves_out),
			TEST(a_request_for_replies_has_the_ends_exchanged),
			TEST(ports_are_exchanged_for_replies_too),
			TEST(each_namespace_is_a_flow_with_its_traffic),
			TEST(a_rule_for_any_port_finds_its_traffic_by_the_rest),
			TEST(a_request_for_all_traffic_is_one_for_each_entry),
			TEST(every_key_of_events_is_read),
			TEST(every_key_of_expectations_is_read),
			TEST(telemetry_is_that_of_a_nodes_configuration),
			TEST(an_event_may_install_again_what_a_restart_forgot),
			TEST(replies_that_a_request_names_are_no_traffic_the_other_way),
			TEST(the_address_of_a_node_is_its_place_in_hexadecimal),
	};
	return cmocka_run_group_tests_name("lab-scenario-keys", tests, NULL, NULL);
}
