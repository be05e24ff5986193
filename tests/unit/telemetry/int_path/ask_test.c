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

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(names_become_the_bits_of_each_version),
			cmocka_unit_test(a_bitmap_stays_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
