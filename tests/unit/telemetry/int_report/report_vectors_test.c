// SPDX-License-Identifier: BSD-3-Clause
// Reports whose bytes are known, written and read.
#include "report_test.h"

static const char ethernet[] = "0200000000020200000000010800";
static const char ipv4_tcp[] = "4500002800010000400663cd0a0001010a0002029c400016000003e8000007d0"
			       "50182000d0bb0000";

struct vector {
	const char *name;
	enum hs_int_report_version version;
	const char *bytes;
	struct hs_int_report report;
	const char *packet; // behind the values
};

static const struct vector vectors[] = {
		{"tr05-switch-local", HS_INT_REPORT_0_5, TR05_SWITCH_LOCAL,
				{.has = HS_INT_REPORT_NODE | HS_INT_REPORT_PORTS |
						HS_INT_REPORT_QUEUE | HS_INT_REPORT_INGRESS_TIME |
						HS_INT_REPORT_EGRESS_TIME,
						.inner = HS_INT_INNER_ETHERNET,
						.tracked = true,
						.hw_id = 3,
						.sequence = 7,
						.node_id = 3,
						.ingress_port = 1,
						.egress_port = 2,
						.queue_id = 5,
						.queue_packets = 30,
						.ingress_ns = 123456789,
						.egress_ns = 123456999},
				ethernet},
		{"tr05-drop", HS_INT_REPORT_0_5, TR05_DROP,
				{.has = HS_INT_REPORT_NODE | HS_INT_REPORT_PORTS |
						HS_INT_REPORT_DROP | HS_INT_REPORT_INGRESS_TIME,
						.inner = HS_INT_INNER_ETHERNET,
						.dropped = true,
						.hw_id = 3,
						.sequence = 8,
						.node_id = 3,
						.ingress_port = 1,
						.egress_port = 2,
						.drop_queue_id = 5,
						.drop_reason = HS_INT_DROP_MTU,
						.ingress_ns = 123456789},
				""},
		{"tr10-minimal", HS_INT_REPORT_1_0, TR10_MINIMAL,
				{.has = HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME,
						.inner = HS_INT_INNER_ETHERNET,
						.tracked = true,
						.hw_id = 3,
						.sequence = 7,
						.node_id = 3,
						.ingress_ns = 123456789},
				""},
		{"tr10-ports-queue", HS_INT_REPORT_1_0, TR10_PORTS_QUEUE,
				{.has = HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME |
						HS_INT_REPORT_PORTS | HS_INT_REPORT_QUEUE,
						.inner = HS_INT_INNER_IPV4,
						.tracked = true,
						.hw_id = 3,
						.sequence = 7,
						.node_id = 3,
						.ingress_port = 1,
						.egress_port = 2,
						.queue_id = 5,
						.queue_packets = 30,
						.ingress_ns = 123456789},
				""},
		{"tr10-drop", HS_INT_REPORT_1_0, TR10_DROP,
				{.has = HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME |
						HS_INT_REPORT_DROP,
						.inner = HS_INT_INNER_ETHERNET,
						.dropped = true,
						.hw_id = 3,
						.sequence = 8,
						.node_id = 3,
						.drop_queue_id = 5,
						.drop_reason = HS_INT_DROP_MTU,
						.ingress_ns = 123456789},
				""},
		// Every field at a bound: no bit reaches its neighbour.
		{"1.0 with all values", HS_INT_REPORT_1_0,
				"1a5f81ffffffffff80000000fffffffe"
				"fffe0001ffffffff00ffffff80000001aaff00000000271060",
				{.has = HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME |
						HS_INT_REPORT_PORTS | HS_INT_REPORT_LATENCY |
						HS_INT_REPORT_QUEUE | HS_INT_REPORT_EGRESS_TIME |
						HS_INT_REPORT_DROP | HS_INT_REPORT_UTILISATION,
						.inner = HS_INT_INNER_IPV6,
						.dropped = true,
						.congested = true,
						.tracked = true,
						.hw_id = 63,
						.sequence = 0x80000000,
						.node_id = UINT32_MAX,
						.ingress_port = 0xfffe,
						.egress_port = 1,
						.hop_latency_ns = UINT32_MAX,
						.queue_id = 0,
						.queue_packets = 0xffffff,
						.ingress_ns = 0xfffffffe,
						.egress_ns = 0x80000001,
						.drop_queue_id = 0xaa,
						.drop_reason = 0xff,
						.link_utilisation = 10000},
				"60"},
		{"0.5 before any egress port was known", HS_INT_REPORT_0_5,
				"01e0003fffffffff00000000000000090001ffffff000000",
				{.has = HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME |
						HS_INT_REPORT_PORTS | HS_INT_REPORT_DROP,
						.inner = HS_INT_INNER_ETHERNET,
						.dropped = true,
						.congested = true,
						.tracked = true,
						.hw_id = 63,
						.sequence = UINT32_MAX,
						.node_id = 9,
						.ingress_port = 1,
						.egress_port = UINT16_MAX,
						.drop_queue_id = UINT8_MAX,
						.drop_reason = HS_INT_DROP_UNKNOWN},
				""},
		{"2.0 with all values and a domain's", HS_INT_REPORT_2_0,
				"2fffffffdeadbeef"
				"1314 0ef0 7f81 abcd c000 0001"
				"00010002 00000003 04000005 0000000000000006 0000000000000007"
				"0000000800000009 0000000a 0b00000c 0d330000 cafe0000 cafe0001"
				"010203040506070808000000 00000000",
				{.has = HS_INT_REPORT_NODE | HS_INT_REPORT_PORTS |
						HS_INT_REPORT_LATENCY | HS_INT_REPORT_QUEUE |
						HS_INT_REPORT_INGRESS_TIME |
						HS_INT_REPORT_EGRESS_TIME | HS_INT_REPORT_PORTS_L2 |
						HS_INT_REPORT_UTILISATION | HS_INT_REPORT_BUFFER |
						HS_INT_REPORT_DROP,
						.inner = HS_INT_INNER_ETHERNET,
						.dropped = true,
						.congested = true,
						.tracked = true,
						.intermediate = true,
						.hw_id = 63,
						.sequence = 0x3fffff,
						.node_id = 0xdeadbeef,
						.ingress_port = 1,
						.egress_port = 2,
						.hop_latency_ns = 3,
						.queue_id = 4,
						.queue_packets = 5,
						.ingress_ns = 6,
						.egress_ns = 7,
						.ingress_port_l2 = 8,
						.egress_port_l2 = 9,
						.link_utilisation = 10,
						.buffer_id = 11,
						.buffer_used = 12,
						.drop_queue_id = 13,
						.drop_reason = HS_INT_DROP_TRAFFIC_MANAGER,
						.domain_id = 0xabcd,
						.domain_bits = 0xc000,
						.domain_status = 1,
						.domain_words = 2,
						.domain = (const uint8_t[]){0xca, 0xfe, 0, 0, 0xca,
								0xfe, 0, 1}},
				"01020304050607080800000000000000"},
		{"2.0 inner only", HS_INT_REPORT_2_0,
				"2000000000000001"
				"0502 0020 6000 0000 0000 3b40",
				{.has = HS_INT_REPORT_NODE,
						.inner = HS_INT_INNER_IPV6,
						.tracked = true,
						.node_id = 1},
				"6000000000003b40"},
};

