// SPDX-License-Identifier: BSD-3-Clause
// IPv4 packets at a node: rules, pairs of ports, a bridge, a router. Rules come by the table
// itself, because no method of the API measures IPv4.
#include "bytes.h"
#include "fixture.h"
#include "ip_address.h"
#include "rng.h"
#include "sanitized.h"

// 192.0.2.1 to 198.51.100.2, UDP 0x1234 to 5001, four bytes.
#define TO_2  "020000000002020000000001"
#define UDP   "12341389000c5e94cafe0102"
#define ENDS  "c0000201c6336402"
#define FRAME TO_2 "0800450000200001000040110000" ENDS UDP

static const uint8_t here[] = {192, 0, 2, 1}, there[] = {198, 51, 100, 2};

static struct hs_rule ipv4_rule(uint32_t ns_id, uint8_t protocol, uint16_t sport, uint16_t dport)
{
	struct hs_rule rule = vector_rule(ns_id);

	hs_ip_address_map(here, rule.src_ip);
	hs_ip_address_map(there, rule.dst_ip);
	rule.protocol = protocol;
	rule.src_port = sport;
	rule.dst_port = dport;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = UINT32_MAX;
	return rule;
}

static struct fixture *with_rules(void)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	const struct hs_rule rules[] = {
			ipv4_rule(1, IPPROTO_UDP, 0x1234, 5001),
			ipv4_rule(2, IPPROTO_UDP, 0, 5001),
			ipv4_rule(3, IPPROTO_TCP, 0, 0),
			ipv4_rule(4, IPPROTO_ICMPV6, 0, 0),
	};

	for (size_t i = 0; i < RTE_DIM(rules); i++)
		test_node_rule(&f->t, &rules[i]);
	return f;
}

// The rule that counts a frame, which passes unchanged; 0 if there is none.
static uint32_t rule_of(struct fixture *f, const char *hex, uint32_t bytes)
{
	struct hs_flow_counters before[4];
	uint32_t found = 0;

	for (uint32_t n = 0; n < 4; n++)
		before[n] = counters(f, n + 1);
	feed_hex(f, 0, hex);
	test_node_run(&f->t);
	expect_hex(f, 1, hex);
	for (uint32_t n = 0; n < 4; n++) {
		struct hs_flow_counters now = counters(f, n + 1);
		if (now.rx_packets == before[n].rx_packets)
			continue;
		assert_int_equal(found, 0);
		found = n + 1;
		assert_int_equal(now.rx_bytes - before[n].rx_bytes, bytes);
		assert_int_equal(now.tx_bytes - before[n].tx_bytes, bytes);
	}
	return found;
}

#define TAG "81000005"

static void a_packet_matches_the_rule_of_its_five_tuple(void **state)
{
	static const struct {
		const char *hex;
		uint32_t rule, bytes;
	} rows[] = {
			{TO_2 "0800450000200001000040110000" ENDS UDP, 1, 46},
			{TO_2 TAG "0800450000200001000040110000" ENDS UDP, 1, 46},
			{TO_2 "0800450000200001000040110000" ENDS UDP "000000000000", 1, 46},
			{TO_2 "08004600002400010000401100009404000000" ENDS UDP, 0, 0},
			{TO_2 "0800460000240001000040110000" ENDS "94040000" UDP, 1, 50},
			{TO_2 "0800450000200001000040110000" ENDS "12351389000c5e94cafe0102", 2,
					46},
			{TO_2 "0800450000200001000040110000" ENDS "1234138a000c5e94cafe0102", 0, 0},
			{TO_2 "0800450000200001000040060000" ENDS UDP, 3, 46},
			{TO_2 "0800450000200001000040010000" ENDS UDP, 4, 46},
			{TO_2 "08004500002000010000403a0000" ENDS UDP, 0, 0}, // ICMPv6 over IPv4
			{TO_2 "0800450000200001000040110000c6336402c0000201" UDP, 0, 0},
			{TO_2 "0800450000200001200040110000" ENDS UDP, 1, 46}, // the first fragment
			{TO_2 "0800450000200001200140110000" ENDS UDP, 0, 0},  // a later one
			{TO_2 "0800450000200001400040110000" ENDS UDP, 1, 46}, // must not be cut
			{TO_2 "0800450000210001000040110000" ENDS UDP, 0,
					0}, // longer than its frame
	};
	(void)state;
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		struct fixture *f = with_rules();
		uint32_t rule = rule_of(f, rows[i].hex, rows[i].bytes);
		if (rule != rows[i].rule)
			print_error("row %zu\n", i);
		assert_int_equal(rule, rows[i].rule);
		fixture_close(f);
	}
}

