// SPDX-License-Identifier: BSD-3-Clause
// Reports of the specifications' examples, with INT of all versions in the packet.
#include "collect_test.h"

#define TR05_LOCAL                                                                                 \
	"0220000300000007075bcd1500000003000100020500001e075bcde70200000000020200000000010800"
#define TR05_DROP	 "0180000300000008075bcd15000000030001000205320000"
#define TR10_PORTS_QUEUE "163400430000000300000007075bcd15000100020500001e"
#define TR10_DROP	 "150101030000000300000008075bcd1505320000"
#define TR20_TWO                                                                                   \
	"20c0000700000003140e02205000000000000000000100020500001e4500002800010000400663cd0a000101" \
	"0a"                                                                                       \
	"0002029c400016000003e8000007d050182000d0bb000010050380410100000000000000010002000000"     \
	"4d05320000"
#define INT05                                                                                      \
	"455c004d000100004006634c0a0001010a0002029c400016000003e8000007d050182000370b000001000800" \
	"00021002900000000000000205000014000000010500000a06001600474554202f"
#define INT10                                                                                      \
	"455c004900010000400663500a0001010a0002029c400016000003e8000007d050182000520d000001000700" \
	"10000206900000000000000205000014000000010500000a474554202f"
#define INT21                                                                                      \
	"455c004d000100004006634c0a0001010a0002029c400016000003e8000007d050182000"                 \
	"3a020000100700002000020690000000000000000000000205000014000000010500000a474554202f"
#define INT21_MX                                                                                   \
	"455c003d000100004006635c0a0001010a0002029c400016000003e8000007d050182000263d000030030000" \
	"200000009000000000000000474554202f"
#define ETHER "0200000000020200000000010800"

static struct hs_collect *strict(void)
{
	struct hs_collect_config config = config_50();

	return collector(&config);
}

static struct hs_collect_queue queue_of(const struct hs_collect *c, uint32_t node)
{
	struct hs_collect_queue queues[16];
	uint64_t cursor = 0;
	unsigned n = hs_collect_queues(c, &cursor, queues, 16);

	for (unsigned i = 0; i < n; i++)
		if (queues[i].node_id == node)
			return queues[i];
	fail();
	return queues[0];
}

static void local_of_0_5(void **state)
{
	struct hs_collect *c = strict();
	struct hs_collect_exporter exporter;
	uint64_t cursor = 0;

	(void)state;
	take_hex(c, TR05_LOCAL, SECOND);
	assert_int_equal(told.n_points, 1); // the frame has no packet, so no flow
	assert_int_equal(point_of(HS_COLLECT_POINT_OCCUPANCY, 3, 5)->value, 30);
	assert_int_equal(point_of(HS_COLLECT_POINT_OCCUPANCY, 3, 5)->device_ns, 0x75bcde7);
	assert_int_equal(hs_collect_exporters(c, &cursor, &exporter, 1), 1);
	assert_true(exporter.has_node);
	assert_int_equal(exporter.node_id, 3);
	assert_int_equal(exporter.hw_id, 3);
	assert_int_equal(exporter.sequence, 7);
	assert_int_equal(exporter.version, HS_INT_REPORT_0_5);
	assert_int_equal(hs_collect_counters(c)->reports_without_flow, 1);
	check_balance(c);
	hs_collect_destroy(c);
}

static void drops(void **state)
{
	struct hs_collect *c = strict();
	struct hs_collect_drop drop;
	uint64_t cursor = 0;

	(void)state;
	take_hex(c, TR05_DROP, SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_DROP, HS_COLLECT_NEW), 1);
	assert_int_equal(point_of(HS_COLLECT_POINT_DROP, 3, 50)->value, 1);
	take_hex(c, TR10_DROP, SECOND + 5);
	assert_int_equal(told.n_points, 1);
	assert_int_equal(hs_collect_counters(c)->suppressed[HS_COLLECT_POINT_DROP], 1);
	take_hex(c, TR10_DROP, 2 * SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_DROP, HS_COLLECT_CHANGE), 1);
	assert_int_equal(told.points[1].value, 3);
	assert_int_equal(told.points[1].before, 1);
	assert_int_equal(hs_collect_drops(c, &cursor, &drop, 1), 1);
	assert_int_equal(drop.reports, 3);
	assert_int_equal(drop.reason, 50);
	check_balance(c);
	hs_collect_destroy(c);
}

