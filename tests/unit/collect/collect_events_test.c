// SPDX-License-Identifier: BSD-3-Clause
// When a value is an event, and which points are told.
#include "collect_test.h"

#define N 3

static const struct hop usual[N] = {
		{3, 300, 1, 30, 13, 1000}, {2, 200, 1, 20, 12, 2000}, {1, 100, 1, 10, 11, 3000}};

static struct hs_collect *c;
static uint32_t sequence;

static void send(const struct hop *hops, unsigned n, int64_t now_ns)
{
	struct bytes b;

	put_report(&b, 3, ++sequence, 6000, hops, n);
	forget();
	take(c, b.at, b.n, now_ns);
}

static void open_with(const struct hs_collect_config *config)
{
	c = collector(config);
	send(usual, N, SECOND);
	assert_int_equal(told.n_points, 1 + 3 * N);
	assert_int_equal(told.n_events, 1);
	assert_int_equal(told.flow.latency, 600);
	assert_int_equal(told.flow.hops[0].node_id, 1);
}

static void done(void)
{
	assert_int_equal(refused(c), 0);
	check_balance(c);
	hs_collect_destroy(c);
}

static void nothing_changed(void **state)
{
	struct hs_collect_config config = config_50();
	const struct hs_collect_counters *n;

	(void)state;
	open_with(&config);
	send(usual, N, 2 * SECOND);
	assert_int_equal(told.n_events, 0);
	n = hs_collect_counters(c);
	assert_int_equal(n->suppressed[HS_COLLECT_POINT_FLOW], 1);
	assert_int_equal(n->suppressed[HS_COLLECT_POINT_HOP], N);
	assert_int_equal(n->suppressed[HS_COLLECT_POINT_OCCUPANCY], N);
	assert_int_equal(n->suppressed[HS_COLLECT_POINT_LINK], N);
	assert_int_equal(n->event_reports, 1);
	done();
}

// A threshold is exceeded by one more, not by itself, and a drift counts from the last event.
static void thresholds(void **state)
{
	struct hs_collect_config config = config_50();
	struct hop hops[N];

	(void)state;
	open_with(&config);
	memcpy(hops, usual, sizeof(hops));
	hops[1].latency = 250;
	hops[1].occupancy = 70;
	hops[1].utilisation = 1950;
	send(hops, N, 2 * SECOND);
	assert_int_equal(told.n_points, 0);
	hops[1].latency = 251;
	hops[1].occupancy = 71;
	hops[1].utilisation = 1949;
	send(hops, N, 3 * SECOND);
	assert_int_equal(told.n_points, 4);
	assert_int_equal(point_of(HS_COLLECT_POINT_FLOW, 0, 0)->before, 600);
	assert_int_equal(point_of(HS_COLLECT_POINT_FLOW, 0, 0)->value, 651);
	assert_int_equal(point_of(HS_COLLECT_POINT_HOP, 2, 1)->before, 200);
	assert_int_equal(point_of(HS_COLLECT_POINT_OCCUPANCY, 2, 1)->value, 71);
	assert_int_equal(point_of(HS_COLLECT_POINT_LINK, 2, 12)->before, 2000);
	done();
}

static void relative_thresholds(void **state)
{
	struct hs_collect_config config = config_50();
	struct hop hops[N];

	(void)state;
	for (unsigned i = 0; i < HS_COLLECT_MEASURES; i++)
		config.thresholds[i] = (struct hs_collect_threshold){.relative = 1000};
	config.thresholds[HS_COLLECT_FLOW_LATENCY].off = true;
	open_with(&config);
	memcpy(hops, usual, sizeof(hops));
	hops[0].latency = 330; // 10 % is no event
	hops[2].latency = 111;
	send(hops, N, 2 * SECOND);
	assert_int_equal(told.n_points, 1);
	assert_int_equal(told.points[0].id, 0);
	assert_int_equal(told.points[0].value, 111);
	done();
}

static void intervals(void **state)
{
	struct hs_collect_config config = config_50();
	struct hop hops[N];

	(void)state;
	config.interval = 64;
	config.thresholds[HS_COLLECT_FLOW_LATENCY].off = true;
	open_with(&config);
	memcpy(hops, usual, sizeof(hops));
	hops[2].latency = 127; // 100 / 64 == 127 / 64
	send(hops, N, 2 * SECOND);
	assert_int_equal(told.n_points, 0);
	hops[2].latency = 128;
	send(hops, N, 2 * SECOND);
	assert_int_equal(told.n_points, 1);
	done();
}

