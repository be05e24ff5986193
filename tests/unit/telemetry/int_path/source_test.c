// SPDX-License-Identifier: BSD-3-Clause
// Which packets a source of INT takes, what it asks for by the port's version, and that no packet
// is lost or cut for telemetry.
#include "path_row.h"

#define L3	14
#define PACKETS 1000
#define MS	INT64_C(1000000)

static const enum hs_int_version versions[] = {HS_INT_0_5, HS_INT_1_0, HS_INT_2_1};
// With node_id: what INT adds at the source with its value and without, and M in the header.
static const struct {
	size_t full, bare, m_at;
	uint8_t m;
} sizes[] = {{20, 0, 0, 0}, {16, 12, 5, 0x80}, {20, 16, 4, 0x02}};

// IPv6, IPv4, and IPv4 that must not be fragmented.
static size_t make(uint8_t *frame, unsigned kind)
{
	return kind ? ipv4_packet(frame, kind == 2 ? 0x4000 : 0) : unhex(PACKET, frame);
}

static size_t payload_at(unsigned kind)
{
	return L3 + (kind ? 20 : 40) + 8;
}

static struct hs_flow_counters counters_of(struct test_node *node)
{
	struct hs_flow_counters counters;

	test_node_counters(node, 7, &counters);
	return counters;
}

// ---- sampling ----

// Sends packets of which one comes each millisecond; says which have telemetry.
static unsigned sample(enum hs_int_version version, bool ipv4, enum hs_rule_mode mode,
		double setting, bool taken[PACKETS])
{
	struct hs_int_settings settings = settings_of(version);
	struct row *row = open_row(&settings, 1500);
	struct hs_rule rule = int_rule(ipv4, HS_RULE_ASKS_node_id);
	unsigned n = 0;

	rule.mode = mode;
	rule.mode_setting = setting;
	test_node_rule(&row->nodes[0], &rule);
	for (unsigned i = 0; i < PACKETS; i++) {
		uint8_t frame[2048];
		size_t len = make(frame, ipv4);
		hs_clock_set(row->clock, NOW + i * MS);
		taken[i] = through(&row->nodes[0], frame, len) > len;
		n += taken[i];
	}
	assert_int_equal(counters_of(&row->nodes[0]).int_packets, n);
	assert_int_equal(counters_of(&row->nodes[0]).tx_packets, PACKETS);
	close_row(row);
	return n;
}

static void each_mode_takes_the_packets_that_it_names(void **state)
{
	bool taken[PACKETS];
	(void)state;

	for (unsigned v = 0; v < RTE_DIM(versions); v++) {
		for (unsigned ipv4 = 0; ipv4 < 2; ipv4++) {
			assert_int_equal(sample(versions[v], ipv4, HS_MODE_COUNT, 1, taken),
					PACKETS);
			assert_int_equal(sample(versions[v], ipv4, HS_MODE_COUNT, 10, taken), 100);
			for (unsigned i = 0; i + 10 < PACKETS; i++)
				assert_int_equal(taken[i], taken[i + 10]);
			assert_int_equal(sample(versions[v], ipv4, HS_MODE_FREQUENCY, 8, taken),
					PACKETS / 8);
			for (unsigned i = 0; i + 8 < PACKETS; i++)
				assert_int_equal(taken[i], taken[i + 8]);
			assert_int_equal(sample(versions[v], ipv4, HS_MODE_PROBABILITY, 100, taken),
					PACKETS);
			assert_in_range(sample(versions[v], ipv4, HS_MODE_PROBABILITY, 25, taken),
					180, 320);
		}
	}
}

// ---- the version of the port ----

static void a_port_whose_version_has_nothing_of_it_sends_the_packet_as_it_came(void **state)
{
	struct hs_int_settings settings = settings_of(HS_INT_1_0);
	struct row *row = open_row(&settings, 1500);
	uint8_t frame[2048], plain[2048];
	size_t len = make(plain, 0);
	(void)state;

	ask(&row->nodes[0], HS_RULE_ASKS_buffer | HS_RULE_ASKS_queue_congestion);
	memcpy(frame, plain, len);
	assert_int_equal(through(&row->nodes[0], frame, len), len);
	assert_memory_equal(frame, plain, len);
	struct hs_flow_counters counters = counters_of(&row->nodes[0]);
	assert_int_equal(counters.int_packets, 0);
	assert_int_equal(counters.no_room_option, 0);
	close_row(row);
}

// ---- the MTU ----

static void at_mtu(unsigned v, unsigned kind, int room)
{
	struct hs_int_settings settings = settings_of(versions[v]);
	struct row *row = open_row(&settings, 1500);
	struct hs_rule rule = int_rule(kind, HS_RULE_ASKS_node_id);
	uint8_t frame[2048], plain[2048];
	size_t len = make(plain, kind), full = sizes[v].full, bare = sizes[v].bare;
	size_t wanted = room >= (int)full ? full : bare && room >= (int)bare ? bare : 0;

	test_node_rule(&row->nodes[0], &rule);
	row->nodes[0].ports[1].port.mtu = (uint16_t)(len - L3 + (size_t)room);
	memcpy(frame, plain, len);
	assert_int_equal(through(&row->nodes[0], frame, len), len + wanted);
	struct hs_flow_counters counters = counters_of(&row->nodes[0]);
	assert_int_equal(counters.int_packets, wanted > 0);
	assert_int_equal(counters.no_room_mtu, !wanted);
	assert_int_equal(counters.mtu_needed, wanted == full ? 0 : len - L3 + full);
	assert_int_equal(test_node_event(&row->nodes[0], 0, HS_EVENT_NO_ROOM_MTU), wanted < full);
	if (wanted) {
		bool m = frame[payload_at(kind) + sizes[v].m_at] & sizes[v].m;
		assert_int_equal(m, wanted < full);
		assert_int_equal(through(&row->nodes[3], frame, len + wanted), len);
	}
	assert_memory_equal(frame, plain, len);
	close_row(row);
}

