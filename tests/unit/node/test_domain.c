// SPDX-License-Identifier: BSD-3-Clause
// What a host forges, in every place that a frame has for it, past the node at the edge and then
// past devices between nodes that take tags, Routing headers and SNAP away: no node behind makes a
// report, an entry or a signal of it. Frames are made and changed without any of the node's code.
#include "bytes.h"
#include "fixture.h"
#include "rng.h"
#include "take_reports.h"

#define PACKETS	  40000
#define ROOM	  2048
#define MAX_TAGS  12
#define MAX_CHAIN 12

static uint32_t below(struct hs_rng *rng, uint32_t n)
{
	return (uint32_t)((uint64_t)hs_rng_u32(rng) * n >> 32);
}

static bool one_in(struct hs_rng *rng, uint32_t n)
{
	return below(rng, n) == 0;
}

// ---- frames ----

static size_t put_padding(struct hs_rng *rng, uint8_t *at)
{
	size_t n = below(rng, 12);

	if (n < 2) {
		at[0] = 0;
		return 1;
	}
	at[0] = 1;
	at[1] = (uint8_t)(n - 2);
	memset(at + 2, 0, n - 2);
	return n;
}

// Options as a source writes them, so that they would be believed; some twice, some not at all.
static size_t put_forged(struct hs_rng *rng, uint8_t *at)
{
	static const char *const options[] = {
			"3108000000077000e000",
			"1112700017979cfe362a0000000003e80007c060",
			"3220000000077000e0000001e00003e803e817979cfe36c296800007c0600007c060",
			"3306a20007010000",
	};
	static const char *const usual[] = {"3108000000077000e000"
					    "1112700017979cfe362a0000000003e80007c060"};
	uint8_t *start = at;

	if (!one_in(rng, 4))
		at += unhex(usual[0], at);
	while (one_in(rng, 3))
		at += unhex(options[below(rng, 4)], at);
	return (size_t)(at - start);
}

// A header of options, padding before and between, a multiple of eight bytes.
static size_t put_options(struct hs_rng *rng, uint8_t *at, uint8_t next)
{
	size_t n = 2;

	while (one_in(rng, 2))
		n += put_padding(rng, at + n);
	n += put_forged(rng, at + n);
	while (one_in(rng, 3))
		n += put_padding(rng, at + n);
	for (; n % 8; n++)
		at[n] = 0;
	at[0] = next;
	at[1] = (uint8_t)(n / 8 - 1);
	if (one_in(rng, 50))
		at[below(rng, (uint32_t)n)] ^= (uint8_t)(1u << below(rng, 8));
	return n;
}

static size_t put_header(struct hs_rng *rng, uint8_t *at, uint8_t type, uint8_t next)
{
	if (type == 0 || type == 60)
		return put_options(rng, at, next);
	memset(at, 0, 8);
	at[0] = next;
	if (type == 44)
		at[3] = (uint8_t)below(rng, 10);
	return 8;
}

static size_t put_ipv6(struct hs_rng *rng, uint8_t *ip, unsigned depth)
{
	static const uint8_t kinds[] = {0, 0, 0, 60, 43, 43, 44, 51};
	uint8_t types[MAX_CHAIN + 1];
	unsigned n = below(rng, one_in(rng, 4) ? MAX_CHAIN + 1 : 4);
	bool tunnel = depth == 0 && one_in(rng, 8);

	for (unsigned i = 0; i < n; i++)
		types[i] = kinds[below(rng, sizeof(kinds))];
	types[n] = tunnel ? 41 : 17;
	unhex("600000000000004020010db8000000000000000000000001"
	      "20010db8000000000000000000000002",
			ip);
	ip[6] = types[0];
	uint8_t *at = ip + 40;
	for (unsigned i = 0; i < n; i++)
		at += put_header(rng, at, types[i], types[i + 1]);
	at += tunnel ? put_ipv6(rng, at, depth + 1) : unhex("1234138900105e94494e544441544121", at);
	size_t payload = (size_t)(at - ip) - 40;
	if (one_in(rng, 30)) // cut, jumbo, or too long
		payload = below(rng, (uint32_t)payload + 20) & (one_in(rng, 3) ? 0 : 0xffff);
	hs_be16_store(ip + 4, (uint16_t)payload);
	return (size_t)(at - ip);
}

