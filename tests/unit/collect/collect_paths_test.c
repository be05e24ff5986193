// SPDX-License-Identifier: BSD-3-Clause
// The fast paths and the general path tell the same and know the same, whatever the datagrams.
#include "collect_both.h"

#include "sanitized.h"

#define ROUNDS CASES(60000)

// ---- datagrams ----

static const uint16_t bitmaps[] = {0xff00, 0xf500, 0x8000, 0xa000, 0x9000, 0xc100, 0x8c00, 0xbf01,
		0xffff, 0x2000, 0xd100};

static const enum hs_int_version versions[] = {HS_INT_0_5, HS_INT_1_0, HS_INT_2_1};

static uint32_t near_value(uint32_t base)
{
	return below(40) ? base + below(60) : below(4) ? UINT32_MAX : below(5000);
}

static void put_value(struct bytes *to, enum hs_int_version version, unsigned bit, uint32_t hop)
{
	if (bit == 0)
		put(to, below(60) ? hop + 1 : near_value(3), 4);
	else if (bit == 1)
		put(to, 0x00010000 | (below(60) ? 7 : 0xffff), 4);
	else if (bit == 3 || (bit == 6 && version == HS_INT_0_5))
		put(to, (below(60) ? 5u : 0xff) << 24 | (near_value(20) & 0xffffff), 4);
	else if (bit == 6 || ((bit == 4 || bit == 5) && version == HS_INT_2_1))
		put(to, below(40) ? near_value(1000) : UINT64_MAX, 8);
	else
		put(to, near_value(100 * (bit + 1)), 4);
}

static void put_int(struct bytes *to, enum hs_int_version version)
{
	unsigned n = below(20) ? 1 + below(6) : below(12);
	uint16_t bitmap = bitmaps[below(20) ? below(2) : below(11)];
	struct bytes hops = {.n = 0};
	size_t hop_bytes = 0;

	for (unsigned hop = n; hop--;) {
		size_t begin = hops.n;
		for (unsigned bit = 0; bit < 16; bit++)
			if (bitmap & 0x8000 >> bit)
				put_value(&hops, version, bit, hop);
		hop_bytes = hops.n - begin;
	}
	unsigned words = (unsigned)hops.n / 4, hop_words = (unsigned)hop_bytes / 4;
	if (version == HS_INT_2_1)
		put(to, 0x10000000 | (words + 3) << 16, 4);
	else
		put(to, 0x01000000 | (words + (version == HS_INT_0_5 ? 4 : 3)) << 8, 4);
	if (version == HS_INT_0_5)
		put(to, hop_words << 16 | 0x1000 | n, 4);
	else
		put(to, (version == HS_INT_1_0 ? 0x10000005 : 0x20000005) | hop_words << 8, 4);
	put(to, (uint64_t)bitmap << 16, 4);
	if (version == HS_INT_2_1)
		put(to, below(100) ? 0 : 0x10001, 4);
	memcpy(to->at + to->n, hops.at, hops.n);
	to->n += hops.n;
}

// Options of IPv4, nearly always whole.
static void put_options(struct bytes *to)
{
	unsigned words = 1 + below(10);

	for (unsigned left = 4 * words; left;) {
		unsigned option = below(3) && left > 1 ? 2 + below(left - 1) : 1;
		if (option == 1) {
			put(to, below(20) ? 1 : below(3), 1);
			left--;
			continue;
		}
		put(to, 0x4400 | (below(30) ? option : below(50)), 2);
		for (unsigned i = 2; i < option; i++)
			put(to, 0, 1);
		left -= option;
	}
}

// Extension headers before `protocol`; returns the first one's number.
static uint8_t put_extensions(struct bytes *to, uint8_t protocol)
{
	static const uint8_t kinds[] = {60, 43, 51, 135, 139, 140, 44, 0};
	unsigned n = below(20) ? 1 + below(3) : 1 + below(10);
	uint8_t first = below(10) ? 60 : 0, this = first;

	for (unsigned i = 0; i < n; i++) {
		uint8_t next = i + 1 == n ? protocol : kinds[below(30) ? below(6) : below(8)];
		uint8_t units = this == 51 ? (uint8_t)(1 + 2 * below(2)) : (uint8_t)below(2);
		unsigned bytes = this == 51   ? 4u * (units + 2u)
				 : this == 44 ? 8
					      : 8u * (units + 1u);
		put(to, (uint32_t)next << 8 | units, 2);
		for (unsigned at = 2; at < bytes; at++)
			put(to, 0, 1);
		this = next;
	}
	return first;
}