static size_t unhex_spaced(const char *hex, uint8_t *bytes)
{
	char digits[1024];
	size_t n = 0;
	for (; *hex; hex++)
		if (*hex != ' ')
			digits[n++] = *hex;
	digits[n] = '\0';
	return unhex(digits, bytes);
}

static void each_vector_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct vector *v = &vectors[i];
		uint8_t bytes[512], packet[512];
		size_t len = unhex_spaced(v->bytes, bytes);
		size_t packet_len = unhex(v->packet, packet);
		struct hs_int_report_reader r;
		struct hs_int_report report;
		print_message("%s\n", v->name);
		assert_int_equal(hs_int_report_open(&r, bytes, len, TAKE_ALL), 0);
		assert_int_equal(r.version, v->version);
		assert_int_equal(hs_int_report_next(&r, &report), 1);
		same_values(&report, &v->report);
		assert_false(r.mismatch);
		assert_int_equal(r.packet_bytes, packet_len);
		assert_memory_equal(bytes + r.packet_at, packet, packet_len);
		assert_int_equal(hs_int_report_next(&r, &report), 0);
	}
}

static void each_vector_is_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct vector *v = &vectors[i];
		uint8_t expected[512], packet[512], bytes[512];
		size_t len = unhex_spaced(v->bytes, expected);
		size_t packet_len = unhex(v->packet, packet);
		struct hs_int_report_writer w;
		print_message("%s\n", v->name);
		memset(bytes, 0xa5, sizeof(bytes));
		hs_int_report_begin(&w, v->version, bytes, sizeof(bytes));
		assert_int_equal(hs_int_report_add(&w, &v->report, packet, packet_len), 0);
		assert_int_equal(w.len, len);
		assert_memory_equal(bytes, expected, len);
		assert_int_equal(bytes[len], 0xa5);
		assert_int_equal(hs_int_report_bytes(v->version, &v->report), len - packet_len);
	}
}

