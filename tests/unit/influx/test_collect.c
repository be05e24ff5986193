// SPDX-License-Identifier: BSD-3-Clause
// Lines of a collector's events. Those with INTCollector's names are the ones that it writes for
// the report of its own generator.
#include "influx_collect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct hs_influx_text text;
static int64_t last_ns;

static const struct hs_collect_flow flow = {
		.key = {.src = {10, 0, 0, 1},
				.dst = {10, 0, 0, 2},
				.src_port = 5000,
				.dst_port = 5000,
				.vlan = 7,
				.protocol = 17,
				.is_ipv4 = true,
				.reporter = UINT32_MAX},
		.has_latency = true,
		.latency = 408,
		.n_hops = 3,
		.hops = {{6, 4, true}, {5, 4, true}, {4, 400, true}},
};

static const struct hs_collect_point points[] = {
		{.kind = HS_COLLECT_POINT_FLOW, .node_id = 4, .value = 408, .has_value = true},
		{.kind = HS_COLLECT_POINT_HOP,
				.cause = HS_COLLECT_CHANGE,
				.node_id = 4,
				.id = 2,
				.value = 400,
				.before = 4,
				.device_ns = 1524234560,
				.has_value = true},
		{.kind = HS_COLLECT_POINT_LINK,
				.cause = HS_COLLECT_PUSH,
				.node_id = 4,
				.id = 3,
				.value = 1,
				.has_value = true},
		{.kind = HS_COLLECT_POINT_OCCUPANCY,
				.cause = HS_COLLECT_GAP,
				.node_id = 4,
				.id = 5,
				.value = 600,
				.has_value = true},
		{.kind = HS_COLLECT_POINT_CONGESTION,
				.node_id = 4,
				.id = 5,
				.value = 1000,
				.has_value = true},
};

static const char *lines_of(const struct hs_influx_config *config, const struct hs_collect_flow *of,
		const struct hs_collect_point *list, unsigned n)
{
	struct hs_collect_event event = {1524138290, 1524138280, of, list, n};
	static char copy[8192];

	hs_influx_text_clear(&text);
	hs_influx_collect(&text, "c1", config, &event, &last_ns);
	snprintf(copy, sizeof(copy), "%.*s", (int)text.len, text.len ? text.bytes : "");
	return copy;
}

static int setup(void **state)
{
	(void)state;
	last_ns = 0;
	return 0;
}

static void lines_have_intcollectors_names(void **state)
{
	static const struct hs_influx_config config = {.lines = HS_INFLUX_LINES_INTCOLLECTOR};
	(void)state;

	assert_string_equal(lines_of(&config, &flow, points, 5),
			"flow_stat\\,10.0.0.1:5000->10.0.0.2:5000\\,proto\\=17 "
			"flow_latency=408,path=\"6:5:4\" 1524138290\n"
			"flow_hop_latency\\,10.0.0.1:5000->10.0.0.2:5000\\,proto\\=17\\,sw_id\\=4 "
			"value=400 1524138290\n"
			"port_tx_utilize\\,sw_id\\=4\\,port_id\\=3 value=1 1524138290\n"
			"queue_occupancy\\,sw_id\\=4\\,queue_id\\=5 value=600 1524138290\n"
			"queue_congestion\\,sw_id\\=4\\,queue_id\\=5 value=1000 1524138290\n");
	assert_int_equal(text.lines, 5);
}

static void ids_are_tags_and_values_are_fields(void **state)
{
	static const struct hs_influx_config config = {.lines = HS_INFLUX_LINES_HOPSIGHT};
#define KEY "src=\"10.0.0.1\",dst=\"10.0.0.2\",src_port=5000i,dst_port=5000i,protocol=17i,vlan=7i"
	(void)state;

	assert_string_equal(lines_of(&config, &flow, points, 5),
			"hopsight_flow,collector=c1 latency=408i," KEY
			",path=\"6>5>4\",hops=3i,cause=\"new\" 1524138290\n"
			"hopsight_flow_hop,collector=c1,node_id=4,hop=2 latency=400i," KEY
			",cause=\"change\",before=4i,device_ns=1524234560i 1524138290\n"
			"hopsight_link,collector=c1,node_id=4,port=3 "
			"utilisation=1i,cause=\"push\",told_ns=1524138280i "
			"1524138290\n"
			"hopsight_queue,collector=c1,node_id=4,queue=5 "
			"occupancy=600i,cause=\"gap\" "
			"1524138290\n"
			"hopsight_queue,collector=c1,node_id=4,queue=5 "
			"congestion=1000i,cause=\"new\" "
			"1524138291\n");
}