static void gap(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.gap_ns = SECOND;
	open_with(&config);
	send(usual, N, 2 * SECOND);
	assert_int_equal(told.n_points, 0);
	send(usual, N, 2 * SECOND + 1);
	assert_int_equal(told.n_points, 1);
	assert_int_equal(told.points[0].cause, HS_COLLECT_GAP);
	send(usual, N, 3 * SECOND + 1);
	assert_int_equal(told.n_points, 0);
	done();
}

// The flow is an event again within gap_ns, not when the clock is where it was.
static void gap_after_a_clock_was_set_back(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.gap_ns = SECOND;
	open_with(&config);
	send(usual, N, 8000 * SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_GAP), 1);
	send(usual, N, 7999 * SECOND);
	assert_int_equal(told.n_points, 0);
	for (int64_t second = 4400; second < 4408; second += 2) {
		send(usual, N, second * SECOND);
		assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_GAP), 1);
	}
	done();
}

static void other_path(void **state)
{
	struct hs_collect_config config = config_50();
	struct hop hops[N];

	(void)state;
	open_with(&config);
	memcpy(hops, usual, sizeof(hops));
	hops[1].node = 7;
	send(hops, N, 2 * SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 1);
	assert_int_equal(count(HS_COLLECT_POINT_HOP, HS_COLLECT_PATH), 1);
	assert_int_equal(point_of(HS_COLLECT_POINT_HOP, 7, 1)->value, 200);
	assert_int_equal(told.n_points, 4); // and its queue and link
	assert_int_equal(told.flow.hops[1].node_id, 7);
	done();
}

static void shorter_path(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	open_with(&config);
	send(usual + 1, N - 1, 2 * SECOND); // the same but the newest
	assert_int_equal(told.n_points, 1);
	assert_int_equal(told.points[0].cause, HS_COLLECT_PATH);
	assert_int_equal(told.flow.n_hops, 2);
	assert_int_equal(told.flow.latency, 300);
	send(usual, N, 3 * SECOND);
	assert_int_equal(told.n_points, 2);
	assert_int_equal(count(HS_COLLECT_POINT_HOP, HS_COLLECT_PATH), 1);
	assert_int_equal(told.flow.latency, 600);
	done();
}

// The latency of another path is new, even if each hop has told one.
static void latency_after_a_path_without_one(void **state)
{
	struct hs_collect_config config = config_50();
	struct hop hops[N];

	(void)state;
	open_with(&config);
	memcpy(hops, usual, sizeof(hops));
	hops[0].latency = 20;
	send(hops, N, 2 * SECOND);			// 320: near what comes later
	hops[1].latency = hops[2].latency = UINT32_MAX; // none
	send(hops + 1, N - 1, 2 * SECOND);
	assert_int_equal(told.n_points, 1);
	assert_false(told.points[0].has_value);
	send(usual + 1, N - 1, 3 * SECOND);
	assert_int_equal(told.n_points, 1);
	assert_int_equal(told.points[0].kind, HS_COLLECT_POINT_FLOW);
	assert_int_equal(told.points[0].cause, HS_COLLECT_NEW);
	assert_int_equal(told.points[0].value, 300);
	done();
}

// A hop that tells no latency keeps its last one, and the sum has it.
static void a_latency_that_is_not_told_stays_in_the_sum(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_flow flow;
	struct hop hops[N];
	uint64_t cursor = 0;

	(void)state;
	open_with(&config);
	memcpy(hops, usual, sizeof(hops));
	hops[0].latency = UINT32_MAX;
	hops[1].latency = 210;
	send(hops, N, 2 * SECOND);
	assert_int_equal(told.n_points, 0);
	assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
	assert_int_equal(flow.latency, 610);
	done();
}

// ---- nodes that added nothing ----

enum {
	INT_AT = 16 + 14 + 28 + 4, // of a report
	E = 0x0100,
	M = 0x0080,
};

static void send_lacking(const struct hop *hops, unsigned n, uint16_t bit, int64_t now_ns)
{
	struct bytes b;

	put_report(&b, 3, ++sequence, 6000, hops, n);
	b.at[INT_AT] |= bit >> 8;
	b.at[INT_AT + 1] |= bit & 0xff;
	forget();
	take(c, b.at, b.n, now_ns);
}