static void queue_of_1_0(void **state)
{
	struct hs_collect *c = strict();

	(void)state;
	take_hex(c, TR10_PORTS_QUEUE, SECOND);
	assert_int_equal(told.n_points, 1);
	assert_int_equal(queue_of(c, 3).occupancy, 30);
	hs_collect_destroy(c);
}

static void two_of_2_0(void **state)
{
	struct hs_collect *c = strict();
	const struct hs_collect_counters *n = hs_collect_counters(c);

	(void)state;
	take_hex(c, TR20_TWO, SECOND);
	assert_int_equal(n->datagrams, 1);
	assert_int_equal(n->reports_read, 2);
	assert_int_equal(n->reports_without_flow, 1);
	assert_int_equal(point_of(HS_COLLECT_POINT_OCCUPANCY, 3, 5)->value, 30);
	assert_int_equal(point_of(HS_COLLECT_POINT_LINK, 3, 2)->value, 77);
	assert_int_equal(point_of(HS_COLLECT_POINT_DROP, 3, 50)->value, 1);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_NEW), 1);
	assert_int_equal(told.n_events, 2);
	assert_int_equal(n->exporters, 1);
	check_balance(c);
	hs_collect_destroy(c);
}

// The flow of a postcard is the reporter's alone.
static void postcard(void **state)
{
	struct hs_collect *c = strict();
	struct hs_collect_flow flow;
	uint64_t cursor = 0;

	(void)state;
	take_hex(c, TR20_TWO, SECOND);
	assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
	assert_int_equal(flow.key.reporter, 3);
	assert_int_equal(flow.key.dst_port, 22);
	assert_int_equal(flow.key.protocol, 6);
	assert_int_equal(flow.n_hops, 1);
	assert_int_equal(flow.hops[0].node_id, 3);
	assert_false(flow.has_latency);
	hs_collect_destroy(c);
}

// Node 3 reports a packet of INT that nodes 1 and 2 filled.
static void check_stack(const char *head, const char *packet, unsigned hops)
{
	struct hs_collect *c = strict();
	struct bytes b = {.n = 0};
	struct hs_collect_flow flow;
	uint64_t cursor = 0;

	put_hex(&b, head);
	put_hex(&b, packet);
	take(c, b.at, b.n, SECOND);
	assert_int_equal(refused(c), 0);
	assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
	assert_int_equal(flow.n_hops, hops);
	assert_int_equal(flow.key.reporter, UINT32_MAX);
	assert_int_equal(flow.hops[0].node_id, 1);
	assert_int_equal(flow.hops[1].node_id, 2);
	assert_int_equal(queue_of(c, 1).occupancy, 10);
	assert_int_equal(queue_of(c, 2).occupancy, 20);
	check_balance(c);
	hs_collect_destroy(c);
}

static void stacks(void **state)
{
	(void)state;
	check_stack("002000030000000700000001" ETHER, INT05, 2);
	check_stack("14000043000000030000000700000001" ETHER, INT10, 2);
	check_stack("14200043000000030000000700000001", INT10, 2); // inner IPv4
	check_stack("14000043000000030000000700000001"
		    "0200000000020200000000018100000a0800",
			INT10, 2);
	check_stack("20c0000700000003"
		    "04140020",
			INT21 "000000", 2);
	check_stack("20c0000700000003"
		    "03170020" ETHER,
			INT21 "00", 2); // 14 bytes of Ethernet, 77, and one of padding
	// The sink's own values are one more hop, or of the newest.
	check_stack("15040043000000030000000700000001"
		    "0300000a" ETHER,
			INT10, 3);
	check_stack("15040043000000020000000700000001"
		    "0300000a" ETHER,
			INT10, 2);
}

static void no_stack_without_f(void **state)
{
	struct hs_collect *c = strict();
	struct hs_collect_flow flow;
	uint64_t cursor = 0;

	(void)state;
	take_hex(c, "14000003000000030000000700000001" ETHER INT10, SECOND);
	assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
	assert_int_equal(flow.key.reporter, 3);
	assert_int_equal(hs_collect_counters(c)->queues, 0);
	hs_collect_destroy(c);
}

