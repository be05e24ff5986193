// SPDX-License-Identifier: BSD-3-Clause
// What a source puts into packets for control: in-band requests before telemetry, and reports on
// their way back.
#include "bytes.h"
#include "fixture.h"
#include "flow_pending.h"

#include <pthread.h>
#include <sched.h>

// flex-request-hbh: the Hop-by-Hop header of the reference's in-band request, 160 bytes.
#define REQUEST_HBH                                                                                \
	"11133296a16b696e745f72657175657374aa656e735f696407666170705f696401667372635f69706b3230"   \
	"30313a6462383a3a31666473745f69706b323030313a6462383a3a32687372635f706f727400686473745f"   \
	"706f72741913896870726f746f636f6c637564706a74726163655f747970656a307837303030453030306"    \
	"46d6f646565636f756e746c6d6f64655f73657474696e671864010400000000"
#define REQUEST_OPTION_BYTES 152
#define UDP_INTDATA	     "1234138900105e94494e544441544121"
#define ADDRESSES	     "20010db800000000000000000000000120010db8000000000000000000000002"
#define WITH_REQUEST	     ETHERNET "6000000000b00040" ADDRESSES REQUEST_HBH UDP_INTDATA

static struct fixture *open_source(uint16_t mtu, unsigned n_workers)
{
	struct hs_node_config config = {.layout = HS_LAYOUT_PAPER, .n_workers = n_workers};
	return fixture_open(SOURCE_SIDES, 2, mtu, config);
}

static uint32_t slot_of(struct fixture *f, uint32_t ns_id)
{
	return hs_flow_table_find(hs_node_flows(f->t.node), ns_id);
}

static struct hs_flow_pending *pending_of(struct fixture *f, uint32_t slot)
{
	struct hs_flow_pending *pending = hs_flow_table_pending(hs_node_flows(f->t.node), slot);
	assert_non_null(pending);
	return pending;
}

static void make_ready(struct fixture *f, uint32_t slot, const void *bytes, size_t n)
{
	struct hs_flow_pending *pending = pending_of(f, slot);

	memcpy(pending->bytes, bytes, n);
	pending->n_bytes = (uint16_t)n;
	pending->refused = 0;
	pending->state = HS_PENDING_READY;
	hs_flow_table_pending_set(hs_node_flows(f->t.node), slot, true);
}

static void make_request_ready(struct fixture *f, uint32_t slot)
{
	uint8_t hbh[160];

	assert_int_equal(unhex(REQUEST_HBH, hbh), sizeof(hbh));
	make_ready(f, slot, hbh + 2, REQUEST_OPTION_BYTES);
}

// The rule of the vectors, whose telemetry waits for its request.
static uint32_t install_in_band(struct fixture *f, uint32_t ns_id)
{
	struct hs_rule rule = vector_rule(ns_id);

	rule.in_band = true;
	test_node_rule(&f->t, &rule);
	return slot_of(f, ns_id);
}

static uint32_t install_counting(struct fixture *f, uint32_t every)
{
	struct hs_rule rule = vector_rule(7);

	rule.mode_setting = every;
	test_node_rule(&f->t, &rule);
	return slot_of(f, 7);
}

// A report of `bytes` bytes that waits for a packet, the k-th.
static void make_report_ready(struct fixture *f, uint32_t slot, unsigned k, uint8_t bytes)
{
	struct hs_flow_pending *load = hs_flow_table_load(hs_node_flows(f->t.node), slot, k);

	assert_non_null(load);
	memset(load->bytes, 0, bytes);
	load->bytes[0] = HS_OPT_REPORT;
	load->bytes[1] = (uint8_t)(bytes - 2);
	load->bytes[2] = (uint8_t)k;
	load->n_bytes = bytes;
	load->serial = k;
	load->state = HS_PENDING_READY;
	load->of->n_ready++;
	hs_flow_table_pending_set(hs_node_flows(f->t.node), slot, true);
}