static void check_flow(unsigned n_hops, bool entries_missing)
{
	struct hs_collect_flow flow;
	uint64_t cursor = 0;

	assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
	assert_int_equal(flow.n_hops, n_hops);
	assert_int_equal(flow.entries_missing, entries_missing);
	assert_int_equal(flow.has_latency, !entries_missing);
	assert_true(entries_missing || flow.latency == 600);
}

// Large packets that meet an MTU between small ones do not change the path.
static void packets_that_lack_hops_change_no_path(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	open_with(&config);
	for (int64_t i = 2; i < 40; i += 2) {
		send_lacking(usual + 1, N - 1, i & 4 ? M : E, i * SECOND);
		assert_int_equal(told.n_points, 0);
		check_flow(N, false);
		send(usual, N, (i + 1) * SECOND);
		assert_int_equal(told.n_points, 0);
	}
	assert_int_equal(hs_collect_counters(c)->reports_incomplete, 19);
	done();
}

// If no packet has all hops for ten seconds, the path is what packets say, without a sum.
static void a_path_that_always_lacks_hops_is_marked(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	open_with(&config);
	for (int64_t i = 2; i < 12; i++) {
		send_lacking(usual + 1, N - 1, M, i * SECOND);
		assert_int_equal(told.n_points, 0);
		check_flow(N, false);
	}
	send_lacking(usual + 1, N - 1, M, 12 * SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 1);
	assert_false(told.points[0].has_value);
	assert_true(told.flow.entries_missing);
	check_flow(N - 1, true);
	send(usual, N, 13 * SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 1);
	check_flow(N, false);
	done();
}

// If all reports of ten seconds are of no hop, the path is what it was, marked, without a sum.
static void a_path_that_no_report_tells_is_marked(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	open_with(&config);
	for (int64_t i = 2; i < 12; i++) {
		send_lacking(usual, 0, E, i * SECOND);
		check_flow(N, false);
	}
	send_lacking(usual, 0, E, 12 * SECOND);
	check_flow(N, true);
	send_lacking(usual, 0, E, 13 * SECOND);
	check_flow(N, true);
	assert_int_equal(told.n_points, 0);
	send(usual, N, 14 * SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 1);
	check_flow(N, false);
	done();
}

// The same hops without the bit are another path: the whole one, whose sum is known.
static void a_path_is_whole_when_a_packet_says_so(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	c = collector(&config);
	send_lacking(usual, N, E, SECOND);
	check_flow(N, true);
	assert_int_equal(count(HS_COLLECT_POINT_HOP, HS_COLLECT_NEW), N);
	send(usual, N, 2 * SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 1);
	assert_int_equal(told.points[0].value, 600);
	check_flow(N, false);
	send_lacking(usual, 0, E, 3 * SECOND);
	assert_int_equal(told.n_points, 0);
	check_flow(N, false);
	done();
}

// A path that grew and lacks the new hop has no sum any more.
static void the_same_hops_may_be_a_part(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	open_with(&config);
	send_lacking(usual, N, M, 2 * SECOND);
	send_lacking(usual, N, M, SECOND); // the clock was set back
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 1);
	assert_false(told.points[0].has_value);
	check_flow(N, true);
	done();
}

static void node_ids_alone_say_it_too(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_flow flow;
	struct bytes b = {.n = 0};

	(void)state;
	c = collector(&config);
	put_head_1_0(&b, 3, 1);
	put_ether(&b, 0x0800);
	put_udp(&b, 6000, 12 + 8 + 4);
	put_hex(&b, "010005001000013e"
		    "80000000"
		    "00000002"
		    "00000001"
		    "deadbeef");
	for (unsigned i = 0; i < 2; i++) {
		uint64_t cursor = 0;
		b.at[INT_AT] = i ? 0x10 : 0x11;
		take(c, b.at, b.n, SECOND);
		assert_int_equal(hs_collect_flows(c, &cursor, &flow, 1), 1);
		assert_int_equal(flow.n_hops, 2);
		assert_int_equal(flow.entries_missing, !i);
	}
	done();
}

// Two flows share what is on their way: it is told once.
static void shared_values(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes b;

	(void)state;
	open_with(&config);
	put_report(&b, 3, ++sequence, 6001, usual, N);
	forget();
	take(c, b.at, b.n, SECOND);
	assert_int_equal(told.n_points, 1 + N);
	assert_int_equal(hs_collect_counters(c)->queues, N);
	assert_int_equal(hs_collect_counters(c)->flows, 2);
	done();
}

