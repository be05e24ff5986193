// SPDX-License-Identifier: BSD-3-Clause
// Windows and events as lines.
#include "influx_window.h"

#include "qos_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define END_NS INT64_C(1700000001000000000)

static struct hs_influx_text text;

static const char *copy(void)
{
	static char bytes[65536];

	snprintf(bytes, sizeof(bytes), "%.*s", (int)text.len, text.len ? text.bytes : "");
	return bytes;
}

static uint32_t path[] = {1, 7, 9};
static struct hs_qos_hop hops[] = {
		{.has = HS_QOS_HAS_DELAY | HS_QOS_HAS_LOSS | HS_QOS_HAS_RX_PACKETS,
				.from = 1,
				.to = 7,
				.delay = {.n = 3, .mean = -5, .min = -9, .max = 4},
				.lost_packets = 25,
				.shown_lost_packets = 25,
				.tx_packets = 100,
				.rx_packets = 75},
		{.has = HS_QOS_HAS_QUEUE,
				.from = HS_NODE_UNKNOWN,
				.to = 9,
				.queue_packets = {2, 3}},
};
static const struct hs_qos_window window = {
		.ns_id = 7,
		.app_id = 2,
		.window_ns = 1000000000,
		.start_ns = END_NS - 1000000000,
		.end_ns = END_NS,
		.reports = 3,
		.flags = HS_QOS_NEGATIVE_DELAY | HS_QOS_EPOCH,
		.n_path = 3,
		.path = path,
		.n_hops = 2,
		.hops = hops,
		.e2e = {.has = HS_QOS_HAS_THROUGHPUT | HS_QOS_HAS_DELAY,
				.throughput_bps = 1000,
				.delay = {.n = 3, .mean = 10, .min = 8, .max = 12}},
		.clock = {.known = true, .synchronised = true, .error_ns = 500},
};

static const char *lines_of(const struct hs_qos_window *of, const char *node)
{
	json_t *message = hs_qos_window_json(of, NULL);

	hs_influx_text_clear(&text);
	hs_influx_window(&text, node, json_object_get(message, "qos_report"));
	json_decref(message);
	return copy();
}

static void a_window_is_a_line_and_one_for_each_hop(void **state)
{
	(void)state;
	assert_string_equal(lines_of(&window, "n1"),
			"hopsight_path,node=n1,ns_id=7,app_id=2,window=1s "
			"start_ns=1700000000000000000i,end_ns=1700000001000000000i,reports=3i,"
			"stale=false,path_changed=false,clock_synchronised=true,"
			"clock_error_ns=500i,path=\"1>7>9\",throughput_bps=1000i,"
			"delay_ns_mean=10i,delay_ns_min=8i,delay_ns_max=12i,"
			"flags=\"negative_delay epoch\" 1700000001000000000\n"
			"hopsight_hop,node=n1,ns_id=7,app_id=2,window=1s,hop=0,from=1,to=7 "
			"delay_ns_mean=-5i,delay_ns_min=-9i,delay_ns_max=4i,loss_ratio=0.25,"
			"lost_packets=25i,tx_packets=100i,rx_packets=75i 1700000001000000000\n"
			"hopsight_hop,node=n1,ns_id=7,app_id=2,window=1s,hop=1,to=9 "
			"queue_packets_mean=2,queue_packets_max=3i 1700000001000000000\n");
	assert_int_equal(text.lines, 3);
}

static void a_window_without_reports_has_no_old_numbers(void **state)
{
	struct hs_qos_window stale = window;
	(void)state;

	stale.stale = true;
	stale.reports = 0;
	stale.age_ns = 5;
	stale.window_ns = 60000000000;
	assert_string_equal(lines_of(&stale, "my node"),
			"hopsight_path,node=my\\ node,ns_id=7,app_id=2,window=60s "
			"start_ns=1700000000000000000i,end_ns=1700000001000000000i,reports=0i,"
			"stale=true,age_ns=5i,path_changed=false,"
			"flags=\"negative_delay epoch\" 1700000001000000000\n");
}

// No number of a window has a type that depends on its value: the database would refuse one of
// them.
static void a_field_keeps_its_type(void **state)
{
	struct hs_qos_hop other = hops[0];
	struct hs_qos_window whole = window;
	(void)state;

	whole.hops = &other;
	whole.n_hops = 1;
	other.shown_lost_packets = 0;
	other.has |= HS_QOS_HAS_QUEUE;
	other.queue_packets.mean = 3;
	const char *lines = lines_of(&whole, "n");
	assert_non_null(strstr(lines, "loss_ratio=0,"));
	assert_non_null(strstr(lines, "queue_packets_mean=3,"));
}

static void the_longest_window_fits(void **state)
{
	static struct hs_qos_hop many[HS_TELEMETRY_MAX_HOPS + 1];
	static uint32_t ids[HS_TELEMETRY_MAX_HOPS + 2];
	struct hs_qos_window longest = window;
	unsigned n = 0;
	(void)state;

	memset(many, 0xff, sizeof(many)); // every number known, and long
	for (unsigned i = 0; i < HS_TELEMETRY_MAX_HOPS + 1; i++) {
		many[i].from = many[i].to = UINT32_MAX - 1;
		many[i].link_utilisation_ratio.mean = many[i].link_utilisation_ratio.max =
				many[i].queue_packets.mean = 1.0 / 3;
		ids[n++] = UINT32_MAX - 1;
	}
	longest.e2e = many[0];
	longest.hops = many;
	longest.n_hops = n;
	longest.path = ids;
	longest.n_path = n;
	longest.flags = UINT32_MAX;
	lines_of(&longest, "n");
	assert_int_equal(text.lines, n + 1);
}

static void an_event_has_its_details_and_a_time_of_its_own(void **state)
{
	int64_t last_ns = 0;
	json_t *event = json_pack("{s:I, s:s, s:s, s:s, s:i, s:b, s:f, s:[], s:i, s:s}", "ts_ns",
			(json_int_t)END_NS, "kind", "port_down", "message",
			"port \"east\" is\ndown", "port", "east", "packets", 3, "synchronised", 1,
			"share", 0.5, "list", "seq", 9, "boot_id", "ab");
	(void)state;

	hs_influx_text_clear(&text);
	hs_influx_event(&text, "n1", event, &last_ns);
	hs_influx_event(&text, "n1", event, &last_ns);
	json_object_set_new(event, "node", json_string("far"));
	json_object_set_new(event, "ts_ns", json_integer(END_NS + 5));
	hs_influx_event(&text, "n1", event, &last_ns);
#define FIELDS                                                                                     \
	"message=\"port \\\"east\\\" "                                                             \
	"is\\ndown\",port=\"east\",packets=3i,synchronised=true,share="                            \
	"0.5"
	assert_string_equal(copy(),
			"hopsight_event,node=n1,kind=port_down " FIELDS " 1700000001000000000\n"
			"hopsight_event,node=n1,kind=port_down " FIELDS " 1700000001000000001\n"
			"hopsight_event,node=far,kind=port_down " FIELDS " 1700000001000000005\n");
	json_decref(event);
}

static int teardown(void **state)
{
	(void)state;
	hs_influx_text_fini(&text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_window_is_a_line_and_one_for_each_hop),
			cmocka_unit_test(a_window_without_reports_has_no_old_numbers),
			cmocka_unit_test(a_field_keeps_its_type),
			cmocka_unit_test(the_longest_window_fits),
			cmocka_unit_test(an_event_has_its_details_and_a_time_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
