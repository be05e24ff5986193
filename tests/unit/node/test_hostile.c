// SPDX-License-Identifier: BSD-3-Clause
// Many random packets with telemetry, requests and reports where they may and may not be: what a
// host made never comes up nor leaves, what networks made never reaches a host, and all is counted.
#include "bytes.h"
#include "fixture.h"
#include "flow_worker.h"
#include "rng.h"
#include "take_reports.h"

#define PACKETS 30000
#define MARK	0xa5 // fills what the packets bring
#define OURS	0x5c // fills what the node puts in
#define ROOM	2048

// The beginning of a report of namespace 7 in CBOR: {0: 7, 1: 0}.
static const uint8_t report_of_7[] = {0xa2, 0x00, 0x07, 0x01, 0x00};

static uint32_t below(struct hs_rng *rng, uint32_t n)
{
	return (uint32_t)((uint64_t)hs_rng_u32(rng) * n >> 32);
}

static bool one_in(struct hs_rng *rng, uint32_t n)
{
	return below(rng, n) == 0;
}

// ---- packets ----

// One option of about any kind, at most `room` bytes. Returns its size.
static size_t put_option(struct hs_rng *rng, uint8_t *at, size_t room)
{
	static const uint8_t types[] = {
			0x00, 0x01, 0x11, 0x31, 0x32, 0x32, 0x33, 0x33, 0x05, 0x1e, 0xc2, 0x3e};
	uint8_t type = types[below(rng, sizeof(types))];
	size_t len = one_in(rng, 4) ? below(rng, 256) : below(rng, 24);

	if (type == 0x00 || room < 2) {
		at[0] = 0;
		return 1;
	}
	len = len > room - 2 ? room - 2 : len;
	at[0] = type;
	at[1] = (uint8_t)len;
	memset(at + 2, type == 0x01 ? 0 : MARK, len);
	if (type == HS_OPT_REPORT && len > sizeof(report_of_7) && one_in(rng, 2))
		memcpy(at + 2, report_of_7, sizeof(report_of_7));
	if (one_in(rng, 40))
		at[1] = (uint8_t)hs_rng_u32(rng);
	return 2 + len;
}

static size_t put_options_header(struct hs_rng *rng, uint8_t *at, uint8_t next)
{
	size_t bytes = 8 * (1 + (one_in(rng, 4) ? below(rng, 40) : below(rng, 6)));

	at[0] = next;
	at[1] = (uint8_t)(bytes / 8 - 1);
	for (size_t n = 2; n < bytes;)
		n += put_option(rng, at + n, bytes - n);
	if (one_in(rng, 40))
		at[1] = (uint8_t)below(rng, 20);
	return bytes;
}

static size_t put_header(struct hs_rng *rng, uint8_t *at, uint8_t type, uint8_t next)
{
	switch (type) {
	case 0:
	case 60:
		return put_options_header(rng, at, next);
	case 44:
		memset(at, 0, 8);
		at[0] = next;
		at[3] = (uint8_t)below(rng, 4);
		return 8;
	default:
		memset(at, 0, 8);
		at[0] = next;
		return 8;
	}
}

// The vectors' flow, or the way back, behind tags and any chain of headers.
static size_t make_packet(struct hs_rng *rng, uint8_t *frame)
{
	static const uint8_t kinds[] = {0, 0, 0, 60, 44, 43};
	uint8_t types[5];
	unsigned n = below(rng, 4), tags = one_in(rng, 4) ? below(rng, 5) : 0;
	size_t len = unhex("0200000000020200000000"
			   "01",
			frame);

	for (unsigned i = 0; i < tags; i++, len += 4)
		hs_be32_store(frame + len, 0x81000001);
	hs_be16_store(frame + len, 0x86dd);
	uint8_t *ip = frame + len + 2;
	unhex("600000000000004020010db8000000000000000000000001"
	      "20010db8000000000000000000000002",
			ip);
	for (unsigned i = 0; i < n; i++)
		types[i] = i == 0 && !one_in(rng, 8) ? 0 : kinds[below(rng, sizeof(kinds))];
	types[n] = 17;
	ip[6] = types[0];
	uint8_t *at = ip + 40;
	for (unsigned i = 0; i < n; i++)
		at += put_header(rng, at, types[i], types[i + 1]);
	at += unhex("1234138900105e94494e544441544121", at);
	size_t payload = (size_t)(at - ip) - 40;
	if (one_in(rng, 20))
		payload = below(rng, (uint32_t)payload + 20);
	hs_be16_store(ip + 4, (uint16_t)payload);
	len = (size_t)(at - frame);
	return one_in(rng, 20) ? 14 + below(rng, (uint32_t)len - 13) : len;
}

