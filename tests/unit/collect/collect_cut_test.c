// SPDX-License-Identifier: BSD-3-Clause
// Copies of packets that end anywhere: what did not come is not made up, and what came is judged.
#include "collect_test.h"

#define IP_UDP	"455c004c00010000401100000a0000010a0000021388138900380000"
#define TAGS	"02000000000202000000000181000001810000020800"
#define NEWEST	"00000002000001020a000102" // id, latency, queue
#define SOURCE	"00000001000002030b000304"
#define PAYLOAD "4142434445464748"
#define INT21	"1009000020000320b000000000000000" NEWEST SOURCE PAYLOAD
#define INT10	"010009001000033eb0000000" NEWEST SOURCE "41424344" PAYLOAD
#define INT05	"01000a0000034002b0000000" NEWEST SOURCE "1112b500" PAYLOAD

enum {
	PORTS_END = 24,
	SHIM_AT = 28,
	HOPS_21 = SHIM_AT + 4 + 12,
	HOPS_05 = SHIM_AT + 4 + 8,
	HOP = 12,
};

static struct hs_collect *c;
static struct hs_collect_flow flow;

// Returns how many flows are known, and the first.
static unsigned read_flow(void)
{
	uint64_t cursor = 0;

	return hs_collect_flows(c, &cursor, &flow, 1);
}

// The first `cut` bytes of a packet, as node 3 reports them by 2.0 or 0.5.
static void report(const struct bytes *packet, enum hs_int_inner inner, size_t cut)
{
	struct bytes b = {.n = 0};
	size_t words = (cut + 3) / 4;

	put_hex(&b, "20c0000700000003");
	put(&b, (uint64_t)inner << 24 | words << 16 | 0x20, 4);
	memcpy(b.at + b.n, packet->at, cut);
	memset(b.at + b.n + cut, 0, 4 * words - cut);
	take(c, b.at, b.n + 4 * words, SECOND);
}

static struct bytes packet_of(const char *front, const char *telemetry)
{
	struct bytes b = {.n = 0};

	put_hex(&b, front);
	put_hex(&b, telemetry);
	return b;
}

static void zeros_that_fill(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes packet = packet_of(IP_UDP, INT21);

	(void)state;
	for (size_t cut = 0; cut <= packet.n; cut++) {
		bool has_hop = cut >= HOPS_21 + HOP, has_path = cut >= HOPS_21 + 2 * HOP;
		c = collector(&config);
		report(&packet, HS_INT_INNER_IPV4, cut);
		assert_int_equal(refused(c), 0);
		assert_int_equal(hs_collect_counters(c)->queues, has_hop + has_path);
		assert_int_equal(read_flow(), cut >= PORTS_END && has_hop == has_path);
		if (read_flow()) {
			assert_int_equal(flow.key.dst_port, 5001);
			assert_int_equal(flow.n_hops, has_path ? 2 : 1);
		}
		hs_collect_destroy(c);
	}
}

// Zeros of the packet itself: known to be it where the packet ends with the copy.
static void zeros_of_a_whole_packet(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes packet = packet_of(IP_UDP, INT21);

	(void)state;
	c = collector(&config);
	packet.n -= 8; // no payload
	packet.at[3] = (uint8_t)packet.n;
	packet.at[25] = (uint8_t)(packet.n - 20);
	memset(packet.at + packet.n - 2, 0, 2);
	report(&packet, HS_INT_INNER_IPV4, packet.n);
	assert_int_equal(read_flow(), 1);
	assert_int_equal(flow.n_hops, 2);
	hs_collect_destroy(c);
}

// 0.5 in a report of 2.0: all hops are there, whatever came of the tail.
static void cut_in_the_tail(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes packet = packet_of(IP_UDP, INT05);

	(void)state;
	hs_int_settings_init(&config.formats[HS_INT_REPORT_2_0].packet, HS_INT_0_5, HS_INT_TCP_UDP);
	for (size_t cut = HOPS_05 + 2 * HOP; cut <= packet.n; cut++) {
		c = collector(&config);
		report(&packet, HS_INT_INNER_IPV4, cut);
		assert_int_equal(read_flow(), 1);
		assert_int_equal(flow.n_hops, 2);
		assert_int_equal(hs_collect_counters(c)->reports_partial, 0);
		hs_collect_destroy(c);
	}
}

