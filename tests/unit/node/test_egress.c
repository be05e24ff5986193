// SPDX-License-Identifier: BSD-3-Clause
// Egress queues: departures, depth and tail drop against an independent count; the packets of a
// node that wait in them.
#include "egress.h"
#include "fixture.h"
#include "rng.h"

#include <pthread.h>
#include <rte_malloc.h>

__extension__ typedef __int128 wide;

// ---- an independent count ----

#define MODEL_KEPT 4096

// Exact time in 1/rate of a nanosecond; all departures so far, and nothing is ever forgotten but
// by age.
struct model {
	uint64_t rate_bps;
	uint32_t limit;
	int64_t now_ns;
	wide departs;
	wide kept[MODEL_KEPT];
	uint64_t n;
};

static uint32_t model_depth(const struct model *m)
{
	uint32_t depth = 0;

	for (uint64_t k = m->n > MODEL_KEPT ? m->n - MODEL_KEPT : 0; k < m->n; k++)
		depth += (int64_t)(m->kept[k % MODEL_KEPT] / (wide)m->rate_bps) > m->now_ns;
	return depth;
}

// Returns the departure, or -1 for a packet that finds no place.
static int64_t model_take(struct model *m, int64_t now_ns, uint32_t bytes, uint32_t *depth)
{
	m->now_ns = now_ns > m->now_ns ? now_ns : m->now_ns;
	*depth = model_depth(m);
	if (*depth > m->limit)
		return -1;
	wide start = (wide)m->now_ns * m->rate_bps;
	if (start / (wide)m->rate_bps <= m->departs / (wide)m->rate_bps)
		start = m->departs;
	m->departs = start + (wide)bytes * 8 * 1000000000;
	m->kept[m->n++ % MODEL_KEPT] = m->departs;
	return (int64_t)(m->departs / (wide)m->rate_bps);
}

