// SPDX-License-Identifier: BSD-3-Clause
// Two workers beside one: each takes packets that lie ready in memory from a receive queue of its
// own, so that no generator competes for the cores. Prints one line a case; the first, a loop that
// only receives and sends, is what the machine itself allows. bench_workers [rounds] [ms] [word of
// the case]
//
// A worker's rate is packets by its own processor time, so that being off its core costs it none;
// two workers' is the sum of both. "cpu" compares the medians of rounds that ran in turn, "best"
// the best rounds of each: a neighbour in the caches or on the host only ever takes away.
#include "workers_source.h"

#include "dpdk_env.h"
#include "port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <netinet/in.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#define MAX_ROUNDS 101
#define PASSES	   20000
// What two workers do to each other shows only while both run: a round in which one had less of its
// core than this is made again, so often at most.
#define TOGETHER 0.8
#define ATTEMPTS 20

struct scene {
	const char *name;
	bool bare; // no node: receive and send
	uint32_t rules;
	double every; // sampled once in so many packets, 0: never
	bool one_flow;
	bool transit;
};

static const struct scene scenes[] = {
		{"receive and send only", .bare = true},
		{"no rules", .rules = 0},
		{"matched, 4,096 rules", .rules = WORKERS_FLOWS},
		{"one rule over all workers", .rules = 1, .one_flow = true},
		{"sampled 1/100", .rules = WORKERS_FLOWS, .every = 100},
		{"sampled 1/1", .rules = WORKERS_FLOWS, .every = 1},
		{"sampled 1/100, one rule", .rules = 1, .every = 100, .one_flow = true},
		{"sampled 1/1, one rule", .rules = 1, .every = 1, .one_flow = true},
		{"transit", .rules = WORKERS_FLOWS, .transit = true},
		{"transit, one rule", .rules = 1, .transit = true, .one_flow = true},
};

// A node with so many workers, its ports and what they send.
struct stand {
	unsigned n_workers;
	struct workers_source source;
	struct hs_port *ports[2];
	struct hs_node *node;
};

struct run {
	struct stand *stand;
	unsigned worker;
	const struct scene *scene;
	uint64_t until;	   // ticks
	unsigned *waiting; // a barrier: both begin together
	uint64_t packets, cpu_ns;
};

struct sample {
	double cpu_mpps; // packets in a microsecond of own processor time, of all workers
	double mpps, together;
};

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

// ---- a stand ----

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "%s: %d\n", what, rc);
	exit(1);
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

static void open_stand(struct stand *stand, unsigned n_workers, const struct scene *scene,
		struct hs_clock *clock, struct rte_mempool *pool)
{
	struct hs_node_config config = {
			.id = 5,
			.n_workers = n_workers,
			.rules = WORKERS_FLOWS,
			.n_pairs = 1,
			.pairs = {{0, 1}},
	};
	struct hs_port_config port = {.side = scene->transit ? HS_SIDE_NETWORK : HS_SIDE_HOST,
			.rx_queues = WORKERS_QUEUES};
	struct hs_error err = {0};

	stand->n_workers = n_workers;
	must(hs_node_create(&config, clock, pool, &stand->node, &err), "node");
	workers_source_init(&stand->source, pool, scene->one_flow, scene->transit);
	must(hs_port_open_custom(workers_source_rx, workers_sink_tx, &stand->source, &port, 0,
			     (uint16_t)n_workers, &stand->ports[0]),
			"port");
	port.side = HS_SIDE_NETWORK;
	must(hs_port_open_custom(workers_nothing_rx, workers_sink_tx, &stand->source, &port, 1,
			     (uint16_t)n_workers, &stand->ports[1]),
			"port");
	for (unsigned p = 0; p < 2; p++)
		must(hs_node_add_port(stand->node, stand->ports[p]), "add");
	install(stand->node, scene);
}