// ::ffff:192.0.2.1 is an address of IPv6, although rules keep 192.0.2.1 in this form.
static void an_ipv6_packet_with_mapped_addresses_is_no_ipv4_packet(void **state)
{
	struct fixture *f = with_rules();
	(void)state;
	assert_int_equal(rule_of(f,
					 TO_2
					 "86dd60000000000c114000000000000000000000ffffc000020100"
					 "000000000000000000ffffc6336402" UDP,
					 66),
			0);
	assert_int_equal(rule_of(f, FRAME, 46), 1); // also in a burst with others
	feed_hex(f, 0, PLAIN);
	feed_hex(f, 0, FRAME);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	expect_hex(f, 1, FRAME);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(counters(f, 1).rx_packets, 2);
	fixture_close(f);
}

// Flexible INT has no place in IPv4: the packets of a rule are counted, and no room is missed.
static void a_due_packet_of_ipv4_goes_on_without_telemetry(void **state)
{
	static const uint8_t modes[] = {HS_MODE_COUNT, HS_MODE_FREQUENCY, HS_MODE_PROBABILITY};
	(void)state;
	for (size_t mode = 0; mode < RTE_DIM(modes); mode++) {
		struct fixture *f = fixture_open(
				SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
		struct hs_rule rule = ipv4_rule(1, IPPROTO_UDP, 0, 0);
		rule.mode = modes[mode];
		rule.mode_setting = modes[mode] == HS_MODE_PROBABILITY ? 100 : 1;
		test_node_rule(&f->t, &rule);
		for (unsigned n = 0; n < 3; n++) {
			feed_hex(f, 0, FRAME);
			test_node_run(&f->t);
			expect_hex(f, 1, FRAME);
		}
		struct hs_flow_counters c = counters(f, 1);
		assert_int_equal(c.rx_packets, 3);
		assert_int_equal(c.int_packets, 0);
		assert_int_equal(c.no_room_option + c.no_room_mtu + c.no_room_headroom, 0);
		fixture_close(f);
	}
}

static void a_bridge_floods_and_learns_ipv4(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	struct hs_rule rule = ipv4_rule(1, IPPROTO_UDP, 0, 0);
	static const char back[] = "020000000001020000000002"
				   "0800450000200001000040110000"
				   "c6336402c0000201" UDP;
	(void)state;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, FRAME);
	test_node_run(&f->t);
	for (unsigned port = 1; port < 4; port++)
		expect_hex(f, port, FRAME);
	feed_hex(f, 2, back);
	test_node_run(&f->t);
	expect_hex(f, 0, back);
	feed_hex(f, 0, FRAME);
	test_node_run(&f->t);
	expect_hex(f, 2, FRAME);
	assert_int_equal(counters(f, 1).rx_packets, 2);
	assert_int_equal(counters(f, 1).tx_packets, 2);
	fixture_close(f);
}

// ---- a router ----

#define IP	14 // where the header begins
#define TTL	(IP + 8)
#define SUM	(IP + 10)
#define ROOM	128
#define ROUNDS	CASES(2000)
#define AT_ONCE 32
#define NO_DROP HS_DROP_COUNT

static const uint8_t DEFAULT_HOP[6] = {2, 0, 0, 0, 9, 9}, NEAR_HOP[6] = {2, 0, 0, 0, 8, 8};
static const uint8_t NEAR[] = {198, 51, 100, 128}; // the first address of a prefix of 25 bits

static void set_route(struct fixture *f, const uint8_t *prefix, uint8_t depth, const uint8_t *hop)
{
	struct hs_fib_change change = {
			.route = {.depth = (uint8_t)(HS_IP_ADDRESS_IPV4_BITS + depth), .port = 1}};

	hs_ip_address_map(prefix, change.route.prefix);
	memcpy(change.route.next_hop_mac, hop, 6);
	assert_int_equal(hs_fib_change(hs_node_fib(f->t.node), &change, 1, NULL), 0);
}

