// SPDX-License-Identifier: BSD-3-Clause
// The MTU that the telemetry of a whole path needs: numbers that were worked out by hand, and
// packets on their way through as many nodes as may add values.
#include "bytes.h"
#include "family.h"
#include "flexint.h"
#include "harness.h"
#include "int_settings.h"
#include "int_steps.h"
#include "ip_address.h"

#define HOST_BYTES 1300
#define EVERY	   UINT32_MAX // of a row: every field that the family has

enum payload {
	UDP6,
	TCP6,
	TCP4,
	GRE4,
	GPE4,
	GENEVE4,
};

// What differs from one row to the next. `added` nodes add values: the source and transit nodes.
struct row {
	const char *name;
	uint32_t trace_type;
	unsigned max_hops, added;
	size_t bytes;
	enum payload payload;
	bool is_int;
	uint8_t layout; // of flexint
	uint8_t version, mode, carrier, mark;
};

#define FLEXINT(layout_, trace, hops, nodes, bytes_)                                               \
	{                                                                                          \
		"flexint", trace, hops, nodes, bytes_, UDP6, .layout = HS_LAYOUT_##layout_         \
	}
#define INT(version_, carrier_, mark_, payload_, trace, hops, nodes, bytes_, ...)                  \
	{                                                                                          \
#version_ " " #carrier_, trace, hops, nodes, bytes_, payload_, true,               \
				.version = HS_INT_##version_, .carrier = HS_INT_##carrier_,        \
				.mark = HS_INT_MARK_##mark_, __VA_ARGS__                           \
	}
#define NODE_ID (HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id)

static const struct row rows[] = {
		// Main header 10, source 4 + 20, 7 entries of 24, 2 + 2 in front: 206, as a
		// multiple of 8.
		FLEXINT(ALIGNED, EVERY, 8, 8, 208), FLEXINT(PAPER, EVERY, 8, 8, 208), // 204
		FLEXINT(ALIGNED, 0x7000E000, 8, 8, 208),    // 202: 10 + 4 + 16 + 168 + 4
		FLEXINT(ALIGNED, 0x80002000, 8, 8, 112),    // 106: 10 + 4 + 4 + 7 * 12 + 4
		FLEXINT(PAPER, 0x80000000, 8, 1, 24),	    // 20: no node but the source
		FLEXINT(ALIGNED, 0x7000E000, 1, 1, 40),	    // 34
		FLEXINT(ALIGNED, 0x7000E000, 255, 11, 280), // 8 + 10 * 24 <= 255 in 0x31
		FLEXINT(ALIGNED, HS_RULE_TRACE_INT | 0x8000, 8, 0, 0), // of another family
		// Shim 4, header 8, 8 hops of 8 words, tail 4.
		INT(0_5, TCP_UDP, DSCP, TCP4, EVERY, 8, 8, 272),
		INT(1_0, TCP_UDP, DSCP, TCP6, EVERY, 8, 8, 332),     // 4 + 8 + 8 * 40
		INT(1_0, TCP_UDP, PROBE, UDP6, EVERY, 8, 8, 340),    // and 8
		INT(2_1, TCP_UDP, DSCP, TCP4, EVERY, 8, 8, 432),     // 4 + 12 + 8 * 52
		INT(2_1, TCP_UDP, DSCP, UDP6, NODE_ID, 3, 3, 28),    // 4 + 12 + 3 * 4
		INT(2_1, TCP_UDP, UDP_PORT, TCP4, EVERY, 8, 8, 440), // a UDP header
		// Header, hops and nothing else in 255 words: 3 + 19 * 13.
		INT(2_1, TCP_UDP, DSCP, TCP4, EVERY, 255, 19, 1004),
		// The shim's own word counts: 1 + 2 + 25 * 10 = 253.
		INT(1_0, TCP_UDP, DSCP, TCP4, EVERY, 255, 25, 1012),
		INT(2_1, GRE, DSCP, GRE4, EVERY, 8, 8, 432),
		INT(2016_06, VXLAN_GPE, DSCP, GPE4, EVERY, 8, 8, 268),
		INT(2_1, GENEVE, DSCP, GENEVE4, EVERY, 8, 2, 120), // 31 words: 3 + 2 * 13
		INT(2_1, GENEVE, DSCP, GENEVE4, NODE_ID, 8, 8, 48),
		INT(2_1, TCP_UDP, DSCP, TCP4, EVERY, 8, 1, 16, .mode = HS_INT_MX),
		INT(2_1, TCP_UDP, DSCP, TCP4, EVERY, 8, 0, 0, .mode = HS_INT_XD),
		INT(2_1, TCP_UDP, DSCP, TCP4, 0x7000E000, 8, 0, 0), // a rule of flexint
};