static size_t put_tag(struct hs_rng *rng, uint8_t *at)
{
	static const uint16_t types[] = {0x8100, 0x88a8, 0x9100, 0x9200, 0x9300};

	hs_be16_store(at, types[below(rng, 5)]);
	hs_be16_store(at + 2, (uint16_t)below(rng, 4096));
	return 4;
}

static size_t make_frame(struct hs_rng *rng, uint8_t *frame)
{
	size_t len = unhex("020000000002020000000001", frame);
	unsigned tags = one_in(rng, 2) ? below(rng, MAX_TAGS + 1) : 0;

	for (unsigned i = 0; i < tags; i++) {
		if (one_in(rng, 16))
			len += unhex("0100aaaa03000000", frame + len);
		len += put_tag(rng, frame + len);
	}
	if (one_in(rng, 8))
		len += unhex(one_in(rng, 2) ? "0100aaaa03000000" : "0100aaaa030000f8", frame + len);
	hs_be16_store(frame + len, 0x86dd);
	len += 2;
	len += put_ipv6(rng, frame + len, 0);
	return one_in(rng, 20) ? 14 + below(rng, (uint32_t)len - 13) : len;
}

// ---- devices between nodes ----

static bool is_tag(const uint8_t *at)
{
	uint16_t type = hs_be16_load(at);
	return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200 ||
	       type == 0x9300;
}

static size_t cut(uint8_t *frame, size_t len, size_t at, size_t n)
{
	memmove(frame + at, frame + at + n, len - at - n);
	return len - n;
}

// Takes tags off, and LLC with SNAP, until `most` are gone or the type is another.
static size_t take_layer_2(uint8_t *frame, size_t len, unsigned most)
{
	for (; most && len >= 22; most--) {
		if (is_tag(frame + 12))
			len = cut(frame, len, 12, 4);
		else if (hs_be16_load(frame + 12) <= 1500 && frame[14] == 0xaa && frame[15] == 0xaa)
			len = cut(frame, len, 12, 8);
		else
			break;
	}
	return len;
}

// Takes the first header of the chain out, as routers do with a Routing header that is used up. A
// device that does it with other headers is worse than any there is.
static size_t take_headers(struct hs_rng *rng, uint8_t *frame, size_t len)
{
	while (one_in(rng, 2) && len >= 62 && hs_be16_load(frame + 12) == 0x86dd) {
		uint8_t type = frame[20];
		size_t n = type == 44 ? 8 : 8u * (frame[55] + 1u);
		uint16_t payload = hs_be16_load(frame + 18);
		if ((type != 43 && type != 60 && type != 0) || payload < n || len < 54 + n)
			break;
		frame[20] = frame[54];
		hs_be16_store(frame + 18, (uint16_t)(payload - n));
		len = cut(frame, len, 54, n);
	}
	return len;
}

// ---- nodes ----

static struct fixture *open_node(const enum hs_port_side *sides, uint16_t id, bool rules)
{
	struct fixture *f = fixture_open(sides, 2, 1500,
			(struct hs_node_config){.id = id, .punt_ring = 64, .report_ring = 64});
	struct hs_rule rule = vector_rule(7);

	if (rules)
		test_node_rule(&f->t, &rule);
	return f;
}

// What a node believed so far of packets that no node of the domain wrote into.
static uint64_t believed(struct fixture *f)
{
	struct hs_flow_counters c = counters(f, 7);
	struct hs_report_record reports[64];
	struct hs_punt signals[64];
	unsigned n_signals = hs_node_take_punts(f->t.node, signals, 64);

	take_reports(f->t.node, reports, 64);
	return c.hop_entries + c.sink_packets + c.reports_made + n_signals;
}

static uint64_t pass(struct fixture *f, const uint8_t *frame, size_t len, size_t first)
{
	uint8_t out[ROOM + 256];
	uint64_t before = believed(f);

	test_node_feed(&f->t, 0, frame, len, first);
	test_node_run(&f->t);
	while (test_node_take(&f->t, 1, out, sizeof(out)))
		;
	return believed(f) - before;
}

