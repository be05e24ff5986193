// SPDX-License-Identifier: BSD-3-Clause
// Egress queues: departures, depth and tail drop against an independent count; the packets of a
// node that wait in them.
#include "egress_model.h"
#include "fixture.h"

static void compare_random(uint64_t rate_bps, uint32_t limit, uint64_t seed, unsigned packets)
{
	struct model *model = calloc(1, sizeof(*model));
	struct queue q;
	struct hs_rng rng;
	int64_t now_ns = NOW;
	uint32_t depth;

	hs_rng_init(&rng, seed);
	queue_open(&q, rate_bps, limit);
	model->rate_bps = rate_bps;
	model->limit = limit;
	int64_t pause_ns = (int64_t)(UINT64_C(10000000000) * limit / rate_bps) * 500;
	for (unsigned i = 0; i < packets; i++) {
		uint32_t bytes = 60 + hs_rng_u32(&rng) % 9000;
		if (hs_rng_u32(&rng) % 4 == 0)
			now_ns += (int64_t)(hs_rng_u32(&rng) / 4294967296.0 * (double)pause_ns);
		int64_t want_ns = model_take(model, now_ns, bytes, &depth);
		assert_int_equal(queue_take(&q, now_ns, bytes), want_ns >= 0);
		if (want_ns >= 0) {
			assert_int_equal(q.own->depth, depth);
			assert_int_equal(queue_departs_ns(&q), want_ns);
		}
		queue_end(&q);
	}
	queue_close(&q);
	free(model);
}

static void test_departure_and_depth_are_exact(void **state)
{
	(void)state;
	compare_random(999999937, 1, 1, 20000);
	compare_random(999999937, 7, 2, 20000);
	compare_random(1000, 100, 3, 20000);
	compare_random(HS_PORT_RATE_MAX, 64, 4, 20000);
	compare_random(10000000000, 300, 5, 20000);
	compare_random(3, 20, 6, 2000);
}

// Always busy: time goes on to when the packet before the newest has departed.
static void stay_busy(uint64_t rate_bps, unsigned packets, uint32_t least)
{
	int64_t now_ns = NOW, newest_ns = NOW;
	uint64_t bytes = 0;
	struct queue q;

	queue_open(&q, rate_bps, 10);
	for (unsigned i = 0; i < packets; i++) {
		assert_true(queue_take(&q, now_ns, least + i % 1437));
		queue_end(&q);
		bytes += least + i % 1437;
		now_ns = newest_ns;
		newest_ns = queue_departs_ns(&q);
		assert_int_equal(newest_ns - NOW, (int64_t)((wide)bytes * 8000000000 / rate_bps));
	}
	queue_close(&q);
}

static void test_a_million_packets_take_their_time(void **state)
{
	(void)state;
	stay_busy(1234567891, 1000000, 64);
	stay_busy(999999999989, 1000000, 8000); // where a fraction counts most
	stay_busy(HS_PORT_RATE_MAX, 1000000, 64);
	stay_busy(400000000000, 1000000, 64);
}

// At the slowest rate, the longest queue of the longest packets needs 17 years.
static void test_the_longest_queue_fits_the_time(void **state)
{
	const uint32_t bytes = UINT16_MAX;
	int64_t before_ns = NOW;
	struct queue q;

	(void)state;
	queue_open(&q, HS_PORT_RATE_MIN, HS_PORT_QUEUE_MAX);
	for (uint32_t i = 0; i <= HS_PORT_QUEUE_MAX; i++) {
		assert_true(queue_take(&q, NOW, bytes));
		assert_int_equal(queue_departs_ns(&q) - before_ns, bytes * INT64_C(8000000));
		assert_int_equal(q.own->depth, i);
		before_ns = queue_departs_ns(&q);
		queue_end(&q);
	}
	assert_false(queue_take(&q, NOW, 60));
	queue_end(&q);
	queue_close(&q);
}

static void test_a_place_is_given_back(void **state)
{
	struct queue q;

	(void)state;
	queue_open(&q, 8000000, 4); // a byte takes 1 us
	assert_true(queue_take(&q, NOW, 100));
	assert_int_equal(queue_departs_ns(&q), NOW + 100000);
	assert_true(hs_egress_take(q.own, 60)); // the packet got other bytes in the end
	assert_int_equal(queue_departs_ns(&q), NOW + 60000);
	assert_int_equal(hs_egress_depth(q.egress), 1);
	hs_egress_give_back(q.own);
	assert_int_equal(hs_egress_depth(q.egress), 0);
	hs_egress_give_back(q.own);
	assert_true(hs_egress_take(q.own, 10));
	assert_int_equal(queue_departs_ns(&q), NOW + 10000);
	queue_end(&q);
	queue_close(&q);
}