static void put_packet(struct bytes *to, unsigned format, unsigned inner)
{
	struct bytes after = {.n = 0}, before = {.n = 0};
	bool is_tcp = below(2), is_4 = inner == 4 || (inner != 5 && below(4));
	uint32_t dscp = below(30) ? 0x17 : below(64);

	if (is_tcp)
		put_hex(&after, "0000000000000000501820000000"
				"0000");
	else
		put(&after, 0, 4);
	if (is_tcp && !below(10)) {
		after.at[8] = 0x60;
		put(&after, 0x01010101, 4);
	}
	put_int(&after, versions[format]);
	if (versions[format] == HS_INT_0_5)
		put(&after, (is_tcp ? 0x06 : 0x11) << 24, 4);
	put(&after, 0x1122334455, 5);
	if (inner == 3) {
		put_hex(to, "020000000002020000000001");
		if (!below(5))
			put(to, 0x81000000 | below(2), 4);
		put(to, is_4 ? 0x0800 : 0x86dd, 2);
	}
	size_t l4 = after.n + 4;
	if (is_4) {
		if (!below(8))
			put_options(&before);
		put(to, (0x45 + before.n / 4) << 8 | dscp << 2, 2);
		put(to, 20 + before.n + l4, 2);
		put(to, below(50) ? 0x4000 : below(0x10000), 4);
		put(to, is_tcp ? 0x4006 : 0x4011, 2);
		put(to, 0, 2);
		put(to, 0x0a000001, 4);
		put(to, 0x0a000002, 4);
	} else {
		uint8_t first = is_tcp ? 6 : 17;
		if (!below(8))
			first = put_extensions(&before, first);
		put(to, 0x60000000 | dscp << 22, 4);
		put(to, before.n + l4, 2);
		put(to, (uint32_t)first << 8 | 0x40, 2);
		put_hex(to, "20010db8000000000000000000000001");
		put_hex(to, "20010db8000000000000000000000002");
	}
	memcpy(to->at + to->n, before.at, before.n);
	to->n += before.n;
	put(to, 1000 + below(3), 2);
	put(to, 2000, 2);
	if (!is_tcp)
		hs_be16_store(after.at, (uint16_t)l4);
	memcpy(to->at + to->n, after.at, after.n);
	to->n += after.n;
}

static void put_report_of(struct bytes *to, unsigned format, uint32_t *sequence)
{
	unsigned inner = format ? 3 + below(3) : 3;
	uint32_t flags = below(30) ? 0x1 : below(8), node = below(20) ? 9 : 1 + below(8);

	to->n = 0;
	*sequence += below(50) ? 1 : below(400);
	if (format == 0) {
		unsigned next = below(4) ? 0 : below(3);
		put(to, next << 24 | flags << 21 | 3, 4);
		put(to, *sequence, 4);
		put(to, 500 + below(10), 4);
		for (unsigned i = 0; i < (next ? next + 2 : 0); i++)
			put(to, i ? below(90) : node, 4);
	} else if (format == 1) {
		unsigned bits = below(4) ? 0 : below(64);
		unsigned length = 4 + (unsigned)__builtin_popcount(bits);
		put(to, 0x10000000 | length << 24 | (inner - 3) << 21 | bits << 15 | flags << 6, 4);
		put(to, node, 4);
		put(to, *sequence, 4);
		put(to, 500 + below(10), 4);
		for (unsigned i = 0; i < (unsigned)__builtin_popcount(bits); i++)
			put(to, below(100), 4);
	} else {
		put(to, 0x20000000 | (*sequence & 0x3fffff), 4);
		put(to, node, 4);
		bool values = !below(3);
		put(to,
				(values ? 0x10000000u : 0) | inner << 24 | 0xff0000 |
						(values ? 0x100u : 0) | (flags & 1 ? 0x20u : 0) |
						(flags & 2 ? 0x40u : 0) | (below(40) ? 0 : 0x10u),
				4);
		if (values)
			put_hex(to, "1000000000000000"
				    "0500000a");
	}
	put_packet(to, format, inner);
}

// ---- the two ----

static void spoil(struct bytes *b)
{
	if (!below(4))
		b->n = below((uint32_t)b->n + 1);
	if (b->n && !below(2))
		b->at[below((uint32_t)b->n)] = (uint8_t)below(256);
	if (b->n > 40 && !below(2))
		b->at[20 + below(60) % (b->n - 20)] ^= (uint8_t)(1 << below(8));
}

