// SPDX-License-Identifier: BSD-3-Clause
// Several workers on threads of their own, rules that span them, and control that changes rules and
// reads counters all the while: what is counted is exact.
#include "workers_source.h"

#include "bytes.h"
#include "clock.h"
#include "dpdk_env.h"
#include "flexint.h"
#include "node.h"
#include "packet.h"
#include "port.h"
#include "rng.h"
#include "take_reports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <sched.h>

#define WORKERS	 4
#define FLOWS	 8	// with a rule throughout
#define CHURNING FLOWS	// has a rule now and then
#define PACKETS	 200000 // of each worker

// Of one flow at one worker, as its queue saw it.
struct flow_stats {
	uint64_t received, offered, sent, sent_bytes, telemetry;
	uint32_t stamp; // the highest that was sent
};

struct queue {
	struct rte_mempool *pool; // each its own: who frees is who took
	struct hs_rng rng;
	uint64_t left;
	struct flow_stats flows[FLOWS + 1];
} __attribute__((aligned(128)));

struct stress {
	struct hs_node *node;
	struct hs_clock *clock;
	struct hs_port *ports[2];
	struct queue queues[WORKERS];
	pthread_t threads[WORKERS];
	_Atomic bool stop;
	bool refuses;
	struct workers_source frames; // queue 0: the frame that is sent
};

struct seat_of {
	struct stress *s;
	unsigned worker;
};

// ---- ports ----

static struct rte_mbuf *make_packet(struct stress *s, struct queue *q)
{
	const struct workers_queue *f = &s->frames.queues[0];
	struct rte_mbuf *m = rte_pktmbuf_alloc(q->pool);
	uint32_t flow = hs_rng_u32(&q->rng) % (FLOWS + 1);

	if (!m)
		return NULL;
	uint8_t *frame = (uint8_t *)rte_pktmbuf_append(m, f->len);
	memcpy(frame, f->frame, f->len);
	hs_be32_store(frame + WORKERS_FLOW_OFF, flow);
	if (f->ns_off)
		hs_be32_store(frame + f->ns_off, flow + 1);
	m->hash.usr = flow;
	q->flows[flow].received++;
	return m;
}

static uint16_t stress_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct stress *s = port->driver_data;
	struct queue *q = &s->queues[queue];
	uint16_t made = 0, wanted = (uint16_t)(hs_rng_u32(&q->rng) % (n + 1u));

	while (made < wanted && q->left) {
		mbufs[made] = make_packet(s, q);
		if (!mbufs[made])
			break;
		made++;
		q->left--;
	}
	return made;
}

// Of a worker's thread, where cmocka's would jump to another stack.
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

// Others may take back what they counted and could not send: a burst each.
static void look(struct queue *q, const struct rte_mbuf *m, bool sent)
{
	struct flow_stats *stats = &q->flows[m->hash.usr];
	struct hs_decoded telemetry;
	struct hs_packet p;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	hs_flexint_parse(frame, m->data_len, m->pkt_len, &p);
	stats->offered++;
	stats->sent += sent;
	stats->sent_bytes += sent ? hs_packet_counted_bytes(&p) : 0;
	if (!(p.flags & HS_PACKET_TELEMETRY))
		return;
	stats->telemetry++;
	const uint8_t *trace = frame + p.trace_off, *e2e = frame + p.e2e_off;
	must(!hs_flexint_decode(trace + 2, trace[1], e2e + 2, e2e[1], &telemetry), "telemetry");
	if (m->hash.usr == CHURNING) // begins anew with each rule
		return;
	must(telemetry.e2e.tx_packets + (WORKERS - 1) * HS_BURST > stats->stamp,
			"a stamp went back");
	if (sent && telemetry.e2e.tx_packets > stats->stamp)
		stats->stamp = telemetry.e2e.tx_packets;
}