static void sixty_four_hops(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_flow_key key;
	struct hs_collect_flow flow;
	struct hop hops[41];

	(void)state;
	c = collector(&config);
	for (unsigned i = 0; i < 41; i++)
		hops[i] = (struct hop){100 - i, 10 * i, 1, i, 5, i};
	send(hops, 40, SECOND);
	assert_int_equal(told.flow.n_hops, 40);
	assert_int_equal(told.flow.hops[39].node_id, 100);
	assert_int_equal(told.n_points, 1 + 3 * 40);
	key = told.flow.key;
	hops[3].latency += 100;
	send(hops, 40, SECOND);
	assert_int_equal(told.n_points, 2);
	assert_int_equal(told.points[1].id, 36);
	assert_true(find_flow(c, &key, &flow));
	assert_int_equal(flow.hops[36].latency, 130);
	key.dst_port++;
	assert_false(find_flow(c, &key, &flow));
	done();
}

// The reporter's values belong to the newest of 64 hops, or are one hop too many.
static void sixty_four_and_the_reporter(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes b;

	(void)state;
	c = collector(&config);
	for (uint32_t reporter = 64; reporter < 66; reporter++) {
		b.n = 0;
		put(&b, 0x16140040, 4); // ports and queue
		put(&b, reporter, 4);
		put(&b, ++sequence, 4);
		put(&b, 1000, 4);
		put(&b, 0x0001000205000003, 8);
		put_ether(&b, 0x0800);
		put_udp(&b, 6000, 12 + 4 * 64);
		put(&b, 0x01000000 | (3 + 64) << 8, 4);
		put(&b, 0x10000101, 4);
		put(&b, 0x80000000, 4);
		for (uint32_t node = 64; node; node--)
			put(&b, node, 4);
		take(c, b.at, b.n, SECOND);
	}
	assert_int_equal(told.flow.n_hops, 64);
	assert_int_equal(hs_collect_counters(c)->reports_read, 1);
	assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_HOPS], 1);
	hs_collect_destroy(c);
}

// A node in the middle of the path reports its queue or a drop with the stack so far.
static void reports_from_the_middle_change_no_path(void **state)
{
	static const struct {
		uint8_t at, bit;
		uint64_t flows;
	} kinds[] = {{3, 0x80, 1}, {2, 0x01, 2}}; // Q; D, whose flow stands beside
	struct hs_collect_config config = config_50();
	struct hs_collect_flow flows[3];
	struct bytes b;

	(void)state;
	open_with(&config);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t cursor = 0;
		put_report(&b, 2, ++sequence, 6000, usual + 1, N - 1);
		b.at[kinds[i].at] |= kinds[i].bit;
		forget();
		take(c, b.at, b.n, (2 * i + 2) * SECOND);
		assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 0);
		check_flow(N, false);
		assert_int_equal(hs_collect_flows(c, &cursor, flows, 3), kinds[i].flows);
		send(usual, N, (2 * i + 3) * SECOND);
		assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_PATH), 0);
		assert_int_equal(count(HS_COLLECT_POINT_HOP, HS_COLLECT_PATH), 0);
	}
	done();
}

static void send_congested(const struct hop *hops, unsigned n, uint16_t bit, int64_t now_ns)
{
	struct bytes b;

	put_report(&b, hops[0].node, ++sequence, 6000, hops, n);
	b.at[3] |= 0x80;
	b.at[INT_AT] |= bit >> 8;
	forget();
	take(c, b.at, b.n, now_ns);
}

// The same limit of ten seconds as for packets that lack hops: then the path has become shorter.
static void a_path_of_which_only_the_begin_is_told_is_that(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	open_with(&config);
	for (int64_t i = 2; i < 12; i++) {
		send_congested(usual + 1, N - 1, i & 1 ? E : 0, i * SECOND);
		check_flow(N, false);
	}
	send_congested(usual + 1, N - 1, E, 12 * SECOND);
	check_flow(N - 1, true);
	send_congested(usual + 2, 1, 0, 13 * SECOND); // in the middle of a part
	check_flow(N - 1, true);
	send(usual, N, 14 * SECOND);
	check_flow(N, false);
	done();
}

