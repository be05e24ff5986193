// SPDX-License-Identifier: BSD-3-Clause
// What the policies do with packets that claim INT, from hosts and to hosts.
#include "path_row.h"

#define UDP_PORT 5001
#define MARK	 23

// To UDP port 5001, four bytes; with room for the DSCP.
static const char *const packets[] = {
		"02000000000202000000000186dd60000000000c1140"
		"20010db800000000000000000000000120010db8000000000000000000000002"
		"12341389000c5e94cafe0102",
		"0200000000020200000000010800"
		"4500002000010000401100000a000001c0000201"
		"12341389000c5e94cafe0102",
};
#define N_PACKETS (sizeof(packets) / sizeof(packets[0]))

static size_t make(uint8_t *frame, size_t i, uint8_t dscp)
{
	size_t len = unhex(packets[i], frame);

	if (i == 0) {
		frame[14] |= dscp >> 2;
		frame[15] |= (uint8_t)(dscp << 6);
	} else {
		frame[15] = (uint8_t)(dscp << 2);
		uint16_t sum = rte_ipv4_cksum((const struct rte_ipv4_hdr *)(frame + 14));
		memcpy(frame + 24, &sum, 2);
	}
	return len;
}

static struct hs_int_settings by_port(void)
{
	struct hs_int_settings settings = settings_of(HS_INT_2_1);

	settings.mark = HS_INT_MARK_UDP_PORT;
	settings.udp_port = UDP_PORT;
	return settings;
}

// What becomes of a packet that claims INT and is malformed.
struct fate {
	enum hs_host_side_policy host_side;
	bool passes, from_host;
	bool arrives;
	enum hs_drop drop; // where it does not
	unsigned n_bad, n_passed, n_stripped, n_of_host;
};

static void expect(const struct hs_int_settings *settings, const struct fate *fate, uint8_t dscp,
		uint8_t dscp_after)
{
	for (size_t i = 0; i < N_PACKETS; i++) {
		uint8_t frame[2048], wanted[2048];
		size_t len = make(frame, i, dscp);

		row_host_side = fate->host_side;
		row_passes_malformed = fate->passes;
		struct row *row = open_row(settings, 1500);
		struct test_node *node = &row->nodes[fate->from_host ? 0 : 3];
		make(wanted, i, dscp_after);
		assert_int_equal(through(node, frame, len), fate->arrives ? len : 0);
		assert_memory_equal(frame, fate->arrives ? wanted : frame, len);
		if (!fate->arrives)
			assert_int_equal(test_node_drops(node, 0, fate->drop), 1);
		assert_int_equal(test_node_event(node, 0, HS_EVENT_BAD_TELEMETRY), fate->n_bad);
		assert_int_equal(test_node_event(node, 0, HS_EVENT_BAD_TELEMETRY_PASSED),
				fate->n_passed);
		assert_int_equal(test_node_event(node, 0, HS_EVENT_STRIPPED), fate->n_stripped);
		assert_int_equal(test_node_event(node, 0, HS_EVENT_HOST_TELEMETRY_STRIPPED),
				fate->n_of_host);
		close_row(row);
	}
	row_host_side = HS_HOST_STRIP;
	row_passes_malformed = false;
}

static void what_is_malformed_is_dropped_or_passes_by_policy_on_both_sides(void **state)
{
	static const struct fate fates[] = {
			{HS_HOST_STRIP, false, true, false, HS_DROP_HOST_TELEMETRY, 0, 0, 0, 0},
			{HS_HOST_STRIP, true, true, true, 0, 0, 1, 0, 0},
			{HS_HOST_DROP, true, true, false, HS_DROP_HOST_TELEMETRY, 0, 0, 0, 0},
			{HS_HOST_STRIP, false, false, false, HS_DROP_UNSTRIPPABLE, 1, 0, 0, 0},
			{HS_HOST_STRIP, true, false, true, 0, 1, 1, 0, 0},
			{HS_HOST_DROP, true, false, true, 0, 1, 1, 0, 0},
	};
	struct hs_int_settings settings = by_port();
	(void)state;

	for (size_t i = 0; i < RTE_DIM(fates); i++)
		expect(&settings, &fates[i], 0, 0);
}