static uint16_t stress_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct stress *s = port->driver_data;
	struct queue *q = &s->queues[queue];
	uint16_t sent = n;

	if (s->refuses && hs_rng_u32(&q->rng) % 4 == 0)
		sent = (uint16_t)(hs_rng_u32(&q->rng) % (n + 1u));
	for (uint16_t i = 0; i < n; i++)
		look(q, mbufs[i], i < sent);
	rte_pktmbuf_free_bulk(mbufs, sent);
	return sent;
}

// ---- workers ----

static void *work(void *context)
{
	struct seat_of *seat = context;
	struct stress *s = seat->s;

	dpdk_env_unpin();
	must(!rte_thread_register(), "no lcore for a worker");
	hs_node_worker_online(s->node, seat->worker);
	while (!s->stop) {
		if (!hs_node_worker_poll(s->node, seat->worker))
			sched_yield();
	}
	hs_node_worker_offline(s->node, seat->worker);
	rte_thread_unregister();
	free(seat);
	return NULL;
}

static void start(struct stress *s)
{
	for (unsigned w = 0; w < WORKERS; w++) {
		struct seat_of *seat = malloc(sizeof(*seat));
		*seat = (struct seat_of){s, w};
		assert_int_equal(pthread_create(&s->threads[w], NULL, work, seat), 0);
	}
}

static void stop(struct stress *s)
{
	s->stop = true;
	for (unsigned w = 0; w < WORKERS; w++)
		pthread_join(s->threads[w], NULL);
}

static void install(struct stress *s, uint32_t flow, uint8_t mode, double setting)
{
	struct hs_rule rule;
	struct hs_error err = {0};

	workers_source_rule(flow, &rule);
	rule.mode = mode;
	rule.mode_setting = setting;
	assert_int_equal(hs_flow_table_install(hs_node_flows(s->node), &rule, NULL, &err), 0);
}

static struct hs_flow_counters counters_of(struct stress *s, uint32_t flow)
{
	struct hs_flow_counters c;
	uint32_t slot = hs_flow_table_find(hs_node_flows(s->node), flow + 1);

	assert_int_not_equal(slot, HS_FLOW_NONE);
	hs_flow_table_counters(hs_node_flows(s->node), slot, &c);
	return c;
}

static void open_ports(struct stress *s, enum hs_port_side in, enum hs_port_side out)
{
	struct hs_port_config config = {.side = in, .rx_queues = WORKERS};

	assert_int_equal(hs_port_open_custom(stress_rx, stress_tx, s, &config, 0, WORKERS,
					 &s->ports[0]),
			0);
	config.side = out;
	assert_int_equal(hs_port_open_custom(workers_nothing_rx, stress_tx, s, &config, 1, WORKERS,
					 &s->ports[1]),
			0);
	for (unsigned p = 0; p < 2; p++)
		assert_int_equal(hs_node_add_port(s->node, s->ports[p]), 0);
}

static struct stress *stress_open(enum hs_port_side in, enum hs_port_side out, bool telemetry,
		uint64_t packets, bool manual_clock)
{
	struct hs_node_config config = {
			.id = 5,
			.n_workers = WORKERS,
			.rules = 64,
			.report_ring = 1024,
			.n_pairs = 1,
			.pairs = {{0, 1}},
	};
	struct stress *s = aligned_alloc(128, sizeof(*s));
	struct hs_error err = {0};

	memset(s, 0, sizeof(*s));
	for (unsigned w = 0; w < WORKERS; w++) {
		char name[16];
		snprintf(name, sizeof(name), "queue%u", w);
		s->queues[w].pool = rte_pktmbuf_pool_create(name, 2047, 32, 0, 2176, SOCKET_ID_ANY);
		assert_non_null(s->queues[w].pool);
		s->queues[w].left = packets;
		hs_rng_init(&s->queues[w].rng, w);
	}
	workers_source_init(&s->frames, s->queues[0].pool, true, telemetry);
	workers_source_fini(&s->frames); // the frame stays
	assert_int_equal(manual_clock ? hs_clock_create_manual(1, &s->clock)
				      : hs_clock_create(HS_CLOCK_UTC, &s->clock),
			0);
	assert_int_equal(hs_node_create(&config, s->clock, s->queues[0].pool, &s->node, &err), 0);
	open_ports(s, in, out);
	return s;
}