// Feeds n of the vectors' packets; a letter for what each carried: t elemetry, r equest or report,
// b oth, or none.
static void expect_carried(struct fixture *f, const char *letters)
{
	for (; *letters; letters++) {
		uint8_t frame[2048];
		struct hs_packet p;
		feed_hex(f, 0, PLAIN);
		test_node_run(&f->t);
		size_t len = test_node_take(&f->t, 1, frame, sizeof(frame));
		assert_int_not_equal(len, 0);
		hs_flexint_parse(frame, len, len, &p);
		bool signal = p.flags & HS_PACKET_PUNT;
		char with = signal ? 'b' : 't', without = signal ? 'r' : '.';
		char is = p.flags & HS_PACKET_TELEMETRY ? with : without;
		assert_int_equal(is, *letters);
	}
}

static size_t udp_frame(uint8_t *frame, size_t len)
{
	size_t short_len = unhex(PLAIN, frame);

	memset(frame + short_len, 0x5a, len - short_len);
	hs_be16_store(frame + 18, (uint16_t)(len - 54));
	return len;
}

static void a_request_goes_out_in_the_first_packet_and_telemetry_in_the_second(void **state)
{
	struct fixture *f = open_source(1500, 1);
	(void)state;
	uint32_t slot = install_in_band(f, 7);
	make_request_ready(f, slot);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_REQUEST);
	assert_int_equal(pending_of(f, slot)->state, HS_PENDING_SENT);
	assert_int_equal(pending_of(f, slot)->sent_ns, NOW);
	assert_int_equal(counters(f, 7).int_packets, 0);
	assert_int_equal(counters(f, 7).last_int_ns, 0);
	assert_int_equal(counters(f, 7).tx_bytes, 14 + 56);
	hs_clock_set(f->clock, NOW + 5);
	expect_carried(f, "tt");
	assert_int_equal(counters(f, 7).int_packets, 2);
	assert_int_equal(counters(f, 7).last_int_ns, NOW + 5);
	fixture_close(f);
}

static void telemetry_in_band_waits_for_its_request_however_late_that_is(void **state)
{
	struct fixture *f = open_source(1500, 1);
	(void)state;
	uint32_t slot = install_in_band(f, 7);
	expect_carried(f, "..");
	pending_of(f, slot); // made, not yet filled
	expect_carried(f, "..");
	make_request_ready(f, slot);
	expect_carried(f, "rtt");
	make_request_ready(f, slot); // a repeat: nothing waits for it
	pending_of(f, slot)->holds_telemetry = false;
	expect_carried(f, "rtt");
	fixture_close(f);
}

static void a_request_waits_for_a_packet_that_it_fits(void **state)
{
	struct fixture *f = open_source(300, 1);
	uint8_t frame[2048];
	(void)state;
	uint32_t slot = install_in_band(f, 7);
	make_request_ready(f, slot);
	for (unsigned i = 0; i < 3; i++) {
		size_t len = udp_frame(frame, 54 + 141);
		test_node_feed(&f->t, 0, frame, len, 0);
		test_node_run(&f->t);
		uint8_t got[2048];
		assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), len);
		assert_memory_equal(got, frame, len);
	}
	assert_int_equal(pending_of(f, slot)->state, HS_PENDING_READY);
	assert_int_equal(pending_of(f, slot)->refused, 3);
	assert_int_equal(counters(f, 7).no_room_mtu, 3);
	assert_int_equal(counters(f, 7).mtu_needed, 40 + 141 + 160);
	assert_int_equal(event(f, 0, HS_EVENT_NO_ROOM_MTU), 3);
	// One byte less than it needs, and just enough.
	test_node_feed(&f->t, 0, frame, udp_frame(frame, 54 + 101), 0);
	test_node_feed(&f->t, 0, frame, udp_frame(frame, 54 + 100), 0);
	test_node_run(&f->t);
	assert_int_equal(test_node_take(&f->t, 1, frame, sizeof(frame)), 54 + 101);
	assert_int_equal(test_node_take(&f->t, 1, frame, sizeof(frame)), 54 + 100 + 160);
	assert_int_equal(pending_of(f, slot)->state, HS_PENDING_SENT);
	fixture_close(f);
}

static void where_telemetry_need_not_wait_it_goes_on_beside_what_does_not_fit(void **state)
{
	struct fixture *f = open_source(200, 1);
	(void)state;
	uint32_t slot = install_counting(f, 2);
	make_request_ready(f, slot);
	expect_carried(f, "t.t.");
	assert_int_equal(pending_of(f, slot)->refused, 4);
	fixture_close(f);
}