// Places that a run did not need are no other run's.
static void test_no_place_is_left_after_a_run(void **state)
{
	struct queue q;

	(void)state;
	queue_open(&q, 8000000, 4);
	q.egress->shared = true;
	hs_egress_open(q.worker, &q.port, NOW, 2);
	hs_egress_close(q.own);
	assert_false(hs_egress_fits(q.own));
	assert_false(hs_egress_take(q.own, 100));
	assert_int_equal(hs_egress_depth(q.egress), 0);
	assert_int_equal(q.egress->lock, 0);
	assert_int_equal(q.egress->reserved, 0);
	queue_close(&q);
}

// Another worker was faster: the port's time stays.
static void test_time_does_not_go_back(void **state)
{
	struct queue q;

	(void)state;
	queue_open(&q, 8000000, 4);
	assert_true(queue_take(&q, NOW, 100));
	queue_end(&q);
	assert_true(queue_take(&q, NOW - 1000000000, 100));
	assert_int_equal(q.own->depth, 1);
	assert_int_equal(queue_departs_ns(&q), NOW + 200000);
	queue_end(&q);
	queue_close(&q);
}

// ---- packets of a node ----

#define BYTE_NS	  1000 // at 8 Mb/s
#define PLAIN_LEN 70

static struct fixture *open_queued(const enum hs_port_side *sides, unsigned n_ports,
		uint32_t queue_packets, struct hs_node_config config)
{
	for (unsigned p = 1; p < n_ports; p++) {
		test_port_configs[p].rate_bps = 8000000;
		test_port_configs[p].queue_packets = queue_packets;
	}
	struct fixture *f = fixture_open(sides, n_ports, 1500, config);
	memset(test_port_configs, 0, sizeof(test_port_configs));
	return f;
}

static void run_at(struct fixture *f, int64_t ns)
{
	hs_clock_set(f->clock, NOW + ns);
	test_node_run(&f->t);
	test_node_audit(&f->t);
}

static struct hs_port_counters port(struct fixture *f, uint16_t index)
{
	struct hs_port_counters c;

	hs_node_port_counters(f->t.node, index, &c);
	return c;
}

// Sends what waits, so that the fixture gets its buffers back.
static void drain(struct fixture *f)
{
	uint8_t frame[2048];

	hs_clock_set(f->clock, NOW + INT64_C(10000000000));
	test_node_run(&f->t);
	for (unsigned p = 0; p < f->t.n_ports; p++) {
		assert_int_equal(port(f, (uint16_t)p).queued, 0);
		while (test_node_take(&f->t, p, frame, sizeof(frame)))
			;
	}
	fixture_close(f);
}

static void test_packets_leave_when_they_are_due(void **state)
{
	struct fixture *f = open_queued(SOURCE_SIDES, 2, 3, (struct hs_node_config){.id = 1});

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		feed_hex(f, 0, PLAIN);
	assert_true(hs_node_worker_due_ns(f->t.node, 0) == INT64_MAX);
	run_at(f, 0);
	assert_int_equal(f->t.ports[1].n_out, 0);
	assert_int_equal(port(f, 1).queued, 4); // one is being sent, three wait
	assert_int_equal(drops(f, 1, HS_DROP_QUEUE_FULL), 2);
	assert_int_equal(port(f, 1).offered, 6);
	assert_int_equal(hs_node_depth_max(f->t.node, 1), 3);
	for (unsigned i = 1; i <= 4; i++) {
		run_at(f, i * PLAIN_LEN * BYTE_NS - 1);
		assert_int_equal(f->t.ports[1].n_out, i - 1);
		assert_int_equal(hs_node_worker_due_ns(f->t.node, 0), 1);
		run_at(f, i * PLAIN_LEN * BYTE_NS);
		assert_int_equal(f->t.ports[1].n_out, i);
		assert_int_equal(port(f, 1).tx_packets, i);
		assert_int_equal(port(f, 1).queued, 4 - i);
	}
	assert_true(hs_node_worker_due_ns(f->t.node, 0) == INT64_MAX);
	for (unsigned i = 0; i < 4; i++)
		expect_hex(f, 1, PLAIN);
	fixture_close(f);
}

// A burst that comes when the first packet has gone finds exactly its place.
static void test_tail_drop_is_at_the_limit(void **state)
{
	struct fixture *f = open_queued(SOURCE_SIDES, 2, 1, (struct hs_node_config){.id = 1});

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		feed_hex(f, 0, PLAIN);
	run_at(f, 0);
	feed_hex(f, 0, PLAIN);
	run_at(f, PLAIN_LEN * BYTE_NS - 1);
	assert_int_equal(drops(f, 1, HS_DROP_QUEUE_FULL), 1);
	feed_hex(f, 0, PLAIN);
	run_at(f, PLAIN_LEN * BYTE_NS);
	assert_int_equal(drops(f, 1, HS_DROP_QUEUE_FULL), 1);
	assert_int_equal(port(f, 1).queued, 2);
	drain(f);
}