static const uint8_t protocols[] = {[UDP6] = IPPROTO_UDP,
		[TCP6] = IPPROTO_TCP,
		[TCP4] = IPPROTO_TCP,
		[GRE4] = IPPROTO_GRE,
		[GPE4] = IPPROTO_UDP,
		[GENEVE4] = IPPROTO_UDP};

static const uint8_t here[16] = {192, 0, 2, 1}, there[16] = {192, 0, 2, 2};
static const uint8_t here6[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};
static const uint8_t there6[16] = {0x20, 1, 0xd, 0xb8, [15] = 2};

static bool is_ipv6(const struct row *row)
{
	return row->payload <= TCP6;
}

static void put_l4(uint8_t *at, enum payload payload, size_t bytes)
{
	static const uint8_t gpe[] = {0x0c, 0, 0, 3}; // the next header is Ethernet

	if (payload == GRE4) {
		at[2] = 0x08; // IPv4
		return;
	}
	hs_be16_store(at, 1000);
	hs_be16_store(at + 2, payload == GPE4 ? 4790 : payload == GENEVE4 ? 6081 : 2000);
	if (payload == TCP4 || payload == TCP6) {
		at[12] = 0x50;
		at[13] = 0x10;
		return;
	}
	hs_be16_store(at + 4, (uint16_t)bytes);
	hs_be16_store(at + 6, 1); // a checksum
	if (payload == GPE4)
		memcpy(at + 8, gpe, sizeof(gpe));
}

// Returns the length of a frame with an IP packet of so many bytes.
static size_t make_frame(const struct row *row, size_t l3_bytes, uint8_t *frame)
{
	uint8_t *ip = frame + 14;
	size_t header = is_ipv6(row) ? 40 : 20;

	memset(frame, 0, 14 + l3_bytes);
	frame[0] = frame[6] = 2;
	hs_be16_store(frame + 12, is_ipv6(row) ? 0x86dd : 0x0800);
	if (is_ipv6(row)) {
		ip[0] = 0x60;
		hs_be16_store(ip + 4, (uint16_t)(l3_bytes - 40));
		ip[6] = protocols[row->payload];
		memcpy(ip + 8, here6, 16);
		memcpy(ip + 24, there6, 16);
	} else {
		ip[0] = 0x45;
		hs_be16_store(ip + 2, (uint16_t)l3_bytes);
		ip[8] = 64;
		ip[9] = protocols[row->payload];
		memcpy(ip + 12, here, 4);
		memcpy(ip + 16, there, 4);
	}
	put_l4(ip + header, row->payload, l3_bytes - header);
	return 14 + l3_bytes;
}

struct path {
	struct hs_int_settings settings;
	struct test_node source, transit;
	struct rte_mempool *pool;
	struct hs_clock *clock;
};

static void open_one(struct path *p, const struct row *row, struct test_node *t,
		enum hs_port_side side, uint16_t mtu)
{
	const enum hs_port_side sides[] = {side, HS_SIDE_NETWORK};
	struct hs_node_config config = {.id = 1,
			.n_workers = 1,
			.rules = 16,
			.n_pairs = 1,
			.pairs = {{0, 1}},
			.layout = row->layout,
			.max_hops = (uint8_t)row->max_hops};

	for (unsigned port = 0; row->is_int && port < 2; port++)
		config.profiles[port] = (struct hs_profile){
				.family = &hs_int_steps[row->version], .settings = &p->settings};
	test_node_open(t, &config, sides, 2, mtu, p->pool, p->clock);
	t->ports[0].port.mtu = side == HS_SIDE_HOST ? HOST_BYTES : mtu;
}