static void a_packet_with_an_offer_leaves_the_telemetry_it_was_due_to_the_next(void **state)
{
	struct fixture *f = open_source(1500, 1);
	(void)state;
	uint32_t slot = install_counting(f, 3);
	expect_carried(f, "t..t..");
	make_request_ready(f, slot);
	expect_carried(f, "rt..t.");
	make_request_ready(f, slot);
	expect_carried(f, "rt..t..t");
	fixture_close(f);
}

static void a_burst_takes_as_many_loads_of_reports_as_are_ready_in_their_order(void **state)
{
	struct fixture *f = open_source(1500, 1);
	uint8_t frame[2048];
	(void)state;
	uint32_t slot = install_counting(f, 1000000);
	expect_carried(f, "t"); // the first of all
	for (unsigned k = 3; k-- > 0;)
		make_report_ready(f, slot, k, 64);
	for (unsigned i = 0; i < 4; i++)
		feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	for (unsigned i = 0; i < 4; i++) {
		struct hs_packet p;
		size_t len = test_node_take(&f->t, 1, frame, sizeof(frame));
		hs_flexint_parse(frame, len, len, &p);
		assert_int_equal(!!(p.flags & HS_PACKET_REPORT), i < 3);
		if (i < 3)
			assert_int_equal(frame[58], i);
	}
	fixture_close(f);
}

static void a_packet_with_room_takes_reports_and_telemetry(void **state)
{
	struct fixture *f = open_source(1500, 1);
	(void)state;
	uint32_t slot = install_counting(f, 2);
	for (unsigned k = 0; k < 4; k++)
		make_report_ready(f, slot, k, 64);
	expect_carried(f, "brbrt.t.");
	assert_int_equal(counters(f, 7).int_packets, 4);
	// A request stays alone.
	make_request_ready(f, slot);
	make_report_ready(f, slot, 0, 64);
	expect_carried(f, "rb.");
	fixture_close(f);
}

// 56 bytes of packet, 66 of reports and their header, 48 of telemetry.
static void without_room_for_both_they_take_turns(void **state)
{
	struct fixture *f = open_source(150, 1);
	(void)state;
	uint32_t slot = install_counting(f, 1);
	for (unsigned k = 0; k < 4; k++)
		make_report_ready(f, slot, k, 64);
	expect_carried(f, "rtrtrtrttt");
	assert_int_equal(event(f, 0, HS_EVENT_NO_ROOM_MTU), 0);
	fixture_close(f);
}

static void while_an_offer_was_sent_and_none_is_ready_every_mode_goes_on(void **state)
{
	struct fixture *f = open_source(1500, 1);
	struct hs_error err = {0};
	struct hs_rule_update update = {.rows = HS_RULE_BIT(MODE) | HS_RULE_BIT(MODE_SETTING)};
	(void)state;
	uint32_t slot = install_counting(f, 2);
	make_request_ready(f, slot);
	expect_carried(f, "rt.t.");
	update.to.mode = HS_MODE_FREQUENCY; // an update leaves the pending options standing
	update.to.mode_setting = 10;
	assert_int_equal(hs_flow_table_update(hs_node_flows(f->t.node), 7, &update, &err), 0);
	expect_carried(f, "t..");
	hs_clock_set(f->clock, NOW + 10000000);
	expect_carried(f, "t.");
	update.to.mode = HS_MODE_PROBABILITY;
	update.to.mode_setting = 100;
	assert_int_equal(hs_flow_table_update(hs_node_flows(f->t.node), 7, &update, &err), 0);
	expect_carried(f, "ttt");
	make_request_ready(f, slot);
	expect_carried(f, "rt");
	hs_flow_table_pending_set(hs_node_flows(f->t.node), slot, false);
	pending_of(f, slot)->state = HS_PENDING_READY;
	expect_carried(f, "tt"); // nobody looks at it
	fixture_close(f);
}

// 232 bytes of option, the header 240 bytes: more than the headroom of 128.
static size_t long_request(uint8_t *option)
{
	option[0] = HS_OPT_REQUEST;
	option[1] = 230;
	for (unsigned i = 0; i < 230; i++)
		option[2 + i] = (uint8_t)i;
	return 232;
}