static void same_by_all_paths(const struct hs_collect_config *config, uint64_t seed)
{
	struct hs_collect *both[2];
	struct bytes b[8];
	struct hs_collect_datagram datagrams[8];
	uint32_t sequences[3] = {0};
	int64_t now = SECOND;

	hs_rng_init(&rng, seed);
	open_both(config, both);
	for (unsigned round = 0; round < ROUNDS / 8; round++) {
		for (unsigned i = 0; i < 8; i++) {
			unsigned format = below(3);
			put_report_of(&b[i], format, &sequences[format]);
			if (!below(5))
				spoil(&b[i]);
			datagrams[i] = (struct hs_collect_datagram){.bytes = b[i].at,
					.len = (uint32_t)b[i].n,
					.is_ipv4 = true,
					.address = {127, 0, 0, 1}};
		}
		now += below(100000);
		for (side = 0; side < 2; side++) {
			hs_collect_take(both[side], datagrams, 8, now);
			hs_collect_push(both[side], now, 3);
		}
		assert_int_equal(sums[0], sums[1]);
		if (round % 512 == 0)
			compare(both[0], both[1]);
	}
	compare(both[0], both[1]);
	check_balance(both[0]);
	const struct hs_collect_counters *n = hs_collect_counters(both[0]);
	assert_true(n->reports_read > ROUNDS / 2 && n->event_reports > CASES(1000));
	assert_true(n->suppressed[HS_COLLECT_POINT_FLOW] > ROUNDS / 2000);
	close_both(both);
}

static void absolute(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.push_ns = SECOND / 10;
	config.gap_ns = SECOND / 50;
	same_by_all_paths(&config, 1);
}

static void relative(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	for (unsigned i = 0; i < HS_COLLECT_MEASURES; i++)
		config.thresholds[i] = (struct hs_collect_threshold){.relative = 1000 * (i + 1)};
	config.thresholds[HS_COLLECT_LINK_UTILISATION].off = true;
	same_by_all_paths(&config, 2);
}

static void interval(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.interval = 64;
	same_by_all_paths(&config, 3);
}

static void full_tables(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.max_flows = 3;
	config.max_queues = config.max_links = 5;
	config.max_exporters = 2;
	config.new_keys_per_s = 50;
	same_by_all_paths(&config, 4);
}

// 1.0 of reporter `node`, IPv4, UDP to `port`, INT 1.0 with `n` hops of all values.
static void put_train(struct bytes *to, uint32_t node, uint32_t port, uint32_t sequence, unsigned n)
{
	*to = (struct bytes){.n = 0};
	put(to, 0x14000040, 4);
	put(to, node, 4);
	put(to, sequence, 4);
	put(to, 500, 4);
	put_hex(to, "020000000002020000000001"
		    "0800"
		    "455c");
	put(to, 20 + 8 + 12 + 36 * n, 2);
	put_hex(to, "0000400040110000"
		    "0a0000010a000002");
	put(to, port, 2);
	put(to, 2000, 2);
	put(to, 8 + 12 + 36 * n, 2);
	put(to, 0, 2);
	put(to, 0x01000000 | (3 + 9 * n) << 8, 4);
	put(to, 0x10000905, 4);
	put(to, 0xff000000, 4);
	for (unsigned i = n; i--;) {
		put(to, i + 1, 4);
		put_hex(to, "0001000700000100"
			    "05000014"
			    "0000100000001100"
			    "0000000000002000"
			    "00000300");
	}
}

// Reports that follow each other and differ in their flow, their reporter, or how they are cut.
static void trains(void **state)
{
	static const struct {
		uint32_t node, port, cut;
	} all[] = {{9, 1, 0}, {9, 1, 0}, {9, 2, 0}, {9, 1, 0}, {8, 1, 0}, {9, 1, 124}, {8, 1, 124},
			{8, 2, 124}, {9, 1, 20}, {8, 1, 20}, {UINT32_MAX, 1, 0},
			{UINT32_MAX, 2, 124}, {9, 3, 20}, {9, 3, 0}, {9, 3, 0}, {9, 4, 20},
			{9, 4, 20}, {9, 4, 124}};
	enum {
		N = sizeof(all) / sizeof(all[0])
	};
	struct hs_collect_config config = config_50();
	struct hs_collect_datagram datagrams[N];
	struct hs_collect *both[2];
	struct bytes b[N];

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		put_train(&b[i], all[i].node, all[i].port, i, 4);
		datagrams[i] = (struct hs_collect_datagram){.bytes = b[i].at,
				.len = (uint32_t)b[i].n - all[i].cut,
				.is_ipv4 = true,
				.address = {127, 0, 0, 1}};
	}
	open_both(&config, both);
	for (side = 0; side < 2; side++)
		for (unsigned i = 0; i < 4; i++)
			hs_collect_take(both[side], datagrams, N, SECOND + i);
	assert_int_equal(sums[0], sums[1]);
	compare(both[0], both[1]);
	// The paths of three ports; what reporters told without a whole hop.
	assert_int_equal(hs_collect_counters(both[0])->flows, 3 + 4);
	close_both(both);
}