struct domain {
	struct fixture *edge, *transit, *sink;
};

static struct domain domain_open(void)
{
	return (struct domain){
			.edge = open_node(SOURCE_SIDES, 1, false),
			.transit = open_node(TRANSIT_SIDES, 2, true),
			.sink = open_node(SINK_SIDES, 9, true),
	};
}

static void domain_close(struct domain *d)
{
	fixture_close(d->edge);
	fixture_close(d->transit);
	fixture_close(d->sink);
}

static uint64_t behind(struct domain *d, struct hs_rng *rng, uint8_t *frame, size_t len)
{
	len = take_layer_2(frame, len, below(rng, MAX_TAGS + 4));
	len = take_headers(rng, frame, len);
	return pass(d->transit, frame, len, 0) + pass(d->sink, frame, len, 0);
}

static void no_node_behind_believes_what_a_host_forged(void **state)
{
	(void)state;
	struct domain d = domain_open();
	struct hs_rng rng;
	unsigned entered = 0;

	hs_rng_init(&rng, 11);
	for (unsigned i = 0; i < PACKETS; i++) {
		uint8_t frame[ROOM], out[ROOM + 256];
		size_t len = make_frame(&rng, frame);
		test_node_feed(&d.edge->t, 0, frame, len,
				one_in(&rng, 8) ? below(&rng, (uint32_t)len) : 0);
		test_node_run(&d.edge->t);
		while ((len = test_node_take(&d.edge->t, 1, out, sizeof(out)))) {
			entered++;
			if (behind(&d, &rng, out, len))
				fail_msg("packet %u was believed", i);
		}
	}
	assert_true(entered > PACKETS / 8);
	assert_true(drops(d.edge, 0, HS_DROP_HIDDEN_HEADERS) > PACKETS / 8);
	assert_true(event(d.edge, 0, HS_EVENT_HOST_TELEMETRY_STRIPPED) > PACKETS / 16);
	domain_close(&d);
}

// The same frames without the edge before: that they would be believed, the test above rests on.
static void the_same_frames_are_believed_where_no_edge_was(void **state)
{
	(void)state;
	struct domain d = domain_open();
	struct hs_rng rng;
	uint64_t sum = 0;

	hs_rng_init(&rng, 11);
	for (unsigned i = 0; i < PACKETS; i++) {
		uint8_t frame[ROOM];
		size_t len = make_frame(&rng, frame);
		sum += behind(&d, &rng, frame, len);
	}
	assert_true(sum > PACKETS / 8);
	domain_close(&d);
}

static void many_tags_enter_no_domain(void **state)
{
	(void)state;
	struct fixture *f = open_node(SOURCE_SIDES, 1, true);
	uint8_t frame[ROOM], rest[ROOM];
	size_t n_rest = unhex("86dd" // and what WITH_TELEMETRY has behind its type
			      "600000000030004020010db800000000000000000000000120010db8000000000000"
			      "00000000000211033108000000077000e0001112700017979cfe362a0000000003e8"
			      "0007c0601234138900105e94494e544441544121",
			rest);

	for (unsigned tags = 0; tags < 300; tags++) {
		size_t len = unhex("020000000002020000000001", frame);
		uint8_t out[ROOM + 256];
		for (unsigned i = 0; i < tags; i++, len += 4)
			hs_be32_store(frame + len, 0x81000001);
		memcpy(frame + len, rest, n_rest);
		test_node_feed(&f->t, 0, frame, len + n_rest, 0);
		test_node_run(&f->t);
		size_t got = test_node_take(&f->t, 1, out, sizeof(out));
		assert_int_equal(got > 0, tags <= 8);
		if (tags > 2 && got) // without telemetry, and matched by no rule
			assert_int_equal(got, len + n_rest - 32);
	}
	assert_int_equal(drops(f, 0, HS_DROP_HIDDEN_HEADERS), 291);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(no_node_behind_believes_what_a_host_forged),
			cmocka_unit_test(the_same_frames_are_believed_where_no_edge_was),
			cmocka_unit_test(many_tags_enter_no_domain),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("domain against its hosts", tests, NULL, NULL);
}