// The frame with the long request in it, put together by hand.
static size_t with_long_request(const uint8_t *frame, size_t len, uint8_t *want)
{
	memcpy(want, frame, 54);
	hs_be16_store(want + 18, (uint16_t)(len - 54 + 240));
	want[20] = 0;
	want[54] = IPPROTO_UDP;
	want[55] = 240 / 8 - 1;
	long_request(want + 56);
	memcpy(want + 56 + 232, (const uint8_t[]){1, 4, 0, 0, 0, 0}, 6);
	memcpy(want + 54 + 240, frame + 54, len - 54);
	return len + 240;
}

static void make_long_request_ready(struct fixture *f)
{
	uint8_t option[232];
	make_ready(f, install_in_band(f, 7), option, long_request(option));
}

// A packet of 1400 bytes as a driver with small buffers has it: nothing is free behind it.
static void feed_full_buffer(
		struct fixture *f, struct rte_mempool *pool, const uint8_t *frame, size_t len)
{
	struct test_port *in = &f->t.ports[0];
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), frame, len);
	assert_int_equal(rte_pktmbuf_tailroom(m), 0);
	m->hash.rss = 77;
	in->in[in->n_in++] = m;
}

static void expect_long_request(struct fixture *f, const uint8_t *frame, size_t len, unsigned segs)
{
	uint8_t want[2048], got[2048];

	with_long_request(frame, len, want);
	assert_int_equal(f->t.ports[1].n_out, 1);
	const struct rte_mbuf *m = f->t.ports[1].out[0];
	assert_int_equal(m->nb_segs, segs);
	assert_int_equal(rte_mbuf_check(m, 1, &(const char *){NULL}), 0);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), len + 240);
	assert_memory_equal(got, want, len + 240);
}

static void a_request_longer_than_the_headroom_moves_the_packet_to_the_tail(void **state)
{
	struct fixture *f = open_source(1640, 1);
	uint8_t frame[2048];
	size_t len = udp_frame(frame, 1400);
	(void)state;
	make_long_request_ready(f);
	test_node_feed(&f->t, 0, frame, len, 0);
	test_node_run(&f->t);
	expect_long_request(f, frame, len, 1);
	fixture_close(f);
}

static void without_room_at_either_end_the_headers_get_a_segment_of_their_own(void **state)
{
	struct fixture *f = open_source(1640, 1);
	struct rte_mempool *small = rte_pktmbuf_pool_create(
			"small", 7, 0, 0, RTE_PKTMBUF_HEADROOM + 1400, SOCKET_ID_ANY);
	uint8_t frame[2048];
	size_t len = udp_frame(frame, 1400);
	(void)state;
	make_long_request_ready(f);
	feed_full_buffer(f, small, frame, len);
	test_node_run(&f->t);
	assert_int_equal(f->t.ports[1].out[0]->hash.rss, 77);
	expect_long_request(f, frame, len, 2);
	// The next has telemetry in front, where there is room.
	expect_carried(f, "t");
	assert_int_equal(rte_mempool_avail_count(small), 7);
	rte_mempool_free(small);
	fixture_close(f);
}

static void a_chain_without_room_in_front_gets_one_segment_more(void **state)
{
	struct fixture *f = open_source(1640, 1);
	uint8_t frame[2048];
	size_t len = udp_frame(frame, 1400);
	(void)state;
	make_long_request_ready(f);
	test_node_feed(&f->t, 0, frame, len, 70);
	test_node_run(&f->t);
	expect_long_request(f, frame, len, 3);
	fixture_close(f);
}

static void a_port_that_takes_no_chains_lets_the_request_wait(void **state)
{
	struct fixture *f = open_source(1640, 1);
	struct rte_mempool *small = rte_pktmbuf_pool_create(
			"small", 7, 0, 0, RTE_PKTMBUF_HEADROOM + 1400, SOCKET_ID_ANY);
	uint8_t frame[2048], got[2048];
	size_t len = udp_frame(frame, 1400);
	(void)state;
	f->t.ports[1].port.tx_multi_seg = false;
	make_long_request_ready(f);
	feed_full_buffer(f, small, frame, len);
	test_node_run(&f->t);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), len);
	assert_memory_equal(got, frame, len);
	assert_int_equal(counters(f, 7).no_room_headroom, 1);
	assert_int_equal(event(f, 0, HS_EVENT_NO_ROOM_HEADROOM), 1);
	expect_carried(f, "rt");
	rte_mempool_free(small);
	fixture_close(f);
}