static const struct hs_int_report first_of_two = {
		.has = HS_INT_REPORT_NODE | HS_INT_REPORT_PORTS | HS_INT_REPORT_QUEUE,
		.inner = HS_INT_INNER_IPV4,
		.tracked = true,
		.hw_id = 3,
		.sequence = 7,
		.node_id = 3,
		.ingress_port = 1,
		.egress_port = 2,
		.queue_id = 5,
		.queue_packets = 30,
};
static const struct hs_int_report second_of_two = {
		.has = HS_INT_REPORT_NODE | HS_INT_REPORT_PORTS | HS_INT_REPORT_UTILISATION |
		       HS_INT_REPORT_DROP,
		.inner = HS_INT_INNER_NONE,
		.dropped = true,
		.hw_id = 3,
		.sequence = 7,
		.node_id = 3,
		.ingress_port = 1,
		.egress_port = 2,
		.link_utilisation = 77,
		.drop_queue_id = 5,
		.drop_reason = HS_INT_DROP_MTU,
};

static void two_reports_of_one_datagram_are_read(void **state)
{
	(void)state;
	uint8_t bytes[512], packet[64];
	size_t len = unhex(TR20_TWO, bytes), packet_len = unhex(ipv4_tcp, packet);
	struct hs_int_report_reader r;
	struct hs_int_report report;
	assert_int_equal(hs_int_report_open(&r, bytes, len, TAKE_ALL), 0);
	assert_int_equal(hs_int_report_next(&r, &report), 1);
	same_values(&report, &first_of_two);
	assert_int_equal(r.packet_bytes, packet_len);
	assert_memory_equal(bytes + r.packet_at, packet, packet_len);
	assert_int_equal(hs_int_report_next(&r, &report), 1);
	same_values(&report, &second_of_two);
	assert_int_equal(r.packet_bytes, 0);
	assert_int_equal(hs_int_report_next(&r, &report), 0);
	assert_int_equal(r.skipped, 0);
}

static void two_reports_go_into_one_datagram(void **state)
{
	(void)state;
	uint8_t expected[512], packet[64], bytes[512];
	size_t len = unhex(TR20_TWO, expected), packet_len = unhex(ipv4_tcp, packet);
	struct hs_int_report_writer w;
	hs_int_report_begin(&w, HS_INT_REPORT_2_0, bytes, sizeof(bytes));
	assert_int_equal(hs_int_report_add(&w, &first_of_two, packet, packet_len), 0);
	struct hs_int_report second = second_of_two;
	second.sequence = 1234; // a datagram has that of its first report
	assert_int_equal(hs_int_report_add(&w, &second, packet, packet_len), 0);
	assert_int_equal(w.len, len);
	assert_memory_equal(bytes, expected, len);
}