// Where a port marks INT, the flow has the port that the source replaced, or is not known.
static void port_that_was_replaced(void **state)
{
	(void)state;
	for (unsigned version = HS_INT_0_5; version <= HS_INT_2_1; version += 2) {
		bool is_0_5 = version == HS_INT_0_5;
		struct hs_collect_config config = config_50();
		struct hs_int_settings *settings = &config.formats[HS_INT_REPORT_2_0].packet;
		struct bytes packet = packet_of(IP_UDP, is_0_5 ? INT05 : INT21);
		size_t hops = is_0_5 ? HOPS_05 : HOPS_21, tail = hops + 2 * HOP;

		hs_int_settings_init(settings, version, HS_INT_TCP_UDP);
		settings->mark = HS_INT_MARK_UDP_PORT;
		settings->udp_port = 5001;
		if (!is_0_5)
			memcpy(packet.at + SHIM_AT, "\x14\x09\x12\xb5", 4);
		for (size_t cut = 0; cut <= packet.n; cut++) {
			bool has_port = is_0_5 ? cut >= tail + 3 : cut >= SHIM_AT + 4;
			bool is_cut = cut >= hops + HOP && cut < tail;
			c = collector(&config);
			report(&packet, HS_INT_INNER_IPV4, cut);
			assert_int_equal(refused(c), 0);
			assert_int_equal(read_flow(), has_port && !is_cut);
			if (read_flow())
				assert_int_equal(flow.key.dst_port, 0x12b5);
			hs_collect_destroy(c);
		}
	}
}

// Refuses what is wrong at `at` in the packet, wherever behind it the copy ends; by both paths.
static void check_refused(const char *telemetry, size_t at, uint8_t byte, size_t known)
{
	const char *fronts[] = {IP_UDP, TAGS IP_UDP};

	for (unsigned i = 0; i < 2; i++) {
		struct hs_collect_config config = config_50();
		struct bytes packet = packet_of(fronts[i], telemetry);
		size_t before = i ? sizeof(TAGS) / 2 : 0;
		unsigned version = packet.at[before + SHIM_AT] == 0x10 ? HS_INT_2_1
				   : telemetry[8] == '1'	       ? HS_INT_1_0
								       : HS_INT_0_5;

		hs_int_settings_init(
				&config.formats[HS_INT_REPORT_2_0].packet, version, HS_INT_TCP_UDP);
		packet.at[before + at] = byte;
		for (size_t cut = before + known; cut <= packet.n; cut++) {
			c = collector(&config);
			report(&packet, i ? HS_INT_INNER_ETHERNET : HS_INT_INNER_IPV4, cut);
			assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_STACK],
					1);
			hs_collect_destroy(c);
		}
	}
}

static void cut_and_wrong(void **state)
{
	(void)state;
	check_refused(INT21, SHIM_AT, 0x90, HOPS_21 + 4);     // type
	check_refused(INT21, SHIM_AT, 0x14, HOPS_21 + 4);     // a port is no mark here
	check_refused(INT21, SHIM_AT + 1, 200, HOPS_21 + 4);  // longer than UDP
	check_refused(INT21, SHIM_AT + 1, 2, HOPS_21 + 4);    // shorter than its header
	check_refused(INT21, SHIM_AT + 4, 0x30, HOPS_21 + 4); // version
	check_refused(INT21, SHIM_AT + 6, 4, HOPS_21 + 4);    // no whole hops
	check_refused(INT10, SHIM_AT + 4, 0x20, HOPS_05 + 4); // version
	check_refused("020000001000033eb0000000" NEWEST SOURCE "41424344" PAYLOAD, SHIM_AT, 2,
			SHIM_AT + 5);					   // shorter than itself
	check_refused(INT05, SHIM_AT + 7, 3, HOPS_05 + 4);		   // hops
	check_refused(INT05, HOPS_05 + 2 * HOP, 6, HOPS_05 + 2 * HOP + 1); // protocol of the tail
}

// INT of the destination type has no stack, but its shim may be cut; by both paths.
static void cut_shim_without_stack(void **state)
{
	const char *fronts[] = {IP_UDP, TAGS IP_UDP};
	struct hs_collect_config config = config_50();

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct bytes packet = packet_of(fronts[i], "200101ff" PAYLOAD);
		size_t shim = SHIM_AT + (i ? sizeof(TAGS) / 2 : 0);
		for (size_t cut = shim; cut <= packet.n; cut++) {
			c = collector(&config);
			report(&packet, i ? HS_INT_INNER_ETHERNET : HS_INT_INNER_IPV4, cut);
			assert_int_equal(refused(c), 0);
			assert_int_equal(hs_collect_counters(c)->reports_partial, cut < shim + 4);
			hs_collect_destroy(c);
		}
	}
}

