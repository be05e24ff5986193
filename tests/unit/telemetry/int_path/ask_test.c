// SPDX-License-Identifier: BSD-3-Clause
// What a rule asks for, in each version's bits. The numbers are those of the specifications.
#include "int_ask.h"
#include "rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define ALL                                                                                        \
	(HS_RULE_ASKS_node_id | HS_RULE_ASKS_ports | HS_RULE_ASKS_hop_latency |                    \
			HS_RULE_ASKS_queue | HS_RULE_ASKS_ingress_timestamp |                      \
			HS_RULE_ASKS_egress_timestamp | HS_RULE_ASKS_ports_l2 |                    \
			HS_RULE_ASKS_link_utilisation | HS_RULE_ASKS_buffer |                      \
			HS_RULE_ASKS_queue_congestion | HS_RULE_ASKS_checksum_complement)

static void names_become_the_bits_of_each_version(void **state)
{
	static const struct {
		enum hs_int_version version;
		uint16_t asks, bitmap, lacks;
	} cases[] = {
			{HS_INT_2_1, ALL, 0xFF81, HS_RULE_ASKS_queue_congestion},
			{HS_INT_1_0, ALL, 0xFF01,
					HS_RULE_ASKS_queue_congestion | HS_RULE_ASKS_buffer},
			{HS_INT_0_5, ALL, 0xFF00,
					HS_RULE_ASKS_ports_l2 | HS_RULE_ASKS_buffer |
							HS_RULE_ASKS_checksum_complement},
			{HS_INT_2016_06, ALL, 0xFF00,
					HS_RULE_ASKS_ports_l2 | HS_RULE_ASKS_buffer |
							HS_RULE_ASKS_egress_timestamp |
							HS_RULE_ASKS_checksum_complement},
			{HS_INT_2016_06, HS_RULE_ASKS_ports, 0x4400, 0},
			{HS_INT_2016_06, HS_RULE_ASKS_egress_timestamp, 0,
					HS_RULE_ASKS_egress_timestamp},
			{HS_INT_0_5, HS_RULE_ASKS_egress_timestamp, 0x0400, 0},
			{HS_INT_0_5, HS_RULE_ASKS_queue_congestion, 0x0200, 0},
			{HS_INT_0_5, HS_RULE_ASKS_ports_l2, 0, HS_RULE_ASKS_ports_l2},
			{HS_INT_1_0, HS_RULE_ASKS_ports_l2, 0x0200, 0},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint16_t lacks = 0xFFFF;
		assert_int_equal(hs_int_ask(cases[i].version, HS_RULE_TRACE_INT | cases[i].asks,
						 &lacks),
				cases[i].bitmap);
		assert_int_equal(lacks, cases[i].lacks);
	}
}

static void a_bitmap_stays_as_it_is(void **state)
{
	uint16_t lacks = 0xFFFF;
	(void)state;

	assert_int_equal(hs_int_ask(HS_INT_0_5, HS_RULE_TRACE_INT | HS_RULE_TRACE_BITMAP | 0x9041,
					 &lacks),
			0x9041);
	assert_int_equal(lacks, 0);
}

#define V(version) (1u << HS_INT_##version)

static void what_no_version_of_the_ports_has_is_refused_with_what_they_have(void **state)
{
	static const struct {
		unsigned versions;
		uint16_t asks;
		const char *says, *allowed; // NULL: admitted
	} cases[] = {
			{V(2_1), ALL & ~HS_RULE_ASKS_queue_congestion, NULL, NULL},
			{V(2_1), ALL, "instructions: INT 2.1 has no queue_congestion",
					"node_id, ports, hop_latency, queue, ingress_timestamp, "
					"egress_timestamp, ports_l2, link_utilisation, buffer, "
					"checksum_complement"},
			{V(2_1) | V(0_5), ALL, NULL, NULL}, // each at some port
			{V(1_0) | V(0_5), ALL, "instructions: INT 0.5, 1.0 has no buffer",
					"node_id, ports, hop_latency, queue, ingress_timestamp, "
					"egress_timestamp, ports_l2, link_utilisation, "
					"queue_congestion, checksum_complement"},
			{V(2016_06), ALL,
					"instructions: INT 2016-06 has no egress_timestamp, "
					"ports_l2, buffer, checksum_complement",
					"node_id, ports, hop_latency, queue, ingress_timestamp, "
					"link_utilisation, queue_congestion"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_error err = {0};
		int rc = hs_int_ask_check(
				cases[i].versions, HS_RULE_TRACE_INT | cases[i].asks, &err);
		assert_int_equal(!rc, !cases[i].says);
		if (!rc)
			continue;
		assert_string_equal(err.code, "unsupported");
		assert_string_equal(err.path, "instructions");
		assert_string_equal(err.message, cases[i].says);
		assert_string_equal(err.expected, cases[i].allowed);
	}
}

static void a_bitmap_is_of_one_version(void **state)
{
	const uint32_t as_it_is = HS_RULE_TRACE_INT | HS_RULE_TRACE_BITMAP;
	struct hs_error err = {0};
	(void)state;

	assert_int_equal(hs_int_ask_check(V(2_1), as_it_is | 0xFF81, &err), 0);
	assert_int_equal(hs_int_ask_check(V(0_5) | V(2_1), as_it_is | 0x0080, &err), 0);
	assert_true(hs_int_ask_check(V(0_5) | V(1_0), as_it_is | 0x0081, &err) < 0);
	assert_string_equal(err.path, "instruction_bitmap");
	assert_string_equal(err.message, "instruction_bitmap: 0x0081 has bits without a meaning in "
					 "INT 0.5, 1.0");
	assert_string_equal(err.expected, "bits of 0xFF00, bits of 0xFF01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(names_become_the_bits_of_each_version),
			cmocka_unit_test(a_bitmap_stays_as_it_is),
			cmocka_unit_test(
					what_no_version_of_the_ports_has_is_refused_with_what_they_have),
			cmocka_unit_test(a_bitmap_is_of_one_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