static void test_dropped_packets_are_not_counted_as_sent(void **state)
{
	struct fixture *f = open_queued(SOURCE_SIDES, 2, 2, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);
	struct hs_decoded telemetry;

	(void)state;
	test_node_rule(&f->t, &rule);
	for (unsigned i = 0; i < 8; i++)
		feed_hex(f, 0, PLAIN);
	run_at(f, 0);
	assert_int_equal(counters(f, 7).rx_packets, 8);
	assert_int_equal(counters(f, 7).tx_packets, 3);
	assert_int_equal(counters(f, 7).int_packets, 3);
	// The departure counts the bytes of telemetry.
	int64_t due_ns = hs_node_worker_due_ns(f->t.node, 0);
	assert_true(due_ns > PLAIN_LEN * BYTE_NS);
	run_at(f, due_ns);
	assert_int_equal(f->t.ports[1].n_out, 1);
	assert_int_equal(rte_pktmbuf_pkt_len(f->t.ports[1].out[0]) * BYTE_NS, due_ns);
	take_telemetry(f, 1, &telemetry);
	drain(f);
}

static void test_at_a_host_port(void **state)
{
	struct fixture *f = open_queued(SINK_SIDES, 2, 1, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);

	(void)state;
	test_node_rule(&f->t, &rule);
	for (unsigned i = 0; i < 3; i++)
		feed_hex(f, 0, WITH_TELEMETRY);
	run_at(f, 0);
	struct hs_flow_counters counted = counters(f, 7);
	assert_int_equal(counted.rx_packets, 3);
	assert_int_equal(counted.tx_packets, 2);
	assert_int_equal(counted.tx_bytes, counted.rx_bytes / 3 * 2);
	assert_int_equal(drops(f, 1, HS_DROP_QUEUE_FULL), 1);
	assert_int_equal(hs_node_worker_due_ns(f->t.node, 0), PLAIN_LEN * BYTE_NS);
	drain(f);
}

static void test_nothing_moves_while_paused(void **state)
{
	struct fixture *f = open_queued(SOURCE_SIDES, 2, 3, (struct hs_node_config){.id = 1});

	(void)state;
	feed_hex(f, 0, PLAIN);
	run_at(f, 0);
	hs_node_pause(f->t.node);
	run_at(f, 10 * PLAIN_LEN * BYTE_NS);
	assert_int_equal(f->t.ports[1].n_out, 0);
	assert_int_equal(port(f, 1).queued, 1);
	hs_node_resume(f->t.node);
	run_at(f, 10 * PLAIN_LEN * BYTE_NS);
	assert_int_equal(f->t.ports[1].n_out, 1);
	drain(f);
}

static void test_what_waits_is_dropped_and_counted(void **state)
{
	struct fixture *f = open_queued(SOURCE_SIDES, 2, 3, (struct hs_node_config){.id = 1});

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		feed_hex(f, 0, PLAIN);
	run_at(f, 0);
	f->t.ports[1].port.usable = false; // gone: what is due ends there
	run_at(f, PLAIN_LEN * BYTE_NS);
	assert_int_equal(drops(f, 1, HS_DROP_PORT_DOWN), 1);
	assert_int_equal(port(f, 1).queued, 2);
	f->t.ports[1].port.usable = true;
	f->t.ports[1].accepts = 0; // its device takes nothing
	run_at(f, 2 * PLAIN_LEN * BYTE_NS);
	assert_int_equal(drops(f, 1, HS_DROP_TX_FULL), 1);
	hs_node_drop_queued(f->t.node); // the node stops
	assert_int_equal(drops(f, 1, HS_DROP_PORT_DOWN), 2);
	assert_int_equal(port(f, 1).queued, 0);
	fixture_close(f);
}

static void test_a_node_that_ends_frees_what_waits(void **state)
{
	struct fixture *f = open_queued(SOURCE_SIDES, 2, 3, (struct hs_node_config){.id = 1});

	(void)state;
	feed_hex(f, 0, PLAIN);
	run_at(f, 0);
	fixture_close(f); // checks that no buffer is missing
}