// A database keeps one point of a series and time: the fields of the later line, and what the
// earlier one has beside them.
static void no_two_values_of_a_series_have_the_same_time(void **state)
{
	static const struct hs_influx_config hopsight,
			intcollector = {.lines = HS_INFLUX_LINES_INTCOLLECTOR};
	static const struct hs_collect_point list[] = {
			{.kind = HS_COLLECT_POINT_OCCUPANCY,
					.cause = HS_COLLECT_CHANGE,
					.node_id = 4,
					.id = 5,
					.value = 600,
					.before = 10,
					.has_value = true},
			{.kind = HS_COLLECT_POINT_CONGESTION,
					.cause = HS_COLLECT_CHANGE,
					.node_id = 4,
					.id = 5,
					.value = 1000,
					.before = 7,
					.has_value = true},
			{.kind = HS_COLLECT_POINT_OCCUPANCY,
					.node_id = 5,
					.id = 5,
					.value = 1,
					.has_value = true},
	};
	static const struct hs_collect_point loop[] = {
			{.kind = HS_COLLECT_POINT_HOP, .node_id = 4, .value = 1, .has_value = true},
			{.kind = HS_COLLECT_POINT_HOP,
					.node_id = 4,
					.id = 1,
					.value = 2,
					.has_value = true},
	};
	(void)state;

	assert_string_equal(lines_of(&hopsight, NULL, list, 3),
			"hopsight_queue,collector=c1,node_id=4,queue=5 "
			"occupancy=600i,cause=\"change\",before=10i 1524138290\n"
			"hopsight_queue,collector=c1,node_id=4,queue=5 "
			"congestion=1000i,cause=\"change\",before=7i 1524138291\n"
			"hopsight_queue,collector=c1,node_id=5,queue=5 "
			"occupancy=1i,cause=\"new\" 1524138291\n");
	assert_int_equal(last_ns, 1524138291);
	assert_non_null(strstr(lines_of(&intcollector, &flow, loop, 2), " value=2 1524138293\n"));
	lines_of(&hopsight, &flow, loop, 2); // the place is a tag
	assert_int_equal(last_ns, 1524138294);
}

static void a_flow_can_be_a_series_of_its_own(void **state)
{
	static const struct hs_influx_config config = {.flow_tags = true};
	struct hs_collect_flow part = flow;
	(void)state;

	part.key.reporter = 5;
	part.key.is_ipv4 = false;
	memcpy(part.key.src, (uint8_t[16]){0x20, 1, 0xd, 0xb8, [15] = 1}, 16);
	memcpy(part.key.dst, (uint8_t[16]){0x20, 1, 0xd, 0xb8, [15] = 2}, 16);
	assert_string_equal(lines_of(&config, &part, points, 1),
			"hopsight_flow,collector=c1,node_id=5,src=2001:db8::1,dst=2001:db8::2,"
			"src_port=5000,dst_port=5000,protocol=17,vlan=7 "
			"latency=408i,path=\"6>5>4\",hops=3i,cause=\"new\" 1524138290\n");
}