static void stress_close(struct stress *s)
{
	hs_node_destroy(s->node);
	for (unsigned p = 0; p < 2; p++)
		hs_port_close(s->ports[p]);
	for (unsigned w = 0; w < WORKERS; w++) {
		assert_int_equal(rte_mempool_avail_count(s->queues[w].pool), 2047);
		rte_mempool_free(s->queues[w].pool);
	}
	hs_clock_destroy(s->clock);
	free(s);
}

// ---- what must hold ----

static uint64_t drops_of(const struct hs_port_counters *c, bool at_transmit)
{
	uint64_t sum = 0;

	for (int d = 0; d < HS_DROP_COUNT; d++)
		sum += hs_drop_is_at_transmit(d) == at_transmit ? c->drops[d] : 0;
	return sum;
}

// Also in the middle of the traffic. Returns what was received so far.
static uint64_t expect_equations(const struct stress *s)
{
	struct hs_port_counters c[2];

	hs_node_snapshot(s->node, c);
	for (unsigned p = 0; p < 2; p++) {
		assert_int_equal(c[p].rx_packets + c[p].copies,
				c[p].forwarded + drops_of(&c[p], false));
		assert_int_equal(c[p].offered,
				c[p].tx_packets + c[p].queued + drops_of(&c[p], true));
	}
	assert_int_equal(c[0].forwarded + c[1].forwarded, c[0].offered + c[1].offered);
	return c[0].rx_packets;
}

static struct flow_stats sum_of(const struct stress *s, uint32_t flow)
{
	struct flow_stats sum = {0};

	for (unsigned w = 0; w < WORKERS; w++) {
		const struct flow_stats *stats = &s->queues[w].flows[flow];
		sum.received += stats->received;
		sum.offered += stats->offered;
		sum.sent += stats->sent;
		sum.sent_bytes += stats->sent_bytes;
		sum.telemetry += stats->telemetry;
	}
	return sum;
}

// After the last packet: counted is what the queues saw.
static void expect_exact(struct stress *s, uint64_t packets)
{
	struct hs_port_counters c[2];
	uint64_t received = 0, sent = 0, offered = 0;

	for (uint32_t flow = 0; flow <= FLOWS; flow++) {
		struct flow_stats stats = sum_of(s, flow);
		received += stats.received;
		sent += stats.sent;
		offered += stats.offered;
		if (flow == CHURNING)
			continue;
		struct hs_flow_counters counted = counters_of(s, flow);
		assert_int_equal(counted.rx_packets, stats.received);
		assert_int_equal(counted.tx_packets, stats.sent);
		assert_int_equal(counted.tx_bytes, stats.sent_bytes);
	}
	hs_node_snapshot(s->node, c);
	assert_int_equal(received, packets);
	assert_int_equal(c[0].rx_packets, packets);
	assert_int_equal(c[1].offered, offered);
	assert_int_equal(c[1].tx_packets, sent);
	assert_int_equal(c[1].drops[HS_DROP_TX_FULL], offered - sent);
}

// ---- scenes ----

static void change_rules(struct stress *s, unsigned round)
{
	struct hs_rule_update update = {.rows = HS_RULE_BIT(MODE) | HS_RULE_BIT(MODE_SETTING),
			.to.mode = round % 2 ? HS_MODE_COUNT : HS_MODE_PROBABILITY,
			.to.mode_setting = 1 + round % 50};
	struct hs_error err = {0};

	assert_int_equal(hs_flow_table_update(
					 hs_node_flows(s->node), 1 + round % FLOWS, &update, &err),
			0);
	if (round % 2)
		assert_int_equal(hs_flow_table_remove(hs_node_flows(s->node), CHURNING + 1, &err),
				0);
	else
		install(s, CHURNING, HS_MODE_COUNT, 3);
	hs_flow_table_reclaim(hs_node_flows(s->node));
}