static void without_a_buffer_for_the_headers_the_packet_goes_as_it_is(void **state)
{
	struct fixture *f = open_source(1640, 1);
	struct rte_mempool *small = rte_pktmbuf_pool_create(
			"small", 7, 0, 0, RTE_PKTMBUF_HEADROOM + 1400, SOCKET_ID_ANY);
	struct rte_mbuf *taken[255];
	uint8_t frame[2048], got[2048];
	size_t len = udp_frame(frame, 1400);
	(void)state;
	make_long_request_ready(f);
	assert_int_equal(rte_pktmbuf_alloc_bulk(f->pool, taken, 255), 0);
	feed_full_buffer(f, small, frame, len);
	test_node_run(&f->t);
	rte_pktmbuf_free_bulk(taken, 255);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), len);
	assert_memory_equal(got, frame, len);
	assert_int_equal(pending_of(f, slot_of(f, 7))->refused, 1);
	assert_int_equal(counters(f, 7).no_room_headroom, 1);
	expect_carried(f, "rt");
	rte_mempool_free(small);
	fixture_close(f);
}

static void a_buffer_that_others_hold_lets_the_request_wait(void **state)
{
	struct fixture *f = open_source(1500, 1);
	(void)state;
	make_request_ready(f, install_in_band(f, 7));
	feed_hex(f, 0, PLAIN);
	struct rte_mbuf *m = f->t.ports[0].in[0];
	rte_mbuf_refcnt_update(m, 1);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	rte_pktmbuf_free(m);
	assert_int_equal(event(f, 0, HS_EVENT_NOT_CHANGEABLE), 1);
	expect_carried(f, "rt");
	fixture_close(f);
}

static void a_rule_that_goes_takes_its_offer_with_it(void **state)
{
	struct fixture *f = open_source(1500, 1);
	struct hs_error err = {0};
	(void)state;
	for (uint32_t i = 0; i < 200; i++) { // more than there are slots
		uint32_t slot = install_in_band(f, 7);
		assert_int_equal(pending_of(f, slot)->state, HS_PENDING_EMPTY);
		make_request_ready(f, slot);
		expect_carried(f, "rt");
		assert_int_equal(hs_flow_table_remove(hs_node_flows(f->t.node), 7, &err), 0);
		expect_carried(f, ".");
		hs_flow_table_reclaim(hs_node_flows(f->t.node));
	}
	fixture_close(f);
}

static void a_reverse_entry_takes_reports_back_and_shows_nowhere(void **state)
{
	struct fixture *f = open_source(1500, 1);
	struct hs_flow_table *flows = hs_node_flows(f->t.node);
	struct hs_rule forward = vector_rule(9);
	uint32_t slot, cursor = HS_FLOW_NONE;
	(void)state;
	// What comes from the other side, whose way back is the vectors' flow.
	memcpy(forward.src_ip, vector_rule(9).dst_ip, 16);
	memcpy(forward.dst_ip, vector_rule(9).src_ip, 16);
	forward.src_port = 5001;
	forward.dst_port = 0x1234;
	assert_int_equal(hs_flow_table_add_reverse(flows, &forward, &slot), 0);
	expect_carried(f, "..");
	make_request_ready(f, slot);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_REQUEST);
	expect_carried(f, "..");
	assert_int_equal(hs_flow_table_count(flows), 0);
	assert_null(hs_flow_table_rule(flows, slot));
	assert_false(hs_flow_table_next(flows, &cursor));
	hs_flow_table_remove_reverse(flows, slot);
	expect_carried(f, ".");
	fixture_close(f);
}

// ---- many workers ----

#define RACES 3000
#define RULES 24

struct race {
	struct fixture *f;
	_Atomic unsigned round;	  // that the workers may run
	_Atomic unsigned done[2]; // the last one that each has run
};

struct racer {
	struct race *race;
	unsigned worker;
};

static void *run_races(void *context)
{
	struct racer *r = context;

	for (unsigned i = 1; i <= RACES; i++) {
		while (r->race->round < i)
			sched_yield();
		hs_node_worker_poll(r->race->f->t.node, r->worker);
		r->race->done[r->worker] = i;
	}
	return NULL;
}