static void path_open(struct path *p, const struct row *row, uint16_t mtu)
{
	struct hs_rule rule = {0};

	hs_rule_init(&rule);
	rule.ns_id = 1;
	if (is_ipv6(row)) {
		memcpy(rule.src_ip, here6, 16);
		memcpy(rule.dst_ip, there6, 16);
	} else {
		hs_ip_address_map(here, rule.src_ip);
		hs_ip_address_map(there, rule.dst_ip);
	}
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 1;
	rule.trace_type = row->trace_type;
	if (row->trace_type == EVERY)
		rule.trace_type = row->is_int ? HS_RULE_TRACE_INT | 0xffff : 0xf000e000;
	p->pool = rte_pktmbuf_pool_create("path", 255, 0, 0, 9600, SOCKET_ID_ANY);
	assert_non_null(p->pool);
	assert_int_equal(hs_clock_create_manual(1700000000000000000, &p->clock), 0);
	hs_int_settings_init(&p->settings, row->version, row->carrier);
	p->settings.mode = row->mode;
	p->settings.mark = row->mark;
	p->settings.max_hops = (uint8_t)row->max_hops;
	p->settings.udp_port = 5555;
	p->settings.probe_marker = UINT64_C(0x123456789abcdef1);
	open_one(p, row, &p->source, HS_SIDE_HOST, mtu);
	open_one(p, row, &p->transit, HS_SIDE_NETWORK, mtu);
	test_node_rule(&p->source, &rule);
	test_node_rule(&p->transit, &rule);
}

static void path_close(struct path *p)
{
	test_node_close(&p->source);
	test_node_close(&p->transit);
	rte_mempool_free(p->pool);
	hs_clock_destroy(p->clock);
}

static struct hs_flow_counters counters_of(struct test_node *t)
{
	struct hs_flow_counters counters;

	test_node_counters(t, 1, &counters);
	return counters;
}

static uint64_t no_room(struct test_node *t)
{
	struct hs_port_counters ports[HS_MAX_PORTS];

	hs_node_snapshot(t->node, ports);
	return ports[0].events[HS_EVENT_NO_ROOM_MTU];
}

// Sends a packet of full size through the source and the transit node as often as a path may have
// transit nodes, and twice more where the packet says how many may add values or is full. Returns
// the bytes of its IP packet.
static size_t cross(struct path *p, const struct row *row)
{
	uint8_t frame[9600];
	size_t len = make_frame(row, HOST_BYTES, frame);
	struct test_node *t = &p->source;
	unsigned further = row->is_int || row->max_hops == 255 ? 2 : 0;
	unsigned n_nodes = RTE_MAX(row->added, 1u) + further;

	for (unsigned n = 0; n < n_nodes; n++, t = &p->transit) {
		test_node_feed(t, 0, frame, len, 0);
		test_node_run(t);
		len = test_node_take(t, 1, frame, sizeof(frame));
		assert_true(len >= 14 + HOST_BYTES);
	}
	return len - 14;
}

static void a_packet_of_full_size_takes_what_the_mtu_was_reckoned_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		const struct row *row = &rows[i];
		struct path p = {0};
		path_open(&p, row, (uint16_t)(HOST_BYTES + row->bytes));
		unsigned adds = row->added;
		const struct hs_profile *profile = hs_node_profile(p.source.node, 1);
		uint32_t asks = row->trace_type == EVERY ? profile->family->every_field
							 : row->trace_type;
		print_message("%s, %u bytes\n", row->name, (unsigned)row->bytes);
		assert_int_equal(hs_profile_path_bytes(profile, asks), row->bytes);
		if (row->trace_type == EVERY)
			assert_int_equal(profile->path_bytes, row->bytes);
		assert_in_range(HOST_BYTES + row->bytes - cross(&p, row), 0, 7);
		assert_int_equal(no_room(&p.source) + no_room(&p.transit), 0);
		assert_int_equal(counters_of(&p.source).int_packets, adds ? 1 : 0);
		if (adds)
			assert_int_equal(counters_of(&p.transit).hop_entries, adds - 1);
		path_close(&p);
	}
}

static void one_byte_less_of_mtu_leaves_something_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		const struct row *row = &rows[i];
		struct path p = {0};
		if (!row->bytes)
			continue;
		path_open(&p, row, (uint16_t)(HOST_BYTES + row->bytes - 1));
		cross(&p, row);
		assert_true(no_room(&p.source) + no_room(&p.transit) > 0);
		uint64_t added = counters_of(&p.source).int_packets +
				 counters_of(&p.transit).hop_entries;
		assert_true(added < row->added);
		path_close(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_packet_of_full_size_takes_what_the_mtu_was_reckoned_for),
			cmocka_unit_test(one_byte_less_of_mtu_leaves_something_out),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests_name("MTU of a path", tests, NULL, NULL);
}