static void counters_are_exact_while_rules_change_and_ports_refuse(void **state)
{
	struct stress *s = stress_open(HS_SIDE_HOST, HS_SIDE_NETWORK, false, PACKETS, false);
	uint64_t received = 0, last[FLOWS] = {0};
	unsigned rounds = 0;
	(void)state;
	s->refuses = true;
	for (uint32_t flow = 0; flow < FLOWS; flow++)
		install(s, flow, HS_MODE_COUNT, flow + 1);
	start(s);
	while (received < (uint64_t)WORKERS * PACKETS) {
		change_rules(s, rounds);
		uint64_t now = expect_equations(s);
		assert_true(now >= received);
		received = now;
		uint32_t flow = rounds++ % FLOWS;
		struct hs_flow_counters c = counters_of(s, flow);
		assert_true(c.rx_packets >= last[flow]);
		last[flow] = c.rx_packets;
		sched_yield();
	}
	stop(s);
	print_message("%u changes of rules meanwhile\n", rounds);
	expect_exact(s, (uint64_t)WORKERS * PACKETS);
	for (uint32_t flow = 0; flow < FLOWS; flow++) {
		assert_int_equal(counters_of(s, flow).int_packets, sum_of(s, flow).telemetry);
		assert_true(sum_of(s, flow).telemetry > 0);
	}
	stress_close(s);
}

static void every_report_of_a_rule_that_all_workers_serve_is_counted(void **state)
{
	struct stress *s = stress_open(HS_SIDE_NETWORK, HS_SIDE_HOST, true, PACKETS / 4, false);
	static struct hs_report_record records[64];
	uint64_t taken[FLOWS + 1] = {0}, received = 0;
	unsigned n;
	(void)state;
	for (uint32_t flow = 0; flow <= FLOWS; flow++)
		install(s, flow, HS_MODE_COUNT, 1);
	start(s);
	do {
		received = expect_equations(s);
		if (received == PACKETS)
			stop(s);
		while ((n = take_reports(s->node, records, 64))) {
			for (unsigned i = 0; i < n; i++)
				taken[hs_flow_table_rule(
						      hs_node_flows(s->node), records[i].rule_slot)
								->ns_id -
						1]++;
		}
	} while (received < PACKETS);
	for (uint32_t flow = 0; flow <= FLOWS; flow++) {
		struct hs_flow_counters c = counters_of(s, flow);
		assert_int_equal(c.sink_packets, sum_of(s, flow).received);
		assert_int_equal(c.reports_made, c.sink_packets);
		assert_int_equal(taken[flow] + c.reports_lost, c.reports_made);
		assert_int_equal(sum_of(s, flow).telemetry, 0);
	}
	expect_exact(s, PACKETS);
	stress_close(s);
}

// What the queues counted are plain numbers: no worker may be at them while control reads.
static void while_a_node_pauses_nothing_moves_and_all_counters_agree(void **state)
{
	struct stress *s = stress_open(HS_SIDE_HOST, HS_SIDE_NETWORK, false, PACKETS / 16, false);
	uint64_t received;
	(void)state;
	for (uint32_t flow = 0; flow <= FLOWS; flow++)
		install(s, flow, HS_MODE_COUNT, 3);
	start(s);
	do {
		hs_node_pause(s->node);
		received = expect_equations(s);
		expect_exact(s, received);
		sched_yield();
		assert_int_equal(expect_equations(s), received);
		s->refuses = !s->refuses;
		hs_node_resume(s->node);
		sched_yield();
	} while (received < (uint64_t)WORKERS * (PACKETS / 16));
	stop(s);
	stress_close(s);
}

// Two rounds of each worker from now on: the second has read the clock anew.
static void wait_for_rounds(struct stress *s)
{
	struct hs_worker_counters before, now;

	for (unsigned w = 0; w < WORKERS; w++) {
		hs_node_worker_counters(s->node, w, &before);
		do {
			sched_yield();
			hs_node_worker_counters(s->node, w, &now);
		} while (now.rounds - now.idle_rounds < before.rounds - before.idle_rounds + 2);
	}
}