// One of a few senders and flows, whose numbers mostly follow each other, as exporters send them.
static void put_alike(struct bytes *to, struct hs_collect_datagram *datagram, uint32_t numbers[4])
{
	uint32_t who = below(9) ? 0 : below(4);

	numbers[who] += below(20) ? 1 : below(5) - 2;
	put_train(to, 8 + (who & 1), 1 + (below(6) ? 0 : below(3)), numbers[who], 4);
	to->at[to->n - 1 - below(140)] ^= below(10) ? 0 : (uint8_t)(1 << below(8));
	to->at[3] ^= below(10) ? 0 : 0x80;		  // Q
	to->at[16 + 14 + 20 + 4] ^= below(20) ? 0 : 0x80; // UDP ends behind IP: refused
	*datagram = (struct hs_collect_datagram){.bytes = to->at,
			.len = (uint32_t)to->n - (below(30) ? 0 : 124),
			.is_ipv4 = below(50),
			.listener = !below(50),
			.address = {127, 0, 0, (uint8_t)(1 + (who >> 1)), [15] = !below(50)}};
}

static void alike(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_datagram datagrams[70];
	static struct bytes b[70];
	struct hs_collect *both[2];
	uint32_t numbers[4] = {0};

	(void)state;
	hs_rng_init(&rng, 5);
	open_both(&config, both);
	for (unsigned round = 0; round < CASES(2000); round++) {
		unsigned n = below(71);
		for (unsigned i = 0; i < n; i++)
			put_alike(&b[i], &datagrams[i], numbers);
		for (side = 0; side < 2; side++)
			hs_collect_take(both[side], datagrams, n, SECOND + round);
		assert_int_equal(sums[0], sums[1]);
		if (round % 64 == 0)
			compare(both[0], both[1]);
	}
	compare(both[0], both[1]);
	assert_true(hs_collect_counters(both[0])->reports_missing > CASES(100));
	assert_true(refused(both[0]) > CASES(100));
	close_both(both);
}

// A reporter's own queue may have the number that on a stack stands for no queue.
static void own_queue_255_is_not_that_of_a_stack(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_datagram datagrams[5];
	struct hs_collect *both[2];
	struct bytes b[5];

	(void)state;
	config.max_flows = config.new_keys_per_s = 1;
	for (unsigned i = 0; i < 5; i++) {
		b[i].n = 0;
		put_head_1_0(&b[i], i ? 9 : 1, i);
		if (i) {
			put_ether(&b[i], 0x0800);
			put_udp(&b[i], (uint16_t)i, 12 + 8);
			put_hex(&b[i], "0100050010000205"
				       "90000000"
				       "00000001");
			put(&b[i], 0xff0003e8 + i, 4);
		} else {
			b[i].n = 0;
			put_hex(&b[i], "1634004300000001"
				       "0000000000000000"
				       "00010002ff0003e8");
		}
		datagrams[i] = (struct hs_collect_datagram){
				.bytes = b[i].at, .len = (uint32_t)b[i].n, .is_ipv4 = true};
	}
	open_both(&config, both);
	for (side = 0; side < 2; side++)
		hs_collect_take(both[side], datagrams, 5, SECOND);
	assert_int_equal(sums[0], sums[1]);
	assert_true(hs_collect_counters(both[0])->flows_refused > 0);
	compare(both[0], both[1]);
	close_both(both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(alike),
			cmocka_unit_test(trains),
			cmocka_unit_test(own_queue_255_is_not_that_of_a_stack),
			cmocka_unit_test(absolute),
			cmocka_unit_test(relative),
			cmocka_unit_test(interval),
			cmocka_unit_test(full_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
