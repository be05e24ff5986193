// SPDX-License-Identifier: BSD-3-Clause
#include "rule_field.h"

#include "ip_address.h"
#include "rule_mask.h"

#include <errno.h>

#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hs_rule good_rule(void)
{
	struct hs_rule rule;
	hs_rule_init(&rule);
	rule.ns_id = 7;
	rule.src_ip[15] = 1;
	rule.dst_ip[15] = 2;
	rule.protocol = IPPROTO_UDP;
	rule.trace_type = 0x7000E000;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 100;
	return rule;
}

static void assert_refused(const struct hs_rule *rule, const char *code, const char *path)
{
	struct hs_error err = {0};
	assert_int_not_equal(hs_rule_check(rule, &err), 0);
	assert_string_equal(err.code, code);
	assert_string_equal(err.path, path);
	assert_string_not_equal(err.message, "");
	assert_string_not_equal(err.expected, "");
}

static void a_new_rule_transmits_reports_and_is_enabled(void **state)
{
	struct hs_rule rule;
	(void)state;
	memset(&rule, 0xff, sizeof(rule));
	hs_rule_init(&rule);
	assert_true(rule.transmit_report);
	assert_true(rule.hop_enabled);
	assert_false(rule.piggyback_report);
	assert_false(rule.extract_report);
	assert_false(rule.in_band);
	assert_int_equal(rule.app_id, 0);
	assert_int_equal(rule.src_port, 0);
}

static void namespace_zero_is_refused(void **state)
{
	struct hs_rule rule = good_rule();
	(void)state;
	assert_int_equal(hs_rule_check(&rule, NULL), 0);
	rule.ns_id = 0;
	assert_refused(&rule, "out_of_range", "ns_id");
}

static void only_tcp_udp_icmpv6_and_any_protocol_are_monitored(void **state)
{
	(void)state;
	for (unsigned protocol = 0; protocol < 256; protocol++) {
		struct hs_rule rule = good_rule();
		rule.protocol = (uint8_t)protocol;
		if (protocol == 0 || protocol == 6 || protocol == 17 || protocol == 58)
			assert_int_equal(hs_rule_check(&rule, NULL), 0);
		else
			assert_refused(&rule, "out_of_range", "protocol");
	}
}

static void icmp_with_a_port_is_refused(void **state)
{
	struct hs_rule rule = good_rule();
	(void)state;
	rule.protocol = IPPROTO_ICMPV6;
	assert_int_equal(hs_rule_check(&rule, NULL), 0);
	rule.dst_port = 5;
	assert_refused(&rule, "out_of_range", "dst_port");
	rule.src_port = 4;
	assert_refused(&rule, "out_of_range", "src_port");
}

static void only_a_method_that_measures_ipv4_takes_its_addresses(void **state)
{
	struct hs_rule rule = good_rule();
	struct hs_error err = {0};
	(void)state;
	hs_ip_address_map((const uint8_t[]){192, 0, 2, 1}, rule.src_ip);
	assert_refused(&rule, "wrong_family", "src_ip"); // the one that has to change
	hs_ip_address_map((const uint8_t[]){192, 0, 2, 2}, rule.dst_ip);
	assert_refused(&rule, "wrong_family", "src_ip");
	assert_int_equal(hs_rule_check_method(&rule, "flexint", &err), -EINVAL);
	assert_non_null(strstr(err.message, "method flexint needs IPv6 addresses"));
	assert_non_null(strstr(err.message, "192.0.2.1"));
	assert_int_equal(hs_rule_check_method(&rule, "int", &err), 0);
	rule.in_band = true;
	assert_int_equal(hs_rule_check_method(&rule, "int", &err), -EINVAL);
	assert_string_equal(err.path, "src_ip");
	rule.in_band = false;
	rule.src_ip[10] = 0;
	assert_refused(&rule, "wrong_family", "dst_ip");
}

static void each_unallocated_trace_bit_is_refused_and_each_known_one_taken(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 32; bit++) {
		struct hs_rule rule = good_rule();
		rule.trace_type = 1u << bit;
		if (bit >= 28 || (bit >= 13 && bit <= 15)) {
			assert_int_equal(hs_rule_check(&rule, NULL), 0);
			continue;
		}
		struct hs_error err = {0};
		assert_int_not_equal(hs_rule_check(&rule, &err), 0);
		assert_string_equal(err.code, "out_of_range");
		assert_non_null(strstr(err.message, "0xF000E000"));
	}
}

static void either_half_of_the_trace_type_may_be_zero(void **state)
{
	struct hs_rule rule = good_rule();
	(void)state;
	rule.trace_type = 0x70000000;
	assert_int_equal(hs_rule_check(&rule, NULL), 0);
	rule.trace_type = 0x0000E000;
	assert_int_equal(hs_rule_check(&rule, NULL), 0);
}

