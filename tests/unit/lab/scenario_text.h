// SPDX-License-Identifier: BSD-3-Clause
// Scenarios for tests. The texts have single quotes in place of double quotes.
#pragma once

#include "scenario_read.h"

#include "rule_json.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S INT64_C(1000000000)

// Nodes `a` and `b` with a link, for scenarios that say no more about their network.
#define TWO_NODES                                                                                  \
	" 'nodes': [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}],"                              \
	" 'links': [{'from': 'a', 'to': 'b'}],"

// A scenario with every key, and with several items in each list.
static const char full[] =
		"{'name': 'full', 'source': 'a table', 'description': 'all keys',"
		" 'seed': 7, 'duration_s': 12.5, 'window': '10s', 'forwarding': 'shortest_path',"
		" 'closing_packet': true, 'opening_packet': true, 'keep_windows': false, 'mbufs': "
		"2048, 'rules': 9,"
		" 'mtu': 9000, 'reroute_s': 0.25,"
		" 'nodes': ["
		"  {'id': 0, 'name': 'a', 'layout': 'paper',"
		"   'clock': {'offset_ns': -36000000000, 'drift_ppb': -15000,"
		"             'drift_sigma_ppb': 15001,"
		"             'sync': {'interval_s': 0.5, 'first_s': 0.125, 'error_ns': 150000,"
		"                      'frequency_error_ppb': 8000, 'correction': 'slew',"
		"                      'step_threshold_ns': 77}}},"
		"  {'id': 5, 'name': 'b', 'fields': {'packets': {'probability_percent': 12.5},"
		"   'timestamp': {'max_age_ms': 20}, 'bytes': {'supported': false}}}, {'id': 0, "
		"'name': 'c'}],"
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

static inline char *quoted(const char *text)
{
	char *copy = strdup(text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return copy;
}

// The scenario of a test: `full`, until the test reads another.
static struct hs_scenario s;

static inline void parse_with(const char *text, const struct hs_scenario_override *override)
{
	struct hs_error err = {0};
	char *json = quoted(text);
	hs_scenario_fini(&s);
	int rc = hs_scenario_parse(json, strlen(json), "", override, &s, &err);
	free(json);
	if (rc < 0)
		fail_msg("%s: %s: %s", err.code, err.path, err.message);
}

static inline void parse(const char *text)
{
	parse_with(text, NULL);
}

// Returns the path of the error in a scenario.
static inline const char *refused_at(const char *text, struct hs_error *err)
{
	char *json = quoted(text);
	struct hs_scenario scenario;

	assert_true(hs_scenario_parse(json, strlen(json), "", NULL, &scenario, err) < 0);
	free(json);
	return err->path;
}

static inline int begin(void **state)
{
	(void)state;
	parse(full);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	hs_scenario_fini(&s);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static inline void assert_address(const uint8_t addr[16], const char *text)
{
	char shown[INET6_ADDRSTRLEN];
	inet_ntop(AF_INET6, addr, shown, sizeof(shown));
	assert_string_equal(shown, text);
}

static inline void assert_host(
		size_t host, const char *name, uint32_t at, const char *addr, bool implicit)
{
	assert_string_equal(s.hosts[host].name, name);
	assert_int_equal(s.hosts[host].at, at);
	assert_address(s.hosts[host].addr, addr);
	assert_int_equal(s.hosts[host].implicit, implicit);
}

static inline void assert_flow(size_t flow, uint32_t ns_id, uint32_t traffic, bool reverse)
{
	assert_int_equal(s.flows[flow].ns_id, ns_id);
	assert_int_equal(s.flows[flow].traffic, traffic);
	assert_int_equal(s.flows[flow].reverse, reverse);
}

// Of a rule, or of an entry of traffic.
#define assert_ports(of, src, dst)                                                                 \
	do {                                                                                       \
		assert_int_equal((of)->src_port, src);                                             \
		assert_int_equal((of)->dst_port, dst);                                             \
	} while (0)

static inline struct hs_rule rule_of(const json_t *request)
{
	struct hs_error err = {0};
	struct hs_rule rule;
	assert_int_equal(
			hs_rule_from_json(json_object_get(request, "int_request"), &rule, &err), 0);
	return rule;
}