static void instructions_only(void **state)
{
	struct hs_collect *c = strict();
	struct hs_collect_flow flow;
	uint64_t cursor = 0;

	(void)state;
	take_hex(c, "20c000070000000304100020" INT21_MX "000000", SECOND);
	assert_int_equal(refused(c), 0);
	assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
	assert_int_equal(flow.key.reporter, 3);
	assert_int_equal(flow.n_hops, 1);
	hs_collect_destroy(c);
}

static void intermediate(void **state)
{
	struct hs_collect *c = strict();
	struct hs_collect_flow flow;
	uint64_t cursor = 0;

	(void)state;
	take_hex(c, "20c000070000000304140030" INT21 "000000", SECOND);
	assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
	assert_int_equal(flow.key.reporter, 3);
	assert_int_equal(flow.n_hops, 2);
	hs_collect_destroy(c);
}

// Every vector, cut at every byte: what is left is read.
static void cut_anywhere(void **state)
{
	static const char *all[] = {"002000030000000700000001" ETHER INT05,
			"14000043000000030000000700000001" ETHER INT10,
			"20c0000700000003ff140020" INT21, TR20_TWO, TR05_LOCAL, TR10_DROP};
	uint8_t bytes[512];

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		size_t len = unhex(all[i], bytes);
		for (size_t cut = 0; cut <= len; cut++) {
			struct hs_collect *c = strict();
			take(c, bytes, cut, SECOND);
			check_balance(c);
			hs_collect_destroy(c);
		}
	}
}

// The newest of two hops is whole: its queue is read, but the path is not known, so the flow stays.
static void cut_stack(void **state)
{
	static const char *heads[] = {"002000030000000700000001" ETHER,
			"14000043000000030000000700000001" ETHER, "20c000070000000304130020"};
	static const char *packets[] = {INT05, INT10, INT21};
	static const size_t behind[] = {9, 5, 5}; // the stack

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct hs_collect *c = strict();
		struct hs_collect_flow flow;
		struct bytes b = {.n = 0};
		uint64_t cursor = 0;
		put_hex(&b, heads[i]);
		put_hex(&b, packets[i]);
		size_t cut = b.n - behind[i] - 1;
		b.at[9] = i == 2 ? (uint8_t)((cut - 12) / 4) : b.at[9];
		cut -= i == 2 ? (cut - 12) % 4 : 0;
		take(c, b.at, cut, SECOND);
		assert_int_equal(refused(c), 0);
		assert_int_equal(hs_collect_counters(c)->reports_partial, 1);
		assert_int_equal(hs_collect_counters(c)->flows, 0);
		assert_int_equal(queue_of(c, 2).occupancy, 20);
		b.at[9] = i == 2 ? 0x14 : b.at[9];
		b.n += i == 2 ? 3 : 0;
		take(c, b.at, b.n, SECOND);
		take(c, b.at, cut, SECOND);
		assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
		assert_int_equal(flow.n_hops, 2);
		assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 0);
		hs_collect_destroy(c);
	}
}

// Hops without values, and more of them than none.
static void hops_of_nothing(void **state)
{
	struct hs_collect *c = strict();

	(void)state;
	take_hex(c,
			"002000030000000700000001" ETHER "455c003800010000401100000a0000010a0000021"
			"3881389002400000100040000000404000000000"
			"01100000041414141",
			SECOND);
	assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_STACK], 1);
	hs_collect_destroy(c);
}

// The reporter says beside its hop of the stack what that does not say.
static void port_beside_the_stack(void **state)
{
	struct hs_collect *c = strict();

	(void)state;
	take_hex(c,
			"1634004100000007491625110fefeb8c0003000102000023455c004b000100004011663a0a"
			"0000020a010009"
			"03eb005000370000010007001000043f990000000000000702f47114acd9d1240000138800"
			"000000000000"
			"000000000000000000",
			SECOND);
	assert_int_equal(point_of(HS_COLLECT_POINT_LINK, 7, 1)->value, 5000);
	hs_collect_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(local_of_0_5),
			cmocka_unit_test(drops),
			cmocka_unit_test(queue_of_1_0),
			cmocka_unit_test(two_of_2_0),
			cmocka_unit_test(postcard),
			cmocka_unit_test(stacks),
			cmocka_unit_test(no_stack_without_f),
			cmocka_unit_test(instructions_only),
			cmocka_unit_test(intermediate),
			cmocka_unit_test(cut_anywhere),
			cmocka_unit_test(cut_stack),
			cmocka_unit_test(hops_of_nothing),
			cmocka_unit_test(port_beside_the_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