static void test_flooded_packets_wait_at_each_port(void **state)
{
	struct fixture *f = open_queued(BRIDGE_SIDES, 4, 1,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		feed_hex(f, 0, PLAIN);
	run_at(f, 0);
	for (uint16_t p = 1; p < 4; p++) {
		assert_int_equal(port(f, p).queued, 2);
		assert_int_equal(drops(f, p, HS_DROP_QUEUE_FULL), 1);
	}
	run_at(f, PLAIN_LEN * BYTE_NS);
	for (unsigned p = 1; p < 4; p++)
		assert_int_equal(f->t.ports[p].n_out, 1);
	drain(f);
}

static void test_more_than_a_burst_is_due_at_once(void **state)
{
	struct fixture *f = open_queued(SOURCE_SIDES, 2, 60, (struct hs_node_config){.id = 1});

	(void)state;
	for (unsigned i = 0; i < 50; i++)
		feed_hex(f, 0, PLAIN);
	run_at(f, 0);
	run_at(f, 50 * PLAIN_LEN * BYTE_NS);
	assert_int_equal(f->t.ports[1].n_out, 50);
	drain(f);
}

// ---- what telemetry writes ----

static void test_values_of_a_packet(void **state)
{
	struct fixture *f = open_queued(SOURCE_SIDES, 2, 4, (struct hs_node_config){.id = 1});
	struct hs_egress_values values;
	struct queue q;

	(void)state;
	queue_open(&q, 8000000, 4);
	struct hs_burst *burst = &q.worker->burst;
	q.worker->pool = f->pool;
	burst->now_ns = NOW;
	burst->stepped_ns = 500; // of NOW
	hs_egress_open(q.worker, &q.port, hs_burst_steady_ns(burst), 6);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(hs_egress_read(q.worker, burst, &q.port, 100, &values));
		q.own->bytes = 0; // the packet goes on
		q.own->places--;
		assert_int_equal(values.depth, i);
		assert_int_equal(values.congestion, i * 2500);
		assert_int_equal(values.departs_ns, NOW + (i + 1) * 100 * BYTE_NS);
		assert_int_equal(values.utilisation, 0);
		assert_int_equal(values.buffer, 0);
	}
	assert_false(hs_egress_read(q.worker, burst, &q.port, 100, &values));
	hs_egress_close(q.own);
	q.worker->egress[0] = NULL;
	assert_false(hs_egress_read(q.worker, burst, &q.port, 100, &values));
	queue_close(&q);
	fixture_close(f);
}

// Every other 100 us, the port sends.
static void test_utilisation_is_a_moving_average(void **state)
{
	struct queue q;

	(void)state;
	queue_open(&q, 8000000, 4);
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(queue_take(&q, NOW + i * 200000, 100));
		queue_end(&q);
	}
	hs_egress_advance(q.egress, NOW + 1000 * 200000);
	assert_true(q.egress->busy > 0.494 && q.egress->busy < 0.506);
	hs_egress_advance(q.egress, NOW + 1000 * 200000 + HS_EGRESS_AVERAGE_NS);
	assert_true(q.egress->busy > 0.5 * 0.36 && q.egress->busy < 0.5 * 0.375);
	int64_t late_ns = NOW + 1000 * 200000 + 100 * (int64_t)HS_EGRESS_AVERAGE_NS;
	hs_egress_advance(q.egress, late_ns);
	assert_true(q.egress->busy < 1e-9);
	for (unsigned i = 0; i < 5; i++) { // 400 ms
		assert_true(queue_take(&q, late_ns, 80000));
		queue_end(&q);
	}
	hs_egress_advance(q.egress, queue_departs_ns(&q));
	assert_true(q.egress->busy > 0.9999 && q.egress->busy <= 1);
	queue_close(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_departure_and_depth_are_exact),
			cmocka_unit_test(test_a_million_packets_take_their_time),
			cmocka_unit_test(test_a_place_is_given_back),
			cmocka_unit_test(test_no_place_is_left_after_a_run),
			cmocka_unit_test(test_the_longest_queue_fits_the_time),
			cmocka_unit_test(test_time_does_not_go_back),
			cmocka_unit_test(test_packets_leave_when_they_are_due),
			cmocka_unit_test(test_tail_drop_is_at_the_limit),
			cmocka_unit_test(test_dropped_packets_are_not_counted_as_sent),
			cmocka_unit_test(test_at_a_host_port),
			cmocka_unit_test(test_nothing_moves_while_paused),
			cmocka_unit_test(test_what_waits_is_dropped_and_counted),
			cmocka_unit_test(test_a_node_that_ends_frees_what_waits),
			cmocka_unit_test(test_flooded_packets_wait_at_each_port),
			cmocka_unit_test(test_more_than_a_burst_is_due_at_once),
			cmocka_unit_test(test_values_of_a_packet),
			cmocka_unit_test(test_utilisation_is_a_moving_average),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests_name("egress queues", tests, NULL, NULL);
}
