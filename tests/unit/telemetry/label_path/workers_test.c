// SPDX-License-Identifier: BSD-3-Clause
// Two workers that share ten ports which label: Base A never labels twice within the interval, and
// a label by chance never comes within the rest time. Labels of ports to hosts are in datagrams.
#include "dpdk_env.h"
#include "hex.h"
#include "label_steps.h"
#include "node.h"
#include "port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <sched.h>

#define WORKERS	  2
#define PAIRS	  10
#define PACKETS	  300000 // of each worker
#define MOST	  100000 // labels of a port and worker
#define BUFFERS	  4095
#define ITEM_OFF  36
#define TOLD_OFF  58	      // of an item in a datagram: Ethernet, IPv4, UDP, the key
#define TELLS	  (2 * PAIRS) // the port that sends datagrams
#define N_PORTS	  (2 * PAIRS + 1)
#define US_NS	  1000
#define REST_NS	  INT64_C(20000)
#define FRAME_LEN 50

struct queue {
	struct rte_mempool *pool;
	uint64_t left;
	unsigned n[PAIRS];
	uint64_t us[PAIRS][MOST]; // when the node took the packets that it labelled
} __attribute__((aligned(128)));

struct race {
	struct hs_node *node;
	struct hs_clock *clock;
	struct hs_label_profile profile;
	struct hs_port *ports[N_PORTS];
	bool to_hosts;
	struct queue queues[WORKERS];
	uint8_t frame[64];
};

struct seat_of {
	struct race *race;
	unsigned worker;
};

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static uint16_t make(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct race *race = port->driver_data;
	struct queue *q = &race->queues[queue];
	uint16_t made = 0;

	for (; made < n / 8 && q->left; q->left--) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(q->pool);
		if (!m)
			break;
		memcpy(rte_pktmbuf_append(m, FRAME_LEN), race->frame, FRAME_LEN);
		mbufs[made++] = m;
	}
	return made;
}

