// SPDX-License-Identifier: BSD-3-Clause
// What INTCollector's own generator sends, and what its users expect of it.
#include "collect_test.h"

#define V10                                                                                        \
	"11000040000000000000000"                                                                  \
	"05ad881320200000000020200000000010800450000880001000040116662"                            \
	"0a0000010a000002138813880074999901001b0000000803ff00000000000004000500030000019000050258" \
	"000002bc5ad9f940000503e80000000100000005000200030000000400050006000000075ad9f9410005000a" \
	"0000000100000006000200030000000400050006000000075ad9f9420005000a00000001"
#define V05                                                                                        \
	"1020000000000000"                                                                         \
	"5ad88132020000000002020000000001080045000"                                                \
	"08c000100004011665e0a0000010a000002138813880078bef20100000000080803ff0000000000000400020" \
	"0030000000400050006000000075ad9f9400005000a000000010000000500020003000000040005000600000" \
	"0"                                                                                        \
	"075ad9f9400005000a0000000100000006000200030000000400050006000000075ad9f9400005000a000000" \
	"010000000e"

static struct hs_collect *lenient(void)
{
	struct hs_collect_config config = config_50();

	config.intercollector = true;
	return collector(&config);
}

static void change(uint8_t *bytes, size_t len, uint64_t word, uint64_t with)
{
	uint8_t from[4], to[4];

	hs_be32_store(from, (uint32_t)word);
	hs_be32_store(to, (uint32_t)with);
	for (size_t i = 70; i + 4 <= len; i++) { // behind the addresses
		if (memcmp(bytes + i, from, 4) != 0)
			continue;
		memcpy(bytes + i, to, 4);
		return;
	}
	fail();
}

static void sequence_of_its_users(void **state)
{
	struct hs_collect *c = lenient();
	uint8_t bytes[512];
	size_t len = unhex(V10, bytes);

	(void)state;
	take(c, bytes, len, SECOND);
	assert_int_equal(told.n_events, 1);
	assert_int_equal(told.n_points, 10);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_NEW), 1);
	assert_int_equal(count(HS_COLLECT_POINT_HOP, HS_COLLECT_NEW), 3);
	assert_int_equal(count(HS_COLLECT_POINT_OCCUPANCY, HS_COLLECT_NEW), 3);
	assert_int_equal(count(HS_COLLECT_POINT_LINK, HS_COLLECT_NEW), 3);
	assert_int_equal(told.flow.latency, 408);
	assert_int_equal(told.flow.n_hops, 3);
	assert_int_equal(told.flow.hops[0].node_id, 6);
	assert_int_equal(told.flow.hops[2].node_id, 4);
	assert_int_equal(told.flow.key.src_port, 5000);
	assert_int_equal(told.flow.key.protocol, 17);
	assert_int_equal(point_of(HS_COLLECT_POINT_OCCUPANCY, 4, 5)->value, 600);
	assert_int_equal(point_of(HS_COLLECT_POINT_LINK, 4, 3)->value, 1);
	assert_int_equal(point_of(HS_COLLECT_POINT_LINK, 4, 3)->device_ns, 1524234560);
	assert_int_equal(point_of(HS_COLLECT_POINT_FLOW, 0, 0)->device_ns, 1524138290);
	forget();
	take(c, bytes, len, SECOND + 10);
	assert_int_equal(told.n_points, 0);

	change(bytes, len, 400, 4);
	change(bytes, len, 0x50258, 0x50006);
	change(bytes, len, 1, 1000);
	take(c, bytes, len, SECOND + 20);
	assert_int_equal(told.n_events, 1);
	assert_int_equal(told.n_points, 4);
	assert_int_equal(point_of(HS_COLLECT_POINT_FLOW, 0, 0)->value, 12);
	assert_int_equal(point_of(HS_COLLECT_POINT_FLOW, 0, 0)->before, 408);
	assert_int_equal(point_of(HS_COLLECT_POINT_HOP, 4, 2)->value, 4);
	assert_int_equal(point_of(HS_COLLECT_POINT_OCCUPANCY, 4, 5)->value, 6);
	assert_int_equal(point_of(HS_COLLECT_POINT_LINK, 4, 3)->value, 1000);
	assert_int_equal(hs_collect_counters(c)->reports_duplicate, 0);
	check_balance(c);
	hs_collect_destroy(c);
}

static void generator_of_0_5(void **state)
{
	struct hs_collect *c = lenient();

	(void)state;
	take_hex(c, V05, SECOND);
	assert_int_equal(told.n_points, 13);
	assert_int_equal(count(HS_COLLECT_POINT_CONGESTION, HS_COLLECT_NEW), 3);
	assert_int_equal(point_of(HS_COLLECT_POINT_CONGESTION, 5, 5)->value, 10);
	assert_int_equal(told.flow.latency, 12);
	forget();
	take_hex(c, V05, SECOND);
	assert_int_equal(told.n_points, 0);
	check_balance(c);
	hs_collect_destroy(c);
}

static void both_alone(void **state)
{
	(void)state;
	for (unsigned format = 0; format < 2; format++) {
		struct hs_collect_config config = config_50();
		config.intercollector = true;
		config.formats[!format].taken = false;
		struct hs_collect *c = collector(&config);
		take_hex(c, format ? V10 : V05, SECOND);
		assert_int_equal(told.n_points, format ? 10 : 13);
		hs_collect_destroy(c);
	}
}

static void strict_takes_neither(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect *c = collector(&config);

	(void)state;
	take_hex(c, V10, SECOND);
	take_hex(c, V05, SECOND);
	assert_int_equal(told.n_points, 0);
	assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_LENGTH], 2);
	check_balance(c);
	hs_collect_destroy(c);
}

static void cut_anywhere(void **state)
{
	uint8_t bytes[512];

	(void)state;
	for (unsigned format = 0; format < 2; format++) {
		size_t len = unhex(format ? V10 : V05, bytes);
		for (size_t cut = 0; cut <= len; cut++) {
			struct hs_collect *c = lenient();
			take(c, bytes, cut, SECOND);
			if (cut == len - 36 - (format ? 0 : 4)) { // one hop is whole: no path
				assert_int_equal(hs_collect_counters(c)->flows, 0);
				assert_int_equal(hs_collect_counters(c)->links, 1);
				assert_int_equal(hs_collect_counters(c)->reports_partial, 1);
			}
			check_balance(c);
			hs_collect_destroy(c);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(sequence_of_its_users),
			cmocka_unit_test(generator_of_0_5),
			cmocka_unit_test(both_alone),
			cmocka_unit_test(strict_takes_neither),
			cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