// A router with a rule for UDP to port 5001, so that flows have places for their next hops.
static struct fixture *router_open(void)
{
	static const uint8_t own[2][6] = {{2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 1, 2}}, any[4];
	struct hs_node_config config = {.id = 1, .forwarding = HS_FORWARD_ROUTE};
	struct fixture *f = fixture_open(TRANSIT_SIDES, 2, 1500, config);
	struct hs_rule rule = ipv4_rule(1, IPPROTO_UDP, 0, 5001);

	for (unsigned p = 0; p < 2; p++)
		memcpy(f->t.ports[p].port.mac, own[p], 6);
	set_route(f, any, 0, DEFAULT_HOP);
	set_route(f, NEAR, 25, NEAR_HOP);
	test_node_rule(&f->t, &rule);
	return f;
}

// The sum of 16-bit words as RFC 1071 states it.
static uint16_t sum_of(const uint8_t *header, unsigned bytes)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < bytes; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

// Returns the bytes of a header, 0 if no router may read it (RFC 1812 section 5.2.2).
static unsigned header_bytes(const uint8_t *frame, size_t len)
{
	unsigned bytes = 4u * (frame[IP] & 15), total = hs_be16_load(frame + IP + 2);

	return frame[IP] >> 4 == 4 && bytes >= 20 && total >= bytes && IP + total <= len ? bytes
											 : 0;
}

// RFC 1812 sections 4.2.2.11, 5.2.2 and 5.3.7, RFC 3927.
static bool stays(const uint8_t *address)
{
	return address[0] == 0 || address[0] == 127 || address[0] >= 224 ||
	       (address[0] == 169 && address[1] == 254);
}

// Makes a frame what a router makes of it. Returns NO_DROP, or the reason to drop the frame.
static unsigned pass_on(uint8_t *frame, size_t len)
{
	static const uint8_t own[] = {2, 0, 0, 0, 1, 2};
	unsigned bytes = header_bytes(frame, len);
	const uint8_t *to = frame + IP + 16;

	if (frame[IP] >> 4 != 4)
		return HS_DROP_NOT_IPV6; // what the node calls a packet that is neither
	if (frame[5] != 2)
		return HS_DROP_OTHER_MAC;
	if (!bytes || sum_of(frame + IP, bytes) != 0xffff)
		return HS_DROP_BAD_HEADER;
	if (stays(frame + IP + 12) || stays(to))
		return HS_DROP_NOT_ROUTABLE;
	if (frame[TTL] <= 1)
		return HS_DROP_HOP_LIMIT;
	bool is_near = memcmp(to, NEAR, 3) == 0 && to[3] >= 128;
	memcpy(frame, is_near ? NEAR_HOP : DEFAULT_HOP, 6);
	memcpy(frame + 6, own, 6);
	frame[TTL]--;
	hs_be16_store(frame + SUM, 0);
	hs_be16_store(frame + SUM, (uint16_t)~sum_of(frame + IP, bytes));
	return NO_DROP;
}

static uint8_t one_of(struct hs_rng *rng, const uint8_t *values, unsigned n)
{
	return values[hs_rng_u32(rng) % n];
}

// Makes a frame to one of two next hops, with any identification and so with any checksum.
// `changed`: most frames have one field with a rare value.
static size_t make_frame(struct hs_rng *rng, bool changed, uint8_t *frame)
{
	static const uint8_t first[] = {0, 1, 10, 126, 127, 128, 168, 169, 170, 192, 223, 224, 255};
	static const uint8_t second[] = {0, 253, 254, 255}, ttl[] = {0, 1, 2, 64, 255};
	static const uint8_t lengths[] = {0x45, 0x45, 0x46, 0x44, 0x4f, 0x55};
	static const uint8_t totals[] = {0, 19, 20, 23, 24, 27, 31, 32, 33, 200};
	size_t len = unhex(FRAME, frame);
	bool sum_is_right = true;

	memset(frame + len, 0, ROOM - len);
	frame[IP + 19] = (uint8_t)hs_rng_u32(rng);
	frame[IP + 23] += hs_rng_u32(rng) % 2; // the rule's port, or another one
	hs_be16_store(frame + IP + 4, (uint16_t)hs_rng_u32(rng));
	frame[IP + 1] = (uint8_t)hs_rng_u32(rng);
	switch (changed ? hs_rng_u32(rng) % 12 : 12) {
	case 0:
		frame[IP + 12] = one_of(rng, first, sizeof(first));
		frame[IP + 13] = one_of(rng, second, sizeof(second));
		break;
	case 1:
		frame[IP + 16] = one_of(rng, first, sizeof(first));
		frame[IP + 17] = one_of(rng, second, sizeof(second));
		break;
	case 2:
		frame[TTL] = one_of(rng, ttl, sizeof(ttl));
		break;
	case 3:
		frame[IP] = one_of(rng, lengths, sizeof(lengths));
		break;
	case 4:
		frame[IP + 3] = one_of(rng, totals, sizeof(totals));
		break;
	case 5:
		frame[IP + 9] = (uint8_t)hs_rng_u32(rng); // another protocol
		break;
	case 6:
		hs_be16_store(frame + IP + 6, (uint16_t)hs_rng_u32(rng)); // a fragment
		break;
	case 7:
		frame[5] = 3;
		break;
	case 8:
		sum_is_right = false;
		break;
	default:
		break;
	}
	unsigned bytes = RTE_MAX(4u * (frame[IP] & 15), 20u);
	hs_be16_store(frame + SUM, (uint16_t)(sum_of(frame + IP, bytes) ^ 0xffff));
	if (!sum_is_right)
		frame[SUM + hs_rng_u32(rng) % 2] ^= (uint8_t)(1 << hs_rng_u32(rng) % 8);
	return len;
}