static void a_dscp_mark_of_a_host_is_cleared_or_its_packet_dropped(void **state)
{
	static const struct fate fates[] = {
			{HS_HOST_STRIP, false, true, true, 0, 0, 0, 0, 1},
			{HS_HOST_STRIP, true, true, true, 0, 0, 0, 0, 1},
			{HS_HOST_DROP, false, true, false, HS_DROP_HOST_TELEMETRY, 0, 0, 0, 0},
			{HS_HOST_DROP, true, true, false, HS_DROP_HOST_TELEMETRY, 0, 0, 0, 0},
	};
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	(void)state;

	for (size_t i = 0; i < RTE_DIM(fates); i++)
		expect(&settings, &fates[i], MARK, 0);
	settings.dscp_mask = 0x01; // the other bits are the host's
	settings.dscp = 0x01;
	for (size_t i = 0; i < RTE_DIM(fates); i++)
		expect(&settings, &fates[i], MARK, MARK & ~1);
}

// By type and length alone, a host's data may look like a header for its destination.
static void data_that_looks_like_a_destination_header_stays_a_hosts(void **state)
{
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	(void)state;

	for (unsigned ipv4 = 0; ipv4 < 2; ipv4++) {
		uint8_t frame[2048], wanted[2048];
		size_t len = ipv4 ? ipv4_packet(frame, 0) : unhex(PACKET, frame);
		size_t payload = 14 + (ipv4 ? 20 : 40) + 8;
		struct row *row = open_row(&settings, 1500);

		memcpy(frame + payload, "\x20\x01\xbc\x4d", 4);
		memcpy(wanted, frame, len);
		frame[ipv4 ? 15 : 14] |= ipv4 ? MARK << 2 : MARK >> 2;
		frame[15] |= ipv4 ? 0 : (MARK << 6) & 0xff;
		if (ipv4) {
			memset(frame + 24, 0, 2);
			uint16_t sum = rte_ipv4_cksum((const struct rte_ipv4_hdr *)(frame + 14));
			memcpy(frame + 24, &sum, 2);
		}
		assert_int_equal(through(&row->nodes[0], frame, len), len);
		assert_memory_equal(frame, wanted, len);
		assert_int_equal(test_node_event(&row->nodes[0], 0,
						 HS_EVENT_HOST_TELEMETRY_STRIPPED),
				1);
		close_row(row);
	}
}

#define DATA_BYTES 400

// A marked UDP packet of a host, over IPv4, with this data.
static size_t marked(uint8_t *frame, const uint8_t *data)
{
	size_t len = unhex(packets[1], frame);

	memcpy(frame + len - 4, data, DATA_BYTES);
	len += DATA_BYTES - 4;
	frame[15] = MARK << 2;
	frame[16] = (uint8_t)((len - 14) >> 8);
	frame[17] = (uint8_t)(len - 14);
	frame[38] = (uint8_t)((len - 34) >> 8);
	frame[39] = (uint8_t)(len - 34);
	frame[40] = frame[41] = 0; // no checksum
	memset(frame + 24, 0, 2);
	uint16_t sum = rte_ipv4_cksum((const struct rte_ipv4_hdr *)(frame + 14));
	memcpy(frame + 24, &sum, 2);
	return len;
}

// What stands behind a host's mark is data, however much of it looks like INT.
static void expect_data(struct row *row, const uint8_t *data)
{
	uint8_t frame[2048];
	size_t len = marked(frame, data);

	assert_int_equal(through(&row->nodes[0], frame, len), len);
	assert_int_equal(frame[15], 0);
	assert_memory_equal(frame + 42, data, DATA_BYTES);
}

static void data_that_looks_nearly_like_int_stays_a_hosts(void **state)
{
	// Each has one thing that no source writes.
	static const struct {
		enum hs_int_version version;
		const char *hex; // shim and header
	} data[] = {
			{HS_INT_1_0, "01000400100041088000000000000005"}, // reserved, in the header
			{HS_INT_1_0, "010003001040010080000000"},	  // another bit of it
			{HS_INT_1_0, "010003021000010080000000"},	  // in the shim
			{HS_INT_1_0, "010003001000020880000000"}, // one instruction, two words
			{HS_INT_1_0, "010003001000010880000001"}, // the last two bytes
			{HS_INT_2_1, "10030000210001088000000000000000"}, // reserved, in the header
			{HS_INT_2_1, "10030001200001088000000000000000"}, // in the shim
			{HS_INT_2_1, "10030000200002088000000000000000"}, // a hop is longer
			{HS_INT_2_1, "10030000200001088000000080000000"}, // no domain, but its bits
			{HS_INT_2_1, "30030000200001008000000000000000"}, // INT-MX, reserved
	};
	(void)state;

	for (size_t i = 0; i < RTE_DIM(data); i++) {
		uint8_t bytes[DATA_BYTES] = {0};
		unhex(data[i].hex, bytes);
		struct hs_int_settings settings = settings_of(data[i].version);
		struct row *row = open_row(&settings, 1500);
		expect_data(row, bytes);
		close_row(row);
	}
}