// Two workers, each with a host's port and the network's.
static struct fixture *open_two_sources(void)
{
	struct hs_node_config config = {
			.n_workers = 2, .rules = 64, .n_pairs = 2, .pairs = {{0, 2}, {1, 3}}};
	struct fixture *f = open_source(1500, 1);

	test_node_close(&f->t);
	test_node_open(&f->t, &config, BRIDGE_SIDES, 4, 1500, f->pool, f->clock);
	for (uint32_t k = 0; k < RULES; k++) {
		struct hs_rule rule = vector_rule(100 + k);
		rule.src_port = (uint16_t)(1000 + k);
		rule.mode_setting = 1000000;
		test_node_rule(&f->t, &rule);
	}
	return f;
}

// The same packets to both, one of each rule, and pending options for each.
static void feed_race(struct fixture *f)
{
	uint8_t frame[2048];
	size_t len = unhex(PLAIN, frame);

	for (uint32_t k = 0; k < RULES; k++) {
		hs_be16_store(frame + 54, (uint16_t)(1000 + k));
		test_node_feed(&f->t, 0, frame, len, 0);
		test_node_feed(&f->t, 1, frame, len, 0);
		make_request_ready(f, slot_of(f, 100 + k));
	}
}

static void expect_one_each(struct fixture *f)
{
	for (uint32_t k = 0; k < RULES; k++) {
		unsigned carried = 0;
		for (unsigned port = 2; port < 4; port++) {
			uint8_t frame[2048];
			carried += test_node_take(&f->t, port, frame, sizeof(frame)) > 200;
		}
		assert_int_equal(carried, 1);
		assert_int_equal(pending_of(f, slot_of(f, 100 + k))->state, HS_PENDING_SENT);
	}
}

static void of_workers_that_race_for_an_offer_one_takes_it(void **state)
{
	struct race race = {.f = open_two_sources()};
	struct racer racers[2];
	pthread_t threads[2];
	(void)state;
	for (unsigned w = 0; w < 2; w++) {
		racers[w] = (struct racer){.race = &race, .worker = w};
		assert_int_equal(pthread_create(&threads[w], NULL, run_races, &racers[w]), 0);
	}
	for (unsigned i = 1; i <= RACES; i++) {
		feed_race(race.f);
		race.round = i;
		while (race.done[0] < i || race.done[1] < i)
			sched_yield();
		expect_one_each(race.f);
	}
	for (unsigned w = 0; w < 2; w++)
		pthread_join(threads[w], NULL);
	fixture_close(race.f);
}

int main(void)
{
	dpdk_env_init("64");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_request_goes_out_in_the_first_packet_and_telemetry_in_the_second),
			cmocka_unit_test(
					telemetry_in_band_waits_for_its_request_however_late_that_is),
			cmocka_unit_test(a_request_waits_for_a_packet_that_it_fits),
			cmocka_unit_test(
					where_telemetry_need_not_wait_it_goes_on_beside_what_does_not_fit),
			cmocka_unit_test(
					a_packet_with_an_offer_leaves_the_telemetry_it_was_due_to_the_next),
			cmocka_unit_test(
					a_burst_takes_as_many_loads_of_reports_as_are_ready_in_their_order),
			cmocka_unit_test(a_packet_with_room_takes_reports_and_telemetry),
			cmocka_unit_test(without_room_for_both_they_take_turns),
			cmocka_unit_test(
					while_an_offer_was_sent_and_none_is_ready_every_mode_goes_on),
			cmocka_unit_test(
					a_request_longer_than_the_headroom_moves_the_packet_to_the_tail),
			cmocka_unit_test(
					without_room_at_either_end_the_headers_get_a_segment_of_their_own),
			cmocka_unit_test(a_chain_without_room_in_front_gets_one_segment_more),
			cmocka_unit_test(a_port_that_takes_no_chains_lets_the_request_wait),
			cmocka_unit_test(without_a_buffer_for_the_headers_the_packet_goes_as_it_is),
			cmocka_unit_test(a_buffer_that_others_hold_lets_the_request_wait),
			cmocka_unit_test(a_rule_that_goes_takes_its_offer_with_it),
			cmocka_unit_test(a_reverse_entry_takes_reports_back_and_shows_nowhere),
			cmocka_unit_test(of_workers_that_race_for_an_offer_one_takes_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