// What was received must have been sent, and counted by the rules.
static void audit(const struct stand *stand, const struct scene *scene)
{
	struct hs_port_counters c[2];
	struct hs_flow_table *flows = hs_node_flows(stand->node);
	uint32_t slot = HS_FLOW_NONE;
	uint64_t matched = 0;

	hs_node_snapshot(stand->node, c);
	while (hs_flow_table_next(flows, &slot)) {
		struct hs_flow_counters counters;
		hs_flow_table_counters(flows, slot, &counters);
		matched += counters.tx_packets;
	}
	must(c[0].rx_packets != c[1].tx_packets, "packets were lost");
	must(scene->rules && matched != c[0].rx_packets, "packets missed their rules");
}

static void close_stand(struct stand *stand)
{
	hs_node_destroy(stand->node);
	hs_port_close(stand->ports[0]);
	hs_port_close(stand->ports[1]);
	workers_source_fini(&stand->source);
}

// ---- a run ----

static unsigned bare_round(struct stand *stand, unsigned worker)
{
	struct rte_mbuf *mbufs[HS_BURST];
	unsigned received = 0;

	for (unsigned q = worker; q < WORKERS_QUEUES; q += stand->n_workers) {
		uint16_t n = workers_source_rx(stand->ports[0], (uint16_t)q, mbufs, HS_BURST);
		received += workers_sink_tx(stand->ports[1], (uint16_t)worker, mbufs, n);
	}
	return received;
}

static int work(void *context)
{
	struct run *run = context;
	struct stand *stand = run->stand;

	hs_node_worker_online(stand->node, run->worker);
	__atomic_sub_fetch(run->waiting, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(run->waiting, __ATOMIC_ACQUIRE))
		;
	uint64_t before = thread_ns();
	do {
		for (unsigned i = 0; i < 16; i++)
			run->packets += run->scene->bare ? bare_round(stand, run->worker)
							 : hs_node_worker_poll(stand->node,
									   run->worker);
	} while (rte_rdtsc() < run->until);
	run->cpu_ns = thread_ns() - before;
	hs_node_worker_offline(stand->node, run->worker);
	return 0;
}

static struct sample measure(
		struct stand *stand, const struct scene *scene, unsigned first, uint64_t ticks)
{
	static const unsigned lcores[] = {0, 1};
	struct run runs[2] __attribute__((aligned(128))) = {0};
	unsigned n = stand->n_workers, waiting = n;
	uint64_t packets = 0, least = UINT64_MAX, start = rte_rdtsc();
	double cpu_mpps = 0;

	for (unsigned w = 0; w < n; w++)
		runs[w] = (struct run){stand, w, scene, start + ticks, &waiting, 0, 0};
	for (unsigned w = 0; w < n; w++) {
		if (lcores[(w + first) % 2] == 1)
			must(rte_eal_remote_launch(work, &runs[w], 1), "launch");
	}
	for (unsigned w = 0; w < n; w++) {
		if (lcores[(w + first) % 2] == 0)
			work(&runs[w]);
	}
	rte_eal_wait_lcore(1);
	double wall = (double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz();
	for (unsigned w = 0; w < n; w++) {
		packets += runs[w].packets;
		cpu_mpps += (double)runs[w].packets * 1e3 / (double)runs[w].cpu_ns;
		least = RTE_MIN(least, runs[w].cpu_ns);
	}
	return (struct sample){cpu_mpps, (double)packets / wall / 1e6, (double)least / 1e9 / wall};
}

static struct sample measure_together(
		struct stand *stand, const struct scene *scene, unsigned first, uint64_t ticks)
{
	struct sample best = {0};