// A report of a drop is of its reporter, also in one burst with others like it.
static void drops_of_one_burst_are_of_their_reporters(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_datagram datagrams[2];
	struct hs_collect_flow flows[3];
	struct bytes b[2];
	uint64_t cursor = 0;

	(void)state;
	c = collector(&config);
	for (unsigned i = 0; i < 2; i++) {
		put_report(&b[i], 2 + i, 1, 6000, usual + 1, N - 1);
		b[i].at[2] |= 0x01;
		datagrams[i] = (struct hs_collect_datagram){
				.bytes = b[i].at, .len = (uint32_t)b[i].n, .is_ipv4 = true};
	}
	hs_collect_take(c, datagrams, 2, SECOND);
	assert_int_equal(hs_collect_flows(c, &cursor, flows, 3), 2);
	assert_int_equal(flows[0].key.reporter + flows[1].key.reporter, 2 + 3);
	done();
}

// 2.0: a report of node 3 with ports 7 and another, and a utilisation of 9.
#define PORTS_2_0                                                                                  \
	"2000000100000003100402004100000000000000"                                                 \
	"0007"
#define UTILISATION_2_0 "00000009"

// A port number of all ones is none.
static void a_port_that_is_not_known_is_no_link(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_link link;
	uint64_t cursor = 0;

	(void)state;
	c = collector(&config);
	take_hex(c, PORTS_2_0 "ffff" UTILISATION_2_0, SECOND);
	assert_int_equal(hs_collect_links(c, &cursor, &link, 1), 0);
	take_hex(c, PORTS_2_0 "0008" UTILISATION_2_0, SECOND);
	cursor = 0;
	assert_int_equal(hs_collect_links(c, &cursor, &link, 1), 1);
	assert_int_equal(link.port, 8);
	done();
}

// In each period everything once, spread; what was pushed is what the next value is compared with.
static void push(void **state)
{
	struct hs_collect_config config = config_50();
	struct hop hops[N];
	int64_t now = SECOND, first;

	(void)state;
	config.push_ns = 6 * SECOND;
	open_with(&config); // a flow, and three each of queues and links
	memcpy(hops, usual, sizeof(hops));
	hops[0].latency = 340;
	send(hops, N, now);
	first = hs_collect_push(c, now, 100);
	assert_int_equal(first, now + 2 * SECOND); // the first of three in 6 s
	assert_int_equal(told.n_points, 0);
	hs_collect_push(c, now + 2 * SECOND, 100);
	assert_int_equal(told.n_points, 2);
	for (unsigned i = 3; i <= 6; i++)
		hs_collect_push(c, now + i * SECOND, 100);
	assert_int_equal(told.n_points, 1 + 3 * N);
	assert_int_equal(count(HS_COLLECT_POINT_HOP, HS_COLLECT_PUSH), N);
	assert_int_equal(point_of(HS_COLLECT_POINT_HOP, 3, 2)->value, 340);
	hops[0].latency = 391; // 91 from the last change, 51 from the push
	send(hops, N, 7 * SECOND);
	assert_int_equal(point_of(HS_COLLECT_POINT_HOP, 3, 2)->before, 340);
	forget();
	assert_int_equal(hs_collect_push(c, 13 * SECOND, 2), 13 * SECOND);
	assert_int_equal(told.n_events, 2);
	assert_int_equal(hs_collect_push(c, 13 * SECOND, 100), 15 * SECOND);
	assert_int_equal(told.n_events, 7);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(nothing_changed),
			cmocka_unit_test(thresholds),
			cmocka_unit_test(relative_thresholds),
			cmocka_unit_test(intervals),
			cmocka_unit_test(gap),
			cmocka_unit_test(gap_after_a_clock_was_set_back),
			cmocka_unit_test(other_path),
			cmocka_unit_test(shorter_path),
			cmocka_unit_test(latency_after_a_path_without_one),
			cmocka_unit_test(a_latency_that_is_not_told_stays_in_the_sum),
			cmocka_unit_test(packets_that_lack_hops_change_no_path),
			cmocka_unit_test(a_path_that_always_lacks_hops_is_marked),
			cmocka_unit_test(a_path_that_no_report_tells_is_marked),
			cmocka_unit_test(a_path_is_whole_when_a_packet_says_so),
			cmocka_unit_test(the_same_hops_may_be_a_part),
			cmocka_unit_test(node_ids_alone_say_it_too),
			cmocka_unit_test(shared_values),
			cmocka_unit_test(sixty_four_hops),
			cmocka_unit_test(sixty_four_and_the_reporter),
			cmocka_unit_test(reports_from_the_middle_change_no_path),
			cmocka_unit_test(a_path_of_which_only_the_begin_is_told_is_that),
			cmocka_unit_test(drops_of_one_burst_are_of_their_reporters),
			cmocka_unit_test(a_port_that_is_not_known_is_no_link),
			cmocka_unit_test(push),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
