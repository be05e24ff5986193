// SPDX-License-Identifier: BSD-3-Clause
// What an egress queue costs a packet: 10 ports that receive, 10 that send, one or two workers, and
// the same with queues at the ports that send. With two workers, both send by all 10 ports, so that
// all queues are shared. bench_egress [rounds] [ms]
//
// A worker's time is its own processor time. The two nodes take turns, and their best and median
// rounds are compared.
#include "workers_source.h"

#include "dpdk_env.h"
#include "port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#define PAIRS	   10
#define MAX_ROUNDS 101

static const struct scene {
	const char *name;
	unsigned n_workers;
	uint32_t rules;
	double every; // sampled once in so many packets, 0: never
} scenes[] = {
		{"1 worker, no rules", 1},
		{"1 worker, matched", 1, WORKERS_FLOWS},
		{"2 workers, no rules", 2},
		{"2 workers, matched", 2, WORKERS_FLOWS},
		{"2 workers, sampled 1/1", 2, WORKERS_FLOWS, 1},
};

struct stand {
	struct hs_node *node;
	struct hs_port *ports[2 * PAIRS];
};

static struct workers_source sources[PAIRS];
static bool stopped; // nothing is received any more

struct run {
	struct stand *stand;
	unsigned worker;
	uint64_t until;
	unsigned *waiting; // a barrier: both begin together
	uint64_t packets, cpu_ns;
};

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "%s: %d\n", what, rc);
	exit(1);
}

static uint16_t receive(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	return stopped ? 0 : workers_source_rx(port, queue, mbufs, n);
}

static void add_port(struct stand *stand, const struct scene *scene, uint16_t index, bool queued)
{
	bool in = index < PAIRS;
	struct hs_port_config config = {
			.side = in ? HS_SIDE_HOST : HS_SIDE_NETWORK,
			.rx_queues = in ? WORKERS_QUEUES : 1,
	};

	if (!in && queued) {
		config.rate_bps = HS_PORT_RATE_MAX;
		config.queue_packets = 1000;
	}
	must(hs_port_open_custom(in ? receive : workers_nothing_rx, workers_sink_tx,
			     &sources[index % PAIRS], &config, index, (uint16_t)scene->n_workers,
			     &stand->ports[index]),
			"port");
	must(hs_node_add_port(stand->node, stand->ports[index]), "add");
}

static void install(struct hs_node *node, const struct scene *scene)
{
	for (uint32_t flow = 0; flow < scene->rules; flow++) {
		struct hs_rule rule;
		struct hs_error err = {0};
		workers_source_rule(flow, &rule);
		rule.mode = HS_MODE_COUNT;
		rule.mode_setting = scene->every ? scene->every : 1e9;
		must(hs_flow_table_install(hs_node_flows(node), &rule, NULL, &err), "rule");
	}
}

static void open_stand(struct stand *stand, const struct scene *scene, bool queued,
		struct hs_clock *clock, struct rte_mempool *pool)
{
	struct hs_node_config config = {
			.id = 5, .n_workers = scene->n_workers, .rules = WORKERS_FLOWS};
	struct hs_error err = {0};

	config.n_pairs = PAIRS;
	for (uint16_t p = 0; p < PAIRS; p++) {
		config.pairs[p][0] = p;
		config.pairs[p][1] = PAIRS + p;
	}
	must(hs_node_create(&config, clock, pool, &stand->node, &err), "node");
	for (uint16_t p = 0; p < 2 * PAIRS; p++)
		add_port(stand, scene, p, queued);
	install(stand->node, scene);
}