static void generators_of_intcollector_are_read_where_that_is_asked_for(void **state)
{
	(void)state;
	uint8_t bytes[64];
	struct hs_int_report_reader r;
	struct hs_int_report report;
	size_t len = unhex("1100004000000000000000005ad88132"
			   "0200000000020200000000010800",
			bytes);
	assert_int_equal(hs_int_report_open(&r, bytes, len, TAKE_ALL), 0);
	assert_int_equal(hs_int_report_next(&r, &report), -EBADMSG);
	assert_int_equal(hs_int_report_next(&r, &report), 0);
	assert_int_equal(
			hs_int_report_open(&r, bytes, len, TAKE_ALL | HS_INT_REPORT_TAKE_SHORT_1_0),
			0);
	assert_int_equal(hs_int_report_next(&r, &report), 1);
	assert_true(r.mismatch);
	assert_true(report.tracked);
	assert_int_equal(report.ingress_ns, 1524138290);
	assert_int_equal(r.packet_at, 16);
	assert_int_equal(r.packet_bytes, 14);

	len = unhex("1021000000000000"
		    "5ad88132"
		    "0200000000020200000000010800",
			bytes);
	assert_int_equal(hs_int_report_open(&r, bytes, len, HS_INT_REPORT_TAKE_0_5),
			-EPROTONOSUPPORT);
	assert_int_equal(hs_int_report_open(&r, bytes, len, HS_INT_REPORT_TAKE_1_AS_0_5), 0);
	assert_int_equal(hs_int_report_next(&r, &report), 1);
	assert_int_equal(r.version, HS_INT_REPORT_0_5);
	assert_int_equal(report.ingress_ns, 1524138290);
	assert_int_equal(r.packet_at, 12);
}

static void drop_reasons_have_names(void **state)
{
	(void)state;
	assert_int_equal(HS_INT_DROP_TRAFFIC_MANAGER, 51);
	assert_string_equal(hs_int_drop_reason_word(51), "traffic_manager");
	assert_string_equal(hs_int_drop_reason_sentence(31), "TTL zero");
	assert_string_equal(hs_int_drop_reason_word(0), "unknown");
	assert_null(hs_int_drop_reason_word(52));
	assert_null(hs_int_drop_reason_sentence(255));
}

static void sequence_numbers_wrap_at_their_width(void **state)
{
	(void)state;
	static const struct {
		enum hs_int_report_version version;
		uint32_t before, now;
		int32_t step;
	} cases[] = {
			{HS_INT_REPORT_0_5, 7, 8, 1},
			{HS_INT_REPORT_1_0, UINT32_MAX, 0, 1},
			{HS_INT_REPORT_1_0, UINT32_MAX - 1, 2, 4},
			{HS_INT_REPORT_1_0, 0, UINT32_MAX, -1},
			{HS_INT_REPORT_1_0, 0x3fffff, 0x400000, 1},
			{HS_INT_REPORT_2_0, 0x3fffff, 0, 1},
			{HS_INT_REPORT_2_0, 0x3ffffe, 3, 5},
			{HS_INT_REPORT_2_0, 2, 0x3fffff, -3},
			{HS_INT_REPORT_2_0, 5, 5, 0},
			{HS_INT_REPORT_2_0, 0, 0x1fffff, 0x1fffff},
			{HS_INT_REPORT_2_0, 0, 0x200000, -0x200000},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(hs_int_report_sequence_step(
						 cases[i].version, cases[i].before, cases[i].now),
				cases[i].step);
	// The writer takes a number of any width.
	struct hs_int_report report = {.has = HS_INT_REPORT_NODE, .sequence = 0xfffffffe};
	struct hs_int_report_writer w;
	struct hs_int_report_reader r;
	uint8_t bytes[32];
	hs_int_report_begin(&w, HS_INT_REPORT_2_0, bytes, sizeof(bytes));
	assert_int_equal(hs_int_report_add(&w, &report, NULL, 0), 0);
	assert_int_equal(hs_int_report_open(&r, bytes, w.len, TAKE_ALL), 0);
	assert_int_equal(r.sequence, 0x3ffffe);
	assert_int_equal(r.hw_id, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_vector_is_read),
			cmocka_unit_test(each_vector_is_written),
			cmocka_unit_test(two_reports_of_one_datagram_are_read),
			cmocka_unit_test(two_reports_go_into_one_datagram),
			cmocka_unit_test(
					generators_of_intcollector_are_read_where_that_is_asked_for),
			cmocka_unit_test(drop_reasons_have_names),
			cmocka_unit_test(sequence_numbers_wrap_at_their_width),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