static void a_router_passes_on_what_rfc_1812_lets_it_and_no_other_ipv4(void **state)
{
	struct fixture *f = router_open();
	unsigned dropped[NO_DROP + 1] = {0};
	struct hs_rng rng;
	(void)state;
	hs_rng_init(&rng, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint8_t want[AT_ONCE][ROOM], got[ROOM];
		size_t len = 0;
		unsigned n = 0;
		for (unsigned i = 0; i < AT_ONCE; i++) {
			// Half of the bursts have nothing that stays. Some frames have two
			// segments.
			len = make_frame(&rng, round % 2, want[n]);
			size_t first = round % 4 < 2 ? 0 : hs_rng_u32(&rng) % (8 * len);
			test_node_feed(&f->t, 0, want[n], len, first);
			unsigned reason = pass_on(want[n], len);
			dropped[reason]++;
			n += reason == NO_DROP;
		}
		test_node_run(&f->t);
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), len);
			assert_memory_equal(got, want[i], len);
		}
		assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), 0);
	}
	for (unsigned reason = 0; reason < NO_DROP; reason++)
		assert_int_equal(drops(f, 0, reason), dropped[reason]);
	assert_true(dropped[NO_DROP] > ROUNDS * AT_ONCE / 2);
	assert_true(dropped[HS_DROP_NOT_ROUTABLE] && dropped[HS_DROP_BAD_HEADER] &&
			dropped[HS_DROP_HOP_LIMIT] && dropped[HS_DROP_OTHER_MAC]);
	assert_true(counters(f, 1).tx_packets && counters(f, 1).tx_packets < dropped[NO_DROP]);
	fixture_close(f);
}

// A header whose checksum should be 0 may come with 0xffff: the sum of the header is right, too.
static void a_router_computes_each_checksum_right(void **state)
{
	struct fixture *f = router_open();
	unsigned n_zero = 0;
	(void)state;
	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		uint8_t want[ROOM], got[ROOM];
		size_t len = unhex(FRAME, want);
		hs_be16_store(want + IP + 4, (uint16_t)id);
		uint16_t sum = (uint16_t)~sum_of(want + IP, 20);
		for (unsigned form = 0; form < (sum ? 1 : 2); form++) {
			hs_be16_store(want + SUM, form ? UINT16_MAX : sum);
			test_node_feed(&f->t, 0, want, len, 0);
			uint8_t sent[ROOM];
			memcpy(sent, want, len);
			assert_int_equal(pass_on(sent, len), NO_DROP);
			test_node_run(&f->t);
			assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), len);
			assert_memory_equal(got, sent, len);
		}
		n_zero += !sum;
	}
	assert_int_equal(n_zero, 1);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_packet_matches_the_rule_of_its_five_tuple),
			cmocka_unit_test(an_ipv6_packet_with_mapped_addresses_is_no_ipv4_packet),
			cmocka_unit_test(a_due_packet_of_ipv4_goes_on_without_telemetry),
			cmocka_unit_test(a_bridge_floods_and_learns_ipv4),
			cmocka_unit_test(
					a_router_passes_on_what_rfc_1812_lets_it_and_no_other_ipv4),
			cmocka_unit_test(a_router_computes_each_checksum_right),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