static void the_setting_is_held_to_the_range_of_its_mode(void **state)
{
	static const struct {
		uint8_t mode;
		double setting;
		bool good;
	} cases[] = {
			{HS_MODE_COUNT, 1, true},
			{HS_MODE_COUNT, 4294967295.0, true},
			{HS_MODE_COUNT, 0, false},
			{HS_MODE_COUNT, 1.5, false},
			{HS_MODE_COUNT, 4294967296.0, false},
			{HS_MODE_COUNT, -1, false},
			{HS_MODE_FREQUENCY, 0.001, true},
			{HS_MODE_FREQUENCY, 86400000.0, true},
			{HS_MODE_FREQUENCY, 0.0009, false},
			{HS_MODE_FREQUENCY, 0, false},
			{HS_MODE_FREQUENCY, 86400000.5, false},
			{HS_MODE_PROBABILITY, 100, true},
			{HS_MODE_PROBABILITY, 0.000001, true},
			{HS_MODE_PROBABILITY, 0, false},
			{HS_MODE_PROBABILITY, 100.1, false},
			{HS_MODE_COUNT, NAN, false},
			{HS_MODE_FREQUENCY, NAN, false},
			{HS_MODE_PROBABILITY, NAN, false},
			{HS_MODE_PROBABILITY, INFINITY, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_rule rule = good_rule();
		rule.mode = cases[i].mode;
		rule.mode_setting = cases[i].setting;
		if (cases[i].good)
			assert_int_equal(hs_rule_check(&rule, NULL), 0);
		else
			assert_refused(&rule, "out_of_range", "mode_setting");
	}
}

static void a_rule_may_spread_itself(void **state)
{
	struct hs_rule rule = good_rule();
	(void)state;
	rule.in_band = true;
	assert_int_equal(hs_rule_check(&rule, NULL), 0);
}

static void an_update_changes_what_it_names_and_nothing_else(void **state)
{
	struct hs_rule rule = good_rule(), expected = rule;
	struct hs_rule_update update = {
			.rows = HS_RULE_BIT(HOP_ENABLED) | HS_RULE_BIT(MODE_SETTING),
			.to.hop_enabled = false,
			.to.mode_setting = 5,
			.to.transmit_report = false};
	(void)state;
	expected.hop_enabled = false;
	expected.mode_setting = 5;
	assert_int_equal(hs_rule_apply(&rule, &update, NULL), 0);
	assert_memory_equal(&rule, &expected, sizeof(rule));
}

static void an_update_that_does_not_fit_leaves_the_rule_as_it_was(void **state)
{
	struct hs_rule rule = good_rule(), before = rule;
	struct hs_error err = {0};
	struct hs_rule_update update = {.rows = HS_RULE_BIT(MODE) | HS_RULE_BIT(MODE_SETTING) |
						HS_RULE_BIT(HOP_ENABLED),
			.to.mode = HS_MODE_PROBABILITY,
			.to.mode_setting = 101};
	(void)state;
	assert_int_not_equal(hs_rule_apply(&rule, &update, &err), 0);
	assert_string_equal(err.path, "mode_setting");
	assert_memory_equal(&rule, &before, sizeof(rule));
}

static void assert_first(const struct hs_rule *first, const struct hs_rule *then)
{
	for (unsigned older = 0; older < 2; older++) {
		assert_true(hs_rule_takes_first(first, then, older));
		assert_false(hs_rule_takes_first(then, first, older));
	}
}

static void assert_apart(const struct hs_rule *one, const struct hs_rule *other)
{
	for (unsigned older = 0; older < 2; older++) {
		assert_false(hs_rule_takes_first(one, other, older));
		assert_false(hs_rule_takes_first(other, one, older));
	}
}

static void the_more_specific_of_two_rules_takes_the_packets_of_both(void **state)
{
	struct hs_rule udp = good_rule(), any = udp, port = udp, prefix = udp, from = udp;
	(void)state;
	any.protocol = HS_RULE_ANY_PROTOCOL;
	port.dst_port = 53;
	prefix.src_ip[15] = 0;
	prefix.src_host_bits = 16;
	from.src_port = 1000;
	assert_first(&udp, &any);
	assert_first(&port, &any);
	assert_first(&port, &udp);
	assert_first(&any, &prefix); // prefixes decide first
	assert_true(hs_rule_takes_first(&from, &port, true));
	assert_false(hs_rule_takes_first(&from, &port, false));
}

static void rules_without_a_common_packet_take_none_of_each_other(void **state)
{
	struct hs_rule udp = good_rule(), tcp = udp, elsewhere = udp, prefix = udp, four = udp;
	struct hs_rule low = udp, high = udp, class = udp;
	(void)state;
	tcp.protocol = IPPROTO_TCP;
	elsewhere.dst_ip[15] = 9;
	prefix.src_ip[13] = 1;
	prefix.src_ip[15] = 0;
	prefix.src_host_bits = 16;
	hs_ip_address_map((const uint8_t[]){10, 0, 0, 1}, four.src_ip);
	hs_ip_address_map((const uint8_t[]){10, 0, 0, 2}, four.dst_ip);
	low.dst_port = 1;
	high.dst_port = 2;
	class.dscp = HS_RULE_OF_DSCP | 46;
	low.dscp = HS_RULE_OF_DSCP;
	const struct hs_rule *others[] = {&tcp, &elsewhere, &prefix, &four};
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_apart(&udp, others[i]);
	assert_apart(&low, &high);
	assert_apart(&low, &class);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_new_rule_transmits_reports_and_is_enabled),
			cmocka_unit_test(namespace_zero_is_refused),
			cmocka_unit_test(only_tcp_udp_icmpv6_and_any_protocol_are_monitored),
			cmocka_unit_test(icmp_with_a_port_is_refused),
			cmocka_unit_test(only_a_method_that_measures_ipv4_takes_its_addresses),
			cmocka_unit_test(
					each_unallocated_trace_bit_is_refused_and_each_known_one_taken),
			cmocka_unit_test(either_half_of_the_trace_type_may_be_zero),
			cmocka_unit_test(the_setting_is_held_to_the_range_of_its_mode),
			cmocka_unit_test(a_rule_may_spread_itself),
			cmocka_unit_test(an_update_changes_what_it_names_and_nothing_else),
			cmocka_unit_test(an_update_that_does_not_fit_leaves_the_rule_as_it_was),
			cmocka_unit_test(the_more_specific_of_two_rules_takes_the_packets_of_both),
			cmocka_unit_test(rules_without_a_common_packet_take_none_of_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