	for (unsigned i = 0; i < ATTEMPTS && best.together < TOGETHER; i++) {
		struct sample s = measure(stand, scene, first, ticks);
		if (s.together > best.together)
			best = s;
	}
	return best;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

// Sorts: the first is the least.
static void print_line(const char *name, double rates[2][MAX_ROUNDS], double *cpu, double *wall,
		double together, unsigned rounds)
{
	double scaling = median(cpu, rounds), one = median(rates[0], rounds),
	       two = median(rates[1], rounds);

	printf("%-26s %6.1f %6.1f %5.2f %5.2f..%-5.2f %5.2f %5.2f %4.0f %%\n", name, 1e3 / one,
			2e3 / two, scaling, cpu[0], cpu[rounds - 1],
			rates[1][rounds - 1] / rates[0][rounds - 1], median(wall, rounds),
			100 * together / rounds);
	fflush(stdout);
}

static void compare(const struct scene *scene, unsigned rounds, uint64_t ticks,
		struct hs_clock *clock, struct rte_mempool *pool)
{
	static struct stand stands[2];
	static double rates[2][MAX_ROUNDS], cpu[MAX_ROUNDS], wall[MAX_ROUNDS];
	double together = 0, mpps[2];

	for (unsigned k = 0; k < 2; k++)
		open_stand(&stands[k], k + 1, scene, clock, pool);
	for (unsigned k = 0; k < 2; k++)
		measure(&stands[k], scene, 0, ticks); // warm
	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned k = 0; k < 2; k++) {
			struct sample s = measure_together(&stands[k], scene, r, ticks);
			rates[k][r] = s.cpu_mpps;
			mpps[k] = s.mpps;
			together += k ? s.together : 0;
		}
		cpu[r] = rates[1][r] / rates[0][r];
		wall[r] = mpps[1] / mpps[0];
	}
	print_line(scene->name, rates, cpu, wall, together, rounds);
	for (unsigned k = 0; k < 2; k++) {
		if (!scene->bare)
			audit(&stands[k], scene);
		close_stand(&stands[k]);
	}
}

// ---- the machine ----

struct ball {
	uint64_t turn __attribute__((aligned(128)));
};

static int return_ball(void *context)
{
	struct ball *ball = context;

	for (uint64_t i = 1; i < 2 * PASSES; i += 2) {
		while (__atomic_load_n(&ball->turn, __ATOMIC_ACQUIRE) != i)
			;
		__atomic_store_n(&ball->turn, i + 1, __ATOMIC_RELEASE);
	}
	return 0;
}

// How long a cache line takes to the other core and back. It moves with where the host puts the
// cores of a virtual machine, and rules that all workers serve move with it.
static double there_and_back_ns(void)
{
	struct ball ball = {0};

	must(rte_eal_remote_launch(return_ball, &ball, 1), "launch");
	uint64_t begin = 0;
	for (uint64_t i = 0; i < 2 * PASSES; i += 2) {
		if (i == PASSES)
			begin = rte_rdtsc();
		__atomic_store_n(&ball.turn, i + 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&ball.turn, __ATOMIC_ACQUIRE) != i + 2)
			;
	}
	double ticks = (double)(rte_rdtsc() - begin);
	rte_eal_wait_lcore(1);
	return ticks * 1e9 / (double)rte_get_tsc_hz() / (PASSES / 2.0);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 11;
	unsigned ms = argc > 2 ? (unsigned)atoi(argv[2]) : 40;
	const char *word = argc > 3 ? argv[3] : "";
	struct hs_clock *clock;

	if (!rounds || rounds > MAX_ROUNDS || !ms)
		return 2;
	dpdk_env_init_on("512", "0,1");
	must(hs_clock_create(HS_CLOCK_UTC, &clock), "clock");
	struct rte_mempool *pool =
			rte_pktmbuf_pool_create("bench", 8191, 256, 0, 2176, SOCKET_ID_ANY);
	must(!pool, "pool");
	printf("a cache line to the other core and back: %.0f ns\n", there_and_back_ns());
	printf("%-26s %6s %6s %5s %12s %5s %5s %6s\n", "case", "ns, 1", "ns, 2", "cpu",
			"least..most", "best", "wall", "both");
	for (unsigned i = 0; i < RTE_DIM(scenes); i++) {
		if (!strstr(scenes[i].name, word))
			continue;
		compare(&scenes[i], rounds, rte_get_tsc_hz() / 1000 * ms, clock, pool);
	}
	rte_mempool_free(pool);
	hs_clock_destroy(clock);
	return 0;
}