// IP and TCP or UDP leave no room for a shim: so much is certain where their headers are cut.
static void no_room_for_a_shim(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes packet = packet_of("455c000000010000400600000a0000010a000002",
			"138813890000000000000000f0180000" PAYLOAD PAYLOAD PAYLOAD);

	(void)state;
	check_refused(INT21, 3, 31, PORTS_END); // of IP: three bytes behind UDP
	for (size_t room = 0; room < 8; room++) {
		packet.at[3] = (uint8_t)(20 + 60 + room);
		for (size_t cut = 40; cut <= packet.n; cut++) {
			c = collector(&config);
			report(&packet, HS_INT_INNER_IPV4, cut);
			assert_int_equal(refused(c), room < 4);
			assert_int_equal(hs_collect_counters(c)->reports_partial, room >= 4);
			hs_collect_destroy(c);
		}
	}
}

// Hops of more words than the bitmap names: only a domain can say what they are.
static void longer_hops(void **state)
{
	(void)state;
	check_refused("010009001000063eb0000000" NEWEST SOURCE "41424344" PAYLOAD, SHIM_AT, 1,
			HOPS_05 + 4);
	check_refused("1009000020000620b000000000000000" NEWEST SOURCE PAYLOAD, SHIM_AT, 0x10,
			HOPS_21 + 4);
	struct hs_collect_config config = config_50();
	struct bytes packet =
			packet_of(IP_UDP, "1009000020000620b000000100000000" NEWEST SOURCE PAYLOAD);
	c = collector(&config);
	report(&packet, HS_INT_INNER_IPV4, packet.n);
	assert_int_equal(read_flow(), 1);
	assert_int_equal(flow.n_hops, 1);
	assert_int_equal(flow.hops[0].node_id, 2);
	hs_collect_destroy(c);
}

// The first of several fragments is not searched for INT.
static void first_fragment(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes packet = packet_of(IP_UDP, INT21);

	(void)state;
	packet.at[6] = 0x20;
	for (size_t cut = PORTS_END; cut <= packet.n; cut++) {
		c = collector(&config);
		report(&packet, HS_INT_INNER_IPV4, cut);
		assert_int_equal(read_flow(), 1);
		assert_int_equal(flow.key.reporter, 3);
		assert_int_equal(hs_collect_counters(c)->reports_partial, 0);
		hs_collect_destroy(c);
	}
}

static void check_no_marker(const char *front, const char *behind, uint8_t tcp_words)
{
	struct hs_collect_config config = config_50();
	struct hs_int_settings *settings = &config.formats[HS_INT_REPORT_2_0].packet;
	struct bytes packet = packet_of(front, behind);
	size_t l4 = 4 * (packet.at[0] & 15u);

	settings->mark = HS_INT_MARK_PROBE;
	settings->probe_marker = 0x0123456789abcdef;
	put_hex(&packet, "10070000200003200000000000000000" PAYLOAD PAYLOAD);
	packet.at[3] = (uint8_t)packet.n;
	if (tcp_words)
		packet.at[l4 + 12] = (uint8_t)(tcp_words << 4);
	for (size_t cut = l4 + 4; cut <= packet.n; cut++) {
		c = collector(&config);
		report(&packet, HS_INT_INNER_IPV4, cut);
		assert_int_equal(refused(c), 0);
		assert_int_equal(hs_collect_counters(c)->reports_partial, 0);
		assert_int_equal(read_flow(), 1);
		assert_int_equal(flow.key.reporter, 3);
		hs_collect_destroy(c);
	}
}

// A TCP header of 28 to 60 bytes, whose options look like a probe marker: no INT is behind it.
static void marker_among_options(void **state)
{
	(void)state;
	for (uint8_t words = 7; words <= 15; words++)
		check_no_marker("455c004c00010000400600000a0000010a000002",
				"138813890000000000000000b0180000000000000123456789abcdef", words);
}

// The header's checksum is wrong, and a marker is where it would be with other lengths of options.
static void marker_elsewhere_behind_ipv4(void **state)
{
	const char *options = "4a5c00000001000040060000"
			      "0a0000010a000002"
			      "0101010101010101010101010101010101010101";
	const char *udp = "4a5c00000001000040110000"
			  "0a0000010a000002"
			  "0101010101010101010101010101010101010101";

	(void)state;
	check_no_marker(options, "138813890000000000000000501820000123456789abcdef89abcdef", 5);
	check_no_marker(udp, "0123456789abcdef4142434445464748", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(zeros_that_fill),
			cmocka_unit_test(zeros_of_a_whole_packet),
			cmocka_unit_test(cut_in_the_tail),
			cmocka_unit_test(port_that_was_replaced),
			cmocka_unit_test(cut_and_wrong),
			cmocka_unit_test(cut_shim_without_stack),
			cmocka_unit_test(no_room_for_a_shim),
			cmocka_unit_test(longer_hops),
			cmocka_unit_test(first_fragment),
			cmocka_unit_test(marker_among_options),
			cmocka_unit_test(marker_elsewhere_behind_ipv4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