static void frequency_mode_takes_one_packet_an_interval_of_all_workers(void **state)
{
	struct stress *s = stress_open(HS_SIDE_HOST, HS_SIDE_NETWORK, false, UINT64_MAX, true);
	(void)state;
	for (uint32_t flow = 0; flow < FLOWS; flow++)
		install(s, flow, HS_MODE_FREQUENCY, 10);
	hs_clock_set(s->clock, INT64_C(1000000000));
	start(s);
	// Rules are met at their own pace: none of them more than once an interval.
	for (uint32_t interval = 0; interval < 50; interval++) {
		struct hs_flow_counters c[FLOWS];
		for (uint32_t flow = 0; flow < FLOWS; flow++) {
			do {
				sched_yield();
				c[flow] = counters_of(s, flow);
			} while (c[flow].int_packets <= interval);
		}
		wait_for_rounds(s);
		for (uint32_t flow = 0; flow < FLOWS; flow++)
			assert_int_equal(counters_of(s, flow).int_packets, interval + 1);
		hs_clock_set(s->clock, INT64_C(1000000000) + INT64_C(10000000) * (interval + 1));
	}
	stop(s);
	stress_close(s);
}

static void several_queues_of_dpdk_devices_are_dealt_out_to_the_workers(void **state)
{
	static const char *const devices[] = {"net_null0,size=128", "net_ring0"};
	struct hs_node_config config = {
			.n_workers = 2, .rules = 1, .n_pairs = 1, .pairs = {{0, 1}}};
	struct hs_port *ports[2];
	struct hs_clock *clock;
	struct hs_node *node;
	struct hs_error err = {0};
	struct hs_port_counters c[2];
	struct hs_worker_counters first, second;
	(void)state;
	struct rte_mempool *pool =
			rte_pktmbuf_pool_create("devices", 8191, 32, 0, 2176, SOCKET_ID_ANY);
	assert_non_null(pool);
	assert_int_equal(hs_clock_create(HS_CLOCK_UTC, &clock), 0);
	assert_int_equal(hs_node_create(&config, clock, pool, &node, &err), 0);
	for (uint16_t p = 0; p < 2; p++) {
		struct hs_port_config port = {.kind = HS_PORT_DEVARGS, .rx_queues = 2};
		snprintf(port.name, sizeof(port.name), "p%u", p);
		snprintf(port.device, sizeof(port.device), "%s", devices[p]);
		assert_int_equal(hs_port_open(&port, p, 2, pool, &ports[p], &err), 0);
		assert_int_equal(hs_node_add_port(node, ports[p]), 0);
	}
	for (unsigned i = 0; i < 1000; i++)
		hs_node_worker_poll(node, i % 2);
	hs_node_snapshot(node, c);
	hs_node_worker_counters(node, 0, &first);
	hs_node_worker_counters(node, 1, &second);
	// What was sent into a ring of the second port came back out of it, by both workers.
	assert_int_equal(c[0].rx_packets, 1000 * HS_BURST);
	assert_int_equal(c[1].tx_packets, c[0].rx_packets);
	assert_int_equal(c[1].rx_packets, c[1].tx_packets);
	assert_int_equal(c[0].tx_packets, c[1].rx_packets);
	assert_int_equal(first.rx_packets, second.rx_packets);
	hs_node_destroy(node);
	for (unsigned p = 0; p < 2; p++)
		hs_port_close(ports[p]);
	rte_mempool_free(pool);
	hs_clock_destroy(clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(counters_are_exact_while_rules_change_and_ports_refuse),
			cmocka_unit_test(every_report_of_a_rule_that_all_workers_serve_is_counted),
			cmocka_unit_test(while_a_node_pauses_nothing_moves_and_all_counters_agree),
			cmocka_unit_test(
					frequency_mode_takes_one_packet_an_interval_of_all_workers),
			cmocka_unit_test(
					several_queues_of_dpdk_devices_are_dealt_out_to_the_workers),
	};
	dpdk_env_init_on("256", "(0-1)@0"); // net_ring has as many queues as there are lcores
	return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