// Everything was sent: a packet that is dropped would be freed, and received again.
static void close_stand(struct stand *stand, const struct scene *scene)
{
	struct hs_port_counters c[2 * PAIRS];

	stopped = true;
	do {
		for (unsigned w = 0; w < scene->n_workers; w++)
			hs_node_worker_poll(stand->node, w);
		hs_node_snapshot(stand->node, c);
	} while (hs_node_worker_due_ns(stand->node, 0) != INT64_MAX ||
			hs_node_worker_due_ns(stand->node, scene->n_workers - 1) != INT64_MAX);
	for (unsigned p = 0; p < PAIRS; p++)
		must(c[p].rx_packets != c[PAIRS + p].tx_packets, "packets were lost");
	stopped = false;
	hs_node_destroy(stand->node);
	for (unsigned p = 0; p < 2 * PAIRS; p++)
		hs_port_close(stand->ports[p]);
}

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int work(void *context)
{
	struct run *run = context;

	hs_node_worker_online(run->stand->node, run->worker);
	__atomic_sub_fetch(run->waiting, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(run->waiting, __ATOMIC_ACQUIRE))
		;
	uint64_t before = thread_ns();
	do {
		for (unsigned i = 0; i < 16; i++)
			run->packets += hs_node_worker_poll(run->stand->node, run->worker);
	} while (rte_rdtsc() < run->until);
	run->cpu_ns = thread_ns() - before;
	hs_node_worker_offline(run->stand->node, run->worker);
	return 0;
}

// Processor time of a packet.
static double measure(struct stand *stand, const struct scene *scene, uint64_t ticks)
{
	struct run runs[2] __attribute__((aligned(128))) = {0};
	unsigned waiting = scene->n_workers;
	uint64_t until = rte_rdtsc() + ticks, packets = 0, cpu_ns = 0;

	for (unsigned w = 0; w < scene->n_workers; w++)
		runs[w] = (struct run){stand, w, until, &waiting, 0, 0};
	if (scene->n_workers == 2)
		must(rte_eal_remote_launch(work, &runs[1], 1), "launch");
	work(&runs[0]);
	rte_eal_wait_lcore(1);
	for (unsigned w = 0; w < scene->n_workers; w++) {
		packets += runs[w].packets;
		cpu_ns += runs[w].cpu_ns;
	}
	return (double)cpu_ns / (double)packets;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void compare(const struct scene *scene, unsigned rounds, uint64_t ticks,
		struct hs_clock *clock, struct rte_mempool *pool)
{
	static double ns[2][MAX_ROUNDS], more[MAX_ROUNDS];
	struct stand stands[2];

	for (unsigned k = 0; k < 2; k++) {
		open_stand(&stands[k], scene, k, clock, pool);
		measure(&stands[k], scene, ticks); // warm
	}
	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned k = 0; k < 2; k++)
			ns[k][r] = measure(&stands[k], scene, ticks);
		more[r] = ns[1][r] - ns[0][r];
	}
	qsort(ns[0], rounds, sizeof(ns[0][0]), by_value);
	qsort(ns[1], rounds, sizeof(ns[1][0]), by_value);
	qsort(more, rounds, sizeof(more[0]), by_value);
	printf("%-24s %8.1f %8.1f %8.1f %8.1f %8.1f\n", scene->name, ns[0][0], ns[1][0],
			ns[1][0] - ns[0][0], ns[1][rounds / 2] - ns[0][rounds / 2],
			more[rounds / 2]);
	fflush(stdout);
	for (unsigned k = 0; k < 2; k++)
		close_stand(&stands[k], scene);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 21;
	unsigned ms = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
	struct hs_clock *clock;

	if (!rounds || rounds > MAX_ROUNDS || !ms)
		return 2;
	dpdk_env_init_on("512", "0,1");
	must(hs_clock_create(HS_CLOCK_UTC, &clock), "clock");
	struct rte_mempool *pool =
			rte_pktmbuf_pool_create("bench", 16383, 256, 0, 2176, SOCKET_ID_ANY);
	must(!pool, "pool");
	for (unsigned p = 0; p < PAIRS; p++)
		workers_source_init(&sources[p], pool, false, false);
	printf("%-24s %8s %8s %8s %8s %8s\n", "ns a packet", "without", "with", "best", "medians",
			"pairs");
	for (unsigned i = 0; i < RTE_DIM(scenes); i++)
		compare(&scenes[i], rounds, rte_get_tsc_hz() / 1000 * ms, clock, pool);
	for (unsigned p = 0; p < PAIRS; p++)
		workers_source_fini(&sources[p]);
	rte_mempool_free(pool);
	hs_clock_destroy(clock);
	return 0;
}