// ---- what came out, read without any of the node's code ----

static const uint8_t *find_ip(const uint8_t *frame, size_t len)
{
	size_t at = 12;

	while (at + 2 <= len && frame[at] == 0x81 && frame[at + 1] == 0x00)
		at += 4;
	return at + 2 + 40 + 8 <= len && frame[at] == 0x86 && frame[at + 1] == 0xdd ? frame + at + 2
										    : NULL;
}

// Does the first Hop-by-Hop header have an option of this type, which the node did not make?
static bool has_option(const uint8_t *frame, size_t len, uint8_t type, bool marked)
{
	const uint8_t *ip = find_ip(frame, len);

	if (!ip || ip[6] != 0)
		return false;
	size_t left = len - (size_t)(ip + 40 - frame), bytes = 8u * (ip[41] + 1u), n;
	const uint8_t *hbh = ip + 40;
	bytes = bytes < left ? bytes : left;
	for (size_t at = 2; at + 2 < bytes; at += n) {
		n = hbh[at] == 0 ? 1 : 2u + hbh[at + 1];
		bool told = hbh[at + 2] == MARK || hbh[at + 2] == report_of_7[0];
		if (hbh[at] == type && (!marked || (hbh[at + 1] > 0 && told)))
			return true;
	}
	return false;
}

static bool has_any(const uint8_t *frame, size_t len, uint8_t type)
{
	return has_option(frame, len, type, false);
}

static void expect_no_marks(const uint8_t *frame, size_t len, unsigned packet)
{
	static const uint8_t types[] = {0x11, 0x31, 0x32, 0x33};
	for (unsigned i = 0; i < sizeof(types); i++)
		if (has_option(frame, len, types[i], true))
			fail_msg("packet %u: an option 0x%02x came through", packet, types[i]);
}

// The options that are neither padding nor reports, and then all behind the header. Returns the
// size, 0: there is no such header.
static size_t keep_rest(const uint8_t *frame, size_t len, uint8_t *rest)
{
	const uint8_t *ip = find_ip(frame, len);
	size_t bytes = 8u * (ip[41] + 1u), kept = 0, n;

	if (ip[6] != 0 || (size_t)(ip + 40 - frame) + bytes > len)
		return 0;
	for (size_t at = 2; at < bytes; at += n) {
		const uint8_t *option = ip + 40 + at;
		n = option[0] == 0 ? 1 : 2u + option[1];
		if (option[0] <= 1 || option[0] == HS_OPT_REPORT)
			continue;
		assert_int_equal(at + n <= bytes, true);
		// Their alignment is kept, too. Telemetry that leads then is behind two bytes.
		bool telemetry = option[0] == 0x11 || option[0] == 0x31 || option[0] == 0x32;
		rest[kept++] = at % (telemetry ? 4 : 8);
		memcpy(rest + kept, option, n);
		kept += n;
	}
	size_t behind = len - (size_t)(ip + 40 + bytes - frame);
	memcpy(rest + kept, ip + 40 + bytes, behind);
	return kept + behind;
}

// The packet but for its reports, of which there were some and are none.
static void expect_extracted(const uint8_t *in, size_t in_len, const uint8_t *out, size_t out_len)
{
	uint8_t before[2 * ROOM], after[2 * ROOM];
	const uint8_t *ip = find_ip(out, out_len);
	size_t n = keep_rest(in, in_len, before), m = 0;

	assert_true(has_any(in, in_len, HS_OPT_REPORT));
	assert_false(has_any(out, out_len, HS_OPT_REPORT));
	assert_true(n > 0 && ip != NULL && out_len <= in_len);
	if (ip[6] == 0) {
		m = keep_rest(out, out_len, after);
	} else {
		m = out_len - (size_t)(ip + 40 - out);
		memcpy(after, ip + 40, m);
	}
	assert_int_equal(m, n);
	assert_memory_equal(after, before, n);
	// What is behind the payload stays behind it.
	const uint8_t *old = find_ip(in, in_len);
	assert_int_equal(hs_be16_load(old + 4) - hs_be16_load(ip + 4), in_len - out_len);
}

// ---- nodes ----

static void pending(struct fixture *f, uint32_t slot, uint8_t type)
{
	struct hs_flow_table *flows = hs_node_flows(f->t.node);
	struct hs_flow_pending *pending = hs_flow_table_pending(flows, slot);

	if (pending->state == HS_PENDING_READY)
		return;
	pending->n_bytes = 100;
	memset(pending->bytes, OURS, pending->n_bytes);
	pending->bytes[0] = type;
	pending->bytes[1] = (uint8_t)(pending->n_bytes - 2);
	pending->ns_id = 7;
	pending->state = HS_PENDING_READY;
	hs_flow_table_pending_set(flows, slot, true);
}