static void random_data_behind_a_mark_arrives_whole(void **state)
{
	(void)state;

	for (unsigned version = HS_INT_0_5; version < HS_INT_N_VERSIONS; version++) {
		struct hs_int_settings settings = settings_of(version);
		struct row *row = open_row(&settings, 1500);
		uint32_t seed = 1 + version;
		for (unsigned n = 0; n < 20000; n++) {
			uint8_t data[DATA_BYTES];
			for (size_t i = 0; i < DATA_BYTES; i++) {
				seed = seed * 1664525 + 1013904223;
				data[i] = (uint8_t)(seed >> 24);
			}
			// Half of it has the type and the version of INT.
			if (n & 1) {
				data[0] = version == HS_INT_2_1 ? 0x10 : 1;
				data[4] = (uint8_t)((version - 1) << 4 | (data[4] & 0x0f));
			}
			expect_data(row, data);
		}
		close_row(row);
	}
}

static void a_mark_with_nothing_behind_it_is_dropped_or_passes_to_a_host(void **state)
{
	static const struct fate fates[] = {
			{HS_HOST_STRIP, false, false, false, HS_DROP_UNSTRIPPABLE, 1, 0, 0, 0},
			{HS_HOST_STRIP, true, false, true, 0, 1, 1, 0, 0},
	};
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	(void)state;

	for (size_t i = 0; i < RTE_DIM(fates); i++)
		expect(&settings, &fates[i], MARK, MARK);
}

// The telemetry is well formed, and what it leaves claims INT once more.
static void nothing_passes_after_something_was_taken_out(void **state)
{
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	uint8_t frame[2048];
	(void)state;

	for (size_t i = 0; i < N_PACKETS; i++) {
		row_passes_malformed = true;
		struct row *row = open_row(&settings, 1500);
		size_t len = make(frame, i, 0), shim = 14 + (i ? 20 : 40) + 8;
		struct hs_rule rule = vector_rule(7);
		rule.method = HS_RULE_INT;
		rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id;
		rule.src_port = rule.dst_port = 0;
		memset(rule.src_ip, 0, 16);
		rule.src_host_bits = rule.dst_host_bits = 128;
		memset(rule.dst_ip, 0, 16);
		if (i) {
			rule.src_host_bits = rule.dst_host_bits = 32;
			rule.src_ip[10] = rule.src_ip[11] = 0xff;
			rule.dst_ip[10] = rule.dst_ip[11] = 0xff;
		}
		test_node_rule(&row->nodes[0], &rule);
		size_t grown = through(&row->nodes[0], frame, len);
		assert_int_equal(grown, len + 20);
		frame[shim + 3] = MARK << 2;
		assert_int_equal(through(&row->nodes[3], frame, grown), 0);
		assert_int_equal(test_node_drops(&row->nodes[3], 0, HS_DROP_UNSTRIPPABLE), 1);
		assert_int_equal(test_node_event(&row->nodes[3], 0, HS_EVENT_BAD_TELEMETRY_PASSED),
				0);
		close_row(row);
	}
	row_passes_malformed = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					what_is_malformed_is_dropped_or_passes_by_policy_on_both_sides),
			cmocka_unit_test(a_dscp_mark_of_a_host_is_cleared_or_its_packet_dropped),
			cmocka_unit_test(
					a_mark_with_nothing_behind_it_is_dropped_or_passes_to_a_host),
			cmocka_unit_test(data_that_looks_like_a_destination_header_stays_a_hosts),
			cmocka_unit_test(data_that_looks_nearly_like_int_stays_a_hosts),
			cmocka_unit_test(random_data_behind_a_mark_arrives_whole),
			cmocka_unit_test(nothing_passes_after_something_was_taken_out),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