static void a_source_without_room_sets_m_or_sends_the_packet_as_it_came(void **state)
{
	(void)state;

	for (unsigned v = 0; v < RTE_DIM(versions); v++)
		for (unsigned kind = 0; kind < 3; kind++)
			for (int room = -1; room < 22; room++)
				at_mtu(v, kind, room);
}

// The second node has room for its value, or is short of a byte.
static void pass_transit(unsigned v, unsigned kind, bool fits)
{
	struct hs_int_settings settings = settings_of(versions[v]);
	struct row *row = open_row(&settings, 1500);
	struct hs_rule rule = int_rule(kind, HS_RULE_ASKS_node_id);
	uint8_t frame[2048], plain[2048];
	size_t len = make(plain, kind), grown;

	memcpy(frame, plain, len);
	test_node_rule(&row->nodes[0], &rule);
	grown = through(&row->nodes[0], frame, len);
	row->nodes[1].ports[1].port.mtu = (uint16_t)(grown - L3 + (fits ? 4 : 3));
	assert_int_equal(through(&row->nodes[1], frame, grown), grown + (fits ? 4 : 0));
	bool m = frame[payload_at(kind) + sizes[v].m_at] & sizes[v].m;
	assert_int_equal(m, !fits && sizes[v].m);
	assert_int_equal(test_node_event(&row->nodes[1], 0, HS_EVENT_NO_ROOM_MTU), !fits);
	assert_int_equal(through(&row->nodes[3], frame, grown + (fits ? 4 : 0)), len);
	assert_memory_equal(frame, plain, len);
	close_row(row);
}

static void a_transit_without_room_sets_m_and_sends_the_packet_on(void **state)
{
	(void)state;

	for (unsigned v = 0; v < RTE_DIM(versions); v++) {
		for (unsigned kind = 0; kind < 3; kind++) {
			pass_transit(v, kind, true);
			pass_transit(v, kind, false);
		}
	}
}

static void a_node_behind_the_hop_limit_adds_nothing_and_says_so(void **state)
{
	// E: 0.5 and 1.0 have it behind Rep and C.
	static const struct {
		size_t at;
		uint8_t bit;
	} e[] = {{4, 0x01}, {4, 0x01}, {4, 0x04}};
	(void)state;

	for (unsigned v = 0; v < RTE_DIM(versions); v++) {
		for (unsigned kind = 0; kind < 3; kind++) {
			struct hs_int_settings settings = settings_of(versions[v]);
			settings.max_hops = 2;
			struct row *row = open_row(&settings, 1500);
			struct hs_rule rule = int_rule(kind, HS_RULE_ASKS_node_id);
			uint8_t frame[2048], plain[2048];
			size_t len = make(plain, kind), grown;

			memcpy(frame, plain, len);
			test_node_rule(&row->nodes[0], &rule);
			grown = through(&row->nodes[0], frame, len);
			grown = through(&row->nodes[1], frame, grown);
			assert_int_equal(frame[payload_at(kind) + e[v].at] & e[v].bit, 0);
			assert_int_equal(through(&row->nodes[2], frame, grown), grown);
			assert_int_equal(frame[payload_at(kind) + e[v].at] & e[v].bit, e[v].bit);
			assert_int_equal(test_node_event(&row->nodes[2], 0, HS_EVENT_HOPS_FULL), 1);
			assert_int_equal(through(&row->nodes[3], frame, grown), len);
			assert_memory_equal(frame, plain, len);
			close_row(row);
		}
	}
}

// ---- hop_enabled ----

static void switch_off(unsigned v, enum hs_rule_method other, uint32_t trace_type)
{
	struct hs_int_settings settings = settings_of(versions[v]);
	struct row *row = open_row(&settings, 1500);
	struct hs_rule rule = int_rule(false, HS_RULE_ASKS_node_id);
	uint8_t frame[2048];
	size_t len = make(frame, 0);

	rule.hop_enabled = false;
	for (unsigned n = 0; n < 2; n++)
		test_node_rule(&row->nodes[n], &rule);
	size_t grown = through(&row->nodes[0], frame, len);
	assert_true(grown > len);
	assert_int_equal(through(&row->nodes[1], frame, grown), grown);
	rule.method = other; // says nothing about INT
	rule.trace_type = trace_type;
	test_node_rule(&row->nodes[2], &rule);
	assert_int_equal(through(&row->nodes[2], frame, grown), grown + 4);
	assert_int_equal(counters_of(&row->nodes[1]).hop_entries, 0);
	close_row(row);
}

static void a_rule_switches_a_transit_off_and_no_source(void **state)
{
	(void)state;

	for (unsigned v = 0; v < RTE_DIM(versions); v++) {
		switch_off(v, HS_RULE_FLEXINT, 0x7000E000);
		switch_off(v, HS_RULE_LABEL, HS_RULE_TRACE_LABEL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_mode_takes_the_packets_that_it_names),
			cmocka_unit_test(
					a_port_whose_version_has_nothing_of_it_sends_the_packet_as_it_came),
			cmocka_unit_test(
					a_source_without_room_sets_m_or_sends_the_packet_as_it_came),
			cmocka_unit_test(a_transit_without_room_sets_m_and_sends_the_packet_on),
			cmocka_unit_test(a_node_behind_the_hop_limit_adds_nothing_and_says_so),
			cmocka_unit_test(a_rule_switches_a_transit_off_and_no_source),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