static void a_drop_and_a_queue_that_only_says_so_have_lines(void **state)
{
	static const struct hs_influx_config hopsight,
			intcollector = {.lines = HS_INFLUX_LINES_INTCOLLECTOR};
	static const struct hs_collect_point list[] = {
			{.kind = HS_COLLECT_POINT_DROP,
					.node_id = UINT32_MAX,
					.id = 71,
					.value = 9,
					.has_value = true},
			{.kind = HS_COLLECT_POINT_CONGESTION,
					.cause = HS_COLLECT_CHANGE,
					.node_id = 4,
					.id = 5,
					.value = 1,
					.has_value = true,
					.by_q = true},
	};
	(void)state;

	assert_string_equal(lines_of(&hopsight, NULL, list, 2),
			"hopsight_drop,collector=c1,reason=71 reports=9i,cause=\"new\" 1524138290\n"
			"hopsight_queue,collector=c1,node_id=4,queue=5 "
			"congested=true,cause=\"change\" "
			"1524138290\n");
	assert_string_equal(lines_of(&intcollector, NULL, list, 2),
			"queue_congestion\\,sw_id\\=4\\,queue_id\\=5 value=1 1524138291\n");
}

// INT 2016-06 has no ids of queues, and 255 is none in later versions.
static void a_queue_that_is_not_told_has_no_number(void **state)
{
	static const struct hs_influx_config hopsight,
			intcollector = {.lines = HS_INFLUX_LINES_INTCOLLECTOR};
	static const struct hs_collect_point point = {.kind = HS_COLLECT_POINT_OCCUPANCY,
			.node_id = 4,
			.id = UINT32_MAX,
			.value = 600,
			.has_value = true};
	(void)state;

	assert_string_equal(lines_of(&hopsight, NULL, &point, 1),
			"hopsight_queue,collector=c1,node_id=4 occupancy=600i,cause=\"new\" "
			"1524138290\n");
	assert_string_equal(lines_of(&intcollector, NULL, &point, 1),
			"queue_occupancy\\,sw_id\\=4\\,queue_id\\=? value=600 1524138291\n");
}

static void no_two_events_have_the_same_time(void **state)
{
	static const struct hs_influx_config config = {.lines = HS_INFLUX_LINES_INTCOLLECTOR};
	(void)state;

	for (int64_t time_ns = 1524138290; time_ns < 1524138300; time_ns++) {
		lines_of(&config, &flow, points, 5);
		assert_int_equal(last_ns, time_ns);
	}
}

static void a_clock_that_was_set_back_tells_its_own_time(void **state)
{
	(void)state;
	assert_int_equal(hs_influx_text_next_ns(1700000000000000000, 0), 1700000000000000000);
	assert_int_equal(hs_influx_text_next_ns(1700000000000000000, 1700000000000000007),
			1700000000000000008);
	assert_int_equal(hs_influx_text_next_ns(1600000000000000000, 1700000000000000007),
			1600000000000000000);
}

static void the_longest_path_fits(void **state)
{
	static const struct hs_influx_config config,
			intcollector = {.lines = HS_INFLUX_LINES_INTCOLLECTOR};
	struct hs_collect_flow longest = flow;
	(void)state;

	longest.n_hops = HS_COLLECT_MAX_HOPS;
	for (unsigned i = 0; i < HS_COLLECT_MAX_HOPS; i++)
		longest.hops[i].node_id = UINT32_MAX - 1;
	assert_non_null(strstr(lines_of(&config, &longest, points, 1),
			">4294967294>4294967294\",hops=64i,"));
	longest.hops[63].node_id = UINT32_MAX;
	assert_non_null(strstr(lines_of(&intcollector, &longest, points, 1), ":4294967294:?\" "));
}

static int teardown(void **state)
{
	(void)state;
	hs_influx_text_fini(&text);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, setup)
int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(lines_have_intcollectors_names),
			TEST(ids_are_tags_and_values_are_fields),
			TEST(no_two_values_of_a_series_have_the_same_time),
			TEST(a_flow_can_be_a_series_of_its_own),
			TEST(a_drop_and_a_queue_that_only_says_so_have_lines),
			TEST(a_queue_that_is_not_told_has_no_number),
			TEST(no_two_events_have_the_same_time),
			TEST(a_clock_that_was_set_back_tells_its_own_time),
			TEST(the_longest_path_fits),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