static void compare_random(uint64_t rate_bps, uint32_t limit, uint64_t seed, unsigned packets)
{
	struct model *model = calloc(1, sizeof(*model));
	struct hs_egress *egress = hs_egress_create(rate_bps, limit);
	struct hs_egress_worker *own = hs_egress_join(egress);
	struct hs_rng rng;
	int64_t now_ns = NOW;
	uint32_t depth;

	hs_rng_init(&rng, seed);
	model->rate_bps = rate_bps;
	model->limit = limit;
	int64_t pause_ns = (int64_t)(UINT64_C(10000000000) * limit / rate_bps) * 500;
	for (unsigned i = 0; i < packets; i++) {
		uint32_t bytes = 60 + hs_rng_u32(&rng) % 9000;
		if (hs_rng_u32(&rng) % 4 == 0)
			now_ns += (int64_t)(hs_rng_u32(&rng) / 4294967296.0 * (double)pause_ns);
		int64_t want_ns = model_take(model, now_ns, bytes, &depth);
		hs_egress_open(egress, now_ns);
		assert_int_equal(hs_egress_depth(egress), depth);
		assert_int_equal(hs_egress_take(own, bytes), want_ns >= 0);
		if (want_ns >= 0) {
			assert_int_equal(own->depth, depth);
			assert_int_equal(egress->departs_ns, want_ns);
		}
		own->bytes = 0;
		hs_egress_close(egress);
	}
	rte_free(own);
	hs_egress_destroy(egress);
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

static void test_a_million_packets_take_their_time(void **state)
{
	const uint64_t rate_bps = 1234567891;
	struct hs_egress *egress = hs_egress_create(rate_bps, 10);
	struct hs_egress_worker *own = hs_egress_join(egress);
	uint64_t bytes = 0;

	(void)state;
	for (unsigned i = 0; i < 1000000; i++) {
		// Always busy: time goes on to when the packet before the newest has departed.
		hs_egress_open(egress, i ? own->before_ns : NOW);
		assert_true(hs_egress_take(own, 64 + i % 1437));
		own->bytes = 0;
		bytes += 64 + i % 1437;
		hs_egress_close(egress);
		if (!i)
			own->before_ns = NOW;
	}
	wide exact = (wide)bytes * 8 * 1000000000 / rate_bps;
	assert_int_equal(egress->departs_ns - NOW, (int64_t)exact);
	rte_free(own);
	hs_egress_destroy(egress);
}

static void test_a_place_is_given_back(void **state)
{
	struct hs_egress *egress = hs_egress_create(8000000, 4); // a byte takes 1 us
	struct hs_egress_worker *own = hs_egress_join(egress);

	(void)state;
	hs_egress_open(egress, NOW);
	assert_true(hs_egress_settle(own, 100));
	assert_int_equal(egress->departs_ns, NOW + 100000);
	assert_true(hs_egress_settle(own, 60)); // the packet got other bytes in the end
	assert_int_equal(egress->departs_ns, NOW + 60000);
	assert_int_equal(hs_egress_depth(egress), 1);
	hs_egress_give_back(own);
	assert_int_equal(hs_egress_depth(egress), 0);
	hs_egress_give_back(own);
	assert_true(hs_egress_settle(own, 10));
	assert_int_equal(egress->departs_ns, NOW + 10000);
	hs_egress_close(egress);
	rte_free(own);
	hs_egress_destroy(egress);
}

// ---- several workers ----

#define THREADS	     2
#define THREAD_RUNS  20000
#define THREAD_LIMIT 50

struct take {
	uint64_t order; // among all takes
	int64_t now_ns, departs_ns;
	uint32_t depth, bytes;
};

struct taker {
	struct hs_egress *egress;
	struct hs_egress_worker *own;
	struct take *takes;
	uint64_t n;
	uint64_t *order; // changed while the queue is open only
	uint64_t *clock; // of all takers
	uint64_t seed;
};

static void *take_runs(void *context)
{
	struct taker *t = context;
	struct hs_rng rng;

	hs_rng_init(&rng, t->seed);
	for (unsigned run = 0; run < THREAD_RUNS; run++) {
		uint64_t step = hs_rng_u32(&rng) % 30000;
		int64_t now_ns = (int64_t)__atomic_add_fetch(t->clock, step, __ATOMIC_RELAXED);
		hs_egress_open(t->egress, now_ns);
		for (unsigned i = hs_rng_u32(&rng) % 32 + 1; i; i--) {
			struct take *take = &t->takes[t->n++];
			take->bytes = 60 + hs_rng_u32(&rng) % 1440;
			take->order = (*t->order)++;
			take->now_ns = now_ns;
			bool took = hs_egress_take(t->own, take->bytes);
			take->depth = t->own->depth;
			take->departs_ns = took ? t->egress->departs_ns : -1;
			t->own->bytes = 0;
		}
		hs_egress_close(t->egress);
	}
	return NULL;
}

static int by_order(const void *a, const void *b)
{
	const struct take *x = a, *y = b;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void recount(struct take *takes, uint64_t n, uint64_t rate_bps)
{
	struct model *model = calloc(1, sizeof(*model));
	uint64_t taken = 0, refused = 0;
	uint32_t depth;

	model->rate_bps = rate_bps;
	model->limit = THREAD_LIMIT;
	qsort(takes, n, sizeof(*takes), by_order);
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(takes[i].order, i);
		int64_t want_ns = model_take(model, takes[i].now_ns, takes[i].bytes, &depth);
		assert_int_equal(takes[i].departs_ns, want_ns);
		if (want_ns >= 0)
			assert_int_equal(takes[i].depth, depth);
		*(want_ns < 0 ? &refused : &taken) += 1;
	}
	assert_true(taken > n / 10 && refused > n / 10);
	free(model);
}

static void test_workers_share_a_queue_exactly(void **state)
{
	const uint64_t rate_bps = 5000000007;
	struct hs_egress *egress = hs_egress_create(rate_bps, THREAD_LIMIT);
	struct take *takes = calloc(THREADS * THREAD_RUNS * 32, sizeof(*takes));
	uint64_t order = 0, clock = NOW;
	struct taker takers[THREADS];
	pthread_t threads[THREADS];

	(void)state;
	egress->shared = true;
	for (unsigned i = 0; i < THREADS; i++) {
		takers[i] = (struct taker){egress, hs_egress_join(egress),
				takes + i * THREAD_RUNS * 32, 0, &order, &clock, i + 1};
		assert_int_equal(pthread_create(&threads[i], NULL, take_runs, &takers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		rte_free(takers[i].own);
	}
	memmove(takes + takers[0].n, takers[1].takes, takers[1].n * sizeof(*takes));
	recount(takes, takers[0].n + takers[1].n, rate_bps);
	free(takes);
	hs_egress_destroy(egress);
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
	assert_int_equal(counters(f, 7).rx_packets, 3);
	assert_int_equal(counters(f, 7).tx_packets, 2);
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
	struct hs_worker *worker = calloc(1, sizeof(*worker));
	struct hs_egress *egress = hs_egress_create(8000000, 4);
	struct hs_burst *burst = &worker->burst;
	struct hs_egress_values values;

	(void)state;
	worker->pool = f->pool;
	worker->egress[1] = hs_egress_join(egress);
	burst->now_ns = NOW;
	burst->stepped_ns = 500; // of NOW
	hs_egress_open(egress, hs_burst_steady_ns(burst));
	for (unsigned i = 0; i < 6; i++) {
		hs_egress_read(worker, burst, &f->t.ports[1].port, 100, &values);
		assert_true(values.has & HS_EGRESS_HAS_UTILISATION);
		assert_true(values.has & HS_EGRESS_HAS_BUFFER);
		assert_int_equal(!!(values.has & HS_EGRESS_HAS_DEPTH), i < 5);
		assert_int_equal(!!(values.has & HS_EGRESS_HAS_DEPARTURE), i < 5);
		worker->egress[1]->bytes = 0; // the skeleton does this
		if (i == 5)
			break;
		assert_int_equal(values.depth, i);
		assert_int_equal(values.congestion, i * 2500);
		assert_int_equal(values.departs_ns, NOW + (i + 1) * 100 * BYTE_NS);
	}
	hs_egress_close(egress);
	hs_egress_read(worker, burst, &f->t.ports[0].port, 100, &values);
	assert_int_equal(values.has, HS_EGRESS_HAS_BUFFER);
	rte_free(worker->egress[1]);
	hs_egress_destroy(egress);
	free(worker);
	fixture_close(f);
}

// Every other 100 us, the port sends.
static void test_utilisation_is_a_moving_average(void **state)
{
	struct hs_egress *egress = hs_egress_create(8000000, 4);
	struct hs_egress_worker *own = hs_egress_join(egress);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		hs_egress_open(egress, NOW + i * 200000);
		hs_egress_take(own, 100);
		own->bytes = 0;
		hs_egress_close(egress);
	}
	hs_egress_advance(egress, NOW + 1000 * 200000);
	assert_true(egress->busy > 0.494 && egress->busy < 0.506);
	hs_egress_advance(egress, NOW + 1000 * 200000 + HS_EGRESS_AVERAGE_NS);
	assert_true(egress->busy > 0.5 * 0.36 && egress->busy < 0.5 * 0.375);
	hs_egress_advance(egress, NOW + 1000 * 200000 + 100 * (int64_t)HS_EGRESS_AVERAGE_NS);
	assert_true(egress->busy < 1e-9);
	for (unsigned i = 0; i < 5; i++) // 400 ms
		hs_egress_take(own, 80000);
	hs_egress_advance(egress, egress->departs_ns);
	assert_true(egress->busy > 0.9999 && egress->busy <= 1);
	rte_free(own);
	hs_egress_destroy(egress);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_departure_and_depth_are_exact),
			cmocka_unit_test(test_a_million_packets_take_their_time),
			cmocka_unit_test(test_a_place_is_given_back),
			cmocka_unit_test(test_workers_share_a_queue_exactly),
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