static uint16_t nothing(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

static uint16_t look(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct race *race = port->driver_data;
	struct queue *q = &race->queues[queue];
	unsigned at = port->index == TELLS ? TOLD_OFF : ITEM_OFF;

	for (uint16_t i = 0; i < n; i++) {
		struct hs_label_item item;
		if (rte_pktmbuf_pkt_len(mbufs[i]) == FRAME_LEN)
			continue;
		hs_label_item_read(rte_pktmbuf_mtod_offset(mbufs[i], uint8_t *, at), &item);
		unsigned pair = (item.egress_port - 1u) / 2;
		must(pair < PAIRS && q->n[pair] < MOST, "more labels than there is room for");
		q->us[pair][q->n[pair]++] = item.ingress_us;
	}
	rte_pktmbuf_free_bulk(mbufs, n);
	return n;
}

static void *work(void *context)
{
	struct seat_of *seat = context;
	struct race *race = seat->race;

	dpdk_env_unpin();
	must(!rte_thread_register(), "no lcore for a worker");
	hs_node_worker_online(race->node, seat->worker);
	while (race->queues[seat->worker].left)
		hs_node_worker_poll(race->node, seat->worker);
	hs_node_worker_offline(race->node, seat->worker);
	rte_thread_unregister();
	return NULL;
}

static bool is_network(const struct race *race, unsigned p)
{
	return p == TELLS || (p % 2 && !race->to_hosts);
}

static void open_ports(struct race *race)
{
	for (unsigned p = 0; p < N_PORTS; p++) {
		bool sends = p == TELLS || p % 2;
		struct hs_port_config config = {
				.side = is_network(race, p) ? HS_SIDE_NETWORK : HS_SIDE_HOST,
				.rx_queues = WORKERS,
				.mtu = 1500,
				.id = p + 1};
		assert_int_equal(hs_port_open_custom(sends ? nothing : make, look, race, &config,
						 (uint16_t)p, WORKERS, &race->ports[p]),
				0);
		assert_int_equal(hs_node_add_port(race->node, race->ports[p]), 0);
	}
}

static struct race *race_open(int64_t interval_ns, int64_t rest_ns, bool by_chance, bool to_hosts)
{
	struct hs_node_config config = {.id = 5,
			.n_workers = WORKERS,
			.rules = 64,
			.n_pairs = PAIRS,
			.n_exports = to_hosts,
			.exports = {{.format = HS_EXPORT_LABEL,
					.port = TELLS,
					.to = {{[10] = 0xff, 0xff, 192, 0, 2, 9}, 32767},
					.from = {[10] = 0xff, 0xff, 192, 0, 2, 1}}}};
	struct race *race = aligned_alloc(128, (sizeof(*race) + 127) / 128 * 128);
	struct hs_error err = {0};

	memset(race, 0, sizeof(*race));
	race->profile.wire = (struct hs_label_settings){HS_LABEL_IP_PROTOCOL, HS_LABEL_MAX_HOPS};
	hs_label_rule_init(
			&race->profile.rule, HS_LABEL_MAX_HOPS, interval_ns, rest_ns, HS_LABEL_F1);
	if (by_chance)
		hs_label_rule_set_chance(&race->profile.rule, 0, 1);
	unhex("02000000000202000000000108004500002400010000401163c60a0001010a000202"
	      "03e807d00010ac0e4441544144415441",
			race->frame);
	race->to_hosts = to_hosts;
	for (unsigned p = 0; p < PAIRS; p++) {
		config.pairs[p][0] = (uint16_t)(2 * p);
		config.pairs[p][1] = (uint16_t)(2 * p + 1);
	}
	for (unsigned p = 0; p < N_PORTS; p++)
		if (is_network(race, p))
			config.profiles[p] = (struct hs_profile){
					.family = &hs_label_steps, .settings = &race->profile};
	for (unsigned w = 0; w < WORKERS; w++) {
		char name[16];
		snprintf(name, sizeof(name), "queue%u", w);
		race->queues[w].pool =
				rte_pktmbuf_pool_create(name, BUFFERS, 32, 0, 2176, SOCKET_ID_ANY);
		assert_non_null(race->queues[w].pool);
		race->queues[w].left = PACKETS;
	}
	assert_int_equal(hs_clock_create(HS_CLOCK_UTC, &race->clock), 0);
	assert_int_equal(hs_node_create(&config, race->clock, race->queues[0].pool, &race->node,
					 &err),
			0);
	open_ports(race);
	return race;
}

static void race_close(struct race *race)
{
	hs_node_destroy(race->node);
	for (unsigned p = 0; p < N_PORTS; p++)
		hs_port_close(race->ports[p]);
	for (unsigned w = 0; w < WORKERS; w++) {
		assert_int_equal(rte_mempool_avail_count(race->queues[w].pool), BUFFERS);
		rte_mempool_free(race->queues[w].pool);
	}
	hs_clock_destroy(race->clock);
	free(race);
}

static void run(struct race *race)
{
	struct seat_of seats[WORKERS];
	pthread_t threads[WORKERS];

	for (unsigned w = 0; w < WORKERS; w++) {
		seats[w] = (struct seat_of){race, w};
		assert_int_equal(pthread_create(&threads[w], NULL, work, &seats[w]), 0);
	}
	for (unsigned w = 0; w < WORKERS; w++)
		pthread_join(threads[w], NULL);
}

static int in_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

// Labels of all workers at a port: more than this time is between any two, and both workers have
// some.
static void apart(struct race *race, unsigned pair, int64_t least_ns)
{
	static uint64_t all[WORKERS * MOST];
	struct hs_port_counters counters;
	unsigned n = 0;

	for (unsigned w = 0; w < WORKERS; w++) {
		const struct queue *q = &race->queues[w];
		assert_true(q->n[pair] > 0);
		memcpy(all + n, q->us[pair], q->n[pair] * sizeof(all[0]));
		n += q->n[pair];
	}
	qsort(all, n, sizeof(all[0]), in_order);
	for (unsigned i = 1; i < n; i++) // of times cut to microseconds
		assert_true((all[i] - all[i - 1]) * US_NS >= (uint64_t)least_ns);
	hs_node_port_counters(race->node, (uint16_t)(2 * pair + 1), &counters);
	assert_int_equal(counters.events[HS_EVENT_LABELLED_INTERVAL] +
					 counters.events[HS_EVENT_LABELLED_CHANCE],
			n);
}

static void race_at(int64_t interval_ns, bool by_chance)
{
	for (unsigned to_hosts = 0; to_hosts < 2; to_hosts++) {
		struct race *race = race_open(interval_ns, REST_NS, by_chance, to_hosts);
		run(race);
		for (unsigned p = 0; p < PAIRS; p++)
			apart(race, p, REST_NS);
		race_close(race);
	}
}

static void base_a_never_labels_twice_within_the_interval(void **state)
{
	(void)state;
	race_at(REST_NS, false);
}

static void chance_never_labels_within_the_rest_time(void **state)
{
	(void)state;
	race_at(1000 * REST_NS, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(base_a_never_labels_twice_within_the_interval),
			cmocka_unit_test(chance_never_labels_within_the_rest_time),
	};

	dpdk_env_init("256");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