static unsigned take_punts(struct fixture *f)
{
	struct hs_punt punts[64];
	unsigned n = hs_node_take_punts(f->t.node, punts, 64);

	for (unsigned i = 0; i < n; i++) {
		assert_true(punts[i].type == HS_OPT_REQUEST || punts[i].type == HS_OPT_REPORT);
		assert_true(punts[i].part < punts[i].parts);
	}
	return n;
}

static struct fixture *open_node(const enum hs_port_side *sides)
{
	struct fixture *f = fixture_open(sides, 2, 1500,
			(struct hs_node_config){.id = 9, .punt_ring = 64, .report_ring = 64});
	struct hs_rule rule = vector_rule(7);
	test_node_rule(&f->t, &rule);
	return f;
}

static void feed_any(struct fixture *f, struct hs_rng *rng)
{
	uint8_t frame[ROOM];
	size_t len = make_packet(rng, frame);
	test_node_feed(&f->t, 0, frame, len, one_in(rng, 8) ? below(rng, (uint32_t)len) : 0);
}

static void what_a_host_made_never_comes_up_nor_leaves(void **state)
{
	(void)state;
	struct fixture *f = open_node(SOURCE_SIDES);
	struct hs_rng rng;
	unsigned carried = 0;
	hs_rng_init(&rng, 1);
	for (unsigned i = 0; i < PACKETS; i++) {
		uint8_t out[ROOM + 256];
		if (i % 3 == 0)
			pending(f, hs_flow_table_find(hs_node_flows(f->t.node), 7), HS_OPT_REQUEST);
		feed_any(f, &rng);
		test_node_run(&f->t);
		for (size_t len; (len = test_node_take(&f->t, 1, out, sizeof(out)));) {
			expect_no_marks(out, len, i);
			carried += memchr(out, OURS, len) != NULL;
		}
		assert_int_equal(take_punts(f), 0);
	}
	assert_true(carried > 1000);
	fixture_close(f);
}

static void what_networks_made_never_reaches_a_host(void **state)
{
	(void)state;
	struct fixture *f = open_node(SINK_SIDES);
	struct hs_rng rng;
	unsigned came_up = 0;
	hs_rng_init(&rng, 2);
	for (unsigned i = 0; i < PACKETS; i++) {
		struct hs_report_record reports[64];
		uint8_t out[ROOM + 256];
		feed_any(f, &rng);
		test_node_run(&f->t);
		for (size_t len; (len = test_node_take(&f->t, 1, out, sizeof(out)));)
			expect_no_marks(out, len, i);
		came_up += take_punts(f);
		take_reports(f->t.node, reports, 64);
	}
	assert_true(came_up > 1000);
	fixture_close(f);
}

static void between_networks_all_goes_on_as_it_came_but_for_what_is_taken_out(void **state)
{
	(void)state;
	struct fixture *f = open_node(TRANSIT_SIDES);
	struct hs_rng rng;
	struct hs_rule back = vector_rule(7);
	unsigned same = 0, extracted = 0;
	hs_rng_init(&rng, 3);
	assert_int_equal(hs_flow_table_remove(hs_node_flows(f->t.node), 7, NULL), 0);
	back.src_ip[15] = 2;
	back.dst_ip[15] = 1;
	back.dst_port = 0x1234;
	back.extract_report = true;
	test_node_rule(&f->t, &back);
	for (unsigned i = 0; i < PACKETS; i++) {
		uint8_t in[ROOM], out[ROOM + 256];
		size_t len = make_packet(&rng, in);
		test_node_feed(&f->t, 0, in, len, one_in(&rng, 8) ? below(&rng, (uint32_t)len) : 0);
		test_node_run(&f->t);
		size_t got = test_node_take(&f->t, 1, out, sizeof(out));
		if (got == len && memcmp(in, out, len) == 0) {
			same++;
		} else {
			expect_extracted(in, len, out, got);
			extracted++;
		}
		take_punts(f);
	}
	assert_int_equal(same + extracted, PACKETS);
	assert_true(extracted > 100);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_a_host_made_never_comes_up_nor_leaves),
			cmocka_unit_test(what_networks_made_never_reaches_a_host),
			cmocka_unit_test(
					between_networks_all_goes_on_as_it_came_but_for_what_is_taken_out),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("node against hostile packets", tests, NULL, NULL);
}
